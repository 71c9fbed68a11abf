/*-------------------------------------------------------------------------
 *
 * shmem_compat.h
 *	  Server version differences that concern shared state.
 *
 * Each shim carries the name the newest server uses, or acdat_ where a
 * signature changed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_SHMEM_COMPAT_H
#define ACDAT_SHMEM_COMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "acdat_bgw requires PostgreSQL 15 or later"
#endif

#include "miscadmin.h"
#if PG_VERSION_NUM < 170000
#include "storage/backendid.h"
#endif
#include "storage/proc.h"
#include "storage/procsignal.h"
#include "utils/wait_event.h"

/* varatt.h was split from postgres.h */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* pg_attribute_noreturn() gave way to a specifier in front */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

#if PG_VERSION_NUM < 170000
/* 0-based number of this backend among all that have a snapshot slot */
#define AcdatMyBackendIndex() (MyBackendId - 1)
#define AcdatMyProcNumber() (MyProc->pgprocno)
#define AcdatMyLocalXid() (MyProc->lxid)
#define AcdatBackendSlots() (MaxBackends)
#else
#define AcdatMyBackendIndex() (MyProcNumber)
#define AcdatMyProcNumber() (MyProcNumber)
#define AcdatMyLocalXid() (MyProc->vxid.lxid)
#define AcdatBackendSlots() (MaxBackends + NUM_AUXILIARY_PROCS)
#endif

/* table_beginscan() takes flags since 19 */
#if PG_VERSION_NUM < 190000
#define acdat_table_beginscan(relation, snapshot) \
	table_beginscan(relation, snapshot, 0, NULL)
#else
#define acdat_table_beginscan(relation, snapshot) \
	table_beginscan(relation, snapshot, 0, NULL, 0)
#endif

/* Wake an idle backend so that it runs an empty transaction. */
static inline void
acdat_send_catchup(pid_t pid, int backend_index)
{
#if PG_VERSION_NUM < 170000
	(void) SendProcSignal(pid, PROCSIG_CATCHUP_INTERRUPT, backend_index + 1);
#else
	(void) SendProcSignal(pid, PROCSIG_CATCHUP_INTERRUPT, backend_index);
#endif
}

/* What processes of ours wait for, other than locks */
typedef enum AcdatWait
{
	ACDAT_WAIT_LAUNCHER,		/* the launcher, for something to do */
	ACDAT_WAIT_JOB_SLOT,		/* a requester, for a job of others to end */
	ACDAT_WAIT_COMPILE,			/* a requester, for its own job */
	ACDAT_WAIT_LOAD,			/* a reader, for a machine to be loaded */
	ACDAT_WAIT_MEMORY			/* a loader, for evicted machines to go */
} AcdatWait;

#define ACDAT_WAITS (ACDAT_WAIT_MEMORY + 1)

/*
 * The wait event to report; not while a lock is held.  Servers before 17
 * know a single one for all extensions.
 */
static inline uint32
acdat_wait_event(AcdatWait wait)
{
#if PG_VERSION_NUM < 170000
	return PG_WAIT_EXTENSION;
#else
	static const char *const names[ACDAT_WAITS] = {
		"AcdatLauncherMain", "AcdatJobSlot", "AcdatCompile", "AcdatLoad",
		"AcdatMemory"
	};
	static uint32 events[ACDAT_WAITS];

	/* asked for by several files, a name has the same number in all */
	if (events[wait] == 0)
		events[wait] = WaitEventExtensionNew(names[wait]);
	return events[wait];
#endif
}

#endif							/* ACDAT_SHMEM_COMPAT_H */
