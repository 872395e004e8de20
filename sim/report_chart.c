/* SPDX-License-Identifier: ISC */
#include "names.h"
#include "report_chart.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
#define GAP_NS (10 * MS)	/* the least that is marked */
#define LEFT 104		/* room for what stands left of the first */
#define RIGHT 132
#define GROUP 30		/* between groups of lanes */
#define CLIENTS_ALONE 12u	/* more of them share columns */

/* What is known of a name while a history is gone through. */
struct known {
	bool is[CHART_KINDS];
	int life;		/* of the one that lives now */
	bool spawned;
	size_t down_from;	/* event, from 1, since when it is dead ... */
	size_t paused_from;	/* ... or paused; 0: it is not */
};

struct making {
	struct chart *c;
	struct names names;
	struct known *known;
};

/* --- who is what ---------------------------------------------------------- */

static struct known *
learn(struct making *m, const char *name)
{
	size_t before = m->names.n, at;

	at = names_add(&m->names, &m->c->arena, name);
	if (m->names.n > before)
		(void)arena_more(&m->c->arena, &m->known, &before,
		    sizeof *m->known);
	return &m->known[at];
}

static void
learn_event(struct making *m, const struct history_event *e)
{
	struct known *k = learn(m, e->p);

	k->is[CHART_CLIENT] |= e->kind == HISTORY_INV ||
	    e->kind == HISTORY_RET;
	k->is[CHART_PROGRAM] |= e->kind == HISTORY_EFFECT;
	k->is[CHART_STORE] |= e->kind == HISTORY_STORE;
	k->is[CHART_LEDGER] |= e->kind == HISTORY_LEDGER;
	k->is[CHART_GATE] |= e->kind == HISTORY_LOG;
	if (e->to != NULL)
		learn(m, e->to)->is[e->kind == HISTORY_SEND ? CHART_STORE :
		    CHART_GATE] = true;
	if (e->kind == HISTORY_EFFECT && e->gate != NULL)
		learn(m, e->gate)->is[CHART_GATE] = true;
}

/* A letter and a number, as the simulator names them. */
static bool
is_numbered(const char *name, char letter)
{
	return name[0] == letter && name[1] != '\0' &&
	    name[1 + strspn(name + 1, "0123456789")] == '\0';
}

static enum chart_kind
kind_of(const struct known *k, const char *name)
{
	static const enum chart_kind order[] = {
		CHART_CLIENT, CHART_GATE, CHART_PROGRAM, CHART_STORE,
		CHART_LEDGER
	};
	size_t i;

	for (i = 0; i < sizeof order / sizeof *order; i++)
		if (k->is[order[i]])
			return order[i];
	return is_numbered(name, 'c') ? CHART_CLIENT :
	    is_numbered(name, 'g') ? CHART_GATE :
	    is_numbered(name, 'h') ? CHART_PROGRAM : CHART_STORE;
}

/* --- lanes ---------------------------------------------------------------- */

static int
lane_of(struct making *m, const char *name, int life, size_t row)
{
	struct chart *c = m->c;
	const struct known *k;
	struct chart_lane *lane;
	enum chart_kind kind;
	size_t i;

	if (name == NULL || strcmp(name, "-") == 0)
		return CHART_NO_LANE;
	k = learn(m, name);
	kind = kind_of(k, name);
	life = kind != CHART_GATE ? 0 : life > 0 ? life : k->life > 0 ?
	    k->life : 1;
	for (i = 0; i < c->lanes_n; i++)
		if (c->lanes[i].life == life &&
		    strcmp(c->lanes[i].name, name) == 0)
			break;
	if (i == c->lanes_n) {
		lane = arena_more(&c->arena, &c->lanes, &c->lanes_n,
		    sizeof *lane);
		*lane = (struct chart_lane){ .name = name, .life = life,
		    .kind = kind, .first = row };
	}
	c->lanes[i].last = row;
	return (int)i;
}

static void
add_down(struct making *m, const char *name, size_t from, size_t to,
    bool paused)
{
	struct chart *c = m->c;
	size_t row = report_chart_row_of(c, (uint32_t)from);
	size_t end = to > 0 ? report_chart_row_of(c, (uint32_t)to) : c->n;
	struct chart_down *d;
	int lane = CHART_NO_LANE;
	size_t i;

	/* The latest life that is drawn: nobody else can have ended. */
	for (i = 0; i < c->lanes_n; i++)
		if (strcmp(c->lanes[i].name, name) == 0 &&
		    (lane == CHART_NO_LANE || (c->lanes[i].life >
		    c->lanes[lane].life && c->lanes[i].life <=
		    learn(m, name)->life)))
			lane = (int)i;
	if (lane == CHART_NO_LANE || row >= c->n || end <= row)
		return;
	d = arena_more(&c->arena, &c->downs, &c->downs_n, sizeof *d);
	*d = (struct chart_down){ lane, row, end, paused };
}

static bool
begins(const char *text, const char *with)
{
	return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

static void
up_again(struct making *m, const char *name, size_t i)
{
	struct known *k = learn(m, name);

	if (k->down_from > 0)
		add_down(m, name, k->down_from, i, false);
	if (k->paused_from > 0)
		add_down(m, name, k->paused_from, i, true);
	k->down_from = k->paused_from = 0;
}

/* Who lives, and since when somebody does not. */
static void
follow(struct making *m, const struct history_event *e)
{
	struct known *k = learn(m, e->p);
	size_t i;

	if (e->kind == HISTORY_SPAWN) {
		up_again(m, e->p, e->i);
		k->life = e->life > 0 ? e->life : k->spawned ? k->life + 1 :
		    1;
		k->spawned = true;
	} else if (e->kind == HISTORY_EXIT && k->down_from == 0) {
		up_again(m, e->p, e->i);
		k->down_from = e->i;
	} else if (e->kind == HISTORY_FAULT && k->paused_from == 0 &&
	    k->down_from == 0 && begins(e->what, "pause "))
		k->paused_from = e->i;
	else if (e->kind == HISTORY_HEAL && strcmp(e->p, "-") == 0) {
		for (i = 0; i < m->names.n; i++)
			if (m->known[i].paused_from > 0)
				up_again(m, m->names.at[i], e->i);
	} else if (e->kind == HISTORY_HEAL && begins(e->what, "resume "))
		up_again(m, e->p, e->i);
}

/* --- rows ----------------------------------------------------------------- */

static void
add_row(struct making *m, size_t row)
{
	struct chart_row *r = &m->c->rows[row];
	const struct history_event *e = r->e;

	r->lane = lane_of(m, e->p, e->kind == HISTORY_LOG ? e->life : 0, row);
	r->other = CHART_NO_LANE;
	if (e->kind == HISTORY_EFFECT)
		r->other = lane_of(m, e->gate, e->life, row);
	else if (e->to != NULL)
		r->other = lane_of(m, e->to, 0, row);
}

static void
make_rows(struct making *m)
{
	struct chart *c = m->c;
	size_t i, row = 0;

	c->n = c->pick.n;
	c->rows = arena_get(&c->arena, (c->n + 1) * sizeof *c->rows);
	for (i = 0; i < c->n; i++)
		c->rows[i] = (struct chart_row){
			.e = c->pick.at[i], .conflict = c->pick.conflict[i],
			.left_out = c->pick.at[i]->i - 1 -
			    (i > 0 ? c->pick.at[i - 1]->i : 0)
		};
	for (i = 0; i < c->h->n; i++)
		learn_event(m, &c->h->events[i]);
	for (i = 0; i < c->h->n; i++) {
		follow(m, &c->h->events[i]);
		if (row < c->n && c->rows[row].e == &c->h->events[i])
			add_row(m, row++);
	}
	for (i = 0; i < m->names.n; i++)
		up_again(m, m->names.at[i], 0);
}

static int64_t
since_last(const struct chart *c, size_t row)
{
	return row > 0 ? c->rows[row].e->t_ns - c->rows[row - 1].e->t_ns : 0;
}

/* Not more than one row of four has a gap before it. */
static void
place_rows(struct chart *c)
{
	int64_t least = GAP_NS;
	size_t gaps, i;
	int y = CHART_TOP;

	do {
		for (gaps = i = 0; i < c->n; i++)
			gaps += since_last(c, i) >= least;
		least *= 2;
	} while (gaps > c->n / 4 + 1);
	least /= 2;
	for (i = 0; i < c->n; i++) {
		if (since_last(c, i) >= least) {
			c->rows[i].gap_ns = since_last(c, i);
			y += CHART_GAP;
		}
		c->rows[i].y = y + CHART_ROW / 2;
		y += CHART_ROW;
	}
	c->height = y + CHART_FOOT;
}

/* --- columns -------------------------------------------------------------- */

/* "c2" before "c10". */
static int
by_name(const char *a, const char *b)
{
	size_t a_len = strlen(a), b_len = strlen(b);

	if (isdigit((unsigned char)a[a_len > 0 ? a_len - 1 : 0]) &&
	    isdigit((unsigned char)b[b_len > 0 ? b_len - 1 : 0]) &&
	    a_len != b_len)
		return a_len < b_len ? -1 : 1;
	return strcmp(a, b);
}

static int
by_place(const void *a_, const void *b_)
{
	const struct chart_lane *a = *(const struct chart_lane *const *)a_;
	const struct chart_lane *b = *(const struct chart_lane *const *)b_;
	int order;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	/* Else who comes first finds the columns taken by who comes later. */
	if (a->shares && a->first != b->first)
		return a->first < b->first ? -1 : 1;
	order = by_name(a->name, b->name);
	return order != 0 ? order : (a->life > b->life) - (a->life < b->life);
}

static bool
shares(const struct chart_lane *l, size_t clients)
{
	return l->kind == CHART_PROGRAM || l->kind == CHART_LEASE ||
	    (l->kind == CHART_CLIENT && clients > CLIENTS_ALONE);
}

/* The first column of its kind that is free again, with a row between. */
static size_t
column_for(struct chart *c, const struct chart_lane *l, size_t *free_from)
{
	struct chart_column *column;
	size_t i;

	for (i = 0; l->shares && i < c->columns_n; i++)
		if (c->columns[i].kind == l->kind && free_from[i] < l->first)
			return i;
	column = arena_more(&c->arena, &c->columns, &c->columns_n,
	    sizeof *column);
	column->kind = l->kind;
	column->shared = l->shares;
	column->lane = l;
	return c->columns_n - 1;
}

static void
place_columns(struct chart *c)
{
	struct chart_lane **order = arena_get(&c->arena,
	    (c->lanes_n + 1) * sizeof(struct chart_lane *));
	size_t *free_from = arena_get(&c->arena, (c->lanes_n + 1) *
	    sizeof *free_from);
	size_t clients = 0, i;
	int x = LEFT;

	for (i = 0; i < c->lanes_n; i++)
		clients += c->lanes[i].kind == CHART_CLIENT;
	for (i = 0; i < c->lanes_n; i++) {
		order[i] = &c->lanes[i];
		order[i]->shares = shares(order[i], clients);
	}
	qsort(order, c->lanes_n, sizeof(struct chart_lane *), by_place);
	for (i = 0; i < c->lanes_n; i++) {
		order[i]->column = column_for(c, order[i], free_from);
		free_from[order[i]->column] = order[i]->last + 1;
	}
	c->column_width = c->columns_n <= 8 ? 114 : c->columns_n <= 14 ?
	    108 : 96;
	for (i = 0; i < c->columns_n; i++) {
		if (i > 0)
			x += c->column_width + (c->columns[i].kind !=
			    c->columns[i - 1].kind ? GROUP : 0);
		c->columns[i].x = x;
	}
	c->width = x + RIGHT;
}

/* --- all of it ------------------------------------------------------------ */

int
report_chart_x(const struct chart *c, int lane)
{
	return c->columns[c->lanes[lane].column].x;
}

size_t
report_chart_row_of(const struct chart *c, uint32_t i)
{
	size_t low = 0, high = c->n, at;

	while (low < high) {
		at = low + (high - low) / 2;
		if (c->rows[at].e->i < i)
			low = at + 1;
		else
			high = at;
	}
	return low;
}

int
report_chart_foot(const struct chart *c)
{
	return c->height - CHART_FOOT / 2;
}

void
report_chart_make(struct chart *c, const struct history *h,
    const struct check_finding *finding, size_t max)
{
	struct making m = { .c = c };

	c->h = h;
	c->conflict = finding != NULL && finding->events_n > 0;
	report_pick(&c->pick, h, finding, max, REPORT_PICK_PAGE);
	make_rows(&m);
	place_rows(c);
	report_lease_find(c, finding != NULL ? finding->key : NULL);
	place_columns(c);
	report_span_find(c);
}

void
report_chart_free(struct chart *c)
{
	arena_free(&c->arena);
	report_pick_free(&c->pick);
	*c = (struct chart){ .n = 0 };
}
