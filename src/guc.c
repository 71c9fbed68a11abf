/*-------------------------------------------------------------------------
 *
 * guc.c
 *	  Settings, with their units, ranges and who may change them.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>

#include "utils/guc.h"

#include "src/guc.h"

/* What a value can have at most, less room for its header, in whole kB. */
#define ACDAT_OUTPUT_BYTES (1024 * 1024 * 1024 - 1024)

int			acdat_guc_max_dictionaries = 256;
int			acdat_guc_max_memory = 1024;
int			acdat_guc_naptime = 10;
int			acdat_guc_max_loaders = 2;
int			acdat_guc_max_compilers = 2;
int			acdat_guc_load_timeout = 30000;
int			acdat_guc_max_pattern_bytes = 65536;
int			acdat_guc_max_tracked_patterns = 5000;
bool		acdat_guc_track_hits = false;
int			acdat_guc_max_matches = 10000000;
int			acdat_guc_max_output_bytes = ACDAT_OUTPUT_BYTES;
char	   *acdat_guc_cluster_publisher = NULL;
char	   *acdat_guc_hash_key = NULL;
char	   *acdat_guc_log_dictionary = NULL;

/* A name that cannot be one is refused, for it would withhold the whole log. */
static bool
check_log_dictionary(char **value, void **extra, GucSource source)
{
	if (strlen(*value) < NAMEDATALEN)
		return true;
	GUC_check_errdetail("A name can have at most %d bytes.", NAMEDATALEN - 1);
	return false;
}

/* Settings of the launcher and of shared memory: server-wide. */
static void
define_server_gucs(bool preloading)
{
	/* The size of the registry is fixed when the server starts. */
	if (preloading)
		DefineCustomIntVariable("acdat_bgw.max_dictionaries",
								"Sets the number of dictionaries shared memory has room for.",
								"Eight states of each can exist at a time, superseded ones that a snapshot still needs included.",
								&acdat_guc_max_dictionaries, 256, 1, 10000,
								PGC_POSTMASTER, 0, NULL, NULL, NULL);
	/* Reports pass by the library only if every process has it. */
	if (preloading)
		DefineCustomStringVariable("acdat_bgw.log_dictionary",
								   "Sets the cluster-wide dictionary whose words are hidden in the server log.",
								   "Empty means that the log is left alone. Text is withheld while the dictionary cannot be used.",
								   &acdat_guc_log_dictionary, "",
								   PGC_SIGHUP, 0, check_log_dictionary, NULL, NULL);
	DefineCustomIntVariable("acdat_bgw.max_memory",
							"Sets the most shared memory that compiled dictionaries may take.",
							"When it is reached, dictionaries not used for the longest time are unloaded, and loaded again when they are used. 0 means no limit.",
							&acdat_guc_max_memory, 1024, 0, INT_MAX / 2,
							PGC_SIGHUP, GUC_UNIT_MB, NULL, NULL, NULL);
	DefineCustomIntVariable("acdat_bgw.naptime",
							"Sets the time between looks at the dictionary tables of each database.",
							"It bounds the delay of rows that arrive without a publish, as on a standby.",
							&acdat_guc_naptime, 10, 1, 86400,
							PGC_SIGHUP, GUC_UNIT_S, NULL, NULL, NULL);
	DefineCustomIntVariable("acdat_bgw.max_loaders",
							"Sets the number of databases that are loaded at the same time.",
							NULL,
							&acdat_guc_max_loaders, 2, 1, 64,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("acdat_bgw.max_compilers",
							"Sets the number of large dictionaries that are compiled at the same time.",
							"Small ones are compiled by the launcher itself; with 0, all are.",
							&acdat_guc_max_compilers, 2, 0, 32,
							PGC_SIGHUP, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("acdat_bgw.max_pattern_bytes",
							"Sets the longest pattern that can be published.",
							NULL,
							&acdat_guc_max_pattern_bytes, 65536, 1, 1024 * 1024,
							PGC_SIGHUP, GUC_UNIT_BYTE, NULL, NULL, NULL);
	DefineCustomStringVariable("acdat_bgw.cluster_publisher",
							   "Sets the role whose members may publish cluster-wide dictionaries.",
							   "Empty means superusers only.",
							   &acdat_guc_cluster_publisher, "",
							   PGC_SIGHUP, 0, NULL, NULL, NULL);
}

/* What is counted besides the calls of each dictionary. */
static void
define_counting_gucs(bool preloading)
{
	if (preloading)
		DefineCustomIntVariable("acdat_bgw.max_tracked_patterns",
								"Sets the number of patterns whose hits shared memory has room for.",
								"When it is reached, the patterns with the fewest hits give way.",
								&acdat_guc_max_tracked_patterns, 5000, 0, 1000000,
								PGC_POSTMASTER, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("acdat_bgw.track_hits",
							 "Counts the hits of each pattern.",
							 "The view acdat.pattern_hits shows them.",
							 &acdat_guc_track_hits, false,
							 PGC_SUSET, 0, NULL, NULL, NULL);
}

/* Who has the key can tell by trying what a hash stands for. */
static void
define_secret_gucs(void)
{
	DefineCustomStringVariable("acdat_bgw.hash_key",
							   "Sets the key of redaction style hash.",
							   "Empty means that the style cannot be used.",
							   &acdat_guc_hash_key, "",
							   PGC_SUSET,
							   GUC_SUPERUSER_ONLY | GUC_NO_SHOW_ALL |
							   GUC_NOT_IN_SAMPLE,
							   NULL, NULL, NULL);
}

/* Limits of single calls: anybody's own business. */
static void
define_session_gucs(void)
{
	DefineCustomIntVariable("acdat_bgw.load_timeout",
							"Sets how long a call waits for a dictionary that is being loaded.",
							NULL,
							&acdat_guc_load_timeout, 30000, 0, INT_MAX,
							PGC_USERSET, GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("acdat_bgw.max_matches",
							"Sets the most matches one call returns before it fails.",
							NULL,
							&acdat_guc_max_matches, 10000000, 1, INT_MAX,
							PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("acdat_bgw.max_output_bytes",
							"Sets the largest result of replace() and redact().",
							NULL,
							&acdat_guc_max_output_bytes, ACDAT_OUTPUT_BYTES, 1,
							ACDAT_OUTPUT_BYTES,
							PGC_USERSET, GUC_UNIT_BYTE, NULL, NULL, NULL);
}

void
acdat_define_gucs(bool preloading)
{
	define_server_gucs(preloading);
	define_session_gucs();
	define_secret_gucs();
	define_counting_gucs(preloading);
	MarkGUCPrefixReserved("acdat_bgw");
}
