/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lua.h>

#define MANY 1000000
#define CLIENTS_MAX 10000

/* Without a policy a client tries once, and waits for long. */
static const struct plan_retry no_retry = { .max = 1,
    .timeout_ms = { .kind = PLAN_CONST, .a = SCENARIO_TIMEOUT_MS } };

/* --- keys and retries ----------------------------------------------------- */

static struct plan_keys
keys(const struct scenario_at *at)
{
	const struct scenario_word *word;
	struct plan_keys k = { .n = 1 };
	struct scenario_at given, options;
	int top = lua_gettop(at->L);

	if (!scenario_has(at, "keys"))
		scenario_wrong(at, "keys", "it is missing; say keys = "
		    "sim.keys { n = 2 }");
	given = scenario_given(at, "keys", SCENARIO_KEYS, "keys; say sim.keys "
	    "{ n = 2 }", &word);
	scenario_options(&given, 1, word, &options);
	k.once = scenario_flag(&options, "once", false);
	k.n = (size_t)scenario_whole(&options, "n", 1, MANY, k.once);
	if (k.n == 0)
		scenario_wrong(&options, "n", "it is missing; say how many "
		    "there are");
	k.zipf = scenario_real(&options, "zipf", 0, 10, 0);
	if (k.once && k.zipf > 0)
		scenario_wrong(&options, "zipf", "each request has a key of "
		    "its own; leave out once, or zipf");
	k.bodies = (size_t)scenario_whole(&options, "bodies", 0, MANY, 0);
	k.source = scenario_key_source(&options);
	lua_settop(at->L, top);
	return k;
}

static unsigned
read_on(const struct scenario_at *at)
{
	static const unsigned bits[] = { PLAN_ON_TIMEOUT, PLAN_ON_RESET,
	    PLAN_ON_BUSY, PLAN_ON_UNAVAILABLE };
	struct scenario_at list;
	char field[SCENARIO_NTH];
	unsigned on = 0;
	size_t n, i;

	if (!scenario_has(at, "on"))
		return PLAN_ON_TIMEOUT | PLAN_ON_RESET;
	list = scenario_inside(at, "on");
	n = scenario_fields(&list, NULL);
	for (i = 1; i <= n; i++) {
		scenario_nth(field, i);
		on |= bits[scenario_one_of(&list, field,
		    "timeout reset busy unavailable", 0)];
	}
	lua_pop(at->L, 1);
	return on;
}

/* What is said of tries after the first, if there are any. */
static void
check_tries(const struct scenario_at *at, const struct plan_retry *r)
{
	static const char *const more[] = { "on", "backoff", "base", "cap",
	    "jitter", "key", "honour_retry_after" };
	size_t i;

	if (r->max > 1 && r->on == 0)
		scenario_wrong(at, "on", "after nothing it never tries again; "
		    "say on = { \"timeout\" }");
	for (i = 0; i < sizeof more / sizeof *more && r->max == 0; i++)
		if (scenario_has(at, more[i]))
			scenario_wrong(at, "max", "it is missing, so there is "
			    "one try; say max = 3");
}

static void
check_pauses(const struct scenario_at *at, const struct plan_retry *r)
{
	if (r->backoff == PLAN_BACKOFF_NONE && r->jitter != PLAN_JITTER_NONE)
		scenario_wrong(at, "jitter", "nobody pauses without a backoff; "
		    "say backoff = \"const\" or \"exp\"");
	if (r->cap_ms > 0 && r->backoff != PLAN_BACKOFF_EXP &&
	    r->jitter != PLAN_JITTER_DECORRELATED && !r->honour_retry_after)
		scenario_wrong(at, "cap", "no pause grows; say backoff = "
		    "\"exp\", or leave it out");
	if (r->backoff != PLAN_BACKOFF_NONE && r->base_ms == 0)
		scenario_wrong(at, "backoff", "its pause is missing; say "
		    "base = 100");
	if (r->backoff == PLAN_BACKOFF_NONE && r->base_ms > 0)
		scenario_wrong(at, "base", "nobody pauses without a backoff; "
		    "say backoff = \"const\" or \"exp\"");
	if (r->cap_ms > 0 && r->cap_ms < r->base_ms)
		scenario_wrong(at, "cap", "it is less than base; say more");
}

static void
read_retry(const struct scenario_at *at, struct plan_retry *r)
{
	r->max = (unsigned)scenario_whole(at, "max", 1, 10000, 0);
	r->timeout_ms = scenario_dist(at, "timeout",
	    SCENARIO_TIMEOUT_MS);
	r->backoff = (enum plan_backoff)scenario_one_of(at, "backoff",
	    "none const exp", PLAN_BACKOFF_NONE);
	r->base_ms = scenario_ms(at, "base", 0);
	r->cap_ms = scenario_ms(at, "cap", 0);
	r->jitter = (enum plan_jitter)scenario_one_of(at, "jitter",
	    "none full equal decorrelated", PLAN_JITTER_NONE);
	r->on = read_on(at);
	r->rotate = scenario_one_of(at, "key", "reuse rotate", 0) == 1;
	r->honour_retry_after = scenario_flag(at, "honour_retry_after", false);
	check_pauses(at, r);
	check_tries(at, r);
	if (r->max == 0)
		r->max = 1;
}

static struct plan_retry
retry(const struct scenario_at *at)
{
	const struct scenario_word *word;
	struct plan_retry r = no_retry;
	struct scenario_at given, options;
	int top = lua_gettop(at->L);

	if (!scenario_has(at, "retry"))
		return r;
	given = scenario_given(at, "retry", SCENARIO_RETRY, "a policy; say "
	    "sim.retry { max = 3, on = { \"timeout\" } }", &word);
	scenario_options(&given, 1, word, &options);
	read_retry(&options, &r);
	lua_settop(at->L, top);
	return r;
}

/* --- loads ---------------------------------------------------------------- */

static size_t
needed(const struct scenario_at *at, const char *field, int64_t max)
{
	int64_t n = scenario_whole(at, field, 1, max, 0);

	if (n == 0)
		scenario_wrong(at, field, "it is missing; say %s = %d", field,
		    2);
	return (size_t)n;
}

static void
closed(const struct scenario_at *at, struct plan_load *l)
{
	l->clients = needed(at, "clients", CLIENTS_MAX);
	l->requests_per_client = (size_t)scenario_whole(at,
	    "requests_per_client", 1, MANY, 1);
	l->think_ms = scenario_dist(at, "think", 0);
}

static void
open_load(const struct scenario_at *at, struct plan_load *l)
{
	l->rate = scenario_real(at, "rate", 0.001, MANY, 0);
	if (!(l->rate > 0))
		scenario_wrong(at, "rate", "it is missing; say how many "
		    "requests a second");
	l->for_ms = scenario_ms(at, "for_ms", 0);
	if (l->for_ms == 0)
		scenario_wrong(at, "for_ms", "it is missing; say for how "
		    "long: for_ms = 6000");
	l->poisson = scenario_one_of(at, "arrivals", "even poisson", 0) == 1;
}

static void
storm(const struct scenario_at *at, struct plan_load *l)
{
	l->clients = needed(at, "clients", CLIENTS_MAX);
	l->at_ms = scenario_ms(at, "at", 0);
	l->within_ms = scenario_ms(at, "within", 0);
}

static void
read_load(const struct scenario_at *given, const struct scenario_word *word,
    struct plan_load *l)
{
	struct scenario_at options = *given;

	l->kind = (enum plan_load_kind)word->sub;
	l->retry = no_retry;
	lua_rawgeti(given->L, given->table, 1);
	options.table = lua_gettop(given->L);
	if (l->kind == PLAN_SCRIPT) {
		scenario_sends(&options, l);
		return;
	}
	scenario_fields(&options, word->fields);
	if (l->kind == PLAN_CLOSED)
		closed(&options, l);
	else if (l->kind == PLAN_OPEN)
		open_load(&options, l);
	else
		storm(&options, l);
	l->keys = keys(&options);
	l->retry = retry(&options);
}

void
scenario_load(const struct scenario_at *at)
{
	const struct scenario_word *word;
	struct scenario_at list, given;
	struct plan_load *all;
	char field[SCENARIO_NTH];
	size_t n, i;

	if (!scenario_has(at, "load"))
		scenario_wrong(at, "load", "it is missing; say load = { "
		    "sim.closed { ... } }");
	list = scenario_inside(at, "load");
	n = scenario_fields(&list, NULL);
	if (n == 0)
		scenario_wrong(at, "load", "it is empty, so nothing happens; "
		    "say load = { sim.closed { ... } }");
	all = scenario_get(&list, n * sizeof *all);
	for (i = 0; i < n; i++) {
		scenario_nth(field, i + 1);
		scenario_has(&list, field);
		given = scenario_given(&list, field, SCENARIO_LOAD, "a load; "
		    "say sim.closed, sim.open, sim.storm or sim.script",
		    &word);
		read_load(&given, word, &all[i]);
		lua_settop(at->L, list.table);
	}
	at->plan->loads = all;
	at->plan->loads_n = n;
	lua_pop(at->L, 1);
	scenario_token_loads(at, all, n);
}
