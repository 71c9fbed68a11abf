/*-------------------------------------------------------------------------
 *
 * scan_run.c
 *	  Running the automaton over a window.
 *
 * An automaton waits: for memory, when the dictionary is larger than the
 * caches, and for mispredicted branches, for nobody can tell how often a
 * failure link will be followed.  A wide window is therefore read in several
 * lanes at once, each a piece of the window with a look-ahead of its own,
 * and a step of a lane has no branch but for output: it either reads a byte
 * or follows a link.  The processor overlaps the waits of the lanes; more of
 * them are stepped in vectors, where it has those (run.h).  From a byte in
 * no pattern all links lead to the root; steps that go there at once take
 * longer, and without vectors are taken only where the window has more than
 * a few such bytes.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/scan.h"

#include <string.h>

/* More lanes than this spill more than they overlap. */
#define LANES 8

/* A lane is at least this long and this many times its look-ahead. */
#define LANE_MIN 32
#define LANE_FACTOR 2

/* Bytes looked at to see how many of a window are in no pattern. */
#define SAMPLES 32

/* From so many on they are worth a look at every byte ... */
#define SOME_FOREIGN (SAMPLES / 16)

/* ... and with so many the automaton is at rest. */
#define MOSTLY_FOREIGN (SAMPLES - SAMPLES / 8)

/* Keep the compiler from turning a mask back into a branch. */
#if defined(__GNUC__)
#define OPAQUE(x) __asm__("" : "+r" (x))
#define UNLIKELY(x) __builtin_expect((x), 0)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define OPAQUE(x) ((void) 0)
#define UNLIKELY(x) (x)
#define ALWAYS_INLINE inline
#endif

typedef struct lane
{
	uint32_t	state;
	const unsigned char *pos;	/* the byte before is read next */
	const unsigned char *from;	/* where the lane ends */
	scan_start *top;			/* starts found, the leftmost on top */
} lane;

/*
 * One step of the automaton: read a byte or follow a link.  With some_foreign
 * a byte in no pattern leads to the root in one step.
 */
static ALWAYS_INLINE void
step_lane(lane *l, const acdat_state *states, const uint16_t *classes,
		  const unsigned char *window, bool some_foreign)
{
	const acdat_state *state = &states[l->state];
	uint32_t	label = classes[l->pos[-1]];
	uint32_t	foreign = some_foreign && label == 0;
	uint32_t	child = (state->base ^ label) & (foreign - 1);
	uint32_t	out_label = states[child].out_label;
	uint32_t	hit = foreign | ((out_label & ACDAT_LABEL_MASK) == label);
	uint32_t	mask = 0 - hit;

	/* the root's label is not a byte's, and it has no output */
	OPAQUE(mask);
	l->pos -= hit | (l->state == 0);
	l->state = state->fail ^ ((child ^ state->fail) & mask);
	out_label &= mask;
	if (UNLIKELY(out_label > ACDAT_LABEL_MASK))
	{
		l->top->pos = (uint32_t) (l->pos - window);
		l->top->node = (out_label >> ACDAT_LABEL_BITS) - 1;
		l->top++;
	}
}

/* Read a lane to its end. */
static void
finish_lane(lane *l, const acdat_scan *scan)
{
	const acdat_state *states = scan->states;
	const uint16_t *classes = scan->classes;
	const unsigned char *pos = l->pos;
	scan_start *top = l->top;
	uint32_t	state = l->state;

	while (pos > l->from)
	{
		uint32_t	label = classes[*--pos];
		uint32_t	out;

		if (label == 0)
		{
			state = 0;
			continue;
		}
		state = scan_step(states, state, label);
		out = ACDAT_STATE_OUT(&states[state]);
		if (out != 0)
		{
			top->pos = (uint32_t) (pos - scan->window);
			top->node = out - 1;
			top++;
		}
	}
	l->state = state;
	l->pos = pos;
	l->top = top;
}

/*
 * Prepare a lane for the starts [from, end) of the window: its look-ahead is
 * read, without noting what starts there.  In the whole stack a lane's stack
 * takes the place of its starts, so that none overflows.
 */
static void
begin_lane(lane *l, const acdat_scan *scan, size_t from, size_t end,
		   size_t starts)
{
	const acdat_state *states = scan->states;
	const unsigned char *pos = scan->window + end;
	size_t		ahead = scan->window_len - end;

	if (ahead > scan->max_len)
		ahead = scan->max_len;
	l->state = 0;
	for (pos += ahead; pos > scan->window + end; pos--)
	{
		uint32_t	label = scan->classes[pos[-1]];

		l->state = label == 0 ? 0 : scan_step(states, l->state, label);
	}
	l->pos = pos;
	l->from = scan->window + from;
	l->top = scan->stack + (starts - end);
}

/* Push what a lane of the starts [.., end) found. */
static void
push_lane(acdat_scan *scan, const lane *l, size_t end, size_t starts)
{
	const scan_start *bottom = scan->stack + (starts - end);
	scan_start *top = scan->stack + scan->top;
	size_t		count = (size_t) (l->top - bottom);

	if (top != bottom)
		memmove(top, bottom, count * sizeof(scan_start));
	scan->top += (uint32_t) count;
}

/* Steps all lanes can take before one of them may be at its end. */
static inline size_t
steps_left(const lane *lanes)
{
	size_t		steps = SIZE_MAX;
	int			k;

	for (k = 0; k < LANES; k++)
	{
		size_t		left = (size_t) (lanes[k].pos - lanes[k].from);

		if (left < steps)
			steps = left;
	}
	return steps;
}

/* Step all lanes until one is at its end. */
static ALWAYS_INLINE void
step_lanes(lane *lanes, const acdat_scan *scan, bool some_foreign)
{
	const acdat_state *states = scan->states;
	const uint16_t *classes = scan->classes;
	const unsigned char *window = scan->window;
	lane		own[LANES];
	size_t		steps;
	int			k;

	/* a copy that nothing points to, so that it can live in registers */
	memcpy(own, lanes, sizeof(own));
	while ((steps = steps_left(own)) > 0)
	{
		for (; steps > 0; steps--)
		{
#if defined(__GNUC__)
#pragma GCC unroll 8
#endif
			for (k = 0; k < LANES; k++)
				step_lane(&own[k], states, classes, window, some_foreign);
		}
	}
	memcpy(lanes, own, sizeof(own));
}

static void
run_lanes(acdat_scan *scan, size_t starts, bool some_foreign)
{
	lane		lanes[LANES];
	size_t		width = starts / LANES;
	size_t		rest = starts % LANES;
	int			k;

	for (k = 0; k < LANES; k++)
		begin_lane(&lanes[k], scan, k == 0 ? 0 : (size_t) k * width + rest,
				   (size_t) (k + 1) * width + rest, starts);
	if (some_foreign)
		step_lanes(lanes, scan, true);
	else
		step_lanes(lanes, scan, false);
	for (k = LANES - 1; k >= 0; k--)
	{
		finish_lane(&lanes[k], scan);
		push_lane(scan, &lanes[k], (size_t) (k + 1) * width + rest, starts);
	}
}

/*
 * The same in vectors.  What they leave of a lane is read one byte after the
 * other; its look-ahead is read by then, for following links takes no more
 * steps than reading bytes, and a lane has twice its length at least.
 */
static void
run_vectors(acdat_scan *scan, size_t starts)
{
	scan_lane	lanes[SCAN_VECTOR_LANES];
	size_t		width = starts / SCAN_VECTOR_LANES;
	size_t		rest = starts % SCAN_VECTOR_LANES;
	int			k;

	for (k = 0; k < SCAN_VECTOR_LANES; k++)
	{
		size_t		end = (size_t) (k + 1) * width + rest;
		size_t		ahead = scan->window_len - end;

		if (ahead > scan->max_len)
			ahead = scan->max_len;
		lanes[k].pos = (uint32_t) (end + ahead);
		lanes[k].end = (uint32_t) end;
		lanes[k].from = k == 0 ? 0 : (uint32_t) (end - width);
		lanes[k].top = scan->stack + (starts - end);
	}
	scan->run_lanes(scan, lanes);
	for (k = SCAN_VECTOR_LANES - 1; k >= 0; k--)
	{
		lane		l;

		l.state = lanes[k].state;
		l.pos = scan->window + lanes[k].pos;
		l.from = scan->window + lanes[k].from;
		l.top = lanes[k].top;
		finish_lane(&l, scan);
		push_lane(scan, &l, lanes[k].end, starts);
	}
}

/* How many of the samples are in no pattern? */
static int
count_foreign(const acdat_scan *scan, size_t starts)
{
	size_t		stride = starts / SAMPLES;
	int			foreign = 0;
	int			k;

	for (k = 0; k < SAMPLES; k++)
		foreign += scan->classes[scan->window[(size_t) k * stride]] == 0;
	return foreign;
}

/* Is a window long enough for so many lanes? */
static bool
is_wide(const acdat_scan *scan, size_t starts, size_t lanes)
{
	size_t		width = starts / lanes;

	return width >= LANE_MIN && width / LANE_FACTOR >= scan->max_len;
}

void
acdat_scan_window(acdat_scan *scan, size_t starts)
{
	bool		wide = is_wide(scan, starts, LANES);
	int			foreign = wide ? count_foreign(scan, starts) : 0;

	if (wide && foreign < MOSTLY_FOREIGN && scan->run_lanes != NULL &&
		is_wide(scan, starts, SCAN_VECTOR_LANES))
		run_vectors(scan, starts);
	else if (wide && foreign < MOSTLY_FOREIGN)
		run_lanes(scan, starts, foreign >= SOME_FOREIGN);
	else
	{
		lane		l;

		begin_lane(&l, scan, 0, starts, starts);
		finish_lane(&l, scan);
		push_lane(scan, &l, starts, starts);
	}
}
