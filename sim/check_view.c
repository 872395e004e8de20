/* SPDX-License-Identifier: ISC */
#include "check_private.h"

#include <stdlib.h>
#include <string.h>

/* --- names ---------------------------------------------------------------- */

/* A number for each name of a kind: open addressing. */
/* OF_BODY + n: bodies of the n-th key. */
enum { OF_KEY = 1, OF_RUN, OF_LANE, OF_GATE, OF_BODY };

struct check_word {
	size_t kind;		/* 0: a free place */
	const char *name;
	size_t number;
};

struct check_words {
	struct check_word *at;
	size_t places;		/* a power of two */
};

static struct check_word *
word(const struct check_words *words, size_t kind, const char *name)
{
	uint32_t sum = 2166136261u + (uint32_t)kind * 40503u;
	const char *p;
	size_t at;

	for (p = name; *p != '\0'; p++)
		sum = (sum ^ (unsigned char)*p) * 16777619u;
	for (at = sum & (words->places - 1); words->at[at].kind != 0 &&
	    (words->at[at].kind != kind ||
	    strcmp(words->at[at].name, name) != 0);
	    at = (at + 1) & (words->places - 1))
		;
	return &words->at[at];
}

/* An event names at most a lane or an instance, a key, and a run or a body. */
static void
words_make(struct check_view *v)
{
	struct check_words *words = arena_get(&v->arena, sizeof *words);

	for (words->places = 64; words->places < 4 * v->h->n;
	    words->places *= 2)
		;
	words->at = arena_get(&v->arena, words->places * sizeof *words->at);
	v->words = words;
}

size_t
check_view_key(const struct check_view *v, const char *name)
{
	const struct check_word *w;

	if (name == NULL)
		return CHECK_NO_KEY;
	w = word(v->words, OF_KEY, name);
	return w->kind != 0 ? w->number : CHECK_NO_KEY;
}

static size_t
key_of(struct check_view *v, const char *name)
{
	struct check_word *w;
	struct check_key *key;

	if (name == NULL)
		return CHECK_NO_KEY;
	w = word(v->words, OF_KEY, name);
	if (w->kind == 0) {
		key = arena_more(&v->arena, &v->keys, &v->keys_n, sizeof *key);
		key->name = name;
		*w = (struct check_word){ OF_KEY, name, v->keys_n - 1 };
	}
	return w->number;
}

size_t
check_view_lane(struct check_view *v, const char *name)
{
	struct check_word *w = word(v->words, OF_LANE, name);

	if (w->kind == 0)
		*w = (struct check_word){ OF_LANE, name, v->lanes_n++ };
	return w->number;
}

static size_t
gate_of(struct check_view *v, const char *name)
{
	struct check_word *w;

	if (name == NULL)
		return 0;
	w = word(v->words, OF_GATE, name);
	if (w->kind == 0)
		*w = (struct check_word){ OF_GATE, name, v->gates_n++ };
	return w->number;
}

static size_t
question_of(struct check_view *v, size_t key, const char *f)
{
	struct check_word *w;

	if (key == CHECK_NO_KEY)
		return 0;
	if (f == NULL)
		f = "";
	w = word(v->words, OF_BODY + key, f);
	if (w->kind == 0)
		*w = (struct check_word){ OF_BODY + key, f, v->questions_n++ };
	return w->number;
}

/* --- tries ---------------------------------------------------------------- */

static int
by_number(const void *a, const void *b)
{
	const struct check_try *x = a, *y = b;

	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->inv->i < y->inv->i ? -1 : 1;
}

static struct check_try *
try_of(const struct check_view *v, int a)
{
	size_t low = 0, high = v->tries_n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (v->tries[at].a < a)
			low = at + 1;
		else
			high = at;
	}
	return low < v->tries_n && v->tries[low].a == a ? &v->tries[low] :
	    NULL;
}

const struct check_try *
check_view_try(const struct check_view *v, int a)
{
	return a > 0 ? try_of(v, a) : NULL;
}

static void
tries_make(struct check_view *v)
{
	const struct history *h = v->h;
	const struct history_event *e;
	struct check_try *try;

	for (e = h->events; e < h->events + h->n; e++) {
		if (e->kind != HISTORY_INV || e->a <= 0)
			continue;
		try = arena_more(&v->arena, &v->tries, &v->tries_n,
		    sizeof *try);
		*try = (struct check_try){ .a = e->a, .inv = e,
		    .key = key_of(v, e->k) };
		try->question = question_of(v, try->key, e->f);
		try->gate = gate_of(v, e->to);
	}
	if (v->tries_n > 0)
		qsort(v->tries, v->tries_n, sizeof *v->tries, by_number);
	for (e = h->events; e < h->events + h->n; e++) {
		if (e->kind != HISTORY_RET || e->a <= 0)
			continue;
		try = try_of(v, e->a);
		if (try != NULL && try->ret == NULL && e->i > try->inv->i) {
			try->ret = e;
			try->class = e->class;
		}
	}
}

/* --- runs ----------------------------------------------------------------- */

static struct check_run *
run_of(struct check_view *v, const struct history_event *e)
{
	struct check_word *w = word(v->words, OF_RUN, e->id);
	const struct check_try *try = check_view_try(v, e->a);
	struct check_run *run;

	if (w->kind != 0)
		return &v->runs[w->number];
	run = arena_more(&v->arena, &v->runs, &v->runs_n, sizeof *run);
	*w = (struct check_word){ OF_RUN, e->id, v->runs_n - 1 };
	run->id = e->id;
	run->first = e;
	run->a = e->a;
	run->key = e->k != NULL ? key_of(v, e->k) :
	    try != NULL ? try->key : CHECK_NO_KEY;
	return run;
}

static void
runs_make(struct check_view *v)
{
	const struct history *h = v->h;
	const struct history_event *e;
	struct check_run *run;

	for (e = h->events; e < h->events + h->n; e++) {
		if (e->kind != HISTORY_EFFECT || e->id == NULL || e->ph == NULL)
			continue;
		run = run_of(v, e);
		if (strcmp(e->ph, "begin") == 0 && run->begin == NULL)
			run->begin = e;
		else if (strcmp(e->ph, "commit") == 0 && run->commit == NULL) {
			run->commit = e;
			v->commits = true;
		} else if (strcmp(e->ph, "end") == 0 && run->end == NULL)
			run->end = e;
	}
}

const struct check_run *
check_view_run(const struct check_view *v, const char *id)
{
	const struct check_word *w;

	if (id == NULL)
		return NULL;
	w = word(v->words, OF_RUN, id);
	return w->kind != 0 ? &v->runs[w->number] : NULL;
}

bool
check_after(const struct check_view *v, const struct history_event *x,
    const struct history_event *y)
{
	return check_is(v->head->mode, "model") ? y->i > x->i :
	    y->t_ns > x->t_ns;
}

const struct history_event *
check_run_did(const struct check_view *v, const struct check_run *run)
{
	if (run->commit != NULL || v->commits)
		return run->commit;
	return run->end;
}

const struct history_event *
check_run_close(const struct check_run *run)
{
	if (run->commit != NULL)
		return run->commit;
	return run->end != NULL ? run->end : run->first;
}

/* --- what belongs to a key ------------------------------------------------ */

/* Tries stand by their numbers, and runs by their first lines. */
static int
by_inv(const void *a, const void *b)
{
	const struct check_try *const *x = a, *const *y = b;

	return (*x)->inv->i < (*y)->inv->i ? -1 : 1;
}

static void
keys_make(struct check_view *v)
{
	struct check_key *key;
	struct check_try *try;
	size_t i;

	for (i = 0; i < v->tries_n; i++) {
		if (v->tries[i].key == CHECK_NO_KEY)
			continue;
		key = &v->keys[v->tries[i].key];
		*(struct check_try **)arena_more(&v->arena, &key->tries,
		    &key->tries_n, sizeof *key->tries) = &v->tries[i];
	}
	for (i = 0; i < v->runs_n; i++) {
		try = v->runs[i].a > 0 ? try_of(v, v->runs[i].a) : NULL;
		if (try != NULL && try->run == NULL)
			try->run = &v->runs[i];
		if (v->runs[i].key == CHECK_NO_KEY)
			continue;
		key = &v->keys[v->runs[i].key];
		*(struct check_run **)arena_more(&v->arena, &key->runs,
		    &key->runs_n, sizeof *key->runs) = &v->runs[i];
	}
	for (key = v->keys; key < v->keys + v->keys_n; key++)
		if (key->tries_n > 0)
			qsort(key->tries, key->tries_n, sizeof *key->tries,
			    by_inv);
}

/* A program that goes on may write a line even then. */
static bool
has_ended(const struct history *h)
{
	size_t i = h->n;

	while (i-- > 0)
		if (h->events[i].kind == HISTORY_END)
			return true;
	return false;
}

/* Arrays are there even where they are empty: to have an end. */
void
check_view_make(struct check_view *v, const struct history *h)
{
	memset(v, 0, sizeof *v);
	v->h = h;
	v->head = &h->head;
	v->ended = has_ended(h);
	v->tries = arena_get(&v->arena, 1);
	v->runs = arena_get(&v->arena, 1);
	v->keys = arena_get(&v->arena, 1);
	v->faults = arena_get(&v->arena, 1);
	words_make(v);
	if (h->n == 0)
		return;
	tries_make(v);
	runs_make(v);
	keys_make(v);
	check_faults_make(v);
}

void
check_view_free(struct check_view *v)
{
	arena_free(&v->arena);
	memset(v, 0, sizeof *v);
}
