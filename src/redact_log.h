/*-------------------------------------------------------------------------
 *
 * redact_log.h
 *	  Hiding the words of a dictionary in the server log.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_REDACT_LOG_H
#define ACDAT_REDACT_LOG_H

/* Called by _PG_init while shared libraries are preloaded. */
extern void acdat_install_log_hook(void);

#endif							/* ACDAT_REDACT_LOG_H */
