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
#include "storage/backendid.h"
#include "storage/proc.h"
#include "storage/procsignal.h"
#include "utils/wait_event.h"

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

#endif							/* ACDAT_SHMEM_COMPAT_H */
