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

/* An image must be addressable with 32-bit string offsets. */
#define MAX_STRINGS ((size_t) UINT32_MAX - 1)

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
	return status;
}

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

/* Fold bytes into builder->scratch; *len gets the folded length. */
static acdat_status
fold_pattern(acdat_builder *builder, const unsigned char *bytes, size_t len,
			 size_t *folded_len)
{
	const acdat_hooks *hooks = &builder->hooks;
	size_t		need = len * 18 + ACDAT_UNIT_MAX_FOLDED;
	size_t		done = 0;
	size_t		i;

	if (!builder->folds)
		need = len;
	if (!acdat_grow(hooks, (void **) &builder->scratch,
					&builder->scratch_capacity, need, 1))
		return ACDAT_NO_MEMORY;
	if (!builder->folds)
	{
		for (i = 0; i < len; i++)
			builder->scratch[i] = builder->byte_table[bytes[i]];
		*folded_len = len;
		return ACDAT_OK;
	}
	if (!acdat_grow(hooks, (void **) &builder->origins,
					&builder->origins_capacity, need, sizeof(acdat_origin)))
		return ACDAT_NO_MEMORY;
	*folded_len = 0;
	while (done < len)
	{
		size_t		consumed;

		*folded_len += acdat_fold(&builder->text_options, bytes + done,
								  len - done, true,
								  builder->scratch + *folded_len,
								  builder->origins, need - *folded_len,
								  &consumed);
		done += consumed;
		if (consumed == 0)
			return ACDAT_BAD_ARGUMENT;
	}
	return ACDAT_OK;
}

/* Append a string to the string arena. */
static acdat_status
add_string(acdat_builder *builder, const void *bytes, size_t len,
		   acdat_string *string)
{
	string->offset = 0;
	string->len = ACDAT_NONE;
	if (bytes == NULL)
		return ACDAT_OK;
	if (len > MAX_STRINGS - builder->strings_len)
		return ACDAT_TOO_LARGE;
	if (!acdat_grow(&builder->hooks, (void **) &builder->strings,
					&builder->strings_capacity, builder->strings_len + len, 1))
		return ACDAT_NO_MEMORY;
	string->offset = (uint32_t) builder->strings_len;
	string->len = (uint32_t) len;
	if (len > 0)
		memcpy(builder->strings + builder->strings_len, bytes, len);
	builder->strings_len += len;
	return ACDAT_OK;
}

/* Put the folded bytes, reversed, into the arena and make the sort key. */
static acdat_status
add_bytes(acdat_builder *builder, size_t len, build_pattern *own)
{
	unsigned char *dst;
	size_t		i;

	if (!acdat_grow(&builder->hooks, (void **) &builder->arena,
					&builder->arena_capacity, builder->arena_len + len, 1))
		return ACDAT_NO_MEMORY;
	dst = builder->arena + builder->arena_len;
	own->offset = builder->arena_len;
	own->len = (uint32_t) len;
	own->key = 0;
	for (i = 0; i < len; i++)
		dst[i] = builder->scratch[len - 1 - i];
	for (i = 0; i < 8; i++)
		own->key = own->key << 8 | (i < len ? dst[i] : 0);
	builder->arena_len += len;
	return ACDAT_OK;
}

static acdat_status
add_pattern(acdat_builder *builder, const acdat_pattern *pattern)
{
	build_pattern own;
	acdat_status status;
	size_t		folded_len;

	if (pattern->len == 0)
		return ACDAT_EMPTY_PATTERN;
	if (pattern->len > builder->limits.max_pattern_bytes)
		return ACDAT_PATTERN_TOO_LONG;
	if (builder->count >= ACDAT_MAX_NODES)
		return ACDAT_TOO_MANY_PATTERNS;
	status = fold_pattern(builder, pattern->bytes, pattern->len, &folded_len);
	if (status != ACDAT_OK)
		return status;
	if (folded_len == 0)
		return ACDAT_EMPTY_PATTERN;
	if (folded_len >= UINT32_MAX)
		return ACDAT_PATTERN_TOO_LONG;
	own.ordinal = (uint32_t) builder->count;
	own.id = pattern->id;
	own.priority = pattern->priority;
	own.allow = pattern->allow;
	status = add_string(builder, pattern->replacement,
						pattern->replacement_len, &own.replacement);
	if (status == ACDAT_OK)
		status = add_string(builder, pattern->tag, pattern->tag_len, &own.tag);
	if (status == ACDAT_OK)
		status = add_bytes(builder, folded_len, &own);
	if (status == ACDAT_OK &&
		!acdat_grow(&builder->hooks, (void **) &builder->patterns,
					&builder->capacity, builder->count + 1,
					sizeof(build_pattern)))
		status = ACDAT_NO_MEMORY;
	if (status != ACDAT_OK)
		return status;
	builder->valid_utf8 = builder->valid_utf8 &&
		acdat_valid_utf8(pattern->bytes, pattern->len);
	builder->patterns[builder->count++] = own;
	if (build_work(builder, pattern->len))
		return ACDAT_CANCELLED;
	return ACDAT_OK;
}

acdat_status
acdat_builder_add(acdat_builder *builder, const acdat_pattern *pattern)
{
	acdat_status status;

	if (builder->compiled)
		return ACDAT_BAD_ARGUMENT;
	status = add_pattern(builder, pattern);
	builder->stats.added++;
	if (status != ACDAT_OK && status != ACDAT_CANCELLED)
		builder->stats.failed_at = builder->stats.added;
	return status;
}

bool
build_same_string(const acdat_builder *builder, const build_pattern *a,
				  const build_pattern *b)
{
	return a->key == b->key && a->len == b->len &&
		memcmp(build_bytes(builder, a), build_bytes(builder, b), a->len) == 0;
}

static bool
same_text(const acdat_builder *builder, acdat_string a, acdat_string b)
{
	return a.len == b.len &&
		(a.len == ACDAT_NONE || a.len == 0 ||
		 memcmp(builder->strings + a.offset, builder->strings + b.offset,
				a.len) == 0);
}

/*
 * Equal patterns are neighbours, ordered by id: compare with the last kept
 * ones of the same string and id.
 */
void
build_merge(acdat_builder *builder)
{
	size_t		kept = 0;
	size_t		i;

	for (i = 0; i < builder->count; i++)
	{
		const build_pattern *p = &builder->patterns[i];
		bool		equal = false;
		size_t		j;

		for (j = kept; j > 0 && !equal; j--)
		{
			const build_pattern *q = &builder->patterns[j - 1];

			if (q->id != p->id || q->priority != p->priority ||
				q->allow != p->allow || !build_same_string(builder, p, q))
				break;
			equal = same_text(builder, p->replacement, q->replacement) &&
				same_text(builder, p->tag, q->tag);
		}
		if (equal)
		{
			builder->stats.merged++;
			continue;
		}
		if (kept > 0 && build_same_string(builder, p,
										  &builder->patterns[kept - 1]))
			builder->stats.duplicates++;
		builder->patterns[kept++] = *p;
	}
	builder->count = kept;
}

acdat_status
acdat_builder_compile(acdat_builder *builder, size_t *image_size)
{
	acdat_status status;

	if (builder->compiled)
		return ACDAT_BAD_ARGUMENT;
	status = build_sort(builder);
	if (status != ACDAT_OK)
		return status;
	build_merge(builder);
	status = build_automaton(builder);
	if (status == ACDAT_OK)
		status = build_layout(builder, image_size);
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
	acdat_free(&hooks, builder->scratch);
	acdat_free(&hooks, builder->origins);
	acdat_free(&hooks, builder->states);
	acdat_free(&hooks, builder->used_bases);
	acdat_free(&hooks, builder->nodes);
	acdat_free(&hooks, builder);
}
