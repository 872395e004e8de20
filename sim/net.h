/* SPDX-License-Identifier: ISC */
#ifndef NET_H
#define NET_H

#include "loop.h"
#include "resp.h"

#include <limits.h>
#include <stdint.h>

/*
 * What lies between one instance and one store: a listener of its own, there
 * before the instance, in front of the server's socket.  It knows commands from
 * replies, pairs them, and may do to the n-th that fits what a network, or the
 * server, might do.  A replica's link to its master is one too (bytes that are
 * no RESP commands, such as a snapshot, pass as they are: `raw`).
 *
 * It never waits: what cannot be passed on yet lies in memory (64 MiB each
 * way of a connection, then the sender is not read from).  A value that is
 * longer passes as it is, and so does all that follows it there.
 */
struct net;

enum net_way { NET_REQUESTS, NET_REPLIES, NET_WAYS };

struct net_frame {	/* as its user is told of it */
	enum net_way way;
	uint32_t message;	/* the same for a command and its reply; from 1,
				   over all links of one `numbers`; 0: a reply
				   to nothing (a push, or after SUBSCRIBE) */
	const struct resp_command *command;	/* of the reply: of its command
						   (name, script, op, key:
						   valid); NULL: message 0 */
	struct idem_bytes bytes;	/* as it came */
	unsigned connection;	/* which, from 1 */
	bool lost;		/* as things stand it will not arrive: its way
				   is lost (oneway), or something before it was
				   dropped.  No rule counts it then */
};

enum net_do {
	NET_PASS,
	NET_DROP,		/* it never arrives; the connection stays.  The
				   reply's place stays empty, so that later
				   ones do not take it (as when a packet is
				   lost: no reply after it arrives either, until
				   the connection is given up).  Requests after
				   a dropped one do arrive */
	NET_HOLD,		/* it and all after it, on its connection this
				   way, until net_release */
	NET_DELAY,		/* it, ms later, and all after it not before */
	NET_ERROR,		/* of a request: it is not passed on; its reply
				   is "-", the word and " by the simulator".  Of
				   a reply: that takes its place */
	NET_RESET,		/* RST after `bytes` of it (a unix socket has
				   none: both ends are closed) */
	NET_SLICE,		/* in pieces of `bytes`, each a write of its
				   own; only what is longer fits */
	NET_DOS
};

/*
 * What is to be done to frames: a rule holds until it is used up.  Each rule
 * counts all frames that fit it, also those that another one strikes; of those
 * that could strike a frame the first does, and the others wait for the next.
 * A push is passed on; nobody counts it.
 */
struct net_rule {
	enum net_do act;
	enum net_way way;
	const char *op, *cmd;	/* only of these; NULL: any */
	unsigned nth;		/* the first of those that fit it strikes, from
				   1 */
	unsigned times;		/* so many from it; 0: for ever */
	int64_t ms;		/* delay */
	size_t bytes;
	const char *word;	/* error */
	void *user;		/* told with `struck` */
};

struct net_user {
	/* Before anything is done with it.  May add rules, which then count
	   for this frame too.  NULL: nobody cares. */
	void (*frame)(void *arg, struct net *, const struct net_frame *);
	/* A rule has struck a frame. */
	void (*struck)(void *arg, struct net *, const struct net_rule *,
	    const struct net_frame *);
	void *arg;
};

/*
 * Listen at the unix socket `path` (loopback TCP at some free port: path NULL,
 * see net_port), and connect each connection to `server` ("unix:PATH" or
 * "127.0.0.1:PORT") when it comes; if that cannot be, it is reset.  NULL and
 * errno; EINVAL: no such server.  numbers is borrowed, user is copied (NULL:
 * nobody).  All of the below may be called from a user's functions, net_close
 * too.
 */
struct net *net_open(struct loop *, const char *path, const char *server,
    bool raw, uint32_t *numbers, const struct net_user *);
int net_port(const struct net *);	/* 0: at a path */
/* 0; errno: we had no means for a connection, and take no more of them. */
int net_error(const struct net *);
void net_close(struct net *);		/* connections too; NULL: nothing */

/* Borrowed texts must outlive the rule.  Rules are tried in their order. */
void net_rule_add(struct net *, const struct net_rule *);
void net_rules_clear(struct net *);
void net_rules_end(struct net *, enum net_do);	/* those of that kind */

/* Whole ways, until net_heal: what comes is read and lost (oneway); or not
   read at all (stop: as a full pipe).  From a user's `frame` oneway is for that
   frame too, stop for those after it. */
void net_oneway(struct net *, enum net_way lost);
void net_stop(struct net *, enum net_way);
void net_go_on(struct net *, enum net_way);	/* after net_stop */
void net_slow(struct net *, int64_t ms);	/* all that passes, each way;
						   0: not any more */

/*
 * What a master sends a replica is, once that has its copy, a stream of
 * commands.  From now on those of the one connection that there is are told
 * apart (of a raw net, at a moment when all that was sent has arrived), and the
 * last writes of it may stay here.  A transaction is one write; PING, SELECT,
 * REPLCONF and PUBLISH are none.  It ends with the connection, or where
 * something in it is no command, or is lost.
 */
struct net_counts {	/* since net_stream_read */
	uint64_t came, passed;	/* bytes; the rest lies here */
	unsigned writes;	/* that came */
	unsigned held;		/* of them: lie here */
};
#define NET_STREAM_ALL UINT_MAX
void net_stream_read(struct net *);
/* So many writes stay, with what comes between and after them; NET_STREAM_ALL:
   nothing passes any more.  What is too many passes now, the oldest first. */
void net_stream_keep(struct net *, unsigned writes);
/* False: it is not read (any more). */
bool net_stream_counts(const struct net *, struct net_counts *);
/* Of the n-th write that lies here (0: the oldest) the key; good until the next
   turn of the loop.  Len 0: there is none. */
struct idem_bytes net_stream_key(const struct net *, unsigned write);

/* New connections are refused (ECONNREFUSED, as when a server has died), those
   that are there are reset; or let in again. */
void net_refuse(struct net *, bool refuse);
void net_reset(struct net *);			/* all that are there */
/* What lies there passes now, in its order; later frames do not wait: rules of
   NET_HOLD that have struck end. */
void net_release(struct net *);
/* Everything of the above ends: no rule, nothing held, lost or slow.  What was
   lost is lost: connections on which something was are reset. */
void net_heal(struct net *);
/* Its server is elsewhere now: connections that are there are reset.  What is
   no address of a server is none: connections to it are reset at once. */
void net_aim(struct net *, const char *server);
size_t net_connections(const struct net *);
/* Bytes that have come that way and cannot go on; and those of it that were
   lost, since the net was opened. */
size_t net_waiting(const struct net *, enum net_way);
uint64_t net_lost(const struct net *, enum net_way);
/* Commands that went to the server and are not answered yet, or whose replies
   are still to be passed on (held ones are not: nobody knows when). */
bool net_awaits(const struct net *);

#endif
