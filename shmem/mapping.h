/*-------------------------------------------------------------------------
 *
 * mapping.h
 *	  The machines this process maps.
 *
 * Lifetimes
 *	A mapping is made at the first look-up that chooses its machine and kept
 *	for the life of the process, so that the next statement finds it; it is
 *	given back when the machine is retired, at the next look-up or end of a
 *	transaction (an idle process is woken for that), or at process exit.
 *	A retired machine is one that was superseded for every snapshot, or
 *	evicted.  Who keeps a reference from one call to the next, as a
 *	set-returning function does, must pin the mapping meanwhile.
 *
 *	Machines in operating system segments are mapped read-only for good; in
 *	the main shared memory region (min_dynamic_shared_memory) protection is
 *	by discipline, since pages are shared with other memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_MAPPING_H
#define ACDAT_MAPPING_H

#include "postgres.h"

#include "storage/dsm.h"

#include "shmem/hits.h"
#include "shmem/registry.h"
#include "shmem/settings.h"
#include "shmem/stats.h"
#include "src/core/acdat.h"

/*
 * A machine ready to scan with, shared or private.  scan is for calls that
 * finish before they return; it is not reentrant, so a set-returning
 * function allocates its own of acdat_scan_size() bytes.  counts is of this
 * process: who scans adds to it; those of a private machine go nowhere.
 */
typedef struct AcdatMachineRef
{
	acdat_machine machine;
	acdat_machine_info info;
	acdat_scan *scan;
	AcdatCounts *counts;
	int32		stats;			/* index of shared counters, -1 = private */
} AcdatMachineRef;

typedef struct AcdatMapping
{
	uint64		serial;			/* of the machine; hash key */
	int			slot;			/* index of its machine slot */
	int			pins;			/* references kept beyond one call */
	dsm_segment *segment;		/* NULL until attached */
	AcdatCounts counts;			/* not added up yet */
	AcdatMachineRef ref;		/* ref.scan is NULL until complete */
} AcdatMapping;

/*
 * Claim a machine slot for mapping: the slot cannot be freed from now on.
 * registry->lock must be held (shared suffices); no error is raised.  Must
 * be followed by acdat_mapping_complete().  NULL if the machine is mapped
 * already (then *existing is set).
 */
extern void acdat_mapping_prepare(void);
extern AcdatMapping *acdat_mapping_claim(int slot);

/* Attach and open a claimed machine; raises on failure, giving it back. */
extern void acdat_mapping_complete(AcdatMapping *mapping);

/* Note that a statement uses a mapped machine, for eviction. */
extern void acdat_mapping_touch(const AcdatMachineRef *ref);

/* Where calls with private machines are counted, for nobody. */
extern AcdatCounts acdat_counts_of_nobody;

/* Bytes scanned, with some for each call, until acdat_counts_due() is called. */
extern int64 acdat_counts_left;
extern void acdat_counts_due(void);

/*
 * Count a call, which the look-up of the machine does; and what it scans or
 * finds.
 */
static inline void
acdat_count_call(const AcdatMachineRef *ref)
{
	ref->counts->calls++;
}

static inline void
acdat_count_scan(const AcdatMachineRef *ref, Size bytes, uint64 matches)
{
	ref->counts->bytes += bytes;
	ref->counts->matches += matches;
	acdat_counts_left -= (int64) bytes + 64;
	if (unlikely(acdat_counts_left < 0))
		acdat_counts_due();
}

/* Are hits of its patterns counted? */
static inline bool
acdat_tracks_hits(const AcdatMachineRef *ref)
{
	return unlikely(acdat_guc_track_hits) && ref->stats >= 0;
}

static inline void
acdat_count_hit(const AcdatMachineRef *ref, uint32 pattern)
{
	if (acdat_tracks_hits(ref))
		acdat_hits_count(ref->stats, acdat_pattern_id(&ref->machine, pattern));
}

/* Add up in shared memory what this process counted.  Never raises. */
extern void acdat_mapping_flush_counts(void);

/* Keep a mapping, and what ref points to, over several calls; undo. */
extern void acdat_mapping_pin(const AcdatMachineRef *ref);
extern void acdat_mapping_unpin(const AcdatMachineRef *ref);

/* Give back what is retired and not pinned.  Never raises. */
extern void acdat_mapping_release_retired(void);

#endif							/* ACDAT_MAPPING_H */
