/* SPDX-License-Identifier: ISC */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Rows of a test that wait most of the time, several at once: each in a process
 * of its own.  What it says in TAP becomes this program's, in the order of the
 * rows.  What a row leaves in memory is lost with it, but for what is shared.
 */
#define ROWS_HELD 4

/* Process groups that a row has started and not ended yet; 0: none.  If it
   fails on the way they are killed. */
struct rows_held {
	pid_t group[ROWS_HELD];
};

typedef void rows_row(size_t i, void *arg, struct rows_held *);

void rows_at_once(size_t len, unsigned at_once, rows_row *, void *arg);
/* Zeroes that all processes started later share; never freed. */
void *rows_shared(size_t size);

#endif
