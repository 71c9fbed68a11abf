/*
 * Scanning: what one scan promises beside the matches themselves, and the
 * corners where an answer prepared when compiling could differ from the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/scan.h"
#include "t/unit/oracle.h"

#define HAN "\xE4\xB8\xAD"
#define COMBINING_IOTA "\xCD\x85"
#define IOTA "\xCE\xB9"
#define E_ACUTE "\xC3\xA9"

static void
build(acdat_engine *engine, const acdat_options *options,
	  const acdat_pattern *patterns, size_t n)
{
	assert_int_equal(acdat_engine_make(engine, options, patterns, n), ACDAT_OK);
}

/* Does a scan of text give exactly the matches written "start-end:id ..."? */
static void
check_scan(acdat_engine *engine, acdat_policy policy, const char *text,
		   const char *expected)
{
	char		got[512];
	size_t		used = 0;
	acdat_match m;
	acdat_status status;

	got[0] = '\0';
	acdat_scan_start(engine->scan, policy, text, strlen(text), true);
	while ((status = acdat_scan_next(engine->scan, &m)) == ACDAT_OK)
	{
		used += (size_t) snprintf(got + used, sizeof(got) - used,
								  "%s%u-%u:%d", used > 0 ? " " : "",
								  (unsigned) m.start, (unsigned) m.end,
								  (int) acdat_pattern_id(&engine->machine,
														 m.pattern));
		assert_true(used < sizeof(got));
	}
	assert_int_equal(status, ACDAT_END);
	assert_string_equal(got, expected);
}

/* A pattern may end inside a character; what follows it is in the text. */
static void
patterns_cut_inside_characters(void **state)
{
	acdat_options options = {
		.encoding = ACDAT_ENCODING_UTF8, .boundary = ACDAT_BOUNDARY_WORD
	};
	acdat_pattern patterns[2];
	acdat_engine engine;

	(void) state;
	patterns[0] = acdat_simple_pattern("a", 1);
	patterns[1] = acdat_simple_pattern("a\xC3", 2);
	build(&engine, &options, patterns, 2);
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, "a" E_ACUTE, "");
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, "a\xC3 ", "0-1:1 0-2:2");
	check_scan(&engine, ACDAT_LEFTMOST_LONGEST, "a\xC3", "0-2:2");
	acdat_engine_free(&engine);
}

/* The combining iota is a mark, and a letter when folded. */
static void
marks_that_fold_to_letters(void **state)
{
	acdat_options options = {
		.encoding = ACDAT_ENCODING_UTF8, .boundary = ACDAT_BOUNDARY_WORD,
		.case_insensitive = ACDAT_CASE_UNICODE
	};
	acdat_pattern patterns[2];
	acdat_engine engine;

	(void) state;
	patterns[0] = acdat_simple_pattern(HAN, 1);
	patterns[1] = acdat_simple_pattern(HAN IOTA, 2);
	build(&engine, &options, patterns, 2);
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, HAN IOTA, "0-3:1 0-5:2");
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, HAN COMBINING_IOTA, "0-5:2");
	acdat_engine_free(&engine);
}

/* Shorter patterns that end inside a word never hide or replace others. */
static void
shorter_ends_inside_words(void **state)
{
	acdat_options options = {.boundary = ACDAT_BOUNDARY_WORD};
	acdat_pattern patterns[5];
	acdat_engine engine;

	(void) state;
	patterns[0] = acdat_simple_pattern("new", 1);
	patterns[1] = acdat_simple_pattern("new y", 2);
	patterns[2] = acdat_simple_pattern("new york", 3);
	patterns[3] = acdat_simple_pattern("new york city", 4);
	patterns[4] = acdat_simple_pattern("new york c", 5);
	patterns[1].priority = patterns[4].priority = 9;
	patterns[0].priority = 1;
	build(&engine, &options, patterns, 5);
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, "new york city",
			   "0-3:1 0-8:3 0-13:4");
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, "new york citys",
			   "0-3:1 0-8:3");
	check_scan(&engine, ACDAT_LEFTMOST_LONGEST, "new york citys", "0-8:3");
	check_scan(&engine, ACDAT_LEFTMOST_FIRST, "new york city", "0-3:1");
	check_scan(&engine, ACDAT_LEFTMOST_FIRST, "new yorks", "0-3:1");
	check_scan(&engine, ACDAT_LEFTMOST_FIRST, "new y", "0-5:2");
	check_scan(&engine, ACDAT_LEFTMOST_FIRST, "news", "");
	acdat_engine_free(&engine);
}

/* What an allow pattern covers is gone before a policy chooses. */
static void
allow_before_policy(void **state)
{
	acdat_options options = {.boundary = ACDAT_BOUNDARY_NONE};
	acdat_pattern patterns[5];
	acdat_engine engine;

	(void) state;
	patterns[0] = acdat_simple_pattern("ab", 1);
	patterns[1] = acdat_simple_pattern("abc", 2);
	patterns[2] = acdat_simple_pattern("abcd", 3);
	patterns[3] = acdat_simple_pattern("xabc", 4);
	patterns[3].allow = true;
	patterns[4] = acdat_simple_pattern("cd", 5);
	patterns[0].priority = 5;
	patterns[1].priority = 4;
	build(&engine, &options, patterns, 5);
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, "xabcd", "1-5:3 3-5:5");
	check_scan(&engine, ACDAT_LEFTMOST_FIRST, "xabcd", "1-5:3");
	check_scan(&engine, ACDAT_LEFTMOST_FIRST, "yabcd", "1-3:1 3-5:5");
	check_scan(&engine, ACDAT_LEFTMOST_LONGEST, "xabc", "");
	check_scan(&engine, ACDAT_MERGED, "xabcd", "1-5:3");
	acdat_engine_free(&engine);
}

/* Scans do not know of each other, nor of what the same one did before. */
static void
scans_are_independent(void **state)
{
	static const acdat_options plain;
	acdat_pattern patterns[2];
	acdat_engine engine;
	acdat_scan *other;
	acdat_match m;
	acdat_match n;

	(void) state;
	patterns[0] = acdat_simple_pattern("a", 1);
	patterns[1] = acdat_simple_pattern("aa", 2);
	build(&engine, &plain, patterns, 2);
	other = malloc(acdat_scan_size(&engine.machine));
	assert_non_null(other);
	acdat_scan_init(other, &engine.machine, NULL);
	acdat_scan_start(engine.scan, ACDAT_ALL_OVERLAPPING, "aaa", 3, true);
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_OK);
	acdat_scan_start(other, ACDAT_MERGED, "-aaa-", 5, true);
	assert_int_equal(acdat_scan_next(other, &n), ACDAT_OK);
	assert_int_equal(n.start, 1);
	assert_int_equal(n.end, 4);
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_OK);
	assert_int_equal(m.start, 0);
	assert_int_equal(m.end, 2);
	/* abandoned in the middle of a start; the next scan is a fresh one */
	check_scan(&engine, ACDAT_ALL_OVERLAPPING, "-a", "1-2:1");
	check_scan(&engine, ACDAT_MERGED, "", "");
	assert_int_equal(acdat_scan_next(other, &n), ACDAT_END);
	free(other);
	acdat_engine_free(&engine);
}

/* A stream says what it is done with and never asks for more than it needs. */
static void
streams_let_go(void **state)
{
	static const acdat_options plain;
	acdat_pattern patterns[2];
	acdat_engine engine;
	acdat_match m;

	(void) state;
	patterns[0] = acdat_simple_pattern("abc", 1);
	patterns[1] = acdat_simple_pattern("xyzxyz", 2);
	build(&engine, &plain, patterns, 2);
	acdat_scan_start(engine.scan, ACDAT_LEFTMOST_LONGEST, "--abc-----", 10,
					 false);
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_OK);
	assert_int_equal(m.start, 2);
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_MORE);
	assert_int_equal(acdat_scan_consumed(engine.scan), 5);
	acdat_scan_continue(engine.scan, "-----", 5, false);
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_MORE);
	assert_int_equal(acdat_scan_consumed(engine.scan), 0);
	acdat_scan_continue(engine.scan, "-----abc", 8, true);
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_OK);
	assert_int_equal(m.start, 10);
	assert_int_equal(m.end, 13);
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_END);
	acdat_engine_free(&engine);
}

/*
 * Without options that change the text the automaton reads the caller's bytes:
 * no copy, no room for one, no positions to translate, nothing to look up at
 * the ends of matches.
 */
static void
options_off_cost_nothing(void **state)
{
	static const struct
	{
		acdat_options options;
		bool		in_place;
	}			cases[] = {
		{{.encoding = ACDAT_ENCODING_UTF8}, true},
		{{.encoding = ACDAT_ENCODING_UTF8, .case_insensitive = ACDAT_CASE_ASCII}, true},
		{{.encoding = ACDAT_ENCODING_UTF8, .case_insensitive = ACDAT_CASE_UNICODE}, false},
		{{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_WIDTH}, false},
		{{.encoding = ACDAT_ENCODING_UTF8, .ignore = "-", .ignore_len = 1}, false},
	};
	acdat_pattern p = acdat_simple_pattern("b", 1);
	char		text[1000];
	size_t		i;

	(void) state;
	memset(text, 'a', sizeof(text));
	text[999] = 'b';
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
	{
		acdat_engine engine;
		acdat_scan *scan;
		acdat_match m;

		build(&engine, &cases[i].options, &p, 1);
		scan = engine.scan;
		acdat_scan_start(scan, ACDAT_ALL_OVERLAPPING, text, sizeof(text), true);
		assert_int_equal(acdat_scan_next(scan, &m), ACDAT_OK);
		assert_int_equal(m.start, 999);
		assert_int_equal((const char *) scan->window == text, cases[i].in_place);
		assert_int_equal(scan->origin == NULL, cases[i].in_place);
		assert_int_equal(scan->folded_capacity == 0, cases[i].in_place);
		assert_false(scan->boundary);
		acdat_engine_free(&engine);
	}
}

static void
nothing_in_nothing(void **state)
{
	static const acdat_options plain;
	acdat_pattern p = acdat_simple_pattern("a", 1);
	acdat_engine engine;
	uint64_t	count;
	bool		found;
	int			n;

	(void) state;
	for (n = 0; n < 2; n++)
	{
		build(&engine, &plain, &p, (size_t) n);
		check_scan(&engine, ACDAT_ALL_OVERLAPPING, "", "");
		check_scan(&engine, ACDAT_LEFTMOST_FIRST, "uhers", "");
		assert_int_equal(acdat_contains(engine.scan, NULL, 0, &found), ACDAT_OK);
		assert_false(found);
		assert_int_equal(acdat_count(engine.scan, ACDAT_MERGED, "uhers", 5,
									 &count), ACDAT_OK);
		assert_int_equal(count, 0);
		acdat_engine_free(&engine);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_cut_inside_characters),
		cmocka_unit_test(marks_that_fold_to_letters),
		cmocka_unit_test(shorter_ends_inside_words),
		cmocka_unit_test(allow_before_policy),
		cmocka_unit_test(scans_are_independent),
		cmocka_unit_test(streams_let_go),
		cmocka_unit_test(options_off_cost_nothing),
		cmocka_unit_test(nothing_in_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
