/* SPDX-License-Identifier: ISC */
#include "sim_story.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * Histories that no run can have had: the line of a file (the head is line 1,
 * event 1 line 2) at which that shows, and why.  NULL: it can.
 */
#define RUN "c1 inv a1 k1 | h1 begin e1 k1 a1 | "

static const struct {
	const char *what, *head, *story;
	size_t line;
	const char *why;
} rows[] = {
	{ "a run", NULL, RUN "h1 commit e1 | h1 end e1 | c1 ret a1 ok d=D", 0,
	  "" },
	{ "a run that was cut", NULL, RUN "c1 ret a1 info | h1 commit e1", 0,
	  "" },
	{ "a try that never ends", NULL, "c1 inv a1 k1", 0, "" },
	{ "two tries and two runs, in each other's time", NULL,
	  "c1 inv a2 k1 | c2 inv a1 k2 | h1 begin e2 k1 a2 | "
	  "h2 begin e1 k2 a1 | h2 end e1 | c2 ret a1 ok d=D | h1 commit e2 | "
	  "c1 ret a2 info | h1 end e2", 0, "" },
	{ "a fault of the head's", "fault=proc.kill", "g1 fault id=0 | - heal",
	  0, "" },
	{ "no events at all", NULL, "cut", 0, "" },

	{ "a try that is sent twice", NULL, "c1 inv a1 k1 | c2 inv a2 k1 | "
	  "c1 inv a1 k1", 4, "try 1 is sent twice" },
	{ "and after its end", NULL, "c1 inv a1 k1 | c1 ret a1 busy | "
	  "c1 inv a1 k1", 4, "try 1 is sent twice" },
	{ "a try that ends twice", NULL, "c1 inv a1 k1 | c1 ret a1 busy | "
	  "c1 ret a1 ok d=D", 4, "try 1 ends twice" },
	{ "a try that ends before it is sent", NULL, "c1 ret a1 busy | "
	  "c1 inv a1 k1", 2, "try 1 ends, and was not sent" },
	{ "a try that ends, and nobody sent it", NULL, "c1 inv a1 k1 | "
	  "c2 ret a7 busy", 3, "try 7 ends, and was not sent" },
	{ "a question of no try", NULL, "c1 inv k1", 2, "it does not say of "
	  "which try it is" },
	{ "a run that begins twice", NULL, RUN "h1 begin e1 k1 a1", 4,
	  "the run e1 begins twice" },
	{ "a run that ends before it begins", NULL,
	  "c1 inv a1 k1 | h1 end e1 | "
	  "h1 begin e1 k1 a1", 3, "the run e1 goes on, and has not begun" },
	{ "a run that commits twice", NULL, RUN "h1 commit e1 | h1 commit e1",
	  5, "the run e1 commits twice" },
	{ "a run that commits after its end", NULL, RUN "h1 end e1 | "
	  "h1 commit e1", 5, "the run e1 goes on after its end" },
	{ "a run without a name", NULL, "h1 begin k1 a1", 2, "it does not say "
	  "of which run it is" },
	{ "a fault that the head has not", "fault=proc.kill", "g1 fault id=1",
	  2, "the head has no such fault" },
	{ "an arbiter that nobody has heard of", "arbiter=oracle", RUN "cut",
	  1, "\"arbiter\" is oracle; it is to be ledger, token, redis" },
	{ "a world that nobody has heard of", "mode=dream", RUN "cut", 1,
	  "\"mode\" is dream; it is to be live, model" },
	{ "a policy of nobody's", "outage=hope", RUN "cut", 1, "\"on_outage\" "
	  "is hope; it is to be reject, memory, database, pass" },
	{ "a lease that was over before it began", "lease=-1", RUN "cut", 1,
	  "\"lease_ms\" is less than 0" }
};

static void
test_numbers(void)
{
	struct history h;
	char why[200] = "";

	story_tell(&h, NULL, "c1 inv a1 k1");
	h.events[0].a = -1;
	ok(history_odd(&h, why, sizeof why) == 2 && strcmp(why,
	    "a number is less than 0") == 0, "no try has a number below 0");
	h.events[0].a = 1;
	h.events[0].fault = -2;
	ok(history_odd(&h, why, sizeof why) == 2, "nor has a fault");
	h.events[0].fault = -1;
	h.head.arbiter = NULL;
	ok(history_odd(&h, why, sizeof why) == 1 && strstr(why, "not said") !=
	    NULL, "who decides is to be said");
	history_free(&h);
	story_tell(&h, NULL, "h1 begin e1 k1 a1");
	(void)history_add(&h, HISTORY_END, h.events[1].t_ns, "-");
	ok(history_odd(&h, why, sizeof why) == 4 && strcmp(why,
	    "the run ends twice") == 0, "it has one end");
	h.events[0].ph = history_text(&h, "middle");
	ok(history_odd(&h, why, sizeof why) == 2, "a run has no middle");
	history_free(&h);
}

int
main(void)
{
	struct history h;
	char why[200];
	size_t i, line;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		why[0] = '\0';
		story_tell(&h, rows[i].head, rows[i].story);
		line = history_odd(&h, why, sizeof why);
		if (!ok(line == rows[i].line && strcmp(why, rows[i].why) == 0,
		    "%s is %s", rows[i].what,
		    rows[i].line == 0 ? "nothing odd" : "told, by its line"))
			note("%zu: %s", line, why);
		history_free(&h);
	}
	test_numbers();
	return done();
}
