/*-------------------------------------------------------------------------
 *
 * rows.h
 *	  Reading the durable truth: acdat.dictionary and
 *	  acdat.dictionary_version of the current database.
 *
 * The tables are scanned directly, not through SPI: no plan, no operator and
 * no search path is involved, privileges are the caller's business, and the
 * transaction that wrote a row can be told.  All results are allocated in
 * the current memory context.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_ROWS_H
#define ACDAT_ROWS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/snapshot.h"
#include "utils/uuid.h"

#include "shmem/registry.h"
#include "src/core/acdat.h"

#define ACDAT_EXTENSION_NAME "acdat_bgw"
#define ACDAT_SCHEMA_NAME "acdat"

/* Spelling of "everybody" in the reader column. */
#define ACDAT_READER_PUBLIC "public"

typedef struct AcdatDictionaryRow
{
	pg_uuid_t	id;
	NameData	name;
	NameData	owner;
	NameData	reader;			/* empty: the owner only */
	bool		cluster;
	int32		keep_versions;
	int64		version;
	int64		revision;
	TransactionId xmin;			/* that wrote this row */
	bool		xmin_frozen;
} AcdatDictionaryRow;

typedef struct AcdatVersionRow
{
	acdat_options options;
	int			encoding;		/* server encoding id */
	int64		patterns;
	int64		pattern_bytes;
	char	   *source;			/* NULL: published from an array */
	char	   *source_path;	/* search_path of the publisher */
	bytea	   *content;		/* the pack; NULL unless asked for */
} AcdatVersionRow;

/*
 * Is the extension, with its own tables, installed in this database?  A
 * schema and tables of the same names that are not the extension's do not
 * count.
 */
extern bool acdat_extension_installed(void);

/*
 * The relations; raise ERRCODE_UNDEFINED_OBJECT without the extension, and an
 * error that says what to run with one that is not for this library.
 */
extern Oid	acdat_dictionary_relid(void);
extern Oid	acdat_version_relid(void);

/* Every dictionary the snapshot sees, as a list of AcdatDictionaryRow. */
extern List *acdat_read_dictionaries(Snapshot snapshot);

/* The dictionary of that name, or NULL. */
extern AcdatDictionaryRow *acdat_read_dictionary(const char *name,
												 Snapshot snapshot);

/* One version of a dictionary, or NULL. */
extern AcdatVersionRow *acdat_read_version(const pg_uuid_t *id, int64 version,
										   bool want_content,
										   Snapshot snapshot);

/*
 * The entry for a row: names resolved to roles of this cluster (a missing
 * role becomes InvalidOid, which closes the dictionary to all but
 * superusers), no machine, transaction fields not set.
 */
extern void acdat_entry_from_row(AcdatEntry *entry,
								 const AcdatDictionaryRow *row);

#endif							/* ACDAT_ROWS_H */
