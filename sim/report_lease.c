/* SPDX-License-Identifier: ISC */
#include "names.h"
#include "report_chart.h"

#include <string.h>

#define MS_NS INT64_C(1000000)
#define ABREAST 8		/* leases that are drawn at the same time */

/*
 * Who owned a key, and until when, as servers said it:
 *
 *	claim WON        renew RENEWED     renew RENEWED     complete WRITTEN
 *	    +------------------+-----------------+------------------+
 *
 * or, where nobody renews, until a lease after the last of them.  Commands to a
 * ledger are not in a history: there instances tell at the labels "run.begin",
 * when they have got a key and are to run it, and "complete.ok" and its like,
 * when it is written what has become of it.  Where they do not, it is the
 * program that tells, from its begin to its end.
 */
struct finding {
	struct chart *c;
	struct names keys;
	struct open {
		size_t lease;	/* 1 + its index; 0: none */
		bool told;	/* by its instance: the program's end is not
				   its own */
	} *open;		/* by key */
	size_t open_n;
	const char **sent;	/* by message: who sent it; or NULL */
	size_t sent_n;
	int64_t lease_ns;
};

static bool
is(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static bool
is_expiry(const struct history_event *e, const char *key)
{
	return is(e->note, "lease_expired_running") && is(e->k, key);
}

/* Of a file that somebody made up it may be past all times. */
static int64_t
until(const struct finding *f, const struct history_event *e)
{
	return e->t_ns < INT64_MAX - f->lease_ns ? e->t_ns + f->lease_ns :
	    INT64_MAX;
}

static struct open *
open_of(struct finding *f, const char *key)
{
	size_t before = f->keys.n, at;

	at = names_add(&f->keys, &f->c->arena, key);
	if (f->keys.n > before)
		(void)arena_more(&f->c->arena, &f->open, &f->open_n,
		    sizeof *f->open);
	return &f->open[at];
}

/* Whatever came after its time did not end it. */
static void
end(struct finding *f, const struct history_event *e, enum chart_lease_end how)
{
	struct open *open = open_of(f, e->k);
	struct chart_lease *l;

	if (open->lease == 0)
		return;
	l = &f->c->leases[open->lease - 1];
	*open = (struct open){ 0, false };
	l->end = how;
	l->end_ns = e->t_ns;
	l->to = e->i;
	if (l->until_ns >= e->t_ns)
		return;
	l->end = CHART_LEASE_EXPIRED;
	l->end_ns = l->until_ns;
	l->to = 0;
}

static void
begin(struct finding *f, const struct history_event *e, const char *gate,
    int64_t until_ns)
{
	struct chart_lease *l;

	end(f, e, CHART_LEASE_TAKEN);
	l = arena_more(&f->c->arena, &f->c->leases, &f->c->leases_n,
	    sizeof *l);
	*l = (struct chart_lease){ .key = e->k, .gate = gate, .from = e->i,
	    .from_ns = e->t_ns, .until_ns = until_ns };
	open_of(f, e->k)->lease = f->c->leases_n;
}

static void
renew(struct finding *f, const struct history_event *e, const char *gate)
{
	size_t lease = open_of(f, e->k)->lease;
	struct chart_lease *l;

	if (lease == 0 || f->c->leases[lease - 1].until_ns < e->t_ns) {
		begin(f, e, gate, until(f, e));
		return;
	}
	l = &f->c->leases[lease - 1];
	l->until_ns = until(f, e);
	*(uint32_t *)arena_more(&f->c->arena, &l->renewed, &l->renewed_n,
	    sizeof *l->renewed) = e->i;
}

/* --- what is said of it --------------------------------------------------- */

static const char *
sender(const struct finding *f, const struct history_event *e)
{
	return e->m > 0 && (size_t)e->m < f->sent_n ? f->sent[e->m] : NULL;
}

static void
on_store(struct finding *f, const struct history_event *e)
{
	if (is(e->note, "lost_ack"))
		end(f, e, CHART_LEASE_FORGOTTEN);
	else if (is(e->code, "WON"))
		begin(f, e, sender(f, e), until(f, e));
	else if (is(e->code, "OURS") || is(e->code, "RENEWED"))
		renew(f, e, sender(f, e));
	else if (!is(e->code, "WRITTEN"))
		return;
	else if (is(e->script, "complete"))
		end(f, e, CHART_LEASE_COMPLETED);
	else if (is(e->script, "unknown"))
		end(f, e, CHART_LEASE_UNKNOWN);
	else
		end(f, e, CHART_LEASE_RELEASED);
}

static bool
is_of(struct finding *f, const char *key, const char *gate)
{
	size_t lease = open_of(f, key)->lease;

	return lease > 0 && (gate == NULL ||
	    f->c->leases[lease - 1].gate == NULL ||
	    is(gate, f->c->leases[lease - 1].gate));
}

static void
on_program(struct finding *f, const struct history_event *e)
{
	if (open_of(f, e->k)->told && is_of(f, e->k, e->gate))
		return;
	if (is(e->ph, "begin"))
		begin(f, e, e->gate, INT64_MAX);
	else if (is(e->ph, "end"))
		end(f, e, CHART_LEASE_RAN);
}

/* It is heard of a little later than it was: then its program may have begun,
   and who gave it back be told of after who has it now. */
static void
on_label(struct finding *f, const struct history_event *e)
{
	if (is(e->label, "run.begin")) {
		if (open_of(f, e->k)->told || !is_of(f, e->k, e->p))
			begin(f, e, e->p, INT64_MAX);
		open_of(f, e->k)->told = true;
	} else if (is(e->label, "complete.ok"))
		end(f, e, CHART_LEASE_COMPLETED);
	else if (is(e->label, "release.ok") && is_of(f, e->k, e->p))
		end(f, e, CHART_LEASE_RELEASED);
	else if (is(e->label, "unknown.ok"))
		end(f, e, CHART_LEASE_UNKNOWN);
}

/* Its owner is gone, or nobody renewed it. */
static void
on_ledger(struct finding *f, const struct history_event *e)
{
	const struct chart_lease *l;
	struct history_event of = *e;
	size_t i;

	if (e->k != NULL && is_expiry(e, e->k)) {
		end(f, e, CHART_LEASE_EXPIRED);
		return;
	}
	if (e->kind == HISTORY_EFFECT && e->k != NULL)
		on_program(f, e);
	if (e->kind == HISTORY_LABEL && e->k != NULL)
		on_label(f, e);
	for (i = 0; e->kind == HISTORY_EXIT && i < f->open_n; i++) {
		l = f->open[i].lease > 0 ?
		    &f->c->leases[f->open[i].lease - 1] : NULL;
		of.k = f->keys.at[i];
		if (l != NULL && is(l->gate, e->p))
			end(f, &of, CHART_LEASE_DIED);
	}
}

static void
listen(struct finding *f)
{
	const struct history *h = f->c->h;
	bool ledger = is(h->head.arbiter, "ledger");
	const struct history_event *e;

	f->sent_n = 4 * h->n + 1;
	f->sent = arena_get(&f->c->arena, f->sent_n * sizeof *f->sent);
	for (e = h->events; e < h->events + h->n; e++) {
		if (e->kind == HISTORY_SEND && e->m > 0 &&
		    (size_t)e->m < f->sent_n)
			f->sent[e->m] = e->p;
		if (ledger)
			on_ledger(f, e);
		else if (e->kind == HISTORY_STORE && e->k != NULL)
			on_store(f, e);
	}
}

/* What the run's end leaves open ends by itself, if its time was over. */
static void
close_all(struct finding *f)
{
	const struct history *h = f->c->h;
	int64_t over_ns = h->events[h->n - 1].t_ns;
	struct chart_lease *l;
	size_t i;

	for (i = 0; i < f->open_n; i++) {
		if (f->open[i].lease == 0)
			continue;
		l = &f->c->leases[f->open[i].lease - 1];
		if (l->until_ns >= over_ns)
			continue;	/* CHART_LEASE_OPEN */
		l->end = CHART_LEASE_EXPIRED;
		l->end_ns = l->until_ns;
	}
}

/* --- where it is ---------------------------------------------------------- */

static size_t
row_at(const struct chart *c, int64_t t_ns)
{
	size_t low = 0, high = c->n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (c->rows[at].e->t_ns <= t_ns)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

/* Above a row, where something was before it that has none. */
static int
above(const struct chart *c, size_t row)
{
	if (row == c->n)
		return report_chart_foot(c);
	return c->rows[row].y - CHART_ROW / 2 -
	    (c->rows[row].gap_ns > 0 ? CHART_GAP / 2 : 0);
}

static int
y_of(const struct chart *c, uint32_t i)
{
	size_t row = report_chart_row_of(c, i);

	return row < c->n && c->rows[row].e->i == i ? c->rows[row].y :
	    above(c, row);
}

/* False: nothing of it is between the rows that are shown. */
static bool
place(struct chart *c, struct chart_lease *l)
{
	l->first = report_chart_row_of(c, l->from);
	if (l->first == c->n)
		return false;
	l->y = y_of(c, l->from);
	if (l->end == CHART_LEASE_OPEN) {
		l->last = c->n;
		l->foot = report_chart_foot(c);
	} else if (l->to > 0) {
		l->last = report_chart_row_of(c, l->to);
		l->foot = y_of(c, l->to);
	} else {
		l->last = row_at(c, l->end_ns);
		l->foot = above(c, l->last);
		/* It is told of, too: there. */
		if (l->last > 0 && is_expiry(c->rows[l->last - 1].e, l->key))
			l->foot = c->rows[--l->last].y;
	}
	return l->foot > l->y;
}

static bool
is_shown(const struct chart *c, uint32_t i)
{
	size_t row = report_chart_row_of(c, i);

	return i > 0 && row < c->n && c->rows[row].e->i == i;
}

/* Of one that is all among what was left out nothing can be read. */
static bool
tells(const struct chart *c, const struct chart_lease *l)
{
	size_t i;

	for (i = 0; i < l->renewed_n; i++)
		if (is_shown(c, l->renewed[i]))
			return true;
	return is_shown(c, l->from) || is_shown(c, l->to) ||
	    (l->end == CHART_LEASE_EXPIRED && l->last < c->n &&
	    is_expiry(c->rows[l->last].e, l->key));
}

/* Not more at a time than can be told apart; free_from: rows. */
static bool
has_room(const struct chart_lease *l, size_t free_from[ABREAST])
{
	size_t i;

	for (i = 0; i < ABREAST; i++)
		if (free_from[i] <= l->first) {
			free_from[i] = l->last + 1;
			return true;
		}
	return false;
}

/* Each has a lane; they share columns. */
static void
make_lane(struct chart *c, struct chart_lease *l)
{
	struct chart_lane *lane = arena_more(&c->arena, &c->lanes,
	    &c->lanes_n, sizeof *lane);

	*lane = (struct chart_lane){ .name = l->key, .kind = CHART_LEASE,
	    .first = l->first, .last = l->last < c->n ? l->last : c->n - 1 };
	l->lane = (int)(c->lanes_n - 1);
}

static void
choose(struct chart *c, const char *key)
{
	size_t free_from[ABREAST] = { 0 }, all = c->leases_n, i, n = 0;
	struct chart_lease *l;

	for (i = 0; i < all; i++) {
		l = &c->leases[i];
		if (!place(c, l))
			continue;
		if (is(key, l->key) || (tells(c, l) && has_room(l, free_from)))
			c->leases[n++] = *l;
	}
	c->leases_n = n;
	c->leases_left = all - n;
	for (i = 0; i < n; i++)
		make_lane(c, &c->leases[i]);
}

void
report_lease_find(struct chart *c, const char *key)
{
	int64_t lease_ms = c->h->head.lease_ms;
	struct finding f = { .c = c };

	if (c->n == 0 || lease_ms <= 0 || lease_ms > INT64_MAX / MS_NS)
		return;
	f.lease_ns = lease_ms * MS_NS;
	listen(&f);
	close_all(&f);
	choose(c, key);
}
