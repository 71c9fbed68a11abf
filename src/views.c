/*-------------------------------------------------------------------------
 *
 * views.c
 *	  What the registry shows to SQL: names and sizes, never patterns.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "commands/dbcommands.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "shmem/jobs.h"
#include "shmem/registry.h"

PG_FUNCTION_INFO_V1(acdat_registry_entries);
PG_FUNCTION_INFO_V1(acdat_worker_processes);

#define ENTRY_COLUMNS 14
#define WORKER_COLUMNS 6

/* A copy of what is to be shown, taken under the lock. */
typedef struct RegistryCopy
{
	AcdatEntry *entries;
	bool	   *newest;			/* what others see now */
	int			entry_count;
	AcdatMachineSlot *machines;
	int			machine_count;
} RegistryCopy;

/*
 * Is an entry the state that a snapshot of somebody else, taken now, sees?
 * One's own uncommitted states are pending, like everybody's.
 */
static bool
is_newest_committed(const AcdatEntry *entry)
{
	int			i;

	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		AcdatEntry *other = &acdat_registry->entries[i];

		if (other->serial != 0 && other->database == entry->database &&
			acdat_entry_follows(other, entry) &&
			memcmp(&other->dictionary, &entry->dictionary,
				   sizeof(pg_uuid_t)) == 0 &&
			acdat_entry_committed(other))
			return false;
	}
	return true;
}

static void
copy_registry(RegistryCopy *copy)
{
	AcdatRegistry *registry = acdat_registry;
	int			i;

	copy->entries = palloc(registry->max_entries * sizeof(AcdatEntry));
	copy->newest = palloc(registry->max_entries * sizeof(bool));
	copy->machines = palloc(registry->max_machines * sizeof(AcdatMachineSlot));
	copy->machine_count = registry->max_machines;
	copy->entry_count = 0;
	LWLockAcquire(registry->lock, LW_SHARED);
	for (i = 0; i < registry->entries_used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];

		if (entry->serial == 0)
			continue;
		copy->newest[copy->entry_count] = is_newest_committed(entry);
		copy->entries[copy->entry_count++] = *entry;
	}
	memcpy(copy->machines, registry->machines,
		   registry->max_machines * sizeof(AcdatMachineSlot));
	LWLockRelease(registry->lock);
}

static const char *
entry_state(const AcdatEntry *entry, bool newest)
{
	if (entry->xid_state == ACDAT_XID_OPEN)
	{
		if (TransactionIdIsInProgress(entry->xid))
			return "pending";
		if (!TransactionIdDidCommit(entry->xid))
			return "aborted";
	}
	if (entry->dropped)
		return "dropped";
	if (!newest)
		return "superseded";
	return entry->load == ACDAT_READY ? "live" :
		entry->load == ACDAT_LOADING ? "loading" :
		entry->load == ACDAT_EVICTED ? "evicted" : "failed";
}

static void
put_machine_columns(const AcdatMachineSlot *slot, Datum *values, bool *nulls)
{
	values[6] = Int64GetDatum((int64) slot->size);
	values[7] = CStringGetTextDatum(psprintf("%u", slot->handle));
	values[8] = Int32GetDatum((int32) pg_atomic_read_u32(unconstify(pg_atomic_uint32 *, &slot->mapped)));
	nulls[6] = nulls[7] = nulls[8] = false;
}

/*
 * Does an older database own the cluster-wide name of this entry?  Then it is
 * a copy that came with a template, and answers nowhere.
 */
static bool
is_inactive_copy(const RegistryCopy *copy, int index)
{
	const AcdatEntry *entry = &copy->entries[index];
	int			i;

	if (!entry->cluster || !copy->newest[index] || entry->dropped)
		return false;
	for (i = 0; i < copy->entry_count; i++)
	{
		const AcdatEntry *other = &copy->entries[i];

		if (other->cluster && copy->newest[i] && !other->dropped &&
			other->database < entry->database &&
			acdat_entry_committed(other) &&
			strcmp(NameStr(other->name), NameStr(entry->name)) == 0)
			return true;
	}
	return false;
}

static void
put_entry(ReturnSetInfo *result, const RegistryCopy *copy, int index)
{
	const AcdatEntry *entry = &copy->entries[index];
	Datum		values[ENTRY_COLUMNS] = {0};
	bool		nulls[ENTRY_COLUMNS] = {0};

	values[0] = ObjectIdGetDatum(entry->database);
	values[1] = NameGetDatum(&entry->name);
	values[2] = UUIDPGetDatum(&entry->dictionary);
	values[3] = Int64GetDatum(entry->version);
	values[4] = Int64GetDatum(entry->revision);
	values[5] = CStringGetTextDatum(entry_state(entry, copy->newest[index]));
	nulls[6] = nulls[7] = nulls[8] = true;
	if (entry->machine >= 0)
		put_machine_columns(&copy->machines[entry->machine], values, nulls);
	values[9] = TransactionIdGetDatum(entry->xid);
	nulls[9] = (entry->xid_state == ACDAT_XID_FROZEN);
	values[10] = CStringGetTextDatum(entry->error);
	nulls[10] = (entry->error[0] == '\0');
	if (is_inactive_copy(copy, index))
	{
		values[5] = CStringGetTextDatum("inactive");
		values[10] = CStringGetTextDatum("an older database owns the cluster-wide name");
		nulls[10] = false;
	}
	values[11] = BoolGetDatum(entry->cluster);
	values[12] = Int64GetDatum(entry->patterns);
	values[13] = TimestampTzGetDatum(entry->since);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* A machine that no entry names any more but that is still mapped. */
static void
put_retired(ReturnSetInfo *result, const AcdatMachineSlot *slot)
{
	Datum		values[ENTRY_COLUMNS] = {0};
	bool		nulls[ENTRY_COLUMNS];

	memset(nulls, true, sizeof(nulls));
	values[0] = ObjectIdGetDatum(slot->database);
	values[2] = UUIDPGetDatum(&slot->dictionary);
	values[3] = Int64GetDatum(slot->version);
	values[5] = CStringGetTextDatum("retired");
	nulls[0] = nulls[2] = nulls[3] = nulls[5] = false;
	put_machine_columns(slot, values, nulls);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* acdat.registry_entries() returns setof record; empty without preload */
Datum
acdat_registry_entries(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	RegistryCopy copy;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	if (acdat_registry == NULL)
		return (Datum) 0;
	copy_registry(&copy);
	for (i = 0; i < copy.entry_count; i++)
		put_entry(result, &copy, i);
	for (i = 0; i < copy.machine_count; i++)
	{
		if (copy.machines[i].serial != 0 && copy.machines[i].entries == 0)
			put_retired(result, &copy.machines[i]);
	}
	return (Datum) 0;
}

static void
put_worker(ReturnSetInfo *result, const char *kind, int pid, Oid database,
		   const char *state, TimestampTz since, const char *error)
{
	Datum		values[WORKER_COLUMNS] = {0};
	bool		nulls[WORKER_COLUMNS] = {0};

	values[0] = CStringGetTextDatum(kind);
	values[1] = Int32GetDatum(pid);
	nulls[1] = (pid == 0);
	values[2] = ObjectIdGetDatum(database);
	nulls[2] = !OidIsValid(database);
	values[3] = CStringGetTextDatum(state);
	values[4] = TimestampTzGetDatum(since);
	nulls[4] = (since == 0);
	values[5] = CStringGetTextDatum(error);
	nulls[5] = (error[0] == '\0');
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

static void
put_jobs(ReturnSetInfo *result, int launcher_pid)
{
	AcdatJob   *jobs = palloc(ACDAT_MAX_JOBS * sizeof(AcdatJob));
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	memcpy(jobs, acdat_registry->jobs, ACDAT_MAX_JOBS * sizeof(AcdatJob));
	LWLockRelease(acdat_registry->lock);
	for (i = 0; i < ACDAT_MAX_JOBS; i++)
	{
		AcdatJob   *job = &jobs[i];

		if (job->state == ACDAT_JOB_SUBMITTED)
			put_worker(result, "compiler", 0, job->entry.database, "queued",
					   job->since, "");
		else if (job->state == ACDAT_JOB_RUNNING)
			put_worker(result, "compiler", job->runner_pid,
					   job->entry.database,
					   job->runner_pid == launcher_pid ?
					   "compiling in the launcher" : "compiling",
					   job->since, "");
	}
}

static void
put_loaders(ReturnSetInfo *result)
{
	int			i;

	for (i = 0; i < ACDAT_MAX_DATABASES; i++)
	{
		AcdatDatabase slot;

		LWLockAcquire(acdat_registry->lock, LW_SHARED);
		slot = acdat_registry->databases[i];
		LWLockRelease(acdat_registry->lock);
		if (slot.database == InvalidOid)
			continue;
		if (slot.loader_pid != 0)
			put_worker(result, "loader", slot.loader_pid, slot.database,
					   "loading", slot.last_load, slot.error);
		else if (slot.requested > slot.finished)
			put_worker(result, "loader", 0, slot.database, "queued",
					   slot.last_load, slot.error);
		else if (slot.error[0] != '\0')
			put_worker(result, "loader", 0, slot.database, "failed",
					   slot.last_load, slot.error);
	}
}

/* acdat.worker_processes() returns setof record; empty without preload */
Datum
acdat_worker_processes(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	TimestampTz since;
	int			pid;

	InitMaterializedSRF(fcinfo, 0);
	if (acdat_registry == NULL)
		return (Datum) 0;
	pid = (int) pg_atomic_read_u32(&acdat_registry->launcher_pid);
	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	since = acdat_registry->launcher_since;
	LWLockRelease(acdat_registry->lock);
	put_worker(result, "launcher", pid, InvalidOid,
			   pid != 0 ? "running" : "not running", since, "");
	put_loaders(result);
	put_jobs(result, pid);
	return (Datum) 0;
}
