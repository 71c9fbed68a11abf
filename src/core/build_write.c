/*-------------------------------------------------------------------------
 *
 * build_write.c
 *	  Laying out and writing the image.
 *
 * Links and choices are computed while writing: a node's depend only on
 * nodes with smaller numbers.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"
#include "src/core/filter.h"

#include <string.h>

#define ALIGN8(x) (((x) + 7) & ~(uint64_t) 7)

/*
 * Does a Greek iota follow a character of three or more bytes in any
 * pattern?  The combining iota U+0345 folds to it, which makes a letter of a
 * mark: the only case where folding changes what is a word.
 */
static bool
iota_may_be_mark(const acdat_builder *builder)
{
	const unsigned char *bytes = builder->arena;	/* reversed */
	size_t		i;

	for (i = 3; i < builder->arena_len; i++)
	{
		if (bytes[i - 3] == 0xB9 && bytes[i - 2] == 0xCE &&
			(bytes[i - 1] & 0xC0) == 0x80 && (bytes[i] & 0xC0) == 0x80)
			return true;
	}
	return false;
}

/*
 * Can whether an end is valid be told when compiling, but for the longest
 * pattern at a start?  Not when characters that are dropped or composed may
 * stand between a pattern's end and the next character of a longer one, nor
 * when a longer pattern ends inside a character.
 */
static bool
ends_are_static(const acdat_builder *builder)
{
	bool		words = builder->options.boundary != ACDAT_BOUNDARY_NONE;
	bool		utf8 = builder->options.encoding == ACDAT_ENCODING_UTF8;

	if (!builder->folds && !words)
		return true;
	if (builder->options.normalize != ACDAT_NORMALIZE_NONE ||
		(utf8 && !builder->valid_utf8))
		return false;
	if (!words)
		return true;
	return builder->text_options.ignore.count == 0 &&
		!(builder->options.case_insensitive == ACDAT_CASE_UNICODE &&
		  iota_may_be_mark(builder));
}

/*
 * The part of the header that is known before patterns are counted.
 */
static void
fill_options(acdat_builder *builder, acdat_image_header *h)
{
	memcpy(h->magic, ACDAT_IMAGE_MAGIC, sizeof(h->magic));
	h->layout_version = ACDAT_LAYOUT_VERSION;
	h->byte_order = ACDAT_BYTE_ORDER;
	h->flags = (builder->folds ? ACDAT_IMAGE_FOLDS : 0) |
		(builder->valid_utf8 ? ACDAT_IMAGE_VALID_UTF8 : 0) |
		(ends_are_static(builder) ? ACDAT_IMAGE_STATIC_ENDS : 0);
	h->encoding = (uint32_t) builder->options.encoding;
	h->case_insensitive = (uint32_t) builder->options.case_insensitive;
	h->normalize = (uint32_t) builder->options.normalize;
	h->boundary = (uint32_t) builder->options.boundary;
	h->classes = builder->class_count;
	h->slots = (uint32_t) builder->slots;
	h->states = builder->state_count;
	h->nodes = builder->node_count;
	h->ignore_count = (uint32_t) builder->text_options.ignore.count;
	h->ignore_len = (uint32_t) builder->options.ignore_len;
}

/* What decides which sections are needed. */
typedef struct needs
{
	bool		one_to_one;		/* every node has exactly one entry */
	bool		wide_ids;
	bool		priorities;
	bool		replacements;
	bool		tags;
} needs;

/*
 * Counts and extremes over all patterns, and what varies among those that are
 * reported.  Attributes of allow patterns are of no use to anybody.
 */
static acdat_status
count_patterns(acdat_builder *builder, acdat_image_header *h, needs *need)
{
	bool		first = true;
	size_t		i;

	memset(need, 0, sizeof(*need));
	for (i = 0; i < builder->count; i++)
	{
		const build_pattern *p = &builder->patterns[i];

		if (build_work(builder, sizeof(build_pattern)))
			return ACDAT_CANCELLED;
		if (h->min_len == 0 || p->len < h->min_len)
			h->min_len = p->len;
		if (p->len > h->max_len)
			h->max_len = p->len;
		if (p->allow)
		{
			h->allow_patterns++;
			continue;
		}
		h->entries++;
		if (first)
			h->priority = p->priority;
		first = false;
		need->priorities |= p->priority != h->priority;
		need->wide_ids |= p->id < INT32_MIN || p->id > INT32_MAX;
		if (p->strings == 0)
			continue;
		need->replacements |= build_replacement(builder, p)->len != ACDAT_NONE;
		need->tags |= build_tag(builder, p)->len != ACDAT_NONE;
	}
	need->one_to_one = h->allow_patterns == 0 && h->entries == h->nodes;
	return ACDAT_OK;
}

/* The longest chain of nodes, each a prefix of the one before. */
static acdat_status
find_max_chain(acdat_builder *builder, acdat_image_header *h)
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

/* Take the next section of count elements of width bytes if wanted. */
static uint64_t
place_section(uint64_t *end, bool wanted, uint64_t count, uint64_t width)
{
	uint64_t	offset = *end;

	if (!wanted)
		return 0;
	*end = ALIGN8(offset + count * width);
	return offset;
}

/*
 * Decide where every section goes.  The order is that of use in a scan: what
 * it reads most lies together at the front.
 */
acdat_status
acdat_build_layout(acdat_builder *builder, size_t *size)
{
	acdat_image_header *h = &builder->header;
	uint64_t	end = ALIGN8(sizeof(acdat_image_header));
	needs		need;
	acdat_status status;

	memset(h, 0, sizeof(*h));
	fill_options(builder, h);
	status = count_patterns(builder, h, &need);
	if (status == ACDAT_OK)
		status = find_max_chain(builder, h);
	if (status != ACDAT_OK)
		return status;
	acdat_build_choose_filter(builder);
	h->strings_len = builder->strings_len;
	h->class_offset = place_section(&end, true, 256, sizeof(uint16_t));
	h->state_offset = place_section(&end, true, h->slots, sizeof(acdat_state));
	h->node_len = place_section(&end, true, h->nodes, 4);
	h->node_link = place_section(&end, true, h->nodes, 4);
	h->node_best = place_section(&end, true, h->nodes, 4);
	h->node_first = place_section(&end, !need.one_to_one,
								  (uint64_t) h->nodes + 1, 4);
	h->node_choice = place_section(&end, !need.one_to_one && need.priorities,
								   h->nodes, 4);
	h->node_allow = place_section(&end, h->allow_patterns > 0, h->nodes, 4);
	h->node_allow_below = place_section(&end, h->allow_patterns > 0,
										h->nodes, 4);
	h->entry_id32 = place_section(&end, !need.wide_ids, h->entries, 4);
	h->entry_id64 = place_section(&end, need.wide_ids, h->entries, 8);
	h->entry_priority = place_section(&end, need.priorities, h->entries, 4);
	h->entry_replacement = place_section(&end, need.replacements, h->entries,
										 sizeof(acdat_string));
	h->entry_tag = place_section(&end, need.tags, h->entries,
								 sizeof(acdat_string));
	h->strings = place_section(&end, true, h->strings_len, 1);
	h->ignore_chars = place_section(&end, true, h->ignore_count, 4);
	h->ignore_bytes = place_section(&end, true, h->ignore_len, 1);
	h->filter = place_section(&end, h->filter_kind != ACDAT_FILTER_NONE,
							  (uint64_t) 1 << h->filter_log2_words, 8);
	h->image_size = end;
	if (end > SIZE_MAX)
		return ACDAT_TOO_LARGE;
	*size = (size_t) end;
	return ACDAT_OK;
}

/* ---------------------------------------------------------------- write */

/* The image being written, with its own view for reading back. */
typedef struct writer
{
	const acdat_builder *builder;
	unsigned char *image;
	const acdat_image_header *h;
	acdat_machine machine;
	unsigned char *forward;		/* a pattern's bytes in text order */
	uint64_t	work;			/* since the last tick */
} writer;

/* Count work; true if the caller must stop. */
static inline bool
write_work(writer *w, uint64_t amount)
{
	w->work += amount;
	if (w->work < ACDAT_TICK_BYTES)
		return false;
	w->work = 0;
	return acdat_tick(&w->builder->hooks);
}

/* Fill the image from offset on with bytes, or with zeroes for NULL. */
static acdat_status
write_bytes(writer *w, uint64_t offset, const void *bytes, size_t len)
{
	size_t		done = 0;

	while (done < len)
	{
		size_t		n = len - done < ACDAT_TICK_BYTES ? len - done : ACDAT_TICK_BYTES;

		if (bytes == NULL)
			memset(w->image + offset + done, 0, n);
		else
			memcpy(w->image + offset + done, (const char *) bytes + done, n);
		done += n;
		if (write_work(w, n))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

static inline uint32_t *
u32_section(const writer *w, uint64_t offset)
{
	return (uint32_t *) (void *) (w->image + offset);
}

/*
 * A pattern without strings has no pair of them.
 */
static void
write_string(const writer *w, uint64_t section, uint32_t entry,
			 const acdat_string *string)
{
	static const acdat_string none = {0, ACDAT_NONE};

	((acdat_string *) (void *) (w->image + section))[entry] =
		string == NULL ? none : *string;
}

/*
 * The entries of a node, which are its patterns in order of id without the
 * allow patterns; returns the next entry number.
 */
static uint32_t
write_entries(const writer *w, uint32_t node, uint32_t entry)
{
	const acdat_image_header *h = w->h;
	const build_node *n = &w->builder->nodes[node];
	uint32_t	i;

	for (i = n->first; i < n->end; i++)
	{
		const build_pattern *p = &w->builder->patterns[i];

		if (p->allow)
			continue;
		if (h->entry_id64 != 0)
			((int64_t *) (void *) (w->image + h->entry_id64))[entry] = p->id;
		else
			((int32_t *) (void *) (w->image + h->entry_id32))[entry] = (int32_t) p->id;
		if (h->entry_priority != 0)
			((int32_t *) (void *) (w->image + h->entry_priority))[entry] = p->priority;
		if (h->entry_replacement != 0)
			write_string(w, h->entry_replacement, entry,
						 build_replacement(w->builder, p));
		if (h->entry_tag != 0)
			write_string(w, h->entry_tag, entry, build_tag(w->builder, p));
		entry++;
	}
	return entry;
}

/* The preferred entry of one node, ACDAT_NONE if it has none. */
static uint32_t
choose_entry(const writer *w, uint32_t node)
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
node_allows(const writer *w, uint32_t node)
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
 * The next shorter node whose end is valid inside this one.  links holds
 * what this function gave for nodes with smaller numbers: whether an end is
 * valid depends on the characters around it, which every longer pattern on
 * the chain shares.
 */
static uint32_t
valid_link(const writer *w, uint32_t node, const uint32_t *links)
{
	const acdat_builder *builder = w->builder;
	uint32_t	link = builder->nodes[node].link;
	const build_pattern *p = &builder->patterns[builder->nodes[node].first];
	const unsigned char *reversed = build_bytes(builder, p);
	uint32_t	i;

	if (link == ACDAT_NONE ||
		(w->h->flags & ACDAT_IMAGE_STATIC_ENDS) == 0 ||
		w->h->boundary == ACDAT_BOUNDARY_NONE)
		return link;
	for (i = 0; i < p->len; i++)
		w->forward[i] = reversed[p->len - 1 - i];
	if (acdat_is_word_boundary(builder->options.encoding, w->forward, p->len,
							   build_node_len(builder, link)))
		return link;
	return links[link];
}

/* Longest allow pattern among a node and those shorter. */
static void
write_allow(const writer *w, uint32_t node, uint32_t link)
{
	uint32_t   *allow = u32_section(w, w->h->node_allow);
	uint32_t   *below = u32_section(w, w->h->node_allow_below);

	below[node] = link == ACDAT_NONE ? 0 : allow[link];
	if (node_allows(w, node))
		allow[node] = build_node_len(w->builder, node);
	else
		allow[node] = (w->h->flags & ACDAT_IMAGE_STATIC_ENDS) ? below[node] : 0;
}

/*
 * Lengths and links of all nodes.  node_link first holds the next valid node
 * of any kind; write_choices() lets it skip nodes without entries.
 */
static acdat_status
write_nodes(writer *w)
{
	const acdat_builder *builder = w->builder;
	const acdat_image_header *h = w->h;
	uint32_t   *link = u32_section(w, h->node_link);
	uint32_t	i;

	for (i = 0; i < h->nodes; i++)
	{
		u32_section(w, h->node_len)[i] = build_node_len(builder, i);
		link[i] = valid_link(w, i, link);
		if (h->node_allow != 0)
			write_allow(w, i, link[i]);
		if (h->node_choice != 0)
			u32_section(w, h->node_choice)[i] = choose_entry(w, i);
		if (write_work(w, 16 + build_node_len(builder, i)))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/*
 * Links skip nodes without entries (where ends are static; else scans do), and
 * every node learns which node of its chain leftmost_first prefers.  Nodes with
 * smaller numbers are finished, so each is looked at once.
 */
static acdat_status
write_choices(writer *w)
{
	const acdat_image_header *h = w->h;
	bool		skip = (h->flags & ACDAT_IMAGE_STATIC_ENDS) != 0 &&
		h->node_first != 0;
	uint32_t   *link = u32_section(w, h->node_link);
	uint32_t   *best = u32_section(w, h->node_best);
	uint32_t	i;

	for (i = 0; i < h->nodes; i++)
	{
		uint32_t	below;

		if (skip && link[i] != ACDAT_NONE &&
			!acdat_node_has_entries(&w->machine, link[i]))
			link[i] = link[link[i]];
		best[i] = acdat_node_has_entries(&w->machine, i) ? i : ACDAT_NONE;
		below = link[i] == ACDAT_NONE ? ACDAT_NONE : best[link[i]];
		if (below != ACDAT_NONE &&
			(best[i] == ACDAT_NONE ||
			 acdat_entry_preferred(&w->machine,
								   acdat_node_choice(&w->machine, below),
								   acdat_node_choice(&w->machine, i))))
			best[i] = below;
		if (write_work(w, 16))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/* The label of every byte of a text. */
static void
write_classes(const writer *w)
{
	const acdat_builder *builder = w->builder;
	uint16_t   *classes = (uint16_t *) (void *) (w->image + w->h->class_offset);
	uint32_t	i;

	for (i = 0; i < 256; i++)
		classes[i] = builder->classes[builder->folds ? i :
									  builder->byte_table[i]];
}

/*
 * Entries lie in the order of their nodes, so a node needs only its first.
 */
static acdat_status
write_all_entries(writer *w)
{
	const acdat_image_header *h = w->h;
	uint32_t	entry = 0;
	uint32_t	i;

	for (i = 0; i < h->nodes; i++)
	{
		const build_node *n = &w->builder->nodes[i];

		if (h->node_first != 0)
			u32_section(w, h->node_first)[i] = entry;
		entry = write_entries(w, i, entry);
		if (write_work(w, (n->end - n->first) * sizeof(build_pattern)))
			return ACDAT_CANCELLED;
	}
	if (h->node_first != 0)
		u32_section(w, h->node_first)[h->nodes] = entry;
	return ACDAT_OK;
}

/*
 * Everything behind the header.  Choices read entries and lengths back through
 * the image, so they come last.
 */
static acdat_status
write_sections(writer *w)
{
	const acdat_builder *builder = w->builder;
	const acdat_image_header *h = w->h;
	acdat_status status = ACDAT_OK;

	write_classes(w);
	if (h->filter != 0)
		status = acdat_build_fill_filter(builder, (uint64_t *) (void *)
								   (w->image + h->filter));
	if (status == ACDAT_OK)
		status = write_bytes(w, h->state_offset, builder->states,
							 (size_t) h->slots * sizeof(acdat_state));
	if (status == ACDAT_OK)
		status = write_all_entries(w);
	if (status == ACDAT_OK)
		status = write_nodes(w);
	if (status == ACDAT_OK)
		status = write_choices(w);
	if (status == ACDAT_OK && h->strings_len > 0)
		status = write_bytes(w, h->strings, builder->strings,
							 (size_t) h->strings_len);
	if (status == ACDAT_OK && h->ignore_count > 0)
		status = write_bytes(w, h->ignore_chars, builder->ignore_chars,
							 h->ignore_count * sizeof(uint32_t));
	if (status == ACDAT_OK && h->ignore_len > 0)
		status = write_bytes(w, h->ignore_bytes, builder->options.ignore,
							 h->ignore_len);
	return status;
}

/*
 * May be called any number of times.  After a failure the image has no valid
 * checksum, and neither way of opening accepts it.
 */
acdat_status
acdat_builder_write(const acdat_builder *builder, void *image)
{
	writer		w;
	acdat_image_header *h = image;
	size_t		size = (size_t) builder->header.image_size;
	acdat_status status;

	if (!builder->compiled || ((uintptr_t) image & 15) != 0)
		return ACDAT_BAD_ARGUMENT;
	w.builder = builder;
	w.image = image;
	w.h = h;
	w.machine.header = h;
	w.machine.image = image;
	w.machine.size = size;
	w.work = 0;
	w.forward = acdat_alloc(&builder->hooks, builder->header.max_len);
	if (w.forward == NULL)
		return ACDAT_NO_MEMORY;
	status = write_bytes(&w, 0, NULL, size);
	*h = builder->header;
	if (status == ACDAT_OK)
		status = write_sections(&w);
	acdat_free(&builder->hooks, w.forward);
	if (status == ACDAT_OK &&
		!acdat_image_checksum_ticking(image, size, &builder->hooks,
									  h->checksum))
		status = ACDAT_CANCELLED;
	h->header_checksum = acdat_header_checksum(h);
	return status;
}
