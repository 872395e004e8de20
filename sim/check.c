/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

static const struct {
	check_fn *by;
	const char *promise, *definition;
} invariants[PLAN_INVARIANTS] = {
	[PLAN_AT_MOST_ONCE] = { check_at_most_once, "once",
	    "A key is started at most once; under retry once more for each run "
	    "before that was cut, or whose end could not be told." },
	[PLAN_AT_MOST_ONCE_PER_BUSINESS_ID] = {
	    check_at_most_once_per_business_id, "once",
	    "What the program is to do is done at most once, whatever the "
	    "keys." },
	[PLAN_SAME_ANSWER] = { check_same_answer, "same answer",
	    "All final answers to a key and a body are the same, and name an "
	    "effect of that key." },
	[PLAN_ACK_DURABLE] = { check_ack_durable, "kept",
	    "Once a client has read a final answer, every later try gets it, "
	    "or is told to come again while a fault lasts." },
	[PLAN_NO_FALSE_DEFINITE] = { check_no_false_definite, "honest",
	    "A try that was told that it did not run has no run, before or "
	    "after." },
	[PLAN_MUTUAL_EXCLUSION] = { check_mutual_exclusion, "once",
	    "Runs of one key are never under way at the same time." },
	[PLAN_NO_CROSS_TALK] = { check_no_cross_talk, "same answer",
	    "An answer names the key and the nonce of its own request, and no "
	    "other's." },
	[PLAN_FINGERPRINT_GUARD] = { check_fingerprint_guard, "guarded",
	    "Of a key that is sent with different bodies one is run, and the "
	    "others never get its answer." },
	[PLAN_NO_PARTIAL_SUCCESS] = { check_no_partial_success, "same answer",
	    "A final answer is whole: as long as it says, and of a run that "
	    "came to its end." },
	[PLAN_LATE_COMPLETER_HARMLESS] = { check_late_completer_harmless,
	    "same answer",
	    "A completion by one who does not own the key any more changes "
	    "nothing." },
	[PLAN_UNKNOWN_HONEST] = { check_unknown_honest, "honest",
	    "A key is unknown only if something that can cut its last run has "
	    "happened to it since it was claimed for that." },
	[PLAN_BUSY_HONEST] = { check_busy_honest, "honest",
	    "A key is in progress only if another try may own it." },
	[PLAN_ANSWERS_HONEST] = { check_answers_honest, "honest",
	    "An answer says what happened, with a status that goes with it, "
	    "and who may come again is told when, within a lease." },
	[PLAN_LEDGER_STORE_AGREE] = { check_ledger_store_agree, "kept",
	    "In the end Redis has no completed record that the ledger has "
	    "not." },
	[PLAN_DIVERGENCE_REPORTED] = { check_divergence_reported, "honest",
	    "Each key that was done twice is in some instance's log, and no "
	    "other." },
	[PLAN_STORM_BOUNDED] = { check_storm_bounded, "once",
	    "Runs, commands, waiting tries, recovery and the wait of others "
	    "stay within the plan's bounds." },
	[PLAN_RESOLVES] = { check_resolves, "settled",
	    "After the faults, a lease and its grace no key is in progress, "
	    "and nothing is left behind." },
	[PLAN_NEW_KEYS_SUCCEED] = { check_new_keys_succeed, "settled",
	    "After the faults each instance serves a fresh key." }
};

const char *
check_definition(enum plan_invariant invariant)
{
	return invariants[invariant].definition;
}

const char *
check_promise(enum plan_invariant invariant)
{
	return invariants[invariant].promise;
}

void
check_by(const struct check_view *v, enum plan_invariant invariant,
    struct check_finding *f)
{
	memset(f, 0, sizeof *f);
	f->invariant = invariant;
	if (v->h->n > 0)
		invariants[invariant].by(v, f);
	if (!v->ended && f->said != CHECK_VIOLATED)
		check_find(f, CHECK_OPEN, NULL, "the history ends before the "
		    "run did");
}

void
check(const struct history *h, enum plan_invariant invariant,
    struct check_finding *f)
{
	struct check_view v;

	check_view_make(&v, h);
	check_by(&v, invariant, f);
	check_view_free(&v);
}
