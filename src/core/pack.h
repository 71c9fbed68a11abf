/*-------------------------------------------------------------------------
 *
 * pack.h
 *	  A list of patterns as one flat byte string.
 *
 * A pack carries what acdat_builder_add() takes from the process that read
 * the patterns to the one that compiles them, and is stored as the durable
 * snapshot of a dictionary version.  The reader accepts bytes of any origin.
 *
 * Layout, little-endian: 8 bytes magic "ACDATPK1", 8 bytes count, then per
 * pattern: u8 flags, i64 id, i32 priority, u32 pattern length, and where the
 * flags say so u32 replacement length and u32 tag length; then the bytes of
 * pattern, replacement and tag.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_PACK_H
#define ACDAT_PACK_H

#include "src/core/acdat.h"

#define ACDAT_PACK_HEADER_BYTES 16

/* Bytes one pattern takes in a pack; 0 when a length exceeds 32 bits. */
extern size_t acdat_pack_pattern_size(const acdat_pattern *pattern);

/* Write the header; dst has ACDAT_PACK_HEADER_BYTES bytes. */
extern void acdat_pack_write_header(void *dst, uint64_t count);

/* Write one pattern; dst has acdat_pack_pattern_size() bytes. */
extern void acdat_pack_write_pattern(void *dst, const acdat_pattern *pattern);

/* A position in a pack being read; points into it, holds no resources. */
typedef struct acdat_pack_reader
{
	const unsigned char *next;
	const unsigned char *end;
	uint64_t	count;			/* patterns the header promises */
	uint64_t	ordinal;		/* patterns read so far */
} acdat_pack_reader;

/* ACDAT_OK or ACDAT_CORRUPT. */
extern acdat_status acdat_pack_open(acdat_pack_reader *reader,
									const void *pack, size_t size);

/*
 * ACDAT_OK with *pattern pointing into the pack, ACDAT_END after the last
 * pattern, ACDAT_CORRUPT.
 */
extern acdat_status acdat_pack_next(acdat_pack_reader *reader,
									acdat_pattern *pattern);

#endif							/* ACDAT_PACK_H */
