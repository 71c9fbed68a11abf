/*-------------------------------------------------------------------------
 *
 * scan_policy.c
 *	  From stacked starts to matches: allow patterns, word boundaries and
 *	  the policies.
 *
 * At a start the patterns that match are a chain of nodes, the longest
 * first.  Where ends are static (see image.h) links lead to valid ends only
 * and just the longest needs a look at the text.  Every policy then spends
 * constant time per start beside what it reports, or with allow patterns
 * under leftmost_first the logarithm of the number of nested patterns.
 *
 * The chain is walked, and a start costs as many steps as patterns match there
 * but for their tags or ends, in two cases.  The first is that only some tags
 * are asked for.  The second are windows with traits of ends_vary, where ends
 * are not static and no linear way is known.  Say that A are the valid starts
 * and V the valid ends within one run of equal folded letters, and L the
 * lengths of nested patterns of them.  With characters dropped or expanded the
 * text can give any A in its first and any V in its second half.  Whether
 * there is a match at all is then whether a + l = v for some members: 3SUM
 * with integers up to the window's length, done by convolution at best.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/scan.h"

/* A text shorter than this is not worth dividing into lanes. */
#define SHORT_TEXT 512

/* Position in text of a window position that begins a unit. */
static inline size_t
text_pos(const acdat_scan *scan, size_t pos)
{
	return scan->window_start +
		(scan->origin == NULL ? pos : scan->origin[pos].start);
}

/* Position in text of the end of a match, a window position > 0. */
static inline size_t
text_end(const acdat_scan *scan, size_t end)
{
	return scan->window_start +
		(scan->origin == NULL ? end : scan->origin[end - 1].end);
}

/* Does a unit begin at a window position? */
static inline bool
unit_begins(const acdat_scan *scan, size_t pos)
{
	return scan->origin == NULL || pos == 0 || pos == scan->window_len ||
		scan->origin[pos].start != scan->origin[pos - 1].start;
}

static inline bool
at_boundary(const acdat_scan *scan, size_t pos)
{
	return !scan->boundary ||
		acdat_is_word_boundary(scan->encoding, scan->text, scan->len, pos);
}

/* Does a unit of the text end at a window position, looked at as such? */
static inline bool
ends_unit(const acdat_scan *scan, size_t end)
{
	if (scan->origin != NULL)
		return unit_begins(scan, end);
	return acdat_is_char_boundary(scan->encoding, scan->text, scan->len,
								  text_end(scan, end));
}

/* May a match start at, or end at, a window position? */
static inline bool
valid_start(const acdat_scan *scan, size_t pos)
{
	return unit_begins(scan, pos) && at_boundary(scan, text_pos(scan, pos));
}

static inline bool
valid_end(const acdat_scan *scan, size_t end)
{
	return unit_begins(scan, end) && at_boundary(scan, text_end(scan, end));
}

/*
 * Where ends are static: node, or the next shorter one that ends between two
 * units of the text.  Only a few bytes of a longer one can be in the way.
 */
static uint32_t
settle(const acdat_scan *scan, size_t pos, uint32_t node)
{
	if (scan->node_chain == NULL || !scan->is_static)
		return node;
	while (node != ACDAT_NONE && !ends_unit(scan, pos + scan->node_len[node]))
		node = scan->node_chain[node];
	return node;
}

/* Is an entry, of a machine with tags, asked for? */
static inline bool
entry_wanted(const acdat_scan *scan, uint32_t entry)
{
	uint32_t	tag = acdat_u32_at(&scan->m, scan->m.header->entry_tag, entry);

	return tag != ACDAT_NONE && (scan->only_tags[tag / 64] >> tag % 64 & 1) != 0;
}

/* The preferred entry of a node among those asked for, or ACDAT_NONE. */
static uint32_t
wanted_choice(acdat_scan *scan, uint32_t node)
{
	uint32_t	end = acdat_node_end(&scan->m, node);
	uint32_t	choice = ACDAT_NONE;
	uint32_t	entry;

	if (scan->m.header->entry_tag == 0)
		return ACDAT_NONE;
	for (entry = acdat_node_first(&scan->m, node); entry < end; entry++)
	{
		scan->work++;
		if (entry_wanted(scan, entry) &&
			(choice == ACDAT_NONE ||
			 acdat_entry_preferred(&scan->m, entry, choice)))
			choice = entry;
	}
	return choice;
}

/* Does a node have a pattern that is asked for? */
static inline bool
node_counts(acdat_scan *scan, uint32_t node)
{
	return scan->only_tags != NULL ? wanted_choice(scan, node) != ACDAT_NONE :
		acdat_node_has_entries(&scan->m, node);
}

/* The preferred entry of a node that counts. */
static inline uint32_t
node_choice(acdat_scan *scan, uint32_t node)
{
	return scan->only_tags != NULL ? wanted_choice(scan, node) :
		acdat_node_choice(&scan->m, node);
}

/* The next shorter node that counts at this start. */
static uint32_t
next_node(acdat_scan *scan, size_t pos, uint32_t node)
{
	const uint32_t *next = scan->is_static ? scan->node_link : scan->node_chain;

	do
	{
		scan->work++;
		node = next[node];
		if (scan->is_static && scan->only_tags == NULL)
			return node;
	} while (node != ACDAT_NONE &&
			 (!node_counts(scan, node) ||
			  !(scan->is_static ||
				valid_end(scan, pos + scan->node_len[node]))));
	return node;
}

/* The longest node that counts, beginning with node itself. */
static uint32_t
first_node(acdat_scan *scan, size_t pos, uint32_t node)
{
	if (((!scan->allows && scan->only_tags == NULL) ||
		 node_counts(scan, node)) &&
		valid_end(scan, pos + scan->node_len[node]))
		return node;
	return next_node(scan, pos, node);
}

/* The length of the longest allow pattern at a start, 0 = none. */
static uint32_t
longest_allow(acdat_scan *scan, size_t pos, uint32_t node)
{
	const acdat_image_header *h = scan->m.header;

	if (scan->is_static)
	{
		if (valid_end(scan, pos + scan->node_len[node]))
			return acdat_u32_at(&scan->m, h->node_allow, node);
		return acdat_u32_at(&scan->m, h->node_allow_below, node);
	}
	for (; node != ACDAT_NONE; node = scan->node_chain[node])
	{
		scan->work++;
		if (acdat_node_allows(&scan->m, node) &&
			valid_end(scan, pos + scan->node_len[node]))
			return scan->node_len[node];
	}
	return 0;
}

static inline uint64_t
match_end(const acdat_scan *scan, size_t pos, uint32_t node)
{
	return scan->base + text_end(scan, pos + scan->node_len[node]);
}

/* Does a match of a node of this start end beyond all exceptions? */
static inline bool
is_free(const acdat_scan *scan, size_t pos, uint32_t node)
{
	return node != ACDAT_NONE &&
		(!scan->allows || match_end(scan, pos, node) > scan->allow_until);
}

/*
 * The preferred node among those from node on that are not excepted: the
 * longer part of a chain of links, in jumps.
 */
static uint32_t
choose_free(acdat_scan *scan, size_t pos, uint32_t node)
{
	const acdat_machine *m = &scan->m;
	uint32_t	choice = ACDAT_NONE;

	while (is_free(scan, pos, node))
	{
		uint32_t	jump = acdat_u32_at(m, m->header->node_jump, node);

		scan->work++;
		if (is_free(scan, pos, jump))
		{
			choice = acdat_preferred_node(m, choice,
										  acdat_u32_at(m, m->header->node_jump_best, node));
			node = jump;
		}
		else
		{
			choice = acdat_preferred_node(m, choice, node);
			node = scan->node_link[node];
		}
	}
	return choice;
}

/*
 * leftmost_first: the node with the preferred entry of the chain among those
 * not excepted.  node itself is valid and not excepted.
 */
static uint32_t
choose_first(acdat_scan *scan, size_t pos, uint32_t node)
{
	uint32_t	choice;
	uint32_t	best;

	if (scan->is_static && scan->only_tags == NULL)
	{
		choice = acdat_u32_at(&scan->m, scan->m.header->node_best, node);
		return is_free(scan, pos, choice) ? choice :
			choose_free(scan, pos, node);
	}
	choice = node;
	best = node_choice(scan, node);
	while (is_free(scan, pos, node = next_node(scan, pos, node)))
	{
		uint32_t	entry = node_choice(scan, node);

		if (acdat_entry_preferred(&scan->m, entry, best))
		{
			choice = node;
			best = entry;
		}
	}
	return choice;
}

/* Stack the nodes of a start, so that the shortest comes off first. */
static void
collect_chain(acdat_scan *scan, size_t pos, uint32_t node)
{
	scan->chain_top = 0;
	while (is_free(scan, pos, node))
	{
		scan->chain[scan->chain_top++] = node;
		node = next_node(scan, pos, node);
	}
	scan->current.start = scan->base + text_pos(scan, pos);
}

/* The next match of the start at hand; false if there is none left. */
static bool
next_overlapping(acdat_scan *scan, acdat_match *match)
{
	do
	{
		if (scan->entry == scan->entry_end)
		{
			uint32_t	node;

			if (scan->chain_top == 0)
				return false;
			node = scan->chain[--scan->chain_top];
			scan->entry = acdat_node_first(&scan->m, node);
			scan->entry_end = acdat_node_end(&scan->m, node);
			scan->current.end = match_end(scan, scan->stack[scan->top].pos, node);
		}
		scan->current.pattern = scan->entry++;
	} while (scan->only_tags != NULL &&
			 !entry_wanted(scan, scan->current.pattern));
	*match = scan->current;
	return true;
}

/* ACDAT_MERGED: true if a union is complete and goes to *match. */
static bool
merge(acdat_scan *scan, const acdat_match *found, acdat_match *match)
{
	if (scan->pending && found->start < scan->merged.end)
	{
		if (found->end > scan->merged.end)
			scan->merged.end = found->end;
		return false;
	}
	*match = scan->merged;
	scan->merged = *found;
	if (scan->pending)
		return true;
	scan->pending = true;
	return false;
}

/* Take the leftmost start; true if it yields a match (now). */
static bool
take_start(acdat_scan *scan, acdat_match *match)
{
	scan_start	start = scan->stack[--scan->top];
	acdat_match found;
	uint32_t	node;

	if ((scan->boundary || scan->folds) && !valid_start(scan, start.pos))
		return false;
	start.node = settle(scan, start.pos, start.node);
	if (start.node == ACDAT_NONE)
		return false;
	found.start = scan->base + text_pos(scan, start.pos);
	if (scan->allows)
	{
		uint32_t	len = longest_allow(scan, start.pos, start.node);
		uint64_t	until = len == 0 ? 0 :
			scan->base + text_end(scan, start.pos + len);

		if (until > scan->allow_until)
			scan->allow_until = until;
	}
	if (found.start < scan->next_allowed)
		return false;
	node = first_node(scan, start.pos, start.node);
	if (node == ACDAT_NONE)
		return false;
	found.end = match_end(scan, start.pos, node);
	if (found.end <= scan->allow_until)
		return false;

	switch (scan->policy)
	{
		case ACDAT_ALL_OVERLAPPING:
			collect_chain(scan, start.pos, node);
			return next_overlapping(scan, match);
		case ACDAT_MERGED:
			found.pattern = node_choice(scan, node);
			return merge(scan, &found, match);
		case ACDAT_LEFTMOST_FIRST:
			node = choose_first(scan, start.pos, node);
			found.pattern = node_choice(scan, node);
			found.end = match_end(scan, start.pos, node);
			break;
		case ACDAT_LEFTMOST_LONGEST:
			found.pattern = node_choice(scan, node);
			break;
	}
	scan->next_allowed = found.end;
	*match = found;
	return true;
}

/* Time for a tick; false: cancelled. */
static bool
go_on(acdat_scan *scan)
{
	scan->work %= ACDAT_TICK_BYTES;
	return scan->tick == NULL || !scan->tick(scan->tick_arg);
}

/*
 * First what is left of the start at hand, then the starts of the block, then
 * the next block.  A union waits until a start beyond it, or the end.
 */
acdat_status
acdat_scan_next(acdat_scan *scan, acdat_match *match)
{
	if ((scan->entry < scan->entry_end || scan->chain_top > 0) &&
		next_overlapping(scan, match))
		return ACDAT_OK;
	for (;;)
	{
		acdat_status status;

		while (scan->top > 0)
		{
			bool		found = take_start(scan, match);

			if (scan->work >= ACDAT_TICK_BYTES && !go_on(scan))
				return ACDAT_CANCELLED;
			if (found)
				return ACDAT_OK;
		}
		status = acdat_scan_next_block(scan);
		if (status == ACDAT_END && scan->pending)
		{
			scan->pending = false;
			*match = scan->merged;
			return ACDAT_OK;
		}
		if (status != ACDAT_OK)
			return status;
	}
}

/* Does any pattern occur?  For texts that are not worth preparing a scan. */
static bool
short_contains(const acdat_scan *scan, const unsigned char *text, size_t len)
{
	const acdat_state *states = scan->states;
	const uint16_t *classes = scan->classes;
	uint32_t	state = 0;

	while (len > 0)
	{
		uint32_t	label = classes[text[--len]];

		state = label == 0 ? 0 : scan_step(states, state, label);
		if (ACDAT_STATE_OUT(&states[state]) != 0)
			return true;
	}
	return false;
}

/*
 * Any output at all is a match when nothing else needs looking at.  The
 * filter works from the end of the text; what it leaves, to the automaton,
 * is the front.
 */
static acdat_status
contains_plain(acdat_scan *scan, const unsigned char *text, size_t len,
			   bool *found)
{
	bool		filtered = scan_filter_wanted(scan, len);
	acdat_status status;

	*found = false;
	while (filtered && len > 0)
	{
		size_t		left;

		*found = acdat_scan_filter_contains(scan, text, len, &left);
		if (*found)
			return ACDAT_OK;
		filtered = (scan->filter_rest == 0);
		scan->work += len - left;
		len = left;
		if (scan->work < ACDAT_TICK_BYTES)
			continue;
		scan->work %= ACDAT_TICK_BYTES;
		if (scan->tick != NULL && scan->tick(scan->tick_arg))
			return ACDAT_CANCELLED;
	}
	if (len < SHORT_TEXT)
	{
		*found = short_contains(scan, text, len);
		return ACDAT_OK;
	}
	acdat_scan_start(scan, ACDAT_LEFTMOST_LONGEST, text, len, true);
	do
		status = acdat_scan_next_block(scan);
	while (status == ACDAT_OK && scan->top == 0);
	*found = (status == ACDAT_OK);
	return status == ACDAT_END ? ACDAT_OK : status;
}

/*
 * With folding, boundaries, exceptions or tags a match has to be looked at; the
 * leftmost one is the cheapest to get.
 */
acdat_status
acdat_contains(acdat_scan *scan, const void *text, size_t len, bool *found)
{
	acdat_match match;
	acdat_status status;

	if (!scan->folds && !scan->boundary && !scan->allows &&
		scan->only_tags == NULL)
		return contains_plain(scan, text, len, found);
	acdat_scan_start(scan, ACDAT_LEFTMOST_LONGEST, text, len, true);
	status = acdat_scan_next(scan, &match);
	*found = (status == ACDAT_OK);
	return status == ACDAT_END ? ACDAT_OK : status;
}

/*
 * Ticks of its own, for a block can hold any number of matches.
 */
acdat_status
acdat_count(acdat_scan *scan, acdat_policy policy, const void *text,
			size_t len, uint64_t *count)
{
	acdat_match match;
	acdat_status status;

	*count = 0;
	acdat_scan_start(scan, policy, text, len, true);
	while ((status = acdat_scan_next(scan, &match)) == ACDAT_OK)
	{
		if ((++*count & 0xffff) == 0 && scan->tick != NULL &&
			scan->tick(scan->tick_arg))
			return ACDAT_CANCELLED;
	}
	return status == ACDAT_END ? ACDAT_OK : status;
}
