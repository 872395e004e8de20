/* SPDX-License-Identifier: ISC */
#include "redis.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Where a server is: kind|host|port|database|user|password. */

#define PATH_107 "/123456789/123456789/123456789/123456789/123456789" \
	"/123456789/123456789/123456789/123456789/123456789/123456"

static const struct {
	const char *text, *read, *what;
} good[] = {
	{ "unix:/run/redis/redis.sock", "unix|/run/redis/redis.sock|6379|0||",
	  "a path is taken as it is" },
	{ "unix:" PATH_107, "unix|" PATH_107 "|6379|0||",
	  "a path may have 107 bytes" },
	{ "redis://cache.example", "tcp|cache.example|6379|0||",
	  "a host alone has the usual port and database" },
	{ "redis://10.0.0.1:7000", "tcp|10.0.0.1|7000|0||",
	  "a port may be said" },
	{ "redis://10.0.0.1:7000/3", "tcp|10.0.0.1|7000|3||",
	  "a database may be said" },
	{ "redis://10.0.0.1/", "tcp|10.0.0.1|6379|0||",
	  "a slash alone says nothing" },
	{ "redis://:secret@cache", "tcp|cache|6379|0||secret",
	  "a password may stand without a user" },
	{ "redis://idem:secret@cache:1/2", "tcp|cache|1|2|idem|secret",
	  "user and password are read" },
	{ "redis://idem@cache", "tcp|cache|6379|0|idem|",
	  "a user may have no password" },
	{ "redis://a%3Ab:c%40d%2Fe%25@cache", "tcp|cache|6379|0|a:b|c@d/e%",
	  "signs in user and password may be escaped" },
	{ "redis://a:b:c@d@cache", "tcp|cache|6379|0|a|b:c@d",
	  "the first colon and the last @ are the ones that count" },
	{ "redis://[2001:db8::1]:7000", "tcp|2001:db8::1|7000|0||",
	  "an IPv6 address loses its brackets" },
	{ "redis://[fe80::1%eth0]", "tcp|fe80::1%eth0|6379|0||",
	  "it may have a zone" },
	{ "rediss://cache.example:6380", "tls|cache.example|6380|0||",
	  "rediss is over TLS" },
	{ "127.0.0.1:6379", "tcp|127.0.0.1|6379|0||",
	  "host and port may stand alone" },
	{ "[::1]:7000", "tcp|::1|7000|0||", "also of an IPv6 address" },
	{ "redis://a_b-c.d:65535", "tcp|a_b-c.d|65535|0||",
	  "a name may have dots, dashes and lines; 65535 is a port" },
};

static const struct {
	const char *text, *error;
} bad[] = {
	{ "", "its host is empty" },
	{ "unix:", "its path is not absolute" },
	{ "unix:redis.sock", "its path is not absolute" },
	{ "unix:" PATH_107 "8", "its path is too long (107 bytes)" },
	{ "cache", "it has no port" },
	{ "cache:", "its port is not between 1 and 65535" },
	{ "cache:0", "its port is not between 1 and 65535" },
	{ "cache:65536", "its port is not between 1 and 65535" },
	{ "cache:99999999999", "its port is not between 1 and 65535" },
	{ "cache:63a", "its port is not between 1 and 65535" },
	{ "cache: 1", "its port is not between 1 and 65535" },
	{ "::1:6379", "its host is empty" },
	{ "fe80::1:6379", "an IPv6 address stands in brackets" },
	{ "[::1:6379", "a bracket is not closed" },
	{ "[]:6379", "its host is empty" },
	{ "[::1]6379", "there is more behind its host than a port" },
	{ "redis://", "its host is empty" },
	{ "redis://:secret@", "its host is empty" },
	{ "redis:///3", "its host is empty" },
	{ "redis://a b", "its host is not a name or an address" },
	{ "redis://a\n", "its host is not a name or an address" },
	{ "redis://a/x", "its database is not a number" },
	{ "redis://a/1/2", "its database is not a number" },
	{ "redis://a/4294967296", "its database is not a number" },
	{ "redis://a?db=1", "its database is not a number" },
	{ "redis://:sec%zzret@a",
	  "a % in its user or password is written %25" },
	{ "redis://:secret%2@a",
	  "a % in its user or password is written %25" },
	{ "redis://:secret%@a",
	  "a % in its user or password is written %25" },
	{ "redis://:secret%00@a",
	  "a % in its user or password is written %25" },
	{ "redis://:secret/x@a",
	  "a /, ? or # in its password is written %2F, %3F, %23" },
	{ "http://:secret@a:1",
	  "it begins with none of unix:, redis:// and rediss://" },
	{ "idem:secret@a:1",
	  "it begins with none of unix:, redis:// and rediss://" },
};

static void
show(const struct idem_redis_url *url, char *out, size_t size)
{
	static const char *const kinds[] = {
		[IDEM_REDIS_UNIX] = "unix", [IDEM_REDIS_TCP] = "tcp",
		[IDEM_REDIS_TLS] = "tls"
	};

	snprintf(out, size, "%s|%s|%u|%u|%s|%s", kinds[url->kind], url->host,
	    (unsigned)url->port, (unsigned)url->database, url->user,
	    url->password);
}

static void
try_good(size_t i)
{
	struct idem_redis_url url;
	char error[256] = "", out[1200];

	if (idem_redis_url_read(good[i].text, &url, error, sizeof error))
		show(&url, out, sizeof out);
	else
		snprintf(out, sizeof out, "%s", error);
	is(out, good[i].read, "%s", good[i].what);
}

static void
try_bad(size_t i)
{
	struct idem_redis_url url;
	char error[256] = "none", want[256];
	bool read;

	read = idem_redis_url_read(bad[i].text, &url, error, sizeof error);
	snprintf(want, sizeof want, "not an address of Redis: %s",
	    bad[i].error);
	is(error, want, "\"%s\" is refused", bad[i].text[0] == '\0' ? "" :
	    strcmp(bad[i].text, "redis://a\n") == 0 ? "redis://a, a line" :
	    bad[i].text);
	ok(!read && strstr(error, "secret") == NULL &&
	    url.password[0] == '\0', "and no password is told or kept");
}

/* As many bytes as fit are kept; one more is refused. */
static void
try_lengths(void)
{
	static const struct {
		const char *before, *behind;
		int most;
		const char *what;
	} rows[] = {
		{ "redis://", "", 255, "a host" },
		{ "redis://", ":p@h", 255, "a user" },
		{ "redis://u:", "@h", 511, "a password" },
	};
	struct idem_redis_url url;
	char text[600], error[128];
	size_t i;
	int more;

	for (i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
		more = (int)(i % 2);
		snprintf(text, sizeof text, "%s%0*d%s", rows[i / 2].before,
		    rows[i / 2].most + more, 7, rows[i / 2].behind);
		error[0] = '\0';
		ok(idem_redis_url_read(text, &url, error, sizeof error) ==
		    (more == 0) && (strstr(error, "too long") != NULL) ==
		    (more == 1), "%s may have %d bytes%s", rows[i / 2].what,
		    rows[i / 2].most, more ? ", and not one more" : "");
	}
}

/* --- values --------------------------------------------------------------- */

static void
try_values(void)
{
	const struct idem_redis_value inner[] = {
		{ .type = IDEM_REDIS_INTEGER, .integer = -7 },
		{ .type = IDEM_REDIS_STATUS, .text = { "OK", 2 } }
	};
	const struct idem_redis_value outer[] = {
		{ .type = IDEM_REDIS_STRING, .text = { "a\0b", 3 } },
		{ .type = IDEM_REDIS_ARRAY, .at = inner, .len = 2 },
		{ .type = IDEM_REDIS_NIL },
		{ .type = IDEM_REDIS_STRING, .text = { "", 0 } },
	};
	const struct idem_redis_value all = {
		.type = IDEM_REDIS_ARRAY, .at = outer, .len = 4
	};
	struct idem_redis_value *copy = idem_redis_value_copy(&all);

	if (copy == NULL)
		bail_out("no memory");
	ok(copy->type == IDEM_REDIS_ARRAY && copy->len == 4 &&
	    copy->at != outer && copy->at[1].len == 2 &&
	    copy->at[1].at != inner && copy->at[1].at[0].integer == -7 &&
	    copy->at[0].text.at != outer[0].text.at &&
	    idem_bytes_equal(copy->at[0].text, outer[0].text),
	    "a copy has all that the value has, and nothing of it");
	ok(idem_redis_is(&copy->at[1].at[1], "OK") &&
	    !idem_redis_is(&copy->at[1].at[1], "O") &&
	    !idem_redis_is(&copy->at[0], "a"),
	    "a text is the one that it is");
	ok(idem_redis_is(&copy->at[3], "") &&
	    !idem_redis_is(&copy->at[2], "") && !idem_redis_is(copy, "") &&
	    !idem_redis_is(&copy->at[1].at[0], "-7") &&
	    !idem_redis_is(NULL, ""),
	    "what is missing is no empty text, nor is what is none");
	free(copy);
}

/* --- no client ------------------------------------------------------------ */

static void
no_client(void)
{
	static const char *const two[] = { "unix:/a", "unix:/b" };
	static const char *const db[] = { "redis://a/1" };
	static const char *const wrong[] = { "http://user:secret@a" };
	const struct {
		struct idem_redis_options options;
		const char *what;
	} rows[] = {
		{ { .urls = two }, "no URL" },
		{ { .urls = two, .urls_len = 2 }, "two for one server" },
		{ { .urls = wrong, .urls_len = 1 }, "one that is none" },
		{ { .topology = IDEM_REDIS_SENTINEL, .urls = two,
		    .urls_len = 2 }, "Sentinels without a master" },
		{ { .topology = IDEM_REDIS_CLUSTER, .urls = db,
		    .urls_len = 1 }, "a cluster with a database" },
	};
	char error[256];
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		error[0] = '\0';
		ok(idem_redis_new(&rows[i].options, error, sizeof error) ==
		    NULL && error[0] != '\0' &&
		    strstr(error, "secret") == NULL,
		    "there is no client with %s: %s", rows[i].what, error);
	}
	idem_redis_free(NULL);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof good / sizeof *good; i++)
		try_good(i);
	for (i = 0; i < sizeof bad / sizeof *bad; i++)
		try_bad(i);
	try_lengths();
	try_values();
	no_client();
	return done();
}
