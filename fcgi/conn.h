/* SPDX-License-Identifier: ISC */
#ifndef CONN_H
#define CONN_H

#include "blob.h"
#include "fcgi_rec.h"
#include "loop.h"
#include "params.h"

/*
 * One connection of a web server's: reads requests, writes answers, knows
 * nothing of keys.  Non-blocking, bounded, and never in the way of others: a
 * silent or slow peer costs a descriptor and these bytes.
 *
 * What the user (the lobby) is told, in this order for each request:
 *
 *	begun  body*  whole  ...  closed		or closed at any time
 *	refused  ...  closed				instead
 *
 * After whole the user answers: write*, then end (or cut).  A request may be
 * answered before whole, also in begun: what is left of its body is read and
 * thrown away, so that a front sees our answer, and then the connection is
 * closed, or goes on with the next request if the front keeps it.
 *
 * All is told from within loop_turn, never from a call below; in each of them
 * everything below but conns_free may be called, for any connection.  Nothing
 * is told after end or cut, and the conn is not to be touched after them.
 */
struct conn;

enum conn_refused {
	CONN_TOO_LARGE,		/* closed after the answer, whatever the front
				   wished */
	CONN_UNREADABLE		/* a NUL, an empty name, '=' in a name */
};

struct conn_user {
	/*
	 * PARAMS are whole; *params is the user's now.  `user` of the conn may
	 * be set here (conn_set_user) and is handed to the other calls.
	 */
	void (*begun)(struct conn *, void *arg, struct idem_params *);
	void (*body)(struct conn *, void *user, struct idem_bytes);
	void (*whole)(struct conn *, void *user);
	/*
	 * PARAMS are over the limit, or hold what no program could be told:
	 * write and end a 431 or a 400.
	 */
	void (*refused)(struct conn *, void *arg, enum conn_refused);
	/*
	 * The peer has gone, sent ABORT_REQUEST, broke the protocol or let a
	 * deadline pass in the middle of this request.  The conn is not to be
	 * touched any more; it sees to END_REQUEST (5.4) by itself.
	 */
	void (*closed)(struct conn *, void *user);
	/* What was queued has been written down to CONN_LOW. */
	void (*drained)(struct conn *, void *user);
};

/*
 * drained is told once conn_queued() has been over this and no longer is: who
 * sees more than this after a write may stop feeding until then.
 */
#define CONN_LOW 65536u

struct conn_limits {
	size_t params_max;	/* default 256 KiB; over it 431 */
	uint32_t header_ms;	/* first byte to PARAMS whole: 30 s */
	uint32_t body_ms;	/* without a byte of the body: 60 s */
	uint32_t idle_ms;	/* kept and silent: 0, no limit */
	uint32_t write_ms;	/* without a byte taken by the peer: 60 s */
	uint32_t linger_ms;	/* silence after an early answer: 5 s */
	size_t reading_max;	/* bytes of unfinished PARAMS over all
				   connections: 64 MiB; over it close */
};

extern const struct conn_limits conn_limits_default;

/* What all connections of a lobby share.  One per lobby; zeroes and the first
   six members are a fresh one. */
struct conns {
	struct loop *loop;
	struct conn_limits limits;
	const struct conn_user *user;
	void *arg;
	void (*log)(void *arg, const char *what);	/* broken peers */
	bool closing;		/* graceful stop: no further request on any */

	size_t reading;		/* bytes of unfinished PARAMS now */
	size_t count;		/* connections open */
	struct conn *first;	/* of all, linked */

	struct timer turn;	/* private: due when those below have work */
	struct conn *due_first, *due_last;
	uint8_t *room;		/* what is read at the moment; then of a file */
};

/*
 * Take over an accepted socket (non-blocking, close-on-exec; for TCP_NODELAY
 * set it on the listening one).  It is read at the end of this turn, since
 * most fronts have written by then.  -1: no memory, and it is closed.
 */
int conn_open(struct conns *, int fd);
void conn_set_user(struct conn *, void *user);

/*
 * Queue bytes of STDOUT; they are written at the turn's end or with conn_end,
 * large ones at once, and then as the peer takes them, in order.  A failure
 * closes the connection; closed is told in the loop.
 */
void conn_write(struct conn *, struct idem_bytes);		/* a copy */
/* len bytes of it from `from` on; held until written. */
void conn_write_blob(struct conn *, struct idem_blob *, size_t from,
    size_t len);
/* len bytes of a file from 0 on, read as the peer takes them; fd is ours now.
   A file that turns out shorter cuts the answer. */
void conn_write_file(struct conn *, int fd, uint64_t len);
void conn_write_err(struct conn *, struct idem_bytes);		/* STDERR */
uint64_t conn_queued(const struct conn *);	/* bytes not yet written */

/* STDOUT's end and END_REQUEST, then close or the next request (3.5). */
void conn_end(struct conn *, uint32_t app_status);
/* The answer cannot be finished: close without END_REQUEST. */
void conn_cut(struct conn *);

/* The body is not wanted any more: read it, but tell only its end. */
void conn_discard_body(struct conn *);
/*
 * In or after begun: take the body for whole although its end has not been
 * sent; whole is not told.  What may still come of it is passed over.
 */
void conn_body_whole(struct conn *);

/* Give back what can be while the request waits: at most 200 bytes stay. */
void conn_park(struct conn *);
size_t conn_size(void);		/* those bytes, for the tests */

/* No further request: close those between requests at once, the others after
   their answer.  Sets closing. */
void conns_close_idle(struct conns *);
void conns_free(struct conns *);	/* closes all, tells nobody */

#endif
