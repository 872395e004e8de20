/* SPDX-License-Identifier: ISC */
#ifndef IDEM_HTML_FORM_H
#define IDEM_HTML_FORM_H

#include "buf.h"

/*
 * Finds the forms of an HTML page as it passes, so that a hidden field can be
 * put into each (WHATWG HTML, 13.2.5: tags, attributes, comments, raw text; no
 * tree is built).  Pure; bounded whatever the page is; it holds no byte back.
 *
 * Not found: what only a script brings to life (in <template>), and a form
 * that submits as text/plain, which no program reads fields from.  Found also:
 * what stands in <noscript>, since who has no script sees it.  Where a button
 * sends its form elsewhere (formaction), the field goes along.
 */
#define IDEM_HTML_ACTION_MAX 2048u	/* as it is written, entities and all */

struct idem_html_form;	/* html_form.c */

/* xml: XHTML, where "/>" ends an element and CDATA is text.  NULL: without
   memory. */
struct idem_html_form *idem_html_form_new(bool xml);
void idem_html_form_free(struct idem_html_form *);

/*
 * Read on in *in, which is advanced over what was read.
 * FORM: that ended in the start tag of a form whose method is post; what is to
 * stand first in it belongs here.  Its action, entities decoded, is in *action
 * (borrowed until the next call): absent and empty are the same; too long a
 * one, and one in a form within a form, is no form here.
 * MORE: all of *in was read.
 */
enum idem_html_found { IDEM_HTML_MORE, IDEM_HTML_FORM };
enum idem_html_found idem_html_form_next(struct idem_html_form *,
    struct idem_bytes *in, struct idem_bytes *action);

/*
 * The page's <base href> so far, entities decoded; empty if it has none.
 * After one that is too long no form is found.
 */
struct idem_bytes idem_html_form_base(const struct idem_html_form *);

/* Is a Content-Type HTML's or XHTML's, in a charset whose ASCII stands for
   nothing else (WHATWG Encoding, 4)? */
enum idem_html_type { IDEM_HTML_NOT, IDEM_HTML_TEXT, IDEM_HTML_XML };
enum idem_html_type idem_html_form_type(struct idem_bytes content_type);

/* Where a page is, and so what its actions are relative to. */
struct idem_html_page {
	struct idem_bytes target;	/* as it was asked for (REQUEST_URI) */
	struct idem_bytes host;		/* HTTP_HOST */
	struct idem_bytes base;		/* idem_html_form_base() */
};

/*
 * Where a form is sent: its action resolved (RFC 3986, 5.2; WHATWG URL, 4.4),
 * appended to an empty buf as pattern.h makes the paths of requests.  False: to
 * another host, not by http, or nobody knows.  Without memory the buf says so.
 */
bool idem_html_form_path(struct idem_bytes action,
    const struct idem_html_page *, struct idem_buf *path);

#endif
