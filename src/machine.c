/*-------------------------------------------------------------------------
 *
 * machine.c
 *	  The type acdat.machine: a compiled dictionary as a value.
 *
 * Its text form is that of bytea in hex.  Bytes that come from outside are
 * proved harmless before they become a value.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"

#include "shmem/core_support.h"
#include "src/machine_cache.h"
#include "src/pgcompat.h"

PG_FUNCTION_INFO_V1(acdat_machine_in);
PG_FUNCTION_INFO_V1(acdat_machine_out);
PG_FUNCTION_INFO_V1(acdat_machine_recv);
PG_FUNCTION_INFO_V1(acdat_machine_send);
PG_FUNCTION_INFO_V1(acdat_import_machine);
PG_FUNCTION_INFO_V1(acdat_machine_info_sql);

#define INFO_COLUMNS 12

/* The ignore option; bytes that are no text here are shown in hex. */
static Datum
ignore_datum(const acdat_options *options)
{
	int			len = (int) options->ignore_len;
	bytea	   *bytes;

	if (pg_verifymbstr(options->ignore, len, true))
		return PointerGetDatum(cstring_to_text_with_len(options->ignore, len));
	bytes = (bytea *) cstring_to_text_with_len(options->ignore, len);
	return CStringGetTextDatum(DatumGetCString(DirectFunctionCall1(byteaout,
																   PointerGetDatum(bytes))));
}

/* Raise unless the bytes are a sound image. */
static Datum
checked_machine(bytea *bytes)
{
	Size		size = VARSIZE(bytes) - VARHDRSZ;
	acdat_hooks hooks = acdat_pg_hooks(CurrentMemoryContext);
	void	   *image = palloc_extended(size + 1, MCXT_ALLOC_HUGE);
	acdat_machine machine;
	const char *reason = NULL;
	acdat_status status;

	memcpy(image, VARDATA(bytes), size);
	status = acdat_open_checked(&machine, image, size, &hooks, &reason);
	if (status != ACDAT_OK && reason == NULL)
		reason = acdat_status_text(status);
	if (status == ACDAT_VERSION_MISMATCH)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type acdat.machine"),
				 errdetail("The machine was compiled by another version of the extension."),
				 errhint("Compile it again with acdat.compile().")));
	if (status == ACDAT_OK && machine.size != size)
		reason = "there are trailing bytes";
	if (reason != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("invalid value for type acdat.machine"),
				 errdetail("The bytes are not a compiled dictionary: %s.",
						   reason)));
	pfree(image);
	return PointerGetDatum(bytes);
}

/* acdat.machine_in(cstring) returns acdat.machine */
Datum
acdat_machine_in(PG_FUNCTION_ARGS)
{
	return checked_machine(DatumGetByteaP(DirectFunctionCall1(byteain,
															  PG_GETARG_DATUM(0))));
}

/* acdat.machine_out(acdat.machine) returns cstring */
Datum
acdat_machine_out(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(byteaout, PG_GETARG_DATUM(0));
}

/* acdat.machine_recv(internal) returns acdat.machine */
Datum
acdat_machine_recv(PG_FUNCTION_ARGS)
{
	return checked_machine(DatumGetByteaP(DirectFunctionCall1(bytearecv,
															  PG_GETARG_DATUM(0))));
}

/* acdat.machine_send(acdat.machine) returns bytea */
Datum
acdat_machine_send(PG_FUNCTION_ARGS)
{
	return DirectFunctionCall1(byteasend, PG_GETARG_DATUM(0));
}

/* acdat.import_machine(image bytea) returns acdat.machine */
Datum
acdat_import_machine(PG_FUNCTION_ARGS)
{
	return checked_machine(PG_GETARG_BYTEA_P(0));
}

/* acdat.machine_info(acdat.machine) returns record */
Datum
acdat_machine_info_sql(PG_FUNCTION_ARGS)
{
	AcdatMachineSite site = {0};
	const acdat_machine_info *info;
	TupleDesc	desc;
	Datum		values[INFO_COLUMNS];
	bool		nulls[INFO_COLUMNS] = {0};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	info = &acdat_private_machine(&site, PG_GETARG_DATUM(0))->info;
	values[0] = Int64GetDatum((int64) info->patterns);
	values[1] = Int64GetDatum((int64) info->allow_patterns);
	values[2] = Int64GetDatum((int64) info->states);
	values[3] = Int64GetDatum((int64) info->image_bytes);
	values[4] = Int64GetDatum((int64) info->max_pattern_bytes);
	values[5] = CStringGetTextDatum(info->engine);
	values[6] = CStringGetTextDatum(acdat_case_name(info->options.case_insensitive));
	values[7] = CStringGetTextDatum(acdat_normalize_name(info->options.normalize));
	values[8] = CStringGetTextDatum(acdat_boundary_name(info->options.boundary));
	values[9] = ignore_datum(&info->options);
	values[10] = CStringGetTextDatum(info->options.encoding == ACDAT_ENCODING_UTF8 ?
									 "utf8" : "bytes");
	values[11] = CStringGetTextDatum(psprintf("%016llx%016llx",
											 (unsigned long long) info->checksum[1],
											 (unsigned long long) info->checksum[0]));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc),
													  values, nulls)));
}
