/* SPDX-License-Identifier: ISC */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <stdbool.h>

/*
 * What a client knows after one try.  One table decides, never the author of a
 * scenario: a time that has run out is not a failure.
 */
enum outcome {
	OUTCOME_NONE,		/* it has not returned */
	OUTCOME_OK,		/* the key's final answer */
	OUTCOME_FAIL,		/* it did not run and never will */
	OUTCOME_BUSY,		/* nor this; somebody has the key */
	OUTCOME_UNKNOWN,	/* nor this; an earlier run's end is unknown */
	OUTCOME_INFO,		/* it may have run, may yet, or never will */
	OUTCOMES
};
const char *outcome_text(enum outcome);	/* "ok", "fail", ...; NONE: "none" */
bool outcome_find(const char *, enum outcome *);

enum outcome_end {	/* how a try ended on the wire */
	OUTCOME_WHOLE,		/* END_REQUEST, and a promised length met */
	OUTCOME_REFUSED,	/* no byte of it was written */
	OUTCOME_CUT,		/* reset or closed, before it or within */
	OUTCOME_TIMEOUT,	/* the client waited no longer */
	OUTCOME_GAVE_UP		/* the client went away by itself */
};
const char *outcome_end_text(enum outcome_end);

/*
 * keyed: it carried a key.  status: of the answer, 0 without one.  mark: its
 * Idempotency-Status; "" or NULL without one.  (Without a key: OK when whole.)
 */
enum outcome outcome_of(bool keyed, enum outcome_end, int status,
    const char *mark);

#endif
