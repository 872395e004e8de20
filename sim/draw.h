/* SPDX-License-Identifier: ISC */
#ifndef DRAW_H
#define DRAW_H

#include "plan.h"

#include <stdint.h>

/*
 * The simulator's only chance: one stream from one seed (xoshiro256**, seeded
 * by splitmix64), the same on every machine.  Each user of it has a stream of
 * his own (draw_fork), so that one who draws more changes nobody else's.
 */
struct draw {
	uint64_t s[4];
};

void draw_seed(struct draw *, uint64_t seed);
/* By where `from` stands and the name; `from` stays there. */
void draw_fork(struct draw *from, const char *whose, struct draw *to);
uint64_t draw_bits(struct draw *);
double draw_unit(struct draw *);		/* [0, 1) */
uint64_t draw_below(struct draw *, uint64_t n);	/* n > 0; without bias */
/* Uniform between whole numbers gives whole ones. */
double draw_dist(struct draw *, const struct plan_dist *);

/* Ranks 0 to n-1 with weights 1/(rank+1)^exponent; a table, made once. */
struct draw_zipf {
	double *sums;
	size_t n;
};
void draw_zipf_make(struct draw_zipf *, size_t n, double exponent);
size_t draw_zipf(struct draw *, const struct draw_zipf *);
void draw_zipf_free(struct draw_zipf *);

#endif
