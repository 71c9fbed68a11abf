/*-------------------------------------------------------------------------
 *
 * scan_functions.c
 *	  contains(), count_matches(), match_ids().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/array.h"

#include "src/call_site.h"
#include "src/guc.h"
#include "src/pgcompat.h"

PG_FUNCTION_INFO_V1(acdat_contains_sql);
PG_FUNCTION_INFO_V1(acdat_count_matches);
PG_FUNCTION_INFO_V1(acdat_match_ids);

/*
 * Scan for what was found or counted once more, now match by match: the hits
 * of its patterns are wanted.  At most so many.
 */
static void
count_hits(const AcdatMachineRef *ref, acdat_policy policy, const text *value,
		   uint64 count)
{
	acdat_match match;

	acdat_scan_start(ref->scan, policy, VARDATA_ANY(value),
					 VARSIZE_ANY_EXHDR(value), true);
	for (; count > 0 && acdat_scan_next(ref->scan, &match) == ACDAT_OK; count--)
		acdat_count_hit(ref, match.pattern);
}

/* contains(value, dictionary | machine [, tags]) returns boolean */
Datum
acdat_contains_sql(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site = acdat_call_site(fcinfo);
	const AcdatMachineRef *ref = acdat_site_machine(site, fcinfo);
	text	   *value = PG_GETARG_TEXT_PP(0);
	bool		found;

	acdat_raise_scan_error(acdat_contains(ref->scan, VARDATA_ANY(value),
										  VARSIZE_ANY_EXHDR(value), &found));
	acdat_count_scan(ref, VARSIZE_ANY_EXHDR(value), found);
	if (found && acdat_tracks_hits(ref))
		count_hits(ref, ACDAT_LEFTMOST_LONGEST, value, 1);
	PG_FREE_IF_COPY(value, 0);
	PG_RETURN_BOOL(found);
}

/* count_matches(value, dictionary | machine [, tags], policy) returns bigint */
Datum
acdat_count_matches(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site = acdat_call_site(fcinfo);
	acdat_policy policy = acdat_site_policy(site, fcinfo);
	const AcdatMachineRef *ref = acdat_site_machine(site, fcinfo);
	text	   *value = PG_GETARG_TEXT_PP(0);
	uint64_t	count;

	acdat_raise_scan_error(acdat_count(ref->scan, policy, VARDATA_ANY(value),
									   VARSIZE_ANY_EXHDR(value), &count));
	acdat_count_scan(ref, VARSIZE_ANY_EXHDR(value), count);
	if (count > 0 && acdat_tracks_hits(ref))
		count_hits(ref, policy, value, count);
	PG_FREE_IF_COPY(value, 0);
	PG_RETURN_INT64((int64) count);
}

static int
compare_ids(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : (x > y);
}

/* Sort and drop what is double; returns the new count. */
static int
unique_ids(int64 *ids, int count)
{
	int			kept = 0;
	int			i;

	qsort(ids, count, sizeof(int64), compare_ids);
	for (i = 0; i < count; i++)
	{
		if (kept == 0 || ids[i] != ids[kept - 1])
			ids[kept++] = ids[i];
	}
	return kept;
}

static Datum
id_array(const int64 *ids, int count)
{
	Datum	   *values = palloc_extended(count * sizeof(Datum) + 1,
										 MCXT_ALLOC_HUGE);
	int			i;

	for (i = 0; i < count; i++)
		values[i] = Int64GetDatum(ids[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(values, count, INT8OID,
										  sizeof(int64), FLOAT8PASSBYVAL,
										  TYPALIGN_DOUBLE));
}

/* match_ids(value, dictionary | machine [, tags], policy) returns bigint[] */
Datum
acdat_match_ids(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site = acdat_call_site(fcinfo);
	acdat_policy policy = acdat_site_policy(site, fcinfo);
	const AcdatMachineRef *ref = acdat_site_machine(site, fcinfo);
	text	   *value = PG_GETARG_TEXT_PP(0);
	int			capacity = 64;
	int			count = 0;
	int64	   *ids = palloc(capacity * sizeof(int64));
	acdat_match match;
	acdat_status status;

	acdat_scan_start(ref->scan, policy, VARDATA_ANY(value),
					 VARSIZE_ANY_EXHDR(value), true);
	acdat_count_scan(ref, VARSIZE_ANY_EXHDR(value), 0);
	while ((status = acdat_scan_next(ref->scan, &match)) == ACDAT_OK)
	{
		/* the scan looks for interrupts by bytes, not by matches */
		CHECK_FOR_INTERRUPTS();
		if (count == capacity)
		{
			/* double the room only if the ids really are that many */
			count = unique_ids(ids, count);
			if (count > capacity / 2)
			{
				if (count > acdat_guc_max_matches)
					acdat_max_matches_error();
				capacity *= 2;
				ids = repalloc_huge(ids, capacity * sizeof(int64));
			}
		}
		acdat_count_scan(ref, 0, 1);
		acdat_count_hit(ref, match.pattern);
		ids[count++] = acdat_pattern_id(&ref->machine, match.pattern);
	}
	acdat_raise_scan_error(status == ACDAT_END ? ACDAT_OK : status);
	count = unique_ids(ids, count);
	if (count > acdat_guc_max_matches)
		acdat_max_matches_error();
	return id_array(ids, count);
}
