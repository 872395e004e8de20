/* SPDX-License-Identifier: ISC */
#ifndef MEASURE_H
#define MEASURE_H

#include "conf.h"
#include "shm.h"

/*
 * How long a route's runs take, as all workers of the instance have seen it,
 * for lease = "auto": twice the mean and the largest delay of a client's retry,
 * within the route's bounds.
 */
#define MEASURE_FIRST 16	/* runs, before which a lease is not measured */

void measure_add(struct shm *, const struct conf_route *, int64_t ms);
/* The lease that a claim of this route takes now. */
uint32_t measure_lease_ms(const struct shm *, const struct conf_route *);

#endif
