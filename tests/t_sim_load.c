/* SPDX-License-Identifier: ISC */
#include "load.h"

#include "load_toy.h"
#include "names.h"
#include "tap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MS TOY_MS
#define EACH (PLAN_ON_TIMEOUT | PLAN_ON_RESET | PLAN_ON_BUSY | \
    PLAN_ON_UNAVAILABLE)
#define NO_GATE .gate = PLAN_NONE


static struct plan
plan_of(const struct plan_load *loads, size_t n, size_t gates)
{
	return (struct plan){
		.loads = loads, .loads_n = n, .gates = { .n = gates }
	};
}

/* --- answers -------------------------------------------------------------- */

static int64_t
after_5_ms(struct toy *t, const struct toy_try *try,
    struct load_answer *answer)
{
	(void)t;
	(void)try;
	(void)answer;
	return 5 * MS;
}

static int64_t
never(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	(void)try;
	(void)answer;
	return -1;
}

static int64_t
busy(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	(void)try;
	answer->status = 409;
	answer->mark = "in-progress";
	answer->retry_after_s = 1;
	return 5 * MS;
}

static int64_t
refused(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	(void)try;
	answer->end = OUTCOME_REFUSED;
	answer->why = "ECONNREFUSED";
	answer->status = 0;
	answer->mark = answer->digest = "";
	return 0;
}

static int64_t
cut_at_g1(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	if (try->gate == 0)
		answer->end = OUTCOME_CUT;
	return 5 * MS;
}

static int64_t
timeout(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	answer->end = OUTCOME_TIMEOUT;
	return try->timeout_ms * MS;
}

/* --- who, when, where ----------------------------------------------------- */

static const struct plan_send sends[] = {
	{ .at_ms = 0, .client = "c2", .key = "k", .gate = 2 },
	{ .at_ms = 30, .client = "c4", .key = NULL, .body = "x", NO_GATE },
	{ .at_ms = 2, .client = "c2", .key = "k", .body = "x", NO_GATE,
	  .method = "PUT", .timeout_ms = 500, .give_up_ms = 70 },
	{ .at_ms = 31, .client = "ann", .key = "k", .body = "", NO_GATE }
};

#define SCRIPT { .kind = PLAN_SCRIPT, .sends = sends, .sends_n = 4 }
#define RETRY(...) { .timeout_ms = { .kind = PLAN_CONST, .a = 100 }, \
    .on = EACH, __VA_ARGS__ }
#define CLOSED(clients_, requests) \
	.kind = PLAN_CLOSED, .clients = (clients_), \
	.requests_per_client = (requests), .keys = { .n = 1 }

/* One client has two tries at one gate. */
static const struct plan_send twice[] = {
	{ .at_ms = 0, .client = "c1", .key = "k", NO_GATE },
	{ .at_ms = 1, .client = "c1", .key = "k", NO_GATE },
	{ .at_ms = 20, .client = "c1", .key = "k", NO_GATE },
	{ .at_ms = 21, .client = "c1", .key = "k", .gate = 0 },
	{ .at_ms = 40, .client = "c1", .key = "k", NO_GATE }
};

static const struct row {
	const char *what;
	struct plan_load loads[3];
	size_t n, gates;
	int64_t (*answer)(struct toy *, const struct toy_try *,
	    struct load_answer *);
	const char *said;
} rows[] = {
	{ "a closed client asks again when it is answered and has thought",
	  { { CLOSED(2, 2), .think_ms = { .kind = PLAN_CONST, .a = 10 } } }, 1,
	  2, after_5_ms,
	  "1:c1>g1 k1@0 2:c2>g2 k1@0 3:c1>g1 k1@15 4:c2>g2 k1@15" },
	{ "clients are at the gates in turn",
	  { { CLOSED(5, 1) } }, 1, 3, after_5_ms,
	  "1:c1>g1 k1@0 2:c2>g2 k1@0 3:c3>g3 k1@0 4:c4>g1 k1@0 5:c5>g2 k1@0" },
	{ "a script is as it says, and its clients go on without an answer",
	  { SCRIPT }, 1, 3, never,
	  "1:c2>g3 k@0 2:c2>g2 k@2 3:c4>g1 -@30 4:ann>g3 k@31" },
	{ "others are numbered after a script's highest",
	  { { CLOSED(1, 1) }, SCRIPT,
	    { .kind = PLAN_STORM, .clients = 1, .at_ms = 40,
	      .keys = { .n = 1 } } }, 3, 3, never,
	  "1:c5>g2 k1@0 2:c2>g3 k@0 3:c2>g2 k@2 4:c4>g1 -@30 5:ann>g1 k@31 "
	  "6:c6>g3 k1@40" },
	{ "an even open load comes evenly, whoever answers",
	  { { .kind = PLAN_OPEN, .rate = 100, .for_ms = 40,
	      .keys = { .n = 9, .once = true } } }, 1, 2, never,
	  "1:c1>g1 o1@0 2:c2>g2 o2@10 3:c3>g1 o3@20 4:c4>g2 o4@30" },
	{ "busy is tried again by the policy",
	  { { CLOSED(1, 1), .retry = RETRY(.max = 3,
	      .backoff = PLAN_BACKOFF_EXP, .base_ms = 50) } }, 1, 2, busy,
	  "1:c1>g1 k1@0 2:c1>g1 k1@55 3:c1>g1 k1@160" },
	{ "and Retry-After is kept by one that does so",
	  { { CLOSED(1, 1), .retry = RETRY(.max = 2,
	      .honour_retry_after = true) } }, 1, 2, busy,
	  "1:c1>g1 k1@0 2:c1>g1 k1@1005" },
	{ "the next request comes after the last try of the one before",
	  { { CLOSED(1, 2), .retry = RETRY(.max = 2) } }, 1, 2, busy,
	  "1:c1>g1 k1@0 2:c1>g1 k1@5 3:c1>g1 k1@10 4:c1>g1 k1@15" },
	{ "a refusal is tried at the next gate, and so on round",
	  { { CLOSED(1, 1), .retry = RETRY(.max = 4,
	      .backoff = PLAN_BACKOFF_CONST, .base_ms = 1) } }, 1, 3, refused,
	  "1:c1>g1 k1@0 2:c1>g2 k1@1 3:c1>g3 k1@2 4:c1>g1 k1@3" },
	{ "at once too, without a turn that never ends",
	  { { CLOSED(1, 1), .retry = RETRY(.max = 3) } }, 1, 3, refused,
	  "1:c1>g1 k1@0 2:c1>g2 k1@0 3:c1>g3 k1@0" },
	{ "a reset moves the client for later requests as well",
	  { { CLOSED(1, 3), .retry = RETRY(.max = 2) } }, 1, 2, cut_at_g1,
	  "1:c1>g1 k1@0 2:c1>g2 k1@5 3:c1>g2 k1@10 4:c1>g2 k1@15" },
	{ "once for all that was lost there, and not for where it was sent to",
	  { { .kind = PLAN_SCRIPT, .sends = twice, .sends_n = 5 } }, 1, 3,
	  cut_at_g1,
	  "1:c1>g1 k@0 2:c1>g1 k@1 3:c1>g2 k@20 4:c1>g1 k@21 5:c1>g2 k@40" },
	{ "a time that runs out moves nobody",
	  { { CLOSED(1, 1), .retry = RETRY(.max = 2) } }, 1, 2, timeout,
	  "1:c1>g1 k1@0 2:c1>g1 k1@100" },
	{ "a client that rotates has a new key each try",
	  { { CLOSED(2, 1), .retry = RETRY(.max = 3, .rotate = true) } }, 1, 1,
	  timeout,
	  "1:c1>g1 k1@0 2:c2>g1 k1@0 3:c1>g1 k1.r1@100 4:c2>g1 k1.r2@100 "
	  "5:c1>g1 k1.r3@200 6:c2>g1 k1.r4@200" },
	{ "nobody asks where nothing is asked for",
	  { { CLOSED(3, 0) } }, 1, 1, after_5_ms, "" }
};

static void
check_rows(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct plan plan = plan_of(rows[i].loads, rows[i].n,
		    rows[i].gates);
		struct toy t = { .plan = &plan, .answer = rows[i].answer };

		toy_open(&t);
		toy_run(&t, 5000);
		is(toy_said(&t, 1), rows[i].said, "%s", rows[i].what);
		if (rows[i].answer != never)
			ok(load_over(t.load), "and then it is over");
		/* Who fails at once must not keep others from their turn. */
		if (rows[i].answer == refused)
			ok(t.turns >= t.n, "each try has a turn of its own");
		toy_close(&t);
	}
}

/* --- what stands in the history ------------------------------------------- */

static const struct history_event *
event_at(const struct toy *t, size_t n)
{
	static const struct history_event none = { .p = "?" };

	return n < t->h.n ? &t->h.events[n] : &none;
}

static void
check_events(void)
{
	const struct plan_load load = {
		CLOSED(1, 1), .retry = RETRY(.max = 2)
	};
	struct plan plan = plan_of(&load, 1, 2);
	struct toy t = { .plan = &plan, .answer = busy };
	const struct history_event *inv, *ret;

	toy_open(&t);
	toy_run(&t, 1000);
	inv = event_at(&t, 0);
	ret = event_at(&t, 1);
	is_int((long long)t.h.n, 4, "each try has its inv and its ret");
	ok(inv->kind == HISTORY_INV && ret->kind == HISTORY_RET &&
	    inv->t_ns == 0 && ret->t_ns == 5 * MS && inv->a == 1 &&
	    ret->a == 1 && event_at(&t, 2)->a == 2,
	    "with their times and the number of the try");
	is(inv->p, "c1", "they are the client's");
	ok(strcmp(inv->client, "c1") == 0 && strcmp(inv->k, "k1") == 0 &&
	    strcmp(inv->f, "b1") == 0 && strcmp(inv->to, "g1") == 0 &&
	    inv->nonce != NULL && !inv->audit && !inv->fresh && !inv->innocent,
	    "an inv says who asks whom for what");
	ok(ret->class == OUTCOME_BUSY && ret->how == OUTCOME_WHOLE &&
	    ret->status == 409 && strcmp(ret->mark, "in-progress") == 0 &&
	    strcmp(ret->d, "d1") == 0 && ret->says_key == NULL &&
	    ret->retry_after_s == 1 && ret->length_met && ret->why == NULL,
	    "a ret says what came back, and its class");
	ok(strcmp(inv->nonce, event_at(&t, 2)->nonce) != 0,
	    "the next try has another nonce");
	toy_answer(&t, 1, toy_stored());
	load_ended(t.load, 99, &(struct load_answer){ 0 });
	is_int((long long)t.h.n, 4,
	    "a try ends but once, and only if it began");
	toy_close(&t);
}

/* Each has one name, whoever sends it. */
static size_t
keys_sent(const struct toy *t)
{
	struct arena arena = { NULL };
	struct names keys = { .n = 0 };
	size_t i, n;

	for (i = 0; i < t->h.n; i++)
		if (t->h.events[i].kind == HISTORY_INV &&
		    t->h.events[i].k != NULL)
			names_add(&keys, &arena, t->h.events[i].k);
	n = keys.n;
	arena_free(&arena);
	return n;
}

static void
check_script(void)
{
	const struct plan_load load = SCRIPT;
	struct plan plan = plan_of(&load, 1, 3);
	struct toy t = { .plan = &plan, .answer = never };

	toy_open(&t);
	toy_run(&t, 1000);
	ok(t.tries[1].timeout_ms == 500 && t.tries[1].give_up_ms == 70 &&
	    strcmp(t.tries[1].method, "PUT") == 0 &&
	    t.tries[1].send == &sends[2], "a script's words come to the world");
	ok(t.tries[0].timeout_ms == 10000 && t.tries[0].give_up_ms == 0 &&
	    strcmp(t.tries[0].method, "POST") == 0 &&
	    strcmp(t.tries[0].body, "") == 0,
	    "where it has none, POST and 10 s are meant");
	ok(event_at(&t, 2)->k == NULL, "a request may be without a key");
	ok(strcmp(event_at(&t, 0)->f, event_at(&t, 3)->f) == 0 &&
	    strcmp(event_at(&t, 1)->f, event_at(&t, 2)->f) == 0 &&
	    strcmp(event_at(&t, 0)->f, event_at(&t, 1)->f) != 0,
	    "equal bodies have one name, and others another");
	ok(strcmp(event_at(&t, 0)->p, "c2") == 0 &&
	    strcmp(event_at(&t, 1)->p, "c2") == 0 &&
	    load_open_tries(t.load) == 4,
	    "a client may have two tries under way");
	toy_answer(&t, 2, toy_stored());
	is_int((long long)load_open_tries(t.load), 3,
	    "one that has ended is none of them");
	is_int((long long)keys_sent(&t), 2,
	    "a key is one, however often it was sent");
	ok(strcmp(event_at(&t, 0)->k, "k") == 0 &&
	    strcmp(event_at(&t, 1)->k, "k.PUT") == 0,
	    "but with another method it is another");
	toy_close(&t);
}

/* --- by chance ------------------------------------------------------------ */

static const struct plan_load storm[] = {
	{ .kind = PLAN_STORM, .clients = 400, .at_ms = 200, .within_ms = 20,
	  .keys = { .n = 8, .zipf = 1, .bodies = 2 } },
	{ .kind = PLAN_OPEN, .rate = 50, .for_ms = 6000, .poisson = true,
	  .keys = { .n = 300, .once = true } }
};

static void
check_storm(void)
{
	struct plan plan = plan_of(storm, 2, 4);
	struct toy t = { .plan = &plan, .seed = 1, .answer = after_5_ms };
	unsigned at_gate[4] = { 0 }, inside = 0, innocent = 0, first = 0,
	    opened = 0;
	size_t i;

	toy_open(&t);
	toy_run(&t, 10000);
	for (i = 0; i < t.n; i++) {
		bool of_open = t.tries[i].key[0] == 'o';

		opened += of_open;
		at_gate[t.tries[i].gate] += !of_open;
		inside += !of_open && t.tries[i].at_ns >= 200 * MS &&
		    t.tries[i].at_ns < 220 * MS;
		first += strcmp(t.tries[i].key, "k1") == 0;
	}
	for (i = 0; i < t.h.n; i++)
		innocent += t.h.events[i].kind == HISTORY_INV &&
		    t.h.events[i].innocent &&
		    t.h.events[i].k[0] == 'o';
	is_int(inside, 400, "each client of a storm comes within its time");
	ok(at_gate[0] == 100 && at_gate[1] == 100 && at_gate[2] == 100 &&
	    at_gate[3] == 100, "and they are at all gates alike");
	ok(opened > 240 && opened < 360, "an open load comes about as often as "
	    "it says (%u)", opened);
	is_int(innocent, opened, "who is beside a storm is innocent");
	ok(first > 400 * 0.37 - 50 && first < 400 * 0.37 + 50,
	    "the first of eight keys comes as often as Zipf says (%u)", first);
	is_int((long long)keys_sent(&t), 8 + opened,
	    "those of the open load come once each");
	toy_close(&t);
}

/* The same text of all that is asked for, and when. */
static char *
told(uint64_t seed, int64_t (*answer)(struct toy *, const struct toy_try *,
    struct load_answer *), bool opened)
{
	struct plan plan = plan_of(storm, 2, 4);
	struct toy t = { .plan = &plan, .seed = seed, .answer = answer };
	char *text = NULL;
	size_t len = 0, i;
	FILE *f = open_memstream(&text, &len);

	toy_open(&t);
	toy_run(&t, 10000);
	for (i = 0; i < t.n && f != NULL; i++)
		if (!opened || t.tries[i].key[0] == 'o')
			fprintf(f, "%s %s %s %s %" PRId64 "\n",
			    t.tries[i].name, t.tries[i].key, t.tries[i].body,
			    opened ? "" : t.tries[i].nonce, t.tries[i].at_ns);
	if (f == NULL || fclose(f) != 0)
		bail_out("no memory");
	toy_close(&t);
	return text;
}

static void
check_seeds(void)
{
	char *one = told(1, after_5_ms, false), *same = told(1, after_5_ms,
	    false), *other = told(2, after_5_ms, false);

	ok(strcmp(one, same) == 0, "the same seed gives the same load");
	ok(strcmp(one, other) != 0, "another seed gives another");
	free(one);
	free(same);
	free(other);
	one = told(1, after_5_ms, true);
	same = told(1, never, true);
	ok(*one != '\0' && strcmp(one, same) == 0,
	    "arrivals of an open load are the same whoever answers");
	free(one);
	free(same);
}

static void
check_bodies(void)
{
	const struct plan_load load = {
		.kind = PLAN_CLOSED, .clients = 1,
		.requests_per_client = 60, .keys = { .n = 1, .bodies = 3 }
	};
	struct plan plan = plan_of(&load, 1, 1);
	struct toy t = { .plan = &plan, .answer = after_5_ms };
	unsigned of[4] = { 0 };
	size_t i;

	toy_open(&t);
	toy_run(&t, 5000);
	for (i = 0; i < t.h.n; i++)
		if (t.h.events[i].kind == HISTORY_INV)
			of[strtoul(t.h.events[i].f + 1, NULL, 10) & 3]++;
	ok(of[0] == 0 && of[1] > 5 && of[2] > 5 && of[3] > 5,
	    "a key comes with each of its bodies");
	toy_close(&t);
}

static void
check_many(void)
{
	const struct plan_load load = {
		.kind = PLAN_CLOSED, .clients = 10000,
		.requests_per_client = 5, .keys = { .n = 3000 },
		.think_ms = { .kind = PLAN_UNIFORM, .a = 0, .b = 20 },
		.retry = RETRY(.max = 3, .backoff = PLAN_BACKOFF_EXP,
		    .base_ms = 10, .jitter = PLAN_JITTER_FULL)
	};
	struct plan plan = plan_of(&load, 1, 4);
	struct toy t = { .plan = &plan, .answer = busy };

	toy_open(&t);
	toy_run(&t, 60000);
	is_int((long long)t.n, 150000,
	    "10,000 clients come to the end of 150,000 tries");
	ok(load_over(t.load) && t.wakes <= t.turns + t.n + 1,
	    "and the world is not asked to wake them more often than that");
	toy_close(&t);
}

/* --- the end -------------------------------------------------------------- */

static void
check_stop(void)
{
	const struct plan_load load = {
		CLOSED(2, 9), .retry = RETRY(.max = 9)
	};
	struct plan plan = plan_of(&load, 1, 1);
	struct toy t = { .plan = &plan, .answer = busy };

	toy_open(&t);
	toy_run(&t, 7);
	load_stop(t.load);
	ok(!load_over(t.load), "who is under way may go on");
	toy_run(&t, 1000);
	ok(load_over(t.load), "then it is over");
	is_int((long long)t.n, 4, "and nothing new has begun");
	is_int((long long)t.h.n, 8, "each try has its end");
	toy_close(&t);
}

/* One instance has a key for a while; another answers at first with a reset. */
static int64_t
audited(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	if (try->gate == 1 && strcmp(try->key, "k") == 0 &&
	    t->now_ns < 1300 * MS)
		return busy(t, try, answer);
	if (try->gate == 2 && t->now_ns < 1010 * MS)
		answer->end = OUTCOME_CUT;
	if (try->gate == 0 && strcmp(try->key, "k1") == 0)
		return timeout(t, try, answer);
	return 5 * MS;
}

/* The last word of each key at each gate: how many are of that class. */
static unsigned
last_words(const struct toy *t, enum outcome class)
{
	const struct history_event *last[64] = { NULL }, *e;
	unsigned n = 0, found = 0;
	size_t i, j;

	for (i = 0; i < t->h.n; i++) {
		e = &t->h.events[i];
		if (e->kind != HISTORY_RET || e->t_ns < 1000 * MS)
			continue;
		for (j = 0; j < n && (strcmp(last[j]->k, e->k) != 0 ||
		    strcmp(last[j]->to, e->to) != 0); j++)
			;
		n += j == n;
		last[j] = e;
	}
	for (j = 0; j < n; j++)
		found += last[j]->class == class;
	return found;
}

static void
check_audit(void)
{
	static const struct plan_send one[] = {
		{ .at_ms = 10, .client = "c1", .key = "k", .body = "first",
		  .gate = 1, .method = "PUT", .timeout_ms = 50,
		  .give_up_ms = 20 },
		{ .at_ms = 20, .client = "c1", .key = "k", .body = "second",
		  .method = "PUT", NO_GATE },
		{ .at_ms = 30, .client = "c1", NO_GATE },
		{ .at_ms = 30, .client = "c1", .key = "fresh1", NO_GATE }
	};
	const struct plan_load loads[] = {
		{ .kind = PLAN_SCRIPT, .sends = one, .sends_n = 4 },
		{ CLOSED(1, 1) }
	};
	struct plan plan = plan_of(loads, 2, 3);
	struct toy t = { .plan = &plan, .answer = after_5_ms };
	unsigned marked = 0, fresh = 0, wrong = 0;
	size_t i, before;

	toy_open(&t);
	toy_run(&t, 1000);
	before = t.n;
	load_stop(t.load);
	t.answer = audited;
	load_audit(t.load, 3000);
	ok(!load_over(t.load), "an audit begins");
	toy_run(&t, 20000);
	ok(load_over(t.load), "and ends");
	for (i = 0; i < t.h.n; i++) {
		marked += t.h.events[i].kind == HISTORY_INV &&
		    t.h.events[i].audit;
		fresh += t.h.events[i].kind == HISTORY_INV &&
		    t.h.events[i].audit && t.h.events[i].fresh;
	}
	for (i = before; i < t.n; i++)
		wrong += strcmp(t.tries[i].key, "k") == 0 &&
		    (strcmp(t.tries[i].body, "first") != 0 ||
		    strcmp(t.tries[i].method, "PUT") != 0 ||
		    t.tries[i].give_up_ms != 0 || t.tries[i].timeout_ms < 500);
	is_int(marked, (long long)(t.n - before), "all its tries say so");
	ok(fresh >= 3, "some are of keys that nobody has heard of");
	is_int(wrong, 0, "a key is sent as it was first, and not given up");
	/* k, k1 and fresh1, and a new one, at three gates. */
	is_int(last_words(&t, OUTCOME_OK), 11,
	    "each key is answered at each gate in the end");
	is_int(last_words(&t, OUTCOME_INFO), 1, "but the one that never is");
	is_int(last_words(&t, OUTCOME_BUSY), 0, "and none is busy");
	ok(t.tries[t.n - 1].at_ns < 4000 * MS, "none begins when it is late");
	toy_close(&t);
}

/* It gives up at its time, not before. */
static void
check_audit_end(void)
{
	const struct plan_load load = { CLOSED(1, 1) };
	struct plan plan = plan_of(&load, 1, 2);
	struct toy t = { .plan = &plan, .answer = after_5_ms };
	int64_t last_ns;

	toy_open(&t);
	toy_run(&t, 1000);
	load_stop(t.load);
	t.answer = busy;
	load_audit(t.load, 3000);
	toy_run(&t, 20000);
	last_ns = t.tries[t.n - 1].at_ns;
	ok(load_over(t.load) && last_ns > 2500 * MS && last_ns <= 3250 * MS,
	    "what stays busy is asked for until the audit's time is over");
	toy_close(&t);
}

int
main(void)
{
	check_rows();
	check_events();
	check_script();
	check_storm();
	check_seeds();
	check_bodies();
	check_many();
	check_stop();
	check_audit();
	check_audit_end();
	return done();
}
