/*-------------------------------------------------------------------------
 *
 * publish_query.c
 *	  Reading the patterns to publish, from a query or an array.
 *
 * Messages name the row, never its text.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "shmem/settings.h"
#include "src/core/pack.h"
#include "src/publish.h"

/* Rows fetched from the query at a time. */
#define ACDAT_FETCH_ROWS 1000

typedef enum ColumnKind
{
	COLUMN_STRING,				/* text and alike, or bytea */
	COLUMN_INTEGER,
	COLUMN_BOOLEAN
} ColumnKind;

/* A column of the query, found by name. */
typedef struct QueryColumn
{
	const char *name;
	ColumnKind	kind;
	const char *wanted;			/* types for the error message */
	int			attnum;			/* 0: the query has no such column */
	Oid			type;			/* base type */
	FmgrInfo	output;			/* for string types other than text */
} QueryColumn;

enum
{
	COLUMN_PATTERN, COLUMN_ID, COLUMN_PRIORITY, COLUMN_REPLACEMENT,
	COLUMN_TAG, COLUMN_ALLOW, COLUMNS
};

static const QueryColumn column_template[COLUMNS] = {
	{.name = "pattern",.kind = COLUMN_STRING,.wanted = "text or bytea"},
	{.name = "id",.kind = COLUMN_INTEGER,.wanted = "bigint or integer"},
	{.name = "priority",.kind = COLUMN_INTEGER,.wanted = "integer"},
	{.name = "replacement",.kind = COLUMN_STRING,.wanted = "text or bytea"},
	{.name = "tag",.kind = COLUMN_STRING,.wanted = "text"},
	{.name = "allow",.kind = COLUMN_BOOLEAN,.wanted = "boolean"}
};

static bool
column_type_fits(const QueryColumn *column)
{
	char		category;
	bool		preferred;

	switch (column->kind)
	{
		case COLUMN_INTEGER:
			return column->type == INT2OID || column->type == INT4OID ||
				column->type == INT8OID;
		case COLUMN_BOOLEAN:
			return column->type == BOOLOID;
		case COLUMN_STRING:
			if (column->type == BYTEAOID)
				return true;
			get_type_category_preferred(column->type, &category, &preferred);
			return category == TYPCATEGORY_STRING;
	}
	return false;
}

static void
find_columns(TupleDesc desc, QueryColumn *columns)
{
	int			i;

	memcpy(columns, column_template, sizeof(column_template));
	for (i = 0; i < COLUMNS; i++)
	{
		QueryColumn *column = &columns[i];
		int			attnum = SPI_fnumber(desc, column->name);
		Oid			output;
		bool		is_varlena;

		if (attnum <= 0)
			continue;
		column->attnum = attnum;
		column->type = getBaseType(SPI_gettypeid(desc, attnum));
		if (!column_type_fits(column))
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("column \"%s\" of the query has type %s",
							column->name,
							format_type_be(SPI_gettypeid(desc, attnum))),
					 errhint("It must be %s.", column->wanted)));
		if (column->kind == COLUMN_STRING)
		{
			getTypeOutputInfo(column->type, &output, &is_varlena);
			fmgr_info(output, &column->output);
		}
	}
	if (columns[COLUMN_PATTERN].attnum == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("the query has no column \"pattern\""),
				 errhint("Name the column with the patterns, as in SELECT term AS pattern. Other columns used are id, priority, replacement, tag and allow.")));
}

/* The bytes of a string value, in palloc'd memory or in the datum. */
static const char *
string_bytes(const QueryColumn *column, Datum value, Size *len)
{
	if (column->type == TEXTOID || column->type == VARCHAROID ||
		column->type == BYTEAOID)
	{
		struct varlena *string = PG_DETOAST_DATUM_PACKED(value);

		*len = VARSIZE_ANY_EXHDR(string);
		return VARDATA_ANY(string);
	}
	else if (column->type == BPCHAROID)
	{
		struct varlena *string = PG_DETOAST_DATUM_PACKED(value);

		/* trailing blanks are not part of the value, as in a cast to text */
		*len = bpchartruelen(VARDATA_ANY(string),
							 (int) VARSIZE_ANY_EXHDR(string));
		return VARDATA_ANY(string);
	}
	else
	{
		char	   *string = OutputFunctionCall(unconstify(FmgrInfo *, &column->output), value);

		*len = strlen(string);
		return string;
	}
}

static int64
integer_value(const QueryColumn *column, Datum value)
{
	if (column->type == INT2OID)
		return DatumGetInt16(value);
	if (column->type == INT4OID)
		return DatumGetInt32(value);
	return DatumGetInt64(value);
}

/*
 * What goes with a pattern ends up in text values: a replacement when the
 * patterns are text, a tag always.
 */
static void
check_text(const char *column, int64 row, const char *bytes, Size len)
{
	if (!pg_verify_mbstr(GetDatabaseEncoding(), bytes, (int) len, true))
		ereport(ERROR,
				(errcode(ERRCODE_CHARACTER_NOT_IN_REPERTOIRE),
				 errmsg("%s in row %lld is not valid text in encoding %s",
						column, (long long) row, GetDatabaseEncodingName())));
}

/* Check one pattern and append it to the pack. */
static void
append_pattern(AcdatContent *content, const acdat_pattern *pattern)
{
	int64		row = content->patterns + 1;
	Size		size;

	if (pattern->len == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pattern in row %lld is empty", (long long) row)));
	if (pattern->len > (Size) acdat_guc_max_pattern_bytes)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("pattern in row %lld is too long", (long long) row),
				 errdetail("It has %zu bytes; at most %d are allowed.",
						   pattern->len, acdat_guc_max_pattern_bytes),
				 errhint("Increase acdat_bgw.max_pattern_bytes, or shorten the pattern.")));
	size = acdat_pack_pattern_size(pattern);
	if (size == 0 || (Size) content->pack.len + size >= MaxAllocSize)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("patterns of the dictionary exceed 1 GB"),
				 errhint("Split the list into several dictionaries.")));
	enlargeStringInfo(&content->pack, (int) size);
	acdat_pack_write_pattern(content->pack.data + content->pack.len, pattern);
	content->pack.len += (int) size;
	content->patterns++;
	content->pattern_bytes += (int64) pattern->len;
}

static void
begin_pack(AcdatContent *content)
{
	initStringInfo(&content->pack);
	enlargeStringInfo(&content->pack, ACDAT_PACK_HEADER_BYTES);
	content->pack.len = ACDAT_PACK_HEADER_BYTES;
	content->patterns = 0;
	content->pattern_bytes = 0;
	content->binary = false;
}

static void
end_pack(AcdatContent *content)
{
	acdat_pack_write_header(content->pack.data, (uint64) content->patterns);
}

static void
null_pattern_error(int64 row, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
			 errmsg("pattern in row %lld is null", (long long) row),
			 errhint("%s", hint)));
}

static void
append_tuple(AcdatContent *content, const QueryColumn *columns,
			 HeapTuple tuple, TupleDesc desc)
{
	int64		row = content->patterns + 1;
	acdat_pattern pattern;
	Datum		values[COLUMNS] = {0};
	bool		present[COLUMNS] = {0};
	int			i;

	for (i = 0; i < COLUMNS; i++)
	{
		bool		isnull = true;

		if (columns[i].attnum > 0)
			values[i] = SPI_getbinval(tuple, desc, columns[i].attnum, &isnull);
		present[i] = !isnull;
	}
	if (!present[COLUMN_PATTERN])
		null_pattern_error(row, "Add WHERE pattern IS NOT NULL to the query.");
	memset(&pattern, 0, sizeof(pattern));
	pattern.bytes = string_bytes(&columns[COLUMN_PATTERN],
								 values[COLUMN_PATTERN], &pattern.len);
	pattern.id = present[COLUMN_ID] ?
		integer_value(&columns[COLUMN_ID], values[COLUMN_ID]) : row;
	if (present[COLUMN_PRIORITY])
	{
		int64		priority = integer_value(&columns[COLUMN_PRIORITY],
											 values[COLUMN_PRIORITY]);

		if (priority < PG_INT32_MIN || priority > PG_INT32_MAX)
			ereport(ERROR,
					(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
					 errmsg("priority in row %lld is out of range for type integer",
							(long long) row)));
		pattern.priority = (int32) priority;
	}
	if (present[COLUMN_REPLACEMENT])
	{
		pattern.replacement = string_bytes(&columns[COLUMN_REPLACEMENT],
										   values[COLUMN_REPLACEMENT],
										   &pattern.replacement_len);
		if (columns[COLUMN_REPLACEMENT].type == BYTEAOID && !content->binary)
			check_text("replacement", row, pattern.replacement,
					   pattern.replacement_len);
	}
	if (present[COLUMN_TAG])
	{
		pattern.tag = string_bytes(&columns[COLUMN_TAG], values[COLUMN_TAG],
								   &pattern.tag_len);
		if (columns[COLUMN_TAG].type == BYTEAOID)
			check_text("tag", row, pattern.tag, pattern.tag_len);
	}
	pattern.allow = present[COLUMN_ALLOW] && DatumGetBool(values[COLUMN_ALLOW]);
	append_pattern(content, &pattern);
}

/* Fetch all rows of the portal; per-batch memory is dropped as we go. */
static void
read_portal(AcdatContent *content, Portal portal)
{
	QueryColumn columns[COLUMNS];
	MemoryContext batch = AllocSetContextCreate(CurrentMemoryContext,
												"acdat_bgw batch",
												ALLOCSET_DEFAULT_SIZES);

	find_columns(portal->tupDesc, columns);
	content->binary = (columns[COLUMN_PATTERN].type == BYTEAOID);
	for (;;)
	{
		MemoryContext old;
		uint64		i;

		SPI_cursor_fetch(portal, true, ACDAT_FETCH_ROWS);
		if (SPI_processed == 0)
			break;
		old = MemoryContextSwitchTo(batch);
		for (i = 0; i < SPI_processed; i++)
			append_tuple(content, columns, SPI_tuptable->vals[i],
						 SPI_tuptable->tupdesc);
		MemoryContextSwitchTo(old);
		MemoryContextReset(batch);
		SPI_freetuptable(SPI_tuptable);
		CHECK_FOR_INTERRUPTS();
	}
	MemoryContextDelete(batch);
}

void
acdat_read_query(AcdatContent *content, const char *query)
{
	SPIPlanPtr	plan;
	Portal		portal;

	begin_pack(content);
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	plan = SPI_prepare(query, 0, NULL);
	if (plan == NULL || !SPI_is_cursor_plan(plan))
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("the query to publish does not return rows"),
				 errhint("Give one SELECT (or VALUES) statement with a column named pattern.")));
	portal = SPI_cursor_open(NULL, plan, NULL, NULL, false);
	read_portal(content, portal);
	SPI_cursor_close(portal);
	SPI_finish();
	end_pack(content);
}

void
acdat_read_array(AcdatContent *content, ArrayType *array)
{
	Datum	   *values;
	bool	   *nulls;
	int			count;
	int			i;

	begin_pack(content);
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
					  &values, &nulls, &count);
	for (i = 0; i < count; i++)
	{
		acdat_pattern pattern;

		if (nulls[i])
			null_pattern_error(i + 1, "Use array_remove(patterns, NULL).");
		memset(&pattern, 0, sizeof(pattern));
		pattern.bytes = VARDATA_ANY(DatumGetTextPP(values[i]));
		pattern.len = VARSIZE_ANY_EXHDR(DatumGetTextPP(values[i]));
		pattern.id = i + 1;
		append_pattern(content, &pattern);
	}
	end_pack(content);
}
