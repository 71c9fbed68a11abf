/*-------------------------------------------------------------------------
 *
 * machine_cache.c
 *	  Private machines: those that come as values of type acdat.machine.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/detoast.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "shmem/core_support.h"
#include "src/core/image.h"
#include "src/machine_cache.h"
#include "src/pgcompat.h"

typedef struct AcdatCachedMachine
{
	uint64		serial;			/* 0 = free; never reused */
	uint64		used;			/* clock of the last use */
	int			pins;
	Oid			user;			/* who had it loaded */
	uint64		checksum[2];
	Size		size;
	MemoryContext context;		/* holds image and scan; unless free */
	AcdatMachineRef ref;
} CachedMachine;

static CachedMachine cache[ACDAT_PRIVATE_MACHINES];
static uint64 next_serial = 1;
static uint64 clock = 0;

static void
corrupt_value(const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_CORRUPTED),
			 errmsg("value of type acdat.machine is not usable: %s", why),
			 errhint("Compile it again with acdat.compile().")));
}

/* The place for another machine: a free one, or the one used least. */
static CachedMachine *
victim(void)
{
	CachedMachine *oldest = NULL;
	int			i;

	for (i = 0; i < ACDAT_PRIVATE_MACHINES; i++)
	{
		CachedMachine *entry = &cache[i];

		if (entry->serial == 0)
			return entry;
		if (entry->pins == 0 && (oldest == NULL || entry->used < oldest->used))
			oldest = entry;
	}
	if (oldest == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("more than %d machines are being scanned with at the same time",
						ACDAT_PRIVATE_MACHINES)));
	oldest->serial = 0;
	MemoryContextDelete(oldest->context);
	return oldest;
}

/* Strings that can become text must be text in the encoding announced. */
static void
check_strings(const AcdatMachineRef *ref)
{
	uint32		i;

	if (ref->info.options.encoding != ACDAT_ENCODING_UTF8)
		return;
	for (i = 0; i < ref->info.tags; i++)
	{
		size_t		len;
		const char *tag = acdat_machine_tag(&ref->machine, i, &len);

		if (!pg_verify_mbstr(PG_UTF8, tag, (int) len, true))
			corrupt_value("it holds text that is not valid");
	}
	if (!ref->info.has_replacements)
		return;
	for (i = 0; i < ref->info.patterns - ref->info.allow_patterns; i++)
	{
		size_t		len;
		const void *replacement = acdat_pattern_replacement(&ref->machine, i,
															&len);

		if (replacement != NULL &&
			!pg_verify_mbstr(PG_UTF8, replacement, (int) len, true))
			corrupt_value("it holds text that is not valid");
	}
}

/* Open the image in entry->context and make it ready. */
static void
open_entry(CachedMachine *entry, const void *image, Size size)
{
	acdat_hooks hooks = acdat_pg_hooks(entry->context);
	uint64		checksum[2];
	acdat_status status;

	status = acdat_open_trusted(&entry->ref.machine, image, size);
	if (status == ACDAT_VERSION_MISMATCH)
		corrupt_value("it was compiled by another version of the extension");
	if (status != ACDAT_OK)
		corrupt_value(acdat_status_text(status));
	acdat_image_checksum(image, entry->ref.machine.size, checksum);
	acdat_machine_describe(&entry->ref.machine, &entry->ref.info);
	if (checksum[0] != entry->ref.info.checksum[0] ||
		checksum[1] != entry->ref.info.checksum[1])
		corrupt_value("its checksum does not match");
	check_strings(&entry->ref);
	entry->ref.counts = &acdat_counts_of_nobody;
	entry->ref.stats = -1;
	entry->checksum[0] = checksum[0];
	entry->checksum[1] = checksum[1];
	entry->size = size;
	entry->ref.scan = MemoryContextAllocHuge(entry->context,
											 acdat_scan_size(&entry->ref.machine));
	acdat_scan_init(entry->ref.scan, &entry->ref.machine, &hooks);
}

/* Detoast a value into the cache. */
static CachedMachine *
load_value(Datum value)
{
	CachedMachine *entry = victim();
	struct varlena *detoasted = PG_DETOAST_DATUM_PACKED(value);
	Size		size = VARSIZE_ANY_EXHDR(detoasted);
	void	   *image;

	/* An error before the end leaves the memory to the current context. */
	entry->context = AllocSetContextCreate(CurrentMemoryContext,
										   "acdat_bgw private machine",
										   ALLOCSET_START_SMALL_SIZES);
	/* the image needs alignment that a datum does not have */
	image = MemoryContextAllocHuge(entry->context, size + 1);
	memcpy(image, VARDATA_ANY(detoasted), size);
	if ((Pointer) detoasted != DatumGetPointer(value))
		pfree(detoasted);
	open_entry(entry, image, size);

	/* It is a cache, for whatever comes later in this process. */
	MemoryContextSetParent(entry->context, TopMemoryContext);
	entry->pins = 0;
	entry->user = GetUserId();
	entry->serial = next_serial++;
	return entry;
}

/*
 * The cached machine with the content a header announces, or NULL.  The
 * checksum is not proof against contents made to collide, so a user's
 * machines are never taken for those of another, as of a function that runs
 * as its owner.
 */
static CachedMachine *
find_content(const acdat_image_header *header)
{
	int			i;

	for (i = 0; i < ACDAT_PRIVATE_MACHINES; i++)
	{
		CachedMachine *entry = &cache[i];

		if (entry->serial != 0 && entry->user == GetUserId() &&
			entry->size == header->image_size &&
			entry->checksum[0] == header->checksum[0] &&
			entry->checksum[1] == header->checksum[1])
			return entry;
	}
	return NULL;
}

/* Read just the header of a value. */
static void
read_header(struct varlena *value, acdat_image_header *header)
{
	struct varlena *slice = value;
	bool		sliced = false;

	if (VARATT_IS_EXTERNAL(value) || VARATT_IS_COMPRESSED(value))
	{
		slice = detoast_attr_slice(value, 0, sizeof(*header));
		sliced = true;
	}
	if (VARSIZE_ANY_EXHDR(slice) < sizeof(*header))
		corrupt_value("it is too short");
	memcpy(header, VARDATA_ANY(slice), sizeof(*header));
	if (sliced)
		pfree(slice);
}

/* Find or load the machine of a value and remember it in the site. */
static const AcdatMachineRef *
find_machine(AcdatMachineSite *site, Datum datum)
{
	struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	acdat_image_header header;
	CachedMachine *entry;

	site->entry = NULL;
	read_header(value, &header);
	entry = find_content(&header);
	if (entry == NULL)
		entry = load_value(datum);
	entry->used = ++clock;
	site->entry = entry;
	site->serial = entry->serial;
	site->external = VARATT_IS_EXTERNAL_ONDISK(value);
	if (site->external)
		memcpy(&site->pointer, VARDATA_EXTERNAL(value), sizeof(varatt_external));
	return &entry->ref;
}

/* Two toast pointers, the second as it is in a value; inlined as two loads. */
static inline bool
same_pointer(const varatt_external *a, const char *b)
{
	uint64		x[2];
	uint64		y[2];

	StaticAssertStmt(sizeof(varatt_external) == sizeof(x),
					 "unexpected layout of toast pointers");
	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return x[0] == y[0] && x[1] == y[1];
}

const AcdatMachineRef *
acdat_private_machine(AcdatMachineSite *site, Datum datum)
{
	const struct varlena *value = (struct varlena *) DatumGetPointer(datum);
	CachedMachine *entry = site->entry;

	if (likely(entry != NULL && site->external &&
			   entry->serial == site->serial &&
			   VARATT_IS_EXTERNAL_ONDISK(value) &&
			   same_pointer(&site->pointer, VARDATA_EXTERNAL(value))))
	{
		entry->used = ++clock;
		return &entry->ref;
	}
	return find_machine(site, datum);
}

void
acdat_private_pin(const AcdatMachineSite *site)
{
	site->entry->pins++;
}

void
acdat_private_unpin(const AcdatMachineSite *site)
{
	Assert(site->entry->serial == site->serial && site->entry->pins > 0);
	site->entry->pins--;
}
