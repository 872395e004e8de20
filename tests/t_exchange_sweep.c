/* SPDX-License-Identifier: ISC */
#include "exchange_world.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * Every call of the store fails in turn, the 1st, 2nd, 3rd, ..., once and for
 * ever, refused, applied without an answer, and neither.  Whatever fails, the
 * program starts at most once, the client has one answer, and the record does
 * not say less than what happened.
 */
#define CALLS_MAX 12
#define FOR_EVER 40
#define TIMES .wait_ms = 100, .queue_ms = 100, .claim_ms = 30, \
	.complete_ms = 60, .background_ms = 400, .lease_ms = 60000

static const struct idem_policy block = { TIMES, .attempts_max = 1 };
static const struct idem_policy retry = { TIMES, .on_unknown = IDEM_RETRY,
	.attempts_max = 2 };

static const struct {
	const char *what;
	const struct idem_policy *policy;
	const char *before, *happens;
	bool started;		/* the program begins, if it is run at all */
	bool finished;
} stories[] = {
	{ "a first run", &block, "absent", "finished", true, true },
	{ "a first run under retry", &retry, "absent", "finished", true, true },
	{ "a run that is cut", &block, "absent", "cut", true, false },
	{ "a run that does not start", &block, "absent", "not-started", false,
	  false },
	{ "a duplicate of a completed run", &block, "completed", "finished",
	  true, true },
	{ "an unknown key", &block, "unknown", "finished", true, true },
	{ "an unknown key under retry", &retry, "unknown", "finished", true,
	  true }
};

/* How many of the words asked begin so. */
static int
asked(const struct world *w, const char *begin)
{
	const char *at = w->asks;
	size_t len = strlen(begin);
	int n = 0;

	while (*at != '\0') {
		n += strncmp(at, begin, len) == 0;
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	return n;
}

static const char *
broken(struct world *w, size_t story, const char *record)
{
	bool began = asked(w, "run") > 0 && stories[story].started;
	bool open = strncmp(record, "issued", 6) == 0 ||
	    strcmp(record, "absent") == 0;

	if (asked(w, "run") > 1)
		return "it ran more than once";
	if (asked(w, "reply:") != 1)
		return "there is not one answer";
	if (w->ends != 1 || w->after_end != 0)
		return "it does not end once, and last";
	if (w->got != w->used + w->unused)
		return "a slot is lost";
	if (began && open)
		return "the record forgets that it began";
	if (began && asked(w, "reply:store-away") > 0)
		return "the client hears that nothing was started";
	if (stories[story].finished && asked(w, "reply:stored") > 0 &&
	    strncmp(record, "completed", 9) != 0)
		return "an answer is called stored that is not";
	return NULL;
}

/* The nth call fails so, `times` times; what that breaks, or NULL. */
static const char *
fail(size_t story, int n, char how, int times, char *fates, char *asks)
{
	const struct world_row row = {
		.policy = stories[story].policy,
		.before = stories[story].before,
		.happens = stories[story].happens,
		.fates = fates
	};
	static struct world w;
	char record[64];
	const char *what;

	memset(fates, '.', (size_t)n);
	memset(fates + n, how, (size_t)times);
	fates[n + times] = '\0';
	world_run(&w, &row);
	what = broken(&w, story, world_after(&w, record, sizeof record));
	memcpy(asks, w.asks, sizeof w.asks);
	world_free(&w);
	return what;
}

static void
sweep(size_t story, char how, const char *name, int times)
{
	char fates[CALLS_MAX + FOR_EVER + 1], asks[1024];
	const char *what;
	int n, bad = 0;

	for (n = 0; n < CALLS_MAX; n++) {
		what = fail(story, n, how, times, fates, asks);
		if (what != NULL && bad++ < 3)
			note("%s: call %d %s: %s", what, n + 1, fates, asks);
	}
	is_int(bad, 0, "%s: each call %s%s", stories[story].what, name,
	    times > 1 ? " from then on" : " once");
}

int
main(void)
{
	static const struct { char how; const char *name; } fates[] = {
		{ 'r', "refused" }, { 'm', "applied without an answer" },
		{ 'n', "neither applied nor answered" }
	};
	size_t story, i;

	for (story = 0; story < sizeof stories / sizeof *stories; story++)
		for (i = 0; i < sizeof fates / sizeof *fates; i++) {
			sweep(story, fates[i].how, fates[i].name, 1);
			sweep(story, fates[i].how, fates[i].name, FOR_EVER);
		}
	return done();
}
