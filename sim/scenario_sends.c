/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#include <lua.h>

#include <string.h>

#define SLOW_MAX 65536		/* bytes that are read at once, at most */
#define KEY_MAX 64		/* a key's name is a word of a journal, and */
#define METHOD_MAX 24		/* has the method behind it */

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
