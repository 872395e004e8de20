/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_CLASS_H
#define IDEM_REDIS_CLASS_H

#include "buf.h"
#include "class.h"

/*
 * What a failure of Redis means (pure): whether the command was applied, and
 * what can be done about it.  A table with a row for each way.
 */
enum idem_redis_remedy {
	IDEM_REDIS_NO_REMEDY,
	IDEM_REDIS_SEND_TEXT,	/* NOSCRIPT */
	IDEM_REDIS_MOVE,	/* MOVED slot host:port */
	IDEM_REDIS_ASK,		/* ASK slot host:port */
	IDEM_REDIS_PAUSE,	/* TRYAGAIN, CLUSTERDOWN, LOADING, BUSY, ... */
	IDEM_REDIS_ANOTHER,	/* READONLY, MASTERDOWN: who is the master? */
	IDEM_REDIS_ANEW,	/* a new connection */
};

struct idem_redis_meaning {
	enum idem_class class;
	enum idem_redis_remedy remedy;
	bool drop;		/* the connection is of no more use */
	bool counts;		/* as a failure of the node: it is away */
	bool away;		/* to try again within the second is no use */
};

/* How a command came to no reply. */
enum idem_redis_broken {
	IDEM_REDIS_NOT_CONNECTED,	/* refused, no such socket, no name */
	IDEM_REDIS_CONNECT_SLOW,	/* not connected in time */
	IDEM_REDIS_UNSENT,	/* connected, but no byte of it has left us */
	IDEM_REDIS_SILENT,	/* sent, and no reply in time */
	IDEM_REDIS_CLOSED,	/* sent, then end of file */
	IDEM_REDIS_RESET,	/* sent, then a reset or another error */
	IDEM_REDIS_GARBAGE,	/* no RESP2, a reply nobody asked for, too
				   large */
	IDEM_REDIS_GARBAGE_FIRST,	/* the same, as the first of a
				   connection: no Redis there */
	IDEM_REDIS_WRONG_SHAPE,	/* a reply, but not of the command's kind */
	IDEM_REDIS_TLS_REFUSED	/* the certificate, or no TLS there */
};

struct idem_redis_meaning idem_redis_broken_means(enum idem_redis_broken);

/*
 * The text of an error reply, without "-".  Its first word decides; servers
 * before 7 hide it: "ERR Error running script ...: -WORD ...".
 */
struct idem_redis_meaning idem_redis_error_means(struct idem_bytes text);

/* "MOVED 3999 127.0.0.1:6381": false if it is none.  host borrows from the
   text, without brackets; empty means the host that said it. */
bool idem_redis_error_points(struct idem_bytes text, uint16_t *slot,
    struct idem_bytes *host, uint16_t *port);

#endif
