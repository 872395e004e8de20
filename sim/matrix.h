/* SPDX-License-Identifier: ISC */
#ifndef MATRIX_H
#define MATRIX_H

#include "buf.h"
#include "history.h"
#include "idemsim.h"

#include <stdio.h>

/*
 * `idemsim matrix`: ways to deploy idem (rows), each in the same situations
 * (columns) under the same load (scenarios/matrix/matrix.lua), as tables of
 * what was measured beside what is promised.
 */

/* --- rows and columns (matrix_rows.c) ------------------------------------- */

enum matrix_deploy {
	MATRIX_LEDGER, MATRIX_LEDGER_CACHE, MATRIX_TOKEN, MATRIX_SCRIPT,
	MATRIX_SETNX, MATRIX_CHECK, MATRIX_MEMORY, MATRIX_DATABASE, MATRIX_PASS,
	MATRIX_DEPLOYS
};

enum matrix_fault {
	MATRIX_NONE, MATRIX_STORM, MATRIX_LOST_REPLY, MATRIX_AWAY, MATRIX_EMPTY,
	MATRIX_FAILOVER, MATRIX_KILLED, MATRIX_SLOW,
	MATRIX_FAULTS
};

enum matrix_promise {	/* doc/design.md; MATRIX_GUARDED is not tried here */
	MATRIX_ONCE, MATRIX_SAME, MATRIX_KEPT, MATRIX_HONEST, MATRIX_SETTLED,
	MATRIX_PROMISES
};
#define MATRIX_ALL ((1u << MATRIX_PROMISES) - 1)

extern const struct matrix_row {
	const char *param;	/* in the scenario */
	const char *title;
	const char *promised;	/* of it, in the documentation's words */
} matrix_rows[MATRIX_DEPLOYS];

extern const struct matrix_column {
	const char *param;
	const char *head[2];	/* in two lines, at most 9 characters each */
	const char *about;	/* a sentence */
} matrix_columns[MATRIX_FAULTS];

extern const char *const matrix_promise_words[MATRIX_PROMISES];

/* Bits of what is promised there. */
unsigned matrix_promised(enum matrix_deploy, enum matrix_fault);

/* --- what is measured (matrix_measure.c) ---------------------------------- */

#define MATRIX_WORDS 400

/* Sums over all runs of a cell.  Zeroes are one of no run. */
struct matrix_cell {
	bool here;		/* the scenario knows it: else there is no Redis
				   that could fail */
	const char *skipped;	/* why it could not be; NULL: it could */
	unsigned runs;		/* that were measured */
	unsigned open;		/* that say nothing: cut, or somebody died who
				   was not to; not measured */
	char why[MATRIX_WORDS];	/* of the first of them */
	unsigned *struck;	/* by fault, in all runs */
	size_t struck_n;
	const char *idle;	/* a fault that never struck; NULL: all did */

	/* Keys that clients asked for, and programs that were started for
	   them, whoever asked. */
	size_t keys, starts, again;	/* again: keys that started more than
					   once */
	size_t most;		/* starts of one key, the most */
	size_t unserved;	/* keys that gave no client an answer of the
				   program */
	/* Keys of which a client has read a final answer, and those of them
	   which later, all being well again, did not give it. */
	size_t answered, lost;

	/* Tries of clients (of a storm's none). */
	size_t tries, unknown;	/* unknown: read that nobody knows */
	size_t repeats, replayed;	/* after a final answer was read, at an
					   instance that did not run it; that
					   got one */
	size_t window, served, unprotected;	/* in the window; that got the
				   program's answer in their time; of these
				   without an arbiter's permission */
	size_t commands;	/* to a Redis, until nobody but the simulator
				   asks */
	/* Of tries that ran the program and read its answer: how long they
	   took, how long the program did, and the difference. */
	struct matrix_times {
		int64_t *ns;
		size_t n;
		bool sorted;
	} first, own, added;

	unsigned promised, broken;	/* bits */
	unsigned tried;		/* of them: those that were put to the test */
	char message[MATRIX_WORDS];	/* of the first that was broken */
	uint64_t seed;			/* of its run */
	char file[1024];		/* its history; "": not written */

	struct arena arena;
};

/*
 * Add a run to a cell.  Pure.  The window is between the history's parameters
 * from_ms and to_ms; without them, all of it.
 */
void matrix_measure(const struct history *, struct matrix_cell *);
/* The smallest that a share q of them does not exceed, in ms; -1: there is
   none. */
double matrix_ms(struct matrix_times *, double q);
/* 0 to 1; -1: nobody asked in the window. */
double matrix_available(const struct matrix_cell *);

/* --- what is judged (matrix_judge.c) -------------------------------------- */

/*
 * In a process of its own (idemsim_apart): does a run say anything, and if so,
 * which of `promised` were not kept there (tried, broken, message and seed)?
 * Only what is JUDGED is to be measured; of what is not, open and why are told.
 */
enum matrix_judged {
	MATRIX_JUDGED, MATRIX_SAYS_NOTHING,
	MATRIX_UNJUDGED		/* a fault of our own */
};
enum matrix_judged matrix_judge(const struct history *, struct matrix_cell *,
    int64_t within_ms);

/* --- tables (matrix_table.c, matrix_said.c) ------------------------------- */

struct matrix {
	struct matrix_cell cells[MATRIX_DEPLOYS][MATRIX_FAULTS];
	uint64_t seed;
	unsigned runs;		/* of each cell, at most */
	int64_t wall_ms;
};

enum matrix_view {	/* a table each */
	MATRIX_AGAIN, MATRIX_STARTS, MATRIX_LOST, MATRIX_UNKNOWN,
	MATRIX_AVAILABLE, MATRIX_LATENCY, MATRIX_KEPT_WORD,
	MATRIX_VIEWS
};

enum matrix_level {
	MATRIX_PLAIN, MATRIX_SOME, MATRIX_MUCH,
	MATRIX_BROKEN		/* and it was promised */
};

extern const struct matrix_title {
	const char *title, *about;
} matrix_titles[MATRIX_VIEWS];

/* What stands in a cell, and how bad it is. */
enum matrix_level matrix_say(struct matrix *, enum matrix_view,
    enum matrix_deploy, enum matrix_fault, char *out, size_t size);
/* How many cells broke what was promised; how many were run; how many say
   nothing of what they were to (why: matrix_open_text). */
size_t matrix_broken(const struct matrix *);
size_t matrix_run(const struct matrix *);
size_t matrix_open(const struct matrix *);
/* NULL: it says what it was to. */
const char *matrix_open_text(const struct matrix_cell *, char *out,
    size_t size);

#define MATRIX_SAID_COLUMNS 5
#define MATRIX_SAID_ROWS 12
#define MATRIX_SAID_WORDS 160

/* A table of what is often said of the ways, with what was measured. */
struct matrix_said {
	const char *title, *about;
	size_t columns, rows;
	const char *heads[MATRIX_SAID_COLUMNS];
	struct matrix_said_row {
		const char *name;
		enum matrix_source {
			MATRIX_WORD,	/* as it is said */
			MATRIX_MEASURED,
			MATRIX_PROMISE	/* what idem promises */
		} source;
		char cells[MATRIX_SAID_COLUMNS][MATRIX_SAID_WORDS];
		bool broken[MATRIX_SAID_COLUMNS];	/* what is promised of
							   it did not hold */
	} row[MATRIX_SAID_ROWS];
};
/* "said", "measured", "promised". */
const char *matrix_source_text(enum matrix_source);
void matrix_said_schemes(struct matrix *, struct matrix_said *);
void matrix_said_policies(struct matrix *, struct matrix_said *);

/* --- as they are given ---------------------------------------------------- */

void matrix_text(struct matrix *, FILE *);
int matrix_json(struct matrix *, const char *path);	/* -1: errno */
int matrix_html(struct matrix *, const char *path);	/* -1: errno */

enum idemsim_exit matrix_main(const struct idemsim_options *);

#endif
