/*-------------------------------------------------------------------------
 *
 * redact_trigger.c
 *	  redact_trigger(): rules on write.
 *
 * A row gets through only when all values of its columns, but NULLs, were
 * scanned with the dictionary, by a user who may: whatever stands in the way
 * is an error.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_collation.h"
#include "commands/trigger.h"
#include "utils/builtins.h"
#include "utils/rel.h"

#include "src/pgcompat.h"
#include "src/redact.h"

PG_FUNCTION_INFO_V1(acdat_redact_trigger);

/* A column to be redacted. */
typedef struct TriggerColumn
{
	int			number;
	AcdatCallSite site;
} TriggerColumn;

/* Kept in fn_extra: what the trigger's arguments say. */
typedef struct TriggerSite
{
	Size		name_len;		/* of the dictionary, the first argument */
	text	   *style;			/* NULL: the default */
	text	   *mask;
	ArrayType  *tags;			/* NULL: of all patterns */
	int			count;
	TriggerColumn columns[FLEXIBLE_ARRAY_MEMBER];
} TriggerSite;

/* Raise unless called for rows that can still be changed. */
static void
check_call(FunctionCallInfo fcinfo)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						"redact_trigger")));
	if (!TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		!TRIGGER_FIRED_BEFORE(data->tg_event) ||
		!(TRIGGER_FIRED_BY_INSERT(data->tg_event) ||
		  TRIGGER_FIRED_BY_UPDATE(data->tg_event)))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" cannot redact what it is fired for",
						data->tg_trigger->tgname),
				 errhint("Create it BEFORE INSERT OR UPDATE, FOR EACH ROW.")));
}

/* What stands behind "name=" in an argument, or NULL. */
static const char *
option_value(const char *argument, const char *name)
{
	Size		len = strlen(name);

	return strncmp(argument, name, len) == 0 && argument[len] == '=' ?
		argument + len + 1 : NULL;
}

/* Take an argument that is an option, in memory of the call site. */
static bool
take_option(TriggerSite *site, const char *argument)
{
	const char *value;

	if ((value = option_value(argument, "style")) != NULL)
		site->style = cstring_to_text(value);
	else if ((value = option_value(argument, "mask")) != NULL)
		site->mask = cstring_to_text(value);
	else if ((value = option_value(argument, "tags")) != NULL)
		site->tags = DatumGetArrayTypeP(DirectFunctionCall2Coll(text_to_array,
																C_COLLATION_OID,
																CStringGetTextDatum(value),
																CStringGetTextDatum(",")));
	else
		return false;
	return true;
}

static void
find_column(TriggerColumn *column, Relation relation, const char *name)
{
	int			number = acdat_redactable_column(relation, name);
	Form_pg_attribute attribute = TupleDescAttr(RelationGetDescr(relation),
												number - 1);

	if (attribute->attgenerated != '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_COLUMN_REFERENCE),
				 errmsg("column \"%s\" is generated and cannot be redacted", name),
				 errhint("Redact the columns it is generated from.")));
	column->number = number;
	acdat_site_for_type(&column->site, attribute->atttypid);
}

/* What the arguments say, found out at the first row of a statement. */
static TriggerSite *
trigger_site(FunctionCallInfo fcinfo)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	const Trigger *trigger = data->tg_trigger;
	TriggerSite *site = fcinfo->flinfo->fn_extra;
	MemoryContext old;
	int			i;

	if (site != NULL)
		return site;
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	site = palloc0(offsetof(TriggerSite, columns) +
				   trigger->tgnargs * sizeof(TriggerColumn));
	for (i = 1; i < trigger->tgnargs; i++)
	{
		if (!take_option(site, trigger->tgargs[i]))
			find_column(&site->columns[site->count++], data->tg_relation,
						trigger->tgargs[i]);
	}
	MemoryContextSwitchTo(old);
	if (site->count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("trigger \"%s\" has too few arguments",
						trigger->tgname),
				 errhint("Give the name of a dictionary and those of the columns to be redacted.")));
	site->name_len = strlen(trigger->tgargs[0]);
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/* A column's value as it may be stored. */
static Datum
redact_column(FunctionCallInfo fcinfo, const TriggerSite *site,
			  TriggerColumn *column, Datum value)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	const AcdatMachineRef *ref;
	AcdatRewriter rewriter;

	ref = acdat_site_dictionary(&column->site, data->tg_trigger->tgargs[0],
								site->name_len);
	if (site->tags != NULL)
		acdat_site_restrict(&column->site, fcinfo->flinfo->fn_mcxt,
							PointerGetDatum(site->tags), ref);
	acdat_rewriter_begin(&rewriter, &column->site, ref);
	acdat_rewriter_style(&rewriter, site->style, site->mask);
	return acdat_rewrite_datum(&rewriter, column->site.value_type, value);
}

/*
 * redact_trigger(dictionary, column or option, ...) returns trigger; hides in
 * the columns what a pattern of the dictionary matches.  Options are style=...,
 * mask=... and tags=...,...
 */
Datum
acdat_redact_trigger(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	TupleDesc	descriptor;
	TriggerSite *site;
	HeapTuple	row;
	int			i;

	check_call(fcinfo);
	site = trigger_site(fcinfo);
	descriptor = RelationGetDescr(data->tg_relation);
	row = TRIGGER_FIRED_BY_UPDATE(data->tg_event) ?
		data->tg_newtuple : data->tg_trigtuple;
	for (i = 0; i < site->count; i++)
	{
		TriggerColumn *column = &site->columns[i];
		bool		isnull;
		Datum		value = heap_getattr(row, column->number, descriptor,
										 &isnull);
		Datum		redacted;

		if (isnull)
			continue;
		redacted = redact_column(fcinfo, site, column, value);
		if (redacted != value)
			row = heap_modify_tuple_by_cols(row, descriptor, 1,
											&column->number, &redacted,
											&isnull);
	}
	return PointerGetDatum(row);
}
