/* SPDX-License-Identifier: ISC */
#include "page.h"

#include <string.h>

struct field {
	struct idem_bytes line;		/* with its CRLF */
	struct idem_bytes name, value;
};

static struct idem_bytes
between(const char *from, const char *to)
{
	return (struct idem_bytes){ from, (size_t)(to - from) };
}

/* Fields as cgi_head.h has them: NAME ":" VALUE CRLF. */
static bool
next_field(struct idem_bytes *left, struct field *f)
{
	const char *at = left->at, *end, *colon;

	if (left->len == 0)
		return false;
	end = memchr(at, '\n', left->len);
	end = end != NULL ? end + 1 : at + left->len;
	f->line = between(at, end);
	*left = between(end, at + left->len);
	colon = memchr(at, ':', f->line.len);
	f->name = between(at, colon != NULL ? colon : end);
	at = colon != NULL ? colon + 1 : end;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at && strchr(" \t\r\n", end[-1]) != NULL)
		end--;
	f->value = between(at, end);
	return true;
}

static bool
is_named(const struct field *f, const char *name)
{
	return idem_bytes_is_nocase(f->name, name);
}

/* Of two types nobody knows which one counts. */
enum page_kind
page_kind(const struct idem_head *h)
{
	static const enum page_kind kinds[] = {
		[IDEM_HTML_NOT] = PAGE_NOT,
		[IDEM_HTML_TEXT] = PAGE_HTML,
		[IDEM_HTML_XML] = PAGE_XML
	};
	struct idem_bytes left = idem_buf_bytes(&h->lines);
	enum page_kind kind = PAGE_NOT;
	bool encoded = false, part = h->code == 206;
	struct field f;
	int types = 0;

	while (next_field(&left, &f)) {
		if (is_named(&f, "Content-Type")) {
			kind = kinds[idem_html_form_type(f.value)];
			types++;
		} else if (is_named(&f, "Content-Encoding"))
			encoded |= f.value.len > 0 &&
			    !idem_bytes_is_nocase(f.value, "identity");
		else if (is_named(&f, "Content-Range"))
			part = true;
	}
	if (part || types != 1 || kind == PAGE_NOT)
		return PAGE_NOT;
	return encoded ? PAGE_ENCODED : kind;
}

static bool
is_of_its_bytes(const struct field *f)
{
	static const char *const names[] = {
		"Content-Length", "Content-MD5", "Digest", "Content-Digest",
		"Repr-Digest", "ETag", "Last-Modified", "Accept-Ranges",
		/* for caches: RFC 9111, RFC 9213, Varnish, nginx */
		"Cache-Control", "Expires", "CDN-Cache-Control",
		"Surrogate-Control", "X-Accel-Expires"
	};
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (is_named(f, names[i]))
			return true;
	return false;
}

void
page_head(struct idem_head *h)
{
	struct idem_bytes left = idem_buf_bytes(&h->lines);
	struct idem_buf lines = { 0 };
	struct field f;

	while (next_field(&left, &f))
		if (!is_of_its_bytes(&f))
			idem_buf_append(&lines, f.line.at, f.line.len);
	idem_buf_text(&lines, "Cache-Control: no-store\r\n");
	idem_buf_free(&h->lines);
	h->lines = lines;
}
