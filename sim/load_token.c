/* SPDX-License-Identifier: ISC */
#include "load_private.h"

/* Before a token is asked for again; twice as long each time, as a thousand
   clients whose store is away for long are not to be all that happens. */
#define PAUSE_MS 50
#define PAUSE_MAX_MS 1000

/*
 * Of keys that are tokens which clients ask for.  One asks for it, and all who
 * want to send it wait: they are one user, whose script or page it is.
 */
static size_t
token_of(struct load *l, size_t request)
{
	size_t index = names_add(&l->token_names, &l->arena,
	    l->requests[request].key);
	struct load_token *token;

	if (index < l->tokens_n)
		return index;
	token = arena_more(&l->arena, &l->tokens, &l->tokens_n, sizeof *token);
	token->request = request;
	token->pause_ms = PAUSE_MS;
	return index;
}

static void
wait_for(struct load *l, struct load_token *token, size_t request)
{
	if (token->last != 0)
		l->requests[token->last - 1].behind = request + 1;
	else
		token->first = request + 1;
	token->last = request + 1;
}

void
load_token_ask(struct load *l, size_t token)
{
	load_try_begin(l, l->tokens[token].request, true);
}

void
load_token_begin(struct load *l, size_t request)
{
	const struct load_request *r = &l->requests[request];
	bool get = r->send != NULL && r->send->get && !r->audit;
	struct load_token *token;
	size_t index;

	if (r->key == NULL || !plan_source_asks(r->source)) {
		load_try_begin(l, request, false);
		return;
	}
	index = token_of(l, request);
	token = &l->tokens[index];
	if (token->had) {
		if (!get)
			load_try_begin(l, request, false);
		return;
	}
	if (!get)
		wait_for(l, token, request);
	if (token->asked)
		return;
	token->asked = true;
	load_token_ask(l, index);
}

void
load_token_ended(struct load *l, size_t request, bool got)
{
	int64_t now_ns = l->world.now_ns(l->world.arg);
	size_t index = token_of(l, request), next;
	struct load_token *token = &l->tokens[index];

	token->had = got;
	if (l->stopped)
		return;
	if (!got) {
		load_due_push(l, now_ns + token->pause_ms * LOAD_NS, LOAD_TOKEN,
		    index);
		token->pause_ms *= 2;
		if (token->pause_ms > PAUSE_MAX_MS)
			token->pause_ms = PAUSE_MAX_MS;
		return;
	}
	for (next = token->first; next != 0;
	    next = l->requests[next - 1].behind)
		load_due_push(l, now_ns, LOAD_REQUEST, next - 1);
	token->first = token->last = 0;
}

size_t
load_token_unsent(const struct load *l)
{
	size_t i, next, n = 0;

	for (i = 0; i < l->tokens_n; i++)
		for (next = l->tokens[i].first; next != 0;
		    next = l->requests[next - 1].behind)
			n += l->requests[next - 1].send != NULL &&
			    l->requests[next - 1].retry.tries == 0;
	return n;
}
