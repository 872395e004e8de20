/* SPDX-License-Identifier: ISC */
#ifndef CALLER_PRIVATE_H
#define CALLER_PRIVATE_H

#include "address.h"
#include "caller.h"
#include "fcgi_rec.h"

/*
 * The inside of a call, for its own files:
 *
 *	caller.c	its life: connect, write, read, give up, done
 *	caller_fcgi.c	a request as FastCGI records, and its answer
 *	caller_http.c	the same in HTTP/1.1
 *	caller_answer.c	what an answer says
 *
 * The two protocols take what came, append head and body to call->out, and say:
 */
enum caller_told {
	CALLER_MORE,
	CALLER_WHOLE,
	CALLER_BROKEN		/* call->why is set */
};

struct call_timer {
	struct timer timer;	/* first */
	struct call_private *of;
};

struct caller_http {
	enum {
		CALLER_HEAD, CALLER_LENGTH, CALLER_SIZE, CALLER_CHUNK,
		CALLER_CHUNK_END, CALLER_TRAILER, CALLER_TO_CLOSE
	} state;
	uint64_t left;		/* LENGTH, CHUNK */
	struct idem_buf line;	/* HEAD: all of it; SIZE, TRAILER: a line */
};

struct call_private {
	struct watch watch;	/* first */
	struct call *call;
	struct loop *loop;
	struct address address;
	int fd;			/* -1: none */
	bool connected;
	bool mute;		/* the server takes no more of the request */
	bool resting;		/* a slow reader, until its tick */
	bool partial;		/* not all of the last record is read */
	struct call_timer timeout, give_up;
	struct call_timer tick;	/* to read on, or to connect again */
	struct idem_buf request;
	size_t sent;
	struct idem_fcgi_client_reader fcgi;
	struct caller_http http;
};

/* --- caller_fcgi.c -------------------------------------------------------- */

void caller_fcgi_request(const struct call *, struct idem_buf *);
void caller_fcgi_abort(struct idem_buf *);
enum caller_told caller_fcgi_take(struct call_private *, struct idem_bytes);

/* --- caller_http.c -------------------------------------------------------- */

void caller_http_request(const struct call *, struct idem_buf *);
enum caller_told caller_http_take(struct call_private *, struct idem_bytes);
/* The server has closed: WHOLE where that ends an answer, else MORE. */
enum caller_told caller_http_closed(const struct call_private *);
void caller_http_free(struct caller_http *);

/* --- caller_answer.c ------------------------------------------------------ */

/* One line of a head, in parts; the value without blanks around it. */
struct caller_line {
	struct idem_bytes name, value;
};

/*
 * The first line of *left, which is what follows in a head; false: there is
 * none.  A line without a colon has no name.
 */
bool caller_line_next(struct idem_bytes *left, struct caller_line *);
/* The head's length without its blank line, and with it; false: there is none
   yet. */
bool caller_head_end(struct idem_bytes, size_t *head, size_t *with_blank);
/* Digits only; false: too many, or none. */
bool caller_number(struct idem_bytes, uint64_t *);
/* No body follows, whatever the head promises (RFC 9110, 6.4.1). */
bool caller_is_bodyless(const struct call *, int status);

/* Fill in what call->out says.  whole: it ended as it should; then a promised
   length that is not met makes it cut. */
void caller_answer_read(struct call *, bool whole);

#endif
