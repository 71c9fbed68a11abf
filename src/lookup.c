/*-------------------------------------------------------------------------
 *
 * lookup.c
 *	  From the name of a dictionary to the machine to scan with.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "shmem/extension_version.h"
#include "shmem/fault.h"
#include "shmem/mapping.h"
#include "shmem/rows.h"
#include "shmem/settings.h"
#include "shmem/shmem_compat.h"
#include "src/lookup.h"
#include "src/publish.h"

/* How often a waiting look-up looks again by itself. */
#define ACDAT_LOOKUP_POLL_MS 1000

/* What one pass over the registry found. */
typedef enum LookupOutcome
{
	LOOKUP_FOUND,
	LOOKUP_LOADING,				/* a compile is under way */
	LOOKUP_FAILED,				/* the last compile failed */
	LOOKUP_EVICTED,				/* its machine had to make room */
	LOOKUP_MISSING,
	LOOKUP_DENIED
} LookupOutcome;

/*
 * The last answers of this process, whatever the call site: a statement that
 * runs once has a call site of its own, and short statements of one session
 * mostly use the same few dictionaries.  Stands and falls like what a call
 * site remembers.
 */
#define ACDAT_RECENT_LOOKUPS 16

static AcdatLookupCache recent_lookups[ACDAT_RECENT_LOOKUPS];

static uint64 role_changes = 1;
static uint64 subxact_aborts = 0;
static bool callbacks_registered = false;

/* Roles or memberships changed: privileges must be checked anew. */
static void
role_change_callback(Datum arg, int cacheid, uint32 hashvalue)
{
	role_changes++;
}

/*
 * What a subtransaction entered is undone, though nothing in a snapshot or in
 * the registry tells yet.
 */
static void
subxact_callback(SubXactEvent event, SubTransactionId mySubid,
				 SubTransactionId parentSubid, void *arg)
{
	if (event == SUBXACT_EVENT_ABORT_SUB)
		subxact_aborts++;
}

static void
register_callbacks(void)
{
	if (callbacks_registered)
		return;
	CacheRegisterSyscacheCallback(AUTHMEMROLEMEM, role_change_callback,
								  (Datum) 0);
	CacheRegisterSyscacheCallback(AUTHOID, role_change_callback, (Datum) 0);
	RegisterSubXactCallback(subxact_callback, NULL);
	callbacks_registered = true;
}

/* The snapshot that decides, NULL for "whatever is committed by now". */
static Snapshot
deciding_snapshot(void)
{
	Snapshot	snapshot;

	if (!ActiveSnapshotSet())
		return NULL;
	snapshot = GetActiveSnapshot();
	return snapshot->snapshot_type == SNAPSHOT_MVCC ? snapshot : NULL;
}

/*
 * Within one transaction, counts and bounds tell snapshots apart: as long as
 * xmax stands, the set of older transactions in progress only shrinks.
 */
static bool
same_snapshot(const AcdatLookupCache *cache, Snapshot snapshot)
{
	return cache->has_snapshot &&
		cache->xmin == snapshot->xmin && cache->xmax == snapshot->xmax &&
		cache->xcnt == snapshot->xcnt &&
		cache->subxcnt == snapshot->subxcnt &&
		cache->curcid == snapshot->curcid &&
		cache->subxact_aborts == subxact_aborts &&
		cache->lxid == AcdatMyLocalXid();
}

static bool
cache_stands(const AcdatLookupCache *cache, Snapshot snapshot,
			 const char *name, Size name_len)
{
	if (cache->ref == NULL ||
		cache->changes != pg_atomic_read_u64(&acdat_registry->changes) ||
		cache->role_changes != role_changes ||
		cache->user != GetUserId() ||
		cache->name_len != name_len ||
		memcmp(cache->name, name, name_len) != 0 || snapshot == NULL)
		return false;

	/* each serializable transaction must read the row for itself */
	if (IsolationIsSerializable() && cache->lxid != AcdatMyLocalXid())
		return false;
	if (cache->settled &&
		(!TransactionIdIsValid(cache->newest_xid) ||
		 TransactionIdFollows(snapshot->xmin, cache->newest_xid)))
		return true;
	return same_snapshot(cache, snapshot);
}

/* Where an answer for a name is remembered for the process. */
static AcdatLookupCache *
recent_lookup(const char *name, Size name_len)
{
	uint32		mix = (uint32) name_len;

	if (name_len > 0)
		mix += 31 * (unsigned char) name[0] +
			17 * (unsigned char) name[name_len - 1];
	return &recent_lookups[mix % ACDAT_RECENT_LOOKUPS];
}

/* What one pass needs to hand over to the code that may raise. */
typedef struct LookupResult
{
	AcdatEntry	entry;
	AcdatMapping *mapping;
	uint64		changes;
	uint64		role_changes;	/* before privileges were checked */
	TransactionId newest_xid;
} LookupResult;

static void
fill_cache(AcdatLookupCache *cache, Snapshot snapshot, const char *name,
		   Size name_len, const LookupResult *result)
{
	TransactionId newest_xid = result->newest_xid;

	cache->changes = result->changes;
	cache->role_changes = result->role_changes;
	cache->user = GetUserId();
	cache->name_len = (uint32) name_len;
	memcpy(cache->name, name, name_len);
	cache->newest_xid = newest_xid;
	cache->has_snapshot = (snapshot != NULL);
	cache->settled = false;
	if (snapshot == NULL)
		return;
	cache->settled = !TransactionIdIsValid(newest_xid) ||
		TransactionIdFollows(snapshot->xmin, newest_xid);
	cache->xmin = snapshot->xmin;
	cache->xmax = snapshot->xmax;
	cache->xcnt = snapshot->xcnt;
	cache->subxcnt = snapshot->subxcnt;
	cache->curcid = snapshot->curcid;
	cache->subxact_aborts = subxact_aborts;
	cache->lxid = AcdatMyLocalXid();
}

/* A missing owner closes the dictionary to all but superusers. */
static bool
may_scan(const AcdatEntry *entry)
{
	Oid			user = GetUserId();

	if (superuser_arg(user))
		return true;
	if (!OidIsValid(entry->owner) ||
		!SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(entry->owner)))
		return false;
	return entry->reader_public || has_privs_of_role(user, entry->owner) ||
		(OidIsValid(entry->reader) && has_privs_of_role(user, entry->reader));
}

/*
 * Look once.  Role checks read the catalogs, so they are made on a copy,
 * outside the lock; the machine is then claimed if the entry still stands.
 */
static LookupOutcome
look_once(const char *name, Snapshot snapshot, LookupResult *result)
{
	AcdatEntry *entry;
	bool		allowed = false;

	acdat_mapping_prepare();
	for (;;)
	{
		LookupOutcome outcome = LOOKUP_MISSING;
		uint64		serial = 0;

		LWLockAcquire(acdat_registry->lock, LW_SHARED);
		entry = acdat_find_by_name(MyDatabaseId, name, snapshot);
		result->changes = pg_atomic_read_u64(&acdat_registry->changes);
		result->newest_xid = acdat_registry->newest_xid;
		if (entry != NULL)
		{
			if (allowed && entry->serial == result->entry.serial)
				serial = entry->serial;
			result->entry = *entry;
			if (entry->load == ACDAT_READY && serial != 0)
				result->mapping = acdat_mapping_claim(entry->machine);
			outcome = entry->load == ACDAT_READY ? LOOKUP_FOUND :
				entry->load == ACDAT_LOADING ? LOOKUP_LOADING :
				entry->load == ACDAT_EVICTED ? LOOKUP_EVICTED : LOOKUP_FAILED;
		}
		LWLockRelease(acdat_registry->lock);
		if (entry == NULL || serial != 0)
			return outcome;
		if (!may_scan(&result->entry))
			return LOOKUP_DENIED;
		allowed = true;
	}
}

/*
 * Has everything been loaded that could hold the name?  If not, asks for it
 * (once, *requested) and returns false.
 */
static bool
all_loaded(const char *name, Snapshot snapshot, uint64 *requested)
{
	if (!acdat_first_loads_done())
		return false;
	if (*requested > 0)
		return acdat_load_done(MyDatabaseId, *requested);

	/* The row may be here and not loaded yet: restored, cloned, replayed. */
	if (snapshot != NULL && acdat_extension_installed() &&
		acdat_read_dictionary(name, snapshot) != NULL)
	{
		*requested = acdat_request_load(MyDatabaseId);
		return *requested == 0;
	}
	return true;
}

/* Ask for an evicted machine to be loaded again. */
static void
want_machine(const AcdatEntry *seen)
{
	AcdatEntry *entry;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	entry = acdat_entry_by_serial(seen->serial);
	if (entry != NULL && entry->load == ACDAT_EVICTED)
	{
		entry->wanted = true;
		entry->error[0] = '\0';
	}
	LWLockRelease(acdat_registry->lock);
	(void) acdat_request_load(seen->database);
}

static void
raise_outcome(LookupOutcome outcome, const char *name,
			  const LookupResult *result)
{
	switch (outcome)
	{
		case LOOKUP_DENIED:
			ereport(ERROR,
					(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
					 errmsg("permission denied for dictionary \"%s\"", name)));
			break;
		case LOOKUP_FAILED:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("dictionary \"%s\" could not be loaded", name),
					 errdetail("%s", result->entry.error),
					 errhint("See the view acdat.generations.")));
			break;
		case LOOKUP_LOADING:
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("dictionary \"%s\" is not loaded yet", name),
					 errhint("Try again, or increase acdat_bgw.load_timeout. If no background worker could be started, the server log says so; then increase max_worker_processes.")));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("dictionary \"%s\" does not exist", name)));
	}
}

/* Look until there is a machine to scan with, or raise why there is none. */
static void
look_until_found(const char *name, Snapshot snapshot, LookupResult *result)
{
	TimestampTz deadline = 0;
	uint64		requested = 0;
	bool		wanted = false;
	LookupOutcome outcome;

	outcome = look_once(name, snapshot, result);
	if (outcome == LOOKUP_FOUND)
		return;
	/* Nothing is loaded where this fails: waiting would be in vain. */
	acdat_check_extension_version();
	deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
										   acdat_guc_load_timeout);
	ConditionVariablePrepareToSleep(&acdat_registry->changed);
	for (;;)
	{
		long		left;

		/* Loads that end between these two tests must not be missed. */
		bool		complete = all_loaded(name, snapshot, &requested);

		outcome = look_once(name, snapshot, result);
		if (outcome == LOOKUP_FOUND || outcome == LOOKUP_DENIED ||
			outcome == LOOKUP_FAILED ||
			(outcome == LOOKUP_MISSING && complete))
			break;
		if (outcome == LOOKUP_EVICTED &&
			(!wanted || (!result->entry.wanted &&
						 result->entry.error[0] == '\0')))
		{
			want_machine(&result->entry);
			wanted = true;
		}
		else if (outcome == LOOKUP_EVICTED && result->entry.error[0] != '\0')
		{
			outcome = LOOKUP_FAILED;
			break;
		}

		/* What is waited for may need the room of what we still map. */
		acdat_mapping_release_retired();
		left = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), deadline);
		if (left <= 0)
		{
			outcome = LOOKUP_LOADING;
			break;
		}
		ACDAT_FAULT(lookup_waiting);
		(void) ConditionVariableTimedSleep(&acdat_registry->changed,
										   Min(left, ACDAT_LOOKUP_POLL_MS),
										   acdat_wait_event(ACDAT_WAIT_LOAD));
	}
	ConditionVariableCancelSleep();
	if (outcome != LOOKUP_FOUND)
		raise_outcome(outcome, name, result);
}

/*
 * SERIALIZABLE: reading shared memory leaves no trace for conflict
 * detection, so read the row as well.
 */
static void
track_serializable_read(const LookupResult *result, const char *name)
{
	if (IsolationIsSerializable() && !RecoveryInProgress() &&
		result->entry.database == MyDatabaseId && ActiveSnapshotSet())
		(void) acdat_read_dictionary(name, GetActiveSnapshot());
}

const AcdatMachineRef *
acdat_lookup(AcdatLookupCache *cache, const char *name, Size name_len)
{
	Snapshot	snapshot;
	AcdatLookupCache *recent;
	LookupResult result;
	char		name_z[NAMEDATALEN];

	acdat_require_registry();
	snapshot = deciding_snapshot();
	if (cache_stands(cache, snapshot, name, name_len))
		return cache->ref;
	recent = recent_lookup(name, name_len);
	if (cache_stands(recent, snapshot, name, name_len))
	{
		*cache = *recent;
		acdat_mapping_touch(cache->ref);
		return cache->ref;
	}

	register_callbacks();
	cache->ref = NULL;
	if (name_len >= NAMEDATALEN || memchr(name, '\0', name_len) != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dictionary \"%s\" does not exist",
						pnstrdup(name, name_len))));
	memcpy(name_z, name, name_len);
	name_z[name_len] = '\0';

	acdat_mapping_release_retired();
	memset(&result, 0, sizeof(result));
	result.role_changes = role_changes;
	look_until_found(name_z, snapshot, &result);
	acdat_mapping_complete(result.mapping);
	ACDAT_FAULT(map_completed);
	track_serializable_read(&result, name_z);
	fill_cache(cache, snapshot, name, name_len, &result);
	cache->ref = &result.mapping->ref;
	*recent = *cache;
	acdat_mapping_touch(cache->ref);
	return cache->ref;
}
