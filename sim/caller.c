/* SPDX-License-Identifier: ISC */
#include "caller_private.h"

#include "arena.h"
#include "now.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ 65536u
#define OUT_MAX (64u * 1024u * 1024u)
#define AGAIN_MS 2	/* when the server's queue is full */
#define REST_MS 10	/* of a slow reader */

/* --- its end -------------------------------------------------------------- */

static void
private_free(struct call_private *in)
{
	if (in == NULL)
		return;
	loop_unwatch(in->loop, &in->watch);
	loop_timer_stop(in->loop, &in->timeout.timer);
	loop_timer_stop(in->loop, &in->give_up.timer);
	loop_timer_stop(in->loop, &in->tick.timer);
	if (in->fd != -1)
		(void)close(in->fd);
	idem_buf_free(&in->request);
	caller_http_free(&in->http);
	free(in);
}

/* For the next call, if there is a place for it. */
static void
leave_open(struct call_private *in)
{
	struct call *call = in->call;

	if (call->kept == NULL || *call->kept != -1 || call->http || in->mute ||
	    in->partial || in->sent < in->request.len)
		return;
	loop_unwatch(in->loop, &in->watch);
	*call->kept = in->fd;
	in->fd = -1;
}

/* The last thing that is done to a call: it may be gone after it. */
static void
finish(struct call_private *in, enum outcome_end end, const char *why)
{
	struct call *call = in->call;

	if (end == OUTCOME_WHOLE)
		leave_open(in);
	private_free(in);
	call->in = NULL;
	call->end = end;
	call->why = why;
	caller_answer_read(call, end == OUTCOME_WHOLE);
	call->done(call);
}

/* The connection has failed. */
static void
failed(struct call_private *in, const char *why)
{
	finish(in, in->sent == 0 ? OUTCOME_REFUSED : OUTCOME_CUT, why);
}

static const char *
error_name(int error)
{
	const char *name = strerrorname_np(error);

	return name != NULL ? name : "error";
}

void
call_free(struct call *call)
{
	private_free(call->in);
	call->in = NULL;
	idem_buf_free(&call->out);
}

/* --- timers --------------------------------------------------------------- */

static void
timeout_due(struct timer *timer, int64_t now_ms)
{
	(void)now_ms;
	finish(((struct call_timer *)timer)->of, OUTCOME_TIMEOUT, "timeout");
}

static void
give_up_due(struct timer *timer, int64_t now_ms)
{
	(void)now_ms;
	call_leave(((struct call_timer *)timer)->of->call, false);
}

static void
set(struct call_private *in, struct call_timer *timer, int64_t in_ms)
{
	/* The loop's own time may be long ago: its turn may have been long. */
	arena_must_have(loop_timer(in->loop, &timer->timer,
	    now_ms() + in_ms) == 0);
}

/* --- what it waits for ---------------------------------------------------- */

static bool
has_to_send(const struct call_private *in)
{
	return !in->mute && in->sent < in->request.len;
}

/* A resting reader is not watched: that its server has gone would be told
   again and again. */
static void
await(struct call_private *in)
{
	uint32_t events = 0;

	if (!in->connected || has_to_send(in))
		events |= EPOLLOUT;
	if (in->connected && !in->resting)
		events |= EPOLLIN;
	if (events == 0)
		loop_unwatch(in->loop, &in->watch);
	else if (in->watch.fd == -1)
		arena_must_have(loop_watch(in->loop, &in->watch, in->fd,
		    events) == 0);
	else
		arena_must_have(loop_change(in->loop, &in->watch, events) == 0);
}

/* --- what goes out and comes in; false: it is over ------------------------ */

static bool
send_some(struct call_private *in)
{
	ssize_t n = send(in->fd, in->request.at + in->sent,
	    in->request.len - in->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n >= 0) {
		in->sent += (size_t)n;
		if (in->sent == in->request.len)
			idem_buf_free(&in->request);
	} else if (errno != EAGAIN && errno != EINTR) {
		/* It may have answered before it closed: read on. */
		in->mute = true;
		if (in->sent == 0) {
			failed(in, error_name(errno));
			return false;
		}
	}
	return true;
}

static bool
take(struct call_private *in, struct idem_bytes got)
{
	struct call *call = in->call;
	enum caller_told told = (call->http ? caller_http_take :
	    caller_fcgi_take)(in, got);

	if (!idem_buf_ok(&call->out)) {
		arena_must_have(call->out.len + READ >= OUT_MAX);
		call->out.failed = false;
		finish(in, OUTCOME_CUT, "too large");
		return false;
	}
	if (told == CALLER_MORE)
		return true;
	finish(in, told == CALLER_WHOLE ? OUTCOME_WHOLE : OUTCOME_CUT,
	    call->why);
	return false;
}

static bool
closed(struct call_private *in)
{
	if (in->call->http && caller_http_closed(in) == CALLER_WHOLE)
		finish(in, OUTCOME_WHOLE, NULL);
	else
		failed(in, "closed");
	return false;
}

static void
rest(struct call_private *in)
{
	in->resting = true;
	set(in, &in->tick, REST_MS);
}

static bool
receive(struct call_private *in)
{
	size_t slow = in->call->slow_bytes;
	char at[READ];
	ssize_t n = recv(in->fd, at, slow > 0 && slow < READ ? slow : READ,
	    MSG_DONTWAIT);

	if (n == 0)
		return closed(in);
	if (n == -1) {
		if (errno == EAGAIN || errno == EINTR)
			return true;
		failed(in, error_name(errno));
		return false;
	}
	if (!take(in, (struct idem_bytes){ at, (size_t)n }))
		return false;
	if (slow > 0)
		rest(in);
	return true;
}

/* --- its begin ------------------------------------------------------------ */

static bool
connected(struct call_private *in)
{
	int error = 0;
	socklen_t len = sizeof error;

	(void)getsockopt(in->fd, SOL_SOCKET, SO_ERROR, &error, &len);
	if (error != 0) {
		failed(in, error_name(error));
		return false;
	}
	in->connected = true;
	return true;
}

static void
ready(struct watch *watch, uint32_t events)
{
	struct call_private *in = (struct call_private *)watch;

	if (!in->connected && !connected(in))
		return;
	if (has_to_send(in) && !send_some(in))
		return;
	if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0 && !in->resting &&
	    !receive(in))
		return;
	await(in);
}

static bool
take_kept(struct call_private *in)
{
	struct call *call = in->call;

	call->again = call->kept != NULL && *call->kept != -1;
	if (!call->again)
		return false;
	in->fd = *call->kept;
	in->connected = true;
	*call->kept = -1;
	return true;
}

static void
connect_to(struct call_private *in)
{
	if (!take_kept(in))
		in->fd = address_connect(&in->address, &in->connected);
	if (in->fd == -1) {
		if (errno == EAGAIN)
			set(in, &in->tick, AGAIN_MS);
		else
			failed(in, error_name(errno));
		return;
	}
	if (!in->connected || send_some(in))
		await(in);
}

static void
tick_due(struct timer *timer, int64_t now_ms)
{
	struct call_private *in = ((struct call_timer *)timer)->of;

	(void)now_ms;
	if (in->fd == -1) {
		connect_to(in);
		return;
	}
	in->resting = false;
	await(in);
}

static void
timer_init(struct call_private *in, struct call_timer *timer,
    void (*due)(struct timer *, int64_t))
{
	timer->of = in;
	timer->timer.due = due;
}

static void
answer_clear(struct call *call)
{
	call->why = NULL;
	call->status = 0;
	call->retry_after_s = -1;
	call->length_met = call->again = false;
	call->mark[0] = call->digest[0] = '\0';
	call->says_key[0] = call->says_nonce[0] = call->says_effect[0] = '\0';
	idem_buf_clear(&call->out);
	call->out.max = OUT_MAX;
}

void
call_start(struct loop *loop, struct call *call)
{
	struct call_private *in = calloc(1, sizeof *in);

	arena_must_have(in != NULL);
	answer_clear(call);
	call->in = in;
	in->call = call;
	in->loop = loop;
	in->fd = in->watch.fd = -1;
	in->watch.ready = ready;
	timer_init(in, &in->timeout, timeout_due);
	timer_init(in, &in->give_up, give_up_due);
	timer_init(in, &in->tick, tick_due);
	(call->http ? caller_http_request : caller_fcgi_request)(call,
	    &in->request);
	arena_must_have(idem_buf_ok(&in->request));
	if (call->timeout_ms > 0)
		set(in, &in->timeout, call->timeout_ms);
	if (call->give_up_ms > 0)
		set(in, &in->give_up, call->give_up_ms);
	if (address_read(&in->address, call->socket))
		connect_to(in);
	else
		failed(in, "EINVAL");
}

void
call_leave(struct call *call, bool abort)
{
	struct call_private *in = call->in;
	struct idem_buf record = { 0 };

	if (in == NULL)
		return;
	/* In the middle of a record it would be no record. */
	if (abort && !call->http && in->connected && !in->mute &&
	    !has_to_send(in)) {
		caller_fcgi_abort(&record);
		(void)send(in->fd, record.at, record.len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
		idem_buf_free(&record);
	}
	finish(in, OUTCOME_GAVE_UP, "gave up");
}
