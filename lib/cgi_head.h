/* SPDX-License-Identifier: ISC */
#ifndef IDEM_CGI_HEAD_H
#define IDEM_CGI_HEAD_H

#include "buf.h"

#define IDEM_HEAD_MAX (64u * 1024u)	/* bytes of a program's head */
#define IDEM_HEAD_LINES_MAX 1000u

enum idem_head_state {
	IDEM_HEAD_MORE,		/* no blank line yet */
	IDEM_HEAD_WHOLE,
	IDEM_HEAD_BROKEN	/* never a head: the answer is 502 */
};

/*
 * The head of a program's answer (RFC 3875, 6), normalised for a FastCGI
 * front: lines end in CRLF, connection-level fields (Connection, Keep-Alive,
 * Proxy-Connection, TE, Trailer, Transfer-Encoding, Upgrade), Date, Server and
 * fields that are ours to say (Idempotency-Status, Idempotent-Replayed) are
 * gone, order and duplicates are kept, the blank line is not part of it.
 */
struct idem_head {
	struct idem_buf lines;	/* all but Status; each ends in CRLF */
	struct idem_buf status;	/* what stood in Status, say "404 Not Found" */
	bool has_status;	/* the program sent one (or an HTTP/1.x line) */
	int code;		/* 200 without; never 1xx */
	bool has_length;
	uint64_t length;	/* Content-Length */
	bool no_store;		/* Idempotency-Store: no (taken out of lines) */
	bool has_location, location_absolute, has_type;
	size_t size;		/* bytes taken from the input, blank line too */
	const char *wrong;	/* BROKEN: why, for the log; a constant */
};

/*
 * Look for a whole head at the start of what the program wrote so far; call
 * again with more, from the start, after IDEM_HEAD_MORE.  `ended` says that
 * nothing more comes: then no blank line means BROKEN, as for most fronts.
 *
 * LF and CRLF may be mixed.  A first line "HTTP/1.x NNN text" becomes the
 * Status.  A Status or Content-Length without a value is as good as absent (RFC
 * 3875, 6.3), an equal second one is left out.  An absolute Location without
 * Status gets Status 302 here (RFC 3875, 6.2.3), since Apache's mod_proxy_fcgi
 * makes it 200, with has_status then true.
 *
 * BROKEN: nothing but body, a line without colon, a folded line, a blank
 * before the colon, NUL, a CR inside a line, a bad name, Status not 200..599
 * (three digits, then nothing or a blank and text) or two of different codes,
 * two different Content-Length or one that is not digits only, Transfer-
 * Encoding other than identity, no field at all or none left, over the limits
 * above; and when memory is out.
 */
enum idem_head_state idem_head_parse(struct idem_head *, struct idem_bytes,
    bool ended);
void idem_head_free(struct idem_head *);	/* zeroes again */

#endif
