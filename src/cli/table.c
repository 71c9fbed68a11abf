/*-------------------------------------------------------------------------
 *
 * table.c
 *	  Records of a pattern file: lines, tab-separated, comma-separated.
 *
 * tsv is PostgreSQL's COPY text format (backslash escapes, \N for NULL), csv
 * is RFC 4180 with quoted line breaks (an empty field without quotes is
 * NULL).  Lines may end with a carriage return, a byte order mark at the
 * beginning is passed over.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "src/cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Opens the file and passes over a byte order mark. */
void
acdat_cli_table_open(acdat_cli_table *table, const char *path,
					 acdat_cli_format format)
{
	int			c;

	memset(table, 0, sizeof(*table));
	table->format = format;
	if (strcmp(path, "-") == 0)
	{
		table->name = "standard input";
		table->file = stdin;
	}
	else
	{
		table->name = path;
		table->file = fopen(path, "rb");
	}
	if (table->file == NULL)
		acdat_cli_die("could not open \"%s\": %s", path, strerror(errno));

	c = getc(table->file);
	if (c == 0xEF)
	{
		if (getc(table->file) != 0xBB || getc(table->file) != 0xBF)
			rewind(table->file);
	}
	else if (c != EOF)
		ungetc(c, table->file);
}

/* Fields of the last record are gone, too. */
void
acdat_cli_table_close(acdat_cli_table *table)
{
	if (table->file != stdin)
		fclose(table->file);
	free(table->record);
}

/* Tell a failure to read from the end of the file. */
static void
check_read(const acdat_cli_table *table)
{
	if (ferror(table->file))
		acdat_cli_die("could not read \"%s\": %s", table->name,
					  strerror(errno));
}

/* Read a line without its end; false at the end of the file. */
static bool
read_line(acdat_cli_table *table, size_t *len)
{
	ssize_t		n = getline(&table->record, &table->room, table->file);

	if (n < 0)
	{
		check_read(table);
		return false;
	}
	table->line = ++table->lines_read;
	if (table->record[n - 1] == '\n')
	{
		n--;
		if (n > 0 && table->record[n - 1] == '\r')
			n--;
	}
	*len = (size_t) n;
	return true;
}

/* A table this wide is a mistake in the format. */
static acdat_cli_field *
new_field(acdat_cli_table *table)
{
	if (table->nfields == ACDAT_TABLE_MAX_FIELDS)
		acdat_cli_die("\"%s\", line %llu: more than %d columns", table->name,
					  (unsigned long long) table->line,
					  ACDAT_TABLE_MAX_FIELDS);
	return &table->fields[table->nfields++];
}

/* Undo backslash escapes in place; returns the new length. */
static size_t
unescape(char *bytes, size_t len)
{
	size_t		n = 0;
	size_t		i;

	for (i = 0; i < len; i++)
	{
		char		c = bytes[i];

		if (c == '\\' && i + 1 < len)
		{
			c = bytes[++i];
			if (c == 't')
				c = '\t';
			else if (c == 'n')
				c = '\n';
			else if (c == 'r')
				c = '\r';
		}
		bytes[n++] = c;
	}
	return n;
}

/* Escapes never contain a tab, so that splitting may come first. */
static void
split_tabs(acdat_cli_table *table, size_t len)
{
	char	   *at = table->record;
	char	   *end = at + len;

	for (;;)
	{
		acdat_cli_field *field = new_field(table);
		char	   *tab = memchr(at, '\t', (size_t) (end - at));

		field->bytes = at;
		field->len = (size_t) ((tab != NULL ? tab : end) - at);
		if (field->len == 2 && memcmp(at, "\\N", 2) == 0)
		{
			field->bytes = NULL;
			field->len = 0;
		}
		else
			field->len = unescape(at, field->len);
		if (tab == NULL)
			return;
		at = tab + 1;
	}
}

/* Append to the record, which grows. */
static void
add_byte(acdat_cli_table *table, size_t *used, int c)
{
	if (*used == table->room)
	{
		table->room = table->room * 2 + 256;
		table->record = acdat_cli_alloc(table->record, table->room);
	}
	table->record[(*used)++] = (char) c;
}

/* Read the rest of a quoted field, up to and with the closing quote. */
static void
read_quoted(acdat_cli_table *table, size_t *used)
{
	for (;;)
	{
		int			c = getc(table->file);

		if (c == '"')
		{
			c = getc(table->file);
			if (c != '"')
			{
				ungetc(c, table->file);
				return;
			}
		}
		if (c == EOF)
		{
			check_read(table);
			acdat_cli_die("\"%s\", line %llu: a quoted field does not end",
						  table->name, (unsigned long long) table->line);
		}
		if (c == '\n')
			table->lines_read++;
		add_byte(table, used, c);
	}
}

/* Read one field; returns what ends it: ',', '\n' or EOF. */
static int
read_csv_field(acdat_cli_table *table, size_t *used, bool *quoted)
{
	int			c = getc(table->file);

	*quoted = c == '"';
	if (*quoted)
	{
		read_quoted(table, used);
		c = getc(table->file);
	}
	for (;; c = getc(table->file))
	{
		if (c == '\r')
		{
			int			next = getc(table->file);

			if (next == '\n' || next == EOF)
				return next;
			ungetc(next, table->file);
		}
		if (c == ',' || c == '\n' || c == EOF)
			return c;
		if (*quoted)
			acdat_cli_die("\"%s\", line %llu: text behind a quoted field",
						  table->name, (unsigned long long) table->line);
		add_byte(table, used, c);
	}
}

/* Fields get their addresses last, for the record may move as it grows. */
static bool
read_csv(acdat_cli_table *table)
{
	size_t		begin[ACDAT_TABLE_MAX_FIELDS];
	size_t		used = 0;
	size_t		i;
	int			ended = getc(table->file);

	if (ended == EOF)
	{
		check_read(table);
		return false;
	}
	ungetc(ended, table->file);
	table->line = table->lines_read + 1;
	do
	{
		acdat_cli_field *field = new_field(table);
		size_t		which = table->nfields - 1;
		bool		quoted;

		begin[which] = used;
		ended = read_csv_field(table, &used, &quoted);
		field->len = used - begin[which];
		field->bytes = quoted || field->len > 0 ? "" : NULL;
	} while (ended == ',');
	table->lines_read++;
	add_byte(table, &used, '\0');
	for (i = 0; i < table->nfields; i++)
	{
		if (table->fields[i].bytes != NULL)
			table->fields[i].bytes = table->record + begin[i];
	}
	return true;
}

/* Fields are valid until the next call. */
bool
acdat_cli_table_next(acdat_cli_table *table)
{
	size_t		len;

	table->nfields = 0;
	if (table->format == ACDAT_FORMAT_CSV)
		return read_csv(table);
	if (!read_line(table, &len))
		return false;
	if (table->format == ACDAT_FORMAT_TSV)
		split_tabs(table, len);
	else
	{
		acdat_cli_field *field = new_field(table);

		field->bytes = table->record;
		field->len = len;
	}
	return true;
}
