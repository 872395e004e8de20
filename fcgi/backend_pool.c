/* SPDX-License-Identifier: ISC */
#include "backend_private.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define AGE_MAX_MS (30 * 1000)	/* of an idle one */

/* --- addresses ------------------------------------------------------------ */

/* Operators write them, so they are few, and kept. */
struct backend_place *
backend_place(struct backends *all, const char *text)
{
	struct backend_place *p;
	const char *wrong;

	for (p = all->places; p != NULL; p = p->next)
		if (strcmp(p->text, text) == 0)
			return p;
	p = calloc(1, sizeof *p);
	if (p == NULL || (p->text = strdup(text)) == NULL) {
		free(p);
		return NULL;
	}
	p->targets = backend_address_read(text, p->target, &wrong);
	p->next = all->places;
	all->places = p;
	return p;
}

/* --- idle ones ------------------------------------------------------------ */

static void
join_idle(struct backend_link *l)
{
	struct backend_place *p = l->place;

	l->older = p->newest;
	l->newer = NULL;
	if (l->older != NULL)
		l->older->newer = l;
	else
		p->oldest = l;
	p->newest = l;
	p->idle++;
}

static void
leave_idle(struct backend_link *l)
{
	struct backend_place *p = l->place;

	if (l->newer != NULL)
		l->newer->older = l->older;
	else
		p->newest = l->older;
	if (l->older != NULL)
		l->older->newer = l->newer;
	else
		p->oldest = l->newer;
	p->idle--;
}

static void
age_due(struct timer *t, int64_t now_ms)
{
	(void)now_ms;
	backend_link_close((struct backend_link *)
	    ((char *)t - offsetof(struct backend_link, age)));
}

/* An application has nothing to say between requests but that it leaves. */
static bool
is_quiet(const struct backend_link *l)
{
	char byte;

	return recv(l->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == -1 &&
	    errno == EAGAIN;
}

static bool
may_go_to(const struct backend_call *c, const struct backend_target *t)
{
	size_t i;

	for (i = 0; i < c->targets_len; i++)
		if (c->targets[i] == t)
			return true;
	return false;
}

struct backend_link *
backend_link_reuse(struct backend_call *c)
{
	struct backend_link *l, *older;

	for (l = c->place->newest; l != NULL; l = older) {
		older = l->older;
		if (!may_go_to(c, l->target))
			continue;
		if (!is_quiet(l)) {
			backend_link_close(l);
			continue;
		}
		leave_idle(l);
		loop_timer_stop(c->all->loop, &l->age);
		l->call = c;
		return l;
	}
	return NULL;
}

void
backend_link_keep(struct backend_link *l)
{
	struct loop *loop = l->all->loop;

	l->call = NULL;
	join_idle(l);
	if ((l->watch.fd == -1 ?
	    loop_watch(loop, &l->watch, l->fd, EPOLLIN) :
	    loop_change(loop, &l->watch, EPOLLIN)) == -1 ||
	    loop_timer(loop, &l->age, loop_now(loop) + AGE_MAX_MS) == -1)
		backend_link_close(l);
}

/* --- one ------------------------------------------------------------------ */

static void
link_ready(struct watch *w, uint32_t events)
{
	struct backend_link *l = (struct backend_link *)
	    ((char *)w - offsetof(struct backend_link, watch));
	struct backend_call *c = l->call;

	if (c == NULL)
		backend_link_close(l);
	else if (c->state == BACKEND_CONNECTING)
		backend_connect_ready(c);
	else
		backend_ready(c, events);
}

/*
 * An idle connection may hold one of the application's processes, so it goes
 * first where a call needs its place.
 */
static void
make_room(struct backend_call *c)
{
	struct backend_place *p = c->place;

	while (c->connections_max != 0 && p->oldest != NULL &&
	    p->calls + p->idle > c->connections_max)
		backend_link_close(p->oldest);
}

static int
open_socket(const struct backend_target *t)
{
	const int on = 1;
	int fd = socket(t->at.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd != -1 && t->at.ss_family != AF_UNIX)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

struct backend_link *
backend_link_new(struct backend_call *c, struct backend_target *t)
{
	struct backend_link *l;

	make_room(c);
	l = calloc(1, sizeof *l);
	if (l == NULL)
		return NULL;
	l->fd = open_socket(t);
	if (l->fd == -1) {
		free(l);
		return NULL;
	}
	l->all = c->all;
	l->place = c->place;
	l->target = t;
	l->call = c;
	l->watch.fd = -1;
	l->watch.ready = link_ready;
	l->age.due = age_due;
	return l;
}

void
backend_link_close(struct backend_link *l)
{
	struct loop *loop = l->all->loop;

	if (l->call == NULL)
		leave_idle(l);
	loop_timer_stop(loop, &l->age);
	if (l->watch.fd != -1)
		loop_close(loop, &l->watch);
	else
		(void)close(l->fd);
	free(l);
}

/* --- all ------------------------------------------------------------------ */

struct backends *
backends_new(struct loop *loop, const struct backend_user *user)
{
	struct backends *all = calloc(1, sizeof *all);

	if (all == NULL)
		return NULL;
	all->loop = loop;
	all->user = user;
	return all;
}

void
backends_free(struct backends *all)
{
	struct backend_place *p;

	if (all == NULL)
		return;
	while ((p = all->places) != NULL) {
		while (p->newest != NULL)
			backend_link_close(p->newest);
		all->places = p->next;
		free(p->text);
		free(p);
	}
	free(all);
}
