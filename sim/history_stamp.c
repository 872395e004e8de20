/* SPDX-License-Identifier: ISC */
#include "history_private.h"

#include <stdlib.h>
#include <string.h>

/*
 * Which event was the last one of a message, of a try, of a run: open
 * addressing by number or by the text's one copy.
 */
struct last {
	uint64_t what;		/* 0: a free place */
	uint32_t i;
};

enum { A_MESSAGE = 1, A_TRY = 2 };
#define NUMBERED(kind, n) ((uint64_t)(kind) << 62 | (uint32_t)(n))

struct stamping {
	struct history *h;
	struct last *last;
	size_t places;		/* a power of two */
	uint32_t *lane_last;	/* by lane - 1 */
	struct history_stamp *sum;	/* what is being put together ... */
	struct history_stamp *other;
	size_t sum_n;
	size_t left;		/* of HISTORY_STAMPS */
};

static void *
zeroed(size_t n, size_t size)
{
	void *at = calloc(n, size);

	arena_must_have(at != NULL);
	return at;
}

static struct last *
last_of(const struct stamping *s, uint64_t what)
{
	size_t at = (size_t)(what * 0x9e3779b97f4a7c15u >> 20) &
	    (s->places - 1);

	while (s->last[at].what != 0 && s->last[at].what != what)
		at = (at + 1) & (s->places - 1);
	return &s->last[at];
}

/* The clock of event i, or nothing (0), is in what is known now, too. */
static void
join(struct stamping *s, uint32_t i)
{
	const struct history_stamp *v, *end, *sum = s->sum;
	const struct history_stamp *sum_end = sum + s->sum_n;
	struct history_stamp *out = s->other;

	if (i == 0 || s->h->events[i - 1].v == NULL)
		return;
	v = s->h->events[i - 1].v;
	end = v + s->h->events[i - 1].v_n;
	while (v < end || sum < sum_end) {
		if (v == end || (sum < sum_end && sum->lane < v->lane))
			*out++ = *sum++;
		else if (sum == sum_end || v->lane < sum->lane)
			*out++ = *v++;
		else {
			*out = *sum++;
			if (v->n > out->n)
				out->n = v->n;
			out++;
			v++;
		}
	}
	s->sum_n = (size_t)(out - s->other);
	out = s->sum;
	s->sum = s->other;
	s->other = out;
}

static void
count(struct stamping *s, uint16_t lane)
{
	size_t at = s->sum_n;

	while (at > 0 && s->sum[at - 1].lane >= lane)
		at--;
	if (at == s->sum_n || s->sum[at].lane != lane) {
		memmove(s->sum + at + 1, s->sum + at, (s->sum_n - at) *
		    sizeof *s->sum);
		s->sum[at] = (struct history_stamp){ lane, 0 };
		s->sum_n++;
	}
	s->sum[at].n++;
}

/* What came before it, besides its lane: see history_stamp_all. */
static void
causes(struct stamping *s, const struct history_event *e)
{
	uint32_t gate;

	if (e->m > 0)
		join(s, last_of(s, NUMBERED(A_MESSAGE, e->m))->i);
	/* A client that waits no longer has learnt nothing. */
	if (e->a > 0 && (e->kind != HISTORY_RET || e->status > 0))
		join(s, last_of(s, NUMBERED(A_TRY, e->a))->i);
	if (e->kind == HISTORY_RET && e->says_effect != NULL)
		join(s, last_of(s, (uintptr_t)e->says_effect)->i);
	if (e->kind == HISTORY_EFFECT && e->gate != NULL && e->ph != NULL &&
	    strcmp(e->ph, "begin") == 0) {
		gate = history_word(s->h, e->gate)->lane;
		if (gate > 0)
			join(s, s->lane_last[gate - 1]);
	}
}

static void
remember(struct stamping *s, uint64_t what, uint32_t i)
{
	struct last *last = last_of(s, what);

	last->what = what;
	last->i = i;
}

static void
effects(struct stamping *s, const struct history_event *e, uint32_t lane)
{
	s->lane_last[lane] = e->i;
	if (e->m > 0)
		remember(s, NUMBERED(A_MESSAGE, e->m), e->i);
	if (e->a > 0 && e->kind != HISTORY_RET)
		remember(s, NUMBERED(A_TRY, e->a), e->i);
	if (e->kind == HISTORY_EFFECT && e->id != NULL)
		remember(s, (uintptr_t)e->id, e->i);
}

static bool
stamp(struct stamping *s, struct history_event *e)
{
	uint32_t lane = history_lane(s->h, e->p) - 1;
	struct history_stamp *v;

	s->sum_n = 0;
	join(s, s->lane_last[lane]);
	causes(s, e);
	count(s, (uint16_t)lane);
	if (s->sum_n > s->left)
		return false;
	s->left -= s->sum_n;
	v = arena_get(&s->h->arena, s->sum_n * sizeof *v);
	memcpy(v, s->sum, s->sum_n * sizeof *v);
	e->v = v;
	e->v_n = s->sum_n;
	effects(s, e, lane);
	return true;
}

static void
own_members(struct history *h, struct history_event *e)
{
	const struct history_member *m;
	const char *text;

	for (m = history_event_members(); m->name != NULL; m++)
		if (m->kind == HISTORY_M_TEXT) {
			text = history_text(h, history_member_text(m, e));
			memcpy((char *)e + m->at, &text, sizeof text);
		}
}

/* Texts that a caller put in as they were are made the one copy, too. */
static void
own_texts(struct history *h)
{
	struct history_event *e;
	size_t i;

	for (i = 0; i < h->n; i++) {
		e = &h->events[i];
		e->p = history_text(h, e->p);
		own_members(h, e);
		e->v = NULL;
		e->v_n = 0;
		history_lane(h, e->p);
	}
}

void
history_stamp_all(struct history *h)
{
	struct stamping s = { .h = h, .left = HISTORY_STAMPS };
	size_t i;

	history_settle(h);
	own_texts(h);
	if (h->n == 0 || h->lanes_n > HISTORY_LANES_MAX)
		return;
	for (s.places = 64; s.places < 4 * h->n; s.places *= 2)
		;
	s.last = zeroed(s.places, sizeof *s.last);
	s.lane_last = zeroed(h->lanes_n, sizeof *s.lane_last);
	s.sum = zeroed(h->lanes_n + 1, sizeof *s.sum);
	s.other = zeroed(h->lanes_n + 1, sizeof *s.other);
	for (i = 0; i < h->n && stamp(&s, &h->events[i]); i++)
		;
	free(s.last);
	free(s.lane_last);
	free(s.sum);
	free(s.other);
}

bool
history_before(const struct history_event *x, const struct history_event *y)
{
	size_t i, j = 0;

	if (x->i == y->i || x->v == NULL || y->v == NULL)
		return false;
	for (i = 0; i < x->v_n; i++) {
		while (j < y->v_n && y->v[j].lane < x->v[i].lane)
			j++;
		if (j == y->v_n || y->v[j].lane != x->v[i].lane ||
		    y->v[j].n < x->v[i].n)
			return false;
	}
	return true;
}
