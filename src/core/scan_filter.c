/*-------------------------------------------------------------------------
 *
 * scan_filter.c
 *	  Scanning by way of the filter; see filter.h.
 *
 * Positions are looked at in chunks, from right to left: first those where
 * the filter says maybe are gathered, then the reversed patterns are walked
 * down from each.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/probe_one.h"
#include "src/core/scan.h"

#include <string.h>

/* Positions gathered before the first of them is walked from. */
#define BATCH 64

/*
 * Steps of walking that are fine whatever the text, and one more for this
 * many bytes of it: beyond, the automaton is cheaper.
 */
#define FREE_STEPS 64
#define BYTES_PER_STEP 4

/*
 * The filter stays away for this much text after it gave up, and twice as
 * long each time it gives up again, up to so many times.
 */
#define REST_BYTES 32768
#define REST_DOUBLINGS 5

/*
 * Tails may let one position in so many pass, and at most so many on credit;
 * when there are more, they stay away for some text, twice as long each time.
 */
#define TAILS_BYTES_PER_END 16
#define TAILS_REST_BYTES 32768
#define TAILS_DOUBLINGS 5

/* Where patterns may end, from right to left but within a chunk. */
typedef struct batch
{
	size_t		count;
	size_t		next;			/* positions below are still to be looked at */
	size_t		low;			/* gathering may stop when next is not above */
	size_t		ends[BATCH + ACDAT_PROBE_CHUNK * ACDAT_FILTER_MAX_STRIDE];
} batch;

/* No pattern ends before the length of the shortest. */
static inline uint64_t
without_front(const acdat_scan *scan, size_t base, uint64_t mask)
{
	if (base >= scan->min_len)
		return mask;
	if (scan->min_len - base >= ACDAT_PROBE_CHUNK)
		return 0;
	return mask >> (scan->min_len - base) << (scan->min_len - base);
}

static inline void
add_ascending(batch *b, size_t base, uint64_t mask)
{
	size_t		count = b->count;

	for (; mask != 0; mask &= mask - 1)
		b->ends[count++] = base + acdat_lowest_bit(mask);
	b->count = count;
}

/* The first bytes of a text, as many as there are up to eight, behind zeroes. */
static inline void
copy_front(unsigned char copy[16], const unsigned char *text, size_t len)
{
	size_t		i;

	memset(copy, 0, 16);
	for (i = 0; i < len && i < 8; i++)
		copy[8 + i] = text[i];
}

static void
gather_tiny(const acdat_scan *scan, const unsigned char *text, size_t len,
			batch *b)
{
	unsigned char copy[16];
	uint64_t	mask;

	copy_front(copy, text, len);
	mask = scan->probe_chunk(&scan->probe, copy, len + 8, 0) >> 8;
	add_ascending(b, 0, without_front(scan, 0, mask));
	b->next = 0;
}

/* Where a pattern's gram may end at pos, the pattern ends less than a stride behind. */
static inline void
add_strided(batch *b, size_t pos, size_t stride, uint64_t mask, size_t len)
{
	size_t		count = b->count;

	for (; mask != 0; mask &= mask - 1)
	{
		size_t		first = pos - acdat_lowest_bit(mask) * stride;
		size_t		end = first + stride - 1 < len ? first + stride - 1 : len;

		for (; end >= first; end--)
			b->ends[count++] = end;
	}
	b->count = count;
}

/* Multiples of the stride, but 0. */
static void
gather_strided(const acdat_scan *scan, const unsigned char *text, size_t len,
			   batch *b)
{
	size_t		stride = scan->filter_stride;

	do
	{
		size_t		pos = (b->next - 1) - (b->next - 1) % stride;
		size_t		n = pos < 8 ? pos / stride : (pos - 8) / stride + 1;
		unsigned char copy[16];
		uint64_t	mask;

		if (n > ACDAT_PROBE_CHUNK)
			n = ACDAT_PROBE_CHUNK;
		b->next = 0;
		if (n == 0)
			break;
		if (pos >= 8)
		{
			mask = scan->probe_strided(&scan->probe, text, pos, (unsigned) n);
			b->next = pos - (n - 1) * stride;
		}
		else
		{
			copy_front(copy, text, 8);
			mask = scan->probe_strided(&scan->probe, copy, pos + 8, (unsigned) n);
		}
		add_strided(b, pos, stride, mask, len);
	} while (b->next > b->low && b->count < BATCH);
}

/* What tails let pass, as far as the filter does not rule it out. */
static inline void
add_passed(const acdat_scan *scan, const unsigned char *text, size_t base,
		   uint64_t mask, batch *b)
{
	bool		full = scan->m.header->filter_kind == ACDAT_FILTER_FULL;
	size_t		count = b->count;

	for (; mask != 0; mask &= mask - 1)
	{
		size_t		end = base + acdat_lowest_bit(mask);

		b->ends[count++] = end;
		if (scan->filter == NULL || end < 8)
			continue;
		if ((full ? acdat_probe_maybe(&scan->probe, ACDAT_FILTER_FULL, acdat_load8(text + end - 8)) :
			 acdat_probe_maybe(&scan->probe, ACDAT_FILTER_SPLIT, acdat_load8(text + end - 8))) == 0)
			count--;
	}
	b->count = count;
}

static inline int64_t
count_bits(uint64_t mask)
{
	int64_t		count = 0;

	for (; mask != 0; mask &= mask - 1)
		count++;
	return count;
}

/*
 * Account for bytes read and positions let pass; false if there are too many.
 */
static bool
tails_pay(acdat_scan *scan, size_t bytes, uint64_t mask)
{
	scan->tails_credit += (int64_t) (bytes / TAILS_BYTES_PER_END);
	if (scan->tails_credit > TAILS_CREDIT)
	{
		scan->tails_credit = TAILS_CREDIT;
		scan->tails_failures = 0;
	}
	scan->tails_credit -= count_bits(mask);
	if (scan->tails_credit >= 0)
		return true;
	scan->tails_credit = TAILS_CREDIT / 2;
	scan->tails_rest = (size_t) TAILS_REST_BYTES << scan->tails_failures;
	if (scan->tails_failures < TAILS_DOUBLINGS)
		scan->tails_failures++;
	return false;
}

static void
gather_by_tails(acdat_scan *scan, const unsigned char *text, size_t len,
				batch *b)
{
	uint64_t	mask;
	size_t		before;

	do
	{
		size_t		base = (b->next - 1) / ACDAT_TAILS_CHUNK * ACDAT_TAILS_CHUNK;

		before = b->next;
		mask = scan->tails_scan(scan->tails, scan->tail_bytes, text, len,
								&base, b->low);
		mask = without_front(scan, base, mask);
		add_passed(scan, text, base, mask, b);
		b->next = base;
	} while (tails_pay(scan, before - b->next, mask) &&
			 b->next > b->low && b->count < BATCH);
}

/* Gather positions from below b->next down. */
static inline void
gather(acdat_scan *scan, const unsigned char *text, size_t len, batch *b)
{
	b->count = 0;
	if (scan->tails != NULL && scan->tails_rest == 0)
		gather_by_tails(scan, text, len, b);
	else if (len < 8)
		gather_tiny(scan, text, len, b);
	else if (scan->filter_stride > 1)
		gather_strided(scan, text, len, b);
	else
	{
		do
		{
			size_t		base = (b->next - 1) / ACDAT_PROBE_CHUNK * ACDAT_PROBE_CHUNK;
			uint64_t	mask = scan->probe_chunk(&scan->probe, text, len, base);

			add_ascending(b, base, without_front(scan, base, mask));
			b->next = base;
		} while (b->next > b->low && b->count < BATCH);
	}
}

/* Is it the automaton's turn? */
static inline bool
says_too_little(const acdat_scan *scan, int64_t steps)
{
	return steps < 0 || (scan->filter == NULL && scan->tails_rest > 0);
}

/* Does a pattern end at text[end]?  *steps is lowered by what it took. */
static bool
walk_any(const acdat_scan *scan, const unsigned char *text, size_t end,
		 int64_t *steps)
{
	uint32_t	state = 0;

	for (; end > 0; end--)
	{
		uint32_t	label = scan->classes[text[end - 1]];
		uint32_t	child = scan->states[state].base ^ label;

		--*steps;
		if (label == 0 || ACDAT_STATE_LABEL(&scan->states[child]) != label)
			return false;
		state = child;
		if (ACDAT_STATE_OUT(&scan->states[state]) != 0)
			return true;
	}
	return false;
}

/* Walk from the ends gathered; true if a pattern ends at one. */
static bool
walk_batch(const acdat_scan *scan, const unsigned char *text, const batch *b,
		   int64_t *steps)
{
	size_t		i;

	for (i = 0; i < b->count; i++)
	{
		if (walk_any(scan, text, b->ends[i], steps))
			return true;
	}
	return false;
}

/* The filter said maybe too often. */
static void
rest_filter(acdat_scan *scan)
{
	scan->filter_rest = (size_t) REST_BYTES << scan->filter_failures;
	if (scan->filter_failures < REST_DOUBLINGS)
		scan->filter_failures++;
}

bool
acdat_scan_filter_contains(acdat_scan *scan, const unsigned char *text,
						   size_t len, size_t *left)
{
	int64_t		steps = FREE_STEPS;
	batch		b;

	b.next = len + 1;
	b.low = len > ACDAT_TICK_BYTES ? len - ACDAT_TICK_BYTES : 0;
	do
	{
		size_t		before = b.next;

		gather(scan, text, len, &b);
		if (b.count > 0 && walk_batch(scan, text, &b, &steps))
			return true;
		steps += (int64_t) ((before - b.next) / BYTES_PER_STEP);
		if (says_too_little(scan, steps))
		{
			rest_filter(scan);
			break;
		}
	} while (b.next > b.low);
	if (scan->filter_rest == 0)
		scan->filter_failures = 0;
	*left = b.next > 0 ? b.next - 1 : 0;
	return false;
}

/*
 * Stack a start below those further left, as the automaton would have done;
 * of two nodes at one start the longer stands for both.
 */
static void
insert_start(acdat_scan *scan, scan_start start, int64_t *steps)
{
	uint32_t	at = scan->top;

	while (at > 0 && scan->stack[at - 1].pos < start.pos)
		at--;
	*steps -= scan->top - at;
	if (at > 0 && scan->stack[at - 1].pos == start.pos)
	{
		if (scan->node_len[scan->stack[at - 1].node] < scan->node_len[start.node])
			scan->stack[at - 1] = start;
		return;
	}
	memmove(&scan->stack[at + 1], &scan->stack[at],
			(scan->top - at) * sizeof(scan_start));
	scan->stack[at] = start;
	scan->top++;
}

/* Stack the starts of all patterns that end at window[end]. */
static void
walk_all(acdat_scan *scan, size_t end, size_t starts, int64_t *steps)
{
	const acdat_state *states = scan->states;
	uint32_t	state = 0;
	uint32_t	depth = 0;

	while (depth < end)
	{
		size_t		pos = end - depth - 1;
		uint32_t	label = scan->classes[scan->window[pos]];
		uint32_t	child = states[state].base ^ label;
		uint32_t	out;

		--*steps;
		if (label == 0 || ACDAT_STATE_LABEL(&states[child]) != label)
			return;
		state = child;
		depth++;
		out = ACDAT_STATE_OUT(&states[state]);
		if (out != 0 && pos < starts && scan->node_len[out - 1] == depth)
			insert_start(scan, (scan_start) {(uint32_t) pos, out - 1}, steps);
	}
}

bool
acdat_scan_filter_window(acdat_scan *scan, size_t starts)
{
	size_t		ahead = starts + scan->max_len;
	int64_t		steps;
	batch		b;

	if (ahead > scan->window_len)
		ahead = scan->window_len;
	steps = FREE_STEPS + (int64_t) (ahead / BYTES_PER_STEP);
	b.next = ahead + 1;
	b.low = 0;
	do
	{
		size_t		i;

		gather(scan, scan->window, ahead, &b);
		for (i = 0; i < b.count && steps >= 0; i++)
			walk_all(scan, b.ends[i], starts, &steps);
	} while (b.next > 0 && !says_too_little(scan, steps));
	if (!says_too_little(scan, steps))
	{
		scan->filter_failures = 0;
		return true;
	}
	scan->top = 0;
	rest_filter(scan);
	return false;
}
