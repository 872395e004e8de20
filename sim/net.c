/* SPDX-License-Identifier: ISC */
#include "net_private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BACKLOG 1024

/* --- memory, and when it goes --------------------------------------------- */

void *
net_memory(size_t len)
{
	void *at = calloc(1, len);

	arena_must_have(at != NULL);
	return at;
}

void
net_enter(struct net *net)
{
	net->depth++;
}

static void
net_free(struct net *net)
{
	free(net->rules);
	net_stream_end(net);
	free(net);
}

void
net_leave(struct net *net)
{
	struct net_link **at = &net->links, *link;

	if (--net->depth > 0)
		return;
	while ((link = *at) != NULL) {
		if (!link->gone) {
			at = &link->next;
			continue;
		}
		*at = link->next;
		net_link_free(link);
	}
	if (net->closed)
		net_free(net);
}

/* --- the door ------------------------------------------------------------- */

/* Who waits at the door stays there: the loop is not to tell of him again. */
void
net_short(struct net *net, int error)
{
	net->error = error;
	if (net->listener.fd != -1)
		(void)loop_change(net->loop, &net->listener, 0);
}

int
net_error(const struct net *net)
{
	return net->error;
}

static void
door_ready(struct watch *watch, uint32_t events)
{
	struct net *net = (struct net *)watch;
	int fd;

	(void)events;
	net_enter(net);
	while ((fd = accept4(net->listener.fd, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC)) != -1)
		net_link_open(net, fd);
	if (address_short(errno))
		net_short(net, errno);
	net_leave(net);
}

static int
close_failed(int fd)
{
	int error = errno;

	if (fd != -1)
		(void)close(fd);
	errno = error;
	return -1;
}

/* A port is kept by a socket that does not listen: who connects is refused,
   and nobody else gets it. */
static int
door_bind(struct net *net)
{
	int fd = address_socket(&net->here);

	if (net->path[0] != '\0')
		(void)unlink(net->path);
	if (fd == -1 || bind(fd, (struct sockaddr *)&net->here.at,
	    net->here.len) == -1)
		return close_failed(fd);
	return fd;
}

static int
door_open(struct net *net)
{
	int fd = net->reserved != -1 ? net->reserved : door_bind(net);
	socklen_t len = sizeof net->here.at;

	net->reserved = -1;
	if (fd == -1 || listen(fd, BACKLOG) == -1 ||
	    loop_watch(net->loop, &net->listener, fd, EPOLLIN) == -1)
		return close_failed(fd);
	if (net->path[0] == '\0')
		(void)getsockname(fd, (struct sockaddr *)&net->here.at, &len);
	return 0;
}

static void
door_close(struct net *net)
{
	int fd = net->listener.fd;

	if (fd == -1)
		return;
	loop_unwatch(net->loop, &net->listener);
	(void)close(fd);
}

struct net *
net_open(struct loop *loop, const char *path, const char *server, bool raw,
    uint32_t *numbers, const struct net_user *user)
{
	struct net *net = net_memory(sizeof *net);

	net->loop = loop;
	net->raw = raw;
	net->numbers = numbers;
	net->reserved = -1;
	net->listener.fd = -1;
	net->listener.ready = door_ready;
	if (user != NULL)
		net->user = *user;
	address_loopback(&net->here);
	if ((path != NULL && path[0] != '/') ||
	    (path != NULL && !address_read(&net->here, path)) ||
	    !address_read(&net->server, server)) {
		free(net);
		errno = EINVAL;
		return NULL;
	}
	if (path != NULL)
		memcpy(net->path, path, strlen(path) + 1);
	if (door_open(net) == -1) {
		free(net);
		return NULL;
	}
	return net;
}

int
net_port(const struct net *net)
{
	return address_port(&net->here);
}

void
net_close(struct net *net)
{
	if (net == NULL)
		return;
	net_enter(net);
	door_close(net);
	if (net->path[0] != '\0')
		(void)unlink(net->path);
	else if (net->reserved != -1)
		(void)close(net->reserved);
	net->closed = true;
	net_reset(net);
	net_leave(net);
}

/* --- what can be switched ------------------------------------------------- */

void
net_oneway(struct net *net, enum net_way lost)
{
	net->lost[lost] = true;
}

void
net_slow(struct net *net, int64_t ms)
{
	net->slow_ms = ms > 0 ? ms : 0;
}

static void
all_go(struct net *net)
{
	struct net_link *link;

	net_enter(net);
	for (link = net->links; link != NULL; link = link->next)
		net_link_go(link);
	net_leave(net);
}

void
net_stop(struct net *net, enum net_way way)
{
	net->stopped[way] = true;
	all_go(net);
}

/* What came before it was stopped is taken up where it lay. */
static void
take_up(struct net *net)
{
	struct net_link *link;

	for (link = net->links; link != NULL; link = link->next) {
		if (!link->gone)
			net_frame_take(&link->lane[NET_REQUESTS]);
		if (!link->gone)
			net_frame_take(&link->lane[NET_REPLIES]);
	}
}

void
net_go_on(struct net *net, enum net_way way)
{
	net_enter(net);
	net->stopped[way] = false;
	take_up(net);
	all_go(net);
	net_leave(net);
}

void
net_reset(struct net *net)
{
	struct net_link *link;

	net_enter(net);
	for (link = net->links; link != NULL; link = link->next)
		net_link_end(link, true);
	net_leave(net);
}

void
net_refuse(struct net *net, bool refuse)
{
	if (net->refused == refuse)
		return;
	if (refuse) {
		door_close(net);
		if (net->path[0] == '\0')
			net->reserved = door_bind(net);
		net->refused = true;
		net_reset(net);
	} else if (door_open(net) == 0) {
		net->refused = false;
	}
}

void
net_release(struct net *net)
{
	struct net_link *link;

	net_rule_released(net);
	for (link = net->links; link != NULL; link = link->next) {
		net_lane_release(&link->lane[NET_REQUESTS]);
		net_lane_release(&link->lane[NET_REPLIES]);
	}
	all_go(net);
}

void
net_heal(struct net *net)
{
	struct net_link *link;
	size_t way;

	net_enter(net);
	net_rules_clear(net);
	net->slow_ms = 0;
	for (way = 0; way < NET_WAYS; way++)
		net->lost[way] = net->stopped[way] = false;
	net_refuse(net, false);
	for (link = net->links; link != NULL; link = link->next)
		if (link->lossy)
			net_link_end(link, true);
	take_up(net);
	net_release(net);
	net_leave(net);
}

void
net_aim(struct net *net, const char *server)
{
	(void)address_read(&net->server, server);
	net_reset(net);
}

size_t
net_connections(const struct net *net)
{
	const struct net_link *link;
	size_t n = 0;

	for (link = net->links; link != NULL; link = link->next)
		n += !link->gone;
	return n;
}

static size_t
lane_waiting(const struct net_lane *lane)
{
	const struct net_side *from = &lane->link->side[lane->way];
	const struct net *net = lane->link->net;
	int unread = 0;

	if (from->fd != -1)
		(void)ioctl(from->fd, FIONREAD, &unread);
	return lane->lying + lane->in.len + (unread > 0 ? (size_t)unread : 0) +
	    (net_stream_is(lane) ? net->stream.held.len : 0);
}

size_t
net_waiting(const struct net *net, enum net_way way)
{
	const struct net_link *link;
	size_t n = 0;

	for (link = net->links; link != NULL; link = link->next)
		n += link->gone ? 0 : lane_waiting(&link->lane[way]);
	return n;
}

uint64_t
net_lost(const struct net *net, enum net_way way)
{
	return net->lost_bytes[way];
}

/* What its server still has to say, or has said. */
static bool
link_awaits(const struct net_link *link)
{
	const struct net_piece *p = link->lane[NET_REPLIES].first;
	const struct net_asked *asked = link->asked;

	if (link->gone || link->lane[NET_REPLIES].dead)
		return false;
	while (asked != NULL && asked->kind == NET_ASKED_HOLE)
		asked = asked->next;
	return asked != NULL || (p != NULL && p->due_ms != NET_NEVER);
}

bool
net_awaits(const struct net *net)
{
	const struct net_link *link;

	for (link = net->links; link != NULL; link = link->next)
		if (link_awaits(link))
			return true;
	return false;
}
