/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The server settings that shared state depends on.
 *
 * Defined, with their ranges and descriptions, where all settings of the
 * extension are (src/guc.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_SETTINGS_H
#define ACDAT_SETTINGS_H

extern int	acdat_guc_max_dictionaries;
extern int	acdat_guc_max_memory;	/* MB, 0 = no limit */
extern int	acdat_guc_naptime;	/* s */
extern int	acdat_guc_max_loaders;
extern int	acdat_guc_max_compilers;
extern int	acdat_guc_load_timeout; /* ms */
extern int	acdat_guc_max_pattern_bytes;
extern int	acdat_guc_max_tracked_patterns;	/* fixed at server start */
extern bool acdat_guc_track_hits;
extern char *acdat_guc_log_dictionary;	/* empty = no redaction */

#endif							/* ACDAT_SETTINGS_H */
