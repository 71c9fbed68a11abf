/*-------------------------------------------------------------------------
 *
 * check.h
 *	  What the parts of the proof that an image is sound share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_CHECK_H
#define ACDAT_CHECK_H

#include "src/core/hooks.h"
#include "src/core/image.h"

typedef struct acdat_checker
{
	acdat_machine m;
	const acdat_image_header *h;
	acdat_hooks hooks;
	const acdat_state *states;
	uint32_t   *owner;			/* state that has slot as its base, or NONE */
	uint32_t   *depth;			/* of the state in a slot, 0 = not known */
	const char *reason;
	acdat_status status;		/* if not ACDAT_CORRUPT */
} acdat_checker;

static inline bool
check_fail(acdat_checker *c, const char *reason)
{
	if (c->reason == NULL)
		c->reason = reason;
	return false;
}

/* Elements of any array that are looked at between two ticks. */
#define CHECK_TICK_ELEMENTS 4096

/* To be asked in every loop over an array; false: cancelled. */
static inline bool
check_may_go_on(acdat_checker *c, uint32_t i)
{
	if (i % CHECK_TICK_ELEMENTS != CHECK_TICK_ELEMENTS - 1 || !acdat_tick(&c->hooks))
		return true;
	c->status = ACDAT_CANCELLED;
	return false;
}

/* The attributes of patterns: ids, priorities, replacements and tags. */
extern bool acdat_check_entries(acdat_checker *c);

#endif							/* ACDAT_CHECK_H */
