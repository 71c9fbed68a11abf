/*
 * Characters of an original text: words, counting, clusters.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/text.h"

/* A '|' in the picture is where a boundary is; everywhere else is none. */
static void
assert_boundaries(acdat_encoding encoding, const char *picture)
{
	unsigned char text[128];
	bool		boundary[129];
	size_t		len = 0;
	size_t		i;

	memset(boundary, 0, sizeof(boundary));
	for (i = 0; picture[i] != '\0'; i++)
	{
		if (picture[i] == '|')
			boundary[len] = true;
		else
			text[len++] = (unsigned char) picture[i];
	}
	for (i = 0; i <= len; i++)
	{
		if (acdat_is_word_boundary(encoding, text, len, i) != boundary[i])
			fail_msg("boundary at %u of %s", (unsigned) i, picture);
	}
}

static void
word_boundaries(void **state)
{
	(void) state;
	assert_boundaries(ACDAT_ENCODING_UTF8, "|foo_1| |b4r|.|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|na\xC3\xAFve|!|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|nai\xCC\x88ve|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|L\xC4\xB0KE| |TH\xC4\xB0S|");
	/* Han and Hiragana are words of their own, Katakana and Hangul not */
	assert_boundaries(ACDAT_ENCODING_UTF8, "|\xE4\xB8\xAD|\xE6\x96\x87|a|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|\xE3\x81\x82|\xE3\x81\x84|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|\xE3\x82\xA2\xE3\x82\xA4|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|\xEA\xB0\x80\xEA\xB0\x81|");
	/* marks, joiners and variation selectors stay with their base */
	assert_boundaries(ACDAT_ENCODING_UTF8, "|\xE8\x91\x9B\xF3\xA0\x84\x80|");
	assert_boundaries(ACDAT_ENCODING_UTF8,
					  "|\xD9\x85\xDB\x8C\xE2\x80\x8C\xD8\xAE|");
	/* invalid bytes are no letters */
	assert_boundaries(ACDAT_ENCODING_UTF8, "|a|\xC3|b|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|a|\x80|\x80|\x80|\x80|\x80|b|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|a|\xE4|\xB8|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|\xF0\x90\x90\x80z|");
	assert_boundaries(ACDAT_ENCODING_BYTES, "|a|\xC3|\xA4|b_|-|");
	assert_boundaries(ACDAT_ENCODING_UTF8, "|");
}

static size_t
cluster(acdat_encoding encoding, const char *text)
{
	return acdat_cluster_length(encoding, (const unsigned char *) text,
								strlen(text));
}

static void
characters_and_clusters(void **state)
{
	static const char family[] =
		"\xF0\x9F\x91\xA8\xE2\x80\x8D\xF0\x9F\x91\xA8\xE2\x80\x8D"
		"\xF0\x9F\x91\xA6";
	static const char flags[] =
		"\xF0\x9F\x87\xA9\xF0\x9F\x87\xAA\xF0\x9F\x87\xAB\xF0\x9F\x87\xB7";

	(void) state;
	assert_int_equal(acdat_count_chars(ACDAT_ENCODING_UTF8,
									   (const unsigned char *) family, 18), 5);
	assert_int_equal(acdat_count_chars(ACDAT_ENCODING_BYTES,
									   (const unsigned char *) family, 18), 18);
	assert_int_equal(acdat_count_chars(ACDAT_ENCODING_UTF8, (const unsigned char *)
									   "0123456789abcde\xC3\xA4zzzzzzzzz", 26),
					 25);
	assert_int_equal(cluster(ACDAT_ENCODING_UTF8, family), 18);
	assert_int_equal(cluster(ACDAT_ENCODING_UTF8, flags), 8);
	assert_int_equal(cluster(ACDAT_ENCODING_UTF8, "e\xCC\x81\xCC\xA3x"), 5);
	assert_int_equal(cluster(ACDAT_ENCODING_UTF8, "\r\nx"), 2);
	assert_int_equal(cluster(ACDAT_ENCODING_UTF8, "e\xCC"), 1);
	assert_int_equal(cluster(ACDAT_ENCODING_UTF8, "\xFF\xCC\x81"), 1);
	assert_int_equal(cluster(ACDAT_ENCODING_BYTES, "\r\nx"), 1);
	assert_int_equal(cluster(ACDAT_ENCODING_UTF8, ""), 0);
	assert_true(acdat_valid_utf8((const unsigned char *) family, 18));
	assert_false(acdat_valid_utf8((const unsigned char *) family, 17));
	assert_true(acdat_valid_utf8(NULL, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(word_boundaries),
		cmocka_unit_test(characters_and_clusters),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
