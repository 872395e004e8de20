/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"
#include "redis_fake.h"
#include "redis_rig.h"
#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The client with one real server that is there, and what it says. */
#define LIMIT_MS 20000		/* not reached */
#define PROBE_MS 300
#define PATIENCE_MS 20000	/* where it is not reached */

static const struct idem_redis_script set_it = {
	.text = { "return redis.call('SET', KEYS[1], ARGV[1])", 42 },
	.sha1 = "d8f2fad9f8e86a53d2a6ebd960b33c4972cacc37"
};

/* A server that says nothing for less than timeout_ms is not away.  Here it is
   only away where it says so, however long it is held up. */
static void
open_single(struct redis_ask *a, const char *url)
{
	memset(a, 0, sizeof *a);
	a->options.topology = IDEM_REDIS_SINGLE;
	a->options.probe_ms = PROBE_MS;
	a->options.timeout_ms = PATIENCE_MS;
	redis_ask_open(a, (const char *[]){ url }, 1);
}

static const char *
get(struct redis_ask *a)
{
	return redis_ask(a, LIMIT_MS, "a", "GET", "a", NULL);
}

/* --- while it is there ---------------------------------------------------- */

static void
replies(struct redis_rig *redis)
{
	struct redis_ask a;

	open_single(&a, redis->url);
	is(redis_ask(&a, LIMIT_MS, "a", "SET", "a", "1", NULL), "OK",
	    "a status comes back");
	is(get(&a), "1", "a string comes back");
	is(redis_ask(&a, LIMIT_MS, "b", "GET", "b", NULL), "(nil)",
	    "a key that is missing is nil");
	is(redis_ask(&a, LIMIT_MS, "a", "INCR", "a", NULL), "2",
	    "a number comes back");
	is(redis_ask(&a, LIMIT_MS, "a", "MGET", "a", "b", NULL), "[2 (nil)]",
	    "an array comes back");
	redis_ask(&a, LIMIT_MS, "a", "LPUSH", "a", "1", NULL);
	ok(a.class == IDEM_CLASS_CONFIG && !idem_redis_away(a.client),
	    "an error is an answer, and no outage [redis:25]");
	is(idem_redis_node(a.client, 0), redis->socket,
	    "the node is named by its socket");
	ok(idem_redis_node(a.client, 1) == NULL, "there is one node");
	redis_ask_this(&a, LIMIT_MS, (struct idem_redis_command){
		.args = (struct idem_bytes[]){ { "PING", 4 } }, .args_len = 1,
		.node = "elsewhere:1" });
	ok(a.class == IDEM_CLASS_REFUSED, "no other node is known");
	redis_ask_close(&a);
}

struct counted {
	unsigned answers, ok;
};

static void
count(void *arg, const struct idem_redis_answer *a)
{
	struct counted *c = arg;

	c->answers++;
	c->ok += a->class == IDEM_OK;
}

static void
send_some(struct redis_ask *a, unsigned n, bool bulk, struct counted *c)
{
	struct idem_bytes args[2] = { { "GET", 3 }, { "a", 1 } };

	while (n-- > 0)
		idem_redis_send(a->client, &(struct idem_redis_command){
			.args = args, .args_len = 2, .key = args[1],
			.bulk = bulk,
			.deadline_ms = redis_boot_ms() + PATIENCE_MS,
			.done = count, .arg = c });
}

static bool
await_answers(struct redis_ask *a, const struct counted *c, unsigned n)
{
	int64_t end_ms = redis_boot_ms() + 2 * PATIENCE_MS;

	while (c->answers < n && redis_boot_ms() < end_ms)
		redis_ask_turns(a, 1, NULL);
	return c->answers == n;
}

static long
number_in(struct redis_rig *redis, const char *section, const char *name)
{
	const char *at = strstr(redis_rig_say(redis, "INFO", section, NULL),
	    name);

	return at != NULL ? strtol(at + strlen(name), NULL, 10) : -1;
}

static void
together(struct redis_rig *redis)
{
	struct counted c = {0};
	struct redis_ask a;
	long reads;

	open_single(&a, redis->url);
	get(&a);
	reads = number_in(redis, "stats", "total_reads_processed:");
	send_some(&a, 50, false, &c);
	is_int(c.answers, 0, "nothing is answered from inside send");
	ok(idem_redis_due_ms(a.client) <= redis_boot_ms(),
	    "after send a turn is due");
	ok(await_answers(&a, &c, 50) && c.ok == 50, "all are answered, once");
	/* One; the end of who asked for the number, and who asks again. */
	is_int(number_in(redis, "stats", "total_reads_processed:") - reads, 3,
	    "what is started in one turn leaves in one write");
	ok(idem_redis_due_ms(a.client) > redis_boot_ms() + 1000,
	    "with nothing to do no turn is due");
	is_int(number_in(redis, "clients", "connected_clients:"), 2,
	    "there is one connection");
	send_some(&a, 1, true, &c);
	ok(await_answers(&a, &c, 51) && number_in(redis, "clients",
	    "connected_clients:") == 3, "bodies have another");
	send_some(&a, 3, false, &c);
	redis_ask_close(&a);
	is_int(c.answers, 54, "the end answers what is outstanding");
	is_int(c.ok, 51, "as what it is: not done");
}

struct curious {
	struct idem_redis *client;
	unsigned answers, knew;
};

static void
ask_for_time(void *arg, const struct idem_redis_answer *a)
{
	struct curious *c = arg;
	int64_t ms;

	(void)a;
	c->answers++;
	c->knew += idem_redis_now(c->client, (struct idem_bytes){0}, &ms);
}

static void
told_at_the_end(struct redis_rig *redis)
{
	struct idem_bytes ping = { "PING", 4 };
	struct curious c = {0};
	struct redis_ask a;

	open_single(&a, redis->url);
	get(&a);
	c.client = a.client;
	idem_redis_send(a.client, &(struct idem_redis_command){
		.args = &ping, .args_len = 1,
		.deadline_ms = redis_boot_ms() + 2000,
		.done = ask_for_time, .arg = &c });
	redis_ask_close(&a);
	ok(c.answers == 1 && c.knew == 0,
	    "who is told at the end may ask, and nobody is known any more");
}

static void
idle(struct redis_rig *redis)
{
	struct redis_ask a;

	open_single(&a, redis->url);
	get(&a);
	redis_rig_say(redis, "CLIENT", "KILL", "TYPE", "normal", NULL);
	redis_ask(&a, LIMIT_MS, "b", "GET", "b", NULL);
	ok(a.class == IDEM_OK && a.went == 0,
	    "an idle connection that the server has closed is no failure");
	redis_ask_close(&a);
}

/* So much later than ours, but for a second and the way there and back. */
static bool
is_ahead(struct redis_ask *a, int64_t by_ms, int64_t trip_ms)
{
	int64_t before_ms = idem_wall_ms(&idem_clock_real) + by_ms, ms;

	return idem_redis_now(a->client, (struct idem_bytes){0}, &ms) &&
	    ms > before_ms - 1000 - trip_ms &&
	    ms < idem_wall_ms(&idem_clock_real) + by_ms + 1000 + trip_ms;
}

static void
clock_of_it(struct redis_rig *redis)
{
	struct idem_bytes none = {0};
	struct redis_ask a;
	int64_t ms;

	open_single(&a, redis->url);
	ok(!idem_redis_now(a.client, none, &ms),
	    "before anything is heard its clock is not known");
	get(&a);
	ok(is_ahead(&a, 0, a.ms), "its clock is known from the first answer "
	    "on");
	idem_redis_heard(a.client, none, redis_boot_ms() - 60000 - a.ms,
	    idem_wall_ms(&idem_clock_real) - 500);
	ok(is_ahead(&a, 0, a.ms), "a longer trip does not know better");
	idem_redis_heard(a.client, none, redis_boot_ms(),
	    idem_wall_ms(&idem_clock_real) + 600000);
	ok(is_ahead(&a, 600000, 0), "a clock that was set is followed "
	    "[redis:33]");
	idem_redis_heard(a.client, none, redis_boot_ms() + 1000, 5);
	idem_redis_heard(a.client, none, redis_boot_ms(), -5);
	ok(idem_redis_now(a.client, none, &ms) &&
	    ms > idem_wall_ms(&idem_clock_real), "what cannot be is not "
	    "believed");
	redis_ask_close(&a);
}

/* --- scripts -------------------------------------------------------------- */

static void
scripts(struct redis_rig *redis)
{
	struct redis_ask a;

	redis_rig_say(redis, "SCRIPT", "FLUSH", NULL);
	redis_rig_say(redis, "CONFIG", "RESETSTAT", NULL);
	open_single(&a, redis->url);
	is(redis_ask_script(&a, LIMIT_MS, &set_it, "s", "1"), "OK",
	    "a script that the server does not know is sent [redis:7]");
	redis_ask_script(&a, LIMIT_MS, &set_it, "s", "2");
	redis_ask_script(&a, LIMIT_MS, &set_it, "s", "3");
	is_int(number_in(redis, "commandstats", "cmdstat_eval:calls="), 1,
	    "its text goes once");
	is_int(number_in(redis, "commandstats", "cmdstat_evalsha:calls="), 3,
	    "its digest goes each time");
	redis_rig_say(redis, "SCRIPT", "FLUSH", NULL);
	is(redis_ask_script(&a, LIMIT_MS, &set_it, "s", "4"), "OK",
	    "a server that forgot it is told again [redis:7]");
	is(redis_rig_say(redis, "GET", "s", NULL), "4", "and runs it, and the "
	    "reply is that of the second try [idem:C4]");
	redis_ask_close(&a);
}

#define GREETING "accept", "expect 2", \
	"say $18\r\n# R\r\nrole:master\r\n\r\n", \
	"say *2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"

/* A server that knows no script, whatever it is told. */
static void
forgetful(void)
{
	static const char *const script[] = { GREETING,
		"expect 3", "say -NOSCRIPT once\r\n",
		"expect 4", "say -NOSCRIPT twice\r\n",
		"expect 5", "say -NOSCRIPT thrice\r\n", NULL };
	struct redis_fake fake;
	struct redis_ask a;

	redis_fake_unix(&fake, 8);
	redis_fake_play(&fake, script);
	open_single(&a, fake.url);
	redis_ask_script(&a, LIMIT_MS, &set_it, "s", "1");
	ok(a.class == IDEM_CLASS_REFUSED && strstr(a.text, "twice") != NULL,
	    "the text is not sent twice [redis:7]");
	redis_ask_close(&a);
	redis_fake_end(&fake);
}

/* Four look-ups that have no time, and then a command that has. */
static void
slow(void)
{
	static const char *const script[] = { GREETING,
		"expect 3", "say +0\r\n",
		"expect 8", "say +1\r\n+2\r\n+3\r\n+4\r\n+5\r\n", NULL };
	struct redis_fake fake;
	struct redis_ask a;
	int i, maybe = 0;

	redis_fake_unix(&fake, 8);
	redis_fake_play(&fake, script);
	open_single(&a, fake.url);
	/* It is there, so that what follows is sent at once. */
	redis_ask(&a, PATIENCE_MS, "a", "GET", "a", NULL);
	for (i = 0; i < 4; i++) {
		redis_ask(&a, 100, "a", "GET", "a", NULL);
		maybe += a.class == IDEM_CLASS_MAYBE;
	}
	ok(maybe == 4 && a.went == 0,
	    "a server that is slower than a look-up has time is not away");
	is(redis_ask(&a, PATIENCE_MS, "a", "GET", "a", NULL), "5",
	    "for a command that has more time");
	redis_ask_close(&a);
	redis_fake_end(&fake);
}

/* --- what it says instead ------------------------------------------------- */

static void
full(struct redis_rig *redis)
{
	struct redis_ask a;

	open_single(&a, redis->url);
	get(&a);
	redis_rig_say(redis, "CONFIG", "SET", "maxmemory", "1", NULL);
	redis_ask(&a, LIMIT_MS, "a", "SET", "a", "1", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && a.away && a.ms < LIMIT_MS,
	    "a full server refuses a write at once [redis:12]");
	ok(!idem_redis_away(a.client), "and is not away");
	redis_rig_say(redis, "CONFIG", "SET", "maxmemory", "0", NULL);
	redis_rig_say(redis, "CONFIG", "SET", "min-replicas-to-write", "1",
	    NULL);
	redis_ask(&a, LIMIT_MS, "a", "SET", "a", "1", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && a.away,
	    "one without its replicas refuses it [redis:22]");
	redis_rig_say(redis, "CONFIG", "SET", "min-replicas-to-write", "0",
	    NULL);
	redis_ask_close(&a);
}

/* Once the server says what it is at, or has done it for the other one.  Of one
   that is asked just before the end nothing is heard. */
static void
ask_meanwhile(struct redis_ask *a, struct redis_rig *redis,
    struct redis_ask *other, const struct counted *its, const char *word)
{
	int64_t end_ms = redis_boot_ms() + PATIENCE_MS;

	while (its->answers == 0 && redis_boot_ms() < end_ms &&
	    strstr(redis_rig_say(redis, "GET", "b", NULL), word) == NULL)
		redis_ask_turns(other, 2, NULL);
	do
		redis_ask(a, 150, "b", "GET", "b", NULL);
	while (a->class == IDEM_CLASS_MAYBE && redis_boot_ms() < end_ms);
}

/* By a script that runs until it is killed. */
static void
busy(struct redis_rig *redis)
{
	struct idem_bytes loop = idem_bytes_text("while true do end");
	struct redis_ask slow, a;
	struct counted killed = {0}, again = {0};

	redis_rig_say(redis, "CONFIG", "SET", "busy-reply-threshold", "20",
	    NULL);
	open_single(&slow, redis->url);
	open_single(&a, redis->url);
	get(&a);
	idem_redis_send(slow.client, &(struct idem_redis_command){
		.args = (struct idem_bytes[]){ { "EVAL", 4 }, loop,
		    { "0", 1 } },
		.args_len = 3, .deadline_ms = redis_boot_ms() + 4 * PATIENCE_MS,
		.done = count, .arg = &killed });
	ask_meanwhile(&a, redis, &slow, &killed, "-BUSY");
	ok(a.class == IDEM_CLASS_REFUSED && !idem_redis_away(a.client),
	    "a server that is busy longer than we wait refuses [redis:13]");
	send_some(&a, 1, false, &again);
	redis_ask_turns(&a, 50, NULL);
	is_int(again.answers, 0, "who waits longer is not answered yet");
	redis_rig_say(redis, "SCRIPT", "KILL", NULL);
	ok(await_answers(&a, &again, 1) && again.ok == 1,
	    "one that is not busy any more is asked again [redis:13]");
	ok(await_answers(&slow, &killed, 1), "the long script was answered");
	redis_ask_close(&a);
	redis_ask_close(&slow);
}

/* Slowly, until it is told to be quick; values that are long in its file let it
   look at us after each of them. */
static void
loading(struct redis_rig *redis)
{
	struct redis_ask reload, a;
	struct counted c = {0}, again = {0};

	redis_rig_say(redis, "DEBUG", "POPULATE", "4000", "k", "1000", NULL);
	redis_rig_say(redis, "CONFIG", "SET", "key-load-delay", "10000",
	    "loading-process-events-interval-bytes", "1024", "rdbcompression",
	    "no", NULL);
	open_single(&reload, redis->url);
	open_single(&a, redis->url);
	get(&a);
	idem_redis_send(reload.client, &(struct idem_redis_command){
		.args = (struct idem_bytes[]){ { "DEBUG", 5 },
		    { "RELOAD", 6 } },
		.args_len = 2, .deadline_ms = redis_boot_ms() + 4 * PATIENCE_MS,
		.done = count, .arg = &c });
	ask_meanwhile(&a, redis, &reload, &c, "-LOADING");
	ok(c.answers == 0 && a.class == IDEM_CLASS_REFUSED &&
	    !idem_redis_away(a.client),
	    "a server that loads longer than we wait refuses [redis:8]");
	send_some(&a, 1, false, &again);
	redis_ask_turns(&a, 50, NULL);
	is_int(again.answers, 0, "who waits longer is not answered yet");
	is(redis_rig_say(redis, "CONFIG", "SET", "key-load-delay", "0", NULL),
	    "OK", "then it loads quickly");
	ok(await_answers(&a, &again, 1) && again.ok == 1,
	    "one that has loaded is asked again [redis:8]");
	await_answers(&reload, &c, 1);
	redis_ask_close(&a);
	redis_ask_close(&reload);
	redis_rig_say(redis, "FLUSHALL", NULL);
}

static void
demoted(struct redis_rig *redis)
{
	struct redis_ask a;

	open_single(&a, redis->url);
	get(&a);
	redis_rig_say(redis, "REPLICAOF", "127.0.0.1", "1", NULL);
	redis_ask(&a, LIMIT_MS, "a", "SET", "a", "1", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && a.away && a.ms < LIMIT_MS,
	    "a server that was demoted is of no use, at once [redis:9]");
	redis_ask_close(&a);
	redis_rig_say(redis, "CONFIG", "SET", "replica-serve-stale-data", "yes",
	    NULL);
	open_single(&a, redis->url);
	get(&a);
	ok(a.class == IDEM_CLASS_REFUSED && strstr(a.text, "master") != NULL,
	    "a replica is not read, whatever it would say [redis:11]");
	redis_rig_say(redis, "CONFIG", "SET", "replica-serve-stale-data", "no",
	    NULL);
	redis_ask(&a, LIMIT_MS, "b", "GET", "b", NULL);
	ok(a.class == IDEM_CLASS_REFUSED,
	    "nor one that has lost its master [redis:10]");
	redis_rig_say(redis, "REPLICAOF", "NO", "ONE", NULL);
	ok(redis_ask_await(&a, PATIENCE_MS, false) &&
	    strcmp(get(&a), "(nil)") == 0, "once promoted it is used again");
	redis_ask_close(&a);
}

static void
crowded(struct redis_rig *redis)
{
	int64_t end_ms = redis_boot_ms() + PATIENCE_MS;
	struct redis_ask a, b;

	redis_rig_say(redis, "CONFIG", "SET", "maxclients", "1", NULL);
	open_single(&a, redis->url);
	open_single(&b, redis->url);
	get(&a);
	do
		redis_ask(&b, 2000, "a", "GET", "a", NULL);
	while (strstr(b.text, "max number of clients") == NULL &&
	    b.class == IDEM_CLASS_REFUSED && redis_boot_ms() < end_ms);
	ok(a.class == IDEM_OK && b.class == IDEM_CLASS_REFUSED &&
	    strstr(b.text, "max number of clients") != NULL,
	    "a server that is full of clients refuses [redis:28]");
	redis_ask_close(&a);
	ok(redis_ask_await(&b, PATIENCE_MS, false) &&
	    strcmp(get(&b), "(nil)") == 0, "with room again it does not");
	redis_ask_close(&b);
	redis_rig_say(redis, "CONFIG", "SET", "maxclients", "1000", NULL);
}

static void
secret(struct redis_rig *redis)
{
	struct redis_ask a;

	redis_rig_say(redis, "CONFIG", "SET", "requirepass", "xyzzy", NULL);
	open_single(&a, redis->url);
	get(&a);
	ok(a.class == IDEM_CLASS_CONFIG && a.away,
	    "no password where one is wanted is for the operator [redis:20]");
	redis_ask_close(&a);
	a.options.password = "plugh";
	redis_ask_open(&a, (const char *[]){ redis->url }, 1);
	get(&a);
	ok(a.class == IDEM_CLASS_CONFIG && strstr(a.text, "plugh") == NULL,
	    "so is a wrong one, which is not told [redis:20]");
	redis_ask_close(&a);
	a.options.password = "xyzzy";
	redis_ask_open(&a, (const char *[]){ redis->url }, 1);
	is(get(&a), "(nil)", "the right one opens");
	redis_ask_close(&a);
	snprintf(redis->password, sizeof redis->password, "xyzzy");
	redis_rig_say(redis, "CONFIG", "SET", "requirepass", "", NULL);
	redis->password[0] = '\0';
}

/* Of a wait that has no end nobody would hear. */
static struct idem_redis_waited
wait_for_set(struct redis_ask *a, int64_t limit_ms)
{
	struct idem_bytes args[3] = { { "SET", 3 }, { "w", 1 }, { "1", 1 } };
	struct idem_redis_waited w;

	alarm(2 * PATIENCE_MS / 1000);
	idem_redis_wait(a->client, &(struct idem_redis_command){
		.args = args, .args_len = 3, .key = args[1],
		.deadline_ms = redis_boot_ms() + limit_ms }, &w);
	alarm(0);
	return w;
}

static void
paused(struct redis_rig *redis)
{
	struct idem_redis_waited w;
	struct redis_ask a;

	open_single(&a, redis->url);
	w = wait_for_set(&a, LIMIT_MS);
	ok(w.class == IDEM_OK && idem_redis_is(w.value, "OK"),
	    "who waits has the reply");
	idem_redis_waited_free(&w);
	redis_rig_say(redis, "CLIENT", "PAUSE", "60000", "WRITE", NULL);
	redis_ask(&a, 150, "a", "SET", "a", "late", NULL);
	ok(a.class == IDEM_CLASS_MAYBE && !a.late,
	    "a write that a server holds back may yet come [redis:27]");
	w = wait_for_set(&a, 150);
	ok(w.class != IDEM_OK && w.value == NULL && w.error[0] != '\0',
	    "who waits for one is told when its time is over");
	idem_redis_waited_free(&w);
	redis_ask_close(&a);
	redis_rig_say(redis, "CLIENT", "UNPAUSE", NULL);
}

static void
cut_off(struct redis_rig *redis)
{
	struct redis_ask a;

	redis_rig_say(redis, "EVAL",
	    "return redis.call('SET', 'big', string.rep('x', 4000000))", "0",
	    NULL);
	redis_rig_say(redis, "CONFIG", "SET", "client-output-buffer-limit",
	    "normal 1000000 0 0", NULL);
	open_single(&a, redis->url);
	redis_ask(&a, PATIENCE_MS, "big", "GET", "big", NULL);
	ok(a.class == IDEM_CLASS_MAYBE && a.ms < PATIENCE_MS,
	    "a server that cuts a reply off has maybe done it [redis:29]");
	is(get(&a), "(nil)", "the next goes by a new connection");
	redis_ask_close(&a);
	redis_rig_say(redis, "CONFIG", "SET", "client-output-buffer-limit",
	    "normal 0 0 0", NULL);
}

int
main(void)
{
	struct redis_rig redis;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, (const char *[]){ "--enable-debug-command",
	    "yes", NULL });
	together(&redis);
	told_at_the_end(&redis);
	idle(&redis);
	replies(&redis);
	clock_of_it(&redis);
	scripts(&redis);
	forgetful();
	slow();
	redis_rig_say(&redis, "FLUSHALL", NULL);
	full(&redis);
	busy(&redis);
	loading(&redis);
	demoted(&redis);
	crowded(&redis);
	secret(&redis);
	paused(&redis);
	redis_rig_say(&redis, "FLUSHALL", NULL);
	cut_off(&redis);
	redis_rig_end(&redis);
	return done();
}
