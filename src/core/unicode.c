/*-------------------------------------------------------------------------
 *
 * unicode.c
 *	  Code points: decoding, folding and composing, on top of utf8proc.
 *
 * The few code points named here are structure, not data that changes from
 * one version of Unicode to the next: stable blocks, or exceptions to what
 * utf8proc can say.  Everything that may grow comes from utf8proc.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/unicode.h"

#include <string.h>

#include <utf8proc.h>

#define DOTTED_CAPITAL_I 0x0130

/*
 * Han ideographs without any property of interest here, the bulk of Chinese
 * and Japanese texts: not worth a look into the tables.
 */
#define IS_PLAIN_HAN(c) ((c) >= 0x3400 && (c) <= 0x9FFF)

/* utf8proc's mark for "no mapping" in its sequence indexes */
#define NO_SEQUENCE UINT16_MAX

#define DECOMPOSE_COMPAT \
	((utf8proc_option_t) (UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT))

/* STABLE keeps the composition exclusions, as NFKC demands. */
#define COMPOSE_STABLE \
	((utf8proc_option_t) (UTF8PROC_COMPOSE | UTF8PROC_STABLE))

/* Is it a byte that continues a character? */
static bool
is_continuation(unsigned char byte)
{
	return (byte & 0xC0) == 0x80;
}

/*
 * What the lead byte says: the length of the character (0 for none), its
 * payload bits, and the range the second byte must lie in.  The range is
 * what keeps overlong forms, surrogates and values above U+10FFFF out.
 */
static size_t
classify_lead(unsigned char lead, int32_t *bits,
			  unsigned char *low, unsigned char *high)
{
	*low = 0x80;
	*high = 0xBF;
	if (lead >= 0xC2 && lead <= 0xDF)
	{
		*bits = lead & 0x1F;
		return 2;
	}
	if (lead >= 0xE0 && lead <= 0xEF)
	{
		*bits = lead & 0x0F;
		if (lead == 0xE0)
			*low = 0xA0;
		else if (lead == 0xED)
			*high = 0x9F;
		return 3;
	}
	if (lead >= 0xF0 && lead <= 0xF4)
	{
		*bits = lead & 0x07;
		if (lead == 0xF0)
			*low = 0x90;
		else if (lead == 0xF4)
			*high = 0x8F;
		return 4;
	}
	return 0;
}

/*
 * A decoder of our own, for utf8proc's does not tell a character that is cut
 * off from one that is wrong, and a stream has to know.
 */
size_t
acdat_decode_char(const unsigned char *text, size_t len, int32_t *c)
{
	int32_t		value;
	unsigned char low;
	unsigned char high;
	size_t		need;
	size_t		i;

	if (text[0] < 0x80)
	{
		*c = text[0];
		return 1;
	}

	*c = ACDAT_INVALID_CHAR;
	need = classify_lead(text[0], &value, &low, &high);
	if (need == 0)
		return 1;
	if (len < 2)
		return 0;
	if (text[1] < low || text[1] > high)
		return 1;
	value = value << 6 | (text[1] & 0x3F);
	for (i = 2; i < need; i++)
	{
		if (i == len)
			return 0;
		if (!is_continuation(text[i]))
			return 1;
		value = value << 6 | (text[i] & 0x3F);
	}
	*c = value;
	return need;
}

/* No check: code points come from the decoder or from utf8proc. */
size_t
acdat_encode_char(int32_t c, unsigned char *dst)
{
	return (size_t) utf8proc_encode_char(c, dst);
}

/*
 * utf8proc knows full case folding only.  Where that yields one code point
 * it is the C mapping; where it yields several (F), the S mapping, if there
 * is one, is what lower-casing yields.  U+0130 has but F and T mappings.
 */
static int32_t
fold_simple(int32_t c)
{
	utf8proc_int32_t folded[4];
	utf8proc_ssize_t count;
	int			boundclass = 0;

	if (utf8proc_get_property(c)->casefold_seqindex == NO_SEQUENCE ||
		c == DOTTED_CAPITAL_I)
		return c;
	count = utf8proc_decompose_char(c, folded, 4, UTF8PROC_CASEFOLD,
									&boundclass);
	return count == 1 ? folded[0] : utf8proc_tolower(c);
}

/* ASCII is folded without a look into the tables under either rule. */
int32_t
acdat_fold_case(int32_t c, acdat_case how)
{
	if (c < 0x80)
		return how != ACDAT_CASE_NONE && c >= 'A' && c <= 'Z' ? c + 32 : c;
	if (how != ACDAT_CASE_UNICODE || IS_PLAIN_HAN(c))
		return c;
	return fold_simple(c);
}

/*
 * The compatibility form of half-width Hangul is a compatibility jamo, which
 * utf8proc goes on to decompose into a conjoining one: too far, for nobody
 * writes those.  The half-width letters keep the order of U+3131..U+3163 with
 * gaps after every six vowels.
 */
static int32_t
fold_halfwidth_hangul(int32_t c)
{
	if (c == 0xFFA0)
		return 0x3164;
	if (c <= 0xFFBE)
		return c - 0xFFA1 + 0x3131;
	/* rows of eight cells, six of them used, beginning at U+FFC2 */
	return (c - 0xFFC2) / 8 * 6 + (c - 0xFFC2) % 8 + 0x314F;
}

/*
 * One step of decomposition only: the ordinary form of a character may have a
 * compatibility form of its own, and that is for NFKC to equate.
 */
int32_t
acdat_fold_width(int32_t c)
{
	const utf8proc_property_t *property;
	utf8proc_int32_t form[ACDAT_MAX_DECOMPOSITION];
	utf8proc_ssize_t count;
	int			boundclass = 0;

	if (c < 0x3000 || IS_PLAIN_HAN(c))
		return c;
	property = utf8proc_get_property(c);
	if (property->decomp_type != UTF8PROC_DECOMP_TYPE_WIDE &&
		property->decomp_type != UTF8PROC_DECOMP_TYPE_NARROW)
		return c;
	if (c >= 0xFFA0 && c <= 0xFFDC)
		return fold_halfwidth_hangul(c);
	if (c == 0xFFE3)
		return 0x00AF;			/* a macron, which would go on to decompose */
	count = utf8proc_decompose_char(c, form, ACDAT_MAX_DECOMPOSITION,
									DECOMPOSE_COMPAT, &boundclass);
	return count == 1 ? form[0] : c;
}

/*
 * From wo to n; the sound marks and the punctuation around them are not
 * letters.
 */
bool
acdat_is_halfwidth_kana(int32_t c)
{
	return c >= 0xFF66 && c <= 0xFF9D;
}

/* The marks' ordinary forms are combining, so that utf8proc composes them. */
int32_t
acdat_compose_kana(int32_t kana, int32_t sound_mark)
{
	utf8proc_int32_t pair[2];

	if (sound_mark != 0xFF9E && sound_mark != 0xFF9F)
		return 0;
	pair[0] = acdat_fold_width(kana);
	pair[1] = acdat_fold_width(sound_mark);
	if (utf8proc_normalize_utf32(pair, 2, COMPOSE_STABLE) != 1)
		return 0;
	return pair[0];
}

/* 0 for starters.  No character below U+0300 is anything else. */
static int
combining_class(int32_t c)
{
	return c < 0x300 ? 0 : utf8proc_get_property(c)->combining_class;
}

/*
 * Compatibility decomposition of chars[0, count) in canonical order.  The
 * insertion sort is stable and at most quadratic in one bounded unit.
 */
static size_t
decompose(const int32_t *chars, size_t count, int32_t *result)
{
	size_t		n = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		int			boundclass = 0;

		n += (size_t) utf8proc_decompose_char(chars[i], result + n,
											  ACDAT_MAX_DECOMPOSITION,
											  DECOMPOSE_COMPAT, &boundclass);
	}
	for (i = 1; i < n; i++)
	{
		int32_t		c = result[i];
		int			class = combining_class(c);
		size_t		j = i;

		while (class != 0 && j > 0 && combining_class(result[j - 1]) > class)
		{
			result[j] = result[j - 1];
			j--;
		}
		result[j] = c;
	}
	return n;
}

/* Canonical composition in place; returns the new count. */
static size_t
compose(int32_t *chars, size_t count)
{
	return (size_t) utf8proc_normalize_utf32(chars, (utf8proc_ssize_t) count,
											 COMPOSE_STABLE);
}

/* Decompose, put in order, compose, as the standard has it. */
size_t
acdat_nfkc(const int32_t *chars, size_t count, int32_t *result)
{
	return compose(result, decompose(chars, count, result));
}

/* A character without a decomposition composes with nothing on its own. */
bool
acdat_is_nfkc_char(int32_t c)
{
	/* Hangul syllables decompose by rule, and compose again */
	return c < 0x80 || IS_PLAIN_HAN(c) ||
		utf8proc_get_property(c)->decomp_seqindex == NO_SEQUENCE;
}

/*
 * May this starter be the second part of a composition?  Conjoining vowels
 * and trailing consonants of Hangul, and some vowel signs.  Being too
 * generous does no harm, for the composition is then tried; a test holds the
 * list against utf8proc.
 */
static bool
is_second_starter(int32_t c)
{
	if (c < 0x09BE)
		return false;
	if ((c >= 0x1161 && c <= 0x1175) || (c >= 0x11A8 && c <= 0x11C2))
		return true;
	switch (c)
	{
		case 0x09BE: case 0x09D7: case 0x0B3E: case 0x0B56: case 0x0B57:
		case 0x0BBE: case 0x0BD7: case 0x0CC2: case 0x0CD5: case 0x0CD6:
		case 0x0D3E: case 0x0D57: case 0x0DCF: case 0x0DDF: case 0x102E:
		case 0x1B35: case 0x11127: case 0x1133E: case 0x11357:
		case 0x113B8: case 0x113BB: case 0x113C2: case 0x113C9:
		case 0x114B0: case 0x114BA: case 0x114BD: case 0x115AF:
		case 0x11930: case 0x1611E: case 0x1611F: case 0x16120:
		case 0x16129: case 0x16D67:
			return true;
		default:
			return false;
	}
}

/* Does composing chars followed by the starter c swallow c? */
static bool
composes(const int32_t *chars, size_t count, int32_t c)
{
	int32_t		with[ACDAT_UNIT_MAX_DECOMPOSED + 1];
	int32_t		without[ACDAT_UNIT_MAX_DECOMPOSED];
	size_t		n = decompose(chars, count, with);

	memcpy(without, with, n * sizeof(int32_t));
	with[n] = c;
	return compose(with, n + 1) == compose(without, n);
}

/*
 * What counts is how the decomposition of c begins.  Marks always attach, for
 * they may be put in another order, too.
 */
bool
acdat_nfkc_attaches(const int32_t *chars, size_t count, int32_t c)
{
	const utf8proc_property_t *property;

	if (c < 0x300 || IS_PLAIN_HAN(c))
		return false;
	property = utf8proc_get_property(c);
	if (property->combining_class != 0)
		return true;
	if (property->decomp_seqindex != NO_SEQUENCE)
	{
		int32_t		parts[ACDAT_MAX_DECOMPOSITION];
		int			boundclass = 0;

		(void) utf8proc_decompose_char(c, parts, ACDAT_MAX_DECOMPOSITION,
									   DECOMPOSE_COMPAT, &boundclass);
		c = parts[0];
		if (combining_class(c) != 0)
			return true;
	}
	return is_second_starter(c) && composes(chars, count, c);
}
