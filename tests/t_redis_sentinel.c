/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Masters, their replicas, and three Sentinels for each, that are real.  A
 * fail-over takes them about two seconds with these settings, and 30 more each
 * time that a Sentinel finds itself held up; it is bounded by 90.  Each has
 * servers of its own: Sentinel takes its time over who returns.
 */
#define NAME "orders"
#define NEVER_MS 600000		/* a master is held up for less */
#define DOWN "500"		/* once it is really gone */
#define FAIL_OVER_MS 90000
#define LIMIT_MS 300
#define SILENT_MS 1000		/* never three failures within a second */
#define PATIENCE_MS 20000	/* where it is not reached */
#define SENTINELS 3

struct world {
	struct redis_rig master, replica;
	struct redis_rig sentinel[SENTINELS];
	const char *urls[SENTINELS];
};

static void
open_world(struct world *w)
{
	size_t i;

	redis_rig_start(&w->master, NULL);
	redis_rig_replica(&w->replica, &w->master, NULL);
	for (i = 0; i < SENTINELS; i++) {
		redis_rig_sentinel(&w->sentinel[i], NAME, w->master.port, 2,
		    NEVER_MS);
		w->urls[i] = w->sentinel[i].url;
	}
}

static void
close_world(struct world *w)
{
	size_t i;

	for (i = 0; i < SENTINELS; i++)
		redis_rig_end(&w->sentinel[i]);
	redis_rig_end(&w->replica);
	redis_rig_end(&w->master);
}

/* Until every Sentinel can lead a fail-over. */
static void
await_ready(struct world *w)
{
	size_t i;

	for (i = 0; i < SENTINELS; i++)
		if (!redis_rig_await(&w->sentinel[i], FAIL_OVER_MS,
		    "num-slaves 1 num-other-sentinels 2", "SENTINEL", "MASTER",
		    NAME, NULL) ||
		    !redis_rig_await(&w->sentinel[i], FAIL_OVER_MS,
		    "master-link-status ok", "SENTINEL", "REPLICAS", NAME,
		    NULL))
			bail_out("Sentinel %zu is not ready: %s", i,
			    redis_rig_say(&w->sentinel[i], "SENTINEL",
			    "REPLICAS", NAME, NULL));
}

/* From here on a master that does not answer is missed. */
static void
watch_closely(struct world *w)
{
	size_t i;

	for (i = 0; i < SENTINELS; i++)
		if (strcmp(redis_rig_say(&w->sentinel[i], "SENTINEL", "SET",
		    NAME, "down-after-milliseconds", DOWN, NULL), "OK") != 0)
			bail_out("Sentinel %zu does not take it", i);
}

static void
open_client(struct redis_ask *a, const char *const *urls, size_t len)
{
	memset(a, 0, sizeof *a);
	a->options.topology = IDEM_REDIS_SENTINEL;
	a->options.master = NAME;
	a->options.timeout_ms = SILENT_MS;
	redis_ask_open(a, urls, len);
}

/* And connected to the master. */
static void
open_there(struct redis_ask *a, const char *const *urls, size_t len)
{
	open_client(a, urls, len);
	if (!redis_ask_begin(a, PATIENCE_MS))
		bail_out("no answer: %s", a->text);
}

static const char *
set(struct redis_ask *a, const char *value)
{
	return redis_ask(a, LIMIT_MS, "k", "SET", "k", value, NULL);
}

/* Again while nothing was heard in time. */
static const char *
await_set(struct redis_ask *a, const char *value)
{
	int64_t end_ms = redis_boot_ms() + PATIENCE_MS;

	do
		redis_ask(a, PATIENCE_MS, "k", "SET", "k", value, NULL);
	while (a->class != IDEM_OK && redis_boot_ms() < end_ms);
	return a->text;
}

static bool
is_at(struct redis_ask *a, const struct redis_rig *master)
{
	char name[32];

	snprintf(name, sizeof name, "127.0.0.1:%d", master->port);
	return idem_redis_node(a->client, 0) != NULL &&
	    strcmp(idem_redis_node(a->client, 0), name) == 0 &&
	    idem_redis_node(a->client, 1) == NULL;
}

struct outage {
	int64_t ms;		/* until a write was done again; -1: never */
	unsigned commands, maybe, late;
};

static void
write_through(struct redis_ask *a, struct outage *o)
{
	int64_t begin_ms = redis_boot_ms();

	memset(o, 0, sizeof *o);
	do {
		set(a, "through");
		o->commands++;
		o->maybe += a->class == IDEM_CLASS_MAYBE;
		o->late += a->late;
		o->ms = redis_boot_ms() - begin_ms;
		if (a->class == IDEM_OK)
			return;
		redis_ask_turns(a, 10, NULL);
	} while (o->ms < FAIL_OVER_MS);
	o->ms = -1;
}

static void
tell(const char *what, const struct outage *o)
{
	ok(o->ms >= 0, "%s, a command finds the new master: after %lld ms",
	    what, (long long)o->ms);
	is_int(o->late, 0, "of %u commands none took longer than its deadline",
	    o->commands);
	note("%u of them are maybe done", o->maybe);
}

/* --- fail-overs ----------------------------------------------------------- */

static void
after_a_kill(struct world *w)
{
	struct redis_ask a;
	struct outage o;

	open_there(&a, w->urls, SENTINELS);
	is(await_set(&a, "1"), "OK", "Sentinel's master is found");
	ok(is_at(&a, &w->master), "it alone is known");
	redis_rig_kill(&w->master);
	watch_closely(w);
	write_through(&a, &o);
	tell("after the master was killed [redis:1 redis:5]", &o);
	ok(is_at(&a, &w->replica), "it is the one that was the replica");
	is(redis_rig_say(&w->replica, "GET", "k", NULL), "through",
	    "and has what was written");
	ok(a.went == 1 && a.came == 1 && !idem_redis_away(a.client),
	    "that it was away is told once, and that it is back");
	redis_ask_close(&a);
}

static void
after_a_freeze(struct world *w)
{
	struct redis_ask a;
	struct outage o;

	open_there(&a, w->urls, SENTINELS);
	await_set(&a, "1");
	redis_rig_freeze(&w->master);
	watch_closely(w);
	write_through(&a, &o);
	tell("after the master froze [redis:3]", &o);
	redis_rig_thaw(&w->master);
	await_set(&a, "new");
	ok(is_at(&a, &w->replica) && strcmp(redis_rig_say(&w->replica, "GET",
	    "k", NULL), "new") == 0,
	    "a master that wakes up is not written to");
	redis_ask_close(&a);
}

static void
after_a_switch(struct world *w)
{
	unsigned lost = 0, all = 0;
	struct redis_ask a;
	int64_t begin_ms;

	open_there(&a, w->urls, SENTINELS);
	begin_ms = redis_boot_ms();
	redis_rig_say(&w->sentinel[0], "SENTINEL", "FAILOVER", NAME, NULL);
	while (!is_at(&a, &w->replica) &&
	    redis_boot_ms() - begin_ms < FAIL_OVER_MS) {
		set(&a, "switch");
		all++;
		lost += a.class != IDEM_OK;
		redis_ask_turns(&a, 2, NULL);
	}
	ok(is_at(&a, &w->replica), "an ordered fail-over is followed "
	    "[redis:9]: %u of %u commands were not done", lost, all);
	/* By itself the old one finds out after ten seconds. */
	ok(strstr(redis_rig_say(&w->master, "ROLE", NULL), "master") != NULL,
	    "before the old master knows of it: %lld ms",
	    (long long)(redis_boot_ms() - begin_ms));
	redis_ask_close(&a);
}

/* --- Sentinels that are not there ----------------------------------------- */

static void
some_dead(struct world *w)
{
	struct redis_ask a;

	redis_rig_kill(&w->sentinel[0]);
	redis_rig_freeze(&w->sentinel[1]);
	open_client(&a, w->urls, SENTINELS);
	is(await_set(&a, "some"), "OK",
	    "one Sentinel dead and one frozen: the third tells");
	ok(a.ms < PATIENCE_MS / 2, "soon: %lld ms", (long long)a.ms);
	redis_rig_kill(&w->sentinel[1]);
	redis_rig_kill(&w->sentinel[2]);
	redis_ask_turns(&a, 400, NULL);
	is(await_set(&a, "none"), "OK", "a master that is known needs no "
	    "Sentinel");
	redis_ask_close(&a);

	open_client(&a, w->urls, SENTINELS);
	redis_ask(&a, PATIENCE_MS, "k", "SET", "k", "none", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && a.away && a.ms < PATIENCE_MS,
	    "where no Sentinel is, nobody is: %s", a.text);
	redis_ask(&a, PATIENCE_MS, "k", "SET", "k", "none", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && a.ms < PATIENCE_MS && a.went == 1,
	    "which is known then");
	redis_rig_again(&w->sentinel[2], true);
	ok(redis_ask_await(&a, PATIENCE_MS, false) && a.came == 1,
	    "until one is there, which is found without any command");
	is(await_set(&a, "one"), "OK", "and names the master");
	redis_ask_close(&a);
}

static void
unknown_name(struct world *w)
{
	struct redis_ask a = { .options = { .topology = IDEM_REDIS_SENTINEL,
		.master = "stocks" } };

	redis_ask_open(&a, &w->urls[2], 1);
	redis_ask(&a, PATIENCE_MS, "k", "SET", "k", "stocks", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && strstr(a.text, "know") != NULL,
	    "a master that Sentinel does not know is nobody: %s", a.text);
	redis_ask_close(&a);
}

int
main(void)
{
	static struct world worlds[3];
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	for (i = 0; i < 3; i++)
		open_world(&worlds[i]);
	for (i = 0; i < 3; i++)
		await_ready(&worlds[i]);
	after_a_kill(&worlds[0]);
	after_a_freeze(&worlds[1]);
	after_a_switch(&worlds[2]);
	some_dead(&worlds[2]);
	unknown_name(&worlds[2]);
	for (i = 0; i < 3; i++)
		close_world(&worlds[i]);
	return done();
}
