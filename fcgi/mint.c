/* SPDX-License-Identifier: ISC */
#include "mint.h"

#include <stdlib.h>
#include <string.h>

/*
 *	start -- redis -- written --> done
 *	           |  \-- lost: another token; refused, maybe: the same again
 *	           | it is away, or has been tried often enough
 *	         ledger -- ...
 *	           |
 *	         done, STORE_AWAY
 *
 * A record whose answer was lost stays until its time is over: nobody has its
 * token.
 */
struct mint_ask {
	struct mint_ask *prev, *next;
	struct mint *mint;		/* NULL: it was closed */
	struct mint_order order;	/* done NULL: forgotten */
	struct idem_token token;
	struct idem_owner owner;
	struct idem_store *store;	/* that is asked now */
	int64_t deadline_ms;		/* boot clock: for it */
	uint32_t tries;			/* of it */
};

/* --- names ---------------------------------------------------------------- */

bool
mint_store_name(const struct conf *conf, struct idem_store *ledger,
    enum idem_token_arbiter arbiter, uint8_t name[IDEM_TOKEN_STORE])
{
	struct idem_history h;

	switch (arbiter) {
	case IDEM_TOKEN_REDIS:
		return conf->shared != NULL && conf->shared->name != NULL &&
		    idem_token_name(idem_bytes_text(conf->shared->name), name);
	case IDEM_TOKEN_LEDGER:
		return ledger != NULL && ledger->ops->history(ledger, &h) &&
		    idem_token_name((struct idem_bytes){ h.at, sizeof h.at },
		    name);
	}
	return false;
}

/* A path begins with a slash; a name that does too is its owner's wish. */
bool
mint_route_name(const struct idem_route *route, uint8_t name[IDEM_TOKEN_ROUTE])
{
	const char *text = route->name != NULL ? route->name :
	    route->path != NULL ? route->path : "";

	return idem_token_name(idem_bytes_text(text), name);
}

/* --- asking --------------------------------------------------------------- */

static bool
throw_dice(struct mint_ask *a)
{
	return idem_random(a->token.random, sizeof a->token.random) &&
	    idem_random(a->owner.at, sizeof a->owner.at);
}

/* The next store that there is; false: none. */
static bool
take_store(struct mint_ask *a)
{
	enum idem_token_arbiter kind = IDEM_TOKEN_REDIS;
	struct idem_store *store = a->order.redis;

	if (a->store != NULL || store == NULL) {
		kind = IDEM_TOKEN_LEDGER;
		store = a->order.ledger;
	}
	if (store == NULL || store == a->store ||
	    !mint_store_name(a->order.conf, store, kind, a->token.store))
		return false;
	a->token.arbiter = kind;
	a->store = store;
	a->deadline_ms = idem_boot_ms(a->mint->clock) + MINT_STORE_MS;
	a->tries = 0;
	return true;
}

static void answered(void *arg, const struct idem_store_result *);

static bool
ask(struct mint_ask *a)
{
	struct idem_store_call call = {
		.op = IDEM_STORE_ISSUE,
		.owner = a->owner,
		.deadline_ms = a->deadline_ms,
		.keep_ms = a->order.conf->tokens->life_ms + MINT_GRACE_MS,
		.done = answered,
		.arg = a
	};

	if (!idem_token_store_key(&a->token, &call.key))
		return false;
	a->tries++;
	a->store->ops->start(a->store, &call);
	return true;
}

/* --- the end -------------------------------------------------------------- */

static void
end(struct mint_ask *a)
{
	if (a->mint != NULL) {
		if (a->prev != NULL)
			a->prev->next = a->next;
		else
			a->mint->first = a->next;
		if (a->next != NULL)
			a->next->prev = a->prev;
		a->mint->outstanding--;
	}
	free(a);
}

static void
end_without(struct mint_ask *a, enum idem_problem problem, const char *error)
{
	const struct mint_order order = a->order;
	const struct mint_made made = { .problem = problem, .error = error };

	end(a);
	order.done(order.arg, &made);
}

static void
end_with_token(struct mint_ask *a, const struct idem_history *history)
{
	const struct mint_order order = a->order;
	struct mint_made made = {
		.arbiter = a->token.arbiter,
		.expires_ms = a->token.minted_ms + order.conf->tokens->life_ms
	};

	a->token.history = *history;
	if (!idem_token_write(&a->token, &order.conf->tokens->keys, made.text))
		made.problem = IDEM_PROBLEM_BUSY;
	end(a);
	order.done(order.arg, &made);
}

/* --- answers -------------------------------------------------------------- */

static bool
may_repeat(const struct mint_ask *a, const struct idem_store_result *r)
{
	return !r->away && r->class != IDEM_CLASS_CONFIG &&
	    a->tries < MINT_TRIES &&
	    idem_boot_ms(a->mint->clock) < a->deadline_ms;
}

static void
answered(void *arg, const struct idem_store_result *r)
{
	struct mint_ask *a = arg;

	if (a->order.done == NULL) {
		end(a);
		return;
	}
	if (r->class == IDEM_OK && r->write == IDEM_WRITTEN) {
		end_with_token(a, &r->history);
		return;
	}
	if (!may_repeat(a, r) && !take_store(a)) {
		end_without(a, IDEM_PROBLEM_STORE_AWAY, r->error);
		return;
	}
	/* A key that is taken is so for every repetition. */
	if (r->class == IDEM_OK && !throw_dice(a))
		end_without(a, IDEM_PROBLEM_BUSY, NULL);
	else if (!ask(a))
		end_without(a, IDEM_PROBLEM_BUSY, NULL);
}

/* -------------------------------------------------------------------------- */

static bool
begin(struct mint_ask *a, enum idem_problem *why)
{
	*why = IDEM_PROBLEM_BUSY;
	if (!throw_dice(a) || !mint_route_name(a->order.route, a->token.route))
		return false;
	if (!take_store(a)) {
		*why = IDEM_PROBLEM_STORE_AWAY;
		return false;
	}
	return ask(a);
}

struct mint_ask *
mint_start(struct mint *m, const struct mint_order *order,
    enum idem_problem *why)
{
	struct mint_ask *a;

	*why = IDEM_PROBLEM_BUSY;
	if (m->outstanding >= MINT_MAX)
		return NULL;
	a = calloc(1, sizeof *a);
	if (a == NULL)
		return NULL;
	a->mint = m;
	a->order = *order;
	a->token.minted_ms = idem_wall_ms(m->clock);
	if (!begin(a, why)) {
		free(a);
		return NULL;
	}
	*why = IDEM_PROBLEM_NONE;
	a->next = m->first;
	if (m->first != NULL)
		m->first->prev = a;
	m->first = a;
	m->outstanding++;
	return a;
}

void
mint_forget(struct mint_ask *a)
{
	a->order.done = NULL;
}

void
mint_close(struct mint *m)
{
	struct mint_ask *a;

	for (a = m->first; a != NULL; a = a->next) {
		mint_forget(a);
		a->mint = NULL;
	}
	m->first = NULL;
	m->outstanding = 0;
}
