/* SPDX-License-Identifier: ISC */
#include "measure.h"

#include <stdbool.h>

/*
 * A route's runs are one word, so that no reader sees half of it and no writer
 * can die in the middle:
 *
 *	63 ... 16		15 ... 0
 *	their mean, in us	how many, at most RUNS_MAX
 *
 * Up to RUNS_MAX it is the mean of all; from then on each new run counts for
 * one of so many, so that the mean follows the load and what was long ago is
 * forgotten.
 */
#define RUNS_BITS 16
#define RUNS_MASK ((1u << RUNS_BITS) - 1)
#define RUNS_MAX 64u
#define MS_MAX (INT64_C(1) << 32)	/* beyond every limit; 48 bits of us */

_Static_assert((SHM_ROUTES & (SHM_ROUTES - 1)) == 0, "a power of two");
_Static_assert(MEASURE_FIRST <= RUNS_MAX, "they can be counted");

/* --- which ---------------------------------------------------------------- */

/* FNV-1a, with the NUL: what is apart stays apart. */
static uint64_t
hash(uint64_t so_far, const char *text)
{
	const char *at = text != NULL ? text : "";

	do {
		so_far = (so_far ^ (unsigned char)*at) *
		    UINT64_C(0x100000001b3);
	} while (*at++ != '\0');
	return so_far;
}

/* By what it is and not by its line, so that a reload forgets nothing. */
static uint64_t
name_of(const struct idem_route *r)
{
	uint64_t name = UINT64_C(0xcbf29ce484222325);
	size_t i;

	name = hash(hash(name, r->name), r->path);
	for (i = 0; i < r->methods.len; i++)
		name = hash(name, r->methods.at[i]);
	return name != 0 ? name : 1;
}

/* Its place; NULL: it has none, and gets none if the table is full. */
static const struct shm_route *
find(const struct shm *shm, uint64_t name)
{
	uint_fast64_t is;
	size_t i;

	for (i = 0; i < SHM_ROUTES; i++) {
		const struct shm_route *at =
		    &shm->route[(name + i) % SHM_ROUTES];

		is = atomic_load_explicit(&at->name, memory_order_relaxed);
		if (is == name)
			return at;
		if (is == 0)
			return NULL;
	}
	return NULL;
}

static struct shm_route *
place(struct shm *shm, uint64_t name)
{
	struct shm_route *at;
	uint_fast64_t is;
	size_t i;

	for (i = 0; i < SHM_ROUTES; i++) {
		at = &shm->route[(name + i) % SHM_ROUTES];
		is = 0;
		if (atomic_compare_exchange_strong(&at->name, &is, name) ||
		    is == name)
			return at;
	}
	return NULL;
}

/* --- how long ------------------------------------------------------------- */

static uint64_t
seen_with(uint64_t seen, int64_t us)
{
	int64_t mean = (int64_t)(seen >> RUNS_BITS);
	uint64_t runs = seen & RUNS_MASK;

	if (runs < RUNS_MAX)
		runs++;
	mean += (us - mean) / (int64_t)runs;
	return (uint64_t)mean << RUNS_BITS | runs;
}

void
measure_add(struct shm *shm, const struct conf_route *r, int64_t ms)
{
	struct shm_route *at;
	uint_fast64_t seen;

	if (!r->lease_auto)
		return;
	at = place(shm, name_of(&r->route));
	if (at == NULL)
		return;
	ms = ms < 0 ? 0 : ms < MS_MAX ? ms : MS_MAX;
	seen = atomic_load_explicit(&at->seen, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&at->seen, &seen,
	    seen_with(seen, ms * 1000)))
		;
}

uint32_t
measure_lease_ms(const struct shm *shm, const struct conf_route *r)
{
	uint64_t seen = 0, ms;
	const struct shm_route *at = r->lease_auto ?
	    find(shm, name_of(&r->route)) : NULL;

	if (at != NULL)
		seen = atomic_load_explicit(&at->seen, memory_order_relaxed);
	if ((seen & RUNS_MASK) < MEASURE_FIRST)
		return r->route.policy.lease_ms;
	ms = 2 * (seen >> RUNS_BITS) / 1000 + r->retry_ms;
	if (ms < r->lease_min_ms)
		return r->lease_min_ms;
	return ms < r->lease_max_ms ? (uint32_t)ms : r->lease_max_ms;
}
