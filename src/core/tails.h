/*-------------------------------------------------------------------------
 *
 * tails.h
 *	  Which positions the last bytes of the patterns rule out, 64 at a time.
 *
 * The patterns are dealt out to eight buckets, in sorted order, and for each
 * of the last few bytes the image says which buckets have a pattern with such
 * a low half and such a high half of the byte.  A position is ruled out
 * unless one bucket admits all of the bytes before it.  That is the
 * "Teddy" of Hyperscan (Wang et al., NSDI 2019), read backwards: a vector
 * unit looks up a half of each byte in one instruction.  Where
 * patterns end in bytes that are rare in the text, or in none of its
 * bytes, a text is read nearly as fast as memory delivers it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_TAILS_H
#define ACDAT_TAILS_H

#include "src/core/image.h"

/* Positions that a kernel is asked about at a time. */
#define ACDAT_TAILS_CHUNK 64

#define ACDAT_TAILS_BUCKETS 8

/* At most so many last bytes are looked at. */
#define ACDAT_TAILS_MAX_BYTES 6

/* Buckets that admit a byte, a bit each, by halves of the byte. */
typedef struct acdat_tail
{
	unsigned char low[16];
	unsigned char high[16];
} acdat_tail;

/*
 * From the chunk that begins at *base down to the first one at or below low
 * (and at least that of *base): stops at a chunk where any position is not
 * ruled out.  *base becomes the beginning of the chunk it stopped at; bit i
 * of the result stands for position *base + i <= len, a pattern's end.
 * tails[0] is for the byte before a position, tails[1] for the one before
 * that; count is 1 to ACDAT_TAILS_MAX_BYTES.  *base is a multiple of 64 and
 * at most len.  What bits of positions below count mean is not defined.
 */
typedef uint64_t (*acdat_tails_scan) (const acdat_tail *tails, unsigned count,
									  const unsigned char *text, size_t len,
									  size_t *base, size_t low);

extern uint64_t acdat_tails_portable(const acdat_tail *tails, unsigned count,
									 const unsigned char *text, size_t len,
									 size_t *base, size_t low);

#if defined(__x86_64__) && defined(__GNUC__)
#define ACDAT_TAILS_X86
extern uint64_t acdat_tails_avx2(const acdat_tail *tails, unsigned count,
								 const unsigned char *text, size_t len,
								 size_t *base, size_t low);
extern uint64_t acdat_tails_avx512(const acdat_tail *tails, unsigned count,
								   const unsigned char *text, size_t len,
								   size_t *base, size_t low);
#endif

#if defined(__aarch64__) && defined(__GNUC__)
#define ACDAT_TAILS_NEON
extern uint64_t acdat_tails_neon(const acdat_tail *tails, unsigned count,
								 const unsigned char *text, size_t len,
								 size_t *base, size_t low);
#endif

#endif							/* ACDAT_TAILS_H */
