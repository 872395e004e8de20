/* SPDX-License-Identifier: ISC */
#include "net.h"
#include "net_rig.h"
#include "tap.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/*
 * What can be done to a whole net, by anybody, also from within its own calls;
 * and what it does with bytes that are no commands.
 */

static struct net_rig rig;

static struct net *
open_net(void)
{
	net_rig_open(&rig);
	return net_rig_between(&rig);
}

static void
close_net(struct net *net)
{
	net_close(net);
	net_rig_close(&rig);
}

/* --- whole ways ----------------------------------------------------------- */

static void
test_oneway(void)
{
	struct net *net = open_net();
	struct net_rig_peer *one = net_rig_client(&rig, 0), *two;

	net_rig_say(one, "SET a\r\n");
	net_rig_rest(&rig);
	net_oneway(net, NET_REQUESTS);
	net_rig_say(one, "SET b\r\n");
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET a|", "where requests are lost none "
	    "arrives");
	is(net_rig_came(one), "+a\r\n", "nothing comes back");
	ok(!one->closed, "and the connection stays");
	is(net_rig_told(&rig), "1>SET a|1<SET a a|2>SET b!|",
	    "the user is told that it is lost");
	two = net_rig_client(&rig, 0);
	net_rig_rest(&rig);
	net_heal(net);
	net_rig_say(two, "SET c\r\n");
	net_rig_rest(&rig);
	is(net_rig_came(two), "+c\r\n", "after a heal requests arrive");
	ok(one->closed, "where something was lost the connection is reset");

	net_oneway(net, NET_REPLIES);
	net_rig_say(two, "SET d\r\n");
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET c|SET d|",
	    "where replies are lost requests arrive");
	is(net_rig_came(two), "", "and nothing comes back");
	net_rig_say(two, "QUIT\r\n");
	net_rig_rest(&rig);
	ok(!two->closed, "not even that the server has closed");
	net_rig_leave(two);
	net_rig_rest(&rig);
	is_int((long long)net_connections(net), 0,
	    "a client that leaves ends it");
	net_oneway(net, NET_REPLIES);
	two = net_rig_client(&rig, 0);
	net_rig_say(two, "SET e\r\n");
	net_rig_rest(&rig);
	net_rig_half(two);
	net_rig_rest(&rig);
	is_int((long long)net_connections(net), 1,
	    "one that has said all may yet wait");
	net_rig_leave(two);
	net_rig_rest(&rig);
	is_int((long long)net_connections(net), 0, "until it leaves as well");
	close_net(net);
}

static void
test_stop(void)
{
	static char much[1 << 20];
	struct net *net = open_net();
	struct net_rig_peer *one = net_rig_client(&rig, 0);
	int64_t from_ms;
	ssize_t n;

	net_rig_rest(&rig);
	net_stop(net, NET_REQUESTS);
	net_rig_say(one, "SET a\r\n");
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "", "a way that is stopped passes nothing");
	memset(much, '\n', sizeof much);
	n = send(one->fd, much, sizeof much, MSG_NOSIGNAL | MSG_DONTWAIT);
	ok(n > 0 && n < (ssize_t)sizeof much,
	    "and is full after %zd bytes of %zu", n, sizeof much);
	net_rig_leave(one);
	net_rig_rest(&rig);
	from_ms = idem_boot_ms(&idem_clock_real);
	loop_turn(rig.loop, from_ms + 30);
	ok(idem_boot_ms(&idem_clock_real) >= from_ms + 30,
	    "nobody is woken for a client that has gone meanwhile");
	net_heal(net);
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET a|", "after a heal it goes on");
	is_int((long long)net_connections(net), 0, "to its end");
	close_net(net);
}

static void
test_refuse(void)
{
	struct net *net = open_net();
	struct net_rig_peer *one = net_rig_client(&rig, 0), *two;

	net_rig_rest(&rig);
	net_refuse(net, true);
	net_rig_rest(&rig);
	ok(one->closed, "connections that are there are reset");
	two = net_rig_client(&rig, 0);
	ok(two == NULL, "new ones are refused");
	is_int(errno, ECONNREFUSED, "as by a server that has died");
	net_refuse(net, false);
	two = net_rig_client(&rig, 0);
	ok(two != NULL, "or let in again");
	net_rig_say(two, "SET a\r\n");
	net_rig_rest(&rig);
	is(net_rig_came(two), "+a\r\n", "and served");
	net_reset(net);
	net_rig_rest(&rig);
	ok(two->closed, "a reset ends what is there");
	two = net_rig_client(&rig, 0);
	net_aim(net, "unix:/nonexistent/server");
	net_rig_rest(&rig);
	ok(two->closed, "when the server moves connections are reset");
	two = net_rig_client(&rig, 0);
	net_rig_rest(&rig);
	ok(two->closed, "so are those that reach no server");
	net_aim(net, rig.url);
	two = net_rig_client(&rig, 0);
	net_rig_say(two, "SET b\r\n");
	net_rig_rest(&rig);
	is(net_rig_came(two), "+b\r\n", "a server that is there is reached");
	net_rig_say(two, "QUIT\r\n");
	net_rig_rest(&rig);
	ok(two->closed, "when the server closes the client hears of it");
	close_net(net);
}

/* --- users who act from within -------------------------------------------- */

enum within {
	ADDS_RULE, LOSES, STOPS, STOPS_AND_HEALS, HOLDS_AND_RELEASES, RESETS,
	REFUSES, AIMS, CLEARS, CLOSES
};

static struct net *within_net;

static void
act_within(void *arg, struct net *net, const struct net_frame *f)
{
	const enum within *what = arg;

	if (f->message != 2 || f->way != NET_REQUESTS)
		return;
	switch (*what) {
	case ADDS_RULE:
		net_rule_add(net, &(struct net_rule){ .act = NET_ERROR,
		    .nth = 1, .times = 1, .word = "X" });
		break;
	case LOSES:
		net_oneway(net, NET_REQUESTS);
		break;
	case STOPS:
		net_stop(net, NET_REQUESTS);
		break;
	case STOPS_AND_HEALS:
		net_stop(net, NET_REQUESTS);
		net_heal(net);
		break;
	case HOLDS_AND_RELEASES:
		net_rule_add(net, &(struct net_rule){ .act = NET_HOLD,
		    .nth = 1, .times = 1 });
		net_release(net);
		break;
	case RESETS:
		net_reset(net);
		break;
	case REFUSES:
		net_refuse(net, true);
		break;
	case AIMS:
		net_aim(net, "unix:/nonexistent/server");
		break;
	case CLEARS:
		net_rules_clear(net);
		break;
	case CLOSES:
		net_close(net);
		within_net = NULL;
		break;
	}
}

static const struct {
	enum within what;
	const char *server, *client, *text;
} withins[] = {
	{ ADDS_RULE, "SET a|SET c|", "+a\r\n-X by the simulator\r\n+c\r\n",
	  "a rule that is added then counts for this frame" },
	{ LOSES, "SET a|", "+a\r\n", "a way that is lost then loses it" },
	{ STOPS, "SET a|SET b|", "+a\r\n+b\r\n",
	  "a way that is stopped then passes it, and no more" },
	{ STOPS_AND_HEALS, "SET a|SET b|SET c|", "+a\r\n+b\r\n+c\r\n",
	  "one that is healed as well passes all, once" },
	{ HOLDS_AND_RELEASES, "SET a|", "+a\r\n",
	  "what is released before it is held is held" },
	{ RESETS, "", "", "a reset ends the connection under it" },
	{ REFUSES, "", "", "so does a refusal" },
	{ AIMS, "", "", "and another server" },
	{ CLEARS, "SET a|SET b|SET c|", "+a\r\n+b\r\n+c\r\n",
	  "rules that are taken away then do not strike it" },
	{ CLOSES, "", "", "the net itself may be closed" },
};

static void
test_within(void)
{
	struct net_rig_peer *client;
	enum within what;
	size_t i;

	for (i = 0; i < sizeof withins / sizeof *withins; i++) {
		struct net_user user = { .frame = act_within, .arg = &what };

		net_rig_open(&rig);
		what = withins[i].what;
		within_net = net_open(rig.loop, rig.net, rig.url, false,
		    &rig.numbers, &user);
		if (what == CLEARS)
			net_rule_add(within_net, &(struct net_rule){
			    .act = NET_DROP, .nth = 2 });
		client = net_rig_client(&rig, 0);
		net_rig_say(client, "SET a\r\nSET b\r\nSET c\r\n");
		net_rig_rest(&rig);
		is(net_rig_heard(&rig), withins[i].server, "%s",
		    withins[i].text);
		is(net_rig_came(client), withins[i].client, "%s (replies)",
		    withins[i].text);
		if (what == STOPS) {
			net_heal(within_net);
			net_rig_rest(&rig);
			is(net_rig_heard(&rig), "SET c|",
			    "what had come by then passes after a heal");
		}
		close_net(within_net);
	}
}

/* --- raw, and TCP --------------------------------------------------------- */

static void
test_raw(void)
{
	struct net_rig_peer *client, *server;
	struct net *net;

	net_rig_open(&rig);
	rig.raw = true;
	net = net_open(rig.loop, NULL, rig.url, true, &rig.numbers, NULL);
	ok(net != NULL && net_port(net) > 0, "a net may have a port");
	net_rule_add(net, &(struct net_rule){ .act = NET_DROP, .nth = 1 });
	client = net_rig_client(&rig, net_port(net));
	server = net_rig_await_server(&rig, 1);
	net_rig_say(client, "PSYNC ? -1\r\n$5\r\nab");
	ok(net_rig_await(server, 18), "what a replica says arrives");
	is(net_rig_came(server), "PSYNC ? -1\r\n$5\r\nab",
	    "raw bytes pass as they are, and no rule counts them");
	net_rig_say(server, "+FULLRESYNC x 0\r\n$4\r\n\001\002");
	ok(net_rig_await(client, 23), "both ways");
	(void)net_rig_came(client);
	net_stop(net, NET_REPLIES);
	net_rig_say(server, "later");
	net_rig_wait(&rig, 20);
	is(net_rig_came(client), "", "a way can be stopped");
	net_heal(net);
	ok(net_rig_await(client, 5), "and goes on");
	is(net_rig_came(client), "later", "where it was");
	net_oneway(net, NET_REPLIES);
	net_rig_say(server, "lost");
	net_rig_wait(&rig, 20);
	is(net_rig_came(client), "", "what is lost does not arrive");
	net_heal(net);
	ok(net_rig_await_end(client) && client->reset,
	    "and a stream that has a hole is reset");
	net_refuse(net, true);
	client = net_rig_client(&rig, net_port(net));
	ok(client == NULL || net_rig_await_end(client), "a port can refuse");
	net_refuse(net, false);
	client = net_rig_client(&rig, net_port(net));
	server = net_rig_await_server(&rig, 2);
	net_rig_say(client, "again");
	ok(net_rig_await(server, 5), "and let in again");
	is(net_rig_came(server), "again", "at the same one");
	close_net(net);
}

static void
test_open(void)
{
	struct net *net;

	net_rig_open(&rig);
	ok(net_open(rig.loop, rig.net, "nowhere", false, &rig.numbers, NULL) ==
	    NULL, "a net in front of no address is refused");
	is_int(errno, EINVAL, "as wrong");
	ok(net_open(rig.loop, "/nonexistent/net", rig.url, false, &rig.numbers,
	    NULL) == NULL, "so is one in a folder that is not there");
	is_int(errno, ENOENT, "as that");
	net_close(NULL);
	net = net_open(rig.loop, rig.net, rig.url, false, &rig.numbers, NULL);
	net_close(net);
	ok(net_rig_client(&rig, 0) == NULL && errno == ENOENT,
	    "what was closed is gone");
	net_rig_close(&rig);
}

/* What is held lies in memory, to a limit: then the sender is not read. */
static void
test_much(void)
{
	static char head[] = "*2\r\n$4\r\nMUTE\r\n$1048576\r\n";
	static char much[(1 << 20) + 2];
	struct net *net = open_net();
	struct net_rig_peer *client = net_rig_client(&rig, 0);
	size_t sent = 0, len = sizeof head - 1 + sizeof much;
	struct idem_buf one = { 0 };
	unsigned still = 0;
	ssize_t n;

	memset(much, 'x', sizeof much - 2);
	memcpy(much + sizeof much - 2, "\r\n", 2);
	idem_buf_append(&one, head, sizeof head - 1);
	idem_buf_append(&one, much, sizeof much);
	net_rule_add(net, &(struct net_rule){ .act = NET_HOLD, .nth = 1 });
	while (still < 50 && sent < 200 * len) {
		n = send(client->fd, one.at + sent % len, len - sent % len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		still = n > 0 ? 0 : still + 1;
		sent += n > 0 ? (size_t)n : 0;
		loop_turn(rig.loop, 0);
	}
	ok(sent >= (64u << 20) && sent < (66u << 20),
	    "64 MiB lie in memory, then the sender waits (%zu)", sent);
	net_release(net);
	net_rig_rest(&rig);
	ok(strncmp(net_rig_heard(&rig), "MUTE xxx", 8) == 0,
	    "and they can be released");
	idem_buf_free(&one);
	close_net(net);
}

int
main(void)
{
	test_oneway();
	test_stop();
	test_refuse();
	test_within();
	test_raw();
	test_open();
	test_much();
	return done();
}
