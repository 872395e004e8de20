/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include "keeper_rig.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS 400
#define SLOW_MS 20000	/* what a busy machine may add */
#define MANY_RUNS 200u
#define MIB (1024u * 1024u)

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- what it wrote -------------------------------------------------------- */

#define LONGEST (50u * MIB)

static const struct {
	const char *what;
	size_t len;
} lengths[] = {
	{ "nothing", 0 },
	{ "a byte", 1 },
	{ "16 KiB less one", KEEPER_OUT_MAX - 1 },
	{ "16 KiB", KEEPER_OUT_MAX },
	{ "16 KiB and one", KEEPER_OUT_MAX + 1 },
	{ "1 MiB", MIB },
	{ "1 MiB and one", MIB + 1 },
	{ "50 MiB", LONGEST },
};

static void
test_length(struct rig *g, const char *what, size_t len, const uint8_t *want)
{
	char script[128];
	struct rig_run run = rig_spooled(script);
	bool small = len <= KEEPER_OUT_MAX;

	snprintf(script, sizeof script, "seq 1 99999999 2>/dev/null | "
	    "head -c %zu; exit 3", len);
	rig_run(g, &run);
	ok(run.end.started && WEXITSTATUS(run.end.status) == 3 &&
	    run.end.spooled && !run.end.spool_failed && !run.end.held &&
	    run.end.len == len, "who wrote %s is told of rightly", what);
	ok(run.end.whole == small && g->told.len == (small ? len : 0) &&
	    memcmp(small && len > 0 ? g->told.at : want, want,
	    g->told.len) == 0,
	    "%s comes with the end %s", what, small ? "whole" : "not at all");
	ok(rig_is_in_file(g, &run, want, len), "%s is in its file, and the sum",
	    what);
	rig_settle(g, &run);
}

static void
test_lengths(struct rig *g)
{
	uint8_t *want = rig_numbers(LONGEST);
	size_t i;

	for (i = 0; i < sizeof lengths / sizeof *lengths; i++)
		test_length(g, lengths[i].what, lengths[i].len, want);
	free(want);
	is_int(rig_await_descriptors(g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "and the keeper has nothing of them any more");
}

static const struct {
	const char *what;
	char *script;
	const char *out;
	int status;		/* of exit; else -signal */
} ends[] = {
	{ "one that closes its output and goes on",
	  "echo said; exec >&-; sleep 0.2; exit 3", "said\n", 3 },
	{ "one that writes to its output by name",
	  "echo one >/dev/stdout; echo two; echo three >>/dev/stdout",
	  "one\ntwo\nthree\n", 0 },
	{ "one that writes piece by piece",
	  "for i in 1 2 3 4 5; do echo $i; sleep 0.02; done",
	  "1\n2\n3\n4\n5\n", 0 },
	{ "one that a signal ends", "echo last; kill -9 $$", "last\n",
	  -SIGKILL },
	{ "one that a signal ends, and its child has the pipe",
	  "sleep 600 & echo left; kill -9 $$", "left\n", -SIGKILL },
	{ "one whose child has the pipe, but not for long",
	  "(sleep 0.3; echo child) & echo self", "self\nchild\n", 0 },
};

/* A child that has the pipe is waited for until it is silent for a second;
   where it was, as it may have been held up, once more. */
static int64_t
run_end(struct rig *g, const char *out, struct rig_run *run)
{
	const struct rig_run fresh = *run;
	unsigned tries = 0;
	int64_t began, took;

	for (;;) {
		began = now_ms();
		rig_run(g, run);
		took = now_ms() - began;
		if (strcmp(run->out, out) == 0 || took < KEEPER_IDLE_MS ||
		    ++tries == RIG_TRIES)
			return took;
		rig_settle(g, run);
		*run = fresh;
	}
}

static void
test_ends(struct rig *g)
{
	struct rig_run run;
	int64_t took;
	size_t i;

	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		run = rig_spooled(ends[i].script);
		took = run_end(g, ends[i].out, &run);
		is(run.out, ends[i].out, "all output of %s is there",
		    ends[i].what);
		is_int(WIFSIGNALED(run.end.status) ?
		    -WTERMSIG(run.end.status) : WEXITSTATUS(run.end.status),
		    ends[i].status, "so is its status");
		ok(!run.end.held && !run.end.limit && rig_is_in_file(g, &run,
		    (const uint8_t *)ends[i].out, strlen(ends[i].out)),
		    "and it is in its file");
		ok(took < KEEPER_IDLE_MS + SLOW_MS, "in time");
		rig_settle(g, &run);
	}
}

/* --- its end -------------------------------------------------------------- */

/* Run it, and see that its slot is free before it is told of: or whether that
   cannot be seen any more, as the second is over. */
static bool
is_slot_free_early(struct rig *g, struct rig_run *run, int64_t *began)
{
	bool early;

	*began = now_ms();
	rig_start(g, run);
	while (rig_slots_free(g) < RIG_SLOTS && !run->done &&
	    now_ms() - *began < SLOW_MS)
		rig_pause(g, 1);
	early = rig_slots_free(g) == RIG_SLOTS && !run->done;
	rig_wait(g, run);
	return early;
}

static void
test_slot(struct rig *g)
{
	const struct rig_run fresh = rig_spooled("sleep 600 & echo $!");
	struct rig_run run = fresh;
	unsigned tries = 0;
	int64_t began, took;
	bool early;

	while (!(early = is_slot_free_early(g, &run, &began)) &&
	    ++tries < RIG_TRIES) {
		rig_kill_left(&run);
		rig_settle(g, &run);
		run = fresh;
	}
	took = now_ms() - began;
	ok(early, "the slot is free when the program is reaped");
	ok(run.end.held && !run.end.limit && run.end.status == 0 &&
	    run.end.spooled && run.end.whole, "its child holds the pipe");
	ok(took >= KEEPER_IDLE_MS - 1 && took < KEEPER_IDLE_MS + SLOW_MS,
	    "the pipe was idle for a second");
	rig_kill_left(&run);
	is_int(rig_lock(g, &run), IDEM_RUN_HELD, "its lock is held");
	rig_settle(g, &run);
}

static const struct {
	const char *what;
	char *script;
	uint32_t limit_ms;
	int64_t after_ms;	/* its limit */
} limits[] = {
	{ "a child that writes on and on", "(while :; do echo; sleep 0.1; "
	  "done) & exit 0", 300, GRACE_MS + KEEPER_IDLE_MS },
	{ "a flood", "exec yes", 200, 0 },
	{ "a program that says good-bye in time",
	  "trap 'echo bye; exit 0' TERM; sleep 600 & wait", 300, 0 },
};

static bool
is_cut_off(const struct rig_run *run)
{
	return run->end.limit && !run->end.held && run->end.spooled &&
	    run->end.len > 0;
}

/* It had not come to writing by its limit, or was silent for a second. */
static bool
is_held_up(const struct rig_run *run)
{
	return run->end.held || (run->end.limit && run->end.len == 0);
}

static void
test_limits(struct rig *g)
{
	struct idem_evidence e;
	struct rig_run run;
	unsigned tries;
	int64_t took;
	size_t i;

	for (i = 0; i < sizeof limits / sizeof *limits; i++) {
		for (tries = 0;; tries++) {
			run = rig_spooled(limits[i].script);
			run.limit_ms = RIG_LIMIT_OF(limits[i].limit_ms, tries);
			took = now_ms();
			rig_run(g, &run);
			took = now_ms() - took;
			if (!is_held_up(&run) || tries + 1 == RIG_TRIES)
				break;
			rig_settle(g, &run);
		}
		ok(is_cut_off(&run), "%s is cut off", limits[i].what);
		took -= run.limit_ms + limits[i].after_ms;
		ok(took >= -1 && took < SLOW_MS, "in time (%lld ms after it)",
		    (long long)took);
		idem_evidence(g->locks, &run.owner, &e, NULL);
		ok(e.ended && e.trailer.limit && e.trailer.len == run.end.len,
		    "and its file says so");
		rig_settle(g, &run);
	}
}

/* --- its last word -------------------------------------------------------- */

/* A settled run's child may have the lock, and it is free all the same. */
static void
test_settled(struct rig *g)
{
	struct rig_run run = rig_spooled("sleep 600 >/dev/null & echo $!");

	run.own_err = true;
	rig_run(g, &run);
	is_int(rig_state(g, &run), IDEM_NOTE_BEGUN, "told, it is no orphan");
	idem_journal_keep_unknown(g->locks, &run.owner);
	runner_settled(g->runner, run.id);
	is_int(rig_await_lock(g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "settled, a run's lock is free whatever it left behind");
	is_int(rig_await_descriptors(g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "and the keeper has nothing of it");
	close(run.err_fd);
	rig_kill_left(&run);
	rig_settle(g, &run);
}

/* An unknown one's child may be at work yet. */
static void
test_unknown(struct rig *g)
{
	struct rig_run run = rig_spooled("sleep 600 >/dev/null 2>&1 & echo $!");

	rig_run(g, &run);
	idem_journal_keep_unknown(g->locks, &run.owner);
	runner_unknown(g->runner, run.id);
	idem_run_file_close(&run.note);
	is_int(rig_await_descriptors(g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "unknown, the keeper has nothing of it");
	is_int(rig_lock(g, &run), IDEM_RUN_HELD, "and its child has the lock");
	is_int(rig_state(g, &run), IDEM_NOTE_BEGUN, "it is no orphan");
	rig_kill_left(&run);
	is_int(rig_await_lock(g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "until it ends");
	rig_settle(g, &run);
}

static void
test_left(struct rig *g)
{
	struct rig_run run = rig_spooled("sleep 600 >/dev/null 2>&1 & echo $!");
	struct idem_evidence e;

	rig_run(g, &run);
	rig_leave(g, &run);
	is_int(rig_await_state(g, &run, IDEM_NOTE_ORPHAN), IDEM_NOTE_ORPHAN,
	    "left, it is an orphan");
	idem_evidence(g->locks, &run.owner, &e, NULL);
	ok(e.ended && e.lock == IDEM_RUN_HELD,
	    "that is over, and its child has the lock");
	rig_kill_left(&run);
	is_int(rig_await_lock(g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "until it ends");
	rig_settle(g, &run);
}

/* --- a file that takes no more -------------------------------------------- */

static const struct {
	const char *what;
	char *script;
	uint64_t len, room;	/* for output, in the file */
	bool whole;
} rooms[] = {
	{ "output that fits into memory", "seq 1 100", 292, 100, true },
	{ "none, but for the trailer", ":", 0, 10, true },
	{ "more than fits there", "seq 1 20000", 108894, 100, false },
	{ "of which some is written", "seq 1 20000", 108894, 50000, false },
};

static void
test_no_room(void)
{
	struct rig_options o = { .grace_ms = GRACE_MS };
	struct idem_evidence e;
	struct rig_run run;
	struct rig g;
	size_t i;

	for (i = 0; i < sizeof rooms / sizeof *rooms; i++) {
		o.file_max = IDEM_NOTE_SIZE + rooms[i].room;
		rig_open_so(&g, &o);
		run = rig_spooled(rooms[i].script);
		rig_run(&g, &run);
		ok(run.end.status == 0 && run.end.len == rooms[i].len,
		    "without room the program comes to its end: %s",
		    rooms[i].what);
		ok(!run.end.spooled && run.end.spool_failed &&
		    run.end.whole == rooms[i].whole && g.told.len ==
		    (rooms[i].whole ? rooms[i].len : 0),
		    "it is told, and what is still there comes with it");
		idem_evidence(g.locks, &run.owner, &e, NULL);
		ok(!e.ended && e.noted && e.note.state == IDEM_NOTE_BEGUN,
		    "and the file does not say that it ended");
		run = rig_sh("echo on");
		rig_run(&g, &run);
		is(run.out, "on\n", "the keeper goes on");
		rig_close(&g);
	}
}

/* --- many ----------------------------------------------------------------- */

static void
test_many(void)
{
	struct rig_run *runs = calloc(MANY_RUNS, sizeof *runs), quick;
	unsigned i, right = 0;
	int go_on[MANY_RUNS];
	int64_t began, took;
	char want[16];
	struct rig g;

	rig_open(&g, GRACE_MS);
	for (i = 0; i < MANY_RUNS && runs != NULL; i++) {
		runs[i] = rig_spooled_until("read line; seq 1 20000 | "
		    "head -c $line; echo; echo $line", &go_on[i]);
		runs[i].no_slot = true;
		rig_start(&g, &runs[i]);
	}
	quick = rig_spooled("echo quick");
	began = now_ms();
	rig_run(&g, &quick);
	took = now_ms() - began;
	rig_settle(&g, &quick);
	ok(took < SLOW_MS, "beside %u runs another is quick (%lld ms)",
	    MANY_RUNS, (long long)took);
	for (i = 0; i < MANY_RUNS && runs != NULL; i++) {
		snprintf(want, sizeof want, "%u\n", i * 100);
		if (write(go_on[i], want, strlen(want)) !=
		    (ssize_t)strlen(want))
			bail_out("write");
		close(go_on[i]);
	}
	ok(rig_await_all(&g), "and they all end");
	for (i = 0; i < MANY_RUNS && runs != NULL; i++) {
		snprintf(want, sizeof want, "%u\n", i * 100);
		right += runs[i].end.spooled && runs[i].end.status == 0 &&
		    runs[i].end.len == i * 100 + 1 + strlen(want);
		rig_settle(&g, &runs[i]);
	}
	is_int(right, MANY_RUNS, "each with its own output");
	is_int(rig_await_descriptors(&g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "and nothing of them is left open");
	free(runs);
	rig_close(&g);
}

int
main(void)
{
	struct rig g;

	rig_open(&g, GRACE_MS);
	test_lengths(&g);
	test_ends(&g);
	test_slot(&g);
	test_limits(&g);
	test_settled(&g);
	test_unknown(&g);
	test_left(&g);
	rig_close(&g);
	test_no_room();
	test_many();
	return done();
}
