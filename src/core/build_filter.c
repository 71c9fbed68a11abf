/*-------------------------------------------------------------------------
 *
 * build_filter.c
 *	  Choosing and filling the filter of an image; see filter.h.
 *
 * The choices rest on measurements with dictionaries of 50 to 338,000
 * patterns: the table must stay in the second-level cache, and more than a
 * few per cent of false answers cost more than a wider stride saves.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"
#include "src/core/filter.h"

#include <string.h>

/* At most one in this many patterns may be short. */
#define SPLIT_SHORT_SHARE 8

/* Up to here short grams are rare in texts. */
#define FEW_PATTERNS 2000

/* Shortest gram a full filter works with. */
#define MIN_GRAM 4

/* Words of the table per gram while it fits the first-level cache ... */
#define SMALL_LOG2_WORDS 11

/* ... and bits per gram beyond. */
#define BITS_PER_GRAM 16

/* A filter of at least this stride is as fast as tails are on most texts. */
#define FAST_STRIDE 4

/* Nodes entered between two ticks. */
#define TICK_NODES 2048

/* Room for grams in the largest table at an acceptable density. */
#define MAX_GRAMS ((64u << ACDAT_FILTER_MAX_LOG2_WORDS) / 10)

static uint32_t
count_short(const acdat_builder *builder)
{
	uint32_t	count = 0;
	size_t		i;

	for (i = 0; i < builder->count; i++)
		count += builder->patterns[i].len < ACDAT_FILTER_SPLIT_GRAM;
	return count;
}

/*
 * Gram and stride of a full filter.  With few patterns short grams are rare
 * enough in any text, and a wide stride pays; with many the longest gram is
 * needed, and the stride is what is left of the shortest pattern, as far as
 * the table has room for the grams.
 */
static void
choose_full(acdat_image_header *h)
{
	uint32_t	gram = h->nodes <= FEW_PATTERNS ? h->min_len / 2 + 2 : h->min_len;
	uint32_t	stride;

	if (gram > ACDAT_FILTER_MAX_GRAM)
		gram = ACDAT_FILTER_MAX_GRAM;
	if (gram > h->min_len)
		gram = h->min_len;
	stride = h->min_len - gram + 1;
	if (stride > ACDAT_FILTER_MAX_STRIDE)
		stride = ACDAT_FILTER_MAX_STRIDE;
	while (stride > 1 && (uint64_t) h->nodes * stride > MAX_GRAMS)
		stride--;
	if (stride == 1)
		gram = h->min_len < ACDAT_FILTER_MAX_GRAM ? h->min_len :
			ACDAT_FILTER_MAX_GRAM;
	h->filter_kind = ACDAT_FILTER_FULL;
	h->filter_gram = gram;
	h->filter_word = gram;
	h->filter_stride = stride;
}

void
acdat_build_choose_filter(acdat_builder *builder)
{
	acdat_image_header *h = &builder->header;
	uint32_t	log2_words = ACDAT_FILTER_MIN_LOG2_WORDS;
	uint32_t	short_patterns = count_short(builder);
	uint64_t	grams;

	h->filter_kind = ACDAT_FILTER_NONE;
	h->tail_bytes = 0;
	if (h->nodes == 0)
		return;
	h->tail_bytes = h->min_len < ACDAT_TAILS_MAX_BYTES ? h->min_len :
		ACDAT_TAILS_MAX_BYTES;
	if (short_patterns > 0 && h->min_len >= 2 &&
		short_patterns <= builder->count / SPLIT_SHORT_SHARE)
	{
		h->filter_kind = ACDAT_FILTER_SPLIT;
		h->filter_gram = ACDAT_FILTER_SPLIT_GRAM;
		h->filter_word = h->min_len < 3 ? h->min_len : 3;
		h->filter_stride = 1;
	}
	else if (h->min_len >= MIN_GRAM)
		choose_full(h);
	else
		return;
	if (h->filter_stride >= FAST_STRIDE)
		h->tail_bytes = 0;
	grams = (uint64_t) h->nodes * h->filter_stride;
	while (log2_words < SMALL_LOG2_WORDS &&
		   ((uint64_t) 1 << log2_words) < grams)
		log2_words++;
	while (log2_words < ACDAT_FILTER_MAX_LOG2_WORDS &&
		   ((uint64_t) 64 << log2_words) < grams * BITS_PER_GRAM)
		log2_words++;
	h->filter_log2_words = log2_words;
}

/* The last (up to) eight bytes of a pattern without its last skip bytes. */
static uint64_t
pattern_last8(const acdat_builder *builder, const build_pattern *p,
			  uint32_t skip)
{
	const unsigned char *reversed = build_bytes(builder, p);
	uint64_t	last8 = 0;
	uint32_t	i;

	for (i = 0; i < 8; i++)
		last8 = last8 << 8 | (skip + i < p->len ? reversed[skip + i] : 0);
	return last8 | acdat_filter_fold(&builder->header);
}

static void
enter_full(const acdat_builder *builder, const build_pattern *p,
		   uint64_t *table)
{
	const acdat_image_header *h = &builder->header;
	uint32_t	skip;

	for (skip = 0; skip < h->filter_stride; skip++)
	{
		uint64_t	hash = acdat_filter_key(pattern_last8(builder, p, skip),
											h->filter_gram) *
			ACDAT_FILTER_MULTIPLIER;

		table[acdat_filter_word(hash, h->filter_log2_words)] |=
			acdat_filter_full_bits(hash);
	}
}

static void
enter_split(const acdat_builder *builder, const build_pattern *p,
			uint64_t *table)
{
	const acdat_image_header *h = &builder->header;
	uint64_t	last8 = pattern_last8(builder, p, 0);
	uint64_t	word = acdat_filter_key(last8, h->filter_word) *
		ACDAT_FILTER_MULTIPLIER;
	uint64_t	gram = acdat_filter_key(last8, h->filter_gram) *
		ACDAT_FILTER_MULTIPLIER;

	table[acdat_filter_word(word, h->filter_log2_words)] |=
		p->len < h->filter_gram ? UINT64_MAX : acdat_filter_split_bits(gram);
}

acdat_status
acdat_build_fill_filter(const acdat_builder *builder, uint64_t *table)
{
	const acdat_image_header *h = &builder->header;
	uint32_t	i;

	for (i = 0; i < h->nodes; i++)
	{
		const build_pattern *p = &builder->patterns[builder->nodes[i].first];

		if (h->filter_kind == ACDAT_FILTER_FULL)
			enter_full(builder, p, table);
		else
			enter_split(builder, p, table);
		if (i % TICK_NODES == TICK_NODES - 1 && acdat_tick(&builder->hooks))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/*
 * Nodes are in the order of their reversed bytes, so that those of a bucket
 * end alike.
 */
acdat_status
acdat_build_fill_tails(const acdat_builder *builder, acdat_tail *tails)
{
	const acdat_image_header *h = &builder->header;
	bool		fold = h->case_insensitive == ACDAT_CASE_ASCII;
	uint32_t	i;

	memset(tails, 0, h->tail_bytes * sizeof(acdat_tail));
	for (i = 0; i < h->nodes; i++)
	{
		const build_pattern *p = &builder->patterns[builder->nodes[i].first];
		const unsigned char *reversed = build_bytes(builder, p);
		unsigned char bucket = (unsigned char)
			(1u << (uint64_t) i * ACDAT_TAILS_BUCKETS / h->nodes);
		uint32_t	k;

		for (k = 0; k < h->tail_bytes; k++)
		{
			unsigned	byte = reversed[k];

			tails[k].low[byte & 15] |= bucket;
			tails[k].high[byte >> 4] |= bucket;
			/* the other case of a letter: other bytes do no harm */
			if (fold && byte >= 'A' && byte <= 'z')
				tails[k].high[(byte ^ 0x20) >> 4] |= bucket;
		}
		if (i % TICK_NODES == TICK_NODES - 1 && acdat_tick(&builder->hooks))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}
