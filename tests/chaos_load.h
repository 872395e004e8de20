/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_LOAD_H
#define TESTS_CHAOS_LOAD_H

#include "chaos_count.h"

#include <pthread.h>
#include <stdatomic.h>

/*
 * Clients of all instances, in a thread of its own, so that whoever makes the
 * faults may wait.  An operation is asked for several times, of whichever
 * instance: at once, a moment later, and seconds later; each repeats until it
 * has an answer that is one.  After the end each operation is asked for once
 * more, when all is quiet.
 */
struct chaos_load_options {
	struct chaos_world *world;
	uint32_t seed;		/* not 0 */
	uint32_t lines;		/* requests at once */
	uint32_t ops_max;
	uint32_t pace_us;	/* between two new operations, at least */
	uint32_t late_ms;	/* the last asks of an operation */
	bool each;		/* instead: ops_max operations, and every
				   instance is asked once, all at once */
};

struct chaos_load {
	struct chaos_load_options options;
	struct chaos_count count;
	struct chaos_op *ops;
	uint32_t len;
	uint32_t given_up;	/* asks without an answer that is one */
	int64_t ms;		/* from begin to the last answer */
	struct chaos_load_parts *parts;	/* private */
	pthread_t thread;
	atomic_bool ending;
};

void chaos_load_begin(struct chaos_load *, const struct chaos_load_options *);
/* No more new operations; all that were begun are finished. */
void chaos_load_end(struct chaos_load *);
void chaos_load_free(struct chaos_load *);

#endif
