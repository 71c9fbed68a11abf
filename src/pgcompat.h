/*-------------------------------------------------------------------------
 *
 * pgcompat.h
 *	  Server version differences outside shared state; those that concern
 *	  both sides are in shmem/shmem_compat.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_PGCOMPAT_H
#define ACDAT_PGCOMPAT_H

#include "postgres.h"

#include "shmem/shmem_compat.h"

#if PG_VERSION_NUM < 150000
#error "acdat_bgw requires PostgreSQL 15 or later"
#endif

/* the caller may bring the memory of a lexer */
#if PG_VERSION_NUM >= 170000
#define acdat_json_lexer(json, len, encoding) \
	makeJsonLexContextCstringLen(NULL, json, len, encoding, false)
#else
#define acdat_json_lexer(json, len, encoding) \
	makeJsonLexContextCstringLen(json, len, encoding, false)
#endif

#endif							/* ACDAT_PGCOMPAT_H */
