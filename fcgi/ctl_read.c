/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "mint.h"

#include <string.h>

/* What stands in a token, for who has to tell a client what became of it. */

/* With a configuration: is it one of these? */
enum known { NOT_KNOWN, OURS, OTHERS };

struct reading {
	struct idem_token token;
	bool signed_;			/* by one of our keys */
	enum known store, route;
	const char *route_text;		/* OURS */
	struct idem_digest key;
};

static const char *
arbiter_text(enum idem_token_arbiter arbiter)
{
	switch (arbiter) {
	case IDEM_TOKEN_LEDGER:
		return "ledger";
	case IDEM_TOKEN_REDIS:
		return "redis";
	}
	return "?";
}

/* --- held against what there is ------------------------------------------- */

static struct idem_store *
store_of(const struct ctl *c, enum idem_token_arbiter arbiter)
{
	enum ctl_kind kind = arbiter == IDEM_TOKEN_REDIS ? CTL_REDIS :
	    CTL_LEDGER;
	size_t i;

	for (i = 0; i < c->stores_len; i++)
		if (c->stores[i].kind == kind)
			return c->stores[i].store;
	return NULL;
}

static void
hold_against_store(const struct ctl *c, struct reading *r)
{
	struct idem_store *store = store_of(c, r->token.arbiter);
	uint8_t name[IDEM_TOKEN_STORE];

	if (store == NULL)
		return;
	if (mint_store_name(c->conf, store, r->token.arbiter, name))
		r->store = memcmp(name, r->token.store, sizeof name) == 0 ?
		    OURS : OTHERS;
}

static void
hold_against_routes(const struct ctl *c, struct reading *r)
{
	uint8_t name[IDEM_TOKEN_ROUTE];
	size_t i;

	if (c->config == NULL)
		return;
	r->route = OTHERS;
	for (i = 0; i < c->conf->routes_len; i++)
		if (mint_route_name(&c->conf->routes[i].route, name) &&
		    memcmp(name, r->token.route, sizeof name) == 0) {
			r->route = OURS;
			r->route_text = c->conf->routes[i].text;
			return;
		}
}

/* The record says whose history it is now, if anybody knows it at all. */
static int
look_at_record(struct ctl *c, struct reading *r)
{
	struct idem_store *store = store_of(c, r->token.arbiter);
	struct ctl_store in = {
		.kind = r->token.arbiter == IDEM_TOKEN_REDIS ? CTL_REDIS :
		    CTL_LEDGER,
		.store = store,
	};
	struct idem_store_call call = {
		.op = IDEM_STORE_CLAIM, .key = r->key, .look_only = true
	};
	struct idem_store_answer answer;
	int status;

	if (store == NULL || r->store != OURS)
		return CTL_DONE;
	if (!idem_random(call.owner.at, sizeof call.owner.at))
		return ctl_say(c, CTL_FAILED, "no random bytes");
	status = ctl_ask(c, &in, &call, &answer);
	if (status != CTL_DONE)
		return status;
	printf("record    %s\n", answer.result.record.state ==
	    IDEM_STATE_ABSENT ? "none: over, or forgotten" :
	    idem_state_text(answer.result.record.state));
	idem_store_answer_free(&answer);
	return CTL_DONE;
}

/* --- said ----------------------------------------------------------------- */

static const char *
known_text(enum known known)
{
	switch (known) {
	case NOT_KNOWN:
		return "";
	case OURS:
		return " (ours)";
	case OTHERS:
		return " (not ours)";
	}
	return "";
}

static void
print(const struct ctl *c, const struct reading *r)
{
	char store[2 * IDEM_TOKEN_STORE + 1], route[2 * IDEM_TOKEN_ROUTE + 1];
	char history[2 * IDEM_HISTORY_LEN + 1], key[2 * IDEM_DIGEST_LEN + 1];
	char when[32];

	idem_hex(r->token.store, sizeof r->token.store, store);
	idem_hex(r->token.route, sizeof r->token.route, route);
	idem_hex(r->token.history.at, sizeof r->token.history.at, history);
	idem_hex(r->key.at, sizeof r->key.at, key);
	printf("signed    %s\narbiter   %s\nstore     %s%s\nhistory   %s\n"
	    "minted    %s\n", r->signed_ ? "by one of our keys" :
	    c->conf->tokens == NULL ? "not known: there are no keys" : "by no "
	    "key of ours", arbiter_text(r->token.arbiter), store,
	    known_text(r->store), history, ctl_stamp(r->token.minted_ms, when,
	    sizeof when));
	if (c->conf->tokens != NULL)
		printf("until     %s\n", ctl_stamp(r->token.minted_ms +
		    c->conf->tokens->life_ms, when, sizeof when));
	printf("route     %s%s%s%s\nkey       %s\n", route,
	    known_text(r->route), r->route == OURS ? " " : "",
	    r->route == OURS ? r->route_text : "", key);
}

static void
print_json(const struct reading *r)
{
	char store[2 * IDEM_TOKEN_STORE + 1], route[2 * IDEM_TOKEN_ROUTE + 1];
	char history[2 * IDEM_HISTORY_LEN + 1], key[2 * IDEM_DIGEST_LEN + 1];

	idem_hex(r->token.store, sizeof r->token.store, store);
	idem_hex(r->token.route, sizeof r->token.route, route);
	idem_hex(r->token.history.at, sizeof r->token.history.at, history);
	idem_hex(r->key.at, sizeof r->key.at, key);
	printf("{\"signed\":%s,\"arbiter\":\"%s\",\"store\":\"%s\","
	    "\"history\":\"%s\",\"minted_at\":%lld,\"route\":\"%s\","
	    "\"key\":\"%s\"}\n", r->signed_ ? "true" : "false",
	    arbiter_text(r->token.arbiter), store, history,
	    (long long)r->token.minted_ms, route, key);
}

int
ctl_read(struct ctl *c)
{
	const struct idem_bytes text = idem_bytes_text(c->read);
	struct reading r = { .signed_ = false };
	struct idem_token same;
	int status = ctl_conf(c);

	if (status != CTL_DONE)
		return status;
	if (!idem_token_look(text, &r.token))
		return ctl_say(c, CTL_NO, "it is no token of idem's: %d "
		    "characters of base64url", IDEM_TOKEN_TEXT);
	if (!idem_token_store_key(&r.token, &r.key))
		return ctl_say(c, CTL_FAILED, "no digest");
	r.signed_ = c->conf->tokens != NULL && idem_token_read(text,
	    &c->conf->tokens->keys, &same) == IDEM_TOKEN_GOOD;
	/* What it says can be said without any store. */
	if (c->conf->ledger != NULL || c->conf->shared != NULL)
		(void)ctl_open(c, true, true);
	hold_against_store(c, &r);
	hold_against_routes(c, &r);
	if (c->json)
		print_json(&r);
	else
		print(c, &r);
	if (!c->json)
		status = look_at_record(c, &r);
	return status != CTL_DONE ? status : r.signed_ ? CTL_DONE : CTL_NO;
}
