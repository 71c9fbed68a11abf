/*-------------------------------------------------------------------------
 *
 * sweep.c
 *	  Settling transactions, superseding entries, freeing machines.
 *
 * States of an entry by its transaction:
 *
 *		OPEN ---- committed ----> COMMITTED -- no older snapshot --> FROZEN
 *		  |                                                            |
 *		  +--- aborted: freed       older entries of its dictionary: freed
 *
 * States of a machine: named by entries -> retired (no entry, mapped > 0) ->
 * freed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "miscadmin.h"
#include "storage/procarray.h"

#include "shmem/fault.h"
#include "shmem/log_machine.h"
#include "shmem/registry.h"
#include "shmem/requests.h"
#include "shmem/shmem_compat.h"
#include "shmem/sweep.h"

/* Is any backend's snapshot possibly older than the end of xid? */
static bool
snapshot_older_than(TransactionId xid)
{
	VirtualTransactionId *older;
	int			count;

	older = GetCurrentVirtualXIDs(xid, true, true, 0, &count);
	pfree(older);
	return count > 0;
}

/*
 * Advance the state of every entry whose transaction ended.  Entries are
 * looked at one by one under a short lock, because asking the server about a
 * transaction may read the commit log.
 */
static bool
settle_entries(void)
{
	AcdatRegistry *registry = acdat_registry;
	bool		open = false;
	int			i;

	for (i = 0; i < registry->entries_used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];
		AcdatEntry	seen;
		bool		aborted = false;

		LWLockAcquire(registry->lock, LW_SHARED);
		seen = *entry;
		LWLockRelease(registry->lock);
		if (seen.serial == 0 || seen.xid_state == ACDAT_XID_FROZEN)
			continue;

		/* The order of the tests matters: in progress before committed. */
		if (seen.xid_state == ACDAT_XID_OPEN)
		{
			if (TransactionIdIsInProgress(seen.xid))
			{
				open = true;
				continue;
			}
			if (TransactionIdDidCommit(seen.xid))
				seen.xid_state = ACDAT_XID_COMMITTED;
			else
				aborted = true;
		}
		if (!aborted && !snapshot_older_than(seen.xid))
			seen.xid_state = ACDAT_XID_FROZEN;
		else if (!aborted)
			open = true;
		ACDAT_FAULT(sweep_settled);

		LWLockAcquire(registry->lock, LW_EXCLUSIVE);
		if (entry->serial == seen.serial)
		{
			/* another process may have seen more */
			if (aborted)
				acdat_entry_free(entry);
			else if (entry->xid_state < seen.xid_state)
				entry->xid_state = seen.xid_state;
		}
		LWLockRelease(registry->lock);
	}
	return open;
}

/* What sorting the entries by dictionary needs to know of each. */
typedef struct EntryKey
{
	int			index;
	uint64		serial;
	Oid			database;
	pg_uuid_t	dictionary;
	int64		sequence;
	bool		frozen;
	bool		dropped;
} EntryKey;

/* By dictionary, newest state first. */
static int
compare_keys(const void *a, const void *b)
{
	const EntryKey *x = a;
	const EntryKey *y = b;
	int			order;

	if (x->database != y->database)
		return x->database < y->database ? -1 : 1;
	order = memcmp(&x->dictionary, &y->dictionary, sizeof(pg_uuid_t));
	if (order != 0)
		return order;
	if (x->sequence != y->sequence)
		return x->sequence > y->sequence ? -1 : 1;
	return x->serial > y->serial ? -1 : 1;
}

/* The entries in use, sorted, outside the lock; returns their number. */
static int
sorted_keys(EntryKey *keys)
{
	AcdatRegistry *registry = acdat_registry;
	int			count = 0;
	int			i;

	LWLockAcquire(registry->lock, LW_SHARED);
	for (i = 0; i < registry->entries_used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];
		EntryKey   *key = &keys[count];

		if (entry->serial == 0)
			continue;
		key->index = i;
		key->serial = entry->serial;
		key->database = entry->database;
		key->dictionary = entry->dictionary;
		key->sequence = entry->sequence;
		key->frozen = (entry->xid_state == ACDAT_XID_FROZEN);
		key->dropped = entry->dropped;
		count++;
	}
	LWLockRelease(registry->lock);
	qsort(keys, count, sizeof(EntryKey), compare_keys);
	return count;
}

/* Is this the first, hence newest, state of its dictionary in sorted keys? */
static bool
begins_dictionary(const EntryKey *keys, int i)
{
	return i == 0 || keys[i].database != keys[i - 1].database ||
		memcmp(&keys[i].dictionary, &keys[i - 1].dictionary,
			   sizeof(pg_uuid_t)) != 0;
}

/*
 * List the entries that can go: those with a frozen successor, and the
 * frozen ends of dictionaries.  Sorting keeps this near-linear; the caller
 * checks serials before it acts.
 */
static int
list_dead_entries(EntryKey *keys)
{
	bool		superseded = false;
	int			count = sorted_keys(keys);
	int			dead = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		EntryKey	key = keys[i];

		if (begins_dictionary(keys, i))
			superseded = false;
		if (superseded || (key.frozen && key.dropped))
			keys[count + dead++] = key;
		superseded = superseded || key.frozen;
	}
	memmove(keys, keys + count, dead * sizeof(EntryKey));
	return dead;
}

/*
 * Free what can go, recompute newest_xid, retire machines nobody names.
 */
static void
free_entries(void)
{
	AcdatRegistry *registry = acdat_registry;
	EntryKey   *keys = palloc(2 * registry->max_entries * sizeof(EntryKey));
	int			dead = list_dead_entries(keys);
	int			i;

	ACDAT_FAULT(sweep_listed);
	LWLockAcquire(registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < dead; i++)
	{
		AcdatEntry *entry = &registry->entries[keys[i].index];

		if (entry->serial == keys[i].serial)
			acdat_entry_free(entry);
	}
	registry->newest_xid = InvalidTransactionId;
	for (i = 0; i < registry->entries_used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];

		if (entry->serial != 0 && entry->xid_state != ACDAT_XID_FROZEN &&
			(!TransactionIdIsValid(registry->newest_xid) ||
			 TransactionIdFollows(entry->xid, registry->newest_xid)))
			registry->newest_xid = entry->xid;
	}
	while (registry->entries_used > 0 &&
		   registry->entries[registry->entries_used - 1].serial == 0)
		registry->entries_used--;
	for (i = 0; i < registry->max_machines; i++)
	{
		AcdatMachineSlot *slot = &registry->machines[i];

		if (slot->serial != 0 && !slot->retired && slot->entries == 0)
		{
			acdat_registry_changed();
			slot->retired = true;
		}
	}
	LWLockRelease(registry->lock);
	pfree(keys);
}

bool
acdat_free_machines(void)
{
	AcdatRegistry *registry = acdat_registry;
	dsm_handle *handles = palloc(registry->max_machines * sizeof(dsm_handle));
	bool		mapped = false;
	int			count = 0;
	int			i;

	LWLockAcquire(registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < registry->max_machines; i++)
	{
		AcdatMachineSlot *slot = &registry->machines[i];

		if (slot->serial == 0 || !slot->retired)
			continue;
		if (pg_atomic_read_u32(&slot->mapped) > 0)
		{
			mapped = true;
			continue;
		}
		handles[count++] = slot->handle;
		acdat_machine_free(slot);
	}
	LWLockRelease(registry->lock);
	if (count > 0)
		ACDAT_FAULT(sweep_freed);
	for (i = 0; i < count; i++)
		dsm_unpin_segment(handles[i]);
	pfree(handles);
	return mapped;
}

void
acdat_wake_mappers(void)
{
	int			i;

	for (i = 0; i < acdat_registry->max_backends; i++)
	{
		AcdatBackendSlot *slot = &acdat_registry->backends[i];

		if (pg_atomic_read_u32(&slot->mapped) > 0)
			acdat_send_catchup((pid_t) pg_atomic_read_u32(&slot->pid), i);
	}
}

bool
acdat_sweep(void)
{
	bool		open = settle_entries();
	bool		mapped;

	acdat_log_machine_choose();
	free_entries();
	ACDAT_FAULT(sweep_retired);
	mapped = acdat_free_machines();
	ACDAT_FAULT(sweep_waking);
	if (mapped)
		acdat_wake_mappers();
	return open || mapped;
}

void
acdat_make_room(void)
{
	AcdatRegistry *registry = acdat_registry;
	int			states = 0;
	int			ends = 0;
	int			i;

	LWLockAcquire(registry->lock, LW_SHARED);
	for (i = 0; i < registry->entries_used; i++)
	{
		if (registry->entries[i].serial == 0)
			continue;
		if (registry->entries[i].dropped)
			ends++;
		else
			states++;
	}
	LWLockRelease(registry->lock);
	if (states >= registry->max_states ||
		states + ends >= registry->max_entries)
		(void) acdat_sweep();
}

int
acdat_count_dictionaries(void)
{
	EntryKey   *keys = palloc(acdat_registry->max_entries * sizeof(EntryKey));
	int			count = sorted_keys(keys);
	int			dictionaries = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		if (begins_dictionary(keys, i) && !keys[i].dropped)
			dictionaries++;
	}
	pfree(keys);
	return dictionaries;
}

void
acdat_purge_database(Oid database)
{
	AcdatDatabase *slot;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < acdat_registry->entries_used; i++)
	{
		AcdatEntry *entry = &acdat_registry->entries[i];

		if (entry->serial != 0 && entry->database == database)
			acdat_entry_free(entry);
	}
	slot = acdat_database_slot(database, false);
	if (slot != NULL)
		slot->database = InvalidOid;
	LWLockRelease(acdat_registry->lock);
	acdat_requests_purge(database);
}
