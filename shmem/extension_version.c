/*-------------------------------------------------------------------------
 *
 * extension_version.c
 *	  Do the library and the SQL objects of this database fit together?
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_extension.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "shmem/extension_version.h"
#include "shmem/rows.h"
#include "shmem/shmem_compat.h"

PG_FUNCTION_INFO_V1(acdat_require_library);

/* A number that orders versions; what is none is newer than any. */
static uint64
version_number(const char *version)
{
	unsigned	major;
	unsigned	minor;
	char		rest;

	if (sscanf(version, "%u.%u%c", &major, &minor, &rest) != 2)
		return PG_UINT64_MAX;
	return (uint64) major << 32 | minor;
}

/* Of what is installed in this database, NULL if nothing is. */
static char *
installed_version(void)
{
	Relation	relation = table_open(ExtensionRelationId, AccessShareLock);
	char	   *version = NULL;
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum(ACDAT_EXTENSION_NAME));
	scan = systable_beginscan(relation, ExtensionNameIndexId, true, NULL, 1,
							  &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		value = heap_getattr(tuple, Anum_pg_extension_extversion,
										 RelationGetDescr(relation), &isnull);

		if (!isnull)
			version = TextDatumGetCString(value);
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return version;
}

static void
require_library(const char *version)
{
	if (version_number(version) <= version_number(ACDAT_LIBRARY_VERSION))
		return;
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("library of extension \"%s\" is older than its SQL objects",
					ACDAT_EXTENSION_NAME),
			 errdetail("The library that is loaded has version %s, the SQL objects have version %s.",
					   ACDAT_LIBRARY_VERSION, version),
			 errhint("Restart the server, so that it loads the library that is installed.")));
}

void
acdat_check_extension_version(void)
{
	char	   *version = installed_version();

	if (version == NULL)
		return;
	require_library(version);
	if (version_number(version) < version_number(ACDAT_OLDEST_SQL_VERSION))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("SQL objects of extension \"%s\" are older than its library",
						ACDAT_EXTENSION_NAME),
				 errdetail("The library that is loaded has version %s, the SQL objects have version %s.",
						   ACDAT_LIBRARY_VERSION, version),
				 errhint("Run ALTER EXTENSION %s UPDATE in this database.",
						 ACDAT_EXTENSION_NAME)));
	pfree(version);
}

/*
 * require_library(version text) returns void: every script calls it first, so
 * that it stops before it asks an older library for functions it lacks.
 */
Datum
acdat_require_library(PG_FUNCTION_ARGS)
{
	require_library(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}
