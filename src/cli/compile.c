/*-------------------------------------------------------------------------
 *
 * compile.c
 *	  The compile subcommand: pattern files to an image.
 *
 *-------------------------------------------------------------------------
 */
#include "src/cli/cli.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef enum column
{
	COLUMN_PATTERN,
	COLUMN_REPLACEMENT,
	COLUMN_ID,
	COLUMN_PRIORITY,
	COLUMN_TAG,
	COLUMN_ALLOW,
	COLUMN_NONE					/* passed over */
} column;

static const char *const column_names[] = {
	"pattern", "replacement", "id", "priority", "tag", "allow", "-"
};

/* The state of a compilation that spans several files. */
typedef struct compilation
{
	const acdat_cli_options *options;
	acdat_builder *builder;
	column		columns[ACDAT_TABLE_MAX_FIELDS];
	size_t		ncolumns;
	uint64_t	ordinal;		/* records read, over all files */
	uint64_t	skipped;
	uint64_t	trimmed;
	uint64_t	blank_ended;	/* begin or end with a blank, kept so */
} compilation;

/* Append the column of this name to those expected. */
static void
set_column(compilation *c, const char *name, size_t len)
{
	size_t		i;

	if (c->ncolumns == ACDAT_TABLE_MAX_FIELDS)
		acdat_cli_die("more than %d columns", ACDAT_TABLE_MAX_FIELDS);
	for (i = 0; i <= COLUMN_NONE; i++)
	{
		if (strlen(column_names[i]) == len &&
			memcmp(column_names[i], name, len) == 0)
		{
			c->columns[c->ncolumns++] = (column) i;
			return;
		}
	}
	/* a header may name what is of no concern here; an option may not */
	if (!c->options->header)
		acdat_cli_die("there is no column \"%.*s\"", (int) len, name);
	c->columns[c->ncolumns++] = COLUMN_NONE;
}

/* Every other column may be absent, but not that of the patterns. */
static void
check_columns(const compilation *c)
{
	size_t		i;

	for (i = 0; i < c->ncolumns; i++)
	{
		if (c->columns[i] == COLUMN_PATTERN)
			return;
	}
	acdat_cli_die("no column is named \"pattern\"");
}

/* Columns from the option, or the usual ones. */
static void
name_columns(compilation *c)
{
	const char *list = c->options->columns;

	c->ncolumns = 0;
	if (list == NULL)
		list = "pattern,replacement,id,priority,tag,allow";
	for (;;)
	{
		size_t		len = strcspn(list, ",");

		set_column(c, list, len);
		if (list[len] == '\0')
			break;
		list += len + 1;
	}
	check_columns(c);
}

/* Columns by the first record of a file, each file its own. */
static void
name_columns_by_header(compilation *c, acdat_cli_table *table)
{
	size_t		i;

	c->ncolumns = 0;
	if (!acdat_cli_table_next(table))
		acdat_cli_die("\"%s\" has no header line", table->name);
	for (i = 0; i < table->nfields; i++)
		set_column(c, table->fields[i].len > 0 ? table->fields[i].bytes : "",
				   table->fields[i].len);
	check_columns(c);
}

/* Patterns may be secret: errors tell the place, never the content. */
static void
die_at(const acdat_cli_table *table, const char *what)
{
	acdat_cli_die("\"%s\", line %" PRIu64 ": %s", table->name, table->line,
				  what);
}

/* A whole decimal number within bounds, or the end. */
static int64_t
parse_integer(const acdat_cli_table *table, const acdat_cli_field *field,
			  int64_t least, int64_t most)
{
	char		text[32];
	char	   *end;
	long long	value = 0;

	errno = EINVAL;
	if (field->len > 0 && field->len < sizeof(text))
	{
		memcpy(text, field->bytes, field->len);
		text[field->len] = '\0';
		errno = 0;
		value = strtoll(text, &end, 10);
		if (*end != '\0')
			errno = EINVAL;
	}
	if (errno != 0 || value < least || value > most)
		die_at(table, "invalid id or priority");
	return value;
}

/* The words PostgreSQL prints and some that people write. */
static bool
parse_boolean(const acdat_cli_table *table, const acdat_cli_field *field)
{
	static const char *const words[] = {
		"", "f", "false", "0", "no", "n", "t", "true", "1", "yes", "y"
	};
	size_t		i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
	{
		if (strlen(words[i]) == field->len &&
			memcmp(words[i], field->bytes, field->len) == 0)
			return i > 5;
	}
	die_at(table, "invalid value for allow");
	return false;
}

/* A field that is NULL leaves the default. */
static void
set_attribute(acdat_pattern *p, column which, const acdat_cli_table *table,
			  const acdat_cli_field *field)
{
	if (field->bytes == NULL)
		return;
	switch (which)
	{
		case COLUMN_PATTERN:
			p->bytes = field->bytes;
			p->len = field->len;
			break;
		case COLUMN_REPLACEMENT:
			p->replacement = field->bytes;
			p->replacement_len = field->len;
			break;
		case COLUMN_ID:
			p->id = parse_integer(table, field, INT64_MIN, INT64_MAX);
			break;
		case COLUMN_PRIORITY:
			p->priority = (int32_t) parse_integer(table, field, INT32_MIN,
												  INT32_MAX);
			break;
		case COLUMN_TAG:
			p->tag = field->bytes;
			p->tag_len = field->len;
			break;
		case COLUMN_ALLOW:
			p->allow = parse_boolean(table, field);
			break;
		case COLUMN_NONE:
			break;
	}
}

/* What an editor or a table leaves at the ends of a word unseen. */
static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* Blanks around a pattern are nearly always an accident: say so, or trim. */
static void
trim_pattern(compilation *c, acdat_pattern *p)
{
	const char *bytes = p->bytes;
	size_t		len = p->len;

	while (len > 0 && is_blank(bytes[len - 1]))
		len--;
	while (len > 0 && is_blank(bytes[0]))
	{
		bytes++;
		len--;
	}
	if (len == p->len)
		return;
	if (!c->options->trim)
	{
		c->blank_ended++;
		return;
	}
	c->trimmed++;
	p->bytes = bytes;
	p->len = len;
}

/*
 * Add the pattern of one record.  Its id, if it has none, is its ordinal over
 * all files, skipped records included, so that ids do not depend on what is
 * skipped.
 */
static void
add_record(compilation *c, const acdat_cli_table *table)
{
	acdat_pattern p;
	acdat_status status;
	size_t		i;

	memset(&p, 0, sizeof(p));
	p.id = (int64_t) ++c->ordinal;
	if (table->format == ACDAT_FORMAT_LINES)
		set_attribute(&p, COLUMN_PATTERN, table, &table->fields[0]);
	else
	{
		if (table->nfields > c->ncolumns)
			die_at(table, "more columns than have a name");
		for (i = 0; i < table->nfields; i++)
			set_attribute(&p, c->columns[i], table, &table->fields[i]);
	}
	if (p.len > 0)
		trim_pattern(c, &p);
	if (p.len == 0 && c->options->skip_empty)
	{
		c->skipped++;
		return;
	}
	if (p.len == 0)
		die_at(table, "the pattern is empty (--skip-empty passes over such)");
	status = acdat_builder_add(c->builder, &p);
	if (status == ACDAT_EMPTY_PATTERN)
		die_at(table, "the pattern has ignored characters only");
	if (status == ACDAT_PATTERN_TOO_LONG)
		die_at(table, "the pattern is too long (see --max-pattern-bytes)");
	if (status != ACDAT_OK)
		die_at(table, acdat_status_text(status));
}

/* Does a file's name end like that, and have more than that? */
static bool
has_suffix(const char *name, const char *suffix)
{
	size_t		len = strlen(name);
	size_t		n = strlen(suffix);

	return len > n && strcmp(name + len - n, suffix) == 0;
}

/* An option decides, or else the name. */
static acdat_cli_format
format_of(const acdat_cli_options *options, const char *path)
{
	if (options->format_given)
		return options->format;
	if (has_suffix(path, ".tsv") || has_suffix(path, ".tab"))
		return ACDAT_FORMAT_TSV;
	if (has_suffix(path, ".csv"))
		return ACDAT_FORMAT_CSV;
	return ACDAT_FORMAT_LINES;
}

/* Patterns of one file, or of standard input. */
static void
add_file(compilation *c, const char *path)
{
	acdat_cli_table table;

	acdat_cli_table_open(&table, path, format_of(c->options, path));
	if (c->options->header && table.format != ACDAT_FORMAT_LINES)
		name_columns_by_header(c, &table);
	else
		name_columns(c);
	while (acdat_cli_table_next(&table))
	{
		add_record(c, &table);
		acdat_cli_progress_add(0);
	}
	acdat_cli_table_close(&table);
}

/*
 * The image goes through memory once: it is small beside what building took.
 */
static void
write_image(const compilation *c, size_t size)
{
	acdat_cli_output *out = acdat_cli_output_open(c->options->output);
	void	   *image = acdat_cli_alloc(NULL, size);
	acdat_status status = acdat_builder_write(c->builder, image);

	if (status != ACDAT_OK)
		acdat_cli_die("could not compile: %s", acdat_status_text(status));
	acdat_cli_write(out, image, size);
	acdat_cli_output_close(out);
	acdat_cli_progress_end();
	free(image);
}

/* A list of patterns must not be lost to a slip of the fingers. */
static void
check_not_output(const char *output, const char *path)
{
	struct stat in;
	struct stat out;

	if (stat(output, &out) == 0 && S_ISREG(out.st_mode) &&
		stat(path, &in) == 0 && in.st_dev == out.st_dev &&
		in.st_ino == out.st_ino)
		acdat_cli_die("the image would replace the patterns in \"%s\"", path);
}

/* What a list contained that its author may not know. */
static void
report(const compilation *c, size_t size)
{
	acdat_build_stats stats;

	if (c->options->quiet)
		return;
	acdat_builder_stats(c->builder, &stats);
	fprintf(stderr, "acdat: %" PRIu64 " patterns, %zu bytes\n",
			stats.added - stats.merged, size);
	if (stats.merged > 0)
		fprintf(stderr, "acdat: %" PRIu64 " repeated patterns dropped\n",
				stats.merged);
	if (stats.duplicates > 0)
		fprintf(stderr, "acdat: %" PRIu64 " patterns equal an earlier one but "
				"differ in attributes\n", stats.duplicates);
	if (c->skipped > 0)
		fprintf(stderr, "acdat: %" PRIu64 " empty patterns skipped\n",
				c->skipped);
	if (c->trimmed > 0)
		fprintf(stderr, "acdat: %" PRIu64 " patterns trimmed\n", c->trimmed);
	if (c->blank_ended > 0)
		fprintf(stderr, "acdat: %" PRIu64 " patterns begin or end with a "
				"blank (--trim drops it)\n", c->blank_ended);
}

/* Called by the builder while it works; never cancels. */
static bool
show_progress(void *arg)
{
	(void) arg;
	acdat_cli_progress_add(0);
	return false;
}

/* Nothing is written before everything is compiled. */
int
acdat_cli_compile(const acdat_cli_options *options, char **args)
{
	static char standard_input[] = "-";
	static char *only_standard_input[] = {standard_input, NULL};
	static const acdat_hooks hooks = {.tick = show_progress};
	compilation c;
	acdat_status status;
	size_t		size;

	if (options->output == NULL)
		acdat_cli_die("compile needs --output=IMAGE");
	if (options->format_given && options->format == ACDAT_FORMAT_JSON)
		acdat_cli_die("patterns cannot be read from json");
	memset(&c, 0, sizeof(c));
	c.options = options;
	c.builder = acdat_builder_create(&options->dictionary, &options->limits,
									 &hooks, &status);
	if (status == ACDAT_BAD_ARGUMENT)
		acdat_cli_die("--ignore takes UTF-8 text of at most 65536 bytes; "
					  "--case=unicode and --normalize need --encoding=utf8");
	if (c.builder == NULL)
		acdat_cli_die("could not compile: %s", acdat_status_text(status));
	acdat_cli_progress_start("compiling", 0, options->quiet);
	for (args = args[0] == NULL ? only_standard_input : args; *args != NULL;
		 args++)
	{
		check_not_output(options->output, *args);
		add_file(&c, *args);
	}

	status = acdat_builder_compile(c.builder, &size);
	if (status != ACDAT_OK)
		acdat_cli_die("could not compile: %s", acdat_status_text(status));
	write_image(&c, size);
	report(&c, size);
	acdat_builder_destroy(c.builder);
	return ACDAT_EXIT_OK;
}
