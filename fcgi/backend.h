/* SPDX-License-Identifier: ISC */
#ifndef BACKEND_H
#define BACKEND_H

#include "fcgi_rec.h"
#include "loop.h"

/*
 * FastCGI applications that we are the web server of: connections to them, and
 * one request on each.  It knows nothing of keys, but whether a request may be
 * sent twice.  Non-blocking, bounded, in the lobby's loop.
 */
struct backends;		/* of one lobby: all addresses, idle ones */
struct backend_call;

enum backend_how {
	BACKEND_ENDED,		/* END_REQUEST, REQUEST_COMPLETE */
	BACKEND_NOT_STARTED,	/* no byte of BEGIN has left us, or it said
				   OVERLOADED, CANT_MPX_CONN or UNKNOWN_ROLE
				   before any byte of STDOUT */
	BACKEND_CUT,		/* over a limit, or stopped by us */
	BACKEND_DIED		/* closed, or broke the protocol, before END */
};

struct backend_end {
	enum backend_how how;
	uint32_t app_status;	/* ENDED */
	bool busy;		/* NOT_STARTED: may be tried later (all
				   addresses full or silent, overloaded, or we
				   lack means); else: nobody is there */
	const char *why;	/* but ENDED: for the log; valid in the call */
};

struct backend_user {
	/*
	 * The first byte is about to leave us, perhaps before backend_start
	 * returns.  False: it must not, and the call is over, not started.
	 * NULL: nobody minds.
	 */
	bool (*begin)(void *arg);
	/* In both the call may be paused or stopped. */
	void (*out)(void *arg, struct idem_bytes);	/* STDOUT */
	void (*err)(void *arg, struct idem_bytes);	/* STDERR */
	/* The last; the call is gone after it. */
	void (*over)(void *arg, const struct backend_end *);
};

struct backend_request {
	char *const *addresses;	/* NULL last; tried in turn, each call from the
				   next one on, until one connects; one that
				   failed lately comes last; borrowed for
				   backend_start only */
	struct idem_bytes params;	/* a PARAMS stream, copied */
	int body;		/* a file, from 0 on; ours from now on; -1 */
	uint64_t body_len;
	bool fresh;		/* a connection of its own: keyed, or a method
				   that must not be sent twice */
	uint32_t connections_max;	/* with this first address, at once,
				   kept ones included; 0: no limit */
	uint32_t kept_max;	/* idle ones kept after it; each holds a process
				   of most applications, so all workers'
				   connections_max are not to be more than it
				   has */
	/*
	 * 0: none.  connect_ms: over all addresses; after it no BEGIN is sent
	 * on a new connection.  first_ms: so long nothing moved in either
	 * direction, before the first byte of STDOUT; time in which we pause
	 * is not counted.  limit_ms: from start to end.
	 */
	uint32_t connect_ms, first_ms, limit_ms;
};

/*
 * NULL if it is an address, else what is wrong with it: "unix:PATH" (absolute)
 * or "tcp:HOST:PORT".  HOST is numeric (IPv6 in brackets) or "localhost", which
 * is 127.0.0.1, then ::1: a loop cannot wait for a resolver.
 */
const char *backend_address_wrong(const char *address);

/* The user is borrowed.  NULL without memory. */
struct backends *backends_new(struct loop *, const struct backend_user *);
void backends_free(struct backends *);	/* all calls must be over */

/*
 * Nothing is told before this returns, and `over` comes always, once.  NULL:
 * no memory, descriptor or room, and nothing was sent; body is closed.
 */
struct backend_call *backend_start(struct backends *,
    const struct backend_request *, void *arg);
/*
 * Stop reading its output for a while: the peer is slow.  Up to 64 KiB that
 * were read already are told still.
 */
void backend_pause(struct backend_call *, bool);
/* Close it at once; `over` is not told. */
void backend_stop(struct backend_call *);

#endif
