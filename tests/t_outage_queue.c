/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * One program at a time, and a Redis that is full, then away: what waits for
 * the program meanwhile, and what the log says.
 */
static struct redis_rig redis;
static struct rig rig;

static const char conf[] =
    "workers = 1\n"
    "programs = 1\n"
    "local_cache = 'none'\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "shared = redis { url = '%s', timeout = '10s', budget = '6s',\n"
    "    probe = '500ms' }\n"
    "local order = cgi { '%s/order' }\n"
    "route { path = '/reject', arbiter = 'redis', program = order }\n"
    "route { path = '/pass', arbiter = 'redis', on_outage = 'pass',\n"
    "    program = order }\n"
    "route { path = '/database', arbiter = 'redis',\n"
    "    on_outage = 'database', program = order }\n";

static const char program[] = "#!/bin/sh\n"
    "echo \"$HTTP_IDEMPOTENCY_KEY\" >>starts\n" HELD
    "printf 'Status: 201\\n\\norder'\n";

static struct rig_request
order(const char *path, const char *key)
{
	return (struct rig_request){ .method = "POST", .path = path,
		.key = key, .body = idem_bytes_text("tea") };
}

static void
row(const char *path, const char *key, const char *want, const char *what)
{
	const struct rig_request request = order(path, key);

	ask(&rig, &request, want, "%s", what);
}

static void
test_log(void)
{
	row("/reject", "r1", "201 stored", "with Redis there it runs");
	ok(ask_await_logged(&rig, "idempotency-status=stored source=run", 1),
	    "the log says so");
	row("/reject", "r1", "201 replayed", "and what it has is replayed");
	ok(ask_await_logged(&rig, "idempotency-status=replayed source=redis",
	    1), "the log says whose it is");
}

static void
test_full(void)
{
	redis_rig_say(&redis, "CONFIG", "SET", "maxmemory", "1", NULL);
	row("/reject", "r2", "503 not-started",
	    "a Redis that is full takes no claim");
	ok(ask_await_logged(&rig, "redis=claim error=\"OOM", 1),
	    "which the log says, though it is not away");
	redis_rig_say(&redis, "CONFIG", "SET", "maxmemory", "0", NULL);
	row("/reject", "r2", "201 stored", "until there is room");
}

static void
test_queue(void)
{
	const struct rig_request first = order("/pass", "p1");
	const struct rig_request second = order("/pass", "p2");
	struct rig_answer answer = { 0 };
	int one, two;

	redis_rig_kill(&redis);
	row("/database", "d1", "201 unprotected", "the ledger stands in");
	ok(ask_await_logged(&rig, "idempotency-status=unprotected source=run",
	    1), "what ran there has run");
	rig_file(&rig, "hold", "");
	one = ask_begin(&rig, &first);
	ok(rig_await_lines(&rig, "starts", 4, 20000), "one program runs");
	two = ask_begin(&rig, &second);
	row("/database", "d1", "201 unprotected",
	    "what a stand-in has is sent while no program can be started");
	ok(ask_await_logged(&rig, "idempotency-status=unprotected "
	    "source=ledger", 1), "and the log says whose it is");
	unlink(rig_at(&rig, "hold"));
	ask_end(&rig, one, &answer);
	told(&answer, "201 unprotected", "under pass the first has run");
	rig_answer_free(&answer);
	ask_end(&rig, two, &answer);
	told(&answer, "201 unprotected", "and so does who has waited for it");
	rig_answer_free(&answer);
}

int
main(void)
{
	char text[1000];

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
	test_log();
	test_full();
	test_queue();
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
