/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * From the start to the end: on whatever idemd may listen, with programs that
 * hang or leave somebody behind, told to stop at any time, and started again.
 */
#define WAIT_MS 90000
#define HEAD "printf 'Content-Type: text/plain\\n\\n'\n"

static const char place[] = COUNT HELD HEAD "echo done\n";

static const struct rig_request request = {
	.method = "POST",
	.path = "/p"
};

static bool
await_gone(pid_t pid)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	while (kill(pid, 0) == 0 && rig_now_ms() < until_ms)
		poll(NULL, 0, 5);
	return kill(pid, 0) == -1 && errno == ESRCH;
}

static bool
await_refusal(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	int fd;

	while ((fd = rig_connect(rig)) != -1 && rig_now_ms() < until_ms) {
		close(fd);
		poll(NULL, 0, 5);
	}
	if (fd != -1)
		close(fd);
	return fd == -1;
}

/* Its status, once it ends without being told again; -1: it does not. */
static int
await_end(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	pid_t pid = 0;
	int status = -1;

	while (pid == 0 && rig_now_ms() < until_ms) {
		pid = waitpid(rig->pid, &status, WNOHANG);
		if (pid == 0)
			poll(NULL, 0, 5);
	}
	if (pid == rig->pid)
		rig->pid = 0;
	else
		rig_kill(rig);
	return pid == 0 ? -1 : status;
}

static long
number_in(struct rig *rig, const char *name)
{
	char *text = rig_slurp(rig, name);
	long n = text != NULL ? strtol(text, NULL, 10) : 0;

	free(text);
	return n;
}

/* --- told to stop --------------------------------------------------------- */

#define RUNS 4
#define SOON_MS 60000		/* and not when a program's limit is over */

static void
start(struct rig *rig)
{
	ask_start(rig, (const char *[]){ "--workers", "2", "-c", "4",
	    "--limit", "5m", "--", rig_at(rig, "p"), NULL });
}

static void
open_held(struct rig *rig, const char *text)
{
	rig_open(rig);
	rig_program(rig, "p", text);
	rig_file(rig, "hold", "");
	start(rig);
}

/* All of them: the master, what it started, and what that started. */
static size_t
processes(struct rig *rig, pid_t *all, size_t max)
{
	size_t n = rig_children(rig->pid, all, max), i, first = n;

	for (i = 0; i < first; i++)
		n += rig_children(all[i], all + n, max - n);
	return n;
}

static void
stop_busy(void)
{
	struct rig_request held = request;
	struct rig_answer answer;
	pid_t all[64];
	int fds[RUNS], gone = 0;
	struct rig rig;
	size_t n, i;

	open_held(&rig, place);
	for (i = 0; i < RUNS; i++)
		fds[i] = ask_begin(&rig, &held);
	await_starts(&rig, RUNS);
	n = processes(&rig, all, 64);
	kill(rig.pid, SIGTERM);
	ok(await_refusal(&rig), "told to stop, idemd accepts no more "
	    "[cgi:C02]");
	ok(access(rig.socket, F_OK) == -1, "its path is free [cgi:C02]");
	unlink(rig_at(&rig, "hold"));
	for (i = 0; i < RUNS; i++) {
		ask_end(&rig, fds[i], &answer);
		told(&answer, "200", "what runs is finished [cgi:C02 cgi:C58]");
		rig_answer_free(&answer);
	}
	is_int(await_end(&rig), 0, "it ends with status 0 "
	    "[cgi:C02 cgi:C58 F20]");
	for (i = 0; i < n; i++)
		gone += await_gone(all[i]);
	is_int(gone, (long long)n, "nothing of %zu processes is left "
	    "[cgi:C02]", n);
	rig_end(&rig);
}

static void
stop_idle(void)
{
	int64_t begun_ms;
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "p", place);
	start(&rig);
	ask(&rig, &request, "200", "an idle idemd");
	begun_ms = rig_now_ms();
	is_int(rig_stop(&rig, WAIT_MS), 0, "ends with status 0 "
	    "[cgi:C58 F20]");
	ok(rig_now_ms() - begun_ms < SOON_MS, "soon");
	rig_end(&rig);
}

/* The second time it does not wait for anybody. */
static void
stop_twice(void)
{
	struct rig_request held = request;
	struct rig_answer answer;
	int64_t begun_ms;
	struct rig rig;
	int fd, status;

	held.key = "twice";
	open_held(&rig, "#!/bin/sh\necho $$ >pid\n" COUNT
	    "trap '' TERM\n" HELD);
	fd = ask_begin(&rig, &held);
	await_starts(&rig, 1);
	begun_ms = rig_now_ms();
	kill(rig.pid, SIGTERM);
	await_refusal(&rig);
	kill(rig.pid, SIGTERM);
	status = await_end(&rig);
	ok(status != -1 && WIFEXITED(status) &&
	    rig_now_ms() - begun_ms < SOON_MS,
	    "told twice, idemd ends at once [cgi:C58]");
	ok(await_gone((pid_t)number_in(&rig, "pid")),
	    "and its program with it [cgi:C58]");
	ask_end(&rig, fd, &answer);
	told(&answer, "closed", "its client has no answer");
	rig_answer_free(&answer);
	start(&rig);
	ask(&rig, &held, "409 unknown", "the next idemd knows that it may "
	    "have run");
	rig_stop(&rig, WAIT_MS);
	rig_end(&rig);
}

/* A stream goes on while the next idemd is there already. */
static void
stop_streaming(void)
{
	struct rig_answer answer;
	struct rig rig, next;
	int fd;

	open_held(&rig, COUNT HEAD "echo tick\n" HELD "echo tock\n");
	fd = ask_begin(&rig, &request);
	await_starts(&rig, 1);
	kill(rig.pid, SIGTERM);
	await_refusal(&rig);
	next = rig;
	ask_start(&next, (const char *[]){ "--", rig_at(&rig, "q"), NULL });
	rig_program(&rig, "q", COUNT HEAD "echo next\n");
	ask(&next, &request, "200", "the next idemd serves on the same path "
	    "[cgi:C89]");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	told(&answer, "200", "while the old one finishes its stream "
	    "[cgi:C89]");
	is_bytes(answer.body.at, answer.body.len, "tick\ntock\n", 10,
	    "to its end [cgi:C89]");
	rig_answer_free(&answer);
	is_int(await_end(&rig), 0, "and then it ends [cgi:C89]");
	ask(&next, &request, "200", "the next one goes on");
	is_int(rig_stop(&next, WAIT_MS), 0, "until it is told to stop");
	rig_end(&rig);
}

/* --- programs that hang --------------------------------------------------- */

#define HUNG 6

static void
hung(void)
{
	struct rig_request good = request;
	struct rig_answer answer;
	int fds[HUNG], i;
	struct rig rig;

	rig_open(&rig);
	rig_program(&rig, "hang", COUNT "exec sleep 600\n");
	rig_program(&rig, "good", COUNT HEAD "echo ok\n");
	ask_start(&rig, (const char *[]){ "--workers", "2", "-c", "3",
	    "--limit", "3s", "--grace", "1s", "--root", rig.folder, NULL });
	for (i = 0; i < HUNG; i++) {
		good.program = rig_at(&rig, "hang");
		fds[i] = ask_begin(&rig, &good);
	}
	await_starts(&rig, 3);
	good.program = rig_at(&rig, "good");
	ask(&rig, &good, "200", "behind programs that hang a good one runs "
	    "within their limit [cgi:C05]");
	for (i = 0; i < HUNG; i++) {
		ask_end(&rig, fds[i], &answer);
		told(&answer, "504 unknown", "one that hangs is ended "
		    "[cgi:C05 R14]");
		rig_answer_free(&answer);
	}
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
}

/* --- somebody who is left behind ------------------------------------------ */

static int
sockets_of(pid_t pid)
{
	char path[80], to[64];
	struct dirent *entry;
	int n = 0, others = 0;
	DIR *folder;
	ssize_t len;

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		len = readlinkat(dirfd(folder), entry->d_name, to,
		    sizeof to - 1);
		to[len > 0 ? len : 0] = '\0';
		n += strncmp(to, "socket:", 7) == 0;
		others += len > 0;
	}
	if (folder != NULL)
		closedir(folder);
	return others == 0 ? -1 : n;
}

/* Its client's connection, the port and the path are nobody's afterwards. */
static void
left_behind(void)
{
	struct rig_answer answer;
	struct pollfd ready = { .events = POLLIN };
	struct rig rig;
	char end[8];
	pid_t pid;
	int fd;

	rig_open(&rig);
	rig.tcp = true;
	rig_program(&rig, "p", COUNT HEAD "setsid sleep 600 >/dev/null 2>&1 &\n"
	    "echo $! >pid\necho ok\n");
	start(&rig);
	fd = ask_begin(&rig, &request);
	rig_receive(fd, 1, (struct idem_bytes){ 0 }, WAIT_MS, &answer);
	told(&answer, "200", "a program that leaves a child behind");
	rig_answer_free(&answer);
	ready.fd = fd;
	ok(poll(&ready, 1, WAIT_MS) == 1 && recv(fd, end, sizeof end, 0) == 0,
	    "its client's connection is closed [cgi:C25]");
	close(fd);
	pid = (pid_t)number_in(&rig, "pid");
	is_int(sockets_of(pid), 0, "the child has none of our sockets "
	    "[cgi:C25]");
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	is_int(kill(pid, 0), 0, "the child lives on");
	ok(rig_connect(&rig) == -1 && errno == ECONNREFUSED,
	    "and nobody listens on the port [cgi:C25]");
	kill(pid, SIGKILL);
	rig_end(&rig);
}

int
main(void)
{
	stop_idle();
	stop_busy();
	stop_twice();
	stop_streaming();
	hung();
	left_behind();
	return done();
}
