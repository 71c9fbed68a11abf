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

#endif							/* ACDAT_PGCOMPAT_H */
