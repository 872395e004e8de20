/* SPDX-License-Identifier: ISC */
#include "stores.h"

#include "alert.h"

#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>

/* --- polling -------------------------------------------------------------- */

static void
poll_ledger(struct stores *s)
{
	s->ledger->ops->poll(s->ledger);
	s->polled(s->arg);
}

static void
ledger_ready(struct watch *w, uint32_t events)
{
	(void)events;
	poll_ledger((struct stores *)((char *)w -
	    offsetof(struct stores, ledger_watch)));
}

static void
poll_memory(struct stores *s)
{
	s->memory->ops->poll(s->memory);
	s->polled(s->arg);
}

static void
memory_ready(struct watch *w, uint32_t events)
{
	(void)events;
	poll_memory((struct stores *)((char *)w -
	    offsetof(struct stores, memory_watch)));
}

static struct idem_store *
nth_of_shared(const struct stores *s, size_t i)
{
	return i < STORES_SCHEMES ? s->redis[i] : s->token;
}

/* Each of its stores polls the client, and answers what it has itself. */
static void
poll_shared(struct stores *s)
{
	struct idem_store *store;
	size_t i;

	for (i = 0; i <= STORES_SCHEMES; i++) {
		store = nth_of_shared(s, i);
		if (store != NULL)
			store->ops->poll(store);
	}
	s->polled(s->arg);
}

static void
poll_client(struct stores_client *c)
{
	if (c == &c->stores->shared) {
		poll_shared(c->stores);
	} else {
		idem_redis_poll(c->redis);
		c->stores->polled(c->stores->arg);
	}
	/* It is told when it is known, not when a key is asked for. */
	stores_ledger_is_ours(c->stores);
}

static void
client_ready(struct watch *w, uint32_t events)
{
	(void)events;
	poll_client((struct stores_client *)((char *)w -
	    offsetof(struct stores_client, watch)));
}

/* --- outages -------------------------------------------------------------- */

static void
tell_away(struct stores *s, const char *name, unsigned bit, bool away,
    const char *why)
{
	static const struct {
		unsigned bit;
		enum shm_count count;
		enum alert_kind away, back;
	} as[] = {
		{ SHM_AWAY_SHARED, SHM_OUTAGES, ALERT_SHARED_AWAY,
		    ALERT_SHARED_BACK },
		{ SHM_AWAY_CACHE, SHM_CACHE_OUTAGES, ALERT_CACHE_AWAY,
		    ALERT_CACHE_BACK },
		{ SHM_FOREIGN_LEDGER, SHM_STORE_ERRORS, ALERT_FOREIGN_LEDGER,
		    ALERT_LEDGER_OURS }
	};
	size_t i;

	/* One of many workers tells for all. */
	if (!shm_away_set(s->shm, s->worker, bit, away))
		return;
	log_line_quoted(s->log, "why", why, "%s=%s", name,
	    away ? "away" : "back");
	for (i = 0; i < sizeof as / sizeof *as; i++)
		if (as[i].bit == bit) {
			if (away)
				shm_add(s->shm, as[i].count, 1);
			alert_tell(s->shm, away ? as[i].away : as[i].back,
			    why);
		}
}

static void
switched(void *arg, bool away, const char *why)
{
	struct stores_client *c = arg;

	tell_away(c->stores, c->name, c->bit, away, why);
}

bool
stores_ledger_is_ours(struct stores *s)
{
	static const char *const why = "another ledger is registered under "
	    "the prefix of this cache: keys are not served until one of them "
	    "gets another prefix (idemctl doctor)";
	bool foreign;

	if (s->cache == NULL)
		return true;
	foreign = idem_redis_cache_owner(s->cache) == IDEM_REDIS_OWNER_FOREIGN;
	if (foreign != s->foreign)
		tell_away(s, "ledger-of-cache", SHM_FOREIGN_LEDGER, foreign,
		    foreign ? why : "the ledger registered is ours again");
	s->foreign = foreign;
	return !foreign;
}

/* --- opening -------------------------------------------------------------- */

static bool
failed(const struct stores *s, const char *what, const char *why)
{
	log_line_quoted(s->log, "error", why, "%s", what);
	return false;
}

static struct idem_store *
open_sqlite(const struct stores *s, const char *what, const char *path)
{
	const struct idem_sqlite_options sqlite = {
		.path = path,
		.clock = &idem_clock_real,
		.boot = s->boot,
		.reserve = s->conf->reserve
	};
	char error[512];
	struct idem_store *store =
	    idem_store_sqlite(&sqlite, error, sizeof error);

	if (store == NULL)
		failed(s, what, error);
	return store;
}

static bool
watch(struct stores *s, struct watch *w, int fd,
    void (*ready)(struct watch *, uint32_t))
{
	w->fd = -1;
	w->ready = ready;
	return fd != -1 && loop_watch(s->loop, w, fd, EPOLLIN) == 0;
}

static bool
open_ledger(struct stores *s)
{
	if (s->conf->ledger == NULL)
		return true;
	s->ledger = open_sqlite(s, "ledger", s->conf->ledger);
	return s->ledger != NULL && watch(s, &s->ledger_watch,
	    s->ledger->ops->fd(s->ledger), ledger_ready);
}

static bool
open_memory(struct stores *s, const char *path)
{
	if (path == NULL)
		return true;
	s->memory = open_sqlite(s, "memory", path);
	return s->memory != NULL && watch(s, &s->memory_watch,
	    s->memory->ops->fd(s->memory), memory_ready);
}

static bool
open_client(struct stores *s, struct stores_client *c,
    const struct conf_redis *conf, unsigned bit, const char *name)
{
	char error[512];

	c->stores = s;
	c->bit = bit;
	c->name = name;
	c->options = conf->client;
	c->options.clock = &idem_clock_real;
	c->options.switched = switched;
	c->options.arg = c;
	c->redis = idem_redis_new(&c->options, error, sizeof error);
	if (c->redis == NULL)
		return failed(s, name, error);
	return watch(s, &c->watch, idem_redis_fd(c->redis), client_ready);
}

static struct idem_store *
open_redis(struct stores *s, enum idem_redis_scheme scheme, bool token)
{
	const struct idem_store_redis_options options = {
		.client = s->shared.redis,
		.scheme = scheme,
		.prefix = s->conf->shared->prefix,
		.clock = &idem_clock_real,
		.boot = s->boot,
		.token = token
	};

	return idem_store_redis(&options);
}

/*
 * One for each kind that a route wants; a reload may bring another.  The
 * script's is there in any case: the sweep is its business.
 */
static bool
open_kinds(struct stores *s, const struct conf *conf)
{
	const struct idem_policy *policy;
	bool wanted[STORES_SCHEMES] = { [IDEM_SCHEME_SCRIPT] = true };
	bool token = false;
	size_t i;

	for (i = 0; i < conf->routes_len; i++) {
		policy = &conf->routes[i].route.policy;
		if (policy->arbiter == IDEM_ARBITER_REDIS)
			wanted[conf->routes[i].scheme] = true;
		token = token || policy->arbiter == IDEM_ARBITER_TOKEN;
	}
	for (i = 0; i < STORES_SCHEMES; i++)
		if (wanted[i] && s->redis[i] == NULL) {
			s->redis[i] = open_redis(s, (enum idem_redis_scheme)i,
			    false);
			if (s->redis[i] == NULL)
				return failed(s, "redis", "no memory");
		}
	if (token && s->token == NULL)
		s->token = open_redis(s, IDEM_SCHEME_SCRIPT, true);
	return !token || s->token != NULL || failed(s, "redis", "no memory");
}

static bool
open_shared(struct stores *s)
{
	const struct conf_redis *conf = s->conf->shared;

	if (conf == NULL)
		return true;
	if (!stores_place(conf, s->place))
		return failed(s, "redis", "no memory");
	return open_client(s, &s->shared, conf, SHM_AWAY_SHARED, "redis") &&
	    open_kinds(s, s->conf);
}

bool
stores_follow(struct stores *s, const struct conf *next)
{
	if (s->memory == NULL && s->shm->memory[0] != '\0' &&
	    !open_memory(s, s->shm->memory))
		return false;
	return s->shared.redis == NULL || open_kinds(s, next);
}

/* Each time that it is asked whose it is; said once while it is away. */
static void
cache_trouble(void *arg, const char *why)
{
	struct stores *s = arg;

	shm_add(s->shm, SHM_STORE_ERRORS, 1);
	if (!idem_redis_away(s->beside.redis != NULL ? s->beside.redis :
	    s->shared.redis))
		log_line_quoted(s->log, "error", why, "cache=check");
}

static bool
open_cache(struct stores *s)
{
	const struct conf_redis *conf = s->conf->cache;
	struct idem_redis_cache_options options;
	struct idem_history ledger;

	if (conf == NULL || s->ledger == NULL)
		return true;
	if (!s->ledger->ops->history(s->ledger, &ledger))
		return failed(s, "cache", "the ledger's generation is unknown");
	if (conf != s->conf->shared && !open_client(s, &s->beside, conf,
	    SHM_AWAY_CACHE, "cache"))
		return false;
	options = (struct idem_redis_cache_options){
		.client = s->beside.redis != NULL ? s->beside.redis :
		    s->shared.redis,
		.prefix = conf->prefix,
		.ledger = ledger,
		.clock = &idem_clock_real,
		.trouble = cache_trouble,
		.arg = s,
		.look_ms = conf->look_ms,
		.answer_max = conf->answer_max
	};
	s->cache = idem_redis_cache_new(&options);
	return s->cache != NULL || failed(s, "cache", "no memory");
}

bool
stores_open(struct stores *s, struct conf *conf, const char *memory)
{
	s->held = conf_hold(conf);
	s->conf = conf;
	return open_ledger(s) && open_memory(s, memory) && open_shared(s) &&
	    open_cache(s);
}

static void
close_store(struct idem_store **store)
{
	if (*store != NULL)
		(*store)->ops->close(*store);
	*store = NULL;
}

void
stores_close(struct stores *s)
{
	unsigned i;

	idem_redis_cache_free(s->cache);
	s->cache = NULL;
	close_store(&s->ledger);
	close_store(&s->memory);
	for (i = 0; i < STORES_SCHEMES; i++)
		close_store(&s->redis[i]);
	close_store(&s->token);
	idem_redis_free(s->shared.redis);
	idem_redis_free(s->beside.redis);
	s->shared.redis = s->beside.redis = NULL;
	conf_drop(s->held);
	s->held = NULL;
}

/* --- which ---------------------------------------------------------------- */

struct idem_store *
stores_token(struct stores *s, enum idem_token_arbiter arbiter)
{
	switch (arbiter) {
	case IDEM_TOKEN_LEDGER:
		return s->ledger;
	case IDEM_TOKEN_REDIS:
		return s->token;
	}
	return NULL;
}

struct idem_store *
stores_arbiter(struct stores *s, const struct conf_route *route)
{
	switch (route->route.policy.arbiter) {
	case IDEM_ARBITER_LEDGER:
		return s->ledger;
	case IDEM_ARBITER_REDIS:
		return s->redis[route->scheme];
	case IDEM_ARBITER_TOKEN:
		return s->token;
	}
	return NULL;
}

bool
stores_is_shared(const struct stores *s, const struct idem_store *store)
{
	return store != s->ledger && store != s->memory;
}

bool
stores_is_away(const struct stores *s, const struct idem_store *store)
{
	return stores_is_shared(s, store) && s->shared.redis != NULL &&
	    idem_redis_away(s->shared.redis);
}

const char *
stores_name(const struct stores *s, const struct idem_store *store)
{
	if (store == s->ledger)
		return "ledger";
	return store == s->memory ? "memory" : "redis";
}

/* --- time ----------------------------------------------------------------- */

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
shared_due_ms(struct stores *s)
{
	int64_t due_ms = INT64_MAX;
	struct idem_store *store;
	size_t i;

	for (i = 0; i <= STORES_SCHEMES; i++) {
		store = nth_of_shared(s, i);
		if (store != NULL)
			due_ms = sooner(due_ms, store->ops->due_ms(store));
	}
	return due_ms;
}

int64_t
stores_due_ms(struct stores *s)
{
	int64_t due_ms = INT64_MAX;

	if (s->ledger != NULL)
		due_ms = sooner(due_ms, s->ledger->ops->due_ms(s->ledger));
	if (s->memory != NULL)
		due_ms = sooner(due_ms, s->memory->ops->due_ms(s->memory));
	due_ms = sooner(due_ms, shared_due_ms(s));
	if (s->beside.redis != NULL)
		due_ms = sooner(due_ms, idem_redis_due_ms(s->beside.redis));
	if (s->cache != NULL)
		due_ms = sooner(due_ms, idem_redis_cache_due_ms(s->cache));
	return due_ms;
}

void
stores_due(struct stores *s, int64_t now_ms)
{
	if (s->ledger != NULL &&
	    s->ledger->ops->due_ms(s->ledger) <= now_ms)
		poll_ledger(s);
	if (s->memory != NULL &&
	    s->memory->ops->due_ms(s->memory) <= now_ms)
		poll_memory(s);
	if (s->cache != NULL && idem_redis_cache_due_ms(s->cache) <= now_ms) {
		idem_redis_cache_due(s->cache);
		stores_ledger_is_ours(s);
	}
	if (shared_due_ms(s) <= now_ms)
		poll_shared(s);
	if (s->beside.redis != NULL &&
	    idem_redis_due_ms(s->beside.redis) <= now_ms)
		poll_client(&s->beside);
}
