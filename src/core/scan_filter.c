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

/* Positions looked at at a time: one bit each. */
#define CHUNK 64

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

/*
 * For what must become a copy of its own for every kind of filter; left to
 * themselves compilers share one that asks for the kind at every position.
 */
#if defined(__GNUC__)
#define ALWAYS_INLINE inline __attribute__((always_inline))
#else
#define ALWAYS_INLINE inline
#endif

/* Positions where the filter says maybe, descending but within a chunk. */
typedef struct batch
{
	size_t		count;
	size_t		next;			/* positions up to here are still to be
								 * looked at; 0 = none */
	size_t		low;			/* gathering may stop when next is not above */
	size_t		positions[BATCH + CHUNK + 2];	/* a chunk, the end, and one
												 * not counted */
} batch;

/*
 * What looking at a position needs, in one place, so that the compiler keeps
 * it in registers.
 */
typedef struct probe
{
	const uint64_t *table;
	const unsigned char *text;
	uint64_t	fold;
	unsigned	gram_shift;
	unsigned	word_shift;
	unsigned	log2_words;
} probe;

static inline uint64_t
load8(const unsigned char *bytes)
{
	uint64_t	w;

	memcpy(&w, bytes, sizeof(w));
	return w;
}

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

static inline probe
make_probe(const acdat_scan *scan, const unsigned char *text)
{
	probe		p;

	p.table = scan->filter;
	p.text = text;
	p.fold = scan->filter_fold;
	p.gram_shift = 64 - 8 * scan->filter_gram;
	p.word_shift = 64 - 8 * scan->filter_word;
	p.log2_words = scan->filter_log2_words;
	return p;
}

/* May a pattern's gram end where last8 are the bytes before?  0 or 1. */
static ALWAYS_INLINE size_t
maybe(probe p, acdat_filter_kind kind, uint64_t last8)
{
	uint64_t	hash;
	uint64_t	word;

	last8 |= p.fold;
	if (kind == ACDAT_FILTER_FULL)
	{
		hash = (last8 >> p.gram_shift) * ACDAT_FILTER_MULTIPLIER;
		word = p.table[acdat_filter_word(hash, p.log2_words)];
		return (size_t) ((word >> (hash >> 32 & 63)) &
						 (word >> (hash >> 38 & 63)) & 1);
	}
	hash = acdat_filter_key(last8, ACDAT_FILTER_SPLIT_GRAM) *
		ACDAT_FILTER_MULTIPLIER;
	word = p.table[acdat_filter_word((last8 >> p.word_shift) *
									 ACDAT_FILTER_MULTIPLIER, p.log2_words)];
	return (size_t) (word >> (hash >> 58) & 1);
}

/*
 * Look at a position: it is always stored and counted if wanted, so that
 * there is no branch to mispredict.  In front of the text are zeroes.
 */
static ALWAYS_INLINE size_t
look_at(probe p, acdat_filter_kind kind, size_t pos, batch *b, size_t count)
{
	size_t		back = pos < 8 ? pos : 8;

	b->positions[count] = pos;
	return count + maybe(p, kind, load8(p.text + pos - back) << (64 - 8 * back));
}

/* The same for positions of which eight bytes are known to be before. */
static ALWAYS_INLINE size_t
look_behind(probe p, acdat_filter_kind kind, size_t pos, batch *b,
			size_t count)
{
	b->positions[count] = pos;
	return count + maybe(p, kind, load8(p.text + pos - 8));
}

/* Bits of a chunk of n positions, n > 0. */
static inline uint64_t
all_bits(size_t n)
{
	return ~(uint64_t) 0 >> (CHUNK - n);
}

/* A bit per byte, from eight bytes of UTF-8: does it begin a character? */
static inline uint64_t
character_bits(uint64_t bytes)
{
	uint64_t	high = ~(bytes & ~(bytes << 1)) & UINT64_C(0x8080808080808080);

	return high * UINT64_C(0x0002040810204081) >> 56;
}

/* The same of up to a chunk of bytes, text[base, base + n). */
static inline uint64_t
character_mask(const unsigned char *text, size_t base, size_t n)
{
	uint64_t	mask = 0;
	size_t		i;

	for (i = 0; i + 8 <= n; i += 8)
		mask |= character_bits(load8(text + base + i)) << i;
	if (i < n)
		mask |= character_bits(load8(text + base + n - 8) >> (64 - 8 * (n - i))) << i;
	return mask & all_bits(n);
}

/* Look at all positions below end down to first, first >= 8. */
static ALWAYS_INLINE size_t
look_at_all(probe p, acdat_filter_kind kind, size_t first, size_t end,
			batch *b, size_t count)
{
	for (; end >= first + 4; end -= 4)
	{
		count = look_behind(p, kind, end - 1, b, count);
		count = look_behind(p, kind, end - 2, b, count);
		count = look_behind(p, kind, end - 3, b, count);
		count = look_behind(p, kind, end - 4, b, count);
	}
	for (; end > first; end--)
		count = look_behind(p, kind, end - 1, b, count);
	return count;
}

/*
 * Look at the last chunk of positions up to b->next; the text has at least
 * eight bytes.  Of texts known to be valid only the beginnings, which are
 * the ends, of characters are looked at.  No pattern ends before the length
 * of the shortest.
 */
static ALWAYS_INLINE void
gather_chunk(const acdat_scan *scan, probe p, acdat_filter_kind kind,
			 size_t len, batch *b)
{
	size_t		base = (b->next - 1) / CHUNK * CHUNK;
	size_t		n = b->next - base;
	size_t		first = base > 0 ? base : scan->min_len > 8 ? scan->min_len : 8;
	uint64_t	all = first < b->next ?
		all_bits(n) >> (first - base) << (first - base) : 0;
	uint64_t	front = 0;
	uint64_t	mask = all;
	size_t		count = b->count;

	if (base == 0 && scan->min_len < 8)
		front = all_bits(n) & (0xffu >> scan->min_len << scan->min_len);
	if (scan->valid_text)
	{
		uint64_t	characters = character_mask(p.text, base, n);

		mask &= characters;
		front &= characters;
	}
	if (b->next == len)
		count = look_at(p, kind, len, b, count);
	if (mask == all)
		count = look_at_all(p, kind, first, b->next, b, count);
	else
	{
		for (; mask != 0; mask &= mask - 1)
			count = look_behind(p, kind, base + lowest_bit(mask), b, count);
	}
	for (; front != 0; front &= front - 1)
		count = look_at(p, kind, lowest_bit(front), b, count);
	b->count = count;
	b->next = base;
}

/* The same for a chunk of multiples of the stride. */
static ALWAYS_INLINE void
gather_strided(const acdat_scan *scan, probe p, acdat_filter_kind kind,
			   batch *b)
{
	size_t		stride = scan->filter_stride;
	size_t		pos = b->next - b->next % stride;
	size_t		count = b->count;
	size_t		k;

	for (k = 0; k < CHUNK && pos >= 8 + 3 * stride; k += 4, pos -= 4 * stride)
	{
		count = look_behind(p, kind, pos, b, count);
		count = look_behind(p, kind, pos - stride, b, count);
		count = look_behind(p, kind, pos - 2 * stride, b, count);
		count = look_behind(p, kind, pos - 3 * stride, b, count);
	}
	for (; k < CHUNK && pos > 0; k++, pos -= stride)
		count = look_at(p, kind, pos, b, count);
	b->count = count;
	b->next = pos;
}

/* Every position of a text of less than eight bytes. */
static ALWAYS_INLINE void
gather_tiny(const acdat_scan *scan, acdat_filter_kind kind,
			const unsigned char *text, size_t len, batch *b)
{
	unsigned char copy[8] = {0};
	probe		p = make_probe(scan, copy);
	size_t		pos;

	for (pos = 0; pos < len; pos++)
		copy[pos] = text[pos];
	for (pos = len; pos > 0; pos--)
		b->count = look_at(p, kind, pos, b, b->count);
	b->next = 0;
}

static ALWAYS_INLINE void
gather_kind(const acdat_scan *scan, acdat_filter_kind kind,
			const unsigned char *text, size_t len, batch *b)
{
	probe		p = make_probe(scan, text);

	b->count = 0;
	if (len < 8)
		gather_tiny(scan, kind, text, len, b);
	else if (scan->filter_stride == 1)
	{
		do
			gather_chunk(scan, p, kind, len, b);
		while (b->next > b->low && b->count < BATCH);
	}
	else
	{
		do
			gather_strided(scan, p, kind, b);
		while (b->next > b->low && b->count < BATCH);
	}
}

/* Gather positions from b->next down, whose distance is filter_stride. */
static void
gather(const acdat_scan *scan, const unsigned char *text, size_t len, batch *b)
{
	if (scan->filter_kind == ACDAT_FILTER_FULL)
		gather_kind(scan, ACDAT_FILTER_FULL, text, len, b);
	else
		gather_kind(scan, ACDAT_FILTER_SPLIT, text, len, b);
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

/* Look from the positions gathered; true if a pattern ends at one. */
static bool
walk_batch(const acdat_scan *scan, const unsigned char *text, size_t len,
		   const batch *b, int64_t *steps)
{
	size_t		i;

	for (i = 0; i < b->count; i++)
	{
		size_t		end = b->positions[i] + scan->filter_stride - 1;

		if (end > len)
			end = len;
		for (; end >= b->positions[i]; end--)
		{
			if (walk_any(scan, text, end, steps))
				return true;
		}
	}
	return false;
}

bool
acdat_scan_filter_contains(acdat_scan *scan, const unsigned char *text,
						   size_t len, size_t *left)
{
	int64_t		steps = FREE_STEPS;
	batch		b;

	b.next = len;
	b.low = len > ACDAT_TICK_BYTES ? len - ACDAT_TICK_BYTES : 0;
	do
	{
		size_t		before = b.next;

		gather(scan, text, len, &b);
		if (b.count > 0 && walk_batch(scan, text, len, &b, &steps))
			return true;
		steps += (int64_t) ((before - b.next) / BYTES_PER_STEP);
		if (steps < 0)
		{
			scan->filter_rest = REST_BYTES;
			break;
		}
	} while (b.next > b.low);
	*left = b.next;
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
	b.next = ahead;
	b.low = 0;
	do
	{
		size_t		i;

		gather(scan, scan->window, ahead, &b);
		for (i = 0; i < b.count && steps >= 0; i++)
		{
			size_t		end = b.positions[i] + scan->filter_stride - 1;

			if (end > ahead)
				end = ahead;
			for (; end >= b.positions[i]; end--)
				walk_all(scan, end, starts, &steps);
		}
	} while (b.next > 0 && steps >= 0);
	if (steps >= 0)
		return true;
	scan->top = 0;
	scan->filter_rest = REST_BYTES;
	return false;
}
