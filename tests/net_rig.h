/* SPDX-License-Identifier: ISC */
#ifndef TESTS_NET_RIG_H
#define TESTS_NET_RIG_H

#include "buf.h"
#include "loop.h"
#include "net.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Both ends of a net in the test's own loop: clients, and a server that says
 * what it heard.  Nothing here waits without a bound.
 *
 * The server answers each command with its first argument (or its name) as a
 * simple string, and writes down its words with a '|' behind.  Of its own:
 *	PUSH x	a push, and then the reply
 *	MUTE	no reply
 *	QUIT	closes without one
 *	BYES	ends its half after the reply
 */
#define NET_RIG_PEERS 16

struct net_rig;

struct net_rig_peer {
	struct watch watch;	/* first */
	struct net_rig *rig;
	bool server;		/* the server's end of a connection */
	int fd;			/* -1: none */
	struct idem_buf in;	/* came, not yet looked at */
	unsigned reads;		/* that gave bytes */
	bool closed, reset;	/* by the other end */
	bool raw;		/* of the server: no commands */
};

struct net_rig {
	struct loop *loop;
	char folder[64];
	char server[80], net[80];	/* paths */
	char url[90];			/* "unix:" and server */
	struct watch listener;
	bool raw;		/* the server's next connections */
	unsigned accepted;	/* by the server */
	struct net_rig_peer peers[NET_RIG_PEERS];
	struct idem_buf heard;	/* what the server wrote down */
	struct idem_buf told;	/* what the net's user was told */
	uint32_t numbers;
	unsigned struck;	/* frames, by rules */
	unsigned moved;		/* grows with anything that happens */
};

void net_rig_open(struct net_rig *);
void net_rig_close(struct net_rig *);
/* The net between them, and its user.  It is the caller's to close. */
struct net *net_rig_between(struct net_rig *);

/* A client of the net: at its path, or at 127.0.0.1:port where port is not 0.
   NULL: refused, and errno. */
struct net_rig_peer *net_rig_client(struct net_rig *, int port);
/* The server's end that came last; NULL: none. */
struct net_rig_peer *net_rig_last(struct net_rig *);
void net_rig_say(struct net_rig_peer *, const char *text);
void net_rig_say_bytes(struct net_rig_peer *, struct idem_bytes);
void net_rig_leave(struct net_rig_peer *);	/* close it */
void net_rig_half(struct net_rig_peer *);	/* it has nothing more to say */

/* Turn the loop until nothing moves any more but timers. */
void net_rig_rest(struct net_rig *);
/* Turn it for so long (delays are to be seen). */
void net_rig_wait(struct net_rig *, int64_t ms);
/* Until the peer has so many bytes, or its end has come; false: not within
   5 s. */
bool net_rig_await(struct net_rig_peer *, size_t len);
bool net_rig_await_end(struct net_rig_peer *);
/* Until the server has so many connections, gone ones too: the last of them. */
struct net_rig_peer *net_rig_await_server(struct net_rig *, unsigned n);

/* What came, as text, since the last time. */
const char *net_rig_heard(struct net_rig *);		/* by the server */
const char *net_rig_came(struct net_rig_peer *);	/* to a client */
/* Of the frames: "1>SET a|" a command, "1<SET a OK|" its reply; "!|" where it
   is lost. */
const char *net_rig_told(struct net_rig *);

#endif
