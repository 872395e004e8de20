/* SPDX-License-Identifier: ISC */
#include "chaos_world.h"

#include "ask.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READY_MS 20000

/* --- its servers ---------------------------------------------------------- */

void
chaos_world_lead_to(struct chaos_world *w, size_t server)
{
	char fresh[RIG_PATH + 8];

	snprintf(fresh, sizeof fresh, "%s.new", w->link);
	unlink(fresh);
	if (symlink(w->server[server].socket, fresh) == -1 ||
	    rename(fresh, w->link) == -1)
		bail_out("%s: %s", w->link, strerror(errno));
	w->master = server;
}

void
chaos_world_follow(struct chaos_world *w, size_t server)
{
	char port[16];

	snprintf(port, sizeof port, "%d", w->server[w->master].port);
	redis_rig_say(&w->server[server], "REPLICAOF", "127.0.0.1", port,
	    NULL);
}

/* What is written survives the process, though not a power loss. */
static const char *const kept[] = { "--appendonly", "yes",
	"--repl-diskless-sync-delay", "0", NULL };

/* On this machine also while the disk is slow: with everysec a reply may be
   sent before its write while one is being synced. */
static const char *const written[] = { "--appendonly", "yes", "--appendfsync",
	"no", NULL };

static void
open_one(struct chaos_world *w)
{
	w->servers = 1;
	redis_rig_start(&w->server[0], written);
	chaos_world_lead_to(w, 0);
}

static void
open_pair(struct chaos_world *w)
{
	w->servers = 2;
	redis_rig_start(&w->server[0], kept);
	redis_rig_start(&w->server[1], kept);
	chaos_world_follow(w, 1);
	if (!redis_rig_await(&w->server[0], READY_MS, "state=online", "INFO",
	    "replication", NULL))
		bail_out("the replica does not come online");
}

static void
open_sentinels(struct chaos_world *w)
{
	size_t i;

	open_pair(w);
	for (i = 0; i < CHAOS_SENTINELS; i++)
		redis_rig_sentinel(&w->sentinel[i], CHAOS_MASTER,
		    w->server[0].port, 2, 1000);
	for (i = 0; i < CHAOS_SENTINELS; i++)
		if (!redis_rig_await(&w->sentinel[i], READY_MS,
		    "num-slaves 1 num-other-sentinels 2", "SENTINEL", "MASTER",
		    CHAOS_MASTER, NULL))
			bail_out("sentinel %zu does not see the others", i);
}

static void
open_cluster(struct chaos_world *w)
{
	size_t i;

	w->servers = 3;
	redis_rig_cluster(w->server, w->servers, kept);
	for (i = 0; i < CHAOS_SLOTS; i++)	/* as redis_rig.h says */
		w->owner[i] = (uint8_t)((i * w->servers + w->servers - 1) /
		    CHAOS_SLOTS);
}

static void
open_servers(struct chaos_world *w)
{
	snprintf(w->link, sizeof w->link, "%s", rig_at(&w->rig[0], "redis"));
	snprintf(w->snapshot, sizeof w->snapshot, "%s",
	    rig_at(&w->rig[0], "snapshot"));
	switch (w->mode->topology) {
	case CHAOS_FAITHFUL:
	case CHAOS_STILL:
		open_one(w);
		return;
	case CHAOS_SINGLE:
		open_pair(w);
		chaos_world_lead_to(w, 0);
		return;
	case CHAOS_SENTINEL:
		open_sentinels(w);
		return;
	case CHAOS_CLUSTER:
		open_cluster(w);
		return;
	}
}

/* --- its instances -------------------------------------------------------- */

static void
put_redis(struct idem_buf *conf, const struct chaos_world *w, const char *name)
{
	size_t i;

	idem_buf_printf(conf, "%s = redis { probe = '300ms',\n    ", name);
	switch (w->mode->topology) {
	case CHAOS_FAITHFUL:
	case CHAOS_STILL:
	case CHAOS_SINGLE:
		idem_buf_printf(conf, "url = 'unix:%s'", w->link);
		break;
	case CHAOS_SENTINEL:
		idem_buf_text(conf, "master = '" CHAOS_MASTER
		    "', sentinels = { ");
		for (i = 0; i < CHAOS_SENTINELS; i++)
			idem_buf_printf(conf, "'%s', ", w->sentinel[i].url);
		idem_buf_text(conf, "}");
		break;
	case CHAOS_CLUSTER:
		idem_buf_text(conf, "cluster = { ");
		for (i = 0; i < w->servers; i++)
			idem_buf_printf(conf, "'%s', ", w->server[i].url);
		idem_buf_text(conf, "}");
		break;
	}
	idem_buf_text(conf, " }\n");
}

/* Every second one has no answers in memory, so that its stores are asked. */
static void
put_conf(struct idem_buf *conf, struct chaos_world *w, unsigned i)
{
	const struct chaos_mode *mode = w->mode;

	idem_buf_printf(conf, "workers = 1\nprograms = 6\nqueue = 1000\n"
	    "grace = '%dms'\nlocal_cache = %s\n", CHAOS_GRACE_MS,
	    i % 2 == 0 ? "'none'" : "{ age = '60s' }");
	if (mode->ledger)
		idem_buf_printf(conf, "ledger = sqlite { path = '%s', "
		    "create = true }\n", w->rig[0].ledger);
	else
		idem_buf_printf(conf, "run = '%s/run'\n", w->rig[i].folder);
	if (mode->shared)
		put_redis(conf, w, "shared");
	if (mode->cache)
		put_redis(conf, w, "cache");
	if (mode->tokens)
		idem_buf_printf(conf, "tokens = { keys = '%s/keys', "
		    "rate = 100000, burst = 100000 }\n", w->rig[0].folder);
	idem_buf_printf(conf, "route { path = '/order', %s\n"
	    "    lease = '%dms', limit = '10s', in_progress = wait '2s',\n"
	    "    program = cgi { '%s/order' } }\n", mode->route,
	    mode->struck == CHAOS_LOBBIES ? CHAOS_LONG_LEASE_MS :
	    CHAOS_LEASE_MS, w->rig[0].folder);
	idem_buf_u8(conf, 0);
	if (!idem_buf_ok(conf))
		bail_out("out of memory");
}

static void
start_instance(struct chaos_world *w, unsigned i)
{
	struct idem_buf conf = { 0 };

	put_conf(&conf, w, i);
	rig_file(&w->rig[i], "idem.conf", (const char *)conf.at);
	idem_buf_free(&conf);
	ask_start(&w->rig[i], (const char *[]){ "--config",
	    rig_at(&w->rig[i], "idem.conf"), NULL });
}

void
chaos_world_open(struct chaos_world *w, const struct chaos_mode *mode,
    unsigned instances)
{
	unsigned i;

	memset(w, 0, sizeof *w);
	w->mode = mode;
	w->instances = instances;
	for (i = 0; i < instances; i++) {
		rig_open(&w->rig[i]);
		w->rig[i].bare = true;
	}
	rig_order(&w->rig[0]);
	rig_file(&w->rig[0], "keys", "a 000102030405060708090a0b0c0d0e0f\n");
	if (chmod(rig_at(&w->rig[0], "keys"), 0600) == -1)
		bail_out("chmod: %s", strerror(errno));
	open_servers(w);
	for (i = 0; i < instances; i++)
		start_instance(w, i);
}

unsigned
chaos_world_close(struct chaos_world *w)
{
	unsigned i, bad = 0;
	size_t n;

	for (i = 0; i < w->instances; i++)
		bad += rig_stop(&w->rig[i], 20000) != 0;
	for (i = w->instances; i-- > 0; )
		rig_end(&w->rig[i]);
	for (n = 0; n < CHAOS_SENTINELS; n++)
		redis_rig_end(&w->sentinel[n]);
	for (n = 0; n < w->servers; n++)
		redis_rig_end(&w->server[n]);
	return bad;
}
