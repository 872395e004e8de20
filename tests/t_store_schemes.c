/* SPDX-License-Identifier: ISC */
#include "redis_store.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The two plain schemes on a real Redis: what they do, and where they break,
 * which is what the one script is there for.
 */

static struct redis_rig server;

static void
fresh(struct redis_store *s, enum idem_redis_scheme scheme)
{
	redis_rig_say(&server, "FLUSHALL", NULL);
	*s = (struct redis_store){
		.server = &server,
		.options.scheme = scheme,
	};
	redis_store_open(s);
}

/* Lines, and what comes of the last one. */
struct row {
	enum idem_redis_scheme scheme;
	const char *what, *lines[5], *comes_to;
};

static const struct row rows[] = {
	{ IDEM_SCHEME_SETNX, "setnx: a first claim wins",
	  { "claim k1 o1 f1 g1" }, "won 1" },
	{ IDEM_SCHEME_SETNX, "setnx: a second is told that it runs",
	  { "claim k1 o1 f1 g1", "claim k1 o2 f1 g1" }, "in-progress 1" },
	{ IDEM_SCHEME_SETNX, "setnx: a look inserts nothing",
	  { "claim k1 o1 f1 g1 look", "claim k1 o2 f1 g1" }, "won 1" },
	{ IDEM_SCHEME_SETNX, "setnx: a completed key runs no more, but its "
	  "answer is not kept",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A", "claim k1 o2 f1 g1" },
	  "completed 1 -" },
	{ IDEM_SCHEME_SETNX, "setnx: a released key runs again",
	  { "claim k1 o1 f1 g1", "release k1 o1 1", "claim k1 o2 f1 g1" },
	  "won 1" },
	{ IDEM_SCHEME_SETNX, "setnx: the operator's word frees a key",
	  { "claim k1 o1 f1 g1", "settle not-done k1 o9 o1 1",
	    "claim k1 o2 f1 g1" }, "won 1" },
	{ IDEM_SCHEME_SETNX, "setnx: or completes it",
	  { "claim k1 o1 f1 g1", "settle done k1 o9 o1 1 A",
	    "claim k1 o2 f1 g1" }, "completed 1 -" },
	{ IDEM_SCHEME_SETNX, "setnx: it issues no tokens",
	  { "issue k1 o1" }, "refused" },

	{ IDEM_SCHEME_SETNX, "setnx breaks: another request with the key is "
	  "called done, and never runs",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A", "claim k1 o2 f2 g1" },
	  "completed 1 -" },
	{ IDEM_SCHEME_SETNX, "setnx breaks: who asks again is shut out by "
	  "himself",
	  { "claim k1 o1 f1 g1", "claim k1 o1 f1 g1" }, "in-progress 1" },
	{ IDEM_SCHEME_SETNX, "setnx breaks: anybody's release frees a run, "
	  "and it starts again",
	  { "claim k1 o1 f1 g1", "release k1 o2 1", "claim k1 o2 f1 g1" },
	  "won 1" },
	{ IDEM_SCHEME_SETNX, "setnx breaks: a completion comes from anybody",
	  { "claim k1 o1 f1 g1", "complete k1 o2 7 B", "claim k1 o3 f1 g1" },
	  "completed 1 -" },
	{ IDEM_SCHEME_SETNX, "setnx breaks: an unknown outcome is no state of "
	  "its own",
	  { "claim k1 o1 f1 g1", "unknown k1 o1 1", "claim k1 o2 f1 g1" },
	  "in-progress 1" },

	{ IDEM_SCHEME_CHECK, "check: a first claim wins",
	  { "claim k1 o1 f1 g1" }, "won 1" },
	{ IDEM_SCHEME_CHECK, "check: a completed key gives its answer",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 big:3000",
	    "claim k1 o2 f1 g1" }, "completed 1 big:3000" },
	{ IDEM_SCHEME_CHECK, "check: or none, if none was kept",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 -", "claim k1 o2 f1 g1" },
	  "completed 1 -" },
	{ IDEM_SCHEME_CHECK, "check: a look is the same",
	  { "claim k1 o1 f1 g1 look" }, "absent" },
	{ IDEM_SCHEME_CHECK, "check: the operator's word forgets an answer",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A",
	    "settle forget k1 o9 o1 1", "claim k1 o2 f1 g1" }, "won 1" },
	{ IDEM_SCHEME_CHECK, "check: it issues no tokens",
	  { "issue k1 o1" }, "refused" },

	{ IDEM_SCHEME_CHECK, "check breaks: two at once both run",
	  { "claim k1 o1 f1 g1", "claim k1 o2 f1 g1" }, "won 1" },
	{ IDEM_SCHEME_CHECK, "check breaks: then the second answer replaces "
	  "the first",
	  { "claim k1 o1 f1 g1", "claim k1 o2 f1 g1", "complete k1 o1 1 A",
	    "complete k1 o2 1 B", "claim k1 o3 f1 g1" }, "completed 1 B" },
	{ IDEM_SCHEME_CHECK, "check breaks: another request with the key gets "
	  "an answer that is not its own",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A", "claim k1 o2 f2 g2" },
	  "completed 1 A" },
};

static void
test_rows(void)
{
	struct redis_store s;
	size_t i, j;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		fresh(&s, rows[i].scheme);
		for (j = 0; j < 5 && rows[i].lines[j] != NULL; j++)
			redis_store_say(&s, "%s", rows[i].lines[j]);
		is(s.out, rows[i].comes_to, "%s", rows[i].what);
		redis_store_close(&s);
	}
}

/* --- what is on the server ------------------------------------------------ */

static void
test_values(void)
{
	struct redis_store s;
	long long ms;

	fresh(&s, IDEM_SCHEME_SETNX);
	redis_store_say(&s, "claim k1 o1 f1 g1 lease=20000 keep=40000");
	is(redis_rig_say(&server, "GET", redis_store_key("k1"), NULL),
	    "PROCESSING", "setnx: a word stands for a run");
	ms = atoll(redis_rig_say(&server, "PTTL", redis_store_key("k1"),
	    NULL));
	ok(ms > 10000 && ms <= 20000, "setnx: with a time to live");
	redis_store_say(&s, "complete k1 o1 1 A keep=40000");
	is(redis_rig_say(&server, "GET", redis_store_key("k1"), NULL),
	    "COMPLETED", "setnx: another for its end");
	ms = atoll(redis_rig_say(&server, "PTTL", redis_store_key("k1"),
	    NULL));
	ok(ms > 20000 && ms <= 40000, "setnx: and it lives anew");
	redis_store_close(&s);
	fresh(&s, IDEM_SCHEME_CHECK);
	redis_store_say(&s, "complete k1 o1 1 A keep=40000");
	is(redis_rig_say(&server, "GET", redis_store_key("k1"), NULL),
	    "RESULT:A", "check: the answer stands there");
	redis_store_close(&s);
}

/* --- time, and lost replies ----------------------------------------------- */

static void
test_time(void)
{
	struct timespec t = { .tv_nsec = 1000000 };
	struct redis_store s;
	int tries;

	fresh(&s, IDEM_SCHEME_SETNX);
	redis_store_say(&s, "claim k1 o1 f1 g1 lease=30");
	is(redis_store_say(&s, "renew k1 o1 1"), "renewed",
	    "setnx: a renewal is taken");
	for (tries = 0; tries < 2000 && strcmp(redis_rig_say(&server, "EXISTS",
	    redis_store_key("k1"), NULL), "0") != 0; tries++)
		nanosleep(&t, NULL);
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "won 1",
	    "setnx breaks: it moves nothing, and a run that is longer than "
	    "its time starts again");
	redis_store_close(&s);
}

static void
test_lost(void)
{
	struct trace_asked asked;
	struct redis_store s;

	fresh(&s, IDEM_SCHEME_SETNX);
	redis_rig_freeze(&server);
	redis_store_start(&s, &asked, "claim k1 o1 f1 g1 within=1000");
	trace_await(&s.t, &asked);
	is(asked.out, "maybe", "setnx: a claim whose answer is lost may be");
	redis_rig_thaw(&server);
	redis_rig_say(&server, "PING", NULL);
	redis_store_close(&s);
	redis_store_open(&s);
	is(redis_store_say(&s, "claim k1 o1 f1 g1"), "in-progress 1",
	    "setnx breaks: it is, and blocks its own owner until its time is "
	    "over, though nothing runs");

	redis_rig_freeze(&server);
	redis_store_start(&s, &asked, "claim k2 o1 f1 g1 look within=1000");
	trace_await(&s.t, &asked);
	is(asked.out, "refused", "setnx: a look may not");
	redis_rig_thaw(&server);
	redis_store_close(&s);
}

/* That it is somebody's is known, by whom it is not. */
static void
test_taken(void)
{
	struct redis_store s;

	fresh(&s, IDEM_SCHEME_SETNX);
	redis_store_say(&s, "claim k1 o1 f1 g1");
	redis_rig_say(&server, "ACL", "SETUSER", "default", "-get", NULL);
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "maybe",
	    "setnx: a key that is taken is not refused as if nothing were "
	    "known of it");
	redis_rig_say(&server, "ACL", "SETUSER", "default", "+get", NULL);
	redis_store_close(&s);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&server, NULL);
	test_rows();
	test_values();
	test_time();
	test_lost();
	test_taken();
	redis_rig_end(&server);
	return done();
}
