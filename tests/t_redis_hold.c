/* SPDX-License-Identifier: ISC */
#include "redis_wire.h"

#include "chance.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * A server that holds its replies back and releases them later: nobody is ever
 * given another one's reply.  Each command has a number, which its reply
 * repeats.  Time stands still but for what we add.
 */
#define ROUNDS 1000
#define STEPS 30000
#define NUMBERS (STEPS + 3 * ROUNDS + 16)
#define PEERS 8
#define HELD 4096
#define TIMEOUT_MS 250

struct told {
	int answers;
	enum idem_class class;
	bool wrong;		/* another one's */
	int64_t deadline_ms;
};

static struct told told[NUMBERS];
static bool seen[NUMBERS];	/* by the server */

/* A connection, at the server's end. */
struct peer {
	int fd;			/* -1: none */
	size_t held, from;	/* numbers[from] to [held - 1] wait */
	size_t numbers[HELD];
	char in[65536];
	size_t in_len;
	char out[32];		/* of a reply that was begun */
	size_t out_len, out_done;
};

static struct world {
	char folder[64];
	int listener, fd, watches;
	bool want_write;
	int64_t now_ms;
	size_t next;		/* number */
	struct peer peers[PEERS];
	struct idem_clock clock;
	struct idem_redis_url url;
	struct idem_redis_options redis;
	struct idem_redis_wire *wire;
} world;

static int64_t
now_ms(void *arg)
{
	return ((struct world *)arg)->now_ms;
}

static void
watch(void *arg, struct idem_redis_wire *wire, int fd, bool want_write)
{
	struct world *w = arg;

	(void)wire;
	if (fd >= 0 && fd != w->fd)
		w->watches++;
	w->fd = fd;
	w->want_write = want_write;
}

/* --- the server ----------------------------------------------------------- */

static void
take_commands(struct peer *p)
{
	static const char head[] = "*2\r\n$4\r\nECHO\r\n$8\r\n";
	const size_t size = sizeof head - 1 + 10;
	size_t done = 0, number;

	for (; p->in_len - done >= size; done += size) {
		if (memcmp(p->in + done, head, sizeof head - 1) != 0)
			bail_out("not our command");
		number = strtoul(p->in + done + sizeof head - 1, NULL, 10);
		seen[number] = true;
		if (p->held < HELD)
			p->numbers[p->held++] = number;
	}
	p->in_len -= done;
	memmove(p->in, p->in + done, p->in_len);
}

static void
hear(struct peer *p)
{
	ssize_t n;

	if (p->fd < 0)
		return;
	n = recv(p->fd, p->in + p->in_len, sizeof p->in - p->in_len,
	    MSG_DONTWAIT);
	if (n > 0) {
		p->in_len += (size_t)n;
		take_commands(p);
	} else if (n == 0 || errno != EAGAIN) {
		close(p->fd);
		p->fd = -1;
	}
}

static void
serve(struct world *w)
{
	size_t i;
	int fd;

	while ((fd = accept4(w->listener, NULL, NULL,
	    SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		for (i = 0; i < PEERS - 1 && w->peers[i].fd >= 0; i++)
			continue;
		if (w->peers[i].fd >= 0)
			close(w->peers[i].fd);
		memset(&w->peers[i], 0, sizeof w->peers[i]);
		w->peers[i].fd = fd;
	}
	for (i = 0; i < PEERS; i++)
		hear(&w->peers[i]);
}

/* At most len bytes of the next reply; it is begun first. */
static bool
release_some(struct peer *p, size_t len)
{
	if (p->out_done == p->out_len) {
		if (p->from == p->held)
			return false;
		p->out_len = (size_t)snprintf(p->out, sizeof p->out,
		    "$8\r\n%08zu\r\n", p->numbers[p->from++]);
		p->out_done = 0;
	}
	if (len > p->out_len - p->out_done)
		len = p->out_len - p->out_done;
	if (p->fd >= 0)
		(void)send(p->fd, p->out + p->out_done, len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	p->out_done += len;
	return true;
}

static void
release(struct world *w, size_t replies)
{
	size_t i, n;

	for (i = 0; i < PEERS; i++)
		for (n = 0; n < replies; n++)
			release_some(&w->peers[i], sizeof w->peers[i].out);
}

/* --- the client ----------------------------------------------------------- */

static void
done_with(void *arg, const struct idem_redis_wire_answer *a)
{
	struct told *t = arg;
	char own[16];

	t->answers++;
	t->class = a->meaning.class;
	snprintf(own, sizeof own, "%08zu", (size_t)(t - told));
	t->wrong = a->meaning.class == IDEM_OK &&
	    !idem_bytes_is(a->value->text, own);
}

static size_t
say(struct world *w, int64_t deadline_ms)
{
	char number[16];
	struct idem_bytes args[2] = { { "ECHO", 4 }, { number, 8 } };
	struct told *t = &told[w->next];

	snprintf(number, sizeof number, "%08zu", w->next);
	t->deadline_ms = w->now_ms + deadline_ms;
	if (!idem_redis_wire_send(w->wire, args, 2, NULL, t->deadline_ms,
	    done_with, t))
		bail_out("no memory");
	return w->next++;
}

static void
due(struct world *w)
{
	int turns;

	for (turns = 0; turns < 100 &&
	    idem_redis_wire_due_ms(w->wire) <= w->now_ms; turns++)
		idem_redis_wire_due(w->wire);
}

/* What can happen without time passing. */
static void
turn(struct world *w)
{
	struct pollfd p = { .events = POLLIN };
	int turns;

	for (turns = 0; turns < 8; turns++) {
		due(w);
		serve(w);
		p.fd = w->fd;
		p.events = (short)(w->want_write ? POLLIN | POLLOUT : POLLIN);
		if (w->fd < 0 || poll(&p, 1, 0) <= 0)
			continue;
		idem_redis_wire_ready(w->wire,
		    (p.revents & (POLLIN | POLLHUP | POLLERR)) != 0,
		    (p.revents & POLLOUT) != 0);
	}
}

static void
open_world(struct world *w)
{
	struct idem_redis_wire_options o;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char text[128], error[128];
	size_t i;

	for (i = 0; i < PEERS; i++)
		w->peers[i].fd = -1;
	w->fd = -1;
	w->watches = 0;
	w->now_ms = 1000;
	snprintf(w->folder, sizeof w->folder, "/tmp/idem-hold-XXXXXX");
	if (mkdtemp(w->folder) == NULL)
		bail_out("no folder");
	snprintf(at.sun_path, sizeof at.sun_path, "%s/s", w->folder);
	w->listener = socket(AF_UNIX,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (bind(w->listener, (struct sockaddr *)&at, sizeof at) != 0 ||
	    listen(w->listener, 100) != 0)
		bail_out("no listener");
	snprintf(text, sizeof text, "unix:%s", at.sun_path);
	idem_redis_url_read(text, &w->url, error, sizeof error);
	w->clock = (struct idem_clock){ .boot_ms = now_ms, .arg = w };
	w->redis = (struct idem_redis_options){ .clock = &w->clock,
		.timeout_ms = TIMEOUT_MS };
	o = (struct idem_redis_wire_options){ .url = &w->url,
		.redis = &w->redis, .arg = w, .watch = watch };
	w->wire = idem_redis_wire_new(&o);
	if (w->wire == NULL)
		bail_out("no wire");
}

static void
close_world(struct world *w)
{
	char path[128];
	size_t i;

	idem_redis_wire_free(w->wire);
	for (i = 0; i < PEERS; i++)
		if (w->peers[i].fd >= 0)
			close(w->peers[i].fd);
	close(w->listener);
	snprintf(path, sizeof path, "%s/s", w->folder);
	unlink(path);
	rmdir(w->folder);
}

/* --- rounds --------------------------------------------------------------- */

/* The reply before it shows that the server lives. */
static bool
round_kept(struct world *w)
{
	size_t before = say(w, 100), late = say(w, 100), next;

	turn(w);
	w->now_ms += 90;
	release(w, 1);
	turn(w);
	w->now_ms += 20;
	turn(w);
	next = say(w, 100);
	turn(w);
	release(w, 2);
	turn(w);
	return told[before].class == IDEM_OK && told[before].answers == 1 &&
	    told[late].class == IDEM_CLASS_MAYBE && told[late].answers == 1 &&
	    told[next].class == IDEM_OK && told[next].answers == 1 &&
	    !told[next].wrong && w->watches == 1;
}

static bool
round_dropped(struct world *w)
{
	int watches = w->watches;
	size_t late = say(w, 100), next;

	turn(w);
	w->now_ms += TIMEOUT_MS;
	due(w);
	next = say(w, 100);
	turn(w);
	release(w, 2);
	turn(w);
	return told[late].class == IDEM_CLASS_MAYBE &&
	    told[late].answers == 1 && told[next].class == IDEM_OK &&
	    told[next].answers == 1 && !told[next].wrong &&
	    w->watches == watches + 1;
}

static void
hold_and_release(bool (*round)(struct world *), const char *what)
{
	int i, good = 0;

	open_world(&world);
	/* So that each connection is one that was used. */
	say(&world, 100);
	turn(&world);
	release(&world, 1);
	turn(&world);
	for (i = 0; i < ROUNDS; i++)
		good += round(&world);
	is_int(good, ROUNDS, "%s", what);
	close_world(&world);
}

/* --- anything ------------------------------------------------------------- */

/* Whoever is not answered though he should be. */
static size_t
overdue(const struct world *w, size_t from)
{
	size_t i, n = 0;

	for (i = from; i < w->next; i++)
		n += told[i].answers == 0 && told[i].deadline_ms <= w->now_ms;
	return n;
}

static void
step(struct world *w, uint32_t *chance)
{
	struct peer *p = &w->peers[chance_below(chance, PEERS)];

	switch (chance_below(chance, 16)) {
	case 0: case 1: case 2: case 3:
		say(w, 1 + chance_below(chance, 400));
		break;
	case 4: case 5: case 6: case 7: case 8:
		release(w, 1 + chance_below(chance, 4));
		break;
	case 9:
		release_some(p, 1 + chance_below(chance, 12));
		break;
	case 10: case 11:
		w->now_ms += 1 + chance_below(chance, 60);
		break;
	case 12:
		if (chance_below(chance, 12) != 0 || p->fd < 0)
			break;
		close(p->fd);
		p->fd = -1;
		break;
	case 13:
		due(w);
		break;
	default:
		turn(w);
		break;
	}
}

static void
anything(uint32_t seed)
{
	size_t from, i, wrong = 0, twice = 0, late = 0, refused = 0;
	size_t classes[4] = { 0 };
	uint32_t chance = seed;

	note("seed %u", (unsigned)seed);
	open_world(&world);
	from = world.next;
	for (i = 0; i < STEPS; i++) {
		step(&world, &chance);
		if (i % 64 == 0) {
			due(&world);
			late += overdue(&world, from);
		}
	}
	serve(&world);
	close_world(&world);
	for (i = from; i < world.next; i++) {
		twice += told[i].answers != 1;
		wrong += told[i].wrong;
		classes[told[i].class]++;
		refused += told[i].class == IDEM_CLASS_REFUSED && seen[i];
	}
	note("%zu ok, %zu refused, %zu maybe", classes[IDEM_OK],
	    classes[IDEM_CLASS_REFUSED], classes[IDEM_CLASS_MAYBE]);
	is_int((long long)wrong, 0, "nobody is given another one's reply "
	    "[idem:C2]");
	is_int((long long)twice, 0, "everybody is answered once");
	is_int((long long)refused, 0, "what is refused never was there");
	is_int((long long)late, 0, "nobody waits after his deadline");
	ok(classes[IDEM_OK] > 1000 && classes[IDEM_CLASS_MAYBE] > 100 &&
	    classes[IDEM_CLASS_REFUSED] > 10, "and all of it happened");
}

int
main(void)
{
	hold_and_release(round_kept, "1000 times a late reply is nobody's, "
	    "while others keep the connection [redis:3]");
	hold_and_release(round_dropped, "1000 times a late reply is nobody's, "
	    "after silence has ended the connection [redis:3]");
	anything(20251130);
	return done();
}
