/* SPDX-License-Identifier: ISC */
#ifndef SERVER_H
#define SERVER_H

#include "child.h"
#include "plan.h"

/*
 * A real redis-server (or sentinel) of a run, at a unix socket and a free port
 * of 127.0.0.1.  Starting is asked for and waited for apart, so that several
 * come up at once.  Commands of the simulator's own go past every link.
 */
struct server {
	const struct plan_store *plan;	/* of a sentinel: its master's */
	char folder[96];
	char socket[120];	/* "": a sentinel has none */
	char url[140];		/* "unix:SOCKET"; of a sentinel
				   "127.0.0.1:PORT" */
	int port;		/* good once it was awaited */
	struct child child;	/* its callbacks are taken */
	bool frozen;
	unsigned life;		/* from 1 */
	char version[16];	/* once it was awaited */

	/* To be set at any time, or NULL: it has ended (child.status). */
	void (*ended)(struct server *);
	void *arg;

	struct server_private *in;	/* private */
};

/* Why none can be started here: "redis-server is not installed"; or NULL. */
const char *server_missing(bool sentinel);

/*
 * Start it, in a folder of its own below `folder`; a replica follows
 * 127.0.0.1:master_port (its link's).  `shift`: a file as preload.h has it, for
 * its clock; NULL: none.  The plan's store must outlive it.  -1 and errno.
 */
int server_start(struct loop *, struct server *, const struct plan_store *,
    const char *folder, int master_port, const char *shift);
/* Turn the loop until it answers and does not load; if it ended at once, on
   another port.  A replica may not yet have what its master has.  -1: it ended,
   or did not within wait_ms. */
int server_await(struct loop *, struct server *, int64_t wait_ms);

/*
 * Sentinels that watch a server under its plan's name, by its own port: whoever
 * asks them goes past every link, and so does a replica, which they turn to the
 * master itself a second later.  server_await each of them, then
 * server_await_watched.
 */
#define SERVER_SENTINELS 3
int server_watch(struct loop *, struct server sentinels[SERVER_SENTINELS],
    const struct server *master, const char *folder);
/* Until they know of each other, and of so many replicas. */
int server_await_watched(struct loop *,
    struct server sentinels[SERVER_SENTINELS], unsigned replicas,
    int64_t wait_ms);

/* One that is up is made as a fresh one: FLUSHALL, SCRIPT FLUSH, what memory
   the plan gives it, nothing put by; faster than a new one.  Its replicas do as
   it does.  -1: it is not as fresh as that: it is away, or frozen, or no
   master. */
int server_reset(struct server *);

/*
 * One command, by itself, and its reply in words (resp_reply_text); waits at
 * most 10 s.  "(silence)", "(closed)".
 */
const char *server_say(struct server *, char *out, size_t size,
    const char *const *words);

/*
 * How far it is in the stream of writes which a master sends its replicas, in
 * bytes: all that it has carried out, of a replica what it has got and carried
 * out.  `follows`: it is a replica that has its master's data, and hears it.
 * -1 and errno: it does not say.
 */
struct server_stream {
	bool master, follows;
	int64_t offset;
};
int server_stream(struct server *, struct server_stream *);
/* How many scripts it knows; -1 and errno: it does not say. */
int64_t server_scripts(struct server *);

void server_kill(struct server *);	/* SIGKILL; it is dead then, though
					   not reaped */
/*
 * The next life of one that was killed: with its data, without (empty), or with
 * what was put by (older; ENOENT: nothing was); its redis.conf is as it left
 * it.  It is not waited for.  -1 and errno.
 */
int server_again(struct loop *, struct server *, bool empty, bool older);
void server_freeze(struct server *);	/* SIGSTOP; it has stopped then */
void server_thaw(struct server *);
/* Its data is put by, for `older`.  -1: it is not. */
int server_save(struct server *);
/* Memory so full that a write is refused: maxmemory below what is used; or as
   before. */
void server_oom(struct server *, bool full);
/* SIGKILL; its files stay.  Zeroes, or one that was ended, do nothing. */
void server_end(struct server *);

/*
 * For the end of a run: each record of the prefix, an arbiter's or one that a
 * ledger's cache keeps (attempt 0); its state ("completed", "in progress",
 * "unknown", "issued", "tombstone"; one that is none of ours, "unreadable").
 * -1: they could not all be asked for.
 */
int server_records(struct server *, const char *prefix,
    void (*each)(void *arg, const char *store_key_hex, const char *state,
	unsigned attempt), void *arg);

#endif
