/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#define SLOT_MAX 16383

/*
 * CLUSTER SLOTS: of each range its first and last slot, its master, then its
 * replicas; of each of those address, port, and more.
 */

/* An empty address is that of who was asked. */
static bool
name_of(const struct idem_redis_value *node, const char *asked,
    char name[DOCTOR_NAME])
{
	struct idem_bytes host;
	struct idem_redis_url url;
	char error[DOCTOR_WHY];

	if (node->type != IDEM_REDIS_ARRAY || node->len < 2 ||
	    node->at[1].type != IDEM_REDIS_INTEGER)
		return false;
	host = node->at[0].text;
	if (host.len == 0) {
		if (!idem_redis_url_read(asked, &url, error, sizeof error) ||
		    url.kind == IDEM_REDIS_UNIX)
			return false;
		host = idem_bytes_text(url.host);
	}
	return doctor_info_name(host, node->at[1].integer, name);
}

static bool
is_range(const struct idem_redis_value *v)
{
	return v->type == IDEM_REDIS_ARRAY && v->len >= 3 &&
	    v->at[0].type == IDEM_REDIS_INTEGER &&
	    v->at[1].type == IDEM_REDIS_INTEGER && v->at[0].integer >= 0 &&
	    v->at[1].integer >= v->at[0].integer &&
	    v->at[1].integer <= SLOT_MAX;
}

/* False: no memory. */
static bool
read_range(const struct doctor_asker *a, const struct idem_redis_value *range,
    const char *asked, struct doctor_redis *r)
{
	char name[DOCTOR_NAME];
	size_t i, before;

	if (!is_range(range))
		return true;
	r->slots += range->at[1].integer - range->at[0].integer + 1;
	for (i = 2; i < range->len; i++) {
		if (!name_of(&range->at[i], asked, name))
			continue;
		before = r->servers_len;
		if (!doctor_ask_server(a, name, i == 2 ? DOCTOR_MASTER :
		    DOCTOR_REPLICA, r))
			return false;
		/* Of one master several ranges are listed. */
		if (i == 2 && range->len == 3 && r->servers_len > before)
			r->bare++;
	}
	return true;
}

/* The first that answers speaks for all.  False: no memory. */
static bool
ask_seed(const struct doctor_asker *a, const char *url, struct doctor_redis *r,
    bool *answered)
{
	static const char *const words[] = { "CLUSTER", "SLOTS", NULL };
	const struct idem_redis_value *v;
	struct idem_redis_waited reply;
	struct doctor_line line;
	bool good = true;
	size_t i;

	doctor_line_open(&line, a, url, false);
	doctor_line_say(&line, &reply, words);
	v = reply.value;
	*answered = reply.class == IDEM_OK && v != NULL &&
	    v->type == IDEM_REDIS_ARRAY;
	if (*answered)
		r->slots = 0;
	for (i = 0; *answered && good && i < v->len; i++)
		good = read_range(a, &v->at[i], url, r);
	idem_redis_waited_free(&reply);
	doctor_line_close(&line);
	return good;
}

bool
doctor_ask_cluster(const struct doctor_asker *a, struct doctor_redis *r)
{
	const struct idem_redis_options *o = &a->conf->client;
	bool answered = false;
	size_t i;

	for (i = 0; i < o->urls_len && !answered; i++)
		if (!ask_seed(a, o->urls[i], r, &answered))
			return false;
	/* Then each of them says why not. */
	for (i = 0; i < o->urls_len && !answered; i++)
		if (!doctor_ask_server(a, o->urls[i], DOCTOR_MASTER, r))
			return false;
	return true;
}
