/*-------------------------------------------------------------------------
 *
 * image.h
 *	  Layout of a compiled dictionary: one position-independent byte string.
 *
 * The image is a backward Aho-Corasick automaton (Aho and Corasick,
 * "Efficient string matching", CACM 18(6), 1975) in a double array (Aoe, "An
 * efficient digital search algorithm by using a double-array structure",
 * IEEE TSE 15(9), 1989), with XOR addressing.  Patterns are inserted
 * reversed and texts are scanned from right to left.  After reading
 * text[s..], the state is the longest string that starts at s and is a
 * suffix of a pattern; the output nodes reachable from it are exactly the
 * patterns that start at s, each a prefix of the one before.
 *
 * States.  Child c of state s is slot base(s) ^ c; it exists if that slot's
 * label is c.  That test suffices because no two states share a base.
 * Labels are classes: bytes that occur in no pattern share class 0, which
 * labels no state, and with ASCII case folding both cases share one.
 *
 * Output nodes.  One per distinct folded pattern, numbered so that a shorter
 * prefix has a smaller number.  Sections that would say nothing (identity,
 * constants) are left out; their offset is 0.
 *
 * All integers are little-endian; all offsets count from the beginning of
 * the image and are multiples of 8.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_IMAGE_H
#define ACDAT_IMAGE_H

#include "src/core/acdat.h"
#include "src/core/text.h"

#define ACDAT_IMAGE_MAGIC "ACDATIMG"
#define ACDAT_LAYOUT_VERSION 4
#define ACDAT_BYTE_ORDER 0x01020304u

/* header flags */
#define ACDAT_IMAGE_FOLDS		0x1u	/* texts go through acdat_fold() */
#define ACDAT_IMAGE_VALID_UTF8	0x2u	/* every pattern is valid UTF-8 */
#define ACDAT_IMAGE_ALL_FLAGS	0x3u

typedef struct acdat_state
{
	uint32_t	base;
	uint32_t	fail;			/* the longest proper suffix that is a state;
								 * of the root itself */
	uint32_t	out_label;		/* output node + 1, and label */
} acdat_state;

/* out_label: 23 bits output node + 1 (0 = none), 9 bits label */
#define ACDAT_LABEL_BITS 9
#define ACDAT_LABEL_MASK 0x1ffu
#define ACDAT_MAX_NODES ((1u << 23) - 1)

/* The longest ignore option, in bytes; keeps starting a scan cheap. */
#define ACDAT_MAX_IGNORE 65536

#define ACDAT_NO_LABEL ACDAT_LABEL_MASK /* of the root and unused slots */
#define ACDAT_STATE_LABEL(s) ((s)->out_label & ACDAT_LABEL_MASK)
#define ACDAT_STATE_OUT(s) ((s)->out_label >> ACDAT_LABEL_BITS)

/* No node, no entry. */
#define ACDAT_NONE UINT32_MAX

/*
 * A string in the string section.  len = ACDAT_NONE: no string at all, as
 * opposed to an empty one.
 */
typedef struct acdat_string
{
	uint32_t	offset;
	uint32_t	len;
} acdat_string;

typedef struct acdat_image_header
{
	char		magic[8];
	uint32_t	layout_version;
	uint32_t	byte_order;
	uint64_t	image_size;
	uint64_t	checksum[2];	/* XXH3-128 of everything behind the header and
								 * of the header with both checksums zero */
	uint64_t	header_checksum;	/* XXH3-64 of the header with this zero */
	uint32_t	flags;
	uint32_t	encoding;
	uint32_t	case_insensitive;
	uint32_t	normalize;
	uint32_t	boundary;
	uint32_t	classes;		/* labels are 1 .. classes - 1 */
	uint32_t	slots;			/* in the state array */
	uint32_t	states;			/* slots in use */
	uint32_t	nodes;
	uint32_t	entries;		/* patterns that are reported */
	uint32_t	allow_patterns;
	uint32_t	min_len;		/* folded bytes */
	uint32_t	max_len;
	uint32_t	max_chain;		/* nodes on the longest chain */
	uint32_t	ignore_count;	/* code points in the ignore set */
	uint32_t	ignore_len;		/* bytes of the option as given */
	int32_t		priority;		/* of all entries, if there is no section */
	uint32_t	filter_kind;	/* acdat_filter_kind; see filter.h */
	uint32_t	filter_gram;	/* bytes of a gram */
	uint32_t	filter_word;	/* bytes that choose a word */
	uint32_t	filter_stride;
	uint32_t	filter_log2_words;
	uint32_t	ends_vary;		/* ACDAT_TEXT_* traits of a window in which ends
								 * are not static */
	uint32_t	tail_bytes;		/* last bytes that tails look at; see tails.h */

	uint64_t	class_offset;	/* uint16_t[256]: label of a byte */
	uint64_t	state_offset;	/* acdat_state[slots] */
	uint64_t	node_len;		/* uint32_t[nodes] */
	uint64_t	node_link;		/* uint32_t[nodes]: next shorter node that has
								 * entries and may end where it does */
	uint64_t	node_chain;		/* uint32_t[nodes]: next shorter node of any
								 * kind, where links do not say it all */
	uint64_t	node_first;		/* uint32_t[nodes + 1]: first_entry */
	uint64_t	node_choice;	/* uint32_t[nodes]: the preferred entry of the
								 * node, by priority and then by id */
	uint64_t	node_best;		/* uint32_t[nodes]: the node with the preferred
								 * entry among this and those it links to */
	uint64_t	node_allow;		/* uint32_t[nodes]: longest allow pattern among
								 * this node and shorter ones, 0 = none */
	uint64_t	node_allow_below;	/* the same without this node */
	uint64_t	node_jump;		/* uint32_t[nodes]: a node that links lead to,
								 * or ACDAT_NONE for their end */
	uint64_t	node_jump_best; /* uint32_t[nodes]: the node with the preferred
								 * entry from this one to before the jump's */
	uint64_t	entry_id32;		/* int32_t[entries] or else */
	uint64_t	entry_id64;		/* int64_t[entries] */
	uint64_t	entry_priority; /* int32_t[entries] */
	uint64_t	entry_replacement;	/* acdat_string[entries] */
	uint64_t	entry_tag;		/* uint32_t[entries]: in tags, or ACDAT_NONE */
	uint64_t	tags;			/* acdat_string[tag_count]: the distinct tags,
								 * in the order of their bytes */
	uint64_t	tag_count;
	uint64_t	strings;		/* bytes */
	uint64_t	strings_len;
	uint64_t	ignore_chars;	/* uint32_t[ignore_count], sorted */
	uint64_t	ignore_bytes;	/* char[ignore_len] */
	uint64_t	filter;			/* uint64_t[1 << filter_log2_words] */
	uint64_t	tails;			/* acdat_tail[tail_bytes] */
} acdat_image_header;

/*
 * Static ends.  Whether a pattern may end where it does depends on what
 * stands around that place, and the longer patterns of the chain say what
 * that is.  So a node whose end lies between two units of the text tells which
 * shorter ends are valid, unless the window has traits that keep folded bytes
 * from telling: those of ends_vary.  Links and choices count valid ends only.
 * An end inside a unit, possible with patterns that are not valid UTF-8, is
 * passed by way of node_chain.
 *
 * Jumps.  With allow patterns leftmost_first needs the preferred entry among
 * the longer part of a chain, up to where exceptions reach.  Jumps span
 * numbers of links as the digits of a skew-binary number do (Myers, "An
 * applicative random-access stack", Information Processing Letters 17(5),
 * 1983), so that it is found in a logarithmic number of steps.
 *
 * node_first is left out when every node has exactly one entry, which then
 * has the node's number.  The entries of a node are ordered by id; node_choice
 * is left out when all have the same priority, for then it is the first one.
 * With allow patterns a node may have no entry; links lead to nodes that have
 * one.  node_chain is there when ends_vary is not 0 or ends may lie inside
 * units; jumps when there are allow patterns and chains of several nodes.
 */

/* Sections as typed pointers; NULL when left out. */
static inline const void *
acdat_section(const acdat_machine *m, uint64_t offset)
{
	return offset == 0 ? NULL : m->image + offset;
}

static inline const acdat_state *
acdat_states(const acdat_machine *m)
{
	return (const acdat_state *) (const void *) (m->image + m->header->state_offset);
}

static inline const uint16_t *
acdat_classes(const acdat_machine *m)
{
	return (const uint16_t *) (const void *) (m->image + m->header->class_offset);
}

static inline uint32_t
acdat_u32_at(const acdat_machine *m, uint64_t offset, uint32_t index)
{
	return ((const uint32_t *) (const void *) (m->image + offset))[index];
}

static inline uint32_t
acdat_node_len(const acdat_machine *m, uint32_t node)
{
	return acdat_u32_at(m, m->header->node_len, node);
}

static inline uint32_t
acdat_node_link(const acdat_machine *m, uint32_t node)
{
	return acdat_u32_at(m, m->header->node_link, node);
}

/* Entries of a node: [first, end). */
static inline uint32_t
acdat_node_first(const acdat_machine *m, uint32_t node)
{
	return m->header->node_first == 0 ? node :
		acdat_u32_at(m, m->header->node_first, node);
}

static inline uint32_t
acdat_node_end(const acdat_machine *m, uint32_t node)
{
	return m->header->node_first == 0 ? node + 1 :
		acdat_u32_at(m, m->header->node_first, node + 1);
}

/* The preferred entry of a node that has any. */
static inline uint32_t
acdat_node_choice(const acdat_machine *m, uint32_t node)
{
	return m->header->node_choice == 0 ? acdat_node_first(m, node) :
		acdat_u32_at(m, m->header->node_choice, node);
}

static inline bool
acdat_node_has_entries(const acdat_machine *m, uint32_t node)
{
	return m->header->node_first == 0 ||
		acdat_node_first(m, node) < acdat_node_end(m, node);
}

/* Is there an allow pattern with just the bytes of the node? */
static inline bool
acdat_node_allows(const acdat_machine *m, uint32_t node)
{
	return acdat_u32_at(m, m->header->node_allow, node) ==
		acdat_node_len(m, node);
}

/*
 * Of two entries at one start, is a the choice of leftmost_first: higher
 * priority, then smaller id?
 */
extern bool acdat_entry_preferred(const acdat_machine *m, uint32_t a,
								  uint32_t b);

/* Of two nodes, each of which may be ACDAT_NONE, that with the better entry. */
extern uint32_t acdat_preferred_node(const acdat_machine *m, uint32_t a,
									 uint32_t b);

/*
 * What node_jump and node_jump_best must be for a node, from its link and
 * those of the nodes that links lead to.  depth is the number of nodes on the
 * chain of links of each of them.
 */
extern uint32_t acdat_jump_of(const acdat_machine *m, const uint32_t *depth,
							  uint32_t node);
extern uint32_t acdat_jump_best_of(const acdat_machine *m, uint32_t node);

/* Which of two strings comes first by its bytes: < 0, 0 or > 0. */
extern int	acdat_compare_strings(const void *a, size_t a_len,
								  const void *b, size_t b_len);

/* The options texts are folded with, from the image. */
extern void acdat_image_text_options(const acdat_machine *m,
									 acdat_text_options *options);

/*
 * The checksum of an image, computed; the fields for it in the header are
 * not used.  The second form asks for ticks; false: cancelled.
 */
extern void acdat_image_checksum(const void *image, size_t size,
								 uint64_t checksum[2]);
extern bool acdat_image_checksum_ticking(const void *image, size_t size,
										 const acdat_hooks *hooks,
										 uint64_t checksum[2]);
extern uint64_t acdat_header_checksum(const acdat_image_header *header);

#endif							/* ACDAT_IMAGE_H */
