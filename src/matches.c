/*-------------------------------------------------------------------------
 *
 * matches.c
 *	  first_match() and matches(): matches with their positions.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "fmgr.h"
#include "funcapi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "shmem/core_support.h"
#include "src/call_site.h"
#include "src/guc.h"
#include "src/pgcompat.h"

PG_FUNCTION_INFO_V1(acdat_first_match);
PG_FUNCTION_INFO_V1(acdat_matches);

#define MATCH_COLUMNS 7

/* A place in the text, counted both ways. */
typedef struct CharMark
{
	uint64		bytes;
	int64		chars;
} CharMark;

/*
 * A call site that hands out matches.  While a set is being returned it has
 * a scan of its own, since other calls may come between.
 */
typedef struct MatchSite
{
	AcdatCallSite site;			/* must be first: see acdat_call_site() */
	TupleDesc	desc;

	/* the scan, and the machine it was made for */
	acdat_scan *scan;
	Size		scan_size;
	acdat_machine machine;
	uint64		checksum[2];

	/* the set being returned */
	bool		active;
	bool		pinned;			/* see pin_machine() */
	text	   *copy;			/* of the value, when it was toasted; or NULL */
	const AcdatMachineRef *ref;
	const unsigned char *text;
	int64		returned;

	/*
	 * Bytes and the characters before them, of the start and the end that
	 * were looked at last.  Starts ascend and ends are mostly near the last
	 * one, so that positions in characters cost next to nothing.
	 */
	CharMark	start;
	CharMark	end;

	MemoryContextCallback forget;	/* of fn_mcxt */
} MatchSite;

/* Keep the machine of a set from going away between two calls; undo. */
static void
pin_machine(MatchSite *site)
{
	if (site->site.is_machine)
		acdat_private_pin(&site->site.machine);
	else
		acdat_mapping_pin(site->ref);
	site->pinned = true;
}

static void
unpin_machine(MatchSite *site)
{
	if (!site->pinned)
		return;
	if (site->site.is_machine)
		acdat_private_unpin(&site->site.machine);
	else
		acdat_mapping_unpin(site->ref);
	site->pinned = false;
}

/* Let go of what was held for a set. */
static void
end_set(MatchSite *site)
{
	site->active = false;
	unpin_machine(site);
	if (site->copy != NULL)
		pfree(site->copy);
	site->copy = NULL;
}

/* The executor wants no more of a set. */
static void
leave_set(Datum arg)
{
	end_set((MatchSite *) DatumGetPointer(arg));
}

/* The call site goes, possibly by an error in the middle of a set. */
static void
forget_site(void *arg)
{
	unpin_machine((MatchSite *) arg);
}

static MatchSite *
match_site(FunctionCallInfo fcinfo)
{
	FmgrInfo   *flinfo = fcinfo->flinfo;
	MatchSite  *site = flinfo->fn_extra;
	MemoryContext old;
	TupleDesc	desc;

	if (site != NULL)
		return site;
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "return type must be a row type");
	old = MemoryContextSwitchTo(flinfo->fn_mcxt);
	site = palloc0(sizeof(MatchSite));
	site->desc = BlessTupleDesc(CreateTupleDescCopy(desc));
	MemoryContextSwitchTo(old);
	acdat_site_initialize(&site->site, flinfo);
	site->forget.func = forget_site;
	site->forget.arg = site;
	MemoryContextRegisterResetCallback(flinfo->fn_mcxt, &site->forget);
	flinfo->fn_extra = site;
	return site;
}

/* Is the scan made for this very machine, still where it was? */
static bool
scan_fits(const MatchSite *site, const AcdatMachineRef *ref)
{
	return site->scan != NULL && site->machine.image == ref->machine.image &&
		site->machine.size == ref->machine.size &&
		site->checksum[0] == ref->info.checksum[0] &&
		site->checksum[1] == ref->info.checksum[1];
}

/* Make a scan for the machine, in memory of the call site. */
static void
make_scan(MatchSite *site, MemoryContext context, const AcdatMachineRef *ref)
{
	acdat_hooks hooks = acdat_pg_hooks(context);
	Size		size = acdat_scan_size(&ref->machine);

	if (size > site->scan_size)
	{
		if (site->scan != NULL)
			pfree(site->scan);
		site->scan = NULL;
		site->scan_size = 0;
		site->scan = MemoryContextAllocHuge(context, size);
		site->scan_size = size;
	}
	acdat_scan_init(site->scan, &ref->machine, &hooks);
	acdat_scan_trust_text(site->scan, site->site.is_text);
	site->machine = ref->machine;
	site->checksum[0] = ref->info.checksum[0];
	site->checksum[1] = ref->info.checksum[1];
}

/* Begin to scan the value. */
static void
begin_scan(MatchSite *site, FunctionCallInfo fcinfo, text *value)
{
	acdat_policy policy = acdat_site_policy(&site->site, fcinfo);
	const AcdatMachineRef *ref = acdat_site_machine(&site->site, fcinfo);

	if (!scan_fits(site, ref))
		make_scan(site, fcinfo->flinfo->fn_mcxt, ref);
	if (site->site.has_tags)
		acdat_scan_restrict(site->scan, site->site.tags.bits);
	site->ref = ref;
	site->text = (const unsigned char *) VARDATA_ANY(value);
	site->returned = 0;
	memset(&site->start, 0, sizeof(site->start));
	memset(&site->end, 0, sizeof(site->end));
	acdat_scan_start(site->scan, policy, site->text,
					 VARSIZE_ANY_EXHDR(value), true);
	acdat_count_scan(ref, VARSIZE_ANY_EXHDR(value), 0);
}

/* Characters in bytes [from, to) of the text, which is valid. */
static int64
count_between(const MatchSite *site, uint64 from, uint64 to)
{
	const unsigned char *text = site->text;
	int64		continuation = 0;
	uint64		i;

	if (site->site.encoding == ACDAT_ENCODING_UTF8)
	{
		for (i = from; i < to; i++)
			continuation += (text[i] & 0xC0) == 0x80;
	}
	return (int64) (to - from) - continuation;
}

/* Move a mark to a byte, forwards or backwards. */
static void
move_mark(const MatchSite *site, CharMark *mark, uint64 bytes)
{
	if (bytes >= mark->bytes)
		mark->chars += count_between(site, mark->bytes, bytes);
	else
		mark->chars -= count_between(site, bytes, mark->bytes);
	mark->bytes = bytes;
}

/* Both positions of a match in characters. */
static void
mark_match(MatchSite *site, const acdat_match *match)
{
	uint64		moved = match->end > site->end.bytes ?
		match->end - site->end.bytes : site->end.bytes - match->end;

	move_mark(site, &site->start, match->start);
	if (moved > match->end - match->start)
		site->end = site->start;
	move_mark(site, &site->end, match->end);
}

/* A match as a row; starts come in ascending order. */
static Datum
match_row(MatchSite *site, const acdat_match *match)
{
	const acdat_machine *machine = &site->ref->machine;
	Datum		values[MATCH_COLUMNS];
	bool		nulls[MATCH_COLUMNS] = {0};
	const char *tag;
	size_t		tag_len;

	acdat_count_scan(site->ref, 0, 1);
	acdat_count_hit(site->ref, match->pattern);
	values[0] = Int64GetDatum(acdat_pattern_id(machine, match->pattern));
	values[1] = Int32GetDatum(acdat_pattern_priority(machine, match->pattern));
	tag = acdat_pattern_tag(machine, match->pattern, &tag_len);
	if (tag != NULL && pg_verifymbstr(tag, (int) tag_len, false))
		values[2] = PointerGetDatum(cstring_to_text_with_len(tag,
															 (int) tag_len));
	nulls[2] = (tag == NULL);
	values[3] = Int32GetDatum((int32) match->start + 1);
	values[4] = Int32GetDatum((int32) (match->end - match->start));
	nulls[5] = nulls[6] = !site->site.is_text;
	if (site->site.is_text)
	{
		mark_match(site, match);
		values[5] = Int32GetDatum((int32) site->start.chars + 1);
		values[6] = Int32GetDatum((int32) (site->end.chars - site->start.chars));
	}
	return HeapTupleGetDatum(heap_form_tuple(site->desc, values, nulls));
}

/* first_match(value, dictionary | machine [, tags], policy) returns acdat.match */
Datum
acdat_first_match(PG_FUNCTION_ARGS)
{
	MatchSite  *site = match_site(fcinfo);
	text	   *value = PG_GETARG_TEXT_PP(0);
	acdat_match match;
	acdat_status status;

	begin_scan(site, fcinfo, value);
	status = acdat_scan_next(site->scan, &match);
	if (status == ACDAT_END)
		PG_RETURN_NULL();
	acdat_raise_scan_error(status);
	PG_RETURN_DATUM(match_row(site, &match));
}

static void
begin_set(MatchSite *site, FunctionCallInfo fcinfo, ReturnSetInfo *result)
{
	MemoryContext old;
	text	   *value;

	end_set(site);
	if (result == NULL || !IsA(result, ReturnSetInfo) ||
		(result->allowedModes & SFRM_ValuePerCall) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("set-valued function called in context that cannot accept a set")));

	/* A detoasted copy must last for the whole set, and no longer. */
	old = MemoryContextSwitchTo(fcinfo->flinfo->fn_mcxt);
	value = PG_GETARG_TEXT_PP(0);
	MemoryContextSwitchTo(old);
	if ((Pointer) value != PG_GETARG_POINTER(0))
		site->copy = value;
	begin_scan(site, fcinfo, value);
}

/*
 * matches(value, dictionary | machine [, tags], policy) returns setof acdat.match, one
 * per call, so that a LIMIT ends the scan
 */
Datum
acdat_matches(PG_FUNCTION_ARGS)
{
	MatchSite  *site = match_site(fcinfo);
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	acdat_match match;
	acdat_status status;

	if (!site->active)
		begin_set(site, fcinfo, result);
	status = acdat_scan_next(site->scan, &match);
	if (status == ACDAT_OK)
	{
		if (!site->active)
		{
			site->active = true;
			pin_machine(site);
			RegisterExprContextCallback(result->econtext, leave_set,
										PointerGetDatum(site));
		}
		if (++site->returned > acdat_guc_max_matches)
			acdat_max_matches_error();
		result->isDone = ExprMultipleResult;
		PG_RETURN_DATUM(match_row(site, &match));
	}
	if (site->active)
		UnregisterExprContextCallback(result->econtext, leave_set,
									  PointerGetDatum(site));
	end_set(site);
	acdat_raise_scan_error(status == ACDAT_END ? ACDAT_OK : status);
	result->isDone = ExprEndResult;
	PG_RETURN_NULL();
}
