/*-------------------------------------------------------------------------
 *
 * log_machine.c
 *	  The machine that redacts the server log.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access/xact.h"
#include "libpq/pqsignal.h"
#include "miscadmin.h"
#include "storage/dsm_impl.h"
#include "storage/pg_shmem.h"

#include "shmem/log_machine.h"
#include "shmem/shmem_compat.h"
#include "shmem/stats.h"

/* How often a choice that is being written is read again. */
#define ACDAT_LOG_TRIES 1000

/* What this process maps. */
typedef struct LogMapping
{
	uint64		serial;			/* of the machine; 0 = none */
	uint64		announced;		/* to the launcher */
	void	   *address;
	Size		size;			/* of a mapping of our own, 0 = is none */
	bool		is_sysv;
	acdat_machine machine;
	acdat_encoding encoding;
	acdat_scan *scan;			/* anonymous memory, kept for later machines */
	Size		scan_size;
} LogMapping;

static LogMapping mine;

/* While a scan runs: its slot, and the signals that were blocked before. */
static AcdatMachineSlot *slot_in_use = NULL;
static sigset_t former_signals;

/* ---- Mapping ---- */

static void
unmap(void)
{
	if (mine.size > 0 && mine.is_sysv)
		(void) shmdt(mine.address);
	else if (mine.size > 0)
		(void) munmap(mine.address, mine.size);
	mine.serial = 0;
	mine.address = NULL;
	mine.size = 0;
}

/* Map what a descriptor is open for, and close it. */
static void *
map_descriptor(int fd, Size size)
{
	struct stat status;
	void	   *address = NULL;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &status) == 0 && (Size) status.st_size >= size)
	{
		address = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
		if (address == MAP_FAILED)
			address = NULL;
	}
	(void) close(fd);
	return address;
}

static void *
map_sysv(dsm_handle handle, Size size)
{
	key_t		key = (key_t) handle;
	struct shmid_ds status;
	void	   *address;
	int			id;

	/* as the server does */
	if (key < 1)
		key = -key;
	id = shmget(key, 0, 0);
	if (id < 0 || shmctl(id, IPC_STAT, &status) != 0 ||
		status.shm_segsz < size)
		return NULL;
	address = shmat(id, NULL, SHM_RDONLY);
	return address == (void *) -1 ? NULL : address;
}

/*
 * Map a segment as the server's own code does, but without its bookkeeping,
 * which takes locks, allocates and raises.
 */
static void *
map_segment(dsm_handle handle, Size size)
{
	char		name[64];

	switch (dynamic_shared_memory_type)
	{
		case DSM_IMPL_POSIX:
			snprintf(name, sizeof(name), "/PostgreSQL.%u", handle);
			return map_descriptor(shm_open(name, O_RDONLY, 0), size);
		case DSM_IMPL_SYSV:
			mine.is_sysv = true;
			return map_sysv(handle, size);
		case DSM_IMPL_MMAP:
			snprintf(name, sizeof(name), "%s/%s%u", PG_DYNSHMEM_DIR,
					 PG_DYNSHMEM_MMAP_FILE_PREFIX, handle);
			return map_descriptor(open(name, O_RDONLY | O_CLOEXEC), size);
		default:
			return NULL;
	}
}

/* Room for a scan, larger than before if need be. */
static bool
make_scan(void)
{
	Size		size = acdat_scan_size(&mine.machine);

	if (size > mine.scan_size)
	{
		void	   *room = mmap(NULL, size, PROT_READ | PROT_WRITE,
								MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (room == MAP_FAILED)
			return false;
		if (mine.scan_size > 0)
			(void) munmap(mine.scan, mine.scan_size);
		mine.scan = room;
		mine.scan_size = size;
	}
	acdat_scan_init(mine.scan, &mine.machine, NULL);
	return true;
}

/*
 * Tell the launcher what is mapped, so that it can have it let go; as soon as
 * this process has a place where to say so, which is not at its first lines.
 */
static void
announce(void)
{
	int			index = AcdatMyBackendIndex();

	if (mine.announced == mine.serial ||
		index < 0 || index >= acdat_registry->max_backends)
		return;
	pg_atomic_write_u32(&acdat_registry->backends[index].pid,
						(uint32) MyProcPid);
	pg_atomic_write_u64(&acdat_registry->backends[index].log_serial,
						mine.serial);
	mine.announced = mine.serial;
}

/* Map a machine that is counted as mapped. */
static bool
map_machine(const AcdatLogChoice *choice)
{
	acdat_machine_info info;

	unmap();
	mine.is_sysv = false;
	if (choice->main_address != NULL)
		mine.address = choice->main_address;
	else if ((mine.address = map_segment(choice->handle, choice->size)) != NULL)
		mine.size = choice->size;
	else
		return false;
	if (acdat_open_trusted(&mine.machine, mine.address, choice->size) != ACDAT_OK ||
		!make_scan())
	{
		unmap();
		return false;
	}
	acdat_machine_describe(&mine.machine, &info);
	mine.encoding = info.options.encoding;
	mine.serial = choice->serial;
	return true;
}

/* ---- The choice ---- */

/* Begin and end a change of the choice; registry->lock held exclusively. */
static void
begin_change(void)
{
	AcdatLogChoice *log = &acdat_registry->log;

	/* odd already if a process died in the middle */
	pg_atomic_write_u32(&log->turn, pg_atomic_read_u32(&log->turn) | 1);
	pg_memory_barrier();
}

static void
end_change(void)
{
	AcdatLogChoice *log = &acdat_registry->log;

	pg_memory_barrier();
	pg_atomic_write_u32(&log->turn, pg_atomic_read_u32(&log->turn) + 1);
}

void
acdat_log_machine_name(const char *name)
{
	AcdatLogChoice *log = &acdat_registry->log;

	if (strncmp(NameStr(log->name), name, NAMEDATALEN) == 0)
		return;
	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	begin_change();
	strlcpy(NameStr(log->name), name, NAMEDATALEN);
	log->serial = 0;
	end_change();
	LWLockRelease(acdat_registry->lock);
}

bool
acdat_log_machine_is(int machine)
{
	const AcdatLogChoice *log = &acdat_registry->log;

	return log->serial != 0 && log->slot == machine &&
		acdat_registry->machines[machine].serial == log->serial;
}

/*
 * The entry whose machine is to be used; *keep is set if the former choice
 * is to stand because a later version is still being compiled.
 */
static AcdatEntry *
chosen_entry(bool *keep, Oid *load_database)
{
	AcdatLogChoice *log = &acdat_registry->log;
	AcdatMachineSlot *slot = &acdat_registry->machines[log->slot];
	AcdatEntry *entry;

	*keep = false;
	if (NameStr(log->name)[0] == '\0')
		return NULL;
	entry = acdat_find_by_name(InvalidOid, NameStr(log->name), NULL);
	if (entry == NULL || !entry->cluster)
		return NULL;
	if (entry->load == ACDAT_EVICTED && !entry->wanted)
	{
		entry->wanted = true;
		entry->error[0] = '\0';
		*load_database = entry->database;
	}
	*keep = entry->load == ACDAT_LOADING && log->serial != 0 &&
		slot->serial == log->serial && slot->database == entry->database &&
		memcmp(&slot->dictionary, &entry->dictionary, sizeof(pg_uuid_t)) == 0;
	return entry->load == ACDAT_READY ? entry : NULL;
}

/* Have idle processes let go of other machines than this one. */
static void
wake_log_mappers(uint64 serial)
{
	int			i;

	pg_memory_barrier();
	for (i = 0; i < acdat_registry->max_backends; i++)
	{
		AcdatBackendSlot *backend = &acdat_registry->backends[i];
		uint64		mapped = pg_atomic_read_u64(&backend->log_serial);

		if (mapped != 0 && mapped != serial)
			acdat_send_catchup((pid_t) pg_atomic_read_u32(&backend->pid), i);
	}
}

void
acdat_log_machine_choose(void)
{
	AcdatLogChoice *log = &acdat_registry->log;
	Oid			load_database = InvalidOid;
	bool		changed = false;
	bool		keep;
	AcdatEntry *entry;
	uint64		serial;

	if (NameStr(log->name)[0] == '\0' && pg_atomic_read_u64(&log->current) == 0)
		return;

	/* a transaction of one's own would count as committed */
	if (TransactionIdIsValid(GetTopTransactionIdIfAny()))
		return;
	LWLockAcquire(acdat_registry->lock, LW_EXCLUSIVE);
	entry = chosen_entry(&keep, &load_database);
	serial = entry == NULL ? 0 : acdat_registry->machines[entry->machine].serial;
	if (!keep && (serial != log->serial ||
				  serial != pg_atomic_read_u64(&log->current)))
	{
		begin_change();
		log->serial = serial;
		if (entry != NULL)
		{
			AcdatMachineSlot *slot = &acdat_registry->machines[entry->machine];

			log->slot = entry->machine;
			log->handle = slot->handle;
			log->size = slot->size;
			log->main_address = slot->main_address;
		}
		end_change();
		pg_atomic_write_u64(&log->current, serial);
		changed = true;
	}
	LWLockRelease(acdat_registry->lock);
	if (changed)
		wake_log_mappers(serial);
	if (OidIsValid(load_database))
		(void) acdat_request_load(load_database);
}

/* ---- Use ---- */

/* Is shared memory there, and may this process depend on it? */
static bool
registry_usable(void)
{
	return acdat_registry != NULL && UsedShmemSegAddr != NULL &&
		(IsUnderPostmaster || !IsPostmasterEnvironment);
}

static bool
read_choice(AcdatLogChoice *choice)
{
	AcdatLogChoice *log = &acdat_registry->log;
	int			i;

	for (i = 0; i < ACDAT_LOG_TRIES; i++)
	{
		uint32		turn = pg_atomic_read_u32(&log->turn);

		pg_read_barrier();
		memcpy(choice, log, sizeof(*choice));
		pg_read_barrier();
		if ((turn & 1) == 0 && turn == pg_atomic_read_u32(&log->turn))
			return choice->serial != 0 && choice->slot >= 0 &&
				choice->slot < acdat_registry->max_machines;
	}
	return false;
}

/*
 * Count into mapped first and look whether the machine is retired then;
 * whoever frees it looks at mapped after it was retired.  So one of the two
 * sees the other.
 */
static bool
claim(const AcdatLogChoice *choice)
{
	AcdatMachineSlot *slot = &acdat_registry->machines[choice->slot];

	pg_atomic_fetch_add_u32(&slot->mapped, 1);
	if (*(volatile uint64 *) &slot->serial == choice->serial &&
		!*(volatile bool *) &slot->retired)
	{
		slot_in_use = slot;
		return true;
	}
	pg_atomic_fetch_sub_u32(&slot->mapped, 1);
	return false;
}

acdat_scan *
acdat_log_machine_begin(const char *name, acdat_encoding *encoding)
{
	AcdatLogChoice choice;
	int			i;

	if (!registry_usable())
		return NULL;
	(void) sigprocmask(SIG_BLOCK, &BlockSig, &former_signals);

	/* again if the machine is just being replaced */
	for (i = 0; i < 3 && read_choice(&choice); i++)
	{
		if (strncmp(NameStr(choice.name), name, NAMEDATALEN) != 0)
			break;
		if (!claim(&choice))
			continue;
		if (mine.serial == choice.serial || map_machine(&choice))
		{
			announce();
			*encoding = mine.encoding;
			return mine.scan;
		}
		acdat_log_machine_end();
		return NULL;
	}
	(void) sigprocmask(SIG_SETMASK, &former_signals, NULL);
	return NULL;
}

void
acdat_log_machine_count(Size bytes, uint64 matches)
{
	AcdatCounts counts = {1, bytes, matches};

	acdat_stats_add(slot_in_use->stats, &counts);
}

void
acdat_log_machine_end(void)
{
	if (pg_atomic_sub_fetch_u32(&slot_in_use->mapped, 1) == 0 &&
		*(volatile bool *) &slot_in_use->retired)
		acdat_wake_launcher();
	slot_in_use = NULL;
	(void) sigprocmask(SIG_SETMASK, &former_signals, NULL);
}

/* The end of a transaction is the moment to let go of a former machine. */
static void
log_xact_callback(XactEvent event, void *arg)
{
	if (mine.serial == 0 ||
		(event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT) ||
		mine.serial == pg_atomic_read_u64(&acdat_registry->log.current))
		return;
	unmap();
	announce();
}

void
acdat_log_machine_install(void)
{
	RegisterXactCallback(log_xact_callback, NULL);
}
