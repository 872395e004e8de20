/* SPDX-License-Identifier: ISC */
#ifndef IDEM_STORE_REDIS_H
#define IDEM_STORE_REDIS_H

#include "redis.h"
#include "store.h"

/*
 * Redis as an arbiter: the port of store.h over one key a record (prefix and
 * the store key in hex).  The client is borrowed and outlives the store; the
 * store's fd, due_ms and poll are the client's.
 *
 * Leases and times are the server's clock, in milliseconds of Unix time; a
 * deadline of ours (not_after_ms) is carried over by what is known of the
 * difference, and 50 ms more.  result.now_ms is the server's.
 */
enum idem_redis_scheme {
	/* One script (idem.lua): all that store.h says, in one atomic step. */
	IDEM_SCHEME_SCRIPT,
	/*
	 * SET NX PX, as many do it: no fingerprint, no owner, no answer; the
	 * key's time is its lease.  CLAIM: WON, IN_PROGRESS, or COMPLETED
	 * without an answer.  A lost reply, a release by others, an end of time
	 * during a run break it.
	 */
	IDEM_SCHEME_SETNX,
	/*
	 * Look, run, save: CLAIM finds an answer or has WON.  Nothing keeps two
	 * at once from running.
	 */
	IDEM_SCHEME_CHECK
};

struct idem_store_redis_options {
	struct idem_redis *client;
	enum idem_redis_scheme scheme;
	const char *prefix;		/* of all keys; borrowed; "idem:" */
	const struct idem_clock *clock;
	struct idem_boot boot;		/* written into records of ours */
	uint32_t inline_max;	/* an answer up to so many bytes comes with the
				   CLAIM; a larger one by the connection for
				   bodies, one round trip more; 64 KiB */
	bool token;		/* records of tokens: role:master and history
				   are checked where the data is */
	bool fixed_time;	/* tests: `clock` also stands in for the
				   server's */
};

/* NULL: no memory. */
struct idem_store *idem_store_redis(const struct idem_store_redis_options *);

/* Every operation of the script on a key of its own (prefix "selftest"), as an
   ACL may deny one inside it only.  true; or a sentence. */
bool idem_store_redis_selftest(const struct idem_store_redis_options *,
    char *error, size_t error_size);

#endif
