/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lauxlib.h>
#include <lua.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MANY 1000000
#define CLIENTS_MAX 10000
#define SLOW_MAX 65536		/* bytes that are read at once, at most */
#define CHOICES_MAX 1000	/* that a program is told of */
#define KEY_MAX 64		/* a key's name is a word of a journal, and */
#define METHOD_MAX 24		/* has the method behind it */

/* Without a policy a client tries once, and waits for long. */
static const struct plan_retry no_retry = { .max = 1,
    .timeout_ms = { .kind = PLAN_CONST, .a = SCENARIO_TIMEOUT_MS } };

/* --- distributions -------------------------------------------------------- */

static void
read_choice(const struct scenario_at *given, struct plan_dist *d)
{
	struct scenario_at list = *given;
	char field[SCENARIO_NTH];
	double *of;
	size_t i;

	lua_rawgeti(given->L, given->table, 1);
	list.table = lua_gettop(given->L);
	d->n = scenario_fields(&list, NULL);
	if (d->n == 0)
		scenario_wrong(&list, NULL, "an empty list; say { 100, 700 }");
	if (d->n > CHOICES_MAX)
		scenario_wrong(&list, NULL, "%d are too many to choose among; "
		    "say %d at most", (int)d->n, CHOICES_MAX);
	of = scenario_get(&list, d->n * sizeof *of);
	for (i = 0; i < d->n; i++) {
		scenario_nth(field, i + 1);
		of[i] = scenario_real(&list, field, 0, 1e9, 0);
	}
	d->of = of;
}

static void
read_exp(const struct scenario_at *given, const struct scenario_word *word,
    struct plan_dist *d)
{
	struct scenario_at options;

	if (!scenario_options(given, 2, word, &options))
		return;
	d->min = scenario_real(&options, "min", 0, 1e9, 0);
	d->max = scenario_real(&options, "max", 0, 1e9, 0);
	if (d->max > 0 && d->max < d->min)
		scenario_wrong(&options, "max", "it is less than min; say the "
		    "smaller one as min");
}

struct plan_dist
scenario_dist(const struct scenario_at *at, const char *field,
    double otherwise)
{
	const struct scenario_word *word;
	struct plan_dist d = { .kind = PLAN_CONST, .a = otherwise };
	struct scenario_at given;
	int top = lua_gettop(at->L);

	if (!scenario_has(at, field))
		return d;
	if (scenario_made(at->L, -1) == NULL) {
		d.a = (double)scenario_top_ms(at, field);
		lua_settop(at->L, top);
		return d;
	}
	given = scenario_given(at, field, SCENARIO_DIST, "a time; say 80, or "
	    "sim.const, sim.uniform, sim.exp or sim.choice", &word);
	d.kind = (enum plan_dist_kind)word->sub;
	if (d.kind == PLAN_CHOICE)
		read_choice(&given, &d);
	else
		d.a = scenario_real(&given, "[1]", 0, 1e9, 0);
	if (d.kind == PLAN_UNIFORM) {
		d.b = scenario_real(&given, "[2]", 0, 1e9, 0);
		if (d.b < d.a)
			scenario_wrong(&given, NULL, "%g is more than %g; say "
			    "the smaller one first", d.a, d.b);
	}
	if (d.kind == PLAN_EXP)
		read_exp(&given, word, &d);
	lua_settop(at->L, top);
	return d;
}

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

/* --- scripts -------------------------------------------------------------- */

/* Of a request's head: a line's end in it would make two lines of it. */
static void
check_line(const struct scenario_at *at, const char *field, const char *text)
{
	if (text != NULL && strpbrk(text, "\r\n") != NULL)
		scenario_wrong(at, field, "a line's end in it; a request's "
		    "head has one line for it: take it out");
}

/* Letters, digits and some signs (RFC 9110, 5.6.2). */
static void
check_token(const struct scenario_at *at, const char *field, const char *text)
{
	if (*text == '\0' || strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") !=
	    strlen(text))
		scenario_wrong(at, field, "\"%.40s\" is no name in a "
		    "request's head; say letters, digits and -", text);
}

/* Answers and journals say whose they are in words that blanks part. */
static void
check_key(const struct scenario_at *at, const char *key)
{
	const char *c;

	check_line(at, "key", key);
	if (key == NULL)
		return;
	for (c = key; *c > ' ' && *c < 0x7f; c++)
		;
	if (*c != '\0' || strcmp(key, "-") == 0)
		scenario_wrong(at, "key", "\"%.40s\" is no name of a key; say "
		    "one word of ASCII, as \"order-7\", and what a client "
		    "sends instead in headers", key);
	if (strlen(key) > KEY_MAX)
		scenario_wrong(at, "key", "a name of %d bytes; say %d at most, "
		    "and a longer one in headers", (int)strlen(key), KEY_MAX);
}

static void
check_method(const struct scenario_at *at, const char *method)
{
	if (method == NULL)
		return;
	check_token(at, "method", method);
	if (strlen(method) > METHOD_MAX)
		scenario_wrong(at, "method", "%d bytes; say %d at most",
		    (int)strlen(method), METHOD_MAX);
}

static void
read_headers(const struct scenario_at *at, struct plan_send *s)
{
	struct scenario_at headers;
	size_t i;

	if (!scenario_has(at, "headers"))
		return;
	headers = scenario_inside(at, "headers");
	s->headers = scenario_pairs(&headers, &s->headers_n);
	for (i = 0; i < s->headers_n; i++) {
		check_token(&headers, NULL, s->headers[i].name);
		check_line(&headers, s->headers[i].name, s->headers[i].value);
	}
	lua_pop(at->L, 1);
}

static void
read_to(const struct scenario_at *at, struct plan_send *s)
{
	const char *to = scenario_text(at, "to", NULL);

	s->gate = to != NULL ? scenario_gate(at, "to", to, false) : PLAN_NONE;
}

static void
read_sent(const struct scenario_at *at, struct plan_send *s)
{
	scenario_fields(at, "key body to headers method connection from "
	    "token");
	s->key = scenario_text(at, "key", NULL);
	check_key(at, s->key);
	s->body = scenario_text(at, "body", NULL);
	s->method = scenario_text(at, "method", NULL);
	check_method(at, s->method);
	read_headers(at, s);
	s->kept = scenario_one_of(at, "connection", "new kept", 0) == 1;
	if (s->kept && at->plan->gates.lighttpd)
		scenario_wrong(at, "connection", "lighttpd makes a new one for "
		    "each request; leave out front, or connection");
	read_to(at, s);
	scenario_token(at, s);
}

/* A token that is asked for, and sent later. */
static void
read_get(const struct scenario_at *at, struct plan_send *s)
{
	scenario_fields(at, "key from to");
	s->get = true;
	s->key = scenario_text(at, "key", NULL);
	check_line(at, "key", s->key);
	read_to(at, s);
	scenario_token_get(at, s);
}

static bool
is_client(const char *name)
{
	return name[0] == 'c' && name[1] >= '1' && name[1] <= '9' &&
	    strspn(name + 1, "0123456789") == strlen(name + 1) &&
	    strlen(name) <= 6;
}

/* One of the two. */
static void
read_what(const struct scenario_at *at, struct plan_send *s)
{
	const char *field = scenario_has(at, "get") ? "get" : "send";
	struct scenario_at what;

	if (*field == 'g') {
		lua_pop(at->L, 1);
		if (scenario_has(at, "send"))
			scenario_wrong(at, "send", "the token is asked for "
			    "here; say what is sent in an element of its own");
		if (s->give_up_ms > 0 || s->slow_bytes > 0)
			scenario_wrong(at, s->give_up_ms > 0 ? "give_up" :
			    "slow", "who asks for a token waits for it; leave "
			    "it out");
	}
	if (!scenario_has(at, field))
		scenario_wrong(at, "send", "it is missing; say send = { key = "
		    "\"k\" }");
	what = scenario_inside(at, field);
	if (*field == 'g')
		read_get(&what, s);
	else
		read_sent(&what, s);
	lua_pop(at->L, 1);
}

static void
read_send(const struct scenario_at *at, struct plan_send *s)
{
	scenario_fields(at, "at client send get timeout give_up slow");
	s->line = at->place.line;
	s->at_ms = scenario_ms(at, "at", 0);
	s->client = scenario_text(at, "client", NULL);
	if (s->client == NULL || !is_client(s->client))
		scenario_wrong(at, "client", "%s%s%s; say client = \"c1\"",
		    s->client != NULL ? "\"" : "it is missing",
		    s->client != NULL ? s->client : "", s->client != NULL ?
		    "\" is not a client's name" : "");
	s->timeout_ms = scenario_ms(at, "timeout", 0);
	s->give_up_ms = scenario_ms(at, "give_up", 0);
	if (s->give_up_ms > 0 && s->give_up_ms >= (s->timeout_ms > 0 ?
	    s->timeout_ms : SCENARIO_TIMEOUT_MS))
		scenario_wrong(at, "give_up", "its timeout comes before; say "
		    "less than that");
	s->slow_bytes = (size_t)scenario_whole(at, "slow", 1, SLOW_MAX, 0);
	read_what(at, s);
}

void
scenario_sends(const struct scenario_at *list, struct plan_load *l)
{
	struct scenario_at one;
	struct plan_send *all;
	char field[SCENARIO_NTH];
	size_t i;

	l->sends_n = scenario_fields(list, NULL);
	if (l->sends_n == 0)
		scenario_wrong(list, NULL, "nobody sends anything; say { { at "
		    "= 0, client = \"c1\", send = { key = \"k\" } } }");
	all = scenario_get(list, l->sends_n * sizeof *all);
	for (i = 0; i < l->sends_n; i++) {
		scenario_nth(field, i + 1);
		scenario_has(list, field);
		one = scenario_inside(list, field);
		read_send(&one, &all[i]);
		lua_pop(list->L, 1);
	}
	scenario_token_script(list, all, l->sends_n);
	l->sends = all;
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
