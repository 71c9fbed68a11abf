/*
 * The filter on long texts: sparse and dense stretches in turn, so that it
 * gives up, the automaton takes over and the filter comes back; all kinds of
 * filter, every policy, whole texts and streams.
 *
 * Long texts are made of lines with a known answer: the matches of a line
 * are found by the oracle once and shifted to where the line stands, which
 * keeps the brute force affordable.  The line end is in no pattern, so no
 * match reaches beyond a line.
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

#define TEXT_BYTES 500000
#define MAX_PATTERNS 3000

/* What a dictionary is made of. */
typedef struct shape
{
	const char *name;
	acdat_options options;
	size_t		npatterns;
	uint32_t	least;			/* symbols of most patterns */
	uint32_t	most;
	uint32_t	few;			/* every so-manieth has two symbols; 0 = none */
	bool		han;			/* three-byte characters instead of letters */
	bool		foreign;		/* most of the text is in no pattern */
} shape;

static const shape shapes[] = {
	{"stride", {.encoding = ACDAT_ENCODING_BYTES}, 60, 14, 16, 0, false, false},
	{"short grams", {.encoding = ACDAT_ENCODING_BYTES}, 100, 4, 9, 0, false, false},
	{"long grams", {.encoding = ACDAT_ENCODING_BYTES}, 3000, 6, 12, 0, false, false},
	{"split", {.encoding = ACDAT_ENCODING_BYTES}, 400, 6, 12, 40, false, false},
	{"ASCII case", {.encoding = ACDAT_ENCODING_UTF8,
	.case_insensitive = ACDAT_CASE_ASCII}, 200, 6, 12, 0, false, false},
	{"words", {.encoding = ACDAT_ENCODING_UTF8,
	.boundary = ACDAT_BOUNDARY_WORD}, 200, 6, 12, 0, false, false},
	{"characters", {.encoding = ACDAT_ENCODING_UTF8}, 300, 2, 5, 0, true, false},
	{"folded", {.encoding = ACDAT_ENCODING_UTF8,
		.case_insensitive = ACDAT_CASE_UNICODE, .ignore = "*",
	.ignore_len = 1}, 200, 5, 9, 0, false, false},
	{"tails", {.encoding = ACDAT_ENCODING_BYTES}, 300, 6, 12, 0, false, true},
	{"tails of short patterns", {.encoding = ACDAT_ENCODING_BYTES}, 100, 2, 9, 0, false, true},
	{"tails in ASCII case", {.encoding = ACDAT_ENCODING_UTF8,
	.case_insensitive = ACDAT_CASE_ASCII}, 200, 5, 9, 0, false, true},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint64_t random_state;

static uint32_t
below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) ((random_state >> 16) % limit);
}

/* Symbols of three kinds: of patterns, of both, and of texts only. */
static size_t
add_symbol(const shape *s, uint32_t which, char *dst)
{
	if (!s->han)
	{
		dst[0] = (char) ('a' + which);
		return 1;
	}
	/* from U+4E00 on; U+4F00 differs from it in the middle byte */
	dst[0] = '\xE4';
	dst[1] = (char) (0xB8 + which / 16);
	dst[2] = (char) (0x80 + which % 16);
	return 3;
}

static void
make_patterns(const shape *s, acdat_pattern *patterns, char *bytes)
{
	size_t		i;

	for (i = 0; i < s->npatterns; i++)
	{
		acdat_pattern *p = &patterns[i];
		uint32_t	n = s->least + below(s->most - s->least + 1);

		if (s->few > 0 && i % s->few == 0)
			n = 2;
		memset(p, 0, sizeof(*p));
		p->bytes = bytes;
		for (; n > 0; n--)
			p->len += add_symbol(s, below(18), bytes + p->len);
		bytes += p->len;
		p->id = (int64_t) i;
		p->priority = (int32_t) below(3);
		p->allow = below(50) == 0;
		if (below(2) == 0)
		{
			p->replacement = "<>";
			p->replacement_len = 2;
		}
	}
}

/*
 * A line: words of patterns, whole ones or all but the first symbol, as
 * dense as wanted.
 */
static size_t
make_line(const shape *s, const acdat_pattern *patterns, char *line,
		  size_t room, uint32_t sparseness)
{
	size_t		want = below(120);
	size_t		n = 0;

	while (n < want)
	{
		const acdat_pattern *p = &patterns[below((uint32_t) s->npatterns)];
		size_t		skip = below(3) == 0 ? (s->han ? 3 : 1) : 0;

		if (below(sparseness) != 0 || p->len <= skip ||
			n + p->len + 8 > room)
		{
			n += add_symbol(s, s->foreign && below(30) != 0 ? 18 + below(8) :
							below(26), line + n);
			continue;
		}
		if (below(2) == 0)
			line[n++] = ' ';
		memcpy(line + n, (const char *) p->bytes + skip, p->len - skip);
		n += p->len - skip;
		if (below(2) == 0)
			line[n++] = ' ';
	}
	line[n++] = '\n';
	return n;
}

/* A text and all its matches, line by line. */
typedef struct long_text
{
	unsigned char *bytes;
	size_t		len;
	acdat_answer all;
} long_text;

static void
add_shifted(acdat_answer *all, const acdat_answer *line, uint64_t by)
{
	size_t		i;

	if (all->room - all->count < line->count)
	{
		all->room = (all->count + line->count) * 2;
		all->matches = realloc(all->matches,
							   all->room * sizeof(*all->matches));
		assert_non_null(all->matches);
	}
	for (i = 0; i < line->count; i++)
	{
		acdat_answer_match m = line->matches[i];

		m.start += by;
		m.end += by;
		all->matches[all->count++] = m;
	}
}

/*
 * Stretches of lines, each line of a stretch one of a few: sparse ones for
 * most of the text, dense ones that make the filter give up between them.
 */
static void
make_text(const shape *s, const acdat_dictionary *d, long_text *t)
{
	acdat_answer answer = {NULL, 0, 0};
	char		line[256];

	t->bytes = malloc(TEXT_BYTES + 40 * sizeof(line));
	assert_non_null(t->bytes);
	t->len = 0;
	memset(&t->all, 0, sizeof(t->all));
	while (t->len < TEXT_BYTES)
	{
		bool		dense = below(3) == 0;
		size_t		stretch = below(dense ? 4000 : 30000);
		size_t		end = t->len + stretch;

		if (end > TEXT_BYTES)
			end = TEXT_BYTES;
		do
		{
			size_t		n = make_line(s, d->patterns, line, sizeof(line),
									  dense ? 6 : 2000);
			int			repeat;

			acdat_oracle_all(d, line, n, &answer);
			for (repeat = 0; repeat < (dense ? 6 : 40); repeat++)
			{
				memcpy(t->bytes + t->len, line, n);
				add_shifted(&t->all, &answer, t->len);
				t->len += n;
			}
		} while (t->len < end);
	}
	acdat_answer_free(&answer);
}

static void
check_matches(const shape *s, acdat_engine *engine, acdat_policy policy,
			  const long_text *t, const acdat_answer *right)
{
	static const size_t pieces[] = {0, 100000, 65536, 7001, 997};
	acdat_answer got = {NULL, 0, 0};
	uint64_t	count;
	size_t		i;

	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
	{
		assert_int_equal(acdat_engine_matches(engine, policy, t->bytes,
											  t->len, pieces[i], &got),
						 ACDAT_OK);
		if (!acdat_answer_equal(&got, right))
			fail_msg("%s: policy %d in pieces of %u", s->name, (int) policy,
					 (unsigned) pieces[i]);
	}
	assert_int_equal(acdat_count(engine->scan, policy, t->bytes, t->len,
								 &count), ACDAT_OK);
	assert_int_equal(count, right->count);
	acdat_answer_free(&got);
}

static void
check_rewrite(const shape *s, const acdat_dictionary *d, acdat_engine *engine,
			  acdat_policy policy, const long_text *t,
			  const acdat_answer *right)
{
	acdat_rewrite rewrite;
	unsigned char *expected;
	unsigned char *got;
	size_t		expected_len;
	size_t		got_len;
	uint64_t	matches;
	size_t		piece;

	memset(&rewrite, 0, sizeof(rewrite));
	rewrite.policy = policy;
	expected = acdat_oracle_rewrite(d, &rewrite, right, t->bytes, t->len,
									&expected_len);
	for (piece = 0; piece <= 40000; piece += 20000)
	{
		assert_int_equal(acdat_engine_rewrite(engine, &rewrite, t->bytes,
											  t->len, piece, &got, &got_len,
											  &matches), ACDAT_OK);
		if (got_len != expected_len || memcmp(got, expected, got_len) != 0)
			fail_msg("%s: rewrite, policy %d in pieces of %u", s->name,
					 (int) policy, (unsigned) piece);
		free(got);
	}
	free(expected);
}

/* Is every match found when nothing but sparse text is in front of it? */
static void
check_contains(const shape *s, acdat_engine *engine, const long_text *t)
{
	size_t		i;

	for (i = 0; i <= t->all.count; i += 1 + t->all.count / 40)
	{
		uint64_t	from = i < t->all.count ? t->all.matches[i].start : t->len;
		bool		found;

		assert_int_equal(acdat_contains(engine->scan, t->bytes + from,
										(size_t) (t->len - from), &found),
						 ACDAT_OK);
		if (found != (i < t->all.count))
			fail_msg("%s: contains from %u", s->name, (unsigned) from);
	}
}

static void
long_texts(void **state)
{
	static acdat_pattern patterns[MAX_PATTERNS];
	static char bytes[MAX_PATTERNS * 64];
	acdat_answer right = {NULL, 0, 0};
	size_t		i;
	int			policy;
	int			trusted;

	(void) state;
	random_state = 88172645463325252;
	for (i = 0; i < SHAPES; i++)
	{
		const shape *s = &shapes[i];
		acdat_dictionary d = {s->options, patterns, s->npatterns, NULL};
		acdat_engine engine;
		long_text	t;

		make_patterns(s, patterns, bytes);
		make_text(s, &d, &t);
		print_message("# %s: %u matches\n", s->name, (unsigned) t.all.count);
		assert_true(t.all.count > 50);
		assert_int_equal(acdat_engine_build(&engine, &d), ACDAT_OK);
		for (trusted = 0; trusted <= 1; trusted++)
		{
			const acdat_probe_kernel *kernel = acdat_probe_kernel_number((unsigned) (i + (size_t) trusted) % 3);

			if (kernel == NULL)
				kernel = acdat_probe_kernel_number(0);
			acdat_scan_use_kernel(engine.scan, kernel);
			if (trusted == 1)
				engine.scan->run_lanes = NULL;
			acdat_scan_trust_text(engine.scan, trusted == 1);
			for (policy = 0; policy <= ACDAT_MERGED; policy++)
			{
				acdat_oracle_choose(&d, (acdat_policy) policy, &t.all,
									&right);
				check_matches(s, &engine, (acdat_policy) policy, &t, &right);
				if (policy != ACDAT_ALL_OVERLAPPING)
					check_rewrite(s, &d, &engine, (acdat_policy) policy, &t,
								  &right);
			}
			check_contains(s, &engine, &t);
		}
		acdat_engine_free(&engine);
		acdat_answer_free(&t.all);
		free(t.bytes);
	}
	acdat_answer_free(&right);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_texts),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
