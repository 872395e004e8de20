/* SPDX-License-Identifier: ISC */
#ifndef SHM_H
#define SHM_H

#include "digest.h"
#include "idem.h"

#include <stdatomic.h>

/*
 * What all processes of one instance share: the slots of `-c`, the ends of
 * keys, the counters.  Mapped by the master before any fork.  A process that
 * is killed anywhere in here leaves nothing locked.
 */
#define SHM_WORKERS_MAX 64
#define SHM_SLOTS_MAX 1024
#define SHM_ENDS 1024		/* ring; a power of two */
#define SHM_PATH 1024

enum shm_count {	/* each also a name for idemctl stats */
	SHM_REQUESTS, SHM_KEYED, SHM_STARTS, SHM_STORED, SHM_REPLAYED,
	SHM_REJECTED, SHM_MISMATCH, SHM_WITHHELD, SHM_IN_PROGRESS, SHM_UNKNOWN,
	SHM_EXPIRED, SHM_NOT_STARTED, SHM_UNRECORDED, SHM_NOT_KEPT,
	SHM_IGNORED, SHM_UNKEYED, SHM_BROKEN_PEERS, SHM_TWO_RUNS,
	SHM_LEASES_LOST, SHM_LOBBY_DEATHS, SHM_KEEPER_DEATHS, SHM_STORE_ERRORS,
	SHM_DROPPED, SHM_RELEASED, SHM_RELOADS, SHM_UNPROTECTED, SHM_VOID_TOKEN,
	SHM_OUTAGES, SHM_CACHE_OUTAGES, SHM_TOKENS, SHM_TOKENS_REFUSED,
	SHM_REDIS_HITS, SHM_ALERTS,
	SHM_COUNTS
};

enum { SHM_AWAY_SHARED = 1, SHM_AWAY_CACHE = 2, SHM_FOREIGN_LEDGER = 4 };
#define SHM_AWAYS 3		/* bits of these */

#define SHM_KEY_WORDS (IDEM_DIGEST_LEN / sizeof(uint64_t))

struct shm_end {		/* words: tearing is seen, not undefined */
	atomic_uint_fast64_t sequence;	/* of the end it holds, from 1 */
	atomic_uint_fast64_t key[SHM_KEY_WORDS];
	atomic_uint_fast64_t how;	/* enum idem_waited */
	atomic_uint_fast64_t check;	/* over all of these */
};

/*
 * What the operator is to be told (alert.h): how often, of each kind, and the
 * newest of each in words.
 */
#define SHM_ALERTS_MAX 16	/* kinds */
#define SHM_SAYINGS 8		/* the newest of a kind that are there */
#define SHM_WHAT 320		/* bytes of a text, with its NUL */
#define SHM_WHAT_WORDS (SHM_WHAT / sizeof(uint64_t))

struct shm_saying {		/* words, as an end's */
	atomic_uint_fast64_t number;	/* of its kind, from 1 */
	atomic_uint_fast64_t at_ms;	/* wall clock */
	atomic_uint_fast64_t keyed;	/* it is about a key: */
	atomic_uint_fast64_t key[SHM_KEY_WORDS];
	atomic_uint_fast64_t what[SHM_WHAT_WORDS];
	atomic_uint_fast64_t check;	/* over all of these */
};

struct shm_alert {
	atomic_uint_fast64_t count;
	struct shm_saying newest[SHM_SAYINGS];
};

/*
 * How long the runs of a route take (measure.h): a table of them by their
 * names' hashes, in which none is ever taken out.
 */
#define SHM_ROUTES 256		/* a power of two */

struct shm_route {
	atomic_uint_fast64_t name;	/* 0: free */
	atomic_uint_fast64_t seen;	/* their number and mean, in one word */
};

struct shm_page;		/* the counters, perhaps a file's page */

struct shm {
	uint32_t slots, workers;
	atomic_uint_fast64_t slot[SHM_SLOTS_MAX];	/* keeper; 0 free */
	/* A lobby's own: 0 when it begins, raised before the look or the try
	   that it is about, so that no end and no free slot is missed. */
	atomic_uint waiting[SHM_WORKERS_MAX];	/* parked waiters of a worker */
	atomic_uint queueing[SHM_WORKERS_MAX];	/* queued for a slot */
	atomic_uint open[SHM_WORKERS_MAX];	/* connections; UINT_MAX: no
						   lobby that could have any */
	atomic_uint_fast64_t ends;	/* sequence of the last end */
	struct shm_end ring[SHM_ENDS];
	atomic_uint_fast64_t next_keeper;	/* numbers of keepers, from 1 */
	atomic_uint_fast64_t away[SHM_AWAYS];	/* of SHM_AWAY_* by bit: which
						   workers find it so */
	/* on_outage = "database": until then (wall clock) its records are
	   looked up first. */
	atomic_int_fast64_t fallback_until_ms;
	/* on_outage = "memory": path of its ledger (memory.h); "": there is
	   none.  Set once, before who needs it is told. */
	char memory[SHM_PATH];
	struct shm_alert alert[SHM_ALERTS_MAX];
	struct shm_route route[SHM_ROUTES];
	int wake[SHM_WORKERS_MAX];	/* eventfds, inherited by all */
	int wake_master;		/* the same, for alerts */
	struct shm_page *page;		/* mapped at one address in all */
	char page_name[32];		/* in page_folder; "": no file */
	int page_folder, page_file;
};

/*
 * Map one; with a folder the counters' page is also a file there, named
 * "stats.<pid>", so that idemctl reads it (locked by the master for its
 * life).  NULL and errno.  The folder is borrowed until shm_free, which only
 * the master calls, after all others are gone.
 */
struct shm *shm_new(uint32_t slots, uint32_t workers, int folder);
void shm_free(struct shm *);

/* A free slot for a keeper's number, or -1. */
int shm_slot_get(struct shm *, uint64_t keeper);
/* Give it back, if it is still this keeper's, and wake who queues. */
void shm_slot_put(struct shm *, int slot, uint64_t keeper);
/* All of a keeper's slots: by the master once it is dead. */
void shm_slots_of(struct shm *, uint64_t keeper);

/* Publish a key's end; wakes the workers (but `from`) that have waiters. */
void shm_end_put(struct shm *, uint32_t from, const struct idem_digest *key,
    enum idem_waited how);
/*
 * The next end after *seen (which it advances).  1; 0: none; -1: some were
 * overwritten or never finished: *seen is at the last, ask about every key.
 */
int shm_end_next(struct shm *, uint64_t *seen, struct idem_digest *key,
    enum idem_waited *how);
/* Wake all workers: one of them has died; they ask about every key. */
void shm_wake_all(struct shm *);

/*
 * A worker finds something (one SHM_AWAY_* bit) away, or not so.  Whether that
 * changes it for the instance as a whole: exactly one worker is told true for
 * each change.
 */
bool shm_away_set(struct shm *, uint32_t worker, unsigned bit, bool away);
/* What any worker finds away. */
unsigned shm_away(const struct shm *);
/* By the master once a worker is dead: its finds are nobody's.  The bits that
   this changed for the whole. */
unsigned shm_away_clear(struct shm *, uint32_t worker);

/* The records of on_outage = "database" are looked up until then; what was said
   before, if that is later, stays said. */
void shm_fallback_until(struct shm *, int64_t wall_ms);

void shm_add(struct shm *, enum shm_count, uint64_t n);
uint64_t shm_count(const struct shm *, enum shm_count);
const char *shm_count_text(enum shm_count);	/* "requests", "keyed", ... */

/* The counters' page, for shm_new and shm_free.  0; -1 and errno. */
int shm_page_make(struct shm *);
void shm_page_drop(struct shm *);

/* The counters of the live instances in a ledger's run folder, summed; how
   many instances.  -1 and errno. */
int shm_stats(int folder, uint64_t counts[SHM_COUNTS]);

#endif
