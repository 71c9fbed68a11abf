/*-------------------------------------------------------------------------
 *
 * output.c
 *	  Buffered output to standard output or to a file.
 *
 * A file is written beside its final name and renamed when it is complete:
 * an error leaves the old file in place, the input may be the output, and a
 * mapped image is never changed under its users.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "src/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUT_BUFFER_BYTES 65536
#define TEMPORARY_SUFFIX ".XXXXXX"

struct acdat_cli_output
{
	int			fd;
	const char *path;			/* NULL: standard output */
	char	   *temporary;		/* NULL: written in place */
	size_t		used;
	unsigned char buffer[OUTPUT_BUFFER_BYTES];
};

/* The one file being written, for the ways out that do not complete it */
static char *volatile unfinished = NULL;

/* The output that is open, if one is */
static acdat_cli_output *current = NULL;

/* The file under its final name, if there is one, stays as it is. */
void
acdat_cli_output_abandon(void)
{
	if (unfinished != NULL)
		unlink(unfinished);
	unfinished = NULL;
}

/* A signal that ends the program takes the unfinished file along. */
static void
abandon_on_signal(int signal_number)
{
	if (unfinished != NULL)
		unlink(unfinished);
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

/* The permissions a new file would have, or those of the one replaced. */
static mode_t
target_mode(const char *path)
{
	struct stat status;
	mode_t		mask;

	if (stat(path, &status) == 0)
		return status.st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

/* Devices and pipes are written in place: there is nothing to replace. */
static bool
is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/*
 * A name beside the final one is on the same file system, as rename() needs
 * it.
 */
static void
open_temporary(acdat_cli_output *out)
{
	size_t		len = strlen(out->path);

	out->temporary = acdat_cli_alloc(NULL, len + sizeof(TEMPORARY_SUFFIX));
	memcpy(out->temporary, out->path, len);
	memcpy(out->temporary + len, TEMPORARY_SUFFIX, sizeof(TEMPORARY_SUFFIX));
	out->fd = mkstemp(out->temporary);
	if (out->fd < 0)
		return;
	unfinished = out->temporary;
	signal(SIGINT, abandon_on_signal);
	signal(SIGTERM, abandon_on_signal);
	signal(SIGHUP, abandon_on_signal);
	if (fchmod(out->fd, target_mode(out->path)) != 0)
		acdat_cli_die("could not set the mode of \"%s\": %s", out->temporary,
					  strerror(errno));
}

/* Fails before any work is done rather than after. */
acdat_cli_output *
acdat_cli_output_open(const char *path)
{
	acdat_cli_output *out = acdat_cli_alloc(NULL, sizeof(*out));

	out->path = path;
	out->temporary = NULL;
	out->used = 0;
	if (path == NULL || strcmp(path, "-") == 0)
	{
		out->path = NULL;
		out->fd = STDOUT_FILENO;
	}
	else if (is_special(path))
		out->fd = open(path, O_WRONLY);
	else
		open_temporary(out);
	if (out->fd < 0)
		acdat_cli_die("could not write \"%s\": %s", path, strerror(errno));
	current = out;
	return out;
}

/* Straight to the file, however often it takes. */
static void
write_all(acdat_cli_output *out, const unsigned char *bytes, size_t len)
{
	while (len > 0)
	{
		ssize_t		n = write(out->fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			acdat_cli_die("could not write \"%s\": %s",
						  out->path ? out->path : "standard output",
						  strerror(errno));
		bytes += n;
		len -= (size_t) n;
	}
}

/* Large pieces bypass the buffer. */
void
acdat_cli_write(acdat_cli_output *out, const void *bytes, size_t len)
{
	if (len > OUTPUT_BUFFER_BYTES - out->used)
	{
		write_all(out, out->buffer, out->used);
		out->used = 0;
	}
	if (len > OUTPUT_BUFFER_BYTES)
		write_all(out, bytes, len);
	else if (len > 0)
	{
		memcpy(out->buffer + out->used, bytes, len);
		out->used += len;
	}
}

/* For short pieces only. */
void
acdat_cli_print(acdat_cli_output *out, const char *format, ...)
{
	char		text[4096];
	va_list		args;
	int			len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0)
		acdat_cli_die("could not format output");
	acdat_cli_write(out, text, (size_t) len < sizeof(text) ? (size_t) len :
					sizeof(text) - 1);
}

void
acdat_cli_write_string(acdat_cli_output *out, const char *string)
{
	acdat_cli_write(out, string, strlen(string));
}

/* Much quicker than a format, for what is printed by the million. */
void
acdat_cli_write_number(acdat_cli_output *out, int64_t number)
{
	char		digits[24];
	char	   *at = digits + sizeof(digits);
	uint64_t	left = number < 0 ? 0 - (uint64_t) number : (uint64_t) number;

	do
	{
		*--at = (char) ('0' + left % 10);
		left /= 10;
	} while (left > 0);
	if (number < 0)
		*--at = '-';
	acdat_cli_write(out, at, (size_t) (digits + sizeof(digits) - at));
}

/* For pipelines in which somebody waits for the answer to each line. */
void
acdat_cli_output_flush(void)
{
	if (current == NULL)
		return;
	write_all(current, current->buffer, current->used);
	current->used = 0;
}

/* Only now does a file get its name: every write before has succeeded. */
void
acdat_cli_output_close(acdat_cli_output *out)
{
	acdat_cli_output_flush();
	current = NULL;
	if (out->path != NULL)
	{
		if (close(out->fd) != 0)
			acdat_cli_die("could not write \"%s\": %s", out->path,
						  strerror(errno));
		if (out->temporary != NULL &&
			rename(out->temporary, out->path) != 0)
			acdat_cli_die("could not rename \"%s\" to \"%s\": %s",
						  out->temporary, out->path, strerror(errno));
		unfinished = NULL;
	}
	free(out->temporary);
	free(out);
}
