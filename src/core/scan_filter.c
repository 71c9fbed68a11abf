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

/* The filter stays away for this much text after it gave up. */
#define REST_BYTES 32768

/* Where patterns may end, from right to left but within a chunk. */
typedef struct batch
{
	size_t		count;
	size_t		next;			/* positions below are still to be looked at */
	size_t		low;			/* gathering may stop when next is not above */
	size_t		ends[BATCH + ACDAT_PROBE_CHUNK * ACDAT_FILTER_MAX_STRIDE];
} batch;

/* The number of the lowest bit that is set; there must be one. */
static inline unsigned
lowest_bit(uint64_t mask)
{
#if defined(__GNUC__)
	return (unsigned) __builtin_ctzll(mask);
#else
	unsigned	bit = 0;

	for (; (mask & 1) == 0; mask >>= 1)
		bit++;
	return bit;
#endif
}

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
		b->ends[count++] = base + lowest_bit(mask);
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
		size_t		first = pos - lowest_bit(mask) * stride;
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

/* Gather positions from below b->next down. */
static inline void
gather(const acdat_scan *scan, const unsigned char *text, size_t len, batch *b)
{
	b->count = 0;
	if (len < 8)
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
		if (steps < 0)
		{
			scan->filter_rest = REST_BYTES;
			break;
		}
	} while (b.next > b.low);
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
	} while (b.next > 0 && steps >= 0);
	if (steps >= 0)
		return true;
	scan->top = 0;
	scan->filter_rest = REST_BYTES;
	return false;
}
