/*
 * Kernels of the filter and of tails: each answers like the definition, for every length
 * of text, every alignment, and without reading a byte outside, which the
 * sanitized build proves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "src/core/probe.h"

#define MAX_LEN 200
#define LOG2_WORDS 6

static uint64_t random_state = 88172645463325252;

static uint64_t
random64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * UINT64_C(0x2545f4914f6cdd1d);
}

/* A table in which about a third of the bits are set. */
static uint64_t table[1 << LOG2_WORDS];

static acdat_probe
random_probe(acdat_filter_kind kind)
{
	acdat_probe p;
	unsigned	gram = kind == ACDAT_FILTER_SPLIT ? ACDAT_FILTER_SPLIT_GRAM :
		(unsigned) (random64() % ACDAT_FILTER_MAX_GRAM) + 1;
	unsigned	word = kind == ACDAT_FILTER_SPLIT ? (unsigned) (random64() % 3) + 1 : gram;
	size_t		i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		table[i] = random64() & (random64() | random64());
	memset(&p, 0, sizeof(p));
	p.table = table;
	p.fold = random64() % 2 == 0 ? UINT64_C(0x2020202020202020) : 0;
	p.gram_shift = 64 - 8 * gram;
	p.word_shift = 64 - 8 * word;
	p.log2_words = LOG2_WORDS;
	p.stride = (unsigned) (random64() % ACDAT_FILTER_MAX_STRIDE) + 1;
	p.characters = random64() % 2 == 0;
	return p;
}

/* Bytes of ASCII and of characters with two and three bytes, also broken. */
static void
random_text(unsigned char *text, size_t len)
{
	static const unsigned char some[] = "ab\xE4\xB8\x80\xE4\xB8\x81\xC3\xA9\x7F\xFF";
	bool		ascii = random64() % 4 == 0;
	size_t		i;

	for (i = 0; i < len; i++)
		text[i] = ascii ? 'a' + random64() % 4 : some[random64() % (sizeof(some) - 1)];
}

/* The definition, byte by byte. */
static bool
right_answer(const acdat_probe *p, acdat_filter_kind kind,
			 const unsigned char *text, size_t len, size_t pos)
{
	uint64_t	last8 = 0;
	uint64_t	hash;
	size_t		i;

	if (p->characters && pos < len && (text[pos] & 0xC0) == 0x80)
		return false;
	for (i = 0; i < 8; i++)
		last8 |= (uint64_t) (pos >= 8 - i ? text[pos - 8 + i] : 0) << (8 * i);
	last8 |= p->fold;
	hash = (last8 >> p->gram_shift) * ACDAT_FILTER_MULTIPLIER;
	if (kind == ACDAT_FILTER_FULL)
	{
		uint64_t	bits = acdat_filter_full_bits(hash);

		return (table[acdat_filter_word(hash, LOG2_WORDS)] & bits) == bits;
	}
	return (~table[acdat_filter_word((last8 >> p->word_shift) * ACDAT_FILTER_MULTIPLIER,
									 LOG2_WORDS)] &
			acdat_filter_split_bits(hash)) == 0;
}

static void
check_chunks(const acdat_probe_kernel *kernel, acdat_filter_kind kind,
			 const unsigned char *text, size_t len)
{
	acdat_probe p = random_probe(kind);
	size_t		base;

	for (base = 0; base <= len; base += ACDAT_PROBE_CHUNK)
	{
		uint64_t	got = (kind == ACDAT_FILTER_FULL ? kernel->full : kernel->split)
			(&p, text, len, base);
		size_t		i;

		/* position 0 has nothing before it and is never of interest */
		for (i = base == 0; i < ACDAT_PROBE_CHUNK; i++)
		{
			bool		right = base + i <= len &&
				right_answer(&p, kind, text, len, base + i);

			if ((got >> i & 1) != (right ? 1 : 0))
				fail_msg("%s: position %u of %u", kernel->name,
						 (unsigned) (base + i), (unsigned) len);
		}
	}
}

static void
check_strided(const acdat_probe_kernel *kernel, const unsigned char *text,
			  size_t len)
{
	acdat_probe p = random_probe(ACDAT_FILTER_FULL);
	size_t		pos = len - len % p.stride;
	size_t		n = pos < 8 ? 0 : (pos - 8) / p.stride + 1;
	uint64_t	got;
	size_t		k;

	p.characters = false;
	if (n > ACDAT_PROBE_CHUNK)
		n = ACDAT_PROBE_CHUNK;
	if (n == 0)
		return;
	got = kernel->strided(&p, text, pos, (unsigned) n);
	for (k = 0; k < ACDAT_PROBE_CHUNK; k++)
	{
		bool		right = k < n &&
			right_answer(&p, ACDAT_FILTER_FULL, text, len, pos - k * p.stride);

		if ((got >> k & 1) != (right ? 1 : 0))
			fail_msg("%s: stride %u, position %u of %u", kernel->name,
					 p.stride, (unsigned) (pos - k * p.stride), (unsigned) len);
	}
}

static void
random_tails(acdat_tail *tails)
{
	unsigned	full = (unsigned) (random64() % 3);
	size_t		k;
	size_t		i;

	for (k = 0; k < ACDAT_TAILS_MAX_BYTES; k++)
		for (i = 0; i < 16; i++)
		{
			uint64_t	bits = random64();

			bits = full == 0 ? bits : full == 1 ? bits & bits >> 8 & bits >> 16 :
				bits | bits >> 8;
			tails[k].low[i] = (unsigned char) bits;
			tails[k].high[i] = (unsigned char) (bits >> 32 | bits >> 40);
		}
}

/* Is a position that has count bytes before it admitted? */
static bool
tails_admit(const acdat_tail *tails, unsigned count,
			const unsigned char *text, size_t pos)
{
	unsigned	buckets = 0xff;
	unsigned	k;

	for (k = 0; k < count; k++)
	{
		unsigned	byte = text[pos - 1 - k];

		buckets &= tails[k].low[byte % 16] & tails[k].high[byte / 16];
	}
	return buckets != 0;
}

/* All the way down the text, with stops at the first chunk with a bit. */
static void
check_tails(const acdat_probe_kernel *kernel, const unsigned char *text,
			size_t len)
{
	acdat_tail	tails[ACDAT_TAILS_MAX_BYTES];
	unsigned	count = (unsigned) (random64() % ACDAT_TAILS_MAX_BYTES) + 1;
	size_t		low = random64() % (len + 1);
	size_t		pos = len + 1;

	random_tails(tails);
	do
	{
		size_t		base = (pos - 1) / ACDAT_TAILS_CHUNK * ACDAT_TAILS_CHUNK;
		uint64_t	got = kernel->tails(tails, count, text, len, &base, low);

		assert_true(base % ACDAT_TAILS_CHUNK == 0 && base < pos);
		assert_true(got != 0 || base <= low);
		while (pos > base)
		{
			bool		bit;

			if (--pos < count)
				continue;
			bit = pos < base + ACDAT_TAILS_CHUNK && (got >> (pos - base) & 1) != 0;
			if (bit != tails_admit(tails, count, text, pos))
				fail_msg("%s: tails of %u bytes, position %u of %u",
						 kernel->name, count, (unsigned) pos, (unsigned) len);
		}
	} while (pos > low && pos > 0);
}

/* Every length, at an alignment that goes through all of 0 .. 63. */
static void
kernels_agree(void **state)
{
	const acdat_probe_kernel *kernel;
	unsigned	number;

	(void) state;
	for (number = 0; (kernel = acdat_probe_kernel_number(number)) != NULL; number++)
	{
		size_t		len;
		size_t		align;

		print_message("# %s\n", kernel->name);
		for (len = 1; len <= MAX_LEN; len++)
		{
			for (align = 0; align < 64; align++)
			{
				/* nothing readable behind the text */
				unsigned char *room = malloc(align + len);
				unsigned char *text = room + align;

				assert_non_null(room);
				random_text(text, len);
				if (len >= 8)
				{
					check_chunks(kernel, ACDAT_FILTER_FULL, text, len);
					check_chunks(kernel, ACDAT_FILTER_SPLIT, text, len);
					check_strided(kernel, text, len);
				}
				check_tails(kernel, text, len);
				free(room);
			}
		}
	}
	assert_string_equal(acdat_probe_kernel_number(number - 1)->name, "portable");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kernels_agree),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
