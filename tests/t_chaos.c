/* SPDX-License-Identifier: ISC */
#include "chaos.h"

#include "tap.h"

#include <stdlib.h>
#include <time.h>

/*
 * A short run of the two arbiters that promise to start a key once whatever
 * becomes of Redis, and one in which nothing but lobbies die; make check-long
 * has the long ones, and the others.
 */
#define RUN_MS 2500

static uint32_t
seed(void)
{
	const char *given = getenv("CHAOS_SEED");
	uint32_t n = given != NULL ? (uint32_t)strtoul(given, NULL, 10) :
	    (uint32_t)time(NULL);

	return n != 0 ? n : 1;
}

int
main(void)
{
	static const char *const names[] = { "ledger", "token",
		"lobbies-redis" };
	uint32_t chance = seed();
	struct chaos_run run;
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	note("CHAOS_SEED=%u", chance);
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		run = (struct chaos_run){ .mode = chaos_mode(names[i]),
			.seed = chance, .ms = RUN_MS };
		chaos_run(&run);
	}
	note("again with: CHAOS_SEED=%u tests/t_chaos", chance);
	return done();
}
