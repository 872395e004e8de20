/* SPDX-License-Identifier: ISC */
#include "skew.h"

#include "tap.h"

#include <stddef.h>

#define HOUR 3600000
#define START 1000000		/* of the server, when ours says 0 */

/* What the server says at those times of ours, up to a pair of zeroes; since
   when it is steady then. */
static const struct {
	const char *what;
	struct {
		int64_t ours_ms, server_ms;
	} told[8];
	int64_t since_ms;
} rows[] = {
	{ "a clock is watched from its first word on",
	  { { 1, START } }, START },
	{ "one that goes on as ours does is steady",
	  { { 1, START }, { 60001, START + 60000 },
	    { HOUR, START + HOUR - 1 } }, START },
	{ "small delays are not its fault",
	  { { 300, START }, { 60000, START + 60000 },
	    { 61900, START + 60000 }, { 70000, START + 70000 } }, START },
	{ "a step of an hour forward begins anew",
	  { { 1, START }, { 60000, START + 60000 },
	    { 61000, START + HOUR + 61000 } }, START + HOUR + 61000 },
	{ "and what follows is steady again",
	  { { 1, START }, { 61000, START + HOUR + 61000 },
	    { HOUR, START + HOUR + HOUR } }, START + HOUR + 61000 },
	{ "a step of an hour back begins anew",
	  { { 1, START }, { 60000, START + 60000 },
	    { 61000, START - HOUR + 61000 } }, START - HOUR + 61000 },
	{ "an hour back and forth again begins anew twice",
	  { { 1, START }, { 61000, START - HOUR + 61000 },
	    { 62000, START - HOUR + 62000 }, { 63000, START + 63000 },
	    { 64000, START + 64000 } }, START + 63000 },
	{ "an hour forth and back again too",
	  { { 1, START }, { 61000, START + HOUR + 61000 },
	    { 63000, START + 63000 }, { 64000, START + 64000 } },
	  START + 63000 },
	{ "a step of just what may be is not one",
	  { { 1, START }, { 60001, START + 60000 + IDEM_SKEW_MS } }, START },
	{ "one of a millisecond more is",
	  { { 1, START }, { 60001, START + 60001 + IDEM_SKEW_MS } },
	  START + 60001 + IDEM_SKEW_MS },
	{ "nor is it one back",
	  { { 1, START }, { 60001, START + 60000 - IDEM_SKEW_MS } }, START },
	{ "a millisecond more back is",
	  { { 1, START }, { 60001, START + 59999 - IDEM_SKEW_MS } },
	  START + 59999 - IDEM_SKEW_MS },
	{ "small steps forward add up",
	  { { 1, START }, { 1001, START + 1900 }, { 2001, START + 3800 },
	    { 3001, START + 5700 } }, START + 5700 },
	{ "a step back counts from the furthest that it was ahead",
	  { { 1, START }, { 1001, START + 2900 }, { 61000, START + 60400 } },
	  START + 60400 },
	{ "an answer that is 30 s late begins anew, and so does the next one "
	  "that is in time",
	  { { 1, START }, { 60000, START + 60000 },
	    { 91000, START + 61000 }, { 91001, START + 91001 } },
	  START + 91001 },
	{ "of a process that was suspended for an hour with an answer waiting "
	  "for it, the same",
	  { { 1, START }, { HOUR + 1, START + 20 },
	    { HOUR + 2, START + HOUR + 2 } }, START + HOUR + 2 },
	{ "what it hears then is steady",
	  { { 1, START }, { HOUR + 1, START + 20 },
	    { HOUR + 2, START + HOUR + 2 },
	    { HOUR + 90000, START + HOUR + 90000 } }, START + HOUR + 2 },
	{ "a first answer that was late only costs time",
	  { { 30000, START }, { 31000, START + 31000 } }, START + 31000 },
	{ "the wildest numbers end nothing",
	  { { 1, INT64_MAX }, { 2, INT64_MIN }, { 3, INT64_MAX },
	    { -4, INT64_MAX } }, INT64_MAX },
};

static void
test_rows(void)
{
	struct idem_skew s;
	size_t i, j;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		s = (struct idem_skew){ 0 };
		for (j = 0; rows[i].told[j].ours_ms != 0; j++)
			idem_skew_told(&s, rows[i].told[j].ours_ms,
			    rows[i].told[j].server_ms);
		is_int(s.since_ms, rows[i].since_ms, "%s", rows[i].what);
	}
}

/* Three days, a word each 10 s: how often it begins anew, and whether what it
   believes in was ever further off than it may be. */
static void
drift(int64_t ppm, int times_max, const char *what)
{
	int64_t ours_ms, server_ms, since_ms = START, first_ms = 0, gain_ms;
	struct idem_skew s = { 0 };
	int times = 0;
	bool off = false;

	for (ours_ms = 1; ours_ms < 72 * (int64_t)HOUR; ours_ms += 10000) {
		server_ms = START + ours_ms + ours_ms / 1000 * ppm / 1000;
		idem_skew_told(&s, ours_ms, server_ms);
		if (s.since_ms != since_ms) {
			since_ms = s.since_ms;
			first_ms = server_ms - ours_ms;
			times++;
		}
		gain_ms = server_ms - ours_ms - first_ms;
		off |= ours_ms > 1 &&
		    (gain_ms > IDEM_SKEW_MS || gain_ms < -IDEM_SKEW_MS);
	}
	ok(times <= times_max, "%s: it begins anew at most every five hours",
	    what);
	ok(!off, "and what it calls steady never went further than it may");
	note("%d times in 72 hours", times);
}

int
main(void)
{
	test_rows();
	drift(100, 15, "a clock that is fast by 100 in a million");
	drift(-100, 15, "a clock that is slow by 100 in a million");
	drift(0, 1, "a clock as ours");
	return done();
}
