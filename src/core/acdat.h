/*-------------------------------------------------------------------------
 *
 * acdat.h
 *	  Public interface of the multi-pattern matcher.
 *
 * The matcher is plain C99 and knows nothing of PostgreSQL.  It never
 * prints, never exits and keeps no global mutable state; memory and
 * cancellation come in through acdat_hooks.
 *
 * Ownership: an image is a flat byte string owned by the caller (a file, a
 * datum, a shared memory segment).  An acdat_machine is a small read-only
 * view into one and must not outlive it.  An acdat_scan is the private state
 * of one running scan; any number of them may use one machine at a time.
 *
 * What a match is: with T the transformation given by the options, a match
 * of pattern p is a half-open byte range [start, end) of the text whose ends
 * lie on character boundaries of the transformation, such that
 * T(text[start, end)) equals T(p), the first and last character are not
 * dropped by T, and, with word boundaries, neither end lies inside a word.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_H
#define ACDAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An image is the same bytes everywhere, and is scanned where it lies. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "acdat requires a little-endian machine: compiled dictionaries are little-endian"
#endif

/*
 * Outcome of a call.  The first three are not errors.
 */
typedef enum acdat_status
{
	ACDAT_OK = 0,
	ACDAT_END,					/* there are no more matches */
	ACDAT_MORE,					/* the next match depends on text not given yet */
	ACDAT_NO_MEMORY,			/* the alloc hook returned NULL */
	ACDAT_CANCELLED,			/* the tick hook asked to stop */
	ACDAT_BAD_ARGUMENT,
	ACDAT_EMPTY_PATTERN,		/* no bytes, or none left by the options */
	ACDAT_PATTERN_TOO_LONG,
	ACDAT_TOO_MANY_PATTERNS,
	ACDAT_TOO_LARGE,			/* the image would exceed its limits */
	ACDAT_CORRUPT,				/* the bytes are not a sound image or pack */
	ACDAT_VERSION_MISMATCH,		/* made by another layout version */
	ACDAT_OUTPUT_LIMIT,			/* output would exceed the limit given */
	ACDAT_SINK_FAILED			/* the output callback reported a failure */
} acdat_status;

/* A short lower-case English phrase for a status, never NULL. */
extern const char *acdat_status_text(acdat_status status);

/*
 * Hooks.  alloc and realloc may return NULL (ACDAT_NO_MEMORY results) or
 * leave by longjmp: the matcher holds nothing but memory, so a caller that
 * allocates from an arena and drops it after the jump leaks nothing.  tick,
 * if given, is called at least once per ACDAT_TICK_BYTES of work; it returns
 * true, or leaves by longjmp, to cancel.  A NULL alloc means malloc, with
 * realloc and free; a NULL acdat_hooks pointer means that and no tick.
 */
#define ACDAT_TICK_BYTES 65536

typedef struct acdat_hooks
{
	void	   *(*alloc) (void *arg, size_t size);
	void	   *(*realloc) (void *arg, void *ptr, size_t old_size, size_t size);
	void		(*free) (void *arg, void *ptr);
	bool		(*tick) (void *arg);
	void	   *arg;
} acdat_hooks;

typedef enum acdat_case
{
	ACDAT_CASE_NONE = 0,
	ACDAT_CASE_ASCII,			/* A-Z equal a-z */
	ACDAT_CASE_UNICODE			/* Unicode simple case folding (C + S) */
} acdat_case;

typedef enum acdat_normalize
{
	ACDAT_NORMALIZE_NONE = 0,
	ACDAT_NORMALIZE_WIDTH,		/* full-width and half-width forms equal */
	ACDAT_NORMALIZE_NFKC		/* compatibility forms equal (NFKC) */
} acdat_normalize;

typedef enum acdat_boundary
{
	ACDAT_BOUNDARY_NONE = 0,
	ACDAT_BOUNDARY_WORD			/* no match may begin or end inside a word */
} acdat_boundary;

typedef enum acdat_encoding
{
	ACDAT_ENCODING_BYTES = 0,	/* one byte, one character */
	ACDAT_ENCODING_UTF8			/* invalid bytes count as one character each */
} acdat_encoding;

/*
 * Options of a dictionary, fixed when it is compiled.  Everything but
 * case_insensitive 'ascii' needs ACDAT_ENCODING_UTF8, except that a word
 * boundary and an ignore set also work on bytes (ASCII letters, digits and
 * '_' make words; bytes are characters).
 */
typedef struct acdat_options
{
	acdat_encoding encoding;
	acdat_case	case_insensitive;
	acdat_normalize normalize;
	acdat_boundary boundary;
	const char *ignore;			/* characters that may be interspersed */
	size_t		ignore_len;		/* bytes in ignore, 0 = none */
} acdat_options;

typedef enum acdat_policy
{
	ACDAT_ALL_OVERLAPPING = 0,	/* every match, by (start, end, id) */
	ACDAT_LEFTMOST_LONGEST,
	ACDAT_LEFTMOST_FIRST,
	ACDAT_MERGED				/* unions of overlapping matches, for redaction;
								 * pattern is the leftmost-longest choice at
								 * the start of the union */
} acdat_policy;

/* Parse the SQL spelling of a policy ('all_overlapping', ...). */
extern bool acdat_policy_parse(const char *name, acdat_policy *policy);
extern bool acdat_case_parse(const char *name, acdat_case *value);
extern bool acdat_normalize_parse(const char *name, acdat_normalize *value);
extern bool acdat_boundary_parse(const char *name, acdat_boundary *value);
extern const char *acdat_case_name(acdat_case value);
extern const char *acdat_normalize_name(acdat_normalize value);
extern const char *acdat_boundary_name(acdat_boundary value);

/* ---------------------------------------------------------------- build */

typedef struct acdat_pattern
{
	const void *bytes;
	size_t		len;
	int64_t		id;
	int32_t		priority;		/* higher wins under leftmost_first */
	const void *replacement;	/* NULL: replace() keeps the text */
	size_t		replacement_len;
	const char *tag;			/* NULL: none */
	size_t		tag_len;
	bool		allow;			/* an exception that hides matches inside it */
} acdat_pattern;

typedef struct acdat_limits
{
	size_t		max_pattern_bytes;	/* per pattern, 0 = 1 MiB */
	size_t		max_image_bytes;	/* 0 = no limit but the layout's own */
} acdat_limits;

typedef struct acdat_builder acdat_builder;

/*
 * Create a builder.  options and limits are copied; hooks must live as long
 * as the builder.  Returns NULL and sets *status on failure.
 */
extern acdat_builder *acdat_builder_create(const acdat_options *options,
										   const acdat_limits *limits,
										   const acdat_hooks *hooks,
										   acdat_status *status);

/* Add one pattern; everything is copied. */
extern acdat_status acdat_builder_add(acdat_builder *builder,
									  const acdat_pattern *pattern);

/* Compile what was added; afterwards the image size is known. */
extern acdat_status acdat_builder_compile(acdat_builder *builder,
										  size_t *image_size);

/* Write the compiled image, exactly image_size bytes, 16-byte aligned. */
extern acdat_status acdat_builder_write(const acdat_builder *builder,
										void *image);

typedef struct acdat_build_stats
{
	uint64_t	added;			/* patterns given */
	uint64_t	merged;			/* dropped: equal in every attribute */
	uint64_t	duplicates;		/* kept although the folded bytes are equal */
	uint64_t	failed_at;		/* 1-based ordinal of the offending pattern,
								 * 0 = none */
} acdat_build_stats;

extern void acdat_builder_stats(const acdat_builder *builder,
								acdat_build_stats *stats);
extern void acdat_builder_destroy(acdat_builder *builder);

/* -------------------------------------------------------------- machine */

struct acdat_image_header;

/* An opened image; plain data, no resources, may be copied. */
typedef struct acdat_machine
{
	const struct acdat_image_header *header;
	const unsigned char *image;
	size_t		size;
} acdat_machine;

/*
 * Open an image whose origin is trusted: checks magic, layout version, byte
 * order, sizes, and the header's own checksum; constant time.
 */
extern acdat_status acdat_open_trusted(acdat_machine *machine,
									   const void *image, size_t size);

/*
 * Open bytes of any origin: proves that no scan of any text can read
 * outside, loop or crash.  Linear time.  *reason (optional) gets a static
 * string when the result is ACDAT_CORRUPT or ACDAT_VERSION_MISMATCH.  hooks provide memory and tick.
 */
extern acdat_status acdat_open_checked(acdat_machine *machine,
									   const void *image, size_t size,
									   const acdat_hooks *hooks,
									   const char **reason);

typedef struct acdat_machine_info
{
	uint64_t	image_bytes;
	uint64_t	patterns;		/* entries, allow patterns included */
	uint64_t	allow_patterns;
	uint64_t	states;
	uint64_t	max_pattern_bytes;	/* longest, after the transformation */
	uint64_t	min_pattern_bytes;
	uint64_t	checksum[2];	/* identifies the content */
	uint32_t	layout_version;
	acdat_options options;		/* ignore points into the image */
	const char *engine;			/* static name */
	bool		has_replacements;
	uint64_t	tags;			/* distinct ones */
	bool		valid_utf8;		/* every pattern is whole UTF-8 characters */
} acdat_machine_info;

extern void acdat_machine_describe(const acdat_machine *machine,
								   acdat_machine_info *info);

/*
 * Attributes of the pattern with index 0 .. patterns - 1 as reported in
 * acdat_match.  Pointers point into the image; NULL where there is none.
 */
extern int64_t acdat_pattern_id(const acdat_machine *m, uint32_t pattern);
extern int32_t acdat_pattern_priority(const acdat_machine *m, uint32_t pattern);
extern const void *acdat_pattern_replacement(const acdat_machine *m,
											 uint32_t pattern, size_t *len);
extern const char *acdat_pattern_tag(const acdat_machine *m,
									 uint32_t pattern, size_t *len);

/*
 * The distinct tags of patterns that are reported, 0 .. tags - 1, in the order
 * of their bytes; and the number of a tag, false if no pattern has it.
 */
extern const char *acdat_machine_tag(const acdat_machine *m, uint32_t tag,
									 size_t *len);
extern bool acdat_find_tag(const acdat_machine *m, const void *bytes,
						   size_t len, uint32_t *tag);

/* ----------------------------------------------------------------- scan */

typedef struct acdat_match
{
	uint64_t	start;			/* 0-based byte offset in the original text */
	uint64_t	end;			/* one past the last byte */
	uint32_t	pattern;		/* index for acdat_pattern_*() */
} acdat_match;

typedef struct acdat_scan acdat_scan;

/*
 * Bytes of memory a scan of this machine needs, whatever the text: the
 * caller allocates them (16-byte aligned), calls acdat_scan_init() once and
 * may then run any number of scans one after the other.  Scanning itself
 * never allocates.
 */
extern size_t acdat_scan_size(const acdat_machine *machine);

/* hooks: only tick and arg are used; may be NULL; copied. */
extern void acdat_scan_init(acdat_scan *scan, const acdat_machine *machine,
							const acdat_hooks *hooks);

/*
 * Promise that the texts scanned from now on are valid in the encoding of
 * the machine (or take it back), which lets the scan look at the ends of
 * characters only.  Without the promise any bytes will do.
 */
extern void acdat_scan_trust_text(acdat_scan *scan, bool valid);

/*
 * Scan only for patterns with certain tags from now on, as if the machine had
 * no others; allow patterns of any tag stay in force.  Bit t % 64 of
 * tags[t / 64] stands for tag number t; they must stay in place.  NULL lifts
 * the restriction.  A start may then cost as many steps as patterns, of any
 * tag, match there.
 */
extern void acdat_scan_restrict(acdat_scan *scan, const uint64_t *tags);

/*
 * Begin a scan of text[0, len).  With final false more text may follow.
 * Constant time.  The text must stay in place while the scan runs.
 */
extern void acdat_scan_start(acdat_scan *scan, acdat_policy policy,
							 const void *text, size_t len, bool final);

/*
 * The next match in the order of the policy: ACDAT_OK (*match is set),
 * ACDAT_END, ACDAT_MORE (only when not final) or ACDAT_CANCELLED.
 * Positions count from the first byte of the stream.
 */
extern acdat_status acdat_scan_next(acdat_scan *scan, acdat_match *match);

/*
 * After ACDAT_MORE: how many bytes of the current buffer are done with, and
 * how to go on.  text[0] must be the first byte that is not done with,
 * followed by new text.  Every match reported later starts at or after it.
 */
extern size_t acdat_scan_consumed(const acdat_scan *scan);
extern void acdat_scan_continue(acdat_scan *scan, const void *text,
								size_t len, bool final);

/* Does any (not excepted) pattern occur?  Stops at the first. */
extern acdat_status acdat_contains(acdat_scan *scan, const void *text,
								   size_t len, bool *found);

/* The number of matches under a policy. */
extern acdat_status acdat_count(acdat_scan *scan, acdat_policy policy,
								const void *text, size_t len,
								uint64_t *count);

/* -------------------------------------------------------------- rewrite */

typedef enum acdat_rewrite_style
{
	ACDAT_REWRITE_REPLACE = 0,	/* each match by its pattern's replacement */
	ACDAT_REWRITE_CHARS,		/* one mask per user-perceived character
								 * (grapheme cluster) of the match */
	ACDAT_REWRITE_FIXED			/* one mask per match */
} acdat_rewrite_style;

/* Receives output in order; returns false to stop (ACDAT_SINK_FAILED). */
typedef bool (*acdat_sink) (void *arg, const void *bytes, size_t len);

typedef struct acdat_rewrite
{
	acdat_rewrite_style style;
	acdat_policy policy;		/* any but ACDAT_ALL_OVERLAPPING */
	const void *mask;
	size_t		mask_len;
	uint64_t	max_output;		/* bytes, 0 = no limit; counted per stream */
	acdat_sink	sink;
	void	   *sink_arg;

	/* if given, called for each match that is rewritten, once it ends */
	void		(*matched) (void *arg, const acdat_match *match);
	void	   *matched_arg;
} acdat_rewrite;

/*
 * Rewrite a text: the parts outside matches are passed on unchanged, once;
 * output is never scanned again.  *matches (optional) counts the matches
 * rewritten.  acdat_rewrite_text() is for a whole text.  For a stream call
 * acdat_rewrite_begin() and then acdat_rewrite_feed() for every buffer; it
 * says how many bytes it is done with, the rest must come again at the front
 * of the next buffer.
 */
extern acdat_status acdat_rewrite_text(acdat_scan *scan,
									   const acdat_rewrite *rewrite,
									   const void *text, size_t len,
									   uint64_t *matches);
extern void acdat_rewrite_begin(acdat_scan *scan,
								const acdat_rewrite *rewrite);
extern acdat_status acdat_rewrite_feed(acdat_scan *scan, const void *text,
									   size_t len, bool final,
									   size_t *consumed, uint64_t *matches);

#endif							/* ACDAT_H */
