/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Two instances of idemd that share nothing but a Redis, which is the arbiter:
 * keys hold over both, each way costs as many round trips as it must, and a
 * Redis that is away or frozen costs what it is said to.
 */
static struct redis_rig redis;
static struct rig rigs[2];

#define SOON_MS 20000		/* far more than any pause */
#define FROZEN_MS 40000		/* far more than the budget, and less than
				   the silence that is borne */

static const char conf[] =
    "workers = 2\n"
    "run = '%s/run'\n"
    "local_cache = %s\n"
    "shared = redis { url = '%s', probe = '1s', timeout = '60s',\n"
    "    budget = '6s' }\n"
    "route { path = '/**', arbiter = 'redis', scope = { name = 'all' },\n"
    "    %s program = cgi { '%s/order' } }\n";

/* The program writes where all instances see it. */
static const char program[] = "#!/bin/sh\n"
    "echo \"$HTTP_IDEMPOTENCY_KEY\" >>%s/starts\n"
    "while [ -e %s/hold ]; do sleep 0.02; done\n"
    "printf 'Status: 201\\n\\norder %%s' $(wc -l <%s/starts)\n";

static void
start_with(struct rig *rig, const char *cache, const char *more)
{
	char text[2000];

	snprintf(text, sizeof text, conf, rig->folder, cache, redis.url, more,
	    rig->folder);
	rig_file(rig, "idem.conf", text);
	ask_start(rig, (const char *[]){ "--config", rig_at(rig, "idem.conf"),
	    NULL });
}

static void
open_rig(struct rig *rig)
{
	const char *shared = rigs[0].folder;
	char text[1000];

	rig_open(rig);
	rig->bare = true;
	shared = rigs[0].folder;
	snprintf(text, sizeof text, program, shared, shared, shared);
	rig_program(rig, "order", text);
}

static bool
send_key(struct rig *rig, const char *key, const char *want, const char *what)
{
	return ask(rig, &(struct rig_request){ .method = "POST", .path = "/o",
	    .key = key, .body = idem_bytes_text("tea") }, want, "%s", what);
}

/* --- one key, two hosts --------------------------------------------------- */

static void
test_over_hosts(void)
{
	send_key(&rigs[0], "a1", "201 stored", "a key runs on one host");
	send_key(&rigs[1], "a1", "201 replayed",
	    "and is replayed on another");
	is_int(starts(&rigs[0]), 1, "it was started once");
	ask(&rigs[1], &(struct rig_request){ .method = "POST", .path = "/o",
	    .key = "a1", .body = idem_bytes_text("rum") }, "422 mismatch",
	    "another request under the key is refused there, too");
	ask(&rigs[1], &(struct rig_request){ .method = "POST", .path = "/o",
	    .key = "a1", .body = idem_bytes_text("tea"),
	    .more = (const char *[]){ "HTTP_AUTHORIZATION=Basic eDp5", NULL } },
	    "409 withheld", "and so is another person's");
}

/* Waiters of another host poll: 10 ms, doubling to 250. */
static void
test_waiting(void)
{
	struct rig_request request = { .method = "POST", .path = "/o",
	    .key = "w1", .body = idem_bytes_text("tea") };
	struct rig_answer answer;
	long before = starts(&rigs[0]);
	int64_t ended_ms;
	int first, second, third;

	rig_file(&rigs[0], "hold", "");
	first = ask_begin(&rigs[0], &request);
	await_starts(&rigs[0], before + 1);
	second = ask_begin(&rigs[1], &request);
	third = ask_begin(&rigs[1], &request);
	usleep(300000);		/* let the pauses grow to their longest */
	ended_ms = rig_now_ms();
	unlink(rig_at(&rigs[0], "hold"));
	ask_end(&rigs[0], first, &answer);
	told(&answer, "201 stored", "the run ends on the first host");
	rig_answer_free(&answer);
	ask_end(&rigs[1], second, &answer);
	told(&answer, "201 replayed", "who waits on the other is told");
	ok(rig_now_ms() - ended_ms < SOON_MS, "soon after it");
	rig_answer_free(&answer);
	ask_end(&rigs[1], third, &answer);
	told(&answer, "201 replayed", "and so is who waits behind him");
	rig_answer_free(&answer);
	is_int(starts(&rigs[0]), before + 1, "it was started once");
}

/* --- round trips ---------------------------------------------------------- */

/*
 * Of the requests, since the last count_from_now: each worker sweeps as well,
 * now and then, and looks at each key with the same script.
 */
static const char count_them[] =
    "local n = 0 "
    "for _, entry in ipairs(redis.call('SLOWLOG', 'GET', '10000')) do "
    "  local word, op = entry[4][1]:lower(), entry[4][5] "
    "  if word:sub(1, 4) == 'eval' and op ~= nil and "
    "      op ~= 'sweep' and op ~= 'peek' then n = n + 1 end "
    "end return n";

static void
count_from_now(void)
{
	if (strcmp(redis_rig_say(&redis, "CONFIG", "SET",
	    "slowlog-log-slower-than", "0", "slowlog-max-len", "10000", NULL),
	    "OK") != 0)
		bail_out("no log of commands");
	redis_rig_say(&redis, "SLOWLOG", "RESET", NULL);
}

static long
commands(void)
{
	const char *text = redis_rig_say(&redis, "EVAL", count_them, "0", NULL);

	if (text[0] < '0' || text[0] > '9')
		bail_out("commands cannot be counted: %s", text);
	return atol(text);
}

static void
test_round_trips(void)
{
	count_from_now();
	send_key(&rigs[0], "t1", "201 stored", "a fresh key");
	is_int(commands(), 2, "costs two round trips");
	count_from_now();
	send_key(&rigs[0], "t1", "201 replayed", "a replay");
	is_int(commands(), 1, "costs one");
}

static void
ask_again(int times)
{
	struct rig_answer answer;

	while (times-- > 0) {
		rig_request(&rigs[0], &(struct rig_request){
		    .method = "POST", .path = "/o", .key = "m1",
		    .body = idem_bytes_text("tea") }, &answer);
		rig_answer_free(&answer);
	}
}

/* Each worker has to have met the key once. */
static void
test_memory(void)
{
	long cost = -1;
	int tries;

	send_key(&rigs[0], "m1", "201 stored", "with a cache: a fresh key");
	for (tries = 0; tries < 20 && cost != 0; tries++) {
		count_from_now();
		ask_again(20);
		cost = commands();
	}
	is_int(cost, 0, "replays from memory cost no round trip");
}

/* --- away ----------------------------------------------------------------- */

static void
ask_timed(struct rig *rig, const char *key, const char *want, int64_t most_ms,
    const char *what)
{
	int64_t began_ms = rig_now_ms();

	send_key(rig, key, want, what);
	note("it took %lld ms", (long long)(rig_now_ms() - began_ms));
	ok(rig_now_ms() - began_ms <= most_ms, "before long");
}

/* Until the Redis that is back is found to be so: it is stored then. */
static bool
await_served(struct rig *rig, const char *key)
{
	struct rig_answer answer;
	int64_t until_ms = rig_now_ms() + 60000;
	int status;

	do {
		rig_request(rig, &(struct rig_request){ .method = "POST",
		    .path = "/o", .key = key,
		    .body = idem_bytes_text("tea") }, &answer);
		status = answer.status;
		rig_answer_free(&answer);
		if (status == 503)
			usleep(50000);
	} while (status == 503 && rig_now_ms() < until_ms);
	return status == 201;
}

static void
test_frozen(void)
{
	long before = starts(&rigs[0]);
	int64_t began_ms;
	int fd;
	struct rig_answer answer;

	redis_rig_freeze(&redis);
	fd = ask_begin(&rigs[0], &(struct rig_request){ .method = "POST",
	    .path = "/o", .key = "f1", .body = idem_bytes_text("tea") });
	began_ms = rig_now_ms();
	ask(&rigs[0], &(struct rig_request){ .path = "/o" }, "201",
	    "a request without a key passes a frozen server by");
	ok(rig_now_ms() - began_ms < FROZEN_MS, "and does not wait for it");
	ask_end(&rigs[0], fd, &answer);
	told(&answer, "503 not-started", "one with a key is not started");
	note("it took %lld ms", (long long)answer.ms);
	ok(answer.ms < FROZEN_MS, "and knows it within its budget, if the "
	    "machine is not busy");
	rig_answer_free(&answer);
	is_int(starts(&rigs[0]), before + 1, "only the one without has run");
	redis_rig_thaw(&redis);
	/* What we sent it runs now, after its time. */
	ok(redis_rig_await(&redis, 20000, "PONG", "PING", NULL),
	    "it thaws, and runs what it was sent");
	is_int(starts(&rigs[0]), before + 1,
	    "its late execution starts nothing [race:7 redis:3]");
	ok(await_served(&rigs[0], "f1"), "the key is free");
	is_int(starts(&rigs[0]), before + 2, "and runs once");
}

static void
test_killed(void)
{
	long before = starts(&rigs[0]);

	redis_rig_kill(&redis);
	ask_timed(&rigs[1], "k1", "503 not-started", FROZEN_MS,
	    "a server that is gone refuses");
	ask_timed(&rigs[1], "k2", "503 not-started", FROZEN_MS, "again");
	ask_timed(&rigs[1], "k3", "503 not-started", FROZEN_MS, "and again");
	ok(ask_await_logged(&rigs[1], "redis=away", 1),
	    "that is said once in the log");
	is_int(starts(&rigs[0]), before, "nothing has run");
	redis_rig_again(&redis, true);
	ok(ask_await_logged(&rigs[1], "redis=back", 1), "it comes back");
	send_key(&rigs[1], "k1", "201 stored", "and keys run again [redis:1]");
}

int
main(void)
{
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, (const char *[]){ "--appendonly", "yes",
	    NULL });
	for (i = 0; i < 2; i++) {
		open_rig(&rigs[i]);
		start_with(&rigs[i], "'none'", "");
	}
	test_over_hosts();
	test_waiting();
	test_round_trips();
	test_frozen();
	test_killed();
	rig_stop(&rigs[0], 30000);
	start_with(&rigs[0], "{ age = '600s' }", "");
	test_memory();
	for (i = 2; i-- > 0; )
		rig_end(&rigs[i]);
	redis_rig_end(&redis);
	return done();
}
