/*-------------------------------------------------------------------------
 *
 * unicode.h
 *	  Code points: decoding, folding and composing, on top of utf8proc.
 *
 * Nothing here allocates or keeps state.  A code point is an int32_t as in
 * utf8proc; ACDAT_INVALID_CHAR stands for a byte that is not part of valid
 * UTF-8.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_UNICODE_H
#define ACDAT_UNICODE_H

#include "src/core/text.h"

#define ACDAT_INVALID_CHAR (-1)

/* The longest compatibility decomposition of one code point (U+FDFA). */
#define ACDAT_MAX_DECOMPOSITION 18

/* Room for the decomposition of a whole unit. */
#define ACDAT_UNIT_MAX_DECOMPOSED \
	(ACDAT_UNIT_MAX_CHARS * ACDAT_MAX_DECOMPOSITION)

/*
 * Decode the character at text[0, len), len > 0: returns its bytes and sets
 * *c.  An invalid byte counts as one character.  Returns 0 when the bytes
 * are the beginning of a valid character that is cut off; *c is then
 * ACDAT_INVALID_CHAR.
 */
extern size_t acdat_decode_char(const unsigned char *text, size_t len,
								int32_t *c);

/* Write a valid code point as UTF-8; returns the bytes, at most 4. */
extern size_t acdat_encode_char(int32_t c, unsigned char *dst);

/* Simple case folding: the mappings of status C and S, none of F and T. */
extern int32_t acdat_fold_case(int32_t c, acdat_case how);

/* The ordinary form of a full-width or half-width character, else itself. */
extern int32_t acdat_fold_width(int32_t c);

/* Is c a half-width kana letter? */
extern bool acdat_is_halfwidth_kana(int32_t c);

/*
 * The kana that a half-width kana and a half-width sound mark are together,
 * or 0 when there is none.
 */
extern int32_t acdat_compose_kana(int32_t kana, int32_t sound_mark);

/*
 * NFKC of a few characters: chars[0, count) into result (room for
 * ACDAT_UNIT_MAX_DECOMPOSED); returns the number of code points.  The
 * characters must be those of one unit or what a unit was folded to.
 */
extern size_t acdat_nfkc(const int32_t *chars, size_t count, int32_t *result);

/* Is c, on its own, equal to its NFKC form?  May say no for yes. */
extern bool acdat_is_nfkc_char(int32_t c);

/*
 * Is folded at both ends to words what first is at the beginning and last at
 * the end?  Then acdat_is_word_boundary() says the same of a unit and of what
 * it folds to.
 */
extern bool acdat_keeps_word_class(int32_t first, int32_t last,
								   int32_t folded);

/*
 * Can NFKC of chars[0, count) followed by c be anything else than the two
 * results put together?  Every non-starter counts.
 */
extern bool acdat_nfkc_attaches(const int32_t *chars, size_t count,
								int32_t c);

#endif							/* ACDAT_UNICODE_H */
