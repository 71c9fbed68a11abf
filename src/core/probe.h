/*-------------------------------------------------------------------------
 *
 * probe.h
 *	  Asking the filter about many positions at once.
 *
 * The answers for different positions do not depend on one another, which
 * suits vector units: a kernel answers for 64 positions with a bit each.
 * Every kernel gives the same answers; which one runs is chosen when a scan
 * is made ready, by what the processor has.  No kernel reads a byte outside
 * the text.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_PROBE_H
#define ACDAT_PROBE_H

#include "src/core/filter.h"
#include "src/core/tails.h"

/* Positions that a kernel is asked about at a time. */
#define ACDAT_PROBE_CHUNK 64

/* What asking takes, prepared once for a scan. */
typedef struct acdat_probe
{
	const uint64_t *table;
	uint64_t	fold;
	unsigned	gram_shift;
	unsigned	word_shift;
	unsigned	log2_words;
	unsigned	stride;
	bool		characters;		/* only ends of characters are of interest */
} acdat_probe;

/*
 * May a pattern's gram end at text[base + i], for every i < 64 with
 * base + i <= len?  Bit i of the result; in front of the text are zeroes.
 * With p->characters only positions where a character begins, or the text
 * ends, can have a bit.  base is a multiple of 64 and at most len, len is at
 * least 8.
 */
typedef uint64_t (*acdat_probe_chunk) (const acdat_probe *p,
									   const unsigned char *text, size_t len,
									   size_t base);

/*
 * The same for the n <= 64 positions pos, pos - stride, ..., all of them at
 * least 8; bit k stands for pos - k * stride.
 */
typedef uint64_t (*acdat_probe_strided) (const acdat_probe *p,
										 const unsigned char *text,
										 size_t pos, unsigned n);

typedef struct acdat_probe_kernel
{
	const char *name;
	acdat_probe_chunk full;
	acdat_probe_chunk split;
	acdat_probe_strided strided;	/* of full filters */
	acdat_tails_scan tails;
} acdat_probe_kernel;

/*
 * The kernels this processor can run, the best one first; NULL beyond the
 * last, which is the portable one.
 */
extern const acdat_probe_kernel *acdat_probe_kernel_number(unsigned number);

/* For kernels made for one family of processors; NULL beyond the last. */
extern const acdat_probe_kernel *acdat_probe_x86_kernel(unsigned number);

/* Eight bytes from any address. */
static inline uint64_t
acdat_load8(const unsigned char *bytes)
{
	uint64_t	w;

	memcpy(&w, bytes, sizeof(w));
	return w;
}

/* Bits of the positions of a chunk that are not beyond the end. */
static inline uint64_t
acdat_probe_all_bits(size_t len, size_t base)
{
	size_t		n = len + 1 - base;

	return n < ACDAT_PROBE_CHUNK ? ((uint64_t) 1 << n) - 1 : UINT64_MAX;
}

#endif							/* ACDAT_PROBE_H */
