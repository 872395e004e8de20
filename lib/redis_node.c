/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAILURES_MAX 3u
#define WINDOW_MS 1000u
#define SAME_MS 100		/* failures so near to each other are one */
#define RETIRE_MS 5000		/* for what is outstanding */

/* --- addresses ------------------------------------------------------------ */

bool
idem_redis_url_same(const struct idem_redis_url *a,
    const struct idem_redis_url *b)
{
	return a->kind == b->kind && a->port == b->port &&
	    a->database == b->database && strcmp(a->host, b->host) == 0;
}

/* It will stand in logs. */
static bool
is_printable(struct idem_bytes host)
{
	const char *at = host.at;
	size_t i;

	for (i = 0; i < host.len; i++)
		if (at[i] <= ' ' || at[i] > '~' || at[i] == '"')
			return false;
	return true;
}

bool
idem_redis_url_like(struct idem_redis_url *url,
    const struct idem_redis_url *like, struct idem_bytes host, uint16_t port)
{
	static const char local[] = "127.0.0.1";

	if (host.len == 0 && like->kind == IDEM_REDIS_UNIX)
		host = idem_bytes_text(local);
	else if (host.len == 0)
		host = idem_bytes_text(like->host);
	if (host.len >= sizeof url->host || !is_printable(host))
		return false;
	memset(url, 0, sizeof *url);
	url->kind = like->kind == IDEM_REDIS_UNIX ? IDEM_REDIS_TCP : like->kind;
	memcpy(url->host, host.at, host.len);
	url->port = port;
	return true;
}

void
idem_redis_url_name(const struct idem_redis_url *url,
    char name[IDEM_REDIS_NAME])
{
	bool six = strchr(url->host, ':') != NULL;

	if (url->kind == IDEM_REDIS_UNIX)
		snprintf(name, IDEM_REDIS_NAME, "%s", url->host);
	else
		snprintf(name, IDEM_REDIS_NAME, "%s%s%s:%u", six ? "[" : "",
		    url->host, six ? "]" : "", url->port);
}

/* --- who it is ------------------------------------------------------------ */

static const struct idem_bytes hello[2][4] = {
	{ { "INFO", 4 }, { "replication", 11 } },
	{ { "TIME", 4 } },
};

static bool
says_master(struct idem_bytes info)
{
	static const char line[] = "\nrole:master\r";

	return info.len > 0 &&
	    memmem(info.at, info.len, line, sizeof line - 1) != NULL;
}

/* INFO replication: is it a master?  Else why it is of no use. */
static bool
is_master(const struct idem_redis_value *v, char *why, size_t size)
{
	if (v->type == IDEM_REDIS_STRING && says_master(v->text))
		return true;
	if (v->type == IDEM_REDIS_ERROR)
		snprintf(why, size, "INFO: %.*s",
		    (int)(v->text.len < 100 ? v->text.len : 100),
		    (const char *)v->text.at);
	else
		snprintf(why, size, "it is not a master");
	return false;
}

/* A connection has been made; its replies came by a trip that began, at the
   earliest, with the socket. */
static const char *
met(void *arg, const struct idem_redis_value *replies)
{
	struct idem_redis_link *l = arg;
	int64_t server_ms;

	if (replies->type != IDEM_REDIS_ARRAY || replies->len != 2)
		return "it does not answer what it is asked";
	if (!is_master(&replies->at[0], l->why, sizeof l->why))
		return l->why;
	if (idem_redis_time_read(&replies->at[1], &server_ms))
		idem_redis_node_heard(l->node, l->opened_ms, server_ms);
	return NULL;
}

/* --- up or down ----------------------------------------------------------- */

bool
idem_redis_node_is_up(const struct idem_redis_node *n)
{
	return n->breaker.state == IDEM_BREAKER_UP ||
	    n->breaker.state == IDEM_BREAKER_SUSPECT;
}

static void
failed(struct idem_redis_node *n, const char *why)
{
	int64_t now_ms = idem_redis_now_ms(n->redis);

	n->counted_ms = now_ms;
	idem_redis_sentence(n->why, sizeof n->why, n->name,
	    why != NULL ? why : "it fails");
	idem_breaker_failed(&n->breaker, now_ms,
	    idem_redis_chance(n->redis, 1000));
	n->redis->way->doubt(n->redis, n, false);
	idem_redis_settle(n->redis);
}

static void
answered(struct idem_redis_node *n)
{
	bool was_up = idem_redis_node_is_up(n);

	idem_breaker_ok(&n->breaker);
	if (!was_up)
		idem_redis_settle(n->redis);
}

/* One broken connection, or one pause, takes many commands with it. */
static bool
is_same_failure(const struct idem_redis_node *n)
{
	return n->breaker.failures > 0 &&
	    idem_redis_now_ms(n->redis) - n->counted_ms < SAME_MS;
}

void
idem_redis_node_told(struct idem_redis_node *n,
    const struct idem_redis_wire_answer *a)
{
	if (n->gone || n->redis->closing)
		return;
	if (!a->meaning.counts && a->value != NULL)
		answered(n);
	else if (a->meaning.counts && idem_redis_node_is_up(n) &&
	    !is_same_failure(n))
		failed(n, a->error);
}

/* --- checks --------------------------------------------------------------- */

static void
check_ends(struct idem_redis_node *n, bool ok, const char *why)
{
	idem_redis_checked *checked = n->checked;

	n->checking = false;
	n->checked = NULL;
	if (!n->gone && ok)
		answered(n);
	else if (!n->gone && n->breaker.state == IDEM_BREAKER_HALF)
		failed(n, why);
	if (checked != NULL)
		checked(n->checked_arg, n, ok, why);
}

static void
check_answered(void *arg, const struct idem_redis_wire_answer *a)
{
	struct idem_redis_node *n = arg;
	char why[IDEM_REDIS_WHY];
	bool ok;

	if (a->meaning.class == IDEM_OK) {
		ok = n->redis->options.any_role ||
		    is_master(a->value, why, sizeof why);
		check_ends(n, ok, why);
		return;
	}
	if (a->meaning.counts && n->breaker.state != IDEM_BREAKER_HALF)
		idem_redis_node_told(n, a);
	check_ends(n, false, a->error);
}

void
idem_redis_node_check(struct idem_redis_node *n, idem_redis_checked *checked,
    void *arg)
{
	n->checked = checked;
	n->checked_arg = arg;
	if (n->checking)
		return;
	n->checking = true;
	if (!idem_redis_link_send(&n->link[IDEM_REDIS_CLAIMS], hello[0], 2,
	    NULL, idem_redis_now_ms(n->redis) + n->redis->options.timeout_ms,
	    check_answered, n))
		check_ends(n, false, "out of memory");
}

void
idem_redis_nodes_due(struct idem_redis *r, int64_t now_ms)
{
	struct idem_redis_node *n;
	size_t i;

	for (i = 0; i < r->nodes_len; i++) {
		n = r->nodes[i];
		if (n != NULL && !n->gone && !n->checking &&
		    n->breaker.state == IDEM_BREAKER_DOWN &&
		    idem_breaker_ask(&n->breaker, now_ms))
			idem_redis_node_check(n, NULL, NULL);
	}
}

int64_t
idem_redis_nodes_due_ms(const struct idem_redis *r)
{
	const struct idem_redis_node *n;
	int64_t due_ms = INT64_MAX;
	size_t i;

	for (i = 0; i < r->nodes_len; i++) {
		n = r->nodes[i];
		if (n == NULL)
			continue;
		if (n->gone && n->gone_ms < due_ms)
			due_ms = n->gone_ms;
		if (!n->gone && !n->checking &&
		    n->breaker.state == IDEM_BREAKER_DOWN &&
		    n->breaker.probe_at_ms < due_ms)
			due_ms = n->breaker.probe_at_ms;
	}
	return due_ms;
}

/* --- they come and go ----------------------------------------------------- */

static struct idem_redis_node *
make(struct idem_redis *r, const struct idem_redis_url *url, size_t place)
{
	struct idem_redis_node *n = calloc(1, sizeof *n);
	struct idem_redis_link *l;

	if (n == NULL)
		return NULL;
	n->redis = r;
	n->url = *url;
	idem_redis_url_name(url, n->name);
	n->place = (uint16_t)place;
	idem_breaker_init(&n->breaker, FAILURES_MAX, WINDOW_MS,
	    r->options.probe_ms);
	for (l = n->link; l < n->link + IDEM_REDIS_LINKS; l++) {
		idem_redis_link_init(l, r, &n->url, r->user, r->password);
		l->node = n;
		l->options.hello = hello;
		/* A sentinel has no TIME, and a careful user no INFO. */
		l->options.hello_len = r->options.any_role ? 0 :
		    sizeof hello / sizeof *hello;
		l->options.met = met;
	}
	r->nodes[place] = n;
	if (place >= r->nodes_len)
		r->nodes_len = place + 1;
	return n;
}

struct idem_redis_node *
idem_redis_node_at(struct idem_redis *r, const struct idem_redis_url *url)
{
	size_t i, free_one = IDEM_REDIS_NODES_MAX;

	for (i = IDEM_REDIS_NODES_MAX; i-- > 0;)
		if (r->nodes[i] == NULL)
			free_one = i;
		else if (!r->nodes[i]->gone &&
		    idem_redis_url_same(&r->nodes[i]->url, url))
			return r->nodes[i];
	return free_one < IDEM_REDIS_NODES_MAX ? make(r, url, free_one) : NULL;
}

void
idem_redis_node_retire(struct idem_redis_node *n, bool now)
{
	if (n->gone)
		return;
	n->gone = true;
	n->gone_ms = now ? 0 : idem_redis_now_ms(n->redis) + RETIRE_MS;
	n->listed = false;
	n->redis->retired++;
	if (n->redis->way->retired != NULL)
		n->redis->way->retired(n->redis, n);
	idem_redis_settle(n->redis);
}

static bool
is_idle(const struct idem_redis_node *n)
{
	const struct idem_redis_link *l;

	for (l = n->link; l < n->link + IDEM_REDIS_LINKS; l++)
		if (l->wire != NULL && !idem_redis_wire_idle(l->wire))
			return false;
	return true;
}

static void
free_node(struct idem_redis_node *n)
{
	struct idem_redis *r = n->redis;
	size_t i;

	idem_redis_calls_forget(r, n);
	for (i = 0; i < IDEM_REDIS_LINKS; i++)
		idem_redis_link_free(&n->link[i]);
	r->nodes[n->place] = NULL;
	r->retired -= n->gone;
	free(n);
}

void
idem_redis_nodes_reap(struct idem_redis *r, bool all)
{
	int64_t now_ms = idem_redis_now_ms(r);
	struct idem_redis_node *n;
	size_t i;

	for (i = 0; i < IDEM_REDIS_NODES_MAX && (all || r->retired > 0); i++) {
		n = r->nodes[i];
		if (n != NULL && (all || (n->gone &&
		    (now_ms >= n->gone_ms || is_idle(n)))))
			free_node(n);
	}
}
