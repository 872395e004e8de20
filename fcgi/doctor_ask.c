/* SPDX-License-Identifier: ISC */
#include "doctor_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SERVERS_MAX 64u

/* idemd gives up sooner than who looks what is wrong. */
struct idem_redis_options
doctor_ask_options(const struct conf_redis *conf)
{
	struct idem_redis_options o = conf->client;

	o.clock = &idem_clock_real;
	o.switched = NULL;
	if (o.timeout_ms < DOCTOR_WAIT_MS)
		o.timeout_ms = DOCTOR_WAIT_MS;
	return o;
}

/* --- one server more ------------------------------------------------------ */

static struct doctor_server *
add(struct doctor_redis *r)
{
	struct doctor_server *more = reallocarray(r->servers,
	    r->servers_len + 1, sizeof *more);

	if (more == NULL)
		return NULL;
	r->servers = more;
	return &more[r->servers_len++];
}

static bool
is_there(const struct doctor_redis *r, const char *name)
{
	size_t i;

	for (i = 0; i < r->servers_len; i++)
		if (strcmp(r->servers[i].name, name) == 0)
			return true;
	return false;
}

bool
doctor_ask_server(const struct doctor_asker *a, const char *name,
    enum doctor_role wanted, struct doctor_redis *r)
{
	bool bare = strstr(name, "://") == NULL &&
	    strncmp(name, "unix:", 5) != 0;
	struct doctor_server *s;
	char url[DOCTOR_NAME + 40];

	if (is_there(r, name) || r->servers_len >= SERVERS_MAX)
		return true;
	s = add(r);
	if (s == NULL)
		return false;
	if (bare)
		snprintf(url, sizeof url, "%s%s%s", a->first.kind ==
		    IDEM_REDIS_TLS ? "rediss://" : "redis://", name,
		    a->database);
	else
		snprintf(url, sizeof url, "%s", name);
	doctor_node_ask(a, url, wanted, s);
	return true;
}

/* --- one server, and its replicas ----------------------------------------- */

/* Once more its INFO, for the names in it. */
static bool
ask_replicas(const struct doctor_asker *a, const char *url,
    struct doctor_redis *r)
{
	static const char *const words[] = { "INFO", "replication", NULL };
	struct idem_redis_waited reply;
	struct doctor_line line;
	char name[DOCTOR_NAME];
	bool good = true;
	size_t i;

	doctor_line_open(&line, a, url, false);
	doctor_line_say(&line, &reply, words);
	for (i = 0; good && i < SERVERS_MAX && reply.class == IDEM_OK &&
	    reply.value != NULL && doctor_info_replica(reply.value->text, i,
	    name); i++)
		good = doctor_ask_server(a, name, DOCTOR_REPLICA, r);
	idem_redis_waited_free(&reply);
	doctor_line_close(&line);
	return good;
}

static bool
ask_single(const struct doctor_asker *a, struct doctor_redis *r)
{
	const char *url = a->conf->client.urls[0];

	return doctor_ask_server(a, url, DOCTOR_MASTER, r) &&
	    (r->servers[0].error[0] != '\0' || ask_replicas(a, url, r));
}

/* --- may idem's own user do all? ------------------------------------------ */

static struct doctor_server *
first_master(const struct doctor_redis *r)
{
	size_t i;

	for (i = 0; i < r->servers_len; i++)
		if (r->servers[i].wanted == DOCTOR_MASTER &&
		    r->servers[i].error[0] == '\0' &&
		    r->servers[i].role != DOCTOR_REPLICA)
			return &r->servers[i];
	return NULL;
}

/*
 * What the self-test may not come to: the script's text is sent only where it
 * is not known yet, and lengths are asked for of long answers only.
 */
static bool
may_all(struct idem_redis *client, const char *prefix, char *error, size_t size)
{
	static const char *const commands[][3] = {
		{ "EVAL", "return 1", "1" }, { "STRLEN", NULL, NULL }
	};
	struct idem_redis_waited reply;
	struct idem_bytes args[4];
	struct idem_redis_command c = { .args = args };
	char key[DOCTOR_NAME];
	bool good = true;
	size_t i, k;

	snprintf(key, sizeof key, "%sselftest", prefix);
	for (i = 0; good && i < sizeof commands / sizeof *commands; i++) {
		for (k = 0; k < 3 && commands[i][k] != NULL; k++)
			args[k] = idem_bytes_text(commands[i][k]);
		args[k] = c.key = idem_bytes_text(key);
		c.args_len = k + 1;
		c.deadline_ms = idem_boot_ms(&idem_clock_real) + DOCTOR_WAIT_MS;
		idem_redis_wait(client, &c, &reply);
		good = reply.class == IDEM_OK;
		if (!good)
			snprintf(error, size, "%.*s", (int)size - 1,
			    reply.error);
		idem_redis_waited_free(&reply);
	}
	return good;
}

static void
self_test(const struct doctor_asker *a, struct doctor_redis *r)
{
	struct doctor_server *s = first_master(r);
	struct idem_redis_options options = doctor_ask_options(a->conf);
	struct idem_store_redis_options store = {
		.prefix = a->conf->prefix,
		.clock = &idem_clock_real,
		.token = (a->use & DOCTOR_TOKENS) != 0
	};

	if (s == NULL || (a->use & (DOCTOR_KEYS | DOCTOR_TOKENS)) == 0)
		return;
	store.client = idem_redis_new(&options, s->acl_error,
	    sizeof s->acl_error);
	s->acl = store.client != NULL && idem_boot_id(&store.boot) &&
	    idem_store_redis_selftest(&store, s->acl_error,
	    sizeof s->acl_error) && may_all(store.client, a->conf->prefix,
	    s->acl_error, sizeof s->acl_error) ? DOCTOR_YES : DOCTOR_NO;
	idem_redis_free(store.client);
}

/* -------------------------------------------------------------------------- */

/* What servers that are only named have in common with those in the file. */
static void
prepare(struct doctor_asker *a)
{
	struct idem_redis_url *url = &a->first;
	char error[DOCTOR_WHY];

	if (!idem_redis_url_read(a->conf->client.urls[0], url, error,
	    sizeof error))
		return;
	if (url->database != 0)
		snprintf(a->database, sizeof a->database, "/%u", url->database);
	if (a->password == NULL && url->password[0] != '\0') {
		a->user = url->user[0] != '\0' ? url->user : NULL;
		a->password = url->password;
	}
}

bool
doctor_ask(const struct conf_redis *conf, unsigned use, bool plain_values,
    const char *user, const char *password, struct doctor_redis *r)
{
	struct doctor_asker a = {
		.conf = conf, .use = use, .plain_values = plain_values,
		.user = user, .password = password
	};
	bool good = false;

	r->use = use;
	r->topology = conf->client.topology;
	r->slots = DOCTOR_UNKNOWN;
	snprintf(r->prefix, sizeof r->prefix, "%s", conf->prefix);
	prepare(&a);
	switch (r->topology) {
	case IDEM_REDIS_SINGLE:
		good = ask_single(&a, r);
		break;
	case IDEM_REDIS_SENTINEL:
		good = doctor_ask_sentinels(&a, r);
		break;
	case IDEM_REDIS_CLUSTER:
		good = doctor_ask_cluster(&a, r);
		break;
	}
	if (good)
		self_test(&a, r);
	return good;
}

void
doctor_ask_free(struct doctor_redis *r)
{
	free(r->servers);
	free(r->sentinels);
	r->servers = NULL;
	r->sentinels = NULL;
	r->servers_len = r->sentinels_len = 0;
}

/* --- the cache's ledger --------------------------------------------------- */

static enum doctor_generation
judge_generation(const struct idem_redis_waited *reply,
    const struct idem_history *ours)
{
	char hex[2 * IDEM_HISTORY_LEN + 1];

	if (reply->class != IDEM_OK || reply->value == NULL)
		return DOCTOR_GENERATION_UNKNOWN;
	if (reply->value->type == IDEM_REDIS_NIL)
		return DOCTOR_GENERATION_NONE;
	idem_hex(ours->at, sizeof ours->at, hex);
	return idem_redis_is(reply->value, hex) ? DOCTOR_GENERATION_OURS :
	    DOCTOR_GENERATION_FOREIGN;
}

enum doctor_generation
doctor_ask_generation(const struct conf_redis *conf,
    const struct idem_history *ours)
{
	struct idem_redis_options options = doctor_ask_options(conf);
	enum doctor_generation answer = DOCTOR_GENERATION_UNKNOWN;
	char error[DOCTOR_WHY], name[DOCTOR_NAME];
	struct idem_bytes args[2] = { idem_bytes_text("GET") };
	struct idem_redis_command c = { .args = args, .args_len = 2 };
	struct idem_redis_waited reply;
	struct idem_redis *client;

	client = idem_redis_new(&options, error, sizeof error);
	if (client == NULL)
		return answer;
	snprintf(name, sizeof name, "%sledger", conf->prefix);
	args[1] = c.key = idem_bytes_text(name);
	c.deadline_ms = idem_boot_ms(&idem_clock_real) + DOCTOR_WAIT_MS;
	idem_redis_wait(client, &c, &reply);
	answer = judge_generation(&reply, ours);
	idem_redis_waited_free(&reply);
	idem_redis_free(client);
	return answer;
}
