/* SPDX-License-Identifier: ISC */
#include "redis.h"

#include <stdio.h>
#include <string.h>

#define PORT 6379
#define PATH_MAX_LEN 107u	/* sun_path, and its NUL */

/*
 * The readers give NULL, or what is wrong without a word of the text: that may
 * hold a password.
 */

static const char *
last_of(const char *text, size_t len, char c)
{
	while (len > 0)
		if (text[--len] == c)
			return text + len;
	return NULL;
}

static bool
is_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z');
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* size counts the NUL. */
static bool
put(char *out, size_t size, struct idem_bytes text)
{
	if (text.len >= size)
		return false;
	if (text.len > 0)
		memcpy(out, text.at, text.len);
	out[text.len] = '\0';
	return true;
}

static const char *
unescape(struct idem_bytes text, char *out, size_t size)
{
	const char *at = text.at;
	size_t i, n = 0;
	int high, low;

	for (i = 0; i < text.len; i++, n++) {
		if (n + 1 >= size)
			return "its user or password is too long";
		out[n] = at[i];
		if (at[i] != '%')
			continue;
		high = text.len - i > 2 ? hex_digit(at[i + 1]) : -1;
		low = text.len - i > 2 ? hex_digit(at[i + 2]) : -1;
		if (high < 0 || low < 0 || high + low == 0)
			return "a % in its user or password is written %25";
		out[n] = (char)(16 * high + low);
		i += 2;
	}
	out[n] = '\0';
	return NULL;
}

/* [USER][:PASSWORD] */
static const char *
read_login(struct idem_bytes text, struct idem_redis_url *url)
{
	const char *at = text.at;
	const char *colon = text.len > 0 ? memchr(at, ':', text.len) : NULL;
	struct idem_bytes user = text, password = { 0 };
	const char *why;

	if (colon != NULL) {
		user.len = (size_t)(colon - at);
		password.at = colon + 1;
		password.len = text.len - user.len - 1;
	}
	why = unescape(user, url->user, sizeof url->user);
	if (why == NULL)
		why = unescape(password, url->password, sizeof url->password);
	return why;
}

/* Digits only, at most most; false otherwise. */
static bool
read_number(struct idem_bytes text, uint32_t most, uint32_t *number)
{
	const char *at = text.at;
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < text.len && i < 10; i++) {
		if (at[i] < '0' || at[i] > '9')
			return false;
		n = 10 * n + (uint64_t)(at[i] - '0');
	}
	*number = (uint32_t)n;
	return text.len > 0 && text.len <= 10 && n <= most;
}

static bool
is_host(struct idem_bytes host, const char *also)
{
	const char *at = host.at;
	size_t i;

	for (i = 0; i < host.len; i++)
		if (!is_alnum(at[i]) &&
		    (at[i] == '\0' || strchr(also, at[i]) == NULL))
			return false;
	return host.len > 0;
}

/* The host, and what is behind it in *rest. */
static const char *
read_host(struct idem_bytes text, struct idem_redis_url *url,
    struct idem_bytes *rest)
{
	const char *at = text.at, *end;
	bool bracketed = text.len > 0 && at[0] == '[';
	struct idem_bytes host = text;

	if (bracketed) {
		end = memchr(at, ']', text.len);
		if (end == NULL)
			return "a bracket is not closed";
		host = (struct idem_bytes){ at + 1, (size_t)(end - at) - 1 };
		end++;
	} else {
		end = text.len > 0 ? memchr(at, ':', text.len) : NULL;
		if (end == NULL)
			end = at + text.len;
		host.len = (size_t)(end - at);
	}
	if (host.len == 0)
		return "its host is empty";
	if (!is_host(host, bracketed ? ":.%-_" : ".-_"))
		return "its host is not a name or an address";
	if (!put(url->host, sizeof url->host, host))
		return "its host is too long";
	*rest = (struct idem_bytes){ end, text.len - (size_t)(end - at) };
	return NULL;
}

/* HOST[:PORT] */
static const char *
read_server(struct idem_bytes text, struct idem_redis_url *url, bool port_too)
{
	struct idem_bytes rest;
	const char *why = read_host(text, url, &rest);
	uint32_t port = PORT;

	if (why != NULL)
		return why;
	if (rest.len == 0 && port_too)
		return "it has no port";
	if (rest.len > 0 && ((const char *)rest.at)[0] != ':')
		return "there is more behind its host than a port";
	if (rest.len > 0) {
		rest = (struct idem_bytes){ (const char *)rest.at + 1,
		    rest.len - 1 };
		if (memchr(rest.at, ':', rest.len) != NULL)
			return "an IPv6 address stands in brackets";
		if (!read_number(rest, UINT16_MAX, &port) || port == 0)
			return "its port is not between 1 and 65535";
	}
	url->port = (uint16_t)port;
	return NULL;
}

/* [LOGIN@]SERVER[/DATABASE] */
static const char *
read_authority(const char *text, struct idem_redis_url *url)
{
	size_t len = strcspn(text, "/?#");
	const char *tail = text + len;
	const char *sign = last_of(text, len, '@');
	struct idem_bytes server = { text, len }, digits;
	const char *why = NULL;

	if (tail[0] != '\0' && strchr(tail, '@') != NULL)
		return "a /, ? or # in its password is written %2F, %3F, %23";
	if (sign != NULL) {
		why = read_login((struct idem_bytes){ text,
		    (size_t)(sign - text) }, url);
		server = (struct idem_bytes){ sign + 1,
		    len - (size_t)(sign - text) - 1 };
	}
	if (why == NULL)
		why = read_server(server, url, false);
	if (why != NULL || tail[0] == '\0' || strcmp(tail, "/") == 0)
		return why;
	digits = idem_bytes_text(tail + 1);
	if (tail[0] != '/' ||
	    !read_number(digits, INT32_MAX, &url->database))
		return "its database is not a number";
	return NULL;
}

static const char *
read_path(const char *path, struct idem_redis_url *url)
{
	url->kind = IDEM_REDIS_UNIX;
	if (path[0] != '/')
		return "its path is not absolute";
	if (strlen(path) > PATH_MAX_LEN)
		return "its path is too long (107 bytes)";
	put(url->host, sizeof url->host, idem_bytes_text(path));
	return NULL;
}

static const char *
read_url(const char *text, struct idem_redis_url *url)
{
	if (strncmp(text, "unix:", 5) == 0)
		return read_path(text + 5, url);
	url->kind = IDEM_REDIS_TCP;
	if (strncmp(text, "redis://", 8) == 0)
		return read_authority(text + 8, url);
	if (strncmp(text, "rediss://", 9) == 0) {
		url->kind = IDEM_REDIS_TLS;
		return read_authority(text + 9, url);
	}
	if (strstr(text, "://") != NULL || strchr(text, '@') != NULL)
		return "it begins with none of unix:, redis:// and rediss://";
	return read_server(idem_bytes_text(text), url, true);
}

bool
idem_redis_url_read(const char *text, struct idem_redis_url *url, char *error,
    size_t error_size)
{
	const char *why;

	*url = (struct idem_redis_url){ .port = PORT };
	why = read_url(text, url);
	if (why == NULL)
		return true;
	*url = (struct idem_redis_url){ .port = PORT };
	snprintf(error, error_size, "not an address of Redis: %s", why);
	return false;
}
