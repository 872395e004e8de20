/* SPDX-License-Identifier: ISC */
#include "spawn.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char *const sh[] = { "sh", "-c", "cat; echo err >&2", NULL };
static char *const environment[] = { "PATH=/usr/bin:/bin", NULL };

/* Descriptors as the program is to get them, in every order of 0, 1 and 2. */
static const int orders[][3] = {
	{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 },
	{ 2, 1, 0 },
};

/* Here all that could be wrong is lost; only the exit status is left. */
static void
spawn_crossed(const int order[3], const int ends[3])
{
	struct spawn s = {
		.path = "/bin/sh", .argv = sh, .envp = environment,
		.in = order[0], .out = order[1], .err = order[2], .lock = -1
	};
	struct spawned done;
	int i, status = 1;

	for (i = 0; i < 3; i++)
		if (dup2(ends[i], order[i]) < 0)
			_exit(2);
	spawn(&s, &done);
	if (done.failed != SPAWN_DONE ||
	    waitpid(done.pid, &status, 0) != done.pid)
		_exit(3);
	_exit(status != 0);
}

static void
read_end(int pipe_end, char *to, size_t size)
{
	ssize_t n = read(pipe_end, to, size - 1);

	to[n > 0 ? n : 0] = '\0';
	close(pipe_end);
}

static void
test_order(const int order[3])
{
	int in[2], out[2], err[2], status = -1;
	char text[2][32];
	pid_t pid;

	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
	    pipe2(err, O_CLOEXEC) != 0 || write(in[1], "in", 2) != 2)
		bail_out("pipe2");
	close(in[1]);
	pid = fork();
	if (pid == 0)
		spawn_crossed(order, (const int[]){ in[0], out[1], err[1] });
	close(in[0]);
	close(out[1]);
	close(err[1]);
	waitpid(pid, &status, 0);
	read_end(out[0], text[0], sizeof text[0]);
	read_end(err[0], text[1], sizeof text[1]);
	ok(status == 0 && strcmp(text[0], "in") == 0 &&
	    strcmp(text[1], "err\n") == 0,
	    "descriptors %d, %d, %d become 0, 1, 2",
	    order[0], order[1], order[2]);
}

/* With so few descriptors there is no high number for the lock. */
static int
few_descriptors(void)
{
	const struct rlimit few = { 16, 16 };
	struct spawn s = {
		.path = "/bin/true", .argv = sh, .envp = environment,
		.in = 0, .out = 1, .err = 2
	};
	struct spawned done;
	int status = 1;

	s.lock = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return 2;
	spawn(&s, &done);
	if (done.failed != SPAWN_DONE ||
	    waitpid(done.pid, &status, 0) != done.pid)
		return 3;
	return status != 0;
}

static void
test_few_descriptors(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(few_descriptors());
	waitpid(pid, &status, 0);
	is_int(status, 0, "a lock is kept where few descriptors are allowed");
}

static void
test_no_group_left(void)
{
	struct spawn s = {
		.path = "/nowhere", .argv = sh, .envp = environment,
		.in = 0, .out = 1, .err = 2, .lock = -1
	};
	struct spawned done;

	spawn(&s, &done);
	ok(done.failed == SPAWN_EXEC && done.error == ENOENT,
	    "a failed execve is told with its errno");
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "and leaves no child");
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof orders / sizeof *orders; i++)
		test_order(orders[i]);
	test_few_descriptors();
	test_no_group_left();
	return done();
}
