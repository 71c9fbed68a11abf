/*-------------------------------------------------------------------------
 *
 * rewrite.c
 *	  Replacing and masking matches while passing the rest on.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/scan.h"

#include <string.h>

/* Masks of single characters are gathered before they are passed on. */
#define MASK_BUFFER 512

static acdat_status
put(acdat_scan *scan, const void *bytes, size_t len)
{
	const acdat_rewrite *rewrite = scan->rewrite;

	if (len == 0)
		return ACDAT_OK;
	if (rewrite->max_output != 0 &&
		(scan->written > rewrite->max_output ||
		 len > rewrite->max_output - scan->written))
		return ACDAT_OUTPUT_LIMIT;
	scan->written += len;
	return rewrite->sink(rewrite->sink_arg, bytes, len) ? ACDAT_OK :
		ACDAT_SINK_FAILED;
}

/* Pass text on, unchanged, up to a stream position. */
static acdat_status
copy_until(acdat_scan *scan, uint64_t until)
{
	const unsigned char *from = scan->text + (scan->copied - scan->base);
	size_t		len = (size_t) (until - scan->copied);

	scan->copied = until;
	return put(scan, from, len);
}

/* One mask for each character of text[0, len). */
static acdat_status
put_masks(acdat_scan *scan, const unsigned char *text, size_t len)
{
	const acdat_rewrite *rewrite = scan->rewrite;
	unsigned char buffer[MASK_BUFFER];
	size_t		used = 0;
	acdat_status status = ACDAT_OK;

	while (len > 0 && status == ACDAT_OK)
	{
		size_t		cluster = acdat_cluster_length(scan->encoding, text, len);

		text += cluster;
		len -= cluster;
		if (rewrite->mask_len > MASK_BUFFER)
		{
			status = put(scan, rewrite->mask, rewrite->mask_len);
			continue;
		}
		if (used + rewrite->mask_len > MASK_BUFFER)
		{
			status = put(scan, buffer, used);
			used = 0;
		}
		memcpy(buffer + used, rewrite->mask, rewrite->mask_len);
		used += rewrite->mask_len;
	}
	return status == ACDAT_OK ? put(scan, buffer, used) : status;
}

static acdat_status
put_match(acdat_scan *scan, const acdat_match *match)
{
	const acdat_rewrite *rewrite = scan->rewrite;
	const unsigned char *text = scan->text + (match->start - scan->base);
	size_t		len = (size_t) (match->end - match->start);
	const void *replacement;
	size_t		replacement_len;

	switch (rewrite->style)
	{
		case ACDAT_REWRITE_REPLACE:
			replacement = acdat_pattern_replacement(&scan->m, match->pattern,
													&replacement_len);
			if (replacement == NULL)
				return put(scan, text, len);
			return put(scan, replacement, replacement_len);
		case ACDAT_REWRITE_CHARS:
			return put_masks(scan, text, len);
		case ACDAT_REWRITE_FIXED:
			return put(scan, rewrite->mask, rewrite->mask_len);
	}
	return ACDAT_BAD_ARGUMENT;
}

/* Rewrite what can be decided; ACDAT_END or ACDAT_MORE when done. */
static acdat_status
rewrite_matches(acdat_scan *scan, uint64_t *matches)
{
	acdat_match match;
	acdat_status status;

	while ((status = acdat_scan_next(scan, &match)) == ACDAT_OK)
	{
		status = copy_until(scan, match.start);
		if (status == ACDAT_OK)
			status = put_match(scan, &match);
		if (status != ACDAT_OK)
			return status;
		scan->copied = match.end;
		if (matches != NULL)
			(*matches)++;
	}
	return status;
}

acdat_status
acdat_rewrite_text(acdat_scan *scan, const acdat_rewrite *rewrite,
				   const void *text, size_t len, uint64_t *matches)
{
	size_t		consumed;

	if (matches != NULL)
		*matches = 0;
	acdat_rewrite_begin(scan, rewrite);
	return acdat_rewrite_feed(scan, text, len, true, &consumed, matches);
}

void
acdat_rewrite_begin(acdat_scan *scan, const acdat_rewrite *rewrite)
{
	acdat_scan_start(scan, rewrite->policy, NULL, 0, false);
	scan->rewrite = rewrite;
	scan->copied = 0;
	scan->written = 0;
}

acdat_status
acdat_rewrite_feed(acdat_scan *scan, const void *text, size_t len, bool final,
				   size_t *consumed, uint64_t *matches)
{
	acdat_status status;
	uint64_t	until;

	*consumed = 0;
	if (scan->policy == ACDAT_ALL_OVERLAPPING)
		return ACDAT_BAD_ARGUMENT;
	acdat_scan_continue(scan, text, len, final);
	status = rewrite_matches(scan, matches);
	if (status != ACDAT_END && status != ACDAT_MORE)
		return status;
	until = status == ACDAT_END ? scan->base + len : acdat_scan_decided(scan);
	status = until > scan->copied ? copy_until(scan, until) : ACDAT_OK;
	*consumed = final ? len : acdat_scan_consumed(scan);
	return status;
}
