/* SPDX-License-Identifier: ISC */
#include "history.h"
#include "judge.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/*
 * A history as a storm leaves it: many tries of few keys, each with a command
 * and its answer, a run now and then, faults that come and go.  All of it is in
 * order, so that every checker has to look at all of it.
 */
#define EVENTS 200000u
#define KEYS 2000
#define CLIENTS 400
#define GATES 4
#define EVERY_NS 20000
#define CPU_S 5.0		/* ten times what it takes */

static const char *
name(struct history *h, char letter, int n)
{
	char text[16];

	snprintf(text, sizeof text, "%c%d", letter, n);
	return history_text(h, text);
}

static struct history_event *
add(struct history *h, enum history_kind kind, const char *p)
{
	return history_add(h, kind, (int64_t)h->n * EVERY_NS, p);
}

static void
ask(struct history *h, int a, const char *key, const char *gate)
{
	struct history_event *e = add(h, HISTORY_INV,
	    name(h, 'c', a % CLIENTS));

	e->a = a;
	e->k = key;
	e->to = gate;
	e->client = e->p;
	e->f = "x";
	e->nonce = name(h, 'n', a);
	e->innocent = true;
}

static void
answer(struct history *h, int a, int key, enum outcome class)
{
	struct history_event *e = add(h, HISTORY_RET,
	    name(h, 'c', a % CLIENTS));

	e->a = a;
	e->k = name(h, 'k', key);
	e->class = class;
	e->how = OUTCOME_WHOLE;
	e->status = class == OUTCOME_OK ? 200 : 409;
	e->mark = class == OUTCOME_OK ? "replayed" : "in-progress";
	e->length_met = true;
	if (class != OUTCOME_OK)
		return;
	e->d = "digest";
	e->says_effect = name(h, 'e', key);
	e->says_key = e->k;
	e->says_nonce = name(h, 'n', key + 1);
}

static void
command_of(struct history *h, int m, const char *key, const char *gate,
    const char *op, const char *code, const char *token)
{
	struct history_event *e = add(h, HISTORY_SEND, gate);

	e->m = m;
	e->to = "a";
	e->k = key;
	e->script = op;
	e->token = token;
	e = add(h, HISTORY_STORE, "a");
	e->m = m;
	e->k = key;
	e->script = op;
	e->code = code;
}

static void
command(struct history *h, int m, const char *key, const char *gate,
    const char *op, const char *code)
{
	command_of(h, m, key, gate, op, code, "A.1");
}

static void
run(struct history *h, int a, int key, const char *gate)
{
	static const char *const phases[] = { "begin", "commit", "end" };
	struct history_event *e;
	size_t i;

	for (i = 0; i < 3; i++) {
		e = add(h, HISTORY_EFFECT, name(h, 'h', key));
		e->id = name(h, 'e', key);
		e->k = name(h, 'k', key);
		e->a = a;
		e->ph = phases[i];
		e->attempt = 1;
		e->gate = gate;
		e->business = e->k;
	}
}

static void
trouble(struct history *h, int a)
{
	struct history_event *e;

	if (a % 100 != 0)
		return;
	e = add(h, a % 200 == 0 ? HISTORY_FAULT : HISTORY_HEAL, "a");
	e->cmd = a % 200 == 0 ? "store.slow" : "store.resume";
}

/* The first tries run their keys, the others get the answers. */
static void
storm(struct history *h)
{
	const char *key, *gate;
	int a, k, m = 0;

	for (a = 1; h->n < EVENTS; a++) {
		k = (a - 1) % KEYS;
		key = name(h, 'k', k);
		gate = name(h, 'g', 1 + a % GATES);
		ask(h, a, key, gate);
		command(h, ++m, key, gate, "claim", a <= KEYS ? "WON" :
		    "COMPLETED");
		if (a <= KEYS) {
			run(h, a, k, gate);
			command(h, ++m, key, gate, "complete", "WRITTEN");
		}
		answer(h, a, k, OUTCOME_OK);
		trouble(h, a);
	}
	(void)add(h, HISTORY_END, "-");
}

static struct history_bound
at_most(int64_t n)
{
	return (struct history_bound){ true, n, NULL };
}

/* The first of a key's many owners completes it, and that is taken. */
static void
test_owners(void)
{
	struct history h = { .n = 0 };
	struct check_finding f;
	int m;

	h.head.arbiter = "redis";
	ask(&h, 1, "k", "g1");
	for (m = 1; m <= 100; m++)
		command_of(&h, m, "k", "g1", "claim", "WON",
		    name(&h, 'T', m));
	command_of(&h, m, "k", "g1", "complete", "WRITTEN", "T100");
	check(&h, PLAN_LATE_COMPLETER_HARMLESS, &f);
	ok(f.said != CHECK_VIOLATED, "the last of a hundred owners completes");
	command_of(&h, m + 1, "k", "g1", "complete", "WRITTEN", "T1");
	check(&h, PLAN_LATE_COMPLETER_HARMLESS, &f);
	ok(f.said == CHECK_VIOLATED, "the first of them must not");
	history_free(&h);
}

int
main(void)
{
	struct history h = { .n = 0 };
	struct judge_run verdict;
	struct check_finding f;
	clock_t began, stamped, judged;
	size_t i;

	h.head.arbiter = "redis";
	h.head.handler_answers = true;
	h.head.handler_runs_per_key = at_most(1);
	h.head.store_ops_per_attempt = at_most(3);
	h.head.queue_depth = at_most(CLIENTS);
	h.head.goodput_recovers_within_ms = at_most(10);
	h.head.innocent_p99_ms = at_most(1000);
	for (i = 0; i < PLAN_INVARIANTS; i++)
		h.head.relaxed[i] = "only whether they hold is asked";
	storm(&h);
	began = clock();
	history_stamp_all(&h);
	stamped = clock();
	judge_run(&h, NULL, 0, &verdict);
	judged = clock();
	note("%zu events: stamped in %.2f s, judged in %.2f s", h.n,
	    (double)(stamped - began) / CLOCKS_PER_SEC,
	    (double)(judged - stamped) / CLOCKS_PER_SEC);
	ok(verdict.verdict == JUDGE_PASS,
	    "a history of 200,000 events is judged by all of them");
	ok((double)(judged - stamped) / CLOCKS_PER_SEC < CPU_S,
	    "in seconds");
	for (i = 0; i < PLAN_INVARIANTS; i++) {
		check(&h, (enum plan_invariant)i, &f);
		ok(f.said == CHECK_HOLDS || f.said == CHECK_UNEXERCISED,
		    "%s has nothing against it",
		    plan_invariant_text((enum plan_invariant)i));
	}
	history_free(&h);
	test_owners();
	return done();
}
