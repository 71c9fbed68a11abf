/*-------------------------------------------------------------------------
 *
 * build.c
 *	  The builder: adding patterns, the order of the steps.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/build.h"

#include <string.h>

#define DEFAULT_MAX_PATTERN_BYTES ((size_t) 1 << 20)

/* Offsets in the arenas have 32 bits. */
#define MAX_STRINGS ((size_t) UINT32_MAX - 1)
#define MAX_ARENA ((size_t) UINT32_MAX - 1)

/* Folded bytes at a time; any pattern is done in pieces. */
#define FOLD_ROOM (2 * (size_t) ACDAT_UNIT_MAX_FOLDED)

/*
 * Check and copy the options, and derive from them how bytes are folded.
 * What is allocated here is freed with the builder, whatever is returned.
 */
static acdat_status
set_options(acdat_builder *builder, const acdat_options *options)
{
	acdat_status status;
	char	   *ignore;

	builder->options = *options;
	builder->options.ignore = NULL;
	if ((unsigned) options->encoding > ACDAT_ENCODING_UTF8 ||
		(unsigned) options->case_insensitive > ACDAT_CASE_UNICODE ||
		(unsigned) options->normalize > ACDAT_NORMALIZE_NFKC ||
		(unsigned) options->boundary > ACDAT_BOUNDARY_WORD ||
		options->ignore_len > ACDAT_MAX_IGNORE)
		return ACDAT_BAD_ARGUMENT;
	if (options->encoding != ACDAT_ENCODING_UTF8 &&
		(options->case_insensitive == ACDAT_CASE_UNICODE ||
		 options->normalize != ACDAT_NORMALIZE_NONE))
		return ACDAT_BAD_ARGUMENT;
	builder->text_options.encoding = options->encoding;
	builder->text_options.case_insensitive = options->case_insensitive;
	builder->text_options.normalize = options->normalize;
	builder->ignore_chars = acdat_alloc(&builder->hooks,
										(options->ignore_len + 1) *
										sizeof(uint32_t));
	ignore = acdat_alloc(&builder->hooks, options->ignore_len + 1);
	if (builder->ignore_chars == NULL || ignore == NULL)
	{
		acdat_free(&builder->hooks, ignore);
		return ACDAT_NO_MEMORY;
	}
	if (options->ignore_len > 0)
		memcpy(ignore, options->ignore, options->ignore_len);
	builder->options.ignore = ignore;
	status = acdat_ignore_parse(&builder->options, builder->ignore_chars,
								&builder->text_options.ignore);
	builder->folds = acdat_text_needs_fold(&builder->options);
	acdat_text_byte_table(&builder->options, builder->byte_table);
	if (status != ACDAT_OK || !builder->folds)
		return status;
	builder->folded = acdat_alloc(&builder->hooks, FOLD_ROOM);
	builder->origins = acdat_alloc(&builder->hooks,
								   FOLD_ROOM * sizeof(acdat_origin));
	return builder->folded != NULL && builder->origins != NULL ?
		ACDAT_OK : ACDAT_NO_MEMORY;
}

/*
 * On any failure nothing is left allocated.  Default limits are filled in
 * here, so that the rest of the builder need not know of them.
 */
acdat_builder *
acdat_builder_create(const acdat_options *options, const acdat_limits *limits,
					 const acdat_hooks *hooks, acdat_status *status)
{
	acdat_hooks own = acdat_hooks_or_default(hooks);
	acdat_builder *builder = acdat_alloc(&own, sizeof(acdat_builder));

	*status = ACDAT_NO_MEMORY;
	if (builder == NULL)
		return NULL;
	memset(builder, 0, sizeof(*builder));
	builder->hooks = own;
	if (limits != NULL)
		builder->limits = *limits;
	if (builder->limits.max_pattern_bytes == 0)
		builder->limits.max_pattern_bytes = DEFAULT_MAX_PATTERN_BYTES;
	builder->valid_utf8 = true;
	*status = set_options(builder, options);
	if (*status != ACDAT_OK)
	{
		acdat_builder_destroy(builder);
		return NULL;
	}
	return builder;
}

/* Room for at least len more bytes in the arena. */
static acdat_status
arena_room(acdat_builder *builder, size_t len)
{
	if (len > MAX_ARENA - builder->arena_len)
		return ACDAT_TOO_LARGE;
	if (!acdat_grow(&builder->hooks, (void **) &builder->arena,
					&builder->arena_capacity, builder->arena_len + len, 1))
		return ACDAT_NO_MEMORY;
	return ACDAT_OK;
}

/* Append bytes to the arena, through the byte table only. */
static acdat_status
append_plain(acdat_builder *builder, const unsigned char *bytes, size_t len)
{
	acdat_status status = arena_room(builder, len);
	unsigned char *dst;
	size_t		i;

	if (status != ACDAT_OK)
		return status;
	dst = builder->arena + builder->arena_len;
	for (i = 0; i < len; i++)
		dst[i] = builder->byte_table[bytes[i]];
	builder->arena_len += len;
	return ACDAT_OK;
}

/* Append bytes to the arena, folded, a piece at a time. */
static acdat_status
append_folded(acdat_builder *builder, const unsigned char *bytes, size_t len)
{
	while (len > 0)
	{
		size_t		consumed;
		size_t		folded_len = acdat_fold(&builder->text_options, bytes,
											len, true, builder->folded,
											builder->origins, FOLD_ROOM,
											&consumed, NULL);
		acdat_status status = arena_room(builder, folded_len);

		if (status != ACDAT_OK)
			return status;
		memcpy(builder->arena + builder->arena_len, builder->folded,
			   folded_len);
		builder->arena_len += folded_len;
		bytes += consumed;
		len -= consumed;
		if (build_work(builder, consumed))
			return ACDAT_CANCELLED;
	}
	return ACDAT_OK;
}

/*
 * Put the folded bytes of a pattern, reversed, into the arena; nothing is
 * left there if that fails.
 */
static acdat_status
add_bytes(acdat_builder *builder, const acdat_pattern *pattern,
		  build_pattern *own)
{
	size_t		start = builder->arena_len;
	unsigned char *low;
	unsigned char *high;
	acdat_status status;

	if (builder->folds)
		status = append_folded(builder, pattern->bytes, pattern->len);
	else
		status = append_plain(builder, pattern->bytes, pattern->len);
	if (status == ACDAT_OK && builder->arena_len == start)
		status = ACDAT_EMPTY_PATTERN;
	if (status != ACDAT_OK)
	{
		builder->arena_len = start;
		return status;
	}
	own->offset = (uint32_t) start;
	own->len = (uint32_t) (builder->arena_len - start);
	low = builder->arena + start;
	high = builder->arena + builder->arena_len - 1;
	while (low < high)
	{
		unsigned char saved = *low;

		*low++ = *high;
		*high-- = saved;
	}
	return ACDAT_OK;
}

acdat_status
acdat_build_add_string(acdat_builder *builder, const void *bytes, size_t len,
					   acdat_string *string)
{
	string->offset = 0;
	string->len = ACDAT_NONE;
	if (bytes == NULL)
		return ACDAT_OK;
	if (len > MAX_STRINGS - builder->strings_len)
		return ACDAT_TOO_LARGE;
	/* one more, so that there is a place even for nothing but empty strings */
	if (!acdat_grow(&builder->hooks, (void **) &builder->strings,
					&builder->strings_capacity,
					builder->strings_len + len + 1, 1))
		return ACDAT_NO_MEMORY;
	string->offset = (uint32_t) builder->strings_len;
	string->len = (uint32_t) len;
	if (len > 0)
		memcpy(builder->strings + builder->strings_len, bytes, len);
	builder->strings_len += len;
	return ACDAT_OK;
}

/* The replacement and tag of a pattern, if it has any. */
static acdat_status
add_strings(acdat_builder *builder, const acdat_pattern *pattern,
			build_pattern *own)
{
	build_strings pair;
	acdat_status status;

	own->strings = 0;
	if (pattern->replacement == NULL && pattern->tag == NULL)
		return ACDAT_OK;
	status = acdat_build_add_string(builder, pattern->replacement,
									pattern->replacement_len,
									&pair.replacement);
	if (status == ACDAT_OK)
		status = acdat_build_add_tag(builder, pattern->tag, pattern->tag_len,
									 &pair.tag);
	if (status != ACDAT_OK)
		return status;
	if (!acdat_grow(&builder->hooks, (void **) &builder->pairs,
					&builder->pair_capacity, builder->pair_count + 1,
					sizeof(build_strings)))
		return ACDAT_NO_MEMORY;
	builder->pairs[builder->pair_count++] = pair;
	own->strings = (uint32_t) builder->pair_count & BUILD_STRINGS_MASK;
	return ACDAT_OK;
}

/*
 * Copy one pattern.  The strings come first and the bytes last: only bytes
 * can be taken back, and a pair of strings that no pattern names is harmless.
 * The pattern is counted when nothing can fail any more.
 */
static acdat_status
add_pattern(acdat_builder *builder, const acdat_pattern *pattern)
{
	build_pattern own;
	acdat_status status;

	if (pattern->len == 0)
		return ACDAT_EMPTY_PATTERN;
	if (pattern->len > builder->limits.max_pattern_bytes ||
		pattern->len > MAX_ARENA)
		return ACDAT_PATTERN_TOO_LONG;
	if (builder->count >= ACDAT_MAX_NODES)
		return ACDAT_TOO_MANY_PATTERNS;
	own.id = pattern->id;
	own.priority = pattern->priority;
	own.allow = pattern->allow ? 1 : 0;
	status = add_strings(builder, pattern, &own);
	if (status == ACDAT_OK &&
		!acdat_grow(&builder->hooks, (void **) &builder->patterns,
					&builder->capacity, builder->count + 1,
					sizeof(build_pattern)))
		status = ACDAT_NO_MEMORY;
	if (status == ACDAT_OK)
		status = add_bytes(builder, pattern, &own);
	if (status != ACDAT_OK)
		return status;
	builder->valid_utf8 = builder->valid_utf8 &&
		acdat_valid_utf8(pattern->bytes, pattern->len);
	builder->patterns[builder->count++] = own;
	return build_work(builder, pattern->len) ? ACDAT_CANCELLED : ACDAT_OK;
}

/*
 * A pattern that is refused leaves the builder as it was; its ordinal is kept
 * for the message.  Being cancelled is no fault of the pattern.
 */
acdat_status
acdat_builder_add(acdat_builder *builder, const acdat_pattern *pattern)
{
	acdat_status status;

	if (builder->started)
		return ACDAT_BAD_ARGUMENT;
	status = add_pattern(builder, pattern);
	builder->stats.added++;
	if (status != ACDAT_OK && status != ACDAT_CANCELLED)
		builder->stats.failed_at = builder->stats.added;
	return status;
}

/* Give back what growing arrays have too much; failing to is no harm. */
static void
trim(acdat_builder *builder)
{
	const acdat_hooks *hooks = &builder->hooks;

	acdat_trim(hooks, (void **) &builder->patterns, &builder->capacity,
			   builder->count, sizeof(build_pattern));
	acdat_trim(hooks, (void **) &builder->arena, &builder->arena_capacity,
			   builder->arena_len, 1);
	acdat_trim(hooks, (void **) &builder->strings, &builder->strings_capacity,
			   builder->strings_len + 1, 1);
	acdat_trim(hooks, (void **) &builder->pairs, &builder->pair_capacity,
			   builder->pair_count, sizeof(build_strings));
}

/*
 * The steps move data around in place, so a builder whose compilation failed
 * is good for nothing but its statistics.
 */
acdat_status
acdat_builder_compile(acdat_builder *builder, size_t *image_size)
{
	acdat_status status;

	if (builder->started)
		return ACDAT_BAD_ARGUMENT;
	builder->started = true;
	trim(builder);
	status = acdat_build_sort(builder);
	if (status == ACDAT_OK)
		status = acdat_build_unite(builder);
	if (status == ACDAT_OK)
		status = acdat_build_automaton(builder);
	if (status == ACDAT_OK)
		status = acdat_build_number_tags(builder);
	if (status == ACDAT_OK)
		status = acdat_build_layout(builder, image_size);
	if (status == ACDAT_OK && builder->limits.max_image_bytes != 0 &&
		*image_size > builder->limits.max_image_bytes)
		status = ACDAT_TOO_LARGE;
	builder->compiled = (status == ACDAT_OK);
	return status;
}

void
acdat_builder_stats(const acdat_builder *builder, acdat_build_stats *stats)
{
	*stats = builder->stats;
}

/*
 * Free everything; arrays not made yet are NULL.
 */
void
acdat_builder_destroy(acdat_builder *builder)
{
	acdat_hooks hooks;

	if (builder == NULL)
		return;
	hooks = builder->hooks;
	acdat_free(&hooks, builder->ignore_chars);
	acdat_free(&hooks, (void *) (uintptr_t) builder->options.ignore);
	acdat_free(&hooks, builder->patterns);
	acdat_free(&hooks, builder->arena);
	acdat_free(&hooks, builder->strings);
	acdat_free(&hooks, builder->pairs);
	acdat_free(&hooks, builder->tags);
	acdat_free(&hooks, builder->tag_table);
	acdat_free(&hooks, builder->folded);
	acdat_free(&hooks, builder->origins);
	acdat_free(&hooks, builder->states);
	acdat_free(&hooks, builder->used_bases);
	acdat_free(&hooks, builder->nodes);
	acdat_free(&hooks, builder);
}
