/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * An idemd that stops, or whose master has died, finishes what runs; who comes
 * meanwhile is refused at once, and the next idemd may take its place.
 */
#define REFUSED_MS 30000	/* for a machine under load */

static const struct rig_request request = { .method = "POST", .path = "/p",
	.key = "held" };

/* Somebody listens there still, though he may have no room for one more. */
static bool
is_heard(struct rig *rig)
{
	int fd = rig_connect(rig);

	if (fd != -1)
		close(fd);
	return fd != -1 || (errno != ECONNREFUSED && errno != ENOENT);
}

/* Until nobody accepts any more; false if it still does after the time. */
static bool
refuses(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + REFUSED_MS;
	bool heard;

	while ((heard = is_heard(rig)) && rig_now_ms() < until_ms)
		usleep(10000);
	return !heard;
}

static void
start(struct rig *rig)
{
	ask_start(rig, (const char *[]){ "--workers", "2", "--",
	    rig_at(rig, "p"), NULL });
}

static int
begin(struct rig *rig)
{
	int fd;

	rig_open(rig);
	rig_program(rig, "p", COUNT HELD
	    "printf 'Content-Type: text/plain\\n\\ndone'\n");
	rig_file(rig, "hold", "");
	start(rig);
	fd = ask_begin(rig, &request);
	await_starts(rig, 1);
	return fd;
}

static void
test_told(void)
{
	struct rig_answer answer;
	struct rig rig;
	int fd = begin(&rig);

	kill(rig.pid, SIGTERM);
	ok(refuses(&rig), "told to stop, idemd refuses connections");
	ok(access(rig.socket, F_OK) == -1, "its socket's path is free");
	is_int(waitpid(rig.pid, NULL, WNOHANG), 0, "while a program runs");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	told(&answer, "200 stored", "the program is finished");
	rig_answer_free(&answer);
	is_int(rig_stop(&rig, 20000), 0, "then it ends with status 0 [F20]");
	rig_end(&rig);
}

static void
test_master_killed(void)
{
	struct rig_answer answer;
	struct rig rig;
	int fd = begin(&rig);

	rig_kill(&rig);
	ok(refuses(&rig), "without its master it refuses connections");
	start(&rig);
	ok(true, "another idemd takes its place while the program runs");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	told(&answer, "200 stored", "the program is finished");
	rig_answer_free(&answer);
	ask(&rig, &request, "200 replayed", "and the new one has the answer");
	is_int(starts(&rig), 1, "there was one start");
	is_int(rig_stop(&rig, 20000), 0, "it ends with status 0");
	rig_end(&rig);
}

/* --- on a socket that a process manager passes ---------------------------- */

static int
listener(const struct rig *rig)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%.100s",
	    rig->socket);
	if (fd == -1 || bind(fd, (struct sockaddr *)&address,
	    sizeof address) == -1 || listen(fd, 16) == -1)
		bail_out("%s: %s", rig->socket, strerror(errno));
	return fd;
}

static void
start_inherited(struct rig *rig)
{
	const char *idemd = getenv("IDEMD");
	const char *program = rig_at(rig, "p");
	int fd = listener(rig);

	rig->pid = fork();
	if (rig->pid == -1)
		bail_out("fork: %s", strerror(errno));
	if (rig->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGCHLD, SIG_IGN);	/* some do, and it is passed */
		if (dup2(fd, STDIN_FILENO) == -1 ||
		    freopen(rig->log, "a", stderr) == NULL)
			_exit(126);
		execl(idemd != NULL ? idemd : "./idemd", "idemd", "--ledger",
		    rig->ledger, "--create", "--workers", "2", "--", program,
		    (char *)NULL);
		_exit(127);
	}
	close(fd);
}

static int
begin_inherited(struct rig *rig)
{
	int fd;

	rig_open(rig);
	rig_program(rig, "p", COUNT HELD
	    "printf 'Content-Type: text/plain\n\ndone'\n");
	rig_file(rig, "hold", "");
	start_inherited(rig);
	fd = ask_begin(rig, &request);
	await_starts(rig, 1);
	kill(rig->pid, SIGTERM);
	if (!refuses(rig))
		bail_out("it does not stop");
	return fd;
}

/* mod_fcgid repeats its SIGTERM while Apache stops. */
static void
test_told_twice(void)
{
	struct rig_answer answer;
	struct rig rig;
	int fd = begin_inherited(&rig);

	kill(rig.pid, SIGTERM);
	usleep(50000);		/* it could end meanwhile, and must not */
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	told(&answer, "200 stored", "told twice at once by who passed its "
	    "socket, idemd finishes the program");
	rig_answer_free(&answer);
	is_int(rig_stop(&rig, 20000), 0, "then it ends with status 0");
	rig_end(&rig);
}

static void
test_told_again(void)
{
	int64_t since_ms = rig_now_ms();
	struct rig_answer answer;
	struct rig rig;
	int fd = begin_inherited(&rig), status;

	while (waitpid(rig.pid, &status, WNOHANG) == 0 &&
	    rig_now_ms() - since_ms < 30000) {
		kill(rig.pid, SIGTERM);
		usleep(50000);
	}
	since_ms = rig_now_ms() - since_ms;
	ok(since_ms >= 3000 && since_ms < 30000, "told again after three "
	    "seconds it ends at once (after %lld ms)", (long long)since_ms);
	rig.pid = 0;
	ask_end(&rig, fd, &answer);
	told(&answer, "closed", "and cuts the program off");
	rig_answer_free(&answer);
	rig_end(&rig);
}

int
main(void)
{
	test_told();
	test_master_killed();
	test_told_twice();
	test_told_again();
	return done();
}
