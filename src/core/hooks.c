/*-------------------------------------------------------------------------
 *
 * hooks.c
 *	  Default hooks, growing arrays, status texts.
 *
 *-------------------------------------------------------------------------
 */
#include "src/core/hooks.h"

#include <stdlib.h>

static void *
default_alloc(void *arg, size_t size)
{
	(void) arg;
	return malloc(size);
}

static void *
default_realloc(void *arg, void *ptr, size_t old_size, size_t size)
{
	(void) arg;
	(void) old_size;
	return realloc(ptr, size);
}

static void
default_free(void *arg, void *ptr)
{
	(void) arg;
	free(ptr);
}

acdat_hooks
acdat_hooks_or_default(const acdat_hooks *hooks)
{
	acdat_hooks result = {NULL, NULL, NULL, NULL, NULL};

	if (hooks != NULL)
		result = *hooks;
	if (result.alloc == NULL)
	{
		result.alloc = default_alloc;
		result.realloc = default_realloc;
		result.free = default_free;
	}
	return result;
}

/* Make the capacity exactly wanted elements, > 0. */
static bool
resize(const acdat_hooks *hooks, void **array, size_t *capacity,
	   size_t wanted, size_t width)
{
	void	   *moved;

	if (wanted > SIZE_MAX / width)
		return false;
	if (*array == NULL)
		moved = hooks->alloc(hooks->arg, wanted * width);
	else
		moved = hooks->realloc(hooks->arg, *array, *capacity * width,
							   wanted * width);
	if (moved == NULL)
		return false;
	*array = moved;
	*capacity = wanted;
	return true;
}

bool
acdat_grow(const acdat_hooks *hooks, void **array, size_t *capacity,
		   size_t count, size_t width)
{
	size_t		wanted = *capacity + *capacity / 2;

	if (count <= *capacity)
		return true;
	if (wanted < count)
		wanted = count;
	if (wanted < 64)
		wanted = 64;
	return resize(hooks, array, capacity, wanted, width);
}

void
acdat_trim(const acdat_hooks *hooks, void **array, size_t *capacity,
		   size_t count, size_t width)
{
	if (count > 0 && count < *capacity)
		(void) resize(hooks, array, capacity, count, width);
}

const char *
acdat_status_text(acdat_status status)
{
	switch (status)
	{
		case ACDAT_OK:
			return "ok";
		case ACDAT_END:
			return "no further match";
		case ACDAT_MORE:
			return "more text is needed";
		case ACDAT_NO_MEMORY:
			return "out of memory";
		case ACDAT_CANCELLED:
			return "cancelled";
		case ACDAT_BAD_ARGUMENT:
			return "invalid argument";
		case ACDAT_EMPTY_PATTERN:
			return "empty pattern";
		case ACDAT_PATTERN_TOO_LONG:
			return "pattern too long";
		case ACDAT_TOO_MANY_PATTERNS:
			return "too many patterns";
		case ACDAT_TOO_LARGE:
			return "dictionary too large";
		case ACDAT_CORRUPT:
			return "corrupt data";
		case ACDAT_VERSION_MISMATCH:
			return "made by another version";
		case ACDAT_OUTPUT_LIMIT:
			return "output limit exceeded";
		case ACDAT_SINK_FAILED:
			return "output failed";
	}
	return "internal error";
}
