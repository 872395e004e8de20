/* SPDX-License-Identifier: ISC */
#include "rig_call.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define TURN_MS 10
#define EVENTS 256
#define ID 1		/* one request a connection */

/* A connection, or room for one. */
struct line {
	struct rig_call call;
	struct idem_buf out;
	void *user;
	bool used;
	bool connecting;	/* the queue of a unix socket was full */
	uint32_t events;
};

struct crowd {
	struct rig *rig;
	struct rig_many *many;
	struct line *lines;
	uint32_t *free;		/* numbers of lines without use, a stack */
	size_t free_count;
	int epoll;
	int64_t tend_ms;	/* when to look at all of them again */
	bool over;
};

/* Level-triggered; POLLIN and POLLOUT are EPOLLIN and EPOLLOUT. */
static void
watch(struct crowd *crowd, struct line *line, int how)
{
	uint32_t events = (uint32_t)rig_call_events(&line->call);
	struct epoll_event event = { .events = events,
		.data.u32 = (uint32_t)(line - crowd->lines) };

	if (how == EPOLL_CTL_MOD && events == line->events)
		return;
	line->events = events;
	if (epoll_ctl(crowd->epoll, how, line->call.fd, &event) == -1)
		rig_call_fail(&line->call, errno);
}

static void
finish(struct crowd *crowd, struct line *line)
{
	struct rig_answer answer = rig_call_answer(&line->call);
	struct rig_many *many = crowd->many;

	if (line->call.fd != -1)
		close(line->call.fd);
	idem_buf_free(&line->out);
	line->used = false;
	crowd->free[crowd->free_count++] = (uint32_t)(line - crowd->lines);
	many->open--;
	if (answer.whole)
		many->whole++;
	else
		many->failed++;
	many->answered(many->arg, line->user, &answer);
	rig_answer_free(&answer);
}

static void
attach(struct crowd *crowd, struct line *line)
{
	int fd = rig_call_connect(crowd->rig);

	line->connecting = fd == -1 && errno == EAGAIN;
	if (line->connecting)
		return;
	line->call.fd = fd;
	if (fd == -1)
		rig_call_fail(&line->call, errno);
	else
		watch(crowd, line, EPOLL_CTL_ADD);
}

static void
begin(struct crowd *crowd, const struct rig_request *request, void *user)
{
	struct rig_many *many = crowd->many;
	struct line *line = &crowd->lines[crowd->free[--crowd->free_count]];

	*line = (struct line){ .user = user, .used = true };
	rig_request_write(&line->out, ID, request);
	rig_call_init(&line->call, -1, ID, idem_buf_bytes(&line->out));
	many->sent++;
	many->open++;
	if (many->open > many->most)
		many->most = many->open;
	attach(crowd, line);
	if (line->call.over)
		finish(crowd, line);
}

/* As many as there is room for at the turn's start: a peer that refuses all
   does not keep us here. */
static void
fill(struct crowd *crowd, int64_t now_ms)
{
	struct rig_many *many = crowd->many;
	struct rig_request request;
	size_t room = crowd->free_count;
	void *user;

	while (!crowd->over && room-- > 0) {
		request = (struct rig_request){ 0 };
		user = NULL;
		switch (many->next(many->arg, now_ms, &request, &user)) {
		case RIG_SEND:
			begin(crowd, &request, user);
			break;
		case RIG_LATER:
			return;
		case RIG_OVER:
			crowd->over = true;
			break;
		}
	}
}

static void
step(struct crowd *crowd, struct line *line)
{
	rig_call_step(&line->call);
	if (!line->call.over)
		watch(crowd, line, EPOLL_CTL_MOD);
	if (line->call.over)
		finish(crowd, line);
}

/*
 * Those that are late, and those that have not connected yet: once one finds
 * the socket's queue full the others need not ask in this turn.
 */
static bool
tend(struct crowd *crowd, int64_t now_ms)
{
	bool connecting = false;
	struct line *line;
	size_t i;

	for (i = 0; i < crowd->many->connections_max; i++) {
		line = &crowd->lines[i];
		if (!line->used)
			continue;
		if (now_ms - line->call.begun_ms > crowd->rig->request_ms)
			rig_call_fail(&line->call, ETIMEDOUT);
		else if (line->connecting && !connecting)
			attach(crowd, line);
		connecting = connecting || line->connecting;
		if (line->call.over)
			finish(crowd, line);
	}
	return connecting;
}

static int
turn(struct crowd *crowd)
{
	struct epoll_event events[EVENTS];
	struct rig_many *many = crowd->many;
	int64_t now_ms = rig_now_ms();
	int i, n, wait_ms = TURN_MS;

	if (many->turn != NULL)
		many->turn(many->arg, now_ms);
	fill(crowd, now_ms);
	if (now_ms >= crowd->tend_ms) {
		wait_ms = tend(crowd, now_ms) ? 1 : TURN_MS;
		crowd->tend_ms = now_ms + wait_ms;
	}
	n = epoll_wait(crowd->epoll, events, EVENTS, wait_ms);
	if (n == -1 && errno != EINTR)
		return -1;
	for (i = 0; i < n; i++)
		step(crowd, &crowd->lines[events[i].data.u32]);
	return 0;
}

static void
abandon(struct crowd *crowd)
{
	size_t i;

	for (i = 0; i < crowd->many->connections_max; i++)
		if (crowd->lines[i].used) {
			rig_call_fail(&crowd->lines[i].call, ETIMEDOUT);
			finish(crowd, &crowd->lines[i]);
		}
}

int
rig_many(struct rig *rig, struct rig_many *many)
{
	struct crowd crowd = { .rig = rig, .many = many };
	int64_t until_ms = rig_now_ms() + many->limit_ms;
	size_t n = many->connections_max;
	int failed = 0;

	crowd.lines = calloc(n, sizeof *crowd.lines);
	crowd.free = calloc(n, sizeof *crowd.free);
	crowd.epoll = epoll_create1(EPOLL_CLOEXEC);
	if (crowd.lines == NULL || crowd.free == NULL || crowd.epoll == -1) {
		failed = -1;
		goto out;
	}
	while (n-- > 0)
		crowd.free[crowd.free_count++] = (uint32_t)n;
	while (failed == 0 && !(crowd.over && many->open == 0))
		failed = rig_now_ms() < until_ms ? turn(&crowd) : -1;
	abandon(&crowd);
out:
	if (crowd.epoll != -1)
		close(crowd.epoll);
	free(crowd.free);
	free(crowd.lines);
	return failed;
}
