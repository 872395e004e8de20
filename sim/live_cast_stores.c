/* SPDX-License-Identifier: ISC */
#include "live_private.h"

#include "redis_script.h"

#include <errno.h>
#include <string.h>

#define UP_MS 20000
#define SYNC_MS 20000

int
live_cast_clock(const struct live_cast *cast, const char *name,
    struct live_map *m)
{
	char path[LIVE_PATH + 16];

	if (!cast->preload)
		return 0;
	snprintf(path, sizeof path, "%s/%s.clock", cast->folder, name);
	return live_map_open(m, path, sizeof(struct preload_clock));
}

/* --- servers -------------------------------------------------------------- */

static int
store_start(struct live_store *s, const struct plan_store *plan)
{
	struct live_cast *cast = s->cast;
	char at[32];
	int port = 0;

	s->follows = plan->replica_of;
	if (plan->replica_of >= 0) {
		snprintf(at, sizeof at, "127.0.0.1:%d",
		    cast->stores[plan->replica_of].server.port);
		s->replication = net_open(cast->loop, NULL, at, true,
		    &cast->numbers, NULL);
		if (s->replication == NULL)
			return -1;
		port = net_port(s->replication);
	}
	if (live_cast_clock(cast, plan->name, &s->clock) != 0)
		return -1;
	live_hear_store(s);
	return server_start(cast->loop, &s->server, plan, cast->folder, port,
	    s->clock.at != NULL ? s->clock.path : NULL);
}

/*
 * As a server that has been in use for a while: else the first call of a run is
 * one that does not find its script, and not what a plan means by it.
 */
int
live_cast_script(struct live_store *s)
{
	char *text, out[LIVE_SAID];
	struct arena arena = { .last = NULL };
	bool known;

	if (s->cast->plan->gates.arbiter == PLAN_LEDGER)
		return 0;
	text = arena_copy(&arena, (const char *)idem_lua, idem_lua_len);
	known = *live_store_say(s, out, "SCRIPT", "LOAD", text) != '-';
	arena_free(&arena);
	return known ? 0 : -1;
}

static int
store_await(struct live_store *s, bool replica)
{
	const char *name = s->server.plan->name;

	if (server_await(s->cast->loop, &s->server, UP_MS) != 0)
		return live_cast_failed(s->cast, name, "it does not answer");
	if (replica && !live_store_level(s, SYNC_MS))
		return live_cast_failed(s->cast, name, "it does not follow");
	if (!replica && live_cast_script(s) != 0)
		return live_cast_failed(s->cast, name, "it takes no script");
	return 0;
}

/* Masters before those that follow them: their ports are asked for. */
static int
some_start(struct live_cast *cast, bool replicas)
{
	const struct plan *plan = cast->plan;
	size_t i;

	for (i = 0; i < cast->stores_n; i++) {
		cast->stores[i].cast = cast;
		cast->stores[i].index = (unsigned)i;
		if ((plan->stores[i].replica_of >= 0) == replicas &&
		    store_start(&cast->stores[i], &plan->stores[i]) != 0)
			return live_cast_failed(cast, plan->stores[i].name,
			    strerror(errno));
	}
	for (i = 0; i < cast->stores_n; i++)
		if ((plan->stores[i].replica_of >= 0) == replicas &&
		    store_await(&cast->stores[i], replicas) != 0)
			return -1;
	return 0;
}

/* How many follow that one. */
static unsigned
replicas_of(const struct plan *plan, size_t master)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < plan->stores_n; i++)
		n += plan->stores[i].replica_of == (int)master;
	return n;
}

/* Whom gates ask where their store is: they go past every link then. */
static int
sentinels_start(struct live_cast *cast)
{
	const struct plan *plan = cast->plan;
	int i, store = plan->gates.store;

	if (store < 0 || !plan->stores[store].sentinel)
		return 0;
	if (server_watch(cast->loop, cast->sentinels,
	    &cast->stores[store].server, cast->folder) != 0)
		return live_cast_failed(cast, "a sentinel", strerror(errno));
	live_hear_sentinels(cast);
	for (i = 0; i < SERVER_SENTINELS; i++) {
		if (server_await(cast->loop, &cast->sentinels[i], UP_MS) != 0)
			return -1;
		cast->sentinels_at[i] = cast->sentinels[i].url;
	}
	return server_await_watched(cast->loop, cast->sentinels,
	    replicas_of(plan, (size_t)store), SYNC_MS);
}

int
live_cast_stores(struct live_cast *cast)
{
	if (some_start(cast, false) != 0 || some_start(cast, true) != 0)
		return -1;
	return sentinels_start(cast);
}

int
live_store_again(struct live_store *s, bool empty, bool older)
{
	if (server_again(s->cast->loop, &s->server, empty, older) != 0)
		return -1;
	s->server.child.doomed = false;
	s->down = false;
	if (s->cast->run != NULL)
		live_spawn(s->cast->run, s->server.plan->name, false,
		    s->server.life, s->server.child.pid);
	return 0;
}
