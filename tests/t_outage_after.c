/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * What was begun while the ledger stood in for Redis, and has no answer when
 * Redis is back: the ledger decides on, by whatever worker it is asked.
 */
#define TIMES 6		/* of which two workers get some each */

static struct redis_rig redis;
static struct rig rig;

static const char conf[] =
    "workers = 2\n"
    "programs = 4\n"
    "local_cache = 'none'\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "shared = redis { url = '%s', timeout = '10s', budget = '20s',\n"
    "    probe = '300ms' }\n"
    "route { path = '/order', arbiter = 'redis', on_outage = 'database',\n"
    "    in_progress = '409', program = cgi { '%s/order' } }\n";

static const char program[] = "#!/bin/sh\n"
    "echo \"$HTTP_IDEMPOTENCY_KEY\" >>starts\n"
    "[ -e die ] && kill -9 $$\n" HELD
    "printf 'Status: 201\\n\\ndone'\n";

static struct rig_request
order(const char *key, const char *body)
{
	return (struct rig_request){ .method = "POST", .path = "/order",
		.key = key, .body = idem_bytes_text(body) };
}

static void
row(const char *key, const char *body, const char *want, const char *what)
{
	const struct rig_request request = order(key, body);

	ask(&rig, &request, want, "%s", what);
}

static void
test_during(void)
{
	redis_rig_kill(&redis);
	rig_file(&rig, "die", "");
	row("dies", "tea", "504 unknown", "a run dies during the outage");
	unlink(rig_at(&rig, "die"));
	row("ends", "tea", "201 unprotected", "another ends");
}

static int
begin_and_hold(void)
{
	const struct rig_request request = order("goes-on", "tea");
	int fd;

	rig_file(&rig, "hold", "");
	fd = ask_begin(&rig, &request);
	await_starts(&rig, 4);
	return fd;
}

static void
test_after(int fd)
{
	struct rig_answer answer = { 0 };
	int i;

	redis_rig_again(&redis, true);
	ok(ask_await_logged(&rig, "redis=back", 1), "Redis is back");
	for (i = 0; i < TIMES; i++)
		row("goes-on", "tea", "409 in-progress",
		    "a run that goes on is in progress");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	told(&answer, "201 unprotected", "it ends");
	for (i = 0; i < TIMES; i++) {
		row("goes-on", "tea", "201 unprotected",
		    "and its answer is sent");
		row("dies", "tea", "409 unknown",
		    "what nobody knows the end of stays unknown");
		row("ends", "milk", "422 mismatch",
		    "a key that was used is none for another request");
	}
	is_int(starts(&rig), 4, "each has been started once");
	row("new", "tea", "201 stored", "a new key is Redis's again");
	rig_answer_free(&answer);
}

/* Not by another run, though: nobody is to be told of two. */
static void
test_forgotten(void)
{
	const struct rig_request request = order("forgotten", "tea");
	struct rig_answer answer = { 0 };
	int fd;

	rig_file(&rig, "hold", "");
	fd = ask_begin(&rig, &request);
	await_starts(&rig, 6);
	redis_rig_kill(&redis);
	redis_rig_again(&redis, false);
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, fd, &answer);
	told(&answer, "504 unknown",
	    "what Redis has forgotten while it ran is lost");
	ok(ask_await_logged(&rig, " lost=completion record=gone", 1),
	    "and the log says why");
	rig_answer_free(&answer);
}

int
main(void)
{
	char text[800];

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, NULL);
	rig_open(&rig);
	rig.bare = true;
	rig_program(&rig, "order", program);
	snprintf(text, sizeof text, conf, rig.folder, redis.url, rig.folder);
	rig_file(&rig, "idem.conf", text);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	row("before", "tea", "201 stored", "with Redis there it decides");
	test_during();
	test_after(begin_and_hold());
	test_forgotten();
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
