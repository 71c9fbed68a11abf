/*-------------------------------------------------------------------------
 *
 * publish.h
 *	  Changing dictionaries: what the SQL functions that do so share.
 *
 * Every change of a dictionary takes the lock on its name first (a
 * heavyweight lock held to the end of the transaction, deadlock detection
 * included), so that two transactions that change one dictionary wait for
 * one another as two UPDATEs of one row do, in whatever database they run.
 * Then it changes the rows, as the owner of the extension's tables, and
 * enters the new state into the registry, stamped with the current
 * (sub)transaction.  Nothing needs doing at commit or abort.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_PUBLISH_H
#define ACDAT_PUBLISH_H

#include "postgres.h"

#include "lib/stringinfo.h"
#include "utils/array.h"

#include "shmem/registry.h"
#include "shmem/rows.h"

/* What is to be published. */
typedef struct AcdatContent
{
	StringInfoData pack;
	int64		patterns;		/* rows read */
	int64		pattern_bytes;
	bool		binary;			/* the patterns are bytea */
	acdat_options options;
	const char *source;			/* the query, or NULL */
	const char *source_path;	/* search_path to run it with, or NULL */
} AcdatContent;

/* Raise 55000 unless the library was preloaded. */
extern void acdat_require_registry(void);

/* Raise unless this database's encoding can be matched in. */
extern acdat_encoding acdat_database_encoding(void);

/* Raise unless a change can be made now; what is the function's name. */
extern void acdat_require_writable(const char *what);

/* Check a name given by the user and convert it. */
extern void acdat_check_name(const char *name, NameData *result);

/* Set the reader of a row: a role that exists, 'public', or NULL. */
extern void acdat_assign_reader(AcdatDictionaryRow *row, const char *reader);

/* Take the lock on a name until the end of the transaction. */
extern void acdat_lock_name(const char *name);

/*
 * May the user do what an owner may?  Without an owner, InvalidOid, only
 * superusers may.  The second form raises if not.
 */
extern bool acdat_owns(Oid owner);
extern void acdat_require_owner(Oid owner, const char *name);

/* Raise unless the user owns the dictionary. */
extern void acdat_check_owner(const AcdatDictionaryRow *row);

/*
 * The row of a dictionary to be changed, with its name locked; raises if it
 * does not exist (unless missing_ok) or the user is not its owner.
 */
extern AcdatDictionaryRow *acdat_row_for_change(const char *name,
												bool missing_ok);

/*
 * Raise if the query whose patterns are being published changed the
 * dictionary itself: row is what acdat_row_for_change() gave, or NULL.
 */
extern void acdat_check_unchanged(const char *name,
								  const AcdatDictionaryRow *row);

/* Raise unless the user may change cluster-wide dictionaries. */
extern void acdat_check_cluster_right(void);

/*
 * Raise if the name is taken: a local name by a cluster-wide dictionary, a
 * cluster-wide name by anything.  id: the dictionary itself, or NULL.
 */
extern void acdat_check_name_free(const char *name, bool cluster,
								  const pg_uuid_t *id);

/* Read patterns into content; the caller's privileges apply. */
extern void acdat_read_query(AcdatContent *content, const char *query);
extern void acdat_read_array(AcdatContent *content, ArrayType *array);

/*
 * Are the patterns read those of a stored version, with the same attributes,
 * in whatever order?  Are options and source the same, too?
 */
extern bool acdat_same_patterns(const AcdatContent *content,
								const AcdatVersionRow *stored);
extern bool acdat_same_version(const AcdatContent *content,
							   const AcdatVersionRow *stored);

/* A search path that nobody can put anything into. */
#define ACDAT_SAFE_PATH "pg_catalog, pg_temp"

typedef struct AcdatFormerRole
{
	Oid			userid;
	int			sec_context;
	int			guc_level;
} AcdatFormerRole;

/*
 * Run what follows as a role, restricted as maintenance commands are, with a
 * search path; and be who one was.  An error undoes it with the transaction.
 */
extern void acdat_become(AcdatFormerRole *former, Oid role,
						 const char *search_path);
extern void acdat_become_former(const AcdatFormerRole *former);

/* Write rows; they run as the owner of the tables. */
extern void acdat_write_version(const AcdatDictionaryRow *row,
								const AcdatContent *content, int encoding,
								bool is_new);
extern void acdat_update_row(const AcdatDictionaryRow *row);
extern void acdat_delete_row(const AcdatDictionaryRow *row);

/* Run a utility statement as the owner of the extension's tables. */
extern void acdat_execute_utility(const char *statement);

/*
 * Run the query of a dictionary, as its owner, and publish what it gives if
 * that differs from the current version.  Returns the version that is current
 * then, 0 if there is no such dictionary.
 */
extern int64 acdat_republish_changed(const pg_uuid_t *dictionary);

/*
 * Drop the triggers that attach a dictionary to a table, or to any table
 * (InvalidOid); returns their number.
 */
extern int	acdat_drop_attachments(const pg_uuid_t *dictionary, Oid relid);

/* Stamp an entry with the current transaction and command. */
extern void acdat_stamp_entry(AcdatEntry *entry);

/*
 * Enter a state that needs no compiling: the newest state this transaction
 * sees, with name, reader and revision of row, or its end.
 */
extern void acdat_enter_state(const AcdatDictionaryRow *row, bool dropped);

/* To be called once per process before entries are stamped. */
extern void acdat_watch_transactions(void);

/* Notice DROP EXTENSION; from _PG_init during preload. */
extern void acdat_install_drop_hook(void);

/* True while rows are changed by this module itself. */
extern bool acdat_changing_rows;

#endif							/* ACDAT_PUBLISH_H */
