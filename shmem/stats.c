/*-------------------------------------------------------------------------
 *
 * stats.c
 *	  How much dictionaries are used.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/timestamp.h"

#include "shmem/hits.h"
#include "shmem/settings.h"
#include "shmem/stats.h"

/* Every state and every machine could be of a dictionary of its own. */
int
acdat_max_stats(void)
{
	return 2 * acdat_guc_max_dictionaries * ACDAT_STATES_PER_DICTIONARY;
}

void
acdat_stats_initialize(AcdatRegistry *registry)
{
	int			i;

	for (i = 0; i < acdat_max_stats(); i++)
	{
		AcdatStats *stats = &registry->stats[i];

		pg_atomic_init_u64(&stats->calls, 0);
		pg_atomic_init_u64(&stats->bytes, 0);
		pg_atomic_init_u64(&stats->matches, 0);
		pg_atomic_init_u64(&stats->since, 0);
		pg_atomic_init_u64(&stats->untracked_hits, 0);
	}
}

AcdatStats *
acdat_stats_find(Oid database, const pg_uuid_t *dictionary)
{
	int			i;

	for (i = 0; i < acdat_registry->stats_used; i++)
	{
		AcdatStats *stats = &acdat_registry->stats[i];

		if (stats->users > 0 && stats->database == database &&
			memcmp(&stats->dictionary, dictionary, sizeof(pg_uuid_t)) == 0)
			return stats;
	}
	return NULL;
}

void
acdat_stats_restart(AcdatStats *stats)
{
	pg_atomic_write_u64(&stats->calls, 0);
	pg_atomic_write_u64(&stats->bytes, 0);
	pg_atomic_write_u64(&stats->matches, 0);
	pg_atomic_write_u64(&stats->since, (uint64) GetCurrentTimestamp());
	acdat_hits_forget((int) (stats - acdat_registry->stats));
}

int
acdat_stats_claim(Oid database, const pg_uuid_t *dictionary)
{
	AcdatStats *stats = acdat_stats_find(database, dictionary);
	int			i;

	if (stats != NULL)
	{
		stats->users++;
		return (int) (stats - acdat_registry->stats);
	}
	for (i = 0; i < acdat_max_stats(); i++)
	{
		stats = &acdat_registry->stats[i];
		if (stats->users > 0)
			continue;
		stats->users = 1;
		stats->database = database;
		stats->dictionary = *dictionary;
		acdat_stats_restart(stats);
		if (i >= acdat_registry->stats_used)
			acdat_registry->stats_used = i + 1;
		return i;
	}
	Assert(false);
	return -1;
}

void
acdat_stats_release(int index)
{
	if (index >= 0 && --acdat_registry->stats[index].users == 0)
		acdat_hits_forget(index);
}

void
acdat_stats_add(int index, AcdatCounts *counts)
{
	AcdatStats *stats;

	if (index >= 0)
	{
		stats = &acdat_registry->stats[index];
		pg_atomic_fetch_add_u64(&stats->calls, (int64) counts->calls);
		pg_atomic_fetch_add_u64(&stats->bytes, (int64) counts->bytes);
		if (counts->matches > 0)
			pg_atomic_fetch_add_u64(&stats->matches, (int64) counts->matches);
	}
	memset(counts, 0, sizeof(*counts));
}
