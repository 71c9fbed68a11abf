/*-------------------------------------------------------------------------
 *
 * fault.h
 *	  Faults for tests: what if a process fails or dies just here?
 *
 * Only a library compiled with -DACDAT_FAULTS has them; in any other one
 * ACDAT_FAULT() is nothing.  A test arms one step with one kind of fault, by
 * the functions at the end of fault.c; the first process that passes the step
 * has it, once.
 *
 * The list names every step, so that a test can go through all of them and a
 * step that is not listed does not compile.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_FAULT_H
#define ACDAT_FAULT_H

#include "postgres.h"

#ifdef ACDAT_FAULTS

#include "port/atomics.h"

/*
 * What can happen at a step: ANY is an error, running out of memory, the end
 * of the process, or SIGKILL.  KILL is that alone: a lock is held, what is
 * done has no owner yet, or the transaction has ended; and nothing is called
 * there that could raise or end the process.
 */
#define ACDAT_FAULT_STEPS(ANY, KILL) \
	/* publishing: a backend, or a publisher */ \
	ANY(publish_locked) \
	ANY(publish_read) \
	ANY(republish_read) \
	ANY(rollback_read) \
	ANY(publish_stamped) \
	ANY(publish_input) \
	ANY(publish_submitted) \
	ANY(publish_owner) \
	ANY(publish_row) \
	ANY(publish_rows) \
	ANY(publish_waiting) \
	ANY(publish_compiled) \
	ANY(publish_entered) \
	ANY(publish_committing) \
	KILL(publish_committed) \
	KILL(publish_aborted) \
	/* other changes */ \
	ANY(drop_rows) \
	ANY(rename_row) \
	ANY(reader_row) \
	ANY(change_stamped) \
	ANY(change_entered) \
	/* compiling: the launcher, or a compiler */ \
	ANY(compile_taken) \
	ANY(compile_input) \
	ANY(compile_built) \
	ANY(compile_reserved) \
	ANY(compile_segment) \
	ANY(compile_written) \
	KILL(compile_pinned) \
	KILL(compile_entering) \
	ANY(compile_entered) \
	KILL(compile_finished) \
	/* the launcher */ \
	ANY(launch_round) \
	ANY(launch_reaped) \
	ANY(launch_compiler) \
	ANY(launch_loader) \
	ANY(launch_publisher) \
	ANY(review_purge) \
	/* a loader */ \
	ANY(load_connected) \
	ANY(load_begun) \
	ANY(load_row) \
	ANY(load_entered) \
	ANY(load_wanted) \
	ANY(load_input) \
	ANY(load_submitted) \
	ANY(load_attached) \
	ANY(load_ended) \
	ANY(load_committed) \
	/* reclaiming: mostly the launcher */ \
	ANY(evict_chosen) \
	ANY(sweep_settled) \
	ANY(sweep_listed) \
	ANY(sweep_retired) \
	KILL(sweep_freed) \
	ANY(sweep_waking) \
	/* a process that scans */ \
	ANY(lookup_waiting) \
	ANY(map_claimed) \
	ANY(map_attached) \
	ANY(map_opened) \
	ANY(map_completed) \
	KILL(map_released) \
	/* attached tables: who attaches, who writes, a publisher */ \
	ANY(attach_created) \
	ANY(detach_dropped) \
	ANY(attach_noted) \
	KILL(attach_committed) \
	ANY(publisher_connected) \
	ANY(request_taken) \
	ANY(request_published)

#define ACDAT_FAULT_MEMBER(step) ACDAT_STEP_##step,

typedef enum AcdatFaultStep
{
	ACDAT_FAULT_STEPS(ACDAT_FAULT_MEMBER, ACDAT_FAULT_MEMBER)
	ACDAT_STEPS
} AcdatFaultStep;

/*
 * In the registry, hence gone when shared memory is set up anew.  Written by
 * the test, and by the process that has the fault.
 */
typedef struct AcdatFault
{
	pg_atomic_uint32 armed;		/* step + 1, 0 = none */
	pg_atomic_uint32 kind;
} AcdatFault;

/* Fail or die, if the step is armed. */
extern void acdat_fault_reach(AcdatFaultStep step);

#define ACDAT_FAULT(step) acdat_fault_reach(ACDAT_STEP_##step)

#else

#define ACDAT_FAULT(step) ((void) 0)

#endif							/* ACDAT_FAULTS */

#endif							/* ACDAT_FAULT_H */
