/* SPDX-License-Identifier: ISC */
#include "load_private.h"

#include <limits.h>

/* Requests of one auditor at a time: instances have few slots. */
#define AT_ONCE 4

const struct plan_retry load_audit_retry = {
	.max = UINT_MAX,
	.backoff = PLAN_BACKOFF_EXP,
	.base_ms = 20,
	.cap_ms = 250,
	.on = PLAN_ON_BUSY | PLAN_ON_UNAVAILABLE | PLAN_ON_RESET
};

/* A name that no key has had. */
static const char *
fresh_key(struct load *l)
{
	const char *key;
	size_t n = 0;

	do
		key = arena_format(&l->arena, "fresh%zu", ++n);
	while (names_find(&l->keys, key) != NAMES_NONE);
	return key;
}

/* With the body that it was first sent with; behind the last key, a new one. */
size_t
load_audit_next(struct load *l, size_t client)
{
	struct load_client *c = &l->clients[client];
	size_t key = c->audited++;
	struct load_request request = { .body = "of=fresh", .fresh = true };

	c->left--;
	if (key < l->audited)
		request = l->requests[l->first[key]];
	else
		request.key = fresh_key(l);
	request.client = client;
	request.gate = c->gate;
	request.retry = (struct retry){ 0 };
	request.audit = true;
	return load_request_add(l, &request);
}

void
load_audit(struct load *l, int64_t until_ms)
{
	int64_t now_ns = l->world.now_ns(l->world.arg);
	size_t gate, client, i;

	l->until_ns = until_ms * LOAD_NS;
	l->audited = l->keys.n;
	for (gate = 0; gate < l->plan->gates.n; gate++) {
		client = load_client_add(l, arena_format(&l->arena,
		    "audit%zu", gate + 1), NULL, NULL);
		l->clients[client].gate = (int)gate;
		l->clients[client].left = l->audited + 1;
		for (i = 0; i < AT_ONCE && i < l->audited + 1; i++)
			load_due_push(l, now_ns, LOAD_CLIENT, client);
	}
	load_ask(l);
}
