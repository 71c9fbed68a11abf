/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  Set-up of the registry and the rules of visibility.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "storage/procarray.h"
#include "storage/shmem.h"
#include "utils/snapmgr.h"

#include "shmem/hits.h"
#include "shmem/jobs.h"
#include "shmem/registry.h"
#include "shmem/requests.h"
#include "shmem/shmem_compat.h"
#include "shmem/settings.h"
#include "shmem/stats.h"

#define ACDAT_TRANCHE "acdat_bgw"

AcdatRegistry *acdat_registry = NULL;

static shmem_request_hook_type prev_shmem_request_hook = NULL;
static shmem_startup_hook_type prev_shmem_startup_hook = NULL;

static int
max_states(void)
{
	return acdat_guc_max_dictionaries * ACDAT_STATES_PER_DICTIONARY;
}

/* Every state has room for the end that may follow it. */
static int
max_entries(void)
{
	return 2 * max_states();
}

static Size
registry_size(void)
{
	Size		size = MAXALIGN(sizeof(AcdatRegistry));

	size = add_size(size, MAXALIGN(mul_size(max_entries(), sizeof(AcdatEntry))));
	size = add_size(size, MAXALIGN(mul_size(max_states(),
											sizeof(AcdatMachineSlot))));
	size = add_size(size, MAXALIGN(mul_size(ACDAT_MAX_DATABASES,
											sizeof(AcdatDatabase))));
	size = add_size(size, MAXALIGN(mul_size(AcdatBackendSlots(),
											sizeof(AcdatBackendSlot))));
	size = add_size(size, MAXALIGN(mul_size(ACDAT_MAX_JOBS, sizeof(AcdatJob))));
	size = add_size(size, MAXALIGN(mul_size(acdat_max_requests(),
											sizeof(AcdatRequest))));
	size = add_size(size, MAXALIGN(mul_size(acdat_max_stats(),
											sizeof(AcdatStats))));
	size = add_size(size, acdat_hits_size());
	return size;
}

static void
registry_shmem_request(void)
{
	if (prev_shmem_request_hook)
		prev_shmem_request_hook();
	RequestAddinShmemSpace(registry_size());
	RequestNamedLWLockTranche(ACDAT_TRANCHE, 2);
}

/* Lay the arrays out behind the header and give every field a value. */
static void
registry_initialize(AcdatRegistry *registry)
{
	char	   *next = (char *) registry + MAXALIGN(sizeof(AcdatRegistry));
	LWLockPadded *locks;
	int			i;

	memset(registry, 0, registry_size());
	registry->max_entries = max_entries();
	registry->max_states = max_states();
	registry->max_machines = max_states();
	registry->max_backends = AcdatBackendSlots();
	registry->entries = (AcdatEntry *) next;
	next += MAXALIGN(registry->max_entries * sizeof(AcdatEntry));
	registry->machines = (AcdatMachineSlot *) next;
	next += MAXALIGN(registry->max_machines * sizeof(AcdatMachineSlot));
	registry->databases = (AcdatDatabase *) next;
	next += MAXALIGN(ACDAT_MAX_DATABASES * sizeof(AcdatDatabase));
	registry->backends = (AcdatBackendSlot *) next;
	next += MAXALIGN(registry->max_backends * sizeof(AcdatBackendSlot));
	registry->jobs = (AcdatJob *) next;
	next += MAXALIGN(ACDAT_MAX_JOBS * sizeof(AcdatJob));
	registry->requests = (AcdatRequest *) next;
	next += MAXALIGN(acdat_max_requests() * sizeof(AcdatRequest));
	registry->stats = (AcdatStats *) next;
	next += MAXALIGN(acdat_max_stats() * sizeof(AcdatStats));

	locks = GetNamedLWLockTranche(ACDAT_TRANCHE);
	registry->lock = &locks[0].lock;
	acdat_hits_initialize(registry, next, &locks[1].lock);
	registry->next_serial = 1;
	pg_atomic_init_u64(&registry->changes, 1);
	pg_atomic_init_u32(&registry->launcher_pid, 0);
	pg_atomic_init_u32(&registry->launcher_proc, 0);
	pg_atomic_init_u32(&registry->log.turn, 0);
	pg_atomic_init_u64(&registry->log.current, 0);
	pg_atomic_init_u32(&registry->review_wanted, 0);
#ifdef ACDAT_FAULTS
	pg_atomic_init_u32(&registry->fault.armed, 0);
	pg_atomic_init_u32(&registry->fault.kind, 0);
#endif
	ConditionVariableInit(&registry->changed);
	for (i = 0; i < registry->max_machines; i++)
	{
		pg_atomic_init_u32(&registry->machines[i].mapped, 0);
		pg_atomic_init_u64(&registry->machines[i].last_used, 0);
	}
	for (i = 0; i < registry->max_backends; i++)
	{
		pg_atomic_init_u32(&registry->backends[i].pid, 0);
		pg_atomic_init_u32(&registry->backends[i].mapped, 0);
		pg_atomic_init_u64(&registry->backends[i].log_serial, 0);
	}
	acdat_jobs_initialize(registry);
	acdat_stats_initialize(registry);
}

static void
registry_shmem_startup(void)
{
	bool		found;

	if (prev_shmem_startup_hook)
		prev_shmem_startup_hook();
	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	acdat_registry = ShmemInitStruct("acdat_bgw registry", registry_size(),
									 &found);
	if (!found)
		registry_initialize(acdat_registry);
	LWLockRelease(AddinShmemInitLock);
}

void
acdat_registry_install_hooks(void)
{
	prev_shmem_request_hook = shmem_request_hook;
	shmem_request_hook = registry_shmem_request;
	prev_shmem_startup_hook = shmem_startup_hook;
	shmem_startup_hook = registry_shmem_startup;
}

void
acdat_wake_launcher(void)
{
	if (pg_atomic_read_u32(&acdat_registry->launcher_pid) != 0)
		ProcSendSignal((int) pg_atomic_read_u32(&acdat_registry->launcher_proc));
}

void
acdat_request_review(void)
{
	pg_atomic_write_u32(&acdat_registry->review_wanted, 1);
	acdat_wake_launcher();
}

uint32
acdat_name_hash(const char *name)
{
	return hash_bytes((const unsigned char *) name, (int) strlen(name));
}

void
acdat_registry_changed(void)
{
	Assert(LWLockHeldByMeInMode(acdat_registry->lock, LW_EXCLUSIVE));
	pg_atomic_fetch_add_u64(&acdat_registry->changes, 1);
}

/*
 * The order of the tests is that of heap visibility: one's own transaction
 * is not in one's own snapshot, and a transaction can be in the commit log
 * and yet in progress for the snapshot.
 */
bool
acdat_entry_visible(const AcdatEntry *entry, Snapshot snapshot)
{
	if (entry->xid_state == ACDAT_XID_FROZEN)
		return true;
	if (TransactionIdIsCurrentTransactionId(entry->xid))
		return snapshot == NULL || entry->cid < snapshot->curcid;
	if (snapshot != NULL)
	{
		if (XidInMVCCSnapshot(entry->xid, snapshot))
			return false;
	}
	else
		return acdat_entry_committed(entry);
	return entry->xid_state == ACDAT_XID_COMMITTED ||
		TransactionIdDidCommit(entry->xid);
}

bool
acdat_entry_committed(const AcdatEntry *entry)
{
	if (entry->xid_state != ACDAT_XID_OPEN)
		return true;
	return !TransactionIdIsInProgress(entry->xid) &&
		TransactionIdDidCommit(entry->xid);
}

static bool
same_dictionary(const AcdatEntry *entry, Oid database,
				const pg_uuid_t *dictionary)
{
	return entry->serial != 0 && entry->database == database &&
		memcmp(&entry->dictionary, dictionary, sizeof(pg_uuid_t)) == 0;
}

AcdatEntry *
acdat_newest_entry(Oid database, const pg_uuid_t *dictionary,
				   Snapshot snapshot)
{
	AcdatEntry *newest = NULL;
	int			i;

	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		AcdatEntry *entry = &acdat_registry->entries[i];

		if (same_dictionary(entry, database, dictionary) &&
			(newest == NULL || acdat_entry_follows(entry, newest)) &&
			acdat_entry_visible(entry, snapshot))
			newest = entry;
	}
	return newest;
}

AcdatEntry *
acdat_find_by_name(Oid database, const char *name, Snapshot snapshot)
{
	uint32		hash = acdat_name_hash(name);
	AcdatEntry *found = NULL;
	int			i;

	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		AcdatEntry *entry = &acdat_registry->entries[i];

		if (entry->serial == 0 || entry->name_hash != hash ||
			entry->dropped ||
			(!entry->cluster && entry->database != database) ||
			strcmp(NameStr(entry->name), name) != 0)
			continue;
		if (acdat_newest_entry(entry->database, &entry->dictionary,
							   snapshot) != entry)
			continue;

		/*
		 * A cluster-wide name goes first.  Should two databases claim one
		 * (a database cloned from a template brings copies of the rows), the
		 * older database owns it.
		 */
		if (found == NULL || (entry->cluster && !found->cluster) ||
			(entry->cluster && entry->database < found->database))
			found = entry;
	}
	return found;
}

/* A sequence number behind every known state of the entry's dictionary. */
static int64
next_sequence(const AcdatEntry *entry)
{
	int64		next = entry->revision;
	int			i;

	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		AcdatEntry *other = &acdat_registry->entries[i];

		if (same_dictionary(other, entry->database, &entry->dictionary) &&
			other->sequence >= next)
			next = other->sequence + 1;
	}
	return next;
}

/* Entries in use that are no ends. */
static int
states_used(void)
{
	int			count = 0;
	int			i;

	for (i = 0; i < acdat_registry->entries_used; i++)
		count += acdat_registry->entries[i].serial != 0 &&
			!acdat_registry->entries[i].dropped;
	return count;
}

AcdatEntry *
acdat_entry_insert(const AcdatEntry *entry)
{
	AcdatRegistry *registry = acdat_registry;
	AcdatEntry *slot = NULL;
	int			i;

	if (!entry->dropped && states_used() >= registry->max_states)
		return NULL;
	for (i = 0; i < registry->max_entries && slot == NULL; i++)
	{
		if (registry->entries[i].serial == 0)
			slot = &registry->entries[i];
	}
	if (slot == NULL)
		return NULL;
	*slot = *entry;
	slot->serial = 0;
	if (slot->sequence == 0)
		slot->sequence = next_sequence(slot);
	slot->stats = slot->dropped ? -1 :
		acdat_stats_claim(slot->database, &slot->dictionary);
	slot->serial = registry->next_serial++;
	slot->since = GetCurrentTimestamp();
	slot->name_hash = acdat_name_hash(NameStr(slot->name));
	if (slot->machine >= 0)
		registry->machines[slot->machine].entries++;
	if (i > registry->entries_used)
		registry->entries_used = i;
	if (slot->xid_state != ACDAT_XID_FROZEN &&
		(!TransactionIdIsValid(registry->newest_xid) ||
		 TransactionIdFollows(slot->xid, registry->newest_xid)))
		registry->newest_xid = slot->xid;
	acdat_registry_changed();
	return slot;
}

AcdatEntry *
acdat_entry_by_serial(uint64 serial)
{
	int			i;

	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		if (acdat_registry->entries[i].serial == serial)
			return &acdat_registry->entries[i];
	}
	return NULL;
}

AcdatLoadState
acdat_state_after_error(int sqlerrcode)
{
	switch (ERRCODE_TO_CATEGORY(sqlerrcode))
	{
		case ERRCODE_INSUFFICIENT_RESOURCES:
		case ERRCODE_OPERATOR_INTERVENTION:
		case ERRCODE_SYSTEM_ERROR:
			return ACDAT_EVICTED;
		default:
			return ACDAT_FAILED;
	}
}

void
acdat_entry_free(AcdatEntry *entry)
{
	if (entry->machine >= 0)
		acdat_registry->machines[entry->machine].entries--;
	acdat_stats_release(entry->stats);
	entry->serial = 0;
	entry->machine = -1;
	acdat_registry_changed();
}

int
acdat_machine_insert(dsm_segment *segment, Size size, const AcdatEntry *entry)
{
	dsm_handle	handle = dsm_segment_handle(segment);
	int			i;

	for (i = 0; i < acdat_registry->max_machines; i++)
	{
		AcdatMachineSlot *slot = &acdat_registry->machines[i];

		if (slot->serial != 0)
			continue;
		slot->serial = acdat_registry->next_serial++;
		slot->handle = handle;
		slot->main_address = (handle & 1) == 0 ? NULL :
			dsm_segment_address(segment);
		slot->size = size;
		slot->entries = 0;
		slot->retired = false;
		slot->database = entry->database;
		slot->dictionary = entry->dictionary;
		slot->version = entry->version;
		slot->stats = acdat_stats_claim(slot->database, &slot->dictionary);
		pg_atomic_write_u64(&slot->last_used, (uint64) GetCurrentTimestamp());
		acdat_registry->memory_used += size;
		return i;
	}
	return -1;
}

void
acdat_machine_free(AcdatMachineSlot *slot)
{
	acdat_registry->memory_used -= slot->size;
	acdat_stats_release(slot->stats);
	slot->serial = 0;
}

AcdatDatabase *
acdat_database_slot(Oid database, bool create)
{
	AcdatDatabase *free_slot = NULL;
	int			i;

	for (i = 0; i < ACDAT_MAX_DATABASES; i++)
	{
		AcdatDatabase *slot = &acdat_registry->databases[i];

		if (slot->database == database)
			return slot;
		if (free_slot == NULL && slot->database == InvalidOid)
			free_slot = slot;
	}
	if (!create || free_slot == NULL)
		return NULL;
	memset(free_slot, 0, sizeof(AcdatDatabase));
	free_slot->database = database;
	return free_slot;
}

bool
acdat_first_loads_done(void)
{
	bool		done;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	done = acdat_registry->databases_known;
	for (i = 0; i < ACDAT_MAX_DATABASES && done; i++)
	{
		AcdatDatabase *slot = &acdat_registry->databases[i];

		done = slot->database == InvalidOid || slot->requested == 0 ||
			slot->finished > 0;
	}
	LWLockRelease(acdat_registry->lock);
	return done;
}

bool
acdat_load_done(Oid database, uint64 number)
{
	AcdatDatabase *slot;
	bool		done;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	slot = acdat_database_slot(database, false);
	done = (slot == NULL || slot->finished >= number);
	LWLockRelease(acdat_registry->lock);
	return done;
}

uint64
acdat_request_load(Oid database)
{
	AcdatDatabase *slot;
	uint64		number = 0;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	slot = acdat_database_slot(database, true);
	if (slot != NULL)
	{
		/* A load that has not begun yet will see what we want it to see. */
		if (slot->requested == slot->started)
			slot->requested++;
		number = slot->requested;
	}
	LWLockRelease(acdat_registry->lock);
	acdat_wake_launcher();
	return number;
}

void
acdat_registry_full_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("too many states of dictionaries"),
			 errdetail("The registry has room for %d, superseded ones that an open snapshot still needs included.",
					   acdat_registry->max_states),
			 errhint("Increase acdat_bgw.max_dictionaries, or end long-running transactions.")));
}
