/*-------------------------------------------------------------------------
 *
 * check.c
 *	  Opening images of unknown origin.
 *
 * The checksum catches accidents; everything else here is a proof that holds
 * against bytes made on purpose:
 *
 *	- every section lies inside the image, every index inside its section;
 *	- every state has one parent and a depth, failure links lead to smaller
 *	  depths, so that a scan takes at most two steps per byte;
 *	- the node of a state is no longer than the state is deep, so that no
 *	  match reaches out of the window;
 *	- links lead to shorter nodes with smaller numbers, chains are no longer
 *	  than the room for them; jumps lead to where links lead.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/check.h"
#include "src/core/filter.h"
#include "src/core/tails.h"

#include <string.h>

/* A section of count elements, which may be left out if optional. */
static bool
check_section(acdat_checker *c, uint64_t offset, uint64_t count, uint64_t width,
			  bool optional)
{
	uint64_t	size = c->h->image_size;

	if (offset == 0 && optional)
		return true;
	if (offset % 8 != 0 || offset < sizeof(acdat_image_header) ||
		offset > size || count > (size - offset) / width)
		return check_fail(c, "section outside the image");
	return true;
}

/* Any table is harmless; its size and the sizes of keys must be right. */
static bool
check_filter(acdat_checker *c)
{
	const acdat_image_header *h = c->h;

	if (h->filter_kind == ACDAT_FILTER_NONE && h->filter == 0)
		return true;
	if (h->filter_kind == ACDAT_FILTER_NONE ||
		h->filter_kind > ACDAT_FILTER_SPLIT ||
		h->filter_gram < 1 || h->filter_gram > ACDAT_FILTER_MAX_GRAM ||
		h->filter_word < 1 || h->filter_word > h->filter_gram ||
		h->filter_stride < 1 || h->filter_stride > ACDAT_FILTER_MAX_STRIDE ||
		(h->filter_kind == ACDAT_FILTER_SPLIT &&
		 (h->filter_stride != 1 || h->filter_gram != ACDAT_FILTER_SPLIT_GRAM)) ||
		h->filter_log2_words < ACDAT_FILTER_MIN_LOG2_WORDS ||
		h->filter_log2_words > ACDAT_FILTER_MAX_LOG2_WORDS)
		return check_fail(c, "filter is not valid");
	return check_section(c, h->filter, (uint64_t) 1 << h->filter_log2_words,
						 8, false);
}

/*
 * Every section that is there lies inside the image, and those that depend on
 * one another are there together.  After this any index below the count of a
 * section is safe.
 */
static bool
check_sections(acdat_checker *c)
{
	const acdat_image_header *h = c->h;
	bool		plain = (h->node_first == 0);
	bool		jumps = (h->node_allow != 0 && h->max_chain > 1);

	if (!check_section(c, h->class_offset, 256, 2, false) ||
		!check_section(c, h->state_offset, h->slots, sizeof(acdat_state), false) ||
		!check_section(c, h->node_len, h->nodes, 4, false) ||
		!check_section(c, h->node_link, h->nodes, 4, false) ||
		!check_section(c, h->node_chain, h->nodes, 4, h->ends_vary == 0) ||
		!check_section(c, h->node_best, h->nodes, 4, false) ||
		!check_section(c, h->node_first, (uint64_t) h->nodes + 1, 4, true) ||
		!check_section(c, h->node_choice, h->nodes, 4, true) ||
		!check_section(c, h->node_allow, h->nodes, 4, true) ||
		!check_section(c, h->node_allow_below, h->nodes, 4,
					   h->node_allow == 0) ||
		!check_section(c, h->node_jump, h->nodes, 4, !jumps) ||
		!check_section(c, h->node_jump_best, h->nodes, 4, !jumps) ||
		!check_section(c, h->entry_id32, h->entries, 4, h->entry_id64 != 0) ||
		!check_section(c, h->entry_id64, h->entries, 8, true) ||
		!check_section(c, h->entry_priority, h->entries, 4, true) ||
		!check_section(c, h->entry_replacement, h->entries,
					   sizeof(acdat_string), true) ||
		!check_section(c, h->entry_tag, h->entries, 4, h->tag_count == 0) ||
		!check_section(c, h->tags, h->tag_count, sizeof(acdat_string),
					   h->tag_count == 0) ||
		!check_section(c, h->strings, h->strings_len, 1, false) ||
		!check_section(c, h->ignore_chars, h->ignore_count, 4, false) ||
		!check_section(c, h->ignore_bytes, h->ignore_len, 1, false) ||
		!check_section(c, h->tails, h->tail_bytes, sizeof(acdat_tail),
					   h->tail_bytes == 0))
		return false;
	if (!check_filter(c))
		return false;
	if ((plain && (h->node_allow != 0 || h->nodes != h->entries)) ||
		(h->node_jump == 0) != (h->node_jump_best == 0) ||
		(h->tails == 0) != (h->tail_bytes == 0))
		return check_fail(c, "sections do not fit together");
	return true;
}

/*
 * Enumerations are in range and counts are possible.  The longest pattern is
 * tied to the number of states here because the size of a scan follows from it.
 */
static bool
check_header(acdat_checker *c)
{
	const acdat_image_header *h = c->h;

	if ((h->flags & ~ACDAT_IMAGE_ALL_FLAGS) != 0 ||
		(h->ends_vary & ~ACDAT_TEXT_ALL_TRAITS) != 0 ||
		h->tail_bytes > ACDAT_TAILS_MAX_BYTES ||
		h->tail_bytes > h->min_len ||
		h->encoding > ACDAT_ENCODING_UTF8 ||
		h->case_insensitive > ACDAT_CASE_UNICODE ||
		h->normalize > ACDAT_NORMALIZE_NFKC ||
		h->boundary > ACDAT_BOUNDARY_WORD ||
		(h->encoding != ACDAT_ENCODING_UTF8 &&
		 (h->case_insensitive == ACDAT_CASE_UNICODE || h->normalize != 0)))
		return check_fail(c, "options are not valid");
	if (h->classes < 1 || h->classes > 257 || h->slots == 0 ||
		h->nodes > ACDAT_MAX_NODES || h->entries >= ACDAT_NONE ||
		h->max_len >= h->slots || h->min_len > h->max_len ||
		h->ignore_len > ACDAT_MAX_IGNORE)
		return check_fail(c, "counts are not valid");
	return true;
}

/* The ignore set is what its option says, and folding is as needed. */
static bool
check_ignore(acdat_checker *c)
{
	const acdat_image_header *h = c->h;
	acdat_machine_info info;
	acdat_ignore_set set;
	uint32_t   *chars;
	bool		sound;

	acdat_machine_describe(&c->m, &info);
	chars = acdat_alloc(&c->hooks, h->ignore_len * sizeof(uint32_t));
	if (chars == NULL)
	{
		c->status = ACDAT_NO_MEMORY;
		return false;
	}
	sound = acdat_ignore_parse(&info.options, chars, &set) == ACDAT_OK &&
		set.count == h->ignore_count &&
		(set.count == 0 ||
		 memcmp(chars, acdat_section(&c->m, h->ignore_chars),
				set.count * sizeof(uint32_t)) == 0) &&
		acdat_text_needs_fold(&info.options) ==
		((h->flags & ACDAT_IMAGE_FOLDS) != 0);
	acdat_free(&c->hooks, chars);
	return sound ? true : check_fail(c, "ignored characters are wrong");
}

/* Is a slot used by a state other than the root? */
static inline bool
is_child(const acdat_state *state)
{
	return ACDAT_STATE_LABEL(state) != ACDAT_NO_LABEL;
}

/* Labels of bytes and states, and that base ^ label always is a slot. */
static bool
check_labels(acdat_checker *c)
{
	const uint16_t *classes = acdat_classes(&c->m);
	uint32_t	mask = 1;
	uint32_t	i;

	while (mask < c->h->classes)
		mask *= 2;
	mask--;
	for (i = 0; i < 256; i++)
	{
		if (classes[i] >= c->h->classes)
			return check_fail(c, "label of a byte out of range");
	}
	for (i = 0; i < c->h->slots; i++)
	{
		const acdat_state *state = &c->states[i];

		if (!check_may_go_on(c, i))
			return false;
		if ((state->base | mask) >= c->h->slots ||
			state->fail >= c->h->slots ||
			ACDAT_STATE_OUT(state) > c->h->nodes ||
			(is_child(state) && (ACDAT_STATE_LABEL(state) == 0 ||
								 ACDAT_STATE_LABEL(state) >= c->h->classes ||
								 (i ^ ACDAT_STATE_LABEL(state)) >= c->h->slots)))
			return check_fail(c, "state out of range");
	}
	if (is_child(&c->states[0]) || c->states[0].fail != 0)
		return check_fail(c, "root is wrong");
	return true;
}

/* Who owns which base; no two states may share one. */
static bool
check_bases(acdat_checker *c)
{
	uint32_t	i;

	for (i = 0; i < c->h->slots; i++)
	{
		c->owner[i] = ACDAT_NONE;
		c->depth[i] = 0;
		if (!check_may_go_on(c, i))
			return false;
	}
	for (i = 0; i < c->h->slots; i++)
	{
		uint32_t	base = c->states[i].base;

		if (!check_may_go_on(c, i))
			return false;
		if ((i != 0 && !is_child(&c->states[i])) || base == 0)
			continue;
		if (c->owner[base] != ACDAT_NONE)
			return check_fail(c, "states share a base");
		c->owner[base] = i;
	}
	return true;
}

/*
 * The depth of every state, by following parents; a path that comes back to
 * itself or ends nowhere is refused.  depth holds depth + 1 once known, NONE
 * while a state is on the path; the path is walked a second time instead of
 * being stored.
 */
static bool
check_depths(acdat_checker *c)
{
	uint32_t	states = 1;
	uint32_t	i;

	c->depth[0] = 1;
	for (i = 1; i < c->h->slots; i++)
	{
		uint32_t	slot = i;
		uint32_t	steps = 0;
		uint32_t	known;

		if (!check_may_go_on(c, i))
			return false;
		if (!is_child(&c->states[i]))
			continue;
		states++;
		while (c->depth[slot] == 0)
		{
			c->depth[slot] = ACDAT_NONE;
			slot = c->owner[slot ^ ACDAT_STATE_LABEL(&c->states[slot])];
			if (slot == ACDAT_NONE)
				return check_fail(c, "state without a parent");
			if (!check_may_go_on(c, steps++))
				return false;
		}
		if (c->depth[slot] == ACDAT_NONE)
			return check_fail(c, "states form a ring");
		known = c->depth[slot];
		for (slot = i; steps > 0; steps--)
		{
			c->depth[slot] = known + steps;
			slot = c->owner[slot ^ ACDAT_STATE_LABEL(&c->states[slot])];
		}
	}
	if (states != c->h->states)
		return check_fail(c, "number of states is wrong");
	return true;
}

/*
 * Needs depths and nodes.  Links that lead upwards end at the root; a node no
 * longer than its state is deep keeps matches inside the window.
 */
static bool
check_states(acdat_checker *c)
{
	uint32_t	i;

	for (i = 0; i < c->h->slots; i++)
	{
		const acdat_state *state = &c->states[i];
		uint32_t	out = ACDAT_STATE_OUT(state);

		if (!check_may_go_on(c, i))
			return false;
		if (c->depth[i] == 0)
			continue;
		if (i != 0 && (c->depth[state->fail] == 0 ||
					   c->depth[state->fail] >= c->depth[i]))
			return check_fail(c, "failure link does not lead upwards");
		if (out != 0 && acdat_node_len(&c->m, out - 1) > c->depth[i] - 1)
			return check_fail(c, "output longer than its state");
	}
	return true;
}

/* Jumps lead where they must; what they skip was compared in full. */
static bool
check_jump(acdat_checker *c, uint32_t node, const uint32_t *depth)
{
	const acdat_machine *m = &c->m;

	if (acdat_u32_at(m, c->h->node_jump, node) !=
		acdat_jump_of(m, depth, node))
		return check_fail(c, "jump to a shorter pattern is wrong");
	if (acdat_u32_at(m, c->h->node_jump_best, node) !=
		acdat_jump_best_of(m, node))
		return check_fail(c, "choice of a jump is wrong");
	return true;
}

/* One node against those with smaller numbers. */
static bool
check_node(acdat_checker *c, uint32_t node, uint32_t *depth)
{
	const acdat_machine *m = &c->m;
	const acdat_image_header *h = c->h;
	uint32_t	len = acdat_node_len(m, node);
	uint32_t	link = acdat_node_link(m, node);
	uint32_t	best = acdat_u32_at(m, h->node_best, node);
	bool		entries = acdat_node_has_entries(m, node);

	if (len == 0 || len > h->max_len)
		return check_fail(c, "length of a pattern is wrong");
	if (link != ACDAT_NONE &&
		(link >= node || acdat_node_len(m, link) >= len ||
		 !acdat_node_has_entries(m, link)))
		return check_fail(c, "link to a shorter pattern is wrong");
	if (!entries && h->node_allow == 0)
		return check_fail(c, "node without patterns");
	if (entries && (acdat_node_choice(m, node) < acdat_node_first(m, node) ||
					acdat_node_choice(m, node) >= acdat_node_end(m, node)))
		return check_fail(c, "choice of a node is wrong");
	if (best == node ? !entries :
		best == ACDAT_NONE ? entries :
		link == ACDAT_NONE || best != acdat_u32_at(m, h->node_best, link))
		return check_fail(c, "choice of a chain is wrong");
	if (h->node_allow != 0 &&
		(acdat_u32_at(m, h->node_allow, node) > len ||
		 acdat_u32_at(m, h->node_allow_below, node) > len))
		return check_fail(c, "allow pattern longer than its node");
	depth[node] = link == ACDAT_NONE ? 1 : depth[link] + 1;
	if (depth[node] > h->max_chain)
		return check_fail(c, "chain longer than announced");
	return h->node_jump == 0 || check_jump(c, node, depth);
}

/*
 * The chain of nodes of any kind, which is followed without regard to links.
 */
static bool
check_chain(acdat_checker *c, uint32_t node, uint32_t *depth)
{
	uint32_t	next = acdat_u32_at(&c->m, c->h->node_chain, node);

	if (next != ACDAT_NONE &&
		(next >= node ||
		 acdat_node_len(&c->m, next) >= acdat_node_len(&c->m, node)))
		return check_fail(c, "chain to a shorter pattern is wrong");
	depth[node] = next == ACDAT_NONE ? 1 : depth[next] + 1;
	if (depth[node] > c->h->max_chain)
		return check_fail(c, "chain longer than announced");
	return true;
}

/*
 * Entries of nodes are consecutive and cover all; then node after node, each
 * against smaller numbers only, so that one pass proves chains finite.
 */
static bool
check_nodes(acdat_checker *c)
{
	const acdat_image_header *h = c->h;
	const uint32_t *first = acdat_section(&c->m, h->node_first);
	uint32_t   *depth;
	uint32_t	max_len = 0;
	uint32_t	i;
	bool		sound = true;

	if (first != NULL)
	{
		if (first[0] != 0 || first[h->nodes] != h->entries)
			return check_fail(c, "patterns of nodes are wrong");
		for (i = 0; i < h->nodes; i++)
		{
			if (!check_may_go_on(c, i))
				return false;
			if (first[i] > first[i + 1])
				return check_fail(c, "patterns of nodes are wrong");
		}
	}
	depth = acdat_alloc(&c->hooks, (size_t) h->nodes * sizeof(uint32_t));
	if (depth == NULL)
	{
		c->status = ACDAT_NO_MEMORY;
		return false;
	}
	for (i = 0; i < h->nodes && sound; i++)
	{
		sound = check_may_go_on(c, i) && check_node(c, i, depth);
		if (sound && acdat_node_len(&c->m, i) > max_len)
			max_len = acdat_node_len(&c->m, i);
	}
	for (i = 0; i < h->nodes && sound && h->node_chain != 0; i++)
		sound = check_may_go_on(c, i) && check_chain(c, i, depth);
	acdat_free(&c->hooks, depth);
	if (sound && (max_len != h->max_len || h->max_chain > h->nodes))
		return check_fail(c, "longest pattern is wrong");
	return sound;
}

/* What is linear in the image. */
static bool
check_body(acdat_checker *c)
{
	static bool (*const passes[]) (acdat_checker *) = {
		check_ignore, check_labels, check_bases, check_depths, check_nodes,
		check_states, acdat_check_entries
	};
	size_t		i;

	for (i = 0; i < sizeof(passes) / sizeof(passes[0]); i++)
	{
		if (acdat_tick(&c->hooks))
		{
			c->status = ACDAT_CANCELLED;
			return false;
		}
		if (!passes[i] (c))
			return false;
	}
	return true;
}

/*
 * Cheap tests first; the memory for the rest is freed whatever comes out.
 */
static bool
check_image(acdat_checker *c)
{
	uint64_t	checksum[2];
	bool		sound;

	if (!check_header(c) || !check_sections(c))
		return false;
	if (!acdat_image_checksum_ticking(c->m.image, c->m.size, &c->hooks,
									  checksum))
	{
		c->status = ACDAT_CANCELLED;
		return false;
	}
	if (checksum[0] != c->h->checksum[0] || checksum[1] != c->h->checksum[1])
		return check_fail(c, "checksum does not match");
	c->states = acdat_states(&c->m);
	c->owner = acdat_alloc(&c->hooks, (size_t) c->h->slots * sizeof(uint32_t));
	c->depth = acdat_alloc(&c->hooks, (size_t) c->h->slots * sizeof(uint32_t));
	if (c->owner == NULL || c->depth == NULL)
	{
		c->status = ACDAT_NO_MEMORY;
		sound = false;
	}
	else
		sound = check_body(c);
	acdat_free(&c->hooks, c->owner);
	acdat_free(&c->hooks, c->depth);
	return sound;
}

/*
 * The machine is set only when everything holds.
 */
acdat_status
acdat_open_checked(acdat_machine *machine, const void *image, size_t size,
				   const acdat_hooks *hooks, const char **reason)
{
	acdat_checker c;
	acdat_status status;

	memset(&c, 0, sizeof(c));
	c.hooks = acdat_hooks_or_default(hooks);
	c.status = ACDAT_CORRUPT;
	if (reason != NULL)
		*reason = NULL;
	status = acdat_open_trusted(&c.m, image, size);
	if (status != ACDAT_OK)
	{
		if (reason != NULL)
			*reason = status == ACDAT_VERSION_MISMATCH ?
				"made by another version" : "header is not that of an image";
		return status;
	}
	c.h = c.m.header;
	if (!check_image(&c))
	{
		if (reason != NULL)
			*reason = c.reason;
		return c.status;
	}
	*machine = c.m;
	return ACDAT_OK;
}
