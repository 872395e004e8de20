/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_A_TURN 64
#define AHEAD 2			/* so many connections, and an eighth */
#define LEAVE_MS 5
#define AGAIN_MS 100		/* out of descriptors: let some go first */

static void
accept_again(struct lobby *lobby)
{
	loop_timer_stop(lobby->loop, &lobby->accept_later);
	if (loop_watch(lobby->loop, &lobby->listening, lobby->listener,
	    EPOLLIN | EPOLLEXCLUSIVE) == -1)
		loop_timer(lobby->loop, &lobby->accept_later,
		    loop_now(lobby->loop) + AGAIN_MS);
}

void
lobby_accept_due(struct timer *t, int64_t now_ms)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)t - offsetof(struct lobby, accept_later));

	(void)now_ms;
	/* They have not taken them: whoever comes now is ours. */
	lobby->take_all = lobby->left_to_others;
	lobby->left_to_others = false;
	accept_again(lobby);
}

static void
accept_pause(struct lobby *lobby, uint32_t ms)
{
	loop_unwatch(lobby->loop, &lobby->listening);
	loop_timer(lobby->loop, &lobby->accept_later,
	    loop_now(lobby->loop) + ms);
}

/* Has another worker, that lives, clearly fewer connections? */
static bool
is_ahead(const struct lobby *lobby)
{
	uint64_t ours = lobby->conns.count, others;
	uint32_t i;

	for (i = 0; i < lobby->shm->workers; i++) {
		others = atomic_load(&lobby->shm->open[i]);
		if (i != lobby->worker && ours > others + AHEAD + others / 8)
			return true;
	}
	return false;
}

/*
 * All workers accept from one socket, and the kernel wakes the first of those
 * who sleep: left to itself, one may get every connection.  So who is ahead
 * stands back, but only until the others have caught up or let time pass: one
 * of them may be stuck.
 */
void
lobby_accept_share(struct lobby *lobby)
{
	uint32_t count = (uint32_t)lobby->conns.count;
	atomic_uint *open = &lobby->shm->open[lobby->worker];

	if (atomic_load_explicit(open, memory_order_relaxed) != count)
		atomic_store(open, count);
	if (lobby->left_to_others && !is_ahead(lobby)) {
		lobby->left_to_others = false;
		accept_again(lobby);
	}
}

/* True: there may be more. */
static bool
accept_one(struct lobby *lobby)
{
	struct sockaddr_storage peer = { .ss_family = AF_UNSPEC };
	socklen_t peer_len = sizeof peer;
	int fd = accept4(lobby->listener, (struct sockaddr *)&peer, &peer_len,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd != -1 && !peers_may(lobby->peers, &peer)) {
		shm_add(lobby->shm, SHM_BROKEN_PEERS, 1);
		log_line(&lobby->log, "peer=refused why=\"not in "
		    "FCGI_WEB_SERVER_ADDRS\"");
		close(fd);
		return true;
	}
	if (fd != -1) {
		conn_open(&lobby->conns, fd);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
	    errno == ENOMEM) {
		log_line_quoted(&lobby->log, "error", strerror(errno),
		    "accept connections=%zu", lobby->conns.count);
		accept_pause(lobby, AGAIN_MS);
		return false;
	}
	return errno != EAGAIN;
}

void
lobby_accept_ready(struct watch *w, uint32_t events)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)w - offsetof(struct lobby, listening));
	bool ahead = false;
	int i;

	(void)events;
	for (i = 0; i < ACCEPTS_A_TURN && !ahead && accept_one(lobby); i++)
		ahead = !lobby->take_all && is_ahead(lobby);
	lobby->take_all = false;
	if (!ahead)
		return;
	lobby->left_to_others = true;
	accept_pause(lobby, LEAVE_MS);
}

void
lobby_accept_stop(struct lobby *lobby)
{
	loop_unwatch(lobby->loop, &lobby->listening);
	if (lobby->listener != -1)	/* as the master has, or has died */
		close(lobby->listener);
	loop_timer_stop(lobby->loop, &lobby->accept_later);
	lobby->left_to_others = false;
}
