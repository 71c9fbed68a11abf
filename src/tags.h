/*-------------------------------------------------------------------------
 *
 * tags.h
 *	  Calls that ask for patterns with certain tags only.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_TAGS_H
#define ACDAT_TAGS_H

#include "postgres.h"

#include "utils/array.h"

#include "shmem/mapping.h"

/*
 * Tags found in a machine, kept for calls to come with the same array and
 * machine.  All zeros is a set of none yet; memory is that of the context
 * given, which must live as long as the set.
 */
typedef struct AcdatTagSet
{
	ArrayType  *array;			/* what was given last, NULL: nothing yet */
	uint64		checksum[2];	/* of the machine it was looked up in */
	uint64	   *bits;			/* for acdat_scan_restrict() */
	Size		words;			/* of bits */
} AcdatTagSet;

/*
 * The bits of the tags in a text[].  Raises when that is empty or has nulls, or
 * when no pattern of the machine has one of them: a misspelled tag must not
 * let text pass.
 */
extern const uint64 *acdat_tag_bits(AcdatTagSet *set, MemoryContext context,
									Datum tags, const AcdatMachineRef *ref);

#endif							/* ACDAT_TAGS_H */
