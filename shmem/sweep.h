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
 * something is left that a later call may settle.  To be called by the
 * launcher only, outside of any lock, inside a transaction.
 */
extern bool acdat_sweep(void);

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
