/* SPDX-License-Identifier: ISC */
#ifndef REPORT_H
#define REPORT_H

#include "judge.h"

#include <stdio.h>

/*
 * What is told of test points: TAP on standard output, JUnit and JSON in files,
 * an artefact folder a failure, a bar on a terminal.
 */
struct report {
	FILE *tap;		/* standard output */
	int tap_version;	/* 13, 14 */
	const char *junit, *json;	/* paths; NULL: none */
	const char *out;	/* folder of artefacts; NULL: none */
	bool bar;		/* standard error is a terminal */
	const char *command;	/* "idemsim run": how the command begins that
				   does a run again; file, parameters and seed
				   come behind it.  NULL: that */
	const char *mode;	/* "live": of points without a history */
	const char *from;	/* the file of the next point's history, which
				   is judged again; NULL: it was run */

	size_t points, done;	/* plan and so far */
	char folder[1024];	/* of the last point's artefacts; "": none */
	struct report_private *in;	/* private */
};

void report_begin(struct report *, size_t points);
/* Which is at work: for the bar, at most once a second. */
void report_progress(struct report *, const struct plan *, unsigned run,
    unsigned runs);
/*
 * One point (its plan may be NULL: of a history that was read from a file);
 * worst: the history of its worst run, NULL when all went well (or of a control
 * that showed what it was to).  Unless it passed, writes its artefacts to
 * OUT/NNN-NAME/, NNN being its number, which `folder` names afterwards.
 */
void report_point(struct report *, const struct judge_point *,
    const struct history *worst);
/* -1: a file could not be written, and standard error says which. */
int report_end(struct report *);

/* The space-time diagram: one HTML file, nothing outside of it, readable
   without script, below 500 KB.  0; -1: errno.  judge_run: NULL where there is
   none.  reproduce: NULL: what the history's head says. */
int report_html(FILE *, const struct history *, const struct judge_run *,
    const char *reproduce);

#endif
