/* SPDX-License-Identifier: ISC */
#include "check_private.h"

/* What can have left one try's key unknown. */
struct asking {
	const struct check_try *try;
	struct check_span span;
};

/* What a key was found to be, and why, by then: it stays so for its runs. */
struct known {
	const struct check_try *since;	/* NULL: nothing was found */
	size_t run;
};

static bool
says_unknown(const struct check_try *try)
{
	return try->class == OUTCOME_UNKNOWN &&
	    (try->ret->mark == NULL || check_is(try->ret->mark, "unknown"));
}

/*
 * The last of its runs that had surely begun when it was asked for: it is of
 * that, or of a later one, that nobody knows how it ended.  An arbiter that may
 * have an older past may speak of any.
 */
static size_t
last_run(const struct check_view *v, const struct check_key *key,
    const struct check_try *try, bool any)
{
	size_t low = 0, high = any ? 0 : key->runs_n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (check_after(v, key->runs[at]->first, try->inv))
			low = at + 1;
		else
			high = at;
	}
	return low > 0 ? low - 1 : 0;
}

/* From when on it may have been claimed for that run: its try came before, and
   so did the run before it.  A first one may have had claims before. */
static int64_t
claimed_ns(const struct check_view *v, const struct check_key *key, size_t run)
{
	const struct check_try *by;

	if (run == 0)
		return key->tries[0]->inv->t_ns;
	by = check_view_try(v, key->runs[run]->a);
	return (by != NULL && by->key == (size_t)(key - v->keys) ? by->inv :
	    key->runs[run - 1]->first)->t_ns;
}

static struct asking
asking(const struct check_view *v, const struct check_try *try, bool any)
{
	const struct check_key *key = &v->keys[try->key];
	size_t run = last_run(v, key, try, any);

	return (struct asking){ try, { key, run, claimed_ns(v, key, run),
	    try->ret->t_ns } };
}

/* It came to no end by then, nor later: it was cut, or it ended by itself
   without a whole answer. */
static bool
run_was_cut(const struct asking *q)
{
	const struct check_key *key = q->span.key;
	size_t i;

	for (i = q->span.run; i < key->runs_n &&
	    key->runs[i]->first->i < q->try->ret->i; i++)
		if (key->runs[i]->end == NULL)
			return true;
	return false;
}

/*
 * It was killed before its first line, for its time was over: somebody who had
 * sent it was told no better, and no run is his.
 */
static bool
ran_unseen(const struct check_view *v, const struct asking *q)
{
	const struct history_event *by = q->try->ret;
	const struct check_key *key = q->span.key;
	int64_t limit_ns = check_ns(v->head->limit_ms);
	const struct check_try *try;
	size_t i;

	for (i = 0; i < key->tries_n && key->tries[i]->inv->i < by->i; i++) {
		try = key->tries[i];
		if (try->run == NULL && (try->class == OUTCOME_INFO ||
		    try->class == OUTCOME_NONE) &&
		    by->t_ns - try->inv->t_ns >= limit_ns)
			return true;
	}
	return false;
}

static bool
is_known_why(const struct check_view *v, const struct asking *q)
{
	return run_was_cut(q) || check_fault_reached(v, &q->span) != NULL ||
	    check_lease_ended(v, q->try->key, q->span.from_ns,
	    q->span.to_ns) || ran_unseen(v, q);
}

/* Of the same run it was known why, by then. */
static bool
was_known(const struct known *known, const struct asking *q)
{
	return known->since != NULL && known->run == q->span.run &&
	    known->since->ret->t_ns <= q->try->ret->t_ns;
}

static void
find_unknown(const struct asking *q, struct check_finding *f)
{
	const struct check_key *key = q->span.key;
	const struct check_run *run = q->span.run < key->runs_n ?
	    key->runs[q->span.run] : NULL;

	if (q->span.run == 0)
		check_find(f, CHECK_VIOLATED, key->name, "try %d was told that "
		    "nobody knows how %s ended, and nothing had happened to it",
		    q->try->a, key->name);
	else
		check_find(f, CHECK_VIOLATED, key->name, "try %d was told that "
		    "nobody knows how %s ended, and nothing had happened to it "
		    "since it was claimed for %s", q->try->a, key->name,
		    run->id);
	check_find_event(f, q->try->ret);
	if (run != NULL) {
		check_find_event(f, run->first);
		check_find_event(f, check_run_close(run));
	}
}

/*
 * unknown_honest (promise "honest"): who is told that nobody knows (409
 * unknown) is told so because of something that has happened to the key's last
 * run, between its claim and its completion: a fault that reaches it
 * (check_fault_reached), a lease that ended, no end of the run itself, a
 * program that was killed before its first line when its time was over; or the
 * plan's program is one that ends without a whole answer.
 *
 * So a fault that is over explains one run of a key, and one that lasts, of a
 * store, a link, a disk or a clock, each run that it meets.  Nothing is said of
 * how many keys it makes unknown: a kill does so to all that its instance had.
 * An arbiter that may have an older past, or of which there is more than one
 * (check_arbiter_forgets), may speak of an earlier run: there one fault
 * explains all that is said of its keys from then on.
 *
 * `info` is no such answer (502 and 504 are of the try that ran).  A claim may
 * come long before its run and leaves no trace in a ledger: the try that its
 * run names stands for it, and for a first one the key's first try, since
 * others may have had claims without a run before.  Exercised by an answer to a
 * key that was asked for before.
 */
void
check_unknown_honest(const struct check_view *v, struct check_finding *f)
{
	struct arena arena = { NULL };
	const struct check_try *try;
	bool exercised = false, any = check_arbiter_forgets(v);
	struct known *all, *known;
	struct asking q;

	all = arena_get(&arena, (v->keys_n + 1) * sizeof *all);
	for (try = v->tries; try < v->tries + v->tries_n; try++) {
		if (try->key == CHECK_NO_KEY || try->ret == NULL)
			continue;
		exercised = exercised || (try->ret->status > 0 &&
		    v->keys[try->key].tries[0] != try);
		if (!says_unknown(try) || v->head->handler_fails)
			continue;
		known = &all[try->key];
		q = asking(v, try, any);
		if (was_known(known, &q))
			continue;
		if (!is_known_why(v, &q)) {
			find_unknown(&q, f);
			goto out;
		}
		*known = (struct known){ try, q.span.run };
	}
	check_find_end(f, exercised);
out:
	arena_free(&arena);
}
