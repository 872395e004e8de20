/* SPDX-License-Identifier: ISC */
#ifndef STORES_H
#define STORES_H

#include "conf.h"
#include "log.h"
#include "loop.h"
#include "redis_cache.h"
#include "shm.h"
#include "store.h"

/*
 * The stores of a worker: the ledger, the shared Redis, the cache beside the
 * ledger, the memory that stands in for Redis.  It opens them, watches them,
 * and tells people when one goes away.
 */
#define STORES_SCHEMES 3
#define STORES_PLACE 33		/* of a Redis, in hex with a NUL */
#define STORES_MARK 64		/* bytes of a mark, with its NUL */

struct stores;

/* A client of Redis, watched. */
struct stores_client {
	struct idem_redis *redis;	/* NULL: none */
	struct idem_redis_options options;
	struct stores *stores;
	struct watch watch;
	unsigned bit;			/* SHM_AWAY_* */
	const char *name;		/* in the log */
};

struct stores {
	struct loop *loop;
	struct log *log;
	struct shm *shm;
	uint32_t worker;
	struct idem_boot boot;
	const struct conf *conf;	/* of the start: these do not change */
	struct conf *held;

	struct idem_store *ledger, *memory;	/* or NULL */
	struct idem_store *redis[STORES_SCHEMES];	/* by scheme; or NULL */
	struct idem_store *token;	/* of the shared Redis; or NULL */
	struct idem_redis_cache *cache;	/* or NULL */
	struct stores_client shared, beside;
	struct watch ledger_watch, memory_watch;
	void (*polled)(void *arg);	/* after any of them has answered */
	void *arg;
	bool foreign;			/* another ledger has our prefix */
	char place[STORES_PLACE];	/* of the shared Redis, for marks */
};

/*
 * Set up: loop, log, shm, worker, boot, polled, arg.  memory: path of the one
 * that stands in, or NULL.  False, and why in the log.  The ledger's thread
 * begins: no fork after it.
 */
bool stores_open(struct stores *, struct conf *, const char *memory);
void stores_close(struct stores *);
/* A reload: open what it needs besides.  False, and why in the log. */
bool stores_follow(struct stores *, const struct conf *);

/* Which of them permits the starts of a route; for a token of its own
   arbiter.  NULL: this one is not there (a token of another installation). */
struct idem_store *stores_arbiter(struct stores *, const struct conf_route *);
struct idem_store *stores_token(struct stores *, enum idem_token_arbiter);

int64_t stores_due_ms(struct stores *);
void stores_due(struct stores *, int64_t now_ms);	/* poll what is due */

/* "ledger", "memory", "redis", for the log. */
const char *stores_name(const struct stores *, const struct idem_store *);
/* Is it shared with other hosts?  Then a boot id proves nothing. */
bool stores_is_shared(const struct stores *, const struct idem_store *);
/*
 * Which one it is, for notes in the journal (IDEM_NOTE_TEXT): by kind, and by
 * where it is, so that no other store, and not the same server under another
 * prefix or database, is taken for it.  It holds no secrets.  And back; NULL:
 * none of ours.
 */
void stores_mark(const struct stores *, const struct idem_store *,
    char *to, size_t size);
struct idem_store *stores_marked(const struct stores *, const char *mark);
/* Of a Redis, for its mark.  False: no memory. */
bool stores_place(const struct conf_redis *, char place[STORES_PLACE]);
/*
 * Is it the mark of a store that a daemon of this configuration has?  ledger:
 * its ledger's history; NULL: not known, any is taken for it.  A memory is
 * always taken for one, for only a daemon knows its own; so is a Redis without
 * memory to tell.
 */
bool stores_mark_is_of(const char *mark, const struct conf *,
    const struct idem_history *ledger);
/*
 * Since when the clock of a shared store has run steadily under our eyes, in
 * its own time (skew.h); of a cluster, that of the key's node.  now_ms: what it
 * has just said, if nothing else is known.  0: one that is ours.
 */
int64_t stores_watched_ms(struct stores *, const struct idem_store *,
    const struct idem_digest *key, int64_t now_ms);
/* Is it known to be away?  That was said when it went. */
bool stores_is_away(const struct stores *, const struct idem_store *);
/* May keys of a ledger be served?  Not while another ledger fills our cache. */
bool stores_ledger_is_ours(struct stores *);

#endif
