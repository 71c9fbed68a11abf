/*
 * Damaged images: whatever acdat_open_checked() accepts can be scanned, told
 * about and rewritten with, on any text, without a crash or a loop.
 *
 * Input: which dictionary, number of changes, per change a kind, a place
 * (three bytes) and a value; then the text.  Checksums are made good, for
 * they only guard against accidents.  A first byte of 255 means that an
 * image follows as it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/image.h"
#include "t/unit/oracle.h"

int			LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define DICTIONARIES 8
#define RAW_IMAGE 255
#define CHANGE_BYTES 5
#define MAX_TEXT 2000

/* More than any sound scan of so short a text can find. */
#define MAX_MATCHES (MAX_TEXT * 64)

/* Dictionaries that between them have every section an image can have. */
static void
make_image(unsigned which, acdat_engine *engine)
{
	static const char *const words[] = {
		"a", "ab", "abc", "bcd", "cab", "b", "\xC3\xA9t\xC3\xA9", "ca ba",
		"abcabcabc", "aaaa", "baab", "a b c"
	};
	static const acdat_options options[DICTIONARIES] = {
		{.encoding = ACDAT_ENCODING_BYTES},
		{.case_insensitive = ACDAT_CASE_ASCII},
		{.encoding = ACDAT_ENCODING_UTF8, .boundary = ACDAT_BOUNDARY_WORD},
		{.encoding = ACDAT_ENCODING_UTF8, .normalize = ACDAT_NORMALIZE_NFKC,
			.case_insensitive = ACDAT_CASE_UNICODE, .ignore = "*-",
		.ignore_len = 2},
		{.encoding = ACDAT_ENCODING_UTF8, .boundary = ACDAT_BOUNDARY_WORD,
		.ignore = "_", .ignore_len = 1},
		{.encoding = ACDAT_ENCODING_BYTES},
		{.encoding = ACDAT_ENCODING_UTF8},
		{.encoding = ACDAT_ENCODING_BYTES},
	};
	acdat_pattern patterns[2 * sizeof(words) / sizeof(words[0])];
	acdat_dictionary d = {0};
	size_t		n = 0;
	size_t		i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
	{
		/* the last two have filters: without, and with few, short patterns */
		if (which >= DICTIONARIES - 2 && strlen(words[i]) < 4 &&
			(which == DICTIONARIES - 2 || i != 1))
			continue;
		patterns[n] = acdat_simple_pattern(words[i], (int64_t) i << (which & 1 ? 40 : 0));
		patterns[n].priority = (int32_t) (which % 3 * i);
		patterns[n].allow = which % 4 > 1 && i % 4 == 3;
		if (which % 2 == 1)
		{
			patterns[n].replacement = words[i / 2];
			patterns[n].replacement_len = i % 3;
			patterns[n].tag = "tag";
			patterns[n].tag_len = i % 4;
		}
		n++;
		if (which == 5)
		{
			patterns[n] = patterns[n - 1];
			patterns[n].id = 1000 - (int64_t) i;
			n++;
		}
	}
	d.options = options[which];
	d.patterns = patterns;
	d.npatterns = n;
	if (acdat_engine_build(engine, &d) != ACDAT_OK)
		abort();
}

/* Change a byte, a half word, a word, or move a word to another place. */
static void
change(unsigned char *image, size_t size, const uint8_t *how)
{
	size_t		place = how[1] | (size_t) how[2] << 8 | (size_t) how[3] << 16;
	uint32_t	word;

	place %= size - 8;
	switch (how[0] % 6)
	{
		case 0:
			image[place] = how[4];
			return;
		case 1:
			image[place] ^= (unsigned char) (1 << (how[4] & 7));
			return;
		case 2:
			word = how[4];
			break;
		case 3:
			word = UINT32_MAX - how[4];
			break;
		case 4:
			memcpy(&word, image + place / 4 * 4, 4);
			word += (uint32_t) how[4] - 128;
			break;
		default:
			memcpy(&word, image + (place + 4 * (size_t) how[4]) % (size - 8) / 4 * 4,
				   4);
	}
	memcpy(image + place / 4 * 4, &word, 4);
}

static void
mend_checksums(void *image, size_t size)
{
	acdat_image_header h;

	memcpy(&h, image, sizeof(h));
	h.image_size = size;
	memcpy(image, &h, sizeof(h));
	acdat_image_checksum(image, size, h.checksum);
	h.header_checksum = acdat_header_checksum(&h);
	memcpy(image, &h, sizeof(h));
}

static bool
swallow(void *arg, const void *bytes, size_t len)
{
	size_t	   *sum = arg;
	size_t		i;

	for (i = 0; i < len; i++)
		*sum += ((const unsigned char *) bytes)[i];
	return true;
}

/* Touch all that a match leads to. */
static size_t
use_match(const acdat_machine *m, const acdat_match *match, size_t text_len)
{
	size_t		sum = 0;
	size_t		len;
	const void *bytes;

	if (match->start >= match->end || match->end > text_len)
		abort();
	sum += (size_t) acdat_pattern_id(m, match->pattern);
	sum += (size_t) acdat_pattern_priority(m, match->pattern);
	bytes = acdat_pattern_replacement(m, match->pattern, &len);
	swallow(&sum, bytes, len);
	bytes = acdat_pattern_tag(m, match->pattern, &len);
	swallow(&sum, bytes, len);
	return sum;
}

static void
use_machine(const acdat_machine *m, const uint8_t *text, size_t len)
{
	acdat_scan *scan = malloc(acdat_scan_size(m));
	acdat_machine_info info;
	acdat_rewrite rewrite;
	size_t		sum = 0;
	int			policy;

	if (scan == NULL)
		abort();
	acdat_machine_describe(m, &info);
	swallow(&sum, info.options.ignore, info.options.ignore_len);
	acdat_scan_init(scan, m, NULL);
	for (policy = 0; policy <= ACDAT_MERGED; policy++)
	{
		acdat_match match;
		size_t		found = 0;
		bool		any;

		acdat_scan_start(scan, (acdat_policy) policy, text, len, true);
		while (acdat_scan_next(scan, &match) == ACDAT_OK)
		{
			sum += use_match(m, &match, len);
			if (++found > MAX_MATCHES)
				abort();
		}
		(void) acdat_contains(scan, text, len, &any);
		memset(&rewrite, 0, sizeof(rewrite));
		rewrite.style = (acdat_rewrite_style) (policy % 3);
		rewrite.policy = (acdat_policy) policy;
		rewrite.mask = "*";
		rewrite.mask_len = 1;
		rewrite.max_output = 1 << 20;
		rewrite.sink = swallow;
		rewrite.sink_arg = &sum;
		(void) acdat_rewrite_text(scan, &rewrite, text, len, NULL);
	}
	free(scan);
}

/* Returns how much of the input is used up. */
static size_t
damage(unsigned char *image, size_t image_size, const uint8_t *data,
	   size_t size)
{
	size_t		changes = data[1] % 33;
	size_t		at = 2;

	while (changes-- > 0 && size - at >= CHANGE_BYTES)
	{
		change(image, image_size, data + at);
		at += CHANGE_BYTES;
	}
	return at;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static acdat_engine engines[DICTIONARIES];
	static const char raw_text[] = "abcabc ab c\xC3\xA9t\xC3\xA9 a*b-c baab";
	const acdat_engine *engine;
	unsigned char *image;
	acdat_machine machine;
	size_t		image_size;
	size_t		used;

	if (size < 2)
		return 0;
	if (data[0] == RAW_IMAGE)
	{
		image_size = size - 1;
		image = malloc(image_size);
		if (image == NULL)
			abort();
		memcpy(image, data + 1, image_size);
		if (image_size >= sizeof(acdat_image_header))
			mend_checksums(image, image_size);
		if (acdat_open_checked(&machine, image, image_size, NULL,
							   NULL) == ACDAT_OK)
			use_machine(&machine, (const uint8_t *) raw_text,
						sizeof(raw_text) - 1);
		free(image);
		return 0;
	}

	engine = &engines[data[0] % DICTIONARIES];
	if (engine->image == NULL)
		make_image(data[0] % DICTIONARIES, &engines[data[0] % DICTIONARIES]);
	image_size = engine->size;
	image = malloc(image_size);
	if (image == NULL)
		abort();
	memcpy(image, engine->image, image_size);
	used = damage(image, image_size, data, size);
	mend_checksums(image, image_size);
	if (size - used <= MAX_TEXT &&
		acdat_open_checked(&machine, image, image_size, NULL,
						   NULL) == ACDAT_OK)
		use_machine(&machine, data + used, size - used);
	free(image);
	return 0;
}
