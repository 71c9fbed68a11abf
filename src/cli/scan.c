/*-------------------------------------------------------------------------
 *
 * scan.c
 *	  The subcommands that find: contains, matches, count.
 *
 *-------------------------------------------------------------------------
 */
#include "src/cli/cli.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "src/core/unicode.h"

/* What runs over the inputs of one command. */
typedef struct job
{
	const acdat_cli_options *options;
	acdat_cli_image image;
	acdat_encoding encoding;
	acdat_scan *scan;
	acdat_policy policy;
	acdat_cli_output *out;
	const char *file;			/* as the user named it */
	bool		found;			/* in any input */
	bool		enough;			/* one match answers the question */
	bool		line_found;
	uint64_t	printed;		/* lines, of all inputs */
	uint64_t	count;			/* in this input */
	bool		counts_chars;	/* positions in characters are wanted */

	/* Where the current text's buffer begins, and what is counted of it. */
	uint64_t	base;			/* byte offset of the buffer in the text */
	size_t		skip;			/* of these, bytes the scan is done with */
	size_t		counted;		/* bytes of the buffer counted in chars */
	uint64_t	chars;			/* characters before base + counted */
} job;

typedef void (*match_action) (job *j, const acdat_cli_text *text,
							  const acdat_match *m);

/* The beginning of the character that pos lies in, or pos. */
static size_t
char_floor(const job *j, const unsigned char *bytes, size_t len, size_t pos)
{
	size_t		back = 0;
	size_t		n;
	int32_t		c;

	if (j->encoding != ACDAT_ENCODING_UTF8 || pos >= len)
		return pos;
	while (back < 3 && back < pos && (bytes[pos - back] & 0xC0) == 0x80)
		back++;
	n = acdat_decode_char(bytes + pos - back, len - pos + back, &c);
	return n == 0 || n > back ? pos - back : pos;
}

/* Number of characters of the text before pos bytes of the buffer. */
static uint64_t
chars_before(job *j, const acdat_cli_text *text, size_t pos)
{
	size_t		whole = char_floor(j, text->bytes, text->len, pos);

	if (whole > j->counted)
	{
		j->chars += acdat_count_chars(j->encoding, text->bytes + j->counted,
									  whole - j->counted);
		j->counted = whole;
	}
	return j->chars + acdat_count_chars(j->encoding, text->bytes + j->counted,
										pos - j->counted);
}

/*
 * Let the reader drop what the scan is done with, but not the beginning of a
 * character that is still to be counted.
 */
static size_t
drop_scanned(job *j, const acdat_cli_text *text, size_t scanned)
{
	size_t		dropped = j->skip + scanned;

	if (j->counts_chars)
	{
		(void) chars_before(j, text, dropped);
		dropped = j->counted;
	}
	j->skip = j->skip + scanned - dropped;
	j->counted = 0;
	j->base += dropped;
	return dropped;
}

/* Run the scan over a piece of text; action may be NULL to stop at a match */
static acdat_cli_progress
scan_piece(job *j, const acdat_cli_text *text, size_t *consumed,
		   match_action action)
{
	acdat_match m;
	acdat_status status;

	if (text->first)
	{
		j->base = j->chars = 0;
		j->skip = j->counted = 0;
		acdat_scan_start(j->scan, j->policy, text->bytes, text->len,
						 text->final);
	}
	else
		acdat_scan_continue(j->scan, text->bytes + j->skip,
							text->len - j->skip, text->final);
	while ((status = acdat_scan_next(j->scan, &m)) == ACDAT_OK)
	{
		j->found = true;
		j->line_found = true;
		j->count++;
		if (action == NULL)
			return ACDAT_FEED_STOP;
		action(j, text, &m);
	}
	if (status == ACDAT_MORE)
		*consumed = drop_scanned(j, text, acdat_scan_consumed(j->scan));
	else if (status != ACDAT_END)
		acdat_cli_die("could not scan \"%s\": %s", j->file,
					  acdat_status_text(status));
	return ACDAT_FEED_ON;
}

/* Run a command over all its inputs. */
static void
run_job(job *j, acdat_cli_reader *reader, char **args,
		void (*file_end) (job *j))
{
	static char standard_input[] = "-";
	static char *only_standard_input[] = {standard_input, NULL};
	acdat_machine_info info;

	acdat_cli_image_open(&j->image, args[0], j->options->trusted);
	acdat_machine_describe(&j->image.machine, &info);
	j->encoding = info.options.encoding;
	j->counts_chars = j->counts_chars && j->encoding == ACDAT_ENCODING_UTF8;
	j->scan = acdat_cli_alloc(NULL, acdat_scan_size(&j->image.machine));
	acdat_scan_init(j->scan, &j->image.machine, NULL);
	j->out = acdat_cli_output_open(j->options->output);

	reader->arg = j;
	reader->lines = j->options->lines;
	reader->quiet = j->options->quiet;
	for (args = args[1] == NULL ? only_standard_input : args + 1;
		 *args != NULL; args++)
	{
		j->file = *args;
		j->count = 0;
		acdat_cli_read(reader, *args);
		if (file_end != NULL)
			file_end(j);
		if (j->found && j->enough)
			break;
	}
	acdat_cli_output_close(j->out);
	free(j->scan);
	acdat_cli_image_close(&j->image);
}

/* ------------------------------------------------------------ contains */

/* Stops reading at the first match. */
static acdat_cli_progress
feed_contains(void *arg, const acdat_cli_text *text, size_t *consumed)
{
	job		   *j = arg;

	return scan_piece(j, text, consumed, NULL);
}

/* Lines are printed as they are, with the end they have. */
static acdat_cli_progress
feed_contains_line(void *arg, const acdat_cli_text *text, size_t *consumed)
{
	job		   *j = arg;

	j->line_found = false;
	(void) scan_piece(j, text, consumed, NULL);
	j->line_found = j->line_found != j->options->invert;
	if (j->line_found)
	{
		j->printed++;
		acdat_cli_write(j->out, text->bytes, text->len);
	}
	return ACDAT_FEED_ON;
}

/* A line that was printed keeps its end. */
static void
end_contains_line(void *arg, const unsigned char *bytes, size_t len)
{
	job		   *j = arg;

	if (j->line_found)
		acdat_cli_write(j->out, bytes, len);
}

/* Files are looked at until one answers the question; lines all of them. */
int
acdat_cli_contains(const acdat_cli_options *options, char **args)
{
	acdat_cli_reader reader;
	job			j;
	bool		answer;

	memset(&j, 0, sizeof(j));
	memset(&reader, 0, sizeof(reader));
	j.options = options;
	j.policy = ACDAT_LEFTMOST_LONGEST;
	j.enough = !options->lines;
	reader.whole_lines = true;
	reader.feed = options->lines ? feed_contains_line : feed_contains;
	reader.line_end = options->lines ? end_contains_line : NULL;
	run_job(&j, &reader, args, NULL);
	answer = options->lines ? j.printed > 0 : j.found != options->invert;
	return answer ? ACDAT_EXIT_OK : ACDAT_EXIT_NOT_FOUND;
}

/* ------------------------------------------------------------- matches */

/* As in PostgreSQL's COPY text format. */
static void
write_tsv(acdat_cli_output *out, const char *bytes, size_t len)
{
	size_t		i;

	if (bytes == NULL)
	{
		acdat_cli_write(out, "\\N", 2);
		return;
	}
	for (i = 0; i < len; i++)
	{
		switch (bytes[i])
		{
			case '\t':
				acdat_cli_write(out, "\\t", 2);
				break;
			case '\n':
				acdat_cli_write(out, "\\n", 2);
				break;
			case '\r':
				acdat_cli_write(out, "\\r", 2);
				break;
			case '\\':
				acdat_cli_write(out, "\\\\", 2);
				break;
			default:
				acdat_cli_write(out, bytes + i, 1);
		}
	}
}

/* A JSON string; bytes that are no UTF-8 become U+FFFD. */
static void
write_json(acdat_cli_output *out, const char *bytes, size_t len)
{
	const unsigned char *at = (const unsigned char *) bytes;

	if (bytes == NULL)
	{
		acdat_cli_write(out, "null", 4);
		return;
	}
	acdat_cli_write(out, "\"", 1);
	while (len > 0)
	{
		int32_t		c;
		size_t		n = acdat_decode_char(at, len, &c);

		if (n == 0)
			n = 1;
		if (c == ACDAT_INVALID_CHAR)
			acdat_cli_write(out, "\\ufffd", 6);
		else if (c < 0x20)
			acdat_cli_print(out, "\\u%04x", (unsigned int) c);
		else
		{
			if (c == '"' || c == '\\')
				acdat_cli_write(out, "\\", 1);
			acdat_cli_write(out, at, n);
		}
		at += n;
		len -= n;
	}
	acdat_cli_write(out, "\"", 1);
}

/* What comes before every value but the first. */
static void
print_label(const job *j, const char *label)
{
	if (j->options->format != ACDAT_FORMAT_JSON)
	{
		acdat_cli_write(j->out, "\t", 1);
		return;
	}
	acdat_cli_write(j->out, ",\"", 2);
	acdat_cli_write_string(j->out, label);
	acdat_cli_write(j->out, "\":", 2);
}

/* A number, or NULL where there is none. */
static void
print_number(const job *j, const char *label, bool given, int64_t number)
{
	print_label(j, label);
	if (given)
		acdat_cli_write_number(j->out, number);
	else
		acdat_cli_write_string(j->out,
							   j->options->format == ACDAT_FORMAT_JSON ?
							   "null" : "\\N");
}

/* A string, or NULL where there is none. */
static void
print_text(const job *j, const char *label, const char *bytes, size_t len)
{
	print_label(j, label);
	if (j->options->format == ACDAT_FORMAT_JSON)
		write_json(j->out, bytes, len);
	else
		write_tsv(j->out, bytes, len);
}

/* Positions count from 1, as in SQL; in bytes there are no characters. */
static void
print_match(job *j, const acdat_cli_text *text, const acdat_match *m)
{
	const acdat_machine *machine = &j->image.machine;
	bool		json = j->options->format == ACDAT_FORMAT_JSON;
	bool		utf8 = j->encoding == ACDAT_ENCODING_UTF8;
	size_t		at = (size_t) (m->start - j->base);
	size_t		len = (size_t) (m->end - m->start);
	const unsigned char *bytes = text->bytes + at;
	const char *tag;
	size_t		tag_len;

	if (json)
	{
		acdat_cli_write_string(j->out, "{\"file\":");
		write_json(j->out, j->file, strlen(j->file));
	}
	else
		write_tsv(j->out, j->file, strlen(j->file));
	print_number(j, "line", text->line > 0, (int64_t) text->line);
	print_number(j, "byte_pos", true, (int64_t) m->start + 1);
	print_number(j, "byte_len", true, (int64_t) len);
	print_number(j, "char_pos", utf8,
				 utf8 ? (int64_t) chars_before(j, text, at) + 1 : 0);
	print_number(j, "char_len", utf8,
				 (int64_t) acdat_count_chars(j->encoding, bytes, len));
	print_number(j, "id", true, acdat_pattern_id(machine, m->pattern));
	print_number(j, "priority", true,
				 acdat_pattern_priority(machine, m->pattern));
	tag = acdat_pattern_tag(machine, m->pattern, &tag_len);
	print_text(j, "tag", tag, tag_len);
	print_text(j, "text", (const char *) bytes, len);
	acdat_cli_write_string(j->out, json ? "}\n" : "\n");
}

/* Matches are printed as they are found. */
static acdat_cli_progress
feed_matches(void *arg, const acdat_cli_text *text, size_t *consumed)
{
	return scan_piece(arg, text, consumed, print_match);
}

/* By default all, overlapping ones too, as in SQL. */
int
acdat_cli_matches(const acdat_cli_options *options, char **args)
{
	acdat_cli_reader reader;
	job			j;

	if (options->format_given && options->format != ACDAT_FORMAT_TSV &&
		options->format != ACDAT_FORMAT_JSON)
		acdat_cli_die("matches are printed as tsv or json");
	memset(&j, 0, sizeof(j));
	memset(&reader, 0, sizeof(reader));
	j.options = options;
	j.policy = options->policy;
	j.counts_chars = true;
	reader.feed = feed_matches;
	run_job(&j, &reader, args, NULL);
	return j.found ? ACDAT_EXIT_OK : ACDAT_EXIT_NOT_FOUND;
}

/* --------------------------------------------------------------- count */

/* Counting happens for every command. */
static void
pass_match(job *j, const acdat_cli_text *text, const acdat_match *m)
{
	(void) j;
	(void) text;
	(void) m;
}

/* Goes through to the end. */
static acdat_cli_progress
feed_count(void *arg, const acdat_cli_text *text, size_t *consumed)
{
	return scan_piece(arg, text, consumed, pass_match);
}

/* For the only input: a bare number. */
static void
print_count(job *j)
{
	acdat_cli_print(j->out, "%" PRIu64 "\n", j->count);
}

/* For one of several. */
static void
print_count_and_file(job *j)
{
	acdat_cli_print(j->out, "%" PRIu64 "\t", j->count);
	write_tsv(j->out, j->file, strlen(j->file));
	acdat_cli_write(j->out, "\n", 1);
}

/* None is an answer, not a failure: the exit status is 0. */
int
acdat_cli_count(const acdat_cli_options *options, char **args)
{
	acdat_cli_reader reader;
	job			j;
	bool		several = args[1] != NULL && args[2] != NULL;

	memset(&j, 0, sizeof(j));
	memset(&reader, 0, sizeof(reader));
	j.options = options;
	j.policy = options->policy;
	reader.feed = feed_count;
	run_job(&j, &reader, args, several ? print_count_and_file : print_count);
	return ACDAT_EXIT_OK;
}
