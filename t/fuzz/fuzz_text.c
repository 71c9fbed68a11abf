/*
 * Folding any bytes under any options: pieces of any size give what the
 * whole gives, origins are whole units in order, and a slice between unit
 * boundaries folds by itself to what it folds to in place.
 *
 * Input: options, size of pieces, number of ignored bytes, these, the text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) \
	do { \
		if (!(condition)) \
			abort(); \
	} while (0)

#define MAX_TEXT 4096

typedef struct folded
{
	unsigned char *bytes;
	acdat_origin *origin;
	size_t		n;
	size_t		consumed;
} folded;

static void
allocate(folded *f, size_t len)
{
	size_t		room = len * 12 + ACDAT_UNIT_MAX_FOLDED * 2;

	f->bytes = malloc(room);
	f->origin = malloc(room * sizeof(acdat_origin));
	MUST(f->bytes != NULL && f->origin != NULL);
	f->n = 0;
	f->consumed = 0;
}

static void
release(folded *f)
{
	free(f->bytes);
	free(f->origin);
}

/* Fold pieces in blocks of exactly their size. */
static void
fold_pieces(const acdat_text_options *o, const uint8_t *text, size_t len,
			size_t piece, folded *f)
{
	size_t		given = 0;

	allocate(f, len);
	do
	{
		unsigned char *now;
		size_t		used;
		size_t		n;
		size_t		i;

		given = len - given < piece ? len : given + piece;
		now = malloc(given - f->consumed + 1);
		MUST(now != NULL);
		memcpy(now, text + f->consumed, given - f->consumed);
		do
		{
			n = acdat_fold(o, now, given - f->consumed, given == len,
						   f->bytes + f->n, f->origin + f->n,
						   ACDAT_UNIT_MAX_FOLDED, &used, NULL);
			for (i = f->n; i < f->n + n; i++)
			{
				f->origin[i].start += (uint32_t) f->consumed;
				f->origin[i].end += (uint32_t) f->consumed;
			}
			f->n += n;
			f->consumed += used;
			memmove(now, now + used, given - f->consumed);
		} while (used > 0 && f->consumed < given);
		free(now);
	} while (given < len);
}

static void
check_origins(const folded *f, size_t len)
{
	size_t		i;

	for (i = 0; i < f->n; i++)
	{
		MUST(f->origin[i].start < f->origin[i].end);
		MUST(f->origin[i].end <= len);
		MUST(f->origin[i].end - f->origin[i].start <= ACDAT_UNIT_MAX_BYTES);
		if (i > 0 && f->origin[i].start == f->origin[i - 1].start)
			MUST(f->origin[i].end == f->origin[i - 1].end);
		else if (i > 0)
			MUST(f->origin[i].start >= f->origin[i - 1].end);
	}
}

static void
check_slice(const acdat_text_options *o, const uint8_t *text,
			const folded *whole, size_t first, size_t last)
{
	folded		slice;
	size_t		start = whole->origin[first].start;
	size_t		end = whole->origin[last].end;

	while (first > 0 && whole->origin[first - 1].start == start)
		first--;
	while (last + 1 < whole->n && whole->origin[last + 1].end == end)
		last++;
	allocate(&slice, end - start);
	slice.n = acdat_fold(o, text + start, end - start, true, slice.bytes,
						 slice.origin, (end - start) * 12 +
						 ACDAT_UNIT_MAX_FOLDED, &slice.consumed, NULL);
	MUST(slice.n == last - first + 1);
	MUST(memcmp(slice.bytes, whole->bytes + first, slice.n) == 0);
	release(&slice);
}

static void
check_characters(acdat_encoding encoding, const uint8_t *text, size_t len)
{
	size_t		at = 0;
	size_t		pos;

	MUST(acdat_count_chars(encoding, text, len) <= len);
	while (at < len)
	{
		size_t		n = acdat_cluster_length(encoding, text + at, len - at);

		MUST(n > 0 && n <= len - at);
		at += n;
	}
	for (pos = 0; pos <= len; pos++)
		(void) acdat_is_word_boundary(encoding, text, len, pos);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t	chars[64];
	acdat_text_options o;
	acdat_options all;
	folded		whole;
	folded		pieces;
	size_t		piece;

	if (size < 3 || data[2] > 63 || size < 3u + data[2] || size > MAX_TEXT)
		return 0;
	memset(&o, 0, sizeof(o));
	memset(&all, 0, sizeof(all));
	o.encoding = all.encoding = (acdat_encoding) (data[0] & 1);
	o.case_insensitive = all.case_insensitive =
		(acdat_case) ((data[0] >> 1) % 3);
	o.normalize = all.normalize = (acdat_normalize) ((data[0] >> 4) % 3);
	all.ignore = (const char *) data + 3;
	all.ignore_len = data[2];
	piece = data[1] + 1u;
	if (acdat_ignore_parse(&all, chars, &o.ignore) != ACDAT_OK)
		return 0;
	data += 3 + all.ignore_len;
	size -= 3 + all.ignore_len;

	allocate(&whole, size);
	whole.n = acdat_fold(&o, data, size, true, whole.bytes, whole.origin,
						 size * 12 + ACDAT_UNIT_MAX_FOLDED, &whole.consumed,
						 NULL);
	MUST(whole.consumed == size);
	check_origins(&whole, size);
	fold_pieces(&o, data, size, piece, &pieces);
	MUST(pieces.consumed == size && pieces.n == whole.n);
	MUST(memcmp(pieces.bytes, whole.bytes, whole.n) == 0);
	MUST(memcmp(pieces.origin, whole.origin,
				whole.n * sizeof(acdat_origin)) == 0);
	if (whole.n > 0)
		check_slice(&o, data, &whole, piece % whole.n,
					piece % whole.n + (whole.n - piece % whole.n) / 2);
	check_characters(o.encoding, data, size);
	release(&pieces);
	release(&whole);
	return 0;
}
