/* SPDX-License-Identifier: ISC */
#include "report_pick.h"

#include "arena.h"

#include <stdlib.h>
#include <string.h>

/* Why an event is shown: the lower, the rather. */
enum reason {
	OF_CONFLICT, OF_FAULT, CAUSE_OF_KEY, OF_KEY, CAUSE, NEAR, NEVER
};

struct candidate {
	enum reason reason;
	size_t away;		/* events between it and the conflict */
	size_t at;		/* in the history */
	uint8_t conflict;
};

struct sieve {
	const struct history *h;
	const struct check_finding *finding;	/* or NULL */
	enum report_pick_for what_for;
	size_t last;		/* of the conflict, or the history: an index */
	size_t *away;		/* from what went wrong, by index; NULL: there
				   is a conflict, or nothing else */
};

static void *
some(size_t n, size_t size)
{
	void *at = calloc(n + 1, size);

	arena_must_have(at != NULL);
	return at;
}

static uint8_t
conflict_of(const struct sieve *s, const struct history_event *e)
{
	size_t i;

	for (i = 0; s->finding != NULL && i < s->finding->events_n; i++)
		if (s->finding->events[i] == e->i)
			return (uint8_t)(i + 1);
	return 0;
}

/* Had one of the conflict heard of it? */
static bool
is_cause(const struct sieve *s, const struct history_event *e)
{
	const struct check_finding *f = s->finding;
	size_t i;

	for (i = 0; f != NULL && i < f->events_n; i++)
		if (f->events[i] > 0 && f->events[i] <= s->h->n &&
		    history_before(e, &s->h->events[f->events[i] - 1]))
			return true;
	return false;
}

static bool
is_fault(const struct history_event *e)
{
	return e->kind == HISTORY_FAULT || e->kind == HISTORY_HEAL ||
	    (e->kind == HISTORY_EXIT && e->p[0] != 'h') ||
	    e->kind == HISTORY_NOTE ||
	    (e->kind == HISTORY_SEND && e->fate != NULL) ||
	    (e->kind == HISTORY_RECV && e->fate != NULL);
}

static bool
is_of_key(const struct sieve *s, const struct history_event *e)
{
	return s->finding != NULL && s->finding->key != NULL && e->k != NULL &&
	    strcmp(s->finding->key, e->k) == 0;
}

static enum reason
reason_of(const struct sieve *s, const struct history_event *e)
{
	bool of_key = is_of_key(s, e), steps = s->what_for == REPORT_PICK_STEPS;

	if (steps && e->i > s->last + 1)
		return NEVER;
	if (is_fault(e))
		return OF_FAULT;
	if (e->kind == HISTORY_END)
		return steps ? NEVER : OF_FAULT;
	if (s->finding == NULL || s->finding->events_n == 0)
		return of_key ? OF_KEY : NEAR;
	if (is_cause(s, e))
		return of_key ? CAUSE_OF_KEY : CAUSE;
	return of_key ? OF_KEY : steps ? NEVER : NEAR;
}

/* Where nothing is in conflict, that is what is to be looked at. */
static bool
is_anchor(const struct history_event *e)
{
	return is_fault(e) || e->kind == HISTORY_NOTE;
}

static void
measure(struct sieve *s)
{
	size_t n = s->h->n, since = n, i;
	bool any = false;

	for (i = 0; i < n; i++)
		any = any || is_anchor(&s->h->events[i]);
	if (!any || (s->finding != NULL && s->finding->events_n > 0))
		return;
	s->away = some(n, sizeof *s->away);
	for (i = 0; i < n; i++) {
		since = is_anchor(&s->h->events[i]) ? 0 : since + 1;
		s->away[i] = since;
	}
	for (i = n, since = n; i-- > 0; ) {
		since = is_anchor(&s->h->events[i]) ? 0 : since + 1;
		if (since < s->away[i])
			s->away[i] = since;
	}
}

static struct candidate
judge(const struct sieve *s, size_t at)
{
	const struct history_event *e = &s->h->events[at];
	struct candidate c = { .at = at, .conflict = conflict_of(s, e) };

	c.reason = c.conflict > 0 ? OF_CONFLICT : reason_of(s, e);
	c.away = s->away != NULL ? s->away[at] : at > s->last ?
	    at - s->last : s->last - at;
	return c;
}

static int
by_reason(const void *a_, const void *b_)
{
	const struct candidate *a = a_, *b = b_;

	if (a->reason != b->reason)
		return a->reason < b->reason ? -1 : 1;
	if (a->away != b->away)
		return a->away < b->away ? -1 : 1;
	return a->at < b->at ? -1 : 1;
}

/* A long outage has more faults than there is room: the rest may wait. */
static void
sort(struct candidate *all, size_t n, size_t max)
{
	size_t faults = 0, i;

	qsort(all, n, sizeof *all, by_reason);
	for (i = 0; i < n && all[i].reason <= OF_FAULT; i++)
		if (all[i].reason == OF_FAULT && ++faults > max / 2) {
			all[i].reason = NEAR;
			all[i].away++;	/* as its neighbours are */
		}
	if (faults > max / 2)
		qsort(all, n, sizeof *all, by_reason);
}

static int
by_place(const void *a_, const void *b_)
{
	const struct candidate *a = a_, *b = b_;

	return (a->at > b->at) - (a->at < b->at);
}

static size_t
last_of(const struct history *h, const struct check_finding *f)
{
	size_t last = 0, i;

	for (i = 0; f != NULL && i < f->events_n; i++)
		if (f->events[i] <= h->n && f->events[i] > last)
			last = f->events[i];
	return last > 0 ? last - 1 : h->n > 0 ? h->n - 1 : 0;
}

void
report_pick(struct report_pick *pick, const struct history *h,
    const struct check_finding *finding, size_t max,
    enum report_pick_for what_for)
{
	struct sieve s = {
		h, finding, what_for, last_of(h, finding), NULL
	};
	struct candidate *all = some(h->n, sizeof *all);
	size_t n = 0, i;

	measure(&s);
	for (i = 0; i < h->n; i++)
		all[i] = judge(&s, i);
	free(s.away);
	sort(all, h->n, max);
	while (n < h->n && n < max && all[n].reason != NEVER)
		n++;
	qsort(all, n, sizeof *all, by_place);
	pick->at = some(n, sizeof *pick->at);
	pick->conflict = some(n, sizeof *pick->conflict);
	for (i = 0; i < n; i++) {
		pick->at[i] = &h->events[all[i].at];
		pick->conflict[i] = all[i].conflict;
	}
	pick->n = n;
	pick->left_out = h->n - n;
	free(all);
}

void
report_pick_free(struct report_pick *pick)
{
	free(pick->at);
	free(pick->conflict);
	*pick = (struct report_pick){ 0 };
}
