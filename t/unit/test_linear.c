/*
 * Work in proportion to the text, however patterns are nested: a scan asks
 * for a tick once per ACDAT_TICK_BYTES of bytes read and nodes visited, so
 * ticks are counted instead of time.
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

#define NESTED 1000				/* patterns, each a prefix of the next */
#define TEXT_BYTES 300000
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

#define HAN "\xE4\xB8\xAD"
#define ACUTE "\xCC\x81"

static uint64_t ticks;

static bool
count_tick(void *arg)
{
	(void) arg;
	ticks++;
	return false;
}

static const acdat_hooks ticking = {.tick = count_tick};

/* A string repeated, cut after some bytes; from malloc(). */
static char *
repeated(const char *unit, size_t len)
{
	size_t		width = strlen(unit);
	char	   *bytes = malloc(len + 1);
	size_t		i;

	assert_non_null(bytes);
	for (i = 0; i < len; i++)
		bytes[i] = unit[i % width];
	return bytes;
}

/*
 * NESTED prefixes of what repeats unit, each ending with the first bytes of
 * one; the shorter, the higher the priority.  extra patterns follow.
 */
static void
build_nested(acdat_engine *engine, const acdat_options *options,
			 const char *unit, size_t first, const acdat_pattern *extra,
			 size_t extras)
{
	size_t		width = strlen(unit);
	char	   *bytes = repeated(unit, width * NESTED);
	acdat_pattern *patterns = calloc(NESTED + extras, sizeof(*patterns));
	size_t		i;

	assert_non_null(patterns);
	for (i = 0; i < NESTED; i++)
	{
		patterns[i].bytes = bytes;
		patterns[i].len = width * i + first;
		patterns[i].id = (int64_t) i + 1;
		patterns[i].priority = (int32_t) (NESTED - i);
	}
	for (i = 0; i < extras; i++)
		patterns[NESTED + i] = extra[i];
	assert_int_equal(acdat_engine_make(engine, options, patterns,
									   NESTED + extras), ACDAT_OK);
	acdat_scan_init(engine->scan, &engine->machine, &ticking);
	free(patterns);
	free(bytes);
}

/* The number of matches; the work must be at most so many times the text. */
static uint64_t
count(acdat_engine *engine, acdat_policy policy, const void *text, size_t len,
	  uint64_t times)
{
	uint64_t	n;

	ticks = 0;
	assert_int_equal(acdat_count(engine->scan, policy, text, len, &n),
					 ACDAT_OK);
	if (ticks > times * len / ACDAT_TICK_BYTES + 2)
		fail_msg("policy %d: %u ticks for %u bytes", (int) policy,
				 (unsigned) ticks, (unsigned) len);
	return n;
}

static acdat_pattern
exception(const char *bytes)
{
	acdat_pattern p = acdat_simple_pattern(bytes, 0);

	p.allow = true;
	return p;
}

/* At every start the preferred pattern is excepted by one that starts there. */
static void
exceptions_at_the_start(void **state)
{
	acdat_pattern extra = exception("aaa");
	char	   *text = repeated("a", TEXT_BYTES);
	acdat_options options = {.encoding = ACDAT_ENCODING_BYTES};
	acdat_engine engine;

	(void) state;
	build_nested(&engine, &options, "a", 1, &extra, 1);
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_FIRST, text, TEXT_BYTES,
						   10), TEXT_BYTES / 4);
	acdat_engine_free(&engine);
	free(text);
}

/* And by one that starts before. */
static void
exceptions_before_the_start(void **state)
{
	acdat_pattern extra = exception("xa");
	char	   *text = repeated("xa", TEXT_BYTES);
	acdat_options options = {.encoding = ACDAT_ENCODING_BYTES};
	acdat_engine engine;

	(void) state;
	build_nested(&engine, &options, "ax", 1, &extra, 1);
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_FIRST, text, TEXT_BYTES,
						   10), TEXT_BYTES / 4);
	acdat_engine_free(&engine);
	free(text);
}

/* Options under which ends are static, at least in texts without "*". */
static const acdat_options static_options[] = {
	{.encoding = ACDAT_ENCODING_UTF8},
	{.encoding = ACDAT_ENCODING_UTF8, .boundary = ACDAT_BOUNDARY_WORD},
	{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_WIDTH},
	{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_WIDTH,
		.case_insensitive = ACDAT_CASE_UNICODE,
	.boundary = ACDAT_BOUNDARY_WORD},
	{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_NFKC},
	{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_NFKC,
	.boundary = ACDAT_BOUNDARY_WORD},
	{.encoding = ACDAT_ENCODING_UTF8, .ignore = "*", .ignore_len = 1,
	.boundary = ACDAT_BOUNDARY_WORD},
	{.encoding = ACDAT_ENCODING_UTF8, .ignore = "*", .ignore_len = 1,
		.case_insensitive = ACDAT_CASE_UNICODE,
		.normalize = ACDAT_NORMALIZE_NFKC,
	.boundary = ACDAT_BOUNDARY_WORD},
};

/* Every prefix matches at every start; extra makes exceptions of some. */
static void
choices(const acdat_pattern *extra, size_t extras, uint64_t width)
{
	char	   *text = repeated(HAN, TEXT_BYTES);
	acdat_engine engine;
	size_t		i;

	for (i = 0; i < COUNT_OF(static_options); i++)
	{
		build_nested(&engine, &static_options[i], HAN, 3, extra, extras);
		assert_int_equal(count(&engine, ACDAT_LEFTMOST_FIRST, text,
							   TEXT_BYTES, 10), TEXT_BYTES / 3 / width);
		assert_int_equal(count(&engine, ACDAT_LEFTMOST_LONGEST, text,
							   TEXT_BYTES, 10), TEXT_BYTES / 3 / NESTED);
		assert_int_equal(count(&engine, ACDAT_MERGED, text, TEXT_BYTES, 10),
						 1);
		acdat_engine_free(&engine);
	}
	free(text);
}

static void
choices_of_plain_texts(void **state)
{
	(void) state;
	choices(NULL, 0, 1);
}

static void
choices_beyond_exceptions(void **state)
{
	acdat_pattern extra = exception(HAN HAN);

	(void) state;
	choices(&extra, 1, 3);
}

/* A pattern that is not valid UTF-8 does not make others slow. */
static void
choices_beside_invalid_patterns(void **state)
{
	acdat_pattern extra[2];

	(void) state;
	extra[0] = acdat_simple_pattern("\xE4\xB8", 0);
	extra[1] = acdat_simple_pattern(HAN "\xE4", 0);
	choices(extra, 2, 1);
}

/* Every start is at a boundary and every end before a mark: no match. */
static void
ends_inside_words(void **state)
{
	char	   *text = repeated(HAN ACUTE, TEXT_BYTES);
	acdat_engine engine;
	size_t		i;
	int			policy;

	(void) state;
	for (i = 0; i < COUNT_OF(static_options); i++)
	{
		const acdat_options *o = &static_options[i];

		/* to NFKC base and mark are one unit of two code points */
		if (o->boundary == ACDAT_BOUNDARY_NONE ||
			o->normalize == ACDAT_NORMALIZE_NFKC)
			continue;
		build_nested(&engine, o, HAN ACUTE, 3, NULL, 0);
		for (policy = 0; policy <= ACDAT_MERGED; policy++)
			assert_int_equal(count(&engine, (acdat_policy) policy, text,
								   TEXT_BYTES, 10), 0);
		acdat_engine_free(&engine);
	}
	free(text);
}

/* What is not plain makes work where it stands and nowhere else. */
static void
one_place_that_is_not_plain(void **state)
{
	static const char *const places[] = {"*", "\xE2\x80\xA6"};
	char	   *text = repeated(HAN, TEXT_BYTES);
	acdat_engine engine;
	size_t		p;

	(void) state;
	for (p = 0; p < COUNT_OF(places); p++)
	{
		const acdat_options *o = &static_options[p == 0 ? 6 : 5];

		build_nested(&engine, o, HAN, 3, NULL, 0);
		memcpy(text + TEXT_BYTES - 3, "   ", 3);
		memcpy(text + TEXT_BYTES - 3, places[p], strlen(places[p]));
		/* the last window has a block of 65536 starts and NESTED characters */
		assert_int_equal(count(&engine, ACDAT_LEFTMOST_FIRST, text,
							   TEXT_BYTES,
							   10 + (65536 / 3 + NESTED) * NESTED / TEXT_BYTES),
						 TEXT_BYTES / 3 - 1);
		acdat_engine_free(&engine);
	}
	free(text);
}

/* How often the pattern occurs, overlapping itself. */
static uint64_t
occurrences(const acdat_pattern *p, const char *text, size_t len)
{
	uint64_t	n = 0;
	size_t		i;

	for (i = 0; i + p->len <= len; i++)
		n += memcmp(text + i, p->bytes, p->len) == 0;
	return n;
}

/* Fibonacci words, the most periodic texts without a period. */
static void
fibonacci_words(void **state)
{
	enum
	{
		words = 20
	};
	acdat_options options = {.encoding = ACDAT_ENCODING_BYTES};
	acdat_pattern patterns[words];
	size_t		lengths[words + 6] = {1, 2};
	acdat_engine engine;
	uint64_t	expected = 0;
	uint64_t	matches;
	char	   *text;
	size_t		len;
	size_t		i;

	(void) state;
	for (i = 2; i < words + 6; i++)
		lengths[i] = lengths[i - 1] + lengths[i - 2];
	len = lengths[words + 5];
	text = malloc(len);
	assert_non_null(text);
	memcpy(text, "ab", 2);
	for (i = 2; i < words + 6; i++)
		memcpy(text + lengths[i - 1], text, lengths[i - 2]);
	memset(patterns, 0, sizeof(patterns));
	for (i = 0; i < words; i++)
	{
		patterns[i].bytes = text;
		patterns[i].len = lengths[i];
		patterns[i].id = (int64_t) i;
		expected += occurrences(&patterns[i], text, len);
	}
	assert_int_equal(acdat_engine_make(&engine, &options, patterns, words),
					 ACDAT_OK);
	acdat_scan_init(engine.scan, &engine.machine, &ticking);
	matches = count(&engine, ACDAT_ALL_OVERLAPPING, text, len, 30);
	assert_int_equal(matches, expected);
	(void) count(&engine, ACDAT_LEFTMOST_LONGEST, text, len, 10);
	assert_int_equal(count(&engine, ACDAT_MERGED, text, len, 10), 1);
	acdat_engine_free(&engine);
	free(text);
}

/* A text in which every word of 16 letters out of two comes exactly once. */
static void
de_bruijn_text(void **state)
{
	enum
	{
		order = 16, width = 12, words = 1 << width,
		len = (1 << order) + order - 1
	};
	static char text[len];
	static bool seen[1 << order];
	static char bytes[words][width];
	static acdat_pattern patterns[words];
	acdat_options options = {.encoding = ACDAT_ENCODING_BYTES};
	acdat_engine engine;
	uint32_t	window = 0;
	size_t		i;
	int			bit;

	(void) state;
	/* prefer one: append b unless that has been */
	memset(text, 'a', order);
	seen[0] = true;
	for (i = order; i < len; i++)
	{
		window = (window << 1 | 1) & ((1u << order) - 1);
		if (seen[window])
			window ^= 1;
		assert_false(seen[window]);
		seen[window] = true;
		text[i] = (window & 1) ? 'b' : 'a';
	}
	for (i = 0; i < words; i++)
	{
		for (bit = 0; bit < width; bit++)
			bytes[i][bit] = (i >> bit & 1) ? 'b' : 'a';
		patterns[i].bytes = bytes[i];
		patterns[i].len = width;
		patterns[i].id = (int64_t) i;
	}
	assert_int_equal(acdat_engine_make(&engine, &options, patterns, words),
					 ACDAT_OK);
	acdat_scan_init(engine.scan, &engine.machine, &ticking);
	assert_int_equal(count(&engine, ACDAT_ALL_OVERLAPPING, text, len, 10),
					 len - width + 1);
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_FIRST, text, len, 10),
					 len / width);
	assert_int_equal(count(&engine, ACDAT_MERGED, text, len, 10), 1);
	acdat_engine_free(&engine);
}

/* A walk along a chain can be cancelled. */
static bool
cancel(void *arg)
{
	(void) arg;
	return true;
}

static void
walks_are_cancelled(void **state)
{
	static const acdat_hooks cancelling = {.tick = cancel};
	char	   *text = repeated(".", 3000);
	acdat_engine engine;
	uint64_t	n;

	(void) state;
	memcpy(text, "\xE2\x80\xA5", 3);
	build_nested(&engine, &static_options[4], ".", 1, NULL, 0);
	assert_int_equal(acdat_count(engine.scan, ACDAT_LEFTMOST_FIRST, text, 3000,
								 &n), ACDAT_OK);
	assert_int_equal(n, 2998);
	acdat_scan_init(engine.scan, &engine.machine, &cancelling);
	assert_int_equal(acdat_count(engine.scan, ACDAT_LEFTMOST_FIRST, text, 3000,
								 &n), ACDAT_CANCELLED);
	acdat_engine_free(&engine);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exceptions_at_the_start),
		cmocka_unit_test(exceptions_before_the_start),
		cmocka_unit_test(choices_of_plain_texts),
		cmocka_unit_test(choices_beyond_exceptions),
		cmocka_unit_test(choices_beside_invalid_patterns),
		cmocka_unit_test(ends_inside_words),
		cmocka_unit_test(one_place_that_is_not_plain),
		cmocka_unit_test(fibonacci_words),
		cmocka_unit_test(de_bruijn_text),
		cmocka_unit_test(walks_are_cancelled),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
