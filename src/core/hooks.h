/*-------------------------------------------------------------------------
 *
 * hooks.h
 *	  Calling hooks that may be absent.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_HOOKS_H
#define ACDAT_HOOKS_H

#include "src/core/acdat.h"

/* *hooks, or malloc and no tick for NULL. */
extern acdat_hooks acdat_hooks_or_default(const acdat_hooks *hooks);

static inline void *
acdat_alloc(const acdat_hooks *hooks, size_t size)
{
	return hooks->alloc(hooks->arg, size > 0 ? size : 1);
}

static inline void
acdat_free(const acdat_hooks *hooks, void *ptr)
{
	if (ptr != NULL)
		hooks->free(hooks->arg, ptr);
}

static inline bool
acdat_tick(const acdat_hooks *hooks)
{
	return hooks->tick != NULL && hooks->tick(hooks->arg);
}

/*
 * Make room for at least count elements of width bytes in *array, which has
 * *capacity now; grows by half.  False: no memory.
 */
extern bool acdat_grow(const acdat_hooks *hooks, void **array,
					   size_t *capacity, size_t count, size_t width);

/* Give back what *array has room for beyond count elements, if possible. */
extern void acdat_trim(const acdat_hooks *hooks, void **array,
					   size_t *capacity, size_t count, size_t width);

#endif							/* ACDAT_HOOKS_H */
