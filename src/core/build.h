/*-------------------------------------------------------------------------
 *
 * build.h
 *	  What the parts of the builder share.
 *
 * Building goes: add (fold and reverse each pattern into one arena), sort,
 * unite equal strings, build the automaton level by level from ranges of the
 * sorted strings, derive links and choices, write.  Nothing is recursive;
 * memory beside the image is a few words per pattern.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_BUILD_H
#define ACDAT_BUILD_H

#include "src/core/hooks.h"
#include "src/core/image.h"
#include "src/core/tails.h"

/* A distinct tag, in the string arena. */
typedef struct build_tag_string
{
	acdat_string string;
	uint32_t	number;			/* in the image; ACDAT_NONE: of no pattern that
								 * is reported, or not known yet */
} build_tag_string;

/* Replacement, in the string arena, and tag of a pattern. */
typedef struct build_strings
{
	acdat_string replacement;
	uint32_t	tag;			/* in builder->tags, or ACDAT_NONE */
} build_strings;

/* Bits for the number of pairs of strings. */
#define BUILD_STRINGS_MASK 0x7fffffffu

/* A pattern as added; its folded, reversed bytes are in the arena. */
typedef struct build_pattern
{
	int64_t		id;
	int32_t		priority;
	uint32_t	offset;			/* in the arena */
	uint32_t	len;			/* folded bytes */
	uint32_t	strings:31;		/* in builder->pairs, + 1; 0 = neither */
	uint32_t	allow:1;
} build_pattern;

/* An output node: the patterns [first, end) of the sorted list. */
typedef struct build_node
{
	uint32_t	first;
	uint32_t	end;
	uint32_t	link;			/* next shorter node of any kind */
} build_node;

struct acdat_builder
{
	acdat_hooks hooks;
	acdat_limits limits;
	acdat_options options;
	acdat_text_options text_options;
	uint32_t   *ignore_chars;
	unsigned char byte_table[256];
	bool		folds;
	bool		started;		/* compile was called: nothing can be added */
	bool		compiled;		/* and it succeeded */
	uint64_t	work;			/* since the last tick */
	acdat_build_stats stats;

	build_pattern *patterns;
	uint32_t	count;
	size_t		capacity;
	unsigned char *arena;
	size_t		arena_len;
	size_t		arena_capacity;
	build_strings *pairs;		/* only of patterns that have any */
	size_t		pair_count;
	size_t		pair_capacity;
	build_tag_string *tags;		/* distinct ones, as added */
	uint32_t	tag_count;
	size_t		tag_capacity;
	uint32_t   *tag_table;		/* hash table of indexes into tags */
	size_t		tag_places;		/* in it */
	uint32_t	used_tags;		/* of patterns that are reported */
	unsigned char *strings;
	size_t		strings_len;
	size_t		strings_capacity;
	unsigned char *folded;		/* room for folding a piece of a pattern */
	acdat_origin *origins;
	bool		valid_utf8;
	size_t		expected_states;
	uint32_t	expected_nodes;

	/* automaton */
	uint16_t	classes[256];	/* label of a byte */
	uint32_t	class_count;
	uint32_t	block;			/* slots of a block: power of 2 >= classes */
	acdat_state *states;		/* slots */
	uint64_t   *used_bases;		/* bit per slot number used as a base */
	size_t		slots;
	size_t		slots_capacity;
	size_t		bases_capacity;
	uint32_t	free_first;		/* list of free slots through base/fail */
	uint32_t	free_last;
	uint32_t	free_next;		/* where the search for one slot goes on */
	uint32_t	state_count;

	/* nodes, by number */
	build_node *nodes;
	uint32_t	node_count;

	acdat_image_header header;	/* filled by compile */
};

/* Count work; true if the caller must stop. */
static inline bool
build_work(acdat_builder *builder, uint64_t amount)
{
	builder->work += amount;
	if (builder->work < ACDAT_TICK_BYTES)
		return false;
	builder->work = 0;
	return acdat_tick(&builder->hooks);
}

static inline const unsigned char *
build_bytes(const acdat_builder *builder, const build_pattern *pattern)
{
	return builder->arena + pattern->offset;
}

static inline const acdat_string *
build_replacement(const acdat_builder *builder, const build_pattern *pattern)
{
	return pattern->strings == 0 ? NULL :
		&builder->pairs[pattern->strings - 1].replacement;
}

static inline uint32_t
build_tag_number(const acdat_builder *builder, const build_pattern *pattern)
{
	return pattern->strings == 0 ? ACDAT_NONE :
		builder->pairs[pattern->strings - 1].tag;
}

static inline const acdat_string *
build_tag(const acdat_builder *builder, const build_pattern *pattern)
{
	uint32_t	tag = build_tag_number(builder, pattern);

	return tag == ACDAT_NONE ? NULL : &builder->tags[tag].string;
}

/* Append a string, NULL for none, to the string arena. */
extern acdat_status acdat_build_add_string(acdat_builder *builder,
										   const void *bytes, size_t len,
										   acdat_string *string);

/* The index of a tag, which is new or not; ACDAT_NONE for NULL. */
extern acdat_status acdat_build_add_tag(acdat_builder *builder,
										const void *bytes, size_t len,
										uint32_t *tag);

/* Number the tags that patterns are reported with; none can be added then. */
extern acdat_status acdat_build_number_tags(acdat_builder *builder);

/*
 * Sort patterns by reversed bytes, then by id, descending priority, the
 * other attributes, and as added.
 */
extern acdat_status acdat_build_sort(acdat_builder *builder);

/*
 * Unite sorted patterns: strings are put in order, equal ones once (so that
 * they have the same offset), and of equal patterns only the first is kept.
 * Counts the states and nodes to come.
 */
extern acdat_status acdat_build_unite(acdat_builder *builder);

/* The automaton and the nodes. */
extern acdat_status acdat_build_automaton(acdat_builder *builder);

static inline uint32_t
build_node_len(const acdat_builder *builder, uint32_t node)
{
	return builder->patterns[builder->nodes[node].first].len;
}

/* out_label of a slot that is not in use, while building */
#define BUILD_FREE UINT32_MAX

/*
 * Slots of the double array.  begin: room for the expected states, slot 0
 * taken for the root.  place: find a base, not used by another state, whose
 * slots for the labels are free, and take them.  end: make unused slots
 * harmless.
 */
extern acdat_status acdat_build_slots_begin(acdat_builder *builder);
extern acdat_status acdat_build_place(acdat_builder *builder,
									  const uint16_t *labels, uint32_t count,
									  uint32_t *base);
extern acdat_status acdat_build_slots_end(acdat_builder *builder);

/* Decide on filter and tails (in builder->header); fill their tables. */
extern void acdat_build_choose_filter(acdat_builder *builder);
extern acdat_status acdat_build_fill_filter(const acdat_builder *builder,
											uint64_t *table);
extern acdat_status acdat_build_fill_tails(const acdat_builder *builder,
										   acdat_tail *tails);

/* Fill builder->header and return the image size. */
extern acdat_status acdat_build_layout(acdat_builder *builder, size_t *size);

#endif							/* ACDAT_BUILD_H */
