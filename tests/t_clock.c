/* SPDX-License-Identifier: ISC */
#include "clock.h"
#include "tap.h"

#include <string.h>
#include <time.h>

static int64_t
seven(void *arg)
{
	return *(const int64_t *)arg + 7;
}

static void
test_ours(void)
{
	int64_t base = 1000;
	struct idem_clock clock = { seven, seven, &base };

	is_int(idem_boot_ms(&clock), 1007, "a clock of one's own gives boot");
	is_int(idem_wall_ms(&clock), 1007, "and wall time");
}

static void
test_real(void)
{
	int64_t boot = idem_boot_ms(&idem_clock_real);
	int64_t wall = idem_wall_ms(&idem_clock_real);
	int64_t seconds = time(NULL);

	ok(boot > 0 && idem_boot_ms(&idem_clock_real) >= boot,
	    "time since boot does not go back");
	ok(wall / 1000 >= seconds - 60 && wall / 1000 <= seconds + 60,
	    "wall time is in milliseconds since 1970");
}

static void
test_boot_id(void)
{
	struct idem_boot first, again, zeroes;

	memset(&zeroes, 0, sizeof zeroes);
	ok(idem_boot_id(&first), "this boot has an id");
	ok(memcmp(&first, &zeroes, sizeof first) != 0, "which is not zeroes");
	ok(idem_boot_id(&again) && memcmp(&first, &again, sizeof first) == 0,
	    "and stays the same");
}

int
main(void)
{
	test_ours();
	test_real();
	test_boot_id();
	return done();
}
