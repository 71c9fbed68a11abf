/*
 * Rewriting: what is put in place of matches, once, and that a stream gives
 * the same in pieces of any size, in little memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "t/unit/oracle.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Regional indicators: two of them are one flag. */
#define RI_A "\xF0\x9F\x87\xA6"
#define RI_B "\xF0\x9F\x87\xA7"
#define ACUTE "\xCC\x81"

static const acdat_options bytes_options;
static const acdat_options utf8_options = {.encoding = ACDAT_ENCODING_UTF8};

/* A pattern; replacement NULL = none. */
static acdat_pattern
pattern(const char *bytes, const char *replacement)
{
	acdat_pattern p;

	memset(&p, 0, sizeof(p));
	p.bytes = bytes;
	p.len = strlen(bytes);
	p.replacement = replacement;
	p.replacement_len = replacement == NULL ? 0 : strlen(replacement);
	return p;
}

static void
build(acdat_engine *engine, const acdat_options *options,
	  const acdat_pattern *patterns, size_t n)
{
	assert_int_equal(acdat_engine_make(engine, options, patterns, n), ACDAT_OK);
}

typedef struct output
{
	char	   *bytes;
	size_t		len;
	size_t		room;
} output;

static bool
collect(void *arg, const void *bytes, size_t len)
{
	output	   *out = arg;

	if (out->len + len + 1 > out->room)
	{
		out->room = 2 * (out->len + len + 1);
		out->bytes = realloc(out->bytes, out->room);
		assert_non_null(out->bytes);
	}
	memcpy(out->bytes + out->len, bytes, len);
	out->len += len;
	out->bytes[out->len] = '\0';
	return true;
}

static acdat_rewrite
rewriting(acdat_rewrite_style style, acdat_policy policy, const char *mask)
{
	acdat_rewrite rewrite;

	memset(&rewrite, 0, sizeof(rewrite));
	rewrite.style = style;
	rewrite.policy = policy;
	rewrite.mask = mask;
	rewrite.mask_len = mask == NULL ? 0 : strlen(mask);
	rewrite.sink = collect;
	return rewrite;
}

/* Rewrite a whole text; the result is malloc'd. */
static output
rewrite_whole(acdat_engine *engine, acdat_rewrite rewrite, const char *text,
			  size_t len, uint64_t *matches)
{
	output		out = {NULL, 0, 0};

	(void) collect(&out, "", 0);
	rewrite.sink_arg = &out;
	assert_int_equal(acdat_rewrite_text(engine->scan, &rewrite, text, len,
										matches), ACDAT_OK);
	return out;
}

/*
 * The same in pieces; *most gets the most bytes that had to be kept beside a
 * new piece.
 */
static output
rewrite_pieces(acdat_engine *engine, acdat_rewrite rewrite, const char *text,
			   size_t len, size_t piece, uint64_t *matches, size_t *most)
{
	output		out = {NULL, 0, 0};
	size_t		start = 0;
	size_t		end = 0;

	(void) collect(&out, "", 0);
	rewrite.sink_arg = &out;
	*matches = 0;
	*most = 0;
	acdat_rewrite_begin(engine->scan, &rewrite);
	do
	{
		size_t		consumed;
		char	   *buffer;

		if (end - start > *most)
			*most = end - start;
		end = len - end < piece ? len : end + piece;
		/* of exactly this size, for a sanitizer to see the least overrun */
		buffer = malloc(end > start ? end - start : 1);
		assert_non_null(buffer);
		memcpy(buffer, text + start, end - start);
		assert_int_equal(acdat_rewrite_feed(engine->scan, buffer, end - start,
											end == len, &consumed, matches),
						 ACDAT_OK);
		free(buffer);
		start += consumed;
	} while (end < len || start < len);
	return out;
}

static void
check_whole(acdat_engine *engine, acdat_rewrite rewrite, const char *text,
			const char *expected)
{
	output		out = rewrite_whole(engine, rewrite, text, strlen(text), NULL);

	assert_string_equal(out.bytes, expected);
	free(out.bytes);
}

/* Whole and in pieces of every size up to the text's: the same. */
static void
check_pieces(acdat_engine *engine, acdat_rewrite rewrite, const char *text)
{
	size_t		len = strlen(text);
	uint64_t	matches;
	output		whole = rewrite_whole(engine, rewrite, text, len, &matches);
	size_t		piece;

	for (piece = 1; piece <= len; piece++)
	{
		uint64_t	found;
		size_t		most;
		output		out = rewrite_pieces(engine, rewrite, text, len, piece,
										 &found, &most);

		assert_int_equal(out.len, whole.len);
		assert_memory_equal(out.bytes, whole.bytes, out.len);
		assert_int_equal(found, matches);
		free(out.bytes);
	}
	free(whole.bytes);
}

static void
output_is_not_scanned(void **state)
{
	acdat_pattern patterns[4];
	acdat_rewrite replace = rewriting(ACDAT_REWRITE_REPLACE,
									  ACDAT_LEFTMOST_LONGEST, NULL);
	acdat_engine engine;

	(void) state;
	patterns[0] = pattern("a", "aa");
	patterns[1] = pattern("he", "she");
	patterns[2] = pattern("x", "");
	patterns[3] = pattern("keep", NULL);
	build(&engine, &bytes_options, patterns, 4);
	check_whole(&engine, replace, "aaa", "aaaaaa");
	check_whole(&engine, replace, "the", "tshe");
	check_whole(&engine, replace, "xxx", "");
	check_whole(&engine, replace, "a keep x", "aa keep ");
	check_whole(&engine, replace, "", "");
	check_pieces(&engine, replace, "the xa keep xhexx heh");
	acdat_engine_free(&engine);
}

static void
styles_mask(void **state)
{
	acdat_pattern patterns[2];
	acdat_engine engine;
	char		wide[601];
	char		expected[2 * 600 + 3];

	(void) state;
	patterns[0] = pattern("e" ACUTE "t", NULL);
	patterns[1] = pattern("t" "x", NULL);
	build(&engine, &utf8_options, patterns, 2);
	check_whole(&engine, rewriting(ACDAT_REWRITE_CHARS, ACDAT_MERGED, "*"),
				"-e" ACUTE "tx-", "-***-");
	check_whole(&engine, rewriting(ACDAT_REWRITE_CHARS,
								   ACDAT_LEFTMOST_LONGEST, "\xC2\xB7"),
				"-e" ACUTE "tx-", "-\xC2\xB7\xC2\xB7x-");
	check_whole(&engine, rewriting(ACDAT_REWRITE_FIXED, ACDAT_MERGED, "[X]"),
				"-e" ACUTE "tx-e" ACUTE "t", "-[X]-[X]");
	check_whole(&engine, rewriting(ACDAT_REWRITE_FIXED, ACDAT_MERGED, NULL),
				"-e" ACUTE "tx-", "--");
	check_whole(&engine, rewriting(ACDAT_REWRITE_CHARS, ACDAT_MERGED, NULL),
				"-tx-", "--");

	/* a mask longer than any buffer for masks */
	memset(wide, 'w', 600);
	wide[600] = '\0';
	snprintf(expected, sizeof(expected), "-%s%s-", wide, wide);
	check_whole(&engine, rewriting(ACDAT_REWRITE_CHARS, ACDAT_MERGED, wide),
				"-tx-", expected);
	acdat_engine_free(&engine);
}

/* Characters, and flags, are not cut where a piece of a union ends. */
static void
unions_in_pieces(void **state)
{
	static const char *const masks[] = {"*", "\xE2\x96\x88", "[REDACTED]", NULL};
	static const char text[] = "-" RI_A RI_B RI_A RI_B RI_A "-ab" ACUTE "ab"
		ACUTE ACUTE "abab-" RI_B RI_A RI_A "a" RI_A RI_B "ab" ACUTE;
	acdat_pattern patterns[5];
	acdat_engine engine;
	size_t		i;

	(void) state;
	patterns[0] = pattern(RI_A RI_B, "flag");
	patterns[1] = pattern(RI_B RI_A, NULL);
	patterns[2] = pattern("ab", "");
	patterns[3] = pattern("b" ACUTE, "b");
	patterns[4] = pattern(ACUTE "a", NULL);
	build(&engine, &utf8_options, patterns, 5);
	for (i = 0; i < COUNT_OF(masks); i++)
	{
		check_pieces(&engine, rewriting(ACDAT_REWRITE_CHARS, ACDAT_MERGED,
										masks[i]), text);
		check_pieces(&engine, rewriting(ACDAT_REWRITE_FIXED, ACDAT_MERGED,
										masks[i]), text);
		check_pieces(&engine, rewriting(ACDAT_REWRITE_FIXED,
										ACDAT_LEFTMOST_FIRST, masks[i]), text);
	}
	check_pieces(&engine, rewriting(ACDAT_REWRITE_REPLACE, ACDAT_MERGED, NULL),
				 text);
	check_pieces(&engine, rewriting(ACDAT_REWRITE_REPLACE,
									ACDAT_LEFTMOST_LONGEST, NULL), text);
	acdat_engine_free(&engine);
}

/* Nor is a character of which a match ends in the middle. */
static void
cut_characters_in_pieces(void **state)
{
	static const char text[] = "-a\xE3\x82\x99" "a\xE3\x82\x99\xE3\x82"
		"a\xE3-a\xE3\x82";
	acdat_pattern patterns[3];
	acdat_engine engine;

	(void) state;
	patterns[0] = pattern("a\xE3", NULL);
	patterns[1] = pattern("\xE3\x82\x99" "a", NULL);
	patterns[2] = pattern("\x82", NULL);
	build(&engine, &utf8_options, patterns, 3);
	check_pieces(&engine, rewriting(ACDAT_REWRITE_CHARS, ACDAT_MERGED, "*"),
				 text);
	acdat_engine_free(&engine);
}

/* A union as long as the stream does not have to be held in memory. */
static void
endless_unions(void **state)
{
	enum
	{
		len = 300000, piece = 1000
	};
	static const acdat_rewrite_style styles[] = {
		ACDAT_REWRITE_CHARS, ACDAT_REWRITE_FIXED, ACDAT_REWRITE_REPLACE
	};
	acdat_pattern p = pattern("aa", "x");
	acdat_engine engine;
	char	   *text = malloc(len);
	size_t		i;

	(void) state;
	assert_non_null(text);
	memset(text, 'a', len);
	build(&engine, &utf8_options, &p, 1);
	for (i = 0; i < COUNT_OF(styles); i++)
	{
		acdat_rewrite rewrite = rewriting(styles[i], ACDAT_MERGED, "*");
		uint64_t	matches;
		size_t		most;
		output		whole = rewrite_whole(&engine, rewrite, text, len, &matches);
		output		out;

		assert_int_equal(matches, 1);
		assert_int_equal(whole.len, i == 0 ? len : 1);
		out = rewrite_pieces(&engine, rewrite, text, len, piece, &matches,
							 &most);
		assert_int_equal(matches, 1);
		assert_int_equal(out.len, whole.len);
		assert_memory_equal(out.bytes, whole.bytes, out.len);
		assert_true(most < 100);
		free(whole.bytes);
		free(out.bytes);
	}
	free(text);
	acdat_engine_free(&engine);
}

static bool
count_ticks(void *arg)
{
	return ++*(int *) arg == 20;
}

/* Masking one long match can be cancelled, too. */
static void
masking_can_be_cancelled(void **state)
{
	enum
	{
		len = 3000000
	};
	acdat_pattern p = pattern("aa", NULL);
	acdat_rewrite rewrite = rewriting(ACDAT_REWRITE_CHARS, ACDAT_MERGED, "*");
	acdat_hooks hooks;
	acdat_engine engine;
	char	   *text = malloc(len);
	output		out = {NULL, 0, 0};
	int			ticks = -1000000;
	int			scan_ticks;

	(void) state;
	assert_non_null(text);
	memset(text, 'a', len);
	memset(&hooks, 0, sizeof(hooks));
	hooks.tick = count_ticks;
	hooks.arg = &ticks;
	build(&engine, &utf8_options, &p, 1);
	acdat_scan_init(engine.scan, &engine.machine, &hooks);
	rewrite.sink_arg = &out;
	assert_int_equal(acdat_rewrite_text(engine.scan, &rewrite, text, len, NULL),
					 ACDAT_OK);
	scan_ticks = ticks + 1000000;
	assert_true(scan_ticks >= 2 * (len / ACDAT_TICK_BYTES));

	/* the twentieth tick from the end falls into the masking */
	ticks = 40 - scan_ticks;
	out.len = 0;
	assert_int_equal(acdat_rewrite_text(engine.scan, &rewrite, text, len, NULL),
					 ACDAT_CANCELLED);
	assert_true(out.len < len);
	free(out.bytes);
	free(text);
	acdat_engine_free(&engine);
}

static void
overlapping_is_refused(void **state)
{
	acdat_pattern p = pattern("a", "b");
	acdat_rewrite rewrite = rewriting(ACDAT_REWRITE_REPLACE,
									  ACDAT_ALL_OVERLAPPING, NULL);
	acdat_engine engine;

	(void) state;
	build(&engine, &bytes_options, &p, 1);
	assert_int_equal(acdat_rewrite_text(engine.scan, &rewrite, "a", 1, NULL),
					 ACDAT_BAD_ARGUMENT);
	acdat_engine_free(&engine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_is_not_scanned),
		cmocka_unit_test(styles_mask),
		cmocka_unit_test(unions_in_pieces),
		cmocka_unit_test(cut_characters_in_pieces),
		cmocka_unit_test(endless_unions),
		cmocka_unit_test(masking_can_be_cancelled),
		cmocka_unit_test(overlapping_is_refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
