/*-------------------------------------------------------------------------
 *
 * build_slots.c
 *	  Placing the children of states in the double array.
 *
 * Free slots form a doubly linked list (next in base, previous in fail).
 * States with one child, by far the most, take the first free slot from a
 * place that moves round the list, and so fill the holes that wider states
 * leave without trying again and again those that nothing fits; wider states
 * look among the newest free slots.  Both give up after a bounded number of
 * tries and open a new block, so that building is near-linear whatever the
 * patterns.
 *
 * Base 0 is never given out: it serves states without children.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"

#include <string.h>

#define SINGLE_TRIES 64
#define WIDE_TRIES 48

static inline bool
base_used(const acdat_builder *builder, uint32_t base)
{
	return (builder->used_bases[base / 64] >> (base % 64) & 1) != 0;
}

static inline void
use_base(acdat_builder *builder, uint32_t base)
{
	builder->used_bases[base / 64] |= (uint64_t) 1 << (base % 64);
}

static inline bool
slot_free(const acdat_builder *builder, uint32_t slot)
{
	return builder->states[slot].out_label == BUILD_FREE;
}

static void
unlink_slot(acdat_builder *builder, uint32_t slot)
{
	uint32_t	next = builder->states[slot].base;
	uint32_t	previous = builder->states[slot].fail;

	if (previous == ACDAT_NONE)
		builder->free_first = next;
	else
		builder->states[previous].base = next;
	if (next == ACDAT_NONE)
		builder->free_last = previous;
	else
		builder->states[next].fail = previous;
	if (builder->free_next == slot)
		builder->free_next = next;
}

static void
take_slot(acdat_builder *builder, uint32_t slot, uint32_t label)
{
	acdat_state *state = &builder->states[slot];

	unlink_slot(builder, slot);
	state->base = 0;
	state->fail = 0;
	state->out_label = label;
	builder->state_count++;
}

/* Append a block of free slots. */
static acdat_status
add_block(acdat_builder *builder)
{
	size_t		words = (builder->slots + builder->block + 63) / 64;
	size_t		old_words = (builder->slots + 63) / 64;
	size_t		i;

	if (builder->slots + builder->block >= UINT32_MAX)
		return ACDAT_TOO_LARGE;
	if (!acdat_grow(&builder->hooks, (void **) &builder->states,
					&builder->slots_capacity, builder->slots + builder->block,
					sizeof(acdat_state)) ||
		!acdat_grow(&builder->hooks, (void **) &builder->used_bases,
					&builder->bases_capacity, words, sizeof(uint64_t)))
		return ACDAT_NO_MEMORY;
	for (i = old_words; i < words; i++)
		builder->used_bases[i] = 0;
	for (i = builder->slots; i < builder->slots + builder->block; i++)
	{
		acdat_state *state = &builder->states[i];

		state->out_label = BUILD_FREE;
		state->base = ACDAT_NONE;
		state->fail = builder->free_last;
		if (builder->free_last == ACDAT_NONE)
			builder->free_first = (uint32_t) i;
		else
			builder->states[builder->free_last].base = (uint32_t) i;
		builder->free_last = (uint32_t) i;
	}
	builder->slots += builder->block;
	return ACDAT_OK;
}

acdat_status
acdat_build_slots_begin(acdat_builder *builder)
{
	size_t		expected = builder->expected_states +
		builder->expected_states / 64 + 2 * builder->block;
	acdat_status status;

	builder->free_first = builder->free_last = ACDAT_NONE;
	builder->free_next = ACDAT_NONE;
	if (!acdat_grow(&builder->hooks, (void **) &builder->states,
					&builder->slots_capacity, expected, sizeof(acdat_state)) ||
		!acdat_grow(&builder->hooks, (void **) &builder->used_bases,
					&builder->bases_capacity, expected / 64 + 1,
					sizeof(uint64_t)))
		return ACDAT_NO_MEMORY;
	status = add_block(builder);
	if (status != ACDAT_OK)
		return status;
	take_slot(builder, 0, ACDAT_NO_LABEL);
	use_base(builder, 0);
	return ACDAT_OK;
}

static bool
fits(const acdat_builder *builder, uint32_t base, const uint16_t *labels,
	 uint32_t count)
{
	uint32_t	i;

	if (base_used(builder, base))
		return false;
	for (i = 0; i < count; i++)
	{
		if (!slot_free(builder, base ^ labels[i]))
			return false;
	}
	return true;
}

/* A base among existing slots for one child, or 0. */
static uint32_t
find_single(acdat_builder *builder, uint32_t label)
{
	int			tries;

	for (tries = SINGLE_TRIES; tries > 0; tries--)
	{
		uint32_t	slot = builder->free_next;

		if (slot == ACDAT_NONE)
			slot = builder->free_first;
		if (slot == ACDAT_NONE)
			return 0;
		if (!base_used(builder, slot ^ label))
			return slot ^ label;
		builder->free_next = builder->states[slot].base;
	}
	return 0;
}

/* A base among existing slots for several children, or 0. */
static uint32_t
find_wide(const acdat_builder *builder, const uint16_t *labels,
		  uint32_t count)
{
	uint32_t	slot = builder->free_last;
	int			tries;

	for (tries = WIDE_TRIES; tries > 0 && slot != ACDAT_NONE; tries--)
	{
		if (fits(builder, slot ^ labels[0], labels, count))
			return slot ^ labels[0];
		slot = builder->states[slot].fail;
	}
	return 0;
}

acdat_status
acdat_build_place(acdat_builder *builder, const uint16_t *labels,
				  uint32_t count, uint32_t *base)
{
	uint32_t	i;

	*base = count == 1 ? find_single(builder, labels[0]) :
		find_wide(builder, labels, count);
	if (*base == 0)
	{
		uint32_t	start = (uint32_t) builder->slots;
		acdat_status status = add_block(builder);

		if (status != ACDAT_OK)
			return status;
		*base = start;
	}
	use_base(builder, *base);
	for (i = 0; i < count; i++)
		take_slot(builder, *base ^ labels[i], labels[i]);
	return ACDAT_OK;
}

acdat_status
acdat_build_slots_end(acdat_builder *builder)
{
	size_t		i;

	for (i = 0; i < builder->slots; i++)
	{
		acdat_state *state = &builder->states[i];

		if (slot_free(builder, (uint32_t) i))
		{
			state->base = 0;
			state->fail = 0;
			state->out_label = ACDAT_NO_LABEL;
		}
		if (build_work(builder, sizeof(acdat_state)))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}
