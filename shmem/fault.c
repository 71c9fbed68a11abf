/*-------------------------------------------------------------------------
 *
 * fault.c
 *	  Faults for tests, and what tests look at after them.
 *
 * The functions are no part of the extension: a test creates them, and can
 * only do so with a library that was compiled for it.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "shmem/fault.h"

#ifdef ACDAT_FAULTS

#include <signal.h>
#include <unistd.h>

#include "fmgr.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "storage/ipc.h"
#include "utils/builtins.h"

#include "shmem/jobs.h"
#include "shmem/registry.h"

PG_FUNCTION_INFO_V1(acdat_fault_steps);
PG_FUNCTION_INFO_V1(acdat_fault_arm);
PG_FUNCTION_INFO_V1(acdat_fault_residue);

typedef enum FaultKind
{
	FAULT_ERROR,
	FAULT_OOM,
	FAULT_EXIT,
	FAULT_KILL
} FaultKind;

static const char *const kind_names[] = {"error", "oom", "exit", "kill"};

#define ANY_STEP(step) {#step, false},
#define KILL_STEP(step) {#step, true},

static const struct
{
	const char *name;
	bool		kill_only;
}			steps[ACDAT_STEPS] =
{
	ACDAT_FAULT_STEPS(ANY_STEP, KILL_STEP)
};

/* The line for standard error is how a test knows, whatever comes after it. */
void
acdat_fault_reach(AcdatFaultStep step)
{
	uint32		armed = (uint32) step + 1;
	FaultKind	kind;

	if (acdat_registry == NULL ||
		!pg_atomic_compare_exchange_u32(&acdat_registry->fault.armed, &armed, 0))
		return;
	kind = (FaultKind) pg_atomic_read_u32(&acdat_registry->fault.kind);
	write_stderr("acdat_bgw fault: %s %s\n", steps[step].name, kind_names[kind]);
	switch (kind)
	{
		case FAULT_ERROR:
			ereport(ERROR,
					(errcode(ERRCODE_IO_ERROR),
					 errmsg("fault at step %s", steps[step].name)));
			break;
		case FAULT_OOM:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory"),
					 errdetail("Fault at step %s.", steps[step].name)));
			break;
		case FAULT_EXIT:
			proc_exit(1);
			break;
		case FAULT_KILL:
			kill(getpid(), SIGKILL);
			pause();
	}
}

/* acdat_fault_steps() returns text: lines "step kind", all that can be armed */
Datum
acdat_fault_steps(PG_FUNCTION_ARGS)
{
	StringInfoData list;
	int			i;

	initStringInfo(&list);
	for (i = 0; i < ACDAT_STEPS; i++)
	{
		FaultKind	kind;

		for (kind = steps[i].kill_only ? FAULT_KILL : FAULT_ERROR;
			 kind <= FAULT_KILL; kind++)
			appendStringInfo(&list, "%s %s\n", steps[i].name, kind_names[kind]);
	}
	PG_RETURN_TEXT_P(cstring_to_text_with_len(list.data, list.len));
}

/* acdat_fault_arm(step text, kind text) returns void; none: disarm */
Datum
acdat_fault_arm(PG_FUNCTION_ARGS)
{
	char	   *step = text_to_cstring(PG_GETARG_TEXT_PP(0));
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(1));
	uint32		armed = 0;
	uint32		i;

	for (i = 0; i < ACDAT_STEPS; i++)
	{
		if (strcmp(steps[i].name, step) == 0)
			armed = i + 1;
	}
	for (i = 0; i <= FAULT_KILL && strcmp(kind_names[i], kind) != 0; i++)
		;
	if (armed == 0 || i > FAULT_KILL ||
		(steps[armed - 1].kill_only && i != FAULT_KILL))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("there is no fault \"%s\" at a step \"%s\"", kind, step)));
	pg_atomic_write_u32(&acdat_registry->fault.kind, i);
	pg_atomic_write_u32(&acdat_registry->fault.armed, armed);
	PG_RETURN_VOID();
}

/* Does what is counted agree with what there is?  Lock held. */
static void
list_miscounts(StringInfo list)
{
	AcdatRegistry *registry = acdat_registry;
	uint32		mapped = 0;
	Size		used = 0;
	int			i;

	for (i = 0; i < registry->max_machines; i++)
	{
		AcdatMachineSlot *slot = &registry->machines[i];
		int			entries = 0;
		int			j;

		mapped += pg_atomic_read_u32(&slot->mapped);
		if (slot->serial == 0)
			continue;
		used += slot->size;
		for (j = 0; j < registry->entries_used; j++)
			entries += registry->entries[j].serial != 0 &&
				registry->entries[j].machine == i;
		if (slot->retired || slot->entries != entries)
			appendStringInfo(list, "machine %d: %s, %d for %d entries; ", i,
							 slot->retired ? "retired" : "in use",
							 slot->entries, entries);
	}
	for (i = 0; i < registry->max_backends; i++)
		mapped -= pg_atomic_read_u32(&registry->backends[i].mapped);
	if (mapped != 0)
		appendStringInfo(list, "%d mappings of no process; ", (int) mapped);
	if (used != registry->memory_used || registry->memory_reserved != 0)
		appendStringInfo(list, "%zu bytes counted for %zu, %zu reserved; ",
						 registry->memory_used, used,
						 registry->memory_reserved);
}

/*
 * acdat_fault_residue() returns text: what is counted wrongly, and what is
 * only there while something goes on; empty if there is nothing.
 */
Datum
acdat_fault_residue(PG_FUNCTION_ARGS)
{
	AcdatRegistry *registry = acdat_registry;
	StringInfoData list;
	int			i;

	initStringInfo(&list);
	enlargeStringInfo(&list, 64 * 1024);
	LWLockAcquire(registry->lock, LW_SHARED);
	list_miscounts(&list);
	for (i = 0; i < ACDAT_MAX_JOBS; i++)
	{
		if (registry->jobs[i].state != ACDAT_JOB_FREE ||
			registry->jobs[i].input_pinned)
			appendStringInfo(&list, "job %d: state %d%s; ", i,
							 registry->jobs[i].state,
							 registry->jobs[i].input_pinned ? ", pinned" : "");
	}
	for (i = 0; i < registry->entries_used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];

		if (entry->serial != 0 && (entry->xid_state != ACDAT_XID_FROZEN ||
								   entry->load == ACDAT_LOADING))
			appendStringInfo(&list, "%s %lld: not settled; ",
							 NameStr(entry->name), (long long) entry->version);
	}
	LWLockRelease(registry->lock);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(list.data, list.len));
}

#endif							/* ACDAT_FAULTS */
