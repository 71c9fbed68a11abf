/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  Running the automaton over a text, block by block.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/run.h"
#include "src/core/scan.h"

#include <string.h>

/*
 * The first block is small, so that a match at the front is found early; the
 * others are large enough for many lanes.
 */
#define FIRST_BLOCK 4096
#define MIN_BLOCK 16384
#define MAX_BLOCK 65536

/*
 * A block is this many times the look-ahead, which is read twice, or once in
 * every lane.
 */
#define BLOCK_FACTOR 64

/*
 * With a longer look-ahead than this a stream waits for half as much text
 * again, or else small pieces would make it read the look-ahead each time.
 */
#define LONG_LOOK_AHEAD 4096

#define ALIGN16(x) (((x) + 15) & ~(size_t) 15)

/*
 * Starts in a block: many times the look-ahead, within limits.
 */
static uint32_t
max_block(const acdat_machine *m)
{
	uint64_t	block = (uint64_t) m->header->max_len * BLOCK_FACTOR;
	uint64_t	most = m->header->max_len > MAX_BLOCK ? m->header->max_len : MAX_BLOCK;

	if (block > most)
		block = most;
	return block < MIN_BLOCK ? MIN_BLOCK : (uint32_t) block;
}

/*
 * Folded bytes a block may need: starts, look-ahead and one unit more, for a
 * unit that does not fit is left for the next block.
 */
static size_t
folded_capacity(const acdat_machine *m)
{
	if ((m->header->flags & ACDAT_IMAGE_FOLDS) == 0)
		return 0;
	return (size_t) max_block(m) + m->header->max_len + ACDAT_UNIT_MAX_FOLDED;
}

/* The last block of a folded text takes in what is left of the look-ahead. */
static size_t
stack_size(const acdat_machine *m)
{
	size_t		folded = folded_capacity(m);
	size_t		elements = folded > 0 ? folded : max_block(m);

	return ALIGN16(elements * sizeof(scan_start));
}

/*
 * Depends on nothing but the machine, as promised.  The parts are laid out by
 * acdat_scan_init() in the same order.
 */
size_t
acdat_scan_size(const acdat_machine *m)
{
	size_t		folded = folded_capacity(m);

	return ALIGN16(sizeof(acdat_scan)) + stack_size(m) +
		ALIGN16((size_t) m->header->max_chain * sizeof(uint32_t)) +
		ALIGN16(folded) + ALIGN16(folded * sizeof(acdat_origin));
}

/* The image is sound: gram and word have at least one byte. */
static void
prepare_probe(acdat_scan *scan, const acdat_image_header *h)
{
	scan->filter_stride = h->filter_stride;
	scan->probe.table = scan->filter;
	scan->probe.fold = acdat_filter_fold(h);
	scan->probe.gram_shift = 64 - 8 * h->filter_gram;
	scan->probe.word_shift = 64 - 8 * h->filter_word;
	scan->probe.log2_words = h->filter_log2_words;
	scan->probe.stride = h->filter_stride;
}

void
acdat_scan_use_kernel(acdat_scan *scan, const acdat_probe_kernel *kernel)
{
	scan->probe_chunk = scan->m.header->filter_kind == ACDAT_FILTER_FULL ?
		kernel->full : kernel->split;
	scan->probe_strided = kernel->strided;
	scan->tails_scan = kernel->tails;
}

/* Vectors hold labels in bytes and places of fields in 32 bits. */
static void
prepare_lanes(acdat_scan *scan, const acdat_image_header *h)
{
	int			i;

	if (h->classes > 256 || h->slots > INT32_MAX / 3 - 1)
		return;
	scan->run_lanes = acdat_x86_run_lanes();
	for (i = 0; i < 256; i++)
		scan->label_bytes[i] = (unsigned char) scan->classes[i];
}

void
acdat_scan_init(acdat_scan *scan, const acdat_machine *m,
				const acdat_hooks *hooks)
{
	const acdat_image_header *h = m->header;
	unsigned char *room = (unsigned char *) scan + ALIGN16(sizeof(acdat_scan));

	memset(scan, 0, sizeof(*scan));
	scan->m = *m;
	scan->states = acdat_states(m);
	scan->classes = acdat_classes(m);
	prepare_lanes(scan, h);
	scan->node_len = acdat_section(m, h->node_len);
	scan->node_link = acdat_section(m, h->node_link);
	scan->folds = (h->flags & ACDAT_IMAGE_FOLDS) != 0;
	scan->boundary = (h->boundary == ACDAT_BOUNDARY_WORD);
	scan->node_chain = acdat_section(m, h->node_chain);
	scan->varying = h->ends_vary;
	scan->is_static = true;
	scan->allows = (h->node_allow != 0);
	scan->encoding = (acdat_encoding) h->encoding;
	scan->min_len = h->min_len;
	scan->max_len = h->max_len;
	scan->max_block = max_block(m);
	if (scan->folds)
		acdat_image_text_options(m, &scan->text_options);
	if (hooks != NULL)
	{
		scan->tick = hooks->tick;
		scan->tick_arg = hooks->arg;
	}
	scan->filter = acdat_section(m, h->filter);
	if (scan->filter != NULL)
		prepare_probe(scan, h);
	scan->tails = acdat_section(m, h->tails);
	scan->tail_bytes = h->tail_bytes;
	scan->tails_credit = TAILS_CREDIT;
	acdat_scan_use_kernel(scan, acdat_probe_kernel_number(0));
	scan->stack = (scan_start *) (void *) room;
	room += stack_size(m);
	scan->chain = (uint32_t *) (void *) room;
	room += ALIGN16((size_t) h->max_chain * sizeof(uint32_t));
	scan->folded_capacity = folded_capacity(m);
	scan->folded = room;
	room += ALIGN16(scan->folded_capacity);
	scan->origins = (acdat_origin *) (void *) room;
}

/*
 * Touches a few fields only: short texts are scanned by the million.  Room for
 * starts and folding needs no clearing.
 */
void
acdat_scan_start(acdat_scan *scan, acdat_policy policy, const void *text,
				 size_t len, bool final)
{
	scan->policy = policy;
	scan->text = text;
	scan->len = len;
	scan->final = final;
	scan->base = 0;
	scan->next = 0;
	scan->block = FIRST_BLOCK;
	scan->top = 0;
	scan->allow_until = 0;
	scan->next_allowed = 0;
	scan->pending = false;
	scan->chain_top = 0;
	scan->entry = scan->entry_end = 0;
}

void
acdat_scan_trust_text(acdat_scan *scan, bool valid)
{
	scan->probe.characters = valid && scan->encoding == ACDAT_ENCODING_UTF8 &&
		(scan->m.header->flags & ACDAT_IMAGE_VALID_UTF8) != 0;
}

void
acdat_scan_restrict(acdat_scan *scan, const uint64_t *tags)
{
	scan->only_tags = tags;
}

/*
 * Word boundaries look at the character before a start, which may have four
 * bytes; a union that may go on is kept from its beginning.
 */
size_t
acdat_scan_consumed(const acdat_scan *scan)
{
	size_t		context = scan->boundary ? SCAN_CONTEXT : 0;
	size_t		consumed = scan->next < context ? 0 : scan->next - context;

	if (scan->pending && scan->merged.start - scan->base < consumed)
		consumed = (size_t) (scan->merged.start - scan->base);
	return consumed;
}

void
acdat_scan_continue(acdat_scan *scan, const void *text, size_t len,
					bool final)
{
	size_t		consumed = acdat_scan_consumed(scan);

	scan->base += consumed;
	scan->next -= consumed;
	scan->text = text;
	scan->len = len;
	scan->final = final;
}

/*
 * Text before it can be passed on: no match reported later begins there.
 */
uint64_t
acdat_scan_decided(const acdat_scan *scan)
{
	return scan->pending ? scan->merged.start : scan->base + scan->next;
}

/*
 * The next block of a text that is matched as it is: returns the number of
 * its starts, 0 if that needs more text.
 */
static size_t
next_plain(acdat_scan *scan)
{
	size_t		left = scan->len - scan->next;
	size_t		starts = left;

	if (!scan->final)
	{
		/* what a match at the last start may reach, and look at behind */
		size_t		keep = scan->max_len > 0 ? scan->max_len - 1 : 0;

		if (scan->boundary)
			keep += SCAN_CONTEXT;
		starts = left > keep ? left - keep : 0;
		if (keep > LONG_LOOK_AHEAD && starts < keep / 2)
			starts = 0;
	}
	if (starts > scan->block)
		starts = scan->block;
	scan->window = scan->text + scan->next;
	scan->window_len = left;
	scan->window_start = scan->next;
	scan->origin = NULL;
	scan->next += starts;
	return starts;
}

/*
 * The same for a text that must be folded.  May use up text (that is all
 * dropped) and yet find no start.
 */
static size_t
next_folded(acdat_scan *scan)
{
	size_t		left = scan->len - scan->next;
	size_t		capacity = (size_t) scan->block + scan->max_len +
		ACDAT_UNIT_MAX_FOLDED;
	uint32_t	traits = scan->varying;
	size_t		starts;
	size_t		consumed;
	bool		all;

	if (left > UINT32_MAX / 2)
		left = UINT32_MAX / 2;
	all = scan->final && left == scan->len - scan->next;
	scan->window_start = scan->next;
	scan->window = scan->folded;
	scan->origin = scan->origins;
	scan->window_len = acdat_fold(&scan->text_options,
								  scan->text + scan->next, left, all,
								  scan->folded, scan->origins, capacity,
								  &consumed, &traits);
	scan->is_static = (traits == 0);
	if (all && consumed == left)
	{
		scan->next = scan->len;
		return scan->window_len;
	}
	starts = scan->window_len > (size_t) scan->max_len + 1 ?
		scan->window_len - scan->max_len - 1 : 0;
	while (starts > 0 &&
		   scan->origins[starts].start == scan->origins[starts - 1].start)
		starts--;
	if (starts > 0)
		scan->next += scan->origins[starts].start;
	else if (scan->window_len == 0)
		scan->next += consumed;
	return starts;
}

/*
 * The filter answers for the whole block or not at all.  A block without starts
 * is progress only if it used up text.
 */
acdat_status
acdat_scan_next_block(acdat_scan *scan)
{
	size_t		before = scan->next;
	size_t		starts;

	if (scan->next == scan->len)
		return scan->final ? ACDAT_END : ACDAT_MORE;
	starts = scan->folds ? next_folded(scan) : next_plain(scan);
	scan->top = 0;
	if (starts > 0 && !(scan_filter_wanted(scan, starts) &&
						acdat_scan_filter_window(scan, starts)))
		acdat_scan_window(scan, starts);
	else if (scan->next == before)
		return ACDAT_MORE;
	scan->block = scan->max_block;
	scan->work += starts + scan->max_len;
	if (scan->work >= ACDAT_TICK_BYTES)
	{
		scan->work %= ACDAT_TICK_BYTES;
		if (scan->tick != NULL && scan->tick(scan->tick_arg))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}
