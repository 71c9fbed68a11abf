/*-------------------------------------------------------------------------
 *
 * chars.c
 *	  Characters of an original text: counting, clusters, word boundaries.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/unicode.h"

#include <string.h>

#include <utf8proc.h>

/* What a character is to words. */
typedef enum word_class
{
	WORD_NONE,					/* outside words */
	WORD_PART,					/* letter, digit or connector */
	WORD_SINGLE,				/* Han and Hiragana: a word by itself */
	WORD_MARK					/* attaches to the character before */
} word_class;

/* An inclusive range of code points. */
typedef struct char_range
{
	int32_t		first;
	int32_t		last;
} char_range;

/*
 * Blocks of Han and Hiragana, for utf8proc does not know scripts.  Signs and
 * unassigned code points among them are told apart by their category.
 */
static const char_range single_ranges[] = {
	{0x3005, 0x3007}, {0x3021, 0x3029}, {0x3038, 0x303B},
	{0x3041, 0x309F}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},
	{0xF900, 0xFAFF}, {0x1B001, 0x1B11F}, {0x1B132, 0x1B132},
	{0x1B150, 0x1B152}, {0x20000, 0x3FFFF}
};

#define SINGLE_RANGES (sizeof(single_ranges) / sizeof(single_ranges[0]))

#define ZERO_WIDTH_NON_JOINER	0x200C
#define ZERO_WIDTH_JOINER		0x200D

/* Nearly all texts outside East Asia are below the first range. */
static bool
is_single(int32_t c)
{
	size_t		i;

	if (c < single_ranges[0].first)
		return false;
	for (i = 0; i < SINGLE_RANGES; i++)
	{
		if (c >= single_ranges[i].first && c <= single_ranges[i].last)
			return true;
	}
	return false;
}

/* ASCII by comparison, the rest by its general category. */
static word_class
classify_char(int32_t c)
{
	if (c < 0x80)
	{
		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '_')
			return WORD_PART;
		return WORD_NONE;		/* an invalid byte, too */
	}
	if (c == ZERO_WIDTH_NON_JOINER || c == ZERO_WIDTH_JOINER)
		return WORD_MARK;
	switch (utf8proc_category(c))
	{
		case UTF8PROC_CATEGORY_LU:
		case UTF8PROC_CATEGORY_LL:
		case UTF8PROC_CATEGORY_LT:
		case UTF8PROC_CATEGORY_LM:
		case UTF8PROC_CATEGORY_LO:
		case UTF8PROC_CATEGORY_ND:
		case UTF8PROC_CATEGORY_NL:
		case UTF8PROC_CATEGORY_PC:
			return is_single(c) ? WORD_SINGLE : WORD_PART;
		case UTF8PROC_CATEGORY_MN:
		case UTF8PROC_CATEGORY_MC:
		case UTF8PROC_CATEGORY_ME:
			return WORD_MARK;
		default:
			return WORD_NONE;
	}
}

/*
 * The character that ends at pos > 0; ACDAT_INVALID_CHAR for an invalid
 * byte.  False when pos lies inside a character.
 */
static bool
char_before(const unsigned char *text, size_t len, size_t pos, int32_t *c)
{
	size_t		back = 1;
	size_t		n;

	/* a character has at most three continuation bytes */
	while (back < 4 && back < pos && (text[pos - back] & 0xC0) == 0x80)
		back++;
	n = acdat_decode_char(text + pos - back, len - pos + back, c);
	if (n > back)
		return false;
	if (n < back)
		*c = ACDAT_INVALID_CHAR;
	return true;
}

/*
 * A mark ends a word as a part of one does, but does not begin one.
 */
bool
acdat_keeps_word_class(int32_t first, int32_t last, int32_t folded)
{
	word_class	class = classify_char(folded);
	word_class	right = classify_char(first);
	word_class	left = last == first ? right : classify_char(last);

	return right == class &&
		(left == class || (left == WORD_MARK && class == WORD_PART));
}

bool
acdat_is_char_boundary(acdat_encoding encoding, const unsigned char *text,
					   size_t len, size_t pos)
{
	int32_t		c;

	return encoding != ACDAT_ENCODING_UTF8 || pos == 0 || pos >= len ||
		char_before(text, len, pos, &c);
}

/*
 * Two characters decide.  A boundary is where either is outside words, or
 * where a word of one character begins or ends; marks go with what they
 * follow.
 */
bool
acdat_is_word_boundary(acdat_encoding encoding, const unsigned char *text,
					   size_t len, size_t pos)
{
	int32_t		before;
	int32_t		after;
	word_class	left;
	word_class	right;

	if (pos == 0 || pos >= len)
		return true;
	if (encoding == ACDAT_ENCODING_UTF8)
	{
		if (!char_before(text, len, pos, &before))
			return false;
		(void) acdat_decode_char(text + pos, len - pos, &after);
	}
	else
	{
		/* bytes above ASCII are no characters of any word */
		before = text[pos - 1] < 0x80 ? text[pos - 1] : ACDAT_INVALID_CHAR;
		after = text[pos] < 0x80 ? text[pos] : ACDAT_INVALID_CHAR;
	}

	left = classify_char(before);
	if (left == WORD_NONE)
		return true;
	right = classify_char(after);
	if (right == WORD_NONE)
		return true;
	if (right == WORD_MARK)
		return false;
	return left == WORD_SINGLE || right == WORD_SINGLE;
}

/* The length of the character at text[0]; a cut-off one is a lone byte. */
static size_t
char_length(const unsigned char *text, size_t len, int32_t *c)
{
	size_t		n = acdat_decode_char(text, len, c);

	return n == 0 ? 1 : n;
}

/* Eight ASCII characters at a time, where there are. */
size_t
acdat_count_chars(acdat_encoding encoding, const unsigned char *text,
				  size_t len)
{
	size_t		count = 0;
	size_t		pos = 0;

	if (encoding != ACDAT_ENCODING_UTF8)
		return len;
	while (pos < len)
	{
		uint64_t	eight;
		int32_t		c;

		while (len - pos >= sizeof(eight))
		{
			memcpy(&eight, text + pos, sizeof(eight));
			if ((eight & UINT64_C(0x8080808080808080)) != 0)
				break;
			pos += sizeof(eight);
			count += sizeof(eight);
		}
		if (pos == len)
			break;
		pos += char_length(text + pos, len - pos, &c);
		count++;
	}
	return count;
}

/* A byte that is no character is a cluster by itself. */
size_t
acdat_cluster_length(acdat_encoding encoding, const unsigned char *text,
					 size_t len)
{
	utf8proc_int32_t state = 0;
	int32_t		c;
	int32_t		next;
	size_t		pos;

	if (len == 0)
		return 0;
	if (encoding != ACDAT_ENCODING_UTF8)
		return 1;
	pos = char_length(text, len, &c);
	while (c != ACDAT_INVALID_CHAR && pos < len)
	{
		size_t		n = char_length(text + pos, len - pos, &next);

		if (next == ACDAT_INVALID_CHAR ||
			utf8proc_grapheme_break_stateful(c, next, &state))
			break;
		pos += n;
		c = next;
	}
	return pos;
}

bool
acdat_valid_utf8(const unsigned char *text, size_t len)
{
	size_t		pos = 0;

	while (pos < len)
	{
		int32_t		c;
		size_t		n = acdat_decode_char(text + pos, len - pos, &c);

		if (c == ACDAT_INVALID_CHAR)
			return false;
		pos += n;
	}
	return true;
}
