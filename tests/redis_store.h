/* SPDX-License-Identifier: ISC */
#ifndef TESTS_REDIS_STORE_H
#define TESTS_REDIS_STORE_H

#include "redis_rig.h"
#include "store_redis.h"
#include "store_trace.h"

/*
 * A store on a real Redis, in store_trace.h's language.
 *
 *	struct redis_store s = { .server = &redis };
 *
 *	redis_store_open(&s);
 *	is(redis_store_say(&s, "claim k1 o1 f1 g1"), "won 1", "...");
 *	redis_store_close(&s);
 */
struct redis_store {
	/* Set before _open; zeroes are good defaults: a server may be silent
	   for 20 s, and under the world's clock answers and tombstones are kept
	   for ten minutes. */
	struct redis_rig *server;	/* whose url is connected to */
	struct idem_redis_options client_options;
	struct idem_store_redis_options options;

	/* To be used. */
	struct trace t;			/* its clock: the world's, but with
					   fixed_time the trace's own */
	struct idem_redis *client;
	const char *urls[1];
	char out[300];
};

/* Until purge count and history are known. */
void redis_store_open(struct redis_store *);
/* A store that is not waited for, since its server is not there. */
void redis_store_open_blind(struct redis_store *);
void redis_store_close(struct redis_store *);	/* zeroes do nothing */

/* What came of one line; valid until the next. */
const char *redis_store_say(struct redis_store *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Start one, under the clock of now. */
void redis_store_start(struct redis_store *, struct trace_asked *,
    const char *line);
/* Poll for so long, whatever happens. */
void redis_store_poll(struct redis_store *, int64_t ms);

/* The key of Redis of "k7". */
const char *redis_store_key(const char *name);
/* A number in INFO SECTION, after NAME: -1: it is not there. */
long long redis_store_info(struct redis_rig *, const char *section,
    const char *name);

#endif
