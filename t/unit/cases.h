/*
 * cases.h
 *	  The table of cases every engine must answer alike.
 *
 * Expected matches are written "start-end:id ..." with 0-based half-open
 * positions; an ":id" left out is not compared.  Patterns have the ids 1, 2,
 * ... unless they say otherwise.
 */
#ifndef ACDAT_T_CASES_H
#define ACDAT_T_CASES_H

#include "src/core/acdat.h"

#define ACDAT_CASE_PATTERNS 24

typedef struct acdat_test_pattern
{
	const char *bytes;			/* NULL ends the list */
	size_t		len;
	const char *replacement;
	int64_t		id;				/* 0: the ordinal */
	int32_t		priority;
	bool		allow;
} acdat_test_pattern;

typedef struct acdat_test_case
{
	const char *name;
	acdat_encoding encoding;
	acdat_case	fold;
	acdat_normalize normalize;
	acdat_boundary boundary;
	const char *ignore;			/* NULL: none */
	acdat_test_pattern patterns[ACDAT_CASE_PATTERNS];
	const char *text;
	size_t		len;
	bool		chars;			/* positions count characters */

	/* What is expected under each policy; NULL: as the oracle says. */
	const char *all;
	const char *longest;
	const char *first;
	const char *merged;
	const char *replaced;		/* leftmost-longest */
	const char *masked;			/* merged, by U+2588 for every cluster */
} acdat_test_case;

extern const acdat_test_case acdat_test_cases[];
extern const size_t acdat_test_case_count;

#endif							/* ACDAT_T_CASES_H */
