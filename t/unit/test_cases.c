/*
 * Every case of the table, under every policy: the oracle against what the
 * table expects, and the engine against the oracle, with the text given
 * whole and in pieces of every size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/text.h"
#include "t/unit/cases.h"
#include "t/unit/oracle.h"

#define POLICIES 4

static const char *const policy_names[POLICIES] = {
	"all", "longest", "first", "merged"
};

static void
make_dictionary(const acdat_test_case *c, acdat_pattern *patterns,
				acdat_dictionary *d)
{
	memset(d, 0, sizeof(*d));
	memset(patterns, 0, ACDAT_CASE_PATTERNS * sizeof(*patterns));
	d->options.encoding = c->encoding;
	d->options.case_insensitive = c->fold;
	d->options.normalize = c->normalize;
	d->options.boundary = c->boundary;
	d->options.ignore = c->ignore;
	d->options.ignore_len = c->ignore == NULL ? 0 : strlen(c->ignore);
	d->patterns = patterns;
	while (d->npatterns < ACDAT_CASE_PATTERNS &&
		   c->patterns[d->npatterns].bytes != NULL)
	{
		const acdat_test_pattern *from = &c->patterns[d->npatterns];
		acdat_pattern *p = &patterns[d->npatterns++];

		p->bytes = from->bytes;
		p->len = from->len;
		p->id = from->id != 0 ? from->id : (int64_t) d->npatterns;
		p->priority = from->priority;
		p->replacement = from->replacement;
		if (from->replacement != NULL)
			p->replacement_len = strlen(from->replacement);
		p->allow = from->allow;
	}
}

static const char *
expected_of(const acdat_test_case *c, int policy)
{
	switch (policy)
	{
		case ACDAT_ALL_OVERLAPPING:
			return c->all;
		case ACDAT_LEFTMOST_LONGEST:
			return c->longest;
		case ACDAT_LEFTMOST_FIRST:
			return c->first;
		default:
			return c->merged;
	}
}

static uint64_t
position(const acdat_test_case *c, uint64_t bytes)
{
	return !c->chars ? bytes :
		acdat_count_chars(c->encoding, (const unsigned char *) c->text,
						  (size_t) bytes);
}

/* Does the answer equal what the table says? */
static bool
as_expected(const acdat_test_case *c, const char *expected,
			const acdat_answer *answer)
{
	size_t		i;

	for (i = 0; *expected != '\0'; i++)
	{
		uint64_t	start;
		uint64_t	end;
		char	   *next;

		if (i == answer->count)
			return false;
		start = strtoull(expected, &next, 10);
		if (*next != '-')
			return false;
		end = strtoull(next + 1, &next, 10);
		if (position(c, answer->matches[i].start) != start ||
			position(c, answer->matches[i].end) != end)
			return false;
		if (*next == ':' &&
			strtoll(next + 1, &next, 10) != answer->matches[i].id)
			return false;
		expected = *next == ' ' ? next + 1 : next;
	}
	return i == answer->count;
}

static void
oracle_as_expected(void **state)
{
	size_t		i;
	int			policy;

	(void) state;
	for (i = 0; i < acdat_test_case_count; i++)
	{
		const acdat_test_case *c = &acdat_test_cases[i];
		acdat_pattern patterns[ACDAT_CASE_PATTERNS];
		acdat_dictionary d = {0};
		acdat_answer all = {NULL, 0, 0};
		acdat_answer chosen = {NULL, 0, 0};

		make_dictionary(c, patterns, &d);
		acdat_oracle_all(&d, c->text, c->len, &all);
		for (policy = 0; policy < POLICIES; policy++)
		{
			const char *expected = expected_of(c, policy);

			acdat_oracle_choose(&d, (acdat_policy) policy, &all, &chosen);
			if (expected == NULL || as_expected(c, expected, &chosen))
				continue;
			acdat_answer_print("oracle", &chosen);
			fail_msg("%s: %s expected %s", c->name, policy_names[policy],
					 expected);
		}
		acdat_answer_free(&all);
		acdat_answer_free(&chosen);
	}
}

static bool
is_valid(const acdat_test_case *c)
{
	return c->encoding == ACDAT_ENCODING_BYTES ||
		acdat_valid_utf8((const unsigned char *) c->text, c->len);
}

static void
engine_under_policy(const acdat_test_case *c, const acdat_dictionary *d,
					acdat_engine *engine, acdat_policy policy,
					const acdat_answer *all)
{
	acdat_answer right = {NULL, 0, 0};
	acdat_answer got = {NULL, 0, 0};
	size_t		piece;
	uint64_t	count;

	acdat_oracle_choose(d, policy, all, &right);
	for (piece = 0; piece <= 2 * c->len + 1; piece++)
	{
		/* every size twice: as any bytes, and as a text known to be valid */
		acdat_status status;

		acdat_scan_trust_text(engine->scan, piece % 2 == 1 && is_valid(c));
		status = acdat_engine_matches(engine, policy, c->text, c->len,
									  piece / 2, &got);

		if (status != ACDAT_OK || !acdat_answer_equal(&got, &right))
		{
			acdat_answer_print("right", &right);
			acdat_answer_print("got", &got);
			fail_msg("%s: %s in pieces of %u: %s", c->name,
					 policy_names[policy], (unsigned) piece / 2,
					 acdat_status_text(status));
		}
	}
	assert_int_equal(acdat_count(engine->scan, policy, c->text, c->len,
								 &count), ACDAT_OK);
	assert_int_equal(count, right.count);
	acdat_answer_free(&right);
	acdat_answer_free(&got);
}

static void
engine_as_oracle(void **state)
{
	size_t		i;
	int			policy;

	(void) state;
	for (i = 0; i < acdat_test_case_count; i++)
	{
		const acdat_test_case *c = &acdat_test_cases[i];
		acdat_pattern patterns[ACDAT_CASE_PATTERNS];
		acdat_dictionary d = {0};
		acdat_engine engine;
		acdat_answer all = {NULL, 0, 0};
		acdat_status status;
		bool		found;

		make_dictionary(c, patterns, &d);
		acdat_oracle_all(&d, c->text, c->len, &all);
		status = acdat_engine_build(&engine, &d);
		if (status != ACDAT_OK)
			fail_msg("%s: %s", c->name, acdat_status_text(status));
		for (policy = 0; policy < POLICIES; policy++)
			engine_under_policy(c, &d, &engine, (acdat_policy) policy, &all);
		assert_int_equal(acdat_contains(engine.scan, c->text, c->len,
										&found), ACDAT_OK);
		assert_int_equal(found, all.count > 0);
		acdat_engine_free(&engine);
		acdat_answer_free(&all);
	}
}

/* One rewrite, whole and in pieces; expected may be NULL. */
static void
check_rewrite(const acdat_test_case *c, const acdat_dictionary *d,
			  acdat_engine *engine, const acdat_rewrite *rewrite,
			  const acdat_answer *chosen, const char *expected)
{
	size_t		right_len;
	unsigned char *right = acdat_oracle_rewrite(d, rewrite, chosen, c->text,
												c->len, &right_len);
	size_t		piece;

	if (expected != NULL &&
		(right_len != strlen(expected) ||
		 memcmp(right, expected, right_len) != 0))
		fail_msg("%s: oracle's rewrite, expected %s", c->name, expected);
	for (piece = 0; piece <= c->len; piece++)
	{
		unsigned char *got;
		size_t		got_len;
		uint64_t	matches;
		acdat_status status;

		status = acdat_engine_rewrite(engine, rewrite, c->text, c->len,
									  piece, &got, &got_len, &matches);
		if (status != ACDAT_OK || got_len != right_len ||
			memcmp(got, right, got_len) != 0 || matches != chosen->count)
			fail_msg("%s: style %d, %s, in pieces of %u: %s, got %.*s",
					 c->name, (int) rewrite->style,
					 policy_names[rewrite->policy], (unsigned) piece,
					 acdat_status_text(status), (int) got_len, got);
		free(got);
	}
	free(right);
}

static const char *
expected_rewrite(const acdat_test_case *c, const acdat_rewrite *rewrite)
{
	if (rewrite->style == ACDAT_REWRITE_REPLACE &&
		rewrite->policy == ACDAT_LEFTMOST_LONGEST)
		return c->replaced;
	if (rewrite->style == ACDAT_REWRITE_CHARS &&
		rewrite->policy == ACDAT_MERGED)
		return c->masked;
	return NULL;
}

static void
rewrites(void **state)
{
	size_t		i;
	int			policy;
	int			style;

	(void) state;
	for (i = 0; i < acdat_test_case_count; i++)
	{
		const acdat_test_case *c = &acdat_test_cases[i];
		acdat_pattern patterns[ACDAT_CASE_PATTERNS];
		acdat_dictionary d = {0};
		acdat_engine engine;
		acdat_answer all = {NULL, 0, 0};
		acdat_answer chosen = {NULL, 0, 0};

		make_dictionary(c, patterns, &d);
		acdat_oracle_all(&d, c->text, c->len, &all);
		assert_int_equal(acdat_engine_build(&engine, &d), ACDAT_OK);
		for (policy = ACDAT_LEFTMOST_LONGEST; policy < POLICIES; policy++)
		{
			acdat_oracle_choose(&d, (acdat_policy) policy, &all, &chosen);
			for (style = 0; style <= ACDAT_REWRITE_FIXED; style++)
			{
				acdat_rewrite rewrite;

				memset(&rewrite, 0, sizeof(rewrite));
				rewrite.style = (acdat_rewrite_style) style;
				rewrite.policy = (acdat_policy) policy;
				rewrite.mask = "\xE2\x96\x88";
				rewrite.mask_len = 3;
				check_rewrite(c, &d, &engine, &rewrite, &chosen,
							  expected_rewrite(c, &rewrite));
			}
		}
		acdat_engine_free(&engine);
		acdat_answer_free(&all);
		acdat_answer_free(&chosen);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(oracle_as_expected),
		cmocka_unit_test(engine_as_oracle),
		cmocka_unit_test(rewrites),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
