/*-------------------------------------------------------------------------
 *
 * guc.h
 *	  Settings.  Those that shared state depends on are declared in
 *	  shmem/settings.h.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_GUC_H
#define ACDAT_GUC_H

#include "postgres.h"

#include "shmem/settings.h"

extern int	acdat_guc_max_matches;
extern int	acdat_guc_max_output_bytes;
extern char *acdat_guc_cluster_publisher;
extern char *acdat_guc_hash_key;

/* Define all settings; preloading: those of the postmaster too. */
extern void acdat_define_gucs(bool preloading);

#endif							/* ACDAT_GUC_H */
