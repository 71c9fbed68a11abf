/*-------------------------------------------------------------------------
 *
 * publish_state.c
 *	  Entering changes into the registry, and noticing changes of the tables
 *	  that were made by other means.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_database.h"
#include "catalog/pg_extension.h"
#include "commands/extension.h"
#include "commands/trigger.h"
#include "miscadmin.h"
#include "utils/snapmgr.h"

#include "shmem/fault.h"
#include "shmem/shmem_compat.h"
#include "shmem/sweep.h"
#include "src/publish.h"

PG_FUNCTION_INFO_V1(acdat_notify_change);

/* This transaction entered a state: tell the launcher when it ends. */
static bool states_entered = false;

/* This transaction changed the tables by other means: load when it commits. */
static bool tables_changed = false;

/* This transaction dropped a database: its dictionaries must go. */
static bool database_dropped = false;

static bool watching = false;
static object_access_hook_type prev_object_access_hook = NULL;

/*
 * After commit the launcher is asked to look at the tables, or woken so that
 * it removes what is superseded or aborted.  Nothing here can fail.
 */
static void
publish_xact_callback(XactEvent event, void *arg)
{
	switch (event)
	{
		case XACT_EVENT_PRE_PREPARE:
			if (states_entered)
				ereport(ERROR,
						(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
						 errmsg("cannot PREPARE a transaction that has changed a dictionary")));
			break;
		case XACT_EVENT_PRE_COMMIT:
			if (states_entered)
				ACDAT_FAULT(publish_committing);
			break;
		case XACT_EVENT_COMMIT:
		case XACT_EVENT_PREPARE:
			if (states_entered)
				ACDAT_FAULT(publish_committed);
			if (tables_changed)
				(void) acdat_request_load(MyDatabaseId);
			else if (states_entered)
				acdat_wake_launcher();
			if (database_dropped)
				acdat_request_review();
			states_entered = tables_changed = database_dropped = false;
			break;
		case XACT_EVENT_ABORT:
			if (states_entered)
				ACDAT_FAULT(publish_aborted);
			if (states_entered)
				acdat_wake_launcher();
			states_entered = tables_changed = database_dropped = false;
			break;
		default:
			break;
	}
}

void
acdat_watch_transactions(void)
{
	if (watching)
		return;
	RegisterXactCallback(publish_xact_callback, NULL);
	watching = true;
}

/*
 * Row trigger on both tables, ENABLE ALWAYS so that it also fires for the
 * apply workers of logical replication: has the database loaded when the
 * transaction commits, unless publish() and its kin do the writing.
 */
Datum
acdat_notify_change(PG_FUNCTION_ARGS)
{
	TriggerData *trigger = (TriggerData *) fcinfo->context;

	if (!CALLED_AS_TRIGGER(fcinfo))
		ereport(ERROR,
				(errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
				 errmsg("function must be called as a trigger")));
	if (acdat_registry != NULL && !acdat_changing_rows)
	{
		acdat_watch_transactions();
		tables_changed = true;
	}
	if (TRIGGER_FIRED_BY_UPDATE(trigger->tg_event))
		return PointerGetDatum(trigger->tg_newtuple);
	return PointerGetDatum(trigger->tg_trigtuple);
}

/*
 * All dictionaries of this database end with this transaction, if it
 * commits.
 */
static void
end_all_dictionaries(void)
{
	AcdatRegistry *registry = acdat_registry;
	AcdatEntry	stamp;
	int			used;
	int			i;

	memset(&stamp, 0, sizeof(stamp));
	acdat_watch_transactions();
	acdat_stamp_entry(&stamp);
	LWLockAcquire(registry->lock, LW_EXCLUSIVE);
	used = registry->entries_used;
	for (i = 0; i < used; i++)
	{
		AcdatEntry *entry = &registry->entries[i];
		AcdatEntry	end;

		if (entry->serial == 0 || entry->dropped ||
			entry->database != MyDatabaseId ||
			acdat_newest_entry(MyDatabaseId, &entry->dictionary,
							   NULL) != entry)
			continue;
		end = *entry;
		end.sequence = 0;
		end.dropped = true;
		end.machine = -1;
		end.xid = stamp.xid;
		end.cid = stamp.cid;
		end.xid_state = stamp.xid_state;

		/* should there be no room, the loader ends it after the commit */
		(void) acdat_entry_insert(&end);
	}
	LWLockRelease(registry->lock);
}

/*
 * DROP EXTENSION, in whatever way it comes about, ends all dictionaries of
 * the database; so does DROP DATABASE.
 */
static void
publish_object_access(ObjectAccessType access, Oid class_id, Oid object_id,
					  int sub_id, void *arg)
{
	if (prev_object_access_hook)
		prev_object_access_hook(access, class_id, object_id, sub_id, arg);
	if (access != OAT_DROP)
		return;
	if (class_id == ExtensionRelationId &&
		object_id == get_extension_oid(ACDAT_EXTENSION_NAME, true))
	{
		end_all_dictionaries();
		tables_changed = true;
	}
	else if (class_id == DatabaseRelationId)
	{
		acdat_watch_transactions();
		database_dropped = true;
	}
}

void
acdat_install_drop_hook(void)
{
	prev_object_access_hook = object_access_hook;
	object_access_hook = publish_object_access;
}

void
acdat_stamp_entry(AcdatEntry *entry)
{
	entry->xid = GetCurrentTransactionId();
	entry->cid = GetCurrentCommandId(true);
	entry->xid_state = ACDAT_XID_OPEN;
	states_entered = true;
}

/* Wait until the newest state this transaction sees is not LOADING. */
static void
wait_until_loaded(const AcdatDictionaryRow *row)
{
	bool		loading = true;

	ConditionVariablePrepareToSleep(&acdat_registry->changed);
	while (loading)
	{
		AcdatEntry *entry;

		LWLockAcquire(acdat_registry->lock, LW_SHARED);
		entry = acdat_newest_entry(MyDatabaseId, &row->id,
								   GetActiveSnapshot());
		loading = (entry != NULL && entry->load == ACDAT_LOADING);
		LWLockRelease(acdat_registry->lock);
		if (loading)
			ConditionVariableSleep(&acdat_registry->changed,
								   acdat_wait_event(ACDAT_WAIT_LOAD));
	}
	ConditionVariableCancelSleep();
}

/*
 * Enter a state that follows the newest one this transaction sees, with its
 * machine.  False if that one began to load meanwhile: the machine that comes
 * would not reach the copy.
 */
static bool
try_enter_state(AcdatEntry *fresh, bool *full)
{
	AcdatEntry *newest;
	bool		loading = false;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	newest = acdat_newest_entry(MyDatabaseId, &fresh->dictionary,
								GetActiveSnapshot());
	if (newest != NULL && !fresh->dropped)
	{
		loading = (newest->load == ACDAT_LOADING);
		fresh->patterns = newest->patterns;
		fresh->load = newest->load;
		fresh->sqlerrcode = newest->sqlerrcode;
		strlcpy(fresh->error, newest->error, ACDAT_ERROR_BYTES);
		fresh->machine = newest->machine;
	}
	if (!loading)
		*full = (acdat_entry_insert(fresh) == NULL);
	LWLockRelease(acdat_registry->lock);
	return !loading;
}

void
acdat_enter_state(const AcdatDictionaryRow *row, bool dropped)
{
	AcdatEntry	fresh;
	bool		full = false;

	acdat_entry_from_row(&fresh, row);
	acdat_stamp_entry(&fresh);
	fresh.dropped = dropped;
	ACDAT_FAULT(change_stamped);

	/* what was not loaded yet is loaded when it is wanted */
	fresh.load = ACDAT_EVICTED;
	acdat_make_room();
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
	do
	{
		if (!dropped)
			wait_until_loaded(row);
	} while (!try_enter_state(&fresh, &full));
	PopActiveSnapshot();
	if (full)
		acdat_registry_full_error();
	ACDAT_FAULT(change_entered);
}
