/*-------------------------------------------------------------------------
 *
 * compile.c
 *	  Compile jobs, the runner's side: from a pack to a machine in shared
 *	  memory.
 *
 * A runner is the launcher or a compiler process.  It executes none of the
 * users' SQL and reads no table; all it has is the pack.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/memutils.h"

#include "shmem/core_support.h"
#include "shmem/evict.h"
#include "shmem/fault.h"
#include "shmem/jobs.h"
#include "shmem/shmem_compat.h"
#include "shmem/sweep.h"
#include "src/core/pack.h"

/* The job this process runs, for its exit callback. */
static AcdatJob *running_job = NULL;
static bool exit_callback_registered = false;

/* Let go of memory a job reserved; exclusive lock held. */
static void
release_reservation(AcdatJob *job)
{
	acdat_registry->memory_reserved -= job->reserved;
	job->reserved = 0;
}

/*
 * End a job in state DONE or FAILED and tell whoever waits.  Frees the slot
 * if nobody does.
 */
static void
finish_job(AcdatJob *job, AcdatJobState state)
{
	dsm_handle	unpin = DSM_HANDLE_INVALID;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	release_reservation(job);
	if (state == ACDAT_JOB_FAILED && job->complete_serial != 0)
	{
		AcdatEntry *entry = acdat_entry_by_serial(job->complete_serial);

		/* an error that came after the machine was entered is none of its */
		if (entry != NULL && entry->load == ACDAT_LOADING)
		{
			entry->load = acdat_state_after_error(job->sqlerrcode);
			entry->wanted = false;
			entry->sqlerrcode = job->sqlerrcode;
			strlcpy(entry->error, job->message, ACDAT_ERROR_BYTES);
			acdat_registry_changed();
		}
	}
	if (job->input_pinned)
		unpin = job->input;
	job->input_pinned = false;
	job->since = GetCurrentTimestamp();
	job->state = job->waited_for ? state : ACDAT_JOB_FREE;
	LWLockRelease(acdat_registry->lock);
	running_job = NULL;
	ACDAT_FAULT(compile_finished);
	if (unpin != DSM_HANDLE_INVALID)
		dsm_unpin_segment(unpin);
	ConditionVariableBroadcast(&job->done);
	ConditionVariableBroadcast(&acdat_registry->changed);
}

static void
runner_exit(int code, Datum arg)
{
	if (running_job == NULL)
		return;
	running_job->sqlerrcode = ERRCODE_ADMIN_SHUTDOWN;
	strlcpy(running_job->message, "the process that compiled the dictionary was terminated",
			ACDAT_ERROR_BYTES);
	finish_job(running_job, ACDAT_JOB_FAILED);
}

/* Called by the core every few milliseconds of work. */
static bool
job_tick(void *arg)
{
	AcdatJob   *job = running_job;

	CHECK_FOR_INTERRUPTS();
	if (*(volatile bool *) &job->cancelled)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("compilation of the dictionary was cancelled")));
	return false;
}

static void
read_pack(acdat_builder *builder, const void *pack, Size pack_len,
		  Size max_pattern_bytes)
{
	acdat_pack_reader reader;
	acdat_pattern pattern;
	acdat_status status;
	uint64		done = 0;

	status = acdat_pack_open(&reader, pack, pack_len);
	while (status == ACDAT_OK &&
		   (status = acdat_pack_next(&reader, &pattern)) == ACDAT_OK)
	{
		status = acdat_builder_add(builder, &pattern);
		if (status != ACDAT_OK)
			acdat_raise_build_error(builder, status, max_pattern_bytes);
		if ((++done & 1023) == 0)
			(void) job_tick(NULL);
	}
	if (status != ACDAT_END)
		acdat_raise_build_error(builder, status, max_pattern_bytes);
}

/*
 * Count size against acdat_bgw.max_memory before anything is allocated,
 * evicting machines that were not used for the longest time if need be.  A
 * load that nobody waits for evicts nothing: it would only push out what is
 * used.
 */
static void
reserve_memory(AcdatJob *job, Size size)
{
	bool		may_evict = true;
	Size		used;

	if (job->complete_serial != 0)
	{
		AcdatEntry *entry;

		LWLockAcquire(acdat_registry->lock, LW_SHARED);
		entry = acdat_entry_by_serial(job->complete_serial);
		may_evict = (entry != NULL && entry->wanted);
		LWLockRelease(acdat_registry->lock);
	}
	if (acdat_reserve_memory(size, &job->entry.dictionary, may_evict,
							 &job->reserved, &used))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("dictionary does not fit into the memory limit"),
			 errdetail("The machine needs %zu bytes; %zu of %zu bytes are in use.",
					   size, used, acdat_memory_limit()),
			 errhint("Increase acdat_bgw.max_memory, or drop dictionaries.")));
}

/* dsm_create() with a hint where shared memory runs short. */
static dsm_segment *
create_segment(Size size)
{
	MemoryContext context = CurrentMemoryContext;
	dsm_segment *segment = NULL;

	PG_TRY();
	{
		segment = dsm_create(size, 0);
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(context);
		error = CopyErrorData();
		FlushErrorState();
		if (error->sqlerrcode == ERRCODE_DISK_FULL ||
			error->sqlerrcode == ERRCODE_OUT_OF_MEMORY ||
			error->sqlerrcode == ERRCODE_INSUFFICIENT_RESOURCES)
			error->hint = pstrdup("Make /dev/shm larger (in a container: --shm-size), or set min_dynamic_shared_memory.");
		ReThrowError(error);
	}
	PG_END_TRY();
	return segment;
}

/*
 * Make the finished segment visible: a machine slot, and the entry that was
 * asked for or the loading one completed.  Nothing here raises until the
 * segment has an owner.
 */
static void
enter_machine(AcdatJob *job, dsm_segment *segment, Size size, int64 patterns)
{
	dsm_handle	handle = dsm_segment_handle(segment);
	bool		entered = false;
	bool		full = false;

	dsm_pin_segment(segment);
	ACDAT_FAULT(compile_pinned);
	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	if (!job->cancelled)
	{
		AcdatEntry *entry = NULL;
		int			machine;

		machine = acdat_machine_insert(segment, size, &job->entry);
		if (machine >= 0 && job->complete_serial == 0)
		{
			job->entry.machine = machine;
			job->entry.load = ACDAT_READY;
			job->entry.patterns = patterns;
			entry = acdat_entry_insert(&job->entry);
		}
		else if (machine >= 0 &&
				 (entry = acdat_entry_by_serial(job->complete_serial)) != NULL)
		{
			entry->machine = machine;
			entry->load = ACDAT_READY;
			entry->wanted = false;
			entry->error[0] = '\0';
			entry->patterns = patterns;
			acdat_registry->machines[machine].entries++;
			acdat_registry_changed();
		}
		full = (machine < 0 || (entry == NULL && job->complete_serial == 0));
		entered = (entry != NULL);
		if (machine >= 0 && !entered)
			acdat_machine_free(&acdat_registry->machines[machine]);
	}
	release_reservation(job);
	ACDAT_FAULT(compile_entering);
	LWLockRelease(acdat_registry->lock);
	if (!entered)
		dsm_unpin_segment(handle);
	if (full)
		acdat_registry_full_error();
}

static void
run_job(AcdatJob *job)
{
	dsm_segment *input_segment;
	dsm_segment *segment;
	AcdatJobInput *input;
	acdat_hooks hooks = acdat_pg_hooks(CurrentMemoryContext);
	acdat_limits limits;
	acdat_options options;
	acdat_builder *builder;
	acdat_status status;
	Size		size;

	input_segment = dsm_attach(job->input);
	if (input_segment == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("the patterns to compile are gone")));
	ACDAT_FAULT(compile_input);
	input = dsm_segment_address(input_segment);
	options = input->options;
	options.ignore = (char *) (input + 1);
	options.ignore_len = input->ignore_len;
	limits.max_pattern_bytes = input->max_pattern_bytes;
	limits.max_image_bytes = 0;
	hooks.tick = job_tick;

	builder = acdat_builder_create(&options, &limits, &hooks, &status);
	if (builder == NULL)
		acdat_raise_build_error(NULL, status, limits.max_pattern_bytes);
	read_pack(builder, (char *) (input + 1) + input->ignore_len,
			  input->pack_len, limits.max_pattern_bytes);
	status = acdat_builder_compile(builder, &size);
	if (status != ACDAT_OK)
		acdat_raise_build_error(builder, status, limits.max_pattern_bytes);

	ACDAT_FAULT(compile_built);
	if (job->complete_serial == 0)
		acdat_make_room();
	reserve_memory(job, size);
	ACDAT_FAULT(compile_reserved);
	segment = create_segment(size);
	ACDAT_FAULT(compile_segment);
	status = acdat_builder_write(builder, dsm_segment_address(segment));
	if (status != ACDAT_OK)
		acdat_raise_build_error(builder, status, limits.max_pattern_bytes);
	ACDAT_FAULT(compile_written);
	acdat_builder_stats(builder, &job->stats);
	acdat_builder_destroy(builder);
	enter_machine(job, segment, size,
				  (int64) (job->stats.added - job->stats.merged));
	ACDAT_FAULT(compile_entered);
	dsm_detach(segment);
	dsm_detach(input_segment);
}

/* Keep an error in the job, for whoever asked for it. */
static void
keep_error(AcdatJob *job, const ErrorData *error)
{
	job->sqlerrcode = error->sqlerrcode;
	strlcpy(job->message, error->message ? error->message : "",
			ACDAT_ERROR_BYTES);
	strlcpy(job->detail, error->detail ? error->detail : "",
			ACDAT_ERROR_BYTES);
	strlcpy(job->hint, error->hint ? error->hint : "", ACDAT_ERROR_BYTES);
}

/* Take a submitted job; false if somebody else did or nobody wants it. */
static bool
take_job(AcdatJob *job)
{
	bool		taken = false;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	if (job->state == ACDAT_JOB_SUBMITTED && !job->cancelled)
	{
		job->state = ACDAT_JOB_RUNNING;
		job->runner_pid = MyProcPid;
		job->since = GetCurrentTimestamp();
		running_job = job;
		taken = true;
	}
	LWLockRelease(acdat_registry->lock);
	return taken;
}

void
acdat_job_execute(AcdatJob *job)
{
	MemoryContext caller = CurrentMemoryContext;
	volatile AcdatJobState outcome = ACDAT_JOB_DONE;

	if (!exit_callback_registered)
	{
		before_shmem_exit(runner_exit, (Datum) 0);
		exit_callback_registered = true;
	}
	if (!take_job(job))
		return;
	PG_TRY();
	{
		ACDAT_FAULT(compile_taken);
		StartTransactionCommand();
		run_job(job);
		CommitTransactionCommand();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(caller);
		error = CopyErrorData();
		FlushErrorState();
		AbortCurrentTransaction();
		keep_error(job, error);
		FreeErrorData(error);
		outcome = ACDAT_JOB_FAILED;
	}
	PG_END_TRY();
	MemoryContextSwitchTo(caller);
	if (outcome == ACDAT_JOB_FAILED && !job->waited_for && !job->cancelled)
		ereport(LOG,
				(errmsg("could not load a dictionary: %s", job->message)));
	finish_job(job, outcome);
}
