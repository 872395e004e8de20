/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* Three real masters, of which one dies: without a replica, and with one. */
#define NODES 3
#define LIMIT_MS 300
#define SLACK_MS 1000		/* of a busy machine */
#define FAIL_OVER_MS 20000

struct world {
	struct redis_rig node[NODES], more;
};

static void
open_client(struct redis_ask *a, const char *const *urls, size_t len)
{
	memset(a, 0, sizeof *a);
	a->options.topology = IDEM_REDIS_CLUSTER;
	a->options.probe_ms = 300;
	redis_ask_open(a, urls, len);
}

static const char *
set(struct redis_ask *a, const char *key, const char *value)
{
	return redis_ask(a, LIMIT_MS, key, "SET", key, value, NULL);
}

static void
set_on_all(struct world *w, const char *option, const char *value)
{
	size_t i;

	for (i = 0; i < NODES; i++)
		redis_rig_say(&w->node[i], "CONFIG", "SET", option, value,
		    NULL);
}

static void
killed(struct world *w)
{
	char here[24], there[24];
	struct redis_ask a;
	int i;

	set_on_all(w, "cluster-require-full-coverage", "no");
	redis_key_at(0, NODES, 5, here);
	redis_key_at(2, NODES, 5, there);
	open_client(&a, (const char *[]){ w->node[0].url }, 1);
	set(&a, here, "1");
	set(&a, there, "1");
	redis_rig_kill(&w->node[2]);
	for (i = 0; i < 4 && !idem_redis_away(a.client); i++)
		set(&a, there, "2");
	ok(a.class == IDEM_CLASS_REFUSED && idem_redis_away(a.client) &&
	    a.went == 1, "a node that is dead is away: %s", a.text);
	set(&a, there, "3");
	ok(a.class == IDEM_CLASS_REFUSED && a.away && a.ms < LIMIT_MS,
	    "what is its own is refused at once [redis:1]");
	is(set(&a, here, "2"), "OK", "what is not is done");
	set_on_all(w, "cluster-require-full-coverage", "yes");
	if (!redis_rig_await(&w->node[0], FAIL_OVER_MS, "cluster_state:fail",
	    "CLUSTER", "INFO", NULL))
		bail_out("the cluster does not miss its node");
	/* Of one that is asked just before the end nothing is heard. */
	a.class = IDEM_CLASS_MAYBE;
	for (i = 0; i < 5 && a.class == IDEM_CLASS_MAYBE; i++)
		set(&a, here, "3");
	ok(a.class == IDEM_CLASS_REFUSED && strstr(a.text, "CLUSTERDOWN") !=
	    NULL, "a cluster that is down refuses [redis:16]: %s", a.text);
	redis_rig_again(&w->node[2], true);
	ok(redis_ask_await(&a, FAIL_OVER_MS, false) && a.came == 1,
	    "the node comes back, which is found without any command");
	redis_rig_await(&w->node[2], FAIL_OVER_MS, "cluster_state:ok",
	    "CLUSTER", "INFO", NULL);
	is(redis_ask(&a, 3000, there, "SET", there, "4", NULL), "OK",
	    "and its slots with it");
	redis_ask_close(&a);
}

static void
replaced(struct world *w)
{
	int64_t begin_ms, worst_ms = 0;
	struct redis_ask a;
	char key[24], id[64];

	snprintf(id, sizeof id, "%s", redis_rig_say(&w->node[2], "CLUSTER",
	    "MYID", NULL));
	if (!redis_rig_await(&w->more, 5000, "OK", "CLUSTER", "REPLICATE", id,
	    NULL) || !redis_rig_await(&w->more, FAIL_OVER_MS,
	    "master_link_status:up", "INFO", "replication", NULL))
		bail_out("no replica");
	redis_key_at(2, NODES, 7, key);
	open_client(&a, (const char *[]){ w->node[0].url }, 1);
	set(&a, key, "1");
	redis_rig_await(&w->more, 5000, redis_rig_say(&w->node[2], "DBSIZE",
	    NULL), "DBSIZE", NULL);
	redis_rig_kill(&w->node[2]);
	begin_ms = redis_boot_ms();
	while (strcmp(set(&a, key, "2"), "OK") != 0 &&
	    redis_boot_ms() - begin_ms < FAIL_OVER_MS) {
		worst_ms = a.ms > worst_ms ? a.ms : worst_ms;
		redis_ask_turns(&a, 20, NULL);
	}
	ok(a.class == IDEM_OK, "its replica takes over, and is found: after "
	    "%lld ms", (long long)(redis_boot_ms() - begin_ms));
	ok(worst_ms < LIMIT_MS + SLACK_MS, "meanwhile no command took longer "
	    "than its deadline: %lld ms", (long long)worst_ms);
	redis_ask_turns(&a, 1200, NULL);
	ok(a.came == 1 && !idem_redis_away(a.client),
	    "and the dead one is not missed");
	redis_ask_close(&a);
}

int
main(void)
{
	static struct world w;
	const char *const options[] = { "--cluster-node-timeout", "1000",
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
