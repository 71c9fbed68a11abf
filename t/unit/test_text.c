/*
 * Folding: the promises of text.h on units, origins, ignored characters and
 * streams.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <utf8proc.h>

#include "src/core/unicode.h"

#define LAST_CHAR 0x10FFFF
#define ROOM 8192

/* The result of a fold. */
typedef struct folded
{
	unsigned char bytes[ROOM];
	acdat_origin origin[ROOM];
	size_t		n;
	size_t		consumed;
} folded;

static uint32_t ignore_chars[64];

static acdat_text_options
make_options(acdat_encoding encoding, acdat_case how, acdat_normalize form,
			 const char *ignore)
{
	acdat_text_options options;
	acdat_options all;

	memset(&options, 0, sizeof(options));
	memset(&all, 0, sizeof(all));
	options.encoding = all.encoding = encoding;
	options.case_insensitive = all.case_insensitive = how;
	options.normalize = all.normalize = form;
	all.ignore = ignore;
	all.ignore_len = strlen(ignore);
	assert_true(all.ignore_len <= 64);
	assert_int_equal(acdat_ignore_parse(&all, ignore_chars, &options.ignore),
					 ACDAT_OK);
	return options;
}

static void
fold(const acdat_text_options *options, const void *text, size_t len,
	 bool final, folded *result)
{
	result->n = acdat_fold(options, text, len, final, result->bytes,
						   result->origin, ROOM, &result->consumed, NULL);
}

static void
assert_folds_to(const acdat_text_options *options, const char *text,
				const char *expected)
{
	static folded f;

	fold(options, text, strlen(text), true, &f);
	assert_int_equal(f.consumed, strlen(text));
	assert_int_equal(f.n, strlen(expected));
	assert_memory_equal(f.bytes, expected, f.n);
}

/* Folded text folds to itself, under every combination of options. */
static void
folding_is_idempotent(void **state)
{
	static folded once;
	static folded twice;
	int			how;
	int			form;
	int32_t		c;

	(void) state;
	for (how = ACDAT_CASE_NONE; how <= ACDAT_CASE_UNICODE; how++)
	{
		for (form = ACDAT_NORMALIZE_NONE; form <= ACDAT_NORMALIZE_NFKC; form++)
		{
			acdat_text_options options = make_options(ACDAT_ENCODING_UTF8,
													  (acdat_case) how,
													  (acdat_normalize) form,
													  "*_");

			for (c = 0; c <= LAST_CHAR; c += 1 + (c > 0x20000) * 61)
			{
				unsigned char text[8];
				size_t		len;

				if (!utf8proc_codepoint_valid(c))
					continue;
				len = acdat_encode_char(c, text);
				len += acdat_encode_char(0x30C, text + len);
				fold(&options, text, len, true, &once);
				fold(&options, once.bytes, once.n, true, &twice);
				assert_int_equal(twice.n, once.n);
				assert_memory_equal(twice.bytes, once.bytes, once.n);
			}
		}
	}
}

static void
known_foldings(void **state)
{
	acdat_text_options o;

	(void) state;
	o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_UNICODE,
					 ACDAT_NORMALIZE_NONE, "");
	assert_folds_to(&o, "\xC4\xB0stanbul \xC3\x84 \xE1\xBA\x9E SS",
					"\xC4\xB0stanbul \xC3\xA4 \xC3\x9F ss");
	o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_ASCII,
					 ACDAT_NORMALIZE_WIDTH, "");
	assert_folds_to(&o, "\xEF\xBC\xA1\xEF\xBC\xA2\xE3\x80\x80Z\xC3\x84",
					"ab z\xC3\x84");
	/* half-width ka and voiced mark are one kana; a and mark are not */
	assert_folds_to(&o, "\xEF\xBD\xB6\xEF\xBE\x9E", "\xE3\x82\xAC");
	assert_folds_to(&o, "\xEF\xBE\x8A\xEF\xBE\x9F", "\xE3\x83\x91");
	assert_folds_to(&o, "\xEF\xBD\xB1\xEF\xBE\x9E", "\xE3\x82\xA2\xE3\x82\x99");
	o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_UNICODE,
					 ACDAT_NORMALIZE_NFKC, "");
	/* J caron does not compose, j caron does */
	assert_folds_to(&o, "J\xCC\x8C", "\xC7\xB0");
	assert_folds_to(&o, "\xEF\xAC\x81\xE2\x84\xAB", "fi\xC3\xA5");
	/* han-gul vowels that follow one another are units of their own */
	assert_folds_to(&o, "\xE3\x85\xA0\xE3\x85\xA0", "\xE1\x85\xB2\xE1\x85\xB2");
	o = make_options(ACDAT_ENCODING_BYTES, ACDAT_CASE_ASCII,
					 ACDAT_NORMALIZE_NONE, "-");
	assert_folds_to(&o, "A-\xC3\x84-z", "a\xC3\x84z");
}

static void
assert_origin(const folded *f, size_t at, size_t start, size_t end)
{
	assert_true(at < f->n);
	assert_int_equal(f->origin[at].start, start);
	assert_int_equal(f->origin[at].end, end);
}

static void
ignored_characters(void **state)
{
	static folded f;
	acdat_text_options o;
	acdat_options bad;

	(void) state;
	o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_ASCII,
					 ACDAT_NORMALIZE_WIDTH, " *_-");
	/* a full-width asterisk is ignored as well */
	fold(&o, "F*\xEF\xBC\x8A-u", 7, true, &f);
	assert_int_equal(f.n, 2);
	assert_memory_equal(f.bytes, "fu", 2);
	assert_origin(&f, 0, 0, 1);
	assert_origin(&f, 1, 6, 7);

	/* upper case and full width in the option stand for all forms */
	o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_ASCII,
					 ACDAT_NORMALIZE_WIDTH, "X\xEF\xBC\x8A");
	assert_folds_to(&o, "axXb*\xEF\xBC\xB8", "ab");

	/* an ignored character does not keep a mark from its base */
	o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_NONE,
					 ACDAT_NORMALIZE_NFKC, "*.");
	fold(&o, "*e**\xCC\x81*x", 8, true, &f);
	assert_int_equal(f.n, 3);
	assert_memory_equal(f.bytes, "\xC3\xA9x", 3);
	assert_origin(&f, 0, 1, 6);
	assert_origin(&f, 1, 1, 6);
	assert_origin(&f, 2, 7, 8);

	/* an ellipsis is three dots */
	assert_folds_to(&o, "a\xE2\x80\xA6" "b", "ab");

	/* ignored marks vanish from their units */
	o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_NONE,
					 ACDAT_NORMALIZE_NFKC, "\xCC\x81");
	fold(&o, "e\xCC\x81x", 4, true, &f);
	assert_int_equal(f.n, 2);
	assert_origin(&f, 0, 0, 1);
	assert_origin(&f, 1, 3, 4);

	memset(&bad, 0, sizeof(bad));
	bad.encoding = ACDAT_ENCODING_UTF8;
	bad.ignore = "a\xFF";
	bad.ignore_len = 2;
	assert_int_equal(acdat_ignore_parse(&bad, ignore_chars, &o.ignore),
					 ACDAT_BAD_ARGUMENT);
	bad.ignore = "\xC3";
	bad.ignore_len = 1;
	assert_int_equal(acdat_ignore_parse(&bad, ignore_chars, &o.ignore),
					 ACDAT_BAD_ARGUMENT);
	bad.encoding = ACDAT_ENCODING_BYTES;
	assert_int_equal(acdat_ignore_parse(&bad, ignore_chars, &o.ignore),
					 ACDAT_OK);
	assert_int_equal(o.ignore.count, 1);
	bad.ignore = "cabcab";
	bad.ignore_len = 6;
	assert_int_equal(acdat_ignore_parse(&bad, ignore_chars, &o.ignore),
					 ACDAT_OK);
	assert_int_equal(o.ignore.count, 3);
	assert_int_equal(ignore_chars[0], 'a');
	assert_int_equal(ignore_chars[2], 'c');
}

/* Invalid bytes are units of one byte and pass unchanged. */
static void
invalid_bytes(void **state)
{
	static const char *const texts[] = {
		"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80",
		"\xE4\xB8", "\xF0\x9F\x98", "e\xCC", "\xE0\x80\x80", "\xC3(",
		"\xF8\x88\x80\x80\x80"
	};
	static folded f;
	size_t		i;
	size_t		j;
	int			form;

	(void) state;
	for (form = ACDAT_NORMALIZE_NONE; form <= ACDAT_NORMALIZE_NFKC; form++)
	{
		acdat_text_options o = make_options(ACDAT_ENCODING_UTF8,
											ACDAT_CASE_UNICODE,
											(acdat_normalize) form, "");

		for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		{
			size_t		len = strlen(texts[i]);

			assert_folds_to(&o, texts[i], texts[i]);
			fold(&o, texts[i], len, true, &f);
			for (j = 0; j < len; j++)
				assert_origin(&f, j, j, j + 1);
			assert_false(acdat_valid_utf8((const unsigned char *) texts[i],
										  len));
			assert_int_equal(acdat_count_chars(ACDAT_ENCODING_UTF8,
											   (const unsigned char *) texts[i],
											   len), len);
		}
	}
}

static uint64_t random_state;

static uint32_t
random_below(uint32_t limit)
{
	random_state = random_state * UINT64_C(6364136223846793005) + 1;
	return (uint32_t) ((random_state >> 33) % limit);
}

/* A mixture of all that the code treats in a special way. */
static int32_t
random_char(void)
{
	static const int32_t few[] = {
		'a', 'J', 'e', ' ', '*', 0xC9, 0x130, 0x131, 0xDF, 0x1E9E, 0x300,
		0x301, 0x30C, 0x323, 0x345, 0x3B1, 0x391, 0x9C7, 0x9BE, 0x9D7,
		0xCC6, 0xCC2, 0xCD5, 0x1100, 0x1161, 0x11A8, 0x3131, 0x314F, 0x3160,
		0xAC00, 0xFF76, 0xFF8A, 0xFF9E, 0xFF9F, 0xFFA1, 0xFFC2, 0xFF21,
		0xFF0A, 0x3000, 0xFDFA, 0x1F600, 0x4E2D, 0x6587, 0xF73, 0x344, 0x212B,
		0x2126, 0xFB01, 0x1D15E, 0x16D67, 0x2024, 0x2026, 0x200D, 0x304B,
		0x3099, 0x30AB
	};

	if (random_below(8) == 0)
		return (int32_t) random_below(0xD800);
	return few[random_below(sizeof(few) / sizeof(few[0]))];
}

static size_t
random_text(unsigned char *text, size_t room)
{
	size_t		want = random_below((uint32_t) room - 8);
	size_t		len = 0;

	while (len < want)
	{
		switch (random_below(12))
		{
			case 0:
				text[len++] = (unsigned char) random_below(256);
				break;
			case 1:
				text[len++] = (unsigned char) ('a' + random_below(26));
				break;
			default:
				len += acdat_encode_char(random_char(), text + len);
		}
	}
	return len;
}

/* Origins are whole units: ordered, disjoint or equal, inside the text. */
static void
assert_origins_sound(const folded *f, size_t len)
{
	size_t		i;

	for (i = 0; i < f->n; i++)
	{
		assert_true(f->origin[i].start < f->origin[i].end);
		assert_true(f->origin[i].end <= len);
		assert_true(f->origin[i].end - f->origin[i].start <=
					ACDAT_UNIT_MAX_BYTES);
		if (i == 0)
			continue;
		if (f->origin[i].start == f->origin[i - 1].start)
			assert_int_equal(f->origin[i].end, f->origin[i - 1].end);
		else
			assert_true(f->origin[i].start >= f->origin[i - 1].end);
	}
}

/* Fold a text given in pieces of the given size, into small buffers. */
static void
fold_pieces(const acdat_text_options *o, const unsigned char *text,
			size_t len, size_t piece, size_t capacity, folded *f)
{
	size_t		pos = 0;
	size_t		given = 0;

	f->n = 0;
	do
	{
		size_t		n;
		size_t		used;
		size_t		i;
		bool		final;

		given = len - given < piece ? len : given + piece;
		final = given == len;
		do
		{
			n = acdat_fold(o, text + pos, given - pos, final, f->bytes + f->n,
						   f->origin + f->n, capacity, &used, NULL);
			for (i = f->n; i < f->n + n; i++)
			{
				f->origin[i].start += (uint32_t) pos;
				f->origin[i].end += (uint32_t) pos;
			}
			f->n += n;
			pos += used;
		} while (used > 0 && pos < given);
	} while (given < len);
	f->consumed = pos;
}

static void
assert_same(const folded *a, const folded *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->consumed, b->consumed);
	assert_memory_equal(a->bytes, b->bytes, a->n);
	assert_memory_equal(a->origin, b->origin, a->n * sizeof(acdat_origin));
}

/*
 * Pieces of any size give what the whole gives, and so does the text between
 * any two unit boundaries, taken by itself.
 */
static void
streams_and_slices(void **state)
{
	static const char *const ignores[] = {
		"", "* ", "\xCC\x81.a", "\xE6\x96\x87"
	};
	static folded whole;
	static folded other;
	unsigned char text[160];
	int			round;

	(void) state;
	random_state = 2;
	for (round = 0; round < 9000; round++)
	{
		acdat_text_options o = make_options(
			(round & 31) == 0 ? ACDAT_ENCODING_BYTES : ACDAT_ENCODING_UTF8,
			(acdat_case) random_below(3), (acdat_normalize) random_below(3),
			ignores[random_below(4)]);
		size_t		len = random_text(text, sizeof(text));
		size_t		piece;
		size_t		i;

		fold(&o, text, len, true, &whole);
		assert_int_equal(whole.consumed, len);
		assert_origins_sound(&whole, len);
		for (piece = 1; piece <= len; piece += 1 + piece / 8)
		{
			fold_pieces(&o, text, len, piece, ACDAT_UNIT_MAX_FOLDED, &other);
			assert_same(&other, &whole);
		}
		for (i = 0; i < whole.n; i += 1 + i / 4)
		{
			size_t		j = i + random_below((uint32_t) (whole.n - i));
			size_t		start = whole.origin[i].start;
			size_t		end = whole.origin[j].end;
			size_t		first = i;
			size_t		last = j;

			while (first > 0 && whole.origin[first - 1].start == start)
				first--;
			while (last + 1 < whole.n && whole.origin[last + 1].end == end)
				last++;
			fold(&o, text + start, end - start, true, &other);
			assert_int_equal(other.n, last - first + 1);
			assert_memory_equal(other.bytes, whole.bytes + first, other.n);
		}
	}
}

/* A run of marks is cut, so that a stream never waits for long. */
static void
long_runs_are_cut(void **state)
{
	static folded f;
	acdat_text_options o = make_options(ACDAT_ENCODING_UTF8, ACDAT_CASE_NONE,
										ACDAT_NORMALIZE_NFKC, "*");
	unsigned char text[1 + 2 * 1000];
	size_t		i;

	(void) state;
	text[0] = 'e';
	for (i = 0; i < 1000; i++)
		memcpy(text + 1 + 2 * i, "\xCC\xA3", 2);
	fold(&o, text, sizeof(text), false, &f);
	assert_true(sizeof(text) - f.consumed <= ACDAT_UNIT_MAX_BYTES);
	assert_origins_sound(&f, sizeof(text));
	assert_origin(&f, 0, 0, 1 + 2 * (ACDAT_UNIT_MAX_CHARS - 1));

	/* nor for ignored characters that a mark may follow */
	memset(text + 1, '*', sizeof(text) - 1);
	fold(&o, text, sizeof(text), false, &f);
	assert_int_equal(f.consumed, sizeof(text));
	fold(&o, text, 5, false, &f);
	assert_int_equal(f.consumed, 0);
}

static void
fold_needed(void **state)
{
	acdat_options o;
	unsigned char table[256];

	(void) state;
	memset(&o, 0, sizeof(o));
	o.case_insensitive = ACDAT_CASE_ASCII;
	assert_false(acdat_text_needs_fold(&o));
	acdat_text_byte_table(&o, table);
	assert_int_equal(table['A'], 'a');
	assert_int_equal(table['['], '[');
	assert_int_equal(table[0xC4], 0xC4);
	o.encoding = ACDAT_ENCODING_UTF8;
	assert_false(acdat_text_needs_fold(&o));
	o.case_insensitive = ACDAT_CASE_UNICODE;
	assert_true(acdat_text_needs_fold(&o));
	o.case_insensitive = ACDAT_CASE_NONE;
	acdat_text_byte_table(&o, table);
	assert_int_equal(table['A'], 'A');
	o.normalize = ACDAT_NORMALIZE_WIDTH;
	assert_true(acdat_text_needs_fold(&o));
	o.normalize = ACDAT_NORMALIZE_NONE;
	o.ignore_len = 1;
	assert_true(acdat_text_needs_fold(&o));
	o.encoding = ACDAT_ENCODING_BYTES;
	assert_true(acdat_text_needs_fold(&o));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folding_is_idempotent),
		cmocka_unit_test(known_foldings),
		cmocka_unit_test(ignored_characters),
		cmocka_unit_test(invalid_bytes),
		cmocka_unit_test(streams_and_slices),
		cmocka_unit_test(long_runs_are_cut),
		cmocka_unit_test(fold_needed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
