/* SPDX-License-Identifier: ISC */
#ifndef CHECK_H
#define CHECK_H

#include "history.h"

/*
 * Is an invariant true of a history?  One function each (check_*.c), one pass a
 * key, O(n log n); pure: a history in, findings out.  What each says is written
 * at its function, with the promise of doc/design.md that it checks.
 */
enum check_said {
	CHECK_HOLDS,		/* and it was put to the test */
	CHECK_VIOLATED,
	CHECK_UNEXERCISED,	/* its premise never came about */
	CHECK_OPEN		/* it cannot be said: tries without an end, a
				   history that was cut */
};

#define CHECK_EVENTS 8
#define CHECK_WORDS 400

struct check_finding {
	enum check_said said;
	enum plan_invariant invariant;
	const char *key;	/* symbolic; NULL: of no one key */
	char message[CHECK_WORDS];	/* one sentence */
	uint32_t events[CHECK_EVENTS];	/* i of those in conflict, the first
					   that matters first */
	size_t events_n;
	const char *blames;	/* "client": a key was changed after a try
				   whose end nobody knew; NULL: not said */
	bool of_time;		/* violated, and a host that lets nobody run
				   for seconds explains that: somebody was not
				   served for now, or waited for long */
};

/*
 * What a world has to tell so that each can be judged (history.h says who fills
 * which member); where it is missing nobody is blamed.
 *
 * at_most_once, mutual_exclusion, storm_bounded (runs): effects, begin and
 *	commit and end, with a and attempt; faults; lease_expired_running
 * at_most_once_per_business_id: effects' business; inv's client
 * same_answer, ack_durable: ret's d; inv's f; faults and the heal of all;
 *	tries with audit
 * no_false_definite, fingerprint_guard, no_partial_success: effects with a
 * no_cross_talk: inv's nonce, ret's says_*
 * late_completer_harmless: send, recv, store of what is done to records with k
 *	and token; effects' attempt; faults of operators
 * unknown_honest, busy_honest: faults with gate and by_ms, heals, effects with
 *	gate and a, notes of stalls; logs of what was stored, and store events
 *	of completions (without them a later fault is one more reason)
 * answers_honest: ret's status, mark, retry_after_s
 * ledger_store_agree: store and ledger events at the end
 * divergence_reported: log events "two-runs" and "unprotected" with k
 * storm_bounded: sends with script or k; inv's innocent; the heal
 * resolves: tries with audit for each key at each instance, tried again while
 *	they are busy, away or cut; its arbiter's store or ledger events at the
 *	end; notes of leaks; the heal of all; end
 * new_keys_succeed: tries with fresh at each instance, tried again while they
 *	are busy or unavailable
 *
 * All of them need `end`: without it a history that shows no violation is OPEN.
 */
/* The first violation, or why not. */
void check(const struct history *, enum plan_invariant,
    struct check_finding *);
/* Its definition, a sentence, for reports; and the promise it is of: "once". */
const char *check_definition(enum plan_invariant);
const char *check_promise(enum plan_invariant);

#endif
