/* SPDX-License-Identifier: ISC */
#include "net_private.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define AGAIN_MS 2	/* when the server's queue is full */

/* --- its end -------------------------------------------------------------- */

/* Linger of nothing: RST in place of FIN. */
static void
side_close(struct net_side *side, bool reset)
{
	const struct linger none = { .l_onoff = 1 };

	if (side->fd == -1)
		return;
	if (reset)
		(void)setsockopt(side->fd, SOL_SOCKET, SO_LINGER, &none,
		    sizeof none);
	loop_unwatch(side->link->net->loop, &side->watch);
	(void)close(side->fd);
	side->fd = -1;
}

void
net_link_end(struct net_link *link, bool reset)
{
	struct loop *loop = link->net->loop;

	if (link->gone)
		return;
	link->gone = true;
	loop_timer_stop(loop, &link->again);
	loop_timer_stop(loop, &link->lane[NET_REQUESTS].timer);
	loop_timer_stop(loop, &link->lane[NET_REPLIES].timer);
	side_close(&link->side[0], reset);
	side_close(&link->side[1], reset);
}

void
net_link_free(struct net_link *link)
{
	net_lane_free(&link->lane[NET_REQUESTS]);
	net_lane_free(&link->lane[NET_REPLIES]);
	net_asked_clear(link);
	free(link);
}

/* --- what it waits for ---------------------------------------------------- */

/* Each way by itself: two values that are not whole would wait for each other
   for ever. */
static size_t
lying(const struct net_lane *lane)
{
	return lane->lying + lane->in.len +
	    (net_stream_is(lane) ? lane->link->net->stream.held.len : 0);
}

static uint32_t
wanted(const struct net_side *side)
{
	const struct net_link *link = side->link;
	size_t i = side == &link->side[1];
	uint32_t events = 0;

	if (!link->connected)
		return i == 1 ? EPOLLOUT : 0;
	if (!link->lane[i].ended && !link->net->stopped[i] &&
	    lying(&link->lane[i]) < NET_LYING_MAX)
		events |= EPOLLIN;
	if (link->lane[1 - i].full)
		events |= EPOLLOUT;
	return events;
}

/*
 * Of one that has hung up epoll tells again and again: it is watched while it
 * is read, which ends with its end.
 */
static int
side_watch(struct net_side *side)
{
	struct loop *loop = side->link->net->loop;
	uint32_t events = wanted(side);

	if (side->fd == -1)
		return 0;
	if (side->hung_up && (events & EPOLLIN) == 0) {
		loop_unwatch(loop, &side->watch);
		return 0;
	}
	if (side->watch.fd == -1)
		return loop_watch(loop, &side->watch, side->fd, events);
	return loop_change(loop, &side->watch, events);
}

void
net_link_go(struct net_link *link)
{
	if (link->connected && !link->gone)
		net_lane_flush(&link->lane[NET_REQUESTS]);
	if (link->connected && !link->gone)
		net_lane_flush(&link->lane[NET_REPLIES]);
	if (link->gone)
		return;
	if (link->lane[NET_REQUESTS].done && link->lane[NET_REPLIES].done)
		net_link_end(link, false);
	else if (side_watch(&link->side[0]) == -1 ||
	    side_watch(&link->side[1]) == -1)
		net_link_end(link, true);
}

/* --- what comes ----------------------------------------------------------- */

/*
 * Behind something that was lost nobody hears of an end either; but where the
 * client is gone the link is nobody's.
 */
static void
ended(struct net_lane *lane, enum net_piece_kind how)
{
	struct net_link *link = lane->link;

	net_frame_rest(lane);
	if (link->gone)
		return;
	lane->ended = true;
	if (link->net->lost[lane->way] && lane->way == NET_REPLIES)
		net_lane_lose(lane);
	if (!lane->dead)
		net_lane_push_end(lane, how);
	else if (how != NET_END && lane->way == NET_REQUESTS)
		net_link_end(link, how == NET_CUT);
}

static void
receive(struct net_side *side, uint32_t events)
{
	struct net_link *link = side->link;
	struct net *net = link->net;
	struct net_lane *lane = &link->lane[side == &link->side[1]];
	ssize_t n = recv(side->fd, net->read, NET_READ, MSG_DONTWAIT);

	if (n > 0) {
		idem_buf_append(&lane->in, net->read, (size_t)n);
		arena_must_have(idem_buf_ok(&lane->in));
		net_frame_take(lane);
	} else if (n == 0) {
		side->hung_up = (events & EPOLLHUP) != 0;
		ended(lane, side->hung_up ? NET_AWAY : NET_END);
	} else if (errno != EAGAIN && errno != EINTR) {
		side->hung_up = true;
		ended(lane, NET_CUT);
	}
}

static void
hung_up(struct net_side *side)
{
	struct net_link *link = side->link;
	struct net_lane *lane = &link->lane[side == &link->side[1]];

	side->hung_up = true;
	if (lane->ended)
		ended(lane, NET_AWAY);
}

/* --- its begin ------------------------------------------------------------ */

static void
connected(struct net_link *link)
{
	int error = 0;
	socklen_t len = sizeof error;

	(void)getsockopt(link->side[1].fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error != 0)
		net_link_end(link, true);
	else
		link->connected = true;
}

static void
side_ready(struct watch *watch, uint32_t events)
{
	struct net_side *side = (struct net_side *)watch;
	struct net_link *link = side->link;
	struct net *net = link->net;

	net_enter(net);
	if (!link->connected && side == &link->side[0])
		net_link_end(link, true);
	else if (!link->connected)
		connected(link);
	else if ((watch->events & EPOLLIN) != 0 &&
	    (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0)
		receive(side, events);
	else if ((events & (EPOLLHUP | EPOLLERR)) != 0)
		hung_up(side);
	net_link_go(link);
	net_leave(net);
}

static void
connect_to_server(struct net_link *link)
{
	struct net_side *side = &link->side[1];
	struct loop *loop = link->net->loop;

	side->fd = address_connect(&link->net->server, &link->connected);
	if (side->fd != -1)
		return;
	if (errno == EAGAIN) {
		arena_must_have(loop_timer(loop, &link->again,
		    loop_now(loop) + AGAIN_MS) == 0);
		return;
	}
	if (address_short(errno))
		net_short(link->net, errno);
	net_link_end(link, true);
}

static void
again_due(struct timer *timer, int64_t now_ms)
{
	struct net_link *link = (struct net_link *)timer;
	struct net *net = link->net;

	(void)now_ms;
	net_enter(net);
	connect_to_server(link);
	net_link_go(link);
	net_leave(net);
}

static void
lane_due(struct timer *timer, int64_t now_ms)
{
	struct net_link *link = ((struct net_lane *)timer)->link;
	struct net *net = link->net;

	(void)now_ms;
	net_enter(net);
	net_link_go(link);
	net_leave(net);
}

static void
side_init(struct net_link *link, size_t i, int fd)
{
	struct net_side *side = &link->side[i];
	struct net_lane *lane = &link->lane[i];

	side->link = lane->link = link;
	side->fd = fd;
	side->watch.fd = -1;
	side->watch.ready = side_ready;
	lane->way = i == 0 ? NET_REQUESTS : NET_REPLIES;
	lane->timer.due = lane_due;
}

void
net_link_open(struct net *net, int client)
{
	struct net_link *link = net_memory(sizeof *link);
	int one = 1;

	/* It fails where it is no TCP. */
	(void)setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	link->net = net;
	link->number = ++net->connections;
	link->raw = net->raw;
	link->again.due = again_due;
	link->asked_end = &link->asked;
	side_init(link, 0, client);
	side_init(link, 1, -1);
	link->next = net->links;
	net->links = link;
	connect_to_server(link);
	net_link_go(link);
}
