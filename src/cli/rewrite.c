/*-------------------------------------------------------------------------
 *
 * rewrite.c
 *	  The subcommands that rewrite: replace and redact.
 *
 *-------------------------------------------------------------------------
 */
#include "src/cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "src/core/text.h"

typedef struct job
{
	acdat_scan *scan;
	acdat_rewrite rewrite;
	const char *file;
} job;

/* A sink that never fails: errors of writing end the program. */
static bool
write_output(void *arg, const void *bytes, size_t len)
{
	acdat_cli_write(arg, bytes, len);
	return true;
}

/* A text begins anew with each file or line. */
static acdat_cli_progress
feed_rewrite(void *arg, const acdat_cli_text *text, size_t *consumed)
{
	job		   *j = arg;
	acdat_status status;

	if (text->first)
		acdat_rewrite_begin(j->scan, &j->rewrite);
	status = acdat_rewrite_feed(j->scan, text->bytes, text->len, text->final,
								consumed, NULL);
	if (status != ACDAT_OK)
		acdat_cli_die("could not rewrite \"%s\": %s", j->file,
					  acdat_status_text(status));
	return ACDAT_FEED_ON;
}

/* Line ends are outside the texts and pass unchanged. */
static void
copy_line_end(void *arg, const unsigned char *bytes, size_t len)
{
	job		   *j = arg;

	acdat_cli_write(j->rewrite.sink_arg, bytes, len);
}

/*
 * Open the output first: an input that is also the output is read before it
 * is replaced.
 */
static int
run_rewrite(const acdat_cli_options *options, job *j, acdat_cli_image *image,
			char **args)
{
	static char standard_input[] = "-";
	static char *only_standard_input[] = {standard_input, NULL};
	acdat_cli_output *out = acdat_cli_output_open(options->output);
	acdat_cli_reader reader;

	j->scan = acdat_cli_alloc(NULL, acdat_scan_size(&image->machine));
	acdat_scan_init(j->scan, &image->machine, NULL);
	j->rewrite.sink = write_output;
	j->rewrite.sink_arg = out;

	memset(&reader, 0, sizeof(reader));
	reader.feed = feed_rewrite;
	reader.line_end = copy_line_end;
	reader.arg = j;
	reader.lines = options->lines;
	reader.quiet = options->quiet;
	for (args = args[1] == NULL ? only_standard_input : args + 1;
		 *args != NULL; args++)
	{
		j->file = *args;
		acdat_cli_read(&reader, *args);
	}
	acdat_cli_output_close(out);
	free(j->scan);
	acdat_cli_image_close(image);
	return ACDAT_EXIT_OK;
}

/* Overlapping matches have no replacement that makes sense. */
int
acdat_cli_replace(const acdat_cli_options *options, char **args)
{
	acdat_cli_image image;
	job			j;

	memset(&j, 0, sizeof(j));
	j.rewrite.style = ACDAT_REWRITE_REPLACE;
	j.rewrite.policy = options->policy_given ? options->policy :
		ACDAT_LEFTMOST_LONGEST;
	if (j.rewrite.policy == ACDAT_ALL_OVERLAPPING)
		acdat_cli_die("overlapping matches cannot be replaced");
	acdat_cli_image_open(&image, args[0], options->trusted);
	return run_rewrite(options, &j, &image, args);
}

/* Everything that any pattern matches is hidden, overlapping or not. */
int
acdat_cli_redact(const acdat_cli_options *options, char **args)
{
	acdat_cli_image image;
	acdat_machine_info info;
	const char *mask = options->mask;
	job			j;

	memset(&j, 0, sizeof(j));
	j.rewrite.style = options->style;
	j.rewrite.policy = ACDAT_MERGED;
	if (mask == NULL)
		mask = options->style == ACDAT_REWRITE_CHARS ? "*" : "[REDACTED]";
	j.rewrite.mask = mask;
	j.rewrite.mask_len = strlen(mask);
	acdat_cli_image_open(&image, args[0], options->trusted);
	acdat_machine_describe(&image.machine, &info);
	if (options->style == ACDAT_REWRITE_CHARS &&
		acdat_count_chars(info.options.encoding, (const unsigned char *) mask,
						  j.rewrite.mask_len) != 1)
		acdat_cli_die("the mask must be one character");
	return run_rewrite(options, &j, &image, args);
}
