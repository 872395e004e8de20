/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UP_MS 10000
#define TURN_MS 5

const char *
live_store_name(const struct live_cast *cast, int store)
{
	return store >= 0 && (size_t)store < cast->stores_n ?
	    cast->stores[store].server.plan->name : "-";
}

const char *
live_store_say(struct live_store *s, char out[LIVE_SAID], const char *a,
    const char *b, const char *c)
{
	const char *const words[] = { a, b, c, NULL };

	return server_say(&s->server, out, LIVE_SAID, words);
}

static void
told(struct live *l, const struct live_due *d, struct live_store *s)
{
	live_fired(l, d->action, s->server.plan->name, d->label);
}

/* --- the process ---------------------------------------------------------- */

static void
kill_it(struct live *l, const struct live_due *d, struct live_store *s)
{
	/* Nobody can be killed twice, and that it is dead is heard later. */
	if (s->down || s->server.child.pid == 0)
		return;
	s->server.child.doomed = true;
	s->down = true;
	s->frozen = false;
	server_kill(&s->server);
	live_watch(l, &(struct live_watch){
		.action = d->action, .gate = PLAN_NONE,
		.store = (int)s->index, .label = d->label
	});
}

/* It is reaped in a turn of the loop. */
bool
live_store_gone(struct live *l, struct live_store *s)
{
	int64_t end = live_now_ms(l) + UP_MS;

	while (s->server.child.pid != 0) {
		if (live_now_ms(l) >= end)
			return false;
		(void)loop_turn(l->cast->loop, live_now_ms(l) + TURN_MS);
	}
	return true;
}

static void
restart(struct live *l, const struct live_due *d, struct live_store *s)
{
	if (!s->down) {
		s->server.child.doomed = true;
		s->down = true;
		s->frozen = false;
		server_kill(&s->server);
	}
	if (!live_store_gone(l, s))
		live_cannot_again(l, s->server.plan->name, 0);
	else if (live_store_again(s, d->action->empty, d->action->older) != 0)
		live_cannot_again(l, s->server.plan->name, errno);
	else
		told(l, d, s);
}

static void
pause_it(struct live *l, const struct live_due *d, struct live_store *s)
{
	server_freeze(&s->server);
	s->frozen = s->server.frozen;
	if (s->frozen)
		told(l, d, s);
}

static void
resume(struct live *l, const struct live_due *d, struct live_store *s)
{
	server_thaw(&s->server);
	s->frozen = false;
	told(l, d, s);
}

/* --- its data ------------------------------------------------------------- */

static void
oom(struct live *l, const struct live_due *d, struct live_store *s)
{
	char out[LIVE_SAID];

	server_oom(&s->server, !d->action->ends);
	s->full = !d->action->ends;
	if (d->action->ends || strncmp(live_store_say(s, out, "SET",
	    "idemsim-full", "1"), "-OOM", 4) == 0)
		told(l, d, s);
}

static void
flush(struct live *l, const struct live_due *d, struct live_store *s)
{
	char out[LIVE_SAID];
	long keys = strtol(live_store_say(s, out, "DBSIZE", NULL, NULL), NULL,
	    10);

	if (strcmp(live_store_say(s, out, "FLUSHALL", NULL, NULL), "OK") == 0 &&
	    keys > 0)
		told(l, d, s);
}

/* One of all records, each with the same chance. */
struct any {
	struct live *l;
	size_t seen;
	char hex[80];
};

static void
perhaps(void *arg, const char *hex, const char *state, unsigned attempt)
{
	struct any *any = arg;

	(void)state;
	(void)attempt;
	if (draw_below(&any->l->draw, ++any->seen) == 0)
		snprintf(any->hex, sizeof any->hex, "%s", hex);
}

/* The record of a key, or any, as if the server had chosen it. */
static void
forget(struct live *l, const struct live_due *d, struct live_store *s)
{
	const struct plan_action *a = d->action;
	bool expire = a->kind == PLAN_STORE_EXPIRE;
	struct any any = { .l = l };
	char name[LIVE_SAID], out[LIVE_SAID];

	if (a->key != NULL)
		snprintf(any.hex, sizeof any.hex, "%s",
		    live_key_named(l, a->key)->hex);
	else if (server_records(&s->server, LIVE_PREFIX, perhaps, &any) != 0 ||
	    any.seen == 0)
		return;
	/* A record's name, or a cached answer's, ends with the key. */
	snprintf(out, sizeof out, "*%s", any.hex);
	(void)live_store_say(s, name, "KEYS", out, NULL);
	if (strcmp(expire ? live_store_say(s, out, "PEXPIRE", name, "1") :
	    live_store_say(s, out, "DEL", name, NULL), "1") == 0)
		told(l, d, s);
}

static void
script_flush(struct live *l, const struct live_due *d, struct live_store *s)
{
	int64_t known = server_scripts(&s->server);
	char out[LIVE_SAID];

	if (strcmp(live_store_say(s, out, "SCRIPT", "FLUSH", NULL), "OK") ==
	    0 && known > 0)
		told(l, d, s);
}

static void
save(struct live *l, const struct live_due *d, struct live_store *s)
{
	if (server_save(&s->server) == 0)
		told(l, d, s);
}

static void
lag(struct live *l, const struct live_due *d, struct live_store *s)
{
	const struct plan_action *a = d->action;
	bool lags = !plan_action_heals(a);

	if (s->replication == NULL)
		return;
	if (lags)
		live_stream_watch(l, d, s);
	if (a->freeze) {
		net_stream_keep(s->replication, NET_STREAM_ALL);
		net_stop(s->replication, NET_REQUESTS);
		/* What is not read as a stream stands still as it is. */
		if (!live_stream_is_read(s))
			net_stop(s->replication, NET_REPLIES);
	} else if (lags)
		net_slow(s->replication, a->ms);
	else {
		live_stream_let_go(l, s);
		told(l, d, s);
	}
}

/* --- which ---------------------------------------------------------------- */

void
live_do_store(struct live *l, const struct live_due *d)
{
	typedef void do_fn(struct live *, const struct live_due *,
	    struct live_store *);
	static do_fn *const acts[PLAN_ACTIONS] = {
		[PLAN_STORE_KILL] = kill_it, [PLAN_STORE_RESTART] = restart,
		[PLAN_STORE_PAUSE] = pause_it, [PLAN_STORE_RESUME] = resume,
		[PLAN_STORE_OOM] = oom, [PLAN_STORE_FLUSH] = flush,
		[PLAN_STORE_EVICT] = forget, [PLAN_STORE_EXPIRE] = forget,
		[PLAN_STORE_SCRIPT_FLUSH] = script_flush,
		[PLAN_STORE_SAVE] = save, [PLAN_STORE_LAG] = lag
	};
	size_t i;

	for (i = 0; i < l->cast->stores_n; i++)
		if (d->action->store == (int)i ||
		    d->action->store == PLAN_ANY)
			acts[d->action->kind](l, d, &l->cast->stores[i]);
}
