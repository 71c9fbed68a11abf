/*-------------------------------------------------------------------------
 *
 * rewrite_functions.c
 *	  replace() and redact().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"

#include "src/redact.h"

PG_FUNCTION_INFO_V1(acdat_replace);
PG_FUNCTION_INFO_V1(acdat_redact);

/* replace(value, dictionary | machine, policy) returns text | bytea */
Datum
acdat_replace(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site = acdat_call_site(fcinfo);
	acdat_policy policy = acdat_site_policy(site, fcinfo);
	AcdatRewriter rewriter;

	if (policy == ACDAT_ALL_OVERLAPPING)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("overlapping matches cannot be replaced"),
				 errhint("Use leftmost_longest or leftmost_first.")));
	acdat_rewriter_begin(&rewriter, site, acdat_site_machine(site, fcinfo));
	rewriter.rewrite.style = ACDAT_REWRITE_REPLACE;
	rewriter.rewrite.policy = policy;
	return acdat_rewrite_datum(&rewriter, site->value_type, PG_GETARG_DATUM(0));
}

/*
 * redact(value, dictionary | machine, style, mask) returns the type of value;
 * hides everything any pattern matches, overlapping matches as one
 */
Datum
acdat_redact(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site;
	AcdatRewriter rewriter;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	site = acdat_call_site(fcinfo);
	acdat_rewriter_begin(&rewriter, site, acdat_site_machine(site, fcinfo));
	acdat_rewriter_style(&rewriter,
						 PG_ARGISNULL(2) ? NULL : PG_GETARG_TEXT_PP(2),
						 PG_ARGISNULL(3) ? NULL : PG_GETARG_TEXT_PP(3));
	return acdat_rewrite_datum(&rewriter, site->value_type, PG_GETARG_DATUM(0));
}
