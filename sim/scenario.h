/* SPDX-License-Identifier: ISC */
#ifndef SCENARIO_H
#define SCENARIO_H

#include "history.h"
#include "plan.h"

/*
 * A scenario file: Lua 5.4 in a sandbox, read once, from which come the plans
 * of its test points.  The only place that knows Lua (scenario*.c).
 *
 * The sandbox has no io, os, debug, load or dofile; require knows "idemsim" and
 * Lua files beside the scenario; math.random is seeded by the simulator, pairs
 * goes in the order of sorted keys.  Memory (64 MiB) and instructions
 * (SCENARIO_STEPS a call) are bounded.  What a file says wrong is told as
 * "FILE:LINE: what, and what to do".
 */
#define SCENARIO_STEPS 50000000
#define SCENARIO_MEMORY (64u << 20)

struct scenario;

struct scenario_choice {	/* --param NAME=VALUE */
	const char *name, *value;
};

/*
 * Read a file; each value of each parameter (and element of sim.matrix) makes a
 * test point, unless `choices` picks one.  NULL: it cannot be, and why is in
 * `wrong` (one line; of a choice that nobody knows too).
 */
struct scenario *scenario_open(const char *path,
    const struct scenario_choice *choices, size_t choices_n,
    char *wrong, size_t wrong_size);
void scenario_close(struct scenario *);

size_t scenario_points(const struct scenario *);	/* at least 1 */
/* Borrowed; good until scenario_close. */
const struct plan *scenario_plan(const struct scenario *, size_t point);

/* What one of the scenario's own functions says of a history. */
enum scenario_said {
	SCENARIO_YES,
	SCENARIO_NO,
	SCENARIO_WRONG		/* it failed, or ran too long: `why` */
};

/* The i-th of the plan's expect.sometimes: is it true of it? */
enum scenario_said scenario_sometimes(struct scenario *, size_t point,
    size_t i, const struct history *, char *why, size_t why_size);
/*
 * The i-th of expect.custom: fn(h) gives true or nothing when it holds; false,
 * or false and a sentence, when not: `why`.
 */
enum scenario_said scenario_custom(struct scenario *, size_t point, size_t i,
    const struct history *, char *why, size_t why_size);

#endif
