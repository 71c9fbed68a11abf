/*-------------------------------------------------------------------------
 *
 * stats.c
 *	  How much dictionaries are used: what is shown, and beginning anew.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "shmem/mapping.h"
#include "shmem/stats.h"
#include "src/publish.h"

PG_FUNCTION_INFO_V1(acdat_scan_counters);
PG_FUNCTION_INFO_V1(acdat_stats_reset);

#define COUNTER_COLUMNS 7

/* What is shown of a dictionary, copied under the lock. */
typedef struct CounterRow
{
	Oid			database;
	pg_uuid_t	dictionary;
	NameData	name;
	Oid			owner;
	uint64		calls;
	uint64		bytes;
	uint64		matches;
	TimestampTz since;
} CounterRow;

/*
 * The newest state of the dictionary that counters are for, unless it has
 * none that is committed, or ended.  registry->lock must be held.
 */
static AcdatEntry *
counted_entry(const AcdatStats *stats)
{
	AcdatEntry *entry;

	if (stats->users == 0)
		return NULL;
	entry = acdat_newest_entry(stats->database, &stats->dictionary, NULL);
	return entry != NULL && !entry->dropped ? entry : NULL;
}

static int
copy_counters(CounterRow *rows)
{
	int			count = 0;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	for (i = 0; i < acdat_registry->stats_used; i++)
	{
		AcdatStats *stats = &acdat_registry->stats[i];
		AcdatEntry *entry = counted_entry(stats);
		CounterRow *row = &rows[count];

		if (entry == NULL)
			continue;
		row->database = stats->database;
		row->dictionary = stats->dictionary;
		row->name = entry->name;
		row->owner = entry->owner;
		row->calls = pg_atomic_read_u64(&stats->calls);
		row->bytes = pg_atomic_read_u64(&stats->bytes);
		row->matches = pg_atomic_read_u64(&stats->matches);
		row->since = (TimestampTz) pg_atomic_read_u64(&stats->since);
		count++;
	}
	LWLockRelease(acdat_registry->lock);
	return count;
}

/*
 * acdat.scan_counters() returns setof record; empty without preload.  What
 * this process counted is added up first, so that a session sees its own.
 */
Datum
acdat_scan_counters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	CounterRow *rows;
	int			count;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	if (acdat_registry == NULL)
		return (Datum) 0;
	acdat_mapping_flush_counts();
	rows = palloc(acdat_max_stats() * sizeof(CounterRow));
	count = copy_counters(rows);
	for (i = 0; i < count; i++)
	{
		CounterRow *row = &rows[i];
		Datum		values[COUNTER_COLUMNS];
		bool		nulls[COUNTER_COLUMNS] = {0};

		values[0] = ObjectIdGetDatum(row->database);
		values[1] = NameGetDatum(&row->name);
		values[2] = UUIDPGetDatum(&row->dictionary);
		values[3] = Int64GetDatum((int64) row->calls);
		values[4] = Int64GetDatum((int64) row->bytes);
		values[5] = Int64GetDatum((int64) row->matches);
		values[6] = TimestampTzGetDatum(row->since);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	pfree(rows);
	return (Datum) 0;
}

/* Begin anew for one dictionary, if it is still there. */
static void
restart_dictionary(Oid database, const pg_uuid_t *dictionary)
{
	AcdatStats *stats;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	stats = acdat_stats_find(database, dictionary);
	if (stats != NULL)
		acdat_stats_restart(stats);
	LWLockRelease(acdat_registry->lock);
}

static void
restart_by_name(const char *name)
{
	AcdatEntry	copy;
	AcdatEntry *entry;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	entry = acdat_find_by_name(MyDatabaseId, name, NULL);
	if (entry != NULL)
		copy = *entry;
	LWLockRelease(acdat_registry->lock);
	if (entry == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dictionary \"%s\" does not exist", name)));
	acdat_require_owner(copy.owner, name);
	restart_dictionary(copy.database, &copy.dictionary);
}

/*
 * Begin anew for all dictionaries of the cluster that the user owns.  Roles
 * are looked up outside the lock.
 */
static void
restart_owned(void)
{
	CounterRow *rows = palloc(acdat_max_stats() * sizeof(CounterRow));
	int			count = copy_counters(rows);
	int			i;

	for (i = 0; i < count; i++)
	{
		if (acdat_owns(rows[i].owner))
			restart_dictionary(rows[i].database, &rows[i].dictionary);
	}
	pfree(rows);
}

/* acdat.stats_reset(name text) returns void; NULL: whatever one owns */
Datum
acdat_stats_reset(PG_FUNCTION_ARGS)
{
	acdat_require_registry();
	acdat_mapping_flush_counts();
	if (PG_ARGISNULL(0))
		restart_owned();
	else
		restart_by_name(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}
