/* SPDX-License-Identifier: ISC */
#include "retry.h"

#include "tap.h"

#include <inttypes.h>

#define EACH (PLAN_ON_TIMEOUT | PLAN_ON_RESET | PLAN_ON_BUSY | \
    PLAN_ON_UNAVAILABLE)
#define DAY_MS (24 * 3600 * INT64_C(1000))

/* --- after what ----------------------------------------------------------- */

static const struct {
	const char *what;
	enum outcome class;
	enum outcome_end end;
	int status;
	unsigned on;	/* each of these bits alone is enough */
} reasons[] = {
	{ "an answer", OUTCOME_OK, OUTCOME_WHOLE, 200, 0 },
	{ "the program's own 503", OUTCOME_OK, OUTCOME_WHOLE, 503, 0 },
	{ "a time-out", OUTCOME_INFO, OUTCOME_TIMEOUT, 0, PLAN_ON_TIMEOUT },
	{ "a reset", OUTCOME_INFO, OUTCOME_CUT, 0, PLAN_ON_RESET },
	{ "an answer that was cut", OUTCOME_INFO, OUTCOME_CUT, 200,
	  PLAN_ON_RESET },
	{ "a refused connection", OUTCOME_FAIL, OUTCOME_REFUSED, 0,
	  PLAN_ON_RESET | PLAN_ON_UNAVAILABLE },
	{ "409 in-progress", OUTCOME_BUSY, OUTCOME_WHOLE, 409, PLAN_ON_BUSY },
	{ "503 not-started", OUTCOME_FAIL, OUTCOME_WHOLE, 503,
	  PLAN_ON_UNAVAILABLE },
	{ "504 unknown", OUTCOME_INFO, OUTCOME_WHOLE, 504,
	  PLAN_ON_UNAVAILABLE },
	{ "502 unknown", OUTCOME_INFO, OUTCOME_WHOLE, 502,
	  PLAN_ON_UNAVAILABLE },
	{ "200 unrecorded", OUTCOME_INFO, OUTCOME_WHOLE, 200, 0 },
	{ "409 unknown", OUTCOME_UNKNOWN, OUTCOME_WHOLE, 409, 0 },
	{ "422 mismatch", OUTCOME_FAIL, OUTCOME_WHOLE, 422, 0 },
	{ "going away", OUTCOME_INFO, OUTCOME_GAVE_UP, 0, 0 }
};

static void
check_reasons(void)
{
	struct plan_retry p = { .max = 2 };
	struct draw d;
	unsigned on, got;
	int64_t ms;
	size_t i;

	draw_seed(&d, 1);
	for (i = 0; i < sizeof reasons / sizeof *reasons; i++) {
		got = 0;
		for (on = 1; on <= EACH; on <<= 1) {
			struct retry r = { 0 };

			p.on = on;
			if (retry_next(&r, &p, &d, reasons[i].class,
			    reasons[i].end, reasons[i].status, -1, &ms) !=
			    RETRY_STOP)
				got |= on;
		}
		is_int(got, reasons[i].on, "after %s it is tried again by "
		    "those policies that say so", reasons[i].what);
	}
}

/* --- pauses --------------------------------------------------------------- */

static const struct {
	const char *what;
	struct plan_retry p;
	int64_t retry_after_s;
	int64_t from[5], to[5];		/* of the first five pauses */
} pauses[] = {
	{ "none is at once",
	  { .backoff = PLAN_BACKOFF_NONE, .base_ms = 50 }, -1,
	  { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 } },
	{ "const is always the same",
	  { .backoff = PLAN_BACKOFF_CONST, .base_ms = 50 }, -1,
	  { 50, 50, 50, 50, 50 }, { 50, 50, 50, 50, 50 } },
	{ "exp doubles, to the cap",
	  { .backoff = PLAN_BACKOFF_EXP, .base_ms = 50, .cap_ms = 300 }, -1,
	  { 50, 100, 200, 300, 300 }, { 50, 100, 200, 300, 300 } },
	{ "exp goes on without one",
	  { .backoff = PLAN_BACKOFF_EXP, .base_ms = 50 }, -1,
	  { 50, 100, 200, 400, 800 }, { 50, 100, 200, 400, 800 } },
	{ "a base above the cap is the cap",
	  { .backoff = PLAN_BACKOFF_CONST, .base_ms = 50, .cap_ms = 20 }, -1,
	  { 20, 20, 20, 20, 20 }, { 20, 20, 20, 20, 20 } },
	{ "full jitter is of all of it",
	  { .backoff = PLAN_BACKOFF_EXP, .base_ms = 50, .cap_ms = 300,
	    .jitter = PLAN_JITTER_FULL }, -1,
	  { 0, 0, 0, 0, 0 }, { 50, 100, 200, 300, 300 } },
	{ "equal jitter is of its upper half",
	  { .backoff = PLAN_BACKOFF_EXP, .base_ms = 50, .cap_ms = 300,
	    .jitter = PLAN_JITTER_EQUAL }, -1,
	  { 25, 50, 100, 150, 150 }, { 50, 100, 200, 300, 300 } },
	{ "decorrelated jitter is up to three times the last",
	  { .backoff = PLAN_BACKOFF_EXP, .base_ms = 50, .cap_ms = 1000,
	    .jitter = PLAN_JITTER_DECORRELATED }, -1,
	  { 50, 50, 50, 50, 50 }, { 150, 450, 1000, 1000, 1000 } },
	{ "Retry-After is kept",
	  { .backoff = PLAN_BACKOFF_CONST, .base_ms = 50,
	    .honour_retry_after = true }, 2,
	  { 2000, 2000, 2000, 2000, 2000 }, { 2000, 2000, 2000, 2000, 2000 } },
	{ "a longer pause of its own is kept too",
	  { .backoff = PLAN_BACKOFF_CONST, .base_ms = 5000,
	    .honour_retry_after = true }, 2,
	  { 5000, 5000, 5000, 5000, 5000 }, { 5000, 5000, 5000, 5000, 5000 } },
	{ "Retry-After is kept without a backoff",
	  { .backoff = PLAN_BACKOFF_NONE, .cap_ms = 1500,
	    .honour_retry_after = true }, 1,
	  { 1000, 1000, 1000, 1000, 1000 }, { 1000, 1000, 1000, 1000, 1000 } },
	{ "but not beyond the cap",
	  { .backoff = PLAN_BACKOFF_CONST, .base_ms = 50, .cap_ms = 800,
	    .honour_retry_after = true }, 2,
	  { 800, 800, 800, 800, 800 }, { 800, 800, 800, 800, 800 } },
	{ "nor beyond a day",
	  { .backoff = PLAN_BACKOFF_NONE, .honour_retry_after = true },
	  INT64_MAX, { DAY_MS, DAY_MS, DAY_MS, DAY_MS, DAY_MS },
	  { DAY_MS, DAY_MS, DAY_MS, DAY_MS, DAY_MS } },
	{ "and not where the policy does not want it",
	  { .backoff = PLAN_BACKOFF_CONST, .base_ms = 50 }, 2,
	  { 50, 50, 50, 50, 50 }, { 50, 50, 50, 50, 50 } }
};

/* Both ends are come near, so that no jitter passes for another. */
static void
check_pauses(void)
{
	struct draw d;
	size_t i, n, j;

	draw_seed(&d, 2);
	for (i = 0; i < sizeof pauses / sizeof *pauses; i++) {
		struct plan_retry p = pauses[i].p;
		int64_t least[5], most[5], ms;
		bool inside = true, near = true;

		p.max = 6;
		p.on = PLAN_ON_TIMEOUT;
		for (n = 0; n < 2000; n++) {
			struct retry r = { 0 };

			for (j = 0; j < 5; j++) {
				retry_next(&r, &p, &d, OUTCOME_INFO,
				    OUTCOME_TIMEOUT, 0,
				    pauses[i].retry_after_s, &ms);
				inside = inside && ms >= pauses[i].from[j] &&
				    ms <= pauses[i].to[j];
				if (n == 0 || ms < least[j])
					least[j] = ms;
				if (n == 0 || ms > most[j])
					most[j] = ms;
			}
		}
		for (j = 0; j < 5; j++)
			near = near &&
			    least[j] - pauses[i].from[j] <=
			    pauses[i].to[j] / 10 &&
			    pauses[i].to[j] - most[j] <= pauses[i].to[j] / 10;
		if (!ok(inside && near, "%s", pauses[i].what))
			note("%s: the last is %" PRId64 " to %" PRId64,
			    inside ? "not to its ends" : "beyond its ends",
			    least[4], most[4]);
	}
}

/* --- whatever the policy -------------------------------------------------- */

static struct plan_retry
any_policy(struct draw *d)
{
	return (struct plan_retry){
		.max = (unsigned)draw_below(d, 12),
		.backoff = (enum plan_backoff)draw_below(d, 3),
		.jitter = (enum plan_jitter)draw_below(d, 4),
		.base_ms = (int64_t)(draw_bits(d) >> draw_below(d, 64)) - 5,
		.cap_ms = (int64_t)(draw_bits(d) >> (1 + draw_below(d, 63))),
		.on = (unsigned)draw_below(d, EACH + 1),
		.rotate = draw_below(d, 2) == 1,
		.honour_retry_after = draw_below(d, 2) == 1
	};
}

/* What it breaks; NULL: nothing. */
static const char *
try_policy(const struct plan_retry *p, struct draw *d)
{
	int64_t cap = p->cap_ms > 0 && p->cap_ms < DAY_MS ? p->cap_ms : DAY_MS;
	struct retry r = { 0 };
	enum retry_next next;
	unsigned tries = 1;
	int64_t ms;

	for (;; tries++) {
		next = retry_next(&r, p, d,
		    (enum outcome)draw_below(d, OUTCOMES),
		    (enum outcome_end)draw_below(d, OUTCOME_GAVE_UP + 1),
		    (int)draw_below(d, 600), (int64_t)draw_bits(d), &ms);
		if (ms < 0 || ms > cap)
			return "a pause";
		if (next == RETRY_STOP)
			return tries > 1 && tries > p->max ? "tries" : NULL;
		if ((next == RETRY_ROTATED) != p->rotate)
			return "the key";
		if (tries > 12)
			return "an end";
	}
}

static void
check_any(void)
{
	const char *wrong = NULL;
	struct plan_retry p;
	unsigned i, failed = 0;
	struct draw d;

	draw_seed(&d, 3);
	for (i = 0; i < 20000; i++) {
		p = any_policy(&d);
		wrong = try_policy(&p, &d);
		failed += wrong != NULL;
		if (wrong != NULL)
			note("policy %u: %s", i, wrong);
	}
	is_int(failed, 0, "pauses end at the cap, tries at their number, and "
	    "keys change only by policy");
}

int
main(void)
{
	check_reasons();
	check_pauses();
	check_any();
	return done();
}
