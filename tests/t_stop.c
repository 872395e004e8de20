/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * An idemd that stops, or whose master has died, finishes what runs; who comes
 * meanwhile is refused at once, and the next idemd may take its place.
 */
#define REFUSED_MS 10000	/* for a machine under load */

static const struct rig_request request = { .method = "POST", .path = "/p",
	.key = "held" };

/* Until nobody accepts any more; false if it still does after the time. */
static bool
refuses(struct rig *rig)
{
	int64_t until_ms = rig_now_ms() + REFUSED_MS;
	int fd;

	while ((fd = rig_connect(rig)) != -1 && rig_now_ms() < until_ms) {
		close(fd);
		usleep(10000);
	}
	if (fd != -1)
		close(fd);
	return fd == -1;
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
	is_int(rig_stop(&rig, 20000), 0, "then it ends with status 0");
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

int
main(void)
{
	test_told();
	test_master_killed();
	return done();
}
