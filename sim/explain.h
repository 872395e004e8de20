/* SPDX-License-Identifier: ISC */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "plan.h"

#include <stdio.h>

/* A plan in words, for a person: who takes part, what they do, what goes wrong
   and when, what must hold. */
void explain(const struct plan *, FILE *);

#endif
