/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include "digest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMEOUT_MS 250u
#define PROBE_MS 10000u
#define REPLY_MAX (UINT64_C(64) << 20)

static bool
no_memory(char *error, size_t size)
{
	snprintf(error, size, "%s", strerror(ENOMEM));
	return false;
}

/* What is known of nodes before one is known. */
static bool
read_urls(struct idem_redis *r, char *error, size_t size)
{
	const struct idem_redis_options *o = &r->options;
	size_t i;

	if (o->urls_len == 0 || o->urls_len > IDEM_REDIS_URLS_MAX) {
		snprintf(error, size, "from 1 to %u URLs are needed",
		    IDEM_REDIS_URLS_MAX);
		return false;
	}
	r->seeds = calloc(o->urls_len, sizeof *r->seeds);
	if (r->seeds == NULL)
		return no_memory(error, size);
	r->seeds_len = o->urls_len;
	for (i = 0; i < o->urls_len; i++) {
		if (!idem_redis_url_read(o->urls[i], &r->seeds[i].url, error,
		    size))
			return false;
		idem_redis_url_name(&r->seeds[i].url, r->seeds[i].name);
	}
	return true;
}

static bool
check_topology(struct idem_redis *r, char *error, size_t size)
{
	const char *wrong = NULL;

	switch (r->options.topology) {
	case IDEM_REDIS_SINGLE:
		if (r->seeds_len != 1)
			wrong = "one server has one URL";
		r->way = &idem_redis_way_single;
		break;
	case IDEM_REDIS_SENTINEL:
		if (r->options.master == NULL || r->options.master[0] == '\0')
			wrong = "Sentinel needs the name of a master";
		r->way = &idem_redis_way_sentinel;
		break;
	case IDEM_REDIS_CLUSTER:
		if (r->seeds[0].url.database != 0)
			wrong = "a cluster has no databases";
		r->way = &idem_redis_way_cluster;
		break;
	}
	if (wrong != NULL)
		snprintf(error, size, "%s", wrong);
	return wrong == NULL;
}

static const char *
given(const char *option, const char *in_url)
{
	if (option != NULL)
		return option;
	return in_url[0] != '\0' ? in_url : NULL;
}

/* The URLs of Sentinels hold their own names and passwords, not the nodes'. */
static void
choose_users(struct idem_redis *r)
{
	const struct idem_redis_options *o = &r->options;
	bool sentinel = o->topology == IDEM_REDIS_SENTINEL;
	struct idem_redis_seed *s;

	r->user = given(o->user, sentinel ? "" : r->seeds[0].url.user);
	r->password = given(o->password,
	    sentinel ? "" : r->seeds[0].url.password);
	for (s = r->seeds; s < r->seeds + r->seeds_len; s++)
		if (sentinel)
			idem_redis_link_init(&s->link, r, &s->url,
			    given(o->sentinel_user, s->url.user),
			    given(o->sentinel_password, s->url.password));
		else
			idem_redis_link_init(&s->link, r, &s->url,
			    given(o->user, s->url.user),
			    given(o->password, s->url.password));
}

static bool
open_tls(struct idem_redis *r, char *error, size_t size)
{
	const struct idem_redis_options *o = &r->options;
	bool wanted = false;
	size_t i;

	for (i = 0; i < r->seeds_len; i++)
		wanted |= r->seeds[i].url.kind == IDEM_REDIS_TLS;
	if (!wanted)
		return true;
	r->tls = idem_redis_tls_new(o->ca, o->certificate, o->private_key,
	    error, size);
	return r->tls != NULL;
}

static void
set_defaults(struct idem_redis_options *o)
{
	if (o->timeout_ms == 0)
		o->timeout_ms = TIMEOUT_MS;
	if (o->probe_ms == 0)
		o->probe_ms = PROBE_MS;
	if (o->reply_max == 0)
		o->reply_max = REPLY_MAX;
	if (o->clock == NULL)
		o->clock = &idem_clock_real;
}

static bool
open_all(struct idem_redis *r, char *error, size_t size)
{
	if (!read_urls(r, error, size) || !check_topology(r, error, size) ||
	    !open_tls(r, error, size))
		return false;
	r->names = idem_redis_names_new(r->options.clock, NULL);
	if (r->names == NULL || !idem_redis_links_open(r)) {
		snprintf(error, size, "%s", strerror(errno));
		return false;
	}
	choose_users(r);
	return r->way->open(r) || no_memory(error, size);
}

struct idem_redis *
idem_redis_new(const struct idem_redis_options *options, char *error,
    size_t error_size)
{
	struct idem_redis *r = calloc(1, sizeof *r);

	if (r == NULL) {
		no_memory(error, error_size);
		return NULL;
	}
	r->options = *options;
	set_defaults(&r->options);
	r->epoll = -1;
	if (!idem_random(&r->chance, sizeof r->chance) || r->chance == 0)
		r->chance = 1;
	if (open_all(r, error, error_size))
		return r;
	idem_redis_free(r);
	return NULL;
}

void
idem_redis_free(struct idem_redis *r)
{
	size_t i;

	if (r == NULL)
		return;
	r->closing = true;
	idem_redis_nodes_reap(r, true);
	for (i = 0; i < r->seeds_len; i++)
		idem_redis_link_free(&r->seeds[i].link);
	idem_redis_calls_end(r);
	if (r->of_way != NULL)
		r->way->close(r);
	if (r->epoll != -1)
		close(r->epoll);
	idem_redis_names_free(r->names);
	idem_redis_tls_free(r->tls);
	free(r->links);
	free(r->seeds);
	free(r);
}
