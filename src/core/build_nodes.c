/*-------------------------------------------------------------------------
 *
 * build_nodes.c
 *	  What is known of nodes when compiling: links to shorter ones, choices,
 *	  allow patterns, jumps.
 *
 * Everything about a node depends only on nodes with smaller numbers, which
 * are finished when its turn comes, so each is looked at once.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build_write.h"

#include <string.h>

/*
 * May a pattern have a character that stands for one which is another thing
 * to words?  Those are the iota, to which the combining iota U+0345 folds,
 * and the combining sound marks of kana U+3099 and U+309A, to which the
 * half-width ones fold, that are letters by themselves.
 */
static bool
has_reclassed(const acdat_builder *builder)
{
	bool		iota = builder->options.case_insensitive == ACDAT_CASE_UNICODE;
	bool		marks = builder->options.normalize == ACDAT_NORMALIZE_WIDTH;
	const unsigned char *bytes = builder->arena;	/* reversed */
	size_t		i;

	for (i = 1; i < builder->arena_len; i++)
	{
		if (iota && bytes[i - 1] == 0xB9 && bytes[i] == 0xCE)
			return true;
		if (marks && bytes[i - 1] == 0x82 && bytes[i] == 0xE3)
			return true;
	}
	return false;
}

/*
 * Units of one code point begin and end where characters of the folded bytes
 * do, or in place of one there is an invalid byte.  So it takes more code
 * points to put the end of a valid pattern inside a unit, and dropped
 * characters between invalid bytes to put one between.
 *
 * Whether an end is inside a word can be told from the folded bytes unless a
 * dropped character stands there, or one that folds to another thing.
 */
uint32_t
acdat_build_varying(const acdat_builder *builder)
{
	bool		words = builder->options.boundary != ACDAT_BOUNDARY_NONE;
	bool		nfkc = builder->options.normalize == ACDAT_NORMALIZE_NFKC;
	uint32_t	traits = 0;

	if (!builder->folds)
		return 0;
	if (builder->text_options.ignore.count > 0 &&
		(words || (builder->options.encoding == ACDAT_ENCODING_UTF8 &&
				   !builder->valid_utf8)))
		traits |= ACDAT_TEXT_DROPPED;
	if (nfkc)
		traits |= ACDAT_TEXT_EXPANDED;
	if (words && (nfkc || has_reclassed(builder)))
		traits |= ACDAT_TEXT_RECLASSED;
	return traits;
}

/* Can ends lie inside characters, where it matters? */
static bool
ends_may_split(const acdat_builder *builder)
{
	return builder->options.encoding == ACDAT_ENCODING_UTF8 &&
		!builder->valid_utf8 &&
		(builder->folds || builder->options.boundary != ACDAT_BOUNDARY_NONE);
}

bool
acdat_build_needs_chain(const acdat_builder *builder)
{
	return acdat_build_varying(builder) != 0 || ends_may_split(builder);
}

acdat_status
acdat_build_max_chain(acdat_builder *builder, acdat_image_header *h)
{
	bool		cancelled = false;
	uint32_t   *length;
	uint32_t	i;

	length = acdat_alloc(&builder->hooks, (size_t) h->nodes * sizeof(uint32_t));
	if (length == NULL)
		return ACDAT_NO_MEMORY;
	for (i = 0; i < h->nodes && !cancelled; i++)
	{
		uint32_t	link = builder->nodes[i].link;

		length[i] = link == ACDAT_NONE ? 1 : length[link] + 1;
		if (length[i] > h->max_chain)
			h->max_chain = length[i];
		cancelled = build_work(builder, sizeof(build_node));
	}
	acdat_free(&builder->hooks, length);
	return cancelled ? ACDAT_CANCELLED : ACDAT_OK;
}

/* The preferred entry of one node, ACDAT_NONE if it has none. */
static uint32_t
choose_entry(const build_writer *w, uint32_t node)
{
	uint32_t	first = acdat_node_first(&w->machine, node);
	uint32_t	end = acdat_node_end(&w->machine, node);
	uint32_t	choice = ACDAT_NONE;
	uint32_t	i;

	for (i = first; i < end; i++)
	{
		if (choice == ACDAT_NONE || acdat_entry_preferred(&w->machine, i, choice))
			choice = i;
	}
	return choice;
}

/*
 * Does the list of a node have an allow pattern?
 */
static bool
node_allows(const build_writer *w, uint32_t node)
{
	const build_node *n = &w->builder->nodes[node];
	uint32_t	i;

	for (i = n->first; i < n->end; i++)
	{
		if (w->builder->patterns[i].allow)
			return true;
	}
	return false;
}

/*
 * The next shorter node whose end is valid inside this one, if this one ends
 * between two units.  links holds what this function gave for nodes with
 * smaller numbers: whether an end is valid depends on the characters around
 * it, which every longer pattern on the chain shares.  Of ends inside a
 * character, which are passed first, there are three at most.
 */
static uint32_t
valid_link(const build_writer *w, uint32_t node, const uint32_t *links)
{
	const acdat_builder *builder = w->builder;
	acdat_encoding encoding = builder->options.encoding;
	uint32_t	link = builder->nodes[node].link;
	const build_pattern *p = &builder->patterns[builder->nodes[node].first];
	const unsigned char *reversed = build_bytes(builder, p);
	bool		words = w->h->boundary != ACDAT_BOUNDARY_NONE;
	uint32_t	i;

	if (link == ACDAT_NONE || (!words && !ends_may_split(builder)))
		return link;
	for (i = 0; i < p->len; i++)
		w->forward[i] = reversed[p->len - 1 - i];
	while (link != ACDAT_NONE &&
		   !acdat_is_char_boundary(encoding, w->forward, p->len,
								   build_node_len(builder, link)))
		link = builder->nodes[link].link;
	if (link == ACDAT_NONE || !words ||
		acdat_is_word_boundary(encoding, w->forward, p->len,
							   build_node_len(builder, link)))
		return link;
	return links[link];
}

/* Longest allow pattern among a node and those shorter. */
static void
write_allow(const build_writer *w, uint32_t node, uint32_t link)
{
	uint32_t   *allow = build_u32_section(w, w->h->node_allow);
	uint32_t   *below = build_u32_section(w, w->h->node_allow_below);

	below[node] = link == ACDAT_NONE ? 0 : allow[link];
	allow[node] = node_allows(w, node) ? build_node_len(w->builder, node) :
		below[node];
}

/*
 * Lengths and links of all nodes.  node_link first holds the next valid node
 * of any kind; write_choices() lets it skip nodes without entries.
 */
static acdat_status
write_links(build_writer *w)
{
	const acdat_builder *builder = w->builder;
	const acdat_image_header *h = w->h;
	uint32_t   *link = build_u32_section(w, h->node_link);
	uint32_t	i;

	for (i = 0; i < h->nodes; i++)
	{
		build_u32_section(w, h->node_len)[i] = build_node_len(builder, i);
		link[i] = valid_link(w, i, link);
		if (h->node_chain != 0)
			build_u32_section(w, h->node_chain)[i] = builder->nodes[i].link;
		if (h->node_allow != 0)
			write_allow(w, i, link[i]);
		if (h->node_choice != 0)
			build_u32_section(w, h->node_choice)[i] = choose_entry(w, i);
		if (build_write_work(w, 16 + build_node_len(builder, i)))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/*
 * Links skip nodes without entries, and every node learns which node of its
 * chain leftmost_first prefers.
 */
static acdat_status
write_choices(build_writer *w)
{
	const acdat_image_header *h = w->h;
	const acdat_machine *m = &w->machine;
	uint32_t   *link = build_u32_section(w, h->node_link);
	uint32_t   *best = build_u32_section(w, h->node_best);
	uint32_t	i;

	for (i = 0; i < h->nodes; i++)
	{
		if (link[i] != ACDAT_NONE && !acdat_node_has_entries(m, link[i]))
			link[i] = link[link[i]];
		best[i] = acdat_preferred_node(m, acdat_node_has_entries(m, i) ?
									   i : ACDAT_NONE,
									   link[i] == ACDAT_NONE ? ACDAT_NONE :
									   best[link[i]]);
		if (build_write_work(w, 16))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/* Links and choices are there. */
static acdat_status
write_jumps(build_writer *w)
{
	const acdat_image_header *h = w->h;
	const acdat_hooks *hooks = &w->builder->hooks;
	acdat_status status = ACDAT_OK;
	uint32_t   *depth;
	uint32_t	i;

	depth = acdat_alloc(hooks, (size_t) h->nodes * sizeof(uint32_t));
	if (depth == NULL)
		return ACDAT_NO_MEMORY;
	for (i = 0; i < h->nodes && status == ACDAT_OK; i++)
	{
		uint32_t	link = acdat_node_link(&w->machine, i);

		depth[i] = link == ACDAT_NONE ? 1 : depth[link] + 1;
		build_u32_section(w, h->node_jump)[i] =
			acdat_jump_of(&w->machine, depth, i);
		build_u32_section(w, h->node_jump_best)[i] =
			acdat_jump_best_of(&w->machine, i);
		if (build_write_work(w, 16))
			status = ACDAT_CANCELLED;
	}
	acdat_free(hooks, depth);
	return status;
}

acdat_status
acdat_build_write_nodes(build_writer *w)
{
	acdat_status status = write_links(w);

	if (status == ACDAT_OK)
		status = write_choices(w);
	if (status == ACDAT_OK && w->h->node_jump != 0)
		status = write_jumps(w);
	return status;
}
