/* SPDX-License-Identifier: ISC */
/*
 * A net between two peers that say what they like: whole values and broken
 * ones, transactions, scripts, pushes, lines, noise, in pieces of any size,
 * from both ends at once, with a half closed early or late.  Without faults all
 * of it arrives as it was sent, and the end behind it; with faults drawn at
 * random, also from within a frame, nobody dies of it.
 *
 * With LONG in the environment there are more rounds.
 */
#include "address.h"
#include "buf.h"
#include "chance.h"
#include "net.h"
#include "tap.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 300
#define ROUNDS_LONG 20000
#define PARTS_MAX 40		/* of what one end says */
#define STILL_MAX 150		/* turns in which nothing comes */
#define BIG (100u * 1024u * 1024u)
#define TURN_MS 20

static struct loop *loop;
static char folder[] = "/tmp/t_sim_net_hostile.XXXXXX";
static char server_path[80], net_path[80], url[90];
static uint32_t numbers;

/* --- peers ---------------------------------------------------------------- */

struct peer {
	struct watch watch;	/* first */
	struct idem_buf out, in;
	size_t said, piece;	/* piece: bytes a write, at most */
	bool keeps_open;	/* it does not end its half */
	bool half, over;	/* it has; the other has */
	bool broken;		/* nobody takes what it says */
};

static void
peer_ready(struct watch *watch, uint32_t events)
{
	struct peer *p = (struct peer *)watch;
	size_t left = p->out.len - p->said;
	static char at[65536];
	ssize_t n = 0;

	(void)events;
	if (left > 0) {
		n = send(watch->fd, p->out.at + p->said, left < p->piece ?
		    left : p->piece, MSG_NOSIGNAL | MSG_DONTWAIT);
		p->said += n > 0 ? (size_t)n : 0;
		if (n == -1 && errno != EAGAIN)
			p->broken = true;
	} else if (!p->half && !p->keeps_open) {
		(void)shutdown(watch->fd, SHUT_WR);
		p->half = true;
	}
	n = p->over ? -1 : recv(watch->fd, at, sizeof at, MSG_DONTWAIT);
	if (p->over)
		;
	else if (n > 0)
		idem_buf_append(&p->in, at, (size_t)n);
	else if (n == 0 || errno != EAGAIN)
		p->over = true;
	left = p->out.len - p->said;
	if (p->broken || (p->over && (p->half || (p->keeps_open && left ==
	    0))))
		loop_unwatch(loop, watch);
	else
		loop_change(loop, watch, (p->over ? 0 : EPOLLIN) | (left > 0 ||
		    (!p->half && !p->keeps_open) ? EPOLLOUT : 0));
}

static void
peer_end(struct peer *p)
{
	int fd = p->watch.fd;

	if (fd != -1) {
		loop_unwatch(loop, &p->watch);
		close(fd);
	}
	idem_buf_free(&p->out);
	idem_buf_free(&p->in);
}

/* --- what they say -------------------------------------------------------- */

static const char *const parts[] = {
	"*1\r\n$4\r\nPING\r\n", "*1\r\n$5\r\nMULTI\r\n",
	"*1\r\n$4\r\nEXEC\r\n", "PING\r\n", "\r\n", "*0\r\n", "*-1\r\n",
	"SET \"a b\" 'c\n", "*3\r\n$7\r\nEVALSHA\r\n$1\r\nx\r\n$1\r\n0\r\n",
	"*4\r\n$4\r\nEVAL\r\n$0\r\n\r\n$7\r\n9999999\r\n$1\r\nk\r\n",
	"*3\r\n$5\r\nFCALL\r\n$1\r\nf\r\n$2\r\n-1\r\n",
	"*2\r\n$9\r\nSUBSCRIBE\r\n$1\r\nc\r\n", "*1\r\n$5\r\nPSYNC\r\n",
	"*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$3\r\nOFF\r\n",
	"*1\r\n$6\r\nCLIENT\r\n", "+OK\r\n", "-OOM x\r\n", ":1\r\n",
	"$-1\r\n", "$5\r\nhello\r\n", "$5\r\nhel", "*2\r\n+WON\r\n$1\r\n1\r\n",
	">2\r\n+push\r\n+x\r\n", "%1\r\n+a\r\n+b\r\n", "~1\r\n#t\r\n", "_\r\n",
	"|1\r\n+a\r\n+b\r\n:2\r\n", "=7\r\ntxt:abc\r\n", ",1.5\r\n",
	"(12345678901234567890\r\n", "!3\r\nERR\r\n", "$?\r\n;3\r\nabc\r\n",
	"*999999999\r\n", "$536870913\r\n", "$00000000001\r\nx\r\n", "*1\r\n",
	"*1\r\n*1\r\n*1\r\n*1\r\n", "\n", "\r", "$", "*", "\0x", "$3\nabc\r\n",
	"+no end", "*1\r\n$99999999999999999999\r\n"
};

static void
say(struct idem_buf *to, uint32_t *chance, bool broken)
{
	uint32_t n = chance_below(chance, PARTS_MAX), i;
	size_t all = sizeof parts / sizeof *parts;
	const char *part;

	while (n-- > 0) {
		part = parts[chance_below(chance, (uint32_t)all)];
		idem_buf_append(to, part, *part == '\0' ? 2 : strlen(part));
		for (i = broken ? chance_below(chance, 9) : 0; i == 8; i--)
			idem_buf_u8(to, (uint8_t)chance_below(chance, 256));
	}
}

/* --- faults --------------------------------------------------------------- */

static void
some_rule(struct net *net, uint32_t *chance)
{
	static const char *const cmds[] = { NULL, "PING", "EVALSHA", "MULTI" };

	net_rule_add(net, &(struct net_rule){
		.act = (enum net_do)chance_below(chance, NET_DOS),
		.way = (enum net_way)chance_below(chance, NET_WAYS),
		.cmd = cmds[chance_below(chance, 4)],
		.nth = chance_below(chance, 4),
		.times = chance_below(chance, 3),
		.ms = chance_below(chance, 3), .bytes = chance_below(chance, 9),
		.word = "LOADING"
	});
}

static void
some_switch(struct net *net, uint32_t *chance)
{
	enum net_way way = (enum net_way)chance_below(chance, NET_WAYS);
	struct net_counts counts;

	switch (chance_below(chance, 12)) {
	case 0:
		net_oneway(net, way);
		break;
	case 1:
		net_stop(net, way);
		break;
	case 2:
		net_go_on(net, way);
		break;
	case 3:
		net_slow(net, chance_below(chance, 3));
		break;
	case 4:
		net_release(net);
		break;
	case 5:
		net_heal(net);
		break;
	case 6:
		net_stream_read(net);
		break;
	case 7:
		net_stream_keep(net, chance_below(chance, 2) == 0 ?
		    NET_STREAM_ALL : chance_below(chance, 3));
		(void)net_stream_counts(net, &counts);
		(void)net_stream_key(net, 0);
		break;
	case 8:
		(void)net_awaits(net);
		(void)net_waiting(net, way);
		break;
	case 9:
		if (chance_below(chance, 20) == 0)
			net_reset(net);
		break;
	default:
		some_rule(net, chance);
		break;
	}
}

struct meddler {
	uint32_t *chance;
	unsigned left;
};

/* Also from within: as a scenario's rules do. */
static void
meddle(void *arg, struct net *net, const struct net_frame *f)
{
	struct meddler *m = arg;

	(void)f;
	if (m->left > 0 && chance_below(m->chance, 4) == 0) {
		m->left--;
		some_switch(net, m->chance);
	}
}

/* --- a round -------------------------------------------------------------- */

struct round {
	struct peer client, server;
	struct net *net;
	int listener;
};

static void
join(struct round *r, bool raw, const struct net_user *user)
{
	struct address at;
	bool connected;
	int fd;

	r->net = net_open(loop, net_path, url, raw, &numbers, user);
	fd = address_read(&at, net_path) ? address_connect(&at, &connected) :
	    -1;
	if (r->net == NULL || fd == -1)
		bail_out("no net: %s", strerror(errno));
	r->client.watch.ready = r->server.watch.ready = peer_ready;
	if (loop_watch(loop, &r->client.watch, fd, EPOLLIN | EPOLLOUT) == -1)
		bail_out("no watch");
	do
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + TURN_MS);
	while ((fd = accept4(r->listener, NULL, NULL, SOCK_NONBLOCK |
	    SOCK_CLOEXEC)) == -1);
	if (loop_watch(loop, &r->server.watch, fd, EPOLLIN | EPOLLOUT) == -1)
		bail_out("no watch");
}

static void
part(struct round *r)
{
	net_close(r->net);
	peer_end(&r->client);
	peer_end(&r->server);
}

static bool
is_same(const struct idem_buf *a, const struct idem_buf *b)
{
	return a->len == b->len && (a->len == 0 ||
	    memcmp(a->at, b->at, a->len) == 0);
}

static bool
is_over(const struct round *r)
{
	return r->client.over && r->server.over;
}

/* All of it, both ways, and the ends. */
static bool
is_clear(struct round *r)
{
	size_t came = 0, now;
	int still = 0;

	while (!is_over(r) && still++ < STILL_MAX) {
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + TURN_MS);
		now = r->client.in.len + r->server.in.len + r->client.said +
		    r->server.said;
		still = now > came ? 0 : still;
		came = now;
	}
	return is_over(r) && is_same(&r->client.out, &r->server.in) &&
	    is_same(&r->server.out, &r->client.in);
}

static bool
clear_round(int listener, uint32_t seed)
{
	uint32_t chance = seed;
	struct round r = { .listener = listener };
	bool good;

	say(&r.client.out, &chance, chance_below(&chance, 2) == 0);
	say(&r.server.out, &chance, chance_below(&chance, 2) == 0);
	r.client.piece = 1 + chance_below(&chance, 40);
	r.server.piece = 1 + chance_below(&chance, 40);
	join(&r, chance_below(&chance, 4) == 0, NULL);
	good = is_clear(&r);
	if (!good)
		note("seed %u: %zu of %zu there, %zu of %zu back%s", seed,
		    r.server.in.len, r.client.out.len, r.client.in.len,
		    r.server.out.len, is_over(&r) ? "" : ", and no end");
	part(&r);
	return good;
}

static void
faulty_round(int listener, uint32_t seed)
{
	uint32_t chance = seed;
	struct round r = { .listener = listener };
	struct meddler m = { &chance, 10 };
	const struct net_user user = { .frame = meddle, .arg = &m };
	unsigned turns = 20 + chance_below(&chance, 60);

	say(&r.client.out, &chance, chance_below(&chance, 4) == 0);
	say(&r.server.out, &chance, chance_below(&chance, 4) == 0);
	r.client.piece = 1 + chance_below(&chance, 90);
	r.server.piece = 1 + chance_below(&chance, 90);
	r.client.keeps_open = chance_below(&chance, 2) == 0;
	r.server.keeps_open = chance_below(&chance, 2) == 0;
	join(&r, chance_below(&chance, 3) == 0, &user);
	while (turns-- > 0) {
		if (chance_below(&chance, 3) == 0)
			some_switch(r.net, &chance);
		loop_turn(loop, idem_boot_ms(&idem_clock_real) + 1);
	}
	part(&r);
}

/* A hundred megabytes each way, in one value. */
static void
big_round(int listener)
{
	struct round r = { .listener = listener };
	char *much = calloc(1, BIG);

	if (much == NULL)
		bail_out("no memory");
	idem_buf_printf(&r.client.out, "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%u\r\n",
	    BIG);
	idem_buf_append(&r.client.out, much, BIG);
	idem_buf_text(&r.client.out, "\r\n*1\r\n$4\r\nPING\r\n");
	idem_buf_printf(&r.server.out, "$%u\r\n", BIG);
	idem_buf_append(&r.server.out, much, BIG);
	idem_buf_text(&r.server.out, "\r\n+PONG\r\n");
	free(much);
	r.client.piece = r.server.piece = 1u << 20;
	join(&r, false, NULL);
	ok(is_clear(&r), "a hundred megabytes pass each way");
	part(&r);
}

static int
listen_there(void)
{
	struct address at;
	int fd;

	snprintf(server_path, sizeof server_path, "%s/server", folder);
	snprintf(net_path, sizeof net_path, "%s/net", folder);
	snprintf(url, sizeof url, "unix:%s", server_path);
	fd = address_read(&at, server_path) ? address_socket(&at) : -1;
	if (fd == -1 || bind(fd, (struct sockaddr *)&at.at, at.len) == -1 ||
	    listen(fd, 16) == -1)
		bail_out("%s: %s", server_path, strerror(errno));
	return fd;
}

int
main(void)
{
	uint32_t rounds = getenv("LONG") != NULL ? ROUNDS_LONG : ROUNDS, i;
	unsigned good = 0;
	int listener;

	(void)signal(SIGPIPE, SIG_IGN);
	loop = loop_new(&idem_clock_real);
	if (loop == NULL || mkdtemp(folder) == NULL)
		bail_out("no loop or no folder");
	listener = listen_there();
	for (i = 1; i <= rounds; i++)
		good += clear_round(listener, i);
	is_int(good, rounds, "without faults whatever is said arrives, and the "
	    "end behind it");
	for (i = 1; i <= rounds / 3; i++)	/* they take their time */
		faulty_round(listener, i);
	ok(true, "with faults nobody dies of it");
	big_round(listener);
	close(listener);
	(void)unlink(server_path);
	ok(rmdir(folder) == 0, "nothing is left");
	loop_free(loop);
	return done();
}
