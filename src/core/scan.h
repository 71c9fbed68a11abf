/*-------------------------------------------------------------------------
 *
 * scan.h
 *	  What the parts of a scan share.
 *
 * A text is worked on in blocks of possible match starts.  The window of a
 * block is the block and the look-ahead that the longest pattern needs; it
 * is read from right to left, the starts at which some pattern matches are
 * stacked, and then taken from the stack in text order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_SCAN_H
#define ACDAT_SCAN_H

#include "src/core/hooks.h"
#include "src/core/image.h"
#include "src/core/probe.h"

/* A start in the current window and the longest pattern there. */
typedef struct scan_start
{
	uint32_t	pos;			/* in the window */
	uint32_t	node;
} scan_start;

/* Positions that tails may let pass on credit. */
#define TAILS_CREDIT 64

/* Lanes that are stepped in vectors, where the processor can; see run.h. */
#define SCAN_VECTOR_LANES 32

/*
 * A piece of the window, read from pos down to from; starts below end are
 * noted, upwards from top.
 */
typedef struct scan_lane
{
	uint32_t	state;
	uint32_t	pos;
	uint32_t	from;
	uint32_t	end;
	scan_start *top;
} scan_lane;

/* Step SCAN_VECTOR_LANES lanes until most are at their ends. */
typedef void (*scan_run_lanes) (const acdat_scan *scan, scan_lane *lanes);

/* Text around a position that tells whether it is a word boundary. */
#define SCAN_CONTEXT 4

struct acdat_scan
{
	acdat_machine m;
	const acdat_state *states;
	const uint16_t *classes;
	scan_run_lanes run_lanes;	/* NULL: none for this machine or processor */
	unsigned char label_bytes[256]; /* classes, for run_lanes */
	const uint32_t *node_len;
	const uint32_t *node_link;
	bool		folds;
	bool		boundary;
	const uint32_t *node_chain; /* NULL where all ends are static */
	uint32_t	varying;		/* see ends_vary in image.h */
	bool		is_static;		/* of the current window: it has none of them */
	bool		allows;			/* there are allow patterns */
	const uint64_t *only_tags;	/* what is asked for; NULL: everything */
	acdat_encoding encoding;
	uint32_t	min_len;
	uint32_t	max_len;
	uint32_t	max_block;		/* starts in a block */
	acdat_text_options text_options;
	bool		(*tick) (void *arg);
	void	   *tick_arg;
	size_t		work;			/* bytes and nodes since the last tick */

	/* the filter; table is NULL without one */
	const uint64_t *filter;
	unsigned	filter_stride;
	acdat_probe probe;
	acdat_probe_chunk probe_chunk;
	acdat_probe_strided probe_strided;
	const acdat_tail *tails;	/* NULL: no patterns */
	unsigned	tail_bytes;
	acdat_tails_scan tails_scan;
	int64_t		tails_credit;	/* positions that tails may let pass */
	size_t		tails_rest;		/* bytes to go before tails are tried */
	unsigned	tails_failures;	/* times that they gave up, to a limit */
	size_t		filter_rest;	/* bytes to go before the filter is tried */
	unsigned	filter_failures;	/* times in a row that it gave up, to a limit */

	/* the text */
	acdat_policy policy;
	bool		final;
	const unsigned char *text;
	size_t		len;
	uint64_t	base;			/* stream position of text[0] */
	size_t		next;			/* in text: beginning of the next block */
	uint32_t	block;			/* size of the next block */

	/* the current window */
	const unsigned char *window;
	size_t		window_len;
	size_t		window_start;	/* in text */
	const acdat_origin *origin; /* NULL unless folded; relative to
								 * window_start */

	/* starts not taken yet, the leftmost on top */
	uint32_t	top;
	scan_start *stack;

	/* carried along the text; stream positions */
	uint64_t	allow_until;	/* matches that end up to here are excepted */
	uint64_t	next_allowed;	/* leftmost policies: end of the last match */
	bool		pending;		/* ACDAT_MERGED: a union that may grow */
	acdat_match merged;

	/* all_overlapping: nodes at the current start, the shortest on top */
	uint32_t   *chain;			/* max_chain elements */
	uint32_t	chain_top;
	uint32_t	entry;			/* next entry of the node last taken */
	uint32_t	entry_end;
	acdat_match current;

	/* room for folding, max_block + max_len + one unit elements each */
	unsigned char *folded;
	acdat_origin *origins;
	size_t		folded_capacity;

	/* rewriting */
	const struct acdat_rewrite *rewrite;
	uint64_t	copied;			/* text up to here was passed on */
	uint64_t	written;		/* bytes of output */
	bool		union_begun;	/* the first part of scan->merged is written */
};

/* Run the filter, if there is one, with another kernel: for tests. */
extern void acdat_scan_use_kernel(acdat_scan *scan,
								  const acdat_probe_kernel *kernel);

/* Read the window of the next block; ACDAT_OK, _END, _MORE or _CANCELLED. */
extern acdat_status acdat_scan_next_block(acdat_scan *scan);

/* Run the automaton over the window, stacking starts below starts. */
extern void acdat_scan_window(acdat_scan *scan, size_t starts);

/*
 * The same by way of the filter; false, with nothing stacked, if maybe is
 * said too often.
 */
extern bool acdat_scan_filter_window(acdat_scan *scan, size_t starts);

/*
 * Does any pattern end in the last ACDAT_TICK_BYTES or so of text, by way of
 * the filter?  If not, sets *left: no pattern ends beyond that position.
 */
extern bool acdat_scan_filter_contains(acdat_scan *scan,
									   const unsigned char *text, size_t len,
									   size_t *left);

/* Is the filter worth a try on the next bytes of text? */
static inline bool
scan_filter_wanted(acdat_scan *scan, size_t bytes)
{
	if (scan->filter == NULL && scan->tails == NULL)
		return false;
	scan->tails_rest -= bytes < scan->tails_rest ? bytes : scan->tails_rest;
	if (scan->filter_rest == 0)
		return scan->filter != NULL || scan->tails_rest == 0;
	scan->filter_rest -= bytes < scan->filter_rest ? bytes : scan->filter_rest;
	return false;
}

/* Stream position up to which nothing reported later can reach back. */
extern uint64_t acdat_scan_decided(const acdat_scan *scan);

/* One step of the automaton. */
static inline uint32_t
scan_step(const acdat_state *states, uint32_t state, uint32_t label)
{
	for (;;)
	{
		uint32_t	child = states[state].base ^ label;

		if (ACDAT_STATE_LABEL(&states[child]) == label)
			return child;
		if (state == 0)
			return 0;
		state = states[state].fail;
	}
}

#endif							/* ACDAT_SCAN_H */
