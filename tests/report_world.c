/* SPDX-License-Identifier: ISC */
#include "report_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define US INT64_C(1000)
#define MS (1000 * US)

struct making {
	struct history *h;
	const struct report_world *w;
	uint64_t chance;
	int tries, programs, messages;
};

/* An event at its time: kept until all of them can be put in order. */
struct planned {
	struct history_event e;
	size_t order;
};

static struct {
	struct planned *at;
	size_t n, room;
} script;

static uint64_t
draw(struct making *m, uint64_t below)
{
	m->chance = m->chance * UINT64_C(6364136223846793005) +
	    UINT64_C(1442695040888963407);
	return (m->chance >> 33) % below;
}

static struct history_event *
at(enum history_kind kind, int64_t t_ns, const char *p)
{
	struct planned *e;

	if (script.n == script.room) {
		script.room = script.room > 0 ? 2 * script.room : 256;
		script.at = realloc(script.at, script.room *
		    sizeof *script.at);
		if (script.at == NULL)
			abort();
	}
	e = &script.at[script.n];
	*e = (struct planned){ .order = script.n++ };
	e->e = (struct history_event){ .kind = kind, .t_ns = t_ns, .p = p,
	    .fault = -1, .retry_after_s = -1 };
	return &e->e;
}

static int
by_time(const void *a_, const void *b_)
{
	const struct planned *a = a_, *b = b_;

	if (a->e.t_ns != b->e.t_ns)
		return a->e.t_ns < b->e.t_ns ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

static void
play(struct history *h)
{
	struct history_event *e;
	struct planned *p;
	uint32_t i;

	if (script.n > 0)
		qsort(script.at, script.n, sizeof *script.at, by_time);
	for (p = script.at; p < script.at + script.n; p++) {
		e = history_add(h, p->e.kind, p->e.t_ns, p->e.p);
		i = e->i;
		p->e.p = e->p;
		*e = p->e;
		e->i = i;
	}
	free(script.at);
	memset(&script, 0, sizeof script);
	history_stamp_all(h);
}

static const char *
named(struct history *h, const char *format, size_t n)
{
	char text[32];

	snprintf(text, sizeof text, "%s%zu", format, n);
	return history_text(h, text);
}

/* --- one request ---------------------------------------------------------- */

/* A command and its reply; how long it took. */
static int64_t
ask(struct making *m, int64_t t, const char *gate, const char *key,
    const char *script_name, const char *code, const char *fate)
{
	int message = ++m->messages;
	int64_t there = t + 150 * US, back = t + 400 * US;
	struct history_event *e;

	if (m->w->quiet)
		return t;
	e = at(HISTORY_SEND, t, gate);
	e->m = message;
	e->to = "a";
	e->cmd = "EVALSHA";
	e->script = script_name;
	e->k = key;
	e->token = "9f31c2aa.1";
	if (fate != NULL && strcmp(fate, "lost") == 0 && m->messages % 2) {
		e->fate = "lost";
		return back;
	}
	e = at(HISTORY_STORE, there, "a");
	e->m = message;
	e->cmd = "EVALSHA";
	e->script = script_name;
	e->k = key;
	e->code = code;
	e = at(HISTORY_RECV, back, gate);
	e->m = message;
	e->cmd = "EVALSHA";
	e->script = script_name;
	e->k = key;
	e->code = code;
	e->fate = fate;
	return back;
}

static int64_t
run(struct making *m, int64_t t, const char *gate, int life, const char *key,
    int a, bool dies)
{
	static const char *const phases[] = { "begin", "commit", "end" };
	size_t n = (size_t)++m->programs, i;
	struct history_event *e;

	for (i = 0; i < (dies ? 2 : 3); i++) {
		t += (int64_t)(2 + draw(m, 9)) * MS;
		e = at(HISTORY_EFFECT, t, named(m->h, "h", n));
		e->id = named(m->h, "e", n);
		e->ph = phases[i];
		e->k = e->business = key;
		e->a = a;
		e->attempt = 1;
		e->gate = gate;
		e->life = life;
	}
	return t;
}

static struct history_event *
answer(struct making *m, int64_t t, const char *client, const char *gate,
    const char *key, int a)
{
	struct history_event *e = at(HISTORY_RET, t, client);

	(void)m;
	e->a = a;
	e->k = key;
	e->to = gate;
	e->client = client;
	e->length_met = true;
	return e;
}

static void
request(struct making *m, size_t n, int64_t t)
{
	static const struct {
		enum outcome class;
		int status;
		const char *mark;
	} others[] = {
		{ OUTCOME_OK, 200, "replayed" }, { OUTCOME_BUSY, 409,
		"in-progress" }, { OUTCOME_UNKNOWN, 409, "unknown" },
		{ OUTCOME_FAIL, 422, "mismatch" },
	};
	const char *client = named(m->h, "c", n % m->w->clients + 1);
	/* g1 may be dead. */
	bool spared = m->w->kill && m->w->gates > 1;
	const char *gate = named(m->h, "g", spared ? n % (m->w->gates - 1) +
	    2 : n % m->w->gates + 1);
	const char *key = named(m->h, "k", draw(m, m->w->keys) + 1);
	const char *fate = !m->w->lose || n % 3 ? NULL : n % 2 ? "lost" :
	    n % 4 ? "held" : "delayed";
	bool first = n < m->w->keys || n % 5 == 0;
	struct history_event *e = at(HISTORY_INV, t, client);
	int a = ++m->tries;
	size_t other;

	e->a = a;
	e->k = key;
	e->f = "b0";
	e->to = gate;
	e->client = client;
	t = ask(m, t + 300 * US, gate, key, "claim", first ? "WON" :
	    "COMPLETED", fate);
	if (first) {
		at(HISTORY_LABEL, t + 50 * US, gate)->label = "claim.ok";
		t = run(m, t, gate, 1, key, a, false);
		t = ask(m, t + 200 * US, gate, key, "complete", "WRITTEN",
		    NULL);
	}
	e = answer(m, t + 300 * US, client, gate, key, a);
	other = draw(m, 4);
	e->class = first ? OUTCOME_OK : others[other].class;
	e->status = first ? 200 : others[other].status;
	e->mark = first ? "stored" : others[other].mark;
	e->d = "5f1d9c0aa2";
	if (fate != NULL && n % 2) {
		e->class = OUTCOME_INFO;
		e->status = 0;
		e->mark = NULL;
		e->how = n % 4 == 1 ? OUTCOME_TIMEOUT : OUTCOME_CUT;
		e->why = n % 4 == 1 ? NULL : "ECONNRESET";
	}
}

/* --- what goes wrong ------------------------------------------------------ */

static void
fault(int64_t t, const char *p, int id, const char *what, const char *label)
{
	struct history_event *e = at(HISTORY_FAULT, t, p);

	e->fault = id;
	e->what = what;
	e->label = label;
}

static void
heal(int64_t t, const char *p, int id, const char *what)
{
	struct history_event *e = at(HISTORY_HEAL, t, p);

	e->fault = id;
	e->what = what;
}

static void
spawn(struct history *h, int64_t t, size_t gate, int life)
{
	struct history_event *e = at(HISTORY_SPAWN, t, named(h, "g", gate));

	e->gate = e->p;
	e->life = life;
}

/* g1 dies when the effect is there, and its key is run again on g2. */
static void
killed(struct making *m, int64_t t)
{
	const char *second = m->w->gates > 1 ? "g2" : "g1";
	struct history_event *e = at(HISTORY_INV, t, "c1");
	int a = ++m->tries;

	e->a = a;
	e->k = "k1";
	e->to = "g1";
	e->client = "c1";
	t = ask(m, t + 300 * US, "g1", "k1", "claim", "WON", NULL);
	t = run(m, t, "g1", 1, "k1", a, true);
	at(HISTORY_LABEL, t + 10 * US, "g1")->label = "effect.after";
	fault(t + 20 * US, "g1", 0, "kill g1 at effect.after of k1",
	    "effect.after");
	e = at(HISTORY_EXIT, t + 100 * US, "g1");
	e->why = "SIGKILL";
	e->what = "killed by signal 9";
	e->wanted = true;
	e = answer(m, t + 300 * US, "c1", "g1", "k1", a);
	e->class = OUTCOME_INFO;
	e->how = OUTCOME_CUT;
	e->why = "ECONNRESET";
	heal(t + 200 * MS, "g1", 1, "restart g1 200 ms after effect.after of "
	    "k1");
	spawn(m->h, t + 214 * MS, 1, 2);
	t += 950 * MS;
	e = at(HISTORY_INV, t, "c1");
	e->a = a = ++m->tries;
	e->k = "k1";
	e->to = second;
	e->client = "c1";
	t = ask(m, t + 300 * US, second, "k1", "claim", "WON", NULL);
	t = run(m, t, second, second[1] == '1' ? 2 : 1, "k1", a, false);
	t = ask(m, t + 100 * US, second, "k1", "complete", "WRITTEN", NULL);
	at(HISTORY_LOG, t + 60 * US, second)->what = "two-runs";
	e = answer(m, t + 300 * US, "c1", second, "k1", a);
	e->status = 200;
	e->mark = "stored";
	e->class = OUTCOME_OK;
}

static void
find(const struct history *h, struct check_finding *f)
{
	const struct history_event *e;

	*f = (struct check_finding){ .said = CHECK_VIOLATED,
	    .invariant = PLAN_AT_MOST_ONCE, .key = "k1" };
	for (e = h->events; e < h->events + h->n && f->events_n < 2; e++)
		if (e->kind == HISTORY_EFFECT && e->k != NULL &&
		    strcmp(e->k, "k1") == 0 && strcmp(e->ph, "commit") == 0)
			f->events[f->events_n++] = e->i;
	if (f->events_n == 2)
		snprintf(f->message, sizeof f->message, "k1 was run twice: %s "
		    "at i=%u happened although %s at i=%u had committed",
		    h->events[f->events[1] - 1].id, (unsigned)f->events[1],
		    h->events[f->events[0] - 1].id, (unsigned)f->events[0]);
}

/* --- all of it ------------------------------------------------------------ */

static void
head(struct history *h)
{
	static const struct plan_pair params[] = {
		{ "point", "effect.after" }, { "arbiter", "redis" }
	};
	static const struct {
		const char *text;
		int must;
		unsigned fired;
	} faults[] = {
		{ "kill g1 at effect.after of k1", 1, 1 },
		{ "restart g1 200 ms after effect.after of k1", 0, 0 },
		{ "pause g2 at 40 ms", 1, 1 },
		{ "resume g2 at 120 ms", 0, 0 },
		{ "lose the next reply on *->a at some moment", 2, 0 },
	};
	size_t i;

	h->head.tool = "idemsim 0.1.0";
	h->head.scenario = "crash at effect.after";
	h->head.file = "scenarios/02_crash_before_complete.lua";
	h->head.mode = "live";
	h->head.seed = UINT64_C(0x9e3779b97f4a7c15);
	h->head.run = 3;
	h->head.params = params;
	h->head.params_n = 2;
	h->head.arbiter = "redis";
	h->head.on_unknown = "retry";
	h->head.on_outage = "reject";
	h->head.lease_ms = 1500;
	h->head.grace_ms = 5000;
	h->head.limit_ms = 300000;
	h->head.gates = 2;
	h->head.plan = "sha256:7d1c4c3f0b1e5a9d";
	h->head.holds[PLAN_AT_MOST_ONCE] = true;
	h->head.holds[PLAN_SAME_ANSWER] = true;
	h->head.relaxed[PLAN_ACK_DURABLE] =
	    "Redis forgot an acknowledged claim";
	h->head.faults_n = sizeof faults / sizeof *faults;
	h->head.faults = arena_get(&h->arena, h->head.faults_n *
	    sizeof *h->head.faults);
	for (i = 0; i < h->head.faults_n; i++) {
		h->head.faults[i].text = faults[i].text;
		h->head.faults[i].must = faults[i].must;
		h->head.faults[i].fired = faults[i].fired;
	}
}

void
report_world(struct history *h, const struct report_world *w,
    struct check_finding *f)
{
	struct making m = { .h = h, .w = w, .chance = 7 };
	int64_t t = 2 * MS;
	struct history_event *e;
	size_t i;

	head(h);
	for (i = 0; i < w->gates; i++)
		spawn(h, 0, i + 1, 1);
	if (w->kill)
		killed(&m, 8 * MS);
	if (w->pause) {
		fault(40 * MS, named(h, "g", w->gates), 2, w->gates == 2 ?
		    "pause g2 at 40 ms" : "pause the last gate at 40 ms",
		    NULL);
		heal(120 * MS, named(h, "g", w->gates), 3,
		    "resume it at 120 ms");
	}
	for (i = 0; i < w->requests; i++) {
		request(&m, i, t);
		t += (int64_t)(1 + draw(&m, 20)) * MS / 2;
		if (i % 7 == 6)
			t += 60 * MS;
	}
	heal(t + 2000 * MS, "-", -1, "all faults end");
	e = at(HISTORY_LEDGER, t + 2100 * MS, "ledger");
	e->k = "k1";
	e->what = "completed";
	at(HISTORY_END, t + 2110 * MS, "-");
	play(h);
	find(h, f);
}

void
report_world_small(struct history *h, struct check_finding *f)
{
	struct history_event *e;
	int i;

	head(h);
	h->head.faults_n = 0;
	e = at(HISTORY_INV, 1 * MS, "c1");
	e->a = 1;
	e->k = "k1";
	e->to = "g1";
	for (i = 0; i < 2; i++) {
		e = at(HISTORY_EFFECT, (i == 0 ? 12 : 1250) * MS, i == 0 ?
		    "h1" : "h2");
		e->k = "k1";
		e->id = i == 0 ? "e1" : "e2";
		e->ph = "commit";
		e->gate = "g1";
		e->life = 1;
		e->a = 1;
	}
	e = at(HISTORY_RET, 1252 * MS, "c1");
	e->a = 1;
	e->k = "k1";
	e->to = "g1";
	e->class = OUTCOME_OK;
	e->status = 200;
	e->mark = "stored";
	at(HISTORY_END, 1300 * MS, "-");
	play(h);
	find(h, f);
}

const char *
report_world_hostile(struct history *h, size_t len)
{
	static const char bad[] = "\"'</script><svg onload=alert(1)>]]>&amp; "
	    "\xff\xc0\x80 \x1b[31m\r\n\t# TO" "DO \\ 1..9\nnot ok 1\n--- \n... "
	    "\xe2\x80\xae{{x}} %n $(id) `id` : - ? | > \x7f\xef\xbf\xbf ";
	char *text = malloc(len + 1);
	const char *copy;
	size_t i;

	if (text == NULL)
		abort();
	for (i = 0; i < len; i++)
		text[i] = bad[i % (sizeof bad - 1)];
	text[len] = '\0';
	copy = history_text(h, text);
	free(text);
	return copy;
}

int
report_times(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)) != NULL; text++)
		n++;
	return n;
}
