/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include "sim_story.h"
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define WITHIN_MS 20000
#define RUN1 "@100 c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | " \
	"h1 commit e1 | @130 h1 end e1 | @140 c1 ret a1 ok d=A s=200 " \
	"mark=stored | "

/*
 * keys starts again most unserved answered lost, tries unknown repeats
 * replayed, window served unprotected, commands
 */
static const struct {
	const char *what, *story, *want;
} rows[] = {
	{ "A run and its answer count",
	  RUN1 "- heal",
	  "1 1 0 1 0 1 0, 1 0 0 0, 1 1 0, 0" },
	{ "A key that is asked for twice and starts once counts once",
	  RUN1 "c2 inv a2 k1 >g2 | c2 ret a2 ok d=A s=200 mark=replayed",
	  "1 1 0 1 0 1 0, 2 0 1 1, 2 2 0, 0" },
	{ "A repeat where it ran is not asked who keeps answers",
	  RUN1 "c2 inv a2 k1 >g1 | c2 ret a2 ok d=A s=200 mark=replayed",
	  "1 1 0 1 0 1 0, 2 0 0 0, 2 2 0, 0" },
	{ "A second start counts, and a repeat that ran is no replay",
	  RUN1 "c2 inv a2 k1 >g2 | h2 begin e2 k1 a2 on=g2 | h2 commit e2 | "
	  "h2 end e2 | c2 ret a2 ok d=B s=200 mark=stored",
	  "1 2 1 2 0 1 0, 2 0 1 0, 2 2 0, 0" },
	{ "A start that the simulator's own question makes counts, its try "
	  "does not",
	  RUN1 "audit1 inv a2 k1 >g1 audit | h2 begin e2 k1 a2 on=g1 | "
	  "h2 commit e2 | h2 end e2 | audit1 ret a2 ok d=B s=200 mark=stored",
	  "1 2 1 2 0 1 1, 1 0 0 0, 1 1 0, 0" },
	{ "An answer that is there in the end is not lost",
	  RUN1 "audit1 inv a2 k1 >g1 audit | audit1 ret a2 ok d=A s=200 "
	  "mark=replayed",
	  "1 1 0 1 0 1 0, 1 0 0 0, 1 1 0, 0" },
	{ "One of which nobody knows any more is",
	  RUN1 "audit1 inv a2 k1 >g1 audit | audit1 ret a2 unknown s=409 "
	  "mark=not-kept",
	  "1 1 0 1 0 1 1, 1 0 0 0, 1 1 0, 0" },
	{ "One that is there at one instance and not at the other is",
	  RUN1 "audit1 inv a2 k1 >g1 audit | audit1 ret a2 ok d=A | "
	  "audit2 inv a3 k1 >g2 audit | audit2 ret a3 unknown s=409 "
	  "mark=unknown",
	  "1 1 0 1 0 1 1, 1 0 0 0, 1 1 0, 0" },
	{ "The last word of an instance counts, not that it was busy",
	  RUN1 "audit1 inv a2 k1 >g1 audit | audit1 ret a2 busy s=409 | "
	  "audit1 inv a3 k1 >g1 audit | audit1 ret a3 ok d=A",
	  "1 1 0 1 0 1 0, 1 0 0 0, 1 1 0, 0" },
	{ "A key without a final answer has none to lose",
	  "@100 c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | h1 commit e1 | "
	  "c1 ret a1 info s=504 mark=unknown | audit1 inv a2 k1 >g1 audit | "
	  "audit1 ret a2 unknown s=409 mark=unknown",
	  "1 1 0 1 1 0 0, 1 1 0 0, 1 0 0, 0" },
	{ "An unprotected answer serves, is none to keep, and is told",
	  "@100 c1 inv a1 k1 >g1 | h1 begin e1 k1 a1 on=g1 | h1 commit e1 | "
	  "h1 end e1 | c1 ret a1 info how=whole s=200 mark=unprotected",
	  "1 1 0 1 0 0 0, 1 0 0 0, 1 1 1, 0" },
	{ "Who waited in vain was not served",
	  "@100 c1 inv a1 k1 >g1 | @500 c1 ret a1 info how=timeout",
	  "1 0 0 0 1 0 0, 1 0 0 0, 1 0 0, 0" },
	{ "What is asked out of the window is not of it",
	  "@10 c1 inv a1 k1 >g1 | @20 c1 ret a1 info how=timeout | "
	  "@99 c1 inv a2 k1 >g1 | @110 c1 ret a2 ok d=A | "
	  "@199 c1 inv a3 k1 >g1 | @210 c1 ret a3 ok d=A | "
	  "@1000 c1 inv a4 k1 >g1 | c1 ret a4 ok d=A",
	  "1 0 0 0 0 1 0, 4 0 2 2, 1 1 0, 0" },
	{ "Of a storm only those count who are not in it",
	  "@100 c1 inv a1 k1 >g1 innocent | c1 ret a1 ok d=A | "
	  "c2 inv a2 k1 >g1 | c2 ret a2 busy s=409 | "
	  "c3 inv a3 k1 >g1 | c3 ret a3 unknown s=409 mark=unknown",
	  "1 0 0 0 0 1 0, 1 0 0 0, 1 1 0, 0" },
	{ "A fresh key of the simulator's is no key of a client's",
	  "@100 audit1 inv a1 fresh1 >g1 fresh | h1 begin e1 fresh1 a1 on=g1 |"
	  " h1 commit e1 | h1 end e1 | audit1 ret a1 ok d=A",
	  "0 0 0 0 0 0 0, 0 0 0 0, 0 0 0, 0" },
	{ "Commands to a Redis count",
	  RUN1 "g1 send m1 claim k1 tok=A.0 >a | a recv m1 | "
	  "g1 send m2 complete k1 tok=A.0 >a",
	  "1 1 0 1 0 1 0, 1 0 0 0, 1 1 0, 2" },
	{ "But not those that the simulator's own requests need",
	  RUN1 "g1 send m1 claim k1 tok=A.0 >a | a recv m1 | "
	  "@900 audit1 inv a9 k1 >g1 audit | g1 send m2 claim k1 tok=B.0 >a | "
	  "a recv m2 | audit1 ret a9 ok d=A",
	  "1 1 0 1 0 1 0, 1 0 0 0, 1 1 0, 1" }
};

/* --- numbers -------------------------------------------------------------- */

static const struct plan_pair window[] = {
	{ "deploy", "script" }, { "from_ms", "100" }, { "to_ms", "200" }
};

static void
tell(struct history *h, const char *story)
{
	story_tell(h, "", story);
	h->head.params = window;
	h->head.params_n = sizeof window / sizeof *window;
}

static const char *
numbers(const struct matrix_cell *c, char *out, size_t size)
{
	snprintf(out, size, "%zu %zu %zu %zu %zu %zu %zu, %zu %zu %zu %zu, "
	    "%zu %zu %zu, %zu", c->keys, c->starts, c->again, c->most,
	    c->unserved, c->answered, c->lost, c->tries, c->unknown,
	    c->repeats, c->replayed, c->window, c->served, c->unprotected,
	    c->commands);
	return out;
}

static void
test_rows(void)
{
	struct matrix_cell c;
	struct history h;
	char got[400];
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		c = (struct matrix_cell){ .here = true };
		h = (struct history){ .n = 0 };
		tell(&h, rows[i].story);
		matrix_measure(&h, &c);
		is(numbers(&c, got, sizeof got), rows[i].want, "%s",
		    rows[i].what);
		history_free(&h);
		arena_free(&c.arena);
	}
}

static void
test_sums(void)
{
	struct matrix_cell c = { .here = true };
	struct history h = { .n = 0 };
	char got[400];

	tell(&h, RUN1 "- heal");
	matrix_measure(&h, &c);
	matrix_measure(&h, &c);
	is(numbers(&c, got, sizeof got), "2 2 0 1 0 2 0, 2 0 0 0, 2 2 0, 0",
	    "two runs are added up, and the most of one key is not");
	is_int(c.runs, 2, "they are two");
	history_free(&h);
	arena_free(&c.arena);
}

/* A run that says nothing is no run in which all held. */
static void
test_whole(void)
{
	static const struct {
		const char *what, *story;
		bool whole;
	} runs[] = {
		{ "one that came to its end says something", RUN1 "- heal",
		  true },
		{ "one that was cut does not", RUN1 "cut", false },
		{ "nor one in which somebody died by himself",
		  RUN1 "g1 exit SIGKILL", false },
		{ "but one in which he was to", RUN1 "g1 exit SIGKILL wanted",
		  true }
	};
	struct matrix_cell c;
	struct history h;
	char why[MATRIX_WORDS];
	size_t i;

	for (i = 0; i < sizeof runs / sizeof *runs; i++) {
		c = (struct matrix_cell){ .here = true };
		h = (struct history){ .n = 0 };
		tell(&h, runs[i].story);
		ok(matrix_judge(&h, &c, WITHIN_MS) == (runs[i].whole ?
		    MATRIX_JUDGED : MATRIX_SAYS_NOTHING), "%s", runs[i].what);
		is_int(c.open, !runs[i].whole, "and is counted so");
		ok((matrix_open_text(&c, why, sizeof why) != NULL) ==
		    !runs[i].whole, "and why is told");
		history_free(&h);
	}
}

/* --- in a process of its own ---------------------------------------------- */

static void
test_judged(void)
{
	static const struct {
		const char *what, *story;
		int64_t within_ms;
		enum matrix_judged judged;
		const char *why;	/* the first words; NULL: it is told */
	} runs[] = {
		{ "a run is judged", RUN1 "- heal", WITHIN_MS, MATRIX_JUDGED,
		  NULL },
		{ "one that was cut says nothing", RUN1 "cut", WITHIN_MS,
		  MATRIX_SAYS_NOTHING, "the " },
		{ "checkers that come to no end judge nothing",
		  RUN1 "- heal", 0, MATRIX_UNJUDGED, "it could not be judged: "
		  "the checkers came to no end" },
		{ "nor do those that crash", NULL, WITHIN_MS, MATRIX_UNJUDGED,
		  "it could not be judged: the checkers " }
	};
	const struct rlimit none = { 0, 0 };
	const char *why;
	struct matrix_cell c;
	struct history h;
	char text[MATRIX_WORDS];
	size_t i;

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);	/* a sanitizer would tell of it */
	for (i = 0; i < sizeof runs / sizeof *runs; i++) {
		c = (struct matrix_cell){ .here = true,
		    .promised = MATRIX_ALL };
		h = (struct history){ .n = 0 };
		if (runs[i].story != NULL)
			tell(&h, runs[i].story);
		else {
			h.n = 1;	/* where there is no event */
			h.events = (struct history_event *)4096;
		}
		ok(matrix_judge(&h, &c, runs[i].within_ms) == runs[i].judged,
		    "%s", runs[i].what);
		why = matrix_open_text(&c, text, sizeof text);
		ok(runs[i].why == NULL ? c.tried != 0 && why == NULL :
		    why != NULL && c.tried == 0 && c.broken == 0 &&
		    strncmp(why, runs[i].why, strlen(runs[i].why)) == 0,
		    "and its cell has %s", why != NULL ? why : "promises");
		is_int((int)c.open, runs[i].judged != MATRIX_JUDGED,
		    "and is open if it was not");
		if (runs[i].story != NULL)
			history_free(&h);
	}
}

/* What was to go wrong, and in no run did. */
static void
test_idle(void)
{
	struct history_fault faults[] = {
		{ .text = "kill a", .must = 1 }, { .text = "restart a" },
		{ .text = "pause g1", .must = 2 }
	};
	struct matrix_cell c = { .here = true, .promised = MATRIX_ALL };
	struct history h = { .n = 0 };
	char why[MATRIX_WORDS];
	struct history_head head;

	tell(&h, RUN1 "- heal");
	head = h.head;
	h.head.faults = faults;
	h.head.faults_n = 3;
	matrix_measure(&h, &c);
	is(c.idle, "kill a", "a fault that never struck is told");
	is(matrix_open_text(&c, why, sizeof why),
	    "it never came to this: kill a", "in words");
	faults[0].fired = 1;
	matrix_measure(&h, &c);
	is(c.idle, NULL, "once is enough, heals and choices need not");
	faults[0].fired = 0;
	matrix_measure(&h, &c);
	is(c.idle, NULL, "whichever run it was");
	h.head = head;
	history_free(&h);
	arena_free(&c.arena);
}

static void
test_times(void)
{
	int64_t ns[100];
	struct matrix_times some = { .ns = ns, .n = 100 }, none = { .n = 0 };
	struct matrix_cell c = { .here = true };
	struct history h = { .n = 0 };
	size_t i;

	for (i = 0; i < 100; i++)
		ns[i] = (int64_t)(100 - i) * 1000000;
	is_int((long long)matrix_ms(&some, 0.5), 50, "half of a hundred");
	is_int((long long)matrix_ms(&some, 0.99), 99, "99 of them");
	is_int((long long)matrix_ms(&some, 1), 100, "all of them");
	is_int((long long)matrix_ms(&none, 0.5), -1, "none has no median");
	tell(&h, RUN1 "- heal");
	matrix_measure(&h, &c);
	is_int((long long)matrix_ms(&c.first, 0.5), 40, "a first run's time");
	is_int((long long)matrix_ms(&c.own, 0.5), 29, "the program's own");
	is_int((long long)matrix_ms(&c.added, 0.5), 11, "and the rest");
	history_free(&h);
	arena_free(&c.arena);
}

/* --- promises ------------------------------------------------------------- */

#define TWICE RUN1 "c2 inv a2 k1 >g2 | h2 begin e2 k1 a2 on=g2 | " \
	"h2 commit e2 | h2 end e2 | c2 ret a2 ok d=B s=200 mark=stored"

static unsigned
broken(unsigned promised, const char *story)
{
	struct matrix_cell c = { .promised = promised };
	struct history h = { .n = 0 };

	tell(&h, story);
	ok(matrix_judge(&h, &c, WITHIN_MS) == MATRIX_JUDGED, "it is judged");
	ok((c.broken != 0) == (c.message[0] != '\0'),
	    "what is broken is said, and nothing else: %s", c.message);
	history_free(&h);
	return c.broken;
}

static void
test_promises(void)
{
	is_int(broken(MATRIX_ALL, RUN1 "- heal"), 0, "all is kept");
	is_int(broken(MATRIX_ALL, TWICE), 1 << MATRIX_ONCE | 1 << MATRIX_SAME |
	    1 << MATRIX_KEPT, "two starts and two answers break three");
	is_int(broken(1u << MATRIX_ONCE, TWICE), 1 << MATRIX_ONCE,
	    "only what is promised can be broken");
	is_int(broken(0, TWICE), 0, "and nothing where nothing is");
	is_int(matrix_promised(MATRIX_LEDGER, MATRIX_FAILOVER), MATRIX_ALL,
	    "a ledger promises all, whatever happens");
	is_int(matrix_promised(MATRIX_SCRIPT, MATRIX_AWAY), MATRIX_ALL,
	    "Redis does while it remembers");
	ok((matrix_promised(MATRIX_SCRIPT, MATRIX_EMPTY) >> MATRIX_ONCE & 1) ==
	    0, "and not once it forgot");
	ok((matrix_promised(MATRIX_TOKEN, MATRIX_EMPTY) >> MATRIX_ONCE & 1) ==
	    1, "a token starts once even then");
	ok((matrix_promised(MATRIX_PASS, MATRIX_AWAY) >> MATRIX_ONCE & 1) ==
	    0, "a policy that runs without it promises less in an outage");
	is_int(matrix_promised(MATRIX_SETNX, MATRIX_NONE), 0,
	    "what is there to be compared promises nothing");
}

/* --- as it is given ------------------------------------------------------- */

static void
is_said(struct matrix *m, enum matrix_view v, enum matrix_fault f,
    const char *want, enum matrix_level bad, const char *what)
{
	char got[80];
	enum matrix_level l = matrix_say(m, v, MATRIX_SCRIPT, f, got,
	    sizeof got);

	is(got, want, "%s", what);
	is_int(l, bad, "%s: as bad as it is", what);
}

static void
test_table(void)
{
	static struct matrix m;
	struct matrix_cell *calm = &m.cells[MATRIX_SCRIPT][MATRIX_NONE];
	struct matrix_cell *ill = &m.cells[MATRIX_SCRIPT][MATRIX_EMPTY];

	*calm = (struct matrix_cell){ .here = true, .runs = 1, .keys = 50,
	    .starts = 50, .most = 1, .answered = 50, .tries = 100,
	    .window = 100, .served = 100, .promised = MATRIX_ALL,
	    .tried = MATRIX_ALL };
	*ill = (struct matrix_cell){ .here = true, .runs = 1, .keys = 50,
	    .starts = 75, .again = 25, .most = 2, .answered = 50, .lost = 1,
	    .tries = 100, .unknown = 3, .window = 100, .served = 60,
	    .promised = 1u << MATRIX_HONEST, .tried = 1u << MATRIX_HONEST };
	m.cells[MATRIX_SCRIPT][MATRIX_AWAY].here = true;
	is_said(&m, MATRIX_AGAIN, MATRIX_NONE, "0/50", MATRIX_PLAIN, "none");
	is_said(&m, MATRIX_AGAIN, MATRIX_EMPTY, "25/50", MATRIX_MUCH, "half");
	is_said(&m, MATRIX_STARTS, MATRIX_EMPTY, "1.50 (2)", MATRIX_MUCH,
	    "starts of a key");
	is_said(&m, MATRIX_LOST, MATRIX_EMPTY, "1/50", MATRIX_SOME, "one");
	is_said(&m, MATRIX_UNKNOWN, MATRIX_EMPTY, "3", MATRIX_SOME, "three");
	is_said(&m, MATRIX_AVAILABLE, MATRIX_EMPTY,
	    "60 \xe2\x88\x92" "40", MATRIX_MUCH, "less than before");
	is_said(&m, MATRIX_LATENCY, MATRIX_EMPTY, "-", MATRIX_PLAIN,
	    "no run that was answered");
	is_said(&m, MATRIX_KEPT_WORD, MATRIX_NONE, "all held", MATRIX_PLAIN,
	    "all promises");
	is_said(&m, MATRIX_KEPT_WORD, MATRIX_EMPTY, "1 held", MATRIX_PLAIN,
	    "some of them");
	is_said(&m, MATRIX_AGAIN, MATRIX_AWAY, "?", MATRIX_PLAIN,
	    "what was not run");
	is_said(&m, MATRIX_AGAIN, MATRIX_SLOW, "-", MATRIX_PLAIN,
	    "what cannot be");
	is_int((long long)matrix_broken(&m), 0, "nothing is broken");
	is_int((long long)matrix_open(&m), 0, "and nothing is open");
	ill->tried = 0;
	is_said(&m, MATRIX_KEPT_WORD, MATRIX_EMPTY, "0 of 1", MATRIX_PLAIN,
	    "a promise that nothing tried is not one that held");
	ill->idle = "kill a";
	is_said(&m, MATRIX_KEPT_WORD, MATRIX_EMPTY, "not shown", MATRIX_PLAIN,
	    "nor is it where nothing went wrong");
	is_int((long long)matrix_open(&m), 1, "which is open");
	ill->starts = 20;
	is_said(&m, MATRIX_STARTS, MATRIX_EMPTY, "0.40 (2)", MATRIX_SOME,
	    "fewer starts than keys, and one of them twice");
	ill->starts = 75;
	ill->broken = 1u << MATRIX_ONCE;
	is_said(&m, MATRIX_AGAIN, MATRIX_EMPTY, "25/50", MATRIX_BROKEN,
	    "a broken promise");
	is_said(&m, MATRIX_KEPT_WORD, MATRIX_EMPTY, "no: once", MATRIX_BROKEN,
	    "which one");
	is_int((long long)matrix_broken(&m), 1, "one cell is broken");
	is_int((long long)matrix_run(&m), 2, "of two that were run");
}

static void
test_said(void)
{
	static struct matrix m;
	struct matrix_said t;
	size_t i, j, empty = 0;

	matrix_said_schemes(&m, &t);
	for (i = 0; i < t.rows; i++)
		for (j = 0; j < t.columns; j++)
			empty += t.row[i].cells[j][0] == '\0';
	is_int((long long)t.columns, 3, "there are three schemes");
	is_int((long long)empty, 0, "each has a word in each row, run or not");
	matrix_said_policies(&m, &t);
	for (i = 0, empty = 0; i < t.rows; i++)
		for (j = 0; j < t.columns; j++)
			empty += t.row[i].cells[j][0] == '\0';
	is_int((long long)t.columns, 5, "and four policies beside no outage");
	is_int((long long)empty, 0, "with a word each");
	ok(t.rows <= MATRIX_SAID_ROWS, "there is room for all rows");
}

int
main(void)
{
	test_rows();
	test_sums();
	test_whole();
	test_judged();
	test_idle();
	test_times();
	test_promises();
	test_table();
	test_said();
	return done();
}
