/* SPDX-License-Identifier: ISC */
#include "rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/*
 * A load of FastCGI requests on a unix socket: so many clients, each with one
 * request at a time, for so long.  Every answer is looked at: one that is not
 * what was asked for counts as failed.
 */
static const char usage[] =
    "usage: bench_replay -s SOCKET [-n CLIENTS] [-t MS] [-p PROGRAM] [-k]\n"
    "                    [-r KEY | -f PREFIX] [-q QUERY] [-w TEXT]...\n"
    "  -k  keep the connections; else one for each request\n"
    "  -r  replays: all requests carry this key; all answers must be alike\n"
    "  -f  fresh ones: each carries a key of its own\n"
    "  -w  text that each answer must hold\n"
    "prints: rate=PER-SECOND mean_us= p50_us= p99_us= done= failed=\n";

#define CLIENTS_MAX 1024
#define ANSWER_MAX 65536
#define WANTED_MAX 4
#define SLICE_US 10
#define SLICES 100000		/* a second */
#define NUMBER_LEN 10
#define SLACK_MS 10000		/* for what is under way at the end */

struct client {
	int fd;			/* -1: none */
	uint32_t len;
	int64_t began_us;
	uint8_t at[ANSWER_MAX];
};

struct load {
	struct sockaddr_un address;
	struct client *clients;
	size_t count, busy;
	int epoll;
	int64_t run_ms, until_us;
	bool keep, alike;
	const char *wanted[WANTED_MAX];
	size_t wanted_len;
	struct idem_buf request;
	uint8_t *number;	/* in it; NULL: all are the same */
	unsigned long sent;
	struct idem_buf first;	/* answer, when they must be alike */
	uint64_t done, failed;
	int64_t sum_us;
	uint32_t slice[SLICES];
};

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static _Noreturn void
fail(const char *what)
{
	fprintf(stderr, "bench_replay: %s: %s\n", what, strerror(errno));
	exit(111);
}

/* --- one client ----------------------------------------------------------- */

/* Its queue may be full for a moment: then it is waited for. */
static void
dial(struct load *l, struct client *c)
{
	struct epoll_event event = {
		.events = EPOLLIN,
		.data.u32 = (uint32_t)(c - l->clients)
	};

	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd == -1 || connect(c->fd, (struct sockaddr *)&l->address,
	    sizeof l->address) == -1)
		fail(l->address.sun_path);
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event) == -1)
		fail("epoll");
}

static void
hang_up(struct client *c)
{
	if (c->fd != -1)
		close(c->fd);
	c->fd = -1;
}

static void
number(struct load *l)
{
	char digits[NUMBER_LEN + 1];

	if (l->number == NULL)
		return;
	snprintf(digits, sizeof digits, "%0*lu", NUMBER_LEN, l->sent);
	memcpy(l->number, digits, NUMBER_LEN);
}

/* A request is smaller than any socket's room. */
static void
ask(struct load *l, struct client *c)
{
	c->len = 0;
	c->began_us = now_us();
	if (c->fd == -1)
		dial(l, c);
	l->sent++;
	number(l);
	if (send(c->fd, l->request.at, l->request.len, MSG_NOSIGNAL) !=
	    (ssize_t)l->request.len)
		fail("send");
}

/* --- an answer ------------------------------------------------------------ */

/* Is END_REQUEST there, as the last record? */
static bool
is_whole(const struct client *c)
{
	uint32_t at = 0, len;

	while (c->len - at >= 8) {
		len = 8 + ((uint32_t)c->at[at + 4] << 8 | c->at[at + 5]) +
		    c->at[at + 6];
		if (c->len - at < len)
			return false;
		if (c->at[at + 1] == IDEM_FCGI_END_REQUEST)
			return true;
		at += len;
	}
	return false;
}

static bool
is_right(struct load *l, const struct client *c)
{
	size_t i;

	for (i = 0; i < l->wanted_len; i++)
		if (memmem(c->at, c->len, l->wanted[i],
		    strlen(l->wanted[i])) == NULL)
			return false;
	if (!l->alike)
		return true;
	if (l->first.len == 0)
		idem_buf_append(&l->first, c->at, c->len);
	return l->first.len == c->len &&
	    memcmp(l->first.at, c->at, c->len) == 0;
}

static void
count(struct load *l, const struct client *c, int64_t now)
{
	int64_t took_us = now - c->began_us;
	size_t slice = (size_t)(took_us / SLICE_US);

	if (now > l->until_us)	/* the last ones: the rate is of whole time */
		return;
	l->done++;
	l->sum_us += took_us;
	l->slice[slice < SLICES ? slice : SLICES - 1]++;
}

static void
answered(struct load *l, struct client *c, bool right)
{
	int64_t now = now_us();

	if (right)
		count(l, c, now);
	else if (l->failed++ == 0)
		fprintf(stderr, "bench_replay: a wrong answer: %.*s\n",
		    (int)c->len, (const char *)c->at);
	if (!l->keep || !right)
		hang_up(c);
	if (now < l->until_us)
		ask(l, c);
	else
		l->busy--;
}

static void
hear(struct load *l, struct client *c)
{
	ssize_t n = recv(c->fd, c->at + c->len, sizeof c->at - c->len,
	    MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		c->len += (uint32_t)n;
	if (n <= 0)
		answered(l, c, false);
	else if (is_whole(c))
		answered(l, c, is_right(l, c));
}

/* --- all of them ---------------------------------------------------------- */

static void
run(struct load *l)
{
	struct epoll_event events[256];
	int64_t began_us = now_us(), over_us;
	int i, n;

	l->until_us = began_us + l->run_ms * 1000;
	over_us = l->until_us + SLACK_MS * 1000;
	for (l->busy = 0; l->busy < l->count; l->busy++) {
		l->clients[l->busy].fd = -1;
		ask(l, &l->clients[l->busy]);
	}
	while (l->busy > 0 && now_us() < over_us) {
		n = epoll_wait(l->epoll, events, 256, 100);
		for (i = 0; i < n; i++)
			hear(l, &l->clients[events[i].data.u32]);
	}
	l->failed += l->busy;
}

static int64_t
within_us(const struct load *l, double share)
{
	uint64_t seen = 0;
	size_t i;

	for (i = 0; i < SLICES - 1; i++) {
		seen += l->slice[i];
		if ((double)seen >= share * (double)l->done)
			break;
	}
	return (int64_t)i * SLICE_US;
}

static void
print(const struct load *l)
{
	double rate = (double)l->done * 1000 / (double)l->run_ms;
	double mean = l->done > 0 ? (double)l->sum_us / (double)l->done : 0;

	printf("rate=%.0f mean_us=%.1f p50_us=%lld p99_us=%lld done=%llu "
	    "failed=%llu\n", rate, mean, (long long)within_us(l, 0.5),
	    (long long)within_us(l, 0.99), (unsigned long long)l->done,
	    (unsigned long long)l->failed);
}

/* --- what is asked for ---------------------------------------------------- */

static const char digits[NUMBER_LEN + 1] = "0000000000";

static void
write_request(struct load *l, const char *program, const char *query,
    const char *key, const char *prefix)
{
	char fresh[64];
	struct rig_request request = {
		.method = "POST",
		.path = "/order",
		.query = query,
		.key = key,
		.program = program,
		.type = "application/x-www-form-urlencoded",
		.body = idem_bytes_text("item=tea&count=1"),
		.keep = l->keep
	};

	if (prefix != NULL) {
		snprintf(fresh, sizeof fresh, "%.40s-%s", prefix, digits);
		request.key = fresh;
	}
	rig_request_write(&l->request, 1, &request);
	if (prefix != NULL)
		l->number = memmem(l->request.at, l->request.len, digits,
		    NUMBER_LEN);
}

static void
prepare(struct load *l, const char *socket_path)
{
	l->address.sun_family = AF_UNIX;
	snprintf(l->address.sun_path, sizeof l->address.sun_path, "%s",
	    socket_path);
	l->clients = calloc(l->count, sizeof *l->clients);
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (l->clients == NULL || l->epoll == -1)
		fail("start");
}

static int
wrong_use(void)
{
	fputs(usage, stderr);
	return 2;
}

int
main(int argc, char **argv)
{
	static struct load l = { .count = 16, .run_ms = 1000 };
	const char *path = NULL, *program = NULL, *query = NULL, *key = NULL;
	const char *prefix = NULL;
	int c;

	while ((c = getopt(argc, argv, "s:n:t:p:kr:f:q:w:")) != -1)
		switch (c) {
		case 's': path = optarg; break;
		case 'n': l.count = (size_t)atoi(optarg); break;
		case 't': l.run_ms = atoi(optarg); break;
		case 'p': program = optarg; break;
		case 'k': l.keep = true; break;
		case 'r': key = optarg; l.alike = true; break;
		case 'f': prefix = optarg; break;
		case 'q': query = optarg; break;
		case 'w':
			if (l.wanted_len < WANTED_MAX)
				l.wanted[l.wanted_len++] = optarg;
			break;
		default: return wrong_use();
		}
	if (path == NULL || l.count < 1 || l.count > CLIENTS_MAX ||
	    l.run_ms < 1)
		return wrong_use();
	prepare(&l, path);
	write_request(&l, program, query, key, prefix);
	run(&l);
	print(&l);
	return l.failed > 0 || l.done == 0;
}
