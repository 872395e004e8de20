/* SPDX-License-Identifier: ISC */
#include "child.h"

#include "child_rig.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 200
#define RUNNERS 3

static struct loop *loop;

/*
 * One goes as soon as it is to stop, and its number is free; the other does not
 * stop until it was told several times.
 */
#define TOLD 4

static struct {
	pid_t gone, deaf;		/* 0: none */
	unsigned stops;			/* that the deaf one got */
	unsigned late;			/* signals to the one that has gone */
} odd;

int
kill(pid_t pid, int sig)
{
	if (sig != SIGSTOP || pid == 0 || odd.gone == 0)
		return (int)syscall(SYS_kill, pid, sig);
	if (pid == odd.deaf && odd.stops++ >= TOLD)
		return (int)syscall(SYS_kill, pid, sig);
	if (pid == odd.gone) {
		odd.late += syscall(SYS_kill, pid, SIGKILL) == -1;
		waitpid(pid, NULL, 0);
	}
	return 0;
}

/* --- what the children are ------------------------------------------------ */

/* Nobody's child, in a session of its own, and no signal ends it. */
static void
be_daemon(void)
{
	pid_t between;
	int i;

	if (fork() != 0)
		child_rig_rest();
	setsid();
	between = getpid();
	if (fork() != 0)
		_exit(0);
	while (getppid() == between)	/* it is to be gone when we say so */
		poll(NULL, 0, 1);
	for (i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
	puts("away");
	fflush(stdout);
	child_rig_rest();
}

/* Its child has no environment at all, but is in its group. */
static void
be_bare(void)
{
	char self[] = "/proc/self/exe", rests[] = "rest";
	char *argv[] = { self, rests, NULL }, *none[] = { NULL };

	if (fork() == 0) {
		execve(self, argv, none);
		_exit(127);
	}
	puts("away");
	fflush(stdout);
	child_rig_rest();
}

/* A daemon without a parent, a group or an environment of ours. */
static void
be_ghost(void)
{
	char self[] = "/proc/self/exe", rests[] = "rest";
	char *argv[] = { self, rests, NULL }, *none[] = { NULL };

	if (fork() == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		execve(self, argv, none);
	}
	wait(NULL);
	puts("away");
	fflush(stdout);
	child_rig_rest();
}

/* Each makes the next and ends, so that a look may always come too late; and
   none has a mark. */
static void
be_bare_runner(void)
{
	puts("away");
	fflush(stdout);
	for (;;)
		if (fork() != 0)
			_exit(0);
}

static void
be_runner(void)
{
	char self[] = "/proc/self/exe", runs[] = "bare-runner";
	char *argv[] = { self, runs, NULL }, *none[] = { NULL };

	execve(self, argv, none);
	_exit(127);
}

static void
be_mean(void)
{
	signal(SIGTERM, SIG_IGN);
	puts("away");
	fflush(stdout);
	child_rig_rest();
}

static const struct child_role roles[] = {
	{ "daemon", be_daemon }, { "bare", be_bare }, { "ghost", be_ghost },
	{ "runner", be_runner },
	{ "bare-runner", be_bare_runner },
	{ "mean", be_mean }, { "rest", child_rig_rest }
};

/* --- tests ---------------------------------------------------------------- */

static size_t
count(const char *lane)
{
	pid_t pids[CHILD_PIDS];

	return child_find(lane, pids, CHILD_PIDS);
}

static char
state(pid_t pid)
{
	struct child_stat st;

	return child_stat(pid, &st) ? st.state : '-';
}

static void
test_find(void)
{
	struct heard a, b, c;
	pid_t pids[8];
	size_t n, i;

	child_rig_start(loop, &a, "g1", "daemon", NULL);
	child_rig_start(loop, &b, "g10", "mean", NULL);
	child_rig_start(loop, &c, "g2", "bare", NULL);
	child_rig_lines(loop, &a, 1);
	child_rig_lines(loop, &b, 1);
	child_rig_lines(loop, &c, 1);
	is_int((long long)count("g1"), 2,
	    "one that has become nobody's child is found, and none of g10");
	is_int((long long)count("g2"), 2,
	    "one that has lost its environment is found by its parent");
	is_int((long long)count(NULL), 5, "without a lane all are found");
	is_int((long long)child_find(NULL, pids, 2), 5,
	    "they are counted though there is no room for them");
	is_int((long long)child_stop_all("g1"), 2, "all of a lane are stopped");
	n = child_find("g1", pids, 8);
	for (i = 0; i < n && state(pids[i]) == 'T'; i++)
		;
	ok(n == 2 && i == n, "once that is said each of them has stopped");
	ok(state(b.child.pid) != 'T', "none of another lane is");
	is_int((long long)child_continue_all("g1"), 2, "and all go on");
	for (i = 0; i < n && state(pids[i]) != 'T'; i++)
		;
	ok(i == n, "none of them stands still then");
	is_int((long long)child_kill_all("g1"), 2, "all of a lane are killed");
	is_int((long long)count("g1"), 0, "then none of it is there");
	ok(child_rig_ended(loop, &a) && WIFSIGNALED(a.child.status) &&
	    WTERMSIG(a.child.status) == SIGKILL,
	    "the end of ours is told in a later turn");
	is_int((long long)child_kill_all(NULL), 3, "then all the others are");
	is_int((long long)child_kill_all(NULL), 0, "and nobody is left");
	child_rig_ended(loop, &b);
	child_rig_ended(loop, &c);
	child_forget(&a.child);
	child_forget(&b.child);
	child_forget(&c.child);
}

/* Each leader has ended: only the number of its group leads to the others. */
static void
start_runners(struct heard *h, pid_t *groups)
{
	int i;

	for (i = 0; i < RUNNERS; i++) {
		child_rig_start(loop, &h[i], "r", "runner", NULL);
		groups[i] = h[i].child.pid;
	}
	for (i = 0; i < RUNNERS; i++) {
		child_rig_lines(loop, &h[i], 1);
		if (!child_rig_ended(loop, &h[i]))
			bail_out("a runner does not end");
	}
}

static void
test_runners(void)
{
	struct heard h[RUNNERS];
	struct child_stat st;
	pid_t groups[RUNNERS];
	bool rest = true, there = true;
	int i;

	start_runners(h, groups);
	for (i = 0; i < RUNNERS; i++)
		there = there && child_stat(groups[i], &st) && st.state == 'Z';
	ok(there, "a leader that has ended keeps its group's number");
	ok(child_stop_all("r") >= RUNNERS,
	    "those that for ever fork and end are stopped");
	for (i = 0; i < RUNNERS; i++)
		rest = rest && child_rig_group(groups[i], "T") > 0 &&
		    child_rig_none(groups[i], "RSD");
	ok(rest, "some of each, and those are all that there are");
	child_continue_all("r");
	ok(child_kill_all("r") >= RUNNERS, "or are killed, at the first try");
	for (i = 0; i < RUNNERS; i++)
		rest = rest && child_rig_none(groups[i], "RSDT");
	ok(rest, "and none is left");
	for (i = 0; i < RUNNERS; i++)
		child_forget(&h[i].child);

	start_runners(h, groups);
	for (i = 0; i < RUNNERS; i++)
		child_forget(&h[i].child);
	rest = true;
	for (i = 0; i < RUNNERS; i++)
		rest = rest && child_rig_none(groups[i], "RSDT");
	ok(rest, "what is forgotten leaves none either");
}

static void
test_ghost(void)
{
	struct heard h;

	child_rig_start(loop, &h, "g3", "ghost", NULL);
	child_rig_lines(loop, &h, 1);
	is_int((long long)count("g3"), 2,
	    "one that has left all that was ours is found");
	is_int((long long)count("g30"), 0, "in its lane alone");
	is_int((long long)child_kill_all("g3"), 2, "and is killed");
	is_int((long long)count(NULL), 0, "then nobody is there");
	child_forget(&h.child);
}

/* By then it may be another's. */
static void
test_gone(void)
{
	struct heard h;
	pid_t pids[2];
	size_t n;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child_rig_start(loop, &h, "g4", "daemon", NULL);
	child_rig_lines(loop, &h, 1);
	n = child_find("g4", pids, 2);
	odd.deaf = h.child.pid;
	odd.gone = pids[0] == odd.deaf ? pids[1] : pids[0];
	child_stop_all("g4");
	ok(n == 2 && odd.stops > TOLD && state(odd.deaf) == 'T',
	    "who does not stop is told again");
	is_int(odd.late, 0, "but no number of one that has gone meanwhile");
	odd.gone = 0;
	child_kill_all("g4");
	child_forget(&h.child);
	prctl(PR_SET_CHILD_SUBREAPER, 0);
}

static void
test_many(void)
{
	struct heard *h = calloc(MANY, sizeof *h);
	struct timespec a, b;
	double ms;
	size_t n;
	int i;

	if (h == NULL)
		bail_out("out of memory");
	for (i = 0; i < MANY; i++)
		child_rig_start(loop, &h[i], "m", "mean", NULL);
	for (i = 0; i < MANY; i++)
		child_rig_lines(loop, &h[i], 1);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	n = count("m");
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	ms = (double)(b.tv_sec - a.tv_sec) * 1e3 +
	    (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	note("a look with %d more processes: %.2f ms of the processor", MANY,
	    ms);
	ok(n == MANY && ms < 100, "many are found in no time");
	is_int((long long)child_kill_all("m"), MANY, "and killed");
	for (i = 0; i < MANY; i++)
		child_forget(&h[i].child);
	free(h);
}

int
main(int argc, char **argv)
{
	child_rig_play(argc, argv, roles, sizeof roles / sizeof *roles);
	loop = loop_new(&idem_clock_real);
	if (loop == NULL || child_warden_start() == NULL)
		bail_out("no folder: %s", strerror(errno));
	test_find();
	test_ghost();
	test_runners();
	test_gone();
	test_many();
	loop_free(loop);
	child_warden_end(false);
	return done();
}
