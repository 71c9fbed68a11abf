/*-------------------------------------------------------------------------
 *
 * attachments.h
 *	  Which tables dictionaries are attached to.
 *
 * The triggers that attach() makes say so, with the id of the dictionary and
 * the delay in milliseconds as their arguments; there is no other record.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_ATTACHMENTS_H
#define ACDAT_ATTACHMENTS_H

#include "postgres.h"

#include "nodes/pg_list.h"
#include "utils/uuid.h"

/* Name of the trigger function, in the schema of the extension. */
#define ACDAT_ATTACHED_FUNCTION "attached_change"

#define ACDAT_ATTACH_MAX_DELAY_MS (3600 * 1000)

typedef struct AcdatAttachment
{
	Oid			relation;
	NameData	trigger;
	pg_uuid_t	dictionary;
	int			delay_ms;
} AcdatAttachment;

/* The arguments of a trigger; false if they are not what attach() gives. */
extern bool acdat_attachment_parse(const char *id, const char *delay,
								   AcdatAttachment *attachment);

/*
 * All attachments of this database, a list of AcdatAttachment in the current
 * memory context.  Needs a transaction.
 */
extern List *acdat_read_attachments(void);

#endif							/* ACDAT_ATTACHMENTS_H */
