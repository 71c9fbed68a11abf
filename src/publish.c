/*-------------------------------------------------------------------------
 *
 * publish.c
 *	  publish(), republish() and rollback(): new versions of dictionaries.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/namespace.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/snapmgr.h"

#include "shmem/fault.h"
#include "shmem/jobs.h"
#include "shmem/settings.h"
#include "shmem/sweep.h"
#include "src/publish.h"

PG_FUNCTION_INFO_V1(acdat_publish_query);
PG_FUNCTION_INFO_V1(acdat_publish_array);
PG_FUNCTION_INFO_V1(acdat_publish_query_if_changed);
PG_FUNCTION_INFO_V1(acdat_publish_array_if_changed);
PG_FUNCTION_INFO_V1(acdat_republish);
PG_FUNCTION_INFO_V1(acdat_rollback);

#define ACDAT_DEFAULT_KEEP_VERSIONS 3
#define ACDAT_MAX_KEEP_VERSIONS 1000

/* Arguments of publish() after name and source; NULL keeps what there is. */
enum
{
	ARG_CASE = 2, ARG_NORMALIZE, ARG_BOUNDARY, ARG_IGNORE, ARG_READER,
	ARG_CLUSTER, ARG_ALLOW_EMPTY, ARG_KEEP_VERSIONS
};

static void
bad_option(const char *option, const char *value, const char *hint)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("invalid value for parameter \"%s\": \"%s\"",
					option, value),
			 errhint("%s", hint)));
}

/* The compile options: those given, else those of the current version. */
static void
resolve_options(FunctionCallInfo fcinfo, const AcdatVersionRow *current,
				acdat_options *options)
{
	char	   *value;

	memset(options, 0, sizeof(*options));
	if (current != NULL)
		*options = current->options;
	if (!PG_ARGISNULL(ARG_CASE))
	{
		value = text_to_cstring(PG_GETARG_TEXT_PP(ARG_CASE));
		if (!acdat_case_parse(value, &options->case_insensitive))
			bad_option("case_insensitive", value,
					   "Use none, ascii or unicode.");
	}
	if (!PG_ARGISNULL(ARG_NORMALIZE))
	{
		value = text_to_cstring(PG_GETARG_TEXT_PP(ARG_NORMALIZE));
		if (!acdat_normalize_parse(value, &options->normalize))
			bad_option("normalization", value, "Use none, width or nfkc.");
	}
	if (!PG_ARGISNULL(ARG_BOUNDARY))
	{
		value = text_to_cstring(PG_GETARG_TEXT_PP(ARG_BOUNDARY));
		if (!acdat_boundary_parse(value, &options->boundary))
			bad_option("boundary", value, "Use none or word.");
	}
	if (!PG_ARGISNULL(ARG_IGNORE))
	{
		options->ignore = text_to_cstring(PG_GETARG_TEXT_PP(ARG_IGNORE));
		options->ignore_len = strlen(options->ignore);
	}
}

/* Unicode options need Unicode text. */
static void
check_options(const acdat_options *options)
{
	if (options->encoding == ACDAT_ENCODING_UTF8)
		return;
	if (options->case_insensitive == ACDAT_CASE_UNICODE ||
		options->normalize != ACDAT_NORMALIZE_NONE)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("Unicode options need text patterns in a database with encoding UTF8"),
				 errhint("Use case_insensitive => 'ascii', or leave the option out.")));
}

void
acdat_assign_reader(AcdatDictionaryRow *row, const char *reader)
{
	if (reader == NULL || reader[0] == '\0')
	{
		memset(&row->reader, 0, sizeof(NameData));
		return;
	}
	if (strcmp(reader, ACDAT_READER_PUBLIC) != 0)
		(void) get_role_oid(reader, false);
	namestrcpy(&row->reader, reader);
}

/* A random (version 4) UUID. */
static void
make_uuid(pg_uuid_t *id)
{
	if (!pg_strong_random(id->data, UUID_LEN))
		ereport(ERROR,
				(errcode(ERRCODE_INTERNAL_ERROR),
				 errmsg("could not generate random values")));
	id->data[6] = (id->data[6] & 0x0f) | 0x40;
	id->data[8] = (id->data[8] & 0x3f) | 0x80;
}

static AcdatDictionaryRow *
new_row(const NameData *name)
{
	AcdatDictionaryRow *row = palloc0(sizeof(AcdatDictionaryRow));

	make_uuid(&row->id);
	row->name = *name;
	namestrcpy(&row->owner, GetUserNameFromId(GetUserId(), false));
	row->keep_versions = ACDAT_DEFAULT_KEEP_VERSIONS;
	return row;
}

/* Attributes of the row that publish() can set. */
static void
resolve_attributes(FunctionCallInfo fcinfo, AcdatDictionaryRow *row)
{
	if (!PG_ARGISNULL(ARG_READER))
		acdat_assign_reader(row, text_to_cstring(PG_GETARG_TEXT_PP(ARG_READER)));
	if (!PG_ARGISNULL(ARG_CLUSTER))
		row->cluster = PG_GETARG_BOOL(ARG_CLUSTER);
	if (!PG_ARGISNULL(ARG_KEEP_VERSIONS))
	{
		row->keep_versions = PG_GETARG_INT32(ARG_KEEP_VERSIONS);
		if (row->keep_versions < 1 ||
			row->keep_versions > ACDAT_MAX_KEEP_VERSIONS)
			bad_option("keep_versions",
					   psprintf("%d", row->keep_versions),
					   psprintf("Use 1 to %d.", ACDAT_MAX_KEEP_VERSIONS));
	}
}

/*
 * A dictionary that there is can always have another version, as far as open
 * snapshots do not need too many former ones; it is new ones that are refused.
 */
static void
check_room_for_dictionary(void)
{
	if (acdat_count_dictionaries() < acdat_guc_max_dictionaries)
		return;

	/* those dropped a moment ago may still be counted */
	(void) acdat_sweep();
	if (acdat_count_dictionaries() < acdat_guc_max_dictionaries)
		return;
	ereport(ERROR,
			(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
			 errmsg("too many dictionaries"),
			 errdetail("The cluster has room for %d.",
					   acdat_guc_max_dictionaries),
			 errhint("Increase acdat_bgw.max_dictionaries, or drop dictionaries.")));
}

/* What write_rows() writes. */
typedef struct VersionToWrite
{
	const AcdatDictionaryRow *row;
	const AcdatContent *content;
	bool		is_new;
} VersionToWrite;

/* Write the rows of a version; its patterns are compiled meanwhile. */
static void
write_rows(void *arg)
{
	const VersionToWrite *version = arg;
	const AcdatContent *content = version->content;
	int			encoding;

	encoding = content->options.encoding == ACDAT_ENCODING_UTF8 ? PG_UTF8 :
		content->binary ? PG_SQL_ASCII : GetDatabaseEncoding();
	acdat_write_version(version->row, content, encoding, version->is_new);
}

/*
 * Write the next version of a dictionary and have it compiled; returns its
 * number.  row->version is 0 for a new dictionary.
 */
static int64
publish_content(AcdatDictionaryRow *row, AcdatContent *content)
{
	VersionToWrite version = {row, content, row->version == 0};
	AcdatEntry	entry;
	acdat_build_stats stats;

	if (version.is_new)
		check_room_for_dictionary();
	row->version++;
	row->revision++;
	acdat_entry_from_row(&entry, row);
	acdat_stamp_entry(&entry);
	ACDAT_FAULT(publish_stamped);
	acdat_job_run(&entry, &content->options, content->pack.data,
				  (Size) content->pack.len, write_rows, &version, &stats);
	ACDAT_FAULT(publish_entered);
	if (stats.duplicates > 0)
		ereport(NOTICE,
				(errmsg_plural("dictionary \"%s\" has " UINT64_FORMAT " pattern that differs from others in attributes only",
							   "dictionary \"%s\" has " UINT64_FORMAT " patterns that differ from others in attributes only",
							   (unsigned long) stats.duplicates,
							   NameStr(row->name), stats.duplicates)));
	return row->version;
}

/* The rights and conditions publish() and rollback() share. */
static void
check_publish(const AcdatDictionaryRow *row, const AcdatDictionaryRow *old)
{
	if (row->cluster || (old != NULL && old->cluster))
		acdat_check_cluster_right();
	acdat_check_name_free(NameStr(row->name), row->cluster, &row->id);
}

static AcdatVersionRow *
current_version(const AcdatDictionaryRow *row, int64 version,
				bool want_content)
{
	AcdatVersionRow *result;

	PushActiveSnapshot(GetTransactionSnapshot());
	result = acdat_read_version(&row->id, version, want_content,
								GetActiveSnapshot());
	PopActiveSnapshot();
	return result;
}

/* Does publish() leave the attributes of a dictionary as they are? */
static bool
same_row(const AcdatDictionaryRow *row, const AcdatDictionaryRow *old)
{
	return row->cluster == old->cluster &&
		row->keep_versions == old->keep_versions &&
		strcmp(NameStr(row->reader), NameStr(old->reader)) == 0;
}

static void
refuse_empty(const char *name)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("dictionary \"%s\" would be empty", name),
			 errdetail("An empty dictionary matches nothing, so a redaction rule would pass every text through."),
			 errhint("Use allow_empty => true if that is what you want.")));
}

/*
 * Read the patterns, from query or array (the other is NULL), with the
 * current user's rights, and publish them.
 */
static int64
publish(FunctionCallInfo fcinfo, const char *query, ArrayType *array,
		bool only_if_changed)
{
	NameData	name;
	AcdatContent content;
	AcdatDictionaryRow *row;
	AcdatDictionaryRow *old;
	AcdatVersionRow *current = NULL;
	acdat_encoding encoding = acdat_database_encoding();
	bool		allow_empty = !PG_ARGISNULL(ARG_ALLOW_EMPTY) &&
		PG_GETARG_BOOL(ARG_ALLOW_EMPTY);

	acdat_require_writable("acdat.publish()");
	acdat_check_name(text_to_cstring(PG_GETARG_TEXT_PP(0)), &name);
	old = acdat_row_for_change(NameStr(name), true);
	ACDAT_FAULT(publish_locked);
	if (old != NULL)
	{
		row = palloc(sizeof(AcdatDictionaryRow));
		memcpy(row, old, sizeof(AcdatDictionaryRow));
		current = current_version(row, row->version, only_if_changed);
	}
	else
		row = new_row(&name);
	memset(&content, 0, sizeof(content));
	resolve_options(fcinfo, current, &content.options);
	resolve_attributes(fcinfo, row);
	check_publish(row, old);

	if (query != NULL)
	{
		acdat_read_query(&content, query);
		acdat_check_unchanged(NameStr(name), old);
	}
	else
		acdat_read_array(&content, array);
	ACDAT_FAULT(publish_read);
	content.options.encoding = content.binary ? ACDAT_ENCODING_BYTES : encoding;
	check_options(&content.options);
	content.source = query;
	content.source_path = query ? GetConfigOption("search_path", false, false) : NULL;
	if (content.patterns == 0 && !allow_empty)
		refuse_empty(NameStr(name));
	if (only_if_changed && current != NULL && same_row(row, old) &&
		acdat_same_version(&content, current))
		return row->version;
	return publish_content(row, &content);
}

static void
require_argument(FunctionCallInfo fcinfo, int argument, const char *name)
{
	if (PG_ARGISNULL(argument))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("parameter \"%s\" must not be null", name)));
}

static Datum
publish_query(FunctionCallInfo fcinfo, bool only_if_changed)
{
	acdat_require_registry();
	require_argument(fcinfo, 0, "name");
	require_argument(fcinfo, 1, "query");
	PG_RETURN_INT64(publish(fcinfo, text_to_cstring(PG_GETARG_TEXT_PP(1)),
							NULL, only_if_changed));
}

static Datum
publish_array(FunctionCallInfo fcinfo, bool only_if_changed)
{
	acdat_require_registry();
	require_argument(fcinfo, 0, "name");
	require_argument(fcinfo, 1, "patterns");
	PG_RETURN_INT64(publish(fcinfo, NULL, PG_GETARG_ARRAYTYPE_P(1),
							only_if_changed));
}

/* acdat.publish(name text, query text, ...) returns bigint */
Datum
acdat_publish_query(PG_FUNCTION_ARGS)
{
	return publish_query(fcinfo, false);
}

/* acdat.publish(name text, patterns text[], ...) returns bigint */
Datum
acdat_publish_array(PG_FUNCTION_ARGS)
{
	return publish_array(fcinfo, false);
}

/* acdat.publish_if_changed(name text, query text, ...) returns bigint */
Datum
acdat_publish_query_if_changed(PG_FUNCTION_ARGS)
{
	return publish_query(fcinfo, true);
}

/* acdat.publish_if_changed(name text, patterns text[], ...) returns bigint */
Datum
acdat_publish_array_if_changed(PG_FUNCTION_ARGS)
{
	return publish_array(fcinfo, true);
}

/*
 * Run the stored query as the owner of the dictionary, whoever asks: in a
 * security-restricted context, with the search path it was published with.
 */
static void
read_as_owner(AcdatContent *content, const AcdatDictionaryRow *row)
{
	AcdatFormerRole former;

	acdat_become(&former, get_role_oid(NameStr(row->owner), false),
				 content->source_path);
	acdat_read_query(content, content->source);
	ACDAT_FAULT(republish_read);
	acdat_become_former(&former);
}

/* Content with the options and the source of a stored version, no patterns. */
static void
content_like(AcdatContent *content, const AcdatVersionRow *version)
{
	memset(content, 0, sizeof(*content));
	content->options = version->options;
	content->source = version->source;
	content->source_path = version->source_path;
}

/* Publish what the stored query gives; returns the version. */
static int64
republish(AcdatDictionaryRow *row, bool only_if_changed)
{
	const char *name = NameStr(row->name);
	AcdatVersionRow *current;
	AcdatContent content;

	current = current_version(row, row->version, only_if_changed);
	if (current == NULL || current->source == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("dictionary \"%s\" was not published from a query",
						name),
				 errhint("Use acdat.publish() with the new patterns.")));
	check_publish(row, row);
	content_like(&content, current);
	read_as_owner(&content, row);
	acdat_check_unchanged(name, row);
	if (only_if_changed && acdat_same_patterns(&content, current))
		return row->version;
	if (content.patterns == 0 && current->patterns != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dictionary \"%s\" would be empty", name),
				 errhint("Use acdat.publish() with allow_empty => true if that is what you want.")));
	return publish_content(row, &content);
}

/* acdat.republish(name text) returns bigint */
Datum
acdat_republish(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));

	acdat_require_writable("acdat.republish()");
	PG_RETURN_INT64(republish(acdat_row_for_change(name, false), false));
}

/*
 * The dictionary may be renamed before its name is locked: then it is looked
 * up again.
 */
static AcdatDictionaryRow *
row_by_id(const pg_uuid_t *dictionary)
{
	for (;;)
	{
		AcdatDictionaryRow *row = NULL;
		ListCell   *cell;

		PushActiveSnapshot(GetTransactionSnapshot());
		foreach(cell, acdat_read_dictionaries(GetActiveSnapshot()))
		{
			AcdatDictionaryRow *candidate = lfirst(cell);

			if (memcmp(&candidate->id, dictionary, sizeof(pg_uuid_t)) == 0)
				row = candidate;
		}
		PopActiveSnapshot();
		if (row == NULL)
			return NULL;
		row = acdat_row_for_change(NameStr(row->name), true);
		if (row != NULL && memcmp(&row->id, dictionary, sizeof(pg_uuid_t)) == 0)
			return row;
	}
}

int64
acdat_republish_changed(const pg_uuid_t *dictionary)
{
	AcdatDictionaryRow *row;
	Oid			userid;
	int			sec_context;
	int64		version;

	acdat_require_writable("acdat.republish()");
	row = row_by_id(dictionary);
	if (row == NULL)
		return 0;

	/* the rights that count, also for the cluster-wide, are the owner's */
	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(get_role_oid(NameStr(row->owner), false),
						   sec_context | SECURITY_LOCAL_USERID_CHANGE);
	version = republish(row, true);
	SetUserIdAndSecContext(userid, sec_context);
	return version;
}

/* acdat.rollback(name text, version bigint) returns bigint */
Datum
acdat_rollback(PG_FUNCTION_ARGS)
{
	char	   *name = text_to_cstring(PG_GETARG_TEXT_PP(0));
	int64		version = PG_GETARG_INT64(1);
	AcdatDictionaryRow *row;
	AcdatVersionRow *stored;
	AcdatContent content;

	acdat_require_writable("acdat.rollback()");
	row = acdat_row_for_change(name, false);
	stored = current_version(row, version, true);
	if (stored == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("version %lld of dictionary \"%s\" does not exist",
						(long long) version, name),
				 errhint("The view acdat.versions lists the versions that are kept; see keep_versions.")));
	check_publish(row, row);
	content_like(&content, stored);
	content.patterns = stored->patterns;
	content.pattern_bytes = stored->pattern_bytes;
	content.binary = (stored->encoding == PG_SQL_ASCII);
	ACDAT_FAULT(rollback_read);
	content.pack.data = VARDATA(stored->content);
	content.pack.len = VARSIZE(stored->content) - VARHDRSZ;
	PG_RETURN_INT64(publish_content(row, &content));
}
