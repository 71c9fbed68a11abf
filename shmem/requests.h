/*-------------------------------------------------------------------------
 *
 * requests.h
 *	  Requests to publish a dictionary again, because a table that it is
 *	  attached to has changed.
 *
 * Lifetimes
 *	A request is made, or repeated, by the backend whose transaction changed
 *	the table, when it has committed.  It is due a while after the last
 *	change, and not much later than the first.  A publisher, started by the
 *	launcher and at most one per database, takes it, and says how it ended.
 *	The slot then stays, for the view, until the dictionary is gone, the
 *	database is, or another dictionary needs it.
 *
 *	A publisher that dies leaves the request running; the launcher, which
 *	sees it end, makes it due again.  When shared memory is set up anew,
 *	requests are lost: the first load of a database therefore requests all
 *	attached dictionaries, whose publishing is skipped if nothing changed.
 *
 * Lock
 *	registry->lock protects every field.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_REQUESTS_H
#define ACDAT_REQUESTS_H

#include "postgres.h"

#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "shmem/registry.h"

/* However many changes follow, publishing waits for so many delays at most. */
#define ACDAT_REQUEST_MAX_DELAYS 10

/* What failed is tried again after this time. */
#define ACDAT_REQUEST_RETRY_MS 60000

typedef struct AcdatRequest
{
	Oid			database;		/* InvalidOid = free slot */
	pg_uuid_t	dictionary;
	uint64		wanted;			/* counts the changes */
	uint64		started;		/* wanted when a publisher took it */
	uint64		finished;		/* started when it was done */
	bool		running;
	bool		failed;			/* the last try; error says why */
	TimestampTz first;			/* of the changes not taken */
	TimestampTz last;
	TimestampTz due;			/* while wanted > finished and not running */
	TimestampTz ended;			/* of the last try, 0 = none */
	int64		version;		/* current after the last success, 0 = none */
	char		error[ACDAT_ERROR_BYTES];
} AcdatRequest;

/* One slot for each dictionary there can be. */
extern int	acdat_max_requests(void);

/*
 * Ask for a dictionary to be published again in so many milliseconds, unless
 * there are more changes.  Does nothing if there is no free slot.
 */
extern void acdat_request_republish(Oid database, const pg_uuid_t *dictionary,
									int delay_ms);

/* ---- for the launcher ---- */

/*
 * A database that has a request which is due, of those after the one given
 * (InvalidOid: of all), or InvalidOid.  *next is lowered to the time when the
 * first of the others is due.
 */
extern Oid	acdat_database_with_due_request(Oid after, TimestampTz now,
											TimestampTz *next);

/* No publisher of this database runs: what it left running is due again. */
extern void acdat_requests_abandoned(Oid database);

/* The database is gone. */
extern void acdat_requests_purge(Oid database);

/* ---- for publishers ---- */

/* Take a request that is due; false if there is none. */
extern bool acdat_request_take(Oid database, AcdatRequest *request);

/*
 * Say how a request taken ended: with an error (NULL: with none) and the
 * version that is current, or 0 if there is no such dictionary any more.
 */
extern void acdat_request_end(const AcdatRequest *request, int64 version,
							  const char *error);

#endif							/* ACDAT_REQUESTS_H */
