/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LOAD_TOY_H
#define TESTS_LOAD_TOY_H

#include "load.h"

/*
 * A world with a clock of its own for loads: each try is answered by the test's
 * function, at a time that it says, and nothing else takes time.
 */
struct toy_try {		/* as it was asked for */
	int a, gate, ended_at;	/* its index among those that have ended; -1 */
	int64_t at_ns;
	unsigned client;
	const char *name, *key, *body, *nonce, *method;
	const struct plan_send *send;
	int64_t timeout_ms, give_up_ms;
	bool asks;		/* for a token: "?k1" in toy_said */
};

struct toy {
	/* To be set. */
	const struct plan *plan;
	uint64_t seed;
	/* After how long, and what; -1: never. */
	int64_t (*answer)(struct toy *, const struct toy_try *,
	    struct load_answer *);
	void (*ended)(struct toy *, int a);	/* or NULL */

	/* To be read. */
	int64_t now_ns;
	struct load *load;
	struct history h;
	struct toy_try *tries;	/* by a - 1 */
	size_t n, turns, wakes, ended_n;

	int64_t wake_ns;	/* private */
	struct toy_due {
		int64_t at_ns;
		int a;
		struct load_answer answer;
	} *due;			/* a heap by time, then by try */
	size_t due_n, room;
	struct draw draw;
};

#define TOY_MS INT64_C(1000000)

/* An answer, whole and stored. */
struct load_answer toy_stored(void);

void toy_open(struct toy *);
void toy_run(struct toy *, int64_t until_ms);	/* all that comes until then */
void toy_answer(struct toy *, int a, struct load_answer);	/* now */
/* "1:c1>g1 k1@0 2:...": the tries from a on, with times in ms. */
const char *toy_said(struct toy *, int from);
void toy_close(struct toy *);

#endif
