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
 * writes are not, or junk), and why; the history has what was before it.
 */
int effects_read(struct history *, const char *path, int64_t began_ns,
    char *wrong, size_t wrong_size);

#endif
