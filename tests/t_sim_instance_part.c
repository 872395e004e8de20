/* SPDX-License-Identifier: ISC */
#include "instance_private.h"

#include "sim_rig.h"
#include "stops.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* A process is stopped: so the state of its lobby, say. */
static size_t
stopped(void)
{
	struct child_stat st;
	pid_t pids[64];
	size_t n = child_find("g1", pids, 64), i, all = 0;

	for (i = 0; i < n && i < 64; i++)
		all += child_stat(pids[i], &st) && st.state == 'T';
	return all;
}

/* With a lobby and a keeper that wait for a request: what is to die of the one
   before may be there as long as the keeper that is to follow is not. */
static bool
await_rest(struct sim_rig *w)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + SIM_UP_MS;

	while (instance_processes(&w->instance) != 3 ||
	    !instance_rests(&w->instance)) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			return false;
		loop_turn(sim_loop, idem_boot_ms(&idem_clock_real) + 2);
	}
	return true;
}

/* And did not just wait in vain. */
static bool
is_told(const struct call *c)
{
	return c->end != OUTCOME_TIMEOUT && c->status != 200;
}

static void
test_parts(void)
{
	struct call c;
	struct sim_rig w;
	bool over;
	size_t i;
	static const struct {
		enum plan_part part;
		const char *what;
		size_t n;
	} rows[] = {
		{ PLAN_LOBBY, "the lobby", 1 },
		{ PLAN_KEEPER, "the keeper", 1 },
		{ PLAN_PROGRAM, "the program", 1 },
		{ PLAN_WHOLE, "all of it", 4 }
	};

	sim_rig_prepare(&w);
	/* Longer than anybody waits: no end but those below. */
	w.plan.handler.service_ms.a = 600000;
	sim_rig_start(&w);
	is_int((long long)instance_kill(&w.instance, PLAN_PROGRAM), 0,
	    "before a request it has no program");
	sim_rig_begin(&w, &c, "\"k1\"", &over);
	sim_rig_await_effects(&w, " begin ", 1);
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		is_int((long long)instance_pause(&w.instance, rows[i].part),
		    (long long)rows[i].n, "%s can be stopped", rows[i].what);
		is_int((long long)stopped(), (long long)rows[i].n,
		    "and nothing else stops");
		if (rows[i].part == PLAN_WHOLE)
			ok(!instance_is_busy(&w.instance),
			    "and who is stopped is not waited for");
		instance_resume(&w.instance, rows[i].part);
		is_int((long long)stopped(), 0, "%s goes on", rows[i].what);
	}
	is_int((long long)instance_kill(&w.instance, PLAN_PROGRAM), 1,
	    "the program can be killed");
	sim_rig_await(&over);
	ok(over && is_told(&c) && await_rest(&w),
	    "its client is told, and the instance stays");
	call_free(&c);

	sim_rig_begin(&w, &c, "\"k2\"", &over);
	sim_rig_await_effects(&w, " begin ", 2);
	is_int((long long)instance_kill(&w.instance, PLAN_KEEPER), 1,
	    "the keeper can be killed");
	sim_rig_await(&over);
	ok(over && is_told(&c), "its client is told");
	call_free(&c);

	await_rest(&w);
	sim_rig_begin(&w, &c, "\"k3\"", &over);
	sim_rig_await_effects(&w, " begin ", 3);
	is_int((long long)instance_kill(&w.instance, PLAN_LOBBY), 1,
	    "the lobby can be killed");
	sim_rig_await(&over);
	ok(over && c.end == OUTCOME_CUT && c.status == 0 &&
	    w.instance.child.pid != 0,
	    "its client loses its connection, and the instance stays");
	call_free(&c);
	/* It would wait for its program. */
	instance_end(sim_loop, &w.instance, 0);
	sim_rig_stop(&w);
	ok(!instance_is_busy(&w.instance), "nor who has ended");
	is_int((long long)child_find("g1", &(pid_t){ 0 }, 1), 0,
	    "what still ran ends with the instance");
}

struct reached {
	struct stops *stops;
	char text[200];		/* "LABEL LANE LABEL LANE" */
	bool keyed;		/* each named a key */
};

static void
on_reached(void *arg, const struct stop *stop)
{
	struct reached *r = arg;
	size_t len = strlen(r->text);

	snprintf(r->text + len, sizeof r->text - len, "%s%s %s",
	    len > 0 ? " " : "", stop->label, stop->lane);
	r->keyed = r->keyed && strlen(stop->key) == 64;
	stops_go(r->stops, stop->id);
}

static void
test_labels(void)
{
	struct reached r = { .keyed = true };
	char path[100], mark[32];
	struct sim_rig w;

	sim_rig_prepare(&w);
	snprintf(path, sizeof path, "%s/stops", w.folder);
	r.stops = stops_open(sim_loop, path, on_reached, &r);
	w.spec.stops = path;
	w.spec.labels = "claim.ok,effect.before,effect.after";
	sim_rig_start(&w);
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 200,
	    "it serves while its labels are waited for");
	is(r.text, "claim.ok g1 effect.before g1 effect.after g1",
	    "those of idemd and of the program are told in their order");
	ok(r.keyed, "each with its store key");
	sim_rig_stop(&w);
	stops_close(r.stops);
}

int
main(void)
{
	sim_rig_open();
	test_parts();
	test_labels();
	sim_rig_close();
	return done();
}
