/*-------------------------------------------------------------------------
 *
 * pack.c
 *	  Writing and reading a list of patterns as one byte string.
 *
 * Nothing in a pack is aligned, so every number goes through byte-wise
 * little-endian helpers; compilers turn them into single moves where the
 * machine allows it.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/pack.h"

#include <string.h>

/* Says who wrote the bytes and in which layout. */
static const char pack_magic[8] = {'A', 'C', 'D', 'A', 'T', 'P', 'K', '1'};

#define PACK_FLAG_ALLOW			0x01
#define PACK_FLAG_REPLACEMENT	0x02
#define PACK_FLAG_TAG			0x04
#define PACK_FLAGS_KNOWN		0x07

/* flags, id, priority and pattern length: present for every pattern */
#define PACK_FIXED_BYTES (1 + 8 + 4 + 4)

/* Write the low bytes of a number; returns the place behind. */
static unsigned char *
put_number(unsigned char *dst, uint64_t value, int bytes)
{
	int			i;

	for (i = 0; i < bytes; i++)
		dst[i] = (unsigned char) (value >> (8 * i));
	return dst + bytes;
}

/* Read a number of so many bytes. */
static uint64_t
get_number(const unsigned char *src, int bytes)
{
	uint64_t	value = 0;
	int			i;

	for (i = 0; i < bytes; i++)
		value |= (uint64_t) src[i] << (8 * i);
	return value;
}

/* memcpy that allows a NULL source for no bytes */
static unsigned char *
put_bytes(unsigned char *dst, const void *src, size_t len)
{
	if (len > 0)
		memcpy(dst, src, len);
	return dst + len;
}

/* Sums in 64 bits, so that three lengths cannot overflow. */
size_t
acdat_pack_pattern_size(const acdat_pattern *pattern)
{
	uint64_t	size = PACK_FIXED_BYTES;

	if (pattern->len > UINT32_MAX)
		return 0;
	size += pattern->len;
	if (pattern->replacement != NULL)
	{
		if (pattern->replacement_len > UINT32_MAX)
			return 0;
		size += 4 + (uint64_t) pattern->replacement_len;
	}
	if (pattern->tag != NULL)
	{
		if (pattern->tag_len > UINT32_MAX)
			return 0;
		size += 4 + (uint64_t) pattern->tag_len;
	}
	/* three such lengths can be too much for a 32-bit size_t */
	return size > SIZE_MAX ? 0 : (size_t) size;
}

/* The count is fixed from the beginning; a reader relies on it. */
void
acdat_pack_write_header(void *dst, uint64_t count)
{
	unsigned char *p = dst;

	p = put_bytes(p, pack_magic, sizeof(pack_magic));
	put_number(p, count, 8);
}

/* Lengths come before all bytes, so that a reader checks them at once. */
void
acdat_pack_write_pattern(void *dst, const acdat_pattern *pattern)
{
	unsigned char *p = dst;
	unsigned int flags = 0;

	if (pattern->allow)
		flags |= PACK_FLAG_ALLOW;
	if (pattern->replacement != NULL)
		flags |= PACK_FLAG_REPLACEMENT;
	if (pattern->tag != NULL)
		flags |= PACK_FLAG_TAG;

	p = put_number(p, flags, 1);
	p = put_number(p, (uint64_t) pattern->id, 8);
	p = put_number(p, (uint32_t) pattern->priority, 4);
	p = put_number(p, pattern->len, 4);
	if (pattern->replacement != NULL)
		p = put_number(p, pattern->replacement_len, 4);
	if (pattern->tag != NULL)
		p = put_number(p, pattern->tag_len, 4);

	p = put_bytes(p, pattern->bytes, pattern->len);
	if (pattern->replacement != NULL)
		p = put_bytes(p, pattern->replacement, pattern->replacement_len);
	if (pattern->tag != NULL)
		put_bytes(p, pattern->tag, pattern->tag_len);
}

/* Checks what can be checked in constant time. */
acdat_status
acdat_pack_open(acdat_pack_reader *reader, const void *pack, size_t size)
{
	const unsigned char *p = pack;
	uint64_t	count;

	if (size < ACDAT_PACK_HEADER_BYTES ||
		memcmp(p, pack_magic, sizeof(pack_magic)) != 0)
		return ACDAT_CORRUPT;

	/* a caller may size an array by the count: it must be possible */
	count = get_number(p + 8, 8);
	if (count > (size - ACDAT_PACK_HEADER_BYTES) / PACK_FIXED_BYTES)
		return ACDAT_CORRUPT;

	reader->next = p + ACDAT_PACK_HEADER_BYTES;
	reader->end = p + size;
	reader->count = count;
	reader->ordinal = 0;
	return ACDAT_OK;
}

/*
 * Take a 32-bit length from *p when wanted.  False when the pack ends first.
 */
static bool
take_length(const unsigned char **p, const unsigned char *end, bool wanted,
			size_t *len)
{
	*len = 0;
	if (!wanted)
		return true;
	if ((size_t) (end - *p) < 4)
		return false;
	*len = (size_t) get_number(*p, 4);
	*p += 4;
	return true;
}

/*
 * Take len bytes from *p when wanted, else NULL.  False when the pack ends
 * first.
 */
static bool
take_bytes(const unsigned char **p, const unsigned char *end, bool wanted,
		   size_t len, const void **bytes)
{
	*bytes = NULL;
	if (!wanted)
		return true;
	if ((size_t) (end - *p) < len)
		return false;
	*bytes = *p;
	*p += len;
	return true;
}

/* Nothing is believed: every length is compared with what is left. */
acdat_status
acdat_pack_next(acdat_pack_reader *reader, acdat_pattern *pattern)
{
	const unsigned char *p = reader->next;
	const unsigned char *end = reader->end;
	const void *tag;
	unsigned int flags;
	bool		has_replacement;
	bool		has_tag;

	/* bytes behind the last pattern mean that the count is not right */
	if (reader->ordinal == reader->count)
		return p == end ? ACDAT_END : ACDAT_CORRUPT;
	if (end - p < PACK_FIXED_BYTES)
		return ACDAT_CORRUPT;

	flags = p[0];
	if ((flags & ~(unsigned int) PACK_FLAGS_KNOWN) != 0)
		return ACDAT_CORRUPT;
	has_replacement = (flags & PACK_FLAG_REPLACEMENT) != 0;
	has_tag = (flags & PACK_FLAG_TAG) != 0;
	pattern->allow = (flags & PACK_FLAG_ALLOW) != 0;
	pattern->id = (int64_t) get_number(p + 1, 8);
	pattern->priority = (int32_t) (uint32_t) get_number(p + 9, 4);
	pattern->len = (size_t) get_number(p + 13, 4);
	p += PACK_FIXED_BYTES;

	if (!take_length(&p, end, has_replacement, &pattern->replacement_len) ||
		!take_length(&p, end, has_tag, &pattern->tag_len) ||
		!take_bytes(&p, end, true, pattern->len, &pattern->bytes) ||
		!take_bytes(&p, end, has_replacement, pattern->replacement_len,
					&pattern->replacement) ||
		!take_bytes(&p, end, has_tag, pattern->tag_len, &tag))
		return ACDAT_CORRUPT;
	pattern->tag = tag;

	reader->next = p;
	reader->ordinal++;
	return ACDAT_OK;
}
