/*-------------------------------------------------------------------------
 *
 * publish_rows.c
 *	  Locks, rights and rows of dictionaries that are being changed.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/toast_compression.h"
#include "access/toast_internals.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "storage/lock.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "shmem/fault.h"
#include "shmem/shmem_compat.h"
#include "src/guc.h"
#include "src/publish.h"

/*
 * Fourth field of the advisory lock tags used for names; the server itself
 * uses 1 and 2 there.
 */
#define ACDAT_LOCK_CLASS 0xACDA

/* How often a wait for the first loads looks again by itself. */
#define ACDAT_NAME_POLL_MS 500

bool		acdat_changing_rows = false;

void
acdat_require_registry(void)
{
	if (acdat_registry == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("acdat_bgw must be loaded via shared_preload_libraries"),
				 errhint("Add the line shared_preload_libraries = 'acdat_bgw' to postgresql.conf and restart the server.")));
}

acdat_encoding
acdat_database_encoding(void)
{
	int			encoding = GetDatabaseEncoding();

	if (encoding == PG_UTF8)
		return ACDAT_ENCODING_UTF8;
	if (pg_encoding_max_length(encoding) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("dictionaries are not supported in databases with encoding %s",
						GetDatabaseEncodingName()),
				 errhint("Use a database with encoding UTF8 or a single-byte encoding.")));
	return ACDAT_ENCODING_BYTES;
}

void
acdat_require_writable(const char *what)
{
	acdat_require_registry();
	PreventCommandDuringRecovery(what);
	PreventCommandIfReadOnly(what);
	PreventCommandIfParallelMode(what);
	acdat_watch_transactions();
}

void
acdat_check_name(const char *name, NameData *result)
{
	if (name[0] == '\0')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_NAME),
				 errmsg("dictionary name must not be empty")));
	if (strlen(name) >= NAMEDATALEN)
		ereport(ERROR,
				(errcode(ERRCODE_NAME_TOO_LONG),
				 errmsg("dictionary name is too long"),
				 errdetail("A name can have at most %d bytes.",
						   NAMEDATALEN - 1)));
	namestrcpy(result, name);
}

void
acdat_lock_name(const char *name)
{
	LOCKTAG		tag;

	SET_LOCKTAG_ADVISORY(tag, InvalidOid, 0, acdat_name_hash(name),
						 ACDAT_LOCK_CLASS);
	(void) LockAcquire(&tag, ExclusiveLock, false, false);
}

/*
 * A snapshot that sees what was committed while a lock was waited for, as
 * far as the isolation level allows.
 */
static void
push_fresh_snapshot(void)
{
	CommandCounterIncrement();
	PushActiveSnapshot(GetTransactionSnapshot());
}

bool
acdat_owns(Oid owner)
{
	return superuser() ||
		(OidIsValid(owner) && has_privs_of_role(GetUserId(), owner));
}

void
acdat_require_owner(Oid owner, const char *name)
{
	if (!acdat_owns(owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("must be owner of dictionary \"%s\"", name)));
}

void
acdat_check_owner(const AcdatDictionaryRow *row)
{
	acdat_require_owner(get_role_oid(NameStr(row->owner), true),
						NameStr(row->name));
}

AcdatDictionaryRow *
acdat_row_for_change(const char *name, bool missing_ok)
{
	AcdatDictionaryRow *row;
	AcdatEntry *entry;
	bool		newer = false;

	acdat_lock_name(name);
	push_fresh_snapshot();
	row = acdat_read_dictionary(name, GetActiveSnapshot());
	PopActiveSnapshot();
	if (row == NULL)
	{
		/* Committed meanwhile, and this transaction's snapshot is older? */
		LWLockAcquire(acdat_registry->lock, LW_SHARED);
		entry = acdat_find_by_name(MyDatabaseId, name, NULL);
		newer = (entry != NULL && entry->database == MyDatabaseId);
		LWLockRelease(acdat_registry->lock);
	}
	if (newer && IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("could not serialize access due to concurrent update")));
	if (row == NULL && !missing_ok)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("dictionary \"%s\" does not exist", name)));
	if (row != NULL)
		acdat_check_owner(row);
	return row;
}

void
acdat_check_unchanged(const char *name, const AcdatDictionaryRow *row)
{
	AcdatDictionaryRow *now;

	push_fresh_snapshot();
	now = acdat_read_dictionary(name, GetActiveSnapshot());
	PopActiveSnapshot();
	if ((now == NULL) == (row == NULL) &&
		(now == NULL || (now->revision == row->revision &&
						 memcmp(&now->id, &row->id, sizeof(pg_uuid_t)) == 0)))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_IN_USE),
			 errmsg("dictionary \"%s\" is being published by this session",
					name),
			 errdetail("The query that gives its patterns cannot change it.")));
}

void
acdat_check_cluster_right(void)
{
	Oid			role = InvalidOid;

	if (superuser())
		return;
	if (acdat_guc_cluster_publisher != NULL &&
		acdat_guc_cluster_publisher[0] != '\0')
		role = get_role_oid(acdat_guc_cluster_publisher, true);
	if (!OidIsValid(role) || !has_privs_of_role(GetUserId(), role))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied to publish a cluster-wide dictionary"),
				 errhint("Only superusers and members of the role named by acdat_bgw.cluster_publisher may do so.")));
}

/*
 * What stands in the way of a name: 'c'luster-wide, 'l'ocal, or 0.  The
 * dictionary itself does not, nor does a copy of it in a younger database,
 * which came there with a template.
 */
static char
name_conflict(const char *name, bool cluster, const pg_uuid_t *id)
{
	char		conflict = 0;
	int			i;

	LWLockAcquire(acdat_registry->lock, LW_SHARED);
	for (i = 0; i < acdat_registry->entries_used && conflict != 'c'; i++)
	{
		AcdatEntry *entry = &acdat_registry->entries[i];

		if (entry->serial == 0 || entry->dropped ||
			strcmp(NameStr(entry->name), name) != 0 ||
			(id != NULL && entry->database >= MyDatabaseId &&
			 memcmp(&entry->dictionary, id, sizeof(pg_uuid_t)) == 0) ||
			acdat_newest_entry(entry->database, &entry->dictionary,
							   NULL) != entry)
			continue;
		if (entry->cluster)
			conflict = 'c';
		else if (cluster || entry->database == MyDatabaseId)
			conflict = 'l';
	}
	LWLockRelease(acdat_registry->lock);
	return conflict;
}

/* Wait until the registry knows the names of the whole cluster. */
static void
wait_for_first_loads(void)
{
	TimestampTz start = GetCurrentTimestamp();

	if (acdat_first_loads_done())
		return;
	ConditionVariablePrepareToSleep(&acdat_registry->changed);
	while (!acdat_first_loads_done())
	{
		if (TimestampDifferenceExceeds(start, GetCurrentTimestamp(),
									   acdat_guc_load_timeout))
			ereport(ERROR,
					(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
					 errmsg("dictionaries of this cluster are still being loaded"),
					 errdetail("Whether the name is free cannot be told yet."),
					 errhint("See the view acdat.worker; you may need to increase acdat_bgw.load_timeout or max_worker_processes.")));
		(void) ConditionVariableTimedSleep(&acdat_registry->changed,
										   ACDAT_NAME_POLL_MS,
										   acdat_wait_event(ACDAT_WAIT_LOAD));
	}
	ConditionVariableCancelSleep();
}

void
acdat_check_name_free(const char *name, bool cluster, const pg_uuid_t *id)
{
	char		conflict;

	wait_for_first_loads();
	conflict = name_conflict(name, cluster, id);

	if (conflict == 'c')
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("cluster-wide dictionary \"%s\" already exists", name),
				 errhint("A cluster-wide dictionary cannot be shadowed; choose another name.")));
	if (conflict == 'l')
		ereport(ERROR,
				(errcode(ERRCODE_DUPLICATE_OBJECT),
				 errmsg("dictionary \"%s\" already exists", name),
				 cluster ? errdetail("A database of this cluster has a dictionary of that name.") : 0));
}

/* ------------------------------------------------------- changing rows */

void
acdat_become(AcdatFormerRole *former, Oid role, const char *search_path)
{
	GetUserIdAndSecContext(&former->userid, &former->sec_context);
	former->guc_level = NewGUCNestLevel();
	(void) set_config_option("search_path", search_path,
							 PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE,
							 true, 0, false);
	SetUserIdAndSecContext(role, former->sec_context |
						   SECURITY_LOCAL_USERID_CHANGE |
						   SECURITY_RESTRICTED_OPERATION);
}

void
acdat_become_former(const AcdatFormerRole *former)
{
	SetUserIdAndSecContext(former->userid, former->sec_context);
	AtEOXact_GUC(false, former->guc_level);
}

static Oid
table_owner(Oid relid)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for relation %u", relid);
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/* Become the owner of the extension's tables. */
static void
begin_as_owner(AcdatFormerRole *former)
{
	acdat_become(former, table_owner(acdat_dictionary_relid()),
				 ACDAT_SAFE_PATH);
	acdat_changing_rows = true;
	if (SPI_connect() != SPI_OK_CONNECT)
		elog(ERROR, "SPI_connect failed");
	ACDAT_FAULT(publish_owner);
}

static void
end_as_owner(const AcdatFormerRole *former)
{
	SPI_finish();
	acdat_changing_rows = false;
	acdat_become_former(former);
}

#define MAX_ARGS 20

/* Arguments of a statement, gathered one by one. */
typedef struct Arguments
{
	int			count;
	Oid			types[MAX_ARGS];
	Datum		values[MAX_ARGS];
	char		nulls[MAX_ARGS];
} Arguments;

static void
add_argument(Arguments *arguments, Oid type, Datum value, bool isnull)
{
	Assert(arguments->count < MAX_ARGS);
	arguments->types[arguments->count] = type;
	arguments->values[arguments->count] = value;
	arguments->nulls[arguments->count] = isnull ? 'n' : ' ';
	arguments->count++;
}

static void
add_text(Arguments *arguments, const char *string)
{
	add_argument(arguments, TEXTOID,
				 string ? CStringGetTextDatum(string) : (Datum) 0,
				 string == NULL);
}

static void
add_uuid(Arguments *arguments, const pg_uuid_t *id)
{
	add_argument(arguments, UUIDOID, UUIDPGetDatum(id), false);
}

/* Run a statement as the owner of the tables; it must change some row. */
static void
execute_as_owner(const char *statement, Arguments *arguments, int expected,
				 bool must_change)
{
	AcdatFormerRole former;
	int			result;

	PG_TRY();
	{
		begin_as_owner(&former);
		result = SPI_execute_with_args(statement, arguments->count,
									   arguments->types, arguments->values,
									   arguments->nulls, false, 0);
		if (result != expected || (must_change && SPI_processed == 0))
			elog(ERROR, "could not change the row of a dictionary: %s",
				 SPI_result_code_string(result));
	}
	PG_CATCH();
	{
		acdat_changing_rows = false;
		PG_RE_THROW();
	}
	PG_END_TRY();
	end_as_owner(&former);
}

void
acdat_execute_utility(const char *statement)
{
	Arguments	arguments = {0};

	execute_as_owner(statement, &arguments, SPI_OK_UTILITY, false);
}

/* The columns of acdat.dictionary in the order of the statements below. */
static void
add_row(Arguments *arguments, const AcdatDictionaryRow *row)
{
	add_uuid(arguments, &row->id);
	add_text(arguments, NameStr(row->name));
	add_argument(arguments, NAMEOID, NameGetDatum(&row->owner), false);
	add_argument(arguments, NAMEOID, NameGetDatum(&row->reader),
				 NameStr(row->reader)[0] == '\0');
	add_argument(arguments, BOOLOID, BoolGetDatum(row->cluster), false);
	add_argument(arguments, INT4OID, Int32GetDatum(row->keep_versions), false);
	add_argument(arguments, INT8OID, Int64GetDatum(row->version), false);
	add_argument(arguments, INT8OID, Int64GetDatum(row->revision), false);
}

static void
insert_row(const AcdatDictionaryRow *row)
{
	Arguments	arguments = {0};

	add_row(&arguments, row);
	execute_as_owner("INSERT INTO acdat.dictionary (id, name, owner, reader,"
					 " cluster, keep_versions, version, revision)"
					 " VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
					 &arguments, SPI_OK_INSERT, true);
}

void
acdat_update_row(const AcdatDictionaryRow *row)
{
	Arguments	arguments = {0};

	add_row(&arguments, row);
	execute_as_owner("UPDATE acdat.dictionary SET name = $2, owner = $3,"
					 " reader = $4, cluster = $5, keep_versions = $6,"
					 " version = $7, revision = $8 WHERE id = $1",
					 &arguments, SPI_OK_UPDATE, true);
}

void
acdat_delete_row(const AcdatDictionaryRow *row)
{
	Arguments	arguments = {0};

	add_uuid(&arguments, &row->id);
	execute_as_owner("DELETE FROM acdat.dictionary WHERE id = $1",
					 &arguments, SPI_OK_DELETE, true);
	execute_as_owner("DELETE FROM acdat.dictionary_version"
					 " WHERE dictionary = $1",
					 &arguments, SPI_OK_DELETE, false);
}

/* So much of a list tells whether compressing it is worth while. */
#define SAMPLE_BYTES (256 * 1024)

static bytea *
copy_bytes(const char *bytes, Size len)
{
	bytea	   *copy = palloc(VARHDRSZ + len);

	SET_VARSIZE(copy, VARHDRSZ + len);
	memcpy(VARDATA(copy), bytes, len);
	return copy;
}

/* Compressed if the server has LZ4 and that saves a quarter, or else NULL. */
static bytea *
compress_bytes(bytea *bytes)
{
	bytea	   *result = NULL;

#ifdef USE_LZ4
	result = (bytea *) DatumGetPointer(toast_compress_datum(PointerGetDatum(bytes),
															TOAST_LZ4_COMPRESSION));
	if (result != NULL && VARSIZE(result) > VARSIZE(bytes) / 4 * 3)
		result = NULL;
#endif
	return result;
}

/*
 * The patterns as they are stored.  Compressing is one call that cannot be
 * interrupted, so it is left to LZ4, and the column is not compressed by the
 * server, whose own method would take a second for a million patterns.
 */
static bytea *
stored_pack(const AcdatContent *content)
{
	Size		len = (Size) content->pack.len;
	bytea	   *pack = copy_bytes(content->pack.data, len);
	bytea	   *compressed;

	if (len > SAMPLE_BYTES &&
		compress_bytes(copy_bytes(content->pack.data, SAMPLE_BYTES)) == NULL)
		return pack;
	compressed = compress_bytes(pack);
	if (compressed == NULL)
		return pack;
	pfree(pack);
	return compressed;
}

static void
insert_version(const AcdatDictionaryRow *row, const AcdatContent *content,
			   int encoding)
{
	Arguments	arguments = {0};
	bytea	   *pack = stored_pack(content);
	char	   *ignore = pnstrdup(content->options.ignore ?
								  content->options.ignore : "",
								  content->options.ignore_len);

	add_uuid(&arguments, &row->id);
	add_argument(&arguments, INT8OID, Int64GetDatum(row->version), false);
	add_text(&arguments, GetUserNameFromId(GetUserId(), false));
	add_argument(&arguments, INT8OID, Int64GetDatum(content->patterns), false);
	add_argument(&arguments, INT8OID, Int64GetDatum(content->pattern_bytes),
				 false);
	add_text(&arguments, acdat_case_name(content->options.case_insensitive));
	add_text(&arguments, acdat_normalize_name(content->options.normalize));
	add_text(&arguments, acdat_boundary_name(content->options.boundary));
	add_text(&arguments, ignore);
	add_text(&arguments, pg_encoding_to_char(encoding));
	add_text(&arguments, content->source);
	add_text(&arguments, content->source_path);
	add_argument(&arguments, BYTEAOID, PointerGetDatum(pack), false);
	execute_as_owner("INSERT INTO acdat.dictionary_version (dictionary,"
					 " version, publisher, patterns, pattern_bytes,"
					 " case_insensitive, normalization, boundary, ignore,"
					 " encoding, source, source_path, content)"
					 " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,"
					 " $12, $13)",
					 &arguments, SPI_OK_INSERT, true);
	pfree(pack);
}

/* Versions beyond the number to keep go. */
static void
prune_versions(const AcdatDictionaryRow *row)
{
	Arguments	arguments = {0};

	add_uuid(&arguments, &row->id);
	add_argument(&arguments, INT8OID,
				 Int64GetDatum(row->version - row->keep_versions), false);
	execute_as_owner("DELETE FROM acdat.dictionary_version"
					 " WHERE dictionary = $1 AND version <= $2",
					 &arguments, SPI_OK_DELETE, false);
}

void
acdat_write_version(const AcdatDictionaryRow *row,
					const AcdatContent *content, int encoding, bool is_new)
{
	if (is_new)
		insert_row(row);
	else
		acdat_update_row(row);
	ACDAT_FAULT(publish_row);
	insert_version(row, content, encoding);
	prune_versions(row);
	ACDAT_FAULT(publish_rows);
}
