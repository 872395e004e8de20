/* SPDX-License-Identifier: ISC */
#ifndef JUDGE_H
#define JUDGE_H

#include "check.h"

struct scenario;

/*
 * The verdict on a run, and on a test point of many runs: what was to hold,
 * what was to be violated, what was to happen at all.
 */
enum judge_verdict {
	JUDGE_PASS,
	JUDGE_FAIL,		/* a violation, or a negative control that did
				   not show one */
	JUDGE_INCONCLUSIVE,	/* an unexpected death, a run that was cut, a
				   checker without an answer */
	JUDGE_VACUOUS,		/* a fault never happened, a `sometimes` was
				   never true, a premise never came about */
	JUDGE_SKIP,		/* it cannot be expressed or run here */
	JUDGE_VERDICTS
};
const char *judge_text(enum judge_verdict);

struct judge_run {
	enum judge_verdict verdict;
	struct check_finding finding;	/* FAIL by an invariant, or a control's
					   violation that was wanted */
	bool by_check;			/* it is */
	bool broken;			/* nobody came to a verdict: our own
					   fault, and the worst of all */
	bool hasty;		/* no pass, and who was not let run for a while
				   may have done it: a promise in time was
				   broken, or there was not the time to tell */
	char message[CHECK_WORDS];	/* of every verdict but PASS */
	/* Of a point's runs together, "is there one": */
	bool exercised[PLAN_INVARIANTS];
	bool shown[PLAN_INVARIANTS];	/* what was to be violated was */
	bool controlled;	/* and all of that */
};

/*
 * One run by itself.  scenario, point: for its own functions; NULL: they are
 * not here, and what would pass without them is INCONCLUSIVE.  Of PASS, message
 * is a note of relaxed invariants that did not hold.  A history that claims
 * nothing at all is VACUOUS.
 */
void judge_run(const struct history *, struct scenario *, size_t point,
    struct judge_run *);

/*
 * How tries with a key ended, those of clients: where none of them had its
 * final answer, it is not what was to happen that has to be mended, but the
 * program, or who runs it.
 */
#define JUDGE_KINDS 16
struct judge_answers {
	uint64_t tries, final;
	struct judge_answer {
		enum outcome_end how;
		int status;
		char mark[24];
		uint64_t n;
	} kinds[JUDGE_KINDS];
	size_t kinds_n;
};
void judge_answers_take(struct judge_answers *, const struct history *);
void judge_answers_add(struct judge_answers *, const struct judge_answers *);
/* Behind what stands in the message: that there was no final answer, how many
   tries there were, and how most of them ended.  Else nothing. */
void judge_answers_say(const struct judge_answers *, char *message,
    size_t size);

/*
 * All runs of a point: FAIL if one failed; else INCONCLUSIVE if one was; else
 * FAIL if it is a negative control and something was never shown; else VACUOUS
 * if over all of them something that was to happen did not.  After each
 * judge_point_take worst_run says which run is to be kept for a report.
 */
struct judge_point {
	const struct plan *plan;
	unsigned runs;
	enum judge_verdict verdict;
	struct judge_run worst;		/* the first of that verdict */
	unsigned worst_run;		/* its number */
	char message[CHECK_WORDS];
	unsigned *fired;		/* by fault id, over all runs */
	bool *sometimes;		/* by the plan's numbers */
	struct arena arena;
	int64_t wall_ms;
	uint64_t starts, tries, keys;	/* for the line */
	struct judge_answers answers;
	bool exercised[PLAN_INVARIANTS], shown[PLAN_INVARIANTS], controlled;
};

void judge_point_begin(struct judge_point *, const struct plan *);
/* A run of a point, and which of the plan's `sometimes` were true of it. */
void judge_one(const struct history *, struct scenario *, size_t point,
    struct judge_run *, bool *sometimes);
void judge_point_take(struct judge_point *, const struct history *,
    const struct judge_run *, const bool *sometimes);
/* All its runs so far went well, and it is no pass yet: what was to happen has
   not, or a control has not shown what it is to. */
bool judge_point_unmet(const struct judge_point *);
void judge_point_end(struct judge_point *);
/* It cannot be run here; why. */
void judge_point_skip(struct judge_point *, const char *why);
void judge_point_free(struct judge_point *);

/*
 * All points of a scenario file together: an invariant that they claim must
 * have been put to the test in a run of one of them.  A row of a matrix often
 * has no use for one that the next row needs.
 */
struct judge_file {
	bool claimed[PLAN_INVARIANTS], exercised[PLAN_INVARIANTS];
	bool partial;		/* not all of them were run: nothing is said */
	struct judge_answers answers;
};
/* After judge_point_end. */
void judge_file_add(struct judge_file *, const struct judge_point *);
/* The last point, if it passed, is VACUOUS where one was not: true. */
bool judge_file_end(const struct judge_file *, struct judge_point *last);

/* 0; 1 a violation; 2 only inconclusive or vacuous ones; as processes end. */
int judge_exit(const enum judge_verdict *, size_t n);

#endif
