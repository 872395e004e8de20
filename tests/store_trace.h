/* SPDX-License-Identifier: ISC */
#ifndef TESTS_STORE_TRACE_H
#define TESTS_STORE_TRACE_H

#include "store.h"

#include <stdatomic.h>

/*
 * A store under a clock of the test's own, and a small language for calls on
 * it.  Keys, owners, fingerprints and guards are k1, o1, f1, g1, ...
 *
 *	claim K O F G [look] [late] [anew] [over=O attempt=N max=N] [lease=N]
 *	    [issued] [strict] [history=own|other]
 *			verdict, attempt, and of a completed one its answer
 *	renew K O N [lease=N]
 *	complete K O N ANSWER [keep=N] [tombstone=N] [strict]
 *	    [history=own|other]
 *	release K O N [tombstone=N]
 *	unknown K O N
 *	settle done|not-done|forget K BY OTHER N [ANSWER] [keep=N] [tombstone=N]
 *	list STATES [after=K] [rows=N]	keys; "more" if there may be some
 *	sweep [rows=N] [shrink=N]	rows; "more"; as often as it takes to
 *					have done so many, or all, where a
					call ends by the clock
 *	issue K O [keep=N]
 *	show K				state, attempt, owner; "absent"
 *	left K O F G			of a claim that only looks: how long its
 *					lease lasts yet
 *	boot +N, wall +N		time passes
 *	reboot				another boot id, boot clock at 0
 *	restart				close, open
 *	purges				"same" or "changed" since it was asked
 *
 * The history "own", the default, is what the store says of itself.
 * A claim "late" may not start any more, with "after=N" it may for N.
 * Any call may have "overdue": its deadline has passed, or "within=N": it is N
 * ahead.  ANSWER is a word, "-" for none, or "big:N" for N bytes.
 */
struct trace {
	struct idem_store *store;
	/* NULL, or how to open it again after a close */
	struct idem_store *(*open)(struct trace *);
	const char *path;	/* for open */
	/* Of what says neither: 1000 and 5000 */
	long long keep_ms, tombstone_ms;
	bool sweeps_by_clock;	/* a call may do less than it was asked for,
				   and say that there is more */
	atomic_llong boot_ms, wall_ms;
	struct idem_clock clock;
	struct idem_boot boot;
	uint64_t purges;
};

/* Set up all but store, open and path. */
void trace_init(struct trace *);

/* Run one line; what came of it as text in out. */
void trace_run(struct trace *, const char *line, char *out, size_t out_size);

/* A call that is started and answered when the store is polled. */
struct trace_asked {
	int answers;
	char out[200];
};

void trace_start(struct trace *, const char *line, struct trace_asked *);
/* Poll until it is answered; a minute is too long. */
void trace_await(struct trace *, const struct trace_asked *);

/* The thing of that name: "k7" is 32 bytes of 7. */
struct idem_digest trace_digest(const char *name);
struct idem_owner trace_owner(const char *name);

#endif
