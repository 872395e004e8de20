/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_WORLD_H
#define TESTS_CHAOS_WORLD_H

#include "redis_rig.h"
#include "rig.h"

/*
 * Some instances of idemd, each with one worker, as if each were a host of its
 * own; the Redis that they share, with a copy that can take its place; and one
 * program, which counts its starts: a line with the client's key in the file
 * "orders" in the folder of the first instance.
 */
#define CHAOS_INSTANCES 6
#define CHAOS_INSTANCES_MAX 16
#define CHAOS_SERVERS_MAX 3
#define CHAOS_SENTINELS 3
#define CHAOS_MASTER "orders"	/* what Sentinel calls it */
#define CHAOS_LEASE_MS 1000
#define CHAOS_GRACE_MS 1000
/* Where no key may become unknown: a busy machine renews that in time. */
#define CHAOS_LONG_LEASE_MS 12000
#define CHAOS_SLOTS 16384u

enum chaos_topology {
	CHAOS_SINGLE,	/* a master, and one that copies it */
	CHAOS_SENTINEL,	/* the same, and three that watch them */
	CHAOS_CLUSTER,	/* three masters */
	CHAOS_FAITHFUL,	/* one server, which is struck and forgets nothing */
	CHAOS_STILL	/* one, to which nothing happens */
};

/* What must hold of a mode (doc/design.md, 4). */
enum chaos_promise {
	CHAOS_ALWAYS,		/* once, same answer, kept */
	CHAOS_OR_UNKNOWN,	/* once; same answer, or 409 */
	CHAOS_WHILE,		/* while Redis remembers */
	CHAOS_NONE		/* nothing of these */
};

/* Whom faults strike. */
enum chaos_struck {
	CHAOS_ALL,	/* Redis, however it is set up, and all of idemd's */
	CHAOS_LOBBIES,	/* only these are killed, ... */
	CHAOS_KEEPERS,
	CHAOS_WORKERS,	/* ... both at once, ... */
	CHAOS_SLEEPERS	/* ... or lobbies are stopped beyond their lease */
};

struct chaos_mode {
	const char *name;
	const char *route;	/* of its route, as idem.conf has it */
	enum chaos_topology topology;
	enum chaos_promise promise;
	enum chaos_struck struck;
	bool tokens;
	bool shared, cache, ledger;	/* what it has */
	const char *what;	/* for the table */
};

struct chaos_world {
	const struct chaos_mode *mode;
	unsigned instances;
	struct rig rig[CHAOS_INSTANCES_MAX];
	struct redis_rig server[CHAOS_SERVERS_MAX];
	size_t servers;
	struct redis_rig sentinel[CHAOS_SENTINELS];
	size_t master;		/* SINGLE, SENTINEL: which server it is */
	char link[RIG_PATH];	/* SINGLE: a symbolic link to its socket */
	char snapshot[RIG_PATH];	/* the folder of an older state */
	bool snapped;		/* it is whole */
	uint8_t owner[CHAOS_SLOTS];	/* CLUSTER: which server */
};

void chaos_world_open(struct chaos_world *, const struct chaos_mode *,
    unsigned instances);
/* How many instances ended with another status than 0. */
unsigned chaos_world_close(struct chaos_world *);

/* SINGLE: who connects from now on finds this one. */
void chaos_world_lead_to(struct chaos_world *, size_t server);
/* It becomes a copy of the master. */
void chaos_world_follow(struct chaos_world *, size_t server);

#endif
