/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "rig_watch.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * When a program's output is over: whoever holds its pipe, however it died,
 * and however late we are.
 */
#define HEAD "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\n"
#define CRASHES 20
#define CRASH_LEN 200000
#define BUSY 400		/* connections: more than one turn handles */
#define TRIES 20		/* of what a slow machine may spoil */
#define CHILD_MS 1000		/* that a silent child is waited for */

/* Only what never ends has a limit that it can come to. */
#define ENDLESS "/endless"
#define UNSPOOLED "/unspooled"	/* read by the lobby, not the keeper */
static const char conf[] = "workers = 1\ngrace = '1s'\n"
    "local program = cgi { '%s/p' }\n"
    "route { path = '" ENDLESS "', limit = '1s', program = program }\n"
    "route { path = '" UNSPOOLED "', spool = false, program = program }\n"
    "route { path = '/**', program = program }\n";

static void
until_ms(int64_t at_ms)
{
	int64_t left = at_ms - rig_now_ms();

	if (left > 0)
		usleep((useconds_t)left * 1000);
}

/* --- it crashes at its end ------------------------------------------------ */

static void
test_crashes(struct rig *rig)
{
	const struct rig_request request = { .method = "POST", .path = "/p" };
	struct rig_answer answer;
	int i, whole = 0;

	rig_program(rig, "p", HEAD "head -c 200000 /dev/zero\nkill -SEGV $$\n");
	for (i = 0; i < CRASHES; i++) {
		rig_request(rig, &request, &answer);
		whole += answer.whole && answer.body.len == CRASH_LEN;
		rig_answer_free(&answer);
	}
	is_int(whole, CRASHES,
	    "without a key all that a program wrote before it crashed comes");
}

/* --- we are late ---------------------------------------------------------- */

/* Until the program has begun; when it had not yet. */
static int64_t
await_begun(struct rig *rig)
{
	int64_t now_ms = rig_now_ms(), until_ms = now_ms + 20000, before_ms;

	do {
		before_ms = now_ms;
		if (before_ms > until_ms)
			bail_out("the program does not begin");
		usleep(5000);
		now_ms = rig_now_ms();
	} while (rig_lines(rig, "begun", NULL) == 0);
	return before_ms;
}

/*
 * While who reads its output is stopped, a child of the program's writes on.
 * False if the machine was so slow that it may have been stopped too late, when
 * its second of waiting for more was over.
 */
static bool
late(struct rig *rig, pid_t pid, const struct rig_request *request,
    const int *busy, struct rig_answer *answer)
{
	int64_t begun_ms;
	bool in_time;
	int fd, i;

	rig_file(rig, "hold", "");
	unlink(rig_at(rig, "begun"));
	unlink(rig_at(rig, "wrote"));
	fd = ask_begin(rig, request);
	begun_ms = await_begun(rig);
	until_ms(begun_ms + 300);	/* so that it knows of the end */
	kill(pid, SIGSTOP);
	in_time = rig_now_ms() < begun_ms + 900;
	for (i = 0; i < BUSY; i++)
		rig_send(busy[i], idem_bytes_text("\001"), 0, 1000);
	unlink(rig_at(rig, "hold"));
	rig_await_lines(rig, "wrote", 1, 20000);
	until_ms(begun_ms + 1500);
	kill(pid, SIGCONT);
	ask_end(rig, fd, answer);
	return in_time;
}

static void
late_at_last(struct rig *rig, pid_t pid, const char *path, const int *busy)
{
	char key[40];
	const struct rig_request request = { .method = "POST", .path = path,
		.key = key };
	struct rig_answer answer = { 0 };
	bool done = false;
	int i;

	for (i = 0; i < TRIES && !done; i++) {
		rig_answer_free(&answer);
		snprintf(key, sizeof key, "late-%s-%d", path + 1, i);
		done = late(rig, pid, &request, busy, &answer);
	}
	note("%s: in the %d. try", path, i);
	is_bytes(answer.body.at, answer.body.len, "first,second", 12,
	    "%s: what was written while we were held up is in the answer",
	    path);
	is(rig_field(&answer, "Idempotency-Status"), "stored",
	    "%s: and stored with it", path);
	rig_answer_free(&answer);
}

static pid_t
keeper_of(struct rig *rig, pid_t lobby)
{
	pid_t pids[2];

	if (rig_children(rig->pid, pids, 2) != 2)
		bail_out("not one lobby and one keeper");
	return pids[0] == lobby ? pids[1] : pids[0];
}

static void
test_late(struct rig *rig)
{
	int busy[BUSY], i;
	pid_t lobby;

	rig_watch_lobbies(rig, &lobby, 1);
	rig_program(rig, "p", HEAD "printf first,\necho >begun\n"
	    "(trap '' PIPE; while [ -e hold ]; do sleep 0.02; done\n"
	    "printf second; echo >wrote) &\n");
	for (i = 0; i < BUSY; i++) {
		busy[i] = rig_connect(rig);
		rig_send(busy[i], idem_bytes_text("\001"), 0, 1000);
	}
	late_at_last(rig, lobby, UNSPOOLED, busy);
	late_at_last(rig, keeper_of(rig, lobby), "/p", busy);
	for (i = 0; i < BUSY; i++)
		close(busy[i]);
}

/* --- it does not end ------------------------------------------------------ */

/* A child that was held up for a second has ended, as far as can be told: then
   once more.  Sooner it must not be taken for that. */
static void
test_endless(struct rig *rig)
{
	struct rig_answer answer = { 0 };
	char key[24];
	const struct rig_request request = { .method = "POST",
		.path = ENDLESS, .key = key };
	int i = 0;

	rig_file(rig, "hold", "");
	rig_program(rig, "p", HEAD "(while [ -e hold ]; do\n"
	    "echo more; sleep 0.1; done) &\n");
	do {
		rig_answer_free(&answer);
		snprintf(key, sizeof key, "endless-%d", i++);
		rig_request(rig, &request, &answer);
	} while (i < TRIES && answer.status == 200 && answer.ms >= CHILD_MS);
	told(&answer, "504 unknown",
	    "a child that writes on and on does not hold a key for ever");
	note("it took %lld ms of 3000 (limit, grace and 1 s), in the %d. try",
	    (long long)answer.ms, i);
	rig_answer_free(&answer);
	ask(rig, &request, "409 unknown", "and its answer is no answer");
	unlink(rig_at(rig, "hold"));
}

int
main(void)
{
	struct rig rig;
	char text[500];

	rig_open(&rig);
	rig_program(&rig, "p", HEAD);
	snprintf(text, sizeof text, conf, rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	test_crashes(&rig);
	test_late(&rig);
	test_endless(&rig);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
