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

enum shm_count {	/* each also a name for idemctl stats */
	SHM_REQUESTS, SHM_KEYED, SHM_STARTS, SHM_STORED, SHM_REPLAYED,
	SHM_REJECTED, SHM_MISMATCH, SHM_WITHHELD, SHM_IN_PROGRESS, SHM_UNKNOWN,
	SHM_EXPIRED, SHM_NOT_STARTED, SHM_UNRECORDED, SHM_NOT_KEPT,
	SHM_IGNORED, SHM_UNKEYED, SHM_BROKEN_PEERS, SHM_TWO_RUNS,
	SHM_LEASES_LOST, SHM_LOBBY_DEATHS, SHM_KEEPER_DEATHS, SHM_STORE_ERRORS,
	SHM_DROPPED, SHM_RELEASED, SHM_RELOADS,
	SHM_COUNTS
};

#define SHM_KEY_WORDS (IDEM_DIGEST_LEN / sizeof(uint64_t))

struct shm_end {		/* words: tearing is seen, not undefined */
	atomic_uint_fast64_t sequence;	/* of the end it holds, from 1 */
	atomic_uint_fast64_t key[SHM_KEY_WORDS];
	atomic_uint_fast64_t how;	/* enum idem_waited */
	atomic_uint_fast64_t check;	/* over all of these */
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
	int wake[SHM_WORKERS_MAX];	/* eventfds, inherited by all */
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
