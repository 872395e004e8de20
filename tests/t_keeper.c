/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include "keeper_rig.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MANY_RUNS 300
#define LIMIT_MS 1000	/* or more, until a trap is set by then */
#define GRACE_MS 400
#define LONG_GRACE_MS 40000	/* that nobody needs all of */
#define SLOW_MS 20000	/* what a busy machine may add */

/* --- what does not start -------------------------------------------------- */

static const struct {
	const char *what, *path, *folder;
	enum idem_problem problem;
	int error;
} refusals[] = {
	{ "a program that is missing", "missing", NULL,
	  IDEM_PROBLEM_NO_PROGRAM, ENOENT },
	{ "a program below a file", "plain/x", NULL,
	  IDEM_PROBLEM_NO_PROGRAM, ENOTDIR },
	{ "a program that is not executable", "plain", NULL,
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM, EACCES },
	{ "a program that is a folder", ".", NULL,
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM, EACCES },
	{ "a script whose interpreter is missing", "orphan", NULL,
	  IDEM_PROBLEM_BROKEN_PROGRAM, ENOENT },
	{ "a script whose interpreter is not executable", "odd", NULL,
	  IDEM_PROBLEM_BROKEN_PROGRAM, EACCES },
	{ "a program without a format", "formless", NULL,
	  IDEM_PROBLEM_BROKEN_PROGRAM, ENOEXEC },
	{ "a program that is being written", "busy", NULL,
	  IDEM_PROBLEM_BROKEN_PROGRAM, ETXTBSY },
	{ "a folder that is missing", "good", "/nowhere",
	  IDEM_PROBLEM_FORBIDDEN_PROGRAM, ENOENT },
};

static void
make_file(struct rig *g, const char *name, const char *text, mode_t mode)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", g->folder, name);
	f = fopen(path, "w");
	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0 ||
	    chmod(path, mode) != 0)
		bail_out("cannot write %s", path);
}

static void
test_refusals(struct rig *g)
{
	char *argv[] = { NULL, NULL }, path[128], busy[128];
	struct rig_run run;
	size_t i;
	int fd;

	make_file(g, "plain", "#!/bin/sh\n", 0644);
	make_file(g, "orphan", "#!/nowhere/sh\n", 0755);
	make_file(g, "odd", "#!/etc/passwd\n", 0755);
	make_file(g, "formless", "\001\002\003", 0755);
	make_file(g, "busy", "#!/bin/sh\n", 0755);
	make_file(g, "good", "#!/bin/sh\n", 0755);
	snprintf(busy, sizeof busy, "%s/busy", g->folder);
	fd = open(busy, O_WRONLY);
	for (i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		snprintf(path, sizeof path, "%s/%s", g->folder,
		    refusals[i].path);
		argv[0] = path;
		run = (struct rig_run){
			.path = path, .argv = argv, .keyed = true,
			.folder = refusals[i].folder, .limit_ms = RIG_LIMIT_MS
		};
		rig_start(g, &run);
		rig_await_all(g);
		ok(!run.end.started, "%s is not started", refusals[i].what);
		is_int(run.end.problem, refusals[i].problem,
		    "%s is the right problem", refusals[i].what);
		is_int(run.end.error, refusals[i].error,
		    "%s has its errno", refusals[i].what);
		is_int(rig_state(g, &run), IDEM_NOTE_NOT_BEGUN,
		    "%s has not begun, its note says", refusals[i].what);
		is_int(rig_lock(g, &run), IDEM_RUN_HELD,
		    "%s leaves the lock to the lobby", refusals[i].what);
		rig_wait(g, &run);
	}
	close(fd);
	is_int(rig_slots_free(g), RIG_SLOTS, "and no slot is left taken");
}

static void
test_late(struct rig *g)
{
	struct rig_run run = rig_sh("echo ran");

	run.keyed = true;
	run.not_after_ms = idem_boot_ms(&idem_clock_real) - 1;
	rig_start(g, &run);
	rig_await_all(g);
	ok(!run.end.started && run.end.problem == IDEM_PROBLEM_BUSY &&
	    run.end.error == ETIME, "a start past its time is none");
	is_int(rig_state(g, &run), IDEM_NOTE_NOT_BEGUN, "nor does its note say "
	    "that there was one");
	rig_wait(g, &run);
	is(run.out, "", "and the program did not run");
	run = rig_sh("echo ran");
	run.not_after_ms = idem_boot_ms(&idem_clock_real) + 60000;
	rig_run(g, &run);
	is(run.out, "ran\n", "a start before its time is one");
}

/* --- what arrives --------------------------------------------------------- */

static void
test_words(struct rig *g)
{
	static const char words[] =
	    "<zero><><two words><new\nline><\xc3\xa9\xff>";
	char *argv[] = {
		"name", "-c", "printf '<%s>' \"$0\" \"$@\"; env", "zero",
		"", "two words", "new\nline", "\xc3\xa9\xff", NULL
	};
	char *envp[] = {
		"QUERY_STRING=", "A=x=y", "B=two words", "PATH=/usr/bin:/bin",
		"C=\xff\x01", NULL
	};
	struct rig_run run = {
		.path = "/bin/sh", .argv = argv, .envp = envp,
		.limit_ms = RIG_LIMIT_MS, .folder = "/usr"
	};
	size_t i;

	rig_run(g, &run);
	ok(strncmp(run.out, words, strlen(words)) == 0,
	    "arguments arrive as they are");
	for (i = 0; envp[i] != NULL; i++)
		ok(strstr(run.out, envp[i]) != NULL,
		    "variable %zu arrives as it is", i);
	ok(strstr(run.out, "PWD=/usr\n") != NULL,
	    "the program is in its folder");
	ok(strstr(run.out, "HOME=") == NULL && strstr(run.out, "TMPDIR=") ==
	    NULL, "and has nothing of the keeper's environment");
	is_int(run.end.status, 0, "its status is told");
	ok(!run.end.limit, "it was within its limit");
	run = rig_sh("exit 7");
	rig_run(g, &run);
	ok(WIFEXITED(run.end.status) && WEXITSTATUS(run.end.status) == 7,
	    "another status is told too");
	run = rig_sh("kill -9 $$");
	rig_run(g, &run);
	ok(WIFSIGNALED(run.end.status) && WTERMSIG(run.end.status) == 9 &&
	    !run.end.limit, "so is a signal that was not ours");
}

/* Sums of what the program finds in its environment: 'count length'. */
static struct rig_run
rig_environment(char **envp)
{
	static char *argv[] = {
		"perl", "-e", "my $n = 0; $n += length($ENV{$_}) for keys %ENV;"
		"print scalar(keys %ENV), ' ', $n", NULL
	};

	return (struct rig_run){
		.path = "/usr/bin/perl", .argv = argv, .envp = envp,
		.keyed = true, .limit_ms = RIG_LIMIT_MS
	};
}

static const struct {
	const char *what;
	unsigned n;		/* variables */
	size_t len;		/* of each, with its name and NUL */
	enum idem_problem problem;
} sizes[] = {
	{ "an environment that just fits a packet", 30, 1000, 0 },
	{ "an environment beyond a packet", 40, 1000, 0 },
	{ "more variables than a packet takes", 5000, 20, 0 },
	{ "a variable of 100 KB", 1, 100000, 0 },
	{ "a variable of 131072 bytes", 1, 131072, 0 },
	{ "a variable of 131073 bytes", 1, 131073, IDEM_PROBLEM_TOO_MUCH_HEAD },
	{ "a variable of 200 KB", 1, 200000, IDEM_PROBLEM_TOO_MUCH_HEAD },
	{ "an environment of 1.5 MB", 15, 100000, 0 },
	{ "an environment of 3 MB", 30, 100000, IDEM_PROBLEM_TOO_MUCH_HEAD },
	{ "an environment of 6 MB", 60, 100000, IDEM_PROBLEM_TOO_MUCH_HEAD },
};

static char **
make_environment(unsigned n, size_t len)
{
	char **envp = calloc(n + 1, sizeof *envp), name[16];
	unsigned i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof name, "V%u=", i);
		envp[i] = rig_variable(name, len);
	}
	return envp;
}

static void
test_sizes(struct rig *g)
{
	struct rig_run run;
	char want[64], **envp;
	size_t i, total;
	unsigned k;

	if (access("/usr/bin/perl", X_OK) != 0) {
		skip("no perl", "long environments arrive whole");
		return;
	}
	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		envp = make_environment(sizes[i].n, sizes[i].len);
		run = rig_environment(envp);
		rig_run(g, &run);
		rig_settle(g, &run);
		for (k = 0, total = 0; k < sizes[i].n; k++) {
			total += strlen(strchr(envp[k], '=') + 1);
			free(envp[k]);
		}
		free(envp);
		snprintf(want, sizeof want, "%u %zu", sizes[i].n, total);
		is_int(run.end.problem, (int)sizes[i].problem,
		    "%s is judged rightly", sizes[i].what);
		is(run.out, sizes[i].problem != 0 ? "" : want,
		    "%s arrives whole or not at all", sizes[i].what);
	}
	is_int(rig_slots_free(g), RIG_SLOTS, "and no slot is left taken");
}

static void
test_descriptors(struct rig *g)
{
	char *grep[] = { "grep", "Sig[BI]", "/proc/self/status", NULL };
	struct rig_run run = rig_sh("ls -l /proc/$$/fd; true");

	run.keyed = true;
	rig_run(g, &run);
	rig_settle(g, &run);
	ok(strstr(run.out, " 0 -> ") != NULL && strstr(run.out, " 1 -> pipe")
	    != NULL && strstr(run.out, " 2 -> pipe") != NULL,
	    "it has 0, 1 and 2");
	ok(strstr(run.out, " 200 -> ") != NULL &&
	    strstr(run.out, "ledger-run") != NULL,
	    "it has its lock, at a high number");
	is_int(rig_lines(run.out), 1 + 4, "and nothing else");
	run = rig_sh("");
	run.path = "/bin/grep";
	run.argv = grep;
	rig_run(g, &run);
	ok(strstr(run.out, "SigBlk:\t0000000000000000") != NULL,
	    "no signal is blocked");
	/* 32 and 33 are the C library's, whose posix_spawn ignores them. */
	ok(strstr(run.out, "SigIgn:\t0000000000000000") != NULL ||
	    strstr(run.out, "SigIgn:\t0000000180000000") != NULL,
	    "and none is ignored");
	run = rig_sh("ls /proc/$$/fd; true");
	rig_run(g, &run);
	is(run.out, "0\n1\n2\n", "without a note it has no lock");
}

static void
test_input(struct rig *g)
{
	struct rig_run one = rig_sh("cat"), two = rig_sh("cat");
	int first[2], second[2];

	if (pipe2(first, O_CLOEXEC) != 0 || pipe2(second, O_CLOEXEC) != 0)
		bail_out("pipe2");
	one.in = first[0];
	one.has_in = true;
	two.in = second[0];
	two.has_in = true;
	rig_start(g, &one);
	rig_start(g, &two);
	ok(write(first[1], "1", 1) == 1 && write(second[1], "2", 1) == 1,
	    "two programs run at once");
	close(first[1]);
	rig_wait(g, &one);
	is(one.out, "1", "the first sees the end of its input [cgi:C24]");
	close(second[1]);
	rig_wait(g, &two);
	is(two.out, "2", "and so does the second [cgi:C24]");
}

/* --- limits --------------------------------------------------------------- */

static const struct {
	const char *what;
	char *script;		/* it says when it is ready */
	bool kill;		/* else by the limit */
	int signal;		/* it dies of; 0: it exits */
	uint32_t grace_ms;
} limits[] = {
	{ "over the limit it gets SIGTERM", "echo; exec sleep 600", false,
	  SIGTERM, LONG_GRACE_MS },
	{ "deaf to it, SIGKILL after the grace",
	  "trap '' TERM; echo; while :; do sleep 600; done", false, SIGKILL,
	  GRACE_MS },
	{ "it may say good-bye within the grace",
	  "trap 'exit 3' TERM; echo; sleep 600 & wait", false, 0,
	  LONG_GRACE_MS },
	{ "told to, it gets SIGTERM", "echo; exec sleep 600", true,
	  SIGTERM, LONG_GRACE_MS },
	{ "told to and deaf, SIGKILL",
	  "trap '' TERM; echo; while :; do sleep 600; done", true,
	  SIGKILL, GRACE_MS },
};

/* After how long it has ended; least_ms: limit, and grace if it is deaf. */
static int64_t
run_limited(struct rig *g, size_t i, struct rig_run *run, int64_t *least_ms)
{
	int64_t began;

	*run = rig_sh(limits[i].script);
	*least_ms = limits[i].signal == SIGKILL ? GRACE_MS : 0;
	if (!limits[i].kill) {
		rig_run_to_limit(g, run, LIMIT_MS);
		*least_ms += run->limit_ms;
		return run->took_ms;
	}
	rig_start(g, run);
	rig_read_line(g, run);
	began = idem_boot_ms(&idem_clock_real);
	runner_kill(g->runner, run->id);
	runner_kill(g->runner, run->id);
	rig_wait(g, run);
	return idem_boot_ms(&idem_clock_real) - began;
}

static void
test_limits(void)
{
	int64_t least_ms, took_ms;
	struct rig_run run;
	struct rig g;
	size_t i;
	int sig;

	for (i = 0; i < sizeof limits / sizeof *limits; i++) {
		rig_open(&g, limits[i].grace_ms);
		took_ms = run_limited(&g, i, &run, &least_ms);
		sig = WIFSIGNALED(run.end.status) ?
		    WTERMSIG(run.end.status) : 0;
		ok(run.end.started && run.end.limit && sig == limits[i].signal,
		    "%s", limits[i].what);
		/* Both clocks are cut to whole milliseconds. */
		ok(took_ms >= least_ms - 1 && took_ms <= least_ms + SLOW_MS,
		    "%s, in time (%lld ms) [cgi:C40]", limits[i].what,
		    (long long)took_ms);
		rig_close(&g);
	}
}

/* A grandchild, deaf as well, ends with the group. */
static void
test_group(struct rig *g)
{
	static const struct { const char *what; char *script; } rows[] = {
		{ "of a deaf program", "trap '' TERM; "
		    "sh -c 'echo $$; while :; do sleep 600; done' & wait" },
		{ "of one that says good-bye", "trap 'exit 0' TERM; sh -c "
		    "'trap \"\" TERM; echo $$; while :; do sleep 600; done' & "
		    "wait" },
	};
	struct rig_run run;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		run = rig_sh(rows[i].script);
		rig_run_to_limit(g, &run, LIMIT_MS);
		ok(run.end.limit, "the limit %s is kept", rows[i].what);
		ok(rig_await_gone(g, atoi(run.out)),
		    "a deaf grandchild %s is gone with it [cgi:C01]",
		    rows[i].what);
	}
}

/* What a program leaves behind on purpose is left alone. */
static void
test_background(struct rig *g)
{
	struct rig_run run = rig_sh("sleep 600 >/dev/null 2>&1 & echo $!");

	run.keyed = true;
	rig_run(g, &run);
	ok(run.end.status == 0 && !run.end.limit &&
	    !rig_is_gone(atoi(run.out)), "a background child lives on");
	is_int(rig_lock(g, &run), IDEM_RUN_HELD,
	    "the lock is held until the outcome is settled");
	/* As a run that is unknown: its file stays, by another name. */
	is_int(idem_journal_keep_unknown(g->locks, &run.owner), 0,
	    "its file can be given another name");
	runner_settled(g->runner, run.id);
	is_int(rig_await_lock(g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "then it is unlocked, whatever the child has open");
	is_int(rig_lock_files(g), 1, "and the keeper touches no names");
	rig_settle(g, &run);
	rig_kill_left(&run);
}

/* The signal goes to the program, not to its group, and only while it runs. */
static void
test_signal(struct rig *g)
{
	struct rig_run run = rig_sh("trap 'echo got; wait; exit 4' USR1; "
	    "sh -c 'trap \"echo child\" USR1; echo ready; sleep 0.3' & "
	    "while :; do wait; done");

	rig_start(g, &run);
	rig_read_line(g, &run);
	runner_signal(g->runner, run.id, SIGUSR1);
	rig_wait(g, &run);
	is(run.out, "ready\ngot\n", "a signal comes to the program alone");
	ok(WIFEXITED(run.end.status) && WEXITSTATUS(run.end.status) == 4 &&
	    !run.end.limit, "and what it does then is its own end");
	runner_signal(g->runner, run.id, SIGKILL);
	runner_signal(g->runner, 12345, SIGKILL);
	run = rig_sh("echo on");
	rig_start(g, &run);
	runner_signal(g->runner, run.id, -1);
	rig_wait(g, &run);
	is(run.out, "on\n", "a signal that is none is no harm");
}

/* --- locks ---------------------------------------------------------------- */

static void
test_lock(struct rig *g)
{
	struct rig_run run = rig_sh("read line; echo got $line");
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	run.keyed = true;
	run.in = ends[0];
	run.has_in = true;
	rig_start(g, &run);
	is_int(rig_await_state(g, &run, IDEM_NOTE_BEGUN), IDEM_NOTE_BEGUN,
	    "its note says that it has begun");
	is_int(rig_lock(g, &run), IDEM_RUN_HELD,
	    "the lock is held while the program runs");
	is_int(rig_slots_free(g), RIG_SLOTS - 1, "and its slot is taken");
	if (write(ends[1], "it\n", 3) != 3)
		bail_out("write");
	rig_wait(g, &run);
	is(run.out, "got it\n", "it runs to its end");
	is_int(rig_slots_free(g), RIG_SLOTS, "its slot is free then");
	is_int(rig_lock(g, &run), IDEM_RUN_HELD, "its lock is not");
	rig_settle(g, &run);
	is_int(rig_await_descriptors(g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "settled, the keeper has nothing of it");
	rig_settle(g, &run);
	runner_left(g->runner, run.id);
	runner_kill(g->runner, 12345);
	run = rig_sh("echo still");
	rig_run(g, &run);
	is(run.out, "still\n", "words about no run are no harm");
	close(ends[1]);
}

/* Settled while it runs, as a run is that is unknown to its lobby. */
static void
test_settled_before(struct rig *g)
{
	struct rig_run run = rig_sh("echo ready; read line; echo $line");
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	run.keyed = true;
	run.in = ends[0];
	run.has_in = true;
	rig_start(g, &run);
	rig_read_line(g, &run);
	idem_journal_keep_unknown(g->locks, &run.owner);
	runner_settled(g->runner, run.id);
	idem_run_file_close(&run.note);
	rig_pause(g, 20);
	is_int(rig_lock(g, &run), IDEM_RUN_HELD,
	    "settled before its end, its lock is held until then");
	if (write(ends[1], "end\n", 4) != 4)
		bail_out("write");
	rig_wait(g, &run);
	is(run.out, "ready\nend\n", "and that is told");
	is_int(rig_await_lock(g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "and nobody need say a word more");
	is_int(rig_state(g, &run), IDEM_NOTE_BEGUN, "it is no orphan");
	rig_settle(g, &run);
	close(ends[1]);
}

/* A run whose beginning cannot be written down does not begin. */
static void
test_no_mark(struct rig *g)
{
	struct rig_run run = rig_sh("echo ran");
	char path[64];
	int fd;

	run.keyed = true;
	rig_owner(g, &run);
	snprintf(path, sizeof path, "%s/not-a-run", g->folder);
	fd = open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);
	run.has_file = true;
	run.file = fd;
	rig_run(g, &run);
	ok(!run.end.started && run.end.problem == IDEM_PROBLEM_BUSY &&
	    run.end.error == EBADF, "without its mark it is not started");
	is(run.out, "", "not at all");
	close(fd);
}

/* --- many ----------------------------------------------------------------- */

/* Of every kind, some told to stop; the numbers are the same each time. */
static void
test_many(struct rig *g)
{
	static char *const scripts[] = {
		"exit 0", "echo hello", "exec sleep 60", "kill -9 $$",
		"sleep 0.01", "exit 9"
	};
	struct rig_run runs[RIG_SLOTS];
	unsigned i, k, done_runs = 0, random = 1, ended = 0;
	int mine = rig_descriptors(getpid());

	while (done_runs < MANY_RUNS) {
		for (i = 0; i < RIG_SLOTS; i++) {
			random = random * 1103515245u + 12345u;
			k = random >> 16;
			runs[i] = rig_sh(scripts[k % 6]);
			runs[i].keyed = k % 5 != 0;
			runs[i].spooled = runs[i].keyed && k % 3 != 0;
			runs[i].limit_ms = RIG_LIMIT_MS;
			if (k % 11 == 0)
				runs[i].path = "/nowhere";
			rig_start(g, &runs[i]);
			if (k % 6 == 2 || k % 7 == 0)
				runner_kill(g->runner, runs[i].id);
		}
		for (i = 0; i < RIG_SLOTS; i++, done_runs++) {
			rig_wait(g, &runs[i]);
			ended += runs[i].done;
			rig_settle(g, &runs[i]);
		}
	}
	is_int(ended, done_runs, "%u runs of all kinds end", done_runs);
	is_int(rig_slots_free(g), RIG_SLOTS, "and leave all slots free");
	runs[0] = rig_sh("exit 0");
	rig_run(g, &runs[0]);	/* so that the last word was heard */
	is_int(rig_lock_files(g), 0, "and no lock file");
	is_int(rig_await_descriptors(g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "and no descriptor");
	is_int(rig_descriptors(getpid()), mine, "here neither");
}

int
main(void)
{
	struct rig g;

	rig_open(&g, GRACE_MS);
	test_refusals(&g);
	test_late(&g);
	test_words(&g);
	test_sizes(&g);
	test_descriptors(&g);
	test_input(&g);
	test_limits();
	test_group(&g);
	test_background(&g);
	test_signal(&g);
	test_lock(&g);
	test_settled_before(&g);
	test_no_mark(&g);
	test_many(&g);
	rig_close(&g);
	return done();
}
