/* SPDX-License-Identifier: ISC */
/* When a load's requests come, how long they wait, and which never come. */
#include "load_toy.h"
#include "tap.h"

#include <string.h>

#define MS TOY_MS

static struct plan
plan_of(const struct plan_load *load)
{
	return (struct plan){
		.loads = load, .loads_n = 1, .gates = { .n = 2 }
	};
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
timeout(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	answer->end = OUTCOME_TIMEOUT;
	return try->timeout_ms * MS;
}

/* --- arrivals ------------------------------------------------------------- */

/* Of the gaps: variance over the square of their mean.  Of a Poisson process
   1, of an even one 0. */
static double
unevenness(const struct toy *t)
{
	double gap, sum = 0, squares = 0, n = (double)t->n - 1, mean;
	size_t i;

	for (i = 1; i < t->n; i++) {
		gap = (double)(t->tries[i].at_ns - t->tries[i - 1].at_ns);
		sum += gap;
		squares += gap * gap;
	}
	mean = n > 0 ? sum / n : 0;
	return mean > 0 ? squares / n / (mean * mean) - 1 : -1;
}

static void
test_arrivals(void)
{
	struct plan_load load = {
		.kind = PLAN_OPEN, .rate = 1000, .for_ms = 4000,
		.poisson = true, .keys = { .n = 9, .once = true }
	};
	struct plan plan = plan_of(&load);
	struct toy t = { .plan = &plan, .seed = 3, .answer = never };

	toy_open(&t);
	toy_run(&t, 5000);
	ok(t.n > 3750 && t.n < 4250, "a Poisson load has its rate (%zu of "
	    "4000)", t.n);
	ok(unevenness(&t) > 0.85 && unevenness(&t) < 1.15,
	    "and its gaps are exponential (%.2f)", unevenness(&t));
	ok(t.tries[t.n - 1].at_ns < 4000 * MS, "none comes after its time");
	toy_close(&t);
	load.poisson = false;
	t = (struct toy){ .plan = &plan, .seed = 3, .answer = never };
	toy_open(&t);
	toy_run(&t, 5000);
	is_int((long long)t.n, 4000, "an even one has exactly its rate");
	ok(unevenness(&t) < 0.01, "and no gap is another's (%.2f)",
	    unevenness(&t));
	toy_close(&t);
}

/* --- how long they wait --------------------------------------------------- */

static void
test_timeouts(void)
{
	struct plan_load load = {
		.kind = PLAN_CLOSED, .clients = 1, .requests_per_client = 400,
		.keys = { .n = 1 }, .retry = { .max = 1,
		    .timeout_ms = { .kind = PLAN_EXP, .a = 1 } }
	};
	struct plan plan = plan_of(&load);
	struct toy t = { .plan = &plan, .seed = 3, .answer = timeout };
	int64_t longest = 0, shortest = INT64_MAX;
	size_t i;

	toy_open(&t);
	toy_run(&t, 60000);
	for (i = 0; i < t.n; i++) {
		longest = t.tries[i].timeout_ms > longest ?
		    t.tries[i].timeout_ms : longest;
		shortest = t.tries[i].timeout_ms < shortest ?
		    t.tries[i].timeout_ms : shortest;
	}
	is_int((long long)t.n, 400, "times of 1 ms on average are drawn");
	is_int(shortest, 1, "the shortest is 1 ms");
	ok(longest < 20, "none that was drawn as nothing is for ever (%lld)",
	    (long long)longest);
	toy_close(&t);
	load.retry.timeout_ms = (struct plan_dist){ .kind = PLAN_CONST };
	load.requests_per_client = 1;
	t = (struct toy){ .plan = &plan, .answer = timeout };
	toy_open(&t);
	toy_run(&t, 20000);
	is_int(t.tries[0].timeout_ms, 10000, "where none is said it is 10 s");
	toy_close(&t);
}

/* --- what never comes ----------------------------------------------------- */

static const struct plan_send sends[] = {
	{ .at_ms = 0, .client = "c1", .key = "k", .gate = PLAN_NONE },
	{ .at_ms = 900, .client = "c1", .key = "k", .gate = PLAN_NONE },
	{ .at_ms = 901, .client = "c2", .key = "z", .gate = PLAN_NONE }
};

static size_t
unsent_after(const struct plan_load *load, int64_t ms)
{
	struct plan plan = plan_of(load);
	struct toy t = { .plan = &plan, .answer = timeout };
	size_t n;

	toy_open(&t);
	toy_run(&t, ms);
	load_stop(t.load);
	n = load_unsent(t.load);
	toy_close(&t);
	return n;
}

static void
test_unsent(void)
{
	const struct plan_load script = {
		.kind = PLAN_SCRIPT, .sends = sends, .sends_n = 3
	}, opened = {
		.kind = PLAN_OPEN, .rate = 100, .for_ms = 100,
		.keys = { .n = 1 }
	}, storm = {
		.kind = PLAN_STORM, .clients = 5, .at_ms = 500,
		.keys = { .n = 1 }
	}, closed = {
		.kind = PLAN_CLOSED, .clients = 2, .requests_per_client = 9,
		.keys = { .n = 1 }, .retry = { .max = 9,
		    .on = PLAN_ON_TIMEOUT, .backoff = PLAN_BACKOFF_CONST,
		    .base_ms = 50,
		    .timeout_ms = { .kind = PLAN_CONST, .a = 20 } }
	};

	is_int((long long)unsent_after(&script, 100), 2,
	    "requests of a script that come later are counted");
	is_int((long long)unsent_after(&script, 1000), 0,
	    "and none when all were sent");
	is_int((long long)unsent_after(&opened, 55), 4,
	    "so are those of an open load");
	is_int((long long)unsent_after(&storm, 100), 5, "and of a storm");
	is_int((long long)unsent_after(&closed, 100), 0,
	    "but not further tries, nor what a client asks next");
}

int
main(void)
{
	test_arrivals();
	test_timeouts();
	test_unsent();
	return done();
}
