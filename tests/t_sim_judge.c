/* SPDX-License-Identifier: ISC */
#include "judge.h"

#include "scenario.h"
#include "sim_story.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* --- a scenario whose functions say what a test wants --------------------- */

struct scenario {
	struct plan plan;
	enum scenario_said sometimes[4], custom[4];
};

const struct plan *
scenario_plan(const struct scenario *s, size_t point)
{
	(void)point;
	return &s->plan;
}

static enum scenario_said
told(enum scenario_said said, char *why, size_t size)
{
	snprintf(why, size, "line 7");
	return said;
}

enum scenario_said
scenario_sometimes(struct scenario *s, size_t point, size_t i,
    const struct history *h, char *why, size_t why_size)
{
	(void)point;
	(void)h;
	return told(s->sometimes[i], why, why_size);
}

enum scenario_said
scenario_custom(struct scenario *s, size_t point, size_t i,
    const struct history *h, char *why, size_t why_size)
{
	(void)point;
	(void)h;
	return told(s->custom[i], why, why_size);
}

/* --- runs ----------------------------------------------------------------- */

#define GOOD "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | " \
	"c1 ret a1 ok d=D | c2 inv a2 k1 | c2 ret a2 ok d=D"
#define BAD "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | h1 commit e1 | " \
	"c1 ret a1 info | c1 inv a2 k1 | h2 begin e2 k1 a2 b=o7 | h2 commit e2"
#define ROTATED "c1 inv a1 k1 | h1 begin e1 k1 a1 b=o7 | c1 ret a1 info | " \
	"c1 inv a2 k2 | h2 begin e2 k2 a2 b=o7 | h1 commit e1 | h2 commit e2"

static const struct {
	const char *what;
	const char *head, *story;
	enum judge_verdict verdict;
	const char *message;	/* it begins so */
} runs[] = {
	{ "what holds", "holds=at_most_once holds=same_answer", GOOD,
	  JUDGE_PASS, "" },
	{ "what holds, and somebody else has a say who is not here",
	  "holds=at_most_once own=2", GOOD, JUDGE_INCONCLUSIVE,
	  "all else is well, but the scenario's own functions" },
	{ "what does not hold, whoever has a say", "holds=at_most_once own=2",
	  BAD, JUDGE_FAIL, "at_most_once: " },
	{ "what claims nothing", "", GOOD, JUDGE_VACUOUS,
	  "nothing was to hold" },
	{ "what does not hold", "holds=at_most_once", BAD, JUDGE_FAIL,
	  "at_most_once: e1 and e2 both" },
	{ "what does not hold and was not asked for", "holds=resolves",
	  BAD " | c1 ret a2 info | @9000 u inv a9 k1 >g1 audit | "
	  "u ret a9 ok d=D", JUDGE_PASS, "" },
	{ "what does not hold and is relaxed",
	  "holds=at_most_once relaxed=at_most_once", BAD, JUDGE_PASS,
	  "at_most_once did not hold, which is relaxed: a reason" },
	{ "a process that died without the plan's doing",
	  "holds=at_most_once", BAD " | a exit SIGKILL", JUDGE_INCONCLUSIVE,
	  "a ended (SIGKILL), and the plan had nothing to do with it" },
	{ "one that crashed", "holds=at_most_once", GOOD " | g1 exit SIGSEGV",
	  JUDGE_INCONCLUSIVE, "g1 ended (SIGSEGV)" },
	{ "one that the kernel killed", "holds=at_most_once",
	  BAD " | - oom", JUDGE_INCONCLUSIVE,
	  "somebody was killed for want of memory" },
	{ "one that the plan killed", "holds=at_most_once",
	  GOOD " | g1 exit SIGKILL wanted", JUDGE_PASS, "" },
	{ "a run that was cut short", "", GOOD " | cut", JUDGE_INCONCLUSIVE,
	  "the run was cut short" },
	{ "one of which a note says why", "holds=at_most_once",
	  GOOD " | - note no-such-file | cut", JUDGE_INCONCLUSIVE,
	  "the run was cut short: no-such-file" },
	{ "one that was cut short and had shown a violation",
	  "holds=at_most_once", BAD " | cut", JUDGE_FAIL, "at_most_once: " },
	{ "a checker without an answer", "holds=resolves",
	  GOOD " | c3 inv a3 k1 | u inv a4 k1 >g1 audit | u ret a4 ok d=D",
	  JUDGE_INCONCLUSIVE, "resolves cannot be said: try 3 has no end" },
	{ "a violation beside it", "holds=at_most_once holds=resolves",
	  BAD " | c3 inv a3 k1 | u inv a4 k1 >g1 audit | u ret a4 ok d=D",
	  JUDGE_FAIL, "at_most_once: " },
	{ "a premise that never came about", "holds=busy_honest", GOOD,
	  JUDGE_VACUOUS, "busy_honest is unexercised" },
	{ "another point may have seen to it", "holds=busy_honest others",
	  GOOD, JUDGE_PASS, "" },
	{ "one that is relaxed need not come about",
	  "holds=busy_honest relaxed=busy_honest", GOOD, JUDGE_PASS, "" },
	{ "a fault that never happened", "fault=proc.kill", GOOD,
	  JUDGE_VACUOUS, "a fault never happened: proc.kill" },
	{ "one that did", "holds=at_most_once fault=proc.kill",
	  "g1 fault id=0 | " GOOD, JUDGE_PASS, "" },
	{ "one of two that did not", "fault=proc.kill fault=net.drop",
	  "g1 fault id=0 | " GOOD, JUDGE_VACUOUS,
	  "a fault never happened: net.drop" },
	{ "one of two where one is enough",
	  "holds=at_most_once fired_any fault=proc.kill fault=net.drop",
	  "g1 fault id=0 | " GOOD, JUDGE_PASS, "" },
	{ "none of two where one is enough",
	  "fired_any fault=proc.kill fault=net.drop", GOOD, JUDGE_VACUOUS,
	  "none of its 2 faults happened" },
	{ "none where nobody counts",
	  "holds=at_most_once fired_none fault=proc.kill", GOOD,
	  JUDGE_PASS, "" },
	{ "one that may happen, and one that only heals",
	  "holds=at_most_once maybe=net.drop heals=proc.resume", GOOD,
	  JUDGE_PASS, "" },
	{ "a control that shows what it is to", "violates=at_most_once", BAD,
	  JUDGE_PASS, "" },
	{ "a control that does not", "violates=at_most_once", GOOD,
	  JUDGE_FAIL, "a negative control: at_most_once was to be violated, "
	  "and was not" },
	{ "a control that shows one of two",
	  "violates=at_most_once violates=resolves", BAD, JUDGE_FAIL,
	  "a negative control: resolves was" },
	{ "a control that blames whom it is to",
	  "business violates=at_most_once_per_business_id blames=client",
	  ROTATED, JUDGE_PASS, "" },
	{ "a control that blames nobody",
	  "business violates=at_most_once_per_business_id blames=client",
	  BAD, JUDGE_FAIL, "a negative control: at_most_once_per_business_id "
	  "was to be violated by the client, and was not" },
	{ "a control in which something else breaks",
	  "business violates=at_most_once_per_business_id blames=client "
	  "holds=at_most_once", BAD, JUDGE_FAIL, "at_most_once: " },
	{ "a control in which somebody died", "violates=at_most_once",
	  BAD " | g1 exit SIGKILL", JUDGE_INCONCLUSIVE, "g1 ended" },
};

static void
test_runs(void)
{
	struct judge_run run;
	struct history h;
	size_t i;

	for (i = 0; i < sizeof runs / sizeof *runs; i++) {
		story_tell(&h, runs[i].head, runs[i].story);
		judge_run(&h, NULL, 0, &run);
		if (!ok(run.verdict == runs[i].verdict &&
		    strncmp(run.message, runs[i].message,
		    strlen(runs[i].message)) == 0, "%s: %s", runs[i].what,
		    judge_text(runs[i].verdict)))
			note("%s: %s", judge_text(run.verdict), run.message);
		history_free(&h);
	}
}

static void
test_finding(void)
{
	struct judge_run run;
	struct history h;

	story_tell(&h, "holds=at_most_once", BAD);
	judge_run(&h, NULL, 0, &run);
	ok(run.by_check && run.finding.invariant == PLAN_AT_MOST_ONCE &&
	    run.finding.events[0] == 3 && run.finding.events[1] == 7 &&
	    run.exercised[PLAN_AT_MOST_ONCE],
	    "a failed run has the finding, and its events");
	history_free(&h);
	story_tell(&h, "business violates=at_most_once_per_business_id",
	    ROTATED);
	judge_run(&h, NULL, 0, &run);
	ok(run.verdict == JUDGE_PASS && run.by_check && run.controlled &&
	    run.finding.invariant == PLAN_AT_MOST_ONCE_PER_BUSINESS_ID,
	    "so has a control that passed");
	history_free(&h);
}

/* --- what a scenario's functions say -------------------------------------- */

static void
test_functions(void)
{
	static const char *const names[] = { "coalesced", "replayed" };
	struct scenario s = {
		.plan.expect = { .sometimes = names, .sometimes_n = 2 },
		.sometimes = { SCENARIO_YES, SCENARIO_NO }
	};
	struct judge_run run;
	struct history h;

	story_tell(&h, "own=2", GOOD);
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_VACUOUS &&
	    strcmp(run.message, "it was never so: replayed") == 0,
	    "what is to be so sometimes, and never is, is vacuous");
	s.sometimes[1] = SCENARIO_YES;
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_PASS && run.message[0] == '\0',
	    "when all was so once it passes, without a note");
	s.sometimes[0] = SCENARIO_WRONG;
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_INCONCLUSIVE &&
	    strcmp(run.message, "coalesced cannot be said: line 7") == 0,
	    "a function that fails makes it inconclusive");
	s.plan.expect = (struct plan_expect){ .custom = names,
	    .custom_n = 2 };
	s.custom[0] = SCENARIO_WRONG;
	s.custom[1] = SCENARIO_NO;
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_FAIL && !run.by_check &&
	    strcmp(run.message, "replayed: line 7") == 0,
	    "an invariant of the scenario's own that does not hold fails, "
	    "also beside one that cannot be said");
	s.custom[1] = SCENARIO_YES;
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_INCONCLUSIVE,
	    "one that cannot be said is inconclusive");
	history_free(&h);
	story_tell(&h, "holds=at_most_once own=2", GOOD " | cut");
	s.custom[1] = SCENARIO_NO;
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_INCONCLUSIVE &&
	    strncmp(run.message, "the run was cut short", 21) == 0,
	    "none is asked of a run that was cut short");
	history_free(&h);
	story_tell(&h, "violates=at_most_once", BAD);
	s.custom[1] = SCENARIO_NO;
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_FAIL && !run.by_check,
	    "beside a control that shows what it is to it is what failed");
	s.custom[0] = s.custom[1] = SCENARIO_YES;
	history_free(&h);
	story_tell(&h, "violates=at_most_once fault=net.drop", BAD);
	judge_run(&h, &s, 0, &run);
	ok(run.verdict == JUDGE_VACUOUS && !run.by_check,
	    "and so is a fault that never happened");
	history_free(&h);
}

/* --- points --------------------------------------------------------------- */

struct told_run {
	const char *head, *story;
};

static const struct {
	const char *what;
	struct told_run runs[3];
	enum judge_verdict verdict;
	const char *message;
	unsigned worst;
} points[] = {
	{ "all runs hold", { { "holds=at_most_once", GOOD },
	  { "holds=at_most_once", GOOD } }, JUDGE_PASS, "", 1 },
	{ "one of three fails", { { "holds=at_most_once", GOOD },
	  { "holds=at_most_once", BAD }, { "holds=at_most_once", BAD } },
	  JUDGE_FAIL, "at_most_once: ", 2 },
	{ "one fails and one is inconclusive", {
	  { "holds=at_most_once", GOOD " | a exit SIGKILL" },
	  { "holds=at_most_once", BAD } }, JUDGE_FAIL, "at_most_once: ", 2 },
	{ "one is inconclusive", { { "holds=at_most_once", GOOD },
	  { "holds=at_most_once", GOOD " | a exit SIGKILL" } },
	  JUDGE_INCONCLUSIVE, "a ended", 2 },
	{ "a fault happens in one of them", {
	  { "holds=at_most_once fault=proc.kill", GOOD },
	  { "holds=at_most_once fault=proc.kill", "g1 fault id=0 | " GOOD } },
	  JUDGE_PASS, "", 1 },
	{ "a fault happens in none of them", {
	  { "holds=at_most_once fault=proc.kill", GOOD },
	  { "holds=at_most_once fault=proc.kill", GOOD } },
	  JUDGE_VACUOUS, "a fault never happened: ", 1 },
	{ "something is put to the test in one of them", {
	  { "holds=at_most_once", "c1 inv a1 k1 | c1 ret a1 fail" },
	  { "holds=at_most_once", GOOD } }, JUDGE_PASS, "", 1 },
	{ "what is put to the test in none of them, its file's others may", {
	  { "holds=at_most_once", "c1 inv a1 k1 | c1 ret a1 fail" },
	  { "holds=at_most_once", "c1 inv a1 k1 | c1 ret a1 fail" } },
	  JUDGE_PASS, "", 1 },
	{ "a control shows it in one of them", {
	  { "violates=at_most_once", GOOD },
	  { "violates=at_most_once", BAD } }, JUDGE_PASS, "", 2 },
	{ "a control shows it in none of them", {
	  { "violates=at_most_once", GOOD },
	  { "violates=at_most_once", GOOD } }, JUDGE_FAIL,
	  "a negative control: ", 1 },
	{ "a control that nobody could watch", {
	  { "violates=at_most_once", GOOD " | a exit SIGKILL" },
	  { "violates=at_most_once", GOOD } }, JUDGE_INCONCLUSIVE,
	  "a ended", 1 },
	{ "a control that shows it, and breaks something else", {
	  { "violates=at_most_once holds=same_answer", BAD },
	  { "violates=at_most_once holds=same_answer",
	    "c1 inv a1 k1 | c1 ret a1 ok d=D | c2 inv a2 k1 | "
	    "c2 ret a2 ok d=E" } }, JUDGE_FAIL, "same_answer: ", 2 },
	{ "nothing is claimed", { { "", GOOD } }, JUDGE_VACUOUS,
	  "nothing was to hold", 1 },
	{ "nothing was run", { { NULL, NULL } }, JUDGE_INCONCLUSIVE,
	  "nothing was run", 0 },
};

/* As a plan would say it. */
static void
plan_of(struct plan *p, struct plan_rule *rule, struct plan_action *kill,
    const struct history_head *head)
{
	*kill = (struct plan_action){ .kind = PLAN_PROC_KILL };
	*rule = (struct plan_rule){ .actions = kill, .n = 1 };
	*p = (struct plan){
		.name = "a point", .gates.n = 1, .rules = rule,
		.rules_n = head->faults_n > 0,
		.actions_n = (unsigned)head->faults_n
	};
	memcpy(p->expect.holds, head->holds, sizeof head->holds);
	memcpy(p->expect.violates, head->violates, sizeof head->violates);
}

static void
add(struct judge_point *p, const struct history *h, struct scenario *s)
{
	bool sometimes[4] = { false };
	struct judge_run run;

	judge_one(h, s, 0, &run, sometimes);
	judge_point_take(p, h, &run, sometimes);
}

static void
judge_all(struct judge_point *p, struct plan *plan,
    const struct told_run *all)
{
	struct plan_action kill;
	struct plan_rule rule;
	struct history h;
	unsigned i;

	story_tell(&h, all[0].head, "");
	plan_of(plan, &rule, &kill, &h.head);
	history_free(&h);
	judge_point_begin(p, plan);
	for (i = 0; i < 3 && all[i].story != NULL; i++) {
		story_tell(&h, all[i].head, all[i].story);
		h.head.run = i + 1;
		add(p, &h, NULL);
		history_free(&h);
	}
	judge_point_end(p);
}

/* --- what a busy host may have done --------------------------------------- */

#define UNSERVED " | u inv a8 k8 >g1 fresh | u ret a8 fail"
#define AWAY "c1 inv a1 k1 | h1 begin e1 k1 a1 | h1 commit e1 | h1 end e1 | " \
	"c1 ret a1 ok d=D | c2 inv a2 k1 | c2 ret a2 "

static const struct {
	const char *what, *head, *story;
	bool hasty;
} hasties[] = {
	{ "what passes", "holds=at_most_once", GOOD, false },
	{ "a fault that did not happen", "holds=at_most_once fault=proc.kill",
	  GOOD, true },
	{ "a control that did not show it", "violates=at_most_once", GOOD,
	  true },
	{ "a key that is not served", "holds=new_keys_succeed",
	  GOOD UNSERVED, true },
	{ "something that was left behind", "holds=resolves",
	  GOOD " | g1 leak", false },
	{ "one that ran twice", "holds=at_most_once", BAD, false },
	{ "one that ran twice, and one that is not served",
	  "holds=new_keys_succeed holds=at_most_once", BAD UNSERVED, false },
	{ "an answer that is not to be had for now", "holds=ack_durable",
	  AWAY "fail mark=not-started", true },
	{ "another answer", "holds=ack_durable", AWAY "ok d=E", false },
	{ "another answer after one that is not to be had for now",
	  "holds=ack_durable",
	  AWAY "fail mark=not-started | c3 inv a3 k1 | c3 ret a3 ok d=E",
	  false },
	{ "one that nobody knows in the end, after such", "holds=ack_durable",
	  AWAY "busy | u inv a3 k1 >g1 audit | u ret a3 unknown", false },
	{ "one that is refused for good", "holds=ack_durable",
	  AWAY "fail mark=mismatch", false },
	{ "a death that nobody wanted", "holds=at_most_once",
	  GOOD " | a exit SIGKILL", false },
};

static void
test_hasty(void)
{
	struct plan_action kill;
	struct plan_rule rule;
	struct judge_point p;
	struct plan plan;
	struct history h;
	bool again;
	size_t i;

	for (i = 0; i < sizeof hasties / sizeof *hasties; i++) {
		story_tell(&h, hasties[i].head, hasties[i].story);
		plan_of(&plan, &rule, &kill, &h.head);
		judge_point_begin(&p, &plan);
		add(&p, &h, NULL);
		again = p.worst.hasty || judge_point_unmet(&p);
		if (!ok(again == hasties[i].hasty, "%s: another run %s",
		    hasties[i].what, hasties[i].hasty ? "may tell more" :
		    "is no use"))
			note("%s: %s", judge_text(p.worst.verdict),
			    p.worst.message);
		judge_point_free(&p);
		history_free(&h);
	}
}

#define REFUSED "c1 inv a1 k1 | c1 ret a1 fail"

static const struct {
	const char *what;
	struct told_run first[3], last[3];
	enum judge_verdict verdict;
	const char *message;
} files[] = {
	{ "an invariant is put to the test in the first point of a file", {
	  { "holds=at_most_once", GOOD } }, {
	  { "holds=at_most_once", REFUSED } }, JUDGE_PASS, "" },
	{ "in none of its points", { { "holds=at_most_once", REFUSED } }, {
	  { "holds=at_most_once", REFUSED } }, JUDGE_VACUOUS,
	  "at_most_once is unexercised: no run" },
	{ "in none that claims it", {
	  { "holds=at_most_once", REFUSED } }, {
	  { "holds=same_answer", GOOD } }, JUDGE_VACUOUS,
	  "at_most_once is unexercised: no run" },
	{ "only the first claims it, and never tests it", {
	  { "holds=busy_honest", GOOD } }, { { "holds=at_most_once", GOOD } },
	  JUDGE_VACUOUS, "busy_honest is unexercised: no run" },
	{ "one point could not be judged", { { NULL, NULL } }, {
	  { "holds=at_most_once", REFUSED } }, JUDGE_PASS, "" },
	{ "the last point fails", { { "holds=busy_honest", GOOD } }, {
	  { "holds=at_most_once", BAD } }, JUDGE_FAIL, "at_most_once: " },
};

static void
test_files(void)
{
	struct judge_point first, last;
	struct plan first_plan, last_plan;
	struct judge_file file;
	size_t i;

	for (i = 0; i < sizeof files / sizeof *files; i++) {
		file = (struct judge_file){ .partial = false };
		judge_all(&first, &first_plan, files[i].first);
		judge_file_add(&file, &first);
		judge_all(&last, &last_plan, files[i].last);
		judge_file_add(&file, &last);
		judge_file_end(&file, &last);
		if (!ok(last.verdict == files[i].verdict &&
		    strncmp(last.message, files[i].message,
		    strlen(files[i].message)) == 0, "%s: %s", files[i].what,
		    judge_text(files[i].verdict)))
			note("%s: %s", judge_text(last.verdict), last.message);
		judge_point_free(&first);
		judge_point_free(&last);
	}
}

static void
test_points(void)
{
	struct judge_point p;
	struct plan plan;
	size_t i;

	for (i = 0; i < sizeof points / sizeof *points; i++) {
		judge_all(&p, &plan, points[i].runs);
		if (!ok(p.verdict == points[i].verdict &&
		    strncmp(p.message, points[i].message,
		    strlen(points[i].message)) == 0 &&
		    p.worst_run == points[i].worst, "%s: %s", points[i].what,
		    judge_text(points[i].verdict)))
			note("%s, run %u: %s", judge_text(p.verdict),
			    p.worst_run, p.message);
		judge_point_free(&p);
	}
}

static void
test_figures(void)
{
	static const struct told_run two[3] = {
		{ "holds=at_most_once fault=proc.kill", "g1 fault id=0 | "
		  "g1 fault id=0 | " GOOD " | c3 inv a3 k2 | c3 ret a3 fail | "
		  "u inv a4 k3 fresh | h9 begin e9 k3 a4" },
		{ "holds=at_most_once fault=proc.kill", BAD }
	};
	struct judge_point p;
	struct plan plan;

	judge_all(&p, &plan, two);
	ok(p.starts == 3 && p.tries == 5 && p.keys == 3 && p.runs == 2,
	    "starts, tries and keys are counted, without those of the "
	    "simulator's own");
	is_int(p.fired[0], 2, "and how often a fault happened");
	is(p.worst.finding.key, "k1",
	    "a finding's key is there when its history is not");
	judge_point_free(&p);
}

static void
test_functions_of_points(void)
{
	static const char *const names[] = { "coalesced" };
	struct scenario s = {
		.plan = { .name = "p", .gates.n = 1,
		    .expect = { .sometimes = names, .sometimes_n = 1 } },
		.sometimes = { SCENARIO_NO }
	};
	struct judge_point p;
	struct history h;

	story_tell(&h, "", GOOD);
	judge_point_begin(&p, &s.plan);
	add(&p, &h, &s);
	judge_point_end(&p);
	ok(p.verdict == JUDGE_VACUOUS && !p.sometimes[0],
	    "what is never so in any run is vacuous");
	judge_point_free(&p);
	judge_point_begin(&p, &s.plan);
	add(&p, &h, &s);
	s.sometimes[0] = SCENARIO_YES;
	add(&p, &h, &s);
	s.sometimes[0] = SCENARIO_NO;
	add(&p, &h, &s);
	judge_point_end(&p);
	ok(p.verdict == JUDGE_PASS && p.sometimes[0],
	    "once, in one of them, is enough");
	judge_point_free(&p);
	judge_point_begin(&p, &s.plan);
	judge_point_skip(&p, "redis-server is not installed");
	judge_point_end(&p);
	ok(p.verdict == JUDGE_SKIP &&
	    strcmp(p.message, "redis-server is not installed") == 0,
	    "a point that cannot be run here is skipped, with a reason");
	judge_point_free(&p);
	history_free(&h);
}

/* --- exits ---------------------------------------------------------------- */

static const struct {
	enum judge_verdict verdicts[3];
	int status;
} exits[] = {
	{ { JUDGE_PASS, JUDGE_PASS, JUDGE_PASS }, 0 },
	{ { JUDGE_PASS, JUDGE_SKIP, JUDGE_SKIP }, 0 },
	{ { JUDGE_PASS, JUDGE_FAIL, JUDGE_INCONCLUSIVE }, 1 },
	{ { JUDGE_VACUOUS, JUDGE_FAIL, JUDGE_PASS }, 1 },
	{ { JUDGE_PASS, JUDGE_VACUOUS, JUDGE_PASS }, 2 },
	{ { JUDGE_INCONCLUSIVE, JUDGE_PASS, JUDGE_SKIP }, 2 },
};

int
main(void)
{
	size_t i;

	test_runs();
	test_finding();
	test_functions();
	test_points();
	test_hasty();
	test_files();
	test_figures();
	test_functions_of_points();
	for (i = 0; i < sizeof exits / sizeof *exits; i++)
		is_int(judge_exit(exits[i].verdicts, 3), exits[i].status,
		    "%s, %s and %s end with %d",
		    judge_text(exits[i].verdicts[0]),
		    judge_text(exits[i].verdicts[1]),
		    judge_text(exits[i].verdicts[2]), exits[i].status);
	return done();
}
