/* SPDX-License-Identifier: ISC */
#ifndef IDEM_FCGI_REC_H
#define IDEM_FCGI_REC_H

#include "buf.h"
#include "fcgi_frame.h"

/*
 * FastCGI 1.0 records, both directions; section numbers are its
 * specification's.  No I/O.  What stands in a peer's bytes is never a reason
 * to die, to allocate more than the limits, or to read past what is there.
 */
#define IDEM_FCGI_CONTENT_MAX 65535u

enum idem_fcgi_type {	/* 8, "Types" */
	IDEM_FCGI_BEGIN_REQUEST = 1,
	IDEM_FCGI_ABORT_REQUEST = 2,
	IDEM_FCGI_END_REQUEST = 3,
	IDEM_FCGI_PARAMS = 4,
	IDEM_FCGI_STDIN = 5,
	IDEM_FCGI_STDOUT = 6,
	IDEM_FCGI_STDERR = 7,
	IDEM_FCGI_DATA = 8,
	IDEM_FCGI_GET_VALUES = 9,
	IDEM_FCGI_GET_VALUES_RESULT = 10,
	IDEM_FCGI_UNKNOWN_TYPE = 11
};

enum idem_fcgi_role {
	IDEM_FCGI_RESPONDER = 1,
	IDEM_FCGI_AUTHORIZER = 2,
	IDEM_FCGI_FILTER = 3
};

enum idem_fcgi_status {	/* 5.5, protocolStatus */
	IDEM_FCGI_REQUEST_COMPLETE = 0,
	IDEM_FCGI_CANT_MPX_CONN = 1,
	IDEM_FCGI_OVERLOADED = 2,
	IDEM_FCGI_UNKNOWN_ROLE = 3
};

/* --- name-value pairs (3.4) ----------------------------------------------- */

struct idem_fcgi_pair {
	struct idem_bytes name, value;	/* borrowed from the stream */
};

/* The next pair of a whole stream.  1; 0 at its end; -1 if it is cut. */
int idem_fcgi_pair_next(struct idem_bytes *left, struct idem_fcgi_pair *);
void idem_fcgi_pair_write(struct idem_buf *, struct idem_bytes name,
    struct idem_bytes value);

/* --- reading as an application: what a web server sends us ---------------- */

enum idem_fcgi_item {
	IDEM_FCGI_MORE,		/* all bytes taken; nothing to tell yet */
	IDEM_FCGI_BEGUN,	/* a responder request began: id, keep */
	IDEM_FCGI_PARAMS_WHOLE,	/* `params` of the reader holds the stream */
	IDEM_FCGI_BODY,		/* a piece of STDIN: bytes, borrowed */
	IDEM_FCGI_BODY_WHOLE,
	IDEM_FCGI_ABORTED,	/* ABORT_REQUEST for the request under way */
	IDEM_FCGI_ANSWER,	/* send `answer` of the reader, valid until the
				   next call: the record for GET_VALUES, an
				   unknown management type, an unknown role or a
				   second BEGIN; more items may follow */
	IDEM_FCGI_TOO_LARGE,	/* params over the limit: refuse 431, close */
	IDEM_FCGI_BROKEN	/* not FastCGI, a lie, or cut params: close */
};

/*
 * One connection, one request at a time.  A second BEGIN while one is under way
 * is answered CANT_MPX_CONN and its records are ignored; one with the same id
 * is BROKEN.  So who wants to serve a request sent ahead keeps what is left
 * after BODY_WHOLE until idem_fcgi_ended().  Zeroes plus params_max are a fresh
 * reader.  Nothing is held of STDIN but what the caller gave.
 */
struct idem_fcgi_reader {
	size_t params_max;	/* bytes of a PARAMS stream; by the caller */
	uint16_t id;		/* of the request under way; 0: none */
	bool keep;		/* its FCGI_KEEP_CONN */
	bool refused;		/* ANSWER: to a role that is not ours, without
				   KEEP_CONN: close once it is sent (3.5) */
	struct idem_buf params;	/* the stream; once whole, its pairs are too */
	struct idem_buf answer;
	const char *wrong;	/* BROKEN: why, for the log */

	/* Private. */
	struct idem_fcgi_frame frame;
	struct idem_buf small;	/* content of a GET_VALUES record */
	uint8_t begin[8];	/* content of a BEGIN_REQUEST record */
	uint8_t state;
};

/*
 * Take from *left up to and including the next thing to tell.  Call until
 * MORE.  After TOO_LARGE and BROKEN every further call says BROKEN; TOO_LARGE
 * leaves `id`, so that the request can be answered.
 */
enum idem_fcgi_item idem_fcgi_read(struct idem_fcgi_reader *,
    struct idem_bytes *left, struct idem_bytes *body);

/*
 * The caller has sent END_REQUEST: late records of that id are ignored (3.3),
 * `params` is given back, and the next BEGIN starts a request, whatever its id.
 */
void idem_fcgi_ended(struct idem_fcgi_reader *);
void idem_fcgi_reader_free(struct idem_fcgi_reader *);	/* a fresh one again */
/* In the middle of a request or a record?  (What a close now would cut.) */
bool idem_fcgi_reader_busy(const struct idem_fcgi_reader *);

/*
 * The clean copy for libfcgi: BEGIN_REQUEST (responder, KEEP_CONN), the PARAMS
 * stream re-framed, its end, and an empty STDIN.
 */
void idem_fcgi_clean_copy(struct idem_buf *, uint16_t id,
    struct idem_bytes params);

/* --- writing -------------------------------------------------------------- */

/* A header into 8 bytes; the padding that makes the record a multiple of 8. */
void idem_fcgi_header(uint8_t out[8], enum idem_fcgi_type, uint16_t id,
    uint16_t content_len, uint8_t padding_len);

/* A stream's bytes as records of at most CONTENT_MAX, padded; none for none. */
void idem_fcgi_stream_write(struct idem_buf *, enum idem_fcgi_type, uint16_t id,
    struct idem_bytes);
/* The empty record that ends a stream. */
void idem_fcgi_stream_end(struct idem_buf *, enum idem_fcgi_type, uint16_t id);
void idem_fcgi_begin_write(struct idem_buf *, uint16_t id, enum idem_fcgi_role,
    bool keep);
void idem_fcgi_end_write(struct idem_buf *, uint16_t id, uint32_t app_status,
    enum idem_fcgi_status);

/* --- reading as a client: what an application sends us -------------------- */

enum idem_fcgi_told {
	IDEM_FCGI_TOLD_MORE,
	IDEM_FCGI_TOLD_STDOUT,		/* bytes, borrowed */
	IDEM_FCGI_TOLD_STDERR,
	IDEM_FCGI_TOLD_END,		/* app_status, status; also without an
					   empty STDOUT before (php-fpm) */
	IDEM_FCGI_TOLD_BROKEN
};

/*
 * Zeroes plus id are a fresh one.  Records of other ids and of types that are
 * not an application's are passed over (3.3).
 */
struct idem_fcgi_client_reader {
	uint16_t id;		/* set by the caller: ours */
	uint32_t app_status;	/* END: what a CGI program would exit with */
	enum idem_fcgi_status status;
	const char *wrong;	/* BROKEN: why, for the log */

	/* Private. */
	struct idem_fcgi_frame frame;
	uint8_t end[8];		/* content of its END_REQUEST */
	bool broken;
};

/*
 * As idem_fcgi_read: call until MORE; after BROKEN every call says BROKEN.  A
 * connection that closes before END has cut the answer.
 */
enum idem_fcgi_told idem_fcgi_client_read(struct idem_fcgi_client_reader *,
    struct idem_bytes *left, struct idem_bytes *bytes);

#endif
