/* SPDX-License-Identifier: ISC */
#include "page.h"

#include <stdlib.h>

struct page {
	struct page_place place;
	const struct page_user *user;
	void *arg;
	struct idem_html_form *forms;
	const struct conf_route *route;	/* it waits for a token of; or NULL */
	uint32_t tokens;		/* that it may ask for yet */
	struct idem_buf kept;		/* what came meanwhile */
	size_t gone;			/* of it, from the start on */
	bool going;			/* inside of go_on */
	bool failed;
};

struct page *
page_new(const struct page_place *place, const struct page_user *user,
    void *arg)
{
	struct page *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->place = *place;
	p->user = user;
	p->arg = arg;
	p->tokens = PAGE_FORMS_MAX;
	p->forms = idem_html_form_new(place->kind == PAGE_XML);
	if (p->forms != NULL)
		return p;
	free(p);
	return NULL;
}

void
page_free(struct page *p)
{
	if (p == NULL)
		return;
	idem_html_form_free(p->forms);
	idem_buf_free(&p->kept);
	free(p);
}

bool
page_waits(const struct page *p)
{
	return p->route != NULL;
}

bool
page_failed(const struct page *p)
{
	return p->failed;
}

/* The route that a form is sent to, if it wants a token. */
static const struct conf_route *
route_of(const struct page *p, struct idem_bytes action)
{
	const struct idem_html_page page = {
		.target = p->place.target,
		.host = p->place.host,
		.base = idem_html_form_base(p->forms)
	};
	const struct conf_route *route = NULL;
	struct idem_buf path = { 0 };
	bool covered = idem_html_form_path(action, &page, &path) &&
	    idem_buf_ok(&path) &&
	    conf_find(p->place.conf, idem_buf_bytes(&path), "POST", &route) ==
	    CONF_COVERED;

	idem_buf_free(&path);
	return covered && route->form_token != NULL ? route : NULL;
}

static void
ask(struct page *p, const struct conf_route *route)
{
	if (route == NULL || p->tokens == 0)
		return;
	p->tokens--;
	p->route = route;
	p->user->need(p->arg, route);
}

/* Up to its end, or to where it must wait. */
static void
go_on(struct page *p, struct idem_bytes *in)
{
	const uint8_t *from;
	enum idem_html_found found;
	struct idem_bytes action;

	p->going = true;
	while (in->len > 0 && !page_waits(p) && !p->failed) {
		from = in->at;
		found = idem_html_form_next(p->forms, in, &action);
		p->user->pass(p->arg, (struct idem_bytes){ from,
		    (size_t)((const uint8_t *)in->at - from) });
		if (found == IDEM_HTML_FORM)
			ask(p, route_of(p, action));
	}
	p->going = false;
}

static void
go_on_kept(struct page *p)
{
	struct idem_bytes in = { p->kept.at, p->kept.len };

	if (in.len == 0)
		return;
	in.at = p->kept.at + p->gone;
	in.len -= p->gone;
	go_on(p, &in);
	p->gone = p->kept.len - in.len;
	if (in.len > 0)
		return;
	idem_buf_free(&p->kept);
	p->gone = 0;
}

void
page_add(struct page *p, struct idem_bytes bytes)
{
	if (!page_waits(p))
		go_on(p, &bytes);
	if (bytes.len == 0 || p->failed)
		return;
	p->kept.max = PAGE_KEPT_MAX;
	idem_buf_append(&p->kept, bytes.at, bytes.len);
	p->failed = !idem_buf_ok(&p->kept);
}

/* Names are of letters, digits, _ and - (idem.conf(5)), as tokens are. */
static void
write_field(struct page *p, const char *name, const char *text)
{
	struct idem_buf field = { 0 };

	idem_buf_text(&field, "<input type=\"hidden\" name=\"");
	idem_buf_text(&field, name);
	idem_buf_text(&field, "\" value=\"");
	idem_buf_text(&field, text);
	idem_buf_text(&field, p->place.kind == PAGE_XML ? "\"/>" : "\">");
	p->failed |= !idem_buf_ok(&field);
	if (!p->failed)
		p->user->pass(p->arg, idem_buf_bytes(&field));
	idem_buf_free(&field);
}

void
page_token(struct page *p, const char *text)
{
	const struct conf_route *route = p->route;

	p->route = NULL;
	if (text != NULL)
		write_field(p, route->form_token, text);
	else
		p->tokens = 0;
	if (!p->going)
		go_on_kept(p);
}
