/* SPDX-License-Identifier: ISC */
#include "child.h"

#include "child_rig.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MANY 200
#define RUNNERS 3
#define LOOKS 10

static struct loop *loop;

/* --- what the children are ------------------------------------------------ */

/* Nobody's child, in a session of its own, and no signal ends it. */
static void
be_daemon(void)
{
	int i;

	if (fork() != 0)
		child_rig_rest();
	setsid();
	if (fork() != 0)
		_exit(0);
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

/* Each makes the next and ends, so that a look may always come too late. */
static void
be_runner(void)
{
	puts("away");
	fflush(stdout);
	for (;;)
		if (fork() != 0)
			_exit(0);
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
	{ "daemon", be_daemon }, { "bare", be_bare }, { "runner", be_runner },
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

static void
test_runners(void)
{
	struct heard h[RUNNERS];
	size_t found = 0;
	int i;

	for (i = 0; i < RUNNERS; i++)
		child_rig_start(loop, &h[i], "r", "runner", NULL);
	for (i = 0; i < RUNNERS; i++) {
		child_rig_lines(loop, &h[i], 1);
		child_rig_ended(loop, &h[i]);
	}
	/* A look may find none, since each lives for a moment only. */
	for (i = 0; i < LOOKS; i++)
		found += child_kill_all("r");
	ok(found >= RUNNERS, "those that for ever fork and end are found");
	for (i = 0; i < LOOKS && count("r") == 0; i++)
		;
	is_int(i, LOOKS, "and are ended");
	for (i = 0; i < RUNNERS; i++)
		child_forget(&h[i].child);
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
	clock_gettime(CLOCK_MONOTONIC, &a);
	n = count("m");
	clock_gettime(CLOCK_MONOTONIC, &b);
	ms = (double)(b.tv_sec - a.tv_sec) * 1e3 +
	    (double)(b.tv_nsec - a.tv_nsec) / 1e6;
	note("a look with %d more processes: %.2f ms", MANY, ms);
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
	test_runners();
	test_many();
	loop_free(loop);
	child_warden_end(false);
	return done();
}
