/* SPDX-License-Identifier: ISC */
#include "outcome.h"

#include "problem.h"
#include "tap.h"

#include <string.h>

/* Every answer that idem has, and every way in which a try can end. */
static const struct {
	const char *what;
	bool keyed;
	enum outcome_end end;
	int status;
	const char *mark;
	enum outcome is;
} rows[] = {
	{ "a first answer", true, OUTCOME_WHOLE, 200, "stored", OUTCOME_OK },
	{ "the program's own 500", true, OUTCOME_WHOLE, 500, "stored",
	  OUTCOME_OK },
	{ "a replay", true, OUTCOME_WHOLE, 201, "replayed", OUTCOME_OK },
	{ "409 in progress", true, OUTCOME_WHOLE, 409, "in-progress",
	  OUTCOME_BUSY },
	{ "202 in progress", true, OUTCOME_WHOLE, 202, "in-progress",
	  OUTCOME_BUSY },
	{ "409 unknown", true, OUTCOME_WHOLE, 409, "unknown",
	  OUTCOME_UNKNOWN },
	{ "a void token", true, OUTCOME_WHOLE, 409, "void-token",
	  OUTCOME_UNKNOWN },
	{ "an answer that is not kept", true, OUTCOME_WHOLE, 409, "not-kept",
	  OUTCOME_UNKNOWN },
	{ "a key within its tombstone", true, OUTCOME_WHOLE, 409, "expired",
	  OUTCOME_UNKNOWN },
	{ "a token that is too old", true, OUTCOME_WHOLE, 410, "expired",
	  OUTCOME_FAIL },
	{ "no key where one is wanted", true, OUTCOME_WHOLE, 400, "rejected",
	  OUTCOME_FAIL },
	{ "a token that is not ours", true, OUTCOME_WHOLE, 403, "rejected",
	  OUTCOME_FAIL },
	{ "another body", true, OUTCOME_WHOLE, 422, "mismatch",
	  OUTCOME_FAIL },
	{ "other credentials", true, OUTCOME_WHOLE, 409, "withheld",
	  OUTCOME_FAIL },
	{ "503 not started", true, OUTCOME_WHOLE, 503, "not-started",
	  OUTCOME_FAIL },
	{ "404 not started", true, OUTCOME_WHOLE, 404, "not-started",
	  OUTCOME_FAIL },
	{ "504 of a run that was cut", true, OUTCOME_WHOLE, 504, "unknown",
	  OUTCOME_INFO },
	{ "502 of a run that died", true, OUTCOME_WHOLE, 502, "unknown",
	  OUTCOME_INFO },
	{ "an answer that nothing would store", true, OUTCOME_WHOLE, 200,
	  "unrecorded", OUTCOME_INFO },
	{ "504 unrecorded", true, OUTCOME_WHOLE, 504, "unrecorded",
	  OUTCOME_INFO },
	{ "an answer without an arbiter", true, OUTCOME_WHOLE, 200,
	  "unprotected", OUTCOME_INFO },
	{ "an answer too large to keep", true, OUTCOME_WHOLE, 200,
	  "stored-without-body", OUTCOME_INFO },
	{ "a status that releases its key", true, OUTCOME_WHOLE, 503,
	  "released", OUTCOME_INFO },
	{ "a path that no route covers", true, OUTCOME_WHOLE, 200, "ignored",
	  OUTCOME_INFO },
	{ "no mark on a keyed request", true, OUTCOME_WHOLE, 200, NULL,
	  OUTCOME_INFO },
	{ "an empty mark", true, OUTCOME_WHOLE, 200, "", OUTCOME_INFO },
	{ "a mark of which nobody has heard", true, OUTCOME_WHOLE, 200,
	  "storedd", OUTCOME_INFO },
	{ "no connection", true, OUTCOME_REFUSED, 0, NULL, OUTCOME_FAIL },
	{ "a reset within a final answer", true, OUTCOME_CUT, 200, "stored",
	  OUTCOME_INFO },
	{ "a reset within a refusal", true, OUTCOME_CUT, 503, "not-started",
	  OUTCOME_INFO },
	{ "a time that has run out", true, OUTCOME_TIMEOUT, 0, NULL,
	  OUTCOME_INFO },
	{ "a time that has run out within an answer", true, OUTCOME_TIMEOUT,
	  200, "stored", OUTCOME_INFO },
	{ "a client that went away", true, OUTCOME_GAVE_UP, 0, NULL,
	  OUTCOME_INFO },
	{ "any whole answer without a key", false, OUTCOME_WHOLE, 500, NULL,
	  OUTCOME_OK },
	{ "no connection without a key", false, OUTCOME_REFUSED, 0, NULL,
	  OUTCOME_FAIL },
	{ "a reset without a key", false, OUTCOME_CUT, 200, NULL,
	  OUTCOME_INFO },
};

/* What a problem of idem's says decides what a client may think of it. */
static void
test_problems(void)
{
	const struct idem_problem_form *form;
	enum outcome is;
	bool may_run;
	int wrong = 0, p;

	for (p = IDEM_PROBLEM_NONE + 1; p < IDEM_PROBLEMS; p++) {
		form = idem_problem_form((enum idem_problem)p);
		is = outcome_of(true, OUTCOME_WHOLE, form->code,
		    idem_mark_text(form->mark));
		may_run = form->code == 502 || form->code == 504;
		if (is == OUTCOME_OK || (is == OUTCOME_INFO) != may_run) {
			wrong++;
			note("%s is %s", form->type, outcome_text(is));
		}
	}
	is_int(wrong, 0, "502 and 504 are the only problems after which a try "
	    "may have run, and none is a final answer");
}

static void
test_words(void)
{
	enum outcome o, found;
	int wrong = 0;

	for (o = OUTCOME_NONE; o < OUTCOMES; o++)
		wrong += !outcome_find(outcome_text(o), &found) || found != o;
	is_int(wrong, 0, "each class is found by its word");
	ok(!outcome_find("OK", &found), "a word that is none is not found");
}

int
main(void)
{
	enum outcome got;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		got = outcome_of(rows[i].keyed, rows[i].end, rows[i].status,
		    rows[i].mark);
		is(outcome_text(got), outcome_text(rows[i].is), "%s is %s",
		    rows[i].what, outcome_text(rows[i].is));
	}
	test_problems();
	test_words();
	return done();
}
