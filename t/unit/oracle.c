/* The brute-force oracle and the driver of the engine; see oracle.h. */
#include "t/unit/oracle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"

static void *
must_alloc(size_t size)
{
	void	   *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		abort();
	return p;
}

/* ------------------------------------------------------------- answers */

void
acdat_answer_free(acdat_answer *answer)
{
	free(answer->matches);
	memset(answer, 0, sizeof(*answer));
}

static void
add_match(acdat_answer *answer, uint64_t start, uint64_t end, int64_t id,
		  size_t pattern)
{
	acdat_answer_match *m;

	if (answer->count == answer->room)
	{
		answer->room = answer->room * 2 + 16;
		answer->matches = realloc(answer->matches,
								  answer->room * sizeof(*answer->matches));
		if (answer->matches == NULL)
			abort();
	}
	m = &answer->matches[answer->count++];
	m->start = start;
	m->end = end;
	m->id = id;
	m->pattern = pattern;
}

bool
acdat_answer_equal(const acdat_answer *a, const acdat_answer *b)
{
	size_t		i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
	{
		if (a->matches[i].start != b->matches[i].start ||
			a->matches[i].end != b->matches[i].end ||
			a->matches[i].id != b->matches[i].id)
			return false;
	}
	return true;
}

void
acdat_answer_print(const char *label, const acdat_answer *answer)
{
	size_t		i;

	fprintf(stderr, "# %s:", label);
	for (i = 0; i < answer->count && i < 40; i++)
		fprintf(stderr, " %" PRIu64 "-%" PRIu64 ":%" PRId64,
				answer->matches[i].start, answer->matches[i].end,
				answer->matches[i].id);
	fprintf(stderr, " (%zu)\n", answer->count);
}

static void
print_literal(const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	size_t		i;

	fputc('"', stderr);
	for (i = 0; i < len && i < 1000; i++)
	{
		if (p[i] >= ' ' && p[i] <= '~' && p[i] != '"' && p[i] != '\\')
			fputc(p[i], stderr);
		else
			fprintf(stderr, "\\x%02x\"\"", p[i]);
	}
	fputc('"', stderr);
}

void
acdat_dictionary_print(const acdat_dictionary *dictionary, const void *text,
					   size_t len)
{
	const acdat_options *o = &dictionary->options;
	size_t		i;

	fprintf(stderr, "# %s, case %s, normalize %s, boundary %s, ignore ",
			o->encoding == ACDAT_ENCODING_UTF8 ? "utf8" : "bytes",
			acdat_case_name(o->case_insensitive),
			acdat_normalize_name(o->normalize),
			acdat_boundary_name(o->boundary));
	print_literal(o->ignore, o->ignore_len);
	fputc('\n', stderr);
	for (i = 0; i < dictionary->npatterns; i++)
	{
		const acdat_pattern *p = &dictionary->patterns[i];

		fprintf(stderr, "# pattern ");
		print_literal(p->bytes, p->len);
		fprintf(stderr, " id %" PRId64 " priority %d%s", p->id,
				(int) p->priority, p->allow ? " allow" : "");
		if (p->tag != NULL)
			fprintf(stderr, " tag \"%s\"", p->tag);
		fputc('\n', stderr);
	}
	for (i = 0; dictionary->only_tags != NULL && dictionary->only_tags[i] != NULL; i++)
		fprintf(stderr, "# only tag \"%s\"\n", dictionary->only_tags[i]);
	fprintf(stderr, "# text ");
	print_literal(text, len);
	fputc('\n', stderr);
}

/* -------------------------------------------------------------- oracle */

/* Folded bytes and the unit each comes from. */
typedef struct folding
{
	unsigned char *bytes;
	acdat_origin *origin;
	size_t		n;
} folding;

static void
fold_all(const acdat_options *options, const void *text, size_t len,
		 folding *f)
{
	size_t		room = len * 12 + ACDAT_UNIT_MAX_FOLDED;
	size_t		i;

	f->bytes = must_alloc(room);
	f->origin = must_alloc(room * sizeof(acdat_origin));
	if (acdat_text_needs_fold(options))
	{
		uint32_t   *chars = must_alloc(options->ignore_len * sizeof(uint32_t));
		acdat_text_options t;
		size_t		consumed;

		t.encoding = options->encoding;
		t.case_insensitive = options->case_insensitive;
		t.normalize = options->normalize;
		if (acdat_ignore_parse(options, chars, &t.ignore) != ACDAT_OK)
			abort();
		f->n = acdat_fold(&t, text, len, true, f->bytes, f->origin, room,
						  &consumed, NULL);
		if (consumed != len)
			abort();
		free(chars);
	}
	else
	{
		unsigned char table[256];

		acdat_text_byte_table(options, table);
		for (i = 0; i < len; i++)
		{
			f->bytes[i] = table[((const unsigned char *) text)[i]];
			f->origin[i].start = (uint32_t) i;
			f->origin[i].end = (uint32_t) i + 1;
		}
		f->n = len;
	}
}

static void
free_folding(folding *f)
{
	free(f->bytes);
	free(f->origin);
}

/* Is the place between folded bytes at - 1 and at between two units? */
static bool
unit_edge(const folding *f, size_t at)
{
	return at == 0 || at == f->n ||
		f->origin[at - 1].start != f->origin[at].start;
}

size_t
acdat_oracle_folded_length(const acdat_options *options, const void *bytes,
						   size_t len)
{
	folding		f;

	fold_all(options, bytes, len, &f);
	free_folding(&f);
	return f.n;
}

static bool
same_bytes(const void *a, size_t a_len, const void *b, size_t b_len)
{
	if (a == NULL || b == NULL)
		return a == b;
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

/* Does an earlier pattern equal this one in every attribute? */
static bool
is_repeated(const acdat_dictionary *d, const folding *folded, size_t which)
{
	const acdat_pattern *p = &d->patterns[which];
	size_t		i;

	for (i = 0; i < which; i++)
	{
		const acdat_pattern *q = &d->patterns[i];

		if (q->id == p->id && q->priority == p->priority &&
			q->allow == p->allow &&
			same_bytes(folded[i].bytes, folded[i].n,
					   folded[which].bytes, folded[which].n) &&
			same_bytes(q->replacement, q->replacement_len,
					   p->replacement, p->replacement_len) &&
			same_bytes(q->tag, q->tag_len, p->tag, p->tag_len))
			return true;
	}
	return false;
}

/* All matches of one pattern. */
static void
find_pattern(const acdat_dictionary *d, size_t which, const folding *p,
			 const folding *f, const void *text, size_t len,
			 acdat_answer *answer)
{
	const acdat_options *o = &d->options;
	size_t		i;

	for (i = 0; i + p->n <= f->n && p->n > 0; i++)
	{
		size_t		start = f->origin[i].start;
		size_t		end = f->origin[i + p->n - 1].end;

		if (memcmp(f->bytes + i, p->bytes, p->n) != 0)
			continue;
		if (!unit_edge(f, i) || !unit_edge(f, i + p->n))
			continue;
		if (o->boundary == ACDAT_BOUNDARY_WORD &&
			(!acdat_is_word_boundary(o->encoding, text, len, start) ||
			 !acdat_is_word_boundary(o->encoding, text, len, end)))
			continue;
		add_match(answer, start, end, d->patterns[which].id, which);
	}
}

static int
compare_matches(const void *a, const void *b)
{
	const acdat_answer_match *x = a;
	const acdat_answer_match *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static bool
covered(const acdat_answer *allows, const acdat_answer_match *m)
{
	size_t		i;

	for (i = 0; i < allows->count; i++)
	{
		if (allows->matches[i].start <= m->start &&
			m->end <= allows->matches[i].end)
			return true;
	}
	return false;
}

/* Is a pattern asked for?  Exceptions always are. */
static bool
is_wanted(const acdat_dictionary *d, const acdat_pattern *pattern)
{
	size_t		i;

	if (d->only_tags == NULL || pattern->allow)
		return true;
	for (i = 0; d->only_tags[i] != NULL; i++)
	{
		if (pattern->tag != NULL && strcmp(pattern->tag, d->only_tags[i]) == 0)
			return true;
	}
	return false;
}

void
acdat_oracle_all(const acdat_dictionary *d, const void *text, size_t len,
				 acdat_answer *answer)
{
	folding    *patterns = must_alloc(d->npatterns * sizeof(folding));
	acdat_answer denies = {NULL, 0, 0};
	acdat_answer allows = {NULL, 0, 0};
	folding		f;
	size_t		i;

	fold_all(&d->options, text, len, &f);
	for (i = 0; i < d->npatterns; i++)
	{
		fold_all(&d->options, d->patterns[i].bytes, d->patterns[i].len,
				 &patterns[i]);
		if (!is_repeated(d, patterns, i) && is_wanted(d, &d->patterns[i]))
			find_pattern(d, i, &patterns[i], &f, text, len,
						 d->patterns[i].allow ? &allows : &denies);
	}
	answer->count = 0;
	for (i = 0; i < denies.count; i++)
	{
		const acdat_answer_match *m = &denies.matches[i];

		if (!covered(&allows, m))
			add_match(answer, m->start, m->end, m->id, m->pattern);
	}
	if (answer->count > 1)
		qsort(answer->matches, answer->count, sizeof(*answer->matches),
			  compare_matches);

	for (i = 0; i < d->npatterns; i++)
		free_folding(&patterns[i]);
	free(patterns);
	free_folding(&f);
	acdat_answer_free(&denies);
	acdat_answer_free(&allows);
}

/* Does a win over b, which begins at the same place? */
static bool
wins(const acdat_dictionary *d, acdat_policy policy,
	 const acdat_answer_match *a, const acdat_answer_match *b)
{
	int32_t		pa = d->patterns[a->pattern].priority;
	int32_t		pb = d->patterns[b->pattern].priority;

	if (policy != ACDAT_LEFTMOST_FIRST && a->end != b->end)
		return a->end > b->end;
	if (pa != pb)
		return pa > pb;
	return a->id < b->id;
}

void
acdat_oracle_choose(const acdat_dictionary *d, acdat_policy policy,
					const acdat_answer *all, acdat_answer *answer)
{
	uint64_t	from = 0;		/* where the next match may begin */
	size_t		i;

	answer->count = 0;
	for (i = 0; i < all->count; i++)
	{
		const acdat_answer_match *m = &all->matches[i];
		acdat_answer_match *last = answer->count == 0 ? NULL :
			&answer->matches[answer->count - 1];

		if (policy == ACDAT_ALL_OVERLAPPING)
			add_match(answer, m->start, m->end, m->id, m->pattern);
		else if (last != NULL && m->start == last->start &&
				 policy != ACDAT_MERGED)
		{
			if (wins(d, policy, m, last))
				*last = *m;
			from = last->end;
		}
		else if (m->start >= from)
		{
			add_match(answer, m->start, m->end, m->id, m->pattern);
			from = m->end;
		}
		else if (policy == ACDAT_MERGED)
		{
			/* the union's pattern is the best at its start */
			if (m->start == last->start && m->end >= last->end &&
				(m->end > last->end || wins(d, policy, m, last)))
			{
				last->id = m->id;
				last->pattern = m->pattern;
			}
			if (m->end > last->end)
				last->end = m->end;
			from = last->end;
		}
	}
}

/* Append to a buffer that grows. */
typedef struct buffer
{
	unsigned char *bytes;
	size_t		len;
	size_t		room;
} buffer;

static bool
append(void *arg, const void *bytes, size_t len)
{
	buffer	   *b = arg;

	if (b->room - b->len < len)
	{
		b->room = (b->len + len) * 2;
		b->bytes = realloc(b->bytes, b->room);
		if (b->bytes == NULL)
			abort();
	}
	if (len > 0)
		memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
	return true;
}

unsigned char *
acdat_oracle_rewrite(const acdat_dictionary *d, const acdat_rewrite *rewrite,
					 const acdat_answer *chosen, const void *text, size_t len,
					 size_t *out_len)
{
	const unsigned char *bytes = text;
	buffer		out = {must_alloc(16), 0, 16};
	uint64_t	from = 0;
	size_t		i;

	for (i = 0; i < chosen->count; i++)
	{
		const acdat_answer_match *m = &chosen->matches[i];
		const acdat_pattern *p = &d->patterns[m->pattern];
		size_t		n = (size_t) (m->end - m->start);

		append(&out, bytes + from, (size_t) (m->start - from));
		from = m->end;
		if (rewrite->style == ACDAT_REWRITE_REPLACE)
			append(&out, p->replacement ? p->replacement : bytes + m->start,
				   p->replacement ? p->replacement_len : n);
		else if (rewrite->style == ACDAT_REWRITE_FIXED)
			append(&out, rewrite->mask, rewrite->mask_len);
		else
		{
			size_t		at = (size_t) m->start;

			while (at < m->end)
			{
				at += acdat_cluster_length(d->options.encoding, bytes + at,
										   (size_t) m->end - at);
				append(&out, rewrite->mask, rewrite->mask_len);
			}
		}
	}
	append(&out, bytes + from, len - (size_t) from);
	*out_len = out.len;
	return out.bytes;
}

/* -------------------------------------------------------------- engine */

acdat_pattern
acdat_simple_pattern(const char *bytes, int64_t id)
{
	acdat_pattern p;

	memset(&p, 0, sizeof(p));
	p.bytes = bytes;
	p.len = strlen(bytes);
	p.id = id;
	return p;
}

acdat_status
acdat_engine_make(acdat_engine *engine, const acdat_options *options,
				  const acdat_pattern *patterns, size_t n)
{
	acdat_dictionary d = {0};

	d.options = *options;
	d.patterns = patterns;
	d.npatterns = n;
	return acdat_engine_build(engine, &d);
}

acdat_status
acdat_engine_build(acdat_engine *engine, const acdat_dictionary *d)
{
	acdat_builder *builder;
	acdat_machine checked;
	acdat_status status;
	const char *reason;
	size_t		i;

	memset(engine, 0, sizeof(*engine));
	builder = acdat_builder_create(&d->options, NULL, NULL, &status);
	if (builder == NULL)
		return status;
	status = ACDAT_OK;
	for (i = 0; i < d->npatterns && status == ACDAT_OK; i++)
		status = acdat_builder_add(builder, &d->patterns[i]);
	if (status == ACDAT_OK)
		status = acdat_builder_compile(builder, &engine->size);
	if (status == ACDAT_OK)
	{
		engine->image = must_alloc(engine->size);
		status = acdat_builder_write(builder, engine->image);
	}
	acdat_builder_stats(builder, &engine->stats);
	acdat_builder_destroy(builder);
	if (status == ACDAT_OK)
		status = acdat_open_checked(&checked, engine->image, engine->size,
									NULL, &reason);
	if (status == ACDAT_CORRUPT)
		fprintf(stderr, "# checked open: %s\n", reason);
	if (status == ACDAT_OK)
		status = acdat_open_trusted(&engine->machine, engine->image,
									engine->size);
	if (status == ACDAT_OK)
	{
		engine->scan = must_alloc(acdat_scan_size(&engine->machine));
		acdat_scan_init(engine->scan, &engine->machine, NULL);
	}
	return status;
}

void
acdat_engine_restrict(acdat_engine *engine, const acdat_dictionary *d,
					  uint64_t *bits)
{
	uint32_t	tag;
	size_t		i;

	*bits = 0;
	for (i = 0; d->only_tags != NULL && d->only_tags[i] != NULL; i++)
	{
		if (acdat_find_tag(&engine->machine, d->only_tags[i],
						   strlen(d->only_tags[i]), &tag))
			*bits |= (uint64_t) 1 << tag;
	}
	acdat_scan_restrict(engine->scan, d->only_tags == NULL ? NULL : bits);
}

void
acdat_engine_free(acdat_engine *engine)
{
	free(engine->image);
	free(engine->scan);
	memset(engine, 0, sizeof(*engine));
}

/* A copy of its own for every buffer that is handed to the engine */
static unsigned char *
copy_of(const unsigned char *text, size_t len)
{
	unsigned char *copy = must_alloc(len);

	if (len > 0)
		memcpy(copy, text, len);
	return copy;
}

acdat_status
acdat_engine_matches(acdat_engine *engine, acdat_policy policy,
					 const void *text, size_t len, size_t piece,
					 acdat_answer *answer)
{
	const unsigned char *bytes = text;
	size_t		done = 0;
	size_t		given = piece == 0 || piece > len ? len : piece;
	unsigned char *now = piece == 0 ? NULL : copy_of(bytes, given);
	acdat_status status;

	answer->count = 0;
	acdat_scan_start(engine->scan, policy, piece == 0 ? bytes : now, given,
					 given == len);
	for (;;)
	{
		acdat_match m;

		status = acdat_scan_next(engine->scan, &m);
		if (status == ACDAT_OK)
			add_match(answer, m.start, m.end,
					  acdat_pattern_id(&engine->machine, m.pattern), 0);
		else if (status == ACDAT_MORE && given < len)
		{
			unsigned char *old = now;
			size_t		consumed = acdat_scan_consumed(engine->scan);

			if (consumed > given - done)
			{
				status = ACDAT_BAD_ARGUMENT;
				break;
			}
			done += consumed;
			given = len - given < piece ? len : given + piece;
			now = copy_of(bytes + done, given - done);
			free(old);
			acdat_scan_continue(engine->scan, now, given - done,
								given == len);
		}
		else
			break;
	}
	free(now);
	return status == ACDAT_END ? ACDAT_OK : status;
}

acdat_status
acdat_engine_rewrite(acdat_engine *engine, const acdat_rewrite *rewrite,
					 const void *text, size_t len, size_t piece,
					 unsigned char **out, size_t *out_len, uint64_t *matches)
{
	const unsigned char *bytes = text;
	acdat_rewrite with = *rewrite;
	buffer		result = {must_alloc(16), 0, 16};
	size_t		done = 0;
	size_t		given = 0;
	acdat_status status;

	with.sink = append;
	with.sink_arg = &result;
	*matches = 0;
	if (piece == 0)
		status = acdat_rewrite_text(engine->scan, &with, bytes, len, matches);
	else
	{
		acdat_rewrite_begin(engine->scan, &with);
		do
		{
			unsigned char *now;
			size_t		consumed = 0;

			given = len - given < piece ? len : given + piece;
			now = copy_of(bytes + done, given - done);
			status = acdat_rewrite_feed(engine->scan, now, given - done,
										given == len, &consumed, matches);
			free(now);
			done += consumed;
		} while (status == ACDAT_OK && given < len);
		if (status == ACDAT_OK && done != len)
			status = ACDAT_BAD_ARGUMENT;
	}
	*out = result.bytes;
	*out_len = result.len;
	return status;
}
