/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

/* --- whose key it was ----------------------------------------------------- */

static bool
was_asked(const struct check_key *key, const char *gate, int64_t by_ns)
{
	const struct history_event *inv;
	size_t i;

	for (i = 0; i < key->tries_n; i++) {
		inv = key->tries[i]->inv;
		if (inv->t_ns > by_ns)
			break;
		if (inv->to == NULL || strcmp(inv->to, gate) == 0)
			return true;
	}
	return false;
}

/* Those it kills had begun; all others may strike what comes while they
   last. */
static int64_t
strikes_till_ns(const struct check_fault *fault)
{
	return *fault->act != '\0' && check_fault_kills(fault) ?
	    fault->from_ns : fault->until_ns;
}

/*
 * While its program runs it is that instance's key; before there was a run, or
 * after the operator's word on it, it may have been the key of any that was
 * asked for it.  A later run was claimed where it ran, and since the span
 * began.
 */
static bool
may_have_owned(const struct check_view *v, const struct check_span *span,
    const char *gate, const struct check_fault *fault)
{
	const struct check_key *key = span->key;
	const struct check_run *run;
	bool claimed = span->run > 0, ran = false;
	size_t i;

	for (i = span->run; i < key->runs_n; i++, claimed = false) {
		run = key->runs[i];
		if (!claimed && run->first->t_ns > strikes_till_ns(fault))
			break;
		if (run->first->gate == NULL ||
		    strcmp(run->first->gate, gate) == 0)
			return true;
		ran = (claimed || run->first->t_ns <= fault->from_ns) &&
		    !check_fault_operator(v, (size_t)(key - v->keys),
		    run->first->t_ns, fault->until_ns);
	}
	return !ran && was_asked(key, gate, fault->until_ns);
}

/* --- which faults can matter to it ---------------------------------------- */

/*
 * A lease goes by the clock of the server that has it, never by that of an
 * instance's wall.  It is renewed at a third of it, so that more than half of
 * it is always left: less than that is no step that ends one, and none back.
 */
static bool
clock_ends_lease(const struct check_view *v, const struct check_fault *fault)
{
	int64_t by_ms = fault->event->by_ms;

	if (fault->event->gate != NULL || check_is(v->head->arbiter, "ledger"))
		return false;
	return strcmp(fault->act, "clock.jump") != 0 || by_ms == 0 ||
	    by_ms >= v->head->lease_ms / 2;
}

/* One that sleeps may have the lock of the file that all of them write to. */
static bool
is_everybodys(const struct check_view *v, const struct check_fault *fault)
{
	return check_is(v->head->arbiter, "ledger") &&
	    v->head->ledger_shared && (check_fault_is(fault, "disk") ||
	    strcmp(fault->act, "proc.pause") == 0);
}

static bool
reaches(const struct check_view *v, const struct check_span *span,
    const struct check_fault *fault)
{
	const char *gate = fault->event->gate;

	if (!fault->cuts)
		return false;
	if (check_fault_is(fault, "clock"))
		return clock_ends_lease(v, fault);
	/* The ledger decides, and has no need of a cache. */
	if ((check_fault_is(fault, "store") || check_fault_is(fault, "net")) &&
	    check_is(v->head->arbiter, "ledger"))
		return false;
	return gate == NULL || is_everybodys(v, fault) ||
	    may_have_owned(v, span, gate, fault);
}

/* The first of them from then on; INT64_MAX: there is none. */
static int64_t
first_from(const struct check_times *times, int64_t from_ns)
{
	size_t i;

	for (i = 0; i < times->n; i++)
		if (times->at_ns[i] >= from_ns)
			return times->at_ns[i];
	return INT64_MAX;
}

/* When the first final answer from then on had been read, or was said to have
   been stored where nothing is forgotten; INT64_MAX: never. */
static int64_t
done_ns_of(const struct check_view *v, const struct check_key *key,
    int64_t from_ns)
{
	int64_t done_ns = INT64_MAX;
	const struct check_try *try;
	size_t i;

	if (!check_arbiter_forgets(v))
		done_ns = first_from(&key->stored, from_ns);
	for (i = 0; i < key->tries_n; i++) {
		try = key->tries[i];
		if (try->class == OUTCOME_OK && try->ret->t_ns >= from_ns &&
		    try->ret->t_ns < done_ns)
			done_ns = try->ret->t_ns;
	}
	return done_ns;
}

/* The operator has given his word since, or its tombstone may have ended. */
static bool
became_new(const struct check_view *v, const struct check_span *span,
    int64_t done_ns)
{
	int64_t once_ns = check_ns(v->head->once_ms);

	return check_fault_operator(v, (size_t)(span->key - v->keys), done_ns,
	    span->to_ns) || (once_ns > 0 && done_ns < span->to_ns &&
	    span->to_ns - span->from_ns >= once_ns);
}

const struct check_fault *
check_fault_reached(const struct check_view *v, const struct check_span *span)
{
	const struct check_fault *fault = v->faults;
	const struct check_fault *end = fault + v->faults_n;
	int64_t done_ns = done_ns_of(v, span->key, span->from_ns);

	/* Then it may have been done before, and not be now. */
	if (became_new(v, span, done_ns))
		done_ns = INT64_MAX;
	for (; fault < end && fault->from_ns <= span->to_ns; fault++)
		if ((span->run > 0 ? strikes_till_ns(fault) :
		    fault->until_ns) >= span->from_ns &&
		    (fault->from_ns < done_ns ||
		    check_act_forgets(v, fault->act)) &&
		    reaches(v, span, fault))
			return fault;
	return NULL;
}

bool
check_act_forgets(const struct check_view *v, const char *act)
{
	static const char *const acts[] = {
		"store.kill", "store.restart", "store.failover", "store.rejoin",
		"store.flush", "store.evict", "store.expire", "store.oom",
		"clock.jump", "clock.rate"
	};
	size_t i;

	for (i = 0; i < sizeof acts / sizeof *acts; i++)
		if (strcmp(act, acts[i]) == 0)
			return true;
	return v->head->sentinels && strcmp(act, "store.pause") == 0;
}

bool
check_arbiter_forgets(const struct check_view *v)
{
	bool falls_back = !check_is(v->head->on_outage, "reject");
	const struct check_fault *fault = v->faults;

	if (check_is(v->head->arbiter, "ledger"))
		return !v->head->ledger_shared && v->head->gates > 1;
	for (; fault < v->faults + v->faults_n; fault++)
		if ((fault->event->gate == NULL &&
		    check_act_forgets(v, fault->act)) ||
		    (falls_back && fault->cuts))
			return true;
	return false;
}
