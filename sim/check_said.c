/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <inttypes.h>

#define STATUSES 8
#define MS_PER_S 1000

/* --- what may be said ----------------------------------------------------- */

/*
 * Idempotency-Status and the statuses that go with it, as doc/design.md has
 * them.  None: any; what the program says has the program's.
 */
static const struct form {
	const char *mark;
	int statuses[STATUSES];
} forms[] = {
	{ "stored", { 0 } },
	{ "replayed", { 0 } },
	{ "stored-without-body", { 0 } },
	{ "unprotected", { 0 } },
	{ "unrecorded", { 0 } },
	{ "released", { 0 } },
	{ "ignored", { 0 } },
	{ "rejected", { 400, 403, 405 } },
	{ "mismatch", { 422 } },
	{ "withheld", { 409 } },
	{ "in-progress", { 202, 409 } },
	{ "unknown", { 409, 502, 504 } },
	{ "void-token", { 409 } },
	{ "expired", { 409, 410 } },
	{ "not-kept", { 409 } },
	{ "not-started", { 403, 404, 413, 429, 431, 500, 503 } }
};

static const struct form *
form_of(const char *mark)
{
	size_t i;

	for (i = 0; i < sizeof forms / sizeof *forms; i++)
		if (check_is(forms[i].mark, mark))
			return &forms[i];
	return NULL;
}

static bool
goes_with(const struct form *form, int status)
{
	size_t i;

	for (i = 0; i < STATUSES && form->statuses[i] != 0; i++)
		if (form->statuses[i] == status)
			return true;
	return i == 0;
}

/* The program's own words are not idem's. */
static bool
is_ours(const struct form *form)
{
	return form->statuses[0] != 0;
}

/* A web server that finds nobody behind it says so in its own words. */
static bool
is_fronts(const struct check_view *v, const struct history_event *ret)
{
	return v->head->front && ret->mark == NULL && ret->status >= 500;
}

/* Who may come again, and to what end, if not at once. */
static bool
may_come_again(const struct history_event *ret)
{
	return check_is(ret->mark, "in-progress") ||
	    (check_is(ret->mark, "not-started") &&
	    (ret->status == 503 || ret->status == 429));
}

/* A lease in whole seconds, of which there is at least one. */
static int64_t
longest_s(const struct check_view *v)
{
	int64_t lease_ms = v->head->lease_ms;

	if (lease_ms <= MS_PER_S)
		return 1;
	return lease_ms / MS_PER_S + (lease_ms % MS_PER_S != 0);
}

/* --- answers_honest ------------------------------------------------------- */

static bool
says_wrong(const struct check_try *try, const struct form *form,
    struct check_finding *f)
{
	const struct history_event *ret = try->ret;
	const char *key = try->inv->k;

	if (form != NULL && goes_with(form, ret->status))
		return false;
	if (ret->mark == NULL || *ret->mark == '\0')
		check_find(f, CHECK_VIOLATED, key, "try %d was answered %d, "
		    "and no Idempotency-Status says what happened", try->a,
		    ret->status);
	else
		check_find(f, CHECK_VIOLATED, key, "try %d was answered %d "
		    "with Idempotency-Status: %.40s, which %s", try->a,
		    ret->status, ret->mark, form == NULL ? "is no word of "
		    "idem's" : "does not go with it");
	return true;
}

static bool
says_no_time(const struct check_view *v, const struct check_try *try,
    struct check_finding *f)
{
	const struct history_event *ret = try->ret;
	int64_t most_s = longest_s(v), s = ret->retry_after_s;

	if (!may_come_again(ret)) {
		if (s < 0)
			return false;
		check_find(f, CHECK_VIOLATED, try->inv->k, "try %d was told "
		    "(%d %s) to come again in %" PRId64 " s, and that would "
		    "change nothing", try->a, ret->status, ret->mark, s);
		return true;
	}
	if (s >= 1 && (v->head->lease_ms <= 0 || s <= most_s))
		return false;
	if (s < 0)
		check_find(f, CHECK_VIOLATED, try->inv->k, "try %d was told "
		    "to come again (%d %s), and not when", try->a,
		    ret->status, ret->mark);
	else
		check_find(f, CHECK_VIOLATED, try->inv->k, "try %d was told "
		    "(%d %s) to come again in %" PRId64 " s; 1 to %" PRId64
		    " is what a lease allows", try->a, ret->status, ret->mark,
		    s, most_s);
	return true;
}

/*
 * answers_honest (promise "honest"): each whole answer to a request with a key
 * says in Idempotency-Status what happened, in one of idem's words and with a
 * status that goes with it.  Who may come again, since the key is in progress
 * or he was not served for now (503), is told when: Retry-After, from a second
 * to a lease; and nobody else is told to by idem.
 *
 * Not of answers that were cut, and of the time not where the program speaks:
 * Retry-After is its own there.  Exercised by an answer of idem's own.
 */
void
check_answers_honest(const struct check_view *v, struct check_finding *f)
{
	const struct form *form;
	const struct check_try *try;
	bool exercised = false;

	for (try = v->tries; try < v->tries + v->tries_n; try++) {
		if (try->key == CHECK_NO_KEY || try->ret == NULL ||
		    try->ret->how != OUTCOME_WHOLE || is_fronts(v, try->ret))
			continue;
		form = form_of(try->ret->mark);
		exercised = exercised || form == NULL || is_ours(form);
		if (!says_wrong(try, form, f) && (form == NULL ||
		    !is_ours(form) || !says_no_time(v, try, f)))
			continue;
		check_find_event(f, try->ret);
		check_find_event(f, try->inv);
		return;
	}
	check_find_end(f, exercised);
}
