/* SPDX-License-Identifier: ISC */
#include "pattern.h"

#include "params.h"

#include <string.h>

static bool
is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* After "scheme://" (RFC 3986, 3.1), or NULL. */
static const char *
after_scheme(const char *uri)
{
	const char *at = uri;

	if (!is_alpha(*at))
		return NULL;
	while (is_alpha(*at) || (*at >= '0' && *at <= '9') || *at == '+' ||
	    *at == '-' || *at == '.')
		at++;
	return strncmp(at, "://", 3) == 0 ? at + 3 : NULL;
}

/* The path in a request target (RFC 9112, 3.2).  `at` NULL: there is none. */
static struct idem_bytes
path_in(const char *uri)
{
	const char *path = uri, *authority = after_scheme(uri);
	struct idem_bytes bytes = { NULL, 0 };

	if (authority != NULL)
		path = authority + strcspn(authority, "/?#");
	bytes.len = strcspn(path, "?#");
	if (authority != NULL && bytes.len == 0)
		return idem_bytes_text("/");
	if (*path == '/')
		bytes.at = path;
	return bytes;
}

/* What is no escape stays as it is: fronts hand it on so. */
static bool
add_escape(struct idem_buf *path, struct idem_bytes *left)
{
	const char *at = left->at;
	char digits[3] = "";
	uint8_t byte;
	size_t len = 1;

	if (left->len >= 3)
		memcpy(digits, at + 1, 2);
	if (idem_unhex(digits, &byte, 1))
		len = 3;
	else
		byte = '%';
	left->at = at + len;
	left->len -= len;
	idem_buf_u8(path, byte);
	return byte != '\0';
}

static bool
add_decoded(struct idem_buf *path, struct idem_bytes left)
{
	const char *at, *escape;
	size_t len;

	while (left.len > 0) {
		at = left.at;
		escape = memchr(at, '%', left.len);
		len = escape != NULL ? (size_t)(escape - at) : left.len;
		idem_buf_append(path, at, len);
		left.at = at + len;
		left.len -= len;
		if (left.len > 0 && !add_escape(path, &left))
			return false;
	}
	return true;
}

/* What is left of a path that ends in '/' without its last segment. */
static size_t
before_last(const uint8_t *at, size_t len)
{
	if (len > 1)
		len--;
	while (at[len - 1] != '/')
		len--;
	return len;
}

/*
 * Take out ".", ".." and empty segments (RFC 3986, 5.2.4), in place.  Wherever
 * a segment begins, what was kept so far ends in '/'.
 */
static size_t
resolve(uint8_t *at, size_t len)
{
	size_t from, segment, kept = 1;

	for (from = 1; from < len; from += segment + 1) {
		for (segment = 0; from + segment < len &&
		    at[from + segment] != '/'; segment++)
			;
		if (segment == 0 || (segment == 1 && at[from] == '.'))
			continue;
		if (segment == 2 && memcmp(at + from, "..", 2) == 0) {
			kept = before_last(at, kept);
			continue;
		}
		memmove(at + kept, at + from, segment);
		kept += segment;
		if (from + segment < len)
			at[kept++] = '/';
	}
	return kept;
}

/* Its own slash, so that there is one whatever a front has said. */
static void
add_script_path(const struct idem_params *params, struct idem_buf *path)
{
	const char *script = idem_params_get(params, "SCRIPT_NAME");
	const char *info = idem_params_get(params, "PATH_INFO");

	idem_buf_u8(path, '/');
	if (script != NULL)
		idem_buf_text(path, script);
	if (info != NULL)
		idem_buf_text(path, info);
}

bool
idem_request_path_of(struct idem_bytes raw, struct idem_buf *path)
{
	bool good = add_decoded(path, raw);

	if (good && idem_buf_ok(path))
		path->len = resolve(path->at, path->len);
	return good;
}

bool
idem_request_path(const struct idem_params *params, struct idem_buf *path)
{
	const char *uri = idem_params_get(params, "REQUEST_URI");
	struct idem_bytes raw;

	if (uri == NULL || *uri == '\0') {
		add_script_path(params, path);
		if (idem_buf_ok(path))
			path->len = resolve(path->at, path->len);
		return true;
	}
	if (strcmp(uri, "*") == 0) {
		idem_buf_u8(path, '*');
		return true;
	}
	raw = path_in(uri);
	return raw.at != NULL && idem_request_path_of(raw, path);
}
