/* SPDX-License-Identifier: ISC */
#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct odd {
	const struct history *h;
	char *why;
	size_t why_size;
};

/* The line that an event has in a file. */
static size_t
line_of(const struct history_event *e)
{
	return (size_t)e->i + 1;
}

static bool
is(const char *a, const char *b)
{
	return a != NULL && strcmp(a, b) == 0;
}

/* --- the head ------------------------------------------------------------- */

/* Words on which verdicts hang, of all that there are. */
static bool
words_odd(struct odd *o)
{
	const struct history_head *head = &o->h->head;
	const struct {
		const char *name, *is, *words[5];
	} all[] = {
		{ "mode", head->mode, { "live", "model" } },
		{ "arbiter", head->arbiter, { "ledger", "token", "redis" } },
		{ "on_unknown", head->on_unknown,
		  { "block", "retry", "probe" } },
		{ "on_outage", head->on_outage,
		  { "reject", "memory", "database", "pass" } }
	};
	size_t i, k;

	for (i = 0; i < sizeof all / sizeof *all; i++) {
		for (k = 0; all[i].words[k] != NULL; k++)
			if (is(all[i].is, all[i].words[k]))
				break;
		if (all[i].words[k] != NULL)
			continue;
		snprintf(o->why, o->why_size,
		    "\"%s\" is %.40s; it is to be %s, "
		    "%s%s%s%s%s", all[i].name, all[i].is != NULL ? all[i].is :
		    "not said", all[i].words[0], all[i].words[1],
		    all[i].words[2] != NULL ? ", " : "",
		    all[i].words[2] != NULL ? all[i].words[2] : "",
		    all[i].words[3] != NULL ? ", " : "",
		    all[i].words[3] != NULL ? all[i].words[3] : "");
		return true;
	}
	return false;
}

static bool
times_odd(struct odd *o)
{
	const struct history_head *head = &o->h->head;
	const struct {
		const char *name;
		int64_t ms;
	} all[] = {
		{ "lease_ms", head->lease_ms }, { "grace_ms", head->grace_ms },
		{ "wait_ms", head->wait_ms }, { "limit_ms", head->limit_ms },
		{ "keep_ms", head->keep_ms }, { "once_ms", head->once_ms },
		{ "probe_ms", head->probe_ms }
	};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].ms < 0) {
			snprintf(o->why, o->why_size, "\"%s\" is less than 0",
			    all[i].name);
			return true;
		}
	return false;
}

/* --- each event ----------------------------------------------------------- */

static const char *
number_odd(const struct history *h, const struct history_event *e)
{
	if (e->a < 0 || e->m < 0 || e->attempt < 0 || e->life < 0)
		return "a number is less than 0";
	if (e->fault < -1 || (e->fault >= 0 &&
	    (size_t)e->fault >= h->head.faults_n))
		return "the head has no such fault";
	return NULL;
}

static const char *
event_odd(const struct history *h, const struct history_event *e)
{
	const char *why = number_odd(h, e);

	if (why != NULL)
		return why;
	if ((e->kind == HISTORY_INV || e->kind == HISTORY_RET) && e->a == 0)
		return "it does not say of which try it is";
	if (e->kind != HISTORY_EFFECT)
		return NULL;
	if (e->id == NULL)
		return "it does not say of which run it is";
	return is(e->ph, "begin") || is(e->ph, "commit") || is(e->ph, "end") ?
	    NULL : "\"ph\" is not one of begin, commit, end";
}

static size_t
events_odd(struct odd *o)
{
	const struct history_event *e = o->h->events;
	const char *why = NULL;
	bool ended = false;

	for (; e < o->h->events + o->h->n; e++) {
		why = event_odd(o->h, e);
		if (why == NULL && e->kind == HISTORY_END && ended)
			why = "the run ends twice";
		ended = ended || e->kind == HISTORY_END;
		if (why == NULL)
			continue;
		snprintf(o->why, o->why_size, "%s", why);
		return line_of(e);
	}
	return 0;
}

/* --- events of one try, and of one run ------------------------------------ */

static int
by_try(const void *a, const void *b)
{
	const struct history_event *const *x = a, *const *y = b;

	if ((*x)->a != (*y)->a)
		return (*x)->a < (*y)->a ? -1 : 1;
	return (*x)->i < (*y)->i ? -1 : 1;
}

static int
by_run(const void *a, const void *b)
{
	const struct history_event *const *x = a, *const *y = b;
	int order = strcmp((*x)->id, (*y)->id);

	return order != 0 ? order : (*x)->i < (*y)->i ? -1 : 1;
}

/* What it does once, and only then may do something else: is sent, ends. */
static const char *
try_step(const struct history_event *before, const struct history_event *e)
{
	bool same = before != NULL && before->a == e->a;

	if (!same)
		return e->kind == HISTORY_INV ? NULL :
		    "ends, and was not sent";
	if (e->kind == HISTORY_INV)
		return "is sent twice";
	return before->kind == HISTORY_RET ? "ends twice" : NULL;
}

const char *
history_run_odd(const char *before, const char *ph)
{
	if (before == NULL)
		return is(ph, "begin") ? NULL : "goes on, and has not begun";
	if (is(ph, "begin"))
		return "begins twice";
	if (is(before, "end"))
		return "goes on after its end";
	return is(before, "commit") && is(ph, "commit") ? "commits twice" :
	    NULL;
}

static const char *
run_step(const struct history_event *before, const struct history_event *e)
{
	bool same = before != NULL && strcmp(before->id, e->id) == 0;

	return history_run_odd(same ? before->ph : NULL, e->ph);
}

static size_t
steps_odd(struct odd *o, bool runs)
{
	const struct history_event **all, *e, *before = NULL;
	struct arena arena = { NULL };
	const char *why = NULL;
	size_t i, n = 0, line = 0;

	all = arena_get(&arena, (o->h->n + 1) * sizeof *all);
	for (e = o->h->events; e < o->h->events + o->h->n; e++)
		if (runs ? e->kind == HISTORY_EFFECT :
		    e->kind == HISTORY_INV || e->kind == HISTORY_RET)
			all[n++] = e;
	if (n > 1)
		qsort(all, n, sizeof *all, runs ? by_run : by_try);
	for (i = 0; i < n && line == 0; before = all[i++]) {
		why = runs ? run_step(before, all[i]) :
		    try_step(before, all[i]);
		if (why == NULL)
			continue;
		if (runs)
			snprintf(o->why, o->why_size, "the run %.40s %s",
			    all[i]->id, why);
		else
			snprintf(o->why, o->why_size, "try %d %s", all[i]->a,
			    why);
		line = line_of(all[i]);
	}
	arena_free(&arena);
	return line;
}

/* -------------------------------------------------------------------------- */

size_t
history_odd(const struct history *h, char *why, size_t why_size)
{
	struct odd o = { h, why, why_size };
	size_t line;

	if (words_odd(&o) || times_odd(&o))
		return 1;
	line = events_odd(&o);
	if (line == 0)
		line = steps_odd(&o, false);
	return line != 0 ? line : steps_odd(&o, true);
}
