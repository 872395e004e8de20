/* SPDX-License-Identifier: ISC */
#include "redis_store.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* What a user of Redis has to be permitted, and what is said if it is not. */

static struct redis_rig server;

/* The whole list: without any one of them something fails, which the self-test
   says. */
static const char *const needed[] = {
	"+evalsha", "+eval", "+get", "+getrange", "+strlen", "+set",
	"+persist", "+pexpire", "+time", "+info", "+scan", "+incr",
};
#define NEEDED (sizeof needed / sizeof *needed)

static void
set_user(size_t without)
{
	struct idem_bytes args[8 + NEEDED] = {
		idem_bytes_text("ACL"), idem_bytes_text("SETUSER"),
		idem_bytes_text("gate"), idem_bytes_text("reset"),
		idem_bytes_text("on"), idem_bytes_text(">pw"),
		idem_bytes_text("~idem:*"), idem_bytes_text("-@all"),
	};
	size_t i, n = 8;

	for (i = 0; i < NEEDED; i++)
		if (i != without)
			args[n++] = idem_bytes_text(needed[i]);
	if (strcmp(redis_rig_say_bytes(&server, args, n), "OK") != 0)
		bail_out("no such user: %s", (char *)server.reply.at);
}

static struct redis_store
store_of(bool token, enum idem_redis_scheme scheme)
{
	return (struct redis_store){
		.server = &server,
		.client_options = { .user = "gate", .password = "pw" },
		.options = { .token = token, .scheme = scheme },
	};
}

static bool
selftest(bool token, enum idem_redis_scheme scheme, char *error, size_t size)
{
	struct redis_store s = store_of(token, scheme);
	bool good;

	redis_store_open_blind(&s);
	error[0] = '\0';
	good = idem_store_redis_selftest(&s.options, error, size);
	redis_store_close(&s);
	return good;
}

static void
test_needed(void)
{
	char error[300];
	size_t i, named;

	set_user(NEEDED);
	ok(selftest(true, IDEM_SCHEME_SCRIPT, error, sizeof error),
	    "the self-test passes with the %zu commands that are needed",
	    NEEDED);
	if (error[0] != '\0')
		note("%s", error);
	for (i = 0; i < NEEDED; i++) {
		set_user(i);
		ok(!selftest(true, IDEM_SCHEME_SCRIPT, error, sizeof error),
		    "and not without %s [redis:20 redis:21]", needed[i]);
		named = strcspn(error, ":");
		ok(named > 3 && named < 10 && strlen(error) > named + 10,
		    "which it says with the operation that was denied");
		note("%s: %s", needed[i], error);
	}
}

static void
test_leaves(void)
{
	char error[300];

	redis_rig_say(&server, "FLUSHALL", NULL);
	set_user(NEEDED);
	selftest(true, IDEM_SCHEME_SCRIPT, error, sizeof error);
	ok(redis_rig_await(&server, 20000, "0", "DBSIZE", NULL),
	    "what the self-test leaves is soon gone");
}

static void
test_schemes(void)
{
	char error[300];

	redis_rig_say(&server, "ACL", "SETUSER", "gate", "+del", NULL);
	ok(selftest(false, IDEM_SCHEME_SETNX, error, sizeof error),
	    "scheme setnx passes with DEL besides");
	ok(selftest(false, IDEM_SCHEME_CHECK, error, sizeof error),
	    "and scheme check");
	redis_rig_say(&server, "ACL", "SETUSER", "gate", "-set", NULL);
	ok(!selftest(false, IDEM_SCHEME_CHECK, error, sizeof error),
	    "but not without SET");
	note("%s", error);
}

/* A word that is half permitted is not taken for done. */
static void
test_denied(void)
{
	struct redis_store s = store_of(false, IDEM_SCHEME_SCRIPT);

	redis_rig_say(&server, "FLUSHALL", NULL);
	set_user(NEEDED);
	redis_store_open(&s);
	redis_store_say(&s, "claim k1 o1 f1 g1");
	redis_rig_say(&server, "ACL", "SETUSER", "gate", "-incr", NULL);
	is(redis_store_say(&s, "settle done k1 o9 o1 1 A"), "maybe",
	    "a word of the operator's that cannot be counted is not done");
	redis_rig_say(&server, "ACL", "SETUSER", "gate", "-set", NULL);
	is(redis_store_say(&s, "claim k2 o1 f1 g1"), "maybe",
	    "a script that failed may have done a part of it [redis:24]");
	is(redis_store_say(&s, "show k2"), "absent",
	    "but this one wrote nothing");
	redis_store_close(&s);
}

/* What one process withdraws, another hears of within a second or so. */
static void
test_purges(void)
{
	struct redis_store a = { .server = &server }, b = a;
	uint64_t before;
	int tries;

	redis_rig_say(&server, "FLUSHALL", NULL);
	redis_store_open(&a);
	redis_store_open(&b);
	redis_store_say(&a, "claim k1 o1 f1 g1");
	redis_store_say(&a, "complete k1 o1 1 A");
	before = b.t.store->ops->purges(b.t.store);
	redis_store_say(&a, "settle forget k1 o9 o1 1");
	ok(a.t.store->ops->purges(a.t.store) != before,
	    "who forgets a key knows that it was withdrawn");
	for (tries = 0; tries < 2000 &&
	    b.t.store->ops->purges(b.t.store) == before; tries++)
		redis_store_poll(&b, 10);
	ok(tries < 2000, "and everybody else soon does");
	redis_store_close(&a);
	redis_store_close(&b);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&server, NULL);
	test_needed();
	test_leaves();
	test_schemes();
	test_denied();
	test_purges();
	redis_rig_end(&server);
	return done();
}
