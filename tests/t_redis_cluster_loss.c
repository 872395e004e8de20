/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* Three real masters, of which one dies: without a replica, and with one. */
#define NODES 3
#define LIMIT_MS 300
#define SILENT_MS 1000		/* never three failures within a second */
#define PATIENCE_MS 20000	/* where it is not reached */
#define FAIL_OVER_MS 60000

struct world {
	struct redis_rig node[NODES], more;
};

static void
open_client(struct redis_ask *a, const char *const *urls, size_t len)
{
	memset(a, 0, sizeof *a);
	a->options.topology = IDEM_REDIS_CLUSTER;
	a->options.probe_ms = 300;
	a->options.timeout_ms = SILENT_MS;
	redis_ask_open(a, urls, len);
}

static const char *
set(struct redis_ask *a, const char *key, const char *value)
{
	return redis_ask(a, LIMIT_MS, key, "SET", key, value, NULL);
}

/* Again while nothing was heard in time. */
static const char *
await_set(struct redis_ask *a, const char *key, const char *value)
{
	int64_t end_ms = redis_boot_ms() + PATIENCE_MS;

	do
		redis_ask(a, PATIENCE_MS, key, "SET", key, value, NULL);
	while (a->class != IDEM_OK && redis_boot_ms() < end_ms);
	return a->text;
}

static void
set_on_all(struct world *w, const char *option, const char *value)
{
	size_t i;

	for (i = 0; i < NODES; i++)
		redis_rig_say(&w->node[i], "CONFIG", "SET", option, value,
		    NULL);
	if (w->more.pid != 0)
		redis_rig_say(&w->more, "CONFIG", "SET", option, value, NULL);
}

/* A node that does not answer is missed soon; at other times only after longer
   than it is held up. */
static void
watch_closely(struct world *w, bool closely)
{
	set_on_all(w, "cluster-node-timeout", closely ? "1000" : "60000");
}

static void
killed(struct world *w)
{
	char here[24], there[24];
	struct redis_ask a;
	int64_t end_ms;

	watch_closely(w, false);
	set_on_all(w, "cluster-require-full-coverage", "no");
	redis_key_at(0, NODES, 5, here);
	redis_key_at(2, NODES, 5, there);
	open_client(&a, (const char *[]){ w->node[0].url }, 1);
	await_set(&a, here, "1");
	await_set(&a, there, "1");
	a.went = a.came = 0;
	redis_rig_kill(&w->node[2]);
	end_ms = redis_boot_ms() + PATIENCE_MS;
	do
		set(&a, there, "2");
	while (!idem_redis_away(a.client) && redis_boot_ms() < end_ms);
	ok(a.class == IDEM_CLASS_REFUSED && idem_redis_away(a.client) &&
	    a.went == 1, "a node that is dead is away: %s", a.text);
	redis_ask(&a, PATIENCE_MS, there, "SET", there, "3", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && a.away && a.ms < PATIENCE_MS,
	    "what is its own is refused at once [redis:1]");
	is(await_set(&a, here, "2"), "OK", "what is not is done");
	set_on_all(w, "cluster-require-full-coverage", "yes");
	watch_closely(w, true);
	if (!redis_rig_await(&w->node[0], FAIL_OVER_MS, "cluster_state:fail",
	    "CLUSTER", "INFO", NULL))
		bail_out("the cluster does not miss its node");
	/* Of one that is asked just before the end nothing is heard. */
	end_ms = redis_boot_ms() + PATIENCE_MS;
	do
		set(&a, here, "3");
	while (strstr(a.text, "CLUSTERDOWN") == NULL &&
	    a.class != IDEM_OK && redis_boot_ms() < end_ms);
	ok(a.class == IDEM_CLASS_REFUSED && strstr(a.text, "CLUSTERDOWN") !=
	    NULL, "a cluster that is down refuses [redis:16]: %s", a.text);
	redis_rig_again(&w->node[2], true);
	ok(redis_ask_await(&a, FAIL_OVER_MS, false) && a.came == 1,
	    "the node comes back, which is found without any command");
	redis_rig_await(&w->node[2], FAIL_OVER_MS, "cluster_state:ok",
	    "CLUSTER", "INFO", NULL);
	is(await_set(&a, there, "4"), "OK", "and its slots with it");
	watch_closely(w, false);
	redis_ask_close(&a);
}

static void
replaced(struct world *w)
{
	struct redis_ask a;
	char key[24], id[64];
	int64_t begin_ms;
	int late = 0;

	snprintf(id, sizeof id, "%s", redis_rig_say(&w->node[2], "CLUSTER",
	    "MYID", NULL));
	watch_closely(w, false);
	if (!redis_rig_await(&w->more, PATIENCE_MS, "OK", "CLUSTER",
	    "REPLICATE", id, NULL) || !redis_rig_await(&w->more, FAIL_OVER_MS,
	    "master_link_status:up", "INFO", "replication", NULL))
		bail_out("no replica");
	redis_key_at(2, NODES, 7, key);
	open_client(&a, (const char *[]){ w->node[0].url }, 1);
	await_set(&a, key, "1");
	a.went = a.came = 0;
	redis_rig_await(&w->more, PATIENCE_MS, redis_rig_say(&w->node[2],
	    "DBSIZE", NULL), "DBSIZE", NULL);
	redis_rig_kill(&w->node[2]);
	watch_closely(w, true);
	begin_ms = redis_boot_ms();
	while (strcmp(set(&a, key, "2"), "OK") != 0 &&
	    redis_boot_ms() - begin_ms < FAIL_OVER_MS) {
		late += a.late;
		redis_ask_turns(&a, 20, NULL);
	}
	ok(a.class == IDEM_OK, "its replica takes over, and is found: after "
	    "%lld ms", (long long)(redis_boot_ms() - begin_ms));
	is_int(late, 0, "meanwhile no command took longer than its deadline");
	redis_ask_turns(&a, 1200, NULL);
	ok(a.came == 1 && !idem_redis_away(a.client),
	    "and the dead one is not missed");
	redis_ask_close(&a);
}

int
main(void)
{
	static struct world w;
	const char *const options[] = {
		"--cluster-replica-validity-factor", "0",
		"--repl-diskless-sync-delay", "0", NULL };
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_cluster(w.node, NODES, options);
	killed(&w);
	redis_rig_join(&w.more, w.node, NODES, options);
	replaced(&w);
	redis_rig_end(&w.more);
	for (i = 0; i < NODES; i++)
		redis_rig_end(&w.node[i]);
	return done();
}
