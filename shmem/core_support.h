/*-------------------------------------------------------------------------
 *
 * core_support.h
 *	  The matcher on PostgreSQL's memory, interrupts and errors.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_CORE_SUPPORT_H
#define ACDAT_CORE_SUPPORT_H

#include "postgres.h"

#include "utils/palloc.h"

#include "shmem/shmem_compat.h"
#include "src/core/acdat.h"

/*
 * Hooks that allocate from a memory context (without the 1 GB limit of
 * palloc; out of memory raises) and check for interrupts.
 */
extern acdat_hooks acdat_pg_hooks(MemoryContext context);

/*
 * Raise what a builder reports.  builder may be NULL; max_pattern_bytes is
 * the limit in force.  The message names the row, never the pattern.
 */
pg_noreturn extern void acdat_raise_build_error(const acdat_builder *builder,
												acdat_status status,
												Size max_pattern_bytes);

#endif							/* ACDAT_CORE_SUPPORT_H */
