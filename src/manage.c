/*-------------------------------------------------------------------------
 *
 * manage.c
 *	  drop_dictionary(), rename_dictionary(), set_reader(), patterns(),
 *	  export().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/snapmgr.h"
#include "utils/tuplestore.h"

#include "src/core/pack.h"
#include "shmem/fault.h"
#include "src/lookup.h"
#include "src/publish.h"

PG_FUNCTION_INFO_V1(acdat_drop_dictionary);
PG_FUNCTION_INFO_V1(acdat_rename_dictionary);
PG_FUNCTION_INFO_V1(acdat_set_reader);
PG_FUNCTION_INFO_V1(acdat_patterns);
PG_FUNCTION_INFO_V1(acdat_export);

#define PATTERN_COLUMNS 8

/* acdat.drop_dictionary(name text) returns void */
Datum
acdat_drop_dictionary(PG_FUNCTION_ARGS)
{
	AcdatDictionaryRow *row;

	acdat_require_writable("acdat.drop_dictionary()");
	row = acdat_row_for_change(text_to_cstring(PG_GETARG_TEXT_PP(0)), false);
	if (row->cluster)
		acdat_check_cluster_right();
	(void) acdat_drop_attachments(&row->id, InvalidOid);
	acdat_delete_row(row);
	ACDAT_FAULT(drop_rows);
	row->revision++;
	acdat_enter_state(row, true);
	PG_RETURN_VOID();
}

/* acdat.rename_dictionary(name text, new_name text) returns void */
Datum
acdat_rename_dictionary(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	NameData	new_name;
	AcdatDictionaryRow *row;

	acdat_require_writable("acdat.rename_dictionary()");
	acdat_check_name(text_to_cstring(PG_GETARG_TEXT_PP(1)), &new_name);

	/* Always in the same order, so that two renames cannot deadlock. */
	if (strcmp(NameStr(new_name), name) < 0)
		acdat_lock_name(NameStr(new_name));
	row = acdat_row_for_change(name, false);
	acdat_lock_name(NameStr(new_name));
	if (row->cluster)
		acdat_check_cluster_right();
	acdat_check_name_free(NameStr(new_name), row->cluster, NULL);
	row->name = new_name;
	row->revision++;
	acdat_update_row(row);
	ACDAT_FAULT(rename_row);
	acdat_enter_state(row, false);
	PG_RETURN_VOID();
}

/*
 * acdat.set_reader(name text, reader text) returns void; a null reader
 * leaves the owner alone with the dictionary
 */
Datum
acdat_set_reader(PG_FUNCTION_ARGS)
{
	AcdatDictionaryRow *row;

	acdat_require_registry();
	if (PG_ARGISNULL(0))
		PG_RETURN_VOID();
	acdat_require_writable("acdat.set_reader()");
	row = acdat_row_for_change(text_to_cstring(PG_GETARG_TEXT_PP(0)), false);
	if (row->cluster)
		acdat_check_cluster_right();
	acdat_assign_reader(row, PG_ARGISNULL(1) ? NULL :
						text_to_cstring(PG_GETARG_TEXT_PP(1)));
	row->revision++;
	acdat_update_row(row);
	ACDAT_FAULT(reader_row);
	acdat_enter_state(row, false);
	PG_RETURN_VOID();
}

/*
 * A string as text and as bytea, text only where it is valid in this
 * database's encoding.
 */
static void
put_string(const void *bytes, Size len, Datum *values, bool *nulls)
{
	bytea	   *copy;

	nulls[0] = nulls[1] = true;
	if (bytes == NULL)
		return;
	copy = palloc(VARHDRSZ + len);
	SET_VARSIZE(copy, VARHDRSZ + len);
	memcpy(VARDATA(copy), bytes, len);

	/* both types are the same bytes */
	values[0] = values[1] = PointerGetDatum(copy);
	nulls[0] = !pg_verify_mbstr(GetDatabaseEncoding(), bytes, (int) len, true);
	nulls[1] = false;
}

/* One pattern as a row of patterns(). */
static void
put_pattern(ReturnSetInfo *result, const acdat_pattern *pattern)
{
	Datum		values[PATTERN_COLUMNS] = {0};
	bool		nulls[PATTERN_COLUMNS] = {0};

	put_string(pattern->bytes, pattern->len, &values[0], &nulls[0]);
	values[2] = Int64GetDatum(pattern->id);
	values[3] = Int32GetDatum(pattern->priority);
	put_string(pattern->replacement, pattern->replacement_len, &values[4],
			   &nulls[4]);
	if (pattern->tag != NULL)
		values[6] = PointerGetDatum(cstring_to_text_with_len(pattern->tag,
															 (int) pattern->tag_len));
	nulls[6] = (pattern->tag == NULL);
	values[7] = BoolGetDatum(pattern->allow);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Raise unless the user owns the dictionary; patterns are nobody else's. */
static AcdatDictionaryRow *
row_for_owner(const char *name)
{
	AcdatDictionaryRow *row;

	row = acdat_read_dictionary(name, GetActiveSnapshot());
	if (row == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dictionary \"%s\" does not exist", name)));
	acdat_check_owner(row);
	return row;
}

/* acdat.patterns(name text, version bigint) returns setof record */
Datum
acdat_patterns(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AcdatDictionaryRow *row;
	AcdatVersionRow *version;
	acdat_pack_reader reader;
	acdat_pattern pattern;
	acdat_status status;
	int64		number;

	acdat_require_registry();
	InitMaterializedSRF(fcinfo, 0);
	if (PG_ARGISNULL(0))
		return (Datum) 0;
	row = row_for_owner(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	number = PG_ARGISNULL(1) ? row->version : PG_GETARG_INT64(1);
	version = acdat_read_version(&row->id, number, true, GetActiveSnapshot());
	if (version == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("version %lld of dictionary \"%s\" does not exist",
						(long long) number, NameStr(row->name))));
	status = acdat_pack_open(&reader, VARDATA(version->content),
							 VARSIZE(version->content) - VARHDRSZ);
	while (status == ACDAT_OK &&
		   (status = acdat_pack_next(&reader, &pattern)) == ACDAT_OK)
	{
		CHECK_FOR_INTERRUPTS();
		put_pattern(result, &pattern);
	}
	if (status != ACDAT_END)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored patterns of the dictionary are corrupt")));
	return (Datum) 0;
}

/* acdat.export(name text) returns bytea: the image, which has the patterns */
Datum
acdat_export(PG_FUNCTION_ARGS)
{
	text	   *name = PG_GETARG_TEXT_PP(0);
	AcdatLookupCache cache = {0};
	const AcdatMachineRef *ref;
	bytea	   *result;

	acdat_require_registry();
	(void) row_for_owner(text_to_cstring(name));
	ref = acdat_lookup(&cache, VARDATA_ANY(name), VARSIZE_ANY_EXHDR(name));
	if (ref->machine.size >= MaxAllocSize - VARHDRSZ)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("the machine of the dictionary exceeds 1 GB"),
				 errhint("Compile the patterns with the acdat command.")));
	result = palloc(VARHDRSZ + ref->machine.size);
	SET_VARSIZE(result, VARHDRSZ + ref->machine.size);
	memcpy(VARDATA(result), ref->machine.header, ref->machine.size);
	PG_RETURN_BYTEA_P(result);
}
