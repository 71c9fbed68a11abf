/*-------------------------------------------------------------------------
 *
 * image.c
 *	  Opening trusted images, what they say of themselves and of patterns.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/image.h"

#include "src/core/filter.h"
#include "src/core/hooks.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* Bytes between two ticks; a few microseconds. */
#define CHECKSUM_CHUNK ACDAT_TICK_BYTES

bool
acdat_image_checksum_ticking(const void *image, size_t size,
							 const acdat_hooks *hooks, uint64_t checksum[2])
{
	const unsigned char *bytes = image;
	size_t		done = sizeof(acdat_image_header);
	acdat_image_header h;
	XXH128_hash_t hash;
	XXH3_state_t state;

	memcpy(&h, image, sizeof(h));
	h.checksum[0] = h.checksum[1] = 0;
	h.header_checksum = 0;
	XXH3_INITSTATE(&state);
	(void) XXH3_128bits_reset_withSeed(&state, XXH3_64bits(&h, sizeof(h)));
	while (done < size)
	{
		size_t		n = size - done;

		if (n > CHECKSUM_CHUNK)
			n = CHECKSUM_CHUNK;
		(void) XXH3_128bits_update(&state, bytes + done, n);
		done += n;
		if (hooks != NULL && acdat_tick(hooks))
			return false;
	}
	hash = XXH3_128bits_digest(&state);
	checksum[0] = hash.low64;
	checksum[1] = hash.high64;
	return true;
}

void
acdat_image_checksum(const void *image, size_t size, uint64_t checksum[2])
{
	(void) acdat_image_checksum_ticking(image, size, NULL, checksum);
}

/*
 * Of the header alone, so that opening takes the same time for any image.
 */
uint64_t
acdat_header_checksum(const acdat_image_header *header)
{
	acdat_image_header h = *header;

	h.header_checksum = 0;
	return XXH3_64bits(&h, sizeof(h));
}

/*
 * Looks at the header only.  More bytes than the image has do no harm: shared
 * memory comes in pages.
 */
acdat_status
acdat_open_trusted(acdat_machine *machine, const void *image, size_t size)
{
	const acdat_image_header *h = image;

	if (size < sizeof(acdat_image_header) || ((uintptr_t) image & 7) != 0 ||
		memcmp(h->magic, ACDAT_IMAGE_MAGIC, sizeof(h->magic)) != 0)
		return ACDAT_CORRUPT;
	if (h->layout_version != ACDAT_LAYOUT_VERSION ||
		h->byte_order != ACDAT_BYTE_ORDER)
		return ACDAT_VERSION_MISMATCH;
	if (h->image_size > size || h->header_checksum != acdat_header_checksum(h))
		return ACDAT_CORRUPT;
	machine->header = h;
	machine->image = image;
	machine->size = (size_t) h->image_size;
	return ACDAT_OK;
}

void
acdat_image_text_options(const acdat_machine *m, acdat_text_options *options)
{
	const acdat_image_header *h = m->header;
	uint32_t	i;

	memset(options, 0, sizeof(*options));
	options->encoding = (acdat_encoding) h->encoding;
	options->case_insensitive = (acdat_case) h->case_insensitive;
	options->normalize = (acdat_normalize) h->normalize;
	options->ignore.chars = acdat_section(m, h->ignore_chars);
	options->ignore.count = h->ignore_count;
	for (i = 0; i < h->ignore_count && options->ignore.chars[i] < 128; i++)
	{
		uint32_t	c = options->ignore.chars[i];

		options->ignore.ascii[c / 32] |= (uint32_t) 1 << (c % 32);
	}
}

/* The means of scanning, the first that is tried first. */
static const char *
engine_name(const acdat_image_header *h)
{
	static const char *const names[3][2] = {
		{"automaton", "tails, automaton"},
		{"filter, automaton", "tails, filter, automaton"},
		{"split filter, automaton", "tails, split filter, automaton"}
	};

	return names[h->filter_kind <= ACDAT_FILTER_SPLIT ? h->filter_kind : 0]
		[h->tail_bytes > 0];
}

/*
 * All from the header; nothing is counted.
 */
void
acdat_machine_describe(const acdat_machine *m, acdat_machine_info *info)
{
	const acdat_image_header *h = m->header;

	memset(info, 0, sizeof(*info));
	info->image_bytes = h->image_size;
	info->patterns = (uint64_t) h->entries + h->allow_patterns;
	info->allow_patterns = h->allow_patterns;
	info->states = h->states;
	info->max_pattern_bytes = h->max_len;
	info->min_pattern_bytes = h->min_len;
	info->checksum[0] = h->checksum[0];
	info->checksum[1] = h->checksum[1];
	info->layout_version = h->layout_version;
	info->options.encoding = (acdat_encoding) h->encoding;
	info->options.case_insensitive = (acdat_case) h->case_insensitive;
	info->options.normalize = (acdat_normalize) h->normalize;
	info->options.boundary = (acdat_boundary) h->boundary;
	info->options.ignore = acdat_section(m, h->ignore_bytes);
	info->options.ignore_len = h->ignore_len;
	info->engine = engine_name(h);
	info->has_replacements = (h->entry_replacement != 0);
	info->tags = h->tag_count;
	info->valid_utf8 = (h->flags & ACDAT_IMAGE_VALID_UTF8) != 0;
}

/*
 * Identifiers have 32 bits unless one needs more.
 */
int64_t
acdat_pattern_id(const acdat_machine *m, uint32_t pattern)
{
	const acdat_image_header *h = m->header;

	if (h->entry_id64 != 0)
		return ((const int64_t *) acdat_section(m, h->entry_id64))[pattern];
	return ((const int32_t *) acdat_section(m, h->entry_id32))[pattern];
}

int32_t
acdat_pattern_priority(const acdat_machine *m, uint32_t pattern)
{
	const acdat_image_header *h = m->header;

	if (h->entry_priority == 0)
		return h->priority;
	return ((const int32_t *) acdat_section(m, h->entry_priority))[pattern];
}

bool
acdat_entry_preferred(const acdat_machine *m, uint32_t a, uint32_t b)
{
	int32_t		pa = acdat_pattern_priority(m, a);
	int32_t		pb = acdat_pattern_priority(m, b);

	if (pa != pb)
		return pa > pb;
	return acdat_pattern_id(m, a) < acdat_pattern_id(m, b);
}

uint32_t
acdat_preferred_node(const acdat_machine *m, uint32_t a, uint32_t b)
{
	if (a == ACDAT_NONE)
		return b;
	if (b != ACDAT_NONE && acdat_entry_preferred(m, acdat_node_choice(m, b),
												 acdat_node_choice(m, a)))
		return b;
	return a;
}

/* Two jumps of one span make a jump over both. */
uint32_t
acdat_jump_of(const acdat_machine *m, const uint32_t *depth, uint32_t node)
{
	uint32_t	link = acdat_node_link(m, node);
	uint32_t	first;
	uint32_t	second;

	if (link == ACDAT_NONE)
		return ACDAT_NONE;
	first = acdat_u32_at(m, m->header->node_jump, link);
	if (first == ACDAT_NONE)
		return link;
	second = acdat_u32_at(m, m->header->node_jump, first);
	if (depth[link] - depth[first] !=
		depth[first] - (second == ACDAT_NONE ? 0 : depth[second]))
		return link;
	return second;
}

/* node_jump of the node is known. */
uint32_t
acdat_jump_best_of(const acdat_machine *m, uint32_t node)
{
	const acdat_image_header *h = m->header;
	uint32_t	link = acdat_node_link(m, node);
	uint32_t	best = acdat_node_has_entries(m, node) ? node : ACDAT_NONE;

	if (acdat_u32_at(m, h->node_jump, node) == link)
		return best;
	best = acdat_preferred_node(m, best,
								acdat_u32_at(m, h->node_jump_best, link));
	return acdat_preferred_node(m, best,
								acdat_u32_at(m, h->node_jump_best,
											 acdat_u32_at(m, h->node_jump, link)));
}

/* A string of the image, NULL where there is none. */
static const void *
section_string(const acdat_machine *m, uint64_t section, uint32_t index,
			   size_t *len)
{
	acdat_string string;

	*len = 0;
	if (section == 0)
		return NULL;
	string = ((const acdat_string *) acdat_section(m, section))[index];
	if (string.len == ACDAT_NONE)
		return NULL;
	*len = string.len;
	return m->image + m->header->strings + string.offset;
}

const void *
acdat_pattern_replacement(const acdat_machine *m, uint32_t pattern,
						  size_t *len)
{
	return section_string(m, m->header->entry_replacement, pattern, len);
}

const char *
acdat_machine_tag(const acdat_machine *m, uint32_t tag, size_t *len)
{
	return section_string(m, m->header->tags, tag, len);
}

const char *
acdat_pattern_tag(const acdat_machine *m, uint32_t pattern, size_t *len)
{
	uint32_t	tag = m->header->entry_tag == 0 ? ACDAT_NONE :
		acdat_u32_at(m, m->header->entry_tag, pattern);

	*len = 0;
	return tag == ACDAT_NONE ? NULL : acdat_machine_tag(m, tag, len);
}

int
acdat_compare_strings(const void *a, size_t a_len, const void *b, size_t b_len)
{
	size_t		shared = a_len < b_len ? a_len : b_len;
	int			order = shared == 0 ? 0 : memcmp(a, b, shared);

	if (order != 0)
		return order;
	return a_len < b_len ? -1 : a_len > b_len;
}

bool
acdat_find_tag(const acdat_machine *m, const void *bytes, size_t len,
			   uint32_t *tag)
{
	uint32_t	low = 0;
	uint32_t	high = (uint32_t) m->header->tag_count;

	while (low < high)
	{
		uint32_t	middle = low + (high - low) / 2;
		size_t		middle_len;
		const char *at = acdat_machine_tag(m, middle, &middle_len);
		int			order = acdat_compare_strings(bytes, len, at, middle_len);

		if (order == 0)
		{
			*tag = middle;
			return true;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}
