/* SPDX-License-Identifier: ISC */
#ifndef PLAN_TEXT_H
#define PLAN_TEXT_H

#include "plan.h"

/* For plan_text*.c alone: a text of a plan while it is made.  What does not fit
   is left out. */
struct plan_text {
	const struct plan *plan;
	char *at;
	size_t size, len;
};

void plan_say(struct plan_text *, const char *, ...)
    __attribute__((format(printf, 2, 3)));
/* An index, or PLAN_ANY: "g1", "a", "*". */
void plan_say_gate(struct plan_text *, int gate);
void plan_say_store(struct plan_text *, int store);
/* gate PLAN_NONE: that of a replica to its master. */
void plan_say_link(struct plan_text *, int gate, int store);
void plan_say_nth(struct plan_text *, unsigned);	/* "1st" */
/* What is done, without when. */
void plan_say_action(struct plan_text *, const struct plan_action *);

#endif
