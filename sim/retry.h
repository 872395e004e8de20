/* SPDX-License-Identifier: ISC */
#ifndef RETRY_H
#define RETRY_H

#include "draw.h"
#include "outcome.h"

/*
 * Does a client try again, and when?  Pure: the policy is the plan's.
 * Unavailable are 502, 503 and 504 that are no answer of the key, and a refused
 * connection, which is a reset too.  A longer Retry-After takes the place of
 * the policy's pause where that is honoured; the cap holds for both.
 */
struct retry {
	unsigned tries;		/* so far */
	int64_t slept_ms;	/* the last pause, for decorrelated jitter */
};

enum retry_next { RETRY_STOP, RETRY_AGAIN, RETRY_ROTATED };

/*
 * After a try.  retry_after_s: -1 without one.  AGAIN: in *pause_ms, with the
 * same key; ROTATED: with a new one.
 */
enum retry_next retry_next(struct retry *, const struct plan_retry *,
    struct draw *, enum outcome, enum outcome_end, int status,
    int64_t retry_after_s, int64_t *pause_ms);

#endif
