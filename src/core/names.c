/*-------------------------------------------------------------------------
 *
 * names.c
 *	  The spelling of policies and options.
 *
 * The words are part of the SQL and command line interfaces.  They are
 * matched exactly: no abbreviations, no other case.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/acdat.h"

#include <string.h>

#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Each table is indexed by the value of its enum. */
static const char *const policy_names[] = {
	"all_overlapping", "leftmost_longest", "leftmost_first", "merged"
};
static const char *const case_names[] = {"none", "ascii", "unicode"};
static const char *const normalize_names[] = {"none", "width", "nfkc"};
static const char *const boundary_names[] = {"none", "word"};

/* The index of name in names, or -1. */
static int
find_name(const char *const *names, size_t count, const char *name)
{
	size_t		i;

	if (name == NULL)
		return -1;
	for (i = 0; i < count; i++)
	{
		if (strcmp(names[i], name) == 0)
			return (int) i;
	}
	return -1;
}

/* The name at an index that may come from an image; never NULL. */
static const char *
name_at(const char *const *names, size_t count, unsigned int value)
{
	return value < count ? names[value] : "?";
}

/*
 * ACDAT_MERGED is not among the words: its matches are unions for redaction
 * and have no meaning as answers.
 */
bool
acdat_policy_parse(const char *name, acdat_policy *policy)
{
	int			found = find_name(policy_names, ACDAT_MERGED, name);

	if (found < 0)
		return false;
	*policy = (acdat_policy) found;
	return true;
}

bool
acdat_case_parse(const char *name, acdat_case *value)
{
	int			found = find_name(case_names, LENGTH_OF(case_names), name);

	if (found < 0)
		return false;
	*value = (acdat_case) found;
	return true;
}

bool
acdat_normalize_parse(const char *name, acdat_normalize *value)
{
	int			found = find_name(normalize_names, LENGTH_OF(normalize_names),
								  name);

	if (found < 0)
		return false;
	*value = (acdat_normalize) found;
	return true;
}

bool
acdat_boundary_parse(const char *name, acdat_boundary *value)
{
	int			found = find_name(boundary_names, LENGTH_OF(boundary_names),
								  name);

	if (found < 0)
		return false;
	*value = (acdat_boundary) found;
	return true;
}

const char *
acdat_case_name(acdat_case value)
{
	return name_at(case_names, LENGTH_OF(case_names), (unsigned int) value);
}

const char *
acdat_normalize_name(acdat_normalize value)
{
	return name_at(normalize_names, LENGTH_OF(normalize_names),
				   (unsigned int) value);
}

const char *
acdat_boundary_name(acdat_boundary value)
{
	return name_at(boundary_names, LENGTH_OF(boundary_names),
				   (unsigned int) value);
}
