/*-------------------------------------------------------------------------
 *
 * init.c
 *	  Loading of the library.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"

#include "shmem/extension_version.h"
#include "shmem/log_machine.h"
#include "shmem/registry.h"
#include "shmem/worker.h"
#include "src/guc.h"
#include "src/pgcompat.h"
#include "src/publish.h"
#include "src/redact_log.h"

PG_MODULE_MAGIC_EXT(.name = "acdat_bgw", .version = ACDAT_LIBRARY_VERSION);

extern PGDLLEXPORT void _PG_init(void);

/*
 * Without preload (CREATE EXTENSION, LOAD, a first function call) there is no
 * registry: functions on machine values work, those on dictionaries say what
 * to do.
 */
void
_PG_init(void)
{
	bool		preloading = process_shared_preload_libraries_in_progress;

	acdat_define_gucs(preloading);
	if (!preloading)
		return;
	acdat_registry_install_hooks();
	acdat_install_drop_hook();
	acdat_log_machine_install();
	acdat_install_log_hook();
	acdat_launcher_register();
}
