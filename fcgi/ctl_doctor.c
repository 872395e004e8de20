/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "doctor_ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FRONT_MAX ((size_t)4 * 1024 * 1024)

/* All that is asked before anything is judged. */
struct asked {
	struct doctor_facts facts;
	struct doctor_ledger ledger;
	struct doctor_runs runs;
	struct doctor_tokens tokens;
	struct doctor_redis redis[2];
	struct doctor_route *routes;	/* owned */
	bool history_known;
	struct idem_history history;	/* the ledger's */
};

/* --- the ledger ----------------------------------------------------------- */

static int
count_one(struct ctl *c, const struct ctl_found *f, void *arg)
{
	(void)c;
	(void)f;
	++*(int64_t *)arg;
	return CTL_DONE;
}

static void
count_unknown(struct ctl *c, struct idem_store *store, struct doctor_ledger *l)
{
	const struct ctl_store in = { CTL_LEDGER, store };
	int64_t n = 0;

	if (ctl_each(c, &in, 1u << IDEM_STATE_UNKNOWN, 0, count_one, &n) ==
	    CTL_DONE)
		l->unknown = n;
}

static void
ask_ledger(struct ctl *c, struct asked *a)
{
	struct idem_store *store;

	if (c->conf->ledger == NULL)
		return;
	doctor_look_ledger(c->conf->ledger, c->conf->run, &a->ledger);
	store = ctl_open_ledger(c, true, a->ledger.error,
	    sizeof a->ledger.error);
	if (store != NULL) {
		a->history_known = store->ops->history(store, &a->history);
		count_unknown(c, store, &a->ledger);
		store->ops->close(store);
	}
	a->facts.ledger = &a->ledger;
}

/* --- Redis ---------------------------------------------------------------- */

/* What the shared one decides; *plain: some of its values are no records. */
static unsigned
shared_use(const struct conf *c, bool *plain)
{
	unsigned use = 0;
	size_t i;

	*plain = false;
	for (i = 0; i < c->routes_len; i++) {
		if (c->routes[i].route.policy.arbiter == IDEM_ARBITER_TOKEN)
			use |= DOCTOR_TOKENS;
		if (c->routes[i].route.policy.arbiter != IDEM_ARBITER_REDIS)
			continue;
		use |= DOCTOR_KEYS;
		if (c->routes[i].scheme != IDEM_SCHEME_SCRIPT)
			*plain = true;
	}
	/* Of one that no route names (--redis) the most is demanded. */
	return use != 0 ? use : DOCTOR_KEYS;
}

static bool
ask_one(const struct ctl *c, struct asked *a, const struct conf_redis *conf,
    const char *what, unsigned use, bool plain)
{
	const char *password = c->redis_user != NULL ?
	    getenv("IDEM_REDIS_PASSWORD") : NULL;
	struct doctor_redis *r = &a->redis[a->facts.redis_len++];

	r->what = what;
	if (!doctor_ask(conf, use, plain, c->redis_user, password, r))
		return false;
	if ((use & DOCTOR_CACHE) != 0 && a->history_known)
		r->generation = doctor_ask_generation(conf, &a->history);
	return true;
}

static bool
ask_redis(const struct ctl *c, struct asked *a)
{
	const struct conf_redis *shared = c->conf->shared;
	const struct conf_redis *cache = c->conf->cache;
	bool plain, good = true;
	unsigned use;

	a->facts.redis = a->redis;
	if (shared != NULL) {
		use = shared_use(c->conf, &plain);
		if (cache == shared)
			use |= DOCTOR_CACHE;
		good = ask_one(c, a, shared, "shared", use, plain);
	}
	if (good && cache != NULL && cache != shared)
		good = ask_one(c, a, cache, "cache", DOCTOR_CACHE, true);
	return good;
}

/* --- web servers ---------------------------------------------------------- */

static bool
read_front(const char *name, struct idem_buf *text)
{
	FILE *f = fopen(name, "re");
	char piece[16384];
	size_t n;
	bool good;

	if (f == NULL)
		return false;
	text->max = FRONT_MAX;
	while ((n = fread(piece, 1, sizeof piece, f)) > 0)
		idem_buf_append(text, piece, n);
	good = ferror(f) == 0;
	fclose(f);
	if (good && !idem_buf_ok(text)) {
		errno = EFBIG;
		good = false;
	}
	return good;
}

static void
look_at_front(const struct doctor_times *times, const char *name,
    struct doctor_findings *f)
{
	struct idem_buf text = { .at = NULL };

	if (read_front(name, &text))
		doctor_front(times, name, idem_buf_bytes(&text), f);
	else
		doctor_find(f, DOCTOR_WARN, DOCTOR_FRONT_FILE, "front %s: %s",
		    name, strerror(errno));
	idem_buf_free(&text);
}

/* --- all ------------------------------------------------------------------ */

static int
say_all(const struct ctl *c, const struct doctor_findings *f)
{
	struct idem_buf out = { .at = NULL };
	int status = doctor_worst(f) == DOCTOR_FAIL ? CTL_NO : CTL_DONE;

	if (c->json)
		doctor_say_json(f, &out);
	else
		doctor_say_lines(f, &out);
	if (f->failed || !idem_buf_ok(&out))
		status = ctl_say(c, CTL_FAILED, "out of memory");
	else
		fwrite(out.at, 1, out.len, stdout);
	idem_buf_free(&out);
	return status;
}

static int
examine(struct ctl *c, struct asked *a)
{
	struct doctor_findings f = { .at = NULL };
	struct doctor_times times = doctor_look_times(c->conf);
	size_t i;
	int status;

	times.run_ms = (int64_t)c->limit_ms + c->grace_ms;
	ask_ledger(c, a);
	if (doctor_look_runs(c->conf, a->history_known ? &a->history : NULL,
	    &a->runs))
		a->facts.runs = &a->runs;
	a->routes = doctor_look_routes(c->conf);
	if (a->routes == NULL || !ask_redis(c, a))
		return ctl_say(c, CTL_FAILED, "out of memory");
	a->facts.routes = a->routes;
	a->facts.routes_len = c->conf->routes_len;
	if (c->config != NULL)
		a->facts.doubts = c->conf->warnings;
	if (c->conf->tokens != NULL) {
		doctor_look_tokens(c->conf->tokens, &a->tokens);
		a->facts.tokens = &a->tokens;
	}
	doctor_judge(&a->facts, &f);
	for (i = 0; i < c->fronts_len; i++)
		look_at_front(&times, c->fronts[i], &f);
	status = say_all(c, &f);
	doctor_findings_free(&f);
	return status;
}

int
ctl_doctor(struct ctl *c)
{
	struct asked a = { .routes = NULL };
	int status;

	if (c->args_len > 0)
		return ctl_say(c, CTL_WRONG, "%s: name web servers' files by "
		    "--front FILE", c->args[0]);
	if (c->redis_user != NULL && getenv("IDEM_REDIS_PASSWORD") == NULL)
		return ctl_say(c, CTL_WRONG, "--redis-user: its password is to "
		    "be in the environment, IDEM_REDIS_PASSWORD");
	status = ctl_conf(c);
	if (status != CTL_DONE)
		return status;
	if (c->conf->ledger == NULL && c->conf->shared == NULL &&
	    c->conf->cache == NULL && c->fronts_len == 0)
		return ctl_say(c, CTL_WRONG, "say what to look at: --config "
		    "FILE, --ledger sqlite:PATH, --redis URL, --front FILE");
	if (!idem_boot_id(&c->boot))
		return ctl_say(c, CTL_FAILED, "no boot id in /proc");
	status = examine(c, &a);
	doctor_ask_free(&a.redis[0]);
	doctor_ask_free(&a.redis[1]);
	free(a.routes);
	return status;
}
