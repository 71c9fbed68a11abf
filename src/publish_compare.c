/*-------------------------------------------------------------------------
 *
 * publish_compare.c
 *	  Would a publish change anything?
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "src/core/image.h"
#include "src/core/pack.h"
#include "src/publish.h"

/* The bytes of one pattern, with its attributes, in a pack. */
typedef struct PackSlice
{
	const unsigned char *bytes;
	Size		len;
} PackSlice;

static int
compare_slices(const void *a, const void *b)
{
	const PackSlice *left = a;
	const PackSlice *right = b;

	return acdat_compare_strings(left->bytes, left->len,
								 right->bytes, right->len);
}

/* The patterns of a pack in an order of their own; NULL if it is corrupt. */
static PackSlice *
sorted_slices(const void *pack, Size size, int64 patterns)
{
	PackSlice  *slices = palloc_extended((patterns + 1) * sizeof(PackSlice),
										 MCXT_ALLOC_HUGE);
	acdat_pack_reader reader;
	acdat_pattern pattern;
	acdat_status status = acdat_pack_open(&reader, pack, size);
	int64		count = 0;

	while (status == ACDAT_OK && count <= patterns)
	{
		slices[count].bytes = reader.next;
		status = acdat_pack_next(&reader, &pattern);
		slices[count].len = (Size) (reader.next - slices[count].bytes);
		if (status == ACDAT_OK)
			count++;
	}
	if (status != ACDAT_END || count != patterns)
		return NULL;
	qsort(slices, patterns, sizeof(PackSlice), compare_slices);
	return slices;
}

bool
acdat_same_patterns(const AcdatContent *content, const AcdatVersionRow *stored)
{
	const void *pack = stored->content == NULL ? NULL : VARDATA(stored->content);
	Size		size = pack == NULL ? 0 : VARSIZE(stored->content) - VARHDRSZ;
	PackSlice  *left;
	PackSlice  *right;
	int64		i;

	if (size != (Size) content->pack.len ||
		content->patterns != stored->patterns)
		return false;
	if (memcmp(pack, content->pack.data, size) == 0)
		return true;
	left = sorted_slices(pack, size, stored->patterns);
	right = sorted_slices(content->pack.data, size, content->patterns);
	if (left == NULL || right == NULL)
		return false;
	for (i = 0; i < content->patterns; i++)
	{
		if (compare_slices(&left[i], &right[i]) != 0)
			return false;
	}
	return true;
}

bool
acdat_same_version(const AcdatContent *content, const AcdatVersionRow *stored)
{
	const acdat_options *a = &content->options;
	const acdat_options *b = &stored->options;
	bool		same_source = content->source == NULL ? stored->source == NULL :
		stored->source != NULL && strcmp(content->source, stored->source) == 0;

	return same_source && a->encoding == b->encoding &&
		a->case_insensitive == b->case_insensitive &&
		a->normalize == b->normalize && a->boundary == b->boundary &&
		a->ignore_len == b->ignore_len &&
		(a->ignore_len == 0 || memcmp(a->ignore, b->ignore, a->ignore_len) == 0) &&
		acdat_same_patterns(content, stored);
}
