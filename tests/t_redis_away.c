/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"
#include "redis_rig.h"
#include "chance.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The client with one real server that freezes, dies, and comes back: what is
 * answered, how soon, and what is known of it meanwhile.
 */
#define LIMIT_MS 300
#define PROBE_MS 300
#define PATIENCE_MS 20000	/* where it is not reached */
#define HUNDRED_MS 15000	/* for a hundred of 250 ms, if none waits */

static void
open_with(struct redis_ask *a, const char *url, uint32_t timeout_ms)
{
	memset(a, 0, sizeof *a);
	a->options.topology = IDEM_REDIS_SINGLE;
	a->options.probe_ms = PROBE_MS;
	a->options.timeout_ms = timeout_ms;
	redis_ask_open(a, (const char *[]){ url }, 1);
}

/* And connected, where there is a server. */
static void
open_there(struct redis_ask *a, const char *url, uint32_t timeout_ms)
{
	open_with(a, url, timeout_ms);
	if (!redis_ask_begin(a, PATIENCE_MS))
		bail_out("no answer: %s", a->text);
}

static const char *
get(struct redis_ask *a)
{
	return redis_ask(a, LIMIT_MS, "a", "GET", "a", NULL);
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
send_some(struct redis_ask *a, unsigned n, struct counted *c)
{
	struct idem_bytes args[2] = { { "GET", 3 }, { "a", 1 } };

	while (n-- > 0)
		idem_redis_send(a->client, &(struct idem_redis_command){
			.args = args, .args_len = 2, .key = args[1],
			.deadline_ms = redis_boot_ms() + PATIENCE_MS,
			.done = count, .arg = c });
}

/* Again while nothing was heard in time; nothing else is right. */
static const char *
await_reply(struct redis_ask *a, const char *word, const char *value)
{
	int64_t end_ms = redis_boot_ms() + PATIENCE_MS;

	do
		redis_ask(a, PATIENCE_MS, "a", word, "a", value, NULL);
	while (a->class != IDEM_OK && redis_boot_ms() < end_ms);
	return a->text;
}

static bool
await_answers(struct redis_ask *a, const struct counted *c, unsigned n)
{
	int64_t end_ms = redis_boot_ms() + 2 * PATIENCE_MS;

	while (c->answers < n && redis_boot_ms() < end_ms)
		redis_ask_turns(a, 1, NULL);
	return c->answers == n;
}

static void
frozen(struct redis_rig *redis)
{
	int64_t begin_ms;
	struct redis_ask a;
	int i, maybe = 0, late = 0;

	open_there(&a, redis->url, 0);
	redis_rig_freeze(redis);
	/* Three within a second: five are enough where nobody is held up. */
	begin_ms = redis_boot_ms();
	while (!idem_redis_away(a.client) &&
	    redis_boot_ms() < begin_ms + PATIENCE_MS) {
		redis_ask(&a, 250, "a", "SET", "a", "1", NULL);
		maybe += a.class == IDEM_CLASS_MAYBE;
		late += a.late;
		note("%s: %s, %lld ms", redis_class_name(a.class), a.text,
		    (long long)a.ms);
	}
	ok(maybe >= 1, "what was sent to a frozen server is maybe done "
	    "[redis:3]");
	is_int(late, 0, "its answer takes no longer than its deadline");
	ok(idem_redis_away(a.client) && a.went == 1,
	    "after a few failures it is away, which is told once");
	ok(strstr(a.why, redis->socket) != NULL, "with its name: %s", a.why);
	begin_ms = redis_boot_ms();
	for (i = 0, maybe = 0; i < 100; i++) {
		redis_ask(&a, 250, "a", "SET", "a", "1", NULL);
		maybe += a.class != IDEM_CLASS_REFUSED || !a.away;
	}
	ok(maybe == 0 && redis_boot_ms() - begin_ms < HUNDRED_MS,
	    "then a hundred commands take no time");
	redis_ask_turns(&a, 2 * PROBE_MS + 600, NULL);
	ok(idem_redis_away(a.client) && a.went == 1 && a.came == 0,
	    "probes find it still frozen");
	redis_rig_thaw(redis);
	ok(redis_ask_await(&a, PATIENCE_MS, false),
	    "once it answers, a probe finds that without any command");
	is_int(a.came, 1, "which is told once");
	is(await_reply(&a, "SET", "2"), "OK", "and commands go there again");
	redis_ask_close(&a);
}

/* By those who have a fifth of the time that it is given. */
static void
only_looked_at(struct redis_rig *redis)
{
	int64_t begin_ms;
	struct redis_ask a;

	open_there(&a, redis->url, 0);
	redis_rig_freeze(redis);
	begin_ms = redis_boot_ms();
	while (!idem_redis_away(a.client) &&
	    redis_boot_ms() < begin_ms + PATIENCE_MS)
		redis_ask(&a, 50, "a", "GET", "a", NULL);
	ok(idem_redis_away(a.client), "a frozen server is also away for those "
	    "who never wait long, after %lld ms",
	    (long long)(redis_boot_ms() - begin_ms));
	redis_rig_thaw(redis);
	redis_ask_close(&a);
}

/* As when it forks to save: it was away for all of them, but only once.  With a
   second of silence for each failure there are never three in one. */
#define PAUSE_MS 1000

static void
paused(struct redis_rig *redis)
{
	struct idem_bytes args[2] = { { "GET", 3 }, { "a", 1 } };
	struct counted c = {0};
	struct redis_ask a;
	int i;

	open_there(&a, redis->url, PAUSE_MS);
	redis_rig_freeze(redis);
	for (i = 0; i < 10; i++)
		idem_redis_send(a.client, &(struct idem_redis_command){
			.args = args, .args_len = 2, .key = args[1],
			.deadline_ms = redis_boot_ms() + PAUSE_MS,
			.done = count, .arg = &c });
	ok(await_answers(&a, &c, 10) && c.ok == 0 &&
	    !idem_redis_away(a.client),
	    "a pause is one failure, however many have waited in it");
	redis_rig_thaw(redis);
	await_reply(&a, "GET", NULL);
	ok(a.class == IDEM_OK && a.went == 0, "and is over with it");
	redis_ask_close(&a);
}

static void
killed(struct redis_rig *redis)
{
	struct counted c = {0};
	struct redis_ask a;
	int64_t end_ms = redis_boot_ms() + 3 * PATIENCE_MS;

	open_there(&a, redis->url, 0);
	await_reply(&a, "SET", "1");
	redis_rig_freeze(redis);
	send_some(&a, 10, &c);
	redis_ask_turns(&a, 20, NULL);
	redis_rig_kill(redis);
	ok(await_answers(&a, &c, 10) && c.ok == 0,
	    "an end of file answers all that was sent [redis:5]");
	ok(!idem_redis_away(a.client),
	    "a connection that breaks is one failure, whatever was on it");
	get(&a);
	ok(a.class == IDEM_CLASS_REFUSED && !a.late,
	    "a server that is not there refuses, within the deadline "
	    "[redis:1]");
	while (!idem_redis_away(a.client) && redis_boot_ms() < end_ms)
		get(&a);
	ok(idem_redis_away(a.client) && a.went == 1, "and is away soon");
	redis_ask(&a, PATIENCE_MS, "a", "GET", "a", NULL);
	ok(a.class == IDEM_CLASS_REFUSED && a.away && a.ms < PATIENCE_MS,
	    "then it is not asked");
	redis_rig_again(redis, true);
	ok(redis_ask_await(&a, PATIENCE_MS, false) && a.came == 1,
	    "a probe finds it after its restart");
	is(await_reply(&a, "GET", NULL), "(nil)",
	    "and what it has forgotten is nil, and no error [redis:31]");
	redis_ask_close(&a);
}

/* Within the patience of one command.  A server would take its time to start
   again; this one is there as soon as its name is. */
static void
restarted(struct redis_rig *redis)
{
	char name[REDIS_RIG_PATH], url[REDIS_RIG_PATH + 8];
	struct counted c = {0};
	struct redis_ask a;

	snprintf(name, sizeof name, "%s/name", redis->folder);
	snprintf(url, sizeof url, "unix:%s", name);
	if (symlink("sock", name) == -1)
		bail_out("%s: %s", name, strerror(errno));
	open_there(&a, url, PATIENCE_MS);
	unlink(name);
	redis_rig_say(redis, "CLIENT", "KILL", "TYPE", "normal", NULL);
	send_some(&a, 1, &c);
	redis_ask_turns(&a, 10, NULL);
	is_int(c.answers, 0, "a command to a server that has just gone waits");
	if (symlink("sock", name) == -1)
		bail_out("%s: %s", name, strerror(errno));
	ok(await_answers(&a, &c, 1) && c.ok == 1 && a.went == 0,
	    "for a short restart");
	redis_ask_close(&a);
}

static void
never_there(void)
{
	struct redis_ask a;

	open_with(&a, "unix:/nonexistent/redis", 0);
	get(&a);
	ok(a.class == IDEM_CLASS_REFUSED && !a.late,
	    "no socket: refused [redis:1]");
	redis_ask_close(&a);
	open_with(&a, "redis://127.0.0.1:1", 0);
	get(&a);
	ok(a.class == IDEM_CLASS_REFUSED && !a.late,
	    "no listener: refused [redis:1]");
	redis_ask_close(&a);
}

/* --- all of it, by chance ------------------------------------------------- */

struct tally {
	unsigned answered, ok, maybe, late;
	int64_t turned_ms;	/* when the client's last whole turn began */
};

struct one {
	struct tally *tally;
	int64_t deadline_ms;
};

static void
added(void *arg, const struct idem_redis_answer *a)
{
	struct one *one = arg;
	struct tally *t = one->tally;

	t->answered++;
	t->ok += a->class == IDEM_OK;
	t->maybe += a->class == IDEM_CLASS_MAYBE;
	/* By its turns, however long the machine lets it wait for them. */
	t->late += one->deadline_ms < t->turned_ms;
	free(one);
}

static void
add_one(struct redis_ask *a, struct tally *t)
{
	struct idem_bytes args[2] = { { "INCR", 4 }, { "n", 1 } };
	struct one *one = malloc(sizeof *one);

	if (one == NULL)
		bail_out("out of memory");
	*one = (struct one){ t, redis_boot_ms() + 100 };
	idem_redis_send(a->client, &(struct idem_redis_command){
		.args = args, .args_len = 2, .key = args[1],
		.deadline_ms = one->deadline_ms, .done = added, .arg = one });
}

/* Many short ones: what is overdue when one of them begins is answered in
   it. */
static void
turns(struct redis_ask *a, struct tally *t, int64_t limit_ms)
{
	int64_t end_ms = redis_boot_ms() + limit_ms, begun_ms;

	while ((begun_ms = redis_boot_ms()) < end_ms) {
		redis_ask_turns(a, 1, NULL);
		idem_redis_poll(a->client);
		t->turned_ms = begun_ms;
	}
}

static void
mishap(struct redis_rig *redis, struct redis_ask *a, struct tally *t,
    uint32_t *chance)
{
	switch (chance_below(chance, 4)) {
	case 0:
		redis_rig_freeze(redis);
		turns(a, t, 20 + chance_below(chance, 200));
		redis_rig_thaw(redis);
		break;
	case 1:
		redis_rig_kill(redis);
		turns(a, t, chance_below(chance, 50));
		redis_rig_again(redis, true);
		break;
	case 2:
		redis_rig_say(redis, "CLIENT", "KILL", "TYPE", "normal", NULL);
		break;
	default:
		redis_rig_say(redis, "SCRIPT", "FLUSH", NULL);
		break;
	}
}

/*
 * What is told done was done, what is told refused was not, and what may be
 * done was done once or never.  The append-only file survives its process; with
 * "everysec", what is written while it is being synced would not.
 */
static void
by_chance(uint32_t seed)
{
	int64_t end_ms = redis_boot_ms() + 2500;
	uint32_t chance = seed, sent = 0;
	struct tally t = {0};
	struct redis_rig redis;
	struct redis_ask a;
	long n;

	redis_rig_start(&redis, (const char *[]){ "--appendonly", "yes",
	    "--appendfsync", "no", NULL });
	memset(&a, 0, sizeof a);
	a.options.probe_ms = 50;
	redis_ask_open(&a, (const char *[]){ redis.url }, 1);
	while (redis_boot_ms() < end_ms) {
		for (n = 0; n < 5; n++, sent++)
			add_one(&a, &t);
		if (chance_below(&chance, 20) == 0)
			mishap(&redis, &a, &t, &chance);
		turns(&a, &t, chance_below(&chance, 5));
	}
	end_ms = redis_boot_ms() + PATIENCE_MS;
	while (t.answered < sent && redis_boot_ms() < end_ms)
		turns(&a, &t, 10);
	n = strtol(redis_rig_say(&redis, "GET", "n", NULL), NULL, 10);
	is_int(t.answered, sent, "seed %u: each of %u commands is answered, "
	    "once", seed, sent);
	is_int(t.late, 0, "none in a later turn than its deadline");
	ok(t.ok > 0 && n >= (long)t.ok && n <= (long)t.ok + (long)t.maybe,
	    "what was told done or not was so, and nothing was done twice: "
	    "%u done, %u maybe, %ld in all [redis:4 redis:5]", t.ok, t.maybe,
	    n);
	redis_ask_close(&a);
	redis_rig_end(&redis);
}

int
main(int argc, char **argv)
{
	uint32_t seed = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1;
	struct redis_rig redis;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	never_there();
	redis_rig_start(&redis, NULL);
	frozen(&redis);
	only_looked_at(&redis);
	paused(&redis);
	redis_rig_say(&redis, "FLUSHALL", NULL);
	killed(&redis);
	restarted(&redis);
	redis_rig_end(&redis);
	by_chance(seed);
	return done();
}
