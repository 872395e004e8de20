/* SPDX-License-Identifier: ISC */
#ifndef ANSWER_H
#define ANSWER_H

#include "blob.h"
#include "cgi_head.h"
#include "journal.h"

/*
 * What a keyed run's output and end come to: one rule for the lobby that waited
 * for it and for whoever finds it in the journal, so that both make the same
 * bytes of it (doc/design.md, 4).
 */
struct answer_end {
	int status;		/* as of waitpid(2) */
	bool limit;		/* it was over its limit, or killed by us */
	bool any_exit;		/* by its route any exit status will do */
	bool head;		/* the request was a HEAD */
};

/* Whole: it ended by itself, with a head, with as much body as it declared
   (`passed` of it were there), and with a good exit status. */
bool answer_is_whole(const struct idem_head *, uint64_t passed,
    const struct answer_end *);
/* Answers that have no body, whatever length they state (RFC 9110, 6.4.1). */
bool answer_is_bodyless(int code, bool head);
/* A program that writes more than it declared is cut there. */
uint64_t answer_within(const struct idem_head *, uint64_t body_len);

/* The saved form.  body: empty if !kept or bodyless.  len: of the body, kept or
   not; a Content-Length of it is added to the lines if the head has none.
   NULL: no memory. */
struct idem_blob *answer_save(struct idem_head *, struct idem_bytes body,
    uint64_t len, bool kept, bool head);

/* --- from the journal ----------------------------------------------------- */

enum answer_is {
	ANSWER_WHOLE,		/* *saved is it; the caller's */
	ANSWER_NOTHING,		/* its status says that nothing happened */
	ANSWER_NOT_WHOLE,	/* unknown; why and code say what is known */
	ANSWER_LATER		/* no memory, or it cannot be read now */
};
enum answer_is answer_of_run(int fd, const struct idem_evidence *,
    struct idem_blob **saved, enum idem_note_why *why, int32_t *code);

#endif
