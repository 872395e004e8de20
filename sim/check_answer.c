/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <stdlib.h>
#include <string.h>

/* --- same_answer ---------------------------------------------------------- */

/*
 * The answer names what the program did, and that was for another key; or it
 * names nothing, where each answer of the program's names its effect.
 */
static bool
of_another_key(const struct check_view *v, const struct check_try *try,
    struct check_finding *f)
{
	const char *effect = try->ret->says_effect;
	const struct check_run *run = check_view_run(v, effect);

	if (!v->head->handler_answers || v->runs_n == 0 ||
	    (effect == NULL ? !v->commits : run != NULL &&
	    run->key == try->key))
		return false;
	if (effect == NULL)
		check_find(f, CHECK_VIOLATED, v->keys[try->key].name, "the "
		    "final answer to try %d names no effect, so it is not the "
		    "program's", try->a);
	else
		check_find(f, CHECK_VIOLATED, v->keys[try->key].name, "the "
		    "answer to try %d names %s, which is %s", try->a, effect,
		    run == NULL ? "in no journal" : "an effect of another "
		    "key");
	check_find_event(f, try->ret);
	check_find_event(f, run != NULL ? run->first : try->inv);
	return true;
}

static bool
differ(const struct check_view *v, const struct check_try *a,
    const struct check_try *b, struct check_finding *f)
{
	if (check_is(a->ret->d, b->ret->d))
		return false;
	check_find(f, CHECK_VIOLATED, v->keys[a->key].name, "tries %d and %d "
	    "got different final answers: %.16s and %.16s", a->a, b->a,
	    a->ret->d, b->ret->d);
	check_find_event(f, a->ret);
	check_find_event(f, b->ret);
	return true;
}

/* Another answer, and the key was given back in between, or its tombstone has
   ended. */
static bool
is_new(const struct check_view *v, const struct check_try *first,
    const struct check_try *try)
{
	int64_t since_ns = first->inv->t_ns;
	int64_t by_ns = try->ret->t_ns > first->ret->t_ns ? try->ret->t_ns :
	    first->ret->t_ns;

	if (check_is(first->ret->d, try->ret->d))
		return false;
	return check_fault_operator(v, try->key, since_ns, by_ns) ||
	    (v->head->once_ms > 0 && by_ns - since_ns >=
	    check_ns(v->head->once_ms));
}

/*
 * same_answer (promise "same answer"): all final answers (class ok) to a key
 * and what was asked with it are the same: status, header lines and body; and
 * they name an effect of that key, where the program has one.  After the
 * operator's word on a key, or the end of its tombstone, there may be another
 * from then on.
 *
 * `info` is passed over: what a client has not read whole is no answer.
 * Exercised by a key with two final answers.
 */
void
check_same_answer(const struct check_view *v, struct check_finding *f)
{
	const struct check_try *try, **first, **to;
	struct arena arena = { NULL };
	bool exercised = false;

	first = arena_get(&arena, (v->questions_n + 1) * sizeof *first);
	for (try = v->tries; try < v->tries + v->tries_n; try++) {
		if (try->key == CHECK_NO_KEY || try->class != OUTCOME_OK)
			continue;
		if (of_another_key(v, try, f))
			goto out;
		if (try->ret->d == NULL)
			continue;
		to = &first[try->question];
		exercised = exercised || *to != NULL;
		if (*to == NULL || is_new(v, *to, try))
			*to = try;
		else if (differ(v, *to, try, f))
			goto out;
	}
	check_find_end(f, exercised);
out:
	arena_free(&arena);
}

/* --- no_cross_talk -------------------------------------------------------- */

/*
 * Of which key a nonce is.  Nonces stand by their text: whoever reads one that
 * was another key's has somebody else's answer.
 */
struct nonce {
	const char *text;
	const struct check_try *try;
};

static int
by_text(const void *a, const void *b)
{
	const struct nonce *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order != 0 ? order : (x->try->a > y->try->a) -
	    (x->try->a < y->try->a);
}

static const struct nonce *
nonce_of(const struct nonce *all, size_t n, const char *text)
{
	size_t low = 0, high = n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (strcmp(all[at].text, text) < 0)
			low = at + 1;
		else
			high = at;
	}
	return low < n && strcmp(all[low].text, text) == 0 ? &all[low] : NULL;
}

static void
foreign(const struct check_view *v, const struct check_try *try,
    const struct check_try *whose, const char *what, const char *word,
    struct check_finding *f)
{
	check_find(f, CHECK_VIOLATED, try->key != CHECK_NO_KEY ?
	    v->keys[try->key].name : NULL, "the answer to try %d (%s) names "
	    "the %s %s%s", try->a, try->inv->k != NULL ? try->inv->k :
	    "without a key", what, word, whose != NULL ?
	    ", which is another request's" : "");
	check_find_event(f, try->ret);
	check_find_event(f, try->inv);
	if (whose != NULL)
		check_find_event(f, whose->inv);
}

/* A replay has the first request's nonce; one without a key only its own. */
static bool
may_name(const struct check_try *try, const struct check_try *whose)
{
	return try == whose || (try->key != CHECK_NO_KEY &&
	    try->key == whose->key);
}

/* What a run of another's did. */
static bool
names_another(const struct check_view *v, const struct check_try *try,
    struct check_finding *f)
{
	const struct check_run *run = check_view_run(v, try->ret->says_effect);

	if (run == NULL || (try->key != CHECK_NO_KEY ? run->key == try->key :
	    run->a == try->a || run->a == 0))
		return false;
	foreign(v, try, check_view_try(v, run->a), "effect", run->id, f);
	return true;
}

static bool
talks_across(const struct check_view *v, const struct check_try *try,
    const struct nonce *all, size_t n, struct check_finding *f)
{
	const struct history_event *ret = try->ret;
	bool whole = ret->how == OUTCOME_WHOLE && ret->d != NULL;
	const struct nonce *nonce;

	if (whole && ret->says_key != NULL && (try->inv->k != NULL ?
	    !check_is(ret->says_key, try->inv->k) :
	    check_view_key(v, ret->says_key) != CHECK_NO_KEY)) {
		foreign(v, try, NULL, "key", ret->says_key, f);
		return true;
	}
	if (names_another(v, try, f))
		return true;
	if (ret->says_nonce == NULL || try->inv->nonce == NULL)
		return false;
	/* Of a piece of a nonce nobody knows whose it is. */
	if (!whole && strlen(ret->says_nonce) < strlen(try->inv->nonce))
		return false;
	nonce = nonce_of(all, n, ret->says_nonce);
	if (nonce == NULL ? !whole : may_name(try, nonce->try))
		return false;
	foreign(v, try, nonce != NULL ? nonce->try : NULL, "nonce",
	    ret->says_nonce, f);
	return true;
}

/*
 * no_cross_talk (promise "same answer", never another's): the key, the nonce
 * and the effect that an answer names are of its own key; of a request without
 * one, its own.  A whole answer names no nonce that nobody sent.
 *
 * `info` counts: the first bytes of an answer that was cut must not be another
 * request's either; but a piece of a nonce says nothing.  Exercised by an
 * answer that names something, where there is more than one key.
 */
void
check_no_cross_talk(const struct check_view *v, struct check_finding *f)
{
	struct arena arena = { NULL };
	const struct check_try *try;
	bool exercised = false, found = false;
	struct nonce *all;
	size_t n = 0;

	all = arena_get(&arena, (v->tries_n + 1) * sizeof *all);
	for (try = v->tries; try < v->tries + v->tries_n; try++)
		if (try->inv->nonce != NULL)
			all[n++] = (struct nonce){ try->inv->nonce, try };
	if (n > 1)
		qsort(all, n, sizeof *all, by_text);
	for (try = v->tries; try < v->tries + v->tries_n && !found; try++) {
		if (try->ret == NULL || (try->ret->says_key == NULL &&
		    try->ret->says_nonce == NULL &&
		    try->ret->says_effect == NULL))
			continue;
		exercised = exercised || v->keys_n > 1 ||
		    try->key == CHECK_NO_KEY;
		found = talks_across(v, try, all, n, f);
	}
	if (!found)
		check_find_end(f, exercised);
	arena_free(&arena);
}

/* --- no_partial_success --------------------------------------------------- */

/* Something was cut, or may have been: there is a premise. */
static bool
something_cut(const struct check_view *v)
{
	size_t i;

	if (v->faults_n > 0 || v->head->handler_fails)
		return true;
	for (i = 0; i < v->runs_n; i++)
		if (v->runs[i].end == NULL)
			return true;
	for (i = 0; i < v->tries_n; i++)
		if (v->tries[i].ret != NULL &&
		    v->tries[i].ret->how == OUTCOME_CUT)
			return true;
	return false;
}

/*
 * no_partial_success (promise "same answer", never a truncated one): a final
 * answer (class ok) is as long as it says, and the run that a whole answer
 * names, final or not, wrote its last line, which a program writes after all
 * that it has to say: what was cut by a crash, a kill or a full disk is never
 * stored as a whole answer, nor passed off as one.
 *
 * Of answers that came to no end nothing is said: there the cut shows.
 * Exercised by a final answer in a history in which something was cut or a
 * fault struck.
 */
void
check_no_partial_success(const struct check_view *v, struct check_finding *f)
{
	const struct check_try *try;
	const struct check_run *run;
	bool exercised = false, cut;

	for (try = v->tries; try < v->tries + v->tries_n; try++) {
		if (try->key == CHECK_NO_KEY || try->ret == NULL ||
		    try->ret->how != OUTCOME_WHOLE)
			continue;
		exercised = exercised || try->class == OUTCOME_OK;
		run = check_view_run(v, try->ret->says_effect);
		cut = run != NULL && run->end == NULL;
		if (!cut && (try->class != OUTCOME_OK ||
		    try->ret->length_met))
			continue;
		check_find(f, CHECK_VIOLATED, v->keys[try->key].name, cut ?
		    "the whole answer to try %d is of %s, which was cut" :
		    "the final answer to try %d is shorter than it says",
		    try->a, cut ? run->id : "");
		check_find_event(f, try->ret);
		if (run != NULL)
			check_find_event(f, check_run_close(run));
		return;
	}
	check_find_end(f, exercised && something_cut(v));
}
