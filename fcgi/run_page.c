/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"

/* A run whose answer is a page with tokens in its forms (page.h). */

static void
pass(void *arg, struct idem_bytes bytes)
{
	run_out_pass(arg, bytes);
}

static void
complain(const struct run *r, const char *why)
{
	log_line_quoted(&r->lobby->log, "error", why, "run=%llu "
	    "forms=\"without tokens\"", (unsigned long long)r->id);
}

/* The store's reason, or ours; then this page asks for no other. */
static void
go_without(struct run *r, enum idem_problem problem, const char *error)
{
	shm_add(r->lobby->shm, SHM_TOKENS_REFUSED, 1);
	complain(r, error != NULL ? error : idem_problem_form(problem)->title);
	page_token(r->page, NULL);
}

/* The page has gone on; and where its end was waited for, that has come. */
static void
made(void *arg, const struct mint_made *token)
{
	struct run *r = arg;

	r->asked = NULL;
	if (token->problem == IDEM_PROBLEM_NONE) {
		shm_add(r->lobby->shm, SHM_TOKENS, 1);
		page_token(r->page, token->text);
	} else
		go_without(r, token->problem, token->error);
	run_out_resume(r);
	if (r->over)
		run_over(r);	/* r may be gone after it */
}

static void
need(void *arg, const struct conf_route *route)
{
	struct run *r = arg;
	struct lobby *lobby = r->lobby;
	const struct mint_order order = {
		.conf = r->visit->conf,
		.route = &route->route,
		.redis = lobby->stores.token,
		.ledger = lobby->stores.ledger,
		.done = made,
		.arg = r
	};
	enum idem_problem problem;

	r->asked = mint_start(&lobby->mint, &order, &problem);
	if (r->asked == NULL)
		go_without(r, problem, NULL);
}

static const struct page_user user = { .pass = pass, .need = need };

/* As the browser asked for it; what a front says of its own comes second. */
static struct idem_bytes
target_of(const struct detail *d)
{
	struct idem_bytes target = visit_param(d, "REQUEST_URI");

	if (target.len > 0)
		return target;
	return (struct idem_bytes){ d->path.at, d->path.len - 1 };
}

static void
begin(struct run *r, enum page_kind kind)
{
	const struct detail *d = r->visit->detail;
	const struct page_place place = {
		.conf = r->visit->conf,
		.target = target_of(d),
		.host = visit_param(d, "HTTP_HOST"),
		.kind = kind
	};

	r->page = page_new(&place, &user, r);
	if (r->page != NULL)
		page_head(&r->head);
}

void
run_page_begin(struct run *r)
{
	enum page_kind kind;

	if (r->visit->route->form_token == NULL)
		return;
	kind = page_kind(&r->head);
	switch (kind) {
	case PAGE_NOT:
		break;
	case PAGE_ENCODED:
		complain(r, "Content-Encoding");
		break;
	case PAGE_HTML:
	case PAGE_XML:
		begin(r, kind);
		break;
	}
}

bool
run_page_waits(const struct run *r)
{
	return r->page != NULL && page_waits(r->page);
}

bool
run_page_failed(const struct run *r)
{
	return r->page != NULL && page_failed(r->page);
}

void
run_page_free(struct run *r)
{
	if (r->asked != NULL)
		mint_forget(r->asked);
	r->asked = NULL;
	page_free(r->page);
	r->page = NULL;
}
