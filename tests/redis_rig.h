/* SPDX-License-Identifier: ISC */
#ifndef TESTS_REDIS_RIG_H
#define TESTS_REDIS_RIG_H

#include "buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Real Redis servers of one's own, each in a fresh folder, at a unix socket
 * and a port of 127.0.0.1.  They die with the test.  Nothing here waits
 * without a bound; what cannot be started bails out with the server's log.
 *
 *	struct redis_rig redis;
 *
 *	if (redis_rig_missing() != NULL)
 *		skip_all(redis_rig_missing());
 *	redis_rig_start(&redis, (const char *[]){"--appendonly", "yes", NULL});
 *	... unix:redis.socket, or 127.0.0.1:redis.port ...
 *	is(redis_rig_say(&redis, "GET", "a", NULL), "(nil)", "...");
 *	redis_rig_kill(&redis);
 *	redis_rig_again(&redis, true);
 *	redis_rig_end(&redis);
 */
#define REDIS_RIG_PATH 100
#define REDIS_RIG_OPTIONS 32

struct redis_rig {
	/* To be read. */
	char folder[REDIS_RIG_PATH - 20];
	char socket[REDIS_RIG_PATH];	/* no server is at it: a sentinel */
	char url[REDIS_RIG_PATH + 8];	/* unix:SOCKET; a sentinel or a node
					   of a cluster: 127.0.0.1:PORT */
	int port;
	int bus;		/* of a node of a cluster */
	pid_t pid;		/* 0: none runs */

	/* To be set after the server demands it; "": none.  Said by
	   redis_rig_say. */
	char password[64];

	int held[2];		/* private: port and bus, see port_hold.h */
	char option[REDIS_RIG_OPTIONS][REDIS_RIG_PATH];
	size_t options;
	bool sentinel;
	struct idem_buf reply;
};

/* Why these tests cannot be run here, for skip_all; NULL: they can. */
const char *redis_rig_missing(void);

/* Without persistence unless the options say so; NULL last, or NULL for none.
   Until it answers, and is not loading. */
void redis_rig_start(struct redis_rig *, const char *const *options);
/* Until it has all that the master has. */
void redis_rig_replica(struct redis_rig *, struct redis_rig *master,
    const char *const *options);
/* Watches 127.0.0.1:port under that name.  Until it knows the master's state;
   of other sentinels and of replicas it may learn later. */
void redis_rig_sentinel(struct redis_rig *, const char *name, int port,
    unsigned quorum, unsigned down_ms);
/* So many masters (at most 16), which share all slots evenly and in order.
   Until each of them says that the state is ok. */
void redis_rig_cluster(struct redis_rig *, size_t len,
    const char *const *options);
/* One more node that knows the cluster of so many and has no slots.  Until
   each of them knows it, too. */
void redis_rig_join(struct redis_rig *, struct redis_rig *cluster, size_t len,
    const char *const *options);

void redis_rig_stop(struct redis_rig *);	/* SIGTERM: it may save */
void redis_rig_kill(struct redis_rig *);	/* SIGKILL */
void redis_rig_freeze(struct redis_rig *);	/* until it has stopped */
void redis_rig_thaw(struct redis_rig *);
/* After stop or kill: with the same options, socket and ports; with what it has
   written to its folder, or without. */
void redis_rig_again(struct redis_rig *, bool keep);
/* Kill what runs, remove the folder.  Zeroes, or one that was ended, do
   nothing. */
void redis_rig_end(struct redis_rig *);

/*
 * One command on a connection of its own, NULL last; the reply as text:
 * "(nil)", a number, a string as it is, "-WORD text" for an error, "[a b [c]]"
 * for arrays.  "(silence)": none within 20 s; "(closed)": the connection was.
 * Valid until the next.
 */
const char *redis_rig_say(struct redis_rig *, const char *word, ...)
    __attribute__((sentinel));
const char *redis_rig_say_bytes(struct redis_rig *, const struct idem_bytes *,
    size_t len);
/* A moment, between two looks at what is waited for. */
void redis_rig_turn(void);
/* Say it until the reply has `part` in it; false after wait_ms. */
bool redis_rig_await(struct redis_rig *, int64_t wait_ms, const char *part,
    const char *word, ...) __attribute__((sentinel));

#endif
