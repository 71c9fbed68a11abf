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

typedef struct level
{
	item	   *items;
	size_t		count;
	size_t		capacity;
} level;

/* Give every byte that occurs a label, in byte order. */
static void
assign_classes(acdat_builder *builder)
{
	bool		occurs[256] = {false};
	uint32_t	next = 1;
	size_t		i;

	for (i = 0; i < builder->arena_len; i++)
		occurs[builder->arena[i]] = true;
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
}

/* Number of states: the prefixes that no earlier pattern has. */
static size_t
count_states(const acdat_builder *builder)
{
	size_t		states = 1;
	size_t		i;

	for (i = 0; i < builder->count; i++)
	{
		const build_pattern *p = &builder->patterns[i];
		uint32_t	shared = 0;

		if (i > 0)
		{
			const build_pattern *q = p - 1;
			uint32_t	limit = p->len < q->len ? p->len : q->len;
			const unsigned char *a = build_bytes(builder, p);
			const unsigned char *b = build_bytes(builder, q);

			while (shared < limit && a[shared] == b[shared])
				shared++;
		}
		states += p->len - shared;
	}
	return states;
}

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
static acdat_status
set_output(acdat_builder *builder, item *it, uint32_t depth)
{
	acdat_state *state = &builder->states[it->state];
	uint32_t	out = ACDAT_STATE_OUT(&builder->states[state->fail]);
	uint32_t	first = it->low;

	while (it->low < it->high && builder->patterns[it->low].len == depth)
		it->low++;
	if (it->low > first)
	{
		build_node *node;

		if (!acdat_grow(&builder->hooks, (void **) &builder->nodes,
						&builder->nodes_capacity, builder->node_count + 1,
						sizeof(build_node)))
			return ACDAT_NO_MEMORY;
		node = &builder->nodes[builder->node_count++];
		node->first = first;
		node->end = it->low;
		node->link = out == 0 ? ACDAT_NONE : out - 1;
		out = builder->node_count;
	}
	state->out_label |= out << ACDAT_LABEL_BITS;
	return ACDAT_OK;
}

static acdat_status
push_item(acdat_builder *builder, level *next, uint32_t low, uint32_t high)
{
	if (!acdat_grow(&builder->hooks, (void **) &next->items, &next->capacity,
					next->count + 1, sizeof(item)))
		return ACDAT_NO_MEMORY;
	next->items[next->count++] = (item) {low, high, 0};
	return ACDAT_OK;
}

/* Make the children of one state and append them to the next level. */
static acdat_status
expand(acdat_builder *builder, item it, uint32_t depth, level *next)
{
	uint16_t	labels[256];
	uint32_t	count = 0;
	size_t		first_child = next->count;
	uint32_t	low = it.low;
	uint32_t	base;
	acdat_status status;
	uint32_t	i;

	while (low < it.high)
	{
		unsigned char byte = build_bytes(builder, &builder->patterns[low])[depth];
		uint32_t	high = low + 1;

		while (high < it.high &&
			   build_bytes(builder, &builder->patterns[high])[depth] == byte)
			high++;
		labels[count++] = builder->classes[byte];
		status = push_item(builder, next, low, high);
		if (status != ACDAT_OK)
			return status;
		low = high;
	}
	if (count == 0)
		return ACDAT_OK;
	status = build_place(builder, labels, count, &base);
	if (status != ACDAT_OK)
		return status;
	builder->states[it.state].base = base;
	for (i = 0; i < count; i++)
	{
		uint32_t	slot = base ^ labels[i];

		next->items[first_child + i].state = slot;
		builder->states[slot].fail = find_fail(builder, it.state, labels[i]);
	}
	return build_work(builder, it.high - it.low) ? ACDAT_CANCELLED : ACDAT_OK;
}

static acdat_status
build_levels(acdat_builder *builder, level *current, level *next)
{
	uint32_t	depth = 0;
	acdat_status status;

	status = push_item(builder, current, 0, (uint32_t) builder->count);
	while (status == ACDAT_OK && current->count > 0)
	{
		level		saved;
		size_t		i;

		next->count = 0;
		for (i = 0; i < current->count && status == ACDAT_OK; i++)
		{
			item		it = current->items[i];

			if (depth > 0)
				status = set_output(builder, &it, depth);
			if (status == ACDAT_OK)
				status = expand(builder, it, depth, next);
		}
		saved = *current;
		*current = *next;
		*next = saved;
		depth++;
	}
	return status;
}

acdat_status
build_automaton(acdat_builder *builder)
{
	level		current = {NULL, 0, 0};
	level		next = {NULL, 0, 0};
	acdat_status status;

	assign_classes(builder);
	status = build_slots_begin(builder, count_states(builder));
	if (status == ACDAT_OK)
		status = build_levels(builder, &current, &next);
	acdat_free(&builder->hooks, current.items);
	acdat_free(&builder->hooks, next.items);
	if (status == ACDAT_OK)
		build_slots_end(builder);
	return status;
}
