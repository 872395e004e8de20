/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include "keeper_err.h"
#include "keeper_rig.h"
#include "tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whoever dies or goes away, what a spooled run leaves in its file is right. */
#define GRACE_MS 400

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- its lobby dies ------------------------------------------------------- */

#define ERR_SCRIPT "echo begun; head -c 1048576 /dev/zero >&2 && echo written"

enum stage { BEGUN, READ_ON, REAPED, OVER };

static const struct {
	const char *what;
	char *script;
	enum stage stage;
	const char *out;	/* NULL: 100,000 bytes of numbers and 'end' */
	int status;
} deaths[] = {
	{ "while it runs and has written nothing",
	  "read line; echo after; exit 5", BEGUN, "after\n", 5 },
	{ "before it writes 1 MiB to standard error",
	  "read line; " ERR_SCRIPT, BEGUN, "begun\nwritten\n", 0 },
	{ "before it writes to standard error by name",
	  "read line; echo lost >/dev/stderr && echo written", BEGUN,
	  "written\n", 0 },
	{ "when some of its output is in the file",
	  "seq 1 99999 | head -c 99996; echo >&2; read line; echo end",
	  READ_ON, NULL, 0 },
	{ "when it is reaped and its child has the pipe",
	  "(read line; echo child) <&3 & echo self", REAPED, "self\nchild\n",
	  0 },
	{ "when it is over and that was told", "echo over", OVER, "over\n",
	  0 },
};

/* Until the run is where its lobby is to die. */
static void
come_to(struct rig *g, struct rig_run *run, enum stage stage)
{
	int64_t until = now_ms() + RIG_PATIENCE_MS;
	char byte;

	switch (stage) {
	case BEGUN:
		rig_await_state(g, run, IDEM_NOTE_BEGUN);
		return;
	case READ_ON:
		while (read(run->err_fd, &byte, 1) != 1 && now_ms() < until)
			rig_pause(g, 1);
		return;
	case REAPED:
		rig_await_state(g, run, IDEM_NOTE_BEGUN);
		while (rig_slots_free(g) < RIG_SLOTS && now_ms() < until)
			rig_pause(g, 1);
		return;
	case OVER:
		rig_wait(g, run);
		return;
	}
}

static bool
is_numbers_and_end(const struct rig *g, const struct rig_run *run)
{
	uint8_t *want = rig_numbers(100000);
	bool same;

	memcpy(want + 99996, "end\n", 4);
	same = rig_is_in_file(g, run, want, 100000);
	free(want);
	return same;
}

/* What came of it, when its lobby had died. */
struct death {
	int state;
	bool ended, same;
	enum idem_run_lock lock;
};

static void
die(size_t i, struct death *d)
{
	char script[256];
	struct idem_evidence e;
	struct rig_run run;
	struct rig g;
	int go_on, null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	rig_open_so(&g, &(struct rig_options){ .grace_ms = GRACE_MS,
	    .err = null });
	/* A child in the background has no input but by another number. */
	snprintf(script, sizeof script, "exec 3<&0; %s", deaths[i].script);
	run = rig_spooled_until(script, &go_on);
	run.own_err = true;
	rig_start(&g, &run);
	come_to(&g, &run, deaths[i].stage);
	rig_drop_lobby(&g, &run, NULL);
	d->state = rig_await_state(&g, &run, IDEM_NOTE_ORPHAN);
	close(go_on);
	d->ended = rig_await_trailer(&g, &run, &e);
	run.end.status = deaths[i].status << 8;
	d->same = deaths[i].out == NULL ? is_numbers_and_end(&g, &run) :
	    rig_is_in_file(&g, &run, (const uint8_t *)deaths[i].out,
	    strlen(deaths[i].out));
	d->lock = rig_await_lock(&g, &run, IDEM_RUN_FREE);
	rig_close(&g);
	close(null);
}

/* A child that has the pipe is not waited for when it has been silent for
   KEEPER_IDLE_MS, though we may have been held up so long. */
static void
test_death(size_t i)
{
	struct death d;
	unsigned tries = 0;
	int64_t began;

	do {
		began = now_ms();
		die(i, &d);
	} while (!d.same && deaths[i].stage == REAPED && ++tries < RIG_TRIES &&
	    now_ms() - began >= KEEPER_IDLE_MS);
	is_int(d.state, IDEM_NOTE_ORPHAN, "its lobby dies %s: it is an orphan",
	    deaths[i].what);
	ok(d.ended, "it goes on to its end");
	ok(d.same, "all of its output and its status are in its file");
	is_int(d.lock, IDEM_RUN_FREE, "and its lock is free");
}

/* Started, and its lobby is dead before the keeper looks. */
static void
test_death_before(void)
{
	struct rig_run run = rig_spooled("echo ran");
	struct rig g;
	int state;

	rig_open(&g, GRACE_MS);
	kill(g.keeper, SIGSTOP);
	rig_start(&g, &run);
	rig_drop_lobby(&g, &run, NULL);
	kill(g.keeper, SIGCONT);
	is_int(rig_await_lock(&g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "a run that nobody waits for from the first is let go");
	state = rig_state(&g, &run);
	is_int(state, IDEM_NOTE_HANDED, "and not begun");
	rig_close(&g);
}

/* Nobody reads what the keeper passes on: it goes on, and so does the run. */
static void
test_full_err(void)
{
	struct rig_run run;
	struct idem_evidence e;
	int full[2], go_on;
	struct rig g;

	if (pipe2(full, O_CLOEXEC) != 0)
		bail_out("pipe2");
	rig_open_so(&g, &(struct rig_options){ .grace_ms = GRACE_MS,
	    .err = full[1] });
	run = rig_spooled_until("read line; " ERR_SCRIPT, &go_on);
	run.own_err = true;
	rig_start(&g, &run);
	rig_await_state(&g, &run, IDEM_NOTE_BEGUN);
	rig_drop_lobby(&g, &run, NULL);
	close(go_on);
	ok(rig_await_trailer(&g, &run, &e) && e.trailer.status == 0 &&
	    e.trailer.len == strlen("begun\nwritten\n"),
	    "a program writes 1 MiB to a log that nobody reads");
	rig_close(&g);
	close(full[0]);
	close(full[1]);
}

/* A log is not for all that a program may say. */
static void
test_much_err(void)
{
	struct rig_run run;
	struct idem_evidence e;
	struct stat st;
	struct rig g;
	int go_on, log = memfd_create("log", MFD_CLOEXEC);

	rig_open_so(&g, &(struct rig_options){ .grace_ms = GRACE_MS,
	    .err = log });
	run = rig_spooled_until("read line; head -c 8388608 /dev/zero >&2 && "
	    "echo written", &go_on);
	run.own_err = true;
	rig_start(&g, &run);
	rig_await_state(&g, &run, IDEM_NOTE_BEGUN);
	rig_drop_lobby(&g, &run, NULL);
	close(go_on);
	ok(rig_await_trailer(&g, &run, &e) && e.trailer.status == 0 &&
	    e.trailer.len == strlen("written\n"),
	    "a program writes 8 MiB to standard error");
	ok(fstat(log, &st) == 0 && st.st_size >= KEEPER_ERR_MAX &&
	    st.st_size < KEEPER_ERR_MAX + 8192,
	    "and its keeper passes on some of it (%lld bytes)",
	    (long long)st.st_size);
	rig_close(&g);
	close(log);
}

/* Some of it comes through while there is room; the lobby lives. */
static void
test_left_err(void)
{
	struct rig_run run;
	int log[2], go_on;
	char text[64];
	ssize_t n;
	struct rig g;

	if (pipe2(log, O_CLOEXEC) != 0)
		bail_out("pipe2");
	rig_open_so(&g, &(struct rig_options){ .grace_ms = GRACE_MS,
	    .err = log[1] });
	run = rig_spooled_until("echo first >&2; read line; echo second >&2; "
	    "echo out", &go_on);
	run.own_err = true;
	rig_start(&g, &run);
	come_to(&g, &run, READ_ON);	/* and so it reads it itself */
	rig_leave(&g, &run);
	rig_await_state(&g, &run, IDEM_NOTE_ORPHAN);
	close(go_on);
	rig_wait(&g, &run);
	is(run.out, "out\n", "a run that is left is told of");
	fcntl(log[0], F_SETFL, O_NONBLOCK);
	n = read(log[0], text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	is(text, "irst\nsecond\n",
	    "what its lobby does not read the keeper passes on");
	is_int(rig_await_descriptors(&g, RIG_KEEPER_FDS), RIG_KEEPER_FDS,
	    "and has nothing of it after its end");
	rig_close(&g);
	close(log[0]);
	close(log[1]);
}

/* --- the keeper dies ------------------------------------------------------ */

static void
test_keeper_killed(void)
{
	struct rig_run run = rig_spooled("trap '' TERM; seq 1 20000; "
	    "echo $$ >&2; while :; do sleep 0.05; done");
	struct idem_evidence e;
	char text[16] = "";
	struct rig g;

	rig_open(&g, GRACE_MS);
	run.own_err = true;
	rig_start(&g, &run);
	while (read(run.err_fd, text, sizeof text - 1) < 1)
		rig_pause(&g, 1);
	kill(g.keeper, SIGKILL);
	rig_await_lost(&g);
	ok(rig_await_gone(&g, atoi(text)), "with its keeper a program dies");
	rig_drop_lobby(&g, &run, NULL);
	is_int(rig_await_lock(&g, &run, IDEM_RUN_FREE), IDEM_RUN_FREE,
	    "its lock is free");
	idem_evidence(g.locks, &run.owner, &e, NULL);
	ok(e.noted && e.note.state == IDEM_NOTE_BEGUN && !e.ended,
	    "it had begun, and nothing says that it ended");
	rig_close(&g);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof deaths / sizeof *deaths; i++)
		test_death(i);
	test_death_before();
	test_full_err();
	test_much_err();
	test_left_err();
	test_keeper_killed();
	return done();
}
