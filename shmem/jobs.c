/*-------------------------------------------------------------------------
 *
 * jobs.c
 *	  Compile jobs, the requester's side and the upkeep of slots.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/timestamp.h"

#include "shmem/fault.h"
#include "shmem/jobs.h"
#include "shmem/mapping.h"
#include "shmem/settings.h"
#include "shmem/shmem_compat.h"

/* How often a waiting requester looks whether its job can still be run. */
#define ACDAT_JOB_POLL_MS 1000

/* The job this backend waits for, for its exit callback. */
static AcdatJob *waited_job = NULL;
static bool exit_callback_registered = false;

void
acdat_jobs_initialize(AcdatRegistry *registry)
{
	int			i;

	for (i = 0; i < ACDAT_MAX_JOBS; i++)
		ConditionVariableInit(&registry->jobs[i].done);
}

/*
 * Give up waiting: the runner frees a job that runs, everything else is
 * freed here.
 */
static void
abandon_job(AcdatJob *job)
{
	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	job->cancelled = true;
	job->waited_for = false;
	if (job->state != ACDAT_JOB_RUNNING)
		job->state = ACDAT_JOB_FREE;
	LWLockRelease(acdat_registry->lock);
	waited_job = NULL;
	ConditionVariableBroadcast(&acdat_registry->changed);
}

static void
requester_exit(int code, Datum arg)
{
	if (waited_job != NULL)
		abandon_job(waited_job);
}

/*
 * The segment that carries options and pack to the runner.  The mapping
 * belongs to the caller's resource owner.
 */
static dsm_segment *
make_input(const acdat_options *options, const void *pack, Size pack_len)
{
	Size		size = add_size(sizeof(AcdatJobInput),
								add_size(options->ignore_len, pack_len));
	dsm_segment *segment = dsm_create(size, 0);
	AcdatJobInput *input = dsm_segment_address(segment);
	char	   *data = (char *) (input + 1);

	input->options = *options;
	input->options.ignore = NULL;
	input->ignore_len = options->ignore_len;
	input->pack_len = pack_len;
	input->max_pattern_bytes = acdat_guc_max_pattern_bytes;
	if (options->ignore_len > 0)
		memcpy(data, options->ignore, options->ignore_len);
	memcpy(data + options->ignore_len, pack, pack_len);
	return segment;
}

/* Take a free slot, waiting for one if need be, and submit the job in it. */
static AcdatJob *
submit_job(const AcdatEntry *entry, uint64 complete_serial,
		   dsm_segment *input, bool wait)
{
	AcdatRegistry *registry = acdat_registry;
	AcdatJob   *job = NULL;

	ConditionVariablePrepareToSleep(&registry->changed);
	for (;;)
	{
		int			i;

		LWLockAcquire(registry->lock, LW_EXCLUSIVE);
		for (i = 0; i < ACDAT_MAX_JOBS && job == NULL; i++)
		{
			if (registry->jobs[i].state == ACDAT_JOB_FREE)
				job = &registry->jobs[i];
		}
		if (job != NULL)
			break;
		LWLockRelease(registry->lock);
		(void) ConditionVariableTimedSleep(&registry->changed,
										   ACDAT_JOB_POLL_MS,
										   acdat_wait_event(ACDAT_WAIT_JOB_SLOT));
	}
	job->state = ACDAT_JOB_SUBMITTED;
	job->serial = registry->next_serial++;
	job->waited_for = wait;
	job->cancelled = false;
	job->runner_pid = 0;
	job->compiler_started = false;
	job->input = dsm_segment_handle(input);
	job->input_size = dsm_segment_map_length(input);
	job->input_pinned = !wait;
	job->since = GetCurrentTimestamp();
	job->entry = *entry;
	job->complete_serial = complete_serial;
	job->reserved = 0;
	job->sqlerrcode = 0;
	job->message[0] = job->detail[0] = job->hint[0] = '\0';
	if (wait)
		waited_job = job;
	LWLockRelease(registry->lock);
	ConditionVariableCancelSleep();
	acdat_wake_launcher();
	return job;
}

static void
raise_job_error(const AcdatJob *job)
{
	AcdatJob	copy;

	memcpy(&copy, job, sizeof(AcdatJob));
	abandon_job(waited_job);
	ereport(ERROR,
			(errcode(copy.sqlerrcode),
			 errmsg_internal("%s", copy.message),
			 copy.detail[0] ? errdetail_internal("%s", copy.detail) : 0,
			 copy.hint[0] ? errhint("%s", copy.hint) : 0));
}

/* Raise an error if nobody will ever run the job. */
static void
check_launcher(const AcdatJob *job, TimestampTz start)
{
	if (job->state != ACDAT_JOB_SUBMITTED ||
		pg_atomic_read_u32(&acdat_registry->launcher_pid) != 0 ||
		!TimestampDifferenceExceeds(start, GetCurrentTimestamp(),
									acdat_guc_load_timeout))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the acdat_bgw launcher is not running"),
			 errhint("See the server log; you may need to increase max_worker_processes.")));
}

static void
wait_for_job(AcdatJob *job)
{
	TimestampTz start = GetCurrentTimestamp();

	ConditionVariablePrepareToSleep(&job->done);
	for (;;)
	{
		AcdatJobState state;

		LWLockAcquire(acdat_registry->lock, LW_SHARED);
		state = job->state;
		LWLockRelease(acdat_registry->lock);
		ACDAT_FAULT(publish_waiting);
		if (state == ACDAT_JOB_DONE || state == ACDAT_JOB_FAILED)
			break;
		if (ConditionVariableTimedSleep(&job->done, ACDAT_JOB_POLL_MS,
										acdat_wait_event(ACDAT_WAIT_COMPILE)))
		{
			/* the job may need the room of what we still map */
			acdat_mapping_release_retired();
			check_launcher(job, start);
			acdat_wake_launcher();
		}
	}
	ConditionVariableCancelSleep();
}

void
acdat_job_run(const AcdatEntry *entry, const acdat_options *options,
			  const void *pack, Size pack_len,
			  void (*meanwhile) (void *arg), void *arg,
			  acdat_build_stats *stats)
{
	dsm_segment *input;
	AcdatJob   *job;

	if (!exit_callback_registered)
	{
		before_shmem_exit(requester_exit, (Datum) 0);
		exit_callback_registered = true;
	}
	input = make_input(options, pack, pack_len);
	ACDAT_FAULT(publish_input);
	job = submit_job(entry, 0, input, true);
	PG_TRY();
	{
		ACDAT_FAULT(publish_submitted);
		meanwhile(arg);
		wait_for_job(job);
		ACDAT_FAULT(publish_compiled);
	}
	PG_CATCH();
	{
		abandon_job(job);
		PG_RE_THROW();
	}
	PG_END_TRY();

	dsm_detach(input);
	if (job->state == ACDAT_JOB_FAILED)
		raise_job_error(job);
	*stats = job->stats;
	abandon_job(job);
}

static void
unpin_input(int code, Datum handle)
{
	dsm_unpin_segment((dsm_handle) DatumGetUInt32(handle));
}

void
acdat_job_submit_load(const AcdatEntry *entry, const acdat_options *options,
					  const void *pack, Size pack_len)
{
	dsm_segment *input = make_input(options, pack, pack_len);

	/* a loader that is told to stop while it waits for a slot just ends */
	dsm_pin_segment(input);
	PG_ENSURE_ERROR_CLEANUP(unpin_input, UInt32GetDatum(dsm_segment_handle(input)));
	{
		ACDAT_FAULT(load_input);
		(void) submit_job(entry, entry->serial, input, false);
	}
	PG_END_ENSURE_ERROR_CLEANUP(unpin_input, UInt32GetDatum(dsm_segment_handle(input)));
	dsm_detach(input);
}

/*
 * What is left of jobs whose runner is gone: a job that was RUNNING in a
 * launcher that ended is FAILED by its exit callback, so nothing but
 * unfinished business of requesters remains here.
 */
void
acdat_jobs_sweep(void)
{
	dsm_handle	unpin[ACDAT_MAX_JOBS];
	int			count = 0;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < ACDAT_MAX_JOBS; i++)
	{
		AcdatJob   *job = &acdat_registry->jobs[i];

		if (job->waited_for || job->state == ACDAT_JOB_FREE ||
			job->state == ACDAT_JOB_RUNNING ||
			(job->state == ACDAT_JOB_SUBMITTED && !job->cancelled))
			continue;
		if (job->input_pinned)
			unpin[count++] = job->input;
		job->input_pinned = false;
		job->state = ACDAT_JOB_FREE;
	}
	LWLockRelease(acdat_registry->lock);
	for (i = 0; i < count; i++)
		dsm_unpin_segment(unpin[i]);
	if (count > 0)
		ConditionVariableBroadcast(&acdat_registry->changed);
}
