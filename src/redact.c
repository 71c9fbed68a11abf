/*-------------------------------------------------------------------------
 *
 * redact.c
 *	  Rewriting the pieces of values; texts, bytes and arrays of texts.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "src/guc.h"
#include "src/pgcompat.h"
#include "src/redact.h"

/* Output being gathered as the bytes of a varlena. */
typedef struct Output
{
	const char *text;			/* the input */
	Size		text_len;
	bool		utf8;			/* both are UTF-8 text */
	bool		unchanged;		/* the output is the whole input */
	char	   *data;			/* NULL until something is written */
	Size		used;			/* header included */
	Size		size;
} Output;

static bool
inside_character(const char *byte)
{
	return ((unsigned char) *byte & 0xC0) == 0x80;
}

/*
 * A piece of the input must be whole characters.  Matches are, but a machine
 * value may come from anywhere, and what leaves here has to be valid text.
 */
static void
check_piece(const Output *output, const char *bytes, Size len)
{
	const char *end = output->text + output->text_len;

	if (bytes < output->text || bytes >= end)
		return;
	if (inside_character(bytes) ||
		(bytes + len < end && inside_character(bytes + len)))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_CORRUPTED),
				 errmsg("machine matches parts of characters")));
}

/* Sink of the rewriter. */
static bool
append_output(void *arg, const void *bytes, size_t len)
{
	Output	   *output = arg;

	if (bytes == output->text && len == output->text_len)
	{
		output->unchanged = true;
		return true;
	}
	if (output->utf8)
		check_piece(output, bytes, len);
	if (output->data == NULL)
	{
		output->size = VARHDRSZ + output->text_len + 64;
		output->data = palloc_extended(output->size, MCXT_ALLOC_HUGE);
		output->used = VARHDRSZ;
	}
	if (len > output->size - output->used)
	{
		output->size = Max(output->size * 2, output->used + len);
		output->data = repalloc_huge(output->data, output->size);
	}
	memcpy(output->data + output->used, bytes, len);
	output->used += len;
	return true;
}

static void
count_rewritten(void *ref, const acdat_match *match)
{
	acdat_count_hit(ref, match->pattern);
}

void
acdat_rewriter_begin(AcdatRewriter *rewriter, const AcdatCallSite *site,
					 const AcdatMachineRef *ref)
{
	memset(rewriter, 0, sizeof(*rewriter));
	rewriter->ref = ref;
	rewriter->is_machine = site->is_machine;
	rewriter->is_text = site->is_text;
	rewriter->encoding = site->encoding;
	if (acdat_tracks_hits(ref))
	{
		rewriter->rewrite.matched = count_rewritten;
		rewriter->rewrite.matched_arg = (void *) ref;
	}
}

/* What pieces to come may still write, at least one byte. */
static uint64
output_left(const AcdatRewriter *rewriter)
{
	uint64		limit = (uint64) acdat_guc_max_output_bytes;

	if (rewriter->written >= limit)
		acdat_raise_scan_error(ACDAT_OUTPUT_LIMIT);
	return limit - rewriter->written;
}

/* Hand output on, within the limit. */
static acdat_status
put(const acdat_rewrite *rewrite, uint64 *left, const char *bytes, Size len)
{
	if (len > *left)
		return ACDAT_OUTPUT_LIMIT;
	*left -= len;
	if (len > 0)
		(void) rewrite->sink(rewrite->sink_arg, bytes, len);
	return ACDAT_OK;
}

/* Rewrite a piece with marks that say something about each match. */
static acdat_status
rewrite_with_marks(AcdatRewriter *rewriter, const char *bytes, Size len)
{
	const acdat_rewrite *rewrite = &rewriter->rewrite;
	acdat_scan *scan = rewriter->ref->scan;
	uint64		left = rewrite->max_output;
	uint64		copied = 0;
	acdat_match match;
	acdat_status status;

	acdat_scan_start(scan, rewrite->policy, bytes, len, true);
	while ((status = acdat_scan_next(scan, &match)) == ACDAT_OK)
	{
		Size		mark_len;
		char	   *mark = acdat_mark_text(rewriter, &match, bytes, &mark_len);

		status = put(rewrite, &left, bytes + copied, match.start - copied);
		if (status == ACDAT_OK)
			status = put(rewrite, &left, mark, mark_len);
		if (status != ACDAT_OK)
			return status;
		pfree(mark);
		acdat_count_scan(rewriter->ref, 0, 1);
		acdat_count_hit(rewriter->ref, match.pattern);
		copied = match.end;
	}
	if (status != ACDAT_END)
		return status;
	return put(rewrite, &left, bytes + copied, len - copied);
}

/* Rewrite a piece into the rewriter's sink. */
static acdat_status
rewrite_bytes(AcdatRewriter *rewriter, const char *bytes, Size len)
{
	acdat_status status;
	uint64_t	matches = 0;

	if (rewriter->mark != ACDAT_MARK_NONE)
		status = rewrite_with_marks(rewriter, bytes, len);
	else
		status = acdat_rewrite_text(rewriter->ref->scan, &rewriter->rewrite,
									bytes, len, &matches);
	acdat_count_scan(rewriter->ref, len, matches);
	return status;
}

text *
acdat_rewrite_piece(AcdatRewriter *rewriter, const char *bytes, Size len)
{
	Output		output = {0};

	if (len == 0)
		return NULL;
	output.text = bytes;
	output.text_len = len;
	output.utf8 = rewriter->is_text &&
		rewriter->encoding == ACDAT_ENCODING_UTF8;
	rewriter->rewrite.max_output = output_left(rewriter);
	rewriter->rewrite.sink = append_output;
	rewriter->rewrite.sink_arg = &output;
	acdat_raise_scan_error(rewrite_bytes(rewriter, bytes, len));
	if (output.unchanged)
	{
		rewriter->written += len;
		return NULL;
	}
	if (output.data == NULL)
	{
		output.data = palloc(VARHDRSZ);
		output.used = VARHDRSZ;
	}
	rewriter->written += output.used - VARHDRSZ;
	/* of bytes that are no text but single-byte characters, only zero */
	if (rewriter->is_text && !output.utf8)
		(void) pg_verifymbstr(output.data + VARHDRSZ,
							  (int) (output.used - VARHDRSZ), false);
	SET_VARSIZE(output.data, output.used);
	return (text *) output.data;
}

/* A text or bytea. */
static Datum
rewrite_single(AcdatRewriter *rewriter, Datum value)
{
	text	   *input = DatumGetTextPP(value);
	text	   *result = acdat_rewrite_piece(rewriter, VARDATA_ANY(input),
											 VARSIZE_ANY_EXHDR(input));

	return result == NULL ? value : PointerGetDatum(result);
}

/* Every element of an array of texts. */
static Datum
rewrite_array(AcdatRewriter *rewriter, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	bool		changed = false;
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int			i;

	deconstruct_array(array, ARR_ELEMTYPE(array), -1, false, TYPALIGN_INT,
					  &elements, &nulls, &count);
	for (i = 0; i < count; i++)
	{
		Datum		element = elements[i];

		CHECK_FOR_INTERRUPTS();
		if (nulls[i])
			continue;
		elements[i] = rewrite_single(rewriter, element);
		changed |= (elements[i] != element);
	}
	if (!changed)
		return value;
	return PointerGetDatum(construct_md_array(elements, nulls, ARR_NDIM(array),
											  ARR_DIMS(array), ARR_LBOUND(array),
											  ARR_ELEMTYPE(array), -1, false,
											  TYPALIGN_INT));
}

bool
acdat_redactable_type(Oid type)
{
	return type == TEXTOID || type == VARCHAROID || type == BYTEAOID ||
		type == TEXTARRAYOID || type == JSONOID || type == JSONBOID;
}

int
acdat_redactable_column(Relation relation, const char *name)
{
	TupleDesc	descriptor = RelationGetDescr(relation);
	int			number = SPI_fnumber(descriptor, name);
	Oid			type;

	if (number <= 0)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_COLUMN),
				 errmsg("column \"%s\" of relation \"%s\" does not exist",
						name, RelationGetRelationName(relation))));
	type = TupleDescAttr(descriptor, number - 1)->atttypid;
	if (!acdat_redactable_type(type))
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("column \"%s\" of type %s cannot be redacted",
						name, format_type_be(type)),
				 errhint("Columns of types text, varchar, text[], json, jsonb and bytea can be.")));
	return number;
}

Datum
acdat_rewrite_datum(AcdatRewriter *rewriter, Oid type, Datum value)
{
	switch (type)
	{
		case TEXTARRAYOID:
			return rewrite_array(rewriter, value);
		case JSONOID:
			return acdat_rewrite_json(rewriter, value);
		case JSONBOID:
			return acdat_rewrite_jsonb(rewriter, value);
		default:
			Assert(acdat_redactable_type(type));
			return rewrite_single(rewriter, value);
	}
}
