/*-------------------------------------------------------------------------
 *
 * filter.h
 *	  The filter in front of the automaton.
 *
 * Most texts contain few matches, and an automaton larger than the caches
 * pays a dependent memory access for every byte all the same.  The filter
 * looks at the few bytes before a position, its gram, and asks a small table
 * whether any pattern ends like that; the answers for different positions do
 * not depend on one another, so the processor overlaps them.  Where the
 * answer is maybe, the reversed patterns are walked down from that position.
 * The idea is that of Wu and Manber ("A fast algorithm for multi-pattern
 * searching", 1994) with a blocked Bloom filter (Putze, Sanders and Singler,
 * 2007) in place of the shift table.
 *
 *	full	the key is the last gram_bytes bytes, which every pattern has; three
 *			bits of one word of the table.  With a stride of n only every n-th
 *			position is looked at, and the table holds the n last grams of
 *			every pattern.
 *	split	for dictionaries with a few short patterns: the word is chosen by
 *			the last word_bytes bytes, two bits of it by the last gram_bytes;
 *			short patterns set all bits of their word.
 *
 * A filter never changes an answer.  When maybe is said too often, the
 * automaton takes over.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_FILTER_H
#define ACDAT_FILTER_H

#include <string.h>

#include "src/core/image.h"

typedef enum acdat_filter_kind
{
	ACDAT_FILTER_NONE = 0,
	ACDAT_FILTER_FULL,
	ACDAT_FILTER_SPLIT
} acdat_filter_kind;

#define ACDAT_FILTER_MAX_GRAM 8
#define ACDAT_FILTER_SPLIT_GRAM 6	/* of every split filter */
#define ACDAT_FILTER_MAX_STRIDE 8
#define ACDAT_FILTER_MIN_LOG2_WORDS 6
#define ACDAT_FILTER_MAX_LOG2_WORDS 15

#define ACDAT_FILTER_MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

/*
 * ASCII letters of either case have the same key when the image ignores
 * case; other bytes that become equal only cause false answers.
 */
static inline uint64_t
acdat_filter_fold(const acdat_image_header *header)
{
	return header->case_insensitive == ACDAT_CASE_ASCII ?
		UINT64_C(0x2020202020202020) : 0;
}

/* A key: the last bytes before a position, the last one most significant. */
static inline uint64_t
acdat_filter_key(uint64_t last8, unsigned bytes)
{
	return last8 >> (64 - 8 * bytes);
}

/* The eight bytes before text[pos], pos >= 8. */
static inline uint64_t
acdat_filter_last8(const unsigned char *text, size_t pos)
{
	uint64_t	last8;

	memcpy(&last8, text + pos - 8, sizeof(last8));
	return last8;
}

/* Word of a hash in a table of 2^log2_words words. */
static inline size_t
acdat_filter_word(uint64_t hash, unsigned log2_words)
{
	return (size_t) (hash >> (64 - ACDAT_FILTER_MAX_LOG2_WORDS)) &
		(((size_t) 1 << log2_words) - 1);
}

/* The bits of a hash; they do not overlap with what chooses the word. */
static inline uint64_t
acdat_filter_full_bits(uint64_t hash)
{
	return (uint64_t) 1 << (hash >> 31 & 63) | (uint64_t) 1 << (hash >> 37 & 63) |
		(uint64_t) 1 << (hash >> 43 & 63);
}

static inline uint64_t
acdat_filter_split_bits(uint64_t hash)
{
	return (uint64_t) 1 << (hash >> 58) | (uint64_t) 1 << (hash >> 52 & 63);
}

#endif							/* ACDAT_FILTER_H */
