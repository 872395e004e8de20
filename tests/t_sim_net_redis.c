/* SPDX-License-Identifier: ISC */
#include "address.h"
#include "net.h"
#include "redis_rig.h"
#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* A net in front of a real Redis: what comes through is what is said. */

#define WAIT_MS 60000
#define COMMANDS 10000
#define FIRST_ID 1000
#define LAST_ID 9000

static struct redis_rig redis;
static struct loop *loop;
static uint32_t numbers;
static char path[REDIS_RIG_PATH + 8];

/* --- a client that says much at once -------------------------------------- */

struct talk {
	struct watch watch;	/* first */
	struct idem_bytes left;
	struct idem_buf came;
	size_t looked_at;	/* bytes of what came, in whole values */
	unsigned values;
	bool closed;
};

static void
count_values(struct talk *t)
{
	struct idem_bytes left;
	long n;

	for (;;) {
		left.at = t->came.at + t->looked_at;
		left.len = t->came.len - t->looked_at;
		n = left.len > 0 ? resp_len(left) : 0;
		if (n <= 0)
			return;
		t->looked_at += (size_t)n;
		t->values++;
	}
}

static void
talk_ready(struct watch *watch, uint32_t events)
{
	struct talk *t = (struct talk *)watch;
	char at[65536];
	ssize_t n;

	(void)events;
	n = t->left.len == 0 ? 0 : send(watch->fd, t->left.at, t->left.len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0) {
		t->left.at = (const char *)t->left.at + n;
		t->left.len -= (size_t)n;
	}
	n = recv(watch->fd, at, sizeof at, MSG_DONTWAIT);
	if (n > 0) {
		idem_buf_append(&t->came, at, (size_t)n);
		count_values(t);
	} else if (n == 0 || errno != EAGAIN) {
		t->closed = true;
	}
	if (t->closed)
		loop_unwatch(loop, watch);
	else
		loop_change(loop, watch, t->left.len > 0 ?
		    EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void
talk_open(struct talk *t, const char *server)
{
	struct address at;
	bool connected;
	int fd;

	memset(t, 0, sizeof *t);
	fd = address_read(&at, server) ? address_connect(&at, &connected) : -1;
	t->watch.ready = talk_ready;
	if (fd == -1 || loop_watch(loop, &t->watch, fd, EPOLLIN) == -1)
		bail_out("%s: %s", server, strerror(errno));
}

static void
talk_close(struct talk *t)
{
	int fd = t->watch.fd;

	if (fd != -1) {
		loop_unwatch(loop, &t->watch);
		close(fd);
	}
	idem_buf_free(&t->came);
}

/* Say it and wait until so many values have come since the begin. */
static bool
talk_say(struct talk *t, struct idem_bytes bytes, unsigned values)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + WAIT_MS;

	t->left = bytes;
	loop_change(loop, &t->watch, EPOLLIN | EPOLLOUT);
	while (t->values < values && !t->closed &&
	    idem_boot_ms(&idem_clock_real) < until_ms)
		loop_turn(loop, until_ms);
	return t->values == values;
}

static bool
talk_text(struct talk *t, const char *text, unsigned values)
{
	return talk_say(t, idem_bytes_text(text), values);
}

/* --- ten thousand commands ------------------------------------------------ */

static void
command(struct idem_buf *to, const char *name, const char *key,
    struct idem_bytes value)
{
	idem_buf_printf(to, "*3\r\n$%zu\r\n%s\r\n$%zu\r\n%s\r\n$%zu\r\n",
	    strlen(name), name, strlen(key), key, value.len);
	idem_buf_append(to, value.at, value.len);
	idem_buf_text(to, "\r\n");
}

static void
some_command(struct idem_buf *to, unsigned i)
{
	static uint8_t much[20000];
	char key[24];
	size_t n;

	snprintf(key, sizeof key, "k%u", i % 50);
	for (n = 0; n < sizeof much && i == 0; n++)
		much[n] = (uint8_t)(n * 7);
	switch (i % 10) {
	case 0:
		command(to, "SET", key, (struct idem_bytes){ much,
		    i % 500 == 0 ? sizeof much : i % 90 });
		break;
	case 1:
		command(to, "RPUSH", "list", idem_bytes_text(key));
		break;
	case 2:
		idem_buf_printf(to, "LRANGE list -5 -1\r\n");
		break;
	case 3:
		idem_buf_printf(to, "HSET hash f%u %u\r\n", i % 7, i);
		break;
	case 4:
		idem_buf_printf(to, "HGETALL hash\r\n");
		break;
	case 5:
		idem_buf_printf(to, "INCR list\r\n");
		break;
	case 6:
		idem_buf_printf(to, "MGET k%u nobody k%u\r\n", i % 50, i % 7);
		break;
	case 7:
		idem_buf_printf(to, "EVAL \"return {'WON', 1, {ARGV[1], "
		    "false}}\" 1 k claim\r\n");
		break;
	case 8:
		idem_buf_printf(to, "HELLO %u\r\nCLIENT SETNAME x\r\n",
		    2 + i / 10 % 2);
		break;
	default:
		idem_buf_printf(to, "GET k%u\r\n", i % 50);
		break;
	}
}

static bool
run_all(const char *server, struct idem_bytes all, unsigned n,
    struct idem_buf *came)
{
	struct talk t;
	bool whole;

	redis_rig_say(&redis, "FLUSHALL", NULL);
	talk_open(&t, server);
	whole = talk_say(&t, all, n);
	idem_buf_append(came, t.came.at, t.came.len);
	talk_close(&t);
	return whole;
}

/* A connection's number is all that differs. */
static void
hide_ids(struct idem_buf *b)
{
	static const char id[] = "$2\r\nid\r\n:";
	uint8_t *at = b->at, *end = b->at + b->len, *digits;

	while ((at = memmem(at, (size_t)(end - at), id, sizeof id - 1)) !=
	    NULL) {
		at += sizeof id - 1;
		for (digits = at; digits < end && *digits >= '0' &&
		    *digits <= '9'; digits++)
			*digits = '0';
	}
}

/* So that all ids have as many digits, however many were used up while the
   server came up. */
static void
use_up_ids(void)
{
	const char *said;
	long long id;

	do {
		said = redis_rig_say(&redis, "CLIENT", "ID", NULL);
		id = strtoll(said, NULL, 10);
		if (id <= 0)
			bail_out("CLIENT ID: %s", said);
	} while (id < FIRST_ID);
	if (id > LAST_ID)
		bail_out("client %lld already", id);
}

static unsigned frames[NET_WAYS], unpaired;

static void
count_frame(void *arg, struct net *net, const struct net_frame *f)
{
	(void)arg;
	(void)net;
	frames[f->way]++;
	if (f->message == 0)
		unpaired++;
}

static void
test_many(void)
{
	const struct net_user user = { .frame = count_frame };
	struct idem_buf all = { 0 }, direct = { 0 }, through = { 0 };
	unsigned i, n = COMMANDS + COMMANDS / 10;
	struct net *net;

	for (i = 0; i < COMMANDS; i++)
		some_command(&all, i);
	use_up_ids();
	ok(run_all(redis.url, idem_buf_bytes(&all), n, &direct),
	    "%u commands are answered", n);
	net = net_open(loop, path + 5, redis.url, false, &numbers, &user);
	net_rule_add(net, &(struct net_rule){ .act = NET_SLICE, .nth = 1,
	    .bytes = 100 });
	net_rule_add(net, &(struct net_rule){ .act = NET_SLICE, .nth = 1,
	    .way = NET_REPLIES, .bytes = 77 });
	ok(run_all(path, idem_buf_bytes(&all), n, &through),
	    "through a slicing net too");
	hide_ids(&direct);
	hide_ids(&through);
	ok(direct.len == through.len && direct.len > 0 &&
	    memcmp(direct.at, through.at, direct.len) == 0,
	    "and all %zu bytes of their replies are the same", direct.len);
	is_int(frames[NET_REQUESTS], n, "the net saw each command");
	is_int(frames[NET_REPLIES], n, "and each reply");
	is_int(unpaired, 0, "every reply was a command's");
	net_close(net);
	idem_buf_free(&all);
	idem_buf_free(&direct);
	idem_buf_free(&through);
}

/* --- the nth of an operation ---------------------------------------------- */

static void
test_nth(void)
{
	static const char claim[] = "EVAL \"redis.call('INCR', KEYS[1]) return "
	    "{'WON'}\" 1 %s claim\r\n";
	struct idem_buf say = { 0 };
	struct net *net;
	struct talk t;
	unsigned i;

	redis_rig_say(&redis, "FLUSHALL", NULL);
	net = net_open(loop, path + 5, redis.url, false, &numbers, NULL);
	net_rule_add(net, &(struct net_rule){ .act = NET_ERROR, .op = "claim",
	    .nth = 3, .times = 2, .word = "LOADING" });
	for (i = 0; i < 6; i++) {
		idem_buf_text(&say, "PING\r\n");
		idem_buf_printf(&say, claim, "n");
	}
	talk_open(&t, path);
	ok(talk_say(&t, idem_buf_bytes(&say), 12), "all are answered");
	idem_buf_u8(&t.came, '\0');
	is((const char *)t.came.at, "+PONG\r\n*1\r\n$3\r\nWON\r\n"
	    "+PONG\r\n*1\r\n$3\r\nWON\r\n"
	    "+PONG\r\n-LOADING by the simulator\r\n"
	    "+PONG\r\n-LOADING by the simulator\r\n"
	    "+PONG\r\n*1\r\n$3\r\nWON\r\n+PONG\r\n*1\r\n$3\r\nWON\r\n",
	    "the third and fourth claim were not executed, in their places");
	is(redis_rig_say(&redis, "GET", "n", NULL), "4",
	    "and the server has executed the other four");
	talk_close(&t);
	idem_buf_free(&say);
	net_close(net);
}

/* --- messages that nobody asked for --------------------------------------- */

static void
test_pushes(void)
{
	const struct net_user user = { .frame = count_frame };
	struct net *net;
	struct talk t;

	frames[NET_REQUESTS] = frames[NET_REPLIES] = unpaired = 0;
	net = net_open(loop, path + 5, redis.url, false, &numbers, &user);
	talk_open(&t, path);
	ok(talk_text(&t, "HELLO 3\r\nCLIENT TRACKING ON\r\nGET k\r\n", 3),
	    "a client that is told of changes");
	redis_rig_say(&redis, "SET", "k", "1", NULL);
	ok(talk_text(&t, "GET k\r\n", 5), "gets a push, and a reply");
	is_int(unpaired, 1, "the push is nobody's reply");
	is_int(frames[NET_REPLIES], 5, "all others are");
	talk_close(&t);
	talk_open(&t, path);
	ok(talk_text(&t, "PING\r\nSUBSCRIBE c\r\n", 2), "a subscriber");
	redis_rig_say(&redis, "PUBLISH", "c", "hello", NULL);
	ok(talk_text(&t, "", 3), "gets its messages");
	is_int(unpaired, 2, "which are no replies");
	talk_close(&t);
	net_close(net);
}

/* --- a replica's link ----------------------------------------------------- */

/* The replica answers while the loop carries its stream. */
static bool
replica_has(struct redis_rig *replica, const char *want, int64_t wait_ms)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + wait_ms;

	do {
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + 5);
		if (strcmp(redis_rig_say(replica, "GET", "r", NULL), want) == 0)
			return true;
	} while (idem_boot_ms(&idem_clock_real) < until_ms);
	return false;
}

static void
test_replica(void)
{
	struct redis_rig replica = { 0 };
	char master[40], port[16];
	struct net *net;

	snprintf(master, sizeof master, "127.0.0.1:%d", redis.port);
	net = net_open(loop, NULL, master, true, &numbers, NULL);
	snprintf(port, sizeof port, "%d", net_port(net));
	redis_rig_say(&redis, "CONFIG", "SET", "repl-diskless-sync-delay", "0",
	    NULL);
	redis_rig_say(&redis, "SET", "r", "1", NULL);
	redis_rig_start(&replica, NULL);
	redis_rig_say(&replica, "REPLICAOF", "127.0.0.1", port, NULL);
	ok(replica_has(&replica, "1", WAIT_MS),
	    "a replica gets its snapshot through a net");
	redis_rig_say(&redis, "SET", "r", "2", NULL);
	ok(replica_has(&replica, "2", WAIT_MS), "and what is written then");
	net_stop(net, NET_REQUESTS);
	net_stop(net, NET_REPLIES);
	is(redis_rig_say(&redis, "SET", "r", "3", NULL), "OK",
	    "a write is acknowledged while the link stands still");
	ok(!replica_has(&replica, "3", 50), "which the replica does not have");
	net_heal(net);
	ok(replica_has(&replica, "3", WAIT_MS), "until the link goes on");
	net_stop(net, NET_REPLIES);
	redis_rig_say(&redis, "SET", "r", "4", NULL);
	redis_rig_say(&replica, "REPLICAOF", "NO", "ONE", NULL);
	is(redis_rig_say(&replica, "GET", "r", NULL), "3",
	    "a replica that is made the master meanwhile has lost it");
	redis_rig_end(&replica);
	net_close(net);
}

int
main(void)
{
	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	redis_rig_start(&redis, NULL);
	loop = loop_new(&idem_clock_real);
	if (loop == NULL)
		bail_out("no loop");
	snprintf(path, sizeof path, "unix:%s/net", redis.folder);
	test_many();
	test_nth();
	test_pushes();
	test_replica();
	loop_free(loop);
	redis_rig_end(&redis);
	return done();
}
