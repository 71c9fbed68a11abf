/*-------------------------------------------------------------------------
 *
 * redacted_view.c
 *	  create_redacted_view(): rules on read.
 *
 * The view has the columns of its table in their order and with their types,
 * some of them redacted, and may be read by whoever may read the table.  It
 * is made as, and belongs to, the owner of the table, whose rights reading a
 * view takes; so roles that shall see redacted text only need no right on
 * the table.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "src/pgcompat.h"
#include "src/publish.h"
#include "src/redact.h"

PG_FUNCTION_INFO_V1(acdat_create_redacted_view);

#define VIEW_SUFFIX "_redacted"

/* What the arguments say; literals are quoted. */
typedef struct RedactedView
{
	Relation	relation;
	const char *name;			/* qualified and quoted */
	const char *call_end;		/* arguments of redact() after the value */
	char	  **columns;
	int			count;
} RedactedView;

static const char *
literal_or_null(FunctionCallInfo fcinfo, int argument)
{
	if (PG_ARGISNULL(argument))
		return "NULL";
	return quote_literal_cstr(text_to_cstring(PG_GETARG_TEXT_PP(argument)));
}

/* The tags to be redacted as an argument, nothing for all. */
static const char *
tags_argument(FunctionCallInfo fcinfo, int argument)
{
	if (PG_ARGISNULL(argument))
		return "";
	return psprintf(", %s::pg_catalog.text[]",
					quote_literal_cstr(OidOutputFunctionCall(F_ARRAY_OUT,
															 PG_GETARG_DATUM(argument))));
}

/* The names of the columns to be redacted. */
static void
read_columns(RedactedView *view, ArrayType *array)
{
	Datum	   *values;
	bool	   *nulls;
	int			i;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT,
					  &values, &nulls, &view->count);
	view->columns = palloc(view->count * sizeof(char *));
	for (i = 0; i < view->count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("column name must not be null")));
		view->columns[i] = TextDatumGetCString(values[i]);
	}
	if (view->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("no column to be redacted is given")));
}

static bool
is_redacted(const RedactedView *view, const char *column)
{
	int			i;

	for (i = 0; i < view->count; i++)
	{
		if (strcmp(view->columns[i], column) == 0)
			return true;
	}
	return false;
}

/*
 * Only what a view can stand for.  Reading it takes the rights of the owner
 * of the table, whom row security does not bind.
 */
static void
check_relation(Relation relation)
{
	Form_pg_class form = RelationGetForm(relation);

	if (form->relkind != RELKIND_RELATION &&
		form->relkind != RELKIND_PARTITIONED_TABLE &&
		form->relkind != RELKIND_FOREIGN_TABLE &&
		form->relkind != RELKIND_MATVIEW && form->relkind != RELKIND_VIEW)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a table or view",
						RelationGetRelationName(relation))));
	if (form->relrowsecurity)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("table \"%s\" has row security",
						RelationGetRelationName(relation)),
				 errdetail("The view would show all rows to everybody who may read it."),
				 errhint("Write the view by hand, with a condition of its own.")));
	if (!superuser() && !has_privs_of_role(GetUserId(), form->relowner))
		aclcheck_error(ACLCHECK_NOT_OWNER,
					   get_relkind_objtype(form->relkind),
					   RelationGetRelationName(relation));
}

static void
execute(const char *statement, int expected)
{
	int			result = SPI_execute(statement, false, 0);

	if (result != expected)
		elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
}

/* A dictionary, style or mask that cannot be used is an error already here. */
static void
try_redact(const RedactedView *view)
{
	execute(psprintf("SELECT acdat.redact(''::pg_catalog.text%s", view->call_end),
			SPI_OK_SELECT);
}

static void
create_view(const RedactedView *view)
{
	TupleDesc	descriptor = RelationGetDescr(view->relation);
	const char *separator = "";
	StringInfoData sql;
	int			i;

	initStringInfo(&sql);
	appendStringInfo(&sql, "CREATE OR REPLACE VIEW %s AS SELECT ", view->name);
	for (i = 0; i < descriptor->natts; i++)
	{
		Form_pg_attribute attribute = TupleDescAttr(descriptor, i);
		const char *column = quote_identifier(NameStr(attribute->attname));

		if (attribute->attisdropped)
			continue;
		if (is_redacted(view, NameStr(attribute->attname)))
			appendStringInfo(&sql, "%sacdat.redact(t.%s%s::%s AS %s",
							 separator, column, view->call_end,
							 format_type_with_typemod(attribute->atttypid,
													  attribute->atttypmod),
							 column);
		else
			appendStringInfo(&sql, "%st.%s", separator, column);
		separator = ", ";
	}
	appendStringInfo(&sql, " FROM %s t",
					 quote_qualified_identifier(get_namespace_name(RelationGetNamespace(view->relation)),
												RelationGetRelationName(view->relation)));
	execute(sql.data, SPI_OK_UTILITY);
}

/* The statement of one row of the query below. */
static char *
grant_statement(const RedactedView *view, HeapTuple tuple, TupleDesc desc)
{
	char	   *column = SPI_getvalue(tuple, desc, 1);
	char	   *role = SPI_getvalue(tuple, desc, 2);
	char	   *grantable = SPI_getvalue(tuple, desc, 3);

	return psprintf("GRANT SELECT%s%s%s ON %s TO %s%s",
					column ? " (" : "", column ? quote_identifier(column) : "",
					column ? ")" : "", view->name,
					role ? quote_identifier(role) : "PUBLIC",
					strcmp(grantable, "t") == 0 && role ? " WITH GRANT OPTION" : "");
}

/* Whoever may read the table, or columns of it, may read them in the view. */
static void
copy_grants(const RedactedView *view)
{
	char	   *query;
	char	  **statements;
	uint64		count;
	uint64		i;

	query = psprintf("SELECT x.attname, r.rolname, x.is_grantable FROM"
					 " (SELECT NULL::pg_catalog.name AS attname, a.* FROM pg_catalog.pg_class c,"
					 "   pg_catalog.aclexplode(c.relacl) a WHERE c.oid OPERATOR(pg_catalog.=) %u"
					 "  UNION ALL"
					 "  SELECT t.attname, a.* FROM pg_catalog.pg_attribute t,"
					 "   pg_catalog.aclexplode(t.attacl) a WHERE t.attrelid OPERATOR(pg_catalog.=) %u"
					 "   AND NOT t.attisdropped AND t.attnum OPERATOR(pg_catalog.>) 0) x"
					 " LEFT JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) x.grantee"
					 " WHERE x.privilege_type OPERATOR(pg_catalog.=) 'SELECT'",
					 RelationGetRelid(view->relation),
					 RelationGetRelid(view->relation));
	execute(query, SPI_OK_SELECT);
	count = SPI_processed;
	statements = palloc((count + 1) * sizeof(char *));
	for (i = 0; i < count; i++)
		statements[i] = grant_statement(view, SPI_tuptable->vals[i],
										SPI_tuptable->tupdesc);
	for (i = 0; i < count; i++)
		execute(statements[i], SPI_OK_UTILITY);
}

/* Make the view, as the owner of the table, if the caller may use the dictionary. */
static void
make_as_owner(const RedactedView *view)
{
	AcdatFormerRole former;

	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	try_redact(view);
	acdat_become(&former, RelationGetForm(view->relation)->relowner,
				 ACDAT_SAFE_PATH);
	create_view(view);
	copy_grants(view);
	acdat_become_former(&former);
	SPI_finish();
}

/* The name of the view, qualified with the schema of the table. */
static const char *
view_name(FunctionCallInfo fcinfo, Relation relation, int argument)
{
	char	   *name;

	name = PG_ARGISNULL(argument) ?
		psprintf("%s%s", RelationGetRelationName(relation), VIEW_SUFFIX) :
		text_to_cstring(PG_GETARG_TEXT_PP(argument));
	if (name[0] == '\0' || strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("name of the view must have 1 to %d bytes",
						NAMEDATALEN - 1),
				 errhint("Give a name for the view.")));
	return quote_qualified_identifier(get_namespace_name(RelationGetNamespace(relation)),
									  name);
}

/*
 * create_redacted_view(source regclass, dictionary text, columns text[],
 * style text, mask text, view_name text, tags text[]) returns regclass
 */
Datum
acdat_create_redacted_view(PG_FUNCTION_ARGS)
{
	static const char *const required[] = {"source", "dictionary", "columns"};
	RedactedView view;
	Datum		result;
	int			i;

	for (i = 0; i < (int) lengthof(required); i++)
	{
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("parameter \"%s\" must not be null", required[i])));
	}
	read_columns(&view, PG_GETARG_ARRAYTYPE_P(2));
	view.relation = table_open(PG_GETARG_OID(0), AccessShareLock);
	check_relation(view.relation);
	for (i = 0; i < view.count; i++)
		(void) acdat_redactable_column(view.relation, view.columns[i]);
	view.name = view_name(fcinfo, view.relation, 5);
	view.call_end = psprintf(", %s::pg_catalog.text%s, %s, %s)",
							 literal_or_null(fcinfo, 1),
							 tags_argument(fcinfo, 6),
							 PG_ARGISNULL(3) ? "'chars'" : literal_or_null(fcinfo, 3),
							 literal_or_null(fcinfo, 4));
	make_as_owner(&view);
	table_close(view.relation, NoLock);
	result = DirectFunctionCall1(regclassin, CStringGetDatum(view.name));
	PG_RETURN_DATUM(result);
}
