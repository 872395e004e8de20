/* SPDX-License-Identifier: ISC */
#include "net.h"
#include "server.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A master, its replica, and a net between them which reads what the one sends
   the other. */

#define UP_MS 60000
#define TURN_MS 2
#define STILL_MS 60	/* what has not come by then does not come */
#define SLOW_MS 20
#define SLOWER_MS 600000	/* longer than anybody waits here */
#define BIG 3000000

static struct loop *loop;
static const char *folder;
static uint32_t numbers;
static struct server master, replica;
static struct net *net;
static int64_t from;	/* the replica's offset when the net began to read */

/* --- both ----------------------------------------------------------------- */

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

static const char *
say(struct server *s, const char *a, const char *b, const char *c,
    const char *d)
{
	const char *const words[] = { a, b, c, d, NULL };
	static char out[400];

	return server_say(s, out, sizeof out, words);
}

static void
up(struct server *s, const struct plan_store *plan, int port)
{
	if (server_start(loop, s, plan, folder, port, NULL) == -1 ||
	    server_await(loop, s, UP_MS) == -1)
		bail_out("%s: %s", plan->name, strerror(errno));
}

static bool
is_level(void)
{
	struct server_stream there, here;

	return server_stream(&master, &there) == 0 &&
	    server_stream(&replica, &here) == 0 && here.follows &&
	    here.offset == there.offset;
}

static bool
await(bool (*is_so)(void), int64_t wait_ms)
{
	int64_t until_ms = now_ms() + wait_ms;

	while (!is_so()) {
		if (now_ms() > until_ms)
			return false;
		loop_turn(loop, now_ms() + TURN_MS);
	}
	return true;
}

/* The replica has all that was let through. */
static bool
is_there(void)
{
	struct server_stream here;
	struct net_counts counts;

	return net_stream_counts(net, &counts) &&
	    server_stream(&replica, &here) == 0 &&
	    here.offset == from + (int64_t)counts.passed;
}

/* The net has all that was sent. */
static bool
is_whole(void)
{
	struct server_stream there;
	struct net_counts counts;

	return net_stream_counts(net, &counts) &&
	    server_stream(&master, &there) == 0 &&
	    there.offset == from + (int64_t)counts.came;
}

static void
settle(void)
{
	if (!await(is_whole, UP_MS) || !await(is_there, UP_MS))
		note("it does not settle");
}

static void
read_on(void)
{
	struct server_stream here;

	if (!await(is_level, UP_MS) || server_stream(&replica, &here) == -1)
		bail_out("the replica does not follow");
	from = here.offset;
	net_stream_read(net);
}

static struct net_counts
counts(void)
{
	struct net_counts c;

	settle();
	(void)net_stream_counts(net, &c);
	return c;
}

static const char *
key(unsigned write)
{
	struct idem_bytes name = net_stream_key(net, write);
	static char out[40];

	snprintf(out, sizeof out, "%.*s", (int)(name.len < 30 ? name.len : 30),
	    name.len > 0 ? (const char *)name.at : "");
	return out;
}

/* --- a copy that is under way --------------------------------------------- */

static const char *
info(struct server *s)
{
	static const char *const words[] = { "INFO", "replication", NULL };
	static char out[4000];

	return server_say(s, out, sizeof out, words);
}

static bool
is_waited_for(void)
{
	return strcmp(say(&master, "WAIT", "1", "1", NULL), "1") == 0;
}

static bool
has_new(void)
{
	return strcmp(say(&replica, "GET", "new", NULL, NULL), "1") == 0;
}

static bool
is_asked(void)
{
	return strstr(info(&master), "connected_slaves:1") != NULL;
}

/*
 * Only that passes which the master had said before it was asked for a copy:
 * however late anybody is, the copy is still on its way then.
 */
static void
await_copy(void)
{
	int64_t until_ms = now_ms() + UP_MS;

	for (;;) {
		loop_turn(loop, now_ms() + TURN_MS);
		if (is_asked())
			return;
		if (now_ms() > until_ms)
			bail_out("the replica does not ask for a copy");
		net_release(net);
	}
}

/*
 * A master counts a replica as soon as it has sent the copy: whoever believes
 * it promotes an empty server.
 */
static void
test_copy(void)
{
	static const struct plan_store a = { .name = "a" };
	static const struct plan_store b = { .name = "b", .replica_of = 0 };
	struct server_stream here;
	char at[32];

	up(&master, &a, 0);
	say(&master, "SET", "old", "1", NULL);
	snprintf(at, sizeof at, "127.0.0.1:%d", master.port);
	net = net_open(loop, NULL, at, true, &numbers, NULL);
	if (net == NULL)
		bail_out("no net: %s", strerror(errno));
	net_slow(net, SLOWER_MS);
	up(&replica, &b, net_port(net));
	await_copy();
	ok(await(is_waited_for, UP_MS) &&
	    strcmp(say(&replica, "DBSIZE", NULL, NULL, NULL), "0") == 0,
	    "a replica whose copy is on its way is counted by WAIT");
	ok(server_stream(&replica, &here) == 0 && !here.follows &&
	    !here.master, "it does not follow yet");
	net_slow(net, SLOW_MS);
	net_release(net);
	ok(await(is_level, UP_MS) &&
	    strcmp(say(&replica, "GET", "old", NULL, NULL), "1") == 0,
	    "once it does it has all of it");
	net_slow(net, SLOWER_MS);
	net_heal(net);
	say(&master, "SET", "new", "1", NULL);
	ok(await(has_new, UP_MS), "and hears at once what is written then");
}

/* --- writes that stay ----------------------------------------------------- */

static void
write_some(const char *prefix, unsigned n)
{
	char name[20];
	unsigned i;

	for (i = 1; i <= n; i++) {
		snprintf(name, sizeof name, "%s%u", prefix, i);
		say(&master, "SET", name, "v", NULL);
	}
}

static const char *
has(const char *name)
{
	return say(&replica, "EXISTS", name, NULL, NULL);
}

static void
test_keep(void)
{
	struct net_counts c;

	net_stream_keep(net, 2);
	write_some("k", 5);
	c = counts();
	ok(c.writes == 5 && c.held == 2, "the last two of five writes stay");
	ok(strcmp(has("k3"), "1") == 0 && strcmp(has("k4"), "0") == 0,
	    "the replica has those before, and not those");
	is(key(0), "k4", "the first of them is known");
	is(key(1), "k5", "and the last");
	is(key(2), "", "and that there is none after it");
	say(&master, "PUBLISH", "c", "m", NULL);
	is_int(counts().held, 2, "what is no write takes no write's place");
	net_stream_keep(net, 1);
	c = counts();
	ok(c.held == 1 && strcmp(has("k4"), "1") == 0 &&
	    strcmp(has("k5"), "0") == 0, "one passes when only one is to stay");
	net_stream_keep(net, 0);
	ok(counts().held == 0 && strcmp(has("k5"), "1") == 0,
	    "then the other");
	ok(await(is_level, UP_MS), "and nothing is missing");
}

/* What is carried out together is one write. */
static void
test_together(void)
{
	struct net_counts c = counts();
	unsigned before = c.writes;

	net_stream_keep(net, 1);
	say(&master, "EVAL", "redis.call('SET', 't1', '1') "
	    "redis.call('SET', 't2', '2') return 1", "0", NULL);
	c = counts();
	ok(c.writes == before + 1 && c.held == 1,
	    "a script that writes twice is one write");
	is(key(0), "t1", "it is known by what it writes first");
	ok(strcmp(has("t1"), "0") == 0 && strcmp(has("t2"), "0") == 0,
	    "neither half has arrived");
	say(&master, "SET", "t3", "3", NULL);
	(void)counts();
	ok(strcmp(has("t1"), "1") == 0 && strcmp(has("t2"), "1") == 0 &&
	    strcmp(has("t3"), "0") == 0, "then both have, and not the next");
	net_stream_keep(net, 0);
	settle();
}

static void
test_big(void)
{
	char *value = malloc(BIG + 1);
	struct net_counts c;

	if (value == NULL)
		bail_out("no memory");
	memset(value, 'x', BIG);
	value[BIG] = '\0';
	net_stream_keep(net, 1);
	say(&master, "SET", "big", value, NULL);
	free(value);
	c = counts();
	ok(c.held == 1 && c.came - c.passed > BIG && strcmp(has("big"), "0") ==
	    0, "a write of three megabytes stays whole");
	net_stream_keep(net, 0);
	settle();
	is(say(&replica, "STRLEN", "big", NULL, NULL), "3000000",
	    "and passes whole");
}

static void
test_all(void)
{
	int64_t until_ms;

	net_stream_keep(net, NET_STREAM_ALL);
	write_some("f", 1);
	say(&master, "PUBLISH", "c", "m", NULL);
	until_ms = now_ms() + STILL_MS;
	while (now_ms() < until_ms)
		loop_turn(loop, until_ms);
	is(has("f1"), "0", "nothing passes if all is to stay");
	net_heal(net);
	settle();
	is(has("f1"), "0", "a net that is healed keeps what is to stay");
	net_stream_keep(net, 0);
	settle();
	is(has("f1"), "1", "until it is not to any more");
}

/* --- its end -------------------------------------------------------------- */

static bool
is_over(void)
{
	struct net_counts c;

	return !net_stream_counts(net, &c);
}

static void
test_end(void)
{
	net_stream_keep(net, 1);
	write_some("e", 2);
	settle();
	net_reset(net);
	ok(is_over(), "it ends with the connection");
	ok(await(is_level, UP_MS) && strcmp(has("e2"), "1") == 0,
	    "and a later one passes as it is");
	read_on();
	net_oneway(net, NET_REPLIES);
	write_some("l", 1);
	ok(await(is_over, UP_MS) && strcmp(has("l1"), "0") == 0,
	    "it ends where something of it is lost");
	net_heal(net);
	ok(await(is_level, UP_MS), "a replica recovers from that");
	read_on();
	net_stream_keep(net, NET_STREAM_ALL);
	write_some("m", 1);
	if (!await(is_whole, UP_MS))
		note("it is not whole");
	is(say(&replica, "REPLICAOF", "NO", "ONE", NULL), "OK",
	    "a replica is promoted");
	is(has("m1"), "0", "without the write that stayed");
}

int
main(void)
{
	if (server_missing(false) != NULL)
		skip_all(server_missing(false));
	(void)signal(SIGPIPE, SIG_IGN);
	loop = loop_new(&idem_clock_real);
	folder = child_warden_start();
	if (loop == NULL || folder == NULL)
		bail_out("no folder: %s", strerror(errno));
	test_copy();
	read_on();
	test_keep();
	test_together();
	test_big();
	test_all();
	test_end();
	net_close(net);
	server_end(&replica);
	server_end(&master);
	loop_free(loop);
	child_warden_end(false);
	return done();
}
