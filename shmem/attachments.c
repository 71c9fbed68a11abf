/*-------------------------------------------------------------------------
 *
 * attachments.c
 *	  Which tables dictionaries are attached to.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_trigger.h"
#include "parser/parse_func.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "shmem/attachments.h"
#include "shmem/rows.h"
#include "shmem/shmem_compat.h"

/* Bytes of a UUID as text, as uuid_out() writes it. */
#define UUID_TEXT_BYTES 36

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
parse_uuid(const char *text, pg_uuid_t *id)
{
	int			i;

	if (strlen(text) != UUID_TEXT_BYTES)
		return false;
	for (i = 0; i < UUID_LEN; i++)
	{
		if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
			return false;
		if (hex_value(text[0]) < 0 || hex_value(text[1]) < 0)
			return false;
		id->data[i] = (unsigned char) (hex_value(text[0]) * 16 + hex_value(text[1]));
		text += 2;
	}
	return true;
}

bool
acdat_attachment_parse(const char *id, const char *delay,
					   AcdatAttachment *attachment)
{
	char	   *end;
	long		value = strtol(delay, &end, 10);

	if (end == delay || *end != '\0' || value < 0 ||
		value > ACDAT_ATTACH_MAX_DELAY_MS)
		return false;
	attachment->delay_ms = (int) value;
	return parse_uuid(id, &attachment->dictionary);
}

/* A row of pg_trigger; NULL if its arguments are not ours. */
static AcdatAttachment *
attachment_of(HeapTuple tuple, TupleDesc desc)
{
	Form_pg_trigger row = (Form_pg_trigger) GETSTRUCT(tuple);
	AcdatAttachment *result;
	bytea	   *args;
	char	   *first;
	char	   *end;
	bool		isnull;

	args = DatumGetByteaPP(fastgetattr(tuple, Anum_pg_trigger_tgargs, desc,
									   &isnull));
	if (isnull || row->tgnargs != 2)
		return NULL;

	/* each argument ends with a null byte */
	first = VARDATA_ANY(args);
	end = memchr(first, '\0', VARSIZE_ANY_EXHDR(args));
	if (end == NULL)
		return NULL;
	result = palloc0(sizeof(AcdatAttachment));
	if (!acdat_attachment_parse(first, end + 1, result))
		return NULL;
	result->relation = row->tgrelid;
	result->trigger = row->tgname;
	return result;
}

List *
acdat_read_attachments(void)
{
	List	   *name = list_make2(makeString(ACDAT_SCHEMA_NAME),
								  makeString(ACDAT_ATTACHED_FUNCTION));
	Oid			function = LookupFuncName(name, 0, NULL, true);
	List	   *result = NIL;
	Relation	relation;
	SysScanDesc scan;
	HeapTuple	tuple;

	if (!OidIsValid(function))
		return NIL;
	relation = table_open(TriggerRelationId, AccessShareLock);
	scan = systable_beginscan(relation, InvalidOid, false, NULL, 0, NULL);
	while (HeapTupleIsValid(tuple = systable_getnext(scan)))
	{
		AcdatAttachment *attachment;

		if (((Form_pg_trigger) GETSTRUCT(tuple))->tgfoid != function)
			continue;
		attachment = attachment_of(tuple, RelationGetDescr(relation));
		if (attachment != NULL)
			result = lappend(result, attachment);
	}
	systable_endscan(scan);
	table_close(relation, AccessShareLock);
	return result;
}
