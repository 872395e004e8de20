/* SPDX-License-Identifier: ISC */
#ifndef CONN_PRIVATE_H
#define CONN_PRIVATE_H

#include "conn.h"

/*
 * What the conn files know of a connection and nobody else: conn.c opens and
 * closes, conn_attend.c is what the loop calls, conn_read.c takes input apart,
 * conn_item.c acts on what it says, conn_write.c queues, conn_send.c sends.
 *
 *	       first byte      PARAMS whole      STDIN's end
 *	  IDLE ----------> HEADER ---------> BODY ---------> WAITING
 *	   ^                                  |                 |
 *	   |      written, input read         +---- conn_end ---+
 *	   +-------------------------- ENDED <+
 *	                                 |   not kept, input unread
 *	                                 +----------------------> LINGER
 */
enum conn_phase {
	CONN_IDLE,	/* between requests */
	CONN_HEADER,	/* within a record or PARAMS; the user knows nothing */
	CONN_BODY,	/* the user knows */
	CONN_WAITING,	/* for the user's answer */
	CONN_ENDED,	/* no more from the user; being written */
	CONN_LINGER,	/* written, our side shut; reading what is left */
	CONN_CLOSED	/* only waits to be freed */
};

/*
 * What is needed while input is taken apart, and only then: it goes when a
 * request is parked and between requests.
 */
struct conn_input {
	struct idem_fcgi_reader reader;
	struct idem_buf held;	/* the next request, sent ahead */
	size_t counted;		/* of reader.params in conns.reading */
};

/*
 * The queue holds contents; records are made of them while they are written,
 * so that answers of 50 MB are neither copied nor framed beforehand.  A record
 * that the socket took in part is made again, and its first `done` bytes are
 * left out.
 */
enum conn_piece_kind {
	CONN_RECORDS,	/* ready-made, several */
	CONN_COPY, CONN_BLOB, CONN_FILE
};

struct conn_piece {
	struct conn_piece *next;
	struct idem_buf copy;	/* CONN_RECORDS, CONN_COPY */
	struct idem_blob *blob;
	int fd;
	uint8_t kind;		/* enum conn_piece_kind */
	uint8_t type;		/* enum idem_fcgi_type */
	uint16_t record;	/* content of the record begun; 0: none is */
	uint32_t done;		/* of its header, content and padding */
	uint64_t from, left;	/* of the content, from the record begun on */
};

struct conn {
	struct conns *all;
	struct conn *next, *previous;
	struct conn *due_next;
	struct watch watch;
	struct timer timer;	/* lazy: set for no later than the deadline */
	void *user;
	struct conn_input *input;	/* NULL: a fresh one would do */
	struct conn_piece *first, *last;
	uint64_t queued;	/* bytes in them */
	int64_t since_ms;	/* HEADER: its start; or the answer's end */
	int64_t read_ms, wrote_ms;	/* when a byte last moved */
	int fd;
	uint32_t thrown;	/* bytes read for nothing since the answer */
	uint16_t id;		/* of the request */
	uint8_t asked;		/* records answered that may not be written */
	uint8_t phase;		/* enum conn_phase */
	bool keep : 1;		/* its FCGI_KEEP_CONN */
	bool body_done : 1;	/* nothing more of this request to come */
	bool discard : 1;	/* the user does not want the body */
	bool parked : 1;
	bool endless : 1;	/* its body's end may never be sent */
	bool erred : 1;		/* STDERR was written */
	bool written : 1;	/* since_ms is the answer's end */
	bool high : 1;		/* queued has been over CONN_LOW */
	bool full : 1;		/* the socket took less than it was given */
	bool fresh : 1;		/* never read */
	bool more : 1;		/* the last read may have left something */
	bool deaf : 1;		/* input is not taken apart any more */
	bool eof : 1;		/* nor read: there is none */
	bool gone : 1;		/* to be closed as soon as nobody is in it */
	bool busy : 1;		/* conn_attend.c is at work on it */
	bool due : 1;		/* in the list of due ones */
};

#define CONN_READ_MAX 16384u	/* at once; all connections share the room */
#define CONN_FILE_MAX 65528u	/* of a file at once */
#define CONN_HELD_MAX 65536u	/* of requests sent ahead */

/* --- conn.c --------------------------------------------------------------- */

/* Does the user know of a request that he has not ended? */
bool conn_known(const struct conn *);
/* And may it still be answered? */
bool conn_under_way(const struct conn *);
/* Now; it is freed when nobody can come by it any more. */
void conn_close(struct conn *);
void conn_complain(const struct conn *, const char *what);

/* --- conn_attend.c -------------------------------------------------------- */

/* See to it at the end of this turn. */
void conn_attend_soon(struct conn *);
void conn_attend_ready(struct watch *, uint32_t events);
void conn_attend_deadline(struct timer *, int64_t now_ms);
void conn_attend_turn(struct timer *, int64_t now_ms);

/* --- conn_read.c ---------------------------------------------------------- */

/* Is there reason to read from the socket? */
bool conn_read_wanted(const struct conn *);
/* Read what is there, up to a bound, and take it apart. */
void conn_read(struct conn *);
/* Take what was held apart; false if nothing was. */
bool conn_read_held(struct conn *);
/* A record that has begun has to end in time, be it the first of a request. */
void conn_read_started(struct conn *);
/* No more of this request is to come. */
void conn_read_ended(struct conn *);
/* Drop the input's memory if nothing in it is needed. */
void conn_read_rest(struct conn *);
void conn_read_free(struct conn *);

/* --- conn_item.c ---------------------------------------------------------- */

void conn_item(struct conn *, enum idem_fcgi_item, struct idem_bytes body);
void conn_item_broken(struct conn *, const char *what);

/* --- conn_write.c --------------------------------------------------------- */

void conn_write_records(struct conn *, const struct idem_buf *);
/* Drop what is queued but whole records and the rest of one begun. */
void conn_write_abort(struct conn *);
void conn_write_pop(struct conn *);	/* the first piece */
void conn_write_free(struct conn *);

/* --- conn_send.c ---------------------------------------------------------- */

/* Write what the socket takes, up to a bound. */
void conn_send(struct conn *);

#endif
