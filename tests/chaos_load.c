/* SPDX-License-Identifier: ISC */
#include "chaos_load.h"

#include "chance.h"
#include "chaos_asks.h"
#include "rig_call.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TRIES_MAX 12u
#define LOOKS_MAX 60u
#define REQUEST_MS 20000
#define DRAIN_MS 120000
#define ASKS_MAX 65536u
#define AT_ONCE 32u		/* asks of one operation, at most */

/* A connection, or room for one. */
struct line {
	struct rig_call call;
	struct idem_buf out;
	uint32_t ask;
	bool used, after;	/* after: see chaos_judge */
};

struct chaos_load_parts {
	struct chaos_asks asks;
	struct line *lines;
	struct pollfd *polled;
	struct line **at;	/* whose polled is */
	uint32_t chance;
	int64_t next_op_us;
	bool looking, over;	/* looking: each is asked once more, ... */
	uint32_t looked;	/* ... so many were */
};

static uint32_t
chance(struct chaos_load *l, uint32_t below)
{
	return chance_below(&l->parts->chance, below);
}

static int64_t
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* --- an operation --------------------------------------------------------- */

static void
ask_after(struct chaos_load *l, uint32_t op, uint32_t delay_ms)
{
	struct chaos_asks *asks = &l->parts->asks;

	chaos_asks_after(asks, chaos_asks_new(asks, op), delay_ms);
}

/* Two at once, as of a double click; one soon; one or two much later. */
static void
ask_around(struct chaos_load *l, uint32_t op, uint32_t from_ms)
{
	uint32_t late_ms = l->options.late_ms;

	ask_after(l, op, from_ms);
	ask_after(l, op, from_ms + (chance(l, 2) == 0 ? 0 : chance(l, 150)));
	ask_after(l, op, from_ms + chance(l, late_ms / 5 + 1));
	ask_after(l, op, from_ms + chance(l, late_ms + 1));
	if (chance(l, 4) == 0)
		ask_after(l, op, from_ms + chance(l, late_ms + 1));
}

static void
ask_each(struct chaos_load *l, uint32_t op)
{
	struct chaos_asks *asks = &l->parts->asks;
	unsigned i;
	uint32_t ask;

	for (i = 0; i < l->options.world->instances; i++) {
		ask = chaos_asks_new(asks, op);
		asks->at[ask].instance = (uint8_t)i;
		chaos_asks_after(asks, ask, 0);
	}
}

static void
ask_all(struct chaos_load *l, uint32_t op, uint32_t from_ms)
{
	if (l->options.each)
		ask_each(l, op);
	else
		ask_around(l, op, from_ms);
}

static void
new_op(struct chaos_load *l)
{
	struct chaos_asks *asks = &l->parts->asks;
	uint32_t op = l->len++, ask;

	memset(&l->ops[op], 0, sizeof l->ops[op]);
	if (!l->options.world->mode->tokens) {
		snprintf(l->ops[op].key, sizeof l->ops[op].key, "op-%08x-%u",
		    l->options.seed, op);
		ask_all(l, op, 0);
		return;
	}
	ask = chaos_asks_new(asks, op);
	asks->at[ask].mint = true;
	chaos_asks_after(asks, ask, 0);
}

static void
repeat(struct chaos_load *l, uint32_t ask)
{
	struct chaos_asks *asks = &l->parts->asks;

	if (++asks->at[ask].tries < (l->parts->looking ? LOOKS_MAX :
	    TRIES_MAX)) {
		chaos_asks_after(asks, ask, 30 + chance(l, 270));
		return;
	}
	l->count.unsettled += l->parts->looking;
	l->given_up++;
	chaos_asks_end(asks, ask);
}

static void
take_token(struct chaos_load *l, uint32_t ask, const struct rig_answer *answer)
{
	static const char before[] = "{\"token\":\"";
	uint32_t op = l->parts->asks.at[ask].op;
	size_t len = sizeof before - 1;
	const char *body = answer->body.at;

	if (!answer->whole || answer->status != 201 ||
	    answer->body.len < len + IDEM_TOKEN_TEXT ||
	    memcmp(body, before, len) != 0) {
		repeat(l, ask);
		return;
	}
	memcpy(l->ops[op].key, body + len, IDEM_TOKEN_TEXT);
	chaos_asks_end(&l->parts->asks, ask);
	/* Some are used at once, and others when the server is another. */
	ask_all(l, op, chance(l, 4) == 0 ?
	    chance(l, l->options.late_ms / 3 + 1) : 0);
}

/* --- requests ------------------------------------------------------------- */

static void
put_request(struct chaos_load *l, struct line *line)
{
	const struct chaos_ask *ask = &l->parts->asks.at[line->ask];
	char query[64], body[32];

	snprintf(query, sizeof query, "sleep=%u&size=%u",
	    chaos_op_sleep_ms(ask->op), chaos_op_size(ask->op));
	snprintf(body, sizeof body, "item=%u", ask->op);
	if (ask->mint)
		rig_request_write(&line->out, 1, &(struct rig_request){
		    .method = "POST", .path = "/.idem/token",
		    .query = "path=/order" });
	else
		rig_request_write(&line->out, 1, &(struct rig_request){
		    .method = "POST", .path = "/order", .query = query,
		    .key = l->ops[ask->op].key,
		    .type = "application/x-www-form-urlencoded",
		    .body = idem_bytes_text(body) });
}

static void
begin(struct chaos_load *l, struct line *line, uint32_t number)
{
	const struct chaos_ask *ask = &l->parts->asks.at[number];
	struct chaos_world *w = l->options.world;
	unsigned instance = ask->instance != CHAOS_ANY ? ask->instance :
	    chance(l, w->instances);
	int fd = rig_call_connect(&w->rig[instance]);

	if (fd == -1) {		/* nothing was sent */
		chaos_asks_after(&l->parts->asks, number, CHAOS_TICK_MS);
		return;
	}
	*line = (struct line){ .used = true, .ask = number,
		.after = l->ops[ask->op].final };
	put_request(l, line);
	rig_call_init(&line->call, fd, 1, idem_buf_bytes(&line->out));
}

static void
take_answer(struct chaos_load *l, uint32_t ask,
    const struct rig_answer *answer, bool after)
{
	uint32_t number = l->parts->asks.at[ask].op;
	enum chaos_answer what = chaos_judge(&l->count, &l->ops[number],
	    number, answer, after);

	l->count.unknown += l->parts->looking && what == CHAOS_UNKNOWN;
	switch (what) {
	case CHAOS_STORED:
	case CHAOS_REPLAYED:
	case CHAOS_UNPROTECTED:
	case CHAOS_UNRECORDED:
	case CHAOS_UNKNOWN:
	case CHAOS_VOID:
	case CHAOS_NOT_KEPT:
	case CHAOS_ODD:
	case CHAOS_ANSWERS:
		chaos_asks_end(&l->parts->asks, ask);
		return;
	case CHAOS_NOT_STARTED:
	case CHAOS_IN_PROGRESS:
	case CHAOS_CUT:
	case CHAOS_NOTHING:
		repeat(l, ask);
		return;
	}
}

static void
finish(struct chaos_load *l, struct line *line)
{
	struct rig_answer answer = rig_call_answer(&line->call);

	close(line->call.fd);
	idem_buf_free(&line->out);
	line->used = false;
	if (l->parts->asks.at[line->ask].mint)
		take_token(l, line->ask, &answer);
	else
		take_answer(l, line->ask, &answer, line->after);
	rig_answer_free(&answer);
}

/* --- the thread ----------------------------------------------------------- */

static bool
has_room(const struct chaos_load *l)
{
	return l->parts->asks.max - l->parts->asks.open >= AT_ONCE;
}

/* There will be no more operations. */
static bool
is_last(struct chaos_load *l)
{
	return l->len == l->options.ops_max ||
	    (!l->options.each && atomic_load(&l->ending));
}

/* Only while nobody waits for a connection. */
static void
make_ops(struct chaos_load *l)
{
	struct chaos_load_parts *p = l->parts;
	int64_t us = now_us();

	/* Who is behind does not catch up in one burst. */
	if (p->next_op_us < us - 50000)
		p->next_op_us = us - 50000;
	while (!is_last(l) && p->next_op_us <= us &&
	    p->asks.due == CHAOS_NOBODY && has_room(l)) {
		new_op(l);
		p->next_op_us += l->options.pace_us;
	}
}

/* Once more, each, when all is quiet. */
static void
look_again(struct chaos_load *l)
{
	struct chaos_load_parts *p = l->parts;

	p->looking = true;
	for (; p->looked < l->len && p->asks.due == CHAOS_NOBODY &&
	    has_room(l); p->looked++)
		if (l->ops[p->looked].sent > 0)
			ask_after(l, p->looked, 0);
	p->over = p->looked == l->len && p->asks.open == 0;
}

static void
fill(struct chaos_load *l)
{
	struct line *line = l->parts->lines;
	struct line *end = line + l->options.lines;
	uint32_t ask;

	for (; line < end; line++)
		while (!line->used && (ask =
		    chaos_asks_take(&l->parts->asks)) != CHAOS_NOBODY)
			begin(l, line, ask);
}

static void
wait_and_step(struct chaos_load *l)
{
	struct chaos_load_parts *p = l->parts;
	int64_t now_ms = rig_now_ms();
	nfds_t n = 0, i;
	struct line *line;

	for (i = 0; i < l->options.lines; i++) {
		line = &p->lines[i];
		if (!line->used)
			continue;
		if (now_ms - line->call.begun_ms > REQUEST_MS)
			rig_call_fail(&line->call, ETIMEDOUT);
		p->at[n] = line;
		p->polled[n++] = (struct pollfd){ .fd = line->call.fd,
			.events = rig_call_events(&line->call) };
	}
	poll(p->polled, n, 2);
	for (i = 0; i < n; i++) {
		line = p->at[i];
		if (p->polled[i].revents != 0 && !line->call.over)
			rig_call_step(&line->call);
		if (line->call.over)
			finish(l, line);
	}
}

static void *
run(void *arg)
{
	struct chaos_load *l = arg;
	struct chaos_load_parts *p = l->parts;
	int64_t began_ms = rig_now_ms(), end_ms = INT64_MAX;

	while (!p->over && rig_now_ms() < end_ms) {
		chaos_asks_turn(&p->asks);
		make_ops(l);
		fill(l);
		wait_and_step(l);
		if (!atomic_load(&l->ending))
			continue;
		if (end_ms == INT64_MAX)
			end_ms = rig_now_ms() + DRAIN_MS;
		if (p->looking || (p->asks.open == 0 && is_last(l)))
			look_again(l);
	}
	l->ms = rig_now_ms() - began_ms;
	return NULL;
}

/* --- begin and end -------------------------------------------------------- */

/* What is left over when the time is up has no answer. */
static void
abandon(struct chaos_load *l)
{
	struct chaos_load_parts *p = l->parts;
	uint32_t i;

	l->given_up += p->asks.open;
	l->count.unsettled += p->asks.open;
	for (i = 0; i < l->options.lines; i++)
		if (p->lines[i].used) {
			rig_call_fail(&p->lines[i].call, ETIMEDOUT);
			finish(l, &p->lines[i]);
		}
}

void
chaos_load_begin(struct chaos_load *l,
    const struct chaos_load_options *options)
{
	struct chaos_load_parts *p = calloc(1, sizeof *p);

	memset(l, 0, sizeof *l);
	l->options = *options;
	l->parts = p;
	l->ops = calloc(options->ops_max, sizeof *l->ops);
	if (p == NULL || l->ops == NULL)
		bail_out("out of memory");
	p->lines = calloc(options->lines, sizeof *p->lines);
	p->polled = calloc(options->lines, sizeof *p->polled);
	p->at = calloc(options->lines, sizeof *p->at);
	if (p->lines == NULL || p->polled == NULL || p->at == NULL)
		bail_out("out of memory");
	chaos_asks_open(&p->asks, ASKS_MAX);
	p->chance = options->seed;
	p->next_op_us = now_us();
	if (pthread_create(&l->thread, NULL, run, l) != 0)
		bail_out("no thread");
}

void
chaos_load_end(struct chaos_load *l)
{
	atomic_store(&l->ending, true);
	pthread_join(l->thread, NULL);
	abandon(l);
}

void
chaos_load_free(struct chaos_load *l)
{
	struct chaos_load_parts *p = l->parts;

	chaos_asks_close(&p->asks);
	free(p->at);
	free(p->polled);
	free(p->lines);
	free(p);
	free(l->ops);
}
