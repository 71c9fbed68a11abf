/*-------------------------------------------------------------------------
 *
 * image.c
 *	  Image files: mapping them, and the info subcommand.
 *
 *-------------------------------------------------------------------------
 */
#define _POSIX_C_SOURCE 200809L

#include "src/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A file can hold anything, so it is verified as a whole unless the user
 * vouches for it.  The mapping is private and read-only.
 */
void
acdat_cli_image_open(acdat_cli_image *image, const char *path, bool trusted)
{
	struct stat status;
	acdat_status outcome;
	const char *reason = NULL;
	int			fd = open(path, O_RDONLY);

	if (fd < 0 || fstat(fd, &status) != 0)
		acdat_cli_die("could not open \"%s\": %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		acdat_cli_die("\"%s\" is not a regular file", path);
	if (status.st_size == 0)
		acdat_cli_die("\"%s\" is empty", path);
	if ((uintmax_t) status.st_size > SIZE_MAX)
		acdat_cli_die("\"%s\" is too large", path);
	image->size = (size_t) status.st_size;
	image->bytes = mmap(NULL, image->size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (image->bytes == MAP_FAILED)
		acdat_cli_die("could not map \"%s\": %s", path, strerror(errno));
	close(fd);

	if (trusted)
		outcome = acdat_open_trusted(&image->machine, image->bytes,
									 image->size);
	else
		outcome = acdat_open_checked(&image->machine, image->bytes,
									 image->size, NULL, &reason);
	if (outcome == ACDAT_VERSION_MISMATCH)
		acdat_cli_die("\"%s\" was compiled by another version of acdat; compile it again",
					  path);
	if (outcome == ACDAT_CORRUPT)
		acdat_cli_die("could not use \"%s\": not an image, or damaged%s%s", path,
					  reason ? ": " : "", reason ? reason : "");
	if (outcome != ACDAT_OK)
		acdat_cli_die("could not use \"%s\": %s", path,
					  acdat_status_text(outcome));
}

/* The machine opened on it must not be used any more. */
void
acdat_cli_image_close(acdat_cli_image *image)
{
	munmap(image->bytes, image->size);
}

/* One "name: value" line each, easy to take apart by a script. */
static void
print_info(acdat_cli_output *out, const char *path,
		   const acdat_machine_info *info)
{
	acdat_cli_print(out, "image: %s\n", path);
	acdat_cli_print(out, "bytes: %" PRIu64 "\n", info->image_bytes);
	acdat_cli_print(out, "layout version: %" PRIu32 "\n",
					info->layout_version);
	acdat_cli_print(out, "checksum: %016" PRIx64 "%016" PRIx64 "\n",
					info->checksum[0], info->checksum[1]);
	acdat_cli_print(out, "engine: %s\n", info->engine);
	acdat_cli_print(out, "patterns: %" PRIu64 "\n", info->patterns);
	acdat_cli_print(out, "allow patterns: %" PRIu64 "\n",
					info->allow_patterns);
	acdat_cli_print(out, "pattern bytes: %" PRIu64 " to %" PRIu64 "\n",
					info->min_pattern_bytes, info->max_pattern_bytes);
	acdat_cli_print(out, "states: %" PRIu64 "\n", info->states);
	acdat_cli_print(out, "encoding: %s\n",
					info->options.encoding == ACDAT_ENCODING_UTF8 ?
					"utf8" : "bytes");
	acdat_cli_print(out, "case: %s\n",
					acdat_case_name(info->options.case_insensitive));
	acdat_cli_print(out, "normalize: %s\n",
					acdat_normalize_name(info->options.normalize));
	acdat_cli_print(out, "boundary: %s\n",
					acdat_boundary_name(info->options.boundary));
	acdat_cli_print(out, "ignore: ");
	acdat_cli_write(out, info->options.ignore, info->options.ignore_len);
	acdat_cli_print(out, "\nreplacements: %s\ntags: %llu\n",
					info->has_replacements ? "yes" : "no",
					(unsigned long long) info->tags);
}

/* Several images are separated by empty lines. */
int
acdat_cli_info(const acdat_cli_options *options, char **args)
{
	acdat_cli_output *out = acdat_cli_output_open(NULL);
	bool		first = true;

	for (; *args != NULL; args++)
	{
		acdat_cli_image image;
		acdat_machine_info info;

		acdat_cli_image_open(&image, *args, options->trusted);
		acdat_machine_describe(&image.machine, &info);
		if (!first)
			acdat_cli_print(out, "\n");
		first = false;
		print_info(out, *args, &info);
		acdat_cli_image_close(&image);
	}
	acdat_cli_output_close(out);
	return ACDAT_EXIT_OK;
}
