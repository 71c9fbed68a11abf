/*
 * Code points against utf8proc, exhaustively: decoding, case, width, NFKC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "src/core/unicode.h"

#define LAST_CHAR 0x10FFFF
#define ROOM 8192

#define NFKC_OPTIONS ((utf8proc_option_t) \
	(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT))

/* Our decoder agrees with utf8proc's on three bytes of any kind. */
static void
decoder_agrees(void **state)
{
	static const unsigned char tails[] = {
		0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xFF
	};
	unsigned char text[4];
	size_t		j;
	size_t		k;
	int			a;
	int			b;

	(void) state;
	for (a = 0; a < 256; a++)
	{
		for (b = 0; b < 256; b++)
		{
			for (j = 0; j < sizeof(tails); j++)
			{
				for (k = 0; k < sizeof(tails); k++)
				{
					int32_t		mine;
					utf8proc_int32_t theirs;
					utf8proc_ssize_t n;
					size_t		got;

					text[0] = (unsigned char) a;
					text[1] = (unsigned char) b;
					text[2] = tails[j];
					text[3] = tails[k];
					n = utf8proc_iterate(text, 4, &theirs);
					got = acdat_decode_char(text, 4, &mine);
					assert_int_equal(got, n > 0 ? n : 1);
					assert_int_equal(mine, n > 0 ? theirs
									 : ACDAT_INVALID_CHAR);
				}
			}
		}
	}
}

/* NFKC of code points by utf8proc itself; returns the bytes. */
static size_t
reference_nfkc(const int32_t *chars, size_t count, unsigned char *bytes)
{
	int32_t		buffer[ROOM];
	size_t		n = 0;
	size_t		i;
	size_t		len = 0;
	unsigned char text[ROOM];
	utf8proc_ssize_t got;

	for (i = 0; i < count; i++)
		len += acdat_encode_char(chars[i], text + len);
	got = utf8proc_decompose(text, (utf8proc_ssize_t) len, buffer, ROOM,
							 NFKC_OPTIONS);
	assert_true(got >= 0);
	got = utf8proc_normalize_utf32(buffer, got, NFKC_OPTIONS);
	for (i = 0; i < (size_t) got; i++)
		n += acdat_encode_char(buffer[i], bytes + n);
	return n;
}

static void
assert_nfkc(const int32_t *chars, size_t count)
{
	static const acdat_text_options options = {
		.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_NFKC
	};
	static unsigned char expected[ROOM];
	static unsigned char folded[ROOM];
	static acdat_origin origin[ROOM];
	unsigned char text[256];
	size_t		consumed;
	size_t		len = 0;
	size_t		n = reference_nfkc(chars, count, expected);
	size_t		got;
	size_t		i;

	for (i = 0; i < count; i++)
		len += acdat_encode_char(chars[i], text + len);
	got = acdat_fold(&options, text, len, true, folded, origin, ROOM,
					 &consumed, NULL);
	assert_int_equal(consumed, len);
	if (got != n || memcmp(folded, expected, n) != 0)
		fail_msg("NFKC differs for U+%04X U+%04X ...", (unsigned) chars[0],
				 (unsigned) (count > 1 ? chars[1] : 0));
}

/* Every code point alone, and with a letter on either side. */
static void
nfkc_of_every_char(void **state)
{
	int32_t		c;

	(void) state;
	for (c = 0; c <= LAST_CHAR; c++)
	{
		int32_t		chars[3];

		if (!utf8proc_codepoint_valid(c))
			continue;
		chars[0] = c;
		assert_nfkc(chars, 1);
		chars[0] = 'e';
		chars[1] = c;
		chars[2] = 'x';
		assert_nfkc(chars, 3);
	}
}

/* Can c join what comes before it, as far as utf8proc's data can tell? */
static bool
may_join(int32_t c)
{
	int32_t		parts[ACDAT_MAX_DECOMPOSITION];
	int			boundclass = 0;

	(void) utf8proc_decompose_char(c, parts, ACDAT_MAX_DECOMPOSITION,
								   (utf8proc_option_t) (UTF8PROC_DECOMPOSE |
														UTF8PROC_COMPAT),
								   &boundclass);
	return utf8proc_get_property(parts[0])->combining_class != 0;
}

/*
 * Collect the first and the last character of every canonical composition
 * of two, found by composing what every character decomposes to.
 */
static void
collect_pairs(int32_t *firsts, size_t *nfirsts, int32_t *seconds,
			  size_t *nseconds)
{
	static unsigned char seen[LAST_CHAR + 1];
	int32_t		c;

	memset(seen, 0, sizeof(seen));
	*nfirsts = 0;
	*nseconds = 0;
	for (c = 0; c <= LAST_CHAR; c++)
	{
		int32_t		parts[ACDAT_MAX_DECOMPOSITION];
		int32_t		first;
		utf8proc_ssize_t n;
		int			boundclass = 0;

		if (!utf8proc_codepoint_valid(c))
			continue;
		n = utf8proc_decompose_char(c, parts, ACDAT_MAX_DECOMPOSITION,
									UTF8PROC_DECOMPOSE, &boundclass);
		if (n < 2)
			continue;
		/* all but the last part, composed, is what the last joined */
		if ((seen[parts[n - 1]] & 2) == 0)
			seconds[(*nseconds)++] = parts[n - 1];
		seen[parts[n - 1]] |= 2;
		n = utf8proc_normalize_utf32(parts, n - 1, NFKC_OPTIONS);
		first = parts[n - 1];
		if ((seen[first] & 1) == 0 && *nfirsts < ROOM / 2)
			firsts[(*nfirsts)++] = first;
		seen[first] |= 1;
	}
}

/* Every first with every second, and with every mark, of compositions. */
static void
nfkc_of_pairs(void **state)
{
	static int32_t firsts[ROOM];
	static int32_t seconds[ROOM];
	size_t		nfirsts;
	size_t		nseconds;
	size_t		i;
	size_t		j;
	int32_t		c;

	(void) state;
	collect_pairs(firsts, &nfirsts, seconds, &nseconds);
	assert_true(nfirsts > 300 && nseconds > 60);
	for (i = 0; i < nfirsts; i++)
	{
		for (j = 0; j < nseconds; j++)
		{
			int32_t		chars[2];

			chars[0] = firsts[i];
			chars[1] = seconds[j];
			assert_nfkc(chars, 2);
		}
	}
	for (c = 0x300; c <= LAST_CHAR; c++)
	{
		int32_t		chars[3] = {0x1100, 0, 0x323};

		if (!utf8proc_codepoint_valid(c) || !may_join(c))
			continue;
		for (i = 0; i < nfirsts; i += 37)
		{
			chars[0] = firsts[i];
			chars[1] = c;
			assert_nfkc(chars, 3);
		}
	}
}

/* Conjoining, compatibility and half-width jamo in all combinations. */
static void
nfkc_of_hangul(void **state)
{
	int32_t		jamo[320];
	int32_t		chars[3];
	size_t		n = 0;
	size_t		i;
	size_t		j;
	size_t		k;
	int32_t		c;

	(void) state;
	for (c = 0x1100; c <= 0x11C3; c += 3)
		jamo[n++] = c;
	for (c = 0x3131; c <= 0x3164; c += 2)
		jamo[n++] = c;
	for (c = 0xFFA1; c <= 0xFFDC; c += 5)
		jamo[n++] = c;
	jamo[n++] = 0xAC00;
	jamo[n++] = 0xAC01;
	jamo[n++] = 0xD788;
	for (i = 0; i < n; i++)
	{
		for (j = 0; j < n; j++)
		{
			for (k = 0; k < n; k += 3)
			{
				chars[0] = jamo[i];
				chars[1] = jamo[j];
				chars[2] = jamo[k];
				assert_nfkc(chars, 3);
			}
		}
	}
}

static uint64_t random_state;

static uint32_t
random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1;
	return (uint32_t) ((random_state >> 33) % limit);
}

/* A mixture of all that the code treats in a special way. */
static int32_t
random_char(void)
{
	static const int32_t few[] = {
		'a', 'J', 'e', ' ', '*', 0xC9, 0x130, 0x131, 0xDF, 0x1E9E, 0x300,
		0x301, 0x30C, 0x323, 0x345, 0x3B1, 0x391, 0x9C7, 0x9BE, 0x9D7,
		0xCC6, 0xCC2, 0xCD5, 0x1100, 0x1161, 0x11A8, 0x3131, 0x314F, 0x3160,
		0xAC00, 0xFF76, 0xFF8A, 0xFF9E, 0xFF9F, 0xFFA1, 0xFFC2, 0xFF21,
		0xFF0A, 0x3000, 0xFDFA, 0x1F600, 0x4E2D, 0xF73, 0x344, 0x212B,
		0x2126, 0xFB01, 0x1D15E, 0x16D67, 0x2024, 0x2026, 0x200D, 0x304B,
		0x3099, 0x30AB
	};

	if (random_below(8) == 0)
		return (int32_t) random_below(0xD800);
	return few[random_below(sizeof(few) / sizeof(few[0]))];
}

static void
nfkc_of_random_strings(void **state)
{
	int			round;

	(void) state;
	random_state = 1;
	for (round = 0; round < 100000; round++)
	{
		int32_t		chars[20];
		size_t		n = 1 + random_below(20);
		size_t		i;

		for (i = 0; i < n; i++)
			chars[i] = random_char();
		assert_nfkc(chars, n);
	}
}

/* The definition of simple folding, and that folding twice is folding once */
static void
case_of_every_char(void **state)
{
	int32_t		c;
	int			changed = 0;

	(void) state;
	for (c = 0; c <= LAST_CHAR; c++)
	{
		int32_t		full[8];
		int32_t		expected;
		int			boundclass = 0;
		utf8proc_ssize_t n;

		if (!utf8proc_codepoint_valid(c))
			continue;
		n = utf8proc_decompose_char(c, full, 8, UTF8PROC_CASEFOLD,
									&boundclass);
		expected = n == 1 ? full[0] : utf8proc_tolower(c);
		if (c == 0x130)
			expected = c;
		assert_int_equal(acdat_fold_case(c, ACDAT_CASE_UNICODE), expected);
		assert_int_equal(acdat_fold_case(expected, ACDAT_CASE_UNICODE),
						 expected);
		assert_int_equal(acdat_fold_case(c, ACDAT_CASE_NONE), c);
		assert_int_equal(acdat_fold_case(c, ACDAT_CASE_ASCII),
						 c >= 'A' && c <= 'Z' ? c + 32 : c);
		changed += expected != c;
	}
	assert_true(changed > 1400);
	assert_int_equal(acdat_fold_case(0x1E9E, ACDAT_CASE_UNICODE), 0xDF);
	assert_int_equal(acdat_fold_case(0x3A3, ACDAT_CASE_UNICODE), 0x3C3);
	assert_int_equal(acdat_fold_case(0x3C2, ACDAT_CASE_UNICODE), 0x3C3);
	assert_int_equal(acdat_fold_case(0x212A, ACDAT_CASE_UNICODE), 'k');
	assert_int_equal(acdat_fold_case(0x10400, ACDAT_CASE_UNICODE), 0x10428);
}

/*
 * Width folding leaves no full-width or half-width form, and changes nothing
 * that NFKC would not equate.
 */
static void
width_of_every_char(void **state)
{
	unsigned char a[ROOM];
	unsigned char b[ROOM];
	int32_t		c;
	int			changed = 0;

	(void) state;
	for (c = 0; c <= LAST_CHAR; c++)
	{
		int32_t		w;
		size_t		n;
		int			type;

		if (!utf8proc_codepoint_valid(c))
			continue;
		type = utf8proc_get_property(c)->decomp_type;
		w = acdat_fold_width(c);
		assert_int_equal(w != c, type == UTF8PROC_DECOMP_TYPE_WIDE ||
						 type == UTF8PROC_DECOMP_TYPE_NARROW);
		if (w == c)
			continue;
		changed++;
		assert_int_equal(acdat_fold_width(w), w);
		n = reference_nfkc(&c, 1, a);
		assert_int_equal(reference_nfkc(&w, 1, b), n);
		assert_memory_equal(a, b, n);
	}
	assert_int_equal(changed, 226);
	assert_int_equal(acdat_fold_width(0xFFA1), 0x3131);
	assert_int_equal(acdat_fold_width(0xFFDC), 0x3163);
	assert_int_equal(acdat_fold_width(0xFFD2), 0x315B);
}

/*
 * Case and width folding make one code point of one unit, and what that is to
 * words is what the unit is, but for an iota and two sound marks.
 */
static void
folding_keeps_words(void **state)
{
	int32_t		c;
	int			how;
	int			width;

	(void) state;
	for (c = 0; c <= LAST_CHAR; c++)
	{
		for (width = 0; width < 2; width++)
		{
			for (how = ACDAT_CASE_NONE; how <= ACDAT_CASE_UNICODE; how++)
			{
				int32_t		folded = width ? acdat_fold_width(c) : c;

				folded = acdat_fold_case(folded, (acdat_case) how);
				if (acdat_keeps_word_class(c, c, folded))
					continue;
				if (how == ACDAT_CASE_UNICODE && folded == 0x03B9)
					continue;
				if (width && (folded == 0x3099 || folded == 0x309A))
					continue;
				fail_msg("U+%04X folds to U+%04X", (unsigned) c,
						 (unsigned) folded);
			}
		}
		for (how = 0xFF9E; how <= 0xFF9F; how++)
		{
			int32_t		kana = acdat_compose_kana(c, how);

			if (kana != 0 && acdat_is_halfwidth_kana(c) &&
				!acdat_keeps_word_class(c, how, kana))
				fail_msg("U+%04X and a mark make U+%04X", (unsigned) c,
						 (unsigned) kana);
		}
	}
}

/*
 * Whether a position is inside a word depends on no more than what
 * acdat_keeps_word_class() compares: two characters of the same class on
 * either side of every kind of character.
 */
static void
words_see_classes_only(void **state)
{
	static const int32_t kinds[] = {'a', ' ', 0x301, 0x4E2D};
	size_t		k;
	int32_t		c;

	(void) state;
	for (c = 0; c <= LAST_CHAR; c++)
	{
		size_t		same;

		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		for (same = 0; !acdat_keeps_word_class(c, c, kinds[same]); same++)
			assert_true(same < sizeof(kinds) / sizeof(kinds[0]) - 1);
		for (k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
		{
			unsigned char text[16];
			size_t		n[3];
			bool		inside[2][2];
			int			which;

			for (which = 0; which < 2; which++)
			{
				n[0] = acdat_encode_char(kinds[k], text);
				n[1] = acdat_encode_char(which ? kinds[same] : c, text + n[0]);
				n[2] = acdat_encode_char(kinds[k], text + n[0] + n[1]);
				inside[which][0] =
					acdat_is_word_boundary(ACDAT_ENCODING_UTF8, text,
										   n[0] + n[1] + n[2], n[0]);
				inside[which][1] =
					acdat_is_word_boundary(ACDAT_ENCODING_UTF8, text,
										   n[0] + n[1] + n[2], n[0] + n[1]);
			}
			assert_int_equal(inside[0][0], inside[1][0]);
			assert_int_equal(inside[0][1], inside[1][1]);
		}
	}
}

/* What acdat_fold() says of every character by itself. */
static void
traits_of_every_char(void **state)
{
	static unsigned char folded[ROOM];
	static acdat_origin origin[ROOM];
	int32_t		c;
	int			how;

	(void) state;
	for (c = 0; c <= LAST_CHAR; c++)
	{
		unsigned char text[4];
		size_t		len = acdat_encode_char(c, text);

		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		for (how = ACDAT_NORMALIZE_NONE; how <= ACDAT_NORMALIZE_NFKC; how++)
		{
			acdat_text_options options = {
				.encoding = ACDAT_ENCODING_UTF8,
				.case_insensitive = ACDAT_CASE_UNICODE,
				.normalize = (acdat_normalize) how
			};
			uint32_t	traits = ACDAT_TEXT_ALL_TRAITS;
			size_t		consumed;
			size_t		n = acdat_fold(&options, text, len, true, folded,
									   origin, ROOM, &consumed, &traits);
			int32_t		f;
			bool		one = acdat_decode_char(folded, n, &f) == n;

			assert_int_equal((traits & ACDAT_TEXT_EXPANDED) != 0, !one);
			assert_true(one || how == ACDAT_NORMALIZE_NFKC);
			assert_int_equal(traits & ACDAT_TEXT_DROPPED, 0);
			assert_int_equal((traits & ACDAT_TEXT_RECLASSED) != 0,
							 !acdat_keeps_word_class(c, c, f));
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decoder_agrees),
		cmocka_unit_test(case_of_every_char),
		cmocka_unit_test(width_of_every_char),
		cmocka_unit_test(nfkc_of_every_char),
		cmocka_unit_test(folding_keeps_words),
		cmocka_unit_test(words_see_classes_only),
		cmocka_unit_test(traits_of_every_char),
		cmocka_unit_test(nfkc_of_pairs),
		cmocka_unit_test(nfkc_of_hangul),
		cmocka_unit_test(nfkc_of_random_strings),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
