/*-------------------------------------------------------------------------
 *
 * text.h
 *	  From original text to the folded text that is matched, with the way
 *	  back to original positions.
 *
 * The original text is cut into units: the smallest groups of characters
 * that the options map independently of their neighbours (one character, or
 * a base with the marks that compose with it).  Every unit yields zero (its
 * characters are in the ignore set) or more folded bytes.  A match must
 * begin and end on unit boundaries.
 *
 * Unicode data comes from utf8proc.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_TEXT_H
#define ACDAT_TEXT_H

#include "src/core/acdat.h"

/*
 * A unit never has more than this many characters: a longer run of marks is
 * cut, so that one unit needs bounded look-ahead.
 */
#define ACDAT_UNIT_MAX_CHARS 32

/* The most bytes of original text one unit can have. */
#define ACDAT_UNIT_MAX_BYTES (ACDAT_UNIT_MAX_CHARS * 4)

/* The most folded bytes one unit can yield. */
#define ACDAT_UNIT_MAX_FOLDED (ACDAT_UNIT_MAX_CHARS * 18 * 4)

/* The ignore set: sorted, distinct code points (bytes without UTF-8). */
typedef struct acdat_ignore_set
{
	const uint32_t *chars;
	size_t		count;
	uint32_t	ascii[4];		/* bit per code point below 128 */
} acdat_ignore_set;

typedef struct acdat_text_options
{
	acdat_encoding encoding;
	acdat_case	case_insensitive;
	acdat_normalize normalize;
	acdat_ignore_set ignore;
} acdat_text_options;

/* Where a folded byte comes from: the byte range of its unit. */
typedef struct acdat_origin
{
	uint32_t	start;			/* relative to the text given to fold */
	uint32_t	end;
} acdat_origin;

/*
 * Parse an ignore option into chars (room for ignore_len entries); sorts and
 * removes duplicates and fills *set, which then points at chars.
 */
extern acdat_status acdat_ignore_parse(const acdat_options *options,
									   uint32_t *chars, acdat_ignore_set *set);

/* Do the options change any byte beyond what a 256-byte table can? */
extern bool acdat_text_needs_fold(const acdat_options *options);

/* The byte table for ASCII case folding, or identity. */
extern void acdat_text_byte_table(const acdat_options *options,
								  unsigned char table[256]);

/*
 * What units of a text may be like that keeps the folded bytes from telling
 * where a match may end.
 */
#define ACDAT_TEXT_DROPPED		0x1u	/* characters are left out */
#define ACDAT_TEXT_EXPANDED		0x2u	/* a unit yields several code points */
#define ACDAT_TEXT_RECLASSED	0x4u	/* what it yields is another thing to words
										 * than its first or last character */
#define ACDAT_TEXT_ALL_TRAITS	0x7u

/*
 * Fold text[0, len) from its beginning: append to folded[] and origin[]
 * (room for capacity entries each) until the text is used up or the next
 * unit may not fit.  A unit is never split.  Without final, a unit that
 * later text could still change is left alone.  Returns the number of folded
 * bytes; *consumed gets the number of text bytes used.  len must be below
 * 2^32.  capacity must be at least ACDAT_UNIT_MAX_FOLDED.  *traits (optional)
 * says which traits to look for, and gets those found; a trait of a unit that
 * is left for later may be among them.
 */
extern size_t acdat_fold(const acdat_text_options *options,
						 const unsigned char *text, size_t len, bool final,
						 unsigned char *folded, acdat_origin *origin,
						 size_t capacity, size_t *consumed,
						 uint32_t *traits);

/*
 * Is the position pos of the original text (0 <= pos <= len) outside any
 * word, as a match end or start needs it under ACDAT_BOUNDARY_WORD?  True
 * unless the characters on both sides belong to one word: letters, digits,
 * connector punctuation such as '_' and the marks attached to them; Han and
 * Hiragana characters are words of their own (a simplification of Unicode
 * UAX #29, which looks at the two neighbours only).  A position inside a
 * character is not a boundary.  Constant time.
 */
extern bool acdat_is_word_boundary(acdat_encoding encoding,
								   const unsigned char *text, size_t len,
								   size_t pos);

/*
 * Is a position (0 <= pos <= len) between two characters, or at either end?
 * Constant time.
 */
extern bool acdat_is_char_boundary(acdat_encoding encoding,
								   const unsigned char *text, size_t len,
								   size_t pos);

/* Number of characters in text[0, len); invalid bytes count one each. */
extern size_t acdat_count_chars(acdat_encoding encoding,
								const unsigned char *text, size_t len);

/*
 * Length in bytes of the user-perceived character (extended grapheme
 * cluster) at the beginning of text; 0 only for len 0.
 */
extern size_t acdat_cluster_length(acdat_encoding encoding,
								   const unsigned char *text, size_t len);

/* Is text[0, len) wholly valid UTF-8? */
extern bool acdat_valid_utf8(const unsigned char *text, size_t len);

#endif							/* ACDAT_TEXT_H */
