/* SPDX-License-Identifier: ISC */
#include "net_private.h"

#include <errno.h>
#include <stdlib.h>

#define JOINED_MAX (256u * 1024u)	/* bytes that share a piece */
#define ROOM_KEPT (64u * 1024u)

/* --- pieces --------------------------------------------------------------- */

static struct net_piece *
piece_new(struct net_lane *lane)
{
	struct net_piece *p = lane->spare;

	lane->spare = NULL;
	if (p == NULL)
		return net_memory(sizeof *p);
	idem_buf_clear(&p->bytes);
	p->next = NULL;
	p->sent = 0;
	return p;
}

static void
piece_free(struct net_piece *p)
{
	idem_buf_free(&p->bytes);
	free(p);
}

static void
piece_over(struct net_lane *lane)
{
	struct net_piece *p = lane->first;

	lane->first = p->next;
	if (lane->first == NULL)
		lane->last = NULL;
	lane->lying -= p->bytes.len - p->sent;
	if (lane->spare == NULL && p->bytes.size <= ROOM_KEPT)
		lane->spare = p;
	else
		piece_free(p);
}

static void
piece_add(struct net_lane *lane, enum net_piece_kind kind, int64_t due_ms,
    size_t slice)
{
	struct net_piece *p = piece_new(lane);

	p->kind = kind;
	p->due_ms = due_ms;
	p->slice = slice;
	if (lane->last != NULL)
		lane->last->next = p;
	else
		lane->first = p;
	lane->last = p;
}

static void
pieces_drop(struct net_lane *lane)
{
	while (lane->first != NULL)
		piece_over(lane);
	loop_timer_stop(lane->link->net->loop, &lane->timer);
}

void
net_lane_push(struct net_lane *lane, struct idem_bytes bytes, int64_t due_ms,
    size_t slice)
{
	struct net_piece *last = lane->last;

	if (lane->dead || lane->broken || bytes.len == 0)
		return;
	if (last == NULL || last->kind != NET_BYTES || last->slice != 0 ||
	    slice != 0 || last->due_ms != due_ms ||
	    last->bytes.len >= JOINED_MAX)
		piece_add(lane, NET_BYTES, due_ms, slice);
	idem_buf_append(&lane->last->bytes, bytes.at, bytes.len);
	arena_must_have(idem_buf_ok(&lane->last->bytes));
	lane->lying += bytes.len;
}

void
net_lane_push_end(struct net_lane *lane, enum net_piece_kind kind)
{
	piece_add(lane, kind, 0, 0);
}

/* --- what goes out -------------------------------------------------------- */

static int
out_fd(const struct net_lane *lane)
{
	return lane->link->side[lane->way == NET_REQUESTS].fd;
}

/* Nobody takes it any more: only its end counts. */
static void
receiver_lost(struct net_lane *lane)
{
	enum net_piece_kind last = lane->last->kind;

	lane->broken = true;
	pieces_drop(lane);
	if (last != NET_BYTES)
		net_lane_push_end(lane, last);
}

/* True: all of the piece is out, and another may follow at once. */
static bool
send_some(struct net_lane *lane, struct net_piece *p)
{
	size_t len = p->bytes.len - p->sent;
	ssize_t n;

	if (p->slice != 0 && len > p->slice)
		len = p->slice;
	n = send(out_fd(lane), p->bytes.at + p->sent, len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n == -1) {
		if (errno == EAGAIN || errno == EINTR)
			lane->full = true;
		else
			receiver_lost(lane);
		return false;
	}
	p->sent += (size_t)n;
	lane->lying -= (size_t)n;
	/* A slice's receiver gets time to read it alone. */
	lane->full = p->slice != 0 || p->sent < p->bytes.len;
	if (p->sent == p->bytes.len) {
		piece_over(lane);
		return !lane->full;
	}
	return false;
}

static void
tell_end(struct net_lane *lane)
{
	piece_over(lane);
	lane->done = true;
	if (!lane->broken)
		(void)shutdown(out_fd(lane), SHUT_WR);
}

static void
await(struct net_lane *lane, int64_t due_ms)
{
	if (due_ms != NET_NEVER)
		arena_must_have(loop_timer(lane->link->net->loop, &lane->timer,
		    due_ms) == 0);
}

void
net_lane_flush(struct net_lane *lane)
{
	struct net_link *link = lane->link;
	struct net_piece *p;

	lane->full = false;
	while (!link->gone && (p = lane->first) != NULL) {
		if (p->due_ms > loop_now(link->net->loop)) {
			await(lane, p->due_ms);
			return;
		}
		switch (p->kind) {
		case NET_BYTES:
			if (!send_some(lane, p) && !lane->broken)
				return;
			break;
		case NET_END:
			tell_end(lane);
			break;
		case NET_AWAY:
		case NET_CUT:
			net_link_end(link, p->kind == NET_CUT);
			break;
		}
	}
}

void
net_lane_release(struct net_lane *lane)
{
	struct net_piece *p;

	for (p = lane->first; p != NULL; p = p->next)
		p->due_ms = 0;
	loop_timer_stop(lane->link->net->loop, &lane->timer);
}

/* What was before it is still on its way. */
void
net_lane_lose(struct net_lane *lane)
{
	lane->dead = true;
	lane->link->lossy = true;
}

void
net_lane_free(struct net_lane *lane)
{
	pieces_drop(lane);
	if (lane->spare != NULL)
		piece_free(lane->spare);
	lane->spare = NULL;
	idem_buf_free(&lane->in);
}
