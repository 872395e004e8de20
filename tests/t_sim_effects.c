/* SPDX-License-Identifier: ISC */
#include "effects.h"

#include "tap.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A journal of effects, read from memory. */

#define BEGAN INT64_C(1000)
#define NOW INT64_C(1000000)

static int
read_some(struct history *h, const char *text, size_t len, size_t max,
    char wrong[200])
{
	const struct effects_span span = { BEGAN, NOW, max };
	char path[40];
	int fd = memfd_create("journal", MFD_CLOEXEC), result;

	if (fd == -1 || write(fd, text, len) != (ssize_t)len)
		bail_out("no memory for a journal");
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	wrong[0] = '\0';
	result = effects_read(h, path, &span, wrong, 200);
	close(fd);
	return result;
}

static int
read_journal(struct history *h, const char *text, size_t len, char wrong[200])
{
	return read_some(h, text, len, SIZE_MAX, wrong);
}

/* "h1 e1 begin k1/3@5": lane, name, phase, key and try, time. */
static const char *
said(struct history *h)
{
	char *text = arena_text(&h->arena, "");
	size_t i;

	for (i = 0; i < h->n; i++) {
		const struct history_event *e = &h->events[i];

		if (e->kind == HISTORY_EFFECT)
			text = arena_format(&h->arena, "%s%s%s %s %s %s/%d@%d",
			    text, *text != '\0' ? ", " : "", e->p, e->id,
			    e->ph, e->k != NULL ? e->k : "-", e->a,
			    (int)e->t_ns);
		else
			text = arena_format(&h->arena, "%s%s%s@%d", text,
			    *text != '\0' ? ", " : "", e->p, (int)e->t_ns);
	}
	return text;
}

#define A(time, phase) #time " " phase " e7.1001 k1 aa 1 3 g1 1 7 - n3-x\n"
#define B(time, phase) #time " " phase " e8.1004 k2 bb 2 4 g2 1 8 o n4-x\n"

static const struct {
	const char *what, *journal, *said, *wrong;
} rows[] = {
	{ "an empty journal has nothing", "", "", "" },
	{ "a run has its begin, its commit and its end",
	  A(1001, "begin") A(1005, "commit") A(1009, "end"),
	  "h1 e1 begin k1/3@1, h1 e1 commit k1/3@5, h1 e1 end k1/3@9", "" },
	{ "two runs stand by time, and are named by it",
	  B(1004, "begin") A(1001, "begin") A(1009, "end") B(1005, "commit"),
	  "h1 e1 begin k1/3@1, h2 e2 begin k2/4@4, h2 e2 commit k2/4@5, "
	  "h1 e1 end k1/3@9", "" },
	{ "what one run does at one time stands as it did it",
	  A(1005, "end") A(1005, "begin") A(1005, "commit"),
	  "h1 e1 begin k1/3@5, h1 e1 commit k1/3@5, h1 e1 end k1/3@5", "" },
	{ "a program that does not know its key has that of its store key",
	  "1002 begin e9.1002 - aa 1 - g1 1 9 - -\n" A(1003, "begin"),
	  "h1 e1 begin k1/0@2, h2 e2 begin k1/3@3", "" },
	{ "and none if nobody knows it",
	  "1002 begin e9.1002 - cc 1 - g1 1 9 - -\n"
	  "1003 begin e9.1003 - - - - - - - - -\n",
	  "h1 e1 begin -/0@2, h2 e2 begin -/0@3", "" },
	{ "what began before the run is another's",
	  "900 begin e6.900 k1 aa 1 3 g1 1 6 - -\n"
	  "1002 commit e6.900 k1 aa 1 3 g1 1 6 - -\n" A(1003, "begin"),
	  "h1 e1 begin k1/3@3", "" },
	{ "what is cut ends it",
	  A(1001, "begin") "1002 commit e7.1001 k1", "h1 e1 begin k1/3@1",
	  "line 2 is none" },
	{ "also if all words are there",
	  A(1001, "begin") "1002 end e7.1001 k1 aa 1 3 g1 1 7 - n3-x",
	  "h1 e1 begin k1/3@1", "line 2 is none" },
	{ "junk ends it", A(1001, "begin") "junk\n" A(1002, "commit"),
	  "h1 e1 begin k1/3@1", "line 2 is none" },
	{ "so does an empty line", "\n", "", "line 1 is none" },
	{ "a phase that is none", A(1001, "began"), "", "line 1 is none" },
	{ "a time that is none", A(x, "begin"), "", "line 1 is none" },
	{ "one that is no number of this world",
	  A(99999999999999999999, "begin"), "", "line 1 is none" },
	{ "a try that is too large",
	  "1001 begin e7.1 k1 aa 1 3000000000 g1 1 7 - n\n", "",
	  "line 1 is none" },
	{ "a number with something behind",
	  "1001 begin e7.1 k1 aa 1x 3 g1 1 7 - n\n", "", "line 1 is none" },
	{ "a word too many", "1001 begin e7.1 k1 aa 1 3 g1 1 7 - n more\n", "",
	  "line 1 is none" },
	{ "a line without a time", "- begin e7.1001 k1 aa 1 3 g1 1 7 - n\n",
	  "", "line 1 is none" },
	{ "a run that begins twice", A(1001, "begin") A(1002, "begin")
	  A(1003, "commit"), "h1 e1 begin k1/3@1, h1 e1 commit k1/3@3",
	  "line 2: the run e7.1001 begins twice" },
	{ "also if it is the same line", A(1001, "begin") A(1001, "begin")
	  B(1004, "begin"), "h1 e1 begin k1/3@1, h2 e2 begin k2/4@4",
	  "line 2: the run e7.1001 begins twice" },
	{ "a run that commits twice", A(1001, "begin") A(1002, "commit")
	  A(1003, "commit") A(1004, "end"), "h1 e1 begin k1/3@1, "
	  "h1 e1 commit k1/3@2, h1 e1 end k1/3@4",
	  "line 3: the run e7.1001 commits twice" },
	{ "a run that goes on after its end", A(1001, "begin") A(1002, "end")
	  A(1003, "commit"), "h1 e1 begin k1/3@1, h1 e1 end k1/3@2",
	  "line 3: the run e7.1001 goes on after its end" },
	{ "a run that never began", A(1002, "commit") B(1004, "begin"),
	  "h1 e1 begin k2/4@4", "line 1: the run e7.1001 goes on, and has not "
	  "begun" },
	{ "a commit before its begin, by their times", A(1005, "begin")
	  A(1003, "commit"), "h1 e1 begin k1/3@5", "line 2: the run e7.1001 "
	  "goes on, and has not begun" },
	{ "a time of another clock", A(1001, "begin")
	  A(1700000000000000000, "commit") B(1004, "begin"),
	  "h1 e1 begin k1/3@1, h2 e2 begin k2/4@4",
	  "line 2 has a time that is not yet" },
	{ "an effect without a name", "1001 begin  k1 aa 1 3 g1 1 7 - n\n", "",
	  "line 1 is none" }
};

static void
check_rows(void)
{
	struct history h;
	char wrong[200];
	size_t i;
	int result;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		h = (struct history){ 0 };
		result = read_journal(&h, rows[i].journal,
		    strlen(rows[i].journal), wrong);
		is(said(&h), rows[i].said, "%s", rows[i].what);
		ok(*rows[i].wrong == '\0' ? result == 0 && *wrong == '\0' :
		    result == -1 && strstr(wrong, rows[i].wrong) != NULL,
		    "and that is %s", *rows[i].wrong != '\0' ? "told" : "all");
		history_free(&h);
	}
}

/* Among events that are there already. */
static void
check_others(void)
{
	static const char journal[] = B(1004, "begin") B(1008, "commit")
	    A(1001, "begin") A(1005, "commit");
	struct history h = { 0 };
	struct history_event *ret;
	char wrong[200];

	history_add(&h, HISTORY_INV, 0, "c1");
	history_add(&h, HISTORY_RET, 5, "c1")->says_effect = "e7.1001";
	ret = history_add(&h, HISTORY_RET, 6, "c2");
	ret->says_effect = history_text(&h, "e8.1004");
	history_add(&h, HISTORY_RET, 7, "c3")->says_effect = "e9.1001";
	is_int(read_journal(&h, journal, sizeof journal - 1, wrong), 0,
	    "a journal is read into a history");
	is(said(&h), "c1@0, h1 e1 begin k1/3@1, h2 e2 begin k2/4@4, c1@5, "
	    "h1 e1 commit k1/3@5, c2@6, c3@7, h2 e2 commit k2/4@8",
	    "each event is where its time belongs");
	is(h.events[3].says_effect, "e1", "what an answer names has that name");
	is(h.events[5].says_effect, "e2", "so has another");
	is(h.events[6].says_effect, "e9.1001", "what nobody did keeps its own");
	ok(h.events[2].attempt == 2 && h.events[2].life == 1 &&
	    h.events[2].pid == 8 && strcmp(h.events[2].gate, "g2") == 0 &&
	    strcmp(h.events[2].business, "o") == 0 &&
	    h.events[1].business == NULL && h.events[7].i == 8,
	    "the rest of a line is there as well");
	history_free(&h);
	is_int(effects_read(&h, "/nonexistent/journal",
	    &(struct effects_span){ .now_ns = NOW }, wrong, sizeof wrong), -1,
	    "a journal that is not there is told");
	ok(strstr(wrong, "No such file") != NULL, "with the reason");
	history_free(&h);
}

static void
check_many(void)
{
	enum { RUNS = 20000 };
	struct history h = { 0 };
	char *text = NULL, wrong[200];
	size_t len = 0, i, late = 0;
	FILE *f = open_memstream(&text, &len);

	for (i = RUNS; i > 0 && f != NULL; i--)
		fprintf(f, "%zu begin e%zu.%zu k%zu - 1 %zu g1 1 %zu - -\n"
		    "%zu commit e%zu.%zu k%zu - 1 %zu g1 1 %zu - -\n",
		    10 * i + 1000, i, i + 1000, i % 99, i, i,
		    10 * i + 1015, i, i + 1000, i % 99, i, i);
	if (f == NULL || fclose(f) != 0)
		bail_out("no memory");
	for (i = 0; i < RUNS; i++)
		history_add(&h, HISTORY_NOTE, (int64_t)(11 * i), "-");
	is_int(read_journal(&h, text, len, wrong), 0,
	    "forty thousand lines, the last first, are read");
	for (i = 1; i < h.n; i++)
		late += h.events[i].t_ns < h.events[i - 1].t_ns;
	ok(h.n == 3 * RUNS && late == 0, "and all are in order");
	free(text);
	history_free(&h);
}

/* What a history would have no room for, or what no write keeps whole. */
static void
check_bounds(void)
{
	static const char three[] = A(1001, "begin") A(1002, "commit")
	    A(1003, "end");
	char line[PIPE_BUF + 100], wrong[200];
	struct history h = { 0 };
	int len;

	is_int(read_some(&h, three, sizeof three - 1, 3, wrong), 0,
	    "as many lines as there may be are read");
	history_free(&h);
	is_int(read_some(&h, three, sizeof three - 1, 2, wrong), -1,
	    "one more is told");
	ok(strstr(wrong, "more lines than a history has room for") != NULL &&
	    h.n == 2, "and the others are there");
	history_free(&h);
	len = snprintf(line, sizeof line, "1001 begin e7.1001 %0*d aa 1 3 g1 "
	    "1 7 - n\n", PIPE_BUF, 1);
	is_int(read_journal(&h, line, (size_t)len, wrong), -1,
	    "a line that no write keeps whole is none");
	history_free(&h);
}

int
main(void)
{
	static const char nul[] = "1001 begin e7.1 k\0 aa 1 3 g1 1 7 - n\n";
	struct history h = { 0 };
	char wrong[200];

	check_rows();
	is_int(read_journal(&h, nul, sizeof nul - 1, wrong), -1,
	    "a line with a NUL in it is none");
	history_free(&h);
	check_others();
	check_many();
	check_bounds();
	return done();
}
