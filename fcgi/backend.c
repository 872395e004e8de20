/* SPDX-License-Identifier: ISC */
#include "backend_private.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAILED_LATELY_MS 1000

static struct backend_call *
call_of(struct timer *t)
{
	return (struct backend_call *)
	    ((char *)t - offsetof(struct backend_call, timer));
}

void
backend_drop_input(struct backend_call *c)
{
	if (c->body != -1)
		(void)close(c->body);
	c->body = -1;
	idem_buf_free(&c->head);
}

void
backend_call_free(struct backend_call *c)
{
	loop_timer_stop(c->all->loop, &c->timer);
	backend_drop_input(c);
	free(c);
}

/* --- its end -------------------------------------------------------------- */

void
backend_part(struct backend_call *c, bool kept)
{
	struct backend_link *l = c->link;

	c->link = NULL;
	if (l == NULL)
		return;
	if (kept && c->place->idle < c->kept_max)
		backend_link_keep(l);
	else
		backend_link_close(l);
}

static void
leave(struct backend_call *c)
{
	backend_part(c, false);
	c->place->calls--;
	backend_drop_input(c);
}

/* The timer was set before, so that it can only be moved. */
void
backend_settle(struct backend_call *c, const struct backend_end *end)
{
	leave(c);
	c->end = *end;
	c->state = BACKEND_SETTLED;
	(void)loop_timer(c->all->loop, &c->timer, loop_now(c->all->loop));
}

/*
 * Once a byte has left us nobody can say that it did not begin; before, it
 * surely has not.
 */
void
backend_give_up(struct backend_call *c, enum backend_how how, const char *why)
{
	struct backend_end end = { .how = how, .why = why };

	if (!c->touched) {
		end.busy = c->busy || how != BACKEND_NOT_STARTED;
		end.how = BACKEND_NOT_STARTED;
	} else if (how == BACKEND_NOT_STARTED) {
		end.how = BACKEND_DIED;
	}
	backend_settle(c, &end);
}

static void
tell(struct backend_call *c)
{
	const struct backend_user *user = c->all->user;
	struct backend_end end = c->end;
	void *arg = c->arg;

	if (end.why == NULL && end.how != BACKEND_ENDED)
		end.why = strerror(c->error);
	backend_call_free(c);
	user->over(arg, &end);
}

/* --- its time ------------------------------------------------------------- */

static int64_t
sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
first_until_ms(const struct backend_call *c)
{
	if (c->first_ms == 0 || c->answered || c->paused)
		return INT64_MAX;
	return c->moved_ms + c->first_ms;
}

void
backend_set_timer(struct backend_call *c)
{
	int64_t at_ms = c->limit_until_ms;

	if (c->state == BACKEND_CONNECTING)
		at_ms = sooner(at_ms, sooner(c->connect_until_ms,
		    c->try_until_ms));
	else
		at_ms = sooner(at_ms, first_until_ms(c));
	(void)loop_timer(c->all->loop, &c->timer, at_ms);
}

static void
talk_due(struct backend_call *c, int64_t now_ms)
{
	if (now_ms >= c->limit_until_ms)
		backend_give_up(c, BACKEND_CUT, "over its limit");
	else if (now_ms >= first_until_ms(c))
		backend_give_up(c, BACKEND_CUT, "silent for too long");
	else
		backend_set_timer(c);
}

static void
due(struct timer *t, int64_t now_ms)
{
	struct backend_call *c = call_of(t);

	switch (c->state) {
	case BACKEND_CONNECTING:
		backend_connect_due(c, now_ms);
		return;
	case BACKEND_TALKING:
		talk_due(c, now_ms);
		return;
	case BACKEND_SETTLED:
		tell(c);
		return;
	case BACKEND_STOPPED:	/* is freed in the same call */
		return;
	}
}

/* --- what the user says --------------------------------------------------- */

void
backend_pause(struct backend_call *c, bool on)
{
	if (c->paused && !on)
		c->moved_ms = loop_now(c->all->loop);
	c->paused = on;
	if (c->state != BACKEND_TALKING)
		return;
	backend_attend(c);
	if (c->state == BACKEND_TALKING)
		backend_set_timer(c);
}

void
backend_stop(struct backend_call *c)
{
	if (c->state != BACKEND_SETTLED)
		leave(c);
	c->state = BACKEND_STOPPED;
	if (!c->telling)
		backend_call_free(c);
}

/* --- start ---------------------------------------------------------------- */

static size_t
count(char *const *addresses)
{
	size_t n = 0;

	while (addresses[n] != NULL)
		n++;
	return n;
}

static bool
failed_lately(const struct backend_target *t, int64_t now_ms)
{
	return t->failed_ms != 0 && now_ms - t->failed_ms < FAILED_LATELY_MS;
}

static void
add_targets(struct backend_call *c, struct backend_place *p, bool failed)
{
	int64_t now_ms = loop_now(c->all->loop);
	size_t i;

	for (i = 0; i < p->targets; i++)
		if (failed_lately(&p->target[i], now_ms) == failed)
			c->targets[c->targets_len++] = &p->target[i];
}

/* From the next one on; those that failed lately at the end. */
static bool
order(struct backend_call *c, char *const *addresses)
{
	size_t n = count(addresses), first = c->place->turn++ % n, i;
	struct backend_place *p;

	for (i = 0; i < 2 * n; i++) {
		p = backend_place(c->all, addresses[(first + i) % n]);
		if (p == NULL)
			return false;
		add_targets(c, p, i >= n);
	}
	return true;
}

static bool
write_head(struct backend_call *c, struct idem_bytes params)
{
	idem_fcgi_begin_write(&c->head, BACKEND_ID, IDEM_FCGI_RESPONDER,
	    c->keep);
	idem_fcgi_stream_write(&c->head, IDEM_FCGI_PARAMS, BACKEND_ID, params);
	idem_fcgi_stream_end(&c->head, IDEM_FCGI_PARAMS, BACKEND_ID);
	return idem_buf_ok(&c->head);
}

static struct backend_call *
call_new(struct backends *all, struct backend_place *p,
    const struct backend_request *r)
{
	int64_t now_ms = loop_now(all->loop);
	struct backend_call *c = calloc(1, sizeof *c +
	    BACKEND_TARGETS * count(r->addresses) * sizeof c->targets[0]);

	if (c == NULL)
		return NULL;
	c->all = all;
	c->place = p;
	c->timer.due = due;
	c->reader.id = BACKEND_ID;
	c->body = -1;
	c->body_len = r->body_len;
	c->connect_ms = r->connect_ms;
	c->first_ms = r->first_ms;
	c->limit_until_ms = r->limit_ms == 0 ? INT64_MAX :
	    now_ms + r->limit_ms;
	c->connections_max = r->connections_max;
	c->kept_max = r->kept_max;
	c->keep = r->kept_max > 0 && !r->fresh;
	/* From here on it can be moved without memory. */
	if (!order(c, r->addresses) || !write_head(c, r->params) ||
	    loop_timer(all->loop, &c->timer, c->limit_until_ms) == -1) {
		backend_call_free(c);
		return NULL;
	}
	return c;
}

static struct backend_call *
start(struct backends *all, const struct backend_request *r, void *arg)
{
	struct backend_place *p = NULL;
	struct backend_call *c;

	if (r->addresses[0] != NULL)
		p = backend_place(all, r->addresses[0]);
	if (p == NULL ||
	    (r->connections_max != 0 && p->calls >= r->connections_max))
		return NULL;
	c = call_new(all, p, r);
	if (c == NULL)
		return NULL;
	c->arg = arg;
	c->body = r->body;
	p->calls++;
	backend_connect(c);
	if (c->state == BACKEND_CONNECTING && c->link == NULL && c->starved) {
		c->body = -1;
		backend_stop(c);
		return NULL;
	}
	return c;
}

struct backend_call *
backend_start(struct backends *all, const struct backend_request *r, void *arg)
{
	struct backend_call *c = start(all, r, arg);

	if (c == NULL && r->body != -1)
		(void)close(r->body);
	return c;
}
