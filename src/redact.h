/*-------------------------------------------------------------------------
 *
 * redact.h
 *	  Rewriting values: what replace(), redact() and redact_trigger() share.
 *
 * A value is one piece of text or bytes, or holds many: an array's elements,
 * a document's strings.  A rewriter lives for one value; its limit on output
 * counts all pieces together.  Values in which nothing matches are given
 * back as they came, toasted or not.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_REDACT_H
#define ACDAT_REDACT_H

#include "postgres.h"

#include "utils/relcache.h"

#include "src/call_site.h"

/* Texts made for each match, in the place of what acdat_rewrite puts. */
typedef enum AcdatMark
{
	ACDAT_MARK_NONE = 0,
	ACDAT_MARK_TAG,				/* the tag of the pattern: [NAME] */
	ACDAT_MARK_HASH,			/* a keyed hash of the bytes matched */
	ACDAT_MARK_KEEP_LAST		/* masks, and the last characters */
} AcdatMark;

typedef struct AcdatRewriter
{
	acdat_rewrite rewrite;		/* style, policy and mask */
	AcdatMark	mark;
	int			keep;			/* characters that style keep_last shows */
	const AcdatMachineRef *ref;
	bool		is_machine;		/* ref is a machine value's */
	bool		is_text;		/* the pieces, as opposed to bytea */
	acdat_encoding encoding;	/* of pieces that are text */
	uint64		written;		/* bytes of the pieces so far */
} AcdatRewriter;

/* Begin a value with the machine its call site gave. */
extern void acdat_rewriter_begin(AcdatRewriter *rewriter,
								 const AcdatCallSite *site,
								 const AcdatMachineRef *ref);

/*
 * Have the rewriter hide matches in a style; NULL for style or mask means
 * the default.  Raises on an unknown style or a mask that does not fit.
 */
extern void acdat_rewriter_style(AcdatRewriter *rewriter, text *style,
								 text *mask);

/* The mark for a match in a piece, palloc'd, with its length. */
extern char *acdat_mark_text(const AcdatRewriter *rewriter,
							 const acdat_match *match, const char *bytes,
							 Size *len);

/*
 * A piece rewritten, as a new value; NULL if nothing matches in it.  Raises
 * when the limit on output is exceeded.
 */
extern text *acdat_rewrite_piece(AcdatRewriter *rewriter, const char *bytes,
								 Size len);

/* May values of this type be redacted? */
extern bool acdat_redactable_type(Oid type);

/*
 * The number of a column to be redacted; raises if the relation has none of
 * that name or its type does not allow it.
 */
extern int	acdat_redactable_column(Relation relation, const char *name);

/* Rewrite a value of such a type, which is not NULL. */
extern Datum acdat_rewrite_datum(AcdatRewriter *rewriter, Oid type,
								 Datum value);

/* The same for documents: their string values, but not their keys. */
extern Datum acdat_rewrite_json(AcdatRewriter *rewriter, Datum value);
extern Datum acdat_rewrite_jsonb(AcdatRewriter *rewriter, Datum value);

#endif							/* ACDAT_REDACT_H */
