/*-------------------------------------------------------------------------
 *
 * progress.c
 *	  A line on a terminal that says how far the work is.
 *
 * Nothing is shown in the first moments, so that quick commands stay quiet,
 * and never where standard error is no terminal.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "src/cli/cli.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Seconds before the first display and between two. */
#define PROGRESS_DELAY 0.5
#define PROGRESS_INTERVAL 0.2

#define MIB (1024.0 * 1024.0)

static struct
{
	bool		active;
	bool		shown;
	const char *name;
	uint64_t	total;			/* 0: not known */
	uint64_t	done;
	double		started;
	double		next;
} progress;

/* Seconds of a clock that nobody sets. */
static double
now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double) t.tv_sec + (double) t.tv_nsec / 1e9;
}

/* A total of 0 means that it is not known. */
void
acdat_cli_progress_start(const char *name, uint64_t total, bool quiet)
{
	memset(&progress, 0, sizeof(progress));
	progress.active = !quiet && isatty(STDERR_FILENO) == 1;
	if (!progress.active)
		return;
	progress.name = name;
	progress.total = total;
	progress.started = now();
	progress.next = progress.started + PROGRESS_DELAY;
}

/*
 * Cheap enough to be called for every read.  Work that is not measured in
 * bytes calls with 0 and shows how long it has taken.
 */
void
acdat_cli_progress_add(uint64_t bytes)
{
	double		t;

	if (!progress.active)
		return;
	progress.done += bytes;
	t = now();
	if (t < progress.next)
		return;
	progress.next = t + PROGRESS_INTERVAL;
	progress.shown = true;
	if (progress.done == 0)
		fprintf(stderr, "\r%s: %.0f s\033[K", progress.name,
				t - progress.started);
	else if (progress.total > 0)
		fprintf(stderr, "\r%s: %.0f of %.0f MiB (%.0f %%), %.0f MiB/s\033[K",
				progress.name, (double) progress.done / MIB,
				(double) progress.total / MIB,
				100.0 * (double) progress.done / (double) progress.total,
				(double) progress.done / MIB / (t - progress.started));
	else
		fprintf(stderr, "\r%s: %.0f MiB, %.0f MiB/s\033[K", progress.name,
				(double) progress.done / MIB,
				(double) progress.done / MIB / (t - progress.started));
	fflush(stderr);
}

/* Takes the line away, so that nothing is left of it on the screen. */
void
acdat_cli_progress_end(void)
{
	if (progress.shown)
		fputs("\r\033[K", stderr);
	progress.active = false;
	progress.shown = false;
}
