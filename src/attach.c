/*-------------------------------------------------------------------------
 *
 * attach.c
 *	  attach(), detach(): dictionaries that follow a table.
 *
 * A statement trigger notes the dictionary; when the transaction has
 * committed, a request (shmem/requests.h) has a background worker publish it
 * again from its query, a while after the last change.  So writers of the
 * table need no right to publish, never wait for a compile, and a query that
 * fails is no concern of theirs.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_class.h"
#include "commands/trigger.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"
#include "utils/tuplestore.h"

#include "shmem/attachments.h"
#include "shmem/fault.h"
#include "shmem/requests.h"
#include "src/publish.h"

PG_FUNCTION_INFO_V1(acdat_attach);
PG_FUNCTION_INFO_V1(acdat_detach);
PG_FUNCTION_INFO_V1(acdat_attached_change);
PG_FUNCTION_INFO_V1(acdat_republish_requests);

#define REQUEST_COLUMNS 7

/* What this transaction must request when it commits, in TopTransactionContext. */
static List *changes = NIL;
static bool watching = false;

/* Nothing here can fail once the transaction has committed. */
static void
attach_xact_callback(XactEvent event, void *arg)
{
	ListCell   *cell;

	switch (event)
	{
		case XACT_EVENT_PRE_PREPARE:
			if (changes != NIL)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has changed a table attached to a dictionary")));
			break;
		case XACT_EVENT_COMMIT:
			if (changes != NIL)
				ACDAT_FAULT(attach_committed);
			foreach(cell, changes)
			{
				const AcdatAttachment *attachment = lfirst(cell);

				acdat_request_republish(MyDatabaseId, &attachment->dictionary,
										attachment->delay_ms);
			}
			changes = NIL;
			break;
		case XACT_EVENT_ABORT:
			changes = NIL;
			break;
		default:
			break;
	}
}

/* Note a change, once per dictionary; the shortest delay counts. */
static void
note_change(const AcdatAttachment *attachment)
{
	MemoryContext old;
	ListCell   *cell;
	AcdatAttachment *copy;

	foreach(cell, changes)
	{
		AcdatAttachment *noted = lfirst(cell);

		if (memcmp(&noted->dictionary, &attachment->dictionary,
				   sizeof(pg_uuid_t)) != 0)
			continue;
		noted->delay_ms = Min(noted->delay_ms, attachment->delay_ms);
		return;
	}
	if (!watching)
		RegisterXactCallback(attach_xact_callback, NULL);
	watching = true;
	ACDAT_FAULT(attach_noted);
	old = MemoryContextSwitchTo(TopTransactionContext);
	copy = palloc(sizeof(AcdatAttachment));
	*copy = *attachment;
	changes = lappend(changes, copy);
	MemoryContextSwitchTo(old);
}

/*
 * Trigger function, for statements.  Without a preloaded library there is no
 * publishing to be done; the table can be changed nevertheless, and the next
 * start with the library makes up for it.
 */
Datum
acdat_attached_change(PG_FUNCTION_ARGS)
{
	const TriggerData *data = (const TriggerData *) fcinfo->context;
	const Trigger *trigger;
	AcdatAttachment attachment;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function \"%s\" was not called by trigger manager",
						ACDAT_ATTACHED_FUNCTION)));
	trigger = data->tg_trigger;
	if (TRIGGER_FIRED_FOR_ROW(data->tg_event) ||
		!TRIGGER_FIRED_AFTER(data->tg_event) || trigger->tgnargs != 2 ||
		!acdat_attachment_parse(trigger->tgargs[0], trigger->tgargs[1],
								&attachment))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("trigger \"%s\" was not made by acdat.attach()",
						trigger->tgname),
				 errhint("Drop it and call acdat.attach().")));
	if (acdat_registry != NULL)
		note_change(&attachment);
	return PointerGetDatum(NULL);
}

/* A delay in milliseconds. */
static int
delay_of(const Interval *interval)
{
	int64		us = interval->time;

	if (interval->month != 0 || interval->day != 0 || us < 0 ||
		us > (int64) ACDAT_ATTACH_MAX_DELAY_MS * 1000)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("parameter \"%s\" is out of range", "debounce"),
				 errhint("Use an interval from 0 to 1 hour.")));
	return (int) (us / 1000);
}

/* The user may not do more to the table than by CREATE TRIGGER. */
static void
check_table(Oid relid)
{
	AclResult	result = pg_class_aclcheck(relid, GetUserId(), ACL_TRIGGER);

	if (result != ACLCHECK_OK)
		aclcheck_error(result, get_relkind_objtype(get_rel_relkind(relid)),
					   get_rel_name(relid));
	if (get_rel_persistence(relid) == RELPERSISTENCE_TEMP)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("cannot attach a dictionary to a temporary table"),
				 errdetail("The background worker that publishes cannot read it.")));
}

/* Raise unless the dictionary has a query to publish it from. */
static void
check_has_query(const AcdatDictionaryRow *row)
{
	AcdatVersionRow *version;

	PushActiveSnapshot(GetTransactionSnapshot());
	version = acdat_read_version(&row->id, row->version, false,
								 GetActiveSnapshot());
	PopActiveSnapshot();
	if (version == NULL || version->source == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dictionary \"%s\" was not published from a query",
						NameStr(row->name)),
				 errhint("Publish it with a query that reads the table.")));
}

static char *
uuid_text(const pg_uuid_t *id)
{
	return DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(id)));
}

static const char *
qualified_name(Oid relid)
{
	return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
									  get_rel_name(relid));
}

/* acdat.attach(name text, source regclass, debounce interval) returns void */
Datum
acdat_attach(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Oid			relid = PG_GETARG_OID(1);
	int			delay_ms = delay_of(PG_GETARG_INTERVAL_P(2));
	AcdatDictionaryRow *row;
	char	   *id;

	acdat_require_writable("acdat.attach()");
	row = acdat_row_for_change(name, false);
	check_has_query(row);
	if (get_rel_name(relid) == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relid)));
	check_table(relid);
	id = uuid_text(&row->id);
	acdat_execute_utility(psprintf("CREATE OR REPLACE TRIGGER \"acdat_attach_%s\""
								   " AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s"
								   " FOR EACH STATEMENT EXECUTE FUNCTION %s.%s('%s', '%d')",
								   id, qualified_name(relid), ACDAT_SCHEMA_NAME,
								   ACDAT_ATTACHED_FUNCTION, id, delay_ms));
	ACDAT_FAULT(attach_created);
	PG_RETURN_VOID();
}

int
acdat_drop_attachments(const pg_uuid_t *dictionary, Oid relid)
{
	int			dropped = 0;
	ListCell   *cell;

	foreach(cell, acdat_read_attachments())
	{
		AcdatAttachment *attachment = lfirst(cell);

		if (memcmp(&attachment->dictionary, dictionary,
				   sizeof(pg_uuid_t)) != 0 ||
			(OidIsValid(relid) && attachment->relation != relid))
			continue;
		acdat_execute_utility(psprintf("DROP TRIGGER %s ON %s",
									   quote_identifier(NameStr(attachment->trigger)),
									   qualified_name(attachment->relation)));
		dropped++;
	}
	return dropped;
}

/* acdat.detach(name text, source regclass) returns void */
Datum
acdat_detach(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Oid			relid = PG_GETARG_OID(1);
	AcdatDictionaryRow *row;

	acdat_require_writable("acdat.detach()");
	row = acdat_row_for_change(name, false);
	if (acdat_drop_attachments(&row->id, relid) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dictionary \"%s\" is not attached to this table",
						name),
				 errhint("The view acdat.attachments lists what is attached.")));
	ACDAT_FAULT(detach_dropped);
	PG_RETURN_VOID();
}

/* An error may quote what the query read: for owners only. */
static bool
may_see_error(const AcdatRequest *request)
{
	AcdatEntry *entry;
	Oid			owner = InvalidOid;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	entry = acdat_newest_entry(request->database, &request->dictionary, NULL);
	if (entry != NULL)
		owner = entry->owner;
	LWLockRelease(acdat_registry->lock);
	return acdat_owns(owner);
}

static void
put_request(ReturnSetInfo *result, const AcdatRequest *request)
{
	Datum		values[REQUEST_COLUMNS] = {0};
	bool		nulls[REQUEST_COLUMNS] = {0};
	bool		waiting = request->wanted != request->finished;

	values[0] = UUIDPGetDatum(&request->dictionary);
	values[1] = CStringGetTextDatum(request->running ? "publishing" :
									request->failed ? "failed" :
									waiting ? "waiting" : "current");
	values[2] = TimestampTzGetDatum(request->last);
	values[3] = TimestampTzGetDatum(request->due);
	nulls[3] = request->running || !waiting;
	values[4] = TimestampTzGetDatum(request->ended);
	nulls[4] = (request->ended == 0);
	values[5] = Int64GetDatum(request->version);
	nulls[5] = (request->version == 0);
	nulls[6] = (request->error[0] == '\0' || !may_see_error(request));
	if (!nulls[6])
		values[6] = CStringGetTextDatum(request->error);
	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* acdat.republish_requests() returns setof record; empty without preload */
Datum
acdat_republish_requests(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	AcdatRequest *copy;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	if (acdat_registry == NULL)
		return (Datum) 0;
	copy = palloc(acdat_max_requests() * sizeof(AcdatRequest));
	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	memcpy(copy, acdat_registry->requests,
		   acdat_max_requests() * sizeof(AcdatRequest));
	LWLockRelease(acdat_registry->lock);
	for (i = 0; i < acdat_max_requests(); i++)
	{
		if (copy[i].database == MyDatabaseId)
			put_request(result, &copy[i]);
	}
	return (Datum) 0;
}
