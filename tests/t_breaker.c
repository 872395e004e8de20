/* SPDX-License-Identifier: ISC */
#include "breaker.h"

#include "chance.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 20240229u
#define STEPS 200000

/*
 * What happens, and what is said: f a failure, o an ok, a digit or more so
 * many milliseconds, ? may one be sent: y or n.  3 failures in 1000 ms are an
 * outage; probes are 10 s apart (jitter in the middle).
 */
static const struct {
	const char *what;
	const char *happens;
	const char *says;
} rows[] = {
	{ "a store is asked at first", "??", "yy" },
	{ "two failures are no outage", "f?f?", "yy" },
	{ "three are one", "f10f10f?", "n" },
	{ "three within the window are one, to the millisecond",
	  "f1f999f?", "n" },
	{ "three over more than the window are none", "f1f1000f?", "y" },
	{ "the last of them may begin another", "f1f1000f?f?f?", "yyn" },
	{ "an ok forgets failures", "ffoff?", "y" },
	{ "when it is down it is not asked before its time", "fff9999?", "n" },
	{ "then one is sent, and no second", "fff10000???", "ynn" },
	{ "an ok of that one ends the outage", "fff10000?o??", "yyy" },
	{ "a failure of that one goes on with it", "fff10000?f?9999?1?",
	  "ynny" },
	{ "failures of what was sent before do not put the probe off",
	  "fff5000f?5000?", "ny" },
	{ "an ok of what was sent before ends it, too", "fffo?", "y" },
	{ "after an outage it takes three again", "fff10000?off?f?", "yyn" },
};

static void
follow(const char *p, char *says)
{
	struct idem_breaker b;
	int64_t now_ms = 70000;
	char *end;

	idem_breaker_init(&b, 3, 1000, 10000);
	while (*p != '\0') {
		if (*p >= '0' && *p <= '9') {
			now_ms += strtol(p, &end, 10);
			p = end;
			continue;
		}
		if (*p == '?')
			*says++ = idem_breaker_ask(&b, now_ms) ? 'y' : 'n';
		else if (*p == 'f')
			idem_breaker_failed(&b, now_ms, 500);
		else
			idem_breaker_ok(&b);
		p++;
	}
	*says = '\0';
}

static int64_t
probe_after(uint32_t probe_ms, uint32_t jitter)
{
	struct idem_breaker b;

	idem_breaker_init(&b, 1, 1000, probe_ms);
	idem_breaker_failed(&b, 500, jitter);
	return b.probe_at_ms - 500;
}

static void
test_jitter(void)
{
	int64_t last = 0, at;
	bool rises = true;
	uint32_t i;

	is_int(probe_after(10000, 0), 9000, "least jitter is a tenth early");
	is_int(probe_after(10000, 500), 10000, "the middle is on time");
	is_int(probe_after(10000, 999), 10998, "most jitter is a tenth late");
	for (i = 0; i < 1000; i++, last = at) {
		at = probe_after(10000, i);
		rises = rises && at >= last;
	}
	ok(rises, "more jitter is never earlier");
	ok(probe_after(UINT32_MAX, 999) > UINT32_MAX,
	    "the longest pause does not wrap");
}

/* --- against a list of all failures --------------------------------------- */

static uint32_t chance = SEED;

/*
 * The failures since the window's first; when the third of them comes the
 * store is down, from then until an ok; a probe is out or not.
 */
static struct model {
	int64_t failed_ms[3];
	uint32_t count;
	bool down, probing;
	int64_t down_ms;
} model;

static bool
model_ask(int64_t now_ms)
{
	if (!model.down)
		return true;
	if (model.probing || now_ms - model.down_ms < 50)
		return false;
	model.probing = true;
	return true;
}

static void
model_failed(int64_t now_ms)
{
	if (model.down) {
		if (model.probing)
			model.down_ms = now_ms;
		model.probing = false;
		return;
	}
	if (model.count > 0 && now_ms - model.failed_ms[0] > 20)
		model.count = 0;
	model.failed_ms[model.count++] = now_ms;
	if (model.count == 3) {
		model.down = true;
		model.down_ms = now_ms;
	}
}

static void
test_random(void)
{
	struct idem_breaker b;
	int64_t now_ms = 0;
	bool right = true;
	uint32_t i;

	note("seed %u", SEED);
	idem_breaker_init(&b, 3, 20, 50);
	for (i = 0; i < STEPS && right; i++) {
		now_ms += chance_below(&chance, 12);
		switch (chance_below(&chance, 8)) {
		case 0:
			idem_breaker_ok(&b);
			memset(&model, 0, sizeof model);
			break;
		case 1:
		case 2:
		case 3:
			idem_breaker_failed(&b, now_ms, 500);
			model_failed(now_ms);
			break;
		default:
			right = idem_breaker_ask(&b, now_ms) ==
			    model_ask(now_ms);
			break;
		}
	}
	is_int(i, STEPS, "200,000 random steps agree with a list of failures");
}

int
main(void)
{
	char says[16];
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		follow(rows[i].happens, says);
		is(says, rows[i].says, "%s", rows[i].what);
	}
	test_jitter();
	test_random();
	return done();
}
