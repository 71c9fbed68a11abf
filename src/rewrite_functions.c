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

/* replace(value, dictionary | machine [, tags], policy) returns text | bytea */
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
 * redact(value, dictionary | machine [, tags], style, mask) returns the type of
 * value; hides everything any pattern matches, overlapping matches as one
 */
Datum
acdat_redact(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site;
	AcdatRewriter rewriter;
	int			style;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	site = acdat_call_site(fcinfo);
	if (site->has_tags && PG_ARGISNULL(2))
		PG_RETURN_NULL();
	style = site->options_at;
	acdat_rewriter_begin(&rewriter, site, acdat_site_machine(site, fcinfo));
	acdat_rewriter_style(&rewriter,
						 PG_ARGISNULL(style) ? NULL : PG_GETARG_TEXT_PP(style),
						 PG_ARGISNULL(style + 1) ? NULL :
						 PG_GETARG_TEXT_PP(style + 1));
	return acdat_rewrite_datum(&rewriter, site->value_type, PG_GETARG_DATUM(0));
}
