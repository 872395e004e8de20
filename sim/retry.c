/* SPDX-License-Identifier: ISC */
#include "retry.h"

#include <stdlib.h>

/* Without a cap, so that sums of times stay far from their ends. */
#define PAUSE_MAX_MS (24 * 3600 * INT64_C(1000))

static bool
is_unavailable(int status)
{
	return status >= 502 && status <= 504;
}

/*
 * What the policy calls it; 0: nothing that it could try again after.  What
 * is said of a key for good (also that nobody knows) is an end.
 */
static unsigned
reason(enum outcome class, enum outcome_end end, int status)
{
	switch (end) {
	case OUTCOME_TIMEOUT:
		return PLAN_ON_TIMEOUT;
	case OUTCOME_REFUSED:
		return PLAN_ON_RESET | PLAN_ON_UNAVAILABLE;
	case OUTCOME_CUT:
		return PLAN_ON_RESET;
	case OUTCOME_GAVE_UP:
		return 0;
	case OUTCOME_WHOLE:
		break;
	}
	switch (class) {
	case OUTCOME_BUSY:
		return PLAN_ON_BUSY;
	case OUTCOME_FAIL:
	case OUTCOME_INFO:
		return is_unavailable(status) ? PLAN_ON_UNAVAILABLE : 0;
	case OUTCOME_NONE:
	case OUTCOME_OK:
	case OUTCOME_UNKNOWN:
	case OUTCOMES:
		return 0;
	}
	abort();
}

static int64_t
cap_of(const struct plan_retry *p)
{
	return p->cap_ms > 0 && p->cap_ms < PAUSE_MAX_MS ? p->cap_ms :
	    PAUSE_MAX_MS;
}

static int64_t
at_most(int64_t ms, int64_t cap_ms)
{
	return ms < cap_ms ? ms : cap_ms;
}

/* Before chance: base, or base doubled with each try after the first. */
static int64_t
step(const struct plan_retry *p, unsigned tries)
{
	int64_t cap = cap_of(p);
	int64_t ms = at_most(p->base_ms > 0 ? p->base_ms : 0, cap);

	switch (p->backoff) {
	case PLAN_BACKOFF_NONE:
		return 0;
	case PLAN_BACKOFF_CONST:
		return ms;
	case PLAN_BACKOFF_EXP:
		for (; tries > 1 && ms > 0 && ms < cap; tries--)
			ms = at_most(2 * ms, cap);
		return ms;
	}
	abort();
}

/* From one end to the other, both of which may come. */
static int64_t
between(struct draw *d, int64_t from, int64_t to)
{
	return to <= from ? from :
	    from + (int64_t)draw_below(d, (uint64_t)(to - from) + 1);
}

static int64_t
with_jitter(const struct retry *r, const struct plan_retry *p, struct draw *d)
{
	int64_t ms = step(p, r->tries);
	int64_t last_ms;

	switch (p->jitter) {
	case PLAN_JITTER_NONE:
		return ms;
	case PLAN_JITTER_FULL:
		return between(d, 0, ms);
	case PLAN_JITTER_EQUAL:
		return between(d, ms / 2, ms);
	case PLAN_JITTER_DECORRELATED:
		/* It grows by chance alone; the step is for its first. */
		if (p->backoff == PLAN_BACKOFF_NONE)
			return 0;
		ms = at_most(p->base_ms > 0 ? p->base_ms : 0, cap_of(p));
		last_ms = r->slept_ms > ms ? r->slept_ms : ms;
		return at_most(between(d, ms, 3 * last_ms), cap_of(p));
	}
	abort();
}

/* The cap is the client's own, and holds for what a server asks for too. */
static int64_t
asked_ms(const struct plan_retry *p, int64_t retry_after_s)
{
	if (!p->honour_retry_after || retry_after_s <= 0)
		return 0;
	return at_most(at_most(retry_after_s, PAUSE_MAX_MS / 1000) * 1000,
	    cap_of(p));
}

enum retry_next
retry_next(struct retry *r, const struct plan_retry *p, struct draw *d,
    enum outcome class, enum outcome_end end, int status,
    int64_t retry_after_s, int64_t *pause_ms)
{
	int64_t asked;

	*pause_ms = 0;
	r->tries++;
	if (r->tries >= p->max || (reason(class, end, status) & p->on) == 0)
		return RETRY_STOP;
	r->slept_ms = with_jitter(r, p, d);
	asked = asked_ms(p, retry_after_s);
	*pause_ms = asked > r->slept_ms ? asked : r->slept_ms;
	return p->rotate ? RETRY_ROTATED : RETRY_AGAIN;
}
