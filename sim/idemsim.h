/* SPDX-License-Identifier: ISC */
#ifndef IDEMSIM_H
#define IDEMSIM_H

#include "scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How idemsim ends (doc/idemsim.1). */
enum idemsim_exit {
	IDEMSIM_OK = 0,
	IDEMSIM_VIOLATION = 1,
	IDEMSIM_NOT_SHOWN = 2,	/* inconclusive or vacuous points only */
	IDEMSIM_USAGE = 64,	/* or a scenario that cannot be read */
	IDEMSIM_MISSING = 69,	/* with --require: a program is not here */
	IDEMSIM_INTERNAL = 70,
	IDEMSIM_INTERRUPTED = 130
};

#define IDEMSIM_PARAMS 32

enum idemsim_command {
	IDEMSIM_RUN, IDEMSIM_LIST, IDEMSIM_EXPLAIN, IDEMSIM_CHECK,
	IDEMSIM_RENDER, IDEMSIM_MATRIX,
	IDEMSIM_COMMANDS
};

/* The command line; zeroes: as nothing was said. */
struct idemsim_options {
	enum idemsim_command command;
	bool named;		/* the line has its name */
	struct scenario_choice params[IDEMSIM_PARAMS];
	size_t params_n;
	unsigned runs;		/* 0: as the scenario says */
	bool seeded;
	uint64_t seed;
	int64_t wall_ms;	/* 0: as the scenario says */
	const char *only;	/* pattern of names of points */
	const char *out, *keep, *junit, *json, *html;
	int tap;
	bool require_live, quick;
	bool help, version;
	char **names;		/* of files and folders */
	int names_n;
};

/* False: it is wrong, which has been said; which command it was is known. */
bool idemsim_options(struct idemsim_options *, int argc, char **argv);
const char *idemsim_command_text(enum idemsim_command);
/* On standard output, of its command, or of all. */
void idemsim_help(const struct idemsim_options *);

/* --- where results go (idemsim_places.c) ---------------------------------- */

/*
 * Before anything is run: files that are to be written are made, and empty (so
 * that nobody takes an earlier run's for this one's); folders can be.  False:
 * not so, which has been said.
 */
bool idemsim_places(const struct idemsim_options *);

/* --- scenario files (idemsim_files.c) ------------------------------------- */

/* A point of a file that is to be looked at. */
struct idemsim_point {
	struct scenario *scenario;
	size_t number;		/* in it, from 0 */
	const struct plan *plan;
};

struct idemsim_files {
	struct scenario **scenarios;
	size_t scenarios_n;
	struct idemsim_point *points;
	size_t points_n;
	struct arena arena;
};

/*
 * All scenarios of the options' names (of a folder, its *.lua in the order of
 * their names, but those that begin with "_"), and their points that fit
 * `only`.  False: one cannot be read, which has been said.
 */
bool idemsim_files_open(struct idemsim_files *, const struct idemsim_options *);
void idemsim_files_close(struct idemsim_files *);

/* --- runs (idemsim_run.c) ------------------------------------------------- */

/* SIGINT, SIGTERM and SIGHUP are noted from now on, SIGPIPE is not heard. */
void idemsim_catch_signals(void);
bool idemsim_interrupted(void);
int idemsim_history(FILE *, const void *history);	/* for folder_file */
uint64_t idemsim_some_seed(void);
/* Of a run's number, from 1.  The first run has the seed as it was given: so is
   one run done again. */
uint64_t idemsim_seed_of(uint64_t seed, unsigned run);
struct world;
/* NULL: it can be carried out there.  missing: it could be, but what it needs
   is not installed here. */
const char *idemsim_why_not(const struct world *, const struct plan *,
    bool *missing);

/* --- in a process of its own (idemsim_apart.c) ---------------------------- */

#define IDEMSIM_JUDGE_MS 60000

struct idemsim_apart {
	/* Fills told, which is zeroes; pointers in it are of no use here. */
	void (*judge)(void *arg, void *told);
	void *arg, *told;
	size_t told_len;
	int64_t within_ms;	/* as long as it may take */
	char *why;		/* a sentence, if it is not done */
	size_t why_size;
};

/*
 * Let it judge there: a checker, or a scenario's function, that crashes or
 * comes to no end takes neither the history with it nor what is still to be
 * run.  false: it did, or there is no process to be had; why says so, and told
 * may be anything.
 */
bool idemsim_apart(const struct idemsim_apart *);

/* --- verdicts (idemsim_judge.c) ------------------------------------------- */

struct idemsim_asked {
	struct history *history;
	struct scenario *scenario;	/* NULL: its functions are not here */
	size_t point;
	bool alone;		/* as judge_run does; else as judge_one */
	size_t sometimes_n;	/* of judge_one: so many flags */
	int64_t within_ms;
};

struct judge_run;

/* Judge a run apart.  false: nobody did; then it is INCONCLUSIVE and
   `broken`. */
bool idemsim_judge(const struct idemsim_asked *, struct judge_run *,
    bool *sometimes);

/* --- commands ------------------------------------------------------------- */

enum idemsim_exit idemsim_run(const struct idemsim_options *);
enum idemsim_exit idemsim_list(const struct idemsim_options *);
enum idemsim_exit idemsim_explain(const struct idemsim_options *);
enum idemsim_exit idemsim_check(const struct idemsim_options *);
enum idemsim_exit idemsim_render(const struct idemsim_options *);

#endif
