/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_SCRIPT_H
#define IDEM_REDIS_SCRIPT_H

#include "redis.h"
#include "store.h"

/*
 * The script idem.lua: its text, its arguments and its reply (pure).  For the
 * files of the Redis stores only.
 */

/* Made of idem.lua by the build. */
extern const unsigned char idem_lua[];
extern const size_t idem_lua_len;

/* False: no library for the digest. */
bool idem_redis_script_init(struct idem_redis_script *);

/* One call of it.  All is borrowed until it is sent. */
struct idem_redis_script_call {
	const struct idem_store_call *call;	/* no LIST, no SWEEP */
	struct idem_bytes key;		/* of Redis, whole */
	struct idem_boot boot;		/* of the claimant */
	bool token;			/* master and history are checked */
	int64_t fixed_boot_ms, fixed_wall_ms;	/* tests: instead of the
					   server's clock; 0 */
	int64_t not_after_ms;		/* CLAIM: the clock that judges leases;
					   0: never */
	uint64_t inline_max;		/* CLAIM: longer answers stay there */
};

#define IDEM_REDIS_SCRIPT_ARGS 20

/* Points into itself and at what it was made of: not to be copied. */
struct idem_redis_script_args {
	struct idem_bytes at[IDEM_REDIS_SCRIPT_ARGS];	/* as redis.h has it:
							   numkeys, key, ... */
	size_t len;
	char text[8][24];
	size_t texts;
	uint8_t pid[4];
};

void idem_redis_script_args(struct idem_redis_script_args *,
    const struct idem_redis_script_call *);

/* What is not a call of the port's. */
enum idem_redis_script_look {
	IDEM_REDIS_PEEK,	/* the record, of an answer its length */
	IDEM_REDIS_SWEEP_ONE	/* what a sweep makes of it */
};
void idem_redis_script_look(struct idem_redis_script_args *,
    const struct idem_redis_script_call *, enum idem_redis_script_look);

/* Borrowed from the value. */
struct idem_redis_script_reply {
	struct idem_bytes verdict;
	int64_t now_ms;		/* 0: a replay, which does not ask */
	uint64_t answer_len;	/* CLAIM completed, PEEK */
	struct idem_record record;	/* as it is now; state ABSENT */
	struct idem_history history;	/* zeroes: not said */
	struct idem_bytes answer;	/* empty: none, or longer than asked */
};

/* False: no reply of the script's. */
bool idem_redis_script_read(const struct idem_redis_value *,
    struct idem_redis_script_reply *);

/* All of *result but answer and purges.  False: the verdict is none of op's. */
bool idem_redis_script_result(const struct idem_redis_script_reply *,
    enum idem_store_op, struct idem_store_result *);

/* The reply to TIME, in milliseconds; false: it is none. */
bool idem_redis_script_time(const struct idem_redis_value *, int64_t *ms);

#endif
