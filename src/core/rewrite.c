/*-------------------------------------------------------------------------
 *
 * rewrite.c
 *	  Replacing and masking matches while passing the rest on.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/scan.h"
#include "src/core/unicode.h"

#include <string.h>

/* Masks of single characters are gathered before they are passed on. */
#define MASK_BUFFER 512

/*
 * Pass output on, unless it would exceed the limit of the stream.
 */
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

/* Count work on text that is passed on or masked; true if cancelled. */
static bool
rewrite_work(acdat_scan *scan, size_t amount)
{
	scan->work += amount;
	if (scan->work < ACDAT_TICK_BYTES)
		return false;
	scan->work %= ACDAT_TICK_BYTES;
	return scan->tick != NULL && scan->tick(scan->tick_arg);
}

/* The bytes of text[0, len) without a character that is cut off at the end. */
static size_t
whole_chars(acdat_encoding encoding, const unsigned char *text, size_t len)
{
	size_t		back;
	int32_t		c;

	for (back = 1; encoding == ACDAT_ENCODING_UTF8 && back < 4 && back <= len;
		 back++)
	{
		if (acdat_decode_char(text + len - back, back, &c) == 0)
			return len - back;
	}
	return len;
}

/*
 * One mask for each user-perceived character of text[0, len), but for the
 * last one if more text may belong to it.  *done gets the bytes masked.
 */
static acdat_status
put_masks(acdat_scan *scan, const unsigned char *text, size_t len, bool whole,
		  size_t *done)
{
	const acdat_rewrite *rewrite = scan->rewrite;
	unsigned char buffer[MASK_BUFFER];
	size_t		used = 0;
	size_t		known = whole ? len : whole_chars(scan->encoding, text, len);
	acdat_status status = ACDAT_OK;

	*done = 0;
	while (*done < len && status == ACDAT_OK)
	{
		size_t		cluster = acdat_cluster_length(scan->encoding, text + *done,
												   len - *done);

		if (!whole && *done + cluster >= known)
			break;
		*done += cluster;
		if (rewrite_work(scan, cluster))
			return ACDAT_CANCELLED;
		if (rewrite->mask_len == 0)
			continue;
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

/*
 * What stands for a match, or for the part of it that is known, if it is a
 * union that may go on (whole is false).  What stands for all of a match is
 * put once, with its first part.  *done gets the bytes that are dealt with.
 */
static acdat_status
put_match(acdat_scan *scan, const acdat_match *match, bool whole,
		  size_t *done)
{
	const acdat_rewrite *rewrite = scan->rewrite;
	const unsigned char *text = scan->text + (match->start - scan->base);
	size_t		len = (size_t) (match->end - match->start);
	const void *put_once = rewrite->mask;
	size_t		put_len = rewrite->mask_len;

	if (rewrite->style == ACDAT_REWRITE_CHARS)
		return put_masks(scan, text, len, whole, done);
	if (rewrite->style == ACDAT_REWRITE_REPLACE)
		put_once = acdat_pattern_replacement(&scan->m, match->pattern, &put_len);
	*done = len;
	if (put_once == NULL)
		return rewrite->style == ACDAT_REWRITE_REPLACE ?
			put(scan, text, len) : ACDAT_OK;
	return scan->union_begun ? ACDAT_OK : put(scan, put_once, put_len);
}

/* Rewrite what can be decided; ACDAT_END or ACDAT_MORE when done. */
static acdat_status
rewrite_matches(acdat_scan *scan, uint64_t *matches)
{
	acdat_match match;
	acdat_status status;
	size_t		done;

	while ((status = acdat_scan_next(scan, &match)) == ACDAT_OK)
	{
		status = copy_until(scan, match.start);
		if (status == ACDAT_OK)
			status = put_match(scan, &match, true, &done);
		if (status != ACDAT_OK)
			return status;
		scan->copied = match.end;
		scan->union_begun = false;
		if (matches != NULL)
			(*matches)++;
		if (scan->rewrite->matched != NULL)
			scan->rewrite->matched(scan->rewrite->matched_arg, &match);
	}
	return status;
}

/*
 * Deal with the part that is known of a union that may go on, so that the
 * caller can let go of it however long the union becomes.
 */
static acdat_status
rewrite_union(acdat_scan *scan)
{
	acdat_match *known = &scan->merged;
	size_t		done;
	acdat_status status = put_match(scan, known, false, &done);

	if (done > 0)
		scan->union_begun = true;
	known->start += done;
	scan->copied = known->start;
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
	scan->union_begun = false;
}

/*
 * A stream is scanned as far as it can be decided; what was rewritten and what
 * lies before the next possible match is let go of.
 */
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
	if (status == ACDAT_OK && scan->pending)
		status = rewrite_union(scan);
	*consumed = final ? len : acdat_scan_consumed(scan);
	return status;
}
