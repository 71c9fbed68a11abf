/*-------------------------------------------------------------------------
 *
 * requests.c
 *	  Requests to publish a dictionary again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "shmem/requests.h"
#include "shmem/settings.h"

int
acdat_max_requests(void)
{
	return acdat_guc_max_dictionaries;
}

static bool
is_idle(const AcdatRequest *request)
{
	return request->wanted == request->finished && !request->running;
}

/*
 * The slot of a dictionary, made if asked; then one that tells of the past
 * only may have to go.  Lock held.
 */
static AcdatRequest *
find_request(Oid database, const pg_uuid_t *dictionary, bool create)
{
	AcdatRequest *usable = NULL;
	int			i;

	for (i = 0; i < acdat_max_requests(); i++)
	{
		AcdatRequest *request = &acdat_registry->requests[i];

		if (request->database == database &&
			memcmp(&request->dictionary, dictionary, sizeof(pg_uuid_t)) == 0)
			return request;
		if (request->database == InvalidOid ||
			(is_idle(request) &&
			 (usable == NULL || usable->database != InvalidOid)))
			usable = request;
	}
	if (!create || usable == NULL)
		return NULL;
	memset(usable, 0, sizeof(AcdatRequest));
	usable->database = database;
	usable->dictionary = *dictionary;
	return usable;
}

void
acdat_request_republish(Oid database, const pg_uuid_t *dictionary,
						int delay_ms)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz latest;
	AcdatRequest *request;
	bool		is_first = false;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	request = find_request(database, dictionary, true);
	if (request != NULL)
	{
		is_first = (request->wanted == request->started) || request->failed;
		if (request->wanted == request->started)
			request->first = now;
		request->wanted++;
		request->last = now;
		request->due = TimestampTzPlusMilliseconds(now, delay_ms);
		latest = TimestampTzPlusMilliseconds(request->first,
											 (int64) delay_ms * ACDAT_REQUEST_MAX_DELAYS);
		if (request->due > latest)
			request->due = latest;
	}
	LWLockRelease(acdat_registry->lock);

	/* later changes only put it off; the launcher sees that when it wakes */
	if (is_first)
		acdat_wake_launcher();
}

Oid
acdat_database_with_due_request(Oid after, TimestampTz now, TimestampTz *next)
{
	Oid			database = InvalidOid;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	for (i = 0; i < acdat_max_requests(); i++)
	{
		AcdatRequest *request = &acdat_registry->requests[i];

		if (request->database == InvalidOid || request->running ||
			is_idle(request))
			continue;
		if (request->due > now)
			*next = Min(*next, request->due);
		else if (request->database > after &&
				 (database == InvalidOid || request->database < database))
			database = request->database;
	}
	LWLockRelease(acdat_registry->lock);
	return database;
}

void
acdat_requests_abandoned(Oid database)
{
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < acdat_max_requests(); i++)
	{
		AcdatRequest *request = &acdat_registry->requests[i];

		if (request->database != database || !request->running)
			continue;
		request->running = false;
		request->failed = true;
		request->ended = GetCurrentTimestamp();
		request->due = TimestampTzPlusMilliseconds(request->ended, 1000);
		strlcpy(request->error, "the publisher ended before it was done; see the server log",
				ACDAT_ERROR_BYTES);
	}
	LWLockRelease(acdat_registry->lock);
}

void
acdat_requests_purge(Oid database)
{
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < acdat_max_requests(); i++)
	{
		if (acdat_registry->requests[i].database == database)
			acdat_registry->requests[i].database = InvalidOid;
	}
	LWLockRelease(acdat_registry->lock);
}

bool
acdat_request_take(Oid database, AcdatRequest *result)
{
	TimestampTz now = GetCurrentTimestamp();
	bool		found = false;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < acdat_max_requests() && !found; i++)
	{
		AcdatRequest *request = &acdat_registry->requests[i];

		if (request->database != database || request->running ||
			is_idle(request) || request->due > now)
			continue;
		request->running = true;
		request->started = request->wanted;
		*result = *request;
		found = true;
	}
	LWLockRelease(acdat_registry->lock);
	return found;
}

void
acdat_request_end(const AcdatRequest *taken, int64 version, const char *error)
{
	AcdatRequest *request;

	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	request = find_request(taken->database, &taken->dictionary, false);
	if (request != NULL && request->running)
	{
		request->running = false;
		request->failed = (error != NULL);
		request->ended = GetCurrentTimestamp();
		strlcpy(request->error, error ? error : "", ACDAT_ERROR_BYTES);
		if (error == NULL)
		{
			request->finished = taken->started;
			request->version = version;
			if (version == 0)
				request->database = InvalidOid;
		}
		else if (request->wanted == taken->started)
			request->due = TimestampTzPlusMilliseconds(request->ended,
													   ACDAT_REQUEST_RETRY_MS);
	}
	LWLockRelease(acdat_registry->lock);
}
