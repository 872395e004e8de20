/* SPDX-License-Identifier: ISC */
#ifndef BACKEND_PRIVATE_H
#define BACKEND_PRIVATE_H

#include "backend.h"

#include <sys/socket.h>

/*
 * What the backend files know of a call and nobody else: backend.c starts and
 * settles calls and keeps their time, backend_address.c reads addresses,
 * backend_pool.c has them and the connections, backend_connect.c finds one for
 * a call, backend_io.c sends and reads.
 *
 *	               all refused, or too late
 *	 CONNECTING ------------------------------> SETTLED --> told, freed
 *	   |     ^                                     ^
 *	   |     | a kept one was dead already         |
 *	   v     |                                     |
 *	   TALKING ------------------------------------+
 *	               END, closed, broken, too late
 */
#define BACKEND_ID 1u		/* one request a connection: any id will do */
#define BACKEND_TARGETS 2u	/* of one address: localhost has two */
#define BACKEND_READ_SIZE (64u * 1024u)

/* Where a connection can go to. */
struct backend_target {
	struct sockaddr_storage at;
	socklen_t len;
	int64_t failed_ms;	/* when it last did; 0: it works */
};

/* An address as it is written; and, as the first of a request's, a pool. */
struct backend_place {
	struct backend_place *next;
	char *text;
	struct backend_target target[BACKEND_TARGETS];
	size_t targets;		/* 0: it is no address */
	struct backend_link *newest, *oldest;	/* idle ones */
	uint32_t idle;
	uint32_t calls;		/* that have not settled */
	uint32_t turn;		/* which address the next call begins with */
};

/* A connection: of a call, or idle. */
struct backend_link {
	struct backends *all;
	struct backend_place *place;
	struct backend_target *target;
	struct backend_call *call;	/* NULL: idle */
	struct backend_link *newer, *older;
	struct watch watch;	/* not set while nothing is wanted */
	struct timer age;
	int fd;
};

enum backend_state {
	BACKEND_CONNECTING,
	BACKEND_TALKING,
	BACKEND_SETTLED,	/* to be told when this turn is over */
	BACKEND_STOPPED		/* by the user, while it was being told */
};

struct backend_call {
	struct backends *all;
	struct backend_place *place;
	struct backend_link *link;	/* NULL: none at the moment */
	void *arg;
	struct timer timer;	/* lazy: for no later than what is due next */
	enum backend_state state;
	struct backend_end end;	/* SETTLED */
	int error;		/* why, if end.why is NULL */
	struct idem_fcgi_client_reader reader;
	struct idem_buf head;	/* BEGIN to the end of PARAMS */
	int body;		/* -1: none, or no longer needed */
	uint64_t body_len;
	uint64_t sent;		/* of all that is to be sent (backend_io.c) */
	int64_t moved_ms;
	int64_t connect_until_ms, limit_until_ms;
	int64_t try_until_ms;	/* this target; or, without a link, the pause */
	uint32_t connect_ms, first_ms, kept_max, connections_max;
	bool keep;		/* has FCGI_KEEP_CONN */
	bool reused;		/* its link was idle before */
	bool begun;		/* the user knows that one will leave us, and */
	bool touched;		/* one has, on whatever link */
	bool heard;		/* a byte has come, on this one */
	bool answered;		/* one of STDOUT has */
	bool sent_all;
	bool full;		/* the socket takes no more for now */
	bool deaf;		/* and never will */
	bool busy;		/* a target was full or silent */
	bool starved;		/* we had no descriptor or memory for one */
	bool paused, telling;
	size_t target, targets_len;	/* the one that is tried */
	struct backend_target *targets[];
};

struct backends {
	struct loop *loop;
	const struct backend_user *user;
	struct backend_place *places;
	uint8_t in[BACKEND_READ_SIZE];	/* being told */
	uint8_t out[BACKEND_READ_SIZE];	/* a piece of body: a call may be
					   started while another is told */
};

/* backend.c */
/* Its end; told when this turn is over. */
void backend_settle(struct backend_call *, const struct backend_end *);
/* An end that is not the application's word: was anything sent? */
void backend_give_up(struct backend_call *, enum backend_how, const char *why);
/* Let the link go, to the idle ones if it is kept. */
void backend_part(struct backend_call *, bool kept);
void backend_set_timer(struct backend_call *);
/* What was to be sent will not be sent again. */
void backend_drop_input(struct backend_call *);
void backend_call_free(struct backend_call *);

/* backend_address.c: how many; 0: *wrong says why. */
size_t backend_address_read(const char *text,
    struct backend_target targets[BACKEND_TARGETS], const char **wrong);

/* backend_pool.c */
struct backend_place *backend_place(struct backends *, const char *text);
/* A socket to the target, not connected.  NULL and errno. */
struct backend_link *backend_link_new(struct backend_call *,
    struct backend_target *);
void backend_link_close(struct backend_link *);
void backend_link_keep(struct backend_link *);
/* An idle one that is quiet still and goes where the call may go; or NULL. */
struct backend_link *backend_link_reuse(struct backend_call *);

/* backend_connect.c */
/* A link, kept or new; settles the call if there is none for it. */
void backend_connect(struct backend_call *);
void backend_connect_ready(struct backend_call *);
void backend_connect_due(struct backend_call *, int64_t now_ms);
/* The connection is gone before END. */
void backend_lost(struct backend_call *, const char *why, int error);

/* backend_io.c */
void backend_send(struct backend_call *);
/* Read and send; the call may be gone after it. */
void backend_ready(struct backend_call *, uint32_t events);
/* Watch for what is wanted now. */
void backend_attend(struct backend_call *);

#endif
