/* SPDX-License-Identifier: ISC */
#include "net.h"
#include "net_rig.h"
#include "tap.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/*
 * A net between a client and a server that both are this test's own: what each
 * of them hears, in which order.
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

/* --- one connection, rules of all kinds ----------------------------------- */

#define RULES 3

static const struct {
	const char *what;
	struct net_rule rules[RULES];	/* up to the first without nth */
	const char *say;
	const char *server;	/* what it hears */
	const char *client;	/* what comes back */
	unsigned struck;
	bool ended;		/* the client's connection is over */
} rows[] = {
	{ "without rules all passes", { { .nth = 0 } },
	  "SET a\r\nGET b\r\n*1\r\n$4\r\nPING\r\n", "SET a|GET b|PING|",
	  "+a\r\n+b\r\n+PING\r\n", 0, false },
	{ "what is no command passes, and has no reply", { { .nth = 0 } },
	  "\r\n*0\r\nSET a\r\n", "SET a|", "+a\r\n", 0, false },
	{ "a dropped request never arrives, and no reply takes its place",
	  { { .act = NET_DROP, .nth = 2, .times = 1 } },
	  "SET a\r\nSET b\r\nSET c\r\n", "SET a|SET c|", "+a\r\n", 1, false },
	{ "a dropped reply's command was executed",
	  { { .act = NET_DROP, .way = NET_REPLIES, .nth = 2, .times = 1 } },
	  "SET a\r\nSET b\r\nSET c\r\n", "SET a|SET b|SET c|", "+a\r\n", 1,
	  false },
	{ "a rule is for one operation of a script",
	  { { .act = NET_ERROR, .op = "complete", .nth = 1, .word = "OOM" } },
	  "EVALSHA s 1 k claim\r\nEVALSHA s 1 k complete\r\nGET complete\r\n",
	  "EVALSHA s 1 k claim|GET complete|",
	  "+s\r\n-OOM by the simulator\r\n+complete\r\n", 1, false },
	{ "a rule is for one command, however it is spelt",
	  { { .act = NET_ERROR, .cmd = "get", .nth = 1, .word = "X" } },
	  "SET a\r\nGET b\r\ngEt c\r\nGETEX d\r\n", "SET a|GETEX d|",
	  "+a\r\n-X by the simulator\r\n-X by the simulator\r\n+d\r\n", 2,
	  false },
	{ "an error comes behind the replies before it",
	  { { .act = NET_ERROR, .nth = 3, .times = 2, .word = "LOADING it" } },
	  "SET a\r\nSET b\r\nSET c\r\nSET d\r\nSET e\r\n",
	  "SET a|SET b|SET e|", "+a\r\n+b\r\n-LOADING it by the simulator\r\n"
	  "-LOADING it by the simulator\r\n+e\r\n", 2, false },
	{ "an error may take a reply's place",
	  { { .act = NET_ERROR, .way = NET_REPLIES, .nth = 2, .times = 1,
	  .word = "BUSY" } }, "SET a\r\nSET b\r\nSET c\r\n",
	  "SET a|SET b|SET c|", "+a\r\n-BUSY by the simulator\r\n+c\r\n", 1,
	  false },
	{ "an error of no word is one",
	  { { .act = NET_ERROR, .nth = 1, .times = 1 } }, "SET a\r\n", "",
	  "-ERR by the simulator\r\n", 1, false },
	{ "a rule strikes as often as it says, from its nth on",
	  { { .act = NET_ERROR, .nth = 2, .times = 2, .word = "X" } },
	  "SET a\r\nSET b\r\nSET c\r\nSET d\r\n", "SET a|SET d|",
	  "+a\r\n-X by the simulator\r\n-X by the simulator\r\n+d\r\n", 2,
	  false },
	{ "each rule counts what another one strikes",
	  { { .act = NET_ERROR, .nth = 1, .times = 1, .word = "X" },
	  { .act = NET_ERROR, .nth = 2, .times = 1, .word = "Y" } },
	  "SET a\r\nSET b\r\nSET c\r\n", "SET c|",
	  "-X by the simulator\r\n-Y by the simulator\r\n+c\r\n", 2, false },
	{ "of two rules the first strikes, the other waits for the next",
	  { { .act = NET_ERROR, .nth = 1, .times = 1, .word = "X" },
	  { .act = NET_ERROR, .nth = 1, .times = 1, .word = "Y" } },
	  "SET a\r\nSET b\r\nSET c\r\n", "SET c|",
	  "-X by the simulator\r\n-Y by the simulator\r\n+c\r\n", 2, false },
	{ "a rule may let pass what the next would strike",
	  { { .act = NET_PASS, .nth = 1, .times = 1 },
	  { .act = NET_ERROR, .nth = 1, .word = "X" } },
	  "SET a\r\nSET b\r\n", "SET a|", "+a\r\n-X by the simulator\r\n", 2,
	  false },
	{ "a reset after some bytes of a request cuts it there",
	  { { .act = NET_RESET, .nth = 2, .times = 1, .bytes = 3 } },
	  "SET a\r\nSET b\r\nSET c\r\n", "SET a|", "", 1, true },
	{ "a reset after some bytes of a reply cuts it there",
	  { { .act = NET_RESET, .way = NET_REPLIES, .nth = 2, .times = 1,
	  .bytes = 3 } }, "SET a\r\nSET bcd\r\nSET e\r\n",
	  "SET a|SET bcd|SET e|", "+a\r\n+bc", 1, true },
	{ "a push is nobody's reply, and nobody counts it",
	  { { .act = NET_ERROR, .way = NET_REPLIES, .nth = 2, .times = 1,
	  .word = "X" } }, "PUSH a\r\nSET b\r\nSET c\r\n",
	  "PUSH a|SET b|SET c|",
	  ">2\r\n+push\r\n+x\r\n+a\r\n-X by the simulator\r\n+c\r\n", 1,
	  false },
	{ "a sliced request arrives whole",
	  { { .act = NET_SLICE, .nth = 1, .bytes = 3 } },
	  "SET abcdefg\r\nSET b\r\n", "SET abcdefg|SET b|",
	  "+abcdefg\r\n+b\r\n", 2, false },
	{ "a sliced reply arrives whole",
	  { { .act = NET_SLICE, .way = NET_REPLIES, .nth = 1, .times = 1 } },
	  "SET abcdefg\r\nSET b\r\n", "SET abcdefg|SET b|",
	  "+abcdefg\r\n+b\r\n", 1, false },
	{ "after SUBSCRIBE replies are nobody's, and pass", { { .nth = 0 } },
	  "SET a\r\nSUBSCRIBE c\r\nSET b\r\n", "SET a|SUBSCRIBE c|SET b|",
	  "+a\r\n+c\r\n+b\r\n", 0, false },
	{ "what is no RESP passes as it is",
	  { { .act = NET_DROP, .way = NET_REPLIES, .nth = 2 } },
	  "SET a\r\n*x\r\n", "SET a|", "+a\r\n", 0, false },
};

static void
test_rows(void)
{
	struct net_rig_peer *client;
	struct net *net;
	size_t i, j;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		net = open_net();
		for (j = 0; j < RULES && rows[i].rules[j].nth > 0; j++)
			net_rule_add(net, &rows[i].rules[j]);
		client = net_rig_client(&rig, 0);
		net_rig_say(client, rows[i].say);
		net_rig_rest(&rig);
		is(net_rig_heard(&rig), rows[i].server, "%s", rows[i].what);
		is(net_rig_came(client), rows[i].client, "%s (replies)",
		    rows[i].what);
		is_int(rig.struck, rows[i].struck, "%s (it struck)",
		    rows[i].what);
		is_int(client->closed, rows[i].ended, "%s (its connection)",
		    rows[i].what);
		close_net(net);
	}
}

/* --- who is told what ----------------------------------------------------- */

static void
test_pairs(void)
{
	struct net *net = open_net();
	struct net_rig_peer *one = net_rig_client(&rig, 0);
	struct net_rig_peer *two = net_rig_client(&rig, 0);

	net_rig_say(one, "MUTE a\r\n");
	net_rig_rest(&rig);
	net_rig_say(two, "SET b\r\nGET c\r\n");
	net_rig_rest(&rig);
	is(net_rig_told(&rig), "1>MUTE a|2>SET b|3>GET c|2<SET b b|3<GET c c|",
	    "each connection has its own pairs, and all share the numbers");
	is_int((long long)net_connections(net), 2, "both are there");
	net_rig_say(two, "PUSH d\r\n");
	net_rig_rest(&rig);
	is(net_rig_told(&rig), "4>PUSH d|0< push|4<PUSH d d|",
	    "a push is told as nobody's reply");
	net_rule_add(net, &(struct net_rule){ .act = NET_DROP, .nth = 1,
	    .times = 1 });
	net_rig_say(two, "SET e\r\nSET f\r\nSET g\r\n");
	net_rig_rest(&rig);
	is(net_rig_told(&rig), "5>SET e|6>SET f|7>SET g|6<SET f f!|7<SET g g!|",
	    "after a dropped request replies are their commands', and lost");
	net_rule_add(net, &(struct net_rule){ .act = NET_ERROR, .nth = 1,
	    .times = 1, .word = "OOM" });
	two = net_rig_client(&rig, 0);
	net_rig_say(two, "SET h\r\n");
	net_rig_rest(&rig);
	is(net_rig_told(&rig), "8>SET h|8<SET h -OOM by the simulator|",
	    "an error of ours is told as the reply that it is");
	net_rig_say(two, "SUBSCRIBE i\r\nSET j\r\n");
	net_rig_rest(&rig);
	is(net_rig_told(&rig), "9>SUBSCRIBE i|10>SET j|9<SUBSCRIBE i i|0< j|",
	    "after SUBSCRIBE there are no pairs any more");
	close_net(net);
}

/* A frame that comes in small parts is one frame. */
static void
test_parts(void)
{
	static const char say[] = "*2\r\n$3\r\nSET\r\n$1\r\na\r\n";
	struct net *net = open_net();
	struct net_rig_peer *client = net_rig_client(&rig, 0);
	size_t i;

	for (i = 0; i < sizeof say - 1; i++) {
		net_rig_say_bytes(client, (struct idem_bytes){ say + i, 1 });
		net_rig_rest(&rig);
		if (i == sizeof say - 3)
			is(net_rig_heard(&rig), "",
			    "a part of a command is not passed on");
	}
	is(net_rig_heard(&rig), "SET a|", "the whole of it is");
	is(net_rig_told(&rig), "1>SET a|1<SET a a|", "as one frame");
	close_net(net);
}

static void
test_slices(void)
{
	struct net *net = open_net();
	struct net_rig_peer *client = net_rig_client(&rig, 0);

	net_rule_add(net, &(struct net_rule){ .act = NET_SLICE, .nth = 1,
	    .bytes = 4 });
	net_rule_add(net, &(struct net_rule){ .act = NET_SLICE, .nth = 1,
	    .bytes = 1, .way = NET_REPLIES });
	net_rig_say(client, "SET 0123456789\r\n");
	net_rig_rest(&rig);
	is_int(net_rig_last(&rig)->reads, 4,
	    "a command of 16 bytes arrives in 4 pieces of 4");
	is_int(client->reads, 13, "a reply of 13 bytes in 13 of 1");
	net_rig_say(client, "SET 1\r\nSET 2\r\n");
	net_rig_rest(&rig);
	is_int(net_rig_last(&rig)->reads, 4 + 4,
	    "a command's last piece comes alone, too");
	close_net(net);
}

/* --- hold, delay, slow ---------------------------------------------------- */

static void
test_hold(void)
{
	struct net *net = open_net();
	struct net_rig_peer *one = net_rig_client(&rig, 0);
	struct net_rig_peer *two = net_rig_client(&rig, 0);

	net_rule_add(net, &(struct net_rule){ .act = NET_HOLD, .nth = 2,
	    .times = 1 });
	net_rig_say(one, "SET a\r\nSET b\r\nSET c\r\n");
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET a|",
	    "a held request does not arrive, nor what is behind it");
	net_rig_say(two, "SET d\r\n");
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET d|", "other connections go on");
	net_release(net);
	net_rig_say(one, "SET e\r\n");
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET b|SET c|SET e|",
	    "what was held arrives when it is released, in order");
	is(net_rig_came(one), "+a\r\n+b\r\n+c\r\n+e\r\n",
	    "and its replies come back");
	net_rule_add(net, &(struct net_rule){ .act = NET_HOLD, .nth = 1,
	    .way = NET_REPLIES });
	net_rig_say(one, "SET f\r\n");
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET f|", "of a held reply the command runs");
	is(net_rig_came(one), "", "and the client does not know");
	net_release(net);
	net_rig_say(one, "SET g\r\n");
	net_rig_rest(&rig);
	is(net_rig_came(one), "+f\r\n+g\r\n",
	    "after a release later frames do not wait");
	close_net(net);
}

static void
test_hold_ends(void)
{
	struct net *net = open_net();
	struct net_rig_peer *one = net_rig_client(&rig, 0);
	struct net_rig_peer *server;

	net_rule_add(net, &(struct net_rule){ .act = NET_HOLD, .nth = 1,
	    .times = 1 });
	net_rig_say(one, "SET a\r\n");
	net_rig_rest(&rig);
	net_rig_leave(one);
	net_rig_rest(&rig);
	server = net_rig_last(&rig);
	ok(!server->closed, "a client's end comes behind what is held");
	net_release(net);
	net_rig_rest(&rig);
	is(net_rig_heard(&rig), "SET a|",
	    "a command arrives long after its client has gone");
	ok(server->closed, "and then its end");
	is_int((long long)net_connections(net), 0, "nothing of it is left");

	one = net_rig_client(&rig, 0);
	net_rule_add(net, &(struct net_rule){ .act = NET_HOLD, .nth = 1,
	    .way = NET_REPLIES });
	net_rig_say(one, "SET b\r\nBYES c\r\n");
	net_rig_rest(&rig);
	ok(!one->closed, "a server's end comes behind what is held");
	net_release(net);
	net_rig_rest(&rig);
	is(net_rig_came(one), "+b\r\n+c\r\n", "replies before it arrive");
	ok(one->closed, "and then the end");
	net_rig_say(one, "SET d\r\n");
	net_rig_rest(&rig);
	ok(strstr(net_rig_heard(&rig), "SET d|") != NULL,
	    "of a half-closed connection the other half goes on");
	close_net(net);
}

static void
test_delay(void)
{
	struct net *net = open_net();
	struct net_rig_peer *one = net_rig_client(&rig, 0);
	struct net_rig_peer *two = net_rig_client(&rig, 0);
	int64_t from_ms;

	net_rule_add(net, &(struct net_rule){ .act = NET_DELAY, .nth = 1,
	    .times = 1, .ms = 60 });
	net_rig_rest(&rig);
	from_ms = idem_boot_ms(&idem_clock_real);
	net_rig_say(one, "SET a\r\nSET b\r\n");
	net_rig_say(two, "SET c\r\n");
	net_rig_rest(&rig);
	if (idem_boot_ms(&idem_clock_real) - from_ms < 60)
		is(net_rig_heard(&rig), "SET c|", "a delayed request does not "
		    "arrive at once, nor what is behind it");
	else
		skip("too slow here", "a delayed request is late");
	ok(net_rig_await(one, 8), "they arrive");
	ok(idem_boot_ms(&idem_clock_real) - from_ms >= 60,
	    "not before their time");
	is(net_rig_came(one), "+a\r\n+b\r\n", "in order");

	net_slow(net, 30);
	from_ms = idem_boot_ms(&idem_clock_real);
	net_rig_say(two, "SET d\r\n");
	ok(net_rig_await(two, 8), "a slow link passes on");
	ok(idem_boot_ms(&idem_clock_real) - from_ms >= 60,
	    "it is slow there and back");
	net_slow(net, 5000);
	net_rig_say(two, "SET e\r\n");
	net_rig_rest(&rig);
	net_slow(net, 0);
	net_release(net);
	net_rig_rest(&rig);
	is(net_rig_came(two), "+c\r\n+d\r\n+e\r\n",
	    "what a slow link still has can be released");
	close_net(net);
}

/* --- without means -------------------------------------------------------- */

/* So many numbers are left for descriptors.  As it was before. */
static struct rlimit
leave_descriptors(unsigned n)
{
	struct rlimit before, less;
	int fd = dup(0);

	getrlimit(RLIMIT_NOFILE, &before);
	less = before;
	less.rlim_cur = (rlim_t)fd + n;
	close(fd);
	if (fd == -1 || setrlimit(RLIMIT_NOFILE, &less) != 0)
		bail_out("RLIMIT_NOFILE: %s", strerror(errno));
	return before;
}

/* The client's own end is one, the net's two, which it has in turn. */
static const struct {
	const char *what;
	unsigned left;
} shorts[] = {
	{ "who cannot be taken", 1 },
	{ "who cannot be connected to the server", 2 }
};

static void
test_short(void)
{
	struct net_rig_peer *client;
	struct rlimit limit;
	struct net *net;
	size_t i;

	for (i = 0; i < sizeof shorts / sizeof *shorts; i++) {
		net = open_net();
		limit = leave_descriptors(shorts[i].left);
		client = net_rig_client(&rig, 0);
		net_rig_rest(&rig);
		is_int(net_error(net), EMFILE, "%s is told of", shorts[i].what);
		ok(client != NULL && rig.accepted == 0,
		    "and has not reached it");
		setrlimit(RLIMIT_NOFILE, &limit);
		close_net(net);
	}
}

int
main(void)
{
	test_rows();
	test_pairs();
	test_parts();
	test_slices();
	test_hold();
	test_hold_ends();
	test_delay();
	test_short();
	return done();
}
