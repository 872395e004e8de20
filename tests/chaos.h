/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_H
#define TESTS_CHAOS_H

#include "chaos_count.h"

/*
 * One mode under load and faults: six instances, a real Redis, faults at random
 * from a seed.  Then one test for each thing that must hold of it; what need
 * not hold is counted.
 */
struct chaos_run {
	const struct chaos_mode *mode;	/* to be set, and */
	uint32_t seed;			/* not 0 */
	int64_t ms;			/* for load and faults */

	struct chaos_count count;	/* to be read */
	char faults[400];
	int64_t load_ms;
};

/* By name; NULL: there is none. */
const struct chaos_mode *chaos_mode(const char *name);
/* The i-th, or NULL. */
const struct chaos_mode *chaos_mode_at(size_t i);

void chaos_run(struct chaos_run *);
/* Without faults: 16 instances are each asked for the same `keys` keys. */
void chaos_many(struct chaos_run *, uint32_t keys);

#endif
