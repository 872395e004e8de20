/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define MS_NS 1000000

/*
 * Who ended though nobody wanted it, besides those that are children of ours:
 * the kernel kills for want of memory whom it likes.
 */

static void
died(struct live *l, const char *p, const char *why)
{
	struct history_event *e = history_add(l->h, HISTORY_EXIT,
	    live_now_ns(l), p);

	e->why = history_text(l->h, why);
}

/* --- parts of an instance ------------------------------------------------- */

static void
say(const char *part, const char *how, int n, char *out, size_t size)
{
	if (strcmp(how, "signal") == 0 && sigabbrev_np(n) != NULL)
		snprintf(out, size, "%s: SIG%s", part, sigabbrev_np(n));
	else
		snprintf(out, size, "%s: %s %d", part, how, n);
}

/*
 * "... worker=0 lobby=17 died signal=9", or "... ended exit=1": an end without
 * a mistake is one that the instance itself wanted.
 */
void
live_died_line(struct live_gate *g, const char *text, size_t len)
{
	char line[256], part[8], how[8], why[48];
	const char *at;
	int pid, n;

	len = len < sizeof line ? len : sizeof line - 1;
	memcpy(line, text, len);
	line[len] = '\0';
	at = strstr(line, "worker=");
	if (at == NULL || sscanf(at, "worker=%*u %7[a-z]=%d %*[a-z] "
	    "%7[a-z]=%d", part, &pid, how, &n) != 4 ||
	    (strcmp(part, "lobby") != 0 && strcmp(part, "keeper") != 0) ||
	    (strcmp(how, "signal") != 0 && strcmp(how, "exit") != 0) ||
	    n == 0 || instance_killed(&g->instance, pid))
		return;
	g->cast->harmed = true;
	if (g->cast->run == NULL)
		return;
	say(part, how, n, why, sizeof why);
	died(g->cast->run, g->instance.name, why);
}

/* --- programs, by their journal ------------------------------------------- */

static bool
may_end_a_program(const struct plan_action *a)
{
	return a->kind <= PLAN_PROC_FAIL ||
	    (a->kind >= PLAN_DISK_POWER_LOSS && a->kind <= PLAN_DISK_BUSY) ||
	    a->kind == PLAN_CLIENT_GIVE_UP || a->kind == PLAN_CLIENT_ABORT;
}

/* An instance ends one that takes too long, or says too much. */
static bool
has_limits(const struct plan_gates *g)
{
	static const char *const words[] = { "limit", "tier", "spool" };
	size_t i, k;

	for (i = 0; i < g->configs; i++)
		for (k = 0; k < sizeof words / sizeof *words; k++)
			if (strstr(g->config[i].name, words[k]) != NULL)
				return true;
	return false;
}

/* Then nobody can say who ended a program. */
static bool
plan_may(const struct plan *plan)
{
	size_t i, k;

	if (plan->handler.effect == PLAN_EXTERNAL ||
	    plan->handler.crash[0] != '\0' || has_limits(&plan->gates))
		return true;
	for (i = 0; i < plan->rules_n; i++)
		for (k = 0; k < plan->rules[i].n; k++)
			if (may_end_a_program(&plan->rules[i].actions[k]))
				return true;
	for (i = 0; i < plan->maybes_n; i++)
		if (may_end_a_program(&plan->maybes[i].action))
			return true;
	return false;
}

/* Of what has begun there.  Its end is its last deed. */
static bool
has_ended(const struct history *h, size_t begin)
{
	const struct history_event *e;
	size_t i;

	for (i = begin + 1; i < h->n; i++) {
		e = &h->events[i];
		if (e->kind == HISTORY_EFFECT && strcmp(e->ph, "end") == 0 &&
		    strcmp(e->id, h->events[begin].id) == 0)
			return true;
	}
	return false;
}

static bool
is_there(pid_t pid)
{
	struct child_stat st;

	return child_stat(pid, &st) && st.state != 'Z' && st.state != 'X';
}

/* false: it says of none that it was cut off, or that means nothing. */
static bool
journal_tells(struct live *l)
{
	const struct history_event *e;
	size_t i, n = l->h->n;
	bool told = false;

	for (i = 0; i < n && !plan_may(l->plan); i++) {
		e = &l->h->events[i];
		if (e->kind != HISTORY_EFFECT || strcmp(e->ph, "begin") != 0 ||
		    is_there((pid_t)e->pid) || has_ended(l->h, i) ||
		    !live_fits(l, 1))
			continue;
		died(l, e->p, "it was cut off");
		told = true;
	}
	return told;
}

/* --- and by what their clients were told ---------------------------------- */

static bool
came_to_its_end(const struct history *h, int a)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_EFFECT &&
		    h->events[i].a == a &&
		    strcmp(h->events[i].ph, "end") == 0)
			return true;
	return false;
}

static int64_t
began_ns(const struct history *h, int a)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_INV && h->events[i].a == a)
			return h->events[i].t_ns;
	return 0;
}

/* Its client is told that nobody knows, long before the program's limit. */
static bool
is_lost(const struct history *h, const struct history_event *ret)
{
	return ret->kind == HISTORY_RET && ret->how == OUTCOME_WHOLE &&
	    ret->class == OUTCOME_INFO && ret->mark != NULL &&
	    strcmp(ret->mark, "unknown") == 0 && (h->head.limit_ms == 0 ||
	    ret->t_ns < began_ns(h, ret->a) + h->head.limit_ms * MS_NS) &&
	    !came_to_its_end(h, ret->a);
}

/*
 * This finds one that did not come to its first line, and one of a plan that
 * may end a program but has done nothing.  What a client is told may be wrong:
 * so it cuts the run, and what does not hold in it is said nevertheless.
 */
static void
clients_tell(struct live *l)
{
	const struct history *h = l->h;
	size_t i;

	if (l->touched || l->plan->handler.effect == PLAN_EXTERNAL ||
	    h->head.handler_fails)
		return;
	for (i = 0; i < h->n && !l->cut; i++)
		if (is_lost(h, &h->events[i]))
			live_cut(l, "the program of try %d came to no end, "
			    "and the plan had nothing to do with it",
			    h->events[i].a);
}

void
live_died_programs(struct live *l)
{
	if (!journal_tells(l))
		clients_tell(l);
}

/* --- the kernel ----------------------------------------------------------- */

/* Whom it killed may be none of ours; but nobody can say so. */
void
live_died_oom(struct live *l)
{
	long now = child_oom_kills();

	if (l->oom_kills >= 0 && now > l->oom_kills)
		live_note(l, "-", "oom",
		    "the kernel has killed for want of memory");
}
