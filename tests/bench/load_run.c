/* SPDX-License-Identifier: ISC */
#include "load.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define READ_SIZE 65536
#define SLACK_US 10000000	/* for what is under way at the end */
#define TOOK_MAX (1u << 24)	/* more are counted, but not remembered */
#define EVENTS 256

struct client {
	int fd;			/* -1: none */
	bool sending;		/* EPOLLOUT is asked for */
	uint64_t key;
	int64_t began_ns;
	struct idem_buf request;
	uint8_t *place;		/* of the key in it; NULL: none */
	struct idem_bytes left;	/* of it */
	struct load_answer answer;
};

struct load {
	const struct load_options *o;
	struct load_figures *f;
	struct load_keys keys;
	struct sockaddr_storage address;
	socklen_t address_len;
	struct client *clients;
	uint32_t busy;
	size_t took_size;
	int epoll;
	FILE *save;		/* NULL: bodies are not kept */
	uint64_t begun;
	int64_t began_ns, until_ns, last_ns;	/* until_ns 0: no matter */
	bool failed;
};

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
fail(struct load *l, const char *what)
{
	if (!l->failed)
		fprintf(stderr, "load: %s: %s: %s\n", l->o->at, what,
		    strerror(errno));
	l->failed = true;
}

/* --- where ---------------------------------------------------------------- */

static bool
unix_address(struct load *l, const char *path)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&l->address;

	if (strlen(path) >= sizeof un->sun_path)
		return false;
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, strlen(path) + 1);
	l->address_len = sizeof *un;
	return true;
}

static bool
tcp_address(struct load *l, const char *text)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	const char *colon = strrchr(text, ':');
	struct addrinfo *found;
	char host[256];

	if (colon == NULL || (size_t)(colon - text) >= sizeof host)
		return false;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	if (getaddrinfo(host, colon + 1, &hints, &found) != 0)
		return false;
	memcpy(&l->address, found->ai_addr, found->ai_addrlen);
	l->address_len = found->ai_addrlen;
	freeaddrinfo(found);
	return true;
}

static bool
find_address(struct load *l)
{
	if (strncmp(l->o->at, "unix:", 5) == 0)
		return unix_address(l, l->o->at + 5);
	if (strncmp(l->o->at, "tcp:", 4) == 0)
		return tcp_address(l, l->o->at + 4);
	return false;
}

/* --- one client ----------------------------------------------------------- */

/* Connecting blocks: a full queue is waited for. */
static void
dial(struct load *l, struct client *c)
{
	struct epoll_event event = { .events = EPOLLIN,
		.data.u32 = (uint32_t)(c - l->clients) };
	const int on = 1;

	c->fd = socket(l->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (c->fd == -1 || connect(c->fd, (struct sockaddr *)&l->address,
	    l->address_len) == -1) {
		fail(l, "connect");
		return;
	}
	if (l->address.ss_family != AF_UNIX)
		setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event) == -1)
		fail(l, "epoll");
	c->sending = false;
	l->f->connections++;
}

static void
hang_up(struct client *c)
{
	if (c->fd != -1)
		close(c->fd);
	c->fd = -1;
}

static void
want_room(struct load *l, struct client *c, bool wanted)
{
	struct epoll_event event = {
		.events = wanted ? EPOLLIN | EPOLLOUT : EPOLLIN,
		.data.u32 = (uint32_t)(c - l->clients)
	};

	if (wanted != c->sending)
		epoll_ctl(l->epoll, EPOLL_CTL_MOD, c->fd, &event);
	c->sending = wanted;
}

/* A peer that refuses before it has read all is still heard. */
static void
say(struct load *l, struct client *c)
{
	ssize_t n = send(c->fd, c->left.at, c->left.len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n > 0) {
		c->left.at = (const uint8_t *)c->left.at + n;
		c->left.len -= (size_t)n;
	} else if (errno != EAGAIN && errno != EINTR) {
		c->left.len = 0;
	}
	want_room(l, c, c->left.len > 0);
}

static void
ask(struct load *l, struct client *c)
{
	load_answer_reset(&c->answer);
	c->key = load_keys_next(&l->keys);
	if (c->place != NULL)
		load_key(&l->keys, c->key, c->place);
	c->left = idem_buf_bytes(&c->request);
	l->begun++;
	c->began_ns = now_ns();
	if (c->fd == -1)
		dial(l, c);
	if (!l->failed)
		say(l, c);
}

/* --- an answer ------------------------------------------------------------ */

static bool
is_right(struct load *l, struct client *c)
{
	const struct load_options *o = l->o;
	const struct load_answer *a = &c->answer;

	if (o->status != 0 && a->status != o->status)
		return false;
	if (o->says != NULL && !idem_bytes_is(a->says, o->says))
		return false;
	return load_keys_same(&l->keys, c->key, a->digest);
}

static void
remember(struct load *l, int64_t took_ns)
{
	struct load_figures *f = l->f;
	uint32_t *more;

	if (f->took_len == l->took_size && l->took_size < TOOK_MAX) {
		more = reallocarray(f->took, 2 * l->took_size + 65536,
		    sizeof *more);
		if (more == NULL)
			return;
		f->took = more;
		l->took_size = 2 * l->took_size + 65536;
	}
	if (f->took_len < l->took_size)
		f->took[f->took_len++] = took_ns / 100 > UINT32_MAX ?
		    UINT32_MAX : (uint32_t)(took_ns / 100);
}

/* Of those that end after the time only the errors count. */
static void
count(struct load *l, struct client *c, enum load_heard heard, int64_t now)
{
	struct load_figures *f = l->f;
	bool right = heard == LOAD_WHOLE && is_right(l, c);

	if (right && (l->until_ns == 0 || now <= l->until_ns)) {
		f->requests++;
		l->last_ns = now;
		remember(l, now - c->began_ns);
		if (l->save != NULL)
			fprintf(l->save, "%.*s\n", (int)c->answer.body.len,
			    (const char *)c->answer.body.at);
	}
	if (right)
		return;
	if (heard == LOAD_WHOLE)
		f->wrong++;
	else
		f->broken++;
	if (f->first_wrong[0] == '\0')
		snprintf(f->first_wrong, sizeof f->first_wrong, "%.*s",
		    (int)(c->answer.out.len < 500 ? c->answer.out.len : 500),
		    c->answer.out.len > 0 ? (char *)c->answer.out.at : "");
	if (f->first_wrong[0] == '\0')
		snprintf(f->first_wrong, sizeof f->first_wrong, "(nothing)");
}

static bool
goes_on(const struct load *l, int64_t now)
{
	if (l->o->count != 0 && l->begun >= l->o->count)
		return false;
	return l->until_ns == 0 || now < l->until_ns;
}

static void
answered(struct load *l, struct client *c, enum load_heard heard)
{
	int64_t now = now_ns();

	count(l, c, heard, now);
	if (!l->o->keep || heard != LOAD_WHOLE || c->answer.closes ||
	    c->left.len > 0)
		hang_up(c);
	if (goes_on(l, now))
		ask(l, c);
	else
		l->busy--;
}

static void
hear(struct load *l, struct client *c)
{
	static uint8_t at[READ_SIZE];
	enum load_heard heard;
	ssize_t n = recv(c->fd, at, sizeof at, MSG_DONTWAIT);

	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		heard = load_answer_take(&c->answer, l->o->http,
		    (struct idem_bytes){ at, (size_t)n });
	else
		heard = load_answer_closed(&c->answer, l->o->http);
	if (heard != LOAD_MORE)
		answered(l, c, heard);
}

/* --- all of them ---------------------------------------------------------- */

static void
turn(struct load *l)
{
	struct epoll_event events[EVENTS];
	struct client *c;
	int i, n;

	n = epoll_wait(l->epoll, events, EVENTS, 100);
	for (i = 0; i < n && !l->failed; i++) {
		c = &l->clients[events[i].data.u32];
		if (events[i].events & EPOLLOUT)
			say(l, c);
		if (events[i].events & ~(uint32_t)EPOLLOUT)
			hear(l, c);
	}
}

static void
drive(struct load *l)
{
	uint32_t i;
	int64_t last;

	l->began_ns = l->last_ns = now_ns();
	if (l->o->run_ms > 0)
		l->until_ns = l->began_ns + l->o->run_ms * 1000000;
	for (i = 0; i < l->o->clients && !l->failed; i++) {
		if (!goes_on(l, l->began_ns))
			break;
		l->busy++;
		ask(l, &l->clients[i]);
	}
	last = l->until_ns != 0 ? l->until_ns : INT64_MAX / 2;
	while (l->busy > 0 && !l->failed &&
	    now_ns() < last + (int64_t)SLACK_US * 1000)
		turn(l);
	l->f->broken += l->busy;
	l->f->seconds = (double)(l->until_ns != 0 && l->o->count == 0 ?
	    l->until_ns - l->began_ns : l->last_ns - l->began_ns) / 1e9;
}

static int
prepare(struct load *l)
{
	struct client *c;

	if (!find_address(l)) {
		errno = EINVAL;
		fail(l, "address");
		return -1;
	}
	if (l->o->save != NULL) {
		l->save = fopen(l->o->save, "we");
		if (l->save == NULL) {
			fail(l, l->o->save);
			return -1;
		}
	}
	l->epoll = epoll_create1(EPOLL_CLOEXEC);
	l->clients = calloc(l->o->clients, sizeof *l->clients);
	if (l->epoll == -1 || l->clients == NULL ||
	    load_keys_init(&l->keys, l->o) == -1) {
		fail(l, "start");
		return -1;
	}
	for (c = l->clients; c < l->clients + l->o->clients; c++) {
		c->fd = -1;
		load_request(&c->request, l->o, &l->keys, &c->place);
	}
	return 0;
}

static void
clean(struct load *l)
{
	uint32_t i;

	for (i = 0; l->clients != NULL && i < l->o->clients; i++) {
		hang_up(&l->clients[i]);
		idem_buf_free(&l->clients[i].request);
		idem_buf_free(&l->clients[i].answer.out);
	}
	free(l->clients);
	load_keys_free(&l->keys);
	if (l->save != NULL && fclose(l->save) != 0)
		fail(l, l->o->save);
	if (l->epoll != -1)
		close(l->epoll);
}

static int
compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int
load_run(const struct load_options *o, struct load_figures *f)
{
	struct load l = { .o = o, .f = f, .epoll = -1 };

	*f = (struct load_figures){ 0 };
	if (prepare(&l) == 0)
		drive(&l);
	clean(&l);
	if (f->took_len > 0)
		qsort(f->took, f->took_len, sizeof *f->took, compare);
	return l.failed ? -1 : 0;
}
