/*-------------------------------------------------------------------------
 *
 * text.c
 *	  Folding a text unit by unit, with the way back to the original.
 *
 * Units are cut greedily from left to right and where one ends depends on
 * nothing before its beginning.  That is what lets a scan take up a stream
 * again at any unit boundary, and what makes a piece of text between two
 * boundaries fold by itself to what it folds to in place.
 *
 * Ignored characters are transparent: a base and a mark with an ignored
 * character between them still compose, and the ignored character is then
 * part of the unit.  A unit never begins or ends with one unless it consists
 * of nothing else.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/unicode.h"

#include <stdlib.h>
#include <string.h>

/* A unit being gathered. */
typedef struct unit
{
	int32_t		chars[ACDAT_UNIT_MAX_CHARS];	/* ignored ones left out */
	size_t		count;
	size_t		end;			/* bytes from the beginning of the unit */
	bool		dropped;		/* ignored characters were seen */
} unit;

/* Output of acdat_fold(). */
typedef struct fold_output
{
	unsigned char *folded;
	acdat_origin *origin;
	size_t		capacity;
	size_t		used;
	uint32_t	watched;		/* traits to look for */
	uint32_t	traits;			/* traits found */
} fold_output;

/*
 * Is a code point (a byte, in bytes) in the set?  ASCII is answered by the
 * bitmap, which most characters of most texts need only.
 */
static bool
set_has(const acdat_ignore_set *set, int32_t c)
{
	uint32_t	wanted = (uint32_t) c;
	size_t		low = 0;
	size_t		high = set->count;

	if (wanted < 128)
		return (set->ascii[wanted >> 5] >> (wanted & 31) & 1) != 0;
	while (low < high)
	{
		size_t		middle = low + (high - low) / 2;

		if (set->chars[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low < set->count && set->chars[low] == wanted;
}

/*
 * In bytes there is nothing to fold but ASCII letters; the options that need
 * characters are then without effect.
 */
static bool
folds_unicode(const acdat_text_options *options)
{
	return options->encoding == ACDAT_ENCODING_UTF8;
}

/*
 * NFKC, simple case folding, and NFKC again where folding changed anything:
 * J and a caron do not compose, but j and a caron do.
 */
static size_t
fold_nfkc(const acdat_text_options *options, const int32_t *chars,
		  size_t count, int32_t *result)
{
	int32_t		folded[ACDAT_UNIT_MAX_DECOMPOSED];
	bool		changed = false;
	size_t		n = acdat_nfkc(chars, count, result);
	size_t		i;

	for (i = 0; i < n; i++)
	{
		folded[i] = acdat_fold_case(result[i], options->case_insensitive);
		if (folded[i] != result[i])
			changed = true;
	}
	if (changed)
		return acdat_nfkc(folded, n, result);
	return n;
}

/*
 * Fold the characters of one unit; result has room for
 * ACDAT_UNIT_MAX_DECOMPOSED.  Returns the number of code points.
 */
static size_t
fold_chars(const acdat_text_options *options, const int32_t *chars,
		   size_t count, int32_t *result)
{
	int32_t		c = chars[0];

	if (folds_unicode(options) && options->normalize == ACDAT_NORMALIZE_NFKC)
	{
		if (count > 1 || !acdat_is_nfkc_char(c))
			return fold_nfkc(options, chars, count, result);
		c = acdat_fold_case(c, options->case_insensitive);
		if (!acdat_is_nfkc_char(c))
			return fold_nfkc(options, chars, count, result);
	}
	else if (folds_unicode(options))
	{
		if (count == 2)
			c = acdat_compose_kana(c, chars[1]);
		else if (options->normalize == ACDAT_NORMALIZE_WIDTH)
			c = acdat_fold_width(c);
		c = acdat_fold_case(c, options->case_insensitive);
	}
	else if (c < 0x80)
		c = acdat_fold_case(c, options->case_insensitive);
	result[0] = c;
	return 1;
}

/* Is c dropped, as it is or because all it folds to is? */
static bool
is_ignored(const acdat_text_options *options, int32_t c)
{
	int32_t		folded[ACDAT_UNIT_MAX_DECOMPOSED];
	size_t		n;
	size_t		i;

	if (options->ignore.count == 0)
		return false;
	if (set_has(&options->ignore, c))
		return true;
	n = fold_chars(options, &c, 1, folded);
	for (i = 0; i < n; i++)
	{
		if (!set_has(&options->ignore, folded[i]))
			return false;
	}
	return true;
}

/* Does the character c belong to the unit gathered so far? */
static bool
attaches(const acdat_text_options *options, const unit *u, int32_t c)
{
	if (options->normalize == ACDAT_NORMALIZE_NFKC)
		return acdat_nfkc_attaches(u->chars, u->count, c);
	return acdat_compose_kana(u->chars[0], c) != 0;
}

/*
 * Gather what belongs to the character that *u holds.  Returns false when
 * that depends on text not given yet.
 */
static bool
gather_unit(const acdat_text_options *options, const unsigned char *text,
			size_t len, bool final, unit *u)
{
	size_t		pos = u->end;
	size_t		seen;
	size_t		most = options->normalize == ACDAT_NORMALIZE_NFKC ?
		ACDAT_UNIT_MAX_CHARS : 2;

	for (seen = 1; seen < ACDAT_UNIT_MAX_CHARS && u->count < most; seen++)
	{
		int32_t		c;
		size_t		n;

		if (pos == len)
			return final;
		n = acdat_decode_char(text + pos, len - pos, &c);
		if (n == 0)
			return final;
		if (c == ACDAT_INVALID_CHAR)
			break;
		pos += n;
		if (is_ignored(options, c))
		{
			u->dropped = true;
			continue;
		}
		if (!attaches(options, u, c))
			break;
		u->chars[u->count++] = c;
		u->end = pos;
	}
	return true;
}

/* May a unit that begins with c have more characters? */
static bool
may_attract(const acdat_text_options *options, int32_t c)
{
	if (!folds_unicode(options))
		return false;
	return options->normalize == ACDAT_NORMALIZE_NFKC ||
		(options->normalize == ACDAT_NORMALIZE_WIDTH &&
		 acdat_is_halfwidth_kana(c));
}

/* Append bytes that stem from text[start, end); false when they do not fit. */
static bool
put_bytes(fold_output *out, const unsigned char *bytes, size_t n,
		  size_t start, size_t end)
{
	size_t		i;

	if (out->capacity - out->used < n)
		return false;
	for (i = 0; i < n; i++)
	{
		out->folded[out->used] = bytes[i];
		out->origin[out->used].start = (uint32_t) start;
		out->origin[out->used].end = (uint32_t) end;
		out->used++;
	}
	return true;
}

/* Note the traits of a unit of which so many of n code points are dropped. */
static void
note_traits(fold_output *out, const unit *u, const int32_t *folded, size_t n,
			size_t dropped)
{
	if (u->dropped || dropped > 0)
		out->traits |= ACDAT_TEXT_DROPPED;
	if (n > 1)
		out->traits |= ACDAT_TEXT_EXPANDED;
	if ((out->watched & ACDAT_TEXT_RECLASSED) != 0 &&
		(n > 1 || u->count > 1 || folded[0] != u->chars[0]) &&
		!acdat_keeps_word_class(u->chars[0], u->chars[u->count - 1],
								folded[0]))
		out->traits |= ACDAT_TEXT_RECLASSED;
}

/* Fold a gathered unit that begins at start. */
static bool
put_unit(const acdat_text_options *options, const unit *u, size_t start,
		 fold_output *out)
{
	int32_t		folded[ACDAT_UNIT_MAX_DECOMPOSED];
	unsigned char bytes[ACDAT_UNIT_MAX_FOLDED];
	size_t		n = fold_chars(options, u->chars, u->count, folded);
	size_t		used = 0;
	size_t		dropped = 0;
	size_t		i;

	for (i = 0; i < n; i++)
	{
		if (options->ignore.count > 0 && set_has(&options->ignore, folded[i]))
		{
			dropped++;
			continue;
		}
		if (folds_unicode(options))
			used += acdat_encode_char(folded[i], bytes + used);
		else
			bytes[used++] = (unsigned char) folded[i];
	}
	if (out->watched != 0)
		note_traits(out, u, folded, n, dropped);
	return put_bytes(out, bytes, used, start, start + u->end);
}

/*
 * Fold the one unit at text[pos].  Returns its length, or 0 when it must
 * wait for more text or does not fit.
 */
static size_t
fold_unit(const acdat_text_options *options, const unsigned char *text,
		  size_t len, size_t pos, bool final, fold_output *out)
{
	unit		u;
	int32_t		c;

	if (folds_unicode(options))
	{
		u.end = acdat_decode_char(text + pos, len - pos, &c);
		if (u.end == 0)
		{
			if (!final)
				return 0;
			u.end = 1;
		}
		if (c == ACDAT_INVALID_CHAR)
			return put_bytes(out, text + pos, 1, pos, pos + 1) ? 1 : 0;
	}
	else
	{
		u.end = 1;
		c = text[pos];
	}
	if (is_ignored(options, c))
	{
		out->traits |= ACDAT_TEXT_DROPPED;
		return u.end;
	}

	u.chars[0] = c;
	u.count = 1;
	u.dropped = false;
	if (may_attract(options, c) &&
		!gather_unit(options, text + pos, len - pos, final, &u))
		return 0;
	return put_unit(options, &u, pos, out) ? u.end : 0;
}

/*
 * The length of the character at text[0] if it is of the simplest kinds,
 * ASCII or Han, that attach to nothing and change by ASCII case folding at
 * most; else 0.  Lead bytes 0xE5 to 0xE8 are those of U+5000 to U+8FFF.
 */
static size_t
plain_length(const unsigned char *text, size_t len)
{
	if (len > 0 && text[0] < 0x80)
		return 1;
	if (len > 2 && text[0] >= 0xE5 && text[0] <= 0xE8 &&
		(text[1] & 0xC0) == 0x80 && (text[2] & 0xC0) == 0x80)
		return 3;
	return 0;
}

/* Can plain Han not be in the set?  It is sorted. */
static bool
han_passes(const acdat_text_options *options)
{
	const acdat_ignore_set *set = &options->ignore;

	return folds_unicode(options) &&
		(set->count == 0 || set->chars[set->count - 1] < 0x5000);
}

/*
 * Fold the plain characters from text[pos] on that are units by themselves,
 * as far as that can be seen at once; returns the position behind them.
 * Under NFKC the character behind must be plain, too, and not ignored.
 */
static size_t
fold_plain(const acdat_text_options *options, const unsigned char *text,
		   size_t len, size_t pos, fold_output *out)
{
	bool		han = han_passes(options);
	bool		behind = folds_unicode(options) &&
		options->normalize == ACDAT_NORMALIZE_NFKC;

	for (;;)
	{
		size_t		n = plain_length(text + pos, len - pos);
		unsigned char bytes[4];

		if (n == 0 || (n > 1 && !han))
			break;
		memcpy(bytes, text + pos, n);
		if (n == 1)
		{
			if (is_ignored(options, bytes[0]))
				break;
			bytes[0] = (unsigned char) acdat_fold_case(bytes[0],
													   options->case_insensitive);
		}
		if (behind)
		{
			size_t		next = plain_length(text + pos + n, len - pos - n);

			if (next == 0 || (next > 1 && !han) ||
				(next == 1 && is_ignored(options, text[pos + n])))
				break;
		}
		if (!put_bytes(out, bytes, n, pos, pos + n))
			break;
		pos += n;
	}
	return pos;
}

/*
 * Plain characters go in a tight loop of their own; every other unit takes
 * the long way.  Each round of the loop takes one unit at least or ends.
 */
size_t
acdat_fold(const acdat_text_options *options, const unsigned char *text,
		   size_t len, bool final, unsigned char *folded,
		   acdat_origin *origin, size_t capacity, size_t *consumed,
		   uint32_t *traits)
{
	fold_output out;
	size_t		pos = 0;

	out.folded = folded;
	out.origin = origin;
	out.capacity = capacity;
	out.used = 0;
	out.watched = traits == NULL ? 0 : *traits;
	out.traits = 0;
	while (pos < len)
	{
		size_t		n;

		pos = fold_plain(options, text, len, pos, &out);
		if (pos == len)
			break;
		n = fold_unit(options, text, len, pos, final, &out);
		if (n == 0)
			break;
		pos += n;
	}
	*consumed = pos;
	if (traits != NULL)
		*traits = out.traits & out.watched;
	return out.used;
}

/* For qsort(): by code point. */
static int
compare_chars(const void *a, const void *b)
{
	uint32_t	x = *(const uint32_t *) a;
	uint32_t	y = *(const uint32_t *) b;

	return (x > y) - (x < y);
}

/* Sort the set, drop duplicates and make its bitmap. */
static void
finish_set(uint32_t *chars, size_t count, acdat_ignore_set *set)
{
	size_t		i;
	size_t		n = 0;

	if (count > 1)
		qsort(chars, count, sizeof(*chars), compare_chars);
	for (i = 0; i < count; i++)
	{
		if (n > 0 && chars[n - 1] == chars[i])
			continue;
		chars[n++] = chars[i];
		if (chars[i] < 128)
			set->ascii[chars[i] >> 5] |= UINT32_C(1) << (chars[i] & 31);
	}
	set->chars = chars;
	set->count = n;
}

/*
 * The set holds the folded form of each character where that is one code
 * point, so that an upper-case letter or a full-width sign in the option
 * ignores all its forms.
 */
acdat_status
acdat_ignore_parse(const acdat_options *options, uint32_t *chars,
				   acdat_ignore_set *set)
{
	const unsigned char *ignore = (const unsigned char *) options->ignore;
	acdat_text_options folding;
	size_t		count = 0;
	size_t		pos = 0;

	memset(set, 0, sizeof(*set));
	memset(&folding, 0, sizeof(folding));
	folding.encoding = options->encoding;
	folding.case_insensitive = options->case_insensitive;
	folding.normalize = options->normalize;
	while (pos < options->ignore_len)
	{
		int32_t		folded[ACDAT_UNIT_MAX_DECOMPOSED];
		int32_t		c = ignore[pos];
		size_t		n = 1;

		if (folds_unicode(&folding))
			n = acdat_decode_char(ignore + pos, options->ignore_len - pos, &c);
		if (n == 0 || c == ACDAT_INVALID_CHAR)
			return ACDAT_BAD_ARGUMENT;
		if (fold_chars(&folding, &c, 1, folded) == 1)
			c = folded[0];
		chars[count++] = (uint32_t) c;
		pos += n;
	}
	finish_set(chars, count, set);
	return ACDAT_OK;
}

/*
 * ASCII case folding alone is a matter of a byte table, which the automaton
 * has anyway.
 */
bool
acdat_text_needs_fold(const acdat_options *options)
{
	if (options->ignore_len > 0)
		return true;
	return options->encoding == ACDAT_ENCODING_UTF8 &&
		(options->case_insensitive == ACDAT_CASE_UNICODE ||
		 options->normalize != ACDAT_NORMALIZE_NONE);
}

/*
 * Unicode folding includes that of ASCII, so that the table is right for
 * texts already folded, too.
 */
void
acdat_text_byte_table(const acdat_options *options, unsigned char table[256])
{
	int			i;

	for (i = 0; i < 128; i++)
		table[i] = (unsigned char) acdat_fold_case(i,
												   options->case_insensitive);
	for (i = 128; i < 256; i++)
		table[i] = (unsigned char) i;
}
