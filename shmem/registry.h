/*-------------------------------------------------------------------------
 *
 * registry.h
 *	  What dictionaries there are, in main shared memory.
 *
 * The registry is a cache of the tables acdat.dictionary and
 * acdat.dictionary_version of every database: it says which machine serves
 * which version of which dictionary, and which snapshots may see it.
 *
 * Lifetimes
 *	- The registry lives as long as shared memory; a crash of any backend
 *	  makes the postmaster set it up anew and empty, and the loaders fill it
 *	  again from the tables.
 *	- An AcdatEntry is one state of one dictionary.  It is made by the
 *	  process that compiled it (stamped with the publisher's transaction), by
 *	  a publisher (drop, rename, reader) or by a loader, and freed only by
 *	  the launcher: when its transaction aborted, or when a later state of
 *	  the same dictionary is visible to every snapshot.
 *	- An AcdatMachineSlot is one finished machine in a pinned DSM segment.
 *	  It is retired by the launcher when no entry names it any more, and
 *	  its segment is unpinned and the slot freed when besides that no
 *	  backend maps it (mapped = 0).  When another machine needs its room it
 *	  may be evicted: its entry lets go of it and says so.
 *	- A process that ends in any way but a crash gives its mappings back in
 *	  a before_shmem_exit callback.
 *
 * Lock order
 *	registry->lock, then locks inside the server (procarray, clog, subtrans).
 *	Nothing of ours is taken under it, no memory is allocated in shared
 *	form, no DSM call is made, and no wait happens.  Every change that can
 *	alter the answer of a look-up advances registry->changes while the lock
 *	is held exclusively.
 *
 *-------------------------------------------------------------------------
 */
#ifndef ACDAT_REGISTRY_H
#define ACDAT_REGISTRY_H

#include "postgres.h"

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/dsm.h"
#include "storage/lwlock.h"
#include "utils/snapshot.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "shmem/fault.h"
#include "shmem/hits.h"
#include "shmem/shmem_compat.h"

/* Room for an error message that is kept for the view. */
#define ACDAT_ERROR_BYTES 256

/* States per dictionary, superseded and pending ones included. */
#define ACDAT_STATES_PER_DICTIONARY 8

/* Databases whose load state is remembered. */
#define ACDAT_MAX_DATABASES 1024

typedef enum AcdatXidState
{
	ACDAT_XID_OPEN,				/* outcome not known yet: ask the server */
	ACDAT_XID_COMMITTED,		/* known committed, some snapshot may be older */
	ACDAT_XID_FROZEN			/* visible to every snapshot; xid is meaningless */
} AcdatXidState;

typedef enum AcdatLoadState
{
	ACDAT_LOADING,				/* a compile is queued or running */
	ACDAT_READY,				/* machine >= 0 */
	ACDAT_FAILED,				/* error says why */
	ACDAT_EVICTED				/* there was no room; loaded again when wanted */
} AcdatLoadState;

/*
 * One state of one dictionary.  All fields: registry->lock, shared to read,
 * exclusive to write.
 */
typedef struct AcdatEntry
{
	uint64		serial;			/* 0 = free slot; never reused */
	Oid			database;
	pg_uuid_t	dictionary;
	NameData	name;
	uint32		name_hash;
	int64		revision;		/* of the row this state was taken from */
	int64		sequence;		/* order of the states of one dictionary;
								 * the later serial decides between equals */
	int64		version;		/* of the content */
	TransactionId xid;			/* that made this state */
	CommandId	cid;			/* in that transaction */
	AcdatXidState xid_state;
	bool		dropped;		/* the dictionary ended with this state */
	bool		cluster;		/* usable by name from every database */
	bool		reader_public;
	Oid			owner;			/* InvalidOid: the role is missing */
	Oid			reader;			/* InvalidOid: owner only, or missing */
	AcdatLoadState load;
	bool		wanted;			/* a look-up waits for an evicted machine */
	int			machine;		/* index of a machine slot, or -1 */
	int			stats;			/* index of its counters; -1 in an end */
	int64		patterns;
	TimestampTz since;			/* when this entry was made */
	int			sqlerrcode;		/* with ACDAT_FAILED */
	char		error[ACDAT_ERROR_BYTES];
} AcdatEntry;

typedef struct AcdatMachineSlot
{
	/* registry->lock, shared to read, exclusive to write */
	uint64		serial;			/* 0 = free slot; never reused */
	dsm_handle	handle;
	void	   *main_address;	/* of the image, if it is in the main region,
								 * which is at the same place in all
								 * processes; else NULL */
	Size		size;			/* bytes of the image */
	int			entries;		/* entries that name this slot */
	bool		retired;		/* no entry does; mappings must go */
	Oid			database;
	pg_uuid_t	dictionary;
	int64		version;
	int			stats;			/* index of the dictionary's counters */

	/*
	 * Processes that map the segment or are about to.  Raised under
	 * registry->lock (shared suffices) while the slot is not retired; lowered
	 * without it by the process that raised it.  Who writes to the log raises
	 * it without the lock, and lowers it again at once if the slot is no
	 * longer what it was: so it is never set, only counted.
	 */
	pg_atomic_uint32 mapped;

	/*
	 * When a statement last chose this machine, to within a second; written
	 * without the lock by any process that maps it.
	 */
	pg_atomic_uint64 last_used;
} AcdatMachineSlot;

/*
 * What is known of a database.  registry->lock, shared to read, exclusive to
 * write.  A load is wanted while requested > finished.
 */
typedef struct AcdatDatabase
{
	Oid			database;		/* InvalidOid = free slot */
	uint64		requested;		/* number of the newest load wanted */
	uint64		started;		/* number of the newest load begun */
	uint64		finished;		/* number of the newest load done */
	int			loader_pid;		/* 0 = none; set by the loader itself */
	bool		has_extension;	/* as the last load found it */
	bool		attached_requested;	/* see requests.h */
	TimestampTz last_load;
	char		error[ACDAT_ERROR_BYTES];	/* of the last load, or empty */
} AcdatDatabase;

/* What a backend maps; written by that backend, read by the launcher. */
typedef struct AcdatBackendSlot
{
	pg_atomic_uint32 pid;
	pg_atomic_uint32 mapped;	/* number of segments mapped */
	pg_atomic_uint64 log_serial;	/* machine mapped for the log; stale when
									 * the process is gone */
} AcdatBackendSlot;

/*
 * The machine for the server log.  Written under registry->lock, held
 * exclusively; read without it, together, while turn is even and stands.
 * Should the writer die in between, turn stays odd until the next change,
 * and the log is withheld.
 */
typedef struct AcdatLogChoice
{
	pg_atomic_uint32 turn;
	pg_atomic_uint64 current;	/* serial, to be read alone */
	NameData	name;			/* of the dictionary; empty = no redaction */
	uint64		serial;			/* of the machine; 0 = there is none */
	int			slot;
	dsm_handle	handle;
	Size		size;
	void	   *main_address;
} AcdatLogChoice;

struct AcdatJob;
struct AcdatRequest;
struct AcdatStats;

typedef struct AcdatRegistry
{
	LWLock	   *lock;
	int			max_entries;
	int			max_states;		/* entries that are no ends */
	int			max_machines;
	int			max_backends;

	/*
	 * Advanced, under lock, by whatever may change the answer of a look-up;
	 * read without the lock.
	 */
	pg_atomic_uint64 changes;

	/* lock */
	uint64		next_serial;
	TransactionId newest_xid;	/* newest of entries not frozen, or invalid */
	int			entries_used;	/* slots beyond this were never used */
	int			stats_used;		/* the same of counters */
	Size		memory_used;	/* bytes of all machine slots */
	Size		memory_reserved;	/* bytes being written by compile jobs */
	bool		databases_known;	/* the launcher has listed pg_database */

	/* The launcher: written by itself, read by who wants to wake it. */
	pg_atomic_uint32 launcher_pid;	/* 0 = not running */
	pg_atomic_uint32 launcher_proc; /* its proc number */
	TimestampTz launcher_since; /* lock */

	/* see above */
	AcdatLogChoice log;

	/* Set by who dropped a database, taken by the launcher. */
	pg_atomic_uint32 review_wanted;

	/* Broadcast when a load ends, an entry leaves ACDAT_LOADING or a job
	 * slot becomes free. */
	ConditionVariable changed;

	/* Arrays, set up once. */
	AcdatEntry *entries;
	AcdatMachineSlot *machines;
	AcdatDatabase *databases;
	AcdatBackendSlot *backends;
	struct AcdatJob *jobs;
	struct AcdatRequest *requests;	/* see requests.h */
	struct AcdatStats *stats;	/* see stats.h */
	AcdatHits	hits;

#ifdef ACDAT_FAULTS
	AcdatFault	fault;
#endif
} AcdatRegistry;

/* NULL when the library was not preloaded. */
extern AcdatRegistry *acdat_registry;

/* Called by _PG_init while shared libraries are preloaded. */
extern void acdat_registry_install_hooks(void);

/* Wake the launcher, if there is one. */
extern void acdat_wake_launcher(void);

/* Have the launcher compare pg_database with the registry soon. */
extern void acdat_request_review(void);

/* The name hash entries carry. */
extern uint32 acdat_name_hash(const char *name);

/*
 * May snapshot see what this entry's transaction did?  NULL: whatever is
 * committed by now.  registry->lock must be held.
 */
extern bool acdat_entry_visible(const AcdatEntry *entry, Snapshot snapshot);

/* Is the transaction of this entry committed, as all others see it? */
extern bool acdat_entry_committed(const AcdatEntry *entry);

/* Of two states of one dictionary, is this the later one? */
static inline bool
acdat_entry_follows(const AcdatEntry *entry, const AcdatEntry *other)
{
	if (entry->sequence != other->sequence)
		return entry->sequence > other->sequence;
	return entry->serial > other->serial;
}

/*
 * The newest state of a dictionary that snapshot sees, or NULL.
 * registry->lock must be held.
 */
extern AcdatEntry *acdat_newest_entry(Oid database, const pg_uuid_t *dictionary,
									  Snapshot snapshot);

/*
 * The state that answers to a name in this database for a snapshot: a
 * cluster-wide dictionary first, then a local one; NULL if there is none.
 * registry->lock must be held.
 */
extern AcdatEntry *acdat_find_by_name(Oid database, const char *name,
									  Snapshot snapshot);

/*
 * Put an entry into a free slot, stamp its serial, count its machine and
 * advance changes; NULL if the registry is full: acdat_sweep() may make room
 * then.  The end of a dictionary finds room when no state does.  A sequence of 0 means:
 * after every state of the dictionary that is known.  registry->lock must be
 * held exclusively.
 */
extern AcdatEntry *acdat_entry_insert(const AcdatEntry *entry);

/* The entry with a serial, or NULL.  registry->lock must be held. */
extern AcdatEntry *acdat_entry_by_serial(uint64 serial);

/*
 * The state of a load that failed: FAILED, unless it was want of resources,
 * somebody's order or the system, not the dictionary.  Then it is loaded again
 * when it is wanted.
 */
extern AcdatLoadState acdat_state_after_error(int sqlerrcode);

/* Free an entry.  registry->lock must be held exclusively. */
extern void acdat_entry_free(AcdatEntry *entry);

/* Note that the answer of look-ups changed; exclusive lock held. */
extern void acdat_registry_changed(void);

/*
 * Register a pinned segment as a machine; returns its index, or -1 if there
 * is no free slot.  registry->lock must be held exclusively.
 */
extern int	acdat_machine_insert(dsm_segment *segment, Size size,
								 const AcdatEntry *entry);

/* Free a machine slot nobody uses; registry->lock held exclusively. */
extern void acdat_machine_free(AcdatMachineSlot *slot);

/* The slot of a database, made if asked; NULL if there is none. */
extern AcdatDatabase *acdat_database_slot(Oid database, bool create);

/*
 * Has every database of the cluster been loaded once since the server
 * started?  Until then the registry may lack names.  Takes the lock.
 */
extern bool acdat_first_loads_done(void);

/* Has a load that was asked for ended?  Takes the lock. */
extern bool acdat_load_done(Oid database, uint64 number);

/* Ask for a (new) load of a database; returns its number, 0 if impossible. */
extern uint64 acdat_request_load(Oid database);

/* "too many states of dictionaries" */
pg_noreturn extern void acdat_registry_full_error(void);

#endif							/* ACDAT_REGISTRY_H */
