/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CONN_RIG_H
#define TESTS_CONN_RIG_H

#include "conn.h"

#include <stdbool.h>

#define LENGTH(a) (sizeof (a) / sizeof *(a))

/*
 * Connections under test and the web servers at their other ends, in one
 * thread: real sockets, a clock of our own, no waiting but for the sockets.
 */
struct conn_rig;

/* A request as the user knows it. */
struct call {
	struct conn_rig *rig;
	struct conn *conn;
	struct idem_params params;
	struct idem_buf body;
	struct call *next;
};

struct conn_rig {
	struct idem_clock clock;
	int64_t now_ms;
	struct loop *loop;
	struct conns all;
	struct call *calls;	/* not yet ended or closed */

	/* What the user does; each may be NULL.  echo() is one for whole. */
	void (*on_begun)(struct call *);
	void (*on_whole)(struct call *);
	void (*on_drained)(struct call *);

	/* What the user was told. */
	int begun, whole, closed, drained, too_large, unreadable;
	int logged;
	size_t body_len;
	char params_text[64];	/* the last request's first parameter */
	char log_text[64];	/* the last complaint */

	int *tcp;		/* private: both ends of TCP connections */
	size_t tcp_len, tcp_room;
};

void conn_rig_open(struct conn_rig *);
void conn_rig_close(struct conn_rig *);

void echo(struct call *);		/* 200 and the body, ended */
void refuse(struct call *);		/* a short 422, ended */
void call_end(struct call *);		/* conn_end, and the call is freed */
void call_cut(struct call *);		/* conn_cut, likewise */

enum socket_kind { OVER_UNIX, OVER_TCP };

extern const char *const kind_text[];	/* "unix", "TCP" */

/* One web server's end. */
struct peer {
	int fd;			/* -1: closed */
	struct idem_buf to_send;
	size_t sent;
	size_t piece;		/* bytes a step; 0: all that fits */
	bool unread;		/* does not read for now */
	struct idem_fcgi_client_reader reader;
	struct idem_buf out, err;	/* of all answers; to be cleared */
	int ends;		/* END_REQUEST that have come */
	bool eof, reset;
	struct idem_buf raw;	/* all bytes, when wanted */
	bool keep_raw;
};

/* Connect and hand the other end to the conns. */
void peer_open(struct conn_rig *, struct peer *, enum socket_kind);
void peer_close(struct peer *);		/* also frees */

struct request {
	uint16_t id;		/* 0: 1 */
	bool keep;
	const char *name, *value;	/* one parameter; NULL: KEY=value */
	struct idem_bytes body;
	size_t value_len;	/* with it the value is that many 'x' */
	bool cut_body;		/* no end of STDIN */
};

struct idem_bytes hello(void);	/* a body: "hello" */
extern const char answer_hello[];	/* what echo() makes of it */

/* An unpadded record of any type. */
void record_write(struct idem_buf *, enum idem_fcgi_type, uint16_t id,
    const char *content);
/* Where each record of a stream ends; how many, at most max. */
size_t record_ends(const struct idem_buf *, size_t *ends, size_t max);

void request_write(struct idem_buf *, const struct request *);
void peer_request(struct peer *, const struct request *);

/* Turns and the peers' steps until *what is at least want; false after long. */
bool until(struct conn_rig *, struct peer *, size_t peers, const int *what,
    int want);
/* The same for a bool. */
bool until_true(struct conn_rig *, struct peer *, size_t peers,
    const bool *what);
/* Until so many connections are open; how many are. */
size_t until_open(struct conn_rig *, struct peer *, size_t peers, size_t want);
/* As many turns as anything could take that is not to be seen. */
void settle(struct conn_rig *, struct peer *, size_t peers);
/* And, where there is TCP, until the kernel has carried what it can: a busy
   machine does that later. */
void settle_carried(struct conn_rig *, struct peer *, size_t peers);
/* Time goes by, and its timers are run. */
void pass(struct conn_rig *, int64_t ms);

bool out_is(const struct peer *, const char *text);
size_t open_files(void);		/* of this process */

#endif
