/*-------------------------------------------------------------------------
 *
 * compile_aggregate.c
 *	  The aggregate acdat.compile(pattern [, id [, priority [, replacement]]]).
 *
 * The result is a private machine: a value, for whoever cannot or does not
 * want to publish.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "shmem/core_support.h"
#include "src/guc.h"
#include "src/pgcompat.h"
#include "src/publish.h"

PG_FUNCTION_INFO_V1(acdat_compile_step);
PG_FUNCTION_INFO_V1(acdat_compile_final);

/* Transition state, in the aggregate's memory context. */
typedef struct CompileState
{
	acdat_builder *builder;
	acdat_hooks hooks;
	int64		rows;
} CompileState;

static CompileState *
begin_compile(FunctionCallInfo fcinfo, MemoryContext context)
{
	CompileState *state = MemoryContextAllocZero(context, sizeof(CompileState));
	acdat_options options = {0};
	acdat_limits limits = {0};
	acdat_status status;
	Oid		   *types;
	int			count;

	(void) get_func_signature(fcinfo->flinfo->fn_oid, &types, &count);
	options.encoding = types[1] == BYTEAOID ? ACDAT_ENCODING_BYTES :
		acdat_database_encoding();
	pfree(types);
	limits.max_pattern_bytes = acdat_guc_max_pattern_bytes;
	state->hooks = acdat_pg_hooks(context);
	state->builder = acdat_builder_create(&options, &limits, &state->hooks,
										  &status);
	if (state->builder == NULL)
		acdat_raise_build_error(NULL, status, acdat_guc_max_pattern_bytes);
	return state;
}

/*
 * acdat.compile_step(internal, pattern [, id [, priority [, replacement]]])
 * returns internal
 */
Datum
acdat_compile_step(PG_FUNCTION_ARGS)
{
	MemoryContext context;
	CompileState *state;
	acdat_pattern pattern = {0};
	acdat_status status;
	text	   *value;

	if (!AggCheckCallContext(fcinfo, &context))
		elog(ERROR, "acdat.compile_step called in non-aggregate context");
	state = PG_ARGISNULL(0) ? begin_compile(fcinfo, context) :
		(CompileState *) PG_GETARG_POINTER(0);
	state->rows++;
	if (PG_ARGISNULL(1))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("pattern in row %lld is null",
						(long long) state->rows),
				 errhint("Use FILTER (WHERE pattern IS NOT NULL).")));
	value = PG_GETARG_TEXT_PP(1);
	pattern.bytes = VARDATA_ANY(value);
	pattern.len = VARSIZE_ANY_EXHDR(value);
	pattern.id = PG_NARGS() > 2 && !PG_ARGISNULL(2) ? PG_GETARG_INT64(2) :
		state->rows;
	if (PG_NARGS() > 3 && !PG_ARGISNULL(3))
		pattern.priority = PG_GETARG_INT32(3);
	if (PG_NARGS() > 4 && !PG_ARGISNULL(4))
	{
		text	   *replacement = PG_GETARG_TEXT_PP(4);

		pattern.replacement = VARDATA_ANY(replacement);
		pattern.replacement_len = VARSIZE_ANY_EXHDR(replacement);
	}
	status = acdat_builder_add(state->builder, &pattern);
	if (status != ACDAT_OK)
		acdat_raise_build_error(state->builder, status,
								acdat_guc_max_pattern_bytes);
	PG_RETURN_POINTER(state);
}

/* acdat.compile_final(internal) returns acdat.machine; NULL without rows */
Datum
acdat_compile_final(PG_FUNCTION_ARGS)
{
	CompileState *state;
	struct varlena *result;
	acdat_status status;
	size_t		size;
	void	   *image;

	if (PG_ARGISNULL(0))
		PG_RETURN_NULL();
	state = (CompileState *) PG_GETARG_POINTER(0);
	status = acdat_builder_compile(state->builder, &size);
	if (status == ACDAT_OK && size > MaxAllocSize - VARHDRSZ)
		status = ACDAT_TOO_LARGE;
	if (status != ACDAT_OK)
		acdat_raise_build_error(state->builder, status,
								acdat_guc_max_pattern_bytes);

	/* the image is written with an alignment that a datum does not have */
	image = palloc_extended(size + 16, MCXT_ALLOC_HUGE);
	status = acdat_builder_write(state->builder,
								 (void *) TYPEALIGN(16, image));
	if (status != ACDAT_OK)
		acdat_raise_build_error(state->builder, status,
								acdat_guc_max_pattern_bytes);
	acdat_builder_destroy(state->builder);
	state->builder = NULL;
	result = palloc(VARHDRSZ + size);
	SET_VARSIZE(result, VARHDRSZ + size);
	memcpy(VARDATA(result), (void *) TYPEALIGN(16, image), size);
	pfree(image);
	PG_RETURN_POINTER(result);
}
