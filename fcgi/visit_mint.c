/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "reply.h"

#include <string.h>

/* The endpoint that mints tokens: no route's, no program's, no key's. */

bool
visit_mint_is(const struct visit *v)
{
	const struct conf_tokens *tokens = v->conf->tokens;

	return tokens != NULL && tokens->path != NULL &&
	    strcmp((const char *)v->detail->path.at, tokens->path) == 0;
}

static void
answer(struct visit *v, int status, enum idem_mark says,
    const struct idem_buf *text)
{
	enum idem_sent sent = v->conn != NULL ? IDEM_SENT : IDEM_NOBODY;

	if (v->conn != NULL) {
		conn_write(v->conn, idem_buf_bytes(text));
		if (idem_buf_ok(text))
			conn_end(v->conn, 0);
		else
			conn_cut(v->conn);
		v->conn = NULL;
	}
	v->source = "mint";
	visit_log(v, status, says, sent);
	visit_free(v);
}

static void
refuse(struct visit *v, enum idem_problem problem)
{
	const struct idem_problem_form *form = idem_problem_form(problem);
	const struct idem_problem_more more = {
		.retry_after_s = form->retry_after ? 1 : 0, .html = v->html
	};
	struct idem_buf text = { 0 };

	shm_add(v->lobby->shm, SHM_TOKENS_REFUSED, 1);
	idem_reply_problem(&text, problem, form->mark, &more, v->head);
	answer(v, form->code, form->mark, &text);
	idem_buf_free(&text);
}

static void
made(void *arg, const struct mint_made *token)
{
	struct idem_buf text = { 0 };
	struct visit *v = arg;

	v->mint = NULL;
	if (token->problem != IDEM_PROBLEM_NONE) {
		if (token->error != NULL)
			lobby_trouble(v->lobby, "mint", "issue", token->error);
		refuse(v, token->problem);
		return;
	}
	shm_add(v->lobby->shm, SHM_TOKENS, 1);
	mint_answer(&text, token, v->detail->wanted);
	answer(v, 201, IDEM_SAYS_NONE, &text);
	idem_buf_free(&text);
}

void
visit_mint(struct visit *v)
{
	struct detail *d = v->detail;
	struct lobby *lobby = v->lobby;
	struct mint_order order = {
		.conf = v->conf,
		.redis = lobby->stores.token,
		.ledger = lobby->stores.ledger,
		.done = made,
		.arg = v
	};
	enum idem_problem problem = v->refused;

	if (v->admit != IDEM_REFUSED)
		problem = mint_admit(&lobby->mint, v->conf, d->method,
		    visit_param(d, "QUERY_STRING"), d->wanted);
	if (problem == IDEM_PROBLEM_NONE) {
		order.route = &d->wanted->route->route;
		v->mint = mint_start(&lobby->mint, &order, &problem);
	}
	if (v->mint == NULL)
		refuse(v, problem);
}
