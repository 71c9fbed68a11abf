/*-------------------------------------------------------------------------
 *
 * machine_cache.h
 *	  Private machines: those that come as values of type acdat.machine.
 *
 * Lifetimes
 *	A machine value is detoasted once per process and kept, identified by
 *	the checksum of its content, until ACDAT_PRIVATE_MACHINES others were
 *	used since.  A call site keeps the toast pointer it saw last, so that a
 *	row costs a comparison; it must not keep a reference beyond one call
 *	unless it pins the machine.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_MACHINE_CACHE_H
#define ACDAT_MACHINE_CACHE_H

#include "postgres.h"

#include "src/lookup.h"
#include "src/pgcompat.h"

/* Private machines a process keeps. */
#define ACDAT_PRIVATE_MACHINES 16

struct AcdatCachedMachine;

/* What a call site remembers; zeroed memory. */
typedef struct AcdatMachineSite
{
	struct AcdatCachedMachine *entry;	/* NULL = none */
	uint64		serial;			/* of the machine that entry held */
	bool		external;		/* the value was this toast pointer */
	varatt_external pointer;
} AcdatMachineSite;

/* The machine of a value, in the cache after this call. */
extern const AcdatMachineRef *acdat_private_machine(AcdatMachineSite *site,
													Datum value);

/* Keep the machine the site saw last from being dropped; undo. */
extern void acdat_private_pin(const AcdatMachineSite *site);
extern void acdat_private_unpin(const AcdatMachineSite *site);

#endif							/* ACDAT_MACHINE_CACHE_H */
