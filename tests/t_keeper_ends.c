/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include "keeper_rig.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FLOOD_RUNS 400u
#define UNHEARD_RUNS 5000u	/* more than a keeper holds */
#define GRACE_MS 400
#define LIMIT_MS 1000	/* or more, until it is ready before its limit */

static void
test_own_descriptors(void)
{
	int extra = open("/dev/null", O_RDONLY);
	struct rig_run run = rig_sh("exit 0");
	struct rig g;

	rig_open(&g, GRACE_MS);
	rig_run(&g, &run);
	is_int(rig_await_descriptors(&g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "a keeper keeps nothing of its parent's open");
	rig_close(&g);
	close(extra);
}

/*
 * More than the socket holds and than descriptors are to be had.  What was
 * taken is answered, what was not is not, and all works again after it.
 */
static void
test_flood(void)
{
	char *envp[2][3] = { { "A=1" }, { "A=1" } };
	struct rlimit before, few;
	struct rig_run *runs = calloc(FLOOD_RUNS, sizeof *runs), last;
	unsigned i, refused = 0, started = 0, busy = 0;
	struct rig g;

	/* Fewer descriptors than locks, and packets so large that few fit. */
	getrlimit(RLIMIT_NOFILE, &before);
	few = before;
	few.rlim_cur = FLOOD_RUNS / 2;
	setrlimit(RLIMIT_NOFILE, &few);
	rig_open(&g, GRACE_MS);
	setrlimit(RLIMIT_NOFILE, &before);
	envp[0][1] = rig_variable("LONG=", 20000);
	envp[1][1] = rig_variable("LONGER=", 40000);
	kill(g.keeper, SIGSTOP);
	for (i = 0; i < FLOOD_RUNS && runs != NULL; i++) {
		runs[i] = rig_sh("");
		runs[i].path = "/bin/true";
		runs[i].envp = envp[i % 2];
		runs[i].keyed = i % 4 != 3;
		runs[i].no_slot = true;
		while (rig_try(&g, &runs[i]) != 0) {
			/* Full: from now on it takes them as they come. */
			refused++;
			kill(g.keeper, SIGCONT);
			rig_pause(&g, 1);
		}
		rig_follow(&g, &runs[i]);
		close(runs[i].out_fd);
	}
	kill(g.keeper, SIGCONT);
	ok(refused > 0, "a full socket refuses");
	ok(rig_await_all(&g), "and every run that was taken ends");
	for (i = 0; i < FLOOD_RUNS && runs != NULL; i++) {
		started += runs[i].done && runs[i].end.started;
		busy += runs[i].done && !runs[i].end.started &&
		    runs[i].end.problem == IDEM_PROBLEM_BUSY &&
		    runs[i].end.error == EMFILE;
	}
	is_int(started + busy, FLOOD_RUNS, "started, or refused as busy");
	kill(g.keeper, SIGSTOP);
	last = rig_sh("");
	last.envp = envp[0];
	last.no_slot = true;
	while (rig_try(&g, &last) == 0)	/* until not even a word fits */
		rig_ignore(&g, &last);
	for (i = 0; i < FLOOD_RUNS && runs != NULL; i++)
		rig_settle(&g, &runs[i]);
	kill(g.keeper, SIGCONT);
	is_int(rig_await_descriptors(&g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "every settled run is let go at last");
	last = rig_sh("echo again");
	rig_run(&g, &last);
	is(last.out, "again\n", "and it starts again");
	ok(busy > 0, "of descriptors there were too few");
	note("%u started, %u busy, %u refused", started, busy, refused);
	free(envp[0][1]);
	free(envp[1][1]);
	free(runs);
	rig_close(&g);
}

/* A lobby that does not listen; more ends than the keeper can hold. */
static void
test_unheard(void)
{
	struct rig_run *runs = calloc(UNHEARD_RUNS, sizeof *runs), last;
	unsigned i, tries = 0, ended = 0;
	struct rig g;

	rig_open(&g, GRACE_MS);
	for (i = 0; i < UNHEARD_RUNS && runs != NULL; i++) {
		runs[i] = rig_sh("");
		runs[i].path = "/nowhere";
		runs[i].no_slot = true;
		while (rig_try(&g, &runs[i]) != 0) {
			/* It reads nothing more until we do. */
			if (++tries > 200)
				rig_pause(&g, 1);
			else
				poll(NULL, 0, 1);
		}
		rig_follow(&g, &runs[i]);
		close(runs[i].out_fd);
	}
	ok(rig_await_all(&g), "every end is heard of in the end");
	for (i = 0; i < UNHEARD_RUNS && runs != NULL; i++)
		ended += runs[i].done && runs[i].end.problem != 0;
	is_int(ended, UNHEARD_RUNS, "and they are what they were");
	last = rig_sh("echo on");
	rig_run(&g, &last);
	is(last.out, "on\n", "and it goes on");
	note("%u times full", tries);
	free(runs);
	rig_close(&g);
}

/* Deaf, and its keeper is stopped: true if that was before its limit. */
static bool
is_stopped_before(struct rig *g, struct rig_run *run, uint32_t limit_ms)
{
	int64_t began = idem_boot_ms(&idem_clock_real);

	*run = rig_sh("trap '' TERM; echo $$; exec sleep 600");
	run->limit_ms = limit_ms;
	run->keyed = true;
	rig_start(g, run);
	if (!rig_try_line(g, run))
		return false;
	kill(g->keeper, SIGSTOP);
	waitpid(g->keeper, NULL, WUNTRACED);
	if (idem_boot_ms(&idem_clock_real) < began + limit_ms)
		return true;
	kill(g->keeper, SIGCONT);
	return false;
}

static void
test_stopped_keeper(void)
{
	unsigned tries = 0;
	struct rig_run run;
	struct rig g;

	rig_open(&g, 200);
	while (!is_stopped_before(&g, &run, RIG_LIMIT_OF(LIMIT_MS, tries))) {
		if (++tries == RIG_TRIES)
			bail_out("its keeper cannot be stopped in time");
		rig_wait(&g, &run);
		rig_settle(&g, &run);
	}
	ok(rig_await_gone(&g, atoi(run.out)),
	    "the alarm ends a program whose keeper is stopped");
	is_int(rig_lock(&g, &run), IDEM_RUN_HELD, "its lock is held still");
	kill(g.keeper, SIGCONT);
	rig_wait(&g, &run);
	ok(run.end.limit, "that was its limit");
	is_int(WTERMSIG(run.end.status), SIGALRM, "though not by the keeper");
	rig_close(&g);
}

/* One that has gone over to its keeper's group, and wants no alarm. */
static void
test_other_group(void)
{
	struct rig g;
	struct rig_run run = rig_sh("exec perl -e '$| = 1; setpgrp(0, "
	    "getpgrp(getppid())); alarm(0); print \"\\n\"; sleep(600)'");

	if (access("/usr/bin/perl", X_OK) != 0) {
		skip("no perl", "a program that left its group has a limit");
		return;
	}
	rig_open(&g, GRACE_MS);
	rig_run_to_limit(&g, &run, LIMIT_MS);
	ok(run.end.limit && WIFSIGNALED(run.end.status) &&
	    WTERMSIG(run.end.status) == SIGKILL,
	    "a program that left its group has a limit");
	rig_close(&g);
}

/* Its file says so much, and has nothing of its output. */
static bool
ended_empty(struct rig *g, const struct rig_run *run, int status)
{
	struct idem_evidence e;

	return rig_await_trailer(g, run, &e) && e.trailer.status == status &&
	    !e.trailer.saved && e.trailer.len == 0;
}

/* A lobby has saved its answer, and leaves it before it is stored. */
static void
test_saved(void)
{
	struct rig_run run = rig_sh("sleep 600 >/dev/null 2>&1 & echo $!");
	struct idem_trailer trailer = { .saved = true };
	struct idem_run_out out;
	struct idem_evidence e;
	struct rig g;

	rig_open(&g, 1000);
	run.keyed = true;
	rig_run(&g, &run);
	idem_run_out_init(&out, &run.owner);
	idem_run_out_end(&out, run.note.file, idem_bytes_text("answer"),
	    &trailer, 1);
	rig_leave(&g, &run);
	rig_await_descriptors(&g, RIG_KEEPER_FDS);
	idem_evidence(g.locks, &run.owner, &e, NULL);
	ok(e.ended && e.trailer.saved && e.trailer.len == strlen("answer"),
	    "an answer that its lobby has saved stays in the file");
	rig_kill_left(&run);
	rig_close(&g);
}

/*
 * What a lobby leaves behind: a run that is over and one that goes on, both
 * with a child that keeps their locks.
 */
static void
test_lobby_gone(void)
{
	struct rig_run run = rig_sh("sleep 600 >/dev/null 2>&1 & echo $!; "
	    "read line; exit 3"), ended;
	struct rig g;
	int ends[2], status = -1;

	rig_open(&g, 1000);
	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	ended = rig_sh("sleep 600 >/dev/null 2>&1 & echo $!");
	ended.keyed = true;
	rig_run(&g, &ended);
	run.keyed = true;
	run.in = ends[0];
	run.has_in = true;
	rig_start(&g, &run);
	rig_read_line(&g, &run);
	shm_slot_get(g.shm, g.number);	/* for a run it never asks for */
	is_int(rig_slots_free(&g), RIG_SLOTS - 2, "two slots are taken");
	rig_drop_lobby(&g, &ended, &run);
	is_int(rig_await_state(&g, &ended, IDEM_NOTE_ORPHAN), IDEM_NOTE_ORPHAN,
	    "without its lobby a run that is over is an orphan");
	is_int(rig_await_state(&g, &run, IDEM_NOTE_ORPHAN), IDEM_NOTE_ORPHAN,
	    "so is one that goes on");
	is_int(rig_lock(&g, &ended), IDEM_RUN_HELD,
	    "a background child of the first holds its lock");
	ok(ended_empty(&g, &ended, 0), "but its file says that it ended");
	ok(rig_kill_left(&ended) && rig_await_lock(&g, &ended, IDEM_RUN_FREE) ==
	    IDEM_RUN_FREE, "and once it is gone nobody");
	is_int(rig_lock(&g, &run), IDEM_RUN_HELD, "a running one's is held");
	is_int(rig_slots_free(&g), RIG_SLOTS - 1,
	    "and of the slots only its own");
	ok(waitpid(g.keeper, &status, WNOHANG) == 0, "its keeper waits for it");
	close(ends[1]);
	ok(waitpid(g.keeper, &status, 0) == g.keeper && status == 0,
	    "and ends after it");
	g.keeper = 0;
	ok(!rig_is_gone(atoi(run.out)),
	    "what it left behind on purpose lives on");
	is_int(rig_lock(&g, &run), IDEM_RUN_HELD, "and keeps its lock");
	ok(ended_empty(&g, &run, 3 << 8),
	    "and that it ended is written down, though its answer is lost");
	rig_kill_left(&run);
	is_int(rig_await_lock(&g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "until it ends");
	is_int(rig_slots_free(&g), RIG_SLOTS, "all slots are free");
	rig_close(&g);
}

/* It has said its line, and its keeper knows that nobody waits for it: true
   if that was before its limit. */
static bool
is_orphan_before(struct rig *g, struct rig_run *run, char *script, int in,
    uint32_t limit_ms)
{
	int64_t began = idem_boot_ms(&idem_clock_real);

	*run = rig_sh(script);
	run->keyed = true;
	run->limit_ms = limit_ms;
	run->in = in;
	run->has_in = true;
	rig_start(g, run);
	if (!rig_try_line(g, run))
		return false;
	rig_drop_lobby(g, run, NULL);
	rig_await_state(g, run, IDEM_NOTE_ORPHAN);
	return idem_boot_ms(&idem_clock_real) < began + limit_ms;
}

/* An orphan that does not end by itself takes all of its group along. */
static void
test_orphan_stopped(void)
{
	static const struct {
		const char *what;
		char *script;
		uint32_t limit_ms;
	} rows[] = {
		{ "that is over its limit", "sh -c 'trap \"\" TERM; echo $$; "
		    "while :; do sleep 600; done' & wait", LIMIT_MS },
		{ "that a signal ends", "sleep 600 >/dev/null 2>&1 & echo $!; "
		    "read line; kill -9 $$", RIG_LIMIT_MS },
	};
	struct rig_run run;
	unsigned tries = 0;
	int ends[2];
	struct rig g;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		rig_open(&g, 200);
		if (pipe2(ends, O_CLOEXEC) != 0)
			bail_out("pipe2");
		if (!is_orphan_before(&g, &run, rows[i].script, ends[0],
		    RIG_LIMIT_OF(rows[i].limit_ms, tries))) {
			if (++tries == RIG_TRIES)
				bail_out("it is no orphan in time");
			close(ends[1]);
			rig_close(&g);
			i--;
			continue;
		}
		close(ends[1]);
		ok(rig_await_gone(&g, atoi(run.out)),
		    "of an orphan %s nothing is left", rows[i].what);
		is_int(rig_await_lock(&g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
		    "and its lock is free");
		is_int(rig_state(&g, &run), IDEM_NOTE_ORPHAN,
		    "its file says that it was one");
		rig_close(&g);
		tries = 0;
	}
}

/* A lobby that lives may leave one run alone. */
static void
test_left(void)
{
	struct rig_run run = rig_sh("echo ready; read line; exit 5"), after;
	struct rig g;
	int ends[2];

	rig_open(&g, GRACE_MS);
	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	run.keyed = true;
	run.in = ends[0];
	run.has_in = true;
	rig_start(&g, &run);
	rig_read_line(&g, &run);
	rig_leave(&g, &run);
	is_int(rig_await_state(&g, &run, IDEM_NOTE_ORPHAN), IDEM_NOTE_ORPHAN,
	    "a run that is left is an orphan at once");
	is_int(rig_lock(&g, &run), IDEM_RUN_HELD, "it holds its lock");
	close(ends[1]);
	rig_wait(&g, &run);
	is_int(WEXITSTATUS(run.end.status), 5, "its end is told all the same");
	is_int(rig_await_lock(&g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "and then its lock is free");
	after = rig_sh("exit 6");
	after.keyed = true;
	rig_run(&g, &after);
	is_int(rig_state(&g, &after), IDEM_NOTE_BEGUN, "one that has ended "
	    "and is not left is no orphan");
	rig_leave(&g, &after);
	is_int(rig_await_lock(&g, &after, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "left after its end, its lock is free");
	is_int(rig_state(&g, &after), IDEM_NOTE_ORPHAN, "and it is an orphan");
	is_int(rig_await_descriptors(&g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "the keeper has nothing of them");
	rig_close(&g);
}

static void
test_keeper_killed(void)
{
	struct rig_run run = rig_sh("trap '' TERM HUP INT; echo $$; "
	    "exec sleep 600"), other = rig_sh("echo still");
	struct rig g;

	rig_open(&g, 1000);
	run.keyed = true;
	rig_start(&g, &run);
	rig_read_line(&g, &run);
	kill(g.keeper, SIGTERM);
	kill(g.keeper, SIGINT);
	kill(g.keeper, SIGHUP);
	rig_run(&g, &other);
	is(other.out, "still\n", "only SIGKILL ends a keeper");
	kill(g.keeper, SIGKILL);
	rig_await_lost(&g);
	idem_run_file_close(&run.note);
	is_int(g.lost, 1, "its lobby hears of it, once");
	ok(rig_await_gone(&g, atoi(run.out)), "its program dies with it");
	is_int(rig_await_lock(&g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "and the lock is free");
	is_int(rig_state(&g, &run), IDEM_NOTE_BEGUN,
	    "its file says that it had begun, and no more");
	is_int(rig_slots_free(&g), RIG_SLOTS - 1, "its slot is not");
	shm_slots_of(g.shm, g.number);
	is_int(rig_slots_free(&g), RIG_SLOTS, "until somebody frees it");
	run = rig_sh("echo ran");
	is_int(rig_try(&g, &run), -1, "nothing can be started then");
	runner_settled(g.runner, 1);
	is_int(g.lost, 1, "and it is not lost twice");
	rig_close(&g);
}

int
main(void)
{
	test_own_descriptors();
	test_flood();
	test_unheard();
	test_stopped_keeper();
	test_other_group();
	test_saved();
	test_lobby_gone();
	test_orphan_stopped();
	test_left();
	test_keeper_killed();
	return done();
}
