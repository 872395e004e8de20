/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_FAULT_H
#define TESTS_CHAOS_FAULT_H

#include "chaos_world.h"

/*
 * Faults at random, one after the other, each healed before the next.  What is
 * done depends on the seed alone, when on the machine as well.
 */
#define CHAOS_FAULTS_MAX 20

struct chaos_faults {
	struct chaos_world *world;	/* to be set, and */
	uint32_t chance;		/* not 0 */
	unsigned done[CHAOS_FAULTS_MAX];	/* to be read */
	unsigned slots;			/* that have moved */
};

/* For so long, which the last may exceed by its own time. */
void chaos_faults(struct chaos_faults *, int64_t ms);
/* "kill 3, flush 2, ..." */
void chaos_faults_tell(const struct chaos_faults *, char *out, size_t size);

#endif
