/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <string.h>
#include <unistd.h>

/* --- it goes out ---------------------------------------------------------- */

static const char **
params_of(struct live *l, const struct load_try *try)
{
	const char **p = arena_get(&l->arena, 5 * sizeof *p);
	size_t n = 0;

	p[n++] = arena_format(&l->arena, "HTTP_X_SIM_TRY=%d", try->a);
	p[n++] = arena_format(&l->arena, "HTTP_X_SIM_GATE=g%d", try->gate + 1);
	if (try->nonce != NULL)
		p[n++] = arena_format(&l->arena, "HTTP_X_SIM_NONCE=%s",
		    try->nonce);
	if (try->key != NULL && !try->asks)
		p[n++] = arena_format(&l->arena, "HTTP_X_SIM_KEY=%s",
		    try->k);
	return p;
}

static void
came_back(struct call *call)
{
	struct live_call *c = call->arg;
	struct live *l = c->of;

	c->over = true;
	if (l->back == NULL)
		l->back_end = &l->back;
	*l->back_end = c;
	l->back_end = &c->later;
}

static void
put_in(struct live *l, struct live_call *c)
{
	c->of = l;
	c->at = &l->calls;
	c->next = l->calls;
	if (c->next != NULL)
		c->next->at = &c->next;
	l->calls = c;
}

static void
take_out(struct live_call *c)
{
	*c->at = c->next;
	if (c->next != NULL)
		c->next->at = c->at;
}

static void
remember(struct live *l, const struct load_try *try)
{
	while (l->clients_n < (size_t)try->a)
		*(const char **)arena_more(&l->arena, &l->clients,
		    &l->clients_n, sizeof *l->clients) = NULL;
	l->clients[try->a - 1] = arena_text(&l->arena, try->client_name);
}

static int *
line_of(struct live *l, const struct load_try *try)
{
	struct live_line *line;

	for (line = l->lines; line != NULL; line = line->next)
		if (line->gate == try->gate &&
		    strcmp(line->client, try->client_name) == 0)
			return &line->fd;
	line = arena_get(&l->arena, sizeof *line);
	*line = (struct live_line){
		.next = l->lines, .gate = try->gate, .fd = -1,
		.client = arena_text(&l->arena, try->client_name)
	};
	l->lines = line;
	return &line->fd;
}

static void
fill_in(struct live *l, const struct load_try *try, struct live_call *c)
{
	const struct live_key *key = NULL;

	c->key = history_text(l->h, try->k);
	l->last_key[try->gate] = c->key;
	if (try->key != NULL)
		key = live_key_of(l, try);
	if (try->body != NULL)
		c->call.body = idem_bytes_text(arena_text(&l->arena,
		    try->body));
	if (try->send != NULL) {
		c->call.headers = try->send->headers;
		c->call.headers_n = try->send->headers_n;
		if (try->send->kept)
			c->call.kept = line_of(l, try);
	}
	if (key != NULL && try->source == PLAN_FORM)
		live_token_submit(l, &c->call, key->sent);
	else if (key != NULL)
		c->call.key = key->sent;
}

void
live_call_begin(struct live *l, const struct load_try *try)
{
	struct live_gate *g = &l->cast->gates[try->gate];
	struct live_call *c = arena_get(&l->arena, sizeof *c);

	*c = (struct live_call){
		.a = try->a, .gate = try->gate,
		.call = {
			.socket = g->instance.socket, .http = g->instance.http,
			.method = try->method != NULL ? try->method : "POST",
			.path = LIVE_ROUTE, .program = l->cast->program,
			.params = params_of(l, try),
			.timeout_ms = try->timeout_ms,
			.give_up_ms = try->give_up_ms,
			.slow_bytes = try->slow_bytes,
			.done = came_back, .arg = c
		}
	};
	if (try->asks) {
		c->token = arena_text(&l->arena, try->key);
		c->source = try->source;
		live_token_ask(try, &c->call);
	} else
		fill_in(l, try, c);
	remember(l, try);
	put_in(l, c);
	call_start(l->cast->loop, &c->call);
	if (c->call.again)
		live_note(l, try->client_name, NULL,
		    "its connection is used again");
}

/* --- and comes back ------------------------------------------------------- */

/* It never came to the instance: the fault is none of the plan's. */
static bool
is_our_own(const char *why)
{
	static const char *const words[] = {
		"EMFILE", "ENFILE", "ENOMEM", "ENOBUFS", "EADDRNOTAVAIL"
	};
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++)
		if (why != NULL && strcmp(words[i], why) == 0)
			return true;
	return false;
}

/* The answer to who asked for a token has it. */
static bool
took_token(struct live *l, struct live_call *c)
{
	const char *token = c->token != NULL ? live_token_got(l, c->source,
	    &c->call) : NULL;

	if (token != NULL)
		live_key_bind(l, c->token, token);
	return token != NULL;
}

static void
told(struct live *l, struct live_call *c)
{
	const struct load_answer answer = {
		.end = c->call.end, .status = c->call.status,
		.mark = c->call.mark,
		.why = c->call.why != NULL ? c->call.why : "",
		.digest = c->call.digest, .says_key = c->call.says_key,
		.says_nonce = c->call.says_nonce,
		.says_effect = c->call.says_effect,
		.length_met = c->call.length_met,
		.retry_after_s = c->call.retry_after_s,
		.got = took_token(l, c)
	};

	if (is_our_own(c->call.why))
		live_cut(l, "a client could not connect: %s", c->call.why);
	l->cast->gates[c->gate].answers += c->call.end == OUTCOME_WHOLE;
	load_ended(l->load, c->a, &answer);
	call_free(&c->call);
}

/* Those that it starts meanwhile, and that are over at once, have their turn
   too. */
void
live_calls_turn(struct live *l)
{
	struct live_call *c;

	while ((c = l->back) != NULL) {
		l->back = c->later;
		take_out(c);
		told(l, c);
	}
}

const char *
live_calls_key(const struct live *l, int gate)
{
	const struct live_call *c;
	const char *key = NULL;

	for (c = l->calls; c != NULL; c = c->next) {
		if (c->gate != gate || c->key == NULL)
			continue;
		if (key != NULL && key != c->key)
			return NULL;
		key = c->key;
	}
	return key != NULL || gate < 0 ? key : l->last_key[gate];
}

size_t
live_calls_leave(struct live *l, const char *client, bool abort)
{
	struct live_call *c;
	size_t n = 0;

	for (c = l->calls; c != NULL; c = c->next)
		if (!c->over && c->a <= (int)l->clients_n && (client == NULL ||
		    strcmp(l->clients[c->a - 1], client) == 0)) {
			call_leave(&c->call, abort);
			n++;
		}
	return n;
}

void
live_calls_end(struct live *l)
{
	struct live_line *line;
	struct live_call *c;

	while ((c = l->calls) != NULL) {
		l->calls = c->next;
		call_free(&c->call);
	}
	for (line = l->lines; line != NULL; line = line->next)
		if (line->fd != -1)
			(void)close(line->fd);
}
