/*-------------------------------------------------------------------------
 *
 * main.c
 *	  The acdat command: subcommands, options and errors.
 *
 *-------------------------------------------------------------------------
 */
#include "src/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Options without a short form. */
enum
{
	OPT_CASE = 256,
	OPT_NORMALIZE,
	OPT_BOUNDARY,
	OPT_IGNORE,
	OPT_ENCODING,
	OPT_COLUMNS,
	OPT_HEADER,
	OPT_TRIM,
	OPT_SKIP_EMPTY,
	OPT_MAX_PATTERN_BYTES,
	OPT_TRUSTED,
	OPT_VERSION
};

static const struct option long_options[] = {
	{"boundary", required_argument, NULL, OPT_BOUNDARY},
	{"case", required_argument, NULL, OPT_CASE},
	{"columns", required_argument, NULL, OPT_COLUMNS},
	{"encoding", required_argument, NULL, OPT_ENCODING},
	{"format", required_argument, NULL, 'f'},
	{"header", no_argument, NULL, OPT_HEADER},
	{"help", no_argument, NULL, 'h'},
	{"ignore", required_argument, NULL, OPT_IGNORE},
	{"invert", no_argument, NULL, 'v'},
	{"lines", no_argument, NULL, 'l'},
	{"mask", required_argument, NULL, 'm'},
	{"max-pattern-bytes", required_argument, NULL, OPT_MAX_PATTERN_BYTES},
	{"normalize", required_argument, NULL, OPT_NORMALIZE},
	{"output", required_argument, NULL, 'o'},
	{"policy", required_argument, NULL, 'p'},
	{"quiet", no_argument, NULL, 'q'},
	{"skip-empty", no_argument, NULL, OPT_SKIP_EMPTY},
	{"style", required_argument, NULL, 's'},
	{"trim", no_argument, NULL, OPT_TRIM},
	{"trusted", no_argument, NULL, OPT_TRUSTED},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0}
};

typedef struct command
{
	const char *name;
	int			(*run) (const acdat_cli_options *options, char **args);
	const char *usage;			/* operands */
	const char *options;		/* the long options it takes, blank-separated */
} command;

#define COMMON " help quiet "
#define SCANNING COMMON "lines output trusted "

static const command commands[] = {
	{"compile", acdat_cli_compile, "-o IMAGE [FILE...]",
		COMMON "boundary case columns encoding format header ignore "
	"max-pattern-bytes normalize output skip-empty trim "},
	{"info", acdat_cli_info, "IMAGE...", COMMON "trusted "},
	{"contains", acdat_cli_contains, "IMAGE [FILE...]", SCANNING "invert "},
	{"matches", acdat_cli_matches, "IMAGE [FILE...]",
	SCANNING "format policy "},
	{"count", acdat_cli_count, "IMAGE [FILE...]", SCANNING "policy "},
	{"replace", acdat_cli_replace, "IMAGE [FILE...]", SCANNING "policy "},
	{"redact", acdat_cli_redact, "IMAGE [FILE...]",
	SCANNING "mask style "},
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char help_text[] =
"Usage: acdat COMMAND [OPTION...] [OPERAND...]\n"
"\n"
"Commands:\n"
"  compile -o IMAGE [FILE...]  compile patterns into an image\n"
"  info IMAGE...               describe images\n"
"  contains IMAGE [FILE...]    does any pattern occur? (-l: print such lines)\n"
"  matches IMAGE [FILE...]     list matches\n"
"  count IMAGE [FILE...]       count matches\n"
"  replace IMAGE [FILE...]     put replacements in the place of matches\n"
"  redact IMAGE [FILE...]      hide everything that any pattern matches\n"
"\n"
"Without FILE, or with - for it, standard input is read.\n"
"\n"
"Options of compile:\n"
"  -f, --format=FORMAT         lines, tsv or csv (default: by file name)\n"
"      --columns=LIST          what the columns of tsv and csv hold (default:\n"
"                              pattern,replacement,id,priority,tag,allow)\n"
"      --header                the first line names the columns\n"
"      --trim                  drop blanks around patterns\n"
"      --skip-empty            pass over empty patterns\n"
"      --encoding=utf8|bytes   what characters are (default utf8)\n"
"      --case=none|ascii|unicode      letters that differ in case are equal\n"
"      --normalize=none|width|nfkc    compatible forms are equal\n"
"      --boundary=none|word    matches do not begin or end inside words\n"
"      --ignore=CHARACTERS     characters that may be interspersed\n"
"      --max-pattern-bytes=N   refuse longer patterns (default 1048576)\n"
"Options of the others:\n"
"  -l, --lines                 each line is a text of its own\n"
"  -v, --invert                contains: lines without a match\n"
"  -p, --policy=POLICY         all_overlapping, leftmost_longest or\n"
"                              leftmost_first\n"
"  -f, --format=tsv|json       matches: how they are printed\n"
"  -s, --style=chars|fixed     redact: mask characters, or whole matches\n"
"  -m, --mask=TEXT             redact: by what (default * or [REDACTED])\n"
"      --trusted               do not verify the whole image first\n"
"Options of all:\n"
"  -o, --output=FILE           write there instead of standard output\n"
"  -q, --quiet                 no progress, no remarks\n"
"  -h, --help                  show this help\n"
"      --version               show the version\n"
"\n"
"Exit status: 0 found or done, 1 nothing found, 2 error.\n";

/* The one way out for errors of every kind. */
void
acdat_cli_die(const char *format, ...)
{
	va_list		args;

	acdat_cli_progress_end();
	fputs("acdat: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	acdat_cli_output_abandon();
	exit(ACDAT_EXIT_ERROR);
}

/* realloc() that does not return NULL. */
void *
acdat_cli_alloc(void *old, size_t size)
{
	void	   *new = realloc(old, size > 0 ? size : 1);

	if (new == NULL)
		acdat_cli_die("out of memory");
	return new;
}

/* Which of the formats a subcommand knows is for it to say. */
static acdat_cli_format
parse_format(const char *name)
{
	if (strcmp(name, "lines") == 0)
		return ACDAT_FORMAT_LINES;
	if (strcmp(name, "tsv") == 0)
		return ACDAT_FORMAT_TSV;
	if (strcmp(name, "csv") == 0)
		return ACDAT_FORMAT_CSV;
	if (strcmp(name, "json") == 0)
		return ACDAT_FORMAT_JSON;
	acdat_cli_die("invalid format \"%s\"", name);
}

/* A positive decimal number. */
static size_t
parse_size(const char *text)
{
	char	   *end;
	unsigned long long value;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || text[0] == '-' ||
		value == 0 || value > SIZE_MAX)
		acdat_cli_die("invalid number \"%s\"", text);
	return (size_t) value;
}

/* The long form of an option. */
static const char *
option_name(int option)
{
	const struct option *o = long_options;

	while (o->name != NULL && o->val != option)
		o++;
	return o->name;
}

/* Options that choose among words; false when the word is none of them. */
static bool
set_word(acdat_cli_options *o, int option, const char *word)
{
	switch (option)
	{
		case OPT_CASE:
			return acdat_case_parse(word, &o->dictionary.case_insensitive);
		case OPT_NORMALIZE:
			return acdat_normalize_parse(word, &o->dictionary.normalize);
		case OPT_BOUNDARY:
			return acdat_boundary_parse(word, &o->dictionary.boundary);
		case OPT_ENCODING:
			o->dictionary.encoding = strcmp(word, "bytes") == 0 ?
				ACDAT_ENCODING_BYTES : ACDAT_ENCODING_UTF8;
			return strcmp(word, "bytes") == 0 || strcmp(word, "utf8") == 0;
		case 'p':
			o->policy_given = true;
			return acdat_policy_parse(word, &o->policy);
		default:
			o->style = strcmp(word, "chars") == 0 ? ACDAT_REWRITE_CHARS :
				ACDAT_REWRITE_FIXED;
			return strcmp(word, "chars") == 0 || strcmp(word, "fixed") == 0;
	}
}

/* Take over one option that getopt_long() found. */
static void
set_option(acdat_cli_options *o, int option, const char *value)
{
	switch (option)
	{
		case 'f':
			o->format = parse_format(value);
			o->format_given = true;
			break;
		case 'l':
			o->lines = true;
			break;
		case 'm':
			o->mask = value;
			break;
		case 'o':
			o->output = value;
			break;
		case 'q':
			o->quiet = true;
			break;
		case 'v':
			o->invert = true;
			break;
		case OPT_COLUMNS:
			o->columns = value;
			break;
		case OPT_HEADER:
			o->header = true;
			break;
		case OPT_IGNORE:
			o->dictionary.ignore = value;
			o->dictionary.ignore_len = strlen(value);
			break;
		case OPT_MAX_PATTERN_BYTES:
			o->limits.max_pattern_bytes = parse_size(value);
			break;
		case OPT_SKIP_EMPTY:
			o->skip_empty = true;
			break;
		case OPT_TRIM:
			o->trim = true;
			break;
		case OPT_TRUSTED:
			o->trusted = true;
			break;
		default:
			if (!set_word(o, option, value))
				acdat_cli_die("invalid value \"%s\" for --%s; see acdat --help",
							  value, option_name(option));
	}
}

/* Refuse an option that the subcommand does not have. */
static void
check_option(const command *c, int option)
{
	char		wanted[64];

	snprintf(wanted, sizeof(wanted), " %s ", option_name(option));
	if (strstr(c->options, wanted) == NULL)
		acdat_cli_die("%s does not take the option --%s", c->name,
					  option_name(option));
}

/* What was asked for goes to standard output. */
static void
print_and_exit(const char *text)
{
	fputs(text, stdout);
	if (fflush(stdout) != 0)
		acdat_cli_die("could not write: %s", strerror(errno));
	exit(ACDAT_EXIT_OK);
}

/*
 * A standard stream that is closed must not become a file of ours, which
 * would then be read, or get messages.  What takes its place has the wrong
 * direction, so that use of it fails as before.
 */
static void
guard_streams(void)
{
	int			fd;

	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
	{
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF)
			(void) open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

/* The subcommand comes first, then options and operands in any order. */
int
main(int argc, char **argv)
{
	acdat_cli_options options;
	const command *c = commands;
	int			option;
	static char program[] = "acdat";

	guard_streams();
	if (argc < 2)
		acdat_cli_die("a command is missing; see acdat --help");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
		strcmp(argv[1], "help") == 0)
		print_and_exit(help_text);
	if (strcmp(argv[1], "--version") == 0)
		print_and_exit("acdat 1.0\n");
	while (c < commands + COMMANDS && strcmp(c->name, argv[1]) != 0)
		c++;
	if (c == commands + COMMANDS)
		acdat_cli_die("there is no command \"%s\"; see acdat --help", argv[1]);

	memset(&options, 0, sizeof(options));
	options.dictionary.encoding = ACDAT_ENCODING_UTF8;
	options.style = ACDAT_REWRITE_CHARS;
	argv[1] = program;			/* what getopt begins its messages with */
	while ((option = getopt_long(argc - 1, argv + 1, "f:hlm:o:p:qs:v",
								 long_options, NULL)) != -1)
	{
		if (option == '?')
			acdat_cli_die("see acdat --help");
		if (option == 'h')
			print_and_exit(help_text);
		if (option == OPT_VERSION)
			print_and_exit("acdat 1.0\n");
		check_option(c, option);
		set_option(&options, option, optarg);
	}
	argv += 1 + optind;
	if (argv[0] == NULL && c->run != acdat_cli_compile)
		acdat_cli_die("usage: acdat %s %s", c->name, c->usage);
	return c->run(&options, argv);
}
