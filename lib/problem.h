/* SPDX-License-Identifier: ISC */
#ifndef IDEM_PROBLEM_H
#define IDEM_PROBLEM_H

#include "buf.h"

/* The value of the field Idempotency-Status (idemd(8), ANSWERS). */
enum idem_mark {
	IDEM_SAYS_NONE,		/* no such field */
	IDEM_SAYS_STORED,
	IDEM_SAYS_REPLAYED,
	IDEM_SAYS_REJECTED,
	IDEM_SAYS_MISMATCH,
	IDEM_SAYS_WITHHELD,
	IDEM_SAYS_IN_PROGRESS,
	IDEM_SAYS_UNKNOWN,
	IDEM_SAYS_VOID_TOKEN,
	IDEM_SAYS_EXPIRED,
	IDEM_SAYS_NOT_STARTED,
	IDEM_SAYS_UNRECORDED,
	IDEM_SAYS_RELEASED,
	IDEM_SAYS_STORED_WITHOUT_BODY,
	IDEM_SAYS_NOT_KEPT,
	IDEM_SAYS_UNPROTECTED,
	IDEM_SAYS_IGNORED,
	IDEM_SAYS_COUNT
};

/* Why we answer instead of the program.  Each has a type of its own. */
enum idem_problem {
	IDEM_PROBLEM_NONE,
	IDEM_PROBLEM_KEY_MISSING,	/* 400 rejected */
	IDEM_PROBLEM_KEY_MALFORMED,	/* 400 rejected; empty ones too */
	IDEM_PROBLEM_KEY_TOO_LONG,	/* 400 rejected */
	IDEM_PROBLEM_KEYS_DIFFER,	/* 400 rejected */
	IDEM_PROBLEM_REQUEST_BROKEN,	/* 400 rejected: body cut or longer */
	IDEM_PROBLEM_MISMATCH,		/* 422 mismatch */
	IDEM_PROBLEM_WITHHELD,		/* 409 withheld */
	IDEM_PROBLEM_IN_PROGRESS,	/* 409 in-progress, Retry-After */
	IDEM_PROBLEM_ACCEPTED,		/* 202 in-progress, Retry-After */
	IDEM_PROBLEM_UNKNOWN,		/* 409 unknown */
	IDEM_PROBLEM_VOID_TOKEN,	/* 409 void-token */
	IDEM_PROBLEM_FOREIGN_TOKEN,	/* 403 rejected */
	IDEM_PROBLEM_TOKEN_EXPIRED,	/* 410 expired */
	IDEM_PROBLEM_KEY_EXPIRED,	/* 409 expired */
	IDEM_PROBLEM_STORE_AWAY,	/* 503 not-started, Retry-After */
	IDEM_PROBLEM_BUSY,		/* 503 not-started, Retry-After: queue
					   full, no slot or descriptor */
	IDEM_PROBLEM_NO_SPACE,		/* 503 not-started, Retry-After: no room
					   to write down what it comes to */
	IDEM_PROBLEM_RELEASED,		/* 503 not-started, Retry-After: the run
					   that was waited for did not start */
	IDEM_PROBLEM_NO_PROGRAM,	/* 404 not-started */
	IDEM_PROBLEM_FORBIDDEN_PROGRAM,	/* 403 not-started */
	IDEM_PROBLEM_BROKEN_PROGRAM,	/* 500 not-started */
	IDEM_PROBLEM_BACKEND_AWAY,	/* 503 not-started, Retry-After: no
					   FastCGI application there */
	IDEM_PROBLEM_KEY_FUNCTION,	/* 500 not-started: the route's function
					   failed */
	IDEM_PROBLEM_TOO_MUCH_HEAD,	/* 431 not-started */
	IDEM_PROBLEM_TOO_MUCH_BODY,	/* 413 not-started */
	IDEM_PROBLEM_DIED,		/* 502 unknown */
	IDEM_PROBLEM_CUT,		/* 504 unknown */
	IDEM_PROBLEM_LOST,		/* 504 unknown: another owner took it */
	IDEM_PROBLEM_UNRECORDED,	/* 504 unrecorded */
	IDEM_PROBLEM_NOT_KEPT,		/* 409 not-kept */
	/* Of the endpoint that issues tokens. */
	IDEM_PROBLEM_TOKEN_PATH,	/* 400 rejected: which route? */
	IDEM_PROBLEM_NO_TOKEN_ROUTE,	/* 404 not-started */
	IDEM_PROBLEM_TOKEN_METHOD,	/* 405 rejected, Allow: POST */
	IDEM_PROBLEM_TOO_MANY_TOKENS,	/* 429 not-started, Retry-After */
	IDEM_PROBLEMS
};

struct idem_problem_form {
	int code;
	enum idem_mark mark;
	bool retry_after;	/* the field belongs to it */
	const char *type;	/* [a-z-]+; after IDEM_PROBLEM_URN */
	const char *title;
	const char *detail;	/* what happened, and what to do about it */
};

/*
 * Type URIs name and do not locate (RFC 9457, 3.1.1): they are the same on
 * every installation, for ever, and nothing needs to answer at them.
 */
#define IDEM_PROBLEM_URN "urn:idem:problem:"

const char *idem_mark_text(enum idem_mark);	/* "stored"; "" for none */
const struct idem_problem_form *idem_problem_form(enum idem_problem);

/*
 * What one problem says besides its form.  The problem document is valid JSON
 * (RFC 9457, 3) whatever bytes stand in detail.
 */
struct idem_problem_more {
	const char *detail;	/* a sentence after the form's own, or NULL */
	uint32_t attempt;	/* 0: left out */
	int64_t since_ms;	/* wall clock; as RFC 3339 time in seconds; left
				   out if not after 1970 and before 10000 */
	uint32_t retry_after_s;	/* 0 says 1 */
	bool html;		/* Accept prefers it */
};

/*
 * Append the body, and to lines its fields (each ending in CRLF):
 * Content-Type, Content-Language, Cache-Control: no-store, Content-Length, and
 * Retry-After or Allow where it belongs.  Status and Idempotency-Status are the
 * caller's.
 */
void idem_problem_write(enum idem_problem, const struct idem_problem_more *,
    struct idem_buf *lines, struct idem_buf *body);

/*
 * Whether the value of an Accept field (RFC 9110, 12.5.1) prefers HTML to a
 * JSON problem: by weight, then by precision of the range; JSON when equal,
 * absent, or not to be read.
 */
bool idem_problem_wants_html(struct idem_bytes accept);

#endif
