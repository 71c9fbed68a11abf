/*-------------------------------------------------------------------------
 *
 * publisher.c
 *	  The background worker that publishes attached dictionaries again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/xact.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/lwlock.h"
#include "utils/elog.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "shmem/fault.h"
#include "shmem/requests.h"
#include "shmem/worker.h"
#include "src/publish.h"

/* One transaction per dictionary; returns the version that is current. */
static int64
publish_again(const AcdatRequest *request)
{
	int64		version;

	ACDAT_FAULT(request_taken);
	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	pgstat_report_activity(STATE_RUNNING, "publishing an attached dictionary");
	PushActiveSnapshot(GetTransactionSnapshot());
	version = acdat_republish_changed(&request->dictionary);
	PopActiveSnapshot();
	CommitTransactionCommand();
	ACDAT_FAULT(request_published);
	pgstat_report_activity(STATE_IDLE, NULL);
	return version;
}

/*
 * The log gets the code of an error only: its text may quote what the query
 * read.  The view shows the text to owners.
 */
static void
handle_request(const AcdatRequest *request)
{
	MemoryContext context = CurrentMemoryContext;
	volatile int64 version = 0;
	ErrorData  *volatile failure = NULL;

	PG_TRY();
	{
		version = publish_again(request);
	}
	PG_CATCH();
	{
		MemoryContextSwitchTo(context);
		failure = CopyErrorData();
		FlushErrorState();
		AbortCurrentTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(context);
	acdat_request_end(request, version, failure ? failure->message : NULL);
	if (failure == NULL)
		return;
	ereport(LOG,
			(errmsg("could not publish an attached dictionary again"),
			 errdetail("SQLSTATE: %s.", unpack_sql_state(failure->sqlerrcode)),
			 errhint("The view acdat.attachments shows the error to the owner of the dictionary.")));
	FreeErrorData(failure);
}

/* main_arg: oid of the database. */
void
acdat_publisher_main(Datum main_arg)
{
	Oid			database = DatumGetObjectId(main_arg);
	AcdatRequest request;

	acdat_worker_initialize(database);
	ACDAT_FAULT(publisher_connected);
	MemoryContextSwitchTo(AllocSetContextCreate(TopMemoryContext,
												"acdat_bgw publisher",
												ALLOCSET_DEFAULT_SIZES));
	while (acdat_request_take(database, &request))
	{
		handle_request(&request);
		MemoryContextReset(CurrentMemoryContext);
		CHECK_FOR_INTERRUPTS();
	}
}
