/*
 * Random small dictionaries and texts: the engine against the oracle.
 *
 * ACDAT_RANDOM_COUNT sets how many comparisons are made (default 500000),
 * ACDAT_RANDOM_SEED what they begin with.  Texts have every length from 0 to
 * 200 at every alignment from 0 to 63.  Every other dictionary has patterns
 * long enough for the filter, and every sixth is one chain of prefixes.  Every
 * fourth text is scanned for some tags only.  A failing case is made smaller
 * before it is printed.
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
#include "src/core/scan.h"
#include "t/unit/oracle.h"

#define MAX_PATTERNS 60
#define MAX_PATTERN_BYTES 120
#define MAX_TEXT 200
#define TEXTS_PER_DICTIONARY 8
#define MATCHES_ONLY (-1)		/* as a rewrite style */

/* One comparison. */
typedef struct probe
{
	acdat_policy policy;
	size_t		piece;
	int			style;
	bool		trusted;		/* the engine is told that the text is valid */
	const acdat_probe_kernel *kernel;	/* of the filter */
} probe;

/* A dictionary that owns its bytes. */
typedef struct random_dictionary
{
	acdat_dictionary d;
	acdat_pattern patterns[MAX_PATTERNS];
	unsigned char bytes[MAX_PATTERNS][MAX_PATTERN_BYTES];
	const char *const *alphabet;
} random_dictionary;

static uint64_t random_state;
static uint64_t comparisons;

static uint32_t
below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) ((random_state >> 16) % limit);
}

/* Symbols texts and patterns are made of; the empty string ends a list. */
static const char *const two_letters[] = {"a", "b", ""};
static const char *const three_letters[] = {"a", "b", "c", ""};
static const char *const words[] = {"a", "A", "b", "B", " ", "_", ""};
static const char *const odd_bytes[] = {"a", "\x80", "\xff", "\xc3", "\xa9", ""};
static const char *const noisy[] = {"a", "A", "b", "*", "-", ""};
static const char *const many[] = {
	"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n",
	"o", "p", "q", "r", "s", "t", "u", "v", "w", "x", "y", "z", ""
};
static const char *const characters[] = {
	"a", "E", "e", "\xC3\xA9", "\xC3\x89", "\xCC\x81", "\xE4\xB8\xAD",
	"\xE6\x96\x87", "\xE6\x96", ""
};
static const char *const unicode[] = {
	"a", "K", "\xE2\x84\xAA", "J", "j", "\xCC\x8C", "\xC7\xB0", "*",
	"\xEF\xBC\x8A", "\xEF\xBD\xB6", "\xEF\xBE\x9E", "\xE3\x82\xAC",
	"\xEF\xBC\xA1", "\xEF\xAC\x81", "f", "i", "\xE1\x84\x80", "\xE1\x85\xA1",
	"\xEA\xB0\x80", "\xE3\x85\xA0", "\xC4\xB0", "\xFF", "\xC3",
	"\xF0\x9F\x98\x80", " ", "\xE2\x80\xA6", "\xE6\x96\x87", ""
};

/* Marks that fold to letters, letters to marks, marks that compose. */
static const char *const greek[] = {
	"\xCE\xB1", "\xCE\xB9", "\xCE\x99", "\xCD\x85", "\xE1\xBE\xBE", "a",
	" ", "\xCC\x81", ""
};
static const char *const kana[] = {
	"\xEF\xBD\xB6", "\xEF\xBE\x8A", "\xEF\xBE\x9E", "\xEF\xBE\x9F",
	"\xE3\x82\x99", "\xE3\x81\x8B", "\xE3\x81\x8C", "\xE3\x82\xAC", "a",
	"\xEF\xBD\x81", " ", "*", ""
};
/* Units of several code points over characters that are there by themselves. */
static const char *const dots[] = {
	".", ".", "\xE2\x80\xA5", "\xE2\x80\xA6", "*", ""
};
/* Parts of one character. */
static const char *const parts[] = {
	"a", "\xE6", "\x96", "\x87", " ", "\xE6\x96\x87", "*", ""
};

static const char *const *const alphabets[] = {
	two_letters, two_letters, three_letters, words, odd_bytes, noisy, many,
	characters, unicode, greek, kana, dots, parts
};

#define ALPHABETS (sizeof(alphabets) / sizeof(alphabets[0]))

static size_t
add_symbol(const char *const *alphabet, unsigned char *dst)
{
	uint32_t	n = 0;
	const char *symbol;

	while (alphabet[n][0] != '\0')
		n++;
	symbol = alphabet[below(n)];
	memcpy(dst, symbol, strlen(symbol));
	return strlen(symbol);
}

static void
random_options(random_dictionary *r)
{
	acdat_options *o = &r->d.options;
	bool		multibyte;

	memset(r, 0, sizeof(*r));
	r->alphabet = alphabets[below(ALPHABETS)];
	multibyte = r->alphabet == characters || r->alphabet == unicode ||
		r->alphabet == greek || r->alphabet == kana || r->alphabet == dots ||
		r->alphabet == parts;
	if (multibyte || below(4) == 0)
		o->encoding = ACDAT_ENCODING_UTF8;
	if (o->encoding == ACDAT_ENCODING_UTF8 && (multibyte || below(4) == 0))
	{
		o->case_insensitive = (acdat_case) below(3);
		o->normalize = (acdat_normalize) below(3);
	}
	else
		o->case_insensitive = (acdat_case) below(2);
	if (below(4) == 0)
		o->boundary = ACDAT_BOUNDARY_WORD;
	if (below(r->alphabet == noisy ? 2 : 6) == 0)
	{
		static const char *const sets[] = {"*-", "A* ", "\xE6\x96\x87*"};

		o->ignore = sets[below(o->encoding == ACDAT_ENCODING_UTF8 ? 3 : 2)];
		o->ignore_len = strlen(o->ignore);
	}
}

/* One scan in four is for some tags only. */
static void
random_restriction(random_dictionary *r)
{
	static const char *const sets[][4] = {
		{"card", NULL}, {"name", "", NULL}, {"c", "cards", "none has it", NULL},
		{NULL}
	};
	uint32_t	which = below(16);

	r->d.only_tags = which < 4 ? sets[which] : NULL;
}

/* A pattern that the options leave something of, of so many symbols. */
static void
random_pattern(random_dictionary *r, size_t which, uint32_t least,
			   uint32_t most)
{
	static const char *const replacements[] = {"", "#", "<replaced>", "ab"};
	static const char *const tags[] = {"name", "card", "", "c", "cards"};
	acdat_pattern *p = &r->patterns[which];
	size_t		symbols;
	size_t		i;

	do
	{
		symbols = least + below(most - least + 1);
		p->len = 0;
		for (i = 0; i < symbols; i++)
			p->len += add_symbol(r->alphabet, r->bytes[which] + p->len);
		p->bytes = r->bytes[which];
	} while (acdat_oracle_folded_length(&r->d.options, p->bytes, p->len) == 0);

	/* ids are distinct, so that ties always have one right answer */
	p->id = (int64_t) which * 7 % 67 - 33;
	p->priority = (int32_t) below(3);
	p->allow = below(8) == 0;
	if (below(3) != 0)
	{
		p->replacement = replacements[below(4)];
		p->replacement_len = strlen(p->replacement);
	}
	if (below(3) != 0)
	{
		p->tag = tags[below(5)];
		p->tag_len = strlen(p->tag);
	}
}

/* Prefixes of the first pattern, exceptions of all kinds among them. */
static void
nested_patterns(random_dictionary *r)
{
	size_t		n = 2 + below(MAX_PATTERNS - 2);
	size_t		i;

	for (i = 0; i < n; i++)
	{
		random_pattern(r, i, 1, 24);
		if (i > 0)
		{
			memcpy(r->bytes[i], r->bytes[0], r->patterns[0].len);
			do
				r->patterns[i].len = 1 + below((uint32_t) r->patterns[0].len);
			while (acdat_oracle_folded_length(&r->d.options, r->bytes[i],
											  r->patterns[i].len) == 0);
		}
		r->patterns[i].priority = (int32_t) below(8);
		r->patterns[i].allow = below(3) == 0;
	}
	r->d.patterns = r->patterns;
	r->d.npatterns = n;
}

static void
random_patterns(random_dictionary *r)
{
	size_t		n = below(10) == 0 ? below(MAX_PATTERNS + 1) : 1 + below(8);
	bool		filtered = below(2) == 0;
	uint32_t	least = filtered ? 4 + below(6) : 1;
	size_t		i;

	if (filtered && below(3) == 0)
		n = 9 + below(MAX_PATTERNS - 8);
	for (i = 0; i < n; i++)
	{
		/* of many a few may be short */
		if (filtered && n > 8 && i == n / 2 && below(2) == 0)
			random_pattern(r, i, 2, 3);
		else if (below(8) == 0)
			random_pattern(r, i, least, 24);
		else
			random_pattern(r, i, least, least + 5);
		if (i > 0 && below(12) == 0)	/* now and then a plain duplicate */
			r->patterns[i] = r->patterns[below((uint32_t) i)];
	}
	r->d.patterns = r->patterns;
	r->d.npatterns = n;
}

/* A text of exactly len bytes from symbols and pieces of patterns. */
static void
random_text(const random_dictionary *r, unsigned char *text, size_t len)
{
	unsigned char buffer[MAX_TEXT + MAX_PATTERN_BYTES];
	size_t		n = 0;
	bool		planted = below(2) == 0;

	while (n < len)
	{
		const acdat_pattern *p;

		if (!planted || r->d.npatterns == 0 || below(3) == 0)
		{
			n += add_symbol(r->alphabet, buffer + n);
			continue;
		}
		p = &r->patterns[below((uint32_t) r->d.npatterns)];
		memcpy(buffer + n, p->bytes, p->len);
		n += below(3) == 0 ? below((uint32_t) p->len + 1) : (uint32_t) p->len;
	}
	memcpy(text, buffer, len);
}

static bool
same_rewrite(const acdat_dictionary *d, acdat_engine *engine,
			 const probe *p, const acdat_answer *right,
			 const unsigned char *text, size_t len)
{
	acdat_rewrite rewrite;
	unsigned char *expected;
	unsigned char *got;
	size_t		expected_len;
	size_t		got_len;
	uint64_t	matches;
	acdat_status status;
	bool		same;

	memset(&rewrite, 0, sizeof(rewrite));
	rewrite.style = (acdat_rewrite_style) p->style;
	rewrite.policy = p->policy;
	rewrite.mask = "\xE2\x96\x88";
	rewrite.mask_len = 3;
	expected = acdat_oracle_rewrite(d, &rewrite, right, text, len,
									&expected_len);
	status = acdat_engine_rewrite(engine, &rewrite, text, len, p->piece, &got,
								  &got_len, &matches);
	same = status == ACDAT_OK && got_len == expected_len &&
		memcmp(got, expected, got_len) == 0 && matches == right->count;
	free(expected);
	free(got);
	return same;
}

/* Do engine and oracle agree?  all is what the oracle found. */
static bool
agrees(const acdat_dictionary *d, acdat_engine *engine, const probe *p,
	   const acdat_answer *all, const unsigned char *text, size_t len,
	   bool print)
{
	acdat_answer right = {NULL, 0, 0};
	acdat_answer got = {NULL, 0, 0};
	acdat_status status;
	uint64_t	count = 0;
	uint64_t	bits;
	bool		found = false;
	bool		same;

	comparisons++;
	acdat_engine_restrict(engine, d, &bits);
	acdat_scan_use_kernel(engine->scan, p->kernel);
	acdat_scan_trust_text(engine->scan, p->trusted);
	acdat_oracle_choose(d, p->policy, all, &right);
	status = acdat_engine_matches(engine, p->policy, text, len, p->piece,
								  &got);
	same = status == ACDAT_OK && acdat_answer_equal(&got, &right);
	if (same && p->style != MATCHES_ONLY)
		same = same_rewrite(d, engine, p, &right, text, len);
	else if (same && p->piece == 0)
		same = acdat_count(engine->scan, p->policy, text, len,
						   &count) == ACDAT_OK && count == right.count &&
			acdat_contains(engine->scan, text, len, &found) == ACDAT_OK &&
			found == (all->count > 0);
	if (print)
	{
		acdat_dictionary_print(d, text, len);
		fprintf(stderr, "# policy %d, pieces of %u, style %d%s: %s, count %u, "
				"found %d\n", (int) p->policy, (unsigned) p->piece, p->style,
				p->trusted ? ", trusted" : "", acdat_status_text(status),
				(unsigned) count, (int) found);
		acdat_answer_print("right", &right);
		acdat_answer_print("got", &got);
	}
	acdat_answer_free(&right);
	acdat_answer_free(&got);
	return same;
}

/* May the engine be told that the text is valid? */
static bool
may_trust(const acdat_dictionary *d, const unsigned char *text, size_t len)
{
	return d->options.encoding == ACDAT_ENCODING_BYTES ||
		acdat_valid_utf8(text, len);
}

/* Build anew and compare; a dictionary that is refused does not count. */
static bool
fails_afresh(const acdat_dictionary *d, const probe *p,
			 const unsigned char *text, size_t len, bool print)
{
	acdat_engine engine;
	acdat_answer all = {NULL, 0, 0};
	bool		failed = false;

	memset(&engine, 0, sizeof(engine));
	if ((!p->trusted || may_trust(d, text, len)) &&
		acdat_engine_build(&engine, d) == ACDAT_OK)
	{
		acdat_oracle_all(d, text, len, &all);
		failed = !agrees(d, &engine, p, &all, text, len, print);
	}
	acdat_engine_free(&engine);
	acdat_answer_free(&all);
	return failed;
}

/* Leave out patterns and bytes as long as the case still fails. */
static void
shrink(random_dictionary *r, probe *p, unsigned char *text, size_t *len)
{
	bool		smaller = true;
	size_t		i;

	while (smaller)
	{
		smaller = false;
		for (i = 0; i < r->d.npatterns; i++)
		{
			acdat_pattern saved = r->patterns[i];
			size_t		tail = --r->d.npatterns - i;

			memmove(&r->patterns[i], &r->patterns[i + 1],
					tail * sizeof(saved));
			if (fails_afresh(&r->d, p, text, *len, false))
			{
				smaller = true;
				continue;
			}
			memmove(&r->patterns[i + 1], &r->patterns[i],
					tail * sizeof(saved));
			r->patterns[i] = saved;
			r->d.npatterns++;
		}
		for (i = 0; i < *len; i++)
		{
			unsigned char saved = text[i];

			memmove(text + i, text + i + 1, --*len - i);
			if (fails_afresh(&r->d, p, text, *len, false))
			{
				smaller = true;
				continue;
			}
			memmove(text + i + 1, text + i, (*len)++ - i);
			text[i] = saved;
		}
	}
}

static void
fail_small(random_dictionary *r, probe *p, const unsigned char *text,
		   size_t len, uint64_t seed)
{
	unsigned char copy[MAX_TEXT + 1];

	memcpy(copy, text, len);
	if (fails_afresh(&r->d, p, copy, len, false))
		shrink(r, p, copy, &len);
	else
		fprintf(stderr, "# depends on the alignment or on earlier scans\n");
	fails_afresh(&r->d, p, copy, len, true);
	fail_msg("engine and oracle differ; dictionary's seed %" PRIu64, seed);
}

/* All policies on one text; one of them in pieces and rewritten, too. */
static void
compare_text(random_dictionary *r, acdat_engine *engine,
			 const unsigned char *text, size_t len, uint64_t seed)
{
	acdat_answer all = {NULL, 0, 0};
	probe		probes[10];
	size_t		n = 0;
	size_t		i;
	int			policy;

	acdat_oracle_all(&r->d, text, len, &all);
	for (policy = 0; policy <= ACDAT_MERGED; policy++)
	{
		probes[n].policy = (acdat_policy) policy;
		probes[n].piece = 0;
		probes[n++].style = MATCHES_ONLY;
		probes[n].policy = (acdat_policy) policy;
		probes[n].piece = 1 + below((uint32_t) len / (1 + below(8)) + 1);
		probes[n++].style = MATCHES_ONLY;
	}
	for (i = 0; i < 2; i++)
	{
		probes[n].policy = (acdat_policy) (1 + below(ACDAT_MERGED));
		probes[n].piece = i == 0 ? 0 : 1 + below(40);
		probes[n++].style = (int) below(3);
	}
	for (i = 0; i < n; i++)
	{
		probes[i].trusted = below(2) == 0 && may_trust(&r->d, text, len);
		do
			probes[i].kernel = acdat_probe_kernel_number(below(3));
		while (probes[i].kernel == NULL);
		if (!agrees(&r->d, engine, &probes[i], &all, text, len, false))
			fail_small(r, &probes[i], text, len, seed);
	}
	acdat_answer_free(&all);
}

static uint64_t
number_from(const char *variable, uint64_t otherwise)
{
	const char *value = getenv(variable);

	return value == NULL ? otherwise : strtoull(value, NULL, 10);
}

static void
engine_equals_oracle(void **state)
{
	static unsigned char arena[64 + 64 + MAX_TEXT + 64];
	static random_dictionary r;
	uint64_t	wanted = number_from("ACDAT_RANDOM_COUNT", 500000);
	uint64_t	seed = number_from("ACDAT_RANDOM_SEED", 1);
	unsigned char *aligned = arena + (64 - (uintptr_t) arena % 64);
	size_t		texts = 0;
	size_t		i;

	(void) state;
	for (comparisons = 0; comparisons < wanted; seed++)
	{
		acdat_engine engine;
		acdat_status status;

		random_state = seed * UINT64_C(0x9E3779B97F4A7C15) | 1;
		random_options(&r);
		if (below(6) == 0)
			nested_patterns(&r);
		else
			random_patterns(&r);
		status = acdat_engine_build(&engine, &r.d);
		if (status != ACDAT_OK)
		{
			acdat_dictionary_print(&r.d, "", 0);
			fail_msg("build: %s; dictionary's seed %" PRIu64,
					 acdat_status_text(status), seed);
		}
		for (i = 0; i < TEXTS_PER_DICTIONARY; i++, texts++)
		{
			size_t		len = texts % (MAX_TEXT + 1);
			unsigned char *text = aligned + texts / (MAX_TEXT + 1) % 64;

			/* what lies around the text must not matter */
			memset(arena, 'a', sizeof(arena));
			random_restriction(&r);
			random_text(&r, text, len);
			compare_text(&r, &engine, text, len, seed);
		}
		acdat_engine_free(&engine);
	}
	print_message("# %" PRIu64 " comparisons, %u texts\n", comparisons,
				  (unsigned) texts);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engine_equals_oracle),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
