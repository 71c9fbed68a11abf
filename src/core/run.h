/*-------------------------------------------------------------------------
 *
 * run.h
 *	  Many lanes of the automaton in vectors, where the processor can.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_RUN_H
#define ACDAT_RUN_H

#include "src/core/scan.h"

/* Function for this processor, or NULL. */
extern scan_run_lanes acdat_x86_run_lanes(void);

#endif							/* ACDAT_RUN_H */
