/*
 * print_cases.c
 *	  The table of cases for tests that are not written in C.
 *
 * A case is a line, its fields are separated by tabs:
 *
 *	  name, encoding, case, normalization, boundary, ignored characters,
 *	  do positions count characters, text, expected: all overlapping,
 *	  leftmost-longest, leftmost-first, merged, replaced, masked; patterns
 *
 * and so is a pattern, by commas: bytes, id, priority, replacement, allow.
 * What may be any bytes is in hexadecimal; what is not given is a "-".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "t/unit/cases.h"

static void
print_bytes(const char *bytes, size_t len)
{
	size_t		i;

	for (i = 0; i < len; i++)
		printf("%02x", (unsigned) (unsigned char) bytes[i]);
}

/* A string in hexadecimal, or that there is none. */
static void
print_string(const char *string)
{
	if (string == NULL)
		putchar('-');
	else
		print_bytes(string, strlen(string));
}

static void
print_pattern(const acdat_test_pattern *pattern, int64_t ordinal)
{
	print_bytes(pattern->bytes, pattern->len);
	printf(",%" PRId64 ",%" PRId32 ",",
		   pattern->id != 0 ? pattern->id : ordinal, pattern->priority);
	print_string(pattern->replacement);
	fputs(pattern->allow ? ",true" : ",false", stdout);
}

static void
print_options(const acdat_test_case *c)
{
	printf("%s\t%s\t%s\t%s\t",
		   c->encoding == ACDAT_ENCODING_UTF8 ? "utf8" : "bytes",
		   acdat_case_name(c->fold), acdat_normalize_name(c->normalize),
		   acdat_boundary_name(c->boundary));
	print_string(c->ignore);
}

static void
print_case(const acdat_test_case *c)
{
	const char *const expected[] = {
		c->all, c->longest, c->first, c->merged, c->replaced, c->masked
	};
	size_t		i;

	print_string(c->name);
	putchar('\t');
	print_options(c);
	printf("\t%d\t", c->chars);
	print_bytes(c->text, c->len);
	for (i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
	{
		putchar('\t');
		print_string(expected[i]);
	}
	for (i = 0; i < ACDAT_CASE_PATTERNS && c->patterns[i].bytes != NULL; i++)
	{
		putchar('\t');
		print_pattern(&c->patterns[i], (int64_t) i + 1);
	}
	putchar('\n');
}

int
main(void)
{
	size_t		i;

	for (i = 0; i < acdat_test_case_count; i++)
		print_case(&acdat_test_cases[i]);
	/* a table cut short must not look like a table */
	return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}
