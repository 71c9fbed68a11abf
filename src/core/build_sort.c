/*-------------------------------------------------------------------------
 *
 * acdat_build_sort.c
 *	  Sorting patterns by their reversed bytes, and uniting equal ones.
 *
 * What patterns are sorted by is seen as a sequence of 64-bit words: first
 * the string, seven bytes in a word and a mark that tells whether it ends
 * there, then the attributes.  Patterns with equal words so far are a run; a
 * run is split by the highest bit in which the next words differ (radix
 * exchange, Hildebrandt and Isbitz, JACM 6(2), 1959).  So no pattern takes
 * part in more splits than it has bits, whatever the patterns, and a split
 * looks at records in a row, not at strings.  While nothing else waits, a long
 * run is split by many bits at once, in place (American flag sort, McIlroy,
 * Bostic and McIlroy, Computing Systems 6(1), 1993).
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"

#include <string.h>

/* Shorter runs are sorted by insertion. */
#define SHORT_RUN 16

/* Runs from this length on are split by so many bits at once. */
#define LONG_RUN 4096
#define DIGIT_BITS 11
#define DIGITS (1u << DIGIT_BITS)

/*
 * The smaller half of a run is done first, so halves that wait at least
 * double from the top of the stack down; short runs wait in addition, and the
 * parts of a long one below all others.
 */
#define STACK_SIZE (32 + SHORT_RUN + DIGITS)

/* Bytes of a string in one word; the low byte of the word is the mark. */
#define WORD_BYTES 7
#define MARK_MORE (WORD_BYTES + 2)	/* the string goes on */
#define MARK_MASK 0xff

/* What a word is taken from, in this order. */
typedef enum sort_phase
{
	PHASE_BYTES = 0,
	PHASE_ID,
	PHASE_RANK,					/* higher priority first, then no exception */
	PHASE_REPLACEMENT,
	PHASE_TAG,
	PHASE_ORDINAL
} sort_phase;

typedef struct sort_record
{
	uint64_t	word;
	uint32_t	pattern;		/* as added */
} sort_record;

/* Records [low, high): equal in all words before this one. */
typedef struct sort_run
{
	uint32_t	low;
	uint32_t	high;
	uint32_t	index;			/* of the word within its phase */
	sort_phase	phase;
	bool		loaded;			/* the records hold this word */
} sort_run;

typedef struct sorter
{
	acdat_builder *builder;
	sort_record *records;
	sort_run	stack[STACK_SIZE];
	size_t		top;
} sorter;

/*
 * A word of a string.  The mark counts the bytes, so that of strings that
 * differ in trailing zeros only the shorter comes first.
 */
static uint64_t
string_word(const unsigned char *bytes, uint32_t len, uint32_t index)
{
	size_t		at = (size_t) index * WORD_BYTES;
	size_t		left = len - at;
	size_t		take = left < WORD_BYTES ? left : WORD_BYTES;
	uint64_t	word = 0;
	size_t		i;

	for (i = 0; i < take; i++)
		word |= (uint64_t) bytes[at + i] << (56 - 8 * i);
	return word | (left > WORD_BYTES ? MARK_MORE : take + 1);
}

/* The same for a replacement or tag; none comes first. */
static uint64_t
attribute_word(const acdat_builder *builder, const acdat_string *string,
			   uint32_t index)
{
	if (string == NULL || string->len == ACDAT_NONE)
		return 0;
	return string_word(builder->strings + string->offset, string->len, index);
}

/*
 * The next word of a pattern.  Signed numbers are shifted so that they compare
 * as unsigned ones.
 */
static uint64_t
pattern_word(const acdat_builder *builder, uint32_t pattern,
			 sort_phase phase, uint32_t index)
{
	const build_pattern *p = &builder->patterns[pattern];

	switch (phase)
	{
		case PHASE_BYTES:
			return string_word(build_bytes(builder, p), p->len, index);
		case PHASE_ID:
			return (uint64_t) p->id ^ (uint64_t) 1 << 63;
		case PHASE_RANK:
			return (uint64_t) ~((uint32_t) p->priority ^ (uint32_t) 1 << 31) << 1 |
				p->allow;
		case PHASE_REPLACEMENT:
			return attribute_word(builder, build_replacement(builder, p), index);
		case PHASE_TAG:
			return attribute_word(builder, build_tag(builder, p), index);
		case PHASE_ORDINAL:
			break;
	}
	return pattern;
}

/*
 * Runs of one are sorted.
 */
static void
push_run(sorter *s, uint32_t low, uint32_t high, const sort_run *like)
{
	sort_run   *run = &s->stack[s->top];

	if (high - low < 2)
		return;
	*run = *like;
	run->low = low;
	run->high = high;
	s->top++;
}

/* Records [low, high) have the same word: go on with the next one. */
static void
push_equal(sorter *s, uint32_t low, uint32_t high, const sort_run *run)
{
	sort_run	next = *run;
	bool		string = run->phase == PHASE_BYTES ||
		run->phase == PHASE_REPLACEMENT || run->phase == PHASE_TAG;

	next.loaded = false;
	if (string && (s->records[low].word & MARK_MASK) == MARK_MORE)
		next.index++;
	else
	{
		next.phase = (sort_phase) (run->phase + 1);
		next.index = 0;
	}
	push_run(s, low, high, &next);
}

/*
 * By insertion; what is equal goes on to the next word, like the halves of a
 * long run.
 */
static void
sort_short(sorter *s, const sort_run *run)
{
	sort_record *r = s->records;
	uint32_t	i;
	uint32_t	j;

	for (i = run->low + 1; i < run->high; i++)
	{
		sort_record moved = r[i];

		for (j = i; j > run->low && r[j - 1].word > moved.word; j--)
			r[j] = r[j - 1];
		r[j] = moved;
	}
	for (i = run->low; i < run->high; i = j)
	{
		for (j = i + 1; j < run->high && r[j].word == r[i].word; j++)
			;
		push_equal(s, i, j, run);
	}
}

/* The digit whose highest bit is this one is reached by a shift. */
static unsigned
shift_of(uint64_t bit)
{
	unsigned	shift = 0;

	while (bit >> shift >> DIGIT_BITS != 0)
		shift++;
	return shift;
}

static inline uint32_t
digit(const sort_record *record, unsigned shift)
{
	return (uint32_t) (record->word >> shift) & (DIGITS - 1);
}

/*
 * Split a run by a digit: each record is swapped to the front of what is not
 * settled of its part, until the one in hand is at home.
 */
static void
split_by_digit(sorter *s, const sort_run *run, unsigned shift)
{
	sort_record *r = s->records;
	uint32_t	next[DIGITS] = {0};
	uint32_t	end[DIGITS];
	uint32_t	at = run->low;
	uint32_t	i;

	for (i = run->low; i < run->high; i++)
		next[digit(&r[i], shift)]++;
	for (i = 0; i < DIGITS; i++)
	{
		at += next[i];
		end[i] = at;
		next[i] = at - next[i];
	}
	for (i = 0; i < DIGITS; i++)
	{
		while (next[i] < end[i])
		{
			sort_record record = r[next[i]];
			uint32_t	home;

			while ((home = digit(&record, shift)) != i)
			{
				sort_record displaced = r[next[home]];

				r[next[home]++] = record;
				record = displaced;
			}
			r[next[i]++] = record;
		}
	}
	for (i = DIGITS; i > 0; i--)
		push_run(s, i > 1 ? end[i - 2] : run->low, end[i - 1], run);
}

/*
 * Split a run by the highest bit that differs, in place.  Bits that all records
 * share cost nothing.
 */
static void
split_run(sorter *s, const sort_run *run)
{
	sort_record *r = s->records;
	uint64_t	all = UINT64_MAX;
	uint64_t	any = 0;
	uint64_t	bit = (uint64_t) 1 << 63;
	uint32_t	low = run->low;
	uint32_t	high = run->high;
	uint32_t	i;

	for (i = low; i < high; i++)
	{
		all &= r[i].word;
		any |= r[i].word;
	}
	if (all == any)
	{
		push_equal(s, low, high, run);
		return;
	}
	while (((all ^ any) & bit) == 0)
		bit >>= 1;
	if (s->top == 0 && high - low >= LONG_RUN)
	{
		split_by_digit(s, run, shift_of(bit));
		return;
	}
	for (;;)
	{
		sort_record saved;

		while (low < high && (r[low].word & bit) == 0)
			low++;
		while (low < high && (r[high - 1].word & bit) != 0)
			high--;
		if (low == high)
			break;
		saved = r[low];
		r[low++] = r[--high];
		r[high] = saved;
	}
	if (low - run->low > run->high - low)
	{
		push_run(s, run->low, low, run);
		push_run(s, low, run->high, run);
	}
	else
	{
		push_run(s, low, run->high, run);
		push_run(s, run->low, low, run);
	}
}

/* Give the records of a run their next word. */
static acdat_status
load_words(sorter *s, sort_run *run)
{
	uint32_t	i;

	for (i = run->low; i < run->high; i++)
	{
		s->records[i].word = pattern_word(s->builder, s->records[i].pattern,
										  run->phase, run->index);
		if (build_work(s->builder, sizeof(build_pattern)))
			return ACDAT_CANCELLED;
	}
	run->loaded = true;
	return ACDAT_OK;
}

static acdat_status
sort_records(sorter *s)
{
	while (s->top > 0)
	{
		sort_run	run = s->stack[--s->top];

		if (!run.loaded && load_words(s, &run) != ACDAT_OK)
			return ACDAT_CANCELLED;
		if (run.high - run.low <= SHORT_RUN)
			sort_short(s, &run);
		else
			split_run(s, &run);
		if (build_work(s->builder,
					   (run.high - run.low) * sizeof(sort_record)))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/* Move patterns to where their records are, along the cycles. */
static acdat_status
move_patterns(acdat_builder *builder, sort_record *records)
{
	uint32_t	i;

	for (i = 0; i < builder->count; i++)
	{
		build_pattern first = builder->patterns[i];
		uint32_t	to = i;

		while (records[to].pattern != i)
		{
			uint32_t	from = records[to].pattern;

			builder->patterns[to] = builder->patterns[from];
			records[to].pattern = to;
			to = from;
			if (build_work(builder, sizeof(build_pattern)))
				return ACDAT_CANCELLED;
		}
		builder->patterns[to] = first;
		records[to].pattern = to;
	}
	return ACDAT_OK;
}

/*
 * Records are sorted, and patterns moved once at the end: a record is smaller
 * and what its comparisons look at is in it.
 */
acdat_status
acdat_build_sort(acdat_builder *builder)
{
	sort_run	whole = {0, 0, 0, PHASE_BYTES, false};
	sorter		s;
	acdat_status status;
	uint32_t	i;

	s.builder = builder;
	s.top = 0;
	s.records = acdat_alloc(&builder->hooks,
							builder->count * sizeof(sort_record));
	if (s.records == NULL)
		return ACDAT_NO_MEMORY;
	for (i = 0; i < builder->count; i++)
		s.records[i].pattern = i;
	push_run(&s, 0, builder->count, &whole);
	status = sort_records(&s);
	if (status == ACDAT_OK)
		status = move_patterns(builder, s.records);
	acdat_free(&builder->hooks, s.records);
	return status;
}

static bool
same_string(const acdat_builder *builder, const acdat_string *a,
			const acdat_string *b)
{
	if (a == NULL || a->len == ACDAT_NONE)
		return b == NULL || b->len == ACDAT_NONE;
	return b != NULL && a->len == b->len &&
		memcmp(builder->strings + a->offset, builder->strings + b->offset,
			   a->len) == 0;
}

/* Are two patterns with the same bytes equal in every attribute? */
static bool
same_attributes(const acdat_builder *builder, const build_pattern *a,
				const build_pattern *b)
{
	return a->id == b->id && a->priority == b->priority &&
		a->allow == b->allow &&
		same_string(builder, build_replacement(builder, a),
					build_replacement(builder, b)) &&
		build_tag_number(builder, a) == build_tag_number(builder, b);
}

/*
 * Length of the longest common prefix.
 */
static uint32_t
shared_bytes(const unsigned char *a, uint32_t a_len,
			 const unsigned char *b, uint32_t b_len)
{
	uint32_t	limit = a_len < b_len ? a_len : b_len;
	uint32_t	shared = 0;

	while (shared < limit && a[shared] == b[shared])
		shared++;
	return shared;
}

/*
 * Put the strings into a new arena in order, each but once, and drop
 * patterns equal to the one before in every attribute.
 */
static acdat_status
unite(acdat_builder *builder, unsigned char *arena)
{
	build_pattern *kept = NULL;	/* the last one */
	uint32_t	count = 0;
	size_t		len = 0;
	uint32_t	i;

	for (i = 0; i < builder->count; i++)
	{
		build_pattern p = builder->patterns[i];
		const unsigned char *bytes = build_bytes(builder, &p);
		uint32_t	shared = kept == NULL ? 0 :
			shared_bytes(arena + kept->offset, kept->len, bytes, p.len);

		if (build_work(builder, p.len))
			return ACDAT_CANCELLED;
		if (kept != NULL && shared == p.len && shared == kept->len)
		{
			p.offset = kept->offset;
			if (same_attributes(builder, &p, kept))
			{
				builder->stats.merged++;
				continue;
			}
			builder->stats.duplicates++;
		}
		else
		{
			memcpy(arena + len, bytes, p.len);
			p.offset = (uint32_t) len;
			len += p.len;
			builder->expected_states += p.len - shared;
			builder->expected_nodes++;
		}
		builder->patterns[count] = p;
		kept = &builder->patterns[count++];
	}
	builder->count = count;
	builder->arena_len = len;
	return ACDAT_OK;
}

/*
 * The second arena is as large as the first one at most, and short-lived.
 */
acdat_status
acdat_build_unite(acdat_builder *builder)
{
	unsigned char *arena = acdat_alloc(&builder->hooks, builder->arena_len);
	acdat_status status;

	if (arena == NULL)
		return ACDAT_NO_MEMORY;
	builder->expected_states = 1;
	builder->expected_nodes = 0;
	status = unite(builder, arena);

	/* patterns of a failed build are not looked at any more */
	acdat_free(&builder->hooks, builder->arena);
	builder->arena = arena;
	return status;
}
