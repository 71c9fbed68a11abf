/*-------------------------------------------------------------------------
 *
 * loader.c
 *	  Bringing the registry in line with the tables of one database.
 *
 * Rows can arrive without publish(): after a restart all of them do, and
 * logical replication, pg_restore, a standby's replay or direct edits bring
 * some.  A loader compares what its snapshot sees with the registry, enters
 * what is missing in state LOADING, queues compile jobs for that, and enters
 * the end of what is gone.  An entry takes its transaction from the row, so
 * that snapshots older than the row do not see it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"

#include "shmem/attachments.h"
#include "shmem/fault.h"
#include "shmem/jobs.h"
#include "shmem/requests.h"
#include "shmem/rows.h"
#include "shmem/shmem_compat.h"
#include "shmem/sweep.h"
#include "shmem/worker.h"

/* A load that failed is tried again after this time. */
#define ACDAT_RETRY_FAILED_MS 60000

/*
 * The error of a row without its patterns: logical replication brings the
 * two tables one after the other at first.  It is tried again whenever the
 * patterns are there.
 */
#define ACDAT_NO_PATTERNS ERRCODE_NO_DATA_FOUND

static Oid	loaded_database = InvalidOid;
static bool load_ended = false;

/* The LOADING entry that no job completes yet, 0 = none. */
static uint64 unowned_serial = 0;

/* Report the end of the load, whatever it was, and let waiters look again. */
static void
end_load(bool has_extension, const char *error)
{
	AcdatDatabase *slot;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	slot = acdat_database_slot(loaded_database, false);
	if (slot != NULL)
	{
		slot->finished = slot->started;
		slot->loader_pid = 0;
		slot->has_extension = has_extension;
		slot->last_load = GetCurrentTimestamp();
		strlcpy(slot->error, error, ACDAT_ERROR_BYTES);
	}
	LWLockRelease(acdat_registry->lock);
	load_ended = true;
	ConditionVariableBroadcast(&acdat_registry->changed);
	acdat_wake_launcher();
}

/* Give up on the LOADING entry at hand; it is loaded again when wanted. */
static void
disown_entry(const char *error)
{
	AcdatEntry *entry;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	entry = acdat_entry_by_serial(unowned_serial);
	if (unowned_serial != 0 && entry != NULL && entry->load == ACDAT_LOADING)
	{
		entry->load = ACDAT_EVICTED;
		entry->wanted = false;
		strlcpy(entry->error, error, ACDAT_ERROR_BYTES);
		acdat_registry_changed();
	}
	LWLockRelease(acdat_registry->lock);
	unowned_serial = 0;
}

static void
loader_exit(int code, Datum arg)
{
	disown_entry("");
	if (!load_ended)
		end_load(true, "the loader ended before it was done; see the server log");
}

static void
begin_load(void)
{
	AcdatDatabase *slot;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	slot = acdat_database_slot(loaded_database, true);
	if (slot != NULL)
		slot->loader_pid = MyProcPid;
	LWLockRelease(acdat_registry->lock);
}

/* Does an entry say what a row says? */
static bool
same_attributes(const AcdatEntry *entry, const AcdatEntry *fresh)
{
	return entry->version == fresh->version &&
		entry->cluster == fresh->cluster &&
		entry->owner == fresh->owner &&
		entry->reader == fresh->reader &&
		entry->reader_public == fresh->reader_public &&
		strcmp(NameStr(entry->name), NameStr(fresh->name)) == 0;
}

/*
 * The state of a row in the registry: an entry made with this very row,
 * whether its transaction is settled or not.  A row that was edited by hand
 * need not have another revision, so what it says counts.  Lock held.
 */
static AcdatEntry *
entry_of_row(const AcdatDictionaryRow *row, const AcdatEntry *fresh)
{
	int			i;

	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		AcdatEntry *entry = &acdat_registry->entries[i];

		if (entry->serial == 0 || entry->database != MyDatabaseId ||
			entry->revision != row->revision || entry->dropped ||
			memcmp(&entry->dictionary, &row->id, sizeof(pg_uuid_t)) != 0)
			continue;
		if (entry->xid_state != ACDAT_XID_FROZEN && entry->xid == row->xmin)
			return entry;
		if ((entry->xid_state == ACDAT_XID_FROZEN || row->xmin_frozen) &&
			same_attributes(entry, fresh))
			return entry;
	}
	return NULL;
}

/* The entry for a row that this snapshot sees, hence committed. */
static void
entry_for_row(AcdatEntry *entry, const AcdatDictionaryRow *row)
{
	acdat_entry_from_row(entry, row);
	entry->xid = row->xmin;
	entry->xid_state = row->xmin_frozen ? ACDAT_XID_FROZEN : ACDAT_XID_COMMITTED;
}

/* Is it time to try a failed load again?  Not as long as nothing changed. */
static bool
retry_due(const AcdatEntry *entry)
{
	return entry->sqlerrcode == ACDAT_NO_PATTERNS ||
		TimestampDifferenceExceeds(entry->since, GetCurrentTimestamp(),
								   ACDAT_RETRY_FAILED_MS);
}

/* Did the patterns of a row lack when it was tried, and still do? */
static bool
still_without_patterns(const AcdatDictionaryRow *row, Snapshot snapshot)
{
	AcdatEntry	fresh;
	AcdatEntry *entry;
	bool		lacked;

	entry_for_row(&fresh, row);
	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	entry = entry_of_row(row, &fresh);
	lacked = entry != NULL && entry->load == ACDAT_FAILED &&
		entry->sqlerrcode == ACDAT_NO_PATTERNS;
	LWLockRelease(acdat_registry->lock);
	return lacked &&
		acdat_read_version(&row->id, row->version, false, snapshot) == NULL;
}

/*
 * Enter a row that the registry lacks.  Returns true, with the entry as
 * inserted, if its machine must be compiled.
 */
static bool
enter_row(const AcdatDictionaryRow *row, Snapshot snapshot,
		  AcdatEntry *result)
{
	AcdatEntry	fresh;
	AcdatEntry *entry;
	AcdatEntry *newest;
	bool		full = false;

	entry_for_row(&fresh, row);
	fresh.sequence = row->revision;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	entry = entry_of_row(row, &fresh);
	if (entry != NULL && entry->load == ACDAT_FAILED && retry_due(entry))
	{
		acdat_entry_free(entry);
		entry = NULL;
	}
	if (entry == NULL)
	{
		/*
		 * A row that went back in time, or kept its revision, follows what
		 * it replaces, but nothing that this snapshot does not see: a state
		 * published meanwhile is the later one.
		 */
		newest = acdat_newest_entry(MyDatabaseId, &row->id, snapshot);
		if (newest != NULL && newest->sequence > fresh.sequence)
			fresh.sequence = newest->sequence;

		/* A change of name or reader alone keeps the machine. */
		if (newest != NULL && newest->version == row->version &&
			newest->load == ACDAT_READY && !newest->dropped)
		{
			fresh.machine = newest->machine;
			fresh.patterns = newest->patterns;
			fresh.load = ACDAT_READY;
		}
		entry = acdat_entry_insert(&fresh);
		full = (entry == NULL);
		if (entry != NULL)
			*result = *entry;
		if (entry != NULL && entry->load == ACDAT_LOADING)
			unowned_serial = entry->serial;
	}
	else
		result->load = ACDAT_READY;
	LWLockRelease(acdat_registry->lock);
	if (full)
		acdat_registry_full_error();
	return result->load == ACDAT_LOADING;
}

/*
 * Keep the error of a row that could not even be made a job of: look-ups
 * raise it, the view shows it, and the other dictionaries are loaded.
 */
static void
fail_row(const AcdatDictionaryRow *row, int sqlerrcode, const char *message)
{
	AcdatEntry	fresh;
	AcdatEntry *entry;

	entry_for_row(&fresh, row);
	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	entry = entry_of_row(row, &fresh);
	if (entry == NULL)
		entry = acdat_entry_insert(&fresh);
	if (entry != NULL && entry->load == ACDAT_LOADING)
	{
		entry->load = acdat_state_after_error(sqlerrcode);
		entry->sqlerrcode = sqlerrcode;
		strlcpy(entry->error, message, ACDAT_ERROR_BYTES);
		acdat_registry_changed();
	}
	LWLockRelease(acdat_registry->lock);
}

/*
 * Queue the job that completes a LOADING entry; false if the version it names
 * is not stored (any more).
 */
static bool
submit_entry(const AcdatEntry *entry, Snapshot snapshot)
{
	AcdatVersionRow *version;

	version = acdat_read_version(&entry->dictionary, entry->version, true,
								 snapshot);
	if (version == NULL)
		return false;
	acdat_job_submit_load(entry, &version->options,
						  VARDATA(version->content),
						  VARSIZE(version->content) - VARHDRSZ);
	unowned_serial = 0;
	ACDAT_FAULT(load_submitted);
	return true;
}

/* What a guarded step works on: a row, or an entry that is wanted. */
typedef struct LoadStep
{
	const AcdatDictionaryRow *row;
	const AcdatEntry *entry;
	Snapshot	snapshot;
} LoadStep;

static void
load_row(const LoadStep *step)
{
	AcdatEntry	entry;

	ACDAT_FAULT(load_row);
	if (still_without_patterns(step->row, step->snapshot))
		return;
	acdat_make_room();
	if (!enter_row(step->row, step->snapshot, &entry))
		return;
	ACDAT_FAULT(load_entered);
	if (!submit_entry(&entry, step->snapshot))
		ereport(ERROR,
				(errcode(ACDAT_NO_PATTERNS),
				 errmsg("stored patterns of the dictionary are missing")));
}

static void
load_entry(const LoadStep *step)
{
	ACDAT_FAULT(load_wanted);
	if (!submit_entry(step->entry, step->snapshot))
		ereport(ERROR,
				(errcode(ACDAT_NO_PATTERNS),
				 errmsg("the stored patterns of this version are gone")));
}

/*
 * Take a step; its failure is its own, returned in the current context, or
 * NULL.  Only being told to stop is passed on.
 */
static ErrorData *
guarded(void (*take) (const LoadStep *), const LoadStep *step)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData  *volatile failure = NULL;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		take(step);
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		failure = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	CurrentResourceOwner = owner;
	if (failure == NULL)
		return NULL;
	if (failure->sqlerrcode == ERRCODE_QUERY_CANCELED ||
		failure->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN)
		ReThrowError(failure);
	ereport(LOG,
			(errmsg("could not load a dictionary: %s", failure->message)));
	return failure;
}

static void
load_row_guarded(const AcdatDictionaryRow *row, Snapshot snapshot)
{
	LoadStep	step = {.row = row,.snapshot = snapshot};
	ErrorData  *failure = guarded(load_row, &step);

	if (failure == NULL)
		return;
	fail_row(row, failure->sqlerrcode, failure->message);
	unowned_serial = 0;
	FreeErrorData(failure);
}

/*
 * Enter the end of dictionaries that the registry has and the snapshot has
 * not.  Who deleted the row cannot be told, so the end is stamped with the
 * newest transaction that was over when the snapshot was taken: an older
 * snapshot that could still see the row keeps it.
 */
static void
end_missing(List *rows, Snapshot snapshot)
{
	AcdatRegistry *registry = acdat_registry;
	TransactionId last = snapshot->xmax;
	int			i;

	TransactionIdRetreat(last);
	LWLockAcquire(registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < registry->entries_used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];
		AcdatEntry	end;
		ListCell   *cell;
		bool		found = false;

		if (entry->serial == 0 || entry->database != MyDatabaseId ||
			entry->dropped ||
			acdat_newest_entry(MyDatabaseId, &entry->dictionary,
							   snapshot) != entry)
			continue;
		foreach(cell, rows)
		{
			AcdatDictionaryRow *row = lfirst(cell);

			found |= memcmp(&row->id, &entry->dictionary,
							sizeof(pg_uuid_t)) == 0;
		}
		if (found)
			continue;
		end = *entry;
		end.sequence = entry->sequence + 1;
		end.dropped = true;
		end.machine = -1;
		end.xid = last;
		end.xid_state = ACDAT_XID_COMMITTED;
		(void) acdat_entry_insert(&end);
	}
	LWLockRelease(registry->lock);
}

/* Take an evicted state of this database that is waited for; false: none. */
static bool
take_wanted(AcdatEntry *result)
{
	bool		found = false;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < acdat_registry->entries_used && !found; i++)
	{
		AcdatEntry *entry = &acdat_registry->entries[i];

		if (entry->serial == 0 || entry->database != MyDatabaseId ||
			entry->load != ACDAT_EVICTED || !entry->wanted)
			continue;
		entry->load = ACDAT_LOADING;
		*result = *entry;
		unowned_serial = entry->serial;
		found = true;
	}
	LWLockRelease(acdat_registry->lock);
	return found;
}

/*
 * Load the evicted states that look-ups wait for.  They need not be what this
 * snapshot sees as current: an older snapshot, or a transaction that has
 * changed the dictionary, may choose them.
 */
static void
load_wanted(Snapshot snapshot)
{
	AcdatEntry	entry;

	while (take_wanted(&entry))
	{
		LoadStep	step = {.entry = &entry,.snapshot = snapshot};
		ErrorData  *failure = guarded(load_entry, &step);

		if (failure == NULL)
			continue;
		disown_entry(failure->message);
		FreeErrorData(failure);
	}
}

/*
 * Changes of attached tables whose requests were lost with shared memory, or
 * that a primary which is no more did not come to, are made up for once.
 */
static void
request_attached(void)
{
	AcdatDatabase *slot;
	bool		due;
	ListCell   *cell;

	if (RecoveryInProgress())
		return;
	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	slot = acdat_database_slot(MyDatabaseId, false);
	due = (slot != NULL && !slot->attached_requested);
	LWLockRelease(acdat_registry->lock);
	if (!due)
		return;
	ACDAT_FAULT(load_attached);
	foreach(cell, acdat_read_attachments())
	{
		const AcdatAttachment *attachment = lfirst(cell);

		acdat_request_republish(MyDatabaseId, &attachment->dictionary, 0);
	}

	/* not before: after an error the next load makes up for all of them */
	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	slot = acdat_database_slot(MyDatabaseId, false);
	if (slot != NULL)
		slot->attached_requested = true;
	LWLockRelease(acdat_registry->lock);
}

/* The work of one load, in one read-only transaction. */
static bool
load_database(void)
{
	bool		installed;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	pgstat_report_activity(STATE_RUNNING, "loading dictionaries");
	PushActiveSnapshot(GetTransactionSnapshot());
	ACDAT_FAULT(load_begun);
	installed = acdat_extension_installed();
	{
		Snapshot	snapshot = GetActiveSnapshot();
		List	   *rows = installed ? acdat_read_dictionaries(snapshot) : NIL;
		ListCell   *cell;

		foreach(cell, rows)
		{
			CHECK_FOR_INTERRUPTS();
			load_row_guarded(lfirst(cell), snapshot);
		}
		end_missing(rows, snapshot);
		if (installed)
		{
			load_wanted(snapshot);
			request_attached();
		}
	}
	ACDAT_FAULT(load_ended);
	PopActiveSnapshot();
	CommitTransactionCommand();
	pgstat_report_activity(STATE_IDLE, NULL);
	return installed;
}

/* main_arg: oid of the database. */
void
acdat_loader_main(Datum main_arg)
{
	bool		installed;

	loaded_database = DatumGetObjectId(main_arg);
	before_shmem_exit(loader_exit, (Datum) 0);
	begin_load();
	acdat_worker_initialize(loaded_database);
	ACDAT_FAULT(load_connected);
	installed = load_database();
	ACDAT_FAULT(load_committed);
	end_load(installed, "");
}
