/* SPDX-License-Identifier: ISC */
#include "rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A kill at every labelled point of a request, of the process that comes
 * there.  Whatever dies, the program starts at most once for the key, and
 * within lease + grace the key has an end that its client can see.
 */
#define LEASE_MS 1000
#define END_MS 15000

static const struct {
	const char *label;
	int starts_min, starts_max;	/* of the first key */
	const char *end;		/* `stored` or `replayed`, or `unknown` */
	const char *program;		/* NULL: order */
} points[] = {
	/* Nothing was claimed: the client's next request runs. */
	{ "claim", 1, 1, "answer", NULL },
	/* Claimed, and dead: nobody can tell that it has not begun. */
	{ "claim.done", 0, 0, "unknown", NULL },
	{ "run", 0, 0, "unknown", NULL },
	{ "keeper.start", 0, 0, "unknown", NULL },
	{ "keeper.locked", 0, 0, "unknown", NULL },
	{ "keeper.spawned", 0, 1, "unknown", NULL },
	{ "keeper.reaped", 1, 1, "unknown", NULL },
	/* The lobby has its answer, and needs the keeper no more. */
	{ "keeper.told", 1, 1, "answer", NULL },
	{ "keeper.settled", 1, 1, "answer", NULL },
	{ "complete", 1, 1, "unknown", NULL },
	/* It is in the ledger: only the answer is lost on its way. */
	{ "complete.done", 1, 1, "answer", NULL },
	{ "reply", 1, 1, "answer", NULL },
	{ "unknown", 1, 1, "unknown", "dies" },
	{ "unknown.done", 1, 1, "unknown", "dies" },
	{ "release", 0, 0, "unknown", "missing" },
	{ "release.done", 0, 0, "free", "missing" }
};

static bool
is_answer(const char *says)
{
	return strcmp(says, "stored") == 0 || strcmp(says, "replayed") == 0;
}

/* Ask as a client would, until there is an end; what it was. */
static const char *
ask(struct rig *rig, char *end, size_t size)
{
	const struct rig_request request = {
		.method = "POST", .path = "/order", .key = "\"point\"",
		.query = "sleep=50", .body = idem_bytes_text("item=tea")
	};
	int64_t until = rig_now_ms() + END_MS;
	struct rig_answer answer = { 0 };
	const char *says;

	snprintf(end, size, "none");
	while (rig_now_ms() < until) {
		rig_request(rig, &request, &answer);
		says = answer.whole ?
		    rig_field(&answer, "Idempotency-Status") : "";
		snprintf(end, size, "%s", says);
		if (is_answer(says))
			snprintf(end, size, "answer");
		else if (answer.status == 404)
			snprintf(end, size, "free");
		rig_answer_free(&answer);
		if (strcmp(end, "answer") == 0 || strcmp(end, "free") == 0)
			break;
		if (strcmp(end, "unknown") == 0 && answer.status != 502 &&
		    answer.status != 504)
			break;
		usleep(50 * 1000);	/* a client's pause between tries */
	}
	return end;
}

static void
point(size_t i)
{
	const char *program = points[i].program != NULL ? points[i].program :
	    "order";
	struct rig rig = { 0 };
	char fail[128], end[64];
	char *log;
	long starts;

	rig_open(&rig);
	rig_order(&rig);
	rig_program(&rig, "dies",
	    "#!/bin/sh\necho point >> orders\nkill -9 $$\n");
	snprintf(fail, sizeof fail, "%s=1*kill", points[i].label);
	setenv("IDEM_FAILPOINTS", fail, 1);
	if (rig_start(&rig, (const char *[]){ "--workers", "2", "-c", "4",
	    "--lease", "1s", "--grace", "1s", "--limit", "5s", "--",
	    rig_at(&rig, program), NULL }) == -1)
		bail_out("idemd does not start");
	is(ask(&rig, end, sizeof end), points[i].end,
	    "killed at %s: the key's end", points[i].label);
	starts = rig_lines(&rig, "orders", NULL);
	ok(starts >= points[i].starts_min && starts <= points[i].starts_max,
	    "killed at %s: %ld starts", points[i].label, starts);
	rig_stop(&rig, 20000);
	log = rig_slurp(&rig, "log");
	ok(log != NULL && strstr(log, "signal=9") != NULL,
	    "killed at %s: the point was reached", points[i].label);
	free(log);
	rig_end(&rig);
}

int
main(void)
{
	size_t i;

#ifndef IDEM_FAILPOINTS
	skip_all("this build has no labels: ./configure --enable-failpoints");
#endif
	for (i = 0; i < sizeof points / sizeof *points; i++)
		point(i);
	return done();
}
