/* SPDX-License-Identifier: ISC */
#include "settle_rig.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* Many runs at once, and what a settler costs that has nothing to do. */

#define LEFT 5000u
#define HELD 400u
#define TURN_MAX_MS 500		/* of CPU time; it is under 10 */
#define TURNS_MAX_MS 20000	/* all, by the clock, as some may block; 150 */
#define TURNS 3000
#define ROUNDS_MAX 100

static double
ms_by(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
leave(struct settle_rig *rig, uint32_t number)
{
	struct idem_note n = settle_rig_note(rig, IDEM_NOTE_ORPHAN, number);
	struct idem_run_file f;

	settle_rig_claim(rig, &n);
	f = settle_rig_file(rig, &n, "Content-Type: text/plain\n\ndone\n", 0);
	idem_run_file_close(&f);
}

struct longest {
	double cpu_ms, real_ms;	/* of a turn */
	double all_ms;		/* real, of all turns */
};

static void
turn(struct settle_rig *rig, struct longest *l)
{
	double cpu = ms_by(CLOCK_PROCESS_CPUTIME_ID);
	double real = ms_by(CLOCK_MONOTONIC);

	settle_rig_turn(rig);
	cpu = ms_by(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	real = ms_by(CLOCK_MONOTONIC) - real;
	l->all_ms += real;
	if (cpu > l->cpu_ms)
		l->cpu_ms = cpu;
	if (real > l->real_ms)
		l->real_ms = real;
}

static unsigned
left_of(const struct settle_rig *rig)
{
	struct idem_journal_walk w;
	struct idem_owner owner;
	unsigned n = 0;

	if (!idem_journal_walk(rig->folder, false, &w))
		bail_out("no walk");
	while (idem_journal_next(&w, &owner))
		n++;
	idem_journal_walk_end(&w);
	return n;
}

/* Away, then there again. */
static void
test_left(void)
{
	struct longest most = { 0 };
	struct settle_rig rig;
	uint32_t i;

	settle_rig_open(&rig, false);
	for (i = 1; i <= LEFT; i++)
		leave(&rig, i);
	rig.does = RIG_REFUSES;
	settle_start(rig.settle);
	for (i = 0; i < TURNS; i++)
		turn(&rig, &most);
	ok(most.cpu_ms < TURN_MAX_MS && left_of(&rig) == LEFT, "no turn works "
	    "long on %u leftover runs whose store is away", LEFT);
	ok(most.all_ms < TURNS_MAX_MS, "nor does one wait long for others");
	note("the longest took %.1f ms, and %.1f ms of work; all %.0f ms",
	    most.real_ms, most.cpu_ms, most.all_ms);
	rig.does = RIG_ANSWERS;
	for (i = 0; i < ROUNDS_MAX && left_of(&rig) > 0; i++)
		settle_rig_pass(&rig, 500, 1);
	is_int(left_of(&rig), 0, "all are settled once it is there");
	ok(rig.most <= SETTLE_AT_ONCE, "never more than %d calls are under "
	    "way", SETTLE_AT_ONCE);
	settle_rig_close(&rig);
}

/* CPU time a second, of a settler alone. */
static double
cpu_ms_a_second(struct settle_rig *rig)
{
	const int seconds = 20;
	double before;

	settle_start(rig->settle);
	settle_rig_pass(rig, 2000, 10);
	before = ms_by(CLOCK_PROCESS_CPUTIME_ID);
	settle_rig_pass(rig, seconds * 1000, 10);
	return (ms_by(CLOCK_PROCESS_CPUTIME_ID) - before) / seconds;
}

static void
test_idle(void)
{
	struct settle_rig rig;
	double ms;

	settle_rig_open(&rig, false);
	ms = cpu_ms_a_second(&rig);
	ok(ms < 20, "a settler with nothing to do costs next to nothing");
	note("%.2f ms a second, 100 turns of the loop with it", ms);
	settle_rig_close(&rig);
}

static void
test_held(void)
{
	static struct idem_run_file files[HELD];
	struct settle_rig rig;
	struct idem_note n;
	double ms;
	uint32_t i;

	settle_rig_open(&rig, false);
	for (i = 0; i < HELD; i++) {
		n = settle_rig_note(&rig, IDEM_NOTE_BEGUN, i + 1);
		files[i] = settle_rig_file(&rig, &n, NULL, 0);
	}
	ms = cpu_ms_a_second(&rig);
	ok(ms < 200, "%u runs under way cost little", HELD);
	note("%.2f ms a second", ms);
	ok(left_of(&rig) == HELD && rig.calls[IDEM_STORE_UNKNOWN] == 0,
	    "and are left alone");
	for (i = 0; i < HELD; i++)
		idem_run_file_close(&files[i]);
	settle_rig_close(&rig);
}

int
main(void)
{
	struct rlimit files;

	/* Two a run. */
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		bail_out("getrlimit");
	if (files.rlim_cur < 2 * HELD + 100) {
		files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	test_left();
	test_idle();
	test_held();
	return done();
}
