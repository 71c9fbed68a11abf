/*-------------------------------------------------------------------------
 *
 * stats.h
 *	  How much dictionaries are used.
 *
 * Lifetimes
 *	A slot counts for one dictionary (database, id), whatever its versions
 *	and names.  It is made with the first entry or machine slot of the
 *	dictionary and freed with the last; so it stands while any process maps
 *	a machine of the dictionary, and such a process adds to the counters
 *	without a lock.
 *	A process counts in its own mapping first, and adds that up here at the
 *	end of each transaction, about once a second while a statement scans, and
 *	when it lets go of the mapping.  What a process had not added up when it
 *	was killed is lost with the rest of shared memory.  Hits of patterns, which
 *	are counted only if asked for, are in hits.h.
 *
 * Lock order
 *	registry->lock to find, claim or release a slot; none to add.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_STATS_H
#define ACDAT_STATS_H

#include "postgres.h"

#include "shmem/registry.h"

/* What was counted and not added up yet; of one process. */
typedef struct AcdatCounts
{
	uint64		calls;
	uint64		bytes;
	uint64		matches;
} AcdatCounts;

typedef struct AcdatStats
{
	/* registry->lock, shared to read, exclusive to write */
	int			users;			/* entries and machine slots; 0 = free slot */
	Oid			database;
	pg_uuid_t	dictionary;

	/* raised by who maps a machine of the dictionary, see above */
	pg_atomic_uint64 calls;
	pg_atomic_uint64 bytes;
	pg_atomic_uint64 matches;
	pg_atomic_uint64 since;		/* when counting began, a TimestampTz */

	/* see hits.h: what its lock protects, and what is raised under it */
	int			tracked;		/* patterns that have a row */
	pg_atomic_uint64 untracked_hits;
} AcdatStats;

/* Slots that can be in use at a time. */
extern int	acdat_max_stats(void);

extern void acdat_stats_initialize(AcdatRegistry *registry);

/*
 * The slot of a dictionary, made if need be, with one user more; and one user
 * less.  registry->lock must be held exclusively.
 */
extern int	acdat_stats_claim(Oid database, const pg_uuid_t *dictionary);
extern void acdat_stats_release(int index);

/* The slot of a dictionary or NULL.  registry->lock must be held. */
extern AcdatStats *acdat_stats_find(Oid database, const pg_uuid_t *dictionary);

/* Add up and clear counts.  The slot must be known to stand; never raises. */
extern void acdat_stats_add(int index, AcdatCounts *counts);

/* Begin to count from zero, hits included.  registry->lock must be held. */
extern void acdat_stats_restart(AcdatStats *stats);

#endif							/* ACDAT_STATS_H */
