/* SPDX-License-Identifier: ISC */
#include "chaos.h"

#include "chaos_fault.h"
#include "chaos_load.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

#define REDIS "arbiter = 'redis', "
#define STRUCK(name, whom, what_) \
	{ name "-ledger", "", CHAOS_FAITHFUL, CHAOS_ALWAYS, whom, \
	    .ledger = true, .what = "`ledger`, " what_ }, \
	{ name "-token", "arbiter = 'token',", CHAOS_FAITHFUL, CHAOS_ALWAYS, \
	    whom, .shared = true, .tokens = true, \
	    .what = "`token`, " what_ }, \
	{ name "-redis", REDIS, CHAOS_FAITHFUL, CHAOS_ALWAYS, whom, \
	    .shared = true, .what = "`redis`, " what_ }

static const struct chaos_mode modes[] = {
	{ "ledger", "", CHAOS_SINGLE, CHAOS_ALWAYS,
	    .ledger = true, .cache = true,
	    .what = "`ledger`, Redis as cache" },
	{ "token", "arbiter = 'token',", CHAOS_SINGLE, CHAOS_OR_UNKNOWN,
	    .shared = true, .tokens = true, .what = "`token`" },
	{ "redis", REDIS, CHAOS_SINGLE, CHAOS_WHILE,
	    .shared = true, .what = "`redis`" },
	{ "setnx", REDIS "scheme = 'setnx',", CHAOS_SINGLE, CHAOS_NONE,
	    .shared = true, .what = "`redis`, `scheme = \"setnx\"`" },
	{ "check", REDIS "scheme = 'check',", CHAOS_SINGLE, CHAOS_NONE,
	    .shared = true, .what = "`redis`, `scheme = \"check\"`" },
	{ "memory", REDIS "on_outage = 'memory',", CHAOS_SINGLE, CHAOS_NONE,
	    .shared = true, .what = "`redis`, `on_outage = \"memory\"`" },
	{ "database", REDIS "on_outage = 'database',", CHAOS_SINGLE,
	    CHAOS_NONE, .shared = true, .ledger = true,
	    .what = "`redis`, `on_outage = \"database\"`" },
	{ "pass", REDIS "on_outage = 'pass',", CHAOS_SINGLE, CHAOS_NONE,
	    .shared = true, .what = "`redis`, `on_outage = \"pass\"`" },
	/* While it remembers, it promises what the ledger does. */
	{ "faithful-redis", REDIS, CHAOS_FAITHFUL, CHAOS_ALWAYS,
	    .shared = true, .what = "`redis`, nothing forgotten" },
	{ "faithful-setnx", REDIS "scheme = 'setnx',", CHAOS_FAITHFUL,
	    CHAOS_NONE, .shared = true,
	    .what = "`scheme = \"setnx\"`, nothing forgotten" },
	{ "faithful-check", REDIS "scheme = 'check',", CHAOS_FAITHFUL,
	    CHAOS_NONE, .shared = true,
	    .what = "`scheme = \"check\"`, nothing forgotten" },
	{ "sentinel-token", "arbiter = 'token',", CHAOS_SENTINEL,
	    CHAOS_OR_UNKNOWN, .shared = true, .tokens = true,
	    .what = "`token`, Sentinel fails over" },
	{ "sentinel-redis", REDIS, CHAOS_SENTINEL, CHAOS_WHILE,
	    .shared = true, .what = "`redis`, Sentinel fails over" },
	{ "cluster-token", "arbiter = 'token',", CHAOS_CLUSTER,
	    CHAOS_OR_UNKNOWN, .shared = true, .tokens = true,
	    .what = "`token`, slots of a cluster move" },
	/* Nothing is lost when a slot moves. */
	{ "cluster-redis", REDIS, CHAOS_CLUSTER, CHAOS_ALWAYS,
	    .shared = true, .what = "`redis`, slots of a cluster move" },
	/* Nothing but idemd itself is struck. */
	STRUCK("lobbies", CHAOS_LOBBIES, "lobbies killed"),
	STRUCK("keepers", CHAOS_KEEPERS, "keepers killed"),
	STRUCK("workers", CHAOS_WORKERS, "workers killed"),
	STRUCK("sleepers", CHAOS_SLEEPERS, "lobbies stopped"),
	{ "many-ledger", "", CHAOS_STILL, CHAOS_ALWAYS,
	    .ledger = true, .cache = true, .what = "`ledger`" },
	{ "many-token", "arbiter = 'token',", CHAOS_STILL, CHAOS_ALWAYS,
	    .shared = true, .tokens = true, .what = "`token`" },
	{ "many-redis", REDIS, CHAOS_STILL, CHAOS_ALWAYS,
	    .shared = true, .what = "`redis`" }
};

const struct chaos_mode *
chaos_mode_at(size_t i)
{
	return i < sizeof modes / sizeof *modes ? &modes[i] : NULL;
}

const struct chaos_mode *
chaos_mode(const char *name)
{
	const struct chaos_mode *mode;
	size_t i;

	for (i = 0; (mode = chaos_mode_at(i)) != NULL; i++)
		if (strcmp(mode->name, name) == 0)
			return mode;
	return NULL;
}

/* --- what must hold ------------------------------------------------------- */

static void
tell(const struct chaos_run *r, const struct chaos_load *load)
{
	const struct chaos_count *c = &r->count;
	enum chaos_answer a;

	note("%s: %u keys, %u starts, %u keys twice or more, one of them %u "
	    "times", r->mode->name, c->keys, c->starts, c->twice, c->most);
	for (a = CHAOS_STORED; a < CHAOS_ANSWERS; a++)
		if (c->answers[a] > 0)
			note("%s: %llu x %s", r->mode->name,
			    (unsigned long long)c->answers[a],
			    chaos_answer_text(a));
	note("%s: %u answers differ from a final one before, %u are none "
	    "after one", r->mode->name, c->other, c->forgotten);
	note("%s: %u keys without the program's answer, %u of them unknown, "
	    "%u asks given up", r->mode->name, c->keys - c->told, c->unknown,
	    load->given_up);
}

static void
tell_wrong(const struct chaos_run *r)
{
	uint32_t i;

	for (i = 0; i < r->count.shown_len; i++)
		note("%s: %s", r->mode->name, r->count.shown[i]);
}

/* What holds of every mode. */
static void
judge_any(const struct chaos_run *r)
{
	const struct chaos_count *c = &r->count;
	const char *name = r->mode->name;

	ok(c->keys > 0 && c->told > 0, "%s: there are answers: for %u of %u "
	    "keys", name, c->told, c->keys);
	if (!is_int(c->foreign, 0,
	    "%s: no answer is another key's, and none is cut", name))
		tell_wrong(r);
	is_int(c->false_503, 0,
	    "%s: what is said not to have been started was not", name);
	is_int(c->untrue, 0, "%s: who has an answer was started", name);
	is_int(c->strays, 0, "%s: nothing else was started", name);
	is_int(c->unsettled, 0, "%s: when all is quiet each key is settled",
	    name);
	if (!is_int((long long)c->answers[CHAOS_ODD], 0,
	    "%s: every answer is one of those that may be", name))
		tell_wrong(r);
}

static void
judge_once(const struct chaos_run *r)
{
	const struct chaos_count *c = &r->count;
	const char *name = r->mode->name;

	ok(c->twice == 0, "%s: no key is started twice: %u of %u keys", name,
	    c->twice, c->keys);
	is_int(c->other, 0, "%s: all final answers to a key are the same",
	    name);
}

/* What a lobby did not live to tell, the journal does. */
static void
judge_known(const struct chaos_run *r)
{
	const struct chaos_count *c = &r->count;
	const char *name = r->mode->name;

	is_int(c->unknown, 0, "%s: no key is unknown when all is quiet", name);
	is_int((long long)(c->answers[CHAOS_UNKNOWN] + c->answers[CHAOS_CUT]),
	    0, "%s: and nobody was told that one is", name);
}

static void
judge(const struct chaos_run *r)
{
	const struct chaos_count *c = &r->count;
	const char *name = r->mode->name;

	judge_any(r);
	if (r->mode->struck == CHAOS_LOBBIES)
		judge_known(r);
	switch (r->mode->promise) {
	case CHAOS_ALWAYS:
		judge_once(r);
		if (!is_int(c->forgotten, 0,
		    "%s: who has read it gets it again", name))
			tell_wrong(r);
		return;
	case CHAOS_OR_UNKNOWN:
		judge_once(r);
		return;
	case CHAOS_WHILE:
	case CHAOS_NONE:
		note("%s: %s", name, c->twice > 0 ?
		    "it keeps no promise through this, as it says" :
		    "it may start a key twice, and did not this time");
		return;
	}
}

/* --- a run ---------------------------------------------------------------- */

static void
finish(struct chaos_run *r, struct chaos_world *w, struct chaos_load *load)
{
	chaos_load_end(load);
	r->count = load->count;
	r->load_ms = load->ms;
	chaos_count_starts(&r->count, w, load->ops, load->len);
	tell(r, load);
	judge(r);
	chaos_load_free(load);
	is_int(chaos_world_close(w), 0,
	    "%s: every idemd ends with status 0", r->mode->name);
}

void
chaos_run(struct chaos_run *r)
{
	static struct chaos_world w;
	static struct chaos_load load;
	struct chaos_faults faults = { .world = &w, .chance = r->seed };

	chaos_world_open(&w, r->mode, CHAOS_INSTANCES);
	chaos_load_begin(&load, &(struct chaos_load_options){
	    .world = &w, .seed = r->seed, .lines = 48, .ops_max = 200000,
	    .pace_us = 5000,
	    .late_ms = r->ms < 27000 ? (uint32_t)r->ms / 3 : 9000 });
	chaos_faults(&faults, r->ms);
	chaos_faults_tell(&faults, r->faults, sizeof r->faults);
	note("%s: %s", r->mode->name, r->faults);
	finish(r, &w, &load);
}

void
chaos_many(struct chaos_run *r, uint32_t keys)
{
	static struct chaos_world w;
	static struct chaos_load load;

	chaos_world_open(&w, r->mode, CHAOS_INSTANCES_MAX);
	chaos_load_begin(&load, &(struct chaos_load_options){
	    .world = &w, .seed = r->seed, .lines = 256, .ops_max = keys,
	    .each = true });
	finish(r, &w, &load);
	is_int(r->count.keys, keys, "%s: all %u keys were asked for",
	    r->mode->name, keys);
	is_int(r->count.starts, keys, "%s: each was started once",
	    r->mode->name);
}
