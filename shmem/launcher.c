/*-------------------------------------------------------------------------
 *
 * launcher.c
 *	  The static background worker: compiles what is handed over, starts
 *	  loaders and compilers, keeps the registry small.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_database.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "shmem/fault.h"
#include "shmem/jobs.h"
#include "shmem/log_machine.h"
#include "shmem/requests.h"
#include "shmem/settings.h"
#include "shmem/shmem_compat.h"
#include "shmem/sweep.h"
#include "shmem/worker.h"

/* How soon the launcher looks again while something waits to be settled. */
#define ACDAT_BUSY_MS 500

/* On a standby, databases without dictionaries are looked at this rarely. */
#define ACDAT_STANDBY_EMPTY_ROUNDS 6

/* A worker this launcher started and has not seen end. */
typedef struct Child
{
	BackgroundWorkerHandle *handle; /* NULL = free slot */
	Oid			database;		/* loader, publisher */
	bool		publisher;
	int			job;			/* compiler: index of the job, else -1 */
	uint64		job_serial;
} Child;

#define MAX_CHILDREN 128

static Child children[MAX_CHILDREN];
static TimestampTz last_round = 0;
static int	rounds = 0;
static bool no_slot_reported = false;

static void
launcher_exit(int code, Datum arg)
{
	pg_atomic_write_u32(&acdat_registry->launcher_pid, 0);
}

/* Say where the launcher can be woken, and take over from a former one. */
static void
announce_launcher(void)
{
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	acdat_registry->launcher_since = GetCurrentTimestamp();
	for (i = 0; i < ACDAT_MAX_DATABASES; i++)
	{
		AcdatDatabase *slot = &acdat_registry->databases[i];

		/* A loader that was registered but never began is started again. */
		if (slot->database != InvalidOid && slot->loader_pid == 0)
			slot->started = slot->finished;
	}
	for (i = 0; i < ACDAT_MAX_JOBS; i++)
		acdat_registry->jobs[i].compiler_started = false;
	LWLockRelease(acdat_registry->lock);
	before_shmem_exit(launcher_exit, (Datum) 0);
	pg_atomic_write_u32(&acdat_registry->launcher_proc, AcdatMyProcNumber());
	pg_memory_barrier();
	pg_atomic_write_u32(&acdat_registry->launcher_pid, (uint32) MyProcPid);
}

static Child *
start_child(const char *kind, const char *function, Datum argument)
{
	int			i;

	for (i = 0; i < MAX_CHILDREN; i++)
	{
		Child	   *child = &children[i];

		if (child->handle != NULL)
			continue;
		if (acdat_start_worker(kind, function, argument, &child->handle))
		{
			child->database = InvalidOid;
			child->publisher = false;
			child->job = -1;
			no_slot_reported = false;
			return child;
		}
		if (!no_slot_reported)
			ereport(LOG,
					(errmsg("no background worker slot is free for an acdat_bgw %s",
							kind),
					 errhint("You may need to increase max_worker_processes.")));
		no_slot_reported = true;
		return NULL;
	}
	return NULL;
}

/* A loader ended, or never came up: its load must not be waited for. */
static void
child_loader_ended(Oid database)
{
	AcdatDatabase *slot;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	slot = acdat_database_slot(database, false);
	if (slot != NULL && slot->started > slot->finished)
	{
		slot->finished = slot->started;
		slot->loader_pid = 0;
		strlcpy(slot->error, "the loader could not be started or failed; see the server log",
				ACDAT_ERROR_BYTES);
	}
	LWLockRelease(acdat_registry->lock);
	ConditionVariableBroadcast(&acdat_registry->changed);
}

/*
 * The end of a child.  Its slot is freed afterwards: what an error keeps us
 * from doing is done in the next round.
 */
static void
child_ended(const Child *child)
{
	if (child->publisher)
		acdat_requests_abandoned(child->database);
	else if (OidIsValid(child->database))
		child_loader_ended(child->database);
	else
	{
		AcdatJob   *job = &acdat_registry->jobs[child->job];

		/* It may have died before it took the job: do it here. */
		if (job->serial == child->job_serial &&
			job->state == ACDAT_JOB_SUBMITTED)
			acdat_job_execute(job);
	}
}

/* Notice children that ended; returns how many loaders still run. */
static int
reap_children(int *compilers)
{
	int			loaders = 0;
	int			i;

	*compilers = 0;
	for (i = 0; i < MAX_CHILDREN; i++)
	{
		Child	   *child = &children[i];
		pid_t		pid;

		if (child->handle == NULL)
			continue;
		if (GetBackgroundWorkerPid(child->handle, &pid) != BGWH_STOPPED)
		{
			if (child->job >= 0)
				(*compilers)++;
			else if (!child->publisher)
				loaders++;
			continue;
		}
		ACDAT_FAULT(launch_reaped);
		child_ended(child);
		pfree(child->handle);
		child->handle = NULL;
	}
	return loaders;
}

/*
 * Process submitted jobs: small ones here, large ones in compilers, or here
 * when the server has no room for one.
 */
static void
run_jobs(int compilers)
{
	int			i;

	for (i = 0; i < ACDAT_MAX_JOBS; i++)
	{
		AcdatJob   *job = &acdat_registry->jobs[i];
		Child	   *child = NULL;

		if (job->state != ACDAT_JOB_SUBMITTED || job->compiler_started)
			continue;
		if (job->input_size > ACDAT_SMALL_JOB_BYTES &&
			acdat_guc_max_compilers > 0)
		{
			if (compilers >= acdat_guc_max_compilers)
				continue;
			ACDAT_FAULT(launch_compiler);
			child = start_child("compiler", "acdat_compiler_main",
								Int32GetDatum(i));
		}
		if (child != NULL)
		{
			child->job = i;
			child->job_serial = job->serial;
			job->compiler_started = true;
			compilers++;
		}
		else
			acdat_job_execute(job);
	}
	acdat_jobs_sweep();
}

static void
set_load_started(AcdatDatabase *slot, uint64 started)
{
	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	slot->started = started;
	LWLockRelease(acdat_registry->lock);
}

/*
 * Start a loader; false if there is no room for one.  The number of its load
 * must be set first, for the loader reports it, and is taken back when there
 * is no loader to report it.
 */
static bool
start_loader(AcdatDatabase *slot, Oid database)
{
	Child	   *volatile child = NULL;

	set_load_started(slot, slot->requested);
	PG_TRY();
	{
		ACDAT_FAULT(launch_loader);
		child = start_child("loader", "acdat_loader_main",
							ObjectIdGetDatum(database));
	}
	PG_FINALLY();
	{
		if (child == NULL)
			set_load_started(slot, slot->finished);
	}
	PG_END_TRY();
	if (child == NULL)
		return false;
	child->database = database;
	return true;
}

/* Start loaders for databases that want one. */
static bool
start_loaders(int running)
{
	bool		waiting = false;
	int			i;

	for (i = 0; i < ACDAT_MAX_DATABASES; i++)
	{
		AcdatDatabase *slot = &acdat_registry->databases[i];
		Oid			database = InvalidOid;

		LWLockAcquire(acdat_registry->lock, LW_SHARED);
		if (slot->database != InvalidOid && slot->requested > slot->started &&
			slot->started == slot->finished)
			database = slot->database;
		LWLockRelease(acdat_registry->lock);
		if (!OidIsValid(database))
			continue;
		if (running >= acdat_guc_max_loaders)
		{
			waiting = true;
			continue;
		}

		if (start_loader(slot, database))
			running++;
		else
			waiting = true;
	}
	return waiting;
}

static bool
publisher_runs(Oid database)
{
	int			i;

	for (i = 0; i < MAX_CHILDREN; i++)
	{
		if (children[i].handle != NULL && children[i].publisher &&
			children[i].database == database)
			return true;
	}
	return false;
}

/*
 * Start publishers for databases that have a request which is due; true if
 * one could not be started.  *next is lowered to when the next one is due.
 */
static bool
start_publishers(TimestampTz *next)
{
	TimestampTz now = GetCurrentTimestamp();
	Oid			database = InvalidOid;

	while ((database = acdat_database_with_due_request(database, now, next)) != InvalidOid)
	{
		Child	   *child;

		if (publisher_runs(database))
			continue;
		ACDAT_FAULT(launch_publisher);
		child = start_child("publisher", "acdat_publisher_main",
							ObjectIdGetDatum(database));
		if (child == NULL)
			return true;
		child->database = database;
		child->publisher = true;
	}
	return false;
}

/* Oids of the databases the registry knows. */
static List *
known_databases(void)
{
	List	   *known = NIL;
	int			i;

	for (i = 0; i < ACDAT_MAX_DATABASES; i++)
	{
		if (acdat_registry->databases[i].database != InvalidOid)
			known = lappend_oid(known, acdat_registry->databases[i].database);
	}
	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		if (acdat_registry->entries[i].serial != 0)
			known = list_append_unique_oid(known,
										   acdat_registry->entries[i].database);
	}
	return known;
}

/* Decide whether this round loads a database; exclusive lock held. */
static void
consider_database(Oid database)
{
	AcdatDatabase *slot = acdat_database_slot(database, true);
	bool		due;

	if (slot == NULL)
		return;
	due = slot->requested == 0 || slot->has_extension ||
		(RecoveryInProgress() && rounds % ACDAT_STANDBY_EMPTY_ROUNDS == 0);
	if (due && slot->requested == slot->finished)
		slot->requested++;
}

/*
 * Compare pg_database with what the registry knows: purge what was dropped,
 * ask for loads.  The list of known databases is made first, so that a
 * database created meanwhile is not taken for a dropped one.
 */
static void
review_databases(void)
{
	List	   *known;
	Relation	relation;
	TableScanDesc scan;
	HeapTuple	tuple;
	ListCell   *cell;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	known = known_databases();
	LWLockRelease(acdat_registry->lock);

	relation = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(relation, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database row = (Form_pg_database) GETSTRUCT(tuple);

		known = list_delete_oid(known, row->oid);
		if (!row->datallowconn || row->datistemplate)
			continue;
		LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
		consider_database(row->oid);
		LWLockRelease(acdat_registry->lock);
	}
	table_endscan(scan);
	table_close(relation, AccessShareLock);
	foreach(cell, known)
	{
		ACDAT_FAULT(review_purge);
		acdat_purge_database(lfirst_oid(cell));
	}

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	acdat_registry->databases_known = true;
	LWLockRelease(acdat_registry->lock);
	ConditionVariableBroadcast(&acdat_registry->changed);
	rounds++;
}

/* One round of everything; returns how long to sleep at most, in ms. */
static long
launcher_round(void)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz next;
	bool		busy;
	int			loaders;
	int			compilers;

	ACDAT_FAULT(launch_round);
	loaders = reap_children(&compilers);
	run_jobs(compilers);

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	PushActiveSnapshot(GetTransactionSnapshot());
	if (pg_atomic_exchange_u32(&acdat_registry->review_wanted, 0) != 0 ||
		last_round == 0 ||
		TimestampDifferenceExceeds(last_round, now, acdat_guc_naptime * 1000))
	{
		review_databases();
		last_round = now;
	}
	PopActiveSnapshot();
	acdat_log_machine_name(acdat_guc_log_dictionary);
	busy = acdat_sweep();
	CommitTransactionCommand();

	busy |= start_loaders(loaders);
	next = TimestampTzPlusMilliseconds(last_round, acdat_guc_naptime * 1000L);
	if (!RecoveryInProgress())
		busy |= start_publishers(&next);
	now = GetCurrentTimestamp();
	if (busy)
		next = Min(next, TimestampTzPlusMilliseconds(now, ACDAT_BUSY_MS));
	return Max(TimestampDifferenceMilliseconds(now, next), 0) + 1;
}

/* A round that keeps the launcher alive over errors. */
static long
guarded_round(void)
{
	MemoryContext context = CurrentMemoryContext;
	volatile long sleep_ms = 1000;

	PG_TRY();
	{
		sleep_ms = launcher_round();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		EmitErrorReport();
		FlushErrorState();
		AbortCurrentTransaction();
		LWLockReleaseAll();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	return sleep_ms;
}

void
acdat_launcher_main(Datum main_arg)
{
	acdat_worker_initialize(InvalidOid);
	announce_launcher();
	MemoryContextSwitchTo(AllocSetContextCreate(TopMemoryContext,
												"acdat_bgw launcher",
												ALLOCSET_DEFAULT_SIZES));
	for (;;)
	{
		long		sleep_ms = guarded_round();

		(void) WaitLatch(MyLatch,
						 WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 sleep_ms, acdat_wait_event(ACDAT_WAIT_LAUNCHER));
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
		}
	}
}
