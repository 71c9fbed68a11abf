/*-------------------------------------------------------------------------
 *
 * input.c
 *	  Texts, whole or line by line, in a buffer of bounded size.
 *
 * The buffer grows only when a text cannot be taken on: a pattern, a run of
 * ignored characters or, for those who want whole lines, a line longer than
 * what is read at once.  There is an end to that, so that no input can make
 * the program take all memory.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "src/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_BYTES (256 * 1024)
#define FIRST_ROOM (2 * READ_BYTES)
#define MAX_ROOM (8 * 1024 * 1024)

typedef struct buffer
{
	int			fd;
	const char *name;
	bool		interactive;	/* no file: whoever reads along must not wait */
	bool		eof;
	unsigned char *bytes;
	size_t		start;			/* first byte not done with */
	size_t		end;
	size_t		room;
} buffer;

/*
 * Everything begins here: the size, if it is known, is what progress is
 * measured by.
 */
static void
open_buffer(buffer *b, const char *path, bool quiet)
{
	struct stat status;
	uint64_t	total = 0;

	memset(b, 0, sizeof(*b));
	if (strcmp(path, "-") == 0)
	{
		b->name = "standard input";
		b->fd = STDIN_FILENO;
	}
	else
	{
		b->name = path;
		b->fd = open(path, O_RDONLY);
	}
	if (b->fd < 0 || fstat(b->fd, &status) != 0)
		acdat_cli_die("could not open \"%s\": %s", path, strerror(errno));
	b->interactive = !S_ISREG(status.st_mode);
	if (!b->interactive)
		total = (uint64_t) status.st_size;
	b->room = FIRST_ROOM;
	b->bytes = acdat_cli_alloc(NULL, b->room);
	acdat_cli_progress_start(b->name, total, quiet);
}

/* Standard input stays open; it may be named twice. */
static void
close_buffer(buffer *b)
{
	acdat_cli_progress_end();
	if (b->fd != STDIN_FILENO)
		close(b->fd);
	free(b->bytes);
}

/* Make room for at least one more byte. */
static void
make_room(buffer *b)
{
	size_t		used = b->end - b->start;

	if (b->start > 0 && b->room - b->end < READ_BYTES)
	{
		memmove(b->bytes, b->bytes + b->start, used);
		b->start = 0;
		b->end = used;
	}
	if (b->end < b->room)
		return;
	if (b->room >= MAX_ROOM)
		acdat_cli_die("\"%s\": a match or line is longer than %d MiB",
					  b->name, MAX_ROOM / (1024 * 1024));
	b->room *= 2;
	b->bytes = acdat_cli_alloc(b->bytes, b->room);
}

/* Read at least the bytes wanted, unless the input ends before. */
static void
fill(buffer *b, size_t wanted)
{
	while (wanted > 0 && !b->eof)
	{
		size_t		most;
		ssize_t		n;

		make_room(b);
		most = b->room - b->end;
		if (most > READ_BYTES)
			most = READ_BYTES;
		if (b->interactive)
			acdat_cli_output_flush();
		n = read(b->fd, b->bytes + b->end, most);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			acdat_cli_die("could not read \"%s\": %s", b->name,
						  strerror(errno));
		b->eof = n == 0;
		b->end += (size_t) n;
		wanted -= (size_t) n < wanted ? (size_t) n : wanted;
		acdat_cli_progress_add((uint64_t) n);
	}
}

/*
 * Read on while a text waits for more.  What waits is looked at again, so
 * the longer it is the more is read at once.
 */
static void
fill_behind(buffer *b)
{
	size_t		waiting = b->end - b->start;

	fill(b, waiting < READ_BYTES / 4 ? 1 : waiting);
}

/* Hand over bytes and drop what need not come again. */
static acdat_cli_progress
feed(const acdat_cli_reader *reader, buffer *b, size_t len, bool final,
	 bool first, uint64_t line)
{
	acdat_cli_text text;
	acdat_cli_progress outcome;
	size_t		consumed = 0;

	text.bytes = b->bytes + b->start;
	text.len = len;
	text.final = final;
	text.first = first;
	text.line = line;
	outcome = reader->feed(reader->arg, &text, &consumed);
	b->start += final ? len : consumed;
	return outcome;
}

/*
 * The whole input is one text.  It is known to end only when a read returns
 * nothing, so the last piece may be fed twice: open, then final.
 */
static void
read_whole(const acdat_cli_reader *reader, buffer *b)
{
	bool		first = true;
	bool		final;

	fill(b, 1);
	do
	{
		final = b->eof;
		if (feed(reader, b, b->end - b->start, final, first,
				 0) == ACDAT_FEED_STOP)
			return;
		first = false;
		fill_behind(b);
	} while (!final);
}

/*
 * The carriage return of a line's end does not belong to the line; one that
 * is the last byte so far may turn out to be such.
 */
static size_t
without_return(const unsigned char *bytes, size_t len)
{
	return len > 0 && bytes[len - 1] == '\r' ? len - 1 : len;
}

/*
 * Each line is a text.  A line longer than what is read at once goes in
 * pieces, unless whole lines are wanted.
 */
static void
read_lines(const acdat_cli_reader *reader, buffer *b)
{
	uint64_t	line = 1;
	size_t		searched = 0;	/* bytes known to hold no line end */
	bool		first = true;

	for (;;)
	{
		const unsigned char *bytes = b->bytes + b->start;
		size_t		len = b->end - b->start;
		const unsigned char *found = len == searched ? NULL :
			memchr(bytes + searched, '\n', len - searched);
		size_t		before = b->start;

		if (found == NULL && b->eof)
		{
			if (len > 0 || !first)
				feed(reader, b, len, true, first, line);
			return;
		}
		if (found != NULL)
		{
			size_t		end = without_return(bytes, (size_t) (found - bytes));

			if (feed(reader, b, end, true, first, line) == ACDAT_FEED_STOP)
				return;
			if (reader->line_end != NULL)
				reader->line_end(reader->arg, bytes + end,
								 (size_t) (found - bytes) - end + 1);
			b->start = before + (size_t) (found - bytes) + 1;
			line++;
			first = true;
			searched = 0;
			continue;
		}
		searched = len;
		if (len >= READ_BYTES && !reader->whole_lines)
		{
			if (feed(reader, b, without_return(bytes, len), false, first,
					 line) == ACDAT_FEED_STOP)
				return;
			first = false;
			searched -= b->start - before;
		}
		fill_behind(b);
	}
}

/* One input from its beginning to its end. */
void
acdat_cli_read(const acdat_cli_reader *reader, const char *path)
{
	buffer		b;

	open_buffer(&b, path, reader->quiet);
	if (reader->lines)
		read_lines(reader, &b);
	else
		read_whole(reader, &b);
	close_buffer(&b);
}
