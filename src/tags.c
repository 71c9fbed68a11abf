/*-------------------------------------------------------------------------
 *
 * tags.c
 *	  Calls that ask for patterns with certain tags only.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

#include "src/pgcompat.h"
#include "src/tags.h"

static void
set_bit(const AcdatMachineRef *ref, const text *tag, uint64 *bits)
{
	uint32		number;

	if (!acdat_find_tag(&ref->machine, VARDATA_ANY(tag),
						VARSIZE_ANY_EXHDR(tag), &number))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("no pattern of the dictionary has tag \"%s\"",
						text_to_cstring(tag)),
				 errhint("Publish the patterns with a column tag, or leave the tag out.")));
	bits[number / 64] |= UINT64CONST(1) << (number % 64);
}

/* Look all tags of the array up. */
static void
find_tags(AcdatTagSet *set, ArrayType *array, const AcdatMachineRef *ref)
{
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int			i;

	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &elements,
					  &nulls, &count);
	if (count == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("array of tags must not be empty"),
				 errhint("Leave the argument out to use patterns of all tags.")));
	memset(set->bits, 0, set->words * sizeof(uint64));
	for (i = 0; i < count; i++)
	{
		if (nulls[i])
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("array of tags must not contain nulls")));
		set_bit(ref, DatumGetTextPP(elements[i]), set->bits);
	}
	pfree(elements);
	pfree(nulls);
}

/* Forget what was found, and make room for the tags of a machine. */
static void
begin_set(AcdatTagSet *set, MemoryContext context, const AcdatMachineRef *ref)
{
	Size		words = ref->info.tags / 64 + 1;

	if (set->array != NULL)
		pfree(set->array);
	set->array = NULL;
	if (words <= set->words)
		return;
	if (set->bits != NULL)
		pfree(set->bits);
	set->bits = NULL;
	set->words = 0;
	set->bits = MemoryContextAlloc(context, words * sizeof(uint64));
	set->words = words;
}

const uint64 *
acdat_tag_bits(AcdatTagSet *set, MemoryContext context, Datum tags,
			   const AcdatMachineRef *ref)
{
	ArrayType  *array = DatumGetArrayTypeP(tags);
	ArrayType  *copy;

	if (likely(set->array != NULL &&
			   VARSIZE(array) == VARSIZE(set->array) &&
			   memcmp(array, set->array, VARSIZE(array)) == 0 &&
			   set->checksum[0] == ref->info.checksum[0] &&
			   set->checksum[1] == ref->info.checksum[1]))
		return set->bits;
	begin_set(set, context, ref);
	find_tags(set, array, ref);
	copy = MemoryContextAlloc(context, VARSIZE(array));
	memcpy(copy, array, VARSIZE(array));
	set->array = copy;
	set->checksum[0] = ref->info.checksum[0];
	set->checksum[1] = ref->info.checksum[1];
	return set->bits;
}
