/*-------------------------------------------------------------------------
 *
 * worker.h
 *	  The background processes.
 *
 *	launcher	one, always: runs small compile jobs itself, starts the others,
 *				sweeps the registry; connected to no database, so that it
 *				blocks no DROP DATABASE
 *	loader		one per database that has something to load, short-lived:
 *				reads the tables and queues compile jobs
 *	compiler	one per large compile job, short-lived
 *	publisher	one per database with a dictionary whose attached table has
 *				changed, short-lived: publishes it again (src/publisher.c)
 *
 * Publishers run the query of a dictionary, as its owner and restricted as
 * maintenance commands are.  No other of them runs SQL of users: loaders read
 * the extension's own tables by direct scans.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_WORKER_H
#define ACDAT_WORKER_H

#include "postgres.h"

#include "postmaster/bgworker.h"

#define ACDAT_LIBRARY_NAME "acdat_bgw"

/* Seconds until the postmaster restarts a launcher that ended. */
#define ACDAT_LAUNCHER_RESTART_S 2

/* Register the launcher; from _PG_init during preload. */
extern void acdat_launcher_register(void);

/*
 * Start a short-lived worker; false if the server has no free slot.  The
 * argument is passed by value.
 */
extern bool acdat_start_worker(const char *kind, const char *function,
							   Datum argument,
							   BackgroundWorkerHandle **handle);

/* Signal handlers and connection common to all workers. */
extern void acdat_worker_initialize(Oid database);

extern PGDLLEXPORT void acdat_launcher_main(Datum main_arg);
extern PGDLLEXPORT void acdat_loader_main(Datum main_arg);
extern PGDLLEXPORT void acdat_compiler_main(Datum main_arg);
extern PGDLLEXPORT void acdat_publisher_main(Datum main_arg);

#endif							/* ACDAT_WORKER_H */
