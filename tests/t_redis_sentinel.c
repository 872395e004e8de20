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
 * fail-over takes them about two seconds with these settings; it is bounded by
 * 20.  Each has servers of its own: Sentinel takes its time over who returns.
 */
#define NAME "orders"
#define DOWN_MS 500
#define FAIL_OVER_MS 20000
#define LIMIT_MS 300
#define SLACK_MS 1000		/* of a busy machine */
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
		    DOWN_MS);
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

static void
open_client(struct redis_ask *a, const char *const *urls, size_t len)
{
	memset(a, 0, sizeof *a);
	a->options.topology = IDEM_REDIS_SENTINEL;
	a->options.master = NAME;
	redis_ask_open(a, urls, len);
}

static const char *
set(struct redis_ask *a, const char *value)
{
	return redis_ask(a, LIMIT_MS, "k", "SET", "k", value, NULL);
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
	int64_t worst_ms;	/* of a command */
	unsigned commands, maybe;
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
		o->worst_ms = a->ms > o->worst_ms ? a->ms : o->worst_ms;
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
	ok(o->worst_ms < LIMIT_MS + SLACK_MS, "of %u commands none took longer "
	    "than its deadline: %lld ms", o->commands, (long long)o->worst_ms);
	note("%u of them are maybe done", o->maybe);
}

/* --- fail-overs ----------------------------------------------------------- */

static void
after_a_kill(struct world *w)
{
	struct redis_ask a;
	struct outage o;

	open_client(&a, w->urls, SENTINELS);
	is(set(&a, "1"), "OK", "Sentinel's master is found");
	ok(is_at(&a, &w->master), "it alone is known");
	redis_rig_kill(&w->master);
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

	open_client(&a, w->urls, SENTINELS);
	set(&a, "1");
	redis_rig_freeze(&w->master);
	write_through(&a, &o);
	tell("after the master froze [redis:3]", &o);
	redis_rig_thaw(&w->master);
	set(&a, "new");
	ok(is_at(&a, &w->replica) && strcmp(redis_rig_say(&w->replica, "GET",
	    "k", NULL), "new") == 0,
	    "a master that wakes up is not written to");
	redis_ask_close(&a);
}

static void
after_a_switch(struct world *w)
{
	int64_t begin_ms = redis_boot_ms(), took_ms;
	unsigned lost = 0, all = 0;
	struct redis_ask a;

	open_client(&a, w->urls, SENTINELS);
	redis_rig_say(&w->sentinel[0], "SENTINEL", "FAILOVER", NAME, NULL);
	while (!is_at(&a, &w->replica) &&
	    redis_boot_ms() - begin_ms < FAIL_OVER_MS) {
		set(&a, "switch");
		all++;
		lost += a.class != IDEM_OK;
		redis_ask_turns(&a, 2, NULL);
	}
	took_ms = redis_boot_ms() - begin_ms;
	ok(is_at(&a, &w->replica), "an ordered fail-over is followed "
	    "[redis:9]: %u of %u commands were not done", lost, all);
	/* By itself the old one finds out after ten seconds. */
	ok(took_ms < 8000, "before the old master knows of it: %lld ms",
	    (long long)took_ms);
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
	is(redis_ask(&a, 2000, "k", "SET", "k", "some", NULL), "OK",
	    "one Sentinel dead and one frozen: the third tells");
	ok(a.ms < 1000, "soon: %lld ms", (long long)a.ms);
	redis_rig_kill(&w->sentinel[1]);
	redis_rig_kill(&w->sentinel[2]);
	redis_ask_turns(&a, 400, NULL);
	is(set(&a, "none"), "OK", "a master that is known needs no Sentinel");
	redis_ask_close(&a);

	open_client(&a, w->urls, SENTINELS);
	set(&a, "none");
	ok(a.class == IDEM_CLASS_REFUSED && a.away &&
	    a.ms < LIMIT_MS + SLACK_MS, "where no Sentinel is, nobody is: %s",
	    a.text);
	set(&a, "none");
	ok(a.class == IDEM_CLASS_REFUSED && a.ms < LIMIT_MS && a.went == 1,
	    "which is known then");
	redis_rig_again(&w->sentinel[2], true);
	ok(redis_ask_await(&a, 5000, false) && a.came == 1,
	    "until one is there, which is found without any command");
	is(set(&a, "one"), "OK", "and names the master");
	redis_ask_close(&a);
}

static void
unknown_name(struct world *w)
{
	struct redis_ask a = { .options = { .topology = IDEM_REDIS_SENTINEL,
		.master = "stocks" } };

	redis_ask_open(&a, &w->urls[2], 1);
	set(&a, "stocks");
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
