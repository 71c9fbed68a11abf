/*-------------------------------------------------------------------------
 *
 * hits.c
 *	  Which patterns match: hits by dictionary and pattern id.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "port/pg_bitutils.h"

#include "shmem/hits.h"
#include "shmem/registry.h"
#include "shmem/settings.h"
#include "shmem/stats.h"

/* Rows of the process's own table; it is added up when three quarters are used. */
#define OWN_ROWS 256

/* One part in so many gives way when the shared table is full. */
#define EVICTED_PART 20

static AcdatHitCount own[OWN_ROWS]; /* no hits: free */
static int	own_used = 0;

/* Multiplicative hashing (Knuth, TAOCP 6.4), the upper bits. */
static uint32
hash_key(int32 stats, int64 id)
{
	uint64		key = (uint64) id + ((uint64) (uint32) stats << 40);

	return (uint32) ((key * UINT64CONST(0x9E3779B97F4A7C15)) >> 32);
}

static uint32
row_count(void)
{
	return pg_nextpower2_32(Max(acdat_guc_max_tracked_patterns, 1) / 3 * 4 + 4);
}

Size
acdat_hits_size(void)
{
	return mul_size(row_count(), sizeof(AcdatHitRow));
}

void
acdat_hits_initialize(AcdatRegistry *registry, void *rows, LWLock *lock)
{
	AcdatHits  *hits = &registry->hits;
	uint32		i;

	hits->lock = lock;
	hits->max = (uint32) acdat_guc_max_tracked_patterns;
	hits->mask = row_count() - 1;
	hits->used = 0;
	hits->rows = rows;
	for (i = 0; i <= hits->mask; i++)
	{
		hits->rows[i].stats = -1;
		pg_atomic_init_u64(&hits->rows[i].hits, 0);
	}
}

/* The row of a pattern, or the free one where it would be. */
static AcdatHitRow *
find_row(int32 stats, int64 id)
{
	AcdatHits  *hits = &acdat_registry->hits;
	uint32		i = hash_key(stats, id) & hits->mask;

	while (hits->rows[i].stats != -1 &&
		   (hits->rows[i].stats != stats || hits->rows[i].id != id))
		i = (i + 1) & hits->mask;
	return &hits->rows[i];
}

static void
move_row(AcdatHitRow *to, const AcdatHitRow *from)
{
	to->stats = from->stats;
	to->id = from->id;
	pg_atomic_write_u64(&to->hits,
						pg_atomic_read_u64((pg_atomic_uint64 *) &from->hits));
}

/*
 * Remove a row and close the gap (Knuth, TAOCP 6.4, algorithm R), so that
 * another row may be in its place afterwards.
 */
static void
remove_row(uint32 gap)
{
	AcdatHits  *hits = &acdat_registry->hits;
	uint32		i = gap;

	acdat_registry->stats[hits->rows[gap].stats].tracked--;
	hits->used--;
	for (;;)
	{
		AcdatHitRow *row;
		uint32		home;

		i = (i + 1) & hits->mask;
		row = &hits->rows[i];
		if (row->stats == -1)
			break;
		home = hash_key(row->stats, row->id) & hits->mask;
		/* may it move: is the gap on its way from home to here? */
		if (((i - home) & hits->mask) >= ((i - gap) & hits->mask))
		{
			move_row(&hits->rows[gap], row);
			gap = i;
		}
	}
	hits->rows[gap].stats = -1;
}

/* Hits by their order of magnitude. */
static int
magnitude(const AcdatHitRow *row)
{
	uint64		hits = pg_atomic_read_u64((pg_atomic_uint64 *) &row->hits);

	return hits == 0 ? 0 : pg_leftmost_one_pos64(hits);
}

/*
 * Make room: the patterns of the smallest orders of magnitude go.  What is
 * removed shows one that moves into its place, which is looked at, too.
 */
static void
evict_rows(void)
{
	AcdatHits  *hits = &acdat_registry->hits;
	uint32		wanted = Max(hits->max / EVICTED_PART, 1);
	uint32		of_magnitude[64] = {0};
	uint32		smaller = 0;
	int			limit;
	uint32		i;

	for (i = 0; i <= hits->mask; i++)
	{
		if (hits->rows[i].stats != -1)
			of_magnitude[magnitude(&hits->rows[i])]++;
	}
	for (limit = 0; smaller + of_magnitude[limit] < wanted; limit++)
		smaller += of_magnitude[limit];
	wanted -= smaller;			/* of that magnitude itself */
	for (i = 0; i <= hits->mask;)
	{
		AcdatHitRow *row = &hits->rows[i];

		if (row->stats == -1 || magnitude(row) > limit ||
			(magnitude(row) == limit && wanted == 0))
		{
			i++;
			continue;
		}
		if (magnitude(row) == limit)
			wanted--;
		pg_atomic_fetch_add_u64(&acdat_registry->stats[row->stats].untracked_hits,
								(int64) pg_atomic_read_u64(&row->hits));
		remove_row(i);
	}
}

/* Add to rows that are there; returns whether that was all. */
static bool
add_known(void)
{
	bool		all = true;
	int			i;

	LWLockAcquire(acdat_registry->hits.lock, LW_SHARED);
	for (i = 0; i < OWN_ROWS; i++)
	{
		AcdatHitRow *row;

		if (own[i].hits == 0)
			continue;
		row = find_row(own[i].stats, own[i].id);
		if (row->stats == -1)
		{
			all = false;
			continue;
		}
		pg_atomic_fetch_add_u64(&row->hits, (int64) own[i].hits);
		own[i].hits = 0;
	}
	LWLockRelease(acdat_registry->hits.lock);
	return all;
}

/* Add the rest, in rows of their own. */
static void
add_new(void)
{
	AcdatHits  *hits = &acdat_registry->hits;
	int			i;

	LWLockAcquire(hits->lock, LW_EXCLUSIVE);
	for (i = 0; i < OWN_ROWS; i++)
	{
		AcdatStats *stats = &acdat_registry->stats[own[i].stats];
		AcdatHitRow *row;

		if (own[i].hits == 0)
			continue;
		if (hits->max == 0)
		{
			pg_atomic_fetch_add_u64(&stats->untracked_hits, (int64) own[i].hits);
			continue;
		}
		row = find_row(own[i].stats, own[i].id);
		if (row->stats == -1)
		{
			if (hits->used >= hits->max)
			{
				evict_rows();
				row = find_row(own[i].stats, own[i].id);
			}
			row->stats = own[i].stats;
			row->id = own[i].id;
			pg_atomic_write_u64(&row->hits, 0);
			hits->used++;
			stats->tracked++;
		}
		pg_atomic_fetch_add_u64(&row->hits, (int64) own[i].hits);
	}
	LWLockRelease(hits->lock);
}

void
acdat_hits_flush(void)
{
	if (own_used == 0)
		return;
	if (!add_known())
		add_new();
	memset(own, 0, sizeof(own));
	own_used = 0;
}

void
acdat_hits_count(int32 stats, int64 id)
{
	uint32		i = hash_key(stats, id) % OWN_ROWS;

	while (own[i].hits != 0 && (own[i].stats != stats || own[i].id != id))
		i = (i + 1) % OWN_ROWS;
	if (own[i].hits++ > 0)
		return;
	own[i].stats = stats;
	own[i].id = id;
	if (++own_used >= OWN_ROWS * 3 / 4)
		acdat_hits_flush();
}

void
acdat_hits_forget(int32 stats)
{
	AcdatHits  *hits = &acdat_registry->hits;
	uint32		i = 0;

	LWLockAcquire(hits->lock, LW_EXCLUSIVE);
	while (i <= hits->mask && acdat_registry->stats[stats].tracked > 0)
	{
		if (hits->rows[i].stats == stats)
			remove_row(i);
		else
			i++;
	}
	pg_atomic_write_u64(&acdat_registry->stats[stats].untracked_hits, 0);
	LWLockRelease(hits->lock);
}

int
acdat_hits_copy(AcdatHitCount *counts)
{
	AcdatHits  *hits = &acdat_registry->hits;
	int			count = 0;
	uint32		i;

	LWLockAcquire(hits->lock, LW_SHARED);
	for (i = 0; i <= hits->mask; i++)
	{
		AcdatHitRow *row = &hits->rows[i];

		if (row->stats == -1)
			continue;
		counts[count].stats = row->stats;
		counts[count].id = row->id;
		counts[count].hits = pg_atomic_read_u64(&row->hits);
		count++;
	}
	LWLockRelease(hits->lock);
	return count;
}
