/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "conf_private.h"
#include "options.h"
#include "run_lock.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

#define CALL_MS 5000
#define LEASE_MS (60 * 1000)
#define LIMIT_MS (300 * 1000)
#define GRACE_MS (5 * 1000)
#define CACHE_AGE_MS (60 * (int64_t)1000)

const char *
ctl_kind_text(enum ctl_kind kind)
{
	static const char *const texts[] = {
		[CTL_LEDGER] = "ledger",
		[CTL_REDIS] = "redis",
	};

	assert(kind < CTL_KINDS);
	return texts[kind];
}

/* --- the configuration ---------------------------------------------------- */

static int
read_conf(struct ctl *c)
{
	const struct options o = {
		.config = c->config, .said = { .ledger = c->ledger }
	};
	char error[700];

	c->conf = options_reread(&o, error, sizeof error);
	return c->conf != NULL ? CTL_DONE : ctl_say(c, CTL_WRONG, "%s", error);
}

static int
add_redis(struct ctl *c)
{
	struct conf_redis *r = conf_redis_new(c->conf);
	const char **urls = conf_get(c->conf, sizeof *urls);
	char error[400];

	if (r == NULL || urls == NULL)
		return ctl_say(c, CTL_FAILED, "out of memory");
	urls[0] = c->redis;
	r->client.urls = urls;
	r->client.urls_len = 1;
	if (c->prefix != NULL)
		r->prefix = c->prefix;
	c->conf->shared = r;
	if (!conf_redis_finish(c->conf, r, error, sizeof error))
		return ctl_say(c, CTL_WRONG, "--redis: %s", error);
	return CTL_DONE;
}

static int
add_keys(struct ctl *c)
{
	char error[400];

	c->conf->tokens = conf_tokens_new(c->conf);
	if (c->conf->tokens == NULL)
		return ctl_say(c, CTL_FAILED, "out of memory");
	c->conf->tokens->keys_file = c->keys;
	if (c->life_ms > 0)
		c->conf->tokens->life_ms = c->life_ms;
	if (!conf_tokens_read(c->conf->tokens, error, sizeof error))
		return ctl_say(c, CTL_WRONG, "--keys: %s", error);
	return CTL_DONE;
}

static int
make_conf(struct ctl *c)
{
	int status = CTL_DONE;

	c->conf = conf_new();
	if (c->conf == NULL)
		return ctl_say(c, CTL_FAILED, "out of memory");
	c->conf->ledger = c->ledger;
	c->conf->run = c->run;
	c->conf->grace_ms = GRACE_MS;
	c->conf->cache_age_ms = CACHE_AGE_MS;
	c->conf->lease_max_ms = LEASE_MS;
	c->conf->limit_max_ms = LIMIT_MS;
	if (c->redis != NULL)
		status = add_redis(c);
	if (status == CTL_DONE && c->keys != NULL)
		status = add_keys(c);
	return status;
}

/* What is said on the command line wins. */
static void
take_times(struct ctl *c)
{
	if (c->lease_ms == 0)
		c->lease_ms = c->conf->lease_max_ms;
	if (c->limit_ms == 0)
		c->limit_ms = c->conf->limit_max_ms;
	if (c->grace_ms == 0)
		c->grace_ms = c->conf->grace_ms;
	if (c->cache_age_ms < 0)
		c->cache_age_ms = c->conf->cache_size > 0 || c->config == NULL ?
		    c->conf->cache_age_ms : 0;
}

int
ctl_conf(struct ctl *c)
{
	int status;

	if (c->conf != NULL)
		return CTL_DONE;
	if (c->config != NULL && (c->redis != NULL || c->keys != NULL ||
	    c->run != NULL))
		return ctl_say(c, CTL_WRONG, "--redis, --keys and --run are "
		    "instead of a configuration: it names them");
	status = c->config != NULL ? read_conf(c) : make_conf(c);
	if (status == CTL_DONE)
		take_times(c);
	return status;
}

/* --- the stores ----------------------------------------------------------- */

struct idem_store *
ctl_open_ledger(struct ctl *c, bool read_only, char *error, size_t error_size)
{
	const struct idem_sqlite_options options = {
		.path = c->conf->ledger,
		.clock = &idem_clock_real,
		.boot = c->boot,
		.read_only = read_only,
	};

	return idem_store_sqlite(&options, error, error_size);
}

static struct idem_store *
open_redis(struct ctl *c, char *error, size_t error_size)
{
	struct idem_redis_options client = c->conf->shared->client;
	struct idem_store_redis_options options = {
		.prefix = c->conf->shared->prefix,
		.clock = &idem_clock_real,
		.boot = c->boot,
		.token = c->of_tokens,
	};
	struct idem_store *store;

	client.clock = &idem_clock_real;
	/* Nobody waits in a browser: all of a call's time is for the server. */
	if (client.timeout_ms < CALL_MS)
		client.timeout_ms = CALL_MS;
	if (c->client == NULL)
		c->client = idem_redis_new(&client, error, error_size);
	if (c->client == NULL)
		return NULL;
	options.client = c->client;
	store = idem_store_redis(&options);
	if (store == NULL)
		snprintf(error, error_size, "out of memory");
	return store;
}

static int
open_one(struct ctl *c, enum ctl_kind kind, bool read_only)
{
	struct idem_store *store;
	char error[500];

	store = kind == CTL_LEDGER ?
	    ctl_open_ledger(c, read_only, error, sizeof error) :
	    open_redis(c, error, sizeof error);
	if (store == NULL)
		return ctl_say(c, CTL_FAILED, "%s", error);
	c->stores[c->stores_len++] = (struct ctl_store){ kind, store };
	return CTL_DONE;
}

/* Which of them are meant. */
static int
choose(const struct ctl *c, bool both, bool wanted[CTL_KINDS])
{
	bool there[CTL_KINDS] = {
		[CTL_LEDGER] = c->conf->ledger != NULL,
		[CTL_REDIS] = c->conf->shared != NULL,
	};
	enum ctl_kind kind;

	if (!there[CTL_LEDGER] && !there[CTL_REDIS])
		return ctl_say(c, CTL_WRONG, "say where: --config FILE, "
		    "--ledger sqlite:PATH, --redis URL, or IDEM_LEDGER in the "
		    "environment");
	for (kind = CTL_LEDGER; kind < CTL_KINDS; kind++)
		wanted[kind] = there[kind] && (c->in == NULL ||
		    strcmp(c->in, ctl_kind_text(kind)) == 0);
	if (!wanted[CTL_LEDGER] && !wanted[CTL_REDIS])
		return ctl_say(c, CTL_WRONG, "--in %s: there is no such store "
		    "in what was named", c->in);
	if (wanted[CTL_LEDGER] && !both)
		wanted[CTL_REDIS] = false;
	return CTL_DONE;
}

/* Not made: what root made would not be idemd's. */
void
ctl_open_folder(struct ctl *c)
{
	char error[300];

	if (c->conf->run != NULL || c->conf->ledger != NULL)
		c->folder = idem_run_folder(c->conf->run, c->conf->ledger,
		    false, error, sizeof error);
}

int
ctl_open(struct ctl *c, bool read_only, bool both)
{
	bool wanted[CTL_KINDS];
	enum ctl_kind kind;
	int status = ctl_conf(c), one;

	if (status == CTL_DONE)
		status = choose(c, both, wanted);
	if (status != CTL_DONE)
		return status;
	if (!idem_boot_id(&c->boot))
		return ctl_say(c, CTL_FAILED, "no boot id in /proc");
	ctl_open_folder(c);
	for (kind = CTL_LEDGER; kind < CTL_KINDS; kind++) {
		one = wanted[kind] ? open_one(c, kind, read_only) : CTL_DONE;
		if (one != CTL_DONE)
			status = one;
	}
	c->in_part = status != CTL_DONE;
	return c->stores_len > 0 ? CTL_DONE : status;
}

void
ctl_close(struct ctl *c)
{
	while (c->stores_len > 0) {
		c->stores_len--;
		c->stores[c->stores_len].store->ops->close(
		    c->stores[c->stores_len].store);
	}
	idem_redis_free(c->client);
	c->client = NULL;
	if (c->folder >= 0)
		close(c->folder);
	c->folder = -1;
	conf_drop(c->conf);
	c->conf = NULL;
}

int
ctl_ask(const struct ctl *c, const struct ctl_store *s,
    struct idem_store_call *call, struct idem_store_answer *answer)
{
	const char *error;
	int status;

	call->deadline_ms = idem_boot_ms(&idem_clock_real) + CALL_MS;
	idem_store_wait(s->store, call, answer);
	if (answer->result.class == IDEM_OK)
		return CTL_DONE;
	error = answer->result.error != NULL ? answer->result.error : "failed";
	if (answer->result.class == IDEM_CLASS_MAYBE)
		status = ctl_say(c, CTL_FAILED, "%s: it may have been done, "
		    "look again: %s", ctl_kind_text(s->kind), error);
	else
		status = ctl_say(c, CTL_FAILED, "%s: %s",
		    ctl_kind_text(s->kind), error);
	idem_store_answer_free(answer);
	return status;
}
