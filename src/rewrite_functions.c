/*-------------------------------------------------------------------------
 *
 * rewrite_functions.c
 *	  replace() and redact().
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "src/call_site.h"
#include "src/core/text.h"
#include "src/guc.h"
#include "src/pgcompat.h"

PG_FUNCTION_INFO_V1(acdat_replace);
PG_FUNCTION_INFO_V1(acdat_redact);

#define DEFAULT_CHARS_MASK "*"
#define DEFAULT_FIXED_MASK "[REDACTED]"

/* Output being gathered as the bytes of a varlena. */
typedef struct Output
{
	const char *text;			/* the input */
	Size		text_len;
	bool		utf8;			/* both are UTF-8 text */
	bool		unchanged;		/* the output is the whole input */
	char	   *data;			/* NULL until something is written */
	Size		used;			/* header included */
	Size		size;
} Output;

static bool
inside_character(const char *byte)
{
	return ((unsigned char) *byte & 0xC0) == 0x80;
}

/*
 * A piece of the input must be whole characters.  Matches are, but a machine
 * value may come from anywhere, and what leaves here has to be valid text.
 */
static void
check_piece(const Output *output, const char *bytes, Size len)
{
	const char *end = output->text + output->text_len;

	if (bytes < output->text || bytes >= end)
		return;
	if (inside_character(bytes) ||
		(bytes + len < end && inside_character(bytes + len)))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("machine matches parts of characters")));
}

/* Sink of the rewriter. */
static bool
append_output(void *arg, const void *bytes, size_t len)
{
	Output	   *output = arg;

	if (bytes == output->text && len == output->text_len)
	{
		output->unchanged = true;
		return true;
	}
	if (output->utf8)
		check_piece(output, bytes, len);
	if (output->data == NULL)
	{
		output->size = VARHDRSZ + output->text_len + 64;
		output->data = palloc_extended(output->size, MCXT_ALLOC_HUGE);
		output->used = VARHDRSZ;
	}
	if (len > output->size - output->used)
	{
		output->size = Max(output->size * 2, output->used + len);
		output->data = repalloc_huge(output->data, output->size);
	}
	memcpy(output->data + output->used, bytes, len);
	output->used += len;
	return true;
}

/* Run a rewrite over argument number 0 and return the result. */
static Datum
rewrite_value(FunctionCallInfo fcinfo, AcdatCallSite *site,
			  acdat_rewrite *rewrite)
{
	const AcdatMachineRef *ref = acdat_site_machine(site, fcinfo);
	text	   *value = PG_GETARG_TEXT_PP(0);
	Output		output = {0};

	output.text = VARDATA_ANY(value);
	output.text_len = VARSIZE_ANY_EXHDR(value);
	output.utf8 = site->is_text && site->encoding == ACDAT_ENCODING_UTF8;
	rewrite->max_output = (uint64) acdat_guc_max_output_bytes;
	rewrite->sink = append_output;
	rewrite->sink_arg = &output;
	acdat_raise_scan_error(acdat_rewrite_text(ref->scan, rewrite, output.text,
											  output.text_len, NULL));
	if (output.unchanged)
		return PG_GETARG_DATUM(0);
	if (output.data == NULL)
	{
		output.data = palloc(VARHDRSZ);
		output.used = VARHDRSZ;
	}
	/* of bytes that are no text but single-byte characters, only zero */
	if (site->is_text && !output.utf8)
		(void) pg_verifymbstr(output.data + VARHDRSZ,
							  (int) (output.used - VARHDRSZ), false);
	SET_VARSIZE(output.data, output.used);
	return PointerGetDatum(output.data);
}

/* replace(value, dictionary | machine, policy) returns text | bytea */
Datum
acdat_replace(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site = acdat_call_site(fcinfo);
	acdat_rewrite rewrite = {0};

	rewrite.style = ACDAT_REWRITE_REPLACE;
	rewrite.policy = acdat_site_policy(site, fcinfo);
	if (rewrite.policy == ACDAT_ALL_OVERLAPPING)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("overlapping matches cannot be replaced"),
				 errhint("Use leftmost_longest or leftmost_first.")));
	return rewrite_value(fcinfo, site, &rewrite);
}

static bool
text_equals(const text *value, const char *string)
{
	Size		len = strlen(string);

	return VARSIZE_ANY_EXHDR(value) == len &&
		memcmp(VARDATA_ANY(value), string, len) == 0;
}

/* Style and mask of redact(); NULL for either means the default. */
static void
parse_style(FunctionCallInfo fcinfo, const AcdatCallSite *site,
			acdat_rewrite *rewrite)
{
	text	   *style = PG_ARGISNULL(2) ? NULL : PG_GETARG_TEXT_PP(2);
	text	   *mask = PG_ARGISNULL(3) ? NULL : PG_GETARG_TEXT_PP(3);

	if (style == NULL || text_equals(style, "chars"))
	{
		rewrite->style = ACDAT_REWRITE_CHARS;
		rewrite->mask = DEFAULT_CHARS_MASK;
	}
	else if (text_equals(style, "fixed"))
	{
		rewrite->style = ACDAT_REWRITE_FIXED;
		rewrite->mask = DEFAULT_FIXED_MASK;
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized redaction style: \"%s\"",
						text_to_cstring(style)),
				 errhint("Use chars or fixed.")));
	rewrite->mask_len = strlen(rewrite->mask);
	if (mask == NULL)
		return;
	rewrite->mask = VARDATA_ANY(mask);
	rewrite->mask_len = VARSIZE_ANY_EXHDR(mask);
	if (rewrite->style == ACDAT_REWRITE_CHARS &&
		(rewrite->mask_len == 0 ||
		 acdat_cluster_length(site->encoding, rewrite->mask, rewrite->mask_len) !=
		 rewrite->mask_len))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("mask must be exactly one character"),
				 errdetail("Style chars puts one mask in place of each character."),
				 errhint("Use style fixed for a mask of any length.")));
}

/*
 * redact(value, dictionary | machine, style, mask) returns text | bytea; hides
 * everything any pattern matches, overlapping matches as one
 */
Datum
acdat_redact(PG_FUNCTION_ARGS)
{
	AcdatCallSite *site;
	acdat_rewrite rewrite = {0};

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	site = acdat_call_site(fcinfo);
	parse_style(fcinfo, site, &rewrite);
	rewrite.policy = ACDAT_MERGED;
	return rewrite_value(fcinfo, site, &rewrite);
}
