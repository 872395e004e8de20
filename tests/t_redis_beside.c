/* SPDX-License-Identifier: ISC */
#include "ask.h"

#include "ctl_run.h"
#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A Redis beside the ledger: whatever happens to it, an answer comes from the
 * ledger, and the program runs once.  Two ledgers under one prefix are found
 * out.
 */
static struct redis_rig redis;
static struct rig rig, other;

#define LOOK_MS 4000
#define SLACK_MS 20000		/* of a busy machine; less than the time-out */

static const char conf[] =
    "workers = 1\n"
    "local_cache = 'none'\n"
    "ledger = sqlite { path = '%s/ledger.db', create = true }\n"
    "cache = redis { url = '%s', probe = '500ms', look = '4s',\n"
    "    timeout = '60s' }\n"
    "route { path = '/**', keep = '%s', program = cgi { '%s/order' } }\n";

static const char program[] = "#!/bin/sh\n"
    "echo \"$HTTP_IDEMPOTENCY_KEY\" >>starts\n"
    "printf 'Status: 201\\n\\norder %s' $(wc -l <starts)\n";

static void
start(struct rig *r, const char *keep)
{
	char text[1000];

	snprintf(text, sizeof text, conf, r->folder, redis.url, keep,
	    r->folder);
	rig_file(r, "idem.conf", text);
	ask_start(r, (const char *[]){ "--config", rig_at(r, "idem.conf"),
	    NULL });
}

static void
open_rig(struct rig *r)
{
	rig_open(r);
	r->bare = true;
	rig_program(r, "order", program);
	start(r, "24h");
}

static void
send_key(struct rig *r, const char *key, const char *want, const char *what)
{
	ask(r, &(struct rig_request){ .method = "POST", .path = "/o",
	    .key = key, .body = idem_bytes_text("tea") }, want, "%s", what);
}

static long
calls_of(const char *command)
{
	char field[64];
	const char *text = redis_rig_say(&redis, "INFO", "commandstats", NULL);
	const char *at;

	snprintf(field, sizeof field, "cmdstat_%s:calls=", command);
	at = strstr(text, field);
	return at != NULL ? atol(at + strlen(field)) : 0;
}

/* The answer goes out before it is written there; others may be so late that
   they are written meanwhile. */
static void
await_cached(const char *order)
{
	static const char script[] =
	    "local n = 0 "
	    "for _, key in ipairs(redis.call('KEYS', 'idem:c:*')) do "
	    "  if string.find(redis.call('GET', key), ARGV[1], 1, true) then "
	    "    n = n + 1 end end "
	    "return 'of ' .. n";

	ok(redis_rig_await(&redis, 20000, "of 1", "EVAL", script, "0", order,
	    NULL), "what the ledger has is written beside it");
}

static void
test_looked_up(void)
{
	long gets;

	send_key(&rig, "a1", "201 stored", "a fresh key");
	await_cached("order 1");
	gets = calls_of("get");
	send_key(&rig, "a1", "201 replayed", "a replay");
	is_int(calls_of("get") - gets, 1, "is one look-up");
	ok(ask_await_logged(&rig, "source=redis", 1), "and comes from Redis");
	ask(&rig, &(struct rig_request){ .method = "POST", .path = "/o",
	    .key = "a1", .body = idem_bytes_text("rum") }, "422 mismatch",
	    "another request is refused by the ledger");
}

/* It was put there while the route said another time. */
static void
test_keep(void)
{
	struct rig_answer answer;
	int before;

	rig_stop(&rig, 30000);
	start(&rig, "48h");
	before = ask_logged(&rig, "source=redis");
	rig_request(&rig, &(struct rig_request){ .method = "POST",
	    .path = "/o", .key = "a1", .body = idem_bytes_text("tea") },
	    &answer);
	told(&answer, "201 replayed", "a replay after its route keeps longer");
	is(rig_field(&answer, "Idempotency-Keep"), "86400", "it is not said "
	    "to be kept for longer than the ledger keeps it");
	ok(ask_await_logged(&rig, "source=redis", before + 1), "nor when it "
	    "comes from Redis");
	rig_answer_free(&answer);
	rig_stop(&rig, 30000);
	start(&rig, "24h");
}

static void
test_forgets(void)
{
	redis_rig_say(&redis, "FLUSHALL", NULL);
	send_key(&rig, "a1", "201 replayed",
	    "after a flush the ledger answers");
	await_cached("order 1");
	redis_rig_say(&redis, "CONFIG", "SET", "maxmemory", "1", NULL);
	send_key(&rig, "a2", "201 stored", "a full one changes nothing");
	send_key(&rig, "a2", "201 replayed", "nor for a replay");
	redis_rig_say(&redis, "CONFIG", "SET", "maxmemory", "0", NULL);
}

static void
test_away(void)
{
	int64_t began_ms;

	redis_rig_freeze(&redis);
	began_ms = rig_now_ms();
	send_key(&rig, "a3", "201 stored", "a frozen one costs a look-up");
	ok(rig_now_ms() - began_ms < LOOK_MS + SLACK_MS, "and no more");
	redis_rig_thaw(&redis);
	redis_rig_kill(&redis);
	send_key(&rig, "a3", "201 replayed", "a dead one, nothing");
	send_key(&rig, "a1", "201 replayed", "for what it had as well");
	redis_rig_again(&redis, false);
	send_key(&rig, "a1", "201 replayed", "and so an empty one");
	is_int(starts(&rig), 4, "each key was started once [race:3 race:12]");
}

/* What the operator forgets is void in every cache at once. */
static void
test_forgotten(void)
{
	send_key(&rig, "a4", "201 stored", "a key");
	await_cached("order 3");
	ctl_run_is(0, "", "that the operator forgets",
	    "forget --ledger sqlite:%s --route %s/order --key a4",
	    rig.ledger, rig.folder);
	send_key(&rig, "a4", "409 expired", "is not found beside the ledger");
}

static void
test_foreign(void)
{
	open_rig(&other);
	ok(ask_await_logged(&other, "ledger-of-cache=away", 1),
	    "another ledger under the prefix is found out");
	send_key(&other, "b1", "503 not-started", "and serves no keys");
	ask(&other, &(struct rig_request){ .path = "/o" }, "201",
	    "but what has none");
	send_key(&rig, "b1", "201 stored", "the registered one goes on");
	rig_end(&other);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, NULL);
	open_rig(&rig);
	test_looked_up();
	test_keep();
	test_forgets();
	test_forgotten();
	test_away();
	redis_rig_say(&redis, "DEL", "idem:ledger", NULL);
	rig_stop(&rig, 30000);
	ask_start(&rig, (const char *[]){ "--config",
	    rig_at(&rig, "idem.conf"), NULL });
	send_key(&rig, "a1", "201 replayed", "after a restart");
	ok(redis_rig_await(&redis, 20000, "16", "STRLEN", "idem:ledger", NULL),
	    "a ledger registers itself again where there is none");
	test_foreign();
	rig_end(&rig);
	redis_rig_end(&redis);
	return done();
}
