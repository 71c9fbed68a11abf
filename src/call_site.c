/*-------------------------------------------------------------------------
 *
 * call_site.c
 *	  What every scanning function does with its arguments.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "nodes/primnodes.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "src/call_site.h"
#include "src/guc.h"
#include "src/pgcompat.h"
#include "src/publish.h"

/*
 * Is an argument written as a constant?  Parameters do not count, constant as
 * they are for a query: a call site in PL/pgSQL sees many of their values.
 */
static bool
argument_is_constant(FmgrInfo *flinfo, int number)
{
	Node	   *call = flinfo->fn_expr;
	List	   *arguments;

	if (call == NULL || !IsA(call, FuncExpr))
		return false;
	arguments = ((FuncExpr *) call)->args;
	return list_length(arguments) > number &&
		IsA(list_nth(arguments, number), Const);
}

/*
 * The types of the first three arguments, from the expression if that tells:
 * a call site may live for one short statement, and reading the function's
 * row would be most of its work.
 */
static void
argument_types(FmgrInfo *flinfo, Oid given[3])
{
	Oid		   *types;
	int			count;
	int			i;

	for (i = 0; i < 3; i++)
		given[i] = get_fn_expr_argtype(flinfo, i);
	if ((given[0] == TEXTOID || given[0] == BYTEAOID || given[0] == JSONBOID ||
		 given[0] == JSONOID || given[0] == TEXTARRAYOID) &&
		OidIsValid(given[1]))
		return;
	(void) get_func_signature(flinfo->fn_oid, &types, &count);
	Assert(count >= 2);
	for (i = 0; i < 3; i++)
		given[i] = i < count ? types[i] : InvalidOid;
	pfree(types);
}

void
acdat_site_for_type(AcdatCallSite *site, Oid value_type)
{
	site->value_type = value_type;
	site->is_text = (value_type != BYTEAOID);
	if (site->is_text)
		site->encoding = acdat_database_encoding();
}

void
acdat_site_initialize(AcdatCallSite *site, FmgrInfo *flinfo)
{
	Oid			types[3];

	argument_types(flinfo, types);
	acdat_site_for_type(site, types[0]);
	site->is_machine = (types[1] != TEXTOID);
	site->has_tags = (types[2] == TEXTARRAYOID);
	site->options_at = site->has_tags ? 3 : 2;
	site->policy_fixed = argument_is_constant(flinfo, site->options_at);
}

AcdatCallSite *
acdat_call_site(FunctionCallInfo fcinfo)
{
	AcdatCallSite *site = fcinfo->flinfo->fn_extra;

	if (likely(site != NULL))
		return site;
	site = MemoryContextAllocZero(fcinfo->flinfo->fn_mcxt,
								  sizeof(AcdatCallSite));
	acdat_site_initialize(site, fcinfo->flinfo);
	fcinfo->flinfo->fn_extra = site;
	return site;
}

/* A text value can only be scanned for patterns of its own encoding. */
static void
encoding_mismatch(acdat_encoding machine_encoding)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("dictionary does not fit the encoding of this database"),
			 errdetail("It was made for %s, the database has encoding %s.",
					   machine_encoding == ACDAT_ENCODING_UTF8 ? "UTF8" : "bytes",
					   GetDatabaseEncodingName()),
			 errhint("Scan bytea values, or make the dictionary from text patterns in a database of this encoding.")));
}

static const AcdatMachineRef *
fit_machine(const AcdatCallSite *site, const AcdatMachineRef *ref)
{
	if (unlikely(site->is_text && ref->info.options.encoding != site->encoding))
		encoding_mismatch(ref->info.options.encoding);
	acdat_scan_trust_text(ref->scan, site->is_text);
	acdat_scan_restrict(ref->scan, NULL);
	acdat_count_call(ref);
	return ref;
}

const AcdatMachineRef *
acdat_site_dictionary(AcdatCallSite *site, const char *name, Size name_len)
{
	return fit_machine(site, acdat_lookup(&site->lookup, name, name_len));
}

void
acdat_site_restrict(AcdatCallSite *site, MemoryContext context, Datum tags,
					const AcdatMachineRef *ref)
{
	acdat_scan_restrict(ref->scan,
						acdat_tag_bits(&site->tags, context, tags, ref));
}

const AcdatMachineRef *
acdat_site_machine(AcdatCallSite *site, FunctionCallInfo fcinfo)
{
	const AcdatMachineRef *ref;

	if (site->is_machine)
		ref = fit_machine(site, acdat_private_machine(&site->machine,
													  PG_GETARG_DATUM(1)));
	else
	{
		text	   *name = PG_GETARG_TEXT_PP(1);

		ref = acdat_site_dictionary(site, VARDATA_ANY(name),
									VARSIZE_ANY_EXHDR(name));
	}
	if (site->has_tags)
		acdat_site_restrict(site, fcinfo->flinfo->fn_mcxt, PG_GETARG_DATUM(2),
							ref);
	return ref;
}

acdat_policy
acdat_site_policy(AcdatCallSite *site, FunctionCallInfo fcinfo)
{
	text	   *word;
	Size		len;
	acdat_policy policy;

	if (site->policy_fixed && site->policy_len != 0)
		return site->policy;
	word = PG_GETARG_TEXT_PP(site->options_at);
	len = VARSIZE_ANY_EXHDR(word);
	if (site->policy_len != 0 && len == site->policy_len &&
		memcmp(site->policy_word, VARDATA_ANY(word), len) == 0)
		return site->policy;
	if (len == 0 || len >= ACDAT_WORD_BYTES ||
		!acdat_policy_parse(text_to_cstring(word), &policy) ||
		policy == ACDAT_MERGED)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized match policy: \"%s\"",
						text_to_cstring(word)),
				 errhint("Use all_overlapping, leftmost_longest or leftmost_first.")));
	memcpy(site->policy_word, VARDATA_ANY(word), len);
	site->policy_len = (uint32) len;
	site->policy = policy;
	return policy;
}

void
acdat_raise_scan_error(acdat_status status)
{
	if (status == ACDAT_OK)
		return;
	if (status == ACDAT_OUTPUT_LIMIT)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("result exceeds the output limit"),
				 errdetail("At most %d bytes are allowed.",
						   acdat_guc_max_output_bytes),
				 errhint("Increase acdat_bgw.max_output_bytes.")));
	ereport(ERROR,
			(errcode(ERRCODE_INTERNAL_ERROR),
			 errmsg("could not scan the value: %s",
					acdat_status_text(status))));
}

void
acdat_max_matches_error(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
			 errmsg("value has more than %d matches", acdat_guc_max_matches),
			 errhint("Increase acdat_bgw.max_matches.")));
}
