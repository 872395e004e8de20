/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a reply of names and values ------------------------------------------ */

static struct idem_bytes
value_of(const struct idem_redis_value *v, const char *name)
{
	size_t i;

	for (i = 0; v != NULL && v->type == IDEM_REDIS_ARRAY && i + 1 < v->len;
	    i += 2)
		if (idem_redis_is(&v->at[i], name))
			return v->at[i + 1].text;
	return (struct idem_bytes){ NULL, 0 };
}

static int64_t
number_of(const struct idem_redis_value *v, const char *name)
{
	struct idem_bytes text = value_of(v, name);
	char copy[24];

	if (text.len == 0 || text.len >= sizeof copy)
		return DOCTOR_UNKNOWN;
	memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	return strtoll(copy, NULL, 10);
}

/* --- one sentinel --------------------------------------------------------- */

static void
read_master(const struct idem_redis_value *v, struct doctor_sentinel *s)
{
	int64_t others = number_of(v, "num-other-sentinels");

	if (!doctor_info_name(value_of(v, "ip"), number_of(v, "port"),
	    s->master))
		snprintf(s->error, sizeof s->error, "it does not say who the "
		    "master is");
	s->quorum = number_of(v, "quorum");
	s->sentinels = others == DOCTOR_UNKNOWN ? others : others + 1;
}

static void
ask_master(const struct doctor_asker *a, struct doctor_line *line,
    struct doctor_sentinel *s)
{
	const char *words[] = {
		"SENTINEL", "MASTER", a->conf->client.master, NULL
	};
	struct idem_redis_waited reply;

	doctor_line_say(line, &reply, words);
	if (reply.class == IDEM_OK)
		read_master(reply.value, s);
	else
		snprintf(s->error, sizeof s->error, "%.*s",
		    (int)sizeof s->error - 1, reply.error);
	idem_redis_waited_free(&reply);
}

static void
ask_able(const struct doctor_asker *a, struct doctor_line *line,
    struct doctor_sentinel *s)
{
	const char *words[] = {
		"SENTINEL", "CKQUORUM", a->conf->client.master, NULL
	};
	struct idem_redis_waited reply;

	doctor_line_say(line, &reply, words);
	if (reply.class == IDEM_OK) {
		s->able = DOCTOR_YES;
	} else if (strstr(reply.error, "NOQUORUM") != NULL) {
		s->able = DOCTOR_NO;
		snprintf(s->able_error, sizeof s->able_error, "%.*s",
		    (int)sizeof s->able_error - 1, reply.error);
	}
	idem_redis_waited_free(&reply);
}

/* The replicas that it knows of.  False: no memory. */
static bool
ask_replicas(const struct doctor_asker *a, struct doctor_line *line,
    struct doctor_redis *r)
{
	const char *words[] = {
		"SENTINEL", "REPLICAS", a->conf->client.master, NULL
	};
	const struct idem_redis_value *v;
	struct idem_redis_waited reply;
	char name[DOCTOR_NAME];
	bool good = true;
	size_t i;

	doctor_line_say(line, &reply, words);
	v = reply.value;
	for (i = 0; good && reply.class == IDEM_OK && v != NULL &&
	    v->type == IDEM_REDIS_ARRAY && i < v->len; i++)
		if (doctor_info_name(value_of(&v->at[i], "ip"),
		    number_of(&v->at[i], "port"), name))
			good = doctor_ask_server(a, name, DOCTOR_REPLICA, r);
	idem_redis_waited_free(&reply);
	return good;
}

/* The URL without user and password. */
static void
name_it(const char *url, char name[DOCTOR_NAME])
{
	struct idem_redis_url read;
	char error[DOCTOR_WHY];

	snprintf(name, DOCTOR_NAME, "?");
	if (idem_redis_url_read(url, &read, error, sizeof error))
		doctor_info_name(idem_bytes_text(read.host), read.port, name);
}

static bool
ask_one(const struct doctor_asker *a, const char *url, struct doctor_redis *r)
{
	struct doctor_sentinel *s = &r->sentinels[r->sentinels_len++];
	struct doctor_line line;
	bool good = true;

	*s = (struct doctor_sentinel){
		.quorum = DOCTOR_UNKNOWN, .sentinels = DOCTOR_UNKNOWN
	};
	name_it(url, s->name);
	doctor_line_open(&line, a, url, true);
	ask_master(a, &line, s);
	if (s->error[0] == '\0') {
		ask_able(a, &line, s);
		good = doctor_ask_server(a, s->master, DOCTOR_MASTER, r) &&
		    ask_replicas(a, &line, r);
	}
	doctor_line_close(&line);
	return good;
}

bool
doctor_ask_sentinels(const struct doctor_asker *a, struct doctor_redis *r)
{
	const struct idem_redis_options *o = &a->conf->client;
	size_t i;

	r->sentinels = calloc(o->urls_len, sizeof *r->sentinels);
	if (r->sentinels == NULL)
		return false;
	for (i = 0; i < o->urls_len; i++)
		if (!ask_one(a, o->urls[i], r))
			return false;
	return true;
}
