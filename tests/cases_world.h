/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CASES_WORLD_H
#define TESTS_CASES_WORLD_H

#include "ask.h"
#include "redis_rig.h"
#include "rows.h"

/*
 * One instance with one order, for rows that run at once (rows.h): what they
 * set, and what they ask.  All texts begin with the row's own.
 */
#define CASES_WAIT_MS 60000

struct cases_world {
	/* Set before _open; NULL: as it is by default. */
	const char *text;	/* of the row */
	const char *arbiter;	/* "ledger" or "redis" */
	bool cache;		/* Redis is the ledger's cache */
	const char *const *redis;	/* options of its server */
	/* 0: 1, 8, 30000, 300 */
	unsigned workers, programs, lease_ms, grace_ms;
	unsigned redis_ms;	/* how long it may take to answer; 0: 10000 */
	const char *route;	/* more of the route, "on_unknown = ..., " */
	const char *program;	/* of the route */
	const char *more;	/* more settings, or routes */
	const char *link;	/* a socket between it and Redis */

	struct rig rig;
	struct redis_rig server;
	struct rows_held *held;
};

/* Nothing runs yet; the order is there, and Redis if it takes part. */
void cases_world_open(struct cases_world *, struct rows_held *);
void cases_world_start(struct cases_world *);
/* One test: idemd ends with status 0. */
void cases_world_close(struct cases_world *);
/* All of a rig's, and nobody listens any more. */
void cases_world_kill(struct rig *);
bool cases_world_is_redis(const struct cases_world *);

/* The order with its key, and without; it waits while the file "hold" is
   there. */
extern const struct rig_request cases_order, cases_keyless;

/* "409 unknown", for that order. */
void cases_asked(struct cases_world *, char *got, size_t size);
/* One test each.  Again and again: it is always that; or it comes to be that
   (the last answer is the caller's to free; or NULL). */
void cases_ask_for(struct cases_world *, int64_t ms, const char *always,
    const char *what);
void cases_ask_until(struct cases_world *, int64_t ms, const char *want,
    struct rig_answer *, const char *what);

/* The order, up to where it waits: a connection. */
int cases_begin(struct cases_world *);
/* It goes on.  One test; the answer is the caller's to free. */
void cases_end(struct cases_world *, int fd, const char *want,
    struct rig_answer *, const char *what);

#endif
