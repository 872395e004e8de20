/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <string.h>

/* What it says of the whole; the worst of all is kept. */
enum look { LOOK_GOOD, LOOK_OPEN, LOOK_BAD };

/* --- resolves ------------------------------------------------------------- */

static bool
was_killed(const struct check_view *v, const struct check_run *run)
{
	const struct check_fault *fault = v->faults;

	for (; fault < v->faults + v->faults_n; fault++)
		if (check_fault_kills(fault) &&
		    fault->from_ns >= run->first->t_ns &&
		    (fault->event->gate == NULL || check_is(fault->event->gate,
		    run->first->gate)))
			return true;
	return false;
}

/* Nobody has seen its end, and it has no reason to have come to one. */
static bool
may_go_on(const struct check_view *v, const struct check_key *key,
    int64_t at_ns)
{
	int64_t limit_ns = check_later(check_ns(v->head->limit_ms),
	    check_linger_ns(v));
	const struct check_run *run;
	size_t i;

	if (v->head->handler_fails)
		return false;
	for (i = 0; i < key->runs_n; i++) {
		run = key->runs[i];
		if (run->end == NULL && !was_killed(v, run) &&
		    check_later(run->first->t_ns, limit_ns) > at_ns)
			return true;
	}
	return false;
}

/* Not of the key, or of no word of idem's. */
static bool
is_no_word(const struct check_view *v, const struct check_try *try)
{
	return try->class == OUTCOME_INFO &&
	    (try->ret->how != OUTCOME_WHOLE || (try->ret->mark == NULL &&
	    !v->head->front)) && !(try->ret->how == OUTCOME_CUT &&
	    v->head->handler_fails);
}

/* For now: nothing is said of the key. */
static bool
is_turned_away(const struct check_try *try)
{
	return try->class == OUTCOME_FAIL &&
	    (try->ret->how == OUTCOME_REFUSED ||
	    (check_is(try->ret->mark, "not-started") &&
	    (try->ret->status == 503 || try->ret->status == 429)));
}

static enum look
look_at(const struct check_view *v, const struct check_try *try)
{
	int64_t leased_ns = check_later(v->healed_ns, check_later(
	    check_ns(v->head->lease_ms), check_ns(v->head->grace_ms)));
	bool away, no_word;
	int64_t at_ns;

	if (try->ret == NULL)
		return LOOK_OPEN;
	no_word = is_no_word(v, try);
	away = is_turned_away(try);
	if (try->class != OUTCOME_BUSY && !no_word && !away)
		return LOOK_GOOD;
	at_ns = (no_word ? try->inv : try->ret)->t_ns;
	if (at_ns < (away ? check_settled_ns(v) : leased_ns) ||
	    may_go_on(v, &v->keys[try->key], try->ret->t_ns))
		return LOOK_OPEN;
	return LOOK_BAD;
}

/* It says what the key has come to. */
static bool
tells(const struct check_view *v, const struct check_try *try)
{
	return try->ret != NULL && try->ret->status > 0 &&
	    try->class != OUTCOME_FAIL && !is_no_word(v, try);
}

/*
 * By key: each instance has said what it has come to.  Then nobody who was late
 * is still to end it.
 */
static bool *
final_words(const struct check_view *v, struct arena *arena,
    const struct check_try **looks, size_t n)
{
	bool *final = arena_get(arena, v->keys_n + 1);
	size_t i;

	for (i = 0; i < n; i++)		/* a key's are side by side */
		final[looks[i]->key] = (i == 0 ||
		    looks[i - 1]->key != looks[i]->key ||
		    final[looks[i]->key]) &&
		    (looks[i]->class == OUTCOME_OK ||
		    looks[i]->class == OUTCOME_UNKNOWN);
	return final;
}

static void
find_in_progress(const struct history_event *e, bool final,
    struct check_finding *f)
{
	struct check_finding stays = { .invariant = f->invariant };

	check_find(&stays, CHECK_VIOLATED, e->k, "%s is still in progress "
	    "in %s, after lease and grace", e->k, e->p);
	check_find_event(&stays, e);
	stays.of_time = !final;
	check_find_keep(f, &stays);
}

/*
 * What stands in the arbiter in the end.  Of several servers one that knows
 * better is enough: another may be behind.
 */
static void
stay_in_progress(const struct check_view *v, struct arena *arena,
    const bool *final, struct check_finding *f)
{
	bool ledger = check_is(v->head->arbiter, "ledger");
	const struct history_event *e = v->h->events, **last;
	const struct history_event *end = e + v->h->n;
	size_t key;

	last = arena_get(arena, (v->keys_n + 1) * sizeof *last);
	for (; e < end; e++) {
		key = check_view_key(v, e->k);
		if (e->kind != (ledger ? HISTORY_LEDGER : HISTORY_STORE) ||
		    e->m != 0 || e->what == NULL || key == CHECK_NO_KEY)
			continue;
		if (last[key] == NULL || !check_is(e->what, "in progress") ||
		    (ledger && !v->head->ledger_shared))
			last[key] = e;
	}
	for (key = 0; key < v->keys_n && !check_find_certain(f); key++) {
		e = last[key];
		if (e != NULL && check_is(e->what, "in progress") &&
		    e->t_ns >= check_settled_ns(v) &&
		    !may_go_on(v, &v->keys[key], e->t_ns))
			find_in_progress(e, final[key], f);
	}
}

static void
left_behind(const struct check_view *v, struct check_finding *f)
{
	const struct history_event *e = v->h->events;

	for (; e < v->h->events + v->h->n; e++) {
		if (e->kind != HISTORY_NOTE || !check_is(e->label, "leak"))
			continue;
		check_find(f, CHECK_VIOLATED, e->k, "%s was left behind (%s)",
		    e->what != NULL ? e->what : "something", e->p);
		check_find_event(f, e);
		return;
	}
}

static void
find_unsettled(const struct check_view *v, const struct check_try *try,
    struct check_finding *f)
{
	const struct check_key *key = &v->keys[try->key];
	struct check_finding open = { .invariant = f->invariant };

	check_find(&open, CHECK_VIOLATED, key->name, "%s is %s at %s after "
	    "lease and grace: try %d got %s", key->name, is_turned_away(try) ?
	    "not served" : "still in progress", try->inv->to != NULL ?
	    try->inv->to : "?", try->a, try->class == OUTCOME_BUSY ?
	    "a busy answer" : is_turned_away(try) ? "a refusal" : "no answer");
	check_find_event(&open, try->ret);
	if (key->runs_n > 0)
		check_find_event(&open, check_run_close(key->runs[key->runs_n -
		    1]));
	open.of_time = true;
	check_find_keep(f, &open);
}

static const struct check_try *
without_end(const struct check_view *v)
{
	const struct check_try *try = v->tries;

	for (; try < v->tries + v->tries_n; try++)
		if (try->ret == NULL)
			return try;
	return NULL;
}

/* A key that some client sent, and that was not looked at everywhere. */
static const struct check_key *
not_looked_at(const struct check_view *v, struct arena *arena,
    const struct check_try **looks, size_t n)
{
	size_t *seen = arena_get(arena, (v->keys_n + 1) * sizeof *seen), i;

	for (i = 0; i < n; i++)
		seen[looks[i]->key]++;
	for (i = 0; n > 0 && i < v->keys_n; i++)
		if (v->keys[i].tries_n > 0 &&
		    !v->keys[i].tries[0]->inv->audit &&
		    seen[i] < v->head->gates)
			return &v->keys[i];
	return NULL;
}

/*
 * resolves (promise "settled"): when all faults have ended and lease and grace
 * are over, the simulator's own tries find no key in progress at any instance:
 * each is completed, unknown (which the operator can end) or free; its arbiter
 * has it so in the end, too; and nothing is left behind: no process, descriptor
 * or claim.
 *
 * A program of which nobody has seen the end, nor a reason for it (a kill, its
 * limit), may still run: then nothing is said, and neither while a try has no
 * end, or a key was not looked at at each instance.  Of these tries `info` says
 * nothing, but that a client waited in vain, or was sent away without a word;
 * and who is not served at last has not found his key settled.  Exercised by
 * such a try whose answer says what the key has come to.
 */
void
check_resolves(const struct check_view *v, struct check_finding *f)
{
	const struct check_try *open = without_end(v), **looks;
	const struct check_key *key = NULL;
	bool exercised = false;
	struct arena arena = { NULL };
	size_t i, n = check_looks(v, &arena, false, &looks);
	enum look look;

	left_behind(v, f);
	for (i = 0; i < n && !check_find_certain(f); i++) {
		look = look_at(v, looks[i]);
		exercised = exercised || tells(v, looks[i]);
		if (look == LOOK_OPEN && open == NULL)
			open = looks[i];
		if (look == LOOK_BAD)
			find_unsettled(v, looks[i], f);
	}
	stay_in_progress(v, &arena, final_words(v, &arena, looks, n), f);
	if (f->said == CHECK_VIOLATED)
		goto out;
	key = not_looked_at(v, &arena, looks, n);
	if (open != NULL)
		check_find_open(f, open);
	else if (key != NULL)
		check_find(f, CHECK_OPEN, key->name, "%s was not looked at at "
		    "each of %zu instances", key->name, v->head->gates);
	else
		check_find_end(f, exercised);
out:
	arena_free(&arena);
}

/* --- new_keys_succeed ----------------------------------------------------- */

/* Its program's answer came whole, and idem says so. */
static bool
was_served(const struct check_view *v, const struct check_try *try)
{
	static const char *const marks[] = {
		"unrecorded", "stored-without-body", "unprotected", "released"
	};
	size_t i;

	if (try->class == OUTCOME_OK)
		return true;
	if (try->class != OUTCOME_INFO || try->ret->how != OUTCOME_WHOLE ||
	    try->ret->mark == NULL)
		return false;
	for (i = 0; i < sizeof marks / sizeof *marks; i++)
		if (strcmp(try->ret->mark, marks[i]) == 0)
			return true;
	return strcmp(try->ret->mark, "unknown") == 0 && v->head->handler_fails;
}

static enum look
fresh_look(const struct check_view *v, const struct check_try *try)
{
	if (try->ret == NULL)
		return LOOK_OPEN;
	if (was_served(v, try))
		return LOOK_GOOD;
	if (try->ret->t_ns < check_settled_ns(v))
		return LOOK_OPEN;
	/* It may take longer than its client waits. */
	if (try->class == OUTCOME_INFO && try->ret->how != OUTCOME_WHOLE &&
	    (try->run != NULL || v->runs_n == 0))
		return LOOK_OPEN;
	return LOOK_BAD;
}

/* Who is held up may be away, wait in vain, come to his limit, or find what he
   asked for before not to be over, or lost. */
static bool
fresh_of_time(const struct check_view *v, const struct check_try *try)
{
	switch (try->class) {
	case OUTCOME_BUSY:
		return true;
	case OUTCOME_UNKNOWN:
		return check_is(try->ret->mark, "unknown") &&
		    v->keys[try->key].tries_n > 1;
	case OUTCOME_INFO:
		return try->ret->how != OUTCOME_WHOLE ||
		    try->ret->status == 503 || try->ret->status == 504;
	case OUTCOME_FAIL:
	case OUTCOME_NONE:
	case OUTCOME_OK:
	case OUTCOMES:
		break;
	}
	return is_turned_away(try);
}

static void
find_unserved(const struct check_view *v, const struct check_try *try,
    struct check_finding *f)
{
	struct check_finding bad = { .invariant = f->invariant };

	check_find(&bad, CHECK_VIOLATED, try->inv->k, "a fresh key was not "
	    "served at %s: try %d was %s", try->inv->to != NULL ?
	    try->inv->to : "?", try->a, outcome_text(try->class));
	check_find_event(&bad, try->ret);
	check_find_event(&bad, try->inv);
	bad.of_time = fresh_of_time(v, try);
	check_find_keep(f, &bad);
}

/*
 * new_keys_succeed (promise "settled"): when all faults have ended, and a
 * lease, its grace and the next look at a store are over, a key of which nobody
 * has heard is served by each instance.
 *
 * An `info` try whose program ran says nothing: it may take longer than its
 * client waits; one whose program never ran was not served, nor one whose
 * answer does not say what happened.  Where not each instance was asked it
 * cannot be said.  Exercised by a try of a fresh key.
 */
void
check_new_keys_succeed(const struct check_view *v, struct check_finding *f)
{
	const struct check_try *open = NULL, **looks;
	struct arena arena = { NULL };
	size_t i, n = check_looks(v, &arena, true, &looks);
	enum look look;

	check_find_end(f, n > 0);
	if (n > 0 && n < v->head->gates)
		check_find(f, CHECK_OPEN, NULL, "%zu of %zu instances were "
		    "asked for a fresh key", n, v->head->gates);
	for (i = 0; i < n; i++) {
		look = fresh_look(v, looks[i]);
		if (look == LOOK_OPEN)
			open = looks[i];
		if (look == LOOK_BAD)
			find_unserved(v, looks[i], f);
	}
	if (open != NULL && f->said != CHECK_VIOLATED)
		check_find_open(f, open);
	arena_free(&arena);
}
