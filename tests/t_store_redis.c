/* SPDX-License-Identifier: ISC */
#include "redis_script.h"
#include "redis_store.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * The store of one script on a real server, through what a server can do to
 * it.  What every store does is t_store.c's.
 */

#define SMALL "3mb"
#define SMALLER "2900kb"	/* ended connections shall make no room */
#define LATE_MS 1000		/* a budget that a frozen server outlasts */
#define BUSY_MS 10000		/* for which nobody may let us run */
#define SILENCE_MS (2 * BUSY_MS)	/* that no budget waits for */

static struct redis_rig server;

static void
fresh(struct redis_store *s)
{
	redis_rig_say(&server, "FLUSHALL", NULL);
	*s = (struct redis_store){ .server = &server };
	redis_store_open(s);
}

static long long
ttl_ms(const char *name)
{
	return atoll(redis_rig_say(&server, "PTTL", redis_store_key(name),
	    NULL));
}

static void
pause_until(int64_t boot_ms)
{
	struct timespec t = { .tv_nsec = 1000000 };

	while (idem_boot_ms(&idem_clock_real) <= boot_ms)
		nanosleep(&t, NULL);
}

/* --- the script ----------------------------------------------------------- */

static void
test_script(void)
{
	struct idem_redis_script script;
	struct idem_bytes load[3] = {
		idem_bytes_text("SCRIPT"), idem_bytes_text("LOAD")
	};
	struct redis_store s;

	fresh(&s);
	is(redis_store_say(&s, "claim k1 o1 f1 g1"), "won 1",
	    "a server that has never seen the script is sent its text");
	redis_rig_say(&server, "SCRIPT", "FLUSH", NULL);
	is(redis_store_say(&s, "complete k1 o1 1 A"), "written",
	    "and again after it forgot it, between claim and completion "
	    "[redis:7 idem:C8]");
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "completed 1 A",
	    "with no second start");
	redis_store_close(&s);
	idem_redis_script_init(&script);
	load[2] = script.text;
	is(redis_rig_say_bytes(&server, load, 3), script.sha1,
	    "its name is the one that the server gives it");
}

/* Commands from outside, by the server's own count. */
static long long
sent(void)
{
	long long n = redis_store_info(&server, "commandstats",
	    "cmdstat_evalsha:calls=");

	return n > 0 ? n : 0;
}

static long long
trips(struct redis_store *s, const char *line)
{
	long long before = sent();

	redis_store_say(s, "%s", line);
	return sent() - before;
}

static void
test_trips(void)
{
	struct redis_store s;

	fresh(&s);
	redis_store_say(&s, "claim k9 o1 f1 g1");
	is_int(trips(&s, "claim k1 o1 f1 g1") +
	    trips(&s, "complete k1 o1 1 big:5000"), 2,
	    "a first request takes two round trips");
	is_int(trips(&s, "claim k1 o2 f1 g1"), 1, "a replay takes one");
	is(s.out, "completed 1 big:5000", "which has the answer");
	is_int(trips(&s, "claim k1 o2 f2 g1"), 1, "so does a refusal");
	redis_store_say(&s, "claim k2 o1 f1 g1");
	redis_store_say(&s, "complete k2 o1 1 big:100000");
	is_int(trips(&s, "claim k2 o2 f1 g1"), 2,
	    "a replay of a long answer takes two");
	is(s.out, "completed 1 big:100000", "and has all of it");
	redis_store_close(&s);
}

/* There is no room for the connection that the answer would come by. */
static void
test_unfetched(void)
{
	struct redis_store s;

	fresh(&s);
	redis_store_say(&s, "claim k1 o1 f1 g1");
	redis_store_say(&s, "complete k1 o1 1 big:100000");
	redis_store_close(&s);
	redis_store_open(&s);
	redis_rig_say(&server, "CONFIG", "SET", "maxclients", "1", NULL);
	is(redis_store_say(&s, "claim k1 o2 f1 g1 within=2000"), "maybe",
	    "a key with an answer that cannot be fetched is no key of which "
	    "nothing is known: no other store may be asked");
	redis_store_close(&s);
	ok(redis_rig_await(&server, 20000, "OK", "CONFIG", "SET", "maxclients",
	    "1000", NULL), "(there is room again)");
}

/* --- how long keys stay --------------------------------------------------- */

/* Lines, and what the server then says of k1's time to live. */
static const struct {
	const char *what, *lines[4];
	long long at_most, at_least;	/* -1: for ever */
} lives[] = {
	{ "a key in progress has no time to live",
	  { "claim k1 o1 f1 g1 lease=10" }, -1, -1 },
	{ "nor has one that was renewed",
	  { "claim k1 o1 f1 g1 lease=10", "renew k1 o1 1 lease=10" }, -1, -1 },
	{ "nor an unknown one",
	  { "claim k1 o1 f1 g1 lease=10", "unknown k1 o1 1" }, -1, -1 },
	{ "nor one that was released and claimed again",
	  { "claim k1 o1 f1 g1", "release k1 o1 1", "claim k1 o2 f1 g1" },
	  -1, -1 },
	{ "a completed one lives for keep and tombstone",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A keep=40000"
	    " tombstone=20000" }, 60000, 50001 },
	{ "which a claim that changes nothing leaves as it is",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A keep=40000"
	    " tombstone=20000", "claim k1 o2 f1 g1", "release k1 o2 0" },
	  60000, 50001 },
	{ "a released one lives as long as a tombstone",
	  { "claim k1 o1 f1 g1", "release k1 o1 1 tombstone=20000" },
	  20000, 10001 },
	{ "a forgotten one too",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A keep=90000",
	    "settle forget k1 o9 o1 1 tombstone=20000" }, 20000, 10001 },
	{ "one that was settled as done lives as a completed one",
	  { "claim k1 o1 f1 g1", "unknown k1 o1 1",
	    "settle done k1 o9 o1 1 A keep=40000 tombstone=20000" },
	  60000, 50001 },
	{ "an issued one lives until it has to be used",
	  { "issue k1 o1 keep=20000" }, 20000, 10001 },
	{ "an answer may be kept for 30,000 years",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A keep=1000000000000000"
	    " tombstone=1" }, 1000000000000001, 999999999999001 },
	{ "or for longer than a server counts",
	  { "claim k1 o1 f1 g1", "complete k1 o1 1 A"
	    " keep=9223372036854775807" }, -1, -1 },
};

static void
test_lives(void)
{
	struct redis_store s;
	long long ms;
	size_t i, j;

	fresh(&s);
	for (i = 0; i < sizeof lives / sizeof *lives; i++) {
		redis_rig_say(&server, "FLUSHALL", NULL);
		for (j = 0; j < 4 && lives[i].lines[j] != NULL; j++)
			redis_store_say(&s, "%s", lives[i].lines[j]);
		ms = ttl_ms("k1");
		ok(ms >= lives[i].at_least && ms <= lives[i].at_most,
		    "%s", lives[i].what);
		if (ms < lives[i].at_least || ms > lives[i].at_most)
			note("it lives for %lld ms", ms);
	}
	ok(strstr(redis_store_say(&s, "show k1"), "expires "
	    "9223372036854775807 ") != NULL, "which is for ever");
	redis_store_close(&s);
}

/* By the server's own clock. */
static void
test_time(void)
{
	struct redis_store s;
	int64_t at_ms;

	fresh(&s);
	redis_store_say(&s, "claim k1 o1 f1 g1 lease=1 keep=1");
	redis_store_say(&s, "claim k2 o1 f1 g1");
	redis_store_say(&s, "unknown k2 o1 1");
	redis_store_say(&s, "claim k3 o1 f1 g1");
	redis_store_say(&s, "complete k3 o1 1 A keep=1 tombstone=60000");
	redis_store_say(&s, "claim k4 o1 f1 g1");
	redis_store_say(&s, "complete k4 o1 1 A keep=1 tombstone=1");
	at_ms = idem_boot_ms(&idem_clock_real);
	pause_until(at_ms + 20);
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "in-progress 1",
	    "a run longer than lease and keep is no second start");
	is(redis_store_say(&s, "renew k1 o1 1"), "renewed",
	    "and goes on with a renewal");
	is(redis_store_say(&s, "complete k1 o1 1 B"), "written",
	    "to its end");
	is(redis_store_say(&s, "claim k2 o2 f1 g1"), "unknown 1",
	    "what is unknown stays so");
	is(redis_store_say(&s, "claim k3 o2 f1 g1 anew"), "won 1",
	    "a key that ends with its answer is free after it");
	redis_store_say(&s, "release k3 o2 1 tombstone=1");
	is(redis_store_say(&s, "claim k4 o2 f1 g1"), "won 1",
	    "a key is nobody's after its tombstone");
	redis_store_say(&s, "complete k4 o2 1 A keep=1 tombstone=1");
	redis_store_say(&s, "settle forget k1 o9 o1 1 tombstone=1");
	redis_store_say(&s, "settle forget k2 o9 o1 1 tombstone=1");
	redis_rig_say(&server, "DEL", "idem:purges", NULL);
	ok(redis_rig_await(&server, 20000, "0", "DBSIZE", NULL),
	    "and then the server holds nothing of ours [idem:F5]");
	redis_store_close(&s);
}

static void
test_sweep(void)
{
	struct redis_store s;
	long long before, after;

	fresh(&s);
	redis_store_say(&s, "claim k1 o1 f1 g1");
	redis_store_say(&s, "complete k1 o1 1 big:50000 keep=1"
	    " tombstone=60000");
	before = atoll(redis_rig_say(&server, "STRLEN", redis_store_key("k1"),
	    NULL));
	pause_until(idem_boot_ms(&idem_clock_real) + 5);
	is(redis_store_say(&s, "sweep"), "1",
	    "a sweep takes the answer of a key past its keep");
	after = atoll(redis_rig_say(&server, "STRLEN", redis_store_key("k1"),
	    NULL));
	ok(before > 50000 && after > 0 && after < 200,
	    "and frees its memory");
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "expired 1",
	    "while its tombstone stands [idem:B12]");
	ok(ttl_ms("k1") > 50000 && ttl_ms("k1") <= 60001,
	    "for as long as it was to");
	redis_store_close(&s);
}

/* --- strange keys --------------------------------------------------------- */

static const struct {
	const char *what;
	size_t len;		/* of a string that begins so; 0: a list */
	uint8_t version, state;
} junk[] = {
	{ "a list", 0, 0, 0 },
	{ "an empty string", 1, 0, 0 },
	{ "a short string", 12, 1, 2 },
	{ "a record of another version", 162, 9, 2 },
	{ "a record in no state", 162, 1, 0 },
	{ "a record in a state to come", 162, 1, 6 },
};

static const char *const uses[] = {
	"claim k1 o1 f1 g1", "claim k1 o1 f1 g1 look", "renew k1 o1 1",
	"complete k1 o1 1 A", "release k1 o1 0", "unknown k1 o1 1",
	"settle forget k1 o9 o1 1", "issue k1 o1",
};

static void
put_junk(size_t i)
{
	uint8_t bytes[200] = { junk[i].version, junk[i].state };
	struct idem_bytes args[3] = {
		idem_bytes_text(junk[i].len > 0 ? "SET" : "RPUSH"),
		idem_bytes_text(redis_store_key("k1")),
		{ bytes, junk[i].len > 1 ? junk[i].len : 1 - junk[i].len }
	};

	redis_rig_say(&server, "FLUSHALL", NULL);
	redis_rig_say_bytes(&server, args, 3);
}

static void
test_junk(void)
{
	struct redis_store s;
	char before[600];
	size_t i, j, refused;

	fresh(&s);
	for (i = 0; i < sizeof junk / sizeof *junk; i++) {
		put_junk(i);
		snprintf(before, sizeof before, "%s", redis_rig_say(&server,
		    "DUMP", redis_store_key("k1"), NULL));
		for (j = 0, refused = 0; j < sizeof uses / sizeof *uses; j++) {
			redis_store_say(&s, "%s", uses[j]);
			refused += strcmp(s.out, j < 2 ? "bad-record config" :
			    j == 2 ? "maybe config" : "refused config") == 0;
		}
		is_int((long long)refused, (long long)j,
		    "%s at our key is no record, whatever is asked of it "
		    "[redis:25]", junk[i].what);
		is(redis_rig_say(&server, "DUMP", redis_store_key("k1"), NULL),
		    before, "and is left as it is");
		is(redis_store_say(&s, "list all"), "", "nor is it listed");
		is(redis_store_say(&s, "sweep"), "0", "nor swept");
	}
	redis_store_close(&s);
}

/* --- a full server -------------------------------------------------------- */

static void
fill(void)
{
	char name[32], *value = malloc(20001);
	const char *reply;
	int i, len;

	if (value == NULL)
		bail_out("no memory");
	memset(value, 'x', 20000);
	for (len = 20000; len > 10; len /= 4) {
		value[len] = '\0';
		for (i = 0; i < 1000; i++) {
			snprintf(name, sizeof name, "fill:%d:%d", len, i);
			reply = redis_rig_say(&server, "SET", name, value,
			    NULL);
			if (strncmp(reply, "-OOM", 4) == 0)
				break;
		}
	}
	free(value);
}

static void
test_full(void)
{
	struct redis_store s = { .server = &server, .options.token = true };

	redis_rig_say(&server, "FLUSHALL", NULL);
	redis_store_open(&s);
	redis_store_say(&s, "claim k1 o1 f1 g1");
	redis_store_say(&s, "claim k2 o1 f1 g1");
	redis_store_say(&s, "claim k3 o1 f1 g1");
	redis_store_say(&s, "claim k4 o1 f1 g1");
	redis_store_say(&s, "unknown k4 o1 1");
	redis_store_say(&s, "claim k6 o1 f1 g1");
	redis_store_say(&s, "release k6 o1 1");
	redis_rig_say(&server, "CONFIG", "SET", "maxmemory", SMALL, NULL);
	fill();
	redis_rig_say(&server, "CONFIG", "SET", "maxmemory", SMALLER, NULL);
	is(redis_store_say(&s, "claim k5 o1 f1 g1"), "refused",
	    "a full server takes no new claim [redis:12]");
	is(redis_store_say(&s, "claim k6 o1 f1 g1"), "refused",
	    "nor a second start of a released key");
	is(redis_store_say(&s, "issue k7 o1"), "refused",
	    "nor a new token");
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "in-progress 1",
	    "it tells what it knows");
	is(redis_store_say(&s, "renew k1 o1 1"), "renewed",
	    "a lease is renewed on it");
	is(redis_store_say(&s, "complete k1 o1 1 big:3000"), "written",
	    "a run is completed on it, with an answer of 3,000 bytes");
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "completed 1 big:3000",
	    "and replayed");
	is(redis_store_say(&s, "unknown k2 o1 1"), "written",
	    "a dead run becomes unknown on it");
	is(redis_store_say(&s, "release k3 o1 1"), "written",
	    "a claim is released on it");
	is(redis_store_say(&s, "settle done k4 o9 o1 1 A"), "maybe",
	    "an operator's word is taken, though it cannot be counted");
	redis_rig_say(&server, "CONFIG", "SET", "maxmemory", "0", NULL);
	is(redis_store_say(&s, "settle done k4 o9 o1 1 A"), "written",
	    "until it is said again");
	is(redis_store_say(&s, "claim k4 o2 f1 g1"), "completed 1 A",
	    "to the same end");
	redis_store_close(&s);
}

/* --- late and lost -------------------------------------------------------- */

/* Start one on a server that does not answer; what it came to. */
static const char *
ask_frozen(struct redis_store *s, struct trace_asked *asked, const char *line)
{
	redis_rig_freeze(&server);
	redis_store_start(s, asked, line);
	trace_await(&s->t, asked);
	return asked->out;
}

/* Until it has carried out what it was sent while it was frozen. */
static void
thaw(struct redis_store *s)
{
	redis_rig_thaw(&server);
	redis_rig_say(&server, "PING", NULL);
	redis_store_close(s);
	redis_store_open(s);
}

static void
test_late(void)
{
	struct trace_asked asked;
	struct redis_store s;
	int64_t start_ms;

	fresh(&s);
	redis_store_close(&s);
	s.client_options.timeout_ms = SILENCE_MS;
	redis_store_open(&s);
	redis_store_say(&s, "claim k9 o1 f1 g1");
	start_ms = idem_boot_ms(&idem_clock_real);
	is(ask_frozen(&s, &asked, "claim k1 o1 f1 g1 within=1000 after=1000"),
	    "maybe", "a server that hangs may have taken the claim [redis:3]");
	ok(idem_boot_ms(&idem_clock_real) - start_ms < LATE_MS + BUSY_MS,
	    "which is said within its budget");
	pause_until(idem_boot_ms(&idem_clock_real) + LATE_MS);
	thaw(&s);
	is(redis_store_say(&s, "show k1"), "absent",
	    "carried out after that it starts nothing [race:7 idem:B10]");
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "won 1",
	    "and the next who asks is the first");

	is(redis_store_say(&s, "claim k3 o1 f1 g1 after=600000"), "won 1",
	    "one in time does");
	is(ask_frozen(&s, &asked, "claim k2 o1 f1 g1 within=1000"), "maybe",
	    "one without such a time");
	thaw(&s);
	is(redis_store_say(&s, "claim k2 o1 f1 g1"), "ours 1",
	    "landed: repeated it is ours, not a second start [race:8]");
	redis_store_close(&s);
}

static void
test_ghost(void)
{
	struct trace_asked asked;
	struct redis_store s;

	fresh(&s);
	redis_store_say(&s, "claim k9 o1 f1 g1");
	is(ask_frozen(&s, &asked, "claim k1 o1 f1 g1 within=1000"), "maybe",
	    "of a claim whose answer is lost nobody knows");
	thaw(&s);
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "in-progress 1",
	    "it is in the way of others");
	is(redis_store_say(&s, "release k1 o1 0"), "written",
	    "until who gave up on it releases it, without an attempt");
	is(redis_store_say(&s, "claim k1 o2 f1 g1"), "won 2",
	    "and then the next one runs");
	is(redis_store_say(&s, "release k1 o1 0"), "lost",
	    "whom the ghost's release does not touch [idem:A6]");
	is(redis_store_say(&s, "release k2 o1 0"), "written",
	    "a ghost that never landed is released all the same");

	is(ask_frozen(&s, &asked, "claim k3 o1 f1 g1 look within=1000"),
	    "refused", "a look whose answer is lost has changed nothing");
	redis_rig_thaw(&server);
	redis_store_close(&s);
}

/* Answers to what is outstanding, once each, and nothing after. */
static void
test_close(void)
{
	struct trace_asked asked[4];
	struct redis_store s;

	fresh(&s);
	redis_store_say(&s, "claim k9 o1 f1 g1");
	redis_rig_freeze(&server);
	redis_store_start(&s, &asked[0], "claim k1 o1 f1 g1");
	redis_store_start(&s, &asked[1], "claim k2 o1 f1 g1 look");
	redis_store_start(&s, &asked[2], "list all");
	redis_store_start(&s, &asked[3], "claim k3 o1 f1 g1 overdue");
	redis_store_poll(&s, 20);
	redis_store_start(&s, &asked[3], "claim k4 o1 f1 g1 overdue");
	s.t.store->ops->close(s.t.store);
	s.t.store = NULL;
	is(asked[0].out, "maybe",
	    "a closed store says what may have been done");
	is(asked[1].out, "refused", "what was not");
	is(asked[2].out, "refused", "of a list too");
	is(asked[3].out, "refused", "and of what it had not begun");
	redis_rig_thaw(&server);
	redis_store_close(&s);
	ok(asked[0].answers == 1 && asked[1].answers == 1 &&
	    asked[2].answers == 1 && asked[3].answers == 1,
	    "each call is answered once");
}

/* --- away ----------------------------------------------------------------- */

static void
test_away(void)
{
	struct trace_asked asked;
	struct redis_store s;

	fresh(&s);
	redis_store_say(&s, "claim k1 o1 f1 g1");
	redis_rig_kill(&server);
	redis_store_start(&s, &asked, "claim k1 o2 f1 g1 within=300");
	trace_await(&s.t, &asked);
	ok(strcmp(asked.out, "refused") == 0 || strcmp(asked.out, "maybe") == 0,
	    "a server that is gone is never called a run in progress "
	    "[redis:1 idem:C16]");
	redis_rig_again(&server, false);
	redis_store_poll(&s, 50);
	ok(redis_store_info(&server, "keyspace", "db0:keys=") == -1,
	    "and comes back empty");
	redis_store_close(&s);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&server, NULL);
	test_script();
	test_trips();
	test_unfetched();
	test_lives();
	test_time();
	test_sweep();
	test_junk();
	test_full();
	test_late();
	test_ghost();
	test_close();
	test_away();
	redis_rig_end(&server);
	return done();
}
