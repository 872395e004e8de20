/* SPDX-License-Identifier: ISC */
#include "load_private.h"

#include <string.h>
#include <strings.h>

/* --- names ---------------------------------------------------------------- */

static const char *
other_method(const struct load_request *r)
{
	const char *method = r->send != NULL ? r->send->method : NULL;

	return method == NULL || strcmp(method, "POST") == 0 ? NULL : method;
}

/* A token is one key whatever it is sent with; others are of their method. */
static bool
is_token(const struct load *l)
{
	return l->plan->gates.arbiter == PLAN_TOKEN;
}

static const char *
name_of_key(struct load *l, const struct load_request *r)
{
	const char *method = other_method(r);

	if (r->send != NULL && r->send->spoilt != PLAN_GOOD)
		return arena_format(&l->arena, "%s.%s", r->key,
		    plan_spoilt_text(r->send->spoilt));
	if (r->key == NULL || method == NULL || is_token(l))
		return r->key;
	return arena_format(&l->arena, "%s.%s", r->key, method);
}

/* All that a fingerprint is of and that a plan can change. */
static const char *
question(struct load *l, const struct load_request *r)
{
	const char *method = is_token(l) ? other_method(r) : NULL;
	const char *text = r->body;
	const struct plan_pair *h;
	size_t i;

	for (i = 0; r->send != NULL && i < r->send->headers_n; i++) {
		h = &r->send->headers[i];
		if (strcasecmp(h->name, "Content-Type") == 0 ||
		    strcasecmp(h->name, "Content-Encoding") == 0)
			text = arena_format(&l->arena, "%s\n%s: %s", text,
			    h->name, h->value);
	}
	return method == NULL ? text :
	    arena_format(&l->arena, "%s\n%s", text, method);
}

/* --- requests ------------------------------------------------------------- */

/* Equal bodies have one name, in the order in which they are first met. */
size_t
load_request_add(struct load *l, const struct load_request *request)
{
	size_t index = l->requests_n, body, asked;
	struct load_request *r = arena_more(&l->arena, &l->requests,
	    &l->requests_n, sizeof *l->requests);

	*r = *request;
	r->behind = 0;
	r->k = name_of_key(l, r);
	body = names_add(&l->bodies, &l->arena, r->body);
	r->body = l->bodies.at[body];
	asked = names_add(&l->questions, &l->arena, question(l, r));
	if (r->f == NULL)
		r->f = history_text(l->history,
		    arena_format(&l->arena, "b%zu", asked + 1));
	return index;
}

static const char *
choose_key(struct load *l, struct load_client *c)
{
	size_t rank;

	if (c->load->keys.once)
		return arena_format(&l->arena, "o%zu", ++l->once);
	rank = draw_zipf(&c->draw, &l->ranks[c->load - l->plan->loads]);
	return arena_format(&l->arena, "k%zu", rank + 1);
}

/* Of all loads alike, so that a key that two of them have may be replayed. */
static const char *
choose_body(struct load *l, struct load_client *c, const char *key)
{
	size_t bodies = c->load->keys.bodies;
	uint64_t which = bodies > 1 ? draw_below(&c->draw, bodies) : 0;

	return arena_format(&l->arena, "of=%s&body=%llu", key,
	    (unsigned long long)which + 1);
}

size_t
load_request_next(struct load *l, size_t client)
{
	struct load_client *c = &l->clients[client];
	struct load_request request = {
		.client = client, .gate = PLAN_NONE,
		.key = choose_key(l, c), .source = c->load->keys.source
	};

	c->left--;
	request.body = choose_body(l, c, request.key);
	return load_request_add(l, &request);
}
