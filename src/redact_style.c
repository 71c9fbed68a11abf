/*-------------------------------------------------------------------------
 *
 * redact_style.c
 *	  What stands in the place of a match: the styles of redact().
 *
 * Styles that put the same for every match or character are the matcher's
 * own.  The others make a mark, a text of its own for each match.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_collation.h"
#include "common/hmac.h"
#include "common/sha2.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/formatting.h"

#include "src/core/text.h"
#include "src/guc.h"
#include "src/pgcompat.h"
#include "src/redact.h"

#define DEFAULT_CHARS_MASK "*"
#define DEFAULT_FIXED_MASK "[REDACTED]"

/* Style keep_last, and how many characters it shows. */
#define KEEP_LAST "keep_last"
#define DEFAULT_KEEP 4
#define MAX_KEEP 1000

/* Bytes of a hash that are shown, each as two digits. */
#define HASH_BYTES 8

static bool
text_equals(const text *value, const char *string)
{
	Size		len = strlen(string);

	return VARSIZE_ANY_EXHDR(value) == len &&
		memcmp(VARDATA_ANY(value), string, len) == 0;
}

/* The mask of style chars is one character. */
static void
check_chars_mask(const AcdatRewriter *rewriter)
{
	const acdat_rewrite *rewrite = &rewriter->rewrite;

	if (rewrite->mask_len != 0 &&
		acdat_cluster_length(rewriter->encoding, rewrite->mask,
							 rewrite->mask_len) == rewrite->mask_len)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("mask must be exactly one character"),
			 errdetail("Styles chars and keep_last put one mask in place of each character."),
			 errhint("Use style fixed for a mask of any length.")));
}

/*
 * Style hash depends on a setting, which an immutable function must not; and
 * with a machine of one's own making it would tell the hash of any guess.
 */
static void
check_hash(const AcdatRewriter *rewriter)
{
	if (rewriter->is_machine)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("redaction style \"hash\" is not supported for machine values"),
				 errhint("Publish a dictionary.")));
	if (acdat_guc_hash_key == NULL || acdat_guc_hash_key[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("there is no key for redaction style \"hash\""),
				 errhint("A superuser can set acdat_bgw.hash_key.")));
}

/*
 * "keep_last", or with a number of characters, "keep_last 2"; false if style
 * is another one.
 */
static bool
parse_keep_last(const text *style, int *keep)
{
	char	   *string = text_to_cstring(style);
	Size		len = strlen(KEEP_LAST);
	char	   *end;
	long		value;

	if (strncmp(string, KEEP_LAST, len) != 0)
		return false;
	*keep = DEFAULT_KEEP;
	if (string[len] == '\0')
		return true;
	if (string[len] != ' ')
		return false;
	value = strtol(string + len, &end, 10);
	if (*end != '\0' || end == string + len || value < 1 || value > MAX_KEEP)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("invalid number of characters in redaction style: \"%s\"",
						string),
				 errhint("Use keep_last with 1 to %d, as in keep_last 4.",
						 MAX_KEEP)));
	*keep = (int) value;
	return true;
}

static void
choose_style(AcdatRewriter *rewriter, const text *style)
{
	acdat_rewrite *rewrite = &rewriter->rewrite;

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
	else if (text_equals(style, "tag"))
		rewriter->mark = ACDAT_MARK_TAG;
	else if (text_equals(style, "hash"))
	{
		check_hash(rewriter);
		rewriter->mark = ACDAT_MARK_HASH;
	}
	else if (parse_keep_last(style, &rewriter->keep))
	{
		rewriter->mark = ACDAT_MARK_KEEP_LAST;
		rewrite->mask = DEFAULT_CHARS_MASK;
	}
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unrecognized redaction style: \"%s\"",
						text_to_cstring(style)),
				 errhint("Use chars, fixed, tag, hash or keep_last.")));
}

void
acdat_rewriter_style(AcdatRewriter *rewriter, text *style, text *mask)
{
	acdat_rewrite *rewrite = &rewriter->rewrite;

	rewrite->policy = ACDAT_MERGED;
	choose_style(rewriter, style);
	if (mask == NULL)
	{
		rewrite->mask_len = rewrite->mask == NULL ? 0 : strlen(rewrite->mask);
		return;
	}
	if (rewrite->mask == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("redaction style \"%s\" takes no mask",
						text_to_cstring(style))));
	rewrite->mask = VARDATA_ANY(mask);
	rewrite->mask_len = VARSIZE_ANY_EXHDR(mask);
	if (rewrite->style == ACDAT_REWRITE_CHARS ||
		rewriter->mark == ACDAT_MARK_KEEP_LAST)
		check_chars_mask(rewriter);
}

/*
 * The tag of a match's pattern in upper case; in bytes, which have no
 * encoding, this means ASCII letters.  Without a tag it is as in style fixed.
 */
static char *
tag_mark(const AcdatRewriter *rewriter, uint32 pattern)
{
	size_t		len;
	const char *tag = acdat_pattern_tag(&rewriter->ref->machine, pattern, &len);
	char	   *upper;
	char	   *mark;

	if (tag == NULL || len == 0)
		return pstrdup(DEFAULT_FIXED_MASK);
	if (rewriter->is_text)
	{
		(void) pg_verifymbstr(tag, (int) len, false);
		upper = str_toupper(tag, len, DEFAULT_COLLATION_OID);
	}
	else
		upper = asc_toupper(tag, len);
	mark = psprintf("[%s]", upper);
	pfree(upper);
	return mark;
}

/* The beginning of the HMAC-SHA-256 of what matched, in hexadecimal digits. */
static char *
hash_mark(const char *bytes, Size len)
{
	uint8		digest[PG_SHA256_DIGEST_LENGTH];
	char		digits[2 * HASH_BYTES + 1];
	pg_hmac_ctx *context = pg_hmac_create(PG_SHA256);
	bool		done;

	done = context != NULL &&
		pg_hmac_init(context, (const uint8 *) acdat_guc_hash_key,
					 strlen(acdat_guc_hash_key)) >= 0 &&
		pg_hmac_update(context, (const uint8 *) bytes, len) >= 0 &&
		pg_hmac_final(context, digest, sizeof(digest)) >= 0;
	pg_hmac_free(context);
	if (!done)
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not compute a keyed hash")));
	digits[hex_encode((const char *) digest, HASH_BYTES, digits)] = '\0';
	return psprintf("[%s]", digits);
}

static Size
character_length(const AcdatRewriter *rewriter, const char *bytes, Size len)
{
	return acdat_cluster_length(rewriter->encoding,
								(const unsigned char *) bytes, len);
}

/*
 * A mask for each character (grapheme cluster) but the last ones, of which at
 * most half of all are shown: a short secret is not given away.
 */
static char *
keep_last_mark(const AcdatRewriter *rewriter, const char *bytes, Size len,
			   Size *mark_len)
{
	const acdat_rewrite *rewrite = &rewriter->rewrite;
	Size		count = 0;
	Size		masked;
	Size		pos;
	Size		i;
	StringInfoData mark;

	for (pos = 0; pos < len; count++)
		pos += character_length(rewriter, bytes + pos, len - pos);
	masked = count - Min((Size) rewriter->keep, count / 2);
	initStringInfo(&mark);
	for (pos = 0, i = 0; i < masked; i++)
	{
		pos += character_length(rewriter, bytes + pos, len - pos);
		appendBinaryStringInfo(&mark, rewrite->mask, (int) rewrite->mask_len);
	}
	appendBinaryStringInfo(&mark, bytes + pos, (int) (len - pos));
	*mark_len = (Size) mark.len;
	return mark.data;
}

char *
acdat_mark_text(const AcdatRewriter *rewriter, const acdat_match *match,
				const char *bytes, Size *len)
{
	const char *matched = bytes + match->start;
	Size		matched_len = match->end - match->start;
	char	   *mark;

	if (rewriter->mark == ACDAT_MARK_KEEP_LAST)
		return keep_last_mark(rewriter, matched, matched_len, len);
	mark = rewriter->mark == ACDAT_MARK_HASH ?
		hash_mark(matched, matched_len) : tag_mark(rewriter, match->pattern);
	*len = strlen(mark);
	return mark;
}
