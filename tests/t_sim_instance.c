/* SPDX-License-Identifier: ISC */
#include "instance.h"

#include "sim_rig.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define WAIT_MS 60000
#define LISTED 8192		/* bytes of a list of keys */

/* A request has its line when its client has the answer. */
static bool
await_lines(struct sim_rig *w, unsigned lines)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (w->lines < lines && idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(sim_loop, until_ms);
	return w->lines >= lines;
}

static void
test_ledger(void)
{
	static const char *const list[] = { "list", NULL };
	static const char *const wrong[] = { "no-such-command", NULL };
	int64_t from_us = sim_rig_now_us();
	char mark[32], out[LISTED], few[8];
	struct sim_rig w;

	sim_rig_prepare(&w);
	sim_rig_start(&w);
	note("idemd, spawn to ready: %.1f ms",
	    (double)(sim_rig_now_us() - from_us) / 1e3);
	ok(w.instance.up && w.instance.life == 1 &&
	    strcmp(w.instance.name, "g1") == 0, "an instance is up");
	is_int((long long)instance_processes(&w.instance), 3,
	    "it is a master, a lobby and a keeper");
	ok(instance_descriptors(&w.instance) > 5,
	    "its lobby has descriptors");
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 200, "it serves");
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 200, "it serves again");
	is(mark, "replayed", "what it knows");
	is_int(sim_rig_effects(&w, " g1 1 "), 3, "its program has begun, "
	    "committed and ended once, in g1's first life");
	ok(await_lines(&w, 3), "its log is told line by line");

	is_int(instance_ctl(sim_loop, &w.instance, list, out, sizeof out), 0,
	    "idemctl can be asked");
	ok(strstr(out, " completed ") != NULL, "and knows of the key");
	ok(instance_ctl(sim_loop, &w.instance, list, few, sizeof few) == 0 &&
	    strlen(few) < sizeof few && strncmp(few, out, 6) == 0,
	    "what it says is cut where there is no room");
	is_int(instance_ctl(sim_loop, &w.instance, wrong, out, sizeof out), 2,
	    "its exit status is told");
	is_int((long long)instance_processes(&w.instance), 3,
	    "nothing of it is left");
	sim_rig_stop(&w);
	ok(w.ends == 1 && w.ended == &w.instance.child && !w.instance.up &&
	    WIFEXITED(w.instance.child.status) &&
	    WEXITSTATUS(w.instance.child.status) == 0,
	    "it ends in order when it is told to");
	sim_rig_stop(&w);
}

static void
test_lives(void)
{
	char mark[32];
	struct sim_rig w;

	sim_rig_prepare(&w);
	w.plan.gates.workers = 2;
	sim_rig_start(&w);
	is_int((long long)instance_processes(&w.instance), 5,
	    "with two workers it is five processes");
	sim_rig_ask(&w, "\"k1\"", mark);
	is_int((long long)instance_kill(&w.instance, PLAN_WHOLE), 5,
	    "all of it is killed");
	is_int((long long)instance_processes(&w.instance), 0,
	    "and nothing of it is there then");
	ok(instance_again(sim_loop, &w.instance) == 0 &&
	    instance_await(sim_loop, &w.instance, SIM_UP_MS) == 0 &&
	    w.instance.life == 2, "it has a second life");
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 200, "and serves");
	is(mark, "replayed", "what it knew in its first");
	sim_rig_ask(&w, "\"k2\"", mark);
	is_int(sim_rig_effects(&w, " g1 2 "), 3,
	    "its programs know which life it is");
	sim_rig_stop(&w);
}

static bool
await_served(struct sim_rig *w)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;
	char mark[32];

	while (sim_rig_ask(w, "\"k1\"", mark) != 200) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			return false;
		loop_turn(sim_loop, idem_boot_ms(&idem_clock_real) + 20);
	}
	return true;
}

/* One of its processes, which was killed. */
static void
await_end(const struct sim_rig *w)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (w->ends == 0) {
		if (idem_boot_ms(&idem_clock_real) > until_ms)
			bail_out("nobody's end is told");
		loop_turn(sim_loop, idem_boot_ms(&idem_clock_real) + 100);
	}
}

static void
test_front(void)
{
	char mark[32];
	struct sim_rig w;

	sim_rig_prepare(&w);
	w.plan.gates.lighttpd = true;
	if (instance_missing(&w.plan) != NULL) {
		skip(instance_missing(&w.plan), "lighttpd");
		return;
	}
	sim_rig_start(&w);
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 200,
	    "through lighttpd it serves");
	sim_rig_ask(&w, "\"k1\"", mark);
	is(mark, "replayed", "what it knows too");
	is_int((long long)instance_kill(&w.instance, PLAN_WHOLE), 3,
	    "lighttpd is no part of the instance");
	is_int(sim_rig_ask(&w, "\"k1\"", mark), 503,
	    "and says that it is away");
	ok(instance_again(sim_loop, &w.instance) == 0 &&
	    instance_await(sim_loop, &w.instance, SIM_UP_MS) == 0,
	    "it comes back");
	/* lighttpd takes a second to believe that. */
	ok(await_served(&w), "behind the same lighttpd");
	w.ends = 0;
	kill(w.instance.front.pid, SIGKILL);
	await_end(&w);
	ok(w.ended == &w.instance.front && w.instance.child.pid != 0 &&
	    !w.instance.up, "the end of lighttpd is told as its own");
	ok(instance_again(sim_loop, &w.instance) == 0 &&
	    instance_await(sim_loop, &w.instance, SIM_UP_MS) == 0 &&
	    await_served(&w), "both come back");
	sim_rig_stop(&w);
	is_int((long long)child_find("g1.front", &(pid_t){ 0 }, 1), 0,
	    "lighttpd ends with it");
}

static void
test_refused(void)
{
	struct sim_rig w;

	sim_rig_prepare(&w);
	w.spec.make_ledger = false;
	instance_start(sim_loop, &w.instance, &w.spec);
	ok(instance_await(sim_loop, &w.instance, SIM_UP_MS) == -1 &&
	    w.ends == 1 && !w.instance.up && w.instance.child.pid == 0,
	    "one that ends at once is not waited for");
	ok(w.lines > 0, "and its reason is told");
	sim_rig_stop(&w);

	sim_rig_prepare(&w);
	sim_rig_start(&w);
	kill(w.instance.child.pid, SIGKILL);
	await_end(&w);
	ok(!w.instance.child.doomed && !w.instance.up &&
	    WTERMSIG(w.instance.child.status) == SIGKILL,
	    "an end that nobody wanted is told as one");
	sim_rig_stop(&w);
}

/* A scenario's own program; the right to search a folder makes it none. */
static void
test_program(void)
{
	const char *why;
	struct sim_rig w;

	sim_rig_prepare(&w);
	w.plan.handler.effect = PLAN_EXTERNAL;
	w.plan.handler.command = "/bin/sh";
	ok(instance_missing(&w.plan) == NULL, "a program can be executed");
	w.plan.handler.command = "/";
	why = instance_missing(&w.plan);
	is(why != NULL ? why : "nothing is said",
	    "/ cannot be executed: Is a directory", "a folder is none");
	sim_rig_stop(&w);
}

int
main(void)
{
	sim_rig_open();
	test_ledger();
	test_lives();
	test_front();
	test_refused();
	test_program();
	sim_rig_close();
	return done();
}
