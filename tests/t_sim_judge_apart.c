/* SPDX-License-Identifier: ISC */
#include "idemsim.h"
#include "judge.h"

#include "sim_story.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define GOOD "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | " \
	"c1 ret a1 ok d=D | c2 inv a2 k1 | c2 ret a2 ok d=D"
#define BAD "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | h1 commit e1 | " \
	"c1 ret a1 info | c1 inv a2 k2 | h2 begin e2 k2 a2 b=o7 | h2 commit e2"
#define WITHIN_MS 60000

/* --- a scenario whose function does what a test wants --------------------- */

enum deed { SAYS_YES, SAYS_NO, ABORTS, LEAVES, STAYS };

struct scenario {
	struct plan plan;
	enum deed deed;
};

const struct plan *
scenario_plan(const struct scenario *s, size_t point)
{
	(void)point;
	return &s->plan;
}

enum scenario_said
scenario_sometimes(struct scenario *s, size_t point, size_t i,
    const struct history *h, char *why, size_t why_size)
{
	(void)s;
	(void)point;
	(void)h;
	(void)why;
	(void)why_size;
	return i == 1 ? SCENARIO_YES : SCENARIO_NO;
}

enum scenario_said
scenario_custom(struct scenario *s, size_t point, size_t i,
    const struct history *h, char *why, size_t why_size)
{
	const struct rlimit none = { 0, 0 };

	(void)point;
	(void)i;
	(void)h;
	switch (s->deed) {
	case SAYS_YES:
		return SCENARIO_YES;
	case SAYS_NO:
		break;
	case ABORTS:
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		raise(SIGABRT);
		break;
	case LEAVES:
		_exit(7);
	case STAYS:
		for (;;)
			pause();
	}
	snprintf(why, why_size, "so it is");
	return SCENARIO_NO;
}

/* --- what is heard of it -------------------------------------------------- */

static const char *const names[] = { "mine", "once", "twice" };

static bool
judged(enum deed deed, int64_t within_ms, struct history *h,
    struct judge_run *run, bool *sometimes)
{
	struct scenario s = {
		.plan.expect = { .custom = names, .custom_n = 1,
		    .sometimes = names + 1, .sometimes_n = 2 },
		.deed = deed
	};
	const struct idemsim_asked asked = {
		.history = h, .scenario = &s, .sometimes_n = 2,
		.within_ms = within_ms
	};

	return idemsim_judge(&asked, run, sometimes);
}

static void
no_child_is_left(void)
{
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD,
	    "and no process is left");
}

static void
test_said(void)
{
	bool sometimes[2] = { false, false };
	struct judge_run run;
	struct history h;

	story_tell(&h, "holds=at_most_once", GOOD);
	ok(judged(SAYS_YES, WITHIN_MS, &h, &run, sometimes) &&
	    run.verdict == JUDGE_PASS && !run.broken &&
	    run.exercised[PLAN_AT_MOST_ONCE], "what passes passes");
	ok(!sometimes[0] && sometimes[1], "and what was so is told");
	ok(judged(SAYS_NO, WITHIN_MS, &h, &run, sometimes) &&
	    run.verdict == JUDGE_FAIL &&
	    strcmp(run.message, "mine: so it is") == 0,
	    "what does not hold does not, and why is told");
	history_free(&h);
	story_tell(&h, "business holds=at_most_once_per_business_id", BAD);
	ok(judged(SAYS_YES, WITHIN_MS, &h, &run, sometimes) && run.by_check &&
	    run.finding.events_n == 2 && run.finding.events[1] == 7,
	    "so are the events of a finding");
	is(run.finding.key, "k2", "its key");
	is(run.finding.blames, "client", "and whom it blames");
	no_child_is_left();
	history_free(&h);
}

static const struct {
	const char *what;
	enum deed deed;
	int64_t within_ms;
	const char *message;
} breaks[] = {
	{ "a checker that crashes", ABORTS, WITHIN_MS,
	  "it could not be judged: the checkers were ended by SIGABRT" },
	{ "one that leaves", LEAVES, WITHIN_MS,
	  "it could not be judged: the checkers ended with 7" },
	{ "one that comes to no end", STAYS, 200,
	  "it could not be judged: the checkers came to no end" },
};

static void
test_broken(void)
{
	bool sometimes[2] = { false, false };
	struct judge_run run;
	struct history h;
	size_t i;

	story_tell(&h, "holds=at_most_once", GOOD);
	for (i = 0; i < sizeof breaks / sizeof *breaks; i++) {
		if (!ok(!judged(breaks[i].deed, breaks[i].within_ms, &h, &run,
		    sometimes) && run.broken &&
		    run.verdict == JUDGE_INCONCLUSIVE &&
		    strncmp(run.message, breaks[i].message,
		    strlen(breaks[i].message)) == 0 && h.n == 8,
		    "%s makes it inconclusive, and the history is there",
		    breaks[i].what))
			note("%s", run.message);
		no_child_is_left();
	}
	history_free(&h);
}

/* Of a point's runs it is the one whose history is kept. */
static void
test_worst(void)
{
	static const struct plan plan = { .name = "a point", .gates.n = 1 };
	struct judge_run fails = { .verdict = JUDGE_FAIL };
	struct judge_run broken = { .verdict = JUDGE_INCONCLUSIVE,
	    .broken = true };
	struct judge_point p;
	struct history h;

	story_tell(&h, "", GOOD);
	judge_point_begin(&p, &plan);
	h.head.run = 1;
	judge_point_take(&p, &h, &fails, NULL);
	h.head.run = 2;
	judge_point_take(&p, &h, &broken, NULL);
	ok(p.worst_run == 2 && p.worst.broken,
	    "what could not be judged is the worst of all");
	judge_point_free(&p);
	history_free(&h);
}

int
main(void)
{
	test_said();
	test_broken();
	test_worst();
	return done();
}
