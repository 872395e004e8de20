/* SPDX-License-Identifier: ISC */
#ifndef IDEM_REPLY_H
#define IDEM_REPLY_H

#include "idem.h"
#include "saved.h"

/*
 * The head of an answer as a CGI program would write it (RFC 3875, 6), for a
 * front to turn into HTTP: Status, fields, ours, and the blank line.
 */

/* What its route says of an answer. */
struct idem_reply_rule {
	int64_t keep_ms;	/* it is kept so long at least, counted from
				   its completion; 0: that is not said */
	/* And what a replay leaves out of it. */
	bool identity;		/* false: Set-Cookie, which is somebody's */
	const char *const *left_out;	/* names of fields */
	size_t left_out_len;
};

/*
 * Of a saved answer, or of a fresh one in the same form.  One that is kept says
 * how long in Idempotency-Keep, in whole seconds.  A replay says so in
 * Idempotent-Replayed too, and has no Set-Cookie unless the scope names an
 * identity (doc/design.md, 2).  Scripts of other origins that may see the
 * answer may see our fields in it.  The last is looked at for answers that are
 * kept only: stored, stored-without-body, replayed.
 */
void idem_reply_answer(struct idem_buf *head, const struct idem_saved *,
    enum idem_mark, const struct idem_reply_rule *);

/*
 * Of a problem, head and body.  `no_body` (HEAD) leaves the body out, not its
 * length.
 */
void idem_reply_problem(struct idem_buf *head, enum idem_problem,
    enum idem_mark, const struct idem_problem_more *, bool no_body);

/* The status that a REPLY of a problem, or of this answer, has. */
int idem_reply_code(const struct idem_effect *, const struct idem_saved *);

#endif
