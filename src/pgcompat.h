/*-------------------------------------------------------------------------
 *
 * pgcompat.h
 *	  Server version differences outside shared state.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_PGCOMPAT_H
#define ACDAT_PGCOMPAT_H

#include "postgres.h"

#if PG_VERSION_NUM < 150000
#error "acdat_bgw requires PostgreSQL 15 or later"
#endif

/* varatt.h was split from postgres.h */
#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#endif

/* pg_attribute_noreturn() gave way to a specifier in front */
#if PG_VERSION_NUM < 180000
#define pg_noreturn pg_attribute_noreturn()
#endif

#endif							/* ACDAT_PGCOMPAT_H */
