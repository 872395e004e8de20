/* SPDX-License-Identifier: ISC */
#ifndef TESTS_REPORT_WORLD_H
#define TESTS_REPORT_WORLD_H

#include "judge.h"

/*
 * Histories to report of, made up: clients ask gates, which claim at a store,
 * run programs and answer; and what goes wrong, for every mark of a diagram.
 */
struct report_world {
	size_t clients, gates, keys;
	size_t requests;	/* in all: each makes about 12 events */
	bool kill;		/* g1 is killed in a run, and starts again */
	bool pause;		/* the last gate is paused for a while */
	bool lose;		/* replies of a store are lost, held, delayed */
	bool quiet;		/* no messages to a store */
};

/* The history, stamped.  The two programs of one key, if there are two, are the
   finding. */
void report_world(struct history *, const struct report_world *,
    struct check_finding *);

/* Five events: a key that is run twice. */
void report_world_small(struct history *, struct check_finding *);

/* A text that nobody should write as it is: of that many bytes. */
const char *report_world_hostile(struct history *, size_t len);

/* How often a text has another one. */
int report_times(const char *text, const char *what);

#endif
