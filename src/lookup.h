/*-------------------------------------------------------------------------
 *
 * lookup.h
 *	  From the name of a dictionary to the machine to scan with.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_LOOKUP_H
#define ACDAT_LOOKUP_H

#include "postgres.h"

#include "utils/snapshot.h"

#include "shmem/mapping.h"

/*
 * What a call site remembers of its last look-up; zeroed memory that lives
 * as long as fn_extra.
 *
 * The answer stands while no entry of the registry changed, for the same
 * user and name, and for snapshots of which one of two things is known: it
 * has the same content as the one the answer was found for, or both are
 * newer than the end of every transaction in the registry.
 */
typedef struct AcdatLookupCache
{
	const AcdatMachineRef *ref; /* NULL: nothing remembered */
	uint64		changes;		/* of the registry */
	uint64		role_changes;	/* of this process's view of roles */
	Oid			user;
	uint32		name_len;
	char		name[NAMEDATALEN];

	/* both snapshots newer than everything in the registry */
	bool		settled;
	TransactionId newest_xid;

	/* identity of the snapshot the answer was found for */
	bool		has_snapshot;
	TransactionId xmin;
	TransactionId xmax;
	uint32		xcnt;
	int32		subxcnt;
	CommandId	curcid;
	LocalTransactionId lxid;
	uint64		subxact_aborts; /* of this process */
} AcdatLookupCache;

/*
 * The machine of the version of a dictionary that the active snapshot sees.
 * Raises ERRCODE_UNDEFINED_OBJECT, ERRCODE_INSUFFICIENT_PRIVILEGE, or
 * ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE when the library was not preloaded
 * or no machine can be had; there is never an answer without a machine.
 * The result is valid until the end of the function call, and for a
 * set-returning function until the end of its query.
 */
extern const AcdatMachineRef *acdat_lookup(AcdatLookupCache *cache,
										   const char *name, Size name_len);

#endif							/* ACDAT_LOOKUP_H */
