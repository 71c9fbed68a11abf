/*-------------------------------------------------------------------------
 *
 * micro.c
 *	  Times the core alone, engines side by side on the same bytes.
 *
 * Usage: micro [-l] [-c] [-b] [-H] [-C] [-r ROUNDS] PATTERNS TEXT
 *
 *	-l	scan the text line by line, not as one value
 *	-c	contains (stop at the first match) in place of counting
 *	-b	build and open only; TEXT may be left out
 *	-H	without Hyperscan
 *	-C	seconds of processor time, not of the clock on the wall
 *
 * Every round runs each engine once, one after the other, so that what else
 * the machine does hits all of them.  Before anything is timed the engines
 * must agree on every match (pattern and end).  Output: one line "name value
 * value ..." per measure, seconds per round or a count, for bench/run.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef WITH_HYPERSCAN
#include <hs/hs.h>
#endif

#include "src/core/scan.h"

#define MAX_ROUNDS 101

typedef struct strings
{
	char	   *bytes;			/* owns all */
	size_t		len;
	const char **start;
	size_t	   *length;
	size_t		count;
} strings;

/* What all engines must agree on: how many matches, and which. */
typedef struct answer
{
	uint64_t	count;
	uint64_t	sum;			/* order does not matter */
} answer;

typedef struct engine
{
	const char *name;
	void		(*scan) (struct engine *engine, const char *text, size_t len,
						 bool contains, answer *result);
	void	   *state;
	double		seconds[MAX_ROUNDS];
} engine;

static bool want_sum;
static clockid_t clock_used = CLOCK_MONOTONIC;

static void
fail(const char *what)
{
	fprintf(stderr, "micro: %s\n", what);
	exit(1);
}

static void *
need(void *pointer)
{
	if (pointer == NULL)
		fail("out of memory");
	return pointer;
}

/* As shared memory has it: beginning at a page. */
static void *
aligned(size_t size)
{
	void	   *pointer = NULL;

	if (posix_memalign(&pointer, 4096, size) != 0)
		pointer = NULL;
	return need(pointer);
}

static double
now(void)
{
	struct timespec t;

	clock_gettime(clock_used, &t);
	return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static strings
read_lines(const char *path, bool split)
{
	strings		s = {0};
	FILE	   *file = fopen(path, "rb");
	size_t		room = 1;
	size_t		i;
	size_t		from = 0;

	if (file == NULL)
		fail(path);
	fseek(file, 0, SEEK_END);
	s.len = (size_t) ftell(file);
	rewind(file);
	s.bytes = need(malloc(s.len + 1));
	if (fread(s.bytes, 1, s.len, file) != s.len)
		fail(path);
	fclose(file);
	for (i = 0; split && i < s.len; i++)
		room += (s.bytes[i] == '\n');
	s.start = need(malloc(room * sizeof(*s.start)));
	s.length = need(malloc(room * sizeof(*s.length)));
	for (i = 0; i <= s.len; i++)
	{
		if (i < s.len && !(split && s.bytes[i] == '\n'))
			continue;
		if (i > from || (split && i < s.len))
		{
			s.start[s.count] = s.bytes + from;
			s.length[s.count++] = i - from;
		}
		from = i + 1;
	}
	return s;
}

/* A match's contribution to the sum; the multipliers are just large and odd. */
static uint64_t
mix(uint64_t pattern, uint64_t end)
{
	uint64_t	x = (pattern + 1) * UINT64_C(0x9e3779b97f4a7c15) ^
		(end + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);

	return x ^ x >> 29;
}

static void
scan_core(engine *e, const char *text, size_t len, bool contains, answer *result)
{
	acdat_scan *scan = e->state;
	acdat_match match;
	uint64_t	count;
	bool		found;

	if (contains)
	{
		if (acdat_contains(scan, text, len, &found) != ACDAT_OK)
			fail("contains failed");
		result->count += found;
		return;
	}
	if (!want_sum)
	{
		if (acdat_count(scan, ACDAT_ALL_OVERLAPPING, text, len, &count) != ACDAT_OK)
			fail("count failed");
		result->count += count;
		return;
	}
	acdat_scan_start(scan, ACDAT_ALL_OVERLAPPING, text, len, true);
	while (acdat_scan_next(scan, &match) == ACDAT_OK)
	{
		result->count++;
		result->sum += mix((uint64_t) acdat_pattern_id(&scan->m, match.pattern), match.end);
	}
}

/* A scan as the server runs it, or by the automaton alone. */
static acdat_scan *
make_scan(const acdat_machine *machine, bool filter)
{
	acdat_scan *scan = aligned(acdat_scan_size(machine));

	acdat_scan_init(scan, machine, NULL);
	acdat_scan_trust_text(scan, true);
	if (!filter)
	{
		scan->filter = NULL;
		scan->tails = NULL;
	}
	return scan;
}

#ifdef WITH_HYPERSCAN
typedef struct hyperscan
{
	hs_database_t *database;
	hs_scratch_t *scratch;
	answer	   *result;
	bool		contains;
} hyperscan;

static int
hyperscan_match(unsigned id, unsigned long long from, unsigned long long to,
				unsigned flags, void *arg)
{
	hyperscan  *h = arg;

	(void) from;
	(void) flags;
	h->result->count++;
	if (want_sum)
		h->result->sum += mix(id, to);
	return h->contains;
}

static void
scan_hyperscan(engine *e, const char *text, size_t len, bool contains, answer *result)
{
	hyperscan  *h = e->state;
	hs_error_t	error;

	h->result = result;
	h->contains = contains;
	error = hs_scan(h->database, text, (unsigned) len, 0, h->scratch, hyperscan_match, h);
	if (error != HS_SUCCESS && error != HS_SCAN_TERMINATED)
		fail("hs_scan failed");
}

static hyperscan *
make_hyperscan(const strings *patterns)
{
	hyperscan  *h = need(calloc(1, sizeof(*h)));
	unsigned   *ids = need(malloc(patterns->count * sizeof(*ids)));
	unsigned   *flags = need(calloc(patterns->count, sizeof(*flags)));
	hs_compile_error_t *error;
	size_t		size;
	size_t		i;
	double		begin = now();

	for (i = 0; i < patterns->count; i++)
		ids[i] = (unsigned) i;
	if (hs_compile_lit_multi(patterns->start, flags, ids, patterns->length,
							 (unsigned) patterns->count, HS_MODE_BLOCK, NULL,
							 &h->database, &error) != HS_SUCCESS)
	{
		printf("# Hyperscan cannot compile these patterns: %s\n", error->message);
		return NULL;
	}
	if (hs_alloc_scratch(h->database, &h->scratch) != HS_SUCCESS)
		fail("hs_alloc_scratch failed");
	printf("build_hyperscan %.6f\n", now() - begin);
	hs_database_size(h->database, &size);
	printf("bytes_hyperscan %zu\n", size);
	return h;
}
#endif

static void *
build(const strings *patterns, size_t *size)
{
	acdat_options options = {ACDAT_ENCODING_UTF8, ACDAT_CASE_NONE,
	ACDAT_NORMALIZE_NONE, ACDAT_BOUNDARY_NONE, NULL, 0};
	acdat_status status;
	acdat_builder *builder = acdat_builder_create(&options, NULL, NULL, &status);
	void	   *image;
	size_t		i;

	if (builder == NULL)
		fail(acdat_status_text(status));
	for (i = 0; i < patterns->count; i++)
	{
		acdat_pattern p = {0};

		p.bytes = patterns->start[i];
		p.len = patterns->length[i];
		p.id = (int64_t) i;
		status = acdat_builder_add(builder, &p);
		if (status != ACDAT_OK)
			fail(acdat_status_text(status));
	}
	status = acdat_builder_compile(builder, size);
	if (status != ACDAT_OK)
		fail(acdat_status_text(status));
	image = aligned(*size);
	if (acdat_builder_write(builder, image) != ACDAT_OK)
		fail("write failed");
	acdat_builder_destroy(builder);
	return image;
}

/* Build and open, as often as there are rounds; returns the last image. */
static void *
time_build(const strings *patterns, int rounds, acdat_machine *machine)
{
	double		built[MAX_ROUNDS];
	double		trusted[MAX_ROUNDS];
	double		checked[MAX_ROUNDS];
	void	   *image = NULL;
	size_t		size = 0;
	double		begin;
	int			i;

	for (i = 0; i < rounds; i++)
	{
		free(image);
		begin = now();
		image = build(patterns, &size);
		built[i] = now() - begin;
		begin = now();
		if (acdat_open_trusted(machine, image, size) != ACDAT_OK)
			fail("open failed");
		trusted[i] = now() - begin;
		begin = now();
		if (acdat_open_checked(machine, image, size, NULL, NULL) != ACDAT_OK)
			fail("checked open failed");
		checked[i] = now() - begin;
	}
	printf("bytes %zu\npatterns %zu\n", size, patterns->count);
	printf("build");
	for (i = 0; i < rounds; i++)
		printf(" %.9f", built[i]);
	printf("\nopen_trusted");
	for (i = 0; i < rounds; i++)
		printf(" %.9f", trusted[i]);
	printf("\nopen_checked");
	for (i = 0; i < rounds; i++)
		printf(" %.9f", checked[i]);
	printf("\n");
	return image;
}

static answer
run(engine *e, const strings *text, bool contains)
{
	answer		result = {0, 0};
	size_t		i;

	for (i = 0; i < text->count; i++)
		e->scan(e, text->start[i], text->length[i], contains, &result);
	return result;
}

static void
time_scans(engine *engines, int count, const strings *text, bool contains, int rounds)
{
	answer		first = {0, 0};
	int			i;
	int			r;

	/* equal answers first; this also warms the caches */
	want_sum = !contains;
	for (i = 0; i < count; i++)
	{
		answer		this = run(&engines[i], text, contains);

		if (i == 0)
			first = this;
		else if (this.count != first.count || this.sum != first.sum)
		{
			fprintf(stderr, "micro: %s finds %llu matches, %s %llu\n",
					engines[0].name, (unsigned long long) first.count,
					engines[i].name, (unsigned long long) this.count);
			exit(1);
		}
	}
	want_sum = false;
	for (r = 0; r < rounds; r++)
		for (i = 0; i < count; i++)
		{
			double		begin = now();

			if (run(&engines[i], text, contains).count != first.count)
				fail("the count changed");
			engines[i].seconds[r] = now() - begin;
		}
	printf("text %zu\nmatches %llu\n", text->len, (unsigned long long) first.count);
	for (i = 0; i < count; i++)
	{
		printf("scan_%s", engines[i].name);
		for (r = 0; r < rounds; r++)
			printf(" %.9f", engines[i].seconds[r]);
		printf("\n");
	}
}

int
main(int argc, char **argv)
{
	bool		lines = false;
	bool		contains = false;
	bool		only_build = false;
	bool		with_hyperscan = true;
	int			rounds = 5;
	int			at;
	int			count = 2;
	strings		patterns;
	strings		text;
	acdat_machine machine;
	engine		engines[3] = {{"filter", scan_core, NULL, {0}},
	{"automaton", scan_core, NULL, {0}}};

	for (at = 1; at < argc && argv[at][0] == '-'; at++)
	{
		if (strcmp(argv[at], "-l") == 0)
			lines = true;
		else if (strcmp(argv[at], "-c") == 0)
			contains = true;
		else if (strcmp(argv[at], "-b") == 0)
			only_build = true;
		else if (strcmp(argv[at], "-H") == 0)
			with_hyperscan = false;
		else if (strcmp(argv[at], "-C") == 0)
			clock_used = CLOCK_PROCESS_CPUTIME_ID;
		else if (strcmp(argv[at], "-r") == 0 && at + 1 < argc)
			rounds = atoi(argv[++at]);
		else
			fail("bad option");
	}
	if (argc - at < (only_build ? 1 : 2) || rounds < 1 || rounds > MAX_ROUNDS)
		fail("usage: micro [-l] [-c] [-b] [-H] [-C] [-r ROUNDS] PATTERNS TEXT");
	patterns = read_lines(argv[at], true);
	time_build(&patterns, rounds, &machine);
	if (only_build)
		return 0;
	text = read_lines(argv[at + 1], lines);
	engines[0].state = make_scan(&machine, true);
	engines[1].state = make_scan(&machine, false);
#ifdef WITH_HYPERSCAN
	if (with_hyperscan)
	{
		engines[2].name = "hyperscan";
		engines[2].scan = scan_hyperscan;
		engines[2].state = make_hyperscan(&patterns);
		count += (engines[2].state != NULL);
	}
#else
	(void) with_hyperscan;
#endif
	time_scans(engines, count, &text, contains, rounds);
	return 0;
}
