/*-------------------------------------------------------------------------
 *
 * log_machine.h
 *	  The machine that redacts the server log.
 *
 * A report is written in whatever state a process is: after an error, in a
 * critical section, holding any lock, before or after it has a place among
 * the server's processes.  So what is here takes no lock, does not allocate
 * from a memory context and never raises; it answers that there is no
 * machine instead.
 *
 * Lifetimes
 *	acdat_registry->log names the machine of the newest committed state of
 *	the dictionary named by acdat_bgw.log_dictionary.  It is chosen anew at
 *	each sweep, before machines are retired; the name is set by the launcher
 *	alone.  A process maps the segment by means of its own, read-only, when
 *	it first has a line to write, and counts itself into the machine's
 *	mapped only while it scans: nothing can interrupt that, so the count is
 *	lowered again in any case.  Between scans the mapping keeps the memory
 *	alive even if the segment is gone.  It is given back when the process
 *	sees that another machine was chosen: at the next line or end of a
 *	transaction (the process is woken for that when it is idle, unless it
 *	is an auxiliary one), or at exit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_LOG_MACHINE_H
#define ACDAT_LOG_MACHINE_H

#include "postgres.h"

#include "shmem/registry.h"
#include "src/core/acdat.h"

/* Called by _PG_init while shared libraries are preloaded. */
extern void acdat_log_machine_install(void);

/* Say which dictionary the log is for.  Launcher only. */
extern void acdat_log_machine_name(const char *name);

/* Choose its machine; wakes processes that map a former one. */
extern void acdat_log_machine_choose(void);

/* Is a machine the chosen one?  registry->lock must be held. */
extern bool acdat_log_machine_is(int machine);

/*
 * The scan for a dictionary of this name, or NULL if there is none that can
 * be used in this process.  Must be followed by acdat_log_machine_end(), with
 * nothing in between that can raise; signals are blocked meanwhile.
 */
extern acdat_scan *acdat_log_machine_begin(const char *name,
										   acdat_encoding *encoding);
extern void acdat_log_machine_end(void);

/* Count a text that was scanned, between the two. */
extern void acdat_log_machine_count(Size bytes, uint64 matches);

#endif							/* ACDAT_LOG_MACHINE_H */
