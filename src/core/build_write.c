/*-------------------------------------------------------------------------
 *
 * build_write.c
 *	  Laying out and writing the image.
 *
 * Links and choices are computed while writing, in build_nodes.c.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build_write.h"
#include "src/core/filter.h"
#include "src/core/tails.h"

#include <string.h>

#define ALIGN8(x) (((x) + 7) & ~(uint64_t) 7)

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
		(builder->valid_utf8 ? ACDAT_IMAGE_VALID_UTF8 : 0);
	h->ends_vary = acdat_build_varying(builder);
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
		need->replacements |= p->strings != 0 &&
			build_replacement(builder, p)->len != ACDAT_NONE;
	}
	need->one_to_one = h->allow_patterns == 0 && h->entries == h->nodes;
	return ACDAT_OK;
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
	bool		jumps;

	memset(h, 0, sizeof(*h));
	fill_options(builder, h);
	status = count_patterns(builder, h, &need);
	if (status == ACDAT_OK)
		status = acdat_build_max_chain(builder, h);
	if (status != ACDAT_OK)
		return status;
	jumps = h->allow_patterns > 0 && h->max_chain > 1;
	acdat_build_choose_filter(builder);
	h->strings_len = builder->strings_len;
	h->tag_count = builder->used_tags;
	h->class_offset = place_section(&end, true, 256, sizeof(uint16_t));
	h->state_offset = place_section(&end, true, h->slots, sizeof(acdat_state));
	h->node_len = place_section(&end, true, h->nodes, 4);
	h->node_link = place_section(&end, true, h->nodes, 4);
	h->node_chain = place_section(&end, acdat_build_needs_chain(builder),
								  h->nodes, 4);
	h->node_best = place_section(&end, true, h->nodes, 4);
	h->node_first = place_section(&end, !need.one_to_one,
								  (uint64_t) h->nodes + 1, 4);
	h->node_choice = place_section(&end, !need.one_to_one && need.priorities,
								   h->nodes, 4);
	h->node_allow = place_section(&end, h->allow_patterns > 0, h->nodes, 4);
	h->node_allow_below = place_section(&end, h->allow_patterns > 0,
										h->nodes, 4);
	h->node_jump = place_section(&end, jumps, h->nodes, 4);
	h->node_jump_best = place_section(&end, jumps, h->nodes, 4);
	h->entry_id32 = place_section(&end, !need.wide_ids, h->entries, 4);
	h->entry_id64 = place_section(&end, need.wide_ids, h->entries, 8);
	h->entry_priority = place_section(&end, need.priorities, h->entries, 4);
	h->entry_replacement = place_section(&end, need.replacements, h->entries,
										 sizeof(acdat_string));
	h->entry_tag = place_section(&end, h->tag_count > 0, h->entries, 4);
	h->tags = place_section(&end, h->tag_count > 0, h->tag_count,
							sizeof(acdat_string));
	h->strings = place_section(&end, true, h->strings_len, 1);
	h->ignore_chars = place_section(&end, true, h->ignore_count, 4);
	h->ignore_bytes = place_section(&end, true, h->ignore_len, 1);
	h->filter = place_section(&end, h->filter_kind != ACDAT_FILTER_NONE,
							  (uint64_t) 1 << h->filter_log2_words, 8);
	h->tails = place_section(&end, h->tail_bytes > 0, h->tail_bytes,
							 sizeof(acdat_tail));
	h->image_size = end;
	if (end > SIZE_MAX)
		return ACDAT_TOO_LARGE;
	*size = (size_t) end;
	return ACDAT_OK;
}

/* ---------------------------------------------------------------- write */

/* Fill the image from offset on with bytes, or with zeroes for NULL. */
static acdat_status
write_bytes(build_writer *w, uint64_t offset, const void *bytes, size_t len)
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
		if (build_write_work(w, n))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/*
 * A pattern without strings has no pair of them.
 */
static void
write_string(const build_writer *w, uint64_t section, uint32_t entry,
			 const acdat_string *string)
{
	static const acdat_string none = {0, ACDAT_NONE};

	((acdat_string *) (void *) (w->image + section))[entry] =
		string == NULL ? none : *string;
}

/* The number of a pattern's tag in the image. */
static uint32_t
reported_tag(const acdat_builder *builder, const build_pattern *pattern)
{
	uint32_t	tag = build_tag_number(builder, pattern);

	return tag == ACDAT_NONE ? ACDAT_NONE : builder->tags[tag].number;
}

static void
write_tags(const build_writer *w)
{
	uint32_t	i;

	for (i = 0; i < w->builder->tag_count; i++)
	{
		const build_tag_string *tag = &w->builder->tags[i];

		if (tag->number != ACDAT_NONE)
			write_string(w, w->h->tags, tag->number, &tag->string);
	}
}

/*
 * The entries of a node, which are its patterns in order of id without the
 * allow patterns; returns the next entry number.
 */
static uint32_t
write_entries(const build_writer *w, uint32_t node, uint32_t entry)
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
			build_u32_section(w, h->entry_tag)[entry] =
				reported_tag(w->builder, p);
		entry++;
	}
	return entry;
}

/* The label of every byte of a text. */
static void
write_classes(const build_writer *w)
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
write_all_entries(build_writer *w)
{
	const acdat_image_header *h = w->h;
	uint32_t	entry = 0;
	uint32_t	i;

	for (i = 0; i < h->nodes; i++)
	{
		const build_node *n = &w->builder->nodes[i];

		if (h->node_first != 0)
			build_u32_section(w, h->node_first)[i] = entry;
		entry = write_entries(w, i, entry);
		if (build_write_work(w, (n->end - n->first) * sizeof(build_pattern)))
			return ACDAT_CANCELLED;
	}
	if (h->node_first != 0)
		build_u32_section(w, h->node_first)[h->nodes] = entry;
	return ACDAT_OK;
}

/*
 * Everything behind the header.  Choices read entries and lengths back through
 * the image, so they come last.
 */
static acdat_status
write_sections(build_writer *w)
{
	const acdat_builder *builder = w->builder;
	const acdat_image_header *h = w->h;
	acdat_status status = ACDAT_OK;

	write_classes(w);
	if (h->filter != 0)
		status = acdat_build_fill_filter(builder, (uint64_t *) (void *)
								   (w->image + h->filter));
	if (status == ACDAT_OK && h->tails != 0)
		status = acdat_build_fill_tails(builder, (acdat_tail *) (void *)
										(w->image + h->tails));
	if (status == ACDAT_OK)
		status = write_bytes(w, h->state_offset, builder->states,
							 (size_t) h->slots * sizeof(acdat_state));
	if (status == ACDAT_OK)
		status = write_all_entries(w);
	if (status == ACDAT_OK && h->tags != 0)
		write_tags(w);
	if (status == ACDAT_OK)
		status = acdat_build_write_nodes(w);
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
	build_writer w;
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
