/*
 * Building, opening and describing machines: what is refused and why, what
 * is reported, and that memory and cancellation go through the hooks.
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

static const acdat_options plain;

static void
empty_patterns_are_refused(void **state)
{
	acdat_pattern patterns[3];
	acdat_options ignoring = {.ignore = "*-", .ignore_len = 2};
	acdat_engine engine;

	(void) state;
	patterns[0] = acdat_simple_pattern("a", 1);
	patterns[1] = acdat_simple_pattern("b", 2);
	patterns[2] = acdat_simple_pattern("", 3);
	assert_int_equal(acdat_engine_make(&engine, &plain, patterns, 3), ACDAT_EMPTY_PATTERN);
	assert_int_equal(engine.stats.failed_at, 3);
	acdat_engine_free(&engine);
	patterns[1] = acdat_simple_pattern("-*-", 2);
	assert_int_equal(acdat_engine_make(&engine, &ignoring, patterns, 2),
					 ACDAT_EMPTY_PATTERN);
	assert_int_equal(engine.stats.failed_at, 2);
	acdat_engine_free(&engine);
}

static void
long_patterns_are_refused(void **state)
{
	acdat_limits limits = {.max_pattern_bytes = 4};
	acdat_pattern p = acdat_simple_pattern("abcd", 1);
	acdat_build_stats stats;
	acdat_builder *builder;
	acdat_status status;
	size_t		size;

	(void) state;
	builder = acdat_builder_create(&plain, &limits, NULL, &status);
	assert_non_null(builder);
	assert_int_equal(acdat_builder_add(builder, &p), ACDAT_OK);
	p = acdat_simple_pattern("abcde", 2);
	status = acdat_builder_add(builder, &p);
	if (status == ACDAT_OK)
		status = acdat_builder_compile(builder, &size);
	assert_int_equal(status, ACDAT_PATTERN_TOO_LONG);
	acdat_builder_stats(builder, &stats);
	assert_int_equal(stats.failed_at, 2);
	acdat_builder_destroy(builder);
}

static void
options_are_checked(void **state)
{
	static const acdat_options wrong[] = {
		{.case_insensitive = ACDAT_CASE_UNICODE},
		{.normalize = ACDAT_NORMALIZE_WIDTH},
		{.normalize = ACDAT_NORMALIZE_NFKC},
		{.encoding = ACDAT_ENCODING_UTF8, .ignore = "\xFF", .ignore_len = 1},
		{.encoding = (acdat_encoding) 7},
		{.case_insensitive = (acdat_case) 9},
		{.encoding = ACDAT_ENCODING_UTF8, .normalize = (acdat_normalize) 5},
		{.boundary = (acdat_boundary) 2},
	};
	acdat_pattern p = acdat_simple_pattern("a", 1);
	acdat_engine engine;
	size_t		i;

	(void) state;
	for (i = 0; i < COUNT_OF(wrong); i++)
	{
		if (acdat_engine_make(&engine, &wrong[i], &p, 1) != ACDAT_BAD_ARGUMENT)
			fail_msg("options %u are accepted", (unsigned) i);
		acdat_engine_free(&engine);
	}
}

static void
image_limit_is_kept(void **state)
{
	acdat_limits limits = {.max_image_bytes = 2000};
	acdat_builder *builder;
	acdat_status status;
	size_t		size = 0;
	char		word[16];
	int			i;

	(void) state;
	builder = acdat_builder_create(&plain, &limits, NULL, &status);
	assert_non_null(builder);
	for (i = 0; i < 2000 && status == ACDAT_OK; i++)
	{
		acdat_pattern p;

		snprintf(word, sizeof(word), "%dword", i * 7919);
		p = acdat_simple_pattern(word, i);
		status = acdat_builder_add(builder, &p);
	}
	if (status == ACDAT_OK)
		status = acdat_builder_compile(builder, &size);
	assert_int_equal(status, ACDAT_TOO_LARGE);
	acdat_builder_destroy(builder);
}

static void
duplicates_are_counted(void **state)
{
	acdat_options folding = {.case_insensitive = ACDAT_CASE_ASCII};
	acdat_pattern patterns[5];
	acdat_machine_info info;
	acdat_engine engine;

	(void) state;
	patterns[0] = acdat_simple_pattern("ab", 1);
	patterns[1] = acdat_simple_pattern("AB", 1);	/* merged */
	patterns[2] = acdat_simple_pattern("aB", 2); /* kept */
	patterns[3] = acdat_simple_pattern("c", 3);
	patterns[4] = patterns[0];		/* kept: another replacement */
	patterns[4].replacement = "x";
	patterns[4].replacement_len = 1;
	assert_int_equal(acdat_engine_make(&engine, &folding, patterns, 5), ACDAT_OK);
	assert_int_equal(engine.stats.added, 5);
	assert_int_equal(engine.stats.merged, 1);
	assert_int_equal(engine.stats.duplicates, 2);
	assert_int_equal(engine.stats.failed_at, 0);
	acdat_machine_describe(&engine.machine, &info);
	assert_int_equal(info.patterns, 4);
	acdat_engine_free(&engine);
}

static void
machine_is_described(void **state)
{
	acdat_options options = {
		.encoding = ACDAT_ENCODING_UTF8, .case_insensitive = ACDAT_CASE_ASCII,
		.normalize = ACDAT_NORMALIZE_WIDTH, .boundary = ACDAT_BOUNDARY_WORD,
		.ignore = "*", .ignore_len = 1
	};
	acdat_pattern patterns[3];
	acdat_machine_info info;
	acdat_machine_info other;
	acdat_engine engine;

	(void) state;
	patterns[0] = acdat_simple_pattern("a*b", 1);
	patterns[1] = acdat_simple_pattern("abcd", 2);
	patterns[2] = acdat_simple_pattern("\xC3\xA9\xC3\xA9\xC3\xA9", 3);
	patterns[2].allow = true;
	assert_int_equal(acdat_engine_make(&engine, &options, patterns, 3), ACDAT_OK);
	acdat_machine_describe(&engine.machine, &info);
	assert_int_equal(info.image_bytes, engine.size);
	assert_int_equal(info.patterns, 3);
	assert_int_equal(info.allow_patterns, 1);
	assert_int_equal(info.min_pattern_bytes, 2);
	assert_int_equal(info.max_pattern_bytes, 6);
	assert_int_equal(info.options.encoding, ACDAT_ENCODING_UTF8);
	assert_int_equal(info.options.case_insensitive, ACDAT_CASE_ASCII);
	assert_int_equal(info.options.normalize, ACDAT_NORMALIZE_WIDTH);
	assert_int_equal(info.options.boundary, ACDAT_BOUNDARY_WORD);
	assert_int_equal(info.options.ignore_len, 1);
	assert_memory_equal(info.options.ignore, "*", 1);
	assert_false(info.has_replacements);
	assert_int_equal(info.tags, 0);
	assert_true(info.valid_utf8);
	assert_non_null(info.engine);
	acdat_engine_free(&engine);

	/* the same content has the same checksum, another another */
	assert_int_equal(acdat_engine_make(&engine, &options, patterns, 3), ACDAT_OK);
	acdat_machine_describe(&engine.machine, &other);
	assert_memory_equal(other.checksum, info.checksum, sizeof(info.checksum));
	acdat_engine_free(&engine);
	patterns[1].id = 4;
	patterns[1].tag = "t";
	patterns[1].tag_len = 1;
	patterns[1].replacement = "";
	assert_int_equal(acdat_engine_make(&engine, &options, patterns, 3), ACDAT_OK);
	acdat_machine_describe(&engine.machine, &other);
	assert_memory_not_equal(other.checksum, info.checksum,
							sizeof(info.checksum));
	assert_true(other.has_replacements);
	assert_int_equal(other.tags, 1);
	acdat_engine_free(&engine);

	patterns[0] = acdat_simple_pattern("\xC3", 1);
	assert_int_equal(acdat_engine_make(&engine, &plain, patterns, 2), ACDAT_OK);
	acdat_machine_describe(&engine.machine, &info);
	assert_false(info.valid_utf8);
	acdat_engine_free(&engine);
}

/* Attributes of every width come back with the match. */
static void
attributes_come_back(void **state)
{
	static const char *const words[] = {"aa", "bb", "cc", "dd"};
	static const int64_t ids[] = {INT64_MIN, -1, 0, INT64_MAX};
	static const int32_t priorities[] = {INT32_MIN, 0, 5, INT32_MAX};
	static const char *const replacements[] = {NULL, "", "r", "\0z"};
	static const size_t replacement_lens[] = {0, 0, 1, 2};
	static const char *const tags[] = {"tag", NULL, "", "t2"};
	acdat_pattern patterns[4];
	acdat_engine engine;
	acdat_match m;
	size_t		i;

	(void) state;
	for (i = 0; i < 4; i++)
	{
		patterns[i] = acdat_simple_pattern(words[i], ids[i]);
		patterns[i].priority = priorities[i];
		patterns[i].replacement = replacements[i];
		patterns[i].replacement_len = replacement_lens[i];
		patterns[i].tag = tags[i];
		patterns[i].tag_len = tags[i] == NULL ? 0 : strlen(tags[i]);
	}
	assert_int_equal(acdat_engine_make(&engine, &plain, patterns, 4), ACDAT_OK);
	acdat_scan_start(engine.scan, ACDAT_LEFTMOST_FIRST, "aabbccdd", 8, true);
	for (i = 0; i < 4; i++)
	{
		const void *bytes;
		size_t		len;

		assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_OK);
		assert_int_equal(m.start, 2 * i);
		assert_true(acdat_pattern_id(&engine.machine, m.pattern) == ids[i]);
		assert_int_equal(acdat_pattern_priority(&engine.machine, m.pattern),
						 priorities[i]);
		bytes = acdat_pattern_replacement(&engine.machine, m.pattern, &len);
		assert_int_equal(bytes == NULL, replacements[i] == NULL);
		assert_int_equal(len, replacement_lens[i]);
		if (len > 0)
			assert_memory_equal(bytes, replacements[i], len);
		bytes = acdat_pattern_tag(&engine.machine, m.pattern, &len);
		assert_int_equal(bytes == NULL, tags[i] == NULL);
		assert_int_equal(len, patterns[i].tag_len);
		if (len > 0)
			assert_memory_equal(bytes, tags[i], len);
	}
	assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_END);
	acdat_engine_free(&engine);
}

/* Tags of reported patterns are kept once, in order, and are found. */
static void
tags_are_found(void **state)
{
	static const char *const tags[] = {"b", "", "ab", "b", NULL, "a", "b"};
	static const char *const sorted[] = {"", "ab", "b"};
	static char many[300][4];
	acdat_pattern patterns[300];
	acdat_engine engine;
	acdat_machine_info info;
	uint32_t	found;
	uint32_t	i;

	(void) state;
	for (i = 0; i < 7; i++)
	{
		static const char *const words[] = {"p", "q", "r", "s", "t", "u", "v"};

		patterns[i] = acdat_simple_pattern(words[i], i);
		patterns[i].tag = tags[i];
		patterns[i].tag_len = tags[i] == NULL ? 0 : strlen(tags[i]);
		patterns[i].allow = (i == 5);
	}
	assert_int_equal(acdat_engine_make(&engine, &plain, patterns, 7), ACDAT_OK);
	acdat_machine_describe(&engine.machine, &info);
	assert_int_equal(info.tags, 3);
	for (i = 0; i < 3; i++)
	{
		size_t		len;
		const char *tag = acdat_machine_tag(&engine.machine, i, &len);

		assert_int_equal(len, strlen(sorted[i]));
		assert_memory_equal(tag, sorted[i], len);
		assert_true(acdat_find_tag(&engine.machine, sorted[i], len, &found));
		assert_int_equal(found, i);
	}
	assert_false(acdat_find_tag(&engine.machine, "a", 1, &found));
	assert_false(acdat_find_tag(&engine.machine, "abc", 3, &found));
	assert_false(acdat_find_tag(&engine.machine, "c", 1, &found));
	acdat_engine_free(&engine);

	for (i = 0; i < 300; i++)
	{
		snprintf(many[i], sizeof(many[i]), "%u", (i * 7 + 123) % 300);
		patterns[i] = acdat_simple_pattern(many[i], i);
		patterns[i].tag = many[i];
		patterns[i].tag_len = strlen(many[i]);
	}
	assert_int_equal(acdat_engine_make(&engine, &plain, patterns, 300), ACDAT_OK);
	for (i = 0; i < 300; i++)
		assert_true(acdat_find_tag(&engine.machine, many[i], strlen(many[i]),
								   &found));
	acdat_engine_free(&engine);
}

/* Memory hooks that count, and fail at a chosen allocation. */
typedef struct meter
{
	long		live;
	long		calls;
	long		fail_at;
	long		ticks;
	long		stop_at;
} meter;

static void *
meter_alloc(void *arg, size_t size)
{
	meter	   *m = arg;

	if (++m->calls == m->fail_at)
		return NULL;
	m->live++;
	return malloc(size);
}

static void *
meter_realloc(void *arg, void *ptr, size_t old_size, size_t size)
{
	meter	   *m = arg;

	(void) old_size;
	if (++m->calls == m->fail_at)
		return NULL;
	if (ptr == NULL)
		m->live++;
	return realloc(ptr, size);
}

static void
meter_free(void *arg, void *ptr)
{
	meter	   *m = arg;

	if (ptr != NULL)
		m->live--;
	free(ptr);
}

static bool
meter_tick(void *arg)
{
	meter	   *m = arg;

	return ++m->ticks == m->stop_at;
}

static acdat_hooks
hooks_of(meter *m)
{
	acdat_hooks hooks = {
		meter_alloc, meter_realloc, meter_free, meter_tick, m
	};

	return hooks;
}

/* Build n words under the hooks; *image is malloc'd on success. */
static acdat_status
build_words(const acdat_hooks *hooks, int n, void **image, size_t *size)
{
	acdat_options options = {
		.encoding = ACDAT_ENCODING_UTF8, .case_insensitive = ACDAT_CASE_UNICODE
	};
	acdat_builder *builder;
	acdat_status status;
	int			i;

	builder = acdat_builder_create(&options, NULL, hooks, &status);
	if (builder == NULL)
		return status;
	status = ACDAT_OK;
	for (i = 0; i < n && status == ACDAT_OK; i++)
	{
		char		word[32];
		acdat_pattern p;

		/* some are prefixes of others */
		snprintf(word, sizeof(word), "W\xC3\x96rter%d%s", i * 31337 % 100003,
				 i % 2 == 0 ? "" : "x");
		p = acdat_simple_pattern(word, i);
		p.tag = "tag";
		p.tag_len = 3;
		p.replacement = word;
		p.replacement_len = (size_t) (i % 7);
		p.allow = i % 5 == 0;
		status = acdat_builder_add(builder, &p);
	}
	if (status == ACDAT_OK)
		status = acdat_builder_compile(builder, size);
	if (status == ACDAT_OK)
	{
		*image = malloc(*size);
		assert_non_null(*image);
		status = acdat_builder_write(builder, *image);
		if (status != ACDAT_OK)
			free(*image);
	}
	acdat_builder_destroy(builder);
	return status;
}

/*
 * Fail at every allocation in turn: a clean error, or a way without it, and
 * nothing left behind.
 */
static void
memory_may_run_out(void **state)
{
	meter		m;
	acdat_hooks hooks = hooks_of(&m);
	acdat_status status;
	void	   *image;
	size_t		size;
	long		at = 0;

	(void) state;
	memset(&m, 0, sizeof(m));
	while (m.calls >= at)
	{
		memset(&m, 0, sizeof(m));
		m.fail_at = ++at;
		status = build_words(&hooks, 300, &image, &size);
		assert_int_equal(m.live, 0);
		assert_true(status == ACDAT_OK || status == ACDAT_NO_MEMORY);
		if (status == ACDAT_OK)
			free(image);
	}
	assert_true(at > 5);
	assert_int_equal(status, ACDAT_OK);
}

static void
checked_open_uses_the_hooks(void **state)
{
	meter		m;
	acdat_hooks hooks = hooks_of(&m);
	acdat_machine machine;
	acdat_status status = ACDAT_NO_MEMORY;
	const char *reason;
	void	   *image = NULL;
	size_t		size;
	long		at = 0;

	(void) state;
	memset(&m, 0, sizeof(m));
	assert_int_equal(build_words(&hooks, 300, &image, &size), ACDAT_OK);
	while (m.calls >= at)
	{
		memset(&m, 0, sizeof(m));
		m.fail_at = ++at;
		status = acdat_open_checked(&machine, image, size, &hooks, &reason);
		assert_int_equal(m.live, 0);
		assert_true(status == ACDAT_OK || status == ACDAT_NO_MEMORY);
	}
	free(image);
}

/* A build and a scan stop at any tick. */
static void
work_can_be_cancelled(void **state)
{
	static unsigned char text[1000000];
	meter		m;
	acdat_hooks hooks = hooks_of(&m);
	acdat_machine machine;
	acdat_scan *scan;
	acdat_match match;
	const char *reason;
	void	   *image = NULL;
	size_t		size;
	long		at;

	(void) state;
	memset(&m, 0, sizeof(m));
	assert_int_equal(build_words(&hooks, 60000, &image, &size), ACDAT_OK);
	at = m.ticks;
	assert_true(at >= 60000 * 10 / ACDAT_TICK_BYTES);
	free(image);
	for (; at >= 1; at -= 1 + at / 4)
	{
		memset(&m, 0, sizeof(m));
		m.stop_at = at;
		assert_int_equal(build_words(&hooks, 60000, &image, &size),
						 ACDAT_CANCELLED);
		assert_int_equal(m.live, 0);
	}

	memset(&m, 0, sizeof(m));
	assert_int_equal(build_words(&hooks, 60000, &image, &size), ACDAT_OK);
	m.ticks = 0;
	assert_int_equal(acdat_open_checked(&machine, image, size, &hooks,
										&reason), ACDAT_OK);
	for (at = m.ticks; at >= 1; at -= 1 + at / 16)
	{
		m.ticks = 0;
		m.stop_at = at;
		assert_int_equal(acdat_open_checked(&machine, image, size, &hooks,
											&reason), ACDAT_CANCELLED);
		assert_int_equal(m.live, 0);
	}
	assert_int_equal(acdat_open_trusted(&machine, image, size), ACDAT_OK);
	scan = malloc(acdat_scan_size(&machine));
	assert_non_null(scan);
	acdat_scan_init(scan, &machine, &hooks);
	memset(text, 'x', sizeof(text));
	for (at = 1; at <= 3; at++)
	{
		m.ticks = 0;
		m.stop_at = at;
		acdat_scan_start(scan, ACDAT_LEFTMOST_LONGEST, text, sizeof(text),
						 true);
		assert_int_equal(acdat_scan_next(scan, &match), ACDAT_CANCELLED);
	}
	m.ticks = 0;
	m.stop_at = 0;
	acdat_scan_start(scan, ACDAT_LEFTMOST_LONGEST, text, sizeof(text), true);
	assert_int_equal(acdat_scan_next(scan, &match), ACDAT_END);
	assert_true(m.ticks >= (long) (sizeof(text) / ACDAT_TICK_BYTES));
	free(scan);
	free(image);
}

static size_t sink_calls_left;
static size_t sink_bytes;

static bool
fragile_sink(void *arg, const void *bytes, size_t len)
{
	(void) arg;
	(void) bytes;
	sink_bytes += len;
	return sink_calls_left-- > 0;
}

static void
output_is_limited(void **state)
{
	acdat_pattern p = acdat_simple_pattern("a", 1);
	acdat_rewrite rewrite;
	acdat_engine engine;
	acdat_status status;
	size_t		consumed;
	uint64_t	matches = 0;

	(void) state;
	p.replacement = "0123456789";
	p.replacement_len = 10;
	assert_int_equal(acdat_engine_make(&engine, &plain, &p, 1), ACDAT_OK);
	memset(&rewrite, 0, sizeof(rewrite));
	rewrite.policy = ACDAT_LEFTMOST_LONGEST;
	rewrite.sink = fragile_sink;
	sink_calls_left = SIZE_MAX;
	sink_bytes = 0;
	rewrite.max_output = 32;
	assert_int_equal(acdat_rewrite_text(engine.scan, &rewrite, "xaxaxa", 6,
										&matches), ACDAT_OUTPUT_LIMIT);
	assert_true(sink_bytes <= 32);
	sink_bytes = 0;
	rewrite.max_output = 33;
	assert_int_equal(acdat_rewrite_text(engine.scan, &rewrite, "xaxaxa", 6,
										&matches), ACDAT_OK);
	assert_int_equal(sink_bytes, 33);

	/* the limit holds for the stream, not for the buffer */
	sink_bytes = 0;
	rewrite.max_output = 32;
	acdat_rewrite_begin(engine.scan, &rewrite);
	status = acdat_rewrite_feed(engine.scan, "xaxa", 4, false, &consumed,
								&matches);
	assert_int_equal(status, ACDAT_OK);
	assert_int_equal(consumed, 4);
	assert_int_equal(acdat_rewrite_feed(engine.scan, "xa", 2, true, &consumed,
										&matches), ACDAT_OUTPUT_LIMIT);

	sink_calls_left = 1;
	rewrite.max_output = 0;
	assert_int_equal(acdat_rewrite_text(engine.scan, &rewrite, "xaxaxa", 6,
										&matches), ACDAT_SINK_FAILED);
	rewrite.policy = ACDAT_ALL_OVERLAPPING;
	assert_int_equal(acdat_rewrite_text(engine.scan, &rewrite, "xaxaxa", 6,
										&matches), ACDAT_BAD_ARGUMENT);
	acdat_engine_free(&engine);
}

static void
every_status_has_a_text(void **state)
{
	int			i;

	(void) state;
	for (i = -1; i <= ACDAT_SINK_FAILED + 1; i++)
	{
		const char *text = acdat_status_text((acdat_status) i);

		assert_non_null(text);
		assert_true(text[0] >= 'a' && text[0] <= 'z');
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_patterns_are_refused),
		cmocka_unit_test(long_patterns_are_refused),
		cmocka_unit_test(options_are_checked),
		cmocka_unit_test(image_limit_is_kept),
		cmocka_unit_test(duplicates_are_counted),
		cmocka_unit_test(machine_is_described),
		cmocka_unit_test(attributes_come_back),
		cmocka_unit_test(tags_are_found),
		cmocka_unit_test(memory_may_run_out),
		cmocka_unit_test(checked_open_uses_the_hooks),
		cmocka_unit_test(work_can_be_cancelled),
		cmocka_unit_test(output_is_limited),
		cmocka_unit_test(every_status_has_a_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
