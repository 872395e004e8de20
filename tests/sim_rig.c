/* SPDX-License-Identifier: ISC */
#include "sim_rig.h"

#include "paths.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 60000
#define STOP_MS 20000

struct loop *sim_loop;
static const char *below;

int64_t
sim_rig_now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void
write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd == -1 ||
	    write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		bail_out("%s: %s", path, strerror(errno));
	close(fd);
}

static void
on_log(struct instance *i, const char *line, size_t len)
{
	struct sim_rig *w = i->arg;

	(void)line;
	w->lines += len > 0;
}

static void
on_ended(struct instance *i, struct child *which)
{
	struct sim_rig *w = i->arg;

	w->ends++;
	w->ended = which;
}

void
sim_rig_prepare(struct sim_rig *w)
{
	static unsigned n;

	memset(w, 0, sizeof *w);
	w->store = (struct plan_store){ .name = "a",
		.replica_of = PLAN_NONE };
	w->plan = (struct plan){
		.stores = &w->store, .stores_n = 1,
		.gates = { .n = 1, .store = PLAN_NONE, .workers = 1 },
		.handler = { .service_ms = { .kind = PLAN_CONST, .a = 1 },
			.partial_output = -1 }
	};
	snprintf(w->folder, sizeof w->folder, "%.40s/%u", below, ++n);
	snprintf(w->ledger, sizeof w->ledger, "%s/ledger.db", w->folder);
	snprintf(w->effects, sizeof w->effects, "%s/effects", w->folder);
	snprintf(w->keys, sizeof w->keys, "%s/keys", w->folder);
	if (mkdir(w->folder, 0700) == -1)
		bail_out("%s: %s", w->folder, strerror(errno));
	write_text(w->effects, "");
	w->spec = (struct instance_spec){
		.plan = &w->plan, .number = 1, .folder = w->folder,
		.ledger = w->ledger, .make_ledger = true,
		.program = paths_find("idemsim-program"),
		.effects = w->effects
	};
	w->instance.log = on_log;
	w->instance.ended = on_ended;
	w->instance.arg = w;
}

void
sim_rig_store(struct sim_rig *w, enum plan_arbiter arbiter)
{
	w->plan.gates.arbiter = arbiter;
	w->plan.gates.store = 0;
	w->plan.gates.cached = arbiter == PLAN_LEDGER;
	if (arbiter != PLAN_LEDGER)
		w->spec.ledger = NULL;
	if (server_start(sim_loop, &w->server, &w->store, w->folder, 0, NULL)
	    == -1)
		bail_out("redis-server: %s", strerror(errno));
	w->spec.store_url = w->server.url;
	if (arbiter == PLAN_TOKEN) {
		write_text(w->keys, "sim 000102030405060708090a0b0c0d0e0f\n");
		w->spec.token_keys = w->keys;
	}
}

static void
tell_log(const struct sim_rig *w)
{
	char path[160], line[512];
	FILE *log;

	snprintf(path, sizeof path, "%s/g1/log", w->folder);
	log = fopen(path, "re");
	while (log != NULL && fgets(line, sizeof line, log) != NULL)
		note("%.*s", (int)strcspn(line, "\n"), line);
	if (log != NULL)
		fclose(log);
}

void
sim_rig_start(struct sim_rig *w)
{
	if (instance_start(sim_loop, &w->instance, &w->spec) == -1)
		bail_out("idemd: %s", strerror(errno));
	if (w->server.in != NULL &&
	    server_await(sim_loop, &w->server, SIM_UP_MS) == -1)
		bail_out("redis-server does not come up");
	if (instance_await(sim_loop, &w->instance, SIM_UP_MS) == 0)
		return;
	tell_log(w);
	bail_out("idemd does not come up: %s", strerror(errno));
}

void
sim_rig_stop(struct sim_rig *w)
{
	instance_end(sim_loop, &w->instance, STOP_MS);
	server_end(&w->server);
}

static void
on_done(struct call *c)
{
	bool *over = c->arg;

	*over = true;
}

void
sim_rig_begin(struct sim_rig *w, struct call *c, const char *key, bool *over)
{
	*over = false;
	*c = (struct call){ .socket = w->instance.socket,
		.http = w->instance.http, .method = "POST", .path = "/order",
		.program = w->spec.program, .key = key,
		.body = idem_bytes_text("item=tea"), .timeout_ms = WAIT_MS,
		.done = on_done, .arg = over };
	call_start(sim_loop, c);
}

void
sim_rig_await(bool *over)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (!*over && idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(sim_loop, until_ms);
}

int
sim_rig_ask(struct sim_rig *w, const char *key, char mark[32])
{
	struct call c;
	bool over;
	int status;

	sim_rig_begin(w, &c, key, &over);
	sim_rig_await(&over);
	status = c.status;
	snprintf(mark, 32, "%s", c.mark);
	call_free(&c);
	return status;
}

long
sim_rig_effects(const struct sim_rig *w, const char *part)
{
	char line[512];
	FILE *journal = fopen(w->effects, "re");
	long n = 0;

	while (journal != NULL && fgets(line, sizeof line, journal) != NULL)
		n += strstr(line, part) != NULL;
	if (journal != NULL)
		fclose(journal);
	return n;
}

bool
sim_rig_await_effects(const struct sim_rig *w, const char *part, long n)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (sim_rig_effects(w, part) < n) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			return false;
		loop_turn(sim_loop, idem_boot_ms(&idem_clock_real) + 1);
	}
	return true;
}

bool
sim_rig_processes(struct sim_rig *w, size_t n)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (instance_processes(&w->instance) != n) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			return false;
		loop_turn(sim_loop, idem_boot_ms(&idem_clock_real) + 2);
	}
	return true;
}

void
sim_rig_open(void)
{
	static const struct plan plan = { .number = 1 };

	if (instance_missing(&plan) != NULL)
		skip_all(instance_missing(&plan));
	sim_loop = loop_new(&idem_clock_real);
	below = child_warden_start();
	if (sim_loop == NULL || below == NULL)
		bail_out("no folder: %s", strerror(errno));
}

void
sim_rig_close(void)
{
	char folder[64];

	snprintf(folder, sizeof folder, "%s", below);
	loop_free(sim_loop);
	child_warden_end(false);
	ok(access(folder, F_OK) == -1, "nothing is left");
}
