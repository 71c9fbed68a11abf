/*-------------------------------------------------------------------------
 *
 * probe_one.h
 *	  Asking the filter about one position after the other.
 *
 * Inlined into every kernel that wants it, so that each gets code for its
 * own processors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_PROBE_ONE_H
#define ACDAT_PROBE_ONE_H

#include "src/core/probe.h"

/*
 * For what must become a copy of its own for every kind of filter; left to
 * themselves compilers share one that asks for the kind at every position.
 */
#if defined(__GNUC__)
#define PROBE_INLINE static inline __attribute__((always_inline))
#else
#define PROBE_INLINE static inline
#endif

/* The number of the lowest bit that is set; there must be one. */
PROBE_INLINE unsigned
acdat_lowest_bit(uint64_t mask)
{
#if defined(__GNUC__)
	return (unsigned) __builtin_ctzll(mask);
#else
	unsigned	bit = 0;

	for (; (mask & 1) == 0; mask >>= 1)
		bit++;
	return bit;
#endif
}

/* May a pattern's gram end where last8 are the bytes before?  0 or 1. */
PROBE_INLINE uint64_t
acdat_probe_maybe(const acdat_probe *p, acdat_filter_kind kind, uint64_t last8)
{
	uint64_t	hash;
	uint64_t	word;

	last8 |= p->fold;
	hash = (last8 >> p->gram_shift) * ACDAT_FILTER_MULTIPLIER;
	if (kind == ACDAT_FILTER_FULL)
	{
		word = p->table[acdat_filter_word(hash, p->log2_words)];
		return (word >> (hash >> 31 & 63)) & (word >> (hash >> 37 & 63)) &
			(word >> (hash >> 43 & 63)) & 1;
	}
	word = p->table[acdat_filter_word((last8 >> p->word_shift) *
									  ACDAT_FILTER_MULTIPLIER, p->log2_words)];
	return (word >> (hash >> 58)) & (word >> (hash >> 52 & 63)) & 1;
}

/* A bit per byte, from eight bytes of UTF-8: does it begin a character? */
PROBE_INLINE uint64_t
acdat_character_bits(uint64_t bytes)
{
	uint64_t	high = ~(bytes & ~(bytes << 1)) & UINT64_C(0x8080808080808080);

	return high * UINT64_C(0x0002040810204081) >> 56;
}

/* The same of the bytes from text[base] on, as many as a chunk has. */
PROBE_INLINE uint64_t
acdat_character_mask(const unsigned char *text, size_t len, size_t base)
{
	size_t		n = len - base;
	uint64_t	mask = 0;
	size_t		i;

	if (n >= ACDAT_PROBE_CHUNK)
		n = ACDAT_PROBE_CHUNK;
	else
		mask = (uint64_t) 1 << n;	/* the end of the text */
	for (i = 0; i + 8 <= n; i += 8)
		mask |= acdat_character_bits(acdat_load8(text + base + i)) << i;
	if (i < n)
		mask |= (acdat_character_bits(acdat_load8(text + base + n - 8) >> (64 - 8 * (n - i))) &
				 (((uint64_t) 1 << (n - i)) - 1)) << i;
	return mask;
}

/* A dense mask is worked off without looking for its bits. */
PROBE_INLINE uint64_t
acdat_probe_one_by_one(const acdat_probe *p, acdat_filter_kind kind, const unsigned char *text,
	  size_t len, size_t base)
{
	uint64_t	result = 0;
	uint64_t	wanted = p->characters ? acdat_character_mask(text, len, base) :
		acdat_probe_all_bits(len, base);
	unsigned	i = 0;

	if (base == 0)
	{
		for (i = 1; i < 8; i++)
			result |= acdat_probe_maybe(p, kind, acdat_load8(text) << (64 - 8 * i)) << i;
		result &= wanted;
		wanted = wanted >> 8 << 8;
	}
	if (wanted == UINT64_MAX)
	{
		for (i = ACDAT_PROBE_CHUNK; i > 0; i -= 4)
		{
			const unsigned char *last8 = text + base + i - 9;

			result = result << 1 | acdat_probe_maybe(p, kind, acdat_load8(last8));
			result = result << 1 | acdat_probe_maybe(p, kind, acdat_load8(last8 - 1));
			result = result << 1 | acdat_probe_maybe(p, kind, acdat_load8(last8 - 2));
			result = result << 1 | acdat_probe_maybe(p, kind, acdat_load8(last8 - 3));
		}
		return result;
	}
	for (; wanted != 0; wanted &= wanted - 1)
	{
		i = acdat_lowest_bit(wanted);
		result |= acdat_probe_maybe(p, kind, acdat_load8(text + base + i - 8)) << i;
	}
	return result;
}

#endif							/* ACDAT_PROBE_ONE_H */
