/*-------------------------------------------------------------------------
 *
 * core_support.c
 *	  The matcher on PostgreSQL's memory, interrupts and errors.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "miscadmin.h"
#include "utils/memutils.h"

#include "shmem/core_support.h"

static void *
context_alloc(void *arg, size_t size)
{
	return MemoryContextAllocHuge((MemoryContext) arg, size);
}

static void *
context_realloc(void *arg, void *ptr, size_t old_size, size_t size)
{
	if (ptr == NULL)
		return context_alloc(arg, size);
	return repalloc_huge(ptr, size);
}

static void
context_free(void *arg, void *ptr)
{
	if (ptr != NULL)
		pfree(ptr);
}

static bool
interrupts_tick(void *arg)
{
	CHECK_FOR_INTERRUPTS();
	return false;
}

acdat_hooks
acdat_pg_hooks(MemoryContext context)
{
	acdat_hooks hooks;

	hooks.alloc = context_alloc;
	hooks.realloc = context_realloc;
	hooks.free = context_free;
	hooks.tick = interrupts_tick;
	hooks.arg = context;
	return hooks;
}

void
acdat_raise_build_error(const acdat_builder *builder, acdat_status status,
						Size max_pattern_bytes)
{
	acdat_build_stats stats;

	memset(&stats, 0, sizeof(stats));
	if (builder != NULL)
		acdat_builder_stats(builder, &stats);

	switch (status)
	{
		case ACDAT_EMPTY_PATTERN:
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("pattern in row %llu is empty",
							(unsigned long long) stats.failed_at),
					 errhint("A pattern needs at least one character that is not in the ignore set.")));
			break;
		case ACDAT_PATTERN_TOO_LONG:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("pattern in row %llu is too long",
							(unsigned long long) stats.failed_at),
					 errdetail("A pattern can have at most %zu bytes.",
							   max_pattern_bytes),
					 errhint("Increase acdat_bgw.max_pattern_bytes, or shorten the pattern.")));
			break;
		case ACDAT_TOO_MANY_PATTERNS:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("dictionary has too many patterns"),
					 errhint("Split the list into several dictionaries.")));
			break;
		case ACDAT_TOO_LARGE:
			ereport(ERROR,
					(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
					 errmsg("dictionary is too large"),
					 errhint("Split the list into several dictionaries.")));
			break;
		case ACDAT_NO_MEMORY:
			ereport(ERROR,
					(errcode(ERRCODE_OUT_OF_MEMORY),
					 errmsg("out of memory")));
			break;
		case ACDAT_CORRUPT:
		case ACDAT_VERSION_MISMATCH:
			ereport(ERROR,
					(errcode(ERRCODE_DATA_CORRUPTED),
					 errmsg("stored patterns of the dictionary are corrupt")));
			break;
		default:
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not compile the dictionary: %s",
							acdat_status_text(status))));
	}
	pg_unreachable();
}
