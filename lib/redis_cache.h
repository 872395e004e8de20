/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_CACHE_H
#define IDEM_REDIS_CACHE_H

#include "redis.h"
#include "store.h"

/*
 * Completed records of a ledger, kept in Redis beside it.  What is found is a
 * fact: it was written after the ledger had committed it.  What is not found
 * says nothing.  So a Redis that is flushed, stale, split or dead changes how
 * fast an answer comes, and no more.
 *
 * Keys carry the ledger's generation; values the count of purges under which
 * they were written, so that a `forget` at the ledger voids them all.
 *
 *	PREFIX "ledger"				the generation, in hex
 *	PREFIX "c:" GENERATION ":" STORE-KEY	u64 purges, the packed record,
 *						the saved answer
 */
struct idem_redis_cache_options {
	struct idem_redis *client;	/* borrowed */
	const char *prefix;		/* borrowed; "idem:" */
	struct idem_history ledger;	/* its generation */
	const struct idem_clock *clock;
	uint32_t look_ms;		/* of a look-up; 50 */
	uint32_t put_ms;		/* of a write; 1000 */
	uint64_t answer_max;		/* larger ones are not kept; 1 MiB */
	uint32_t check_ms;		/* the generation is asked for that
					   often; 10000 */
	/* Why that could not be done, for the log; or NULL. */
	void (*trouble)(void *arg, const char *why);
	void *arg;
};

struct idem_redis_cache;
struct idem_redis_cache *idem_redis_cache_new(
    const struct idem_redis_cache_options *);	/* NULL: no memory */
/* Look-ups that are outstanding are not answered any more. */
void idem_redis_cache_free(struct idem_redis_cache *);

/*
 * COMPLETED only if fingerprint and guard match, the record is completed, its
 * keep is not over and its purge count is `purges`; else NOTHING, or UNSURE
 * after an error or look_ms.  record: what is known of a completed one, its
 * times by the wall clock; else NULL.  answer: borrowed for the call; NULL: not
 * kept.
 * Answered from idem_redis_poll or _due, once, unless it is freed before.
 */
struct idem_redis_look {
	struct idem_digest key, fingerprint, guard;
	uint64_t purges;
	void (*done)(void *arg, enum idem_look, const struct idem_record *,
	    struct idem_blob *answer);
	void *arg;
};
void idem_redis_cache_look(struct idem_redis_cache *,
    const struct idem_redis_look *);

/* Write one, and forget about it. */
struct idem_redis_put {
	struct idem_digest key, fingerprint, guard;
	const struct idem_blob *answer;
	int64_t left_ms, kept_ms;	/* of its keep, and that in all */
	uint64_t purges;
};
void idem_redis_cache_put(struct idem_redis_cache *,
    const struct idem_redis_put *);

/*
 * Whose generation is registered under the prefix: registered when there is
 * none, asked for at the start and every check_ms from due.  FOREIGN: another
 * ledger has it, and neither is to serve keys until somebody decides.
 */
enum idem_redis_owner {
	IDEM_REDIS_OWNER_UNKNOWN, IDEM_REDIS_OWNER_OURS,
	IDEM_REDIS_OWNER_FOREIGN
};
enum idem_redis_owner idem_redis_cache_owner(const struct idem_redis_cache *);
int64_t idem_redis_cache_due_ms(const struct idem_redis_cache *);
void idem_redis_cache_due(struct idem_redis_cache *);

#endif
