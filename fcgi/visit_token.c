/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <string.h>

/* A key that is to be a token of ours: which store it names, and how old. */

/* Of the ledger or the shared Redis as they are now, whatever it was then. */
static bool
names_our_store(struct visit *v, const struct idem_token *token)
{
	struct stores *s = &v->lobby->stores;
	uint8_t name[IDEM_TOKEN_STORE];

	return mint_store_name(s->conf, s->ledger, token->arbiter, name) &&
	    memcmp(name, token->store, sizeof name) == 0;
}

static bool
names_our_route(const struct visit *v, const struct idem_token *token)
{
	uint8_t name[IDEM_TOKEN_ROUTE];

	return mint_route_name(&v->route->route, name) &&
	    memcmp(name, token->route, sizeof name) == 0;
}

/* Past its life only what it has led to is told; past that nothing is left. */
static enum idem_problem
judge_age(struct visit *v, const struct idem_token *token)
{
	const struct idem_exchange_times *times = &v->route->route.times;
	int64_t past_ms = idem_wall_ms(&idem_clock_real) - token->minted_ms -
	    v->conf->tokens->life_ms;

	v->x.old = past_ms > 0;
	return past_ms > times->keep_ms &&
	    past_ms - times->keep_ms > times->tombstone_ms ?
	    IDEM_PROBLEM_TOKEN_EXPIRED : IDEM_PROBLEM_NONE;
}

/*
 * A ledger that is not here may be another host's, which the next try may
 * reach; there is but one shared Redis, and this one is not it.
 */
static enum idem_problem
judge_store(struct visit *v, const struct idem_token *token)
{
	if (names_our_store(v, token))
		return IDEM_PROBLEM_NONE;
	return token->arbiter == IDEM_TOKEN_LEDGER && !v->x.old ?
	    IDEM_PROBLEM_STORE_AWAY : IDEM_PROBLEM_VOID_TOKEN;
}

enum idem_problem
visit_token(struct visit *v)
{
	const struct idem_key *key = &v->detail->found.key;
	struct idem_token token;
	enum idem_problem problem;

	if (idem_token_read((struct idem_bytes){ key->at, key->len },
	    &v->conf->tokens->keys, &token) != IDEM_TOKEN_GOOD ||
	    !names_our_route(v, &token))
		return IDEM_PROBLEM_FOREIGN_TOKEN;
	problem = judge_age(v, &token);
	if (problem == IDEM_PROBLEM_NONE)
		problem = judge_store(v, &token);
	if (problem != IDEM_PROBLEM_NONE)
		return problem;
	if (!idem_token_store_key(&token, &v->x.key))
		return IDEM_PROBLEM_BUSY;
	v->token = token.arbiter;
	v->x.issued_only = true;
	v->x.history = token.history;
	return IDEM_PROBLEM_NONE;
}
