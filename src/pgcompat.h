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

#include "fmgr.h"

#include "shmem/shmem_compat.h"

/* before 18 a module said no more than which server it was built for */
#ifndef PG_MODULE_MAGIC_EXT
#define PG_MODULE_MAGIC_EXT(...) PG_MODULE_MAGIC
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
