/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"
#include "redis_fake.h"
#include "redis_rig.h"
#include "redis_slot.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three real masters, and a fourth node that joins them. */
#define NODES 3
#define LIMIT_MS 20000		/* not reached */
#define PATIENCE_MS 60000	/* where it is not reached */
#define KEYS 300

static const struct idem_redis_script once_more = {
	.text = { "return redis.call('INCRBY', KEYS[1], ARGV[1])", 45 },
	.sha1 = "8cd00688c05c46bde4a2e60658ef20a2e5c0b248"
};

struct world {
	struct redis_rig node[NODES], more;
};

static void
open_client(struct redis_ask *a, const char *const *urls, size_t len)
{
	memset(a, 0, sizeof *a);
	a->options.topology = IDEM_REDIS_CLUSTER;
	a->options.probe_ms = 300;
	a->options.timeout_ms = PATIENCE_MS;
	redis_ask_open(a, urls, len);
}

static const char *
set(struct redis_ask *a, const char *key, const char *value)
{
	return redis_ask(a, LIMIT_MS, key, "SET", key, value, NULL);
}

/* Of one kind, that a node has said. */
static long
errors(struct redis_rig *node, const char *word)
{
	char name[64];
	const char *at;

	snprintf(name, sizeof name, "errorstat_%s:count=", word);
	at = strstr(redis_rig_say(node, "INFO", "errorstats", NULL), name);
	return at != NULL ? strtol(at + strlen(name), NULL, 10) : 0;
}

static long
errors_of_all(struct world *w, const char *word)
{
	long n = 0;
	size_t i;

	for (i = 0; i < NODES; i++)
		n += errors(&w->node[i], word);
	return n;
}

/* --- the map -------------------------------------------------------------- */

static void
all_slots(struct world *w)
{
	struct redis_ask a;
	char key[24];
	unsigned i, done = 0;
	long sum = 0;
	size_t n;

	open_client(&a, (const char *[]){ "127.0.0.1:1", w->node[1].url }, 2);
	is(set(&a, "x", "1"), "OK",
	    "the map comes from whichever seed is there");
	for (i = 0; i < KEYS; i++) {
		snprintf(key, sizeof key, "k%u", i);
		done += strcmp(set(&a, key, "1"), "OK") == 0;
	}
	is_int(done, KEYS, "each key is written");
	is_int(errors_of_all(w, "MOVED"), 0, "none goes to a wrong node");
	for (n = 0; idem_redis_node(a.client, n) != NULL; n++) {
		redis_ask_this(&a, LIMIT_MS, (struct idem_redis_command){
			.args = (struct idem_bytes[]){ { "DBSIZE", 6 } },
			.args_len = 1, .node = idem_redis_node(a.client, n) });
		sum += strtol(a.text, NULL, 10);
	}
	ok(n == NODES && sum == KEYS + 1,
	    "the nodes are known by name and can be asked one by one");
	for (i = 0; i < NODES; i++)
		redis_ask(&a, LIMIT_MS, NULL, "ECHO", "anybody", NULL);
	is(a.text, "anybody", "without a key any node answers");
	for (i = 0, done = 0; i < NODES; i++)
		done += strstr(redis_rig_say(&w->node[i], "INFO",
		    "commandstats", NULL), "cmdstat_echo:calls=1,") != NULL;
	is_int(done, NODES, "each in turn");
	redis_ask(&a, LIMIT_MS, "a", "MGET", "a", "b", NULL);
	ok(a.class == IDEM_CLASS_CONFIG,
	    "keys of two slots are not one command [redis:19]");
	redis_ask_close(&a);
}

static void
nobody_there(void)
{
	struct redis_ask a;

	open_client(&a, (const char *[]){ "127.0.0.1:1", "127.0.0.1:2" }, 2);
	set(&a, "a", "1");
	ok(a.class == IDEM_CLASS_REFUSED && a.away && a.ms < LIMIT_MS &&
	    a.went == 1, "no seed is there: %s", a.text);
	redis_ask_close(&a);
}

/* --- slots that move ------------------------------------------------------ */

static void
id_of(struct redis_rig *node, char id[64])
{
	snprintf(id, 64, "%s", redis_rig_say(node, "CLUSTER", "MYID", NULL));
}

static void
set_slot(struct redis_rig *at, const char *slot, const char *word,
    struct redis_rig *node)
{
	const char *reply;
	char id[64];

	id_of(node, id);
	reply = redis_rig_say(at, "CLUSTER", "SETSLOT", slot, word, id, NULL);
	if (strcmp(reply, "OK") != 0)
		bail_out("SETSLOT %s %s: %s", slot, word, reply);
}

static void
begin_move(struct redis_rig *from, struct redis_rig *to, const char *slot)
{
	set_slot(to, slot, "IMPORTING", from);
	set_slot(from, slot, "MIGRATING", to);
}

static void
move_key(struct redis_rig *from, struct redis_rig *to, const char *key)
{
	const char *reply;
	char port[16];

	snprintf(port, sizeof port, "%d", to->port);
	reply = redis_rig_say(from, "MIGRATE", "127.0.0.1", port, key, "0",
	    "20000", NULL);
	if (strcmp(reply, "OK") != 0)
		bail_out("MIGRATE %s: %s", key, reply);
}

static void
end_move(struct world *w, struct redis_rig *to, const char *slot)
{
	size_t i;

	set_slot(to, slot, "NODE", to);
	for (i = 0; i < NODES; i++)
		set_slot(&w->node[i], slot, "NODE", to);
}

static void
slot_of(const char *key, char slot[8])
{
	snprintf(slot, 8, "%u", idem_redis_slot(idem_bytes_text(key)));
}

static void
moved(struct world *w)
{
	struct redis_ask a;
	char key[24], slot[8];

	slot_of(redis_key_at(0, NODES, 0, key), slot);
	open_client(&a, (const char *[]){ w->node[0].url }, 1);
	set(&a, key, "1");
	begin_move(&w->node[0], &w->node[1], slot);
	move_key(&w->node[0], &w->node[1], key);
	end_move(w, &w->node[1], slot);
	is(redis_ask(&a, LIMIT_MS, key, "GET", key, NULL), "1",
	    "a slot that has moved is found [redis:17]");
	redis_ask(&a, LIMIT_MS, key, "GET", key, NULL);
	is_int(errors_of_all(w, "MOVED"), 1, "and known from then on");
	redis_ask_close(&a);
}

#define CROWD 40

struct crowd {
	unsigned sent, ok, answered;
};

static void
counted(void *arg, const struct idem_redis_answer *a)
{
	struct crowd *c = arg;

	c->answered++;
	c->ok += a->class == IDEM_OK;
	if (a->class != IDEM_OK)
		note("%s: %s", redis_class_name(a->class), a->error);
}

/* One more for each key of the slot. */
static void
once_more_for_all(struct redis_ask *a, struct crowd *c)
{
	struct idem_bytes args[3] = { { "1", 1 }, { NULL, 0 }, { "1", 1 } };
	char key[24];
	unsigned i;

	for (i = 0; i < CROWD; i++) {
		snprintf(key, sizeof key, "{moving}%u", i);
		args[1] = idem_bytes_text(key);
		idem_redis_send(a->client, &(struct idem_redis_command){
			.script = &once_more, .args = args, .args_len = 3,
			.key = args[1],
			.deadline_ms = redis_boot_ms() + PATIENCE_MS,
			.done = counted, .arg = c });
		c->sent++;
	}
	redis_ask_turns(a, 2, NULL);
}

static void
await_all(struct redis_ask *a, const struct crowd *c)
{
	int64_t end_ms = redis_boot_ms() + 2 * PATIENCE_MS;

	while (c->answered < c->sent && redis_boot_ms() < end_ms)
		redis_ask_turns(a, 10, NULL);
}

static long
sum_of_crowd(struct redis_ask *a)
{
	char key[24];
	long sum = 0;
	unsigned i;

	for (i = 0; i < CROWD; i++) {
		snprintf(key, sizeof key, "{moving}%u", i);
		sum += strtol(redis_ask(a, LIMIT_MS, key, "GET", key, NULL),
		    NULL, 10);
	}
	return sum;
}

/* To a node that has never seen the script, key by key, and back. */
static void
moving_under_load(struct world *w)
{
	struct redis_rig *old = &w->node[redis_owner("{moving}", NODES)];
	struct crowd c = {0};
	struct redis_ask a;
	char slot[8], key[24];
	unsigned i;

	slot_of("{moving}", slot);
	open_client(&a, (const char *[]){ w->node[0].url }, 1);
	once_more_for_all(&a, &c);
	await_all(&a, &c);	/* what is to move is there */
	begin_move(old, &w->more, slot);
	for (i = 0; i < CROWD; i++) {
		once_more_for_all(&a, &c);
		snprintf(key, sizeof key, "{moving}%u", i);
		move_key(old, &w->more, key);
	}
	once_more_for_all(&a, &c);
	await_all(&a, &c);
	ok(errors(old, "ASK") > 0, "a slot that is moving says ASK: %ld times",
	    errors(old, "ASK"));
	ok(errors(&w->more, "NOSCRIPT") > 0,
	    "a node that has not seen the script is told it there "
	    "[redis:7 redis:18]");
	is_int(errors(&w->more, "MOVED"), 0,
	    "and asked for what it is about to have only with ASKING "
	    "[redis:18]");
	end_move(w, &w->more, slot);
	once_more_for_all(&a, &c);
	await_all(&a, &c);
	ok(c.ok == c.sent, "all %u are done while it moves [redis:18]: %u",
	    c.sent, c.ok);
	is_int(sum_of_crowd(&a), c.ok, "and each of them once");
	ok(idem_redis_node(a.client, NODES) != NULL &&
	    idem_redis_node(a.client, NODES + 1) == NULL,
	    "the new node is one of them then");
	redis_ask_close(&a);
}

static bool heard;

static void
hour_ahead(void *arg, const struct idem_redis_answer *a)
{
	struct redis_ask *ask = arg;

	heard = true;
	idem_redis_heard(ask->client, (struct idem_bytes){ "{half}a", 7 },
	    a->sent_ms, idem_wall_ms(&idem_clock_real) + 3600000);
}

/* A key that is asked for elsewhere, where it is an hour later. */
static void
two_clocks(struct redis_ask *a)
{
	struct idem_bytes args[2] = { { "GET", 3 }, { "{half}a", 7 } };
	int64_t ms;

	idem_redis_send(a->client, &(struct idem_redis_command){
		.args = args, .args_len = 2, .key = args[1],
		.deadline_ms = redis_boot_ms() + PATIENCE_MS,
		.done = hour_ahead, .arg = a });
	ok(redis_ask_turns(a, PATIENCE_MS, &heard) &&
	    idem_redis_now(a->client, args[1], &ms) &&
	    llabs(ms - idem_wall_ms(&idem_clock_real)) < 1800000,
	    "one node's clock is not taken for another's [redis:18 redis:33]");
}

/* A command of two keys that lie at two nodes for a while. */
static void
half_moved(struct world *w)
{
	struct idem_bytes args[3] = { { "MGET", 4 }, { "{half}a", 7 },
		{ "{half}b", 7 } };
	struct redis_rig *old = &w->node[redis_owner("{half}", NODES)];
	struct crowd c = { .sent = 1 };
	struct redis_ask a;
	int64_t end_ms;
	char slot[8];

	slot_of("{half}", slot);
	open_client(&a, (const char *[]){ w->node[0].url }, 1);
	set(&a, "{half}a", "1");
	set(&a, "{half}b", "2");
	begin_move(old, &w->more, slot);
	move_key(old, &w->more, "{half}a");
	two_clocks(&a);
	idem_redis_send(a.client, &(struct idem_redis_command){
		.args = args, .args_len = 3, .key = args[1],
		.deadline_ms = redis_boot_ms() + PATIENCE_MS, .done = counted,
		.arg = &c });
	end_ms = redis_boot_ms() + PATIENCE_MS;
	while (c.answered == 0 && errors(old, "TRYAGAIN") +
	    errors(&w->more, "TRYAGAIN") == 0 && redis_boot_ms() < end_ms)
		redis_ask_turns(&a, 2, NULL);
	ok(c.answered == 0,
	    "keys that lie apart for a while are asked for again [redis:19]");
	move_key(old, &w->more, "{half}b");
	end_move(w, &w->more, slot);
	await_all(&a, &c);
	ok(c.ok == 1, "until they lie together");
	redis_ask_close(&a);
}

/* --- a server that does not know its own address -------------------------- */

#define INFO_MASTER "say $18\r\n# R\r\nrole:master\r\n\r\n"
#define TIME_NOW "say *2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"

static void
no_host(void)
{
	char map[160], points[64];
	const char *const first[] = { "accept", "expect 1", map, "accept",
		"expect 2", INFO_MASTER, TIME_NOW, "expect 3", points, NULL };
	const char *const second[] = { "accept", "expect 2", INFO_MASTER,
		TIME_NOW, "expect 3", "say $3\r\nyes\r\n", NULL };
	struct redis_fake one, two;
	struct redis_ask a;

	redis_fake_tcp(&one, 8);
	redis_fake_tcp(&two, 8);
	snprintf(map, sizeof map, "say *1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n"
	    "$0\r\n\r\n:%d\r\n", one.port);
	snprintf(points, sizeof points, "say -MOVED 15495 :%d\r\n", two.port);
	redis_fake_play(&one, first);
	redis_fake_play(&two, second);
	open_client(&a, (const char *[]){ one.url }, 1);
	is(redis_ask(&a, LIMIT_MS, "a", "GET", "a", NULL), "yes",
	    "no host in a map or in MOVED is the host that said it");
	redis_ask_close(&a);
	redis_fake_end(&one);
	redis_fake_end(&two);
}

static void
no_map(void)
{
	static const char *const maps[] = {
		"say *0\r\n", "say *1\r\n:1\r\n", "say +OK\r\n",
		"say *1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\na\r\n:1\r\n",
		"say *1\r\n*3\r\n:-1\r\n:5\r\n*2\r\n$1\r\na\r\n:1\r\n",
		"say *1\r\n*2\r\n:0\r\n:5\r\n",
		"say *1\r\n*3\r\n:5\r\n:0\r\n*2\r\n$1\r\na\r\n:1\r\n",
		("say *2\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$1\r\na\r\n:1\r\n"
		"*3\r\n:7\r\n:7\r\n*2\r\n$1\r\nb\r\n:2\r\n"),
		"say -ERR This instance has cluster support disabled\r\n",
	};
	struct redis_fake fake;
	struct redis_ask a;
	size_t i;

	for (i = 0; i < sizeof maps / sizeof *maps; i++) {
		redis_fake_tcp(&fake, 8);
		redis_fake_play(&fake, (const char *[]){ "accept", "expect 1",
		    maps[i], NULL });
		open_client(&a, (const char *[]){ fake.url }, 1);
		set(&a, "a", "1");
		ok(a.class == IDEM_CLASS_REFUSED && a.away &&
		    a.ms < LIMIT_MS && idem_redis_node(a.client, 0) == NULL,
		    "what is no map is none: %s", a.text);
		redis_ask_close(&a);
		redis_fake_end(&fake);
	}
}

/* One that would write lines of its own into a log. */
static void
odd_host(void)
{
	struct redis_fake fake;
	struct redis_ask a;

	redis_fake_tcp(&fake, 8);
	redis_fake_play(&fake, (const char *[]){ "accept", "expect 1",
	    "say *1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n$3\r\na\nb\r\n:1\r\n",
	    NULL });
	open_client(&a, (const char *[]){ fake.url }, 1);
	set(&a, "a", "1");
	ok(a.class == IDEM_CLASS_REFUSED && strchr(a.text, '\n') == NULL &&
	    idem_redis_node(a.client, 0) == NULL,
	    "what cannot be a host is none: %s", a.text);
	redis_ask_close(&a);
	redis_fake_end(&fake);
}

int
main(void)
{
	static struct world w;
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_cluster(w.node, NODES, NULL);
	nobody_there();
	no_host();
	no_map();
	odd_host();
	all_slots(&w);
	moved(&w);
	redis_rig_join(&w.more, w.node, NODES, NULL);
	moving_under_load(&w);
	half_moved(&w);
	redis_rig_end(&w.more);
	for (i = 0; i < NODES; i++)
		redis_rig_end(&w.node[i]);
	return done();
}
