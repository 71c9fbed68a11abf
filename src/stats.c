/*-------------------------------------------------------------------------
 *
 * stats.c
 *	  How much dictionaries are used: what is shown, and beginning anew.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_authid.h"
#include "fmgr.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/tuplestore.h"

#include "shmem/mapping.h"
#include "shmem/stats.h"
#include "src/publish.h"

PG_FUNCTION_INFO_V1(acdat_scan_counters);
PG_FUNCTION_INFO_V1(acdat_pattern_hit_counters);
PG_FUNCTION_INFO_V1(acdat_stats_reset);

#define COUNTER_COLUMNS 8
#define HIT_COLUMNS 5

/* What is shown of a dictionary, copied under the lock. */
typedef struct CounterRow
{
	int			index;			/* of its counters */
	Oid			database;
	pg_uuid_t	dictionary;
	NameData	name;
	Oid			owner;
	uint64		calls;
	uint64		bytes;
	uint64		matches;
	uint64		untracked_hits;
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

/* registry->lock must be held. */
static int
copy_counters(CounterRow *rows)
{
	int			count = 0;
	int			i;

	for (i = 0; i < acdat_registry->stats_used; i++)
	{
		AcdatStats *stats = &acdat_registry->stats[i];
		AcdatEntry *entry = counted_entry(stats);
		CounterRow *row = &rows[count];

		if (entry == NULL)
			continue;
		row->index = i;
		row->database = stats->database;
		row->dictionary = stats->dictionary;
		row->name = entry->name;
		row->owner = entry->owner;
		row->calls = pg_atomic_read_u64(&stats->calls);
		row->bytes = pg_atomic_read_u64(&stats->bytes);
		row->matches = pg_atomic_read_u64(&stats->matches);
		row->untracked_hits = pg_atomic_read_u64(&stats->untracked_hits);
		row->since = (TimestampTz) pg_atomic_read_u64(&stats->since);
		count++;
	}
	return count;
}

/*
 * Rows for all dictionaries of the cluster, *count of them; and, if asked for,
 * the hits of their patterns, whose indexes are those of the rows.
 */
static CounterRow *
all_counters(int *count, AcdatHitCount **hits, int *hit_count)
{
	CounterRow *rows = palloc(acdat_max_stats() * sizeof(CounterRow));

	if (hits != NULL)
		*hits = palloc_extended((acdat_registry->hits.max + 1) * sizeof(AcdatHitCount),
								MCXT_ALLOC_HUGE);
	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	*count = copy_counters(rows);
	if (hits != NULL)
		*hit_count = acdat_hits_copy(*hits);
	LWLockRelease(acdat_registry->lock);
	return rows;
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
	rows = all_counters(&count, NULL, NULL);
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
		values[6] = Int64GetDatum((int64) row->untracked_hits);
		values[7] = TimestampTzGetDatum(row->since);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	pfree(rows);
	return (Datum) 0;
}

static int
compare_indexes(const void *a, const void *b)
{
	int			x = *(const int *) a;
	int			y = ((const CounterRow *) b)->index;

	return x < y ? -1 : (x > y);
}

/*
 * acdat.pattern_hit_counters() returns setof record; empty without preload.
 * Of dictionaries of others only for who may read all statistics.
 */
Datum
acdat_pattern_hit_counters(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	bool		reads_all = has_privs_of_role(GetUserId(), ROLE_PG_READ_ALL_STATS);
	AcdatHitCount *hits;
	CounterRow *rows;
	int			hit_count;
	int			count;
	int			i;

	InitMaterializedSRF(fcinfo, 0);
	if (acdat_registry == NULL)
		return (Datum) 0;
	acdat_mapping_flush_counts();
	rows = all_counters(&count, &hits, &hit_count);
	for (i = 0; i < hit_count; i++)
	{
		CounterRow *row = bsearch(&hits[i].stats, rows, count,
								  sizeof(CounterRow), compare_indexes);
		Datum		values[HIT_COLUMNS];
		bool		nulls[HIT_COLUMNS] = {0};

		if (row == NULL || !(reads_all || acdat_owns(row->owner)))
			continue;
		values[0] = ObjectIdGetDatum(row->database);
		values[1] = NameGetDatum(&row->name);
		values[2] = UUIDPGetDatum(&row->dictionary);
		values[3] = Int64GetDatum(hits[i].id);
		values[4] = Int64GetDatum((int64) hits[i].hits);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	pfree(hits);
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
	int			count;
	CounterRow *rows = all_counters(&count, NULL, NULL);
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
