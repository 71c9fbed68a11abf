/*-------------------------------------------------------------------------
 *
 * build_tags.c
 *	  The distinct tags of a dictionary being built.
 *
 * Patterns are many, tags are few: each is kept once, found by a hash table
 * while patterns are added, and numbered in the order of its bytes for the
 * image.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Places in the first hash table; a power of 2, like all that follow. */
#define FIRST_PLACES 64

static const unsigned char *
tag_bytes(const acdat_builder *builder, uint32_t tag)
{
	return builder->strings + builder->tags[tag].string.offset;
}

/* The place of a string in the hash table: its own, or the free one for it. */
static size_t
find_place(const acdat_builder *builder, const void *bytes, size_t len)
{
	size_t		mask = builder->tag_places - 1;
	size_t		place = (size_t) XXH3_64bits(bytes, len) & mask;

	for (;;)
	{
		uint32_t	tag = builder->tag_table[place];

		if (tag == ACDAT_NONE)
			return place;
		if (builder->tags[tag].string.len == len &&
			memcmp(tag_bytes(builder, tag), bytes, len) == 0)
			return place;
		place = (place + 1) & mask;
	}
}

/* A table that is at most half full after one more tag. */
static acdat_status
grow_table(acdat_builder *builder)
{
	size_t		places = builder->tag_places > 0 ? builder->tag_places * 2 : FIRST_PLACES;
	uint32_t   *table;
	uint32_t	i;

	if (builder->tag_count + 1 <= builder->tag_places / 2)
		return ACDAT_OK;
	table = acdat_alloc(&builder->hooks, places * sizeof(uint32_t));
	if (table == NULL)
		return ACDAT_NO_MEMORY;
	memset(table, 0xff, places * sizeof(uint32_t));
	acdat_free(&builder->hooks, builder->tag_table);
	builder->tag_table = table;
	builder->tag_places = places;
	for (i = 0; i < builder->tag_count; i++)
		table[find_place(builder, tag_bytes(builder, i),
						 builder->tags[i].string.len)] = i;
	return ACDAT_OK;
}

acdat_status
acdat_build_add_tag(acdat_builder *builder, const void *bytes, size_t len,
					uint32_t *tag)
{
	build_tag_string own = {{0, ACDAT_NONE}, ACDAT_NONE};
	acdat_status status;
	size_t		place;

	*tag = ACDAT_NONE;
	if (bytes == NULL)
		return ACDAT_OK;
	status = grow_table(builder);
	if (status != ACDAT_OK)
		return status;
	place = find_place(builder, bytes, len);
	if (builder->tag_table[place] == ACDAT_NONE)
	{
		if (!acdat_grow(&builder->hooks, (void **) &builder->tags,
						&builder->tag_capacity, (size_t) builder->tag_count + 1,
						sizeof(build_tag_string)))
			return ACDAT_NO_MEMORY;
		status = acdat_build_add_string(builder, bytes, len, &own.string);
		if (status != ACDAT_OK)
			return status;
		builder->tags[builder->tag_count] = own;
		builder->tag_table[place] = builder->tag_count++;
	}
	*tag = builder->tag_table[place];
	return ACDAT_OK;
}

static bool
tag_before(const acdat_builder *builder, uint32_t a, uint32_t b)
{
	return acdat_compare_strings(tag_bytes(builder, a),
								 builder->tags[a].string.len,
								 tag_bytes(builder, b),
								 builder->tags[b].string.len) < 0;
}

/* Let the tag at a place of a heap, the last in order on top, sink. */
static void
sift_down(const acdat_builder *builder, uint32_t *heap, uint32_t at,
		  uint32_t count)
{
	for (;;)
	{
		uint64_t	child = 2 * (uint64_t) at + 1;
		uint32_t	saved = heap[at];

		if (child >= count)
			return;
		if (child + 1 < count &&
			tag_before(builder, heap[child], heap[child + 1]))
			child++;
		if (!tag_before(builder, saved, heap[child]))
			return;
		heap[at] = heap[child];
		heap[child] = saved;
		at = (uint32_t) child;
	}
}

/* Heapsort; needs no memory and has no bad cases. */
static acdat_status
sort_tags(acdat_builder *builder, uint32_t *heap, uint32_t count)
{
	uint32_t	i;

	for (i = count / 2; i > 0; i--)
		sift_down(builder, heap, i - 1, count);
	for (i = count; i > 1; i--)
	{
		uint32_t	last = heap[0];

		heap[0] = heap[i - 1];
		heap[i - 1] = last;
		sift_down(builder, heap, 0, i - 1);
		if (build_work(builder, builder->tags[last].string.len + (uint64_t) 64))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/* The hash table is done with; its room holds the tags in order. */
acdat_status
acdat_build_number_tags(acdat_builder *builder)
{
	uint32_t   *order = builder->tag_table;
	uint32_t	count = 0;
	acdat_status status;
	uint32_t	i;

	for (i = 0; i < builder->count; i++)
	{
		const build_pattern *p = &builder->patterns[i];
		uint32_t	tag = build_tag_number(builder, p);

		if (build_work(builder, sizeof(build_pattern)))
			return ACDAT_CANCELLED;
		if (tag == ACDAT_NONE || p->allow ||
			builder->tags[tag].number != ACDAT_NONE)
			continue;
		builder->tags[tag].number = 0;
		order[count++] = tag;
	}
	status = sort_tags(builder, order, count);
	for (i = 0; i < count; i++)
		builder->tags[order[i]].number = i;
	builder->used_tags = count;
	return status;
}
