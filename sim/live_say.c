/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "now.h"

#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define MS_NS 1000000
#define FEW 100
#define FEW_FILES 64u	/* a server of Redis wants more than 32 */

static int64_t
monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 * MS_NS + t.tv_nsec;
}

int64_t
live_now_ns(const struct live *l)
{
	return monotonic_ns() - l->began_ns;
}

int64_t
live_now_ms(const struct live *l)
{
	(void)l;
	return now_ms();
}

void
live_cut(struct live *l, const char *format, ...)
{
	va_list args;

	if (l->cut)
		return;
	l->cut = true;
	va_start(args, format);
	vsnprintf(l->wrong, sizeof l->wrong, format, args);
	va_end(args);
}

/* A few are left for how it ended, and why. */
size_t
live_room(const struct live *l)
{
	size_t max = HISTORY_EVENTS_MAX - FEW;

	return l->h->n < max ? max - l->h->n : 0;
}

bool
live_fits(struct live *l, size_t events)
{
	if (live_room(l) >= events)
		return true;
	live_cut(l, "more happened than a history has room for (%u events)",
	    HISTORY_EVENTS_MAX);
	return false;
}

const char *
live_few_files(char out[LIVE_FEW])
{
	struct rlimit limit;

	out[0] = '\0';
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < FEW_FILES)
		snprintf(out, LIVE_FEW, "; a process may open only %u files "
		    "(RLIMIT_NOFILE)", (unsigned)limit.rlim_cur);
	return out;
}

void
live_cannot_again(struct live *l, const char *p, int error)
{
	live_cut(l, "%s cannot be started again%s%s", p, error != 0 ? ": " :
	    "", error != 0 ? strerror(error) : "");
}

void
live_note(struct live *l, const char *p, const char *label, const char *what)
{
	struct history_event *e = history_add(l->h, HISTORY_NOTE,
	    live_now_ns(l), p);

	e->label = label;
	e->what = history_text(l->h, what);
}

void
live_spawn(struct live *l, const char *p, bool gate, unsigned life,
    int64_t pid)
{
	struct history_event *e = history_add(l->h, HISTORY_SPAWN,
	    live_now_ns(l), p);

	e->gate = gate ? e->p : NULL;
	e->life = (int)life;
	e->pid = pid;
}

/* --- ends ----------------------------------------------------------------- */

static void
ended(struct live_cast *cast, const struct child *c, const char *p,
    const char *gate, unsigned life)
{
	struct live *l = cast->run;
	struct history_event *e;
	char why[32];

	if (!c->doomed)
		cast->harmed = true;
	if (l == NULL)
		return;
	if (WIFSIGNALED(c->status))
		snprintf(why, sizeof why, "SIG%s",
		    sigabbrev_np(WTERMSIG(c->status)));
	else
		snprintf(why, sizeof why, "exit %d", WEXITSTATUS(c->status));
	e = history_add(l->h, HISTORY_EXIT, live_now_ns(l), p);
	e->wanted = c->doomed;
	e->why = history_text(l->h, why);
	e->gate = history_text(l->h, gate);
	e->life = (int)life;
}

static void
gate_ended(struct instance *instance, struct child *which)
{
	struct live_gate *g = instance->arg;

	g->answers = g->lines = 0;
	ended(g->cast, which, instance->name, instance->name, instance->life);
}

static void
store_ended(struct server *server)
{
	struct live_store *s = server->arg;

	ended(s->cast, &server->child, server->plan->name, NULL,
	    server->life);
}

static void
sentinel_ended(struct server *server)
{
	ended(server->arg, &server->child, server->child.name, NULL,
	    server->life);
}

static bool
has(const char *line, size_t len, const char *words)
{
	return memmem(line, len, words, strlen(words)) != NULL;
}

/* SQLite does not say why; with enough of them there are other reasons. */
static bool
tells_starved(const char *line, size_t len)
{
	char few[LIVE_FEW];

	return has(line, len, " error=\"") &&
	    (has(line, len, "Too many open files") ||
	    (has(line, len, "unable to open database file") &&
	    *live_few_files(few) != '\0'));
}

/* The plan may want such an error. */
static bool
is_planned(const struct plan *plan)
{
	const struct plan_action *a;
	unsigned id;

	for (id = 0; (a = plan_action_at(plan, id)) != NULL; id++)
		if (a->kind == PLAN_PROC_FAIL && a->word != NULL &&
		    (strcmp(a->word, "EMFILE") == 0 ||
		    strcmp(a->word, "ENFILE") == 0))
			return true;
	return false;
}

/*
 * Nobody would be told of it otherwise: connections wait in its listener until
 * their clients' patience ends, or each request has its 503, and no promise is
 * put to the test.
 */
static void
hear_starved(struct live_gate *g, const char *line, size_t len)
{
	char few[LIVE_FEW];

	if (!tells_starved(line, len) || is_planned(g->cast->plan))
		return;
	g->starved = true;
	if (g->cast->run != NULL)
		live_cut(g->cast->run, "%s: " LIVE_STARVED "%s",
		    g->instance.name, live_few_files(few));
}

static void
gate_line(struct instance *instance, const char *line, size_t len)
{
	struct live_gate *g = instance->arg;

	live_died_line(g, line, len);
	hear_starved(g, line, len);
	if (g->cast->run != NULL)
		live_log(g->cast->run, g, line, len);
}

void
live_hear_gate(struct live_gate *g)
{
	g->instance.ended = gate_ended;
	g->instance.log = gate_line;
	g->instance.arg = g;
}

void
live_hear_store(struct live_store *s)
{
	s->server.ended = store_ended;
	s->server.arg = s;
}

void
live_hear_sentinels(struct live_cast *cast)
{
	size_t i;

	for (i = 0; i < SERVER_SENTINELS; i++) {
		cast->sentinels[i].ended = sentinel_ended;
		cast->sentinels[i].arg = cast;
	}
}
