/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lua.h>

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Who makes a client's keys, and what is wrong with one that is sent. */

static void
check_arbiter(const struct scenario_at *at, enum plan_source source)
{
	bool tokens = at->plan->gates.arbiter == PLAN_TOKEN;

	if (plan_source_asks(source) && !tokens)
		scenario_wrong(at, "from", "no tokens are issued; say arbiter "
		    "= \"token\", or leave it out");
	if (source != PLAN_READY && !plan_source_asks(source) && tokens)
		scenario_wrong(at, "from", "with arbiter = \"token\" what a "
		    "client makes is no key; say from = \"mint\" or \"form\"");
	if (source == PLAN_FORM &&
	    at->plan->handler.effect == PLAN_EXTERNAL)
		scenario_wrong(at, "from", "the page is idemsim's program's; "
		    "say from = \"mint\", or leave out command");
}

/*
 * It is in the key's text, and those part it (token.h).  The business id of the
 * handler, which all requests have, else the key's own name; NULL: what a load
 * calls them, which is good.
 */
static void
check_id(const struct scenario_at *at, enum plan_source source,
    const char *key)
{
	const char *business = at->plan->handler.business_id;
	const char *id = business != NULL ? business : key;

	if ((source == PLAN_BUSINESS || source == PLAN_COMPOSITE) &&
	    id != NULL && (*id == '\0' || strpbrk(id, ":\",;\\ ") != NULL))
		scenario_wrong(at, business != NULL ? "from" : "key",
		    "\"%.40s\" cannot be a business id in a key; say "
		    "letters, digits and -", id);
}

enum plan_source
scenario_key_source(const struct scenario_at *at)
{
	enum plan_source source;

	if (!scenario_has(at, "from"))
		return PLAN_READY;
	lua_pop(at->L, 1);
	source = PLAN_UUID + (enum plan_source)scenario_one_of(at, "from",
	    "uuid business composite mint form", 0);
	check_arbiter(at, source);
	check_id(at, source, NULL);
	return source;
}

/* --- of a script ---------------------------------------------------------- */

/* A form has its own type, and is sent with POST. */
static void
check_form(const struct scenario_at *at, const struct plan_send *s)
{
	size_t i;

	if (s->method != NULL && strcmp(s->method, "POST") != 0)
		scenario_wrong(at, "method", "a form is sent with POST; leave "
		    "it out");
	for (i = 0; i < s->headers_n; i++)
		if (strcasecmp(s->headers[i].name, "Content-Type") == 0)
			scenario_wrong(at, "headers", "a form has a "
			    "Content-Type of its own; leave it out");
}

void
scenario_token(const struct scenario_at *at, struct plan_send *s)
{
	s->source = scenario_key_source(at);
	if (s->source != PLAN_READY && s->key == NULL)
		scenario_wrong(at, "key", "it is missing, and from says who "
		    "makes it; say key = \"k\"");
	check_id(at, s->source, s->key);
	if (s->source == PLAN_FORM)
		check_form(at, s);
	if (!scenario_has(at, "token"))
		return;
	lua_pop(at->L, 1);
	s->spoilt = PLAN_FORGED + (enum plan_spoilt)scenario_one_of(at,
	    "token", "forged unissued elsewhere", 0);
	if (at->plan->gates.arbiter != PLAN_TOKEN)
		scenario_wrong(at, "token", "there are none; say arbiter = "
		    "\"token\", or leave it out");
	if (s->key == NULL)
		scenario_wrong(at, "key", "it is missing; say of which token "
		    "this one is made: key = \"k\"");
}

void
scenario_token_get(const struct scenario_at *at, struct plan_send *s)
{
	scenario_token(at, s);
	if (!plan_source_asks(s->source))
		scenario_wrong(at, "from", "it says nobody to ask; say from = "
		    "\"mint\" or \"form\"");
}

/* Those of the same key are from there too. */
static void
spread(const struct scenario_at *list, const struct plan_send *said,
    struct plan_send *all, size_t n)
{
	struct scenario_at one = *list;
	size_t i;

	for (i = 0; i < n; i++) {
		if (all[i].key == NULL || strcmp(all[i].key, said->key) != 0)
			continue;
		one.place.line = all[i].line;
		if (all[i].source != PLAN_READY &&
		    all[i].source != said->source)
			scenario_wrong(&one, NULL, "%s is from %s here, and "
			    "from %s elsewhere; say one of them", said->key,
			    plan_source_text(all[i].source),
			    plan_source_text(said->source));
		all[i].source = said->source;
		check_id(&one, all[i].source, all[i].key);
		if (said->source == PLAN_FORM)
			check_form(&one, &all[i]);
	}
}

/* What is said of a key once is so for all of its requests. */
void
scenario_token_script(const struct scenario_at *list, struct plan_send *all,
    size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (all[i].source != PLAN_READY)
			spread(list, &all[i], all, n);
}

/* --- of all loads --------------------------------------------------------- */

/* "k12" of a load with so many keys. */
static bool
is_of(const struct plan_load *l, const char *key)
{
	char *end;
	unsigned long n;

	if (key == NULL || key[0] != (l->keys.once ? 'o' : 'k') ||
	    key[1] < '1' || key[1] > '9')
		return false;
	n = strtoul(key + 1, &end, 10);
	return *end == '\0' && (l->keys.once || n <= l->keys.n);
}

/* One key is from one place, whichever script sends it. */
static void
check_scripts(const struct scenario_at *at, const struct plan_load *l,
    const struct plan_load *other)
{
	const struct plan_send *a, *b;

	for (a = l->sends; a < l->sends + l->sends_n; a++)
		for (b = other->sends; b < other->sends + other->sends_n; b++)
			if (a->source != b->source && a->key != NULL &&
			    b->key != NULL && strcmp(a->key, b->key) == 0)
				scenario_wrong(at, "load", "%s is a key of two "
				    "scripts, which say different things of "
				    "where it is from; say the same", a->key);
}

static void
check_pair(const struct scenario_at *at, const struct plan_load *l,
    const struct plan_load *other)
{
	size_t i;

	if (l->kind == PLAN_SCRIPT) {
		if (other->kind == PLAN_SCRIPT)
			check_scripts(at, l, other);
		return;
	}
	if (other->kind != PLAN_SCRIPT) {
		if (!l->keys.once && !other->keys.once &&
		    l->keys.source != other->keys.source)
			scenario_wrong(at, "load", "k1 is a key of two loads, "
			    "which say different things of where it is from; "
			    "say the same");
		return;
	}
	for (i = 0; i < other->sends_n; i++)
		if (is_of(l, other->sends[i].key) &&
		    l->keys.source != other->sends[i].source)
			scenario_wrong(at, "load", "%s is a key of a script "
			    "and of another load, which say different things "
			    "of where it is from; say another key",
			    other->sends[i].key);
}

void
scenario_token_loads(const struct scenario_at *at, const struct plan_load *all,
    size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < n; j++)
			check_pair(at, &all[i], &all[j]);
}
