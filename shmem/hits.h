/*-------------------------------------------------------------------------
 *
 * hits.h
 *	  Which patterns match: hits by dictionary and pattern id.
 *
 * Only while acdat_bgw.track_hits is on.  A process counts in a small table of
 * its own first; that is added up in the shared one when it is full, and
 * whenever AcdatCounts are (stats.h).  The shared table has room for
 * acdat_bgw.max_tracked_patterns patterns of the whole cluster: when it is
 * full, the twentieth with the fewest hits gives way, and what they had is
 * kept as a sum per dictionary.  A frequent pattern thus stays; the hits of a
 * rare one may begin anew.
 *
 * Lifetimes
 *	A row belongs to the counters of its dictionary, acdat_registry->stats[],
 *	and goes with them: whoever adds maps a machine of the dictionary, so they
 *	stand.
 *
 * Lock order
 *	registry->lock, then hits->lock.  To add to a row that is there, hits->lock
 *	shared; exclusive to make or remove rows.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_HITS_H
#define ACDAT_HITS_H

#include "postgres.h"

#include "port/atomics.h"
#include "storage/lwlock.h"

struct AcdatRegistry;

/* A row: of a pattern that matched.  hits->lock, but for the counter. */
typedef struct AcdatHitRow
{
	int32		stats;			/* index of its dictionary's counters, -1 = free */
	int64		id;				/* of the pattern */
	pg_atomic_uint64 hits;		/* raised with hits->lock shared */
} AcdatHitRow;

/*
 * The shared table: open addressing, linear probing.  Set up once but for
 * used, which hits->lock protects.
 */
typedef struct AcdatHits
{
	LWLock	   *lock;
	uint32		max;			/* rows in use at most */
	uint32		mask;			/* rows there are, a power of two, less one */
	uint32		used;
	AcdatHitRow *rows;
} AcdatHits;

/* What is shown of a pattern. */
typedef struct AcdatHitCount
{
	int32		stats;
	int64		id;
	uint64		hits;
} AcdatHitCount;

/* Bytes of the shared table's rows; and its set-up in memory of that size. */
extern Size acdat_hits_size(void);
extern void acdat_hits_initialize(struct AcdatRegistry *registry, void *rows,
								  LWLock *lock);

/*
 * Count a hit of a pattern, of a dictionary that this process maps a machine
 * of; and add up in shared memory what was counted.  Never raise.  No lock may
 * be held.
 */
extern void acdat_hits_count(int32 stats, int64 id);
extern void acdat_hits_flush(void);

/* Remove the rows of a dictionary.  registry->lock must be held. */
extern void acdat_hits_forget(int32 stats);

/*
 * Copy all rows to room for registry->hits.max of them; returns how many.
 * registry->lock must be held for as long as the indexes are to mean anything.
 */
extern int	acdat_hits_copy(AcdatHitCount *counts);

#endif							/* ACDAT_HITS_H */
