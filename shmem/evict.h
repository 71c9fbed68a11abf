/*-------------------------------------------------------------------------
 *
 * evict.h
 *	  Keeping machines within acdat_bgw.max_memory.
 *
 * Only a machine that can be loaded again is evicted: one entry names it, and
 * that is the settled, newest state of its dictionary; and not the one for
 * the server log.  The entry keeps its place in state EVICTED, and a look-up
 * that chooses it has it loaded.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_EVICT_H
#define ACDAT_EVICT_H

#include "postgres.h"

#include "utils/uuid.h"

/* acdat_bgw.max_memory in bytes, 0 = no limit. */
extern Size acdat_memory_limit(void);

/*
 * Count size bytes as reserved, evicting machines of other dictionaries if
 * allowed; waits a little for the processes that map them.  *reserved is set
 * under the lock, so that an exit callback finds it.  False if there is no
 * room; *used is what is taken.
 */
extern bool acdat_reserve_memory(Size size, const pg_uuid_t *dictionary,
								 bool may_evict, Size *reserved, Size *used);

#endif							/* ACDAT_EVICT_H */
