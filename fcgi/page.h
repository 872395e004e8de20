/* SPDX-License-Identifier: ISC */
#ifndef PAGE_H
#define PAGE_H

#include "cgi_head.h"
#include "conf.h"
#include "html_form.h"

/*
 * A program's page on its way: into each of its forms that is sent to a route
 * with form_token goes a hidden field with a new token, so that a double click
 * on it is one request (html_form.h says which forms are found).  It waits for
 * the tokens of others and knows neither run nor lobby.
 */
#define PAGE_FORMS_MAX 256u	/* in one page; the rest stay without */
#define PAGE_KEPT_MAX (1u << 20)	/* bytes that came while it waits: what
					   a pipe holds, and a read */

/* --- page_head.c ---------------------------------------------------------- */

enum page_kind {
	PAGE_NOT,		/* no HTML, or only a part of it */
	PAGE_ENCODED,		/* HTML, but in a coding that we do not read */
	PAGE_HTML,
	PAGE_XML
};
enum page_kind page_kind(const struct idem_head *);

/*
 * Make a head that of a page with tokens: its length, its digests and what
 * caches go by are another's, so these fields go, and it is no-store.  `length`
 * stays what the program said.  Without memory its lines say so.
 */
void page_head(struct idem_head *);

/* --- page.c --------------------------------------------------------------- */

struct page;

struct page_user {
	void (*pass)(void *arg, struct idem_bytes);
	/* A token for a form that is sent there; the answer is page_token(), at
	   once or later. */
	void (*need)(void *arg, const struct conf_route *);
};

/* All of it borrowed for as long as the page lives. */
struct page_place {
	const struct conf *conf;
	struct idem_bytes target, host;	/* of its request: html_form.h's */
	enum page_kind kind;		/* PAGE_HTML or PAGE_XML */
};

/* NULL: no memory. */
struct page *page_new(const struct page_place *, const struct page_user *,
    void *arg);
/* More of it.  What comes while it waits is kept. */
void page_add(struct page *, struct idem_bytes);
bool page_waits(const struct page *);	/* for a token */
/* It goes on; NULL: there is none, and then this page asks for no other. */
void page_token(struct page *, const char *text);
/* Bytes are lost: no memory, or over KEPT_MAX.  It passes nothing more. */
bool page_failed(const struct page *);
void page_free(struct page *);

#endif
