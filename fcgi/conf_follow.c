/* SPDX-License-Identifier: ISC */
#include "conf_private.h"
#include "pattern.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the instance --------------------------------------------------------- */

#define RESTART ": that needs a restart"

static bool
same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

struct text {			/* of a setting */
	const char *what, *none;
	const char *now, *next;
};

static bool
text_stays(const struct text *t, char *error, size_t size)
{
	if (same_text(t->now, t->next))
		return true;
	snprintf(error, size, "%s was %s and is now %s" RESTART, t->what,
	    t->now != NULL ? t->now : t->none,
	    t->next != NULL ? t->next : t->none);
	return false;
}

static bool
number_stays(const char *what, uint32_t now, uint32_t next, char *error,
    size_t size)
{
	if (now == next)
		return true;
	snprintf(error, size, "%s was %" PRIu32 " and is now %" PRIu32 RESTART,
	    what, now, next);
	return false;
}

static bool
reserve_stays(uint64_t now, uint64_t next, char *error, size_t size)
{
	if (now == next)
		return true;
	snprintf(error, size, "reserve was %" PRIu64 " bytes and is now %"
	    PRIu64 RESTART, now, next);
	return false;
}

/*
 * Every lobby holds a client, with connections under way, for as long as it
 * lives: what made it stays what it is, its password too.
 */
static bool
redis_stays(const char *what, const struct conf_redis *now,
    const struct conf_redis *next, char *error, size_t size)
{
	const char *field;

	if (now == NULL && next == NULL)
		return true;
	if (now == NULL || next == NULL) {
		snprintf(error, size, "%s is %s" RESTART, what,
		    now == NULL ? "new" : "gone");
		return false;
	}
	field = conf_redis_differs(now, next);
	if (field == NULL)
		return true;
	snprintf(error, size, "%s: `%s` has changed" RESTART, what, field);
	return false;
}

static bool
texts_stay(const struct conf *now, const struct conf *next, char *error,
    size_t size)
{
	const struct text all[] = {
		{ "listen", "inherited", now->socket, next->socket },
		{ "ledger", "none", now->ledger, next->ledger },
		{ "run", "the ledger's", now->run, next->run },
		{ "alert", "none", now->alert, next->alert }
	};
	size_t i;

	for (i = 0; i < sizeof all / sizeof *all; i++)
		if (!text_stays(&all[i], error, size))
			return false;
	return true;
}

static bool
instance_stays(const struct conf *now, const struct conf *next, char *error,
    size_t size)
{
	return texts_stay(now, next, error, size) &&
	    redis_stays("shared", now->shared, next->shared, error, size) &&
	    redis_stays("cache", now->cache, next->cache, error, size) &&
	    number_stays("programs", now->programs, next->programs, error,
	    size) &&
	    number_stays("workers", now->workers, next->workers, error, size) &&
	    number_stays("grace (ms)", now->grace_ms, next->grace_ms, error,
	    size) && reserve_stays(now->reserve, next->reserve, error, size);
}

/* --- the same route ------------------------------------------------------- */

static bool
holds(const struct idem_words *w, const char *text)
{
	size_t i;

	for (i = 0; i < w->len; i++)
		if (strcmp(w->at[i], text) == 0)
			return true;
	return false;
}

static bool
within(const struct idem_words *a, const struct idem_words *b)
{
	size_t i;

	for (i = 0; i < a->len; i++)
		if (!holds(b, a->at[i]))
			return false;
	return true;
}

static bool
same_words(const struct idem_words *a, const struct idem_words *b)
{
	return within(a, b) && within(b, a);
}

static bool
in_order(const struct idem_words *a, const struct idem_words *b)
{
	size_t i;

	for (i = 0; i < a->len && i < b->len; i++)
		if (strcmp(a->at[i], b->at[i]) != 0)
			return false;
	return a->len == b->len;
}

static bool
meet(const struct idem_words *a, const struct idem_words *b)
{
	size_t i;

	for (i = 0; i < a->len; i++)
		if (holds(b, a->at[i]))
			return true;
	return false;
}

static bool
covers_as(const struct idem_route *a, const struct idem_route *b)
{
	return strcmp(a->path, b->path) == 0 &&
	    within(&b->methods, &a->methods);
}

/*
 * The first route for the same requests, or NULL.  It may have more methods: a
 * key belongs to one, so those of the others stay where they are.
 */
static const struct conf_route *
twin(const struct conf *c, const struct idem_route *r)
{
	size_t i;

	for (i = 0; i < c->routes_len; i++)
		if (covers_as(&c->routes[i].route, r) &&
		    same_words(&c->routes[i].route.except, &r->except))
			return &c->routes[i];
	return NULL;
}

/* --- the same keys -------------------------------------------------------- */

struct pair {			/* of two configurations */
	const struct conf *a, *b;
};

static bool
same_sources(const struct pair *p, const struct idem_route *a,
    const struct idem_route *b)
{
	const struct idem_source *x = a->sources, *y = b->sources;
	size_t i;

	for (i = 0; i < a->sources_len && i < b->sources_len; i++, x++, y++)
		if (x->kind != y->kind || !same_text(x->name, y->name) ||
		    (x->kind == IDEM_SOURCE_FUNCTION &&
		    !conf_lua_same_function(p->a, x->function, p->b,
		    y->function)))
			return false;
	return a->sources_len == b->sources_len;
}

/* Is a store key made of the same program?  Their names are equal. */
static bool
same_program(const struct conf_route *a, const struct conf_route *b)
{
	const struct program_rule *x = &a->program, *y = &b->program;

	if (a->route.name != NULL)
		return true;	/* it takes the program's place */
	if (x->kind != y->kind)
		return false;
	switch (x->kind) {
	case PROGRAM_NAMED:
		return strcmp(x->argv[0], y->argv[0]) == 0;
	case PROGRAM_BY_REQUEST:
		return true;
	case PROGRAM_FASTCGI:
		return strcmp(a->route.path, b->route.path) == 0;
	}
	return false;
}

/* NULL, or what makes the keys of one others than those of the other. */
static const char *
differs(const struct pair *p, const struct conf_route *now,
    const struct conf_route *next)
{
	const struct idem_route *a = &now->route, *b = &next->route;
	struct idem_route copy = *b;
	struct idem_digest x, y;

	if (!same_sources(p, a, b))
		return "key";
	if (!same_text(a->name, b->name) ||
	    a->user_verified != b->user_verified ||
	    !in_order(&a->scope_cookies, &b->scope_cookies) ||
	    !in_order(&a->scope_variables, &b->scope_variables))
		return "scope";
	if (a->guard_authorization != b->guard_authorization ||
	    a->guard_user != b->guard_user ||
	    !in_order(&a->guard_cookies, &b->guard_cookies) ||
	    !in_order(&a->guard_variables, &b->guard_variables))
		return "guard";
	if (a->parts != b->parts)
		return "fingerprint";
	if (a->policy.arbiter != b->policy.arbiter)
		return "arbiter";
	if (now->scheme != next->scheme)
		return "scheme";
	/* What ran there during an outage is looked up first only while it
	   says so. */
	if (a->policy.on_outage == IDEM_TO_DATABASE &&
	    b->policy.on_outage != IDEM_TO_DATABASE)
		return "on_outage";
	if (!same_program(now, next))
		return "program";
	/* And whatever else may count.  Its functions have been compared, and
	   their numbers are only their order in the file. */
	copy.sources = a->sources;
	if (!idem_route_rekey(a, &x) || !idem_route_rekey(&copy, &y) ||
	    !idem_digest_equal(&x, &y))
		return "key";
	return NULL;
}

/* --- the order of routes -------------------------------------------------- */

/* Was it already before that one, and the same? */
static bool
was_before(const struct pair *p, const struct conf_route *next,
    const struct conf_route *now)
{
	const struct conf_route *same = twin(p->a, &next->route);

	return same != NULL && same < now;
}

/* A route in front that takes requests of this one's, and gives other keys. */
static const struct conf_route *
taken_by(const struct pair *p, const struct conf_route *now,
    const struct conf_route *same)
{
	const struct conf_route *r;

	for (r = p->b->routes; r < same; r++)
		if (meet(&r->route.methods, &now->route.methods) &&
		    idem_pattern_overlap(r->route.path, now->route.path) &&
		    !was_before(p, r, now) && differs(p, now, r) != NULL)
			return r;
	return NULL;
}

#define ACCEPT "live keys would be run again; --accept-rekey takes that on"
#define REFUSED "retries of what has run would be refused; --accept-rekey " \
    "takes that on"

/* What is not in the key itself stops a second run all the same. */
static const char *
meaning(const char *what)
{
	return strcmp(what, "guard") == 0 || strcmp(what, "fingerprint") == 0 ?
	    REFUSED : ACCEPT;
}

static void
is_gone(const struct conf *next, const struct conf_route *now, char *error,
    size_t size)
{
	const struct idem_route *r;
	const char *what = "is gone";
	size_t i;

	for (i = 0; i < next->routes_len; i++) {
		r = &next->routes[i].route;
		if (covers_as(r, &now->route))
			what = "has another except";
		else if (strcmp(r->path, now->route.path) == 0)
			what = "lacks a method";
	}
	snprintf(error, size, "%s (\"%.100s\") %s: " ACCEPT, now->text,
	    now->route.path, what);
}

static bool
keys_stay(const struct pair *p, const struct conf_route *now, char *error,
    size_t size)
{
	const struct conf_route *same = twin(p->b, &now->route), *by;
	const char *what;

	if (twin(p->a, &now->route) != now)
		return true;	/* nobody has ever reached it */
	if (same == NULL) {
		is_gone(p->b, now, error, size);
		return false;
	}
	what = differs(p, now, same);
	if (what != NULL) {
		snprintf(error, size, "%s (\"%.100s\"): its %s has changed: "
		    "%s", same->text, now->route.path, what, meaning(what));
		return false;
	}
	by = taken_by(p, now, same);
	if (by == NULL)
		return true;
	snprintf(error, size, "%s (\"%.100s\") takes requests of %s "
	    "(\"%.100s\"): " ACCEPT, by->text, by->route.path, same->text,
	    same->route.path);
	return false;
}

bool
conf_may_follow(const struct conf *now, const struct conf *next, bool rekey,
    char *error, size_t error_size)
{
	const struct pair p = { now, next };
	size_t i;

	if (!instance_stays(now, next, error, error_size))
		return false;
	for (i = 0; i < now->routes_len && !rekey; i++)
		if (!keys_stay(&p, &now->routes[i], error, error_size))
			return false;
	return true;
}
