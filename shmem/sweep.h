/*-------------------------------------------------------------------------
 *
 * sweep.h
 *	  What the launcher does to keep the registry small.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_SWEEP_H
#define ACDAT_SWEEP_H

#include "postgres.h"

/*
 * Remove entries of aborted transactions, settle committed ones, remove
 * what no snapshot can need, and give memory back.  Returns true if
 * something is left that a later call may settle.  To be called outside of
 * any lock, inside a transaction.  It is the launcher's duty; others call it
 * by acdat_make_room().
 */
extern bool acdat_sweep(void);

/*
 * Before an entry is made: sweep now if the registry is full.  What is made
 * by then may still find no room.
 */
extern void acdat_make_room(void);

/* The number of dictionaries of the cluster, as a registry just swept has it. */
extern int	acdat_count_dictionaries(void);

/*
 * Unpin the segments of retired machines that nobody maps any more; true if
 * some are still mapped.  Any process may call it.
 */
extern bool acdat_free_machines(void);

/* Remove everything that belongs to a database that is gone. */
extern void acdat_purge_database(Oid database);

/* Ask every process that maps a segment to let go of retired ones. */
extern void acdat_wake_mappers(void);

#endif							/* ACDAT_SWEEP_H */
