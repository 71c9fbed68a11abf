/*-------------------------------------------------------------------------
 *
 * call_site.h
 *	  What every scanning function does with its arguments.
 *
 * Each SQL function exists for text and bytea values, redact() for what holds
 * text as well, for dictionary names and machine values, and with tags as the
 * third argument or without; one C function serves them all.  Which one it is
 * is read from the function's signature once per call site.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_CALL_SITE_H
#define ACDAT_CALL_SITE_H

#include "postgres.h"

#include "fmgr.h"

#include "src/lookup.h"
#include "src/machine_cache.h"
#include "src/pgcompat.h"
#include "src/tags.h"

/* The longest spelling of a policy or style that is kept. */
#define ACDAT_WORD_BYTES 24

/* Kept in fn_extra, for the life of the call site. */
typedef struct AcdatCallSite
{
	Oid			value_type;
	bool		is_text;		/* the value or what it holds, not bytea */
	bool		is_machine;		/* the second argument, as opposed to a name */
	bool		has_tags;		/* the third argument is an array of tags */
	int			options_at;		/* number of the first argument behind these */
	acdat_encoding encoding;	/* of a text value: what a machine must have */
	AcdatLookupCache lookup;
	AcdatMachineSite machine;
	AcdatTagSet tags;

	/* the policy given last, as spelled and parsed; fixed: the only one */
	bool		policy_fixed;
	uint32		policy_len;		/* 0 = none */
	char		policy_word[ACDAT_WORD_BYTES];
	acdat_policy policy;
} AcdatCallSite;

/*
 * Fill a site from the function's signature; memory is zeroed.  Raises when
 * text of this database's encoding cannot be scanned.
 */
extern void acdat_site_initialize(AcdatCallSite *site, FmgrInfo *flinfo);

/* The same for a value of a type that is scanned for a dictionary. */
extern void acdat_site_for_type(AcdatCallSite *site, Oid value_type);

/* The site of this call, made at the first call. */
extern AcdatCallSite *acdat_call_site(FunctionCallInfo fcinfo);

/*
 * The machine argument number 1 stands for, fit for the value's type, its scan
 * restricted to the tags asked for; raises if there is none.
 */
extern const AcdatMachineRef *acdat_site_machine(AcdatCallSite *site,
												 FunctionCallInfo fcinfo);

/* The machine of a dictionary, fit for the value's type, or an error. */
extern const AcdatMachineRef *acdat_site_dictionary(AcdatCallSite *site,
													const char *name,
													Size name_len);

/* Restrict the machine's scan to an array of tags. */
extern void acdat_site_restrict(AcdatCallSite *site, MemoryContext context,
								Datum tags, const AcdatMachineRef *ref);

/* The policy given as the first option; raises on an unknown word. */
extern acdat_policy acdat_site_policy(AcdatCallSite *site,
									  FunctionCallInfo fcinfo);

/* Raise what a scan or a rewrite reports, but ACDAT_OK. */
extern void acdat_raise_scan_error(acdat_status status);

/* Raise for more than acdat_bgw.max_matches matches. */
pg_noreturn extern void acdat_max_matches_error(void);

#endif							/* ACDAT_CALL_SITE_H */
