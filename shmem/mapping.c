/*-------------------------------------------------------------------------
 *
 * mapping.c
 *	  The machines this process maps.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <sys/mman.h>
#include <unistd.h>

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "shmem/core_support.h"
#include "shmem/fault.h"
#include "shmem/mapping.h"
#include "shmem/shmem_compat.h"

/* Mappings of this process; NULL elements are spare. */
static AcdatMapping **mappings = NULL;
static int	mappings_size = 0;
static AcdatMapping *spare = NULL;
static uint64 changes_checked = 0;

/* How often the clock is looked at, and counts are added up, by a statement. */
#define ACDAT_COUNTS_BYTES (1024 * 1024)
#define ACDAT_COUNTS_US 1000000

AcdatCounts acdat_counts_of_nobody;
int64		acdat_counts_left = ACDAT_COUNTS_BYTES;
static TimestampTz counts_flushed = 0;

static void
flush_counts(AcdatMapping *mapping)
{
	if (mapping->counts.calls > 0 || mapping->counts.bytes > 0 ||
		mapping->counts.matches > 0)
		acdat_stats_add(acdat_registry->machines[mapping->slot].stats,
						&mapping->counts);
}

void
acdat_mapping_flush_counts(void)
{
	int			i;

	for (i = 0; i < mappings_size; i++)
	{
		if (mappings[i] != NULL)
			flush_counts(mappings[i]);
	}
	acdat_hits_flush();
}

void
acdat_counts_due(void)
{
	TimestampTz now = GetCurrentTimestamp();

	acdat_counts_left = ACDAT_COUNTS_BYTES;
	if (now - counts_flushed < ACDAT_COUNTS_US && now >= counts_flushed)
		return;
	counts_flushed = now;
	acdat_mapping_flush_counts();
}

/* Publish how many segments this process maps, for the launcher. */
static void
count_mapped(int delta)
{
	AcdatBackendSlot *slot;

	if (MyProc == NULL || AcdatMyBackendIndex() < 0 ||
		AcdatMyBackendIndex() >= acdat_registry->max_backends)
		return;
	slot = &acdat_registry->backends[AcdatMyBackendIndex()];
	pg_atomic_write_u32(&slot->pid, (uint32) MyProcPid);
	pg_atomic_write_u32(&slot->mapped,
						pg_atomic_read_u32(&slot->mapped) + delta);
}

/* Give a mapping back, whatever stage it reached.  Never raises. */
static void
release_mapping(int index)
{
	AcdatMapping *mapping = mappings[index];
	AcdatMachineSlot *slot = &acdat_registry->machines[mapping->slot];

	mappings[index] = NULL;
	flush_counts(mapping);
	acdat_hits_flush();
	if (mapping->segment != NULL)
		dsm_detach(mapping->segment);
	ACDAT_FAULT(map_released);
	count_mapped(-1);
	if (pg_atomic_sub_fetch_u32(&slot->mapped, 1) == 0)
	{
		/* the launcher frees it, and a compile job may wait for the room */
		acdat_wake_launcher();
		ConditionVariableBroadcast(&acdat_registry->changed);
	}

	/* at exit somebody may still want to unpin it */
	if (mapping->pins > 0)
		return;
	if (mapping->ref.scan != NULL)
		pfree(mapping->ref.scan);
	pfree(mapping);
}

static void
release_all(int code, Datum arg)
{
	int			i;

	for (i = 0; i < mappings_size; i++)
	{
		if (mappings[i] != NULL)
			release_mapping(i);
	}
}

/*
 * When a transaction ends no scan runs: the moment to let go of what was
 * retired.
 */
static void
mapping_xact_callback(XactEvent event, void *arg)
{
	if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT ||
		event == XACT_EVENT_PARALLEL_COMMIT ||
		event == XACT_EVENT_PARALLEL_ABORT || event == XACT_EVENT_PREPARE)
	{
		acdat_mapping_flush_counts();
		acdat_mapping_release_retired();
	}
}

/* Make sure that a claim needs no allocation. */
void
acdat_mapping_prepare(void)
{
	int			i;

	if (spare == NULL)
		spare = MemoryContextAllocZero(TopMemoryContext, sizeof(AcdatMapping));
	for (i = 0; i < mappings_size; i++)
	{
		if (mappings[i] == NULL)
			return;
	}
	if (mappings_size == 0)
	{
		mappings = MemoryContextAllocZero(TopMemoryContext,
										  8 * sizeof(AcdatMapping *));
		mappings_size = 8;
		before_shmem_exit(release_all, (Datum) 0);
		RegisterXactCallback(mapping_xact_callback, NULL);
		return;
	}
	mappings = repalloc(mappings, 2 * mappings_size * sizeof(AcdatMapping *));
	memset(mappings + mappings_size, 0, mappings_size * sizeof(AcdatMapping *));
	mappings_size *= 2;
}

AcdatMapping *
acdat_mapping_claim(int slot_index)
{
	AcdatMachineSlot *slot = &acdat_registry->machines[slot_index];
	int			vacant = -1;
	int			i;

	for (i = 0; i < mappings_size; i++)
	{
		if (mappings[i] == NULL)
			vacant = i;
		else if (mappings[i]->serial == slot->serial)
			return mappings[i];
	}
	Assert(vacant >= 0 && spare != NULL && !slot->retired);
	spare->serial = slot->serial;
	spare->slot = slot_index;
	spare->ref.counts = &spare->counts;
	spare->ref.stats = slot->stats;
	mappings[vacant] = spare;
	spare = NULL;
	pg_atomic_fetch_add_u32(&slot->mapped, 1);
	count_mapped(+1);
	return mappings[vacant];
}

/*
 * Take write permission away for good.  Segments of the main region have odd
 * handles; their pages may hold other memory.
 */
static void
protect_segment(dsm_segment *segment)
{
	char	   *address = dsm_segment_address(segment);
	Size		length = dsm_segment_map_length(segment);
	long		page = sysconf(_SC_PAGESIZE);

	if ((dsm_segment_handle(segment) & 1) != 0 ||
		page <= 0 || (uintptr_t) address % page != 0)
		return;
	if (mprotect(address, length, PROT_READ) != 0)
		ereport(ERROR,
				(errcode(ERRCODE_SYSTEM_ERROR),
				 errmsg("could not protect shared memory segment: %m")));
}

static void
attach_mapping(AcdatMapping *mapping)
{
	AcdatMachineSlot *slot = &acdat_registry->machines[mapping->slot];
	acdat_status status;
	acdat_hooks hooks = acdat_pg_hooks(TopMemoryContext);

	ACDAT_FAULT(map_claimed);
	mapping->segment = dsm_attach(slot->handle);
	if (mapping->segment == NULL)
		elog(ERROR, "shared memory segment of a dictionary is gone");
	ACDAT_FAULT(map_attached);
	dsm_pin_mapping(mapping->segment);
	protect_segment(mapping->segment);
	status = acdat_open_trusted(&mapping->ref.machine,
								dsm_segment_address(mapping->segment),
								slot->size);
	if (status != ACDAT_OK)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("machine in shared memory is not usable: %s",
						acdat_status_text(status))));
	ACDAT_FAULT(map_opened);
	acdat_machine_describe(&mapping->ref.machine, &mapping->ref.info);
	mapping->ref.scan = MemoryContextAllocHuge(TopMemoryContext,
										   acdat_scan_size(&mapping->ref.machine));
	acdat_scan_init(mapping->ref.scan, &mapping->ref.machine, &hooks);
}

void
acdat_mapping_complete(AcdatMapping *mapping)
{
	if (mapping->ref.scan != NULL)
		return;
	PG_TRY();
	{
		attach_mapping(mapping);
	}
	PG_CATCH();
	{
		int			i;

		for (i = 0; i < mappings_size; i++)
		{
			if (mappings[i] == mapping)
				release_mapping(i);
		}
		PG_RE_THROW();
	}
	PG_END_TRY();
}

/* Resolution of last_used. */
#define ACDAT_USE_RESOLUTION_US 1000000

/* The mapping a reference is part of. */
static AcdatMapping *
mapping_of(const AcdatMachineRef *ref)
{
	return (AcdatMapping *) (uintptr_t) ((const char *) ref -
										 offsetof(AcdatMapping, ref));
}

void
acdat_mapping_pin(const AcdatMachineRef *ref)
{
	mapping_of(ref)->pins++;
}

void
acdat_mapping_unpin(const AcdatMachineRef *ref)
{
	mapping_of(ref)->pins--;
}

void
acdat_mapping_touch(const AcdatMachineRef *ref)
{
	const AcdatMapping *mapping = mapping_of(ref);
	AcdatMachineSlot *slot = &acdat_registry->machines[mapping->slot];
	uint64		now = (uint64) GetCurrentStatementStartTimestamp();

	if (now > pg_atomic_read_u64(&slot->last_used) + ACDAT_USE_RESOLUTION_US)
		pg_atomic_write_u64(&slot->last_used, now);
}

void
acdat_mapping_release_retired(void)
{
	uint64		changes;
	int			i;

	if (mappings_size == 0)
		return;
	changes = pg_atomic_read_u64(&acdat_registry->changes);
	if (changes == changes_checked)
		return;
	changes_checked = changes;
	pg_read_barrier();
	for (i = 0; i < mappings_size; i++)
	{
		/*
		 * The flag only ever goes up while we are counted in mapped, so it
		 * may be read without the lock: at worst the next end of a
		 * transaction sees it.  Whoever sets it advances the change counter
		 * first, so that no remembered look-up outlives the mapping.
		 */
		if (mappings[i] != NULL && mappings[i]->pins > 0)
			changes_checked = 0;	/* look again when it is unpinned */
		else if (mappings[i] != NULL &&
				 *(volatile bool *) &acdat_registry->machines[mappings[i]->slot].retired)
		{
			pg_read_barrier();
			release_mapping(i);
		}
	}
}
