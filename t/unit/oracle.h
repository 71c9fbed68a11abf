/*
 * oracle.h
 *	  What the right answer is, by brute force, and the engine's answer in
 *	  the same form.
 *
 * The oracle is meant to be read, not to be quick: it tries every pattern at
 * every position and filters the list of all matches.
 */
#ifndef ACDAT_T_ORACLE_H
#define ACDAT_T_ORACLE_H

#include "src/core/acdat.h"

/* A dictionary as a test describes it. */
typedef struct acdat_dictionary
{
	acdat_options options;
	const acdat_pattern *patterns;
	size_t		npatterns;
	const char *const *only_tags;	/* scan for these, up to NULL; NULL: for all */
} acdat_dictionary;

typedef struct acdat_answer_match
{
	uint64_t	start;
	uint64_t	end;
	int64_t		id;
	size_t		pattern;		/* the oracle's: index into the dictionary */
} acdat_answer_match;

/* A growing list of matches; all zeros is an empty one. */
typedef struct acdat_answer
{
	acdat_answer_match *matches;
	size_t		count;
	size_t		room;
} acdat_answer;

extern void acdat_answer_free(acdat_answer *answer);

/* Equal in positions and ids?  The order counts. */
extern bool acdat_answer_equal(const acdat_answer *a, const acdat_answer *b);

/* Print both to stderr, for a failing test. */
extern void acdat_answer_print(const char *label, const acdat_answer *answer);

/* Print a dictionary and a text as C literals to stderr. */
extern void acdat_dictionary_print(const acdat_dictionary *dictionary,
								   const void *text, size_t len);

/* How many bytes a pattern folds to; 0 when all of it is ignored. */
extern size_t acdat_oracle_folded_length(const acdat_options *options,
										 const void *bytes, size_t len);

/*
 * Every match of a tag asked for that no allow pattern covers, by (start, end,
 * id).
 */
extern void acdat_oracle_all(const acdat_dictionary *dictionary,
							 const void *text, size_t len,
							 acdat_answer *answer);

/* What a policy makes of the list of all matches. */
extern void acdat_oracle_choose(const acdat_dictionary *dictionary,
								acdat_policy policy, const acdat_answer *all,
								acdat_answer *answer);

/* Rewritten text in malloc'd memory; chosen belongs to the policy. */
extern unsigned char *acdat_oracle_rewrite(const acdat_dictionary *dictionary,
										   const acdat_rewrite *rewrite,
										   const acdat_answer *chosen,
										   const void *text, size_t len,
										   size_t *out_len);

/* A built image, opened, with the memory of one scan. */
typedef struct acdat_engine
{
	void	   *image;
	size_t		size;
	acdat_machine machine;
	acdat_scan *scan;
	acdat_build_stats stats;
} acdat_engine;

/* A pattern of a C string with an id and no other attributes. */
extern acdat_pattern acdat_simple_pattern(const char *bytes, int64_t id);

/* Build, write and open both ways; the status of the first that fails. */
extern acdat_status acdat_engine_build(acdat_engine *engine,
									   const acdat_dictionary *dictionary);

/* The same from the parts of a dictionary. */
extern acdat_status acdat_engine_make(acdat_engine *engine,
									  const acdat_options *options,
									  const acdat_pattern *patterns, size_t n);
extern void acdat_engine_free(acdat_engine *engine);

/* Restrict the engine to what the dictionary asks for, with room for bits. */
extern void acdat_engine_restrict(acdat_engine *engine,
								  const acdat_dictionary *dictionary,
								  uint64_t *bits);

/*
 * Matches of a text given whole and in place (piece 0) or in pieces of so
 * many new bytes.  Pieces are heap blocks of exactly their size, so that a
 * sanitizer sees the least overrun.
 */
extern acdat_status acdat_engine_matches(acdat_engine *engine,
										 acdat_policy policy,
										 const void *text, size_t len,
										 size_t piece, acdat_answer *answer);

/* Likewise; rewrite's sink is not used.  *out is malloc'd. */
extern acdat_status acdat_engine_rewrite(acdat_engine *engine,
										 const acdat_rewrite *rewrite,
										 const void *text, size_t len,
										 size_t piece, unsigned char **out,
										 size_t *out_len, uint64_t *matches);

#endif							/* ACDAT_T_ORACLE_H */
