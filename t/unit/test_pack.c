/*
 * Packs: what is written is read back, and no byte string of any origin can
 * make the reader go astray.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/pack.h"

static const acdat_pattern samples[] = {
	{"a", 1, 1, 0, NULL, 0, NULL, 0, false},
	{"\0b\xff", 3, INT64_MIN, INT32_MIN, "", 0, NULL, 0, true},
	{"term", 4, INT64_MAX, INT32_MAX, "[TERM]", 6, "name", 4, false},
	{"", 0, -1, -1, NULL, 0, "", 0, true},
	{"tagged", 6, 42, 7, NULL, 0, "card", 4, false},
};

#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static unsigned char *
pack_samples(size_t *size)
{
	unsigned char *pack;
	size_t		at = ACDAT_PACK_HEADER_BYTES;
	size_t		i;

	*size = ACDAT_PACK_HEADER_BYTES;
	for (i = 0; i < SAMPLES; i++)
		*size += acdat_pack_pattern_size(&samples[i]);
	pack = malloc(*size);
	assert_non_null(pack);
	acdat_pack_write_header(pack, SAMPLES);
	for (i = 0; i < SAMPLES; i++)
	{
		acdat_pack_write_pattern(pack + at, &samples[i]);
		at += acdat_pack_pattern_size(&samples[i]);
	}
	assert_int_equal(at, *size);
	return pack;
}

/* NULL and the empty string are different things */
static void
assert_same_bytes(const void *a, size_t a_len, const void *b, size_t b_len)
{
	assert_int_equal(a == NULL, b == NULL);
	assert_int_equal(a_len, b_len);
	if (a_len > 0)
		assert_memory_equal(a, b, a_len);
}

static void
round_trip(void **state)
{
	acdat_pack_reader reader;
	acdat_pattern p;
	size_t		size;
	size_t		i;
	unsigned char *pack = pack_samples(&size);

	(void) state;
	assert_int_equal(acdat_pack_open(&reader, pack, size), ACDAT_OK);
	assert_int_equal(reader.count, SAMPLES);
	for (i = 0; i < SAMPLES; i++)
	{
		assert_int_equal(acdat_pack_next(&reader, &p), ACDAT_OK);
		assert_int_equal(reader.ordinal, i + 1);
		assert_same_bytes(p.bytes, p.len, samples[i].bytes, samples[i].len);
		assert_true(p.id == samples[i].id);
		assert_int_equal(p.priority, samples[i].priority);
		assert_int_equal(p.allow, samples[i].allow);
		assert_same_bytes(p.replacement, p.replacement_len,
						  samples[i].replacement, samples[i].replacement_len);
		assert_same_bytes(p.tag, p.tag_len, samples[i].tag,
						  samples[i].tag_len);
	}
	assert_int_equal(acdat_pack_next(&reader, &p), ACDAT_END);
	assert_int_equal(acdat_pack_next(&reader, &p), ACDAT_END);
	free(pack);
}

/* The bytes of a small pack are part of the stored format. */
static void
stable_layout(void **state)
{
	static const unsigned char expected[] = {
		'A', 'C', 'D', 'A', 'T', 'P', 'K', '1', 1, 0, 0, 0, 0, 0, 0, 0,
		7, 2, 1, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff,
		2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0,
		'a', 'b', 'R', 't', 'a', 'g'
	};
	acdat_pattern p = {"ab", 2, 258, -2, "R", 1, "tag", 3, true};
	unsigned char pack[sizeof(expected)];

	(void) state;
	assert_int_equal(acdat_pack_pattern_size(&p),
					 sizeof(expected) - ACDAT_PACK_HEADER_BYTES);
	acdat_pack_write_header(pack, 1);
	acdat_pack_write_pattern(pack + ACDAT_PACK_HEADER_BYTES, &p);
	assert_memory_equal(pack, expected, sizeof(expected));
}

static void
empty_pack(void **state)
{
	unsigned char pack[ACDAT_PACK_HEADER_BYTES];
	acdat_pack_reader reader;
	acdat_pattern p;

	(void) state;
	acdat_pack_write_header(pack, 0);
	assert_int_equal(acdat_pack_open(&reader, pack, sizeof(pack)), ACDAT_OK);
	assert_int_equal(acdat_pack_next(&reader, &p), ACDAT_END);
}

/* Where lengths can be longer than a pack has room for. */
#if SIZE_MAX > UINT32_MAX

static void
oversized_lengths(void **state)
{
	acdat_pattern p = {"a", 1, 1, 0, NULL, 0, NULL, 0, false};

	(void) state;
	p.len = (size_t) UINT32_MAX + 1;
	assert_int_equal(acdat_pack_pattern_size(&p), 0);
	p.len = 1;
	p.replacement = "";
	p.replacement_len = (size_t) UINT32_MAX + 1;
	assert_int_equal(acdat_pack_pattern_size(&p), 0);
	p.replacement_len = 0;
	p.tag = "";
	p.tag_len = (size_t) UINT32_MAX + 1;
	assert_int_equal(acdat_pack_pattern_size(&p), 0);
}

#endif

/* Read to the end; returns the closing status. */
static acdat_status
read_all(const unsigned char *pack, size_t size)
{
	acdat_pack_reader reader;
	acdat_pattern p;
	acdat_status status = acdat_pack_open(&reader, pack, size);

	while (status == ACDAT_OK)
	{
		status = acdat_pack_next(&reader, &p);
		if (status == ACDAT_OK)
		{
			const unsigned char *bytes = p.bytes;

			assert_true(bytes >= pack && p.len <= size &&
						bytes + p.len <= pack + size);
			if (p.replacement != NULL)
			{
				bytes = p.replacement;
				assert_true(bytes >= pack &&
							bytes + p.replacement_len <= pack + size);
			}
			if (p.tag != NULL)
			{
				bytes = (const unsigned char *) p.tag;
				assert_true(bytes >= pack &&
							bytes + p.tag_len <= pack + size);
			}
		}
	}
	return status;
}

/* Every proper prefix, in a block of exactly its size, is corrupt. */
static void
truncated(void **state)
{
	size_t		size;
	size_t		len;
	unsigned char *pack = pack_samples(&size);

	(void) state;
	for (len = 0; len < size; len++)
	{
		unsigned char *copy = malloc(len + 1);

		assert_non_null(copy);
		memcpy(copy, pack, len);
		assert_int_equal(read_all(copy, len), ACDAT_CORRUPT);
		free(copy);
	}
	assert_int_equal(read_all(pack, size), ACDAT_END);
	free(pack);
}

/* Every single changed byte leaves the reader inside the pack. */
static void
mutated(void **state)
{
	size_t		size;
	size_t		at;
	int			value;
	unsigned char *pack = pack_samples(&size);

	(void) state;
	for (at = 0; at < size; at++)
	{
		unsigned char old = pack[at];

		for (value = 0; value < 256; value++)
		{
			acdat_status status;

			pack[at] = (unsigned char) value;
			status = read_all(pack, size);
			assert_true(status == ACDAT_END || status == ACDAT_CORRUPT);
			if (at < 8 && value != old)
				assert_int_equal(status, ACDAT_CORRUPT);
		}
		pack[at] = old;
	}
	free(pack);
}

static void
trailing_bytes(void **state)
{
	size_t		size;
	unsigned char *pack = pack_samples(&size);
	unsigned char *longer = malloc(size + 1);

	(void) state;
	assert_non_null(longer);
	memcpy(longer, pack, size);
	longer[size] = 0;
	assert_int_equal(read_all(longer, size + 1), ACDAT_CORRUPT);
	free(longer);
	free(pack);
}

static void
names(void **state)
{
	acdat_policy policy;
	acdat_case folding;
	acdat_normalize normalize;
	acdat_boundary boundary;

	(void) state;
	assert_true(acdat_policy_parse("all_overlapping", &policy));
	assert_int_equal(policy, ACDAT_ALL_OVERLAPPING);
	assert_true(acdat_policy_parse("leftmost_longest", &policy));
	assert_int_equal(policy, ACDAT_LEFTMOST_LONGEST);
	assert_true(acdat_policy_parse("leftmost_first", &policy));
	assert_int_equal(policy, ACDAT_LEFTMOST_FIRST);
	assert_false(acdat_policy_parse("merged", &policy));
	assert_false(acdat_policy_parse("leftmost", &policy));
	assert_false(acdat_policy_parse("", &policy));
	assert_false(acdat_policy_parse(NULL, &policy));

	assert_true(acdat_case_parse("unicode", &folding));
	assert_int_equal(folding, ACDAT_CASE_UNICODE);
	assert_false(acdat_case_parse("Unicode", &folding));
	assert_string_equal(acdat_case_name(ACDAT_CASE_ASCII), "ascii");
	assert_true(acdat_normalize_parse("width", &normalize));
	assert_int_equal(normalize, ACDAT_NORMALIZE_WIDTH);
	assert_false(acdat_normalize_parse("nfc", &normalize));
	assert_string_equal(acdat_normalize_name(ACDAT_NORMALIZE_NFKC), "nfkc");
	assert_true(acdat_boundary_parse("word", &boundary));
	assert_int_equal(boundary, ACDAT_BOUNDARY_WORD);
	assert_false(acdat_boundary_parse("words", &boundary));
	assert_string_equal(acdat_boundary_name(ACDAT_BOUNDARY_NONE), "none");
	assert_string_equal(acdat_boundary_name((acdat_boundary) 99), "?");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(stable_layout),
		cmocka_unit_test(empty_pack),
#if SIZE_MAX > UINT32_MAX
		cmocka_unit_test(oversized_lengths),
#endif
		cmocka_unit_test(truncated),
		cmocka_unit_test(mutated),
		cmocka_unit_test(trailing_bytes),
		cmocka_unit_test(names),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
