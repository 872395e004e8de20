/* SPDX-License-Identifier: ISC */
#ifndef EXPLAIN_PRIVATE_H
#define EXPLAIN_PRIVATE_H

#include "explain.h"

/* Paragraphs of sentences, broken into lines. */
struct explain_page {
	const struct plan *plan;
	FILE *out;
	char text[4096];	/* of the paragraph that is open */
	size_t len;
};

void explain_say(struct explain_page *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The open one ends; lines after its first are indented by `hang` more. */
void explain_break(struct explain_page *, unsigned indent, unsigned hang);
/* "8", "70,000"; in one of a few places that are used in turn. */
const char *explain_number(int64_t);
/* "80 ms", "100 to 600 ms", "about 300 ms (100 to 2,000)" */
void explain_dist(struct explain_page *, const struct plan_dist *);
/* "two", "17" */
const char *explain_few(size_t);

void explain_load(struct explain_page *);	/* explain_load.c */
void explain_faults(struct explain_page *);	/* explain_faults.c */

#endif
