/* SPDX-License-Identifier: ISC */
#ifndef EFFECTS_H
#define EFFECTS_H

#include "history.h"

/*
 * The journal of effects: what idemsim's program wrote, one line a write with
 * O_APPEND, outside of every fault.  It is the truth about what was run.
 *
 *	MONOTONIC-NS PHASE EFFECT KEY STORE-KEY ATTEMPT TRY GATE LIFE PID
 *	    BUSINESS NONCE
 *
 * PHASE: begin, commit, end.  EFFECT is of one run of the program: "e", its
 * pid, "." and when it began.  "-": none.
 */

/*
 * Put all of it into the history, where its times belong.  Runs get the names
 * "e1", "e2", ... in the order in which they began, also where an answer names
 * one (says_effect), and the lanes "h1", "h2", ....  What began before began_ns
 * is another run's and passed over.
 *
 * 0; -1: the file cannot be read, or a line is none (cut, which this machine's
 * writes are not, or junk), or there are more than `max`, and why; the history
 * has what was before it.  A line that says what cannot be (a program of the
 * user's may write any) is left out, and is a -1 too: of a time after now_ns,
 * or of what no run does after what it did before (history_run_odd).
 */
struct effects_span {
	int64_t began_ns, now_ns;
	size_t max;		/* lines */
};
int effects_read(struct history *, const char *path,
    const struct effects_span *, char *wrong, size_t wrong_size);

#endif
