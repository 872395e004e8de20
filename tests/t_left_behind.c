/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "rig_watch.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * on_unknown = "retry": a run is cut, and a child that it started goes on with
 * its work.  Nothing is started beside that; once it has ended, the next one
 * may be.
 */
#define WAIT_MS 20000

/* Its child works in the background, while the file "hold" is there. */
#define ORDER COUNT \
	"if [ -e again ]; then printf 'Status: 201\\n\\nplaced'; exit; fi\n" \
	"touch again\n"
#define QUIET " >/dev/null 2>&1 </dev/null &\n"
#define CHILD "(" HELD "echo worked >>worked)" QUIET
/* Out of reach of what ends its group. */
#define CHILD_APART "setsid sh -c '" HELD "echo worked >>worked'" QUIET

static const struct row {
	const char *what, *first, *ending;
	bool spool;
	const char *limit;
} rows[] = {
	{ "its keeper is killed", "504 unknown",
	  CHILD "kill -9 $PPID; while :; do :; done\n", true, "60s" },
	{ "it is killed", "504 unknown", CHILD "kill -9 $$\n", true, "60s" },
	{ "it ends without an answer", "502 unknown", CHILD "exit 1\n", true,
	  "60s" },
	{ "it ends with a status, and is not spooled", "502 unknown",
	  CHILD "printf 'Status: 201\\n\\nplaced'; exit 1\n", false, "60s" },
	{ "it runs over its limit", "504 unknown",
	  CHILD_APART "while :; do sleep 1; done\n", true, "6s" },
};

static const struct rig_request request = {
	.method = "POST", .path = "/order", .key = "one",
	.body = { "item=tea", 8 }
};

/* The next one that is not told that it is unknown. */
static void
await_retry(struct rig *rig, struct rig_answer *a)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	while (rig_request(rig, &request, a) == 0 && a->status == 409 &&
	    rig_now_ms() < until_ms) {
		rig_answer_free(a);
		usleep(20000);
	}
}

static void
test_row(const struct row *row)
{
	const char *options[] = { "--workers", "1", "--on-unknown", "retry:2",
	    "--limit", row->limit, "--", NULL, NULL, NULL };
	struct rig_answer answer = { 0 };
	char text[1000];
	struct rig rig;
	size_t n = 7;

	rig_open(&rig);
	snprintf(text, sizeof text, ORDER "%s", row->ending);
	rig_program(&rig, "order", text);
	rig_file(&rig, "hold", "");
	if (!row->spool) {
		options[6] = "--no-spool";
		options[n++] = "--";
	}
	options[n] = rig_at(&rig, "order");
	ask_start(&rig, options);
	ask(&rig, &request, row->first, "a child goes on when %s", row->what);
	ask(&rig, &request, "409 unknown", "until it ends nobody knows");
	ask(&rig, &request, "409 unknown", "who asks again is told the same");
	is_int(starts(&rig), 1, "and nothing is started [idem:A4]");
	is_int(rig_lines(&rig, "worked", NULL), 0, "while it works");
	unlink(rig_at(&rig, "hold"));
	await_retry(&rig, &answer);
	told(&answer, "201 stored", "then the key may run again");
	rig_answer_free(&answer);
	is_int(rig_lines(&rig, "worked", NULL), 1, "when it has done its work");
	is_int(starts(&rig), 2, "once");
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		test_row(&rows[i]);
	return done();
}
