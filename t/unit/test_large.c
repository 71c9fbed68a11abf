/*
 * Long patterns, long texts and many matches: sizes at which matchers have
 * overflowed, recursed too deeply or lost a match.
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

#define MIB (1024 * 1024)

static const acdat_options plain;

static acdat_pattern
pattern(const void *bytes, size_t len, int64_t id)
{
	acdat_pattern p;

	memset(&p, 0, sizeof(p));
	p.bytes = bytes;
	p.len = len;
	p.id = id;
	return p;
}

static void
build(acdat_engine *engine, const acdat_options *options,
	  const acdat_pattern *patterns, size_t n)
{
	assert_int_equal(acdat_engine_make(engine, options, patterns, n), ACDAT_OK);
}

static uint64_t
count(acdat_engine *engine, acdat_policy policy, const void *text, size_t len)
{
	uint64_t	n;

	assert_int_equal(acdat_count(engine->scan, policy, text, len, &n),
					 ACDAT_OK);
	return n;
}

static unsigned char *
filled(size_t len, int byte)
{
	unsigned char *bytes = malloc(len);

	assert_non_null(bytes);
	memset(bytes, byte, len);
	return bytes;
}

/* One pattern of 1 MiB, in a text that nearly has it before it has it. */
static void
one_mebibyte(void **state)
{
	size_t		len = 2 * MIB + 10;
	unsigned char *text = filled(len, 'a');
	acdat_pattern patterns[2];
	acdat_answer answer = {NULL, 0, 0};
	acdat_engine engine;
	size_t		piece;

	(void) state;
	text[MIB - 1] = 'b';
	text[len - 3] = 'c';
	patterns[0] = pattern(text + len - MIB, MIB, 1);
	patterns[1] = pattern("ab", 2, 2);
	build(&engine, &plain, patterns, 2);
	for (piece = 0; piece <= len; piece += 700001)
	{
		assert_int_equal(acdat_engine_matches(&engine, ACDAT_ALL_OVERLAPPING,
											  text, len, piece, &answer),
						 ACDAT_OK);
		assert_int_equal(answer.count, 2);
		assert_int_equal(answer.matches[0].start, MIB - 2);
		assert_int_equal(answer.matches[1].start, len - MIB);
		assert_int_equal(answer.matches[1].end, len);
	}
	acdat_answer_free(&answer);
	acdat_engine_free(&engine);
	free(text);
}

/* Deep nesting is only length to a matcher without recursion. */
static void
repeated_fragment(void **state)
{
	size_t		len = 5 * 160000;
	unsigned char *text = malloc(len);
	acdat_pattern patterns[2];
	acdat_engine engine;
	size_t		i;

	(void) state;
	assert_non_null(text);
	for (i = 0; i < len; i += 5)
		memcpy(text + i, "!(1, ", 5);
	patterns[0] = pattern(text, len, 1);
	patterns[1] = pattern(text, 70000, 2);
	build(&engine, &plain, patterns, 2);
	assert_int_equal(count(&engine, ACDAT_ALL_OVERLAPPING, text, len),
					 1 + (len - 70000) / 5 + 1);
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_LONGEST, text, len), 1);
	assert_int_equal(count(&engine, ACDAT_ALL_OVERLAPPING, text, len - 1),
					 (len - 1 - 70000) / 5 + 1);
	acdat_engine_free(&engine);
	free(text);
}

/* All suffixes of a^k, and a long a^m b that never comes. */
static void
worst_cases(void **state)
{
	enum
	{
		k = 300, n = 20000
	};
	unsigned char *as = filled(n + 1, 'a');
	acdat_pattern patterns[k];
	acdat_engine engine;
	bool		found;
	size_t		i;

	(void) state;
	for (i = 0; i < k; i++)
		patterns[i] = pattern(as, i + 1, (int64_t) i);
	build(&engine, &plain, patterns, k);
	assert_int_equal(count(&engine, ACDAT_ALL_OVERLAPPING, as, n),
					 (uint64_t) n * k - k * (k - 1) / 2);
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_LONGEST, as, n),
					 n / k + (n % k != 0));
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_FIRST, as, n), n);
	assert_int_equal(count(&engine, ACDAT_MERGED, as, n), 1);
	acdat_engine_free(&engine);

	as[n] = 'b';
	patterns[0] = pattern("a", 1, 1);
	patterns[1] = pattern(as + n - 10000, 10001, 2);
	build(&engine, &plain, patterns, 2);
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_LONGEST, as, n), n);
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_LONGEST, as, n + 1),
					 n - 10000 + 1);
	assert_int_equal(acdat_contains(engine.scan, as, n, &found), ACDAT_OK);
	assert_true(found);
	acdat_engine_free(&engine);
	free(as);
}

/* A merged match as long as the whole stream, found in small buffers. */
static void
union_without_end(void **state)
{
	acdat_pattern patterns[2];
	acdat_answer answer = {NULL, 0, 0};
	acdat_engine engine;
	size_t		len = 200000;
	unsigned char *text = filled(len, 'a');
	size_t		piece;

	(void) state;
	patterns[0] = pattern("aa", 2, 1);
	patterns[1] = pattern("aaa", 3, 2);
	build(&engine, &plain, patterns, 2);
	for (piece = 0; piece <= len; piece += 39999)
	{
		assert_int_equal(acdat_engine_matches(&engine, ACDAT_MERGED, text, len,
											  piece, &answer), ACDAT_OK);
		assert_int_equal(answer.count, 1);
		assert_int_equal(answer.matches[0].start, 0);
		assert_int_equal(answer.matches[0].end, len);
		assert_int_equal(answer.matches[0].id, 2);
	}
	acdat_answer_free(&answer);
	acdat_engine_free(&engine);
	free(text);
}

/* Many needles of many bytes: each is found, whatever surrounds it. */
static void
many_needles(void **state)
{
	enum
	{
		n = 4000, width = 24
	};
	acdat_pattern *patterns = malloc(n * sizeof(*patterns));
	char	   *bytes = malloc(n * width);
	acdat_engine engine;
	size_t		i;

	(void) state;
	assert_non_null(patterns);
	assert_non_null(bytes);
	for (i = 0; i < n; i++)
	{
		snprintf(bytes + i * width, width, "%08xneedle%07u",
				 (unsigned) i * 2654435761u, (unsigned) i);
		patterns[i] = pattern(bytes + i * width, 21, (int64_t) i);
	}
	build(&engine, &plain, patterns, n);
	for (i = 0; i < n; i++)
	{
		acdat_match m;

		acdat_scan_start(engine.scan, ACDAT_ALL_OVERLAPPING,
						 bytes + i * width, width, true);
		assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_OK);
		assert_int_equal(acdat_pattern_id(&engine.machine, m.pattern), i);
		assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_END);
	}
	assert_int_equal(count(&engine, ACDAT_LEFTMOST_LONGEST, bytes, n * width),
					 n);
	acdat_engine_free(&engine);
	free(patterns);
	free(bytes);
}

/* Every byte value as the first and as the second byte of patterns. */
static void
all_byte_values(void **state)
{
	enum
	{
		n = 256 * 16
	};
	static unsigned char bytes[n][2];
	acdat_pattern *patterns = malloc(n * sizeof(*patterns));
	acdat_engine engine;
	size_t		i;

	(void) state;
	assert_non_null(patterns);
	for (i = 0; i < n; i++)
	{
		bytes[i][0] = (unsigned char) (i % 256);
		bytes[i][1] = (unsigned char) (i % 256 * 7 + i / 256 * 16);
		patterns[i] = pattern(bytes[i], 2, (int64_t) i);
	}
	build(&engine, &plain, patterns, n);
	for (i = 0; i < 65536; i++)
	{
		unsigned char text[2];
		unsigned char offset;

		text[0] = (unsigned char) (i >> 8);
		text[1] = (unsigned char) i;
		offset = (unsigned char) (text[1] - text[0] * 7);
		assert_int_equal(count(&engine, ACDAT_ALL_OVERLAPPING, text, 2),
						 offset % 16 == 0);
	}
	acdat_engine_free(&engine);
	free(patterns);
}

/* The same match at every place of texts of every length up to 300. */
static void
every_place(void **state)
{
	acdat_pattern patterns[2];
	acdat_engine engine;
	unsigned char text[300];
	size_t		len;
	size_t		at;

	(void) state;
	patterns[0] = pattern("xy", 2, 1);
	patterns[1] = pattern("x0123456789abcde", 16, 2);
	build(&engine, &plain, patterns, 2);
	for (len = 2; len <= sizeof(text); len++)
	{
		for (at = 0; at + 2 <= len; at++)
		{
			acdat_match m;

			/* an x at the end of every block must not make a false hit */
			memset(text, '-', sizeof(text));
			text[15] = text[31] = text[63] = text[len - 1] = 'x';
			text[at] = 'x';
			text[at + 1] = 'y';
			acdat_scan_start(engine.scan, ACDAT_LEFTMOST_LONGEST, text, len,
							 true);
			assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_OK);
			assert_int_equal(m.start, at);
			assert_int_equal(m.end, at + 2);
			assert_int_equal(acdat_scan_next(engine.scan, &m), ACDAT_END);
		}
	}
	acdat_engine_free(&engine);
}

/*
 * Texts beyond any block size, with folding, exceptions and boundaries
 * straddling wherever blocks may end.
 */
static void
across_blocks(void **state)
{
	static const acdat_options options[] = {
		{.encoding = ACDAT_ENCODING_BYTES},
		{.encoding = ACDAT_ENCODING_UTF8, .boundary = ACDAT_BOUNDARY_WORD},
		{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_NFKC,
			.case_insensitive = ACDAT_CASE_UNICODE, .ignore = "*",
		.ignore_len = 1},
	};
	static const char unit[] = "ab C*D \xC3\xA9" "e\xCC\x81 abcd ab** x";
	size_t		len = 70000;
	char	   *text = malloc(len);
	acdat_pattern patterns[5];
	acdat_answer all = {NULL, 0, 0};
	acdat_answer right = {NULL, 0, 0};
	acdat_answer got = {NULL, 0, 0};
	size_t		i;
	size_t		o;
	int			policy;

	(void) state;
	assert_non_null(text);
	for (i = 0; i < len; i++)
		text[i] = unit[(i + i / 4000) % (sizeof(unit) - 1)];
	patterns[0] = pattern("ab", 2, 1);
	patterns[1] = pattern("cd", 2, 2);
	patterns[2] = pattern("\xC3\xA9", 2, 3);
	patterns[3] = pattern("abcd", 4, 4);
	patterns[3].allow = true;
	patterns[4] = pattern("d \xC3\xA9", 4, 5);
	for (o = 0; o < sizeof(options) / sizeof(options[0]); o++)
	{
		acdat_dictionary d = {options[o], patterns, 5, NULL};
		acdat_engine engine;

		build(&engine, &options[o], patterns, 5);
		acdat_oracle_all(&d, text, 7000, &all);
		for (policy = 0; policy <= ACDAT_MERGED; policy++)
		{
			size_t		piece;

			acdat_oracle_choose(&d, (acdat_policy) policy, &all, &right);
			for (piece = 0; piece <= 7000; piece += 999)
			{
				assert_int_equal(acdat_engine_matches(&engine,
													  (acdat_policy) policy,
													  text, 7000, piece, &got),
								 ACDAT_OK);
				assert_true(acdat_answer_equal(&got, &right));
			}
			/* beyond what the oracle can do: whole against pieces */
			assert_int_equal(acdat_engine_matches(&engine,
												  (acdat_policy) policy, text,
												  len, 0, &right), ACDAT_OK);
			for (piece = 4096; piece <= len; piece = piece * 3 - 1)
			{
				assert_int_equal(acdat_engine_matches(&engine,
													  (acdat_policy) policy,
													  text, len, piece, &got),
								 ACDAT_OK);
				assert_true(acdat_answer_equal(&got, &right));
			}
		}
		acdat_engine_free(&engine);
	}
	acdat_answer_free(&all);
	acdat_answer_free(&right);
	acdat_answer_free(&got);
	free(text);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_mebibyte),
		cmocka_unit_test(repeated_fragment),
		cmocka_unit_test(worst_cases),
		cmocka_unit_test(union_without_end),
		cmocka_unit_test(many_needles),
		cmocka_unit_test(all_byte_values),
		cmocka_unit_test(every_place),
		cmocka_unit_test(across_blocks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
