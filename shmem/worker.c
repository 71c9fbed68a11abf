/*-------------------------------------------------------------------------
 *
 * worker.c
 *	  What the background processes have in common; the compiler.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "tcop/tcopprot.h"

#include "shmem/jobs.h"
#include "shmem/worker.h"

static void
describe_worker(BackgroundWorker *worker, const char *kind,
				const char *function)
{
	memset(worker, 0, sizeof(*worker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS |
		BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_ConsistentState;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	snprintf(worker->bgw_library_name, sizeof(worker->bgw_library_name),
			 "%s", ACDAT_LIBRARY_NAME);
	snprintf(worker->bgw_function_name, BGW_MAXLEN, "%s", function);
	snprintf(worker->bgw_name, BGW_MAXLEN, "acdat_bgw %s", kind);
	snprintf(worker->bgw_type, BGW_MAXLEN, "acdat_bgw %s", kind);
}

void
acdat_launcher_register(void)
{
	BackgroundWorker worker;

	/* pg_upgrade must not have its catalogs looked at by anybody else */
	if (IsBinaryUpgrade)
		return;
	describe_worker(&worker, "launcher", "acdat_launcher_main");
	worker.bgw_restart_time = ACDAT_LAUNCHER_RESTART_S;
	RegisterBackgroundWorker(&worker);
}

bool
acdat_start_worker(const char *kind, const char *function, Datum argument,
				   BackgroundWorkerHandle **handle)
{
	BackgroundWorker worker;

	describe_worker(&worker, kind, function);
	worker.bgw_main_arg = argument;
	worker.bgw_notify_pid = MyProcPid;
	return RegisterDynamicBackgroundWorker(&worker, handle);
}

void
acdat_worker_initialize(Oid database)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	if (OidIsValid(database))
		BackgroundWorkerInitializeConnectionByOid(database, InvalidOid,
												  BGWORKER_BYPASS_ALLOWCONN);
	else
		BackgroundWorkerInitializeConnection(NULL, NULL, 0);
}

/* main_arg: index of the job slot. */
void
acdat_compiler_main(Datum main_arg)
{
	int			index = DatumGetInt32(main_arg);

	acdat_worker_initialize(InvalidOid);
	if (index >= 0 && index < ACDAT_MAX_JOBS)
		acdat_job_execute(&acdat_registry->jobs[index]);
	acdat_wake_launcher();
}
