/*-------------------------------------------------------------------------
 *
 * scan_filter.c
 *	  Scanning by way of the filter; see filter.h.
 *
 * Positions are looked at from right to left in batches: first those where
 * the filter says maybe are gathered, then the reversed patterns are walked
 * down from each.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/scan.h"

#include <string.h>

/* Positions gathered at a time. */
#define BATCH 64

/*
 * Steps of walking that are fine whatever the text, and one more for this
 * many bytes of it: beyond, the automaton is cheaper.
 */
#define FREE_STEPS 64
#define BYTES_PER_STEP 4

/* The filter stays away for this much text after it gave up. */
#define REST_BYTES 32768

typedef struct batch
{
	size_t		count;
	size_t		positions[BATCH];	/* descending */
	size_t		next;			/* positions up to here are still to be
								 * looked at; 0 = none */
	size_t		low;			/* gathering may stop below this one */
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
	unsigned	index_shift;
} probe;

static inline probe
make_probe(const acdat_scan *scan, const unsigned char *text)
{
	probe		p;

	p.table = scan->filter;
	p.text = text;
	p.fold = scan->filter_fold;
	p.gram_shift = 64 - 8 * scan->filter_gram;
	p.word_shift = 64 - 8 * scan->filter_word;
	p.index_shift = 64 - scan->filter_log2_words;
	return p;
}

/* May a pattern's gram end where last8 are the bytes before?  0 or 1. */
static inline size_t
maybe(probe p, acdat_filter_kind kind, uint64_t last8)
{
	uint64_t	hash;
	uint64_t	word;

	last8 |= p.fold;
	hash = (last8 >> p.gram_shift) * ACDAT_FILTER_MULTIPLIER;
	if (kind == ACDAT_FILTER_FULL)
	{
		word = p.table[hash >> p.index_shift];
		return (size_t) ((word >> (hash >> 32 & 63)) &
						 (word >> (hash >> 38 & 63)) & 1);
	}
	word = p.table[(last8 >> p.word_shift) * ACDAT_FILTER_MULTIPLIER >>
				   p.index_shift];
	return (size_t) (word >> (hash >> 58) & 1);
}

/*
 * Look at a position, at least 8: it is always stored and counted if wanted,
 * so that there is no branch to mispredict.
 */
static inline size_t
look_at(probe p, acdat_filter_kind kind, size_t pos, batch *b, size_t count)
{
	b->positions[count] = pos;
	return count + maybe(p, kind, acdat_filter_last8(p.text, pos));
}

/* Bytes in front of a text so that eight can be read before any position. */
#define FRONT 8

/*
 * The first bytes of a text behind zeroes: its positions 1 to 8 are looked at
 * in this copy.
 */
static inline void
copy_front(unsigned char front[2 * FRONT], const unsigned char *text,
		   size_t len)
{
	memset(front, 0, 2 * FRONT);
	if (len >= FRONT)
		memcpy(front + FRONT, text, FRONT);
	else
		memcpy(front + FRONT, text, len);
}

/*
 * Gather positions from b->next down, multiples of the stride, until the
 * batch may be full or everything was looked at.
 */
static inline void
gather_strided(const acdat_scan *scan, acdat_filter_kind kind,
			   const unsigned char *text, size_t len, batch *b)
{
	probe		p = make_probe(scan, text);
	size_t		stride = scan->filter_stride;
	size_t		least = FRONT > b->low ? FRONT : b->low;
	size_t		pos = b->next - b->next % stride;
	size_t		count = 0;

	while (pos >= least + 3 * stride && count + 4 <= BATCH)
	{
		count = look_at(p, kind, pos, b, count);
		count = look_at(p, kind, pos - stride, b, count);
		count = look_at(p, kind, pos - 2 * stride, b, count);
		count = look_at(p, kind, pos - 3 * stride, b, count);
		pos -= 4 * stride;
	}
	for (; pos >= least && count < BATCH; pos -= stride)
		count = look_at(p, kind, pos, b, count);
	if (pos < FRONT && count + FRONT <= BATCH)
	{
		unsigned char front[2 * FRONT];

		copy_front(front, text, len);
		p.text = front + FRONT;
		for (; pos >= scan->filter_word && pos < FRONT; pos -= stride)
			count = look_at(p, kind, pos, b, count);
		pos = 0;
	}
	b->count = count;
	b->next = pos;
}

/* Bit 7 of every byte that begins a character, in eight bytes of UTF-8. */
static inline uint64_t
character_begins(const unsigned char *text)
{
	uint64_t	w;

	memcpy(&w, text, sizeof(w));
	return ~(w & ~(w << 1)) & UINT64_C(0x8080808080808080);
}

/* Look at the positions base + i where byte i of begins is set, descending. */
static inline size_t
look_at_begins(probe p, acdat_filter_kind kind, size_t base, uint64_t begins,
			   batch *b, size_t count)
{
	if (begins == UINT64_C(0x8080808080808080))
	{
		/* nothing but ASCII: no position depends on another */
		count = look_at(p, kind, base + 7, b, count);
		count = look_at(p, kind, base + 6, b, count);
		count = look_at(p, kind, base + 5, b, count);
		count = look_at(p, kind, base + 4, b, count);
		count = look_at(p, kind, base + 3, b, count);
		count = look_at(p, kind, base + 2, b, count);
		count = look_at(p, kind, base + 1, b, count);
		return look_at(p, kind, base, b, count);
	}
	while (begins != 0)
	{
		unsigned	top = 63 - (unsigned) __builtin_clzll(begins);

		begins ^= (uint64_t) 1 << top;
		count = look_at(p, kind, base + top / 8, b, count);
	}
	return count;
}

/*
 * The same for the beginnings, which are the ends, of characters of valid
 * UTF-8.  The text is taken in pieces of eight bytes, counted from its front;
 * b->next is the text's end or the beginning of a piece.
 */
static inline void
gather_characters(const acdat_scan *scan, acdat_filter_kind kind,
				  const unsigned char *text, size_t len, batch *b)
{
	probe		p = make_probe(scan, text);
	size_t		pos = b->next;
	size_t		tail = pos % 8;
	size_t		count = 0;

	if (pos == len && len >= 8)
	{
		/* the end, and the piece that is not whole */
		count = look_at(p, kind, pos, b, count);
		pos -= tail;
		if (tail > 0)
			count = look_at_begins(p, kind, pos,
								   character_begins(text + len - 8) >> (64 - 8 * tail),
								   b, count);
	}
	while (pos >= 16 && pos > b->low && count + 8 <= BATCH)
	{
		pos -= 8;
		count = look_at_begins(p, kind, pos, character_begins(text + pos), b,
							   count);
	}
	if (pos > 0 && pos < 16 && count + 9 <= BATCH)
	{
		unsigned char front[2 * FRONT];
		uint64_t	begins;

		copy_front(front, text, len);
		p.text = front + FRONT;
		begins = character_begins(front + FRONT) & ~(uint64_t) 0x80;
		if (len < 8)
		{
			count = look_at(p, kind, len, b, count);
			begins &= ((uint64_t) 1 << (8 * len)) - 1;
		}
		count = look_at_begins(p, kind, 0, begins, b, count);
		pos = 0;
	}
	b->count = count;
	b->next = pos;
}

static void
gather(const acdat_scan *scan, const unsigned char *text, size_t len, batch *b)
{
	if (scan->valid_text && scan->filter_stride == 1)
	{
		if (scan->filter_kind == ACDAT_FILTER_FULL)
			gather_characters(scan, ACDAT_FILTER_FULL, text, len, b);
		else
			gather_characters(scan, ACDAT_FILTER_SPLIT, text, len, b);
	}
	else if (scan->filter_kind == ACDAT_FILTER_FULL)
		gather_strided(scan, ACDAT_FILTER_FULL, text, len, b);
	else
		gather_strided(scan, ACDAT_FILTER_SPLIT, text, len, b);
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
	size_t		looked = 0;		/* bytes from the end */
	batch		b;

	b.next = len;
	do
	{
		b.low = b.next > ACDAT_TICK_BYTES ? b.next - ACDAT_TICK_BYTES : 0;
		gather(scan, text, len, &b);
		if (b.count > 0 && walk_batch(scan, text, len, &b, &steps))
			return true;
		steps += (int64_t) ((len - b.next - looked) / BYTES_PER_STEP);
		looked = len - b.next;
		if (steps < 0)
		{
			scan->filter_rest = REST_BYTES;
			break;
		}
	} while (b.next > 0 && looked < ACDAT_TICK_BYTES);
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
