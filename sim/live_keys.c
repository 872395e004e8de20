/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "identity.h"
#include "token.h"

#include <inttypes.h>
#include <string.h>

/* --- tokens, before the first request ------------------------------------- */

static size_t
wanted_by(const struct plan_load *load)
{
	size_t n = load->keys.n, i;

	if (load->kind == PLAN_SCRIPT) {
		for (i = n = 0; i < load->sends_n; i++)
			n += load->sends[i].source == PLAN_READY;
		return n;
	}
	if (load->keys.source != PLAN_READY)
		return 0;
	if (load->keys.once && load->kind == PLAN_CLOSED)
		n = load->clients * load->requests_per_client;
	if (load->keys.once && load->kind == PLAN_STORM)
		n = load->clients;
	if (load->keys.once && load->kind == PLAN_OPEN)
		n = (size_t)(2 * load->rate * (double)load->for_ms / 1000) + 10;
	if (load->retry.rotate)
		n *= load->retry.max;
	return n;
}

size_t
live_keys_wanted(const struct plan *plan)
{
	size_t i, n = 0;

	for (i = 0; i < plan->loads_n; i++)
		n += wanted_by(&plan->loads[i]);
	return n;
}

static int
mint(struct live *l, const char **token)
{
	static const char *const words[] = { "token", NULL };
	char out[512];
	int status = instance_ctl(l->cast->loop, &l->cast->gates[0].instance,
	    words, out, sizeof out);

	out[strcspn(out, "\r\n")] = '\0';
	if (status == 0 && strlen(out) == IDEM_TOKEN_TEXT) {
		*token = arena_text(&l->arena, out);
		return 0;
	}
	live_cut(l, "idemctl token: status %d: %.120s", status, out);
	return -1;
}

/* What was minted before and not used is nobody's any more. */
int
live_keys_mint(struct live *l, size_t n)
{
	size_t i;

	if (l->plan->gates.arbiter != PLAN_TOKEN)
		return 0;
	l->tokens = arena_get(&l->arena, (n + 1) * sizeof *l->tokens);
	l->tokens_n = l->tokens_used = 0;
	l->minting = true;
	for (i = 0; i < n && mint(l, &l->tokens[i]) == 0; i++)
		;
	l->minting = false;
	if (i < n)
		return -1;
	l->tokens_n = n;
	return 0;
}

/* --- one key -------------------------------------------------------------- */

/* A structured String (RFC 8941, 3.3.3) that no other run has. */
static const char *
quoted(struct live *l, const char *name)
{
	struct idem_buf b = { 0 };
	const char *at, *text;

	idem_buf_text(&b, "\"");
	for (at = name; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\')
			idem_buf_text(&b, "\\");
		idem_buf_append(&b, at, 1);
	}
	if (*name != '\0')
		idem_buf_printf(&b, "-%016" PRIx64 "-%u", l->seed,
		    l->cast->runs);
	idem_buf_text(&b, "\"");
	text = arena_copy(&l->arena, idem_buf_ok(&b) ? (const char *)b.at :
	    "\"\"", idem_buf_ok(&b) ? b.len : 2);
	idem_buf_free(&b);
	return text;
}

static bool
token_stored(const char *text, struct idem_digest *digest)
{
	struct idem_token token;

	return idem_token_look(idem_bytes_text(text), &token) &&
	    idem_token_store_key(&token, digest);
}

static bool
sent_stored(const struct live *l, const char *sent, const char *method,
    struct idem_digest *digest)
{
	const struct idem_scope scope = {
		.route = idem_bytes_text(l->cast->program),
		.method = idem_bytes_text(method)
	};
	const struct idem_bytes value = idem_bytes_text(sent);
	struct idem_key key;

	return idem_key_parse(&value, 1, &key) == IDEM_KEY_GOOD &&
	    idem_store_key(&scope, &key, digest);
}

static const char *
token_of(struct live *l, const char *name)
{
	if (l->tokens_used < l->tokens_n)
		return l->tokens[l->tokens_used++];
	if (l->tokens_n == 0)
		live_cut(l, "nobody has the token %s yet", name);
	live_cut(l, "more keys were wanted than the %zu tokens that were "
	    "minted", l->tokens_n);
	return quoted(l, name);
}

static struct live_key *
find(struct live *l, const char *name)
{
	size_t i;

	for (i = 0; i < l->keys_n; i++)
		if (strcmp(l->keys[i].name, name) == 0)
			return &l->keys[i];
	return NULL;
}

/* In place of what an action has made of the name before. */
static struct live_key *
put(struct live *l, const char *name, const char *sent, const char *method)
{
	bool token = l->plan->gates.arbiter == PLAN_TOKEN;
	struct live_key *k = find(l, name);
	struct idem_digest digest;

	if (k == NULL)
		k = arena_more(&l->arena, &l->keys, &l->keys_n, sizeof *k);
	*k = (struct live_key){ .name = history_text(l->h, name),
	    .sent = sent };
	if (token ? token_stored(sent, &digest) :
	    sent_stored(l, sent, method, &digest))
		idem_hex(digest.at, sizeof digest.at, k->hex);
	return k;
}

/* A token that was asked for is there by now: it was bound. */
static const char *
made(struct live *l, const struct load_try *try)
{
	const char *id = try->key, *text;

	switch (try->source) {
	case PLAN_UUID:
	case PLAN_BUSINESS:
	case PLAN_COMPOSITE:
		if (l->plan->handler.business_id != NULL)
			id = l->plan->handler.business_id;
		text = live_token_style(l, try->source, id);
		return text != NULL ? text : quoted(l, try->key);
	case PLAN_READY:
	case PLAN_MINT:
	case PLAN_FORM:
		break;
	}
	return l->plan->gates.arbiter == PLAN_TOKEN ? token_of(l, try->k) :
	    quoted(l, try->key);
}

const struct live_key *
live_key_of(struct live *l, const struct load_try *try)
{
	const struct live_key *k = find(l, try->k);
	struct load_try good = *try;
	const char *text;

	if (k != NULL)
		return k;
	if (try->spoilt == PLAN_GOOD)
		return put(l, try->k, made(l, try), try->method);
	good.k = try->key;
	good.spoilt = PLAN_GOOD;
	text = live_token_spoil(l, live_key_of(l, &good)->sent, try->spoilt);
	return put(l, try->k, text != NULL ? text : "\"\"", try->method);
}

const struct live_key *
live_key_named(struct live *l, const char *name)
{
	return live_key_of(l, &(struct load_try){ .k = name, .key = name,
	    .method = "POST" });
}

void
live_key_bind(struct live *l, const char *name, const char *token)
{
	(void)put(l, name, token, "POST");
}

const struct live_key *
live_key_stored(const struct live *l, const char *hex, size_t len)
{
	size_t i;

	if (hex == NULL || len < 8)
		return NULL;
	for (i = 0; i < l->keys_n; i++)
		if (strncmp(l->keys[i].hex, hex, len < 64 ? len : 64) == 0)
			return &l->keys[i];
	return NULL;
}
