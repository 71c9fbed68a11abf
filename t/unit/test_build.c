/*
 * Building: sizes of images, memory and work are bounded whatever the
 * patterns, and what is built does not depend on how it was given.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/acdat.h"

static const acdat_options plain;

static uint64_t random_state;

static uint32_t
below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) ((random_state >> 16) % limit);
}

/* Hooks that meter memory and count ticks. */
typedef struct meter
{
	size_t		live;
	size_t		peak;
	uint64_t	ticks;
} meter;

/* In front of every block: its size. */
#define BLOCK_HEADER 16

static void *
meter_realloc(void *arg, void *ptr, size_t old_size, size_t size)
{
	meter	   *m = arg;
	unsigned char *block = ptr == NULL ? NULL : (unsigned char *) ptr - BLOCK_HEADER;

	if (block != NULL)
	{
		size_t		known;

		memcpy(&known, block, sizeof(known));
		assert_int_equal(known, old_size);
	}
	block = realloc(block, size + BLOCK_HEADER);
	assert_non_null(block);
	memcpy(block, &size, sizeof(size));
	m->live += size - (ptr == NULL ? 0 : old_size);
	if (m->live > m->peak)
		m->peak = m->live;
	return block + BLOCK_HEADER;
}

static void *
meter_alloc(void *arg, size_t size)
{
	return meter_realloc(arg, NULL, 0, size);
}

static void
meter_free(void *arg, void *ptr)
{
	unsigned char *block = (unsigned char *) ptr - BLOCK_HEADER;
	size_t		size;

	memcpy(&size, block, sizeof(size));
	((meter *) arg)->live -= size;
	free(block);
}

static bool
meter_tick(void *arg)
{
	((meter *) arg)->ticks++;
	return false;
}

/* A pattern from a list of n that a test makes up. */
typedef void (*maker) (uint32_t i, acdat_pattern *pattern);

typedef struct result
{
	void	   *image;
	size_t		size;
	uint64_t	pattern_bytes;
	acdat_build_stats stats;
	meter		meter;
} result;

static void
build(result *r, const acdat_options *options, uint32_t n, maker make)
{
	acdat_hooks hooks = {
		meter_alloc, meter_realloc, meter_free, meter_tick, &r->meter
	};
	acdat_builder *builder;
	acdat_status status;
	uint32_t	i;

	memset(r, 0, sizeof(*r));
	random_state = 88172645463325252u;
	builder = acdat_builder_create(options, NULL, &hooks, &status);
	assert_non_null(builder);
	for (i = 0; i < n; i++)
	{
		acdat_pattern p;

		memset(&p, 0, sizeof(p));
		p.id = i;
		make(i, &p);
		r->pattern_bytes += p.len;
		assert_int_equal(acdat_builder_add(builder, &p), ACDAT_OK);
	}
	assert_int_equal(acdat_builder_compile(builder, &r->size), ACDAT_OK);
	r->image = malloc(r->size);
	assert_non_null(r->image);
	assert_int_equal(acdat_builder_write(builder, r->image), ACDAT_OK);
	acdat_builder_stats(builder, &r->stats);
	acdat_builder_destroy(builder);
	assert_int_equal(r->meter.live, 0);
}

/* Different random words of lower-case letters, 6 to 16 bytes. */
static void
random_word(uint32_t i, acdat_pattern *p)
{
	static char word[16];
	uint32_t	different = (uint32_t) ((uint64_t) i * 314159 % (26 * 26 * 26 * 26));
	uint32_t	k;

	p->len = 6 + below(11);
	for (k = 0; k < p->len - 4; k++)
		word[k] = (char) ('a' + below(26));
	for (; k < p->len; k++)
	{
		word[k] = (char) ('a' + different % 26);
		different /= 26;
	}
	p->bytes = word;
}

/* Terms of 2 to 8 Han characters out of 2000. */
static void
han_term(uint32_t i, acdat_pattern *p)
{
	static char term[24];
	uint32_t	chars = 2 + below(7);
	uint32_t	k;

	(void) i;
	for (k = 0; k < chars; k++)
	{
		uint32_t	c = 0x4E00 + below(2000);

		term[3 * k] = (char) (0xE0 | c >> 12);
		term[3 * k + 1] = (char) (0x80 | (c >> 6 & 0x3F));
		term[3 * k + 2] = (char) (0x80 | (c & 0x3F));
	}
	p->bytes = term;
	p->len = 3 * chars;
}

static void
images_are_small(void **state)
{
	acdat_options utf8 = {.encoding = ACDAT_ENCODING_UTF8};
	result		r;

	(void) state;
	build(&r, &plain, 100000, random_word);
	print_message("# 100,000 words: %zu bytes\n", r.size);
	assert_true(r.size <= 12000000);
	free(r.image);
	build(&r, &utf8, 1114, han_term);
	print_message("# 1,114 terms: %zu bytes\n", r.size);
	assert_true(r.size <= 300000);
	free(r.image);
}

/* Beside the image, building takes less than 12 times the pattern bytes. */
static void
memory_is_bounded(void **state)
{
	result		r;

	(void) state;
	build(&r, &plain, 100000, random_word);
	print_message("# %.1f times the pattern bytes beside the image\n",
				  ((double) r.meter.peak - (double) r.size) /
				  (double) r.pattern_bytes);
	assert_true(r.meter.peak < r.size + 12 * r.pattern_bytes);
	free(r.image);
}

static char long_pattern[1 << 20];

static void
one_long(uint32_t i, acdat_pattern *p)
{
	(void) i;
	p->bytes = long_pattern;
	p->len = sizeof(long_pattern);
}

/* A folded pattern takes no more for being folded than its folded bytes. */
static void
long_patterns_fold_in_pieces(void **state)
{
	acdat_options folding = {
		.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_NFKC,
		.case_insensitive = ACDAT_CASE_UNICODE
	};
	result		r;

	(void) state;
	memset(long_pattern, 'X', sizeof(long_pattern));
	build(&r, &folding, 1, one_long);
	assert_true(r.meter.peak < r.size + 12 * r.pattern_bytes);
	free(r.image);
}

/* One string, all with the same id, each with another replacement. */
static void
same_string(uint32_t i, acdat_pattern *p)
{
	static char replacement[16];

	p->bytes = "a string that is in the list very often";
	p->len = strlen(p->bytes);
	p->id = 1;
	snprintf(replacement, sizeof(replacement), "%010u", (unsigned) (i * 7919));
	p->replacement = replacement;
	p->replacement_len = 10;
}

/* All suffixes, which are prefixes too, of a^n. */
static void
all_suffixes(uint32_t i, acdat_pattern *p)
{
	p->bytes = long_pattern;
	p->len = i + 1;
}

/* a^n behind another byte each: failure links of n steps wherever one ends. */
static void
fans(uint32_t i, acdat_pattern *p)
{
	static char word[2002];

	memset(word, 'a', sizeof(word));
	word[1 + i % 2000] = (char) ('b' + i / 2000);
	word[0] = (char) ('b' + i % 20);
	p->bytes = word;
	p->len = 2 + i % 2000;
}

/* A comb: each shares all but the last byte with the next longer one. */
static void
comb(uint32_t i, acdat_pattern *p)
{
	static char word[2048];

	memset(word, 'z', sizeof(word));
	word[0] = 'b';
	p->bytes = word;
	p->len = 2 + i % 2000;
}

/*
 * Work, as far as the builder counts it itself, stays within a multiple of
 * the bytes that is the same for all lists.
 */
static void
work_is_linear(void **state)
{
	static const struct
	{
		const char *name;
		maker		make;
		uint32_t	n;
	}			lists[] = {
		{"random words", random_word, 10000},
		{"ten times as many", random_word, 100000},
		{"one string", same_string, 50000},
		{"all suffixes", all_suffixes, 2000},
		{"fans", fans, 20000},
		{"a comb", comb, 2000},
		{"one of 1 MiB", one_long, 1},
	};
	size_t		i;

	(void) state;
	memset(long_pattern, 'a', sizeof(long_pattern));
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
	{
		result		r;
		uint64_t	bytes;

		build(&r, &plain, lists[i].n, lists[i].make);
		bytes = r.pattern_bytes + r.size + 10 * (uint64_t) lists[i].n;
		print_message("# %s: %u ticks, %.1f per %u bytes\n", lists[i].name,
					  (unsigned) r.meter.ticks,
					  (double) r.meter.ticks * ACDAT_TICK_BYTES / (double) bytes,
					  (unsigned) ACDAT_TICK_BYTES);
		assert_true(r.meter.ticks <= 1 + 32 * bytes / ACDAT_TICK_BYTES);
		free(r.image);
	}
}

static void
ordered(uint32_t i, acdat_pattern *p)
{
	static char word[16];

	/* of different lengths, many a suffix of others, with zero bytes */
	memset(word, 0, sizeof(word));
	p->len = (size_t) snprintf(word, sizeof(word), "%o%c%o", i / 64, 0, i % 64);
	p->bytes = word;
	p->id = (int64_t) i - 500;
	p->priority = (int32_t) (i % 7);
	p->allow = i % 50 == 0;
	p->tag = i % 3 == 0 ? NULL : "tag";
	p->tag_len = i % 3 == 0 ? 0 : i % 4;
}

static void
reversed(uint32_t i, acdat_pattern *p)
{
	ordered(2999 - i, p);
}

/* The same patterns give the same image, in whatever order. */
static void
order_does_not_matter(void **state)
{
	result		forward;
	result		backward;
	acdat_machine a;
	acdat_machine b;
	acdat_machine_info info_a;
	acdat_machine_info info_b;

	(void) state;
	build(&forward, &plain, 3000, ordered);
	build(&backward, &plain, 3000, reversed);
	assert_int_equal(forward.size, backward.size);
	assert_int_equal(acdat_open_trusted(&a, forward.image, forward.size),
					 ACDAT_OK);
	assert_int_equal(acdat_open_trusted(&b, backward.image, backward.size),
					 ACDAT_OK);
	acdat_machine_describe(&a, &info_a);
	acdat_machine_describe(&b, &info_b);
	assert_int_equal(info_a.states, info_b.states);
	assert_int_equal(info_a.allow_patterns, 60);
	assert_int_equal(info_a.patterns, 3000);
	free(forward.image);
	free(backward.image);
}

/* Every attribute tells patterns with the same bytes apart. */
static void
variants(uint32_t i, acdat_pattern *p)
{
	p->bytes = "same";
	p->len = 4;
	p->id = (i & 1) != 0 ? INT64_MIN : 7;
	p->priority = (i & 2) != 0 ? INT32_MIN : INT32_MAX;
	p->allow = (i & 4) != 0;
	p->replacement = (i & 8) != 0 ? "a replacement of some length" : NULL;
	p->replacement_len = (i & 8) != 0 ? ((i & 16) != 0 ? 28 : 0) : 0;
	p->tag = (i & 32) != 0 ? "a tag with more than a word" : NULL;
	p->tag_len = (i & 32) != 0 ? ((i & 64) != 0 ? 27 : 26) : 0;
}

static void
only_equal_ones_merge(void **state)
{
	result		r;

	(void) state;
	/* 2 ids, 2 priorities, allow or not, 3 replacements, 3 tags */
	build(&r, &plain, 128 * 3, variants);
	assert_int_equal(r.stats.added, 384);
	assert_int_equal(r.stats.merged, 384 - 72);
	assert_int_equal(r.stats.duplicates, 71);
	free(r.image);
}

/* After compile, whatever its outcome, nothing can be added or repeated. */
static void
builders_are_used_once(void **state)
{
	acdat_limits limits = {.max_image_bytes = 100};
	acdat_pattern p;
	acdat_builder *builder;
	acdat_status status;
	size_t		size;
	int			i;

	(void) state;
	memset(&p, 0, sizeof(p));
	p.bytes = "word";
	p.len = 4;
	for (i = 0; i < 2; i++)
	{
		builder = acdat_builder_create(&plain, i == 0 ? NULL : &limits, NULL,
									   &status);
		assert_non_null(builder);
		assert_int_equal(acdat_builder_add(builder, &p), ACDAT_OK);
		assert_int_equal(acdat_builder_write(builder, &p), ACDAT_BAD_ARGUMENT);
		assert_int_equal(acdat_builder_compile(builder, &size),
						 i == 0 ? ACDAT_OK : ACDAT_TOO_LARGE);
		assert_int_equal(acdat_builder_add(builder, &p), ACDAT_BAD_ARGUMENT);
		assert_int_equal(acdat_builder_compile(builder, &size),
						 ACDAT_BAD_ARGUMENT);
		acdat_builder_destroy(builder);
	}
}

static bool
count_tick(void *arg)
{
	++*(int *) arg;
	return false;
}

/* Hooks may bring a tick and no memory of their own. */
static void
ticks_alone_will_do(void **state)
{
	static char word[200000];
	int			ticks = 0;
	acdat_hooks hooks = {.tick = count_tick, .arg = &ticks};
	acdat_options options = {.encoding = ACDAT_ENCODING_BYTES};
	acdat_pattern p = {.bytes = word, .len = sizeof(word)};
	acdat_machine machine;
	acdat_status status;
	acdat_builder *builder = acdat_builder_create(&options, NULL, &hooks,
												  &status);
	void	   *image;
	size_t		size;

	(void) state;
	memset(word, 'a', sizeof(word));
	assert_non_null(builder);
	assert_int_equal(acdat_builder_add(builder, &p), ACDAT_OK);
	assert_int_equal(acdat_builder_compile(builder, &size), ACDAT_OK);
	image = malloc(size);
	assert_non_null(image);
	assert_int_equal(acdat_builder_write(builder, image), ACDAT_OK);
	assert_true(ticks > 0);
	ticks = 0;
	assert_int_equal(acdat_open_checked(&machine, image, size, &hooks, NULL),
					 ACDAT_OK);
	assert_true(ticks > 0);
	acdat_builder_destroy(builder);
	free(image);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(images_are_small),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(long_patterns_fold_in_pieces),
		cmocka_unit_test(work_is_linear),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(only_equal_ones_merge),
		cmocka_unit_test(builders_are_used_once),
		cmocka_unit_test(ticks_alone_will_do),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
