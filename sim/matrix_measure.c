/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include "names.h"

#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)

struct key {
	bool asked;		/* by a client */
	size_t starts;
	const char *ran_at;	/* the first instance */
	bool served;
	const struct history_event *answer;	/* the first final one that
						   a client has read */
	bool lost;
};

struct try {
	const struct history_event *inv, *ret;
	const struct history_event *began;	/* the program that ran */
	int64_t own_ns;
	bool last;		/* of its key, by its auditor */
};

struct view {
	const struct history *h;
	struct matrix_cell *cell;
	struct arena arena;
	struct names names;
	struct key *keys;	/* by number of its name */
	struct try *tries;	/* by a; 0 is none */
	size_t tries_n;
	int64_t from_ns, to_ns;
	bool audited;		/* clients are done, the simulator asks */
	bool storm;		/* there is one, and innocents beside it */
};

static bool
is_mark(const struct history_event *e, const char *mark)
{
	return e->mark != NULL && strcmp(e->mark, mark) == 0;
}

/* A client's own; of a storm's nobody wants to know. */
static bool
counts(const struct view *v, const struct try *t)
{
	return t->inv != NULL && t->inv->k != NULL && !t->inv->audit &&
	    !t->inv->fresh && (!v->storm || t->inv->innocent);
}

/* The program's answer, whole, final or not. */
static bool
is_answer(const struct history_event *ret)
{
	return ret != NULL && ret->how == OUTCOME_WHOLE &&
	    (ret->class == OUTCOME_OK || is_mark(ret, "unprotected") ||
	    is_mark(ret, "unrecorded") || is_mark(ret, "stored-without-body"));
}

static struct key *
key_of(struct view *v, const struct history_event *e)
{
	size_t i = e->k != NULL ? names_find(&v->names, e->k) : NAMES_NONE;

	return i != NAMES_NONE ? &v->keys[i] : NULL;
}

static struct try *
try_of(struct view *v, const struct history_event *e)
{
	return e->a > 0 && (size_t)e->a < v->tries_n ? &v->tries[e->a] : NULL;
}

/* --- what there is -------------------------------------------------------- */

static int64_t
param_ns(const struct history_head *head, const char *name, int64_t otherwise)
{
	size_t i;

	for (i = 0; i < head->params_n; i++)
		if (strcmp(head->params[i].name, name) == 0)
			return strtoll(head->params[i].value, NULL, 10) * MS;
	return otherwise;
}

static void
make_room(struct view *v)
{
	const struct history_event *e;
	size_t i, most = 0;

	for (i = 0; i < v->h->n; i++) {
		e = &v->h->events[i];
		if (e->a > 0 && (size_t)e->a > most)
			most = (size_t)e->a;
		if (e->kind == HISTORY_INV && e->k != NULL && !e->fresh)
			(void)names_add(&v->names, &v->arena, e->k);
		v->storm = v->storm || (e->kind == HISTORY_INV && e->innocent);
	}
	v->tries_n = most + 1;
	v->tries = arena_get(&v->arena, v->tries_n * sizeof *v->tries);
	v->keys = arena_get(&v->arena, (v->names.n + 1) * sizeof *v->keys);
}

static void
take_effect(struct view *v, const struct history_event *e)
{
	struct key *key = key_of(v, e);
	struct try *t = try_of(v, e);

	if (strcmp(e->ph, "begin") == 0) {
		if (key != NULL && key->starts++ == 0)
			key->ran_at = e->gate;
		if (t != NULL)
			t->began = e;
	} else if (strcmp(e->ph, "end") == 0 && t != NULL && t->began != NULL)
		t->own_ns = e->t_ns - t->began->t_ns;
}

static void
take(struct view *v, const struct history_event *e)
{
	struct key *key = key_of(v, e);
	struct try *t = try_of(v, e);

	switch (e->kind) {
	case HISTORY_INV:
		if (t != NULL)
			t->inv = e;
		if (key != NULL && !e->audit)
			key->asked = true;
		v->audited = v->audited || e->audit || e->fresh;
		break;
	case HISTORY_RET:
		if (t != NULL)
			t->ret = e;
		break;
	case HISTORY_EFFECT:
		take_effect(v, e);
		break;
	case HISTORY_SEND:
		v->cell->commands += !v->audited;
		break;
	case HISTORY_RECV:
	case HISTORY_LABEL:
	case HISTORY_STORE:
	case HISTORY_LEDGER:
	case HISTORY_FAULT:
	case HISTORY_HEAL:
	case HISTORY_SPAWN:
	case HISTORY_EXIT:
	case HISTORY_LOG:
	case HISTORY_NOTE:
	case HISTORY_END:
	case HISTORY_KINDS:
		break;
	}
}

/* --- what became of keys -------------------------------------------------- */

static void
see_answers(struct view *v)
{
	const struct history_event *e;
	struct try *t;
	struct key *key;
	size_t i;

	for (i = 0; i < v->h->n; i++) {
		e = &v->h->events[i];
		t = try_of(v, e);
		key = key_of(v, e);
		if (e->kind != HISTORY_RET || t == NULL || key == NULL ||
		    t->inv == NULL || t->inv->audit)
			continue;
		key->served = key->served || is_answer(e);
		if (key->answer == NULL && e->class == OUTCOME_OK)
			key->answer = e;
	}
}

/* An auditor asks until it is told more than to wait: its last try counts. */
static void
find_last(struct view *v)
{
	struct arena arena = { NULL };
	struct names seen = { .n = 0 };
	struct try *t;
	size_t i, n;

	for (i = v->tries_n; i-- > 0; ) {
		t = &v->tries[i];
		if (t->inv == NULL || !t->inv->audit || t->inv->k == NULL ||
		    t->inv->to == NULL)
			continue;
		n = seen.n;
		(void)names_add(&seen, &arena, arena_format(&arena, "%s %s",
		    t->inv->to, t->inv->k));
		t->last = seen.n > n;
	}
	arena_free(&arena);
}

static bool
is_the_answer(const struct history_event *ret, const struct history_event *is)
{
	return ret->class == OUTCOME_OK && ret->d != NULL && is->d != NULL &&
	    strcmp(ret->d, is->d) == 0;
}

static void
audit(struct view *v)
{
	struct try *t;
	struct key *key;
	size_t i;

	find_last(v);
	for (i = 0; i < v->tries_n; i++) {
		t = &v->tries[i];
		key = t->last ? key_of(v, t->inv) : NULL;
		if (key != NULL && key->answer != NULL && t->ret != NULL &&
		    !is_the_answer(t->ret, key->answer))
			key->lost = true;
	}
}

static void
add_keys(struct view *v)
{
	struct matrix_cell *c = v->cell;
	const struct key *key;

	for (key = v->keys; key < v->keys + v->names.n; key++) {
		if (!key->asked)
			continue;
		c->keys++;
		c->starts += key->starts;
		c->again += key->starts > 1;
		c->most = key->starts > c->most ? key->starts : c->most;
		c->unserved += !key->served;
		c->answered += key->answer != NULL;
		c->lost += key->lost;
	}
}

/* --- what became of tries ------------------------------------------------- */

static void
add_time(struct matrix_cell *c, struct matrix_times *t, int64_t ns)
{
	*(int64_t *)arena_more(&c->arena, &t->ns, &t->n, sizeof *t->ns) = ns;
	t->sorted = false;
}

static void
add_times(struct matrix_cell *c, const struct try *t)
{
	int64_t ns = t->ret->t_ns - t->inv->t_ns;

	if (t->began == NULL || t->ret->class != OUTCOME_OK || t->own_ns <= 0)
		return;
	add_time(c, &c->first, ns);
	add_time(c, &c->own, t->own_ns);
	add_time(c, &c->added, ns - t->own_ns);
}

/* An instance that ran it may know the answer by itself. */
static bool
is_repeat(const struct key *key, const struct try *t)
{
	return key != NULL && key->answer != NULL &&
	    key->answer->i < t->inv->i && t->inv->to != NULL &&
	    (key->ran_at == NULL || strcmp(key->ran_at, t->inv->to) != 0);
}

static void
add_try(struct view *v, const struct try *t)
{
	struct matrix_cell *c = v->cell;
	const struct key *key = key_of(v, t->inv);
	bool within = t->inv->t_ns >= v->from_ns && t->inv->t_ns < v->to_ns;

	c->tries++;
	c->window += within;
	if (t->ret == NULL)
		return;
	c->unknown += t->ret->class == OUTCOME_UNKNOWN ||
	    is_mark(t->ret, "unknown");
	c->served += within && is_answer(t->ret);
	c->unprotected += within && is_answer(t->ret) &&
	    is_mark(t->ret, "unprotected");
	if (is_repeat(key, t)) {
		c->repeats++;
		c->replayed += t->ret->class == OUTCOME_OK &&
		    t->began == NULL;
	}
	add_times(c, t);
}

/* Heals, and what may happen, need not. */
static void
see_faults(const struct history *h, struct matrix_cell *c)
{
	const struct history_head *head = &h->head;
	size_t i;

	while (c->struck_n < head->faults_n)
		(void)arena_more(&c->arena, &c->struck, &c->struck_n,
		    sizeof *c->struck);
	c->idle = NULL;
	for (i = 0; i < head->faults_n; i++) {
		c->struck[i] += head->faults[i].fired;
		if (head->faults[i].must == 1 && c->struck[i] == 0 &&
		    c->idle == NULL)
			c->idle = arena_text(&c->arena, head->faults[i].text);
	}
}

void
matrix_measure(const struct history *h, struct matrix_cell *c)
{
	struct view v = { .h = h, .cell = c,
	    .from_ns = param_ns(&h->head, "from_ms", 0),
	    .to_ns = param_ns(&h->head, "to_ms", INT64_MAX) };
	size_t i;

	make_room(&v);
	for (i = 0; i < h->n; i++)
		take(&v, &h->events[i]);
	see_answers(&v);
	audit(&v);
	add_keys(&v);
	for (i = 0; i < v.tries_n; i++)
		if (counts(&v, &v.tries[i]))
			add_try(&v, &v.tries[i]);
	see_faults(h, c);
	c->runs++;
	arena_free(&v.arena);
}

/* --- shares and times ----------------------------------------------------- */

static int
by_time(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

double
matrix_ms(struct matrix_times *t, double q)
{
	double rank = q * (double)t->n;
	size_t i = (size_t)rank;

	if (t->n == 0)
		return -1;
	if (!t->sorted)
		qsort(t->ns, t->n, sizeof *t->ns, by_time);
	t->sorted = true;
	if ((double)i < rank)
		i++;
	return (double)t->ns[i > 0 ? i - 1 : 0] / (double)MS;
}

double
matrix_available(const struct matrix_cell *c)
{
	return c->window > 0 ? (double)c->served / (double)c->window : -1;
}
