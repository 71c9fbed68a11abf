/*-------------------------------------------------------------------------
 *
 * cli.h
 *	  The acdat command: what its parts share.
 *
 * The command is a thin face on the matcher: every subcommand opens an image
 * and moves bytes.  Memory beside the mapped image is bounded whatever the
 * size of the input.  Errors end the program through acdat_cli_die(), which
 * leaves no half-written file behind.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_CLI_H
#define ACDAT_CLI_H

#include <stdio.h>

#include "src/core/acdat.h"

/* Exit codes, as documented in the manual page. */
#define ACDAT_EXIT_OK			0
#define ACDAT_EXIT_NOT_FOUND	1
#define ACDAT_EXIT_ERROR		2

typedef enum acdat_cli_format
{
	ACDAT_FORMAT_LINES,			/* one pattern per line, nothing else */
	ACDAT_FORMAT_TSV,
	ACDAT_FORMAT_CSV,
	ACDAT_FORMAT_JSON			/* one object per line; output only */
} acdat_cli_format;

/* Everything that options can say; each subcommand uses its part. */
typedef struct acdat_cli_options
{
	/* all */
	bool		quiet;
	const char *output;			/* NULL: standard output */

	/* compile */
	acdat_options dictionary;
	acdat_limits limits;
	const char *columns;		/* NULL: the usual ones */
	bool		header;
	bool		trim;
	bool		skip_empty;
	bool		format_given;
	acdat_cli_format format;	/* of matches, too */

	/* scanning */
	bool		lines;
	bool		invert;
	bool		trusted;
	bool		policy_given;
	acdat_policy policy;
	acdat_rewrite_style style;
	const char *mask;			/* NULL: what the style has */
} acdat_cli_options;

/* Subcommands; return an exit code.  args are the operands, NULL at the end */
extern int acdat_cli_compile(const acdat_cli_options *options, char **args);
extern int acdat_cli_info(const acdat_cli_options *options, char **args);
extern int acdat_cli_contains(const acdat_cli_options *options, char **args);
extern int acdat_cli_matches(const acdat_cli_options *options, char **args);
extern int acdat_cli_count(const acdat_cli_options *options, char **args);
extern int acdat_cli_replace(const acdat_cli_options *options, char **args);
extern int acdat_cli_redact(const acdat_cli_options *options, char **args);

/* main.c: print "acdat: ..." and exit with ACDAT_EXIT_ERROR. */
#if defined(__GNUC__)
__attribute__((noreturn, format(printf, 1, 2)))
#endif
extern void acdat_cli_die(const char *format, ...);

/* Memory or the end. */
extern void *acdat_cli_alloc(void *old, size_t size);

/* image.c: an image file mapped read-only. */
typedef struct acdat_cli_image
{
	acdat_machine machine;
	void	   *bytes;
	size_t		size;
} acdat_cli_image;

extern void acdat_cli_image_open(acdat_cli_image *image, const char *path,
								 bool trusted);
extern void acdat_cli_image_close(acdat_cli_image *image);

/*
 * output.c: buffered output to standard output, or to a file that appears
 * under its name only when it is complete.
 */
typedef struct acdat_cli_output acdat_cli_output;

extern acdat_cli_output *acdat_cli_output_open(const char *path);
extern void acdat_cli_write(acdat_cli_output *output, const void *bytes,
							size_t len);
extern void acdat_cli_print(acdat_cli_output *output, const char *format, ...);
extern void acdat_cli_write_string(acdat_cli_output *output, const char *string);
extern void acdat_cli_write_number(acdat_cli_output *output, int64_t number);
extern void acdat_cli_output_close(acdat_cli_output *output);

/* Write out what is buffered, before waiting for input. */
extern void acdat_cli_output_flush(void);

/* Remove an unfinished file; for acdat_cli_die(). */
extern void acdat_cli_output_abandon(void);

/* input.c: texts, whole or line by line, in a buffer of bounded size. */
typedef struct acdat_cli_text
{
	const unsigned char *bytes; /* first byte not done with */
	size_t		len;
	bool		final;			/* the text ends behind these bytes */
	bool		first;			/* the text begins here */
	uint64_t	line;			/* 1-based number of the line, or 0 */
} acdat_cli_text;

typedef enum acdat_cli_progress
{
	ACDAT_FEED_ON,				/* go on with the text */
	ACDAT_FEED_STOP				/* the rest of the input is not wanted */
} acdat_cli_progress;

/*
 * Receives text; sets *consumed to the bytes that need not come again, all
 * of them when text->final.  Called for an empty input or line, too.
 */
typedef acdat_cli_progress (*acdat_cli_feed) (void *arg,
											  const acdat_cli_text *text,
											  size_t *consumed);

/* Receives the end of each line as it was ("\n", "\r\n", or nothing). */
typedef void (*acdat_cli_line_end) (void *arg, const unsigned char *bytes,
									size_t len);

typedef struct acdat_cli_reader
{
	acdat_cli_feed feed;
	acdat_cli_line_end line_end;	/* NULL: not wanted */
	void	   *arg;
	bool		lines;
	bool		whole_lines;	/* a line is fed in one piece only */
	bool		quiet;			/* no progress display */
} acdat_cli_reader;

/* Read path ("-": standard input) to its end, or until feed stops. */
extern void acdat_cli_read(const acdat_cli_reader *reader, const char *path);

/* progress.c: a line on a terminal that says how far the work is. */
extern void acdat_cli_progress_start(const char *name, uint64_t total,
									 bool quiet);
extern void acdat_cli_progress_add(uint64_t bytes);
extern void acdat_cli_progress_end(void);

/* table.c: records of a pattern file. */
#define ACDAT_TABLE_MAX_FIELDS 32

typedef struct acdat_cli_field
{
	char	   *bytes;			/* NULL: the value is NULL */
	size_t		len;
} acdat_cli_field;

typedef struct acdat_cli_table
{
	FILE	   *file;
	const char *name;
	acdat_cli_format format;
	uint64_t	line;			/* 1-based line the last record began on */
	uint64_t	lines_read;
	char	   *record;			/* the bytes that fields point into */
	size_t		room;
	acdat_cli_field fields[ACDAT_TABLE_MAX_FIELDS];
	size_t		nfields;
} acdat_cli_table;

extern void acdat_cli_table_open(acdat_cli_table *table, const char *path,
								 acdat_cli_format format);

/* False at the end of the file. */
extern bool acdat_cli_table_next(acdat_cli_table *table);
extern void acdat_cli_table_close(acdat_cli_table *table);

#endif							/* ACDAT_CLI_H */
