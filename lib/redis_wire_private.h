/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REDIS_WIRE_PRIVATE_H
#define IDEM_REDIS_WIRE_PRIVATE_H

#include "redis_wire.h"

#include <sys/types.h>

/*
 *	redis_wire.c		the calls of its owner, and deadlines
 *	redis_wire_item.c	commands: queued, awaited, answered
 *	redis_wire_connect.c	names, sockets, TLS
 *	redis_wire_greet.c	what is said first
 *	redis_wire_end.c	a connection's end
 *	redis_wire_io.c		bytes out and in
 *	redis_wire_reply.c	hiredis: bytes to values
 *	redis_wire_bound.c	how large a reply is, before hiredis sees it
 */

/* --- redis_wire_bound.c --------------------------------------------------- */

#define IDEM_REDIS_DEPTH 7u	/* of arrays in arrays; hiredis has no more */

/* Zeroes and max: before a reply. */
struct idem_redis_bound {
	uint64_t max;		/* bytes, and IDEM_REDIS_ELEMENT a member */
	uint64_t charged;
	uint64_t bulk;		/* bytes of the string that are to come */
	uint64_t number;
	uint32_t left[IDEM_REDIS_DEPTH];	/* members to come */
	unsigned depth;
	unsigned digits;
	char type;		/* 0: to come */
	bool minus, cr;
	enum { IDEM_REDIS_AT_LINE, IDEM_REDIS_AT_BULK } at;
};
#define IDEM_REDIS_ELEMENT 64u	/* what a member of an array costs at least */

enum idem_redis_bound_told {
	IDEM_REDIS_BOUND_MORE,	/* all were taken, and more are to come */
	IDEM_REDIS_BOUND_WHOLE,	/* *taken end a reply; the next one begins */
	IDEM_REDIS_BOUND_LARGE,	/* it says that it is larger than max */
	IDEM_REDIS_BOUND_NONE	/* no RESP2 */
};
enum idem_redis_bound_told idem_redis_bound_take(struct idem_redis_bound *,
    struct idem_bytes, size_t *taken);

/* --- redis_wire_reply.c --------------------------------------------------- */

/* A reader of replies, and the memory of the present one. */
struct idem_redis_reply;

struct idem_redis_reply *idem_redis_reply_new(void);	/* NULL: no memory */
void idem_redis_reply_free(struct idem_redis_reply *);
/* At most to the end of one reply; false: no memory. */
bool idem_redis_reply_feed(struct idem_redis_reply *, struct idem_bytes);
/* The one that is whole, until the next; its texts are ended by a NUL.  NULL
   and *why: not RESP2, or no memory. */
const struct idem_redis_value *idem_redis_reply_get(struct idem_redis_reply *,
    const char **why);

/* --- redis_wire_item.c ---------------------------------------------------- */

/* A command, or all that is said first on a connection. */
struct idem_redis_item {
	struct idem_redis_item *next;
	idem_redis_wire_done *done;	/* NULL: answered, or the greeting */
	void *arg;
	int64_t deadline_ms, queued_ms;
	int64_t sent_ms;	/* its first byte */
	size_t replies;		/* that are to come */
	bool before;		/* the first of them is of what went before */
	bool moved;		/* outlived a connection, unsent */
	size_t len, sent;
	uint8_t at[];
};

struct idem_redis_items {
	struct idem_redis_item *first, *last;
};

/* NULL: no memory. */
struct idem_redis_item *idem_redis_item_new(const struct idem_bytes *args,
    size_t args_len, const char *before);
struct idem_redis_item *idem_redis_item_greeting(
    const struct idem_redis_wire *);
void idem_redis_items_push(struct idem_redis_items *,
    struct idem_redis_item *);
struct idem_redis_item *idem_redis_items_pop(struct idem_redis_items *);
/* If it is to be answered still. */
void idem_redis_item_answer(struct idem_redis_wire *, struct idem_redis_item *,
    struct idem_redis_meaning, const struct idem_redis_value *,
    const char *error);
/* Of all, and free them. */
void idem_redis_items_answer(struct idem_redis_wire *,
    struct idem_redis_items *, struct idem_redis_meaning, const char *error);

/* --- the wire ------------------------------------------------------------- */

/*
 *	CLOSED -> NAMING -> CONNECTING -> SHAKING -> GREETING -> READY
 */
enum idem_redis_wire_state {
	IDEM_REDIS_WIRE_CLOSED, IDEM_REDIS_WIRE_NAMING,
	IDEM_REDIS_WIRE_CONNECTING, IDEM_REDIS_WIRE_SHAKING,
	IDEM_REDIS_WIRE_GREETING, IDEM_REDIS_WIRE_READY
};

struct idem_redis_wire {
	struct idem_redis_wire_options o;
	const char *user, *password;	/* "": none */
	int64_t timeout_ms;
	enum idem_redis_wire_state state;
	bool freeing;

	int fd;			/* -1: none */
	pid_t pid;		/* whose it is */
	int watched;		/* as watch was told; -1 */
	bool watched_write;
	struct idem_redis_tls_talk *talk;
	bool full;		/* until it is writable */
	bool more;		/* left to read, in us */
	bool drained;		/* in this call: nothing is left to read */
	bool ending;		/* of no more use: nothing is sent any more */

	struct idem_redis_addresses addresses;
	size_t address;		/* the present one */
	unsigned turn;		/* of the names, when asked */
	int64_t begun_ms, connect_until_ms, try_until_ms;
	int64_t barred_until_ms;	/* it would turn us away again */
	struct idem_redis_meaning barred;	/* so, as why says */
	struct idem_redis_item *greeting;	/* unsent */
	struct idem_redis_value *met;		/* hello_len: what was said */
	struct idem_redis_value **copies;	/* what they borrow from */

	struct idem_redis_items queue;		/* no byte has left */
	struct idem_redis_items awaited;	/* a byte has */
	struct idem_redis_item *writing;	/* awaited's last, if not all
						   of it has left */
	struct idem_buf chunk;	/* TLS: to be written again as it is */
	size_t unanswered;	/* of both */
	int64_t soonest_ms;	/* no deadline of theirs is earlier */

	struct idem_redis_bound bound;
	struct idem_redis_reply *reply;
	uint64_t replies;	/* of this connection */
	int64_t heard_ms;	/* the last byte */
	char why[400];
};

int64_t idem_redis_wire_now(const struct idem_redis_wire *);

/* A reply to a command; meaning is OK unless it is an error.  False if the
   connection has ended by it. */
bool idem_redis_wire_replied(struct idem_redis_wire *,
    const struct idem_redis_value *, struct idem_redis_meaning);

/* redis_wire_connect.c */
void idem_redis_wire_connect(struct idem_redis_wire *);
void idem_redis_wire_connect_ready(struct idem_redis_wire *);
void idem_redis_wire_connect_due(struct idem_redis_wire *, int64_t now_ms);
int64_t idem_redis_wire_connect_due_ms(const struct idem_redis_wire *);

/* redis_wire_greet.c */
void idem_redis_wire_greet(struct idem_redis_wire *);	/* connected */
/* One of the greeting's replies. */
void idem_redis_wire_greeted(struct idem_redis_wire *,
    const struct idem_redis_value *);
void idem_redis_wire_drop_met(struct idem_redis_wire *);

/* redis_wire_end.c */
/*
 * The connection's end: fd is -1 afterwards.  What was sent is answered as
 * broken; what was not goes to the next one, once.  While connecting another
 * address is tried, and with the last one everything is answered: as
 * not connected, too slow, or no Redis.
 */
void idem_redis_wire_break(struct idem_redis_wire *, enum idem_redis_broken,
    const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The same, and everything is answered so. */
void idem_redis_wire_refuse(struct idem_redis_wire *,
    struct idem_redis_meaning, const char *error);
/* No failure; nothing is awaited. */
void idem_redis_wire_part(struct idem_redis_wire *);
/* We are a child of whose it is. */
void idem_redis_wire_forked(struct idem_redis_wire *);
/* The socket alone; tell: its watcher and its peer. */
void idem_redis_wire_close(struct idem_redis_wire *, bool tell);

/* redis_wire_io.c: both may end the connection. */
void idem_redis_wire_flush(struct idem_redis_wire *);
void idem_redis_wire_read(struct idem_redis_wire *);
/* Before it is used again: is nothing there to be read? */
bool idem_redis_wire_quiet(struct idem_redis_wire *);

#endif
