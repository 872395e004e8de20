/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * A Redis as the operator names it.  No sentence in here holds an URL, for that
 * may hold a password; conf_redis.where is what people see.
 */
#define URLS_MAX 64u
#define PLAIN_MAX 64u
#define DATABASES_MAX 1000000u

struct conf_redis *
conf_redis_new(struct conf *c)
{
	struct conf_redis *r = conf_get(c, sizeof *r);

	if (r == NULL)
		return NULL;
	r->client.timeout_ms = 250;
	r->client.probe_ms = 10000;
	r->prefix = "idem:";
	r->budget_ms = 300;
	r->look_ms = 50;
	r->answer_max = 1024 * 1024;
	return r;
}

/* --- the URLs ------------------------------------------------------------- */

struct urls {			/* all of them */
	size_t tls, plain, away;	/* so many are; away: plain, and not on
					   this host */
	bool secret;		/* one holds a password */
	uint32_t database;
	struct idem_buf text;	/* of all, for people */
	const char *far;	/* the host of one that is away */
};

static const char *
field(const struct conf_redis *r)
{
	switch (r->client.topology) {
	case IDEM_REDIS_SINGLE:
		return "url";
	case IDEM_REDIS_SENTINEL:
		return "sentinels";
	case IDEM_REDIS_CLUSTER:
		return "cluster";
	}
	return "";
}

static bool
is_loopback(const char *host)
{
	return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
	    strcmp(host, "ip6-localhost") == 0 ||
	    strncmp(host, "127.", 4) == 0;
}

static void
say_url(struct idem_buf *b, const struct idem_redis_url *u)
{
	bool bare = strchr(u->host, ':') == NULL;

	if (u->kind == IDEM_REDIS_UNIX) {
		idem_buf_printf(b, "unix:%s", u->host);
		return;
	}
	idem_buf_printf(b, "%s://%s%s%s:%u",
	    u->kind == IDEM_REDIS_TLS ? "rediss" : "redis", bare ? "" : "[",
	    u->host, bare ? "" : "]", u->port);
	if (u->database != 0)
		idem_buf_printf(b, "/%" PRIu32, u->database);
}

/* NULL, or what is wrong with one of several. */
static const char *
member_wrong(const struct conf_redis *r, const struct idem_redis_url *u)
{
	if (r->client.topology == IDEM_REDIS_SINGLE)
		return NULL;
	if (u->database != 0)
		return r->client.topology == IDEM_REDIS_CLUSTER ?
		    "a cluster has no databases" :
		    "a database is said of url only";
	if (u->user[0] != '\0' || u->password[0] != '\0')
		return r->client.topology == IDEM_REDIS_CLUSTER ?
		    "say user and password beside it" :
		    "say sentinel_user and sentinel_password, or user and "
		    "password for the servers, beside it";
	return NULL;
}

static void
count(struct conf *c, const struct idem_redis_url *u, struct urls *all)
{
	if (u->kind == IDEM_REDIS_TLS)
		all->tls++;
	else if (u->kind == IDEM_REDIS_TCP)
		all->plain++;
	if (u->kind == IDEM_REDIS_TCP && !is_loopback(u->host)) {
		all->away++;
		all->far = conf_copy(c, idem_bytes_text(u->host));
	}
	all->secret = all->secret || u->password[0] != '\0';
	all->database = u->database;
}

static bool
read_url(struct conf *c, const struct conf_redis *r, size_t i,
    struct urls *all, char *error, size_t size)
{
	struct idem_redis_url u = { .database = 0 };
	const char *fault;
	char why[256] = "";

	if (!idem_redis_url_read(r->client.urls[i], &u, why, sizeof why)) {
		snprintf(error, size, "%s: %s", field(r), why);
		return false;
	}
	fault = member_wrong(r, &u);
	if (fault == NULL && u.database > DATABASES_MAX)
		fault = "no server has such a database";
	if (fault != NULL) {
		snprintf(error, size, "%s: %s", field(r), fault);
		return false;
	}
	count(c, &u, all);
	idem_buf_text(&all->text, i > 0 ? ", " : "");
	say_url(&all->text, &u);
	return true;
}

static bool
read_urls(struct conf *c, const struct conf_redis *r, struct urls *all,
    char *error, size_t size)
{
	size_t i;

	if (r->client.urls_len == 0 || r->client.urls_len > URLS_MAX) {
		snprintf(error, size, "%s: say 1 to %u of them", field(r),
		    URLS_MAX);
		return false;
	}
	if (r->client.topology == IDEM_REDIS_SENTINEL)
		idem_buf_printf(&all->text, "master %s of ", r->client.master);
	if (r->client.topology == IDEM_REDIS_CLUSTER)
		idem_buf_text(&all->text, "cluster of ");
	for (i = 0; i < r->client.urls_len; i++)
		if (!read_url(c, r, i, all, error, size))
			return false;
	if (all->tls > 0 && all->plain > 0) {
		snprintf(error, size, "%s: either all of them are rediss://, "
		    "or none is", field(r));
		return false;
	}
	return true;
}

/* --- what goes together --------------------------------------------------- */

/* Plain in an ACL's pattern, in a cluster (no tags) and in a log. */
static bool
is_plain(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789:._/-");

	return len > 0 && len <= PLAIN_MAX && text[len] == '\0';
}

static const char *
names_wrong(const struct conf_redis *r)
{
	if (!is_plain(r->prefix))
		return "prefix: not 1 to 64 letters, digits and : . _ / -";
	if (r->name != NULL && !is_plain(r->name))
		return "name: not 1 to 64 letters, digits and : . _ / -";
	if (r->client.master != NULL && !is_plain(r->client.master))
		return "master: not 1 to 64 letters, digits and : . _ / -";
	return NULL;
}

static const char *
topology_wrong(const struct conf_redis *r)
{
	const struct idem_redis_options *o = &r->client;
	bool sentinel = o->topology == IDEM_REDIS_SENTINEL;

	if (sentinel && (o->master == NULL || *o->master == '\0'))
		return "master: sentinels watch over several; say which, such "
		    "as master = \"mymaster\"";
	if (!sentinel && o->master != NULL)
		return "master: it is for sentinels = { \"HOST:PORT\", ... }";
	if (!sentinel && (o->sentinel_user != NULL ||
	    o->sentinel_password != NULL))
		return "sentinel_user and sentinel_password are for sentinels "
		    "= { \"HOST:PORT\", ... }";
	if (o->sentinel_user != NULL && o->sentinel_password == NULL)
		return "sentinel_user: sentinel_password is missing";
	return NULL;
}

static const char *
password_wrong(const struct conf_redis *r, const struct urls *all)
{
	if (all->secret && r->client.password != NULL)
		return "the password is said twice: in the URL, and beside it";
	if (r->client.user != NULL && r->client.password == NULL &&
	    !all->secret)
		return "user: its password is missing; say password_file = "
		    "\"/etc/idem/redis.password\"";
	return NULL;
}

static const char *
tls_wrong(const struct conf_redis *r, const struct urls *all)
{
	const struct idem_redis_options *o = &r->client;

	if (all->tls == 0 && (o->ca != NULL || o->certificate != NULL ||
	    o->private_key != NULL || o->server_name != NULL))
		return "ca, certificate, private_key and server_name are for "
		    "TLS: say rediss:// in the URL";
	if ((o->certificate == NULL) != (o->private_key == NULL))
		return "certificate and private_key go together";
	return NULL;
}

static bool
is_there(const char *name, const char *path, char *error, size_t size)
{
	const char *fault = NULL;
	struct stat st;


	if (path == NULL)
		return true;
	if (stat(path, &st) == -1)
		fault = strerror(errno);
	else if (!S_ISREG(st.st_mode))
		fault = "not a file";
	if (fault != NULL)
		snprintf(error, size, "%s: %.200s: %s", name, path, fault);
	return fault == NULL;
}

static bool
goes_together(const struct conf_redis *r, const struct urls *all, char *error,
    size_t size)
{
	const struct idem_redis_options *o = &r->client;
	const char *fault = password_wrong(r, all);

	if (fault == NULL)
		fault = tls_wrong(r, all);
	if (fault != NULL) {
		snprintf(error, size, "%s", fault);
		return false;
	}
	return is_there("ca", o->ca, error, size) &&
	    is_there("certificate", o->certificate, error, size) &&
	    is_there("private_key", o->private_key, error, size);
}

static bool
name_it(struct conf *c, struct conf_redis *r, struct urls *all)
{
	char text[PLAIN_MAX + 16];

	if (!idem_buf_ok(&all->text))
		return false;
	r->where = conf_copy(c, idem_buf_bytes(&all->text));
	if (r->name == NULL) {
		snprintf(text, sizeof text, "%s/%" PRIu32, r->prefix,
		    all->database);
		r->name = conf_copy(c, idem_bytes_text(text));
	}
	return r->where != NULL && r->name != NULL;
}

bool
conf_redis_finish(struct conf *c, struct conf_redis *r, char *error,
    size_t size)
{
	const char *fault = names_wrong(r);
	struct urls all = { .tls = 0 };
	bool good;

	if (fault == NULL)
		fault = topology_wrong(r);
	if (fault != NULL) {
		snprintf(error, size, "%s", fault);
		return false;
	}
	good = read_urls(c, r, &all, error, size) &&
	    goes_together(r, &all, error, size);
	if (good && !name_it(c, r, &all)) {
		snprintf(error, size, "no memory");
		good = false;
	}
	idem_buf_free(&all.text);
	r->secret_said = all.secret || r->client.sentinel_password != NULL ||
	    (r->client.password != NULL && r->password_file == NULL);
	if (good && all.away > 0)
		conf_warn(c, "redis at %.100s: answers, keys and any password "
		    "cross the network for all to read; say rediss://HOST:PORT",
		    all.far != NULL ? all.far : "another host");
	return good;
}

struct conf_redis *
conf_redis_of_url(struct conf *c, const char *url, char *error, size_t size)
{
	struct conf_redis *r = conf_redis_new(c);
	const char **urls = conf_get(c, sizeof *urls);

	if (r == NULL || urls == NULL) {
		snprintf(error, size, "no memory");
		return NULL;
	}
	urls[0] = url;
	r->client.urls = urls;
	r->client.urls_len = 1;
	return conf_redis_finish(c, r, error, size) ? r : NULL;
}

/* --- is it the same? ------------------------------------------------------ */

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool
same_urls(const struct idem_redis_options *a,
    const struct idem_redis_options *b)
{
	size_t i;

	for (i = 0; i < a->urls_len && i < b->urls_len; i++)
		if (!same(a->urls[i], b->urls[i]))
			return false;
	return a->urls_len == b->urls_len;
}

static const char *
secrets_differ(const struct idem_redis_options *a,
    const struct idem_redis_options *b)
{
	if (!same(a->user, b->user))
		return "user";
	if (!same(a->password, b->password))
		return "password";
	if (!same(a->sentinel_user, b->sentinel_user))
		return "sentinel_user";
	if (!same(a->sentinel_password, b->sentinel_password))
		return "sentinel_password";
	if (!same(a->ca, b->ca))
		return "ca";
	if (!same(a->certificate, b->certificate))
		return "certificate";
	if (!same(a->private_key, b->private_key))
		return "private_key";
	return same(a->server_name, b->server_name) ? NULL : "server_name";
}

const char *
conf_redis_differs(const struct conf_redis *a, const struct conf_redis *b)
{
	const struct idem_redis_options *x = &a->client, *y = &b->client;

	if (x->topology != y->topology || !same_urls(x, y))
		return field(b);
	if (!same(x->master, y->master))
		return "master";
	if (!same(a->prefix, b->prefix))
		return "prefix";
	if (!same(a->name, b->name))
		return "name";
	if (x->timeout_ms != y->timeout_ms)
		return "timeout";
	if (x->probe_ms != y->probe_ms)
		return "probe";
	if (a->look_ms != b->look_ms)
		return "look";
	if (a->answer_max != b->answer_max)
		return "answer_max";
	return secrets_differ(x, y);
}
