/*-------------------------------------------------------------------------
 *
 * evict.c
 *	  Keeping machines within acdat_bgw.max_memory.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/timestamp.h"

#include "shmem/evict.h"
#include "shmem/fault.h"
#include "shmem/log_machine.h"
#include "shmem/registry.h"
#include "shmem/settings.h"
#include "shmem/shmem_compat.h"
#include "shmem/sweep.h"

/*
 * How long to wait for an evicted machine to be let go by processes that map
 * it; those in the middle of a transaction may take longer than that.
 */
#define ACDAT_EVICT_WAIT_MS 2000

#define ACDAT_EVICT_POLL_MS 200

Size
acdat_memory_limit(void)
{
	return (Size) acdat_guc_max_memory * 1024 * 1024;
}

/* Reserve if there is room.  Lock held exclusively. */
static bool
try_reserve(Size size, Size *reserved, Size *used)
{
	AcdatRegistry *registry = acdat_registry;
	Size		limit = acdat_memory_limit();

	*used = registry->memory_used + registry->memory_reserved;
	if (limit != 0 && (size > limit || *used > limit - size))
		return false;
	registry->memory_reserved += size;
	*reserved = size;
	return true;
}

/* The entry that names a machine, if it can do without.  Lock held. */
static AcdatEntry *
evictable_entry(int machine, const pg_uuid_t *dictionary)
{
	AcdatRegistry *registry = acdat_registry;
	AcdatMachineSlot *slot = &registry->machines[machine];
	int			i;

	if (slot->serial == 0 || slot->retired || slot->entries != 1 ||
		acdat_log_machine_is(machine) ||
		memcmp(&slot->dictionary, dictionary, sizeof(pg_uuid_t)) == 0)
		return NULL;
	for (i = 0; i < registry->entries_used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];

		if (entry->serial == 0 || entry->machine != machine)
			continue;
		if (entry->xid_state == ACDAT_XID_FROZEN &&
			entry->load == ACDAT_READY &&
			acdat_newest_entry(entry->database, &entry->dictionary,
							   NULL) == entry)
			return entry;
		return NULL;
	}
	return NULL;
}

/* Bytes of machines that will be freed once they are let go.  Lock held. */
static Size
retired_bytes(void)
{
	Size		bytes = 0;
	int			i;

	for (i = 0; i < acdat_registry->max_machines; i++)
	{
		AcdatMachineSlot *slot = &acdat_registry->machines[i];

		if (slot->serial != 0 && slot->retired)
			bytes += slot->size;
	}
	return bytes;
}

/*
 * Let go of the machine that was not used for the longest time; false if
 * there is none.  Lock held exclusively.
 */
static bool
evict_one(const pg_uuid_t *dictionary)
{
	AcdatRegistry *registry = acdat_registry;
	AcdatEntry *victim = NULL;
	uint64		oldest = 0;
	int			i;

	for (i = 0; i < registry->max_machines; i++)
	{
		AcdatEntry *entry = evictable_entry(i, dictionary);
		uint64		used = pg_atomic_read_u64(&registry->machines[i].last_used);

		if (entry != NULL && (victim == NULL || used < oldest))
		{
			victim = entry;
			oldest = used;
		}
	}
	if (victim == NULL)
		return false;
	/* before retired: see mapping.c */
	acdat_registry_changed();
	registry->machines[victim->machine].entries--;
	registry->machines[victim->machine].retired = true;
	victim->machine = -1;
	victim->load = ACDAT_EVICTED;
	victim->wanted = false;
	victim->error[0] = '\0';
	return true;
}

bool
acdat_reserve_memory(Size size, const pg_uuid_t *dictionary, bool may_evict,
					 Size *reserved, Size *used)
{
	AcdatRegistry *registry = acdat_registry;
	TimestampTz start = GetCurrentTimestamp();
	Size		limit = acdat_memory_limit();
	bool		last_try = (limit != 0 && size > limit) || !may_evict;
	bool		done;

	ConditionVariablePrepareToSleep(&registry->changed);
	for (;;)
	{
		bool		evicted = false;
		bool		mapped;

		LWLockAcquire(registry->lock, LW_EXCLUSIVE);
		done = try_reserve(size, reserved, used);
		if (!done && !last_try && *used - retired_bytes() + size > limit)
			evicted = evict_one(dictionary);
		LWLockRelease(registry->lock);
		if (done || last_try)
			break;
		if (evicted)
			ACDAT_FAULT(evict_chosen);
		mapped = acdat_free_machines();
		if (evicted && !mapped)
			continue;

		/* what was let go meanwhile may have made the room */
		last_try = !mapped ||
			TimestampDifferenceExceeds(start, GetCurrentTimestamp(),
									   ACDAT_EVICT_WAIT_MS);
		if (last_try)
			continue;
		acdat_wake_mappers();
		if (evicted)
			ConditionVariableBroadcast(&registry->changed);
		(void) ConditionVariableTimedSleep(&registry->changed,
										   ACDAT_EVICT_POLL_MS,
										   acdat_wait_event(ACDAT_WAIT_MEMORY));
	}
	ConditionVariableCancelSleep();
	return done;
}
