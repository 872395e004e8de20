/* SPDX-License-Identifier: ISC */
#include "load.h"

#include "load_toy.h"
#include "tap.h"

#include <string.h>

/* Tokens that clients ask for before they send them: who asks, who waits. */
#define MS TOY_MS
#define AT(ms, who, name) .at_ms = (ms), .client = (who), .key = (name), \
	.source = PLAN_MINT
#define ANYWHERE .gate = PLAN_NONE
#define RETRY(...) { .timeout_ms = { .kind = PLAN_CONST, .a = 100 }, \
    .on = PLAN_ON_TIMEOUT, __VA_ARGS__ }

static const struct plan_send twice[] = {
	{ AT(0, "c1", "k"), ANYWHERE }, { AT(2, "c2", "k"), ANYWHERE },
	{ AT(90, "c2", "k"), ANYWHERE }, { AT(90, "c1", "other"), ANYWHERE }
};
static const struct plan_send apart[] = {
	{ AT(0, "c1", "k"), ANYWHERE, .get = true },
	{ AT(1, "c2", "k"), ANYWHERE, .get = true },
	{ AT(40, "c1", "k"), ANYWHERE },
	{ AT(41, "c2", "k"), ANYWHERE, .get = true }
};
static const struct plan_send late[] = {
	{ AT(0, "c1", "k"), ANYWHERE }, { AT(2900, "c2", "other"), ANYWHERE }
};
static const struct plan_send spoilt[] = {
	{ AT(0, "c1", "k"), .spoilt = PLAN_FORGED, .gate = 1 },
	{ AT(40, "c1", "k"), ANYWHERE }
};

/* --- answers -------------------------------------------------------------- */

static int64_t
after_5_ms(struct toy *t, const struct toy_try *try,
    struct load_answer *answer)
{
	(void)t;
	answer->got = try->asks;
	return 5 * MS;
}

/* The first one to ask gets 503, the next is refused. */
static int64_t
not_yet(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	if (try->asks && try->a == 1)
		answer->status = 503;
	else if (try->asks && try->a == 2)
		answer->end = OUTCOME_REFUSED;
	else
		answer->got = try->asks;
	(void)t;
	return 5 * MS;
}

static int64_t
no_token(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	(void)try;
	answer->status = 503;
	return 5 * MS;
}

static int64_t
from_3_s(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	return try->at_ns < 3000 * MS ? no_token(t, try, answer) :
	    after_5_ms(t, try, answer);
}

static int64_t
slow(struct toy *t, const struct toy_try *try, struct load_answer *answer)
{
	(void)t;
	answer->got = try->asks;
	if (!try->asks)
		answer->end = OUTCOME_TIMEOUT;
	return try->asks ? 5 * MS : 100 * MS;
}

static const struct row {
	const char *what;
	struct plan_load load;
	int64_t (*answer)(struct toy *, const struct toy_try *,
	    struct load_answer *);
	const char *said;
} rows[] = {
	{ "who is first asks, and all who want the same token wait for it",
	  { .kind = PLAN_SCRIPT, .sends = twice, .sends_n = 4 }, after_5_ms,
	  "1:c1>g1 ?k@0 2:c1>g1 k@5 3:c2>g2 k@5 4:c2>g2 k@90 "
	  "5:c1>g1 ?other@90 6:c1>g1 other@95" },
	{ "it is asked for until it is there, where the client is then",
	  { .kind = PLAN_SCRIPT, .sends = twice, .sends_n = 3 }, not_yet,
	  "1:c1>g1 ?k@0 2:c1>g1 ?k@55 3:c1>g2 ?k@160 4:c1>g2 k@165 "
	  "5:c2>g2 k@165 6:c2>g2 k@165" },
	{ "it can be asked for before, once",
	  { .kind = PLAN_SCRIPT, .sends = apart, .sends_n = 4 }, after_5_ms,
	  "1:c1>g1 ?k@0 2:c1>g1 k@40" },
	{ "what is made of one needs it",
	  { .kind = PLAN_SCRIPT, .sends = spoilt, .sends_n = 2 }, after_5_ms,
	  "1:c1>g2 ?k@0 2:c1>g2 k@5 3:c1>g1 k@40" },
	{ "with the same token a retry does not ask",
	  { .kind = PLAN_CLOSED, .clients = 1, .requests_per_client = 1,
	    .keys = { .n = 1, .source = PLAN_FORM },
	    .retry = RETRY(.max = 2) }, slow,
	  "1:c1>g1 ?k1@0 2:c1>g1 k1@5 3:c1>g1 k1@105" },
	{ "for a new one with each retry it does",
	  { .kind = PLAN_CLOSED, .clients = 1, .requests_per_client = 1,
	    .keys = { .n = 1, .source = PLAN_MINT },
	    .retry = RETRY(.max = 2, .rotate = true) }, slow,
	  "1:c1>g1 ?k1@0 2:c1>g1 k1@5 3:c1>g1 ?k1.r1@105 4:c1>g1 k1.r1@110" },
	{ "keys that are ready, or made, are asked of nobody",
	  { .kind = PLAN_STORM, .clients = 2,
	    .keys = { .n = 2, .once = true, .source = PLAN_UUID } },
	  after_5_ms, "1:c1>g1 o1@0 2:c2>g2 o2@0" },
	{ "a token that is not there is asked for after a pause that doubles, "
	  "up to a second, for each its own",
	  { .kind = PLAN_SCRIPT, .sends = late, .sends_n = 2 }, from_3_s,
	  "1:c1>g1 ?k@0 2:c1>g1 ?k@55 3:c1>g1 ?k@160 4:c1>g1 ?k@365 "
	  "5:c1>g1 ?k@770 6:c1>g1 ?k@1575 7:c1>g1 ?k@2580 "
	  "8:c2>g2 ?other@2900 9:c2>g2 ?other@2955 10:c2>g2 ?other@3060 "
	  "11:c2>g2 other@3065 12:c1>g1 ?k@3585 13:c1>g1 k@3590" }
};

static struct plan
plan_of(const struct plan_load *load)
{
	return (struct plan){
		.loads = load, .loads_n = 1,
		.gates = { .n = 2, .arbiter = PLAN_TOKEN }
	};
}

static void
check_rows(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct plan plan = plan_of(&rows[i].load);
		struct toy t = { .plan = &plan, .answer = rows[i].answer };

		toy_open(&t);
		toy_run(&t, 5000);
		is(toy_said(&t, 1), rows[i].said, "%s", rows[i].what);
		ok(load_over(t.load), "and then it is over");
		toy_close(&t);
	}
}

/* --- what stands in the history ------------------------------------------- */

static unsigned told, told_asks;

static void
count_ended(struct toy *t, int a)
{
	told++;
	told_asks += t->tries[a - 1].asks;
}

static void
check_events(void)
{
	struct plan plan = plan_of(&rows[3].load);
	struct toy t = { .plan = &plan, .answer = not_yet,
	    .ended = count_ended };
	const struct history_event *e;
	char text[100];

	toy_open(&t);
	toy_run(&t, 5000);
	e = t.h.events;
	ok(t.h.n == 10 && e[0].kind == HISTORY_INV && e[0].k == NULL &&
	    e[0].f == NULL && strcmp(e[0].get, "mint") == 0 &&
	    strcmp(e[0].what, "k") == 0, "who asks has no key yet, and says "
	    "which it is to be");
	is(history_event_text(&e[0], text, sizeof text),
	    "c1 -> g2 asks for a token (mint), to be k (try 1)",
	    "in words too");
	ok(e[1].class == OUTCOME_FAIL && e[3].class == OUTCOME_FAIL &&
	    e[5].class == OUTCOME_OK, "what is no token is a failure, though "
	    "it is a whole answer");
	is(history_event_text(&e[5], text, sizeof text),
	    "c1 <- 200 stored = ok (try 3), has the token k",
	    "and a token is told of");
	ok(e[6].get == NULL && strcmp(e[6].k, "k.forged") == 0,
	    "what is made of a token has a name of its own");
	ok(e[7].kind == HISTORY_INV && e[7].k != NULL &&
	    strcmp(e[7].k, "k") == 0, "and what is sent has the token's key");
	ok(told == 2 && told_asks == 0, "the world is told of requests alone");
	toy_close(&t);
}

/* --- the end -------------------------------------------------------------- */

static void
check_stop(void)
{
	struct plan plan = plan_of(&rows[0].load);
	struct toy t = { .plan = &plan, .answer = no_token };

	toy_open(&t);
	toy_run(&t, 10002);
	ok(!load_over(t.load) && t.n > 20, "a token that nobody has is asked "
	    "for to the end");
	load_stop(t.load);
	is_int((long long)load_unsent(t.load), 4,
	    "requests that waited for it were not sent");
	toy_run(&t, 15000);
	ok(load_over(t.load), "and it is over");
	toy_close(&t);
}

int
main(void)
{
	check_rows();
	check_events();
	check_stop();
	return done();
}
