/* SPDX-License-Identifier: ISC */
#include "idem.h"

#include "gate_op.h"
#include "gate_witness.h"
#include "gate_world.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Walk every path through the gate under every policy that matters.  A state
 * is the gate, with its deadlines as times left, and what a witness saw of its
 * effects.  Each event that the outside world may give is given, and what the
 * gate asks for then is held by the witness against the promises.
 *
 * Then two things are said about the graph of all states: no circle of steps
 * without time passing, and from each state a way to END.
 */
#define STATES_MAX (1u << 19)
#define EDGES_MAX (1u << 23)
#define NOWHERE UINT32_MAX

struct state {
	struct idem_gate gate;
	struct gate_witness seen;
};

struct edge {
	uint32_t from, to;
	bool timeless;
};

static struct {
	struct state *states;
	uint32_t *parent;
	struct idem_event *by;	/* the event that led here from parent */
	uint32_t *table;
	struct edge *edges;
	uint32_t count, table_size, edge_count;
	uint32_t at;		/* the state being left */
	const char *broken;	/* the first promise that was */
} walk;

static uint64_t states_all, edges_all;

/* --- the graph ------------------------------------------------------------ */

static void
must(bool holds, const char *what)
{
	if (!holds && walk.broken == NULL)
		walk.broken = what;
}

static uint64_t
hash_of(const struct state *s)
{
	const uint8_t *p = (const uint8_t *)s;
	uint64_t h = 0x9e3779b97f4a7c15u, word;
	size_t i;

	/* The policy is the same for all. */
	for (i = sizeof(struct idem_policy); i < sizeof *s; i += 8) {
		memcpy(&word, p + i, sizeof *s - i < 8 ? sizeof *s - i : 8);
		h = (h ^ word) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	return h;
}

/* Times as times left: what has passed has passed. */
static void
rebase(struct idem_gate *g, int64_t now_ms)
{
	g->deadline_ms = g->deadline_ms > now_ms ? g->deadline_ms - now_ms : 0;
	g->wait_until_ms = g->wait_until_ms > now_ms
	    ? g->wait_until_ms - now_ms : 0;
}

static uint32_t
state_number(const struct state *s, const struct idem_event *by)
{
	uint32_t i = (uint32_t)hash_of(s) & (walk.table_size - 1);

	for (; walk.table[i] != NOWHERE; i = (i + 1) & (walk.table_size - 1))
		if (memcmp(&walk.states[walk.table[i]], s, sizeof *s) == 0)
			return walk.table[i];
	if (walk.count == STATES_MAX)
		bail_out("more states than %u", STATES_MAX);
	walk.table[i] = walk.count;
	walk.states[walk.count] = *s;
	walk.parent[walk.count] = walk.at;
	walk.by[walk.count] = *by;
	return walk.count++;
}

/* Nobody listens any more: the same effects, the same gate. */
static void
must_go_on(const struct state *before, const struct idem_event *ev,
    const struct idem_gate *after, const struct idem_effects *all)
{
	struct idem_event gone = { .op = IDEM_GONE };
	struct idem_gate g = before->gate;
	struct idem_effects then;

	must(idem_gate_step(&g, &gone).n == 0, "GONE asks for nothing");
	then = idem_gate_step(&g, ev);
	must(memcmp(&then, all, sizeof then) == 0,
	    "who has gone changes nothing of what is to do");
	g.gone = false;
	must(memcmp(&g, after, sizeof g) == 0,
	    "who has gone changes nothing of what is known");
}

static void
step(const struct idem_event *ev)
{
	struct state s = walk.states[walk.at];
	struct idem_effects all;
	uint32_t to;

	gate_witness_hear(&s.seen, ev, &s.gate.asked);
	all = idem_gate_step(&s.gate, ev);
	must_go_on(&walk.states[walk.at], ev, &s.gate, &all);
	gate_witness_see(&s.seen, &s.gate, &all);
	must(s.seen.broken == NULL, s.seen.broken);
	rebase(&s.gate, ev->now_ms);
	to = state_number(&s, ev);
	if (walk.edge_count == EDGES_MAX)
		bail_out("more steps than %u", EDGES_MAX);
	walk.edges[walk.edge_count++] = (struct edge){
		.from = walk.at, .to = to, .timeless = ev->now_ms == 0
	};
}

static void
leave_state(void)
{
	const struct state *s = &walk.states[walk.at];
	struct gate_world world;
	unsigned i;

	gate_world_answers(&s->gate, &s->seen, &world);
	for (i = 0; i < world.n && walk.broken == NULL; i++)
		step(&world.ev[i]);
}

/* --- what is said of the whole -------------------------------------------- */

/*
 * Edges by their head or tail, as lists in one array: first[i] to first[i + 1]
 * of order are those of state i.
 */
static void
sort_edges(uint32_t *first, uint32_t *order, bool by_head)
{
	uint32_t i, n, sum = 0;

	memset(first, 0, (walk.count + 1) * sizeof *first);
	for (i = 0; i < walk.edge_count; i++)
		first[by_head ? walk.edges[i].to : walk.edges[i].from]++;
	for (i = 0; i <= walk.count; i++) {
		n = first[i];
		first[i] = sum;
		sum += n;
	}
	for (i = 0; i < walk.edge_count; i++)
		order[first[by_head ? walk.edges[i].to
		    : walk.edges[i].from]++] = i;
	for (i = walk.count; i > 0; i--)
		first[i] = first[i - 1];
	first[0] = 0;
}

/* Go backwards from the ends; a state that is not met has no way there. */
static void
must_reach_end(uint32_t *first, uint32_t *order, uint32_t *queue)
{
	uint32_t i, j, from, done = 0, met = 0;
	bool *seen = calloc(walk.count, sizeof *seen);

	sort_edges(first, order, true);
	for (i = 0; i < walk.count; i++)
		if (walk.states[i].seen.end) {
			seen[i] = true;
			queue[met++] = i;
		}
	for (; done < met; done++)
		for (j = first[queue[done]]; j < first[queue[done] + 1]; j++) {
			from = walk.edges[order[j]].from;
			if (!seen[from]) {
				seen[from] = true;
				queue[met++] = from;
			}
		}
	free(seen);
	must(met == walk.count, "every state has a way to END");
}

/* Take away what has no timeless way in, until nothing is left (Kahn). */
static void
must_take_time(uint32_t *first, uint32_t *order, uint32_t *queue)
{
	uint32_t *ways = calloc(walk.count, sizeof *ways);
	uint32_t i, j, done = 0, met = 0;
	const struct edge *e;

	sort_edges(first, order, false);
	for (i = 0; i < walk.edge_count; i++)
		ways[walk.edges[i].to] += walk.edges[i].timeless;
	for (i = 0; i < walk.count; i++)
		if (ways[i] == 0)
			queue[met++] = i;
	for (; done < met; done++)
		for (j = first[queue[done]]; j < first[queue[done] + 1]; j++) {
			e = &walk.edges[order[j]];
			if (e->timeless && --ways[e->to] == 0)
				queue[met++] = e->to;
		}
	free(ways);
	must(met == walk.count, "no circle without time passing");
}

static void
must_end(void)
{
	uint32_t *first = calloc(walk.count + 1, sizeof *first);
	uint32_t *order = calloc(walk.edge_count, sizeof *order);
	uint32_t *queue = calloc(walk.count, sizeof *queue);

	must_reach_end(first, order, queue);
	must_take_time(first, order, queue);
	free(first);
	free(order);
	free(queue);
}

/* The number of the outcome in the enum of its op. */
static int
outcome(const struct idem_event *ev)
{
	const int of[IDEM_OPS] = {
		[IDEM_ADMIT] = (int)ev->admit,
		[IDEM_LOOK] = (int)ev->look,
		[IDEM_SLOT] = (int)ev->slot,
		[IDEM_CLAIM] = (int)ev->claim,
		[IDEM_RUN] = (int)ev->run,
		[IDEM_RENEW] = (int)ev->renew,
		[IDEM_COMPLETE] = (int)ev->write,
		[IDEM_RELEASE] = (int)ev->write,
		[IDEM_MARK_UNKNOWN] = (int)ev->write,
		[IDEM_RECORD] = (int)ev->write,
		[IDEM_PROBE] = (int)ev->probed,
		[IDEM_WAIT] = (int)ev->waited,
	};

	return of[ev->op];
}

static void
show_way(uint32_t to)
{
	const struct idem_event *ev = &walk.by[to];

	if (walk.parent[to] == NOWHERE)
		return;
	show_way(walk.parent[to]);
	note("  %s %d at +%lld, proof %d, attempt %u, kept %d",
	    gate_op_text(ev->op), outcome(ev), (long long)ev->now_ms,
	    (int)ev->proof, ev->attempt, ev->kept);
}

static void
walk_all(const struct idem_policy *policy, const char *what)
{
	struct idem_event none = { .op = IDEM_ADMIT };
	struct state s;

	memset(&s, 0, sizeof s);
	idem_gate_init(&s.gate, policy);
	s.seen.main_out = IDEM_ADMIT;
	walk.count = walk.edge_count = 0;
	walk.at = NOWHERE;
	walk.broken = NULL;
	memset(walk.table, 0xff, walk.table_size * sizeof *walk.table);
	state_number(&s, &none);
	for (walk.at = 0; walk.at < walk.count && walk.broken == NULL;
	    walk.at++)
		leave_state();
	if (walk.broken != NULL) {
		note("the way to the step that broke it:");
		show_way(walk.at - 1);
	} else {
		must_end();
	}
	states_all += walk.count;
	edges_all += walk.edge_count;
	ok(walk.broken == NULL, "%s: %u states, %u steps%s%s", what,
	    walk.count, walk.edge_count,
	    walk.broken == NULL ? "" : ", but not: ",
	    walk.broken == NULL ? "" : walk.broken);
}

/* --- all policies --------------------------------------------------------- */

struct setting {
	const char *what;
	struct idem_policy policy;
};

static const struct setting arbiters[] = {
	{ "ledger", { .arbiter = IDEM_ARBITER_LEDGER } },
	{ "ledger, cache", { .arbiter = IDEM_ARBITER_LEDGER,
	    .look_redis = true, .required = true } },
	/* what must not matter: an outage's choice without arbiter redis */
	{ "token", { .arbiter = IDEM_ARBITER_TOKEN, .on_outage = IDEM_PASS } },
	{ "redis, reject", { .arbiter = IDEM_ARBITER_REDIS,
	    .look_redis = true } },
	{ "redis, memory", { .arbiter = IDEM_ARBITER_REDIS,
	    .on_outage = IDEM_TO_MEMORY } },
	{ "redis, database", { .arbiter = IDEM_ARBITER_REDIS,
	    .on_outage = IDEM_TO_DATABASE, .look_fallback = true } },
	{ "redis, pass", { .arbiter = IDEM_ARBITER_REDIS,
	    .on_outage = IDEM_PASS } },
};

static void
walk_setting(const struct setting *setting)
{
	static const char *const unknown[] = { "block", "retry", "probe" };
	static const char *const progress[] = { "wait", "409", "202" };
	struct idem_policy p = setting->policy;
	char what[128];
	unsigned i;

	p.attempts_max = 2;
	p.wait_ms = 2;
	p.queue_ms = 5;
	p.claim_ms = 15;	/* two pauses */
	p.complete_ms = 60;	/* two */
	p.background_ms = 40;	/* one */
	p.lease_ms = 36;
	for (i = 0; i < 9; i++) {
		p.on_unknown = (enum idem_on_unknown)(i % 3);
		p.in_progress = (enum idem_in_progress)(i / 3);
		/* It comes after the run, whoever waits. */
		p.journal = p.in_progress == IDEM_CONFLICT;
		snprintf(what, sizeof what, "%s, %s, %s%s", setting->what,
		    unknown[i % 3], progress[i / 3],
		    p.journal ? ", journal" : "");
		walk_all(&p, what);
	}
}

int
main(void)
{
	size_t i;

	walk.table_size = STATES_MAX * 2;
	walk.states = calloc(STATES_MAX, sizeof *walk.states);
	walk.parent = calloc(STATES_MAX, sizeof *walk.parent);
	walk.by = calloc(STATES_MAX, sizeof *walk.by);
	walk.table = calloc(walk.table_size, sizeof *walk.table);
	walk.edges = calloc(EDGES_MAX, sizeof *walk.edges);
	if (walk.states == NULL || walk.parent == NULL || walk.by == NULL ||
	    walk.table == NULL || walk.edges == NULL)
		bail_out("out of memory");
	for (i = 0; i < sizeof arbiters / sizeof *arbiters; i++)
		walk_setting(&arbiters[i]);
	note("%llu states, %llu steps", (unsigned long long)states_all,
	    (unsigned long long)edges_all);
	free(walk.states);
	free(walk.parent);
	free(walk.by);
	free(walk.table);
	free(walk.edges);
	return done();
}
