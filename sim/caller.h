/* SPDX-License-Identifier: ISC */
#ifndef CALLER_H
#define CALLER_H

#include "buf.h"
#include "loop.h"
#include "outcome.h"
#include "plan.h"

/*
 * One try of one request over a connection of its own: FastCGI (or HTTP/1.1
 * where lighttpd is in front) on a unix socket, asynchronous.  What came back
 * is taken apart here; the loads and their retries are load.h's.
 */
struct call {
	/* To be set; borrowed until it is done. */
	const char *socket;		/* "unix:PATH", "/PATH",
					   "127.0.0.1:PORT" */
	bool http;
	const char *method, *path;	/* path is SCRIPT_NAME and the file;
					   behind a '?' QUERY_STRING */
	const char *program;		/* SCRIPT_FILENAME */
	const char *key;		/* as it is sent, quoted or a token;
					   NULL: none */
	struct idem_bytes body;
	const struct plan_pair *headers;	/* "X-A" and its value */
	size_t headers_n;
	const char *const *params;	/* more "NAME=value" for the program
					   (FastCGI: parameters; HTTP: headers
					   by HTTP_ names); NULL last */
	int64_t timeout_ms;		/* 0: never */
	int64_t give_up_ms;		/* 0: never */
	size_t slow_bytes;		/* read so many each 10 ms; 0: all */
	int *kept;			/* FastCGI: a connection of the user's
					   that is used, -1: a new one, and that
					   is left there after a whole answer;
					   NULL: one of its own */
	void (*done)(struct call *);	/* once; it may be freed then */
	void *arg;

	/* To be read when it is done; of a cut answer what there is of it. */
	enum outcome_end end;
	const char *why;		/* NULL: whole; errno's name, "closed",
					   "timeout", "gave up", "too large",
					   "no head", "short", "long", "more
					   after it", "not FastCGI", "not
					   HTTP", "overloaded"; static */
	int status;			/* 0: no head */
	char mark[32];			/* Idempotency-Status */
	int64_t retry_after_s;		/* -1 */
	char digest[20];		/* history's d; "": none */
	bool length_met;
	bool again;			/* it went over a kept connection */
	char says_key[96], says_nonce[40], says_effect[40];	/* the lines
			of idemsim's program: X-Sim-Key, -Nonce, -Effect, or the
			same in its body */
	struct idem_buf out;		/* all that came: head and body (of
					   HTTP without its chunks); at most 64
					   MiB */

	struct call_private *in;	/* private */
};

/* done may be called before it returns, if it is refused at once. */
void call_start(struct loop *, struct call *);
/* The client goes away: closes (abort: FCGI_ABORT_REQUEST first); then done. */
void call_leave(struct call *, bool abort);
void call_free(struct call *);	/* its means; not the struct; no call of done */

#endif
