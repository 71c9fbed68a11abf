/*-------------------------------------------------------------------------
 *
 * jobs.h
 *	  Compile jobs: how patterns reach the process that compiles them.
 *
 * Lifetimes
 *	A job slot goes FREE -> SUBMITTED (by the requester: a publishing
 *	backend or a loader) -> RUNNING (by the launcher or a compiler it
 *	started) -> DONE or FAILED (by that process) -> FREE.
 *
 *	The last step belongs to the requester while one waits, else to the
 *	process that runs the job, else to the launcher.  A requester that stops
 *	waiting sets cancelled under the lock: the runner then frees the slot,
 *	or the launcher does if nobody runs it.  A runner that dies marks its
 *	job FAILED in a before_shmem_exit callback.
 *
 *	The segment with the input is made by the requester.  While it waits, its
 *	own mapping keeps the segment alive.  A loader does not wait: it pins the
 *	segment (input_pinned), and whoever frees the slot unpins it.
 *
 * Lock order
 *	registry->lock protects every field unless said otherwise.  DSM calls are
 *	made without it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_JOBS_H
#define ACDAT_JOBS_H

#include "postgres.h"

#include "storage/condition_variable.h"

#include "shmem/registry.h"
#include "src/core/acdat.h"

/* Jobs that can be queued at a time; more requesters wait for a slot. */
#define ACDAT_MAX_JOBS 32

/* A pack below this size is compiled by the launcher itself. */
#define ACDAT_SMALL_JOB_BYTES (1024 * 1024)

typedef enum AcdatJobState
{
	ACDAT_JOB_FREE,
	ACDAT_JOB_SUBMITTED,
	ACDAT_JOB_RUNNING,
	ACDAT_JOB_DONE,
	ACDAT_JOB_FAILED
} AcdatJobState;

/* Head of the input segment; the ignore bytes and the pack follow it. */
typedef struct AcdatJobInput
{
	acdat_options options;		/* ignore is not used, see ignore_len */
	Size		ignore_len;
	Size		pack_len;
	Size		max_pattern_bytes;
} AcdatJobInput;

typedef struct AcdatJob
{
	AcdatJobState state;
	uint64		serial;			/* of this use of the slot */
	bool		waited_for;		/* a requester waits and will free the slot */
	bool		cancelled;		/* the result is not wanted any more */
	int			runner_pid;		/* 0 = none yet */
	bool		compiler_started;	/* a compiler of its own was asked for */
	dsm_handle	input;
	Size		input_size;
	bool		input_pinned;
	TimestampTz since;			/* of this state */

	/*
	 * The entry to make (publish), or the serial of the ACDAT_LOADING entry
	 * to complete (load).
	 */
	AcdatEntry	entry;
	uint64		complete_serial;	/* 0: insert entry */

	Size		reserved;		/* counted in registry->memory_reserved */

	/* result */
	acdat_build_stats stats;
	int			sqlerrcode;
	char		message[ACDAT_ERROR_BYTES];
	char		detail[ACDAT_ERROR_BYTES];
	char		hint[ACDAT_ERROR_BYTES];

	ConditionVariable done;		/* broadcast when DONE or FAILED is reached */
} AcdatJob;

extern void acdat_jobs_initialize(AcdatRegistry *registry);

/*
 * Publish: hand a pack over, call meanwhile(arg), wait until the pack is
 * compiled and entered, and return; raises the job's error.  Should meanwhile
 * raise one, the job is abandoned.  stats is a result.
 */
extern void acdat_job_run(const AcdatEntry *entry, const acdat_options *options,
						  const void *pack, Size pack_len,
						  void (*meanwhile) (void *arg), void *arg,
						  acdat_build_stats *stats);

/*
 * Load: hand a pack over for the entry with that serial (ACDAT_LOADING) and
 * return at once; its outcome shows in the entry.
 */
extern void acdat_job_submit_load(const AcdatEntry *entry,
								  const acdat_options *options,
								  const void *pack, Size pack_len);

/* ---- for the launcher and the compilers ---- */

/* Process a job that is SUBMITTED and ours; never raises for its faults. */
extern void acdat_job_execute(AcdatJob *job);

/* Free slots nobody cares for, fail those whose runner is gone. */
extern void acdat_jobs_sweep(void);

#endif							/* ACDAT_JOBS_H */
