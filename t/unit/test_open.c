/*
 * Opening images: what the trusted open refuses, that the checked open sees
 * every kind of damage even when the checksums are right, and that what it
 * lets pass can be scanned.
 *
 * ACDAT_MUTATION_COUNT sets how many random damages are tried (default
 * 20000), ACDAT_RANDOM_SEED what they begin with.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/image.h"
#include "t/unit/oracle.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

static uint64_t random_state;

static uint32_t
below(uint32_t limit)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) ((random_state >> 16) % limit);
}

static const acdat_options all_options[] = {
	{.encoding = ACDAT_ENCODING_BYTES},
	{.encoding = ACDAT_ENCODING_UTF8, .boundary = ACDAT_BOUNDARY_WORD},
	{.encoding = ACDAT_ENCODING_UTF8, .case_insensitive = ACDAT_CASE_UNICODE,
		.normalize = ACDAT_NORMALIZE_NFKC, .boundary = ACDAT_BOUNDARY_WORD,
	.ignore = "*- ", .ignore_len = 3},
	{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_NFKC},
	{.encoding = ACDAT_ENCODING_BYTES, .ignore = "-", .ignore_len = 1},
};

static const char *const words[] = {
	"she", "he", "hers", "his", "her", "a", "aa", "aaa", "aaaa", "abba abba",
	"abba", "ba", "\xC3\xA9t\xC3\xA9", "t\xC3\xA9", "new york", "york", "ork",
	"he", "hehe", "ehe", "e", "h e r s", "aaaaa", "aaaaaa", "aaaaaaa", "new\xC3"
};

/* An image with chains, duplicates and, if wanted, everything else. */
static void
build(acdat_engine *engine, const acdat_options *options, bool rich)
{
	acdat_pattern patterns[COUNT_OF(words)];
	acdat_dictionary d = {0};
	size_t		i;

	for (i = 0; i < COUNT_OF(words); i++)
	{
		patterns[i] = acdat_simple_pattern(words[i], (int64_t) i + 1);
		if (!rich)
			continue;
		patterns[i].replacement = "replacement";
		patterns[i].replacement_len = (i + 1) % 12;
		patterns[i].tag = "tag";
		patterns[i].tag_len = 3;
		patterns[i].priority = (int32_t) (i % 3);
		patterns[i].allow = i % 5 == 4;
		if (i == 7)
			patterns[i].id = INT64_MAX;
	}
	d.options = *options;
	d.patterns = patterns;
	d.npatterns = rich ? COUNT_OF(words) : 16;
	assert_int_equal(acdat_engine_build(engine, &d), ACDAT_OK);
}

static void
fix_checksums(unsigned char *image, size_t size)
{
	acdat_image_header *h = (acdat_image_header *) (void *) image;

	acdat_image_checksum(image, size, h->checksum);
	h->header_checksum = acdat_header_checksum(h);
}

static bool
count_sink(void *arg, const void *bytes, size_t len)
{
	size_t	   *sum = arg;
	size_t		i;

	for (i = 0; i < len; i++)
		*sum += ((const unsigned char *) bytes)[i];
	return true;
}

/* Make every use of a machine that there is. */
static size_t
use_machine(const acdat_machine *machine)
{
	static const char text[] = "ushers hehehe aaaaaa-aa new york abba abba "
		"\xC3\xA9t\xC3\xA9 h*e r-s NEW YORK e\xCC\x81t \xC3 ahishe";
	acdat_scan *scan;
	acdat_rewrite rewrite;
	acdat_match m;
	acdat_machine_info info;
	const void *bytes;
	uint64_t	count;
	size_t		sum = 0;
	size_t		len;
	size_t		i;
	bool		found;
	int			policy;

	acdat_machine_describe(machine, &info);
	(void) count_sink(&sum, info.options.ignore, info.options.ignore_len);
	scan = malloc(acdat_scan_size(machine));
	assert_non_null(scan);
	acdat_scan_init(scan, machine, NULL);
	(void) acdat_contains(scan, text, sizeof(text) - 1, &found);
	for (policy = 0; policy <= ACDAT_MERGED; policy++)
	{
		acdat_scan_trust_text(scan, policy % 2 == 0);
		(void) acdat_count(scan, (acdat_policy) policy, text,
						   sizeof(text) - 1, &count);
		acdat_scan_start(scan, (acdat_policy) policy, text, sizeof(text) - 1,
						 true);
		while (acdat_scan_next(scan, &m) == ACDAT_OK)
		{
			assert_true(m.start < m.end && m.end < sizeof(text));
			sum += (size_t) acdat_pattern_id(machine, m.pattern);
			sum += (size_t) acdat_pattern_priority(machine, m.pattern);
			bytes = acdat_pattern_tag(machine, m.pattern, &len);
			(void) count_sink(&sum, bytes, len);
		}
		if (policy == ACDAT_ALL_OVERLAPPING)
			continue;
		memset(&rewrite, 0, sizeof(rewrite));
		rewrite.policy = (acdat_policy) policy;
		rewrite.sink = count_sink;
		rewrite.sink_arg = &sum;
		(void) acdat_rewrite_text(scan, &rewrite, text, sizeof(text) - 1,
								  &count);
	}
	for (i = 0; i < info.patterns - info.allow_patterns; i++)
	{
		sum += (size_t) acdat_pattern_id(machine, (uint32_t) i);
		bytes = acdat_pattern_replacement(machine, (uint32_t) i, &len);
		(void) count_sink(&sum, bytes, len);
	}
	free(scan);
	return sum;
}

/* A 32-bit value like those that are there, or at the edge of something. */
static uint32_t
odd_value(const unsigned char *image, size_t size)
{
	static const uint32_t edges[] = {
		0, 1, 2, 255, 256, 511, 512, 0x7fffffff, 0x80000000, UINT32_MAX - 1,
		UINT32_MAX
	};
	uint32_t	value;

	if (below(3) == 0)
		return edges[below(COUNT_OF(edges))];
	memcpy(&value, image + 4 * below((uint32_t) size / 4), sizeof(value));
	return value + below(3) - 1;
}

/* Damage an image in one to three places, more often where it matters. */
static void
damage(unsigned char *image, size_t size)
{
	uint32_t	times = 1 + below(3);

	while (times-- > 0)
	{
		uint32_t	value = odd_value(image, size);
		size_t		at = below((uint32_t) size / 4) * 4;

		if (below(4) == 0)
			at = below(sizeof(acdat_image_header) / 4) * 4;
		if (below(2) == 0)
			image[at + below(4)] = (unsigned char) value;
		else
			memcpy(image + at, &value, sizeof(value));
	}
}

/* Whatever the bytes, the checked open refuses them or they are harmless. */
static void
damaged_images(void **state)
{
	const char *given = getenv("ACDAT_MUTATION_COUNT");
	const char *seed = getenv("ACDAT_RANDOM_SEED");
	long		count = given == NULL ? 20000 : atol(given);
	long		passed = 0;
	long		i;
	size_t		sum = 0;
	acdat_engine engines[2 * COUNT_OF(all_options)];
	size_t		e;

	(void) state;
	random_state = seed == NULL ? 88172645463325252u : strtoull(seed, NULL, 0);
	for (e = 0; e < COUNT_OF(engines); e++)
		build(&engines[e], &all_options[e / 2], e % 2 == 1);
	for (i = 0; i < count; i++)
	{
		const acdat_engine *engine = &engines[below(COUNT_OF(engines))];
		unsigned char *image = malloc(engine->size);
		acdat_machine machine;
		const char *reason;
		acdat_status status;

		assert_non_null(image);
		memcpy(image, engine->image, engine->size);
		damage(image, engine->size);
		fix_checksums(image, engine->size);
		status = acdat_open_checked(&machine, image, engine->size, NULL,
									&reason);
		if (status == ACDAT_OK)
		{
			sum += use_machine(&machine);
			passed++;
		}
		else
		{
			assert_true(status == ACDAT_CORRUPT ||
						status == ACDAT_VERSION_MISMATCH);
			assert_non_null(reason);
		}
		free(image);
	}
	print_message("# %ld of %ld damages are harmless (%zx)\n", passed, count,
				  sum);
	assert_true(passed > 0 && passed < count);
	for (e = 0; e < COUNT_OF(engines); e++)
		acdat_engine_free(&engines[e]);
}

/* Every prefix of an image is refused, by both ways to open. */
static void
truncated_images(void **state)
{
	acdat_machine machine;
	acdat_engine engine;
	size_t		size;

	(void) state;
	build(&engine, &all_options[2], true);
	for (size = 0; size < engine.size; size++)
	{
		unsigned char *image = malloc(size + 1);

		assert_non_null(image);
		memcpy(image, engine.image, size);
		assert_int_not_equal(acdat_open_trusted(&machine, image, size),
							 ACDAT_OK);
		assert_int_not_equal(acdat_open_checked(&machine, image, size, NULL,
												NULL), ACDAT_OK);
		free(image);
	}
	assert_int_equal(acdat_open_trusted(&machine, engine.image, engine.size),
					 ACDAT_OK);
	acdat_engine_free(&engine);
}

/* Any changed bit is noticed as long as the checksums are left alone. */
static void
flipped_bits(void **state)
{
	acdat_machine machine;
	acdat_engine engine;
	unsigned char *image;
	size_t		i;

	(void) state;
	build(&engine, &all_options[1], true);
	image = engine.image;
	for (i = 0; i < engine.size; i++)
	{
		acdat_status status;

		image[i] ^= (unsigned char) (1 << i % 8);
		status = acdat_open_checked(&machine, image, engine.size, NULL, NULL);
		assert_true(status == ACDAT_CORRUPT ||
					status == ACDAT_VERSION_MISMATCH);
		if (i < sizeof(acdat_image_header))
			assert_int_not_equal(acdat_open_trusted(&machine, image,
													engine.size), ACDAT_OK);
		image[i] ^= (unsigned char) (1 << i % 8);
	}
	assert_int_equal(acdat_open_checked(&machine, image, engine.size, NULL,
										NULL), ACDAT_OK);
	acdat_engine_free(&engine);
}

static void
header_is_judged(void **state)
{
	acdat_machine machine;
	acdat_engine engine;
	acdat_image_header *h;

	(void) state;
	build(&engine, &all_options[0], false);
	h = engine.image;
	h->layout_version++;
	h->header_checksum = acdat_header_checksum(h);
	assert_int_equal(acdat_open_trusted(&machine, h, engine.size),
					 ACDAT_VERSION_MISMATCH);
	h->layout_version--;
	h->byte_order = 0x04030201;
	assert_int_equal(acdat_open_trusted(&machine, h, engine.size),
					 ACDAT_VERSION_MISMATCH);
	h->byte_order = ACDAT_BYTE_ORDER;
	h->magic[7] = 'g';
	assert_int_equal(acdat_open_trusted(&machine, h, engine.size),
					 ACDAT_CORRUPT);
	acdat_engine_free(&engine);
}

/* Apply a change, fix the checksums and expect the reason. */
#define EXPECT(engine, change, text) \
	do { \
		acdat_machine machine; \
		const char *reason = NULL; \
		unsigned char *saved = malloc((engine)->size); \
		assert_non_null(saved); \
		memcpy(saved, (engine)->image, (engine)->size); \
		change; \
		fix_checksums((engine)->image, (engine)->size); \
		assert_int_equal(acdat_open_checked(&machine, (engine)->image, \
											(engine)->size, NULL, &reason), \
						 ACDAT_CORRUPT); \
		assert_string_equal(reason, text); \
		memcpy((engine)->image, saved, (engine)->size); \
		free(saved); \
	} while (0)

/* A slot at which a state of some depth and kind lives. */
static uint32_t
find_slot(const acdat_machine *m, bool with_output, bool with_children)
{
	const acdat_state *s = acdat_states(m);
	uint32_t	i;

	for (i = 1; i < m->header->slots; i++)
	{
		if (ACDAT_STATE_LABEL(&s[i]) != ACDAT_NO_LABEL &&
			(ACDAT_STATE_OUT(&s[i]) != 0) == with_output &&
			(s[i].base != 0) == with_children && s[i].fail != 0)
			return i;
	}
	fail_msg("no such state");
	return 0;
}

/* A node whose jump spans several links. */
static uint32_t
long_jump(const acdat_machine *m)
{
	uint32_t	i;

	for (i = 0; i < m->header->nodes; i++)
	{
		uint32_t	jump = acdat_u32_at(m, m->header->node_jump, i);

		if (jump != acdat_node_link(m, i))
			return i;
	}
	fail_msg("no such node");
	return 0;
}

/* One lie of every kind that would make a scan loop or leave the image. */
static void
lies_are_told_apart(void **state)
{
	acdat_engine engine;
	acdat_image_header *h;
	acdat_state *s;
	uint32_t   *link;
	uint32_t   *jump;
	uint32_t   *best;
	uint32_t   *chain;
	uint32_t	slot;
	uint32_t	leaf;

	(void) state;
	build(&engine, &all_options[0], true);
	h = engine.image;
	s = (acdat_state *) (void *) ((char *) engine.image + h->state_offset);
	link = (uint32_t *) (void *) ((char *) engine.image + h->node_link);
	slot = find_slot(&engine.machine, true, true);
	leaf = find_slot(&engine.machine, true, false);

	EXPECT(&engine, s[slot].fail = slot, "failure link does not lead upwards");
	EXPECT(&engine, s[slot].fail = leaf, "failure link does not lead upwards");
	EXPECT(&engine, s[slot].fail = h->slots, "state out of range");
	EXPECT(&engine, s[slot].base = h->slots, "state out of range");
	EXPECT(&engine, s[slot].base = s[0].base, "states share a base");
	EXPECT(&engine, s[slot].base = 0, "state without a parent");
	EXPECT(&engine, s[0].fail = slot, "root is wrong");
	EXPECT(&engine, s[leaf].out_label |= ACDAT_NO_LABEL,
		   "number of states is wrong");
	EXPECT(&engine, s[slot].out_label &= ~ACDAT_LABEL_MASK,
		   "state out of range");
	EXPECT(&engine, s[slot].out_label |= ~ACDAT_LABEL_MASK,
		   "state out of range");
	EXPECT(&engine, s[slot].out_label = ACDAT_STATE_LABEL(&s[slot]) |
		   h->nodes << ACDAT_LABEL_BITS, "output longer than its state");
	EXPECT(&engine, link[h->nodes - 1] = h->nodes - 1,
		   "link to a shorter pattern is wrong");
	EXPECT(&engine, h->max_chain = 1, "chain longer than announced");
	EXPECT(&engine, h->max_len = h->slots, "counts are not valid");
	EXPECT(&engine, h->max_len++, "longest pattern is wrong");
	EXPECT(&engine, h->state_offset = h->image_size - 8,
		   "section outside the image");
	EXPECT(&engine, h->strings_len = UINT64_MAX, "section outside the image");
	EXPECT(&engine, h->class_offset += 4, "section outside the image");
	EXPECT(&engine, h->flags |= ACDAT_IMAGE_FOLDS,
		   "ignored characters are wrong");
	EXPECT(&engine, h->tail_bytes = h->min_len + 1, "options are not valid");
	EXPECT(&engine, h->tail_bytes = 0, "sections do not fit together");
	EXPECT(&engine, h->ends_vary = 8, "options are not valid");
	EXPECT(&engine, h->ends_vary = ACDAT_TEXT_DROPPED,
		   "section outside the image");
	EXPECT(&engine, h->node_jump = 0, "section outside the image");

	jump = (uint32_t *) (void *) ((char *) engine.image + h->node_jump);
	best = (uint32_t *) (void *) ((char *) engine.image + h->node_jump_best);
	slot = long_jump(&engine.machine);
	EXPECT(&engine, jump[slot] = link[slot],
		   "jump to a shorter pattern is wrong");
	EXPECT(&engine, jump[slot] = slot, "jump to a shorter pattern is wrong");
	EXPECT(&engine, jump[slot] = h->nodes - 1,
		   "jump to a shorter pattern is wrong");
	EXPECT(&engine, best[slot] = ACDAT_NONE, "choice of a jump is wrong");
	EXPECT(&engine, best[slot] = h->nodes, "choice of a jump is wrong");
	acdat_engine_free(&engine);

	build(&engine, &all_options[3], false);
	h = engine.image;
	assert_int_equal(h->node_jump, 0);
	chain = (uint32_t *) (void *) ((char *) engine.image + h->node_chain);
	EXPECT(&engine, h->node_jump = h->node_chain,
		   "sections do not fit together");
	EXPECT(&engine, h->node_chain = 0, "section outside the image");
	EXPECT(&engine, chain[h->nodes - 1] = h->nodes - 1,
		   "chain to a shorter pattern is wrong");
	EXPECT(&engine, chain[h->nodes - 1] = ACDAT_NONE - 1,
		   "chain to a shorter pattern is wrong");
	acdat_engine_free(&engine);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(header_is_judged),
		cmocka_unit_test(truncated_images),
		cmocka_unit_test(flipped_bits),
		cmocka_unit_test(lies_are_told_apart),
		cmocka_unit_test(damaged_images),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
