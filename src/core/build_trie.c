/*-------------------------------------------------------------------------
 *
 * build_trie.c
 *	  The automaton, level by level from the sorted patterns.
 *
 * A state of depth d is the range of sorted patterns that share their first
 * d (reversed) bytes, so no separate trie is needed: a level is a list of
 * ranges.  When a level is worked on, all states down to it have their slots,
 * so that failure links of the next level can be followed (Aho and Corasick
 * 1975, algorithm 3).  The sum of the steps is bounded by the pattern bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"

#include <string.h>

/* A state whose children are to be made. */
typedef struct item
{
	uint32_t	low;			/* sorted patterns [low, high) */
	uint32_t	high;
	uint32_t	state;
} item;

/* States of one depth; never more than there are patterns. */
typedef struct level
{
	item	   *items;
	uint32_t	count;
} level;

/* Give every byte that occurs a label, in byte order. */
static acdat_status
assign_classes(acdat_builder *builder)
{
	bool		occurs[256] = {false};
	uint32_t	next = 1;
	size_t		i;

	for (i = 0; i < builder->arena_len; i++)
	{
		occurs[builder->arena[i]] = true;
		if (build_work(builder, 1))
			return ACDAT_CANCELLED;
	}
	memset(builder->classes, 0, sizeof(builder->classes));
	for (i = 0; i < 256; i++)
	{
		if (occurs[i])
			builder->classes[i] = (uint16_t) next++;
	}
	builder->class_count = next;
	builder->block = 2;
	while (builder->block < next)
		builder->block *= 2;
	return ACDAT_OK;
}

/*
 * The child of a state, or ACDAT_NONE; free slots have no label.
 */
static inline uint32_t
child_of(const acdat_builder *builder, uint32_t state, uint32_t label)
{
	uint32_t	slot = builder->states[state].base ^ label;
	uint32_t	out_label = builder->states[slot].out_label;

	return out_label != BUILD_FREE && (out_label & ACDAT_LABEL_MASK) == label ?
		slot : ACDAT_NONE;
}

/* The failure link of a child of state, whose own link is set. */
static uint32_t
find_fail(acdat_builder *builder, uint32_t state, uint32_t label)
{
	while (state != 0)
	{
		uint32_t	child;

		state = builder->states[state].fail;
		child = child_of(builder, state, label);
		builder->work++;
		if (child != ACDAT_NONE)
			return child;
	}
	return 0;
}

/*
 * The patterns that end at this state become an output node; else the
 * state shares the node of its failure link.
 */
static void
set_output(acdat_builder *builder, item *it, uint32_t depth)
{
	acdat_state *state = &builder->states[it->state];
	uint32_t	out = ACDAT_STATE_OUT(&builder->states[state->fail]);
	uint32_t	first = it->low;

	while (it->low < it->high && builder->patterns[it->low].len == depth)
		it->low++;
	if (it->low > first)
	{
		build_node *node = &builder->nodes[builder->node_count++];

		node->first = first;
		node->end = it->low;
		node->link = out == 0 ? ACDAT_NONE : out - 1;
		out = builder->node_count;
	}
	state->out_label |= out << ACDAT_LABEL_BITS;
}

static inline unsigned char
byte_at(const acdat_builder *builder, uint32_t pattern, uint32_t depth)
{
	return build_bytes(builder, &builder->patterns[pattern])[depth];
}

/*
 * The end of the patterns in [low, high) that have the same byte at depth as
 * the first one.  Probes at growing distances: most ranges are short, a few
 * hold millions.
 */
static uint32_t
same_byte_end(const acdat_builder *builder, uint32_t low, uint32_t high,
			  uint32_t depth)
{
	unsigned char byte = byte_at(builder, low, depth);
	uint32_t	step = 1;

	while (high - low > step && byte_at(builder, low + step, depth) == byte)
	{
		low += step;
		step *= 2;
	}
	if (high - low > step)
		high = low + step;
	while (high - low > 1)
	{
		uint32_t	middle = low + (high - low) / 2;

		if (byte_at(builder, middle, depth) == byte)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Make the children of one state and append them to the next level. */
static acdat_status
expand(acdat_builder *builder, item it, uint32_t depth, level *next)
{
	uint16_t	labels[256];
	uint32_t	count = 0;
	uint32_t	first_child = next->count;
	uint32_t	low = it.low;
	uint32_t	base;
	acdat_status status;
	uint32_t	i;

	while (low < it.high)
	{
		uint32_t	high = same_byte_end(builder, low, it.high, depth);

		labels[count++] = builder->classes[byte_at(builder, low, depth)];
		next->items[next->count++] = (item) {low, high, 0};
		low = high;
	}
	if (count == 0)
		return ACDAT_OK;
	status = acdat_build_place(builder, labels, count, &base);
	if (status != ACDAT_OK)
		return status;
	builder->states[it.state].base = base;
	for (i = 0; i < count; i++)
	{
		uint32_t	slot = base ^ labels[i];

		next->items[first_child + i].state = slot;
		builder->states[slot].fail = find_fail(builder, it.state, labels[i]);
	}
	return build_work(builder, count * sizeof(item)) ? ACDAT_CANCELLED : ACDAT_OK;
}

/*
 * All states of a depth before any of the next: failure links lead to smaller
 * depths.
 */
static acdat_status
build_levels(acdat_builder *builder, level *current, level *next)
{
	acdat_status status = ACDAT_OK;
	uint32_t	depth;

	current->items[0] = (item) {0, builder->count, 0};
	current->count = builder->count > 0 ? 1 : 0;
	for (depth = 0; current->count > 0 && status == ACDAT_OK; depth++)
	{
		level		saved;
		uint32_t	i;

		next->count = 0;
		for (i = 0; i < current->count && status == ACDAT_OK; i++)
		{
			item		it = current->items[i];

			if (depth > 0)
				set_output(builder, &it, depth);
			status = expand(builder, it, depth, next);
		}
		saved = *current;
		*current = *next;
		*next = saved;
	}
	return status;
}

/*
 * Room for levels and nodes is known beforehand and never grows.
 */
acdat_status
acdat_build_automaton(acdat_builder *builder)
{
	const acdat_hooks *hooks = &builder->hooks;
	level		current = {NULL, 0};
	level		next = {NULL, 0};
	acdat_status status = assign_classes(builder);

	if (status == ACDAT_OK)
		status = acdat_build_slots_begin(builder);
	if (status != ACDAT_OK)
		return status;
	builder->nodes = acdat_alloc(hooks, builder->expected_nodes *
								 sizeof(build_node));
	current.items = acdat_alloc(hooks, ((size_t) builder->count + 1) *
								sizeof(item));
	next.items = acdat_alloc(hooks, ((size_t) builder->count + 1) *
							 sizeof(item));
	if (builder->nodes == NULL || current.items == NULL || next.items == NULL)
		status = ACDAT_NO_MEMORY;
	else
		status = build_levels(builder, &current, &next);
	acdat_free(hooks, current.items);
	acdat_free(hooks, next.items);
	return status == ACDAT_OK ? acdat_build_slots_end(builder) : status;
}
