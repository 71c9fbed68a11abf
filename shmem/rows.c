/*-------------------------------------------------------------------------
 *
 * rows.c
 *	  Reading the durable truth from the tables of the current database.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "shmem/extension_version.h"
#include "shmem/rows.h"
#include "shmem/shmem_compat.h"

#define DICTIONARY_TABLE "dictionary"
#define VERSION_TABLE "dictionary_version"

/* A table of the extension by name, InvalidOid if it is not there. */
static Oid
extension_table(const char *name)
{
	Oid			extension = get_extension_oid(ACDAT_EXTENSION_NAME, true);
	Oid			schema = get_namespace_oid(ACDAT_SCHEMA_NAME, true);
	Oid			relid;

	if (!OidIsValid(extension) || !OidIsValid(schema))
		return InvalidOid;
	relid = get_relname_relid(name, schema);
	if (!OidIsValid(relid) ||
		getExtensionOfObject(RelationRelationId, relid) != extension)
		return InvalidOid;
	return relid;
}

bool
acdat_extension_installed(void)
{
	return OidIsValid(extension_table(DICTIONARY_TABLE)) &&
		OidIsValid(extension_table(VERSION_TABLE));
}

static Oid
required_table(const char *name)
{
	Oid			relid = extension_table(name);

	if (!OidIsValid(relid))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"%s\" is not installed in this database",
						ACDAT_EXTENSION_NAME),
				 errhint("Run CREATE EXTENSION %s.", ACDAT_EXTENSION_NAME)));
	acdat_check_extension_version();
	return relid;
}

Oid
acdat_dictionary_relid(void)
{
	return required_table(DICTIONARY_TABLE);
}

Oid
acdat_version_relid(void)
{
	return required_table(VERSION_TABLE);
}

/* A column by name; the tables are the extension's own, so it exists. */
static Datum
column(TupleTableSlot *slot, const char *name, bool *isnull)
{
	int			attnum = SPI_fnumber(slot->tts_tupleDescriptor, name);

	if (attnum <= 0)
		elog(ERROR, "column \"%s\" is missing", name);
	return slot_getattr(slot, attnum, isnull);
}

static Datum
required_column(TupleTableSlot *slot, const char *name)
{
	bool		isnull;
	Datum		value = column(slot, name, &isnull);

	if (isnull)
		elog(ERROR, "column \"%s\" is null", name);
	return value;
}

/* A text column as a fresh C string, NULL for null. */
static char *
text_column(TupleTableSlot *slot, const char *name)
{
	bool		isnull;
	Datum		value = column(slot, name, &isnull);

	return isnull ? NULL : TextDatumGetCString(value);
}

static AcdatDictionaryRow *
dictionary_row(TupleTableSlot *slot)
{
	AcdatDictionaryRow *row = palloc0(sizeof(AcdatDictionaryRow));
	bool		should_free;
	HeapTuple	tuple = ExecFetchSlotHeapTuple(slot, false, &should_free);
	char	   *name = TextDatumGetCString(required_column(slot, "name"));
	Datum		reader;
	bool		isnull;

	row->id = *DatumGetUUIDP(required_column(slot, "id"));
	namestrcpy(&row->name, name);
	namestrcpy(&row->owner,
			   NameStr(*DatumGetName(required_column(slot, "owner"))));
	reader = column(slot, "reader", &isnull);
	if (!isnull)
		namestrcpy(&row->reader, NameStr(*DatumGetName(reader)));
	row->cluster = DatumGetBool(required_column(slot, "cluster"));
	row->keep_versions = DatumGetInt32(required_column(slot, "keep_versions"));
	row->version = DatumGetInt64(required_column(slot, "version"));
	row->revision = DatumGetInt64(required_column(slot, "revision"));
	row->xmin = HeapTupleHeaderGetXmin(tuple->t_data);
	row->xmin_frozen = !TransactionIdIsNormal(row->xmin);
	pfree(name);
	if (should_free)
		heap_freetuple(tuple);
	return row;
}

/* All rows, or those of one name. */
static List *
scan_dictionaries(const char *name, Snapshot snapshot)
{
	Relation	relation = table_open(acdat_dictionary_relid(),
									  AccessShareLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	TableScanDesc scan = acdat_table_beginscan(relation, snapshot);
	List	   *rows = NIL;

	while (table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		AcdatDictionaryRow *row = dictionary_row(slot);

		if (name == NULL || strcmp(NameStr(row->name), name) == 0)
			rows = lappend(rows, row);
		else
			pfree(row);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, AccessShareLock);
	return rows;
}

List *
acdat_read_dictionaries(Snapshot snapshot)
{
	return scan_dictionaries(NULL, snapshot);
}

AcdatDictionaryRow *
acdat_read_dictionary(const char *name, Snapshot snapshot)
{
	List	   *rows = scan_dictionaries(name, snapshot);

	return rows == NIL ? NULL : linitial(rows);
}

static AcdatVersionRow *
version_row(TupleTableSlot *slot, bool want_content)
{
	AcdatVersionRow *row = palloc0(sizeof(AcdatVersionRow));
	char	   *encoding = text_column(slot, "encoding");
	char	   *ignore = text_column(slot, "ignore");

	row->encoding = pg_char_to_encoding(encoding);
	row->options.encoding = row->encoding == PG_UTF8 ?
		ACDAT_ENCODING_UTF8 : ACDAT_ENCODING_BYTES;
	if (row->encoding < 0 ||
		!acdat_case_parse(text_column(slot, "case_insensitive"),
						  &row->options.case_insensitive) ||
		!acdat_normalize_parse(text_column(slot, "normalization"),
							   &row->options.normalize) ||
		!acdat_boundary_parse(text_column(slot, "boundary"),
							  &row->options.boundary))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("stored options of a dictionary are not valid")));
	row->options.ignore = ignore;
	row->options.ignore_len = strlen(ignore);
	row->patterns = DatumGetInt64(required_column(slot, "patterns"));
	row->pattern_bytes = DatumGetInt64(required_column(slot, "pattern_bytes"));
	row->source = text_column(slot, "source");
	row->source_path = text_column(slot, "source_path");
	if (want_content)
		row->content = DatumGetByteaPCopy(required_column(slot, "content"));
	return row;
}

AcdatVersionRow *
acdat_read_version(const pg_uuid_t *id, int64 version, bool want_content,
				   Snapshot snapshot)
{
	Relation	relation = table_open(acdat_version_relid(), AccessShareLock);
	TupleTableSlot *slot = table_slot_create(relation, NULL);
	TableScanDesc scan = acdat_table_beginscan(relation, snapshot);
	AcdatVersionRow *row = NULL;

	while (row == NULL &&
		   table_scan_getnextslot(scan, ForwardScanDirection, slot))
	{
		Datum		dictionary = required_column(slot, "dictionary");

		if (memcmp(DatumGetUUIDP(dictionary), id, sizeof(pg_uuid_t)) == 0 &&
			DatumGetInt64(required_column(slot, "version")) == version)
			row = version_row(slot, want_content);
	}
	table_endscan(scan);
	ExecDropSingleTupleTableSlot(slot);
	table_close(relation, AccessShareLock);
	return row;
}

void
acdat_entry_from_row(AcdatEntry *entry, const AcdatDictionaryRow *row)
{
	memset(entry, 0, sizeof(AcdatEntry));
	entry->database = MyDatabaseId;
	entry->dictionary = row->id;
	entry->name = row->name;
	entry->revision = row->revision;
	entry->version = row->version;
	entry->cluster = row->cluster;
	entry->owner = get_role_oid(NameStr(row->owner), true);
	if (strcmp(NameStr(row->reader), ACDAT_READER_PUBLIC) == 0)
		entry->reader_public = true;
	else if (NameStr(row->reader)[0] != '\0')
		entry->reader = get_role_oid(NameStr(row->reader), true);
	entry->load = ACDAT_LOADING;
	entry->machine = -1;
}
