/*-------------------------------------------------------------------------
 *
 * extension_version.h
 *	  Do the library and the SQL objects of this database fit together?
 *
 * They are replaced at different times: the library when a server that
 * preloads it is restarted, the SQL objects by ALTER EXTENSION in each
 * database.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_EXTENSION_VERSION_H
#define ACDAT_EXTENSION_VERSION_H

#include "postgres.h"

/* That of this library, as in default_version of the control file */
#define ACDAT_LIBRARY_VERSION "1.0"

/* The oldest SQL objects that it serves */
#define ACDAT_OLDEST_SQL_VERSION "1.0"

/*
 * Raises an error that says what to run, unless the extension installed in
 * this database is one the library serves, or none is.  Needs a transaction.
 */
extern void acdat_check_extension_version(void);

#endif							/* ACDAT_EXTENSION_VERSION_H */
