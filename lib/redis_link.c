/* SPDX-License-Identifier: ISC */
#include "redis_private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#define EVENTS 64
#define NAMES UINT32_MAX	/* the place of what is no link */

/* --- its place ------------------------------------------------------------ */

static bool
more_places(struct idem_redis *r)
{
	size_t len = r->links_len == 0 ? 4 : 2 * r->links_len;
	struct idem_redis_link **links = realloc(r->links, len * sizeof *links);

	if (links == NULL)
		return false;
	memset(links + r->links_len, 0,
	    (len - r->links_len) * sizeof *links);
	r->links = links;
	r->links_len = len;
	return true;
}

static bool
take_place(struct idem_redis_link *l)
{
	struct idem_redis *r = l->redis;
	size_t i;

	for (i = 0; i < r->links_len && r->links[i] != NULL; i++)
		;
	if (i == r->links_len && !more_places(r))
		return false;
	r->links[i] = l;
	l->place = (uint32_t)i;
	return true;
}

/* --- its socket ----------------------------------------------------------- */

/*
 * Without memory for it in the kernel no event will come; then the deadlines
 * of the commands end them.
 */
static void
watch(void *arg, struct idem_redis_wire *wire, int fd, bool want_write)
{
	struct idem_redis_link *l = arg;
	struct epoll_event e = {
		.events = EPOLLIN | (want_write ? EPOLLOUT : 0u) };

	(void)wire;
	if (fd != l->fd) {
		l->generation++;
		if (l->fd != -1)
			(void)epoll_ctl(l->redis->epoll, EPOLL_CTL_DEL, l->fd,
			    &e);
		l->opened_ms = idem_redis_now_ms(l->redis);
	}
	e.data.u64 = (uint64_t)l->generation << 32 | l->place;
	if (fd != -1)
		(void)epoll_ctl(l->redis->epoll,
		    fd == l->fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
	l->fd = fd;
}

void
idem_redis_link_init(struct idem_redis_link *l, struct idem_redis *r,
    const struct idem_redis_url *url, const char *user, const char *password)
{
	l->redis = r;
	l->fd = -1;
	l->options = (struct idem_redis_wire_options){
		.url = url,
		.redis = &r->options,
		.user = user,
		.password = password,
		.names = r->names,
		.tls = r->tls,
		.watch = watch,
		.arg = l
	};
}

static bool
open_wire(struct idem_redis_link *l)
{
	if (!take_place(l))
		return false;
	l->wire = idem_redis_wire_new(&l->options);
	if (l->wire == NULL)
		l->redis->links[l->place] = NULL;
	return l->wire != NULL;
}

bool
idem_redis_link_send(struct idem_redis_link *l, const struct idem_bytes *args,
    size_t args_len, const char *before, int64_t deadline_ms,
    idem_redis_wire_done *done, void *arg)
{
	if (l->wire == NULL && !open_wire(l))
		return false;
	return idem_redis_wire_send(l->wire, args, args_len, before,
	    deadline_ms, done, arg);
}

void
idem_redis_link_free(struct idem_redis_link *l)
{
	if (l->wire == NULL)
		return;
	idem_redis_wire_free(l->wire);
	l->redis->links[l->place] = NULL;
	l->wire = NULL;
}

/* --- all of them ---------------------------------------------------------- */

static void
ready(struct idem_redis *r, const struct epoll_event *e)
{
	const uint32_t broken = EPOLLERR | EPOLLHUP;
	uint32_t place = (uint32_t)e->data.u64;
	struct idem_redis_link *l;

	if (place == NAMES) {
		idem_redis_names_poll(r->names);
		return;
	}
	l = place < r->links_len ? r->links[place] : NULL;
	if (l == NULL || l->generation != e->data.u64 >> 32)
		return;
	idem_redis_wire_ready(l->wire, (e->events & (EPOLLIN | broken)) != 0,
	    (e->events & (EPOLLOUT | broken)) != 0);
}

void
idem_redis_links_ready(struct idem_redis *r)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(r->epoll, events, EVENTS, 0), i;

	for (i = 0; i < n; i++)
		ready(r, &events[i]);
}

bool
idem_redis_links_open(struct idem_redis *r)
{
	struct epoll_event e = { .events = EPOLLIN, .data.u64 = NAMES };

	r->epoll = epoll_create1(EPOLL_CLOEXEC);
	return r->epoll != -1 && epoll_ctl(r->epoll, EPOLL_CTL_ADD,
	    idem_redis_names_fd(r->names), &e) == 0;
}

void
idem_redis_links_due(struct idem_redis *r, int64_t now_ms)
{
	size_t i;

	/* What is answered may open another, and move the table. */
	for (i = 0; i < r->links_len; i++)
		if (r->links[i] != NULL &&
		    idem_redis_wire_due_ms(r->links[i]->wire) <= now_ms)
			idem_redis_wire_due(r->links[i]->wire);
}

int64_t
idem_redis_links_due_ms(const struct idem_redis *r)
{
	int64_t due_ms = INT64_MAX, one_ms;
	size_t i;

	for (i = 0; i < r->links_len; i++) {
		if (r->links[i] == NULL)
			continue;
		one_ms = idem_redis_wire_due_ms(r->links[i]->wire);
		if (one_ms < due_ms)
			due_ms = one_ms;
	}
	return due_ms;
}
