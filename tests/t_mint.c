/* SPDX-License-Identifier: ISC */
#include "mint.h"
#include "store_scripted.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WALL INT64_C(1704067200000)	/* 2024-01-01T00:00:00Z */
#define LIFE 3600000

static const char key_file[] =
    "a 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n";

static int64_t boot_ms = 1000;

static int64_t
now_boot(void *arg)
{
	(void)arg;
	return boot_ms;
}

static int64_t
now_wall(void *arg)
{
	(void)arg;
	return WALL;
}

static const struct idem_clock fake = { now_boot, now_wall, NULL };

/* --- a configuration ------------------------------------------------------ */

static const char *const put[] = { "PUT" };
static const char *const post_patch[] = { "POST", "PATCH" };

#define TOKENS .policy.arbiter = IDEM_ARBITER_TOKEN
#define ROUTE(PATH, METHODS, ...) { .route = { .path = PATH, \
    .methods = { METHODS, sizeof METHODS / sizeof *METHODS }, __VA_ARGS__ } }

static struct conf_route routes[] = {
	ROUTE("/order", post_patch, TOKENS),
	ROUTE("/shop/special", post_patch, .name = "special"),
	ROUTE("/shop/**", post_patch, TOKENS),
	ROUTE("/shop/**", put, TOKENS, .name = "put"),
	ROUTE("/shop/late", put, TOKENS),
	ROUTE("/free", post_patch, .name = "free"),
};
static struct conf_tokens tokens = { .life_ms = LIFE, .rate = 20, .burst = 3 };
static const struct conf_redis shared = { .name = "idem:0" };
static const struct conf conf = {
	.shared = &shared,
	.tokens = &tokens,
	.routes = routes,
	.routes_len = sizeof routes / sizeof *routes
};

/* --- one token ------------------------------------------------------------ */

struct asker {
	struct mint mint;
	struct store_scripted redis, ledger;
	struct mint_made made;		/* the last */
	char error[40];
	unsigned answers;
};

static void
take(void *arg, const struct mint_made *made)
{
	struct asker *a = arg;

	a->made = *made;
	snprintf(a->error, sizeof a->error, "%s",
	    made->error != NULL ? made->error : "");
	a->answers++;
}

/* NULL without a script. */
static struct idem_store *
open_scripted(struct store_scripted *s, const char *script, uint8_t id)
{
	const struct idem_boot boot = { { id, 2, 3 } };

	return script == NULL ? NULL :
	    store_scripted(s, idem_store_memory(&fake, &boot), script);
}

static struct mint_order
open_asker(struct asker *a, const char *redis, const char *ledger)
{
	struct mint_order order = { .conf = &conf, .route = &routes[0].route };

	*a = (struct asker){ .mint.clock = &fake };
	order.redis = open_scripted(&a->redis, redis, 1);
	order.ledger = open_scripted(&a->ledger, ledger, 9);
	order.done = take;
	order.arg = a;
	return order;
}

static void
poll_stores(const struct mint_order *order)
{
	if (order->redis != NULL)
		order->redis->ops->poll(order->redis);
	if (order->ledger != NULL)
		order->ledger->ops->poll(order->ledger);
}

static void
close_asker(struct asker *a, const struct mint_order *order)
{
	mint_close(&a->mint);
	if (order->redis != NULL)
		order->redis->ops->close(order->redis);
	if (order->ledger != NULL)
		order->ledger->ops->close(order->ledger);
}

/* "redis", "ledger", or the problem's type. */
static const char *
what_came(const struct asker *a)
{
	if (a->answers != 1)
		return a->answers == 0 ? "nothing" : "more than one";
	if (a->made.problem != IDEM_PROBLEM_NONE)
		return idem_problem_form(a->made.problem)->type;
	return a->made.arbiter == IDEM_TOKEN_REDIS ? "redis" : "ledger";
}

static const struct {
	const char *what, *redis, *ledger, *comes;
	unsigned redis_calls, ledger_calls;
} rows[] = {
	{ "a token is of the shared Redis", "", "", "redis", 1, 0 },
	{ "without a Redis it is of the ledger", NULL, "", "ledger", 0, 1 },
	{ "while Redis is away it is of the ledger at once", "a", "",
	  "ledger", 1, 1 },
	{ "and without a ledger there is none", "a", NULL, "store-away", 1, 0 },
	{ "what may have been issued is asked for again", "m", "", "redis",
	  2, 0 },
	{ "so is what was refused for now", "r", "", "redis", 2, 0 },
	{ "and what was there already, as another one", "l", "", "redis", 2,
	  0 },
	{ "three times, then the ledger is asked", "rml", "", "ledger", 3, 1 },
	{ "a store that is set up wrong is not asked again", "c", "", "ledger",
	  1, 1 },
	{ "the ledger is asked three times too", "a", "rmrp", "store-away", 1,
	  3 },
	{ "alone as well", NULL, "rrrp", "store-away", 0, 3 },
	{ "and once if it is set up wrong", NULL, "cp", "store-away", 0, 1 },
};

/* Its store lets it start, once. */
static void
check_starts(const struct asker *a, const struct mint_order *order,
    const char *what)
{
	struct idem_store *store = a->made.arbiter == IDEM_TOKEN_REDIS ?
	    order->redis : order->ledger;
	struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM,
		.deadline_ms = INT64_MAX,
		.issued_only = true
	};
	uint8_t name[IDEM_TOKEN_STORE], route[IDEM_TOKEN_ROUTE];
	struct idem_store_answer answered;
	struct idem_token token;

	ok(idem_token_read(idem_bytes_text(a->made.text), &tokens.keys,
	    &token) == IDEM_TOKEN_GOOD && token.arbiter == a->made.arbiter &&
	    mint_store_name(&conf, order->ledger, token.arbiter, name) &&
	    memcmp(name, token.store, sizeof name) == 0 &&
	    mint_route_name(order->route, route) &&
	    memcmp(route, token.route, sizeof route) == 0,
	    "%s: and names it, and its route", what);
	is_int(token.minted_ms, WALL, "%s: now", what);
	idem_token_store_key(&token, &call.key);
	call.history = token.history;
	idem_store_wait(store, &call, &answered);
	ok(answered.result.claim == IDEM_CLAIM_WON, "%s: where it may start",
	    what);
	idem_store_answer_free(&answered);
}

static void
test_rows(void)
{
	struct mint_order order;
	enum idem_problem why;
	struct asker a;
	size_t i;
	int polls;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		order = open_asker(&a, rows[i].redis, rows[i].ledger);
		if (mint_start(&a.mint, &order, &why) == NULL)
			bail_out("%s: it does not start", rows[i].what);
		ok(a.answers == 0, "%s: it is not answered before a poll",
		    rows[i].what);
		for (polls = 0; polls < 9; polls++)
			poll_stores(&order);
		is(what_came(&a), rows[i].comes, "%s", rows[i].what);
		is_int(a.redis.calls, rows[i].redis_calls,
		    "%s: so many calls of Redis", rows[i].what);
		is_int(a.ledger.calls, rows[i].ledger_calls,
		    "%s: and of the ledger", rows[i].what);
		is_int(a.mint.outstanding, 0, "%s: nothing is left over",
		    rows[i].what);
		if (a.made.problem == IDEM_PROBLEM_NONE)
			check_starts(&a, &order, rows[i].what);
		else
			is(a.error, "as it was told", "%s: it is said why",
			    rows[i].what);
		close_asker(&a, &order);
	}
}

static void
test_nothing_to_ask(void)
{
	struct mint_order order;
	enum idem_problem why;
	struct asker a;

	order = open_asker(&a, NULL, NULL);
	ok(mint_start(&a.mint, &order, &why) == NULL &&
	    why == IDEM_PROBLEM_STORE_AWAY && a.mint.outstanding == 0,
	    "without any store nothing is begun");
	close_asker(&a, &order);
	ok(a.answers == 0, "nor answered");
}

static void
test_slow(void)
{
	struct mint_order order;
	enum idem_problem why;
	struct asker a;

	order = open_asker(&a, "rrr", "");
	mint_start(&a.mint, &order, &why);
	boot_ms += MINT_STORE_MS;
	poll_stores(&order);
	poll_stores(&order);
	is(what_came(&a), "ledger", "a Redis that took its time is not asked "
	    "again");
	is_int(a.redis.calls, 1, "it was asked once");
	close_asker(&a, &order);
}

static void
test_record(void)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.deadline_ms = INT64_MAX,
		.states = 1u << IDEM_STATE_ISSUED
	};
	struct idem_store_answer listed;
	struct mint_order order;
	enum idem_problem why;
	struct asker a;

	order = open_asker(&a, "", NULL);
	mint_start(&a.mint, &order, &why);
	poll_stores(&order);
	is_int(a.made.expires_ms, WALL + LIFE, "a token says when it expires");
	idem_store_wait(order.redis, &call, &listed);
	ok(listed.result.count == 1 && listed.listed[0].record.expires_at ==
	    WALL + LIFE + MINT_GRACE_MS,
	    "its record stays a little longer, for requests that wait");
	idem_store_answer_free(&listed);
	close_asker(&a, &order);
}

static void
test_forgotten(void)
{
	struct mint_ask *asks[3];
	struct mint_order order;
	enum idem_problem why;
	struct asker a;
	size_t i;

	order = open_asker(&a, "aaa", "");
	for (i = 0; i < 3; i++)
		asks[i] = mint_start(&a.mint, &order, &why);
	mint_forget(asks[1]);
	is_int(a.mint.outstanding, 3, "what is forgotten is outstanding");
	order.redis->ops->poll(order.redis);
	is_int(a.mint.outstanding, 2, "until its store has answered");
	poll_stores(&order);
	is_int(a.answers, 2, "who has forgotten is not told");
	is_int(a.ledger.calls, 2, "and for nobody no other store is asked");
	close_asker(&a, &order);

	order = open_asker(&a, "pr", "");
	mint_start(&a.mint, &order, &why);
	mint_start(&a.mint, &order, &why);
	close_asker(&a, &order);
	ok(a.answers == 0 && a.ledger.calls == 0,
	    "after the mint's end nobody is told or asked");
	ok(a.mint.outstanding == 0 && a.mint.first == NULL,
	    "and the mint is left alone");
}

static void
test_many(void)
{
	static char seen[MINT_MAX][IDEM_TOKEN_TEXT + 1];
	struct mint_order order;
	enum idem_problem why;
	struct asker a;
	unsigned i, same = 0;

	order = open_asker(&a, "", NULL);
	for (i = 0; i < MINT_MAX; i++)
		if (mint_start(&a.mint, &order, &why) == NULL)
			break;
	is_int(i, MINT_MAX, "so many may be outstanding");
	ok(mint_start(&a.mint, &order, &why) == NULL &&
	    why == IDEM_PROBLEM_BUSY, "and not one more");
	poll_stores(&order);
	ok(a.answers == MINT_MAX && a.mint.outstanding == 0 &&
	    a.mint.first == NULL, "all are answered");
	for (i = 0; i < 50; i++) {
		mint_start(&a.mint, &order, &why);
		poll_stores(&order);
		memcpy(seen[i], a.made.text, sizeof seen[i]);
		same += i > 0 && strcmp(seen[i], seen[i - 1]) == 0;
	}
	is_int(same, 0, "no two are the same");
	close_asker(&a, &order);
}

/* --- names ---------------------------------------------------------------- */

static void
test_names(void)
{
	const struct conf alone = { .tokens = &tokens };
	uint8_t a[4], b[4];
	struct asker asker;
	struct mint_order order = open_asker(&asker, NULL, "");

	ok(!mint_store_name(&alone, NULL, IDEM_TOKEN_REDIS, a) &&
	    !mint_store_name(&alone, NULL, IDEM_TOKEN_LEDGER, a),
	    "a store that there is not has no name");
	ok(mint_store_name(&conf, NULL, IDEM_TOKEN_REDIS, a) &&
	    idem_token_name(idem_bytes_text("idem:0"), b) &&
	    memcmp(a, b, 4) == 0, "a Redis has that of its configuration");
	ok(mint_store_name(&conf, order.ledger, IDEM_TOKEN_LEDGER, a) &&
	    idem_token_name((struct idem_bytes){ "\x09\x02\x03\0\0\0\0\0", 8 },
	    b) && memcmp(a, b, 4) == 0, "a ledger has that of its generation");
	mint_route_name(&routes[2].route, a);
	mint_route_name(&routes[3].route, b);
	ok(memcmp(a, b, 4) != 0, "a route is told by its name");
	idem_token_name(idem_bytes_text("/shop/**"), b);
	ok(memcmp(a, b, 4) == 0, "or by its path, if it has none");
	close_asker(&asker, &order);
}

int
main(void)
{
	char error[100];

	if (!idem_token_keys_read(&tokens.keys, idem_bytes_text(key_file),
	    error, sizeof error))
		bail_out("%s", error);
	test_rows();
	test_nothing_to_ask();
	test_slow();
	test_record();
	test_forgotten();
	test_many();
	test_names();
	idem_token_keys_free(&tokens.keys);
	return done();
}
