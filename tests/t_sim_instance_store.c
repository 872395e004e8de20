/* SPDX-License-Identifier: ISC */
#include "instance.h"

#include "sim_rig.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Who has to wait for the processor is no Redis that is away. */
static const struct plan_pair patient[] = {
	{ "store_timeout", "10s" }, { "budget", "20s" }
};

static void
count_record(void *arg, const char *hex, const char *state, unsigned attempt)
{
	unsigned *completed = arg;

	/* A cache keeps no attempt. */
	*completed += strlen(hex) == 64 && attempt <= 1 &&
	    strcmp(state, "completed") == 0;
}

/* A cache is told after the client is. */
static unsigned
await_completed(struct sim_rig *w)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + SIM_UP_MS;
	unsigned completed;

	do {
		completed = 0;
		if (server_records(&w->server, "idem:", count_record,
		    &completed) != 0)
			return 0;
		loop_turn(sim_loop, idem_boot_ms(&idem_clock_real) + 2);
	} while (completed == 0 && idem_boot_ms(&idem_clock_real) < until_ms);
	return completed;
}

static void
test_stores(void)
{
	static const struct plan_pair many[] = {
		{ "lease", "90s" }, { "on_unknown", "retry 3" },
		{ "on_outage", "memory" }, { "in_progress", "wait" },
		{ "wait", "250ms" }, { "queue_wait", "60s" }, { "keep", "1h" },
		{ "keep_min", "30m" }, { "tombstone", "1d" },
		{ "limit", "60s" }, { "spool", "false" },
		{ "store_exit", "any" }, { "kept_max", "1MiB" },
		{ "body_max", "2MiB" }, { "lost_signal", "TERM" },
		{ "required", "true" }, { "grace", "1s" }, { "programs", "3" },
		{ "queue", "7" }, { "local_cache", "1MiB" },
		{ "reserve", "1MiB" }, { "store_timeout", "11s" },
		{ "budget", "21s" }, { "probe_every", "300ms" }
	};
	static const struct {
		enum plan_arbiter arbiter;
		const char *what;
		const struct plan_pair *config;
		size_t configs;
	} rows[] = {
		{ PLAN_REDIS, "a Redis as arbiter, and much configured",
		  many, sizeof many / sizeof *many },
		{ PLAN_REDIS, "a Redis as arbiter", patient, 2 },
		{ PLAN_LEDGER, "a ledger and a cache", patient, 2 }
	};
	int64_t from_us;
	char mark[32];
	struct sim_rig w;
	size_t i;

	if (server_missing(false) != NULL) {
		skip(server_missing(false), "Redis");
		return;
	}
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		sim_rig_prepare(&w);
		from_us = sim_rig_now_us();
		w.plan.gates.config = rows[i].config;
		w.plan.gates.configs = rows[i].configs;
		sim_rig_store(&w, rows[i].arbiter);
		sim_rig_start(&w);
		note("%s, spawn to ready: %.1f ms", rows[i].what,
		    (double)(sim_rig_now_us() - from_us) / 1e3);
		is_int(sim_rig_ask(&w, "\"k1\"", mark), 200, "%s: it serves",
		    rows[i].what);
		sim_rig_ask(&w, "\"k1\"", mark);
		is(mark, "replayed", "%s: what it knows too", rows[i].what);
		ok(await_completed(&w) == 1, "%s: the record is in the server",
		    rows[i].what);
		sim_rig_stop(&w);
	}
}

static void
test_tokens(void)
{
	static const char *const mint[] = { "token", NULL };
	char token[512], mark[32];
	struct sim_rig w;

	if (server_missing(false) != NULL) {
		skip(server_missing(false), "tokens");
		return;
	}
	sim_rig_prepare(&w);
	w.plan.gates.config = patient;
	w.plan.gates.configs = 2;
	sim_rig_store(&w, PLAN_TOKEN);
	sim_rig_start(&w);
	is_int(instance_ctl(sim_loop, &w.instance, mint, token, sizeof token),
	    0, "a token is minted");
	token[strcspn(token, "\n")] = '\0';
	is_int(sim_rig_ask(&w, token, mark), 200, "and taken");
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 403, "another key is not");
	sim_rig_stop(&w);
}

static void
test_sentinels(void)
{
	struct server sentinels[SERVER_SENTINELS] = { 0 };
	const char *urls[SERVER_SENTINELS + 1] = { NULL };
	char mark[32];
	struct sim_rig w;
	int i;

	if (server_missing(true) != NULL) {
		skip(server_missing(true), "sentinels");
		return;
	}
	sim_rig_prepare(&w);
	w.plan.gates.config = patient;
	w.plan.gates.configs = 2;
	sim_rig_store(&w, PLAN_REDIS);
	server_await(sim_loop, &w.server, SIM_UP_MS);
	if (server_watch(sim_loop, sentinels, &w.server, w.folder) == -1)
		bail_out("sentinels: %s", strerror(errno));
	for (i = 0; i < SERVER_SENTINELS; i++) {
		server_await(sim_loop, &sentinels[i], SIM_UP_MS);
		urls[i] = sentinels[i].url;
	}
	w.spec.sentinels = urls;
	w.spec.store_url = "a";
	sim_rig_start(&w);
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 200,
	    "the server is found by its sentinels");
	sim_rig_stop(&w);
	for (i = 0; i < SERVER_SENTINELS; i++)
		server_end(&sentinels[i]);
}

int
main(void)
{
	sim_rig_open();
	test_stores();
	test_tokens();
	test_sentinels();
	sim_rig_close();
	return done();
}
