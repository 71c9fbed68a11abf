/*-------------------------------------------------------------------------
 *
 * redact_log.c
 *	  Hiding the words of a dictionary in the server log.
 *
 * The server hands a report to emit_log_hook, then writes it to the log, then
 * sends it to the client, all from one structure; and it frees the strings of
 * that structure afterwards.  So the hook puts other strings in their place,
 * has the server write the log at once, by EmitErrorReport(), puts back what
 * was there, and says that the log is done.  The statement, which is no part
 * of a report, and the application name are variables, and treated likewise.
 * Every destination thus gets its usual form, and the client its own text.  A
 * report in which nothing is found is left to the server entirely.  (One level
 * more of nesting makes the server write the words that it puts before the
 * parts of a report, as "ERROR", untranslated in such reports.)
 *
 * A report can be made in any state of a process.  Nothing here allocates,
 * locks, waits or raises: texts go to a buffer of fixed size, and for the
 * machine see log_machine.h.  What does not fit in the buffer is withheld, and
 * so is everything while there is no machine to scan with: of a message the
 * format remains, a constant of the program, and processes that run no
 * statements write messages whose formats have room for nothing but numbers
 * and the system's error messages.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"

#include "shmem/log_machine.h"
#include "src/guc.h"
#include "src/pgcompat.h"
#include "src/redact_log.h"

/* For all texts of a report together, and of a report made while writing it. */
#define BUFFER_BYTES (256 * 1024)

/* Reports within reports beyond which nothing is written. */
#define MAX_DEPTH 3

#define NOT_LOADED "[redacted: dictionary is not loaded]"
#define OTHER_ENCODING "[redacted: text in another encoding]"
#define TOO_LONG "[redacted: text is too long]"

static emit_log_hook_type prev_emit_log_hook = NULL;

static char buffer[BUFFER_BYTES];
static Size buffer_used = 0;
static int	depth = 0;

/* The report that is being written with other strings. */
static ErrorData *writing = NULL;

/* One text being rewritten at the end of the buffer. */
typedef struct Output
{
	const char *text;
	Size		len;
	Size		start;			/* in buffer */
	bool		unchanged;
	bool		full;
} Output;

/* What is put in the place of texts, and whether any of it differs. */
typedef struct Redaction
{
	acdat_scan *scan;			/* NULL = there is no machine */
	acdat_encoding encoding;	/* of the machine */
	bool		changed;
} Redaction;

/* Copy as many whole characters as fit before the note that some do not. */
static void
append_and_close(Output *output, const char *bytes, Size len)
{
	Size		room = BUFFER_BYTES - buffer_used - sizeof(TOO_LONG);

	Assert(len > room);
	len = room;
	while (len > 0 && ((unsigned char) bytes[len] & 0xC0) == 0x80)
		len--;
	memcpy(buffer + buffer_used, bytes, len);
	memcpy(buffer + buffer_used + len, TOO_LONG, sizeof(TOO_LONG));
	buffer_used += len + sizeof(TOO_LONG);
	output->full = true;
}

/* Sink of the rewriter; room for the note above is always left. */
static bool
append_text(void *arg, const void *bytes, size_t len)
{
	Output	   *output = arg;

	if (bytes == output->text && len == output->len)
	{
		output->unchanged = true;
		return true;
	}
	if (len > BUFFER_BYTES - buffer_used - sizeof(TOO_LONG))
	{
		append_and_close(output, bytes, len);
		return false;
	}
	memcpy(buffer + buffer_used, bytes, len);
	buffer_used += len;
	return true;
}

/*
 * Can the machine be trusted to find its words in a text?  ASCII is the same
 * in all encodings of servers.  Processes without a database pass on bytes as
 * they got them.
 */
static bool
fits_encoding(const Redaction *redaction, const char *text)
{
	int			encoding = GetDatabaseEncoding();
	const unsigned char *byte;

	if (encoding == PG_SQL_ASCII ||
		(redaction->encoding == ACDAT_ENCODING_UTF8) == (encoding == PG_UTF8))
		return true;
	for (byte = (const unsigned char *) text; *byte != '\0'; byte++)
	{
		if (*byte >= 0x80)
			return false;
	}
	return true;
}

/* A text without the words: itself, or a copy in the buffer, or a note. */
static const char *
redact_text(Redaction *redaction, const char *text)
{
	acdat_rewrite rewrite = {0};
	Output		output = {0};
	acdat_status status;
	uint64_t	matches = 0;

	if (text == NULL || text[0] == '\0')
		return text;
	if (redaction->scan == NULL)
		return NOT_LOADED;
	if (!fits_encoding(redaction, text))
	{
		redaction->changed = true;
		return OTHER_ENCODING;
	}
	output.text = text;
	output.len = strlen(text);
	output.start = buffer_used;
	rewrite.style = ACDAT_REWRITE_CHARS;
	rewrite.policy = ACDAT_MERGED;
	rewrite.mask = "*";
	rewrite.mask_len = 1;
	rewrite.sink = append_text;
	rewrite.sink_arg = &output;
	if (BUFFER_BYTES - buffer_used <= sizeof(TOO_LONG))
	{
		redaction->changed = true;
		return TOO_LONG;
	}
	status = acdat_rewrite_text(redaction->scan, &rewrite, text, output.len,
								&matches);
	acdat_log_machine_count(output.len, matches);
	if (status == ACDAT_OK && output.unchanged)
		return text;
	redaction->changed = true;
	if (output.full)
		return buffer + output.start;
	if (status != ACDAT_OK)
		return NOT_LOADED;
	buffer[buffer_used++] = '\0';
	return buffer + output.start;
}

/* Is this a process that runs no statements? */
static bool
runs_no_statements(void)
{
	if (IsPostmasterEnvironment && MyProcPid == PostmasterPid)
		return true;
	switch (MyBackendType)
	{
		case B_LOGGER:
		case B_STARTUP:
		case B_CHECKPOINTER:
		case B_BG_WRITER:
		case B_WAL_WRITER:
		case B_WAL_RECEIVER:
		case B_ARCHIVER:
			return true;
		default:
			return false;
	}
}

/*
 * Does a message of this format say nothing but numbers and what the system
 * says of an error?  How a child process ended is reported in words of the
 * server.
 */
static bool
says_numbers(const char *format)
{
	if (strncmp(format, "%s (PID %d)", 11) == 0)
		return true;
	while ((format = strchr(format, '%')) != NULL)
	{
		format++;
		format += strspn(format, "-+ #0123456789.*hlqzjtL");
		if (*format == '\0' || strchr("diouxXcm%eEfFgGp", *format) == NULL)
			return false;
		format++;
	}
	return true;
}

/* What remains of a message when there is no machine. */
static const char *
withheld_message(const ErrorData *edata)
{
	const char *format = edata->message_id;
	Size		len = format == NULL ? 0 : strlen(format);
	char	   *result = buffer + buffer_used;

	if (format != NULL && runs_no_statements() && says_numbers(format))
		return edata->message;
	if (format == NULL ||
		len + sizeof(NOT_LOADED) + 1 > BUFFER_BYTES - buffer_used)
		return NOT_LOADED;
	buffer_used += snprintf(result, BUFFER_BYTES - buffer_used, "%s %s",
							NOT_LOADED, format) + 1;
	return result;
}

/*
 * Put texts without the words into a report; *statement and *application are
 * what stands for these.  Returns whether anything changed.
 */
static bool
redact_report(ErrorData *edata, const char **statement,
			  const char **application)
{
	Redaction	redaction = {0};
	const char *message = edata->message;

	redaction.scan = acdat_log_machine_begin(acdat_guc_log_dictionary,
											 &redaction.encoding);
	redaction.changed = (redaction.scan == NULL);
	edata->message = (char *) (redaction.scan == NULL ?
							   withheld_message(edata) :
							   redact_text(&redaction, message));
	edata->detail = (char *) redact_text(&redaction, edata->detail);
	edata->detail_log = (char *) redact_text(&redaction, edata->detail_log);
	edata->hint = (char *) redact_text(&redaction, edata->hint);
	edata->context = (char *) redact_text(&redaction, edata->context);
	edata->internalquery = (char *) redact_text(&redaction,
												edata->internalquery);
	*application = redact_text(&redaction, application_name);
	if (check_log_of_query(edata))
		*statement = redact_text(&redaction, debug_query_string);
	if (redaction.scan != NULL)
		acdat_log_machine_end();
	return redaction.changed;
}

static void log_hook(ErrorData *edata);

/* While a report is written: that one for the second time, or another. */
static void
nested_log_hook(ErrorData *edata)
{
	if (edata != writing)
		log_hook(edata);
	else if (prev_emit_log_hook)
		prev_emit_log_hook(edata);
}

/*
 * Write the report, which is the server's current one, to the log alone.
 * What is raised meanwhile, by another hook or a failing destination, gets
 * through.
 */
static void
write_report(ErrorData *edata, const char *statement, const char *application)
{
	emit_log_hook_type hook = emit_log_hook;
	const char *former_statement = debug_query_string;
	char	   *former_application = application_name;
	ErrorData  *former_writing = writing;
	int			former_depth = depth;

	PG_TRY();
	{
		depth++;
		writing = edata;
		emit_log_hook = nested_log_hook;
		debug_query_string = statement;
		application_name = unconstify(char *, application);
		edata->output_to_client = false;
		EmitErrorReport();
	}
	PG_FINALLY();
	{
		depth = former_depth;
		writing = former_writing;
		emit_log_hook = hook;
		debug_query_string = former_statement;
		application_name = former_application;
	}
	PG_END_TRY();
}

/*
 * Installed as emit_log_hook.  A hook that was there before gets the report
 * as it is written.
 */
static void
log_hook(ErrorData *edata)
{
	const ErrorData original = *edata;
	const char *statement = debug_query_string;
	const char *application = application_name;
	int			former_errno = errno;
	Size		former_used;

	if (acdat_guc_log_dictionary == NULL || acdat_guc_log_dictionary[0] == '\0' ||
		!edata->output_to_server)
	{
		if (prev_emit_log_hook)
			prev_emit_log_hook(edata);
		return;
	}
	if (depth == 0)
		buffer_used = 0;
	former_used = buffer_used;
	if (depth == MAX_DEPTH)
		edata->output_to_server = false;
	else if (redact_report(edata, &statement, &application))
	{
		write_report(edata, statement, application);
		*edata = original;
		edata->output_to_server = false;
	}
	else if (prev_emit_log_hook)
		prev_emit_log_hook(edata);
	buffer_used = former_used;
	errno = former_errno;
}

void
acdat_install_log_hook(void)
{
	prev_emit_log_hook = emit_log_hook;
	emit_log_hook = log_hook;
}
