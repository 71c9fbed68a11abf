/*
 * Any small dictionary on any text: the engine against the oracle, under
 * every policy, whole and in pieces, found and rewritten.
 *
 * Input: options, size of pieces, number of patterns, per pattern an
 * attribute byte, a length and the bytes, then the text.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"
#include "t/unit/oracle.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_PATTERNS 24
#define MAX_TEXT 1024

/* What is left of the input. */
typedef struct input
{
	const uint8_t *bytes;
	size_t		len;
} input;

static unsigned
take(input *in)
{
	if (in->len == 0)
		return 0;
	in->len--;
	return *in->bytes++;
}

static void
take_options(input *in, acdat_options *o)
{
	static const char *const sets[] = {"", "", "*", "a- "};
	unsigned	bits = take(in);

	memset(o, 0, sizeof(*o));
	o->encoding = (acdat_encoding) (bits & 1);
	o->case_insensitive = (acdat_case) ((bits >> 1 & 3) % 3);
	if (o->encoding == ACDAT_ENCODING_UTF8)
		o->normalize = (acdat_normalize) ((bits >> 3 & 3) % 3);
	else if (o->case_insensitive == ACDAT_CASE_UNICODE)
		o->case_insensitive = ACDAT_CASE_ASCII;
	o->boundary = (acdat_boundary) (bits >> 5 & 1);
	o->ignore = sets[bits >> 6];
	o->ignore_len = strlen(o->ignore);
}

static size_t
take_patterns(input *in, const acdat_options *o, acdat_pattern *patterns)
{
	static const char *const replacements[] = {NULL, "", "#", "ab"};
	size_t		count = take(in) % MAX_PATTERNS;
	size_t		n = 0;
	size_t		i;

	for (i = 0; i < count; i++)
	{
		unsigned	attributes = take(in);
		acdat_pattern *p = &patterns[n];

		memset(p, 0, sizeof(*p));
		p->len = take(in) % 40;
		if (p->len > in->len)
			p->len = in->len;
		p->bytes = in->bytes;
		in->bytes += p->len;
		in->len -= p->len;
		/* distinct, so that ties always have one right answer */
		p->id = (int64_t) i * 5 % MAX_PATTERNS;
		p->priority = (int32_t) (attributes >> 1 & 3);
		p->allow = (attributes & 0x38) == 0x38;
		p->replacement = replacements[attributes >> 6];
		p->replacement_len = p->replacement ? strlen(p->replacement) : 0;
		if (p->len > 0 && acdat_oracle_folded_length(o, p->bytes, p->len) > 0)
			n++;
	}
	return n;
}

static void
differ(const acdat_dictionary *d, const input *text, const char *what,
	   acdat_policy policy, size_t piece)
{
	acdat_dictionary_print(d, text->bytes, text->len);
	fprintf(stderr, "%s differ, policy %d, pieces of %u\n", what,
			(int) policy, (unsigned) piece);
	abort();
}

static void
compare_rewrite(const acdat_dictionary *d, acdat_engine *engine,
				const input *text, size_t piece, acdat_policy policy,
				const acdat_answer *right)
{
	acdat_rewrite rewrite;
	unsigned char *expected;
	unsigned char *got;
	size_t		expected_len;
	size_t		got_len;
	uint64_t	matches;

	memset(&rewrite, 0, sizeof(rewrite));
	rewrite.style = (acdat_rewrite_style) (piece % 3);
	rewrite.policy = policy;
	rewrite.mask = "*";
	rewrite.mask_len = 1;
	expected = acdat_oracle_rewrite(d, &rewrite, right, text->bytes,
									text->len, &expected_len);
	if (acdat_engine_rewrite(engine, &rewrite, text->bytes, text->len, piece,
							 &got, &got_len, &matches) != ACDAT_OK ||
		matches != right->count || got_len != expected_len ||
		memcmp(got, expected, got_len) != 0)
		differ(d, text, "rewrites", policy, piece);
	free(expected);
	free(got);
}

static void
compare(const acdat_dictionary *d, acdat_engine *engine, const input *text,
		size_t piece)
{
	acdat_answer all = {NULL, 0, 0};
	acdat_answer right = {NULL, 0, 0};
	acdat_answer got = {NULL, 0, 0};
	int			policy;

	acdat_oracle_all(d, text->bytes, text->len, &all);
	for (policy = 0; policy <= ACDAT_MERGED; policy++)
	{
		acdat_oracle_choose(d, (acdat_policy) policy, &all, &right);
		if (acdat_engine_matches(engine, (acdat_policy) policy, text->bytes,
								 text->len, piece, &got) != ACDAT_OK ||
			!acdat_answer_equal(&got, &right))
			differ(d, text, "matches", (acdat_policy) policy, piece);
		if (policy != ACDAT_ALL_OVERLAPPING)
			compare_rewrite(d, engine, text, piece, (acdat_policy) policy,
							&right);
	}
	acdat_answer_free(&all);
	acdat_answer_free(&right);
	acdat_answer_free(&got);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	acdat_pattern patterns[MAX_PATTERNS];
	static const char *const tags[] = {"b", NULL, "a"};
	static const char *const only[] = {"a", NULL};
	acdat_dictionary d = {0};
	acdat_engine engine;
	input		in = {data, size};
	uint64_t	bits;
	size_t		piece;
	size_t		i;

	if (size > MAX_TEXT)
		return 0;
	take_options(&in, &d.options);
	piece = take(&in) % 64 + 1;
	d.patterns = patterns;
	d.npatterns = take_patterns(&in, &d.options, patterns);
	for (i = 0; i < d.npatterns; i++)
	{
		patterns[i].tag = tags[i % 3];
		patterns[i].tag_len = patterns[i].tag == NULL ? 0 : 1;
	}
	if (acdat_engine_build(&engine, &d) != ACDAT_OK)
		differ(&d, &in, "builders", ACDAT_ALL_OVERLAPPING, 0);
	compare(&d, &engine, &in, 0);
	compare(&d, &engine, &in, piece);
	if (d.options.encoding == ACDAT_ENCODING_BYTES ||
		acdat_valid_utf8(in.bytes, in.len))
	{
		acdat_scan_trust_text(engine.scan, true);
		compare(&d, &engine, &in, 0);
		compare(&d, &engine, &in, piece);
	}
	d.only_tags = only;
	acdat_engine_restrict(&engine, &d, &bits);
	compare(&d, &engine, &in, piece);
	acdat_engine_free(&engine);
	return 0;
}
