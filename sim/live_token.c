/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "token.h"

#include <string.h>

#define FORM_TYPE "application/x-www-form-urlencoded"
#define FIELD "idem_token"
#define TYPE "order"
#define MACHINE "1"
#define DRAWS 100

/* --- who asks for one ----------------------------------------------------- */

void
live_token_ask(const struct load_try *try, struct call *call)
{
	if (try->source == PLAN_FORM) {
		call->method = "GET";
		call->path = LIVE_ROUTE "?form";
	} else {
		call->method = "POST";
		call->path = "/.idem/token?path=" LIVE_ROUTE;
	}
}

/* What stands behind that text, up to a quote; it has to be a token. */
static const char *
token_behind(struct live *l, const struct call *call, const char *text)
{
	struct idem_bytes out = idem_buf_bytes(&call->out);
	const char *at = memmem(out.at, out.len, text, strlen(text));
	struct idem_token token;
	size_t left;

	if (at == NULL)
		return NULL;
	at += strlen(text);
	left = out.len - (size_t)(at - (const char *)out.at);
	if (left <= IDEM_TOKEN_TEXT || at[IDEM_TOKEN_TEXT] != '"' ||
	    !idem_token_look((struct idem_bytes){ at, IDEM_TOKEN_TEXT },
	    &token))
		return NULL;
	return arena_copy(&l->arena, at, IDEM_TOKEN_TEXT);
}

const char *
live_token_got(struct live *l, enum plan_source source,
    const struct call *call)
{
	if (call->end != OUTCOME_WHOLE)
		return NULL;
	if (source == PLAN_FORM)
		return call->status != 200 ? NULL : token_behind(l, call,
		    "name=\"" FIELD "\" value=\"");
	return call->status != 201 ? NULL : token_behind(l, call,
	    "\"token\":\"");
}

/* Its fields as the page had them; what is sent else is as it is. */
void
live_token_submit(struct live *l, struct call *call, const char *token)
{
	struct plan_pair *headers = arena_get(&l->arena,
	    (call->headers_n + 1) * sizeof *headers);

	if (call->headers_n > 0)
		memcpy(headers, call->headers,
		    call->headers_n * sizeof *headers);
	headers[call->headers_n++] = (struct plan_pair){ "Content-Type",
	    FORM_TYPE };
	call->headers = headers;
	call->body = idem_bytes_text(arena_format(&l->arena, FIELD "=%s%s%.*s",
	    token, call->body.len > 0 ? "&" : "", (int)call->body.len,
	    call->body.len > 0 ? (const char *)call->body.at : ""));
}

/* --- tokens that are none ------------------------------------------------- */

/* As the instances sign them. */
static const char *
signed_anew(struct live *l, const struct idem_token *token)
{
	struct idem_token_keys keys = { .len = 0 };
	char text[IDEM_TOKEN_TEXT + 1], error[120];
	bool written;

	if (!idem_token_keys_read(&keys, idem_bytes_text(LIVE_TOKEN_KEYS),
	    error, sizeof error))
		return NULL;
	written = idem_token_write(token, &keys, text);
	idem_token_keys_free(&keys);
	return written ? arena_text(&l->arena, text) : NULL;
}

static const char *
forged(struct live *l, const char *text)
{
	char *copy = arena_text(&l->arena, text);

	copy[IDEM_TOKEN_TEXT - 5] = copy[IDEM_TOKEN_TEXT - 5] != 'A' ? 'A' :
	    'B';
	return copy;
}

const char *
live_token_spoil(struct live *l, const char *text, enum plan_spoilt spoilt)
{
	const char *made = NULL;
	struct idem_token token;

	if (idem_token_look(idem_bytes_text(text), &token)) {
		switch (spoilt) {
		case PLAN_GOOD:
			made = text;
			break;
		case PLAN_FORGED:
			made = forged(l, text);
			break;
		case PLAN_UNISSUED:
			token.random[0] ^= 1;
			made = signed_anew(l, &token);
			break;
		case PLAN_ELSEWHERE:
			token.route[0] ^= 1;
			made = signed_anew(l, &token);
			break;
		}
	}
	if (made == NULL)
		live_cut(l, "no token can be made of %.80s", text);
	return made;
}

/* --- keys that clients make ----------------------------------------------- */

static bool
is_sent(const struct live *l, const char *text)
{
	size_t i;

	for (i = 0; i < l->keys_n; i++)
		if (strcmp(l->keys[i].sent, text) == 0)
			return true;
	return false;
}

static const char *
styled(struct live *l, enum plan_source source, const char *id)
{
	struct idem_token_made want = {
		.style = source == PLAN_UUID ? IDEM_TOKEN_UUID :
		    source == PLAN_BUSINESS ? IDEM_TOKEN_BUSINESS :
		    IDEM_TOKEN_COMPOSITE,
		.type = TYPE, .id = id, .machine = MACHINE,
		.now_ms = idem_wall_ms(&idem_clock_real),
		.sequence = l->made++
	};
	struct idem_key key;

	if (!idem_random(want.random, sizeof want.random) ||
	    !idem_token_make(&want, &key))
		return NULL;
	return arena_format(&l->arena, "\"%.*s\"", (int)key.len, key.at);
}

/* Two that are alike are one key, which the plan would have called so. */
const char *
live_token_style(struct live *l, enum plan_source source, const char *id)
{
	const char *text;
	unsigned i;

	for (i = 0; i < DRAWS; i++) {
		text = styled(l, source, id);
		if (text == NULL || !is_sent(l, text))
			break;
	}
	if (text == NULL)
		live_cut(l, "no key can be made of %.80s", id);
	return text;
}
