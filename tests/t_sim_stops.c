/* SPDX-License-Identifier: ISC */
#include "label.h"
#include "stops.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that comes to a labelled point, and the simulator's word to it. */
#define PIECE_MS 20
#define WAIT_MS 20000

static char folder[] = "/tmp/t_sim_stops.XXXXXX";
static char path[60];

static struct {
	struct loop *loop;
	struct stops *stops;
	struct stop last;
	char label[40], key[80], lane[20];
	unsigned times;
} seen;

static void
reached(void *arg, const struct stop *stop)
{
	(void)arg;
	seen.last = *stop;
	seen.times++;
	snprintf(seen.label, sizeof seen.label, "%s", stop->label);
	snprintf(seen.key, sizeof seen.key, "%s",
	    stop->key != NULL ? stop->key : "none");
	snprintf(seen.lane, sizeof seen.lane, "%s", stop->lane);
}

static pid_t
come_to(const char *label, const char *key)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(idem_label_ask(label, key));
}

/*
 * Turn for so long at most.  Turns are no measure of time: a child has what was
 * open when it was made, and the loop is told again and again of what has been
 * closed here only.
 */
static bool
go_on(int64_t until_ms)
{
	if (idem_boot_ms(&idem_clock_real) >= until_ms)
		return false;
	loop_turn(seen.loop, loop_now(seen.loop) + PIECE_MS);
	return true;
}

/* Turn until somebody waits; false: nobody came. */
static bool
await_one(unsigned times)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (seen.times < times && go_on(until_ms))
		;
	return seen.times >= times;
}

static void
turn(void)
{
	loop_turn(seen.loop, loop_now(seen.loop));
}

static int
ended(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, WUNTRACED);
	return status;
}

static void
test_words(void)
{
	unsigned before = seen.times;
	pid_t pid = come_to("claim.ok", "00ff");
	int status;

	ok(await_one(before + 1), "who comes to a point tells so");
	is(seen.label, "claim.ok", "which it is");
	is(seen.key, "00ff", "of which key");
	is(seen.lane, "g1", "and in whose lane");
	is_int(seen.last.pid, pid, "and who");
	ok(waitpid(pid, &status, WNOHANG) == 0, "and does not go on");
	stops_go(seen.stops, seen.last.id);
	is_int(ended(pid), 0, "until it is told to go");
	turn();
	pid = come_to("program.spawn", "-");
	await_one(before + 2);
	is(seen.key, "none", "a point need not be of a key");
	ok(stops_fail(seen.stops, seen.last.id, ENOSPC) &&
	    !stops_fail(seen.stops, seen.last.id, EIO) &&
	    !stops_fail(seen.stops, 0, EIO), "one who waits can be told to "
	    "fail, once");
	status = ended(pid);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == ENOSPC,
	    "and does");
	/* A word for one who does not wait is nobody's, and does no harm. */
	stops_go(seen.stops, seen.last.id);
	stops_go(seen.stops, 0);
}

static void
test_death(void)
{
	unsigned before = seen.times, dead;
	pid_t pid = come_to("claim.ok", "-");

	ok(await_one(before + 1), "another one comes to a point");
	dead = seen.last.id;
	kill(pid, SIGKILL);
	ended(pid);
	/* Who comes after his death is heard of after it. */
	pid = come_to("claim.ok", "-");
	ok(await_one(before + 2), "and the next one after his death");
	/* Asked once: one who has been given his word does not wait either. */
	ok(!stops_fail(seen.stops, dead, EIO),
	    "who has died there does not wait any more");
	stops_go(seen.stops, seen.last.id);
	is_int(ended(pid), 0, "the next one goes on when he is told to");
	turn();
}

/* No number is left for another descriptor. */
static struct rlimit
take_descriptors(void)
{
	struct rlimit before, less;
	int fd = dup(0);

	getrlimit(RLIMIT_NOFILE, &before);
	less = before;
	less.rlim_cur = fd > 0 ? (rlim_t)fd : 0;
	close(fd);
	if (setrlimit(RLIMIT_NOFILE, &less) != 0)
		bail_out("RLIMIT_NOFILE: %s", strerror(errno));
	return before;
}

static void
test_no_descriptor(void)
{
	unsigned before = seen.times;
	pid_t pid = come_to("claim.ok", "-");
	struct rlimit limit = take_descriptors();
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	while (stops_error(seen.stops) == 0 && go_on(until_ms))
		;
	is_int(stops_error(seen.stops), EMFILE,
	    "who comes and cannot be taken is told of");
	until_ms = idem_boot_ms(&idem_clock_real) + PIECE_MS;
	loop_turn(seen.loop, until_ms);
	ok(loop_now(seen.loop) >= until_ms - 1,
	    "once: the loop rests although he is still there");
	setrlimit(RLIMIT_NOFILE, &limit);
	kill(pid, SIGKILL);
	ended(pid);
	is_int(seen.times, before, "and it is no stop");
	stops_close(seen.stops);
	seen.stops = stops_open(seen.loop, path, reached, NULL);
	ok(seen.stops != NULL && stops_error(seen.stops) == 0,
	    "a new place has its means again");
}

/* At one and the other; the list says what is only told. */
static pid_t
come_to_two(const char *first, const char *second)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setenv("IDEMSIM_LABELS", "claim.ok,run.begin!,reply.sent", 1);
	if (idem_label_ask(first, "00ff") != 0)
		_exit(1);
	_exit(second == NULL ? 0 : idem_label_ask(second, "00ff"));
}

static void
test_told(void)
{
	unsigned before = seen.times;
	pid_t pid = come_to_two("run.begin", NULL);

	is_int(ended(pid), 0, "who is only to tell goes on without a word");
	ok(await_one(before + 1), "and it is heard");
	is(seen.label, "run.begin", "of which point");
	is(seen.key, "00ff", "of which key");
	is_int(seen.last.pid, pid, "and who was there");
	ok(seen.last.id == 0 && !stops_fail(seen.stops, 0, EIO),
	    "nobody waits there");
	pid = come_to_two("run.begin", "claim.ok");
	ok(await_one(before + 3), "one who has told may wait at the next");
	is(seen.label, "claim.ok", "which that is");
	ok(stops_fail(seen.stops, seen.last.id, EIO), "for his own word");
	ok(WEXITSTATUS(ended(pid)) == EIO, "and gets it");
}

static void
test_all(void)
{
	unsigned before = seen.times;
	pid_t pid = come_to("claim.ok", "-");

	if (!ok(await_one(before + 1), "and one more"))
		kill(pid, SIGKILL);
	stops_close(seen.stops);
	is_int(ended(pid), 0, "all that wait go on at the end");
	is_int(ended(come_to("claim.ok", "-")), 0,
	    "where nobody listens, nobody waits");
	ok(access(path, F_OK) != 0, "and nothing is left of the socket");
}

static void
test_wanted(void)
{
	setenv("IDEMSIM_LABELS", "claim.ok,reply.sent", 1);
	ok(idem_label_wanted("claim.ok") && idem_label_wanted("reply.sent"),
	    "a point that is named is waited at");
	ok(!idem_label_wanted("claim") && !idem_label_wanted("reply") &&
	    !idem_label_wanted("sent") && !idem_label_wanted("claim.ok,reply"),
	    "and none that is named like it");
	setenv("IDEMSIM_LABELS", "claim.ok!,reply.sent!", 1);
	ok(idem_label_wanted("claim.ok") && idem_label_wanted("reply.sent") &&
	    !idem_label_wanted("claim") && !idem_label_wanted("reply"),
	    "so it is with one that is only told of");
	setenv("IDEMSIM_LABELS", "", 1);
	ok(!idem_label_wanted("claim.ok"), "and none if none is named");
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/stops", folder);
	setenv("IDEMSIM_STOPS", path, 1);
	setenv("IDEMSIM_LANE", "g1", 1);
	seen.loop = loop_new(&idem_clock_real);
	seen.stops = stops_open(seen.loop, path, reached, NULL);
	ok(seen.stops != NULL, "there is a place to tell it");
	test_words();
	test_death();
	test_no_descriptor();
	test_told();
	test_all();
	test_wanted();
	loop_free(seen.loop);
	rmdir(folder);
	return done();
}
