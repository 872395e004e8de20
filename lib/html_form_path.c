/* SPDX-License-Identifier: ISC */
#include "html_form.h"

#include "pattern.h"

#include <string.h>
#include <strings.h>

/*
 *	[ scheme ":" ] [ "//" authority ] path		RFC 3986, 3
 *
 * as browsers read it (WHATWG URL, 4.4): blanks around it and line ends in it
 * are nothing, a backslash is a slash, and of slashes before an authority two
 * or more are as good.
 */
struct reference {
	struct idem_bytes scheme, authority, path;
	bool has_authority;
};

static const char *
text_of(struct idem_bytes bytes)
{
	return bytes.at;
}

static void
skip(struct idem_bytes *left, size_t len)
{
	left->at = text_of(*left) + len;
	left->len -= len;
}

static bool
begins(struct idem_bytes text, char byte)
{
	return text.len > 0 && *text_of(text) == byte;
}

/* Without what browsers leave out, and without query and fragment. */
static void
clean(struct idem_bytes text, struct idem_buf *out)
{
	const char *at = text.at;
	size_t i;

	while (text.len > 0 && (uint8_t)at[text.len - 1] <= ' ')
		text.len--;
	for (i = 0; i < text.len && (uint8_t)at[i] <= ' '; i++)
		;
	for (; i < text.len && at[i] != '?' && at[i] != '#'; i++)
		if (at[i] == '\\')
			idem_buf_u8(out, '/');
		else if (at[i] != '\t' && at[i] != '\n' && at[i] != '\r')
			idem_buf_u8(out, (uint8_t)at[i]);
}

static bool
is_scheme_char(char c, bool first)
{
	bool alpha = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

	return alpha || (!first && ((c >= '0' && c <= '9') || c == '+' ||
	    c == '-' || c == '.'));
}

static void
split(struct idem_bytes text, struct reference *r)
{
	const char *at = text.at, *slash;
	size_t len = 0;

	*r = (struct reference){ .path = text };
	while (len < text.len && is_scheme_char(at[len], len == 0))
		len++;
	if (len > 0 && len < text.len && at[len] == ':') {
		r->scheme = (struct idem_bytes){ at, len };
		skip(&r->path, len + 1);
	}
	if (!begins(r->path, '/') || r->path.len < 2 ||
	    text_of(r->path)[1] != '/')
		return;
	while (begins(r->path, '/'))
		skip(&r->path, 1);
	r->has_authority = true;
	slash = r->path.len > 0 ? memchr(r->path.at, '/', r->path.len) : NULL;
	r->authority = r->path;
	if (slash != NULL)
		r->authority.len = (size_t)(slash - text_of(r->path));
	skip(&r->path, r->authority.len);
}

/* --- hosts ---------------------------------------------------------------- */

static bool
drop_end(struct idem_bytes *text, const char *end)
{
	size_t len = strlen(end);

	if (text->len < len ||
	    memcmp(text_of(*text) + text->len - len, end, len) != 0)
		return false;
	text->len -= len;
	return true;
}

/* Whether by http or https: who stands before us may have changed that. */
static struct idem_bytes
without_port(struct idem_bytes host)
{
	if (host.len > 0 && !drop_end(&host, ":80") && !drop_end(&host, ":443"))
		drop_end(&host, ":");
	return host;
}

static bool
is_same_host(struct idem_bytes authority, struct idem_bytes host)
{
	const char *at;

	while (authority.len > 0 && (at = memchr(authority.at, '@',
	    authority.len)) != NULL)
		skip(&authority, (size_t)(at + 1 - text_of(authority)));
	authority = without_port(authority);
	host = without_port(host);
	return host.len > 0 && authority.len == host.len &&
	    strncasecmp(authority.at, host.at, host.len) == 0;
}

static bool
is_http(struct idem_bytes scheme)
{
	return idem_bytes_is_nocase(scheme, "http") ||
	    idem_bytes_is_nocase(scheme, "https");
}

/* --- paths ---------------------------------------------------------------- */

/* "." or "..": a dot may be escaped. */
static bool
is_dots(const uint8_t *at, size_t len, int dots)
{
	for (; dots > 0 && len > 0; dots--)
		if (*at == '.') {
			at++;
			len--;
		} else if (len >= 3 && strncasecmp((const char *)at, "%2e",
		    3) == 0) {
			at += 3;
			len -= 3;
		} else
			return false;
	return dots == 0 && len == 0;
}

static size_t
to_last_slash(const uint8_t *at, size_t len)
{
	while (at[len - 1] != '/')
		len--;
	return len;
}

/*
 * RFC 3986, 5.2.4, in place.  Not pattern.h's, which is for what a browser has
 * resolved already: of an empty segment here, ".." takes but that.
 */
static size_t
without_dots(uint8_t *at, size_t len)
{
	size_t from, segment, kept = 1;

	for (from = 1; from < len; from += segment + 1) {
		for (segment = 0; from + segment < len &&
		    at[from + segment] != '/'; segment++)
			;
		if (is_dots(at + from, segment, 2)) {
			kept = to_last_slash(at, kept > 1 ? kept - 1 : 1);
			continue;
		}
		if (is_dots(at + from, segment, 1))
			continue;
		memmove(at + kept, at + from, segment);
		kept += segment;
		if (from + segment < len)
			at[kept++] = '/';
	}
	return kept;
}

/* Put a reference's path in the place of the one that it is relative to. */
static void
merge(struct idem_buf *path, struct idem_bytes to)
{
	if (to.len == 0)
		return;
	if (begins(to, '/'))
		path->len = 0;
	else if (path->len > 0)
		path->len = to_last_slash(path->at, path->len);
	idem_buf_append(path, to.at, to.len);
	if (idem_buf_ok(path))
		path->len = without_dots(path->at, path->len);
}

/* --- all ------------------------------------------------------------------ */

/*
 * Go on from `path` to what is relative to it.  *away: on another host.  False,
 * and nothing is changed: by other means than http.
 */
static bool
follow(struct idem_bytes text, struct idem_bytes host, struct idem_buf *path,
    bool *away)
{
	struct idem_buf room = { 0 };
	struct reference r;
	bool good;

	clean(text, &room);
	split(idem_buf_bytes(&room), &r);
	good = idem_buf_ok(&room) && (r.scheme.len == 0 ||
	    (is_http(r.scheme) && r.has_authority));
	if (good && r.has_authority) {
		*away = !is_same_host(r.authority, host);
		path->len = 0;
		idem_buf_u8(path, '/');
	}
	if (good)
		merge(path, r.path);
	if (!idem_buf_ok(&room))
		path->failed = true;
	idem_buf_free(&room);
	return good;
}

/* The page's own, of which a browser has resolved the path. */
static bool
start(const struct idem_html_page *page, struct idem_buf *path)
{
	const char *at = page->target.at;
	const struct idem_bytes nobody = { "", 0 };
	bool away;
	size_t len;

	if (!begins(page->target, '/'))
		return follow(page->target, nobody, path, &away) &&
		    path->len > 0 && path->at[0] == '/';
	for (len = 0; len < page->target.len && at[len] != '?' &&
	    at[len] != '#'; len++)
		;
	idem_buf_append(path, at, len);
	return true;
}

/* An empty action is the page's own address, whatever its base. */
static bool
resolve(struct idem_bytes action, const struct idem_html_page *page,
    struct idem_buf *path)
{
	bool away = false;

	if (!start(page, path))
		return false;
	if (action.len > 0 && page->base.len > 0 &&
	    !follow(page->base, page->host, path, &away))
		away = true;
	return follow(action, page->host, path, &away) && !away;
}

bool
idem_html_form_path(struct idem_bytes action,
    const struct idem_html_page *page, struct idem_buf *path)
{
	struct idem_buf raw = { 0 };
	bool good = resolve(action, page, &raw);

	if (!idem_buf_ok(&raw))
		path->failed = true;
	good = good && idem_buf_ok(&raw) &&
	    memchr(raw.at, '\0', raw.len) == NULL &&
	    idem_request_path_of(idem_buf_bytes(&raw), path);
	idem_buf_free(&raw);
	return good;
}
