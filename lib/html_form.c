/* SPDX-License-Identifier: ISC */
#include "html_form_parts.h"

#include <stdlib.h>
#include <string.h>

/*
 *	TEXT --"<"--> LESS --a--> TAG --">"--> TEXT or RAW
 *	              LESS --"/"--> SLASH --a--> TAG
 *	              LESS --"!"--> MARKUP --> TEXT
 *	              LESS, SLASH --x--> TEXT or MARKUP
 *	RAW --its end tag's name--> TAG
 */
enum place { IN_TEXT, IN_LESS, IN_SLASH, IN_TAG, IN_MARKUP, IN_RAW };

struct idem_html_form {
	enum place place;
	bool xml;
	bool in_form;		/* of whatever method: they do not nest */
	bool base_seen, base_lost;
	size_t templates;	/* open now */
	size_t foreign;		/* <svg> and <math>, open now */
	struct idem_html_tag tag;
	struct idem_html_markup markup;
	struct idem_html_raw raw;
	size_t base_len;
	uint8_t base[IDEM_HTML_ACTION_MAX];
};

struct idem_html_form *
idem_html_form_new(bool xml)
{
	struct idem_html_form *h = calloc(1, sizeof *h);

	if (h != NULL)
		h->xml = xml;
	return h;
}

void
idem_html_form_free(struct idem_html_form *h)
{
	free(h);
}

struct idem_bytes
idem_html_form_base(const struct idem_html_form *h)
{
	return (struct idem_bytes){ h->base, h->base_len };
}

/* --- tags ----------------------------------------------------------------- */

/* Where "/>" ends an element, and CDATA is text (13.2.6.5). */
static bool
is_foreign(const struct idem_html_form *h)
{
	return h->xml || h->foreign > 0;
}

static bool
is_word(const struct idem_html_value *value, const char *word)
{
	return !value->too_long && idem_bytes_is_nocase(
	    (struct idem_bytes){ value->at, value->len }, word);
}

static void
take_base(struct idem_html_form *h)
{
	const struct idem_html_value *href = &h->tag.action;

	if (!href->seen || h->base_seen || h->templates > 0)
		return;
	h->base_seen = true;
	h->base_lost = href->too_long;
	if (href->too_long)
		return;
	memcpy(h->base, href->at, href->len);
	h->base_len = href->len;
}

/* A form's start tag: is it one to be told of? */
static bool
take_form(struct idem_html_form *h)
{
	const struct idem_html_tag *t = &h->tag;

	if (h->in_form || h->templates > 0)
		return false;
	h->in_form = true;
	return is_word(&t->method, "post") && !t->action.too_long &&
	    !is_word(&t->enctype, "text/plain") && !h->base_lost;
}

static bool
take_start(struct idem_html_form *h)
{
	const struct idem_html_name *name = &h->tag.name;

	if (idem_html_name_is(name, "base"))
		take_base(h);
	if (h->tag.closes_itself && (is_foreign(h) ||
	    idem_html_name_is(name, "svg") || idem_html_name_is(name, "math")))
		return false;
	if (idem_html_raw_begin(&h->raw, name))
		h->place = IN_RAW;
	else if (idem_html_name_is(name, "template"))
		h->templates++;
	else if (idem_html_name_is(name, "svg") ||
	    idem_html_name_is(name, "math"))
		h->foreign++;
	return idem_html_name_is(name, "form") && take_form(h);
}

static void
take_end(struct idem_html_form *h)
{
	const struct idem_html_name *name = &h->tag.name;

	if (idem_html_name_is(name, "template"))
		h->templates -= h->templates > 0;
	else if (idem_html_name_is(name, "svg") ||
	    idem_html_name_is(name, "math"))
		h->foreign -= h->foreign > 0;
	else if (idem_html_name_is(name, "form") && h->templates == 0)
		h->in_form = false;
}

static bool
in_tag(struct idem_html_form *h, uint8_t byte)
{
	if (!idem_html_tag_step(&h->tag, byte))
		return false;
	h->place = IN_TEXT;
	if (!h->tag.end)
		return take_start(h);
	take_end(h);
	return false;
}

static bool
begin_tag(struct idem_html_form *h, bool end, uint8_t byte)
{
	h->place = IN_TAG;
	idem_html_tag_begin(&h->tag, end);
	return in_tag(h, byte);
}

/* --- all ------------------------------------------------------------------ */

static bool
less(struct idem_html_form *h, uint8_t byte)
{
	h->place = IN_TEXT;
	if (idem_html_is_alpha(byte))
		return begin_tag(h, false, byte);
	if (byte == '!') {
		h->place = IN_MARKUP;
		idem_html_markup_begin(&h->markup, is_foreign(h));
	} else if (byte == '?') {
		h->place = IN_MARKUP;
		idem_html_markup_bogus(&h->markup);
	} else if (byte == '/')
		h->place = IN_SLASH;
	else if (byte == '<')
		h->place = IN_LESS;
	return false;
}

static bool
slash(struct idem_html_form *h, uint8_t byte)
{
	if (idem_html_is_alpha(byte))
		return begin_tag(h, true, byte);
	h->place = byte == '>' ? IN_TEXT : IN_MARKUP;
	idem_html_markup_bogus(&h->markup);
	return false;
}

static bool
in_raw(struct idem_html_form *h, uint8_t byte)
{
	const char *name = h->raw.name;

	if (!idem_html_raw_step(&h->raw, byte))
		return false;
	h->place = IN_TAG;
	idem_html_tag_begin(&h->tag, true);
	while (*name != '\0')
		idem_html_name_add(&h->tag.name, (uint8_t)*name++);
	return in_tag(h, byte);
}

/* True: it is the last of a start tag to be told of. */
static bool
step(struct idem_html_form *h, uint8_t byte)
{
	switch (h->place) {
	case IN_TEXT:
		h->place = byte == '<' ? IN_LESS : IN_TEXT;
		return false;
	case IN_LESS:
		return less(h, byte);
	case IN_SLASH:
		return slash(h, byte);
	case IN_TAG:
		return in_tag(h, byte);
	case IN_MARKUP:
		if (idem_html_markup_step(&h->markup, byte))
			h->place = IN_TEXT;
		return false;
	case IN_RAW:
		return in_raw(h, byte);
	}
	abort();
}

/* The byte up to which nothing happens here; -1: anything may. */
static int
awaited(const struct idem_html_form *h)
{
	switch (h->place) {
	case IN_TEXT:
		return '<';
	case IN_RAW:
		return h->raw.place == IDEM_HTML_RAW &&
		    h->raw.escape == IDEM_HTML_UNESCAPED ? '<' : -1;
	case IN_TAG:
		return h->tag.place == IDEM_HTML_QUOTED &&
		    h->tag.value == NULL ? h->tag.quote : -1;
	case IN_MARKUP:
		return h->markup.place == IDEM_HTML_COMMENT ? '-' : -1;
	case IN_LESS:
	case IN_SLASH:
		break;
	}
	return -1;
}

/* How many bytes come before it: most of a page. */
static size_t
plain(const struct idem_html_form *h, struct idem_bytes in)
{
	const uint8_t *next;
	int byte = awaited(h);

	if (byte == -1)
		return 0;
	next = memchr(in.at, byte, in.len);
	return next != NULL ? (size_t)(next - (const uint8_t *)in.at) : in.len;
}

static void
pass(struct idem_bytes *in, size_t len)
{
	in->at = (const uint8_t *)in->at + len;
	in->len -= len;
}

enum idem_html_found
idem_html_form_next(struct idem_html_form *h, struct idem_bytes *in,
    struct idem_bytes *action)
{
	uint8_t byte;

	while (in->len > 0) {
		pass(in, plain(h, *in));
		if (in->len == 0)
			break;
		byte = *(const uint8_t *)in->at;
		pass(in, 1);
		if (step(h, byte)) {
			*action = (struct idem_bytes){
				h->tag.action.at, h->tag.action.len
			};
			return IDEM_HTML_FORM;
		}
	}
	return IDEM_HTML_MORE;
}
