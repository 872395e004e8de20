/* SPDX-License-Identifier: ISC */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include "arena.h"
#include "report_pick.h"

/*
 * Where everything of a space-time diagram stands, in pixels: lanes from left
 * to right, one row an event from top to bottom.
 *
 *	 clients   |   gates          | stores | leases | programs
 *	 c1    c2  |   g1   g1 life 2 |   a    |        |
 */
#define CHART_ROW 24
#define CHART_GAP 26		/* before a row: some time has gone by */
#define CHART_TOP 14
#define CHART_FOOT 30
#define CHART_HEAD 56

enum chart_kind {
	CHART_CLIENT, CHART_GATE, CHART_STORE, CHART_LEDGER, CHART_LEASE,
	CHART_PROGRAM,
	CHART_KINDS
};

struct chart_lane {
	const char *name;	/* "g1" */
	int life;		/* of a gate, from 1; else 0 */
	enum chart_kind kind;
	size_t first, last;	/* rows in which something of it is */
	bool shares;		/* a column with others of its kind */
	size_t column;
};

/* Lanes that are never there at once may share one; then it has no name. */
struct chart_column {
	enum chart_kind kind;
	int x;
	bool shared;
	const struct chart_lane *lane;	/* if it is not */
};

#define CHART_NO_LANE (-1)

struct chart_row {
	const struct history_event *e;
	unsigned conflict;	/* its number, from 1; 0: none */
	int lane;		/* index, or CHART_NO_LANE: nobody's */
	int other;		/* whom it goes to, or whose program it is */
	int y, aside;		/* aside: of its lane */
	int64_t gap_ns;		/* before it; 0: none that is shown */
	size_t left_out;	/* events before it */
};

/* A lane that does nothing for a while. */
struct chart_down {
	int lane;
	size_t from, to;	/* rows; to n: up to the foot */
	bool paused;		/* else it is dead */
};

/* Something that lasts: a client's try, a program's run. */
struct chart_span {
	int lane;
	size_t first, last;	/* rows; last is n where it has no end */
	bool open;		/* nobody knows what became of it */
	unsigned side;		/* beside others of its lane; from 0 */
};

/* That somebody owns a key: a bracket on a lane of its own. */
enum chart_lease_end {
	CHART_LEASE_OPEN,	/* it goes on: none */
	CHART_LEASE_COMPLETED, CHART_LEASE_RAN, CHART_LEASE_RELEASED,
	CHART_LEASE_UNKNOWN,	/* somebody noted that nobody knows */
	CHART_LEASE_EXPIRED,
	CHART_LEASE_TAKEN,	/* another got it before it had expired */
	CHART_LEASE_FORGOTTEN, CHART_LEASE_DIED,
	CHART_LEASE_ENDS
};

struct chart_lease {
	const char *key, *gate;	/* gate: who has it; NULL: not known */
	uint32_t from, to;	/* events; to 0: it ended at none */
	uint32_t *renewed;	/* events */
	size_t renewed_n;
	int64_t from_ns, until_ns, end_ns;	/* until: unless renewed */
	enum chart_lease_end end;
	int lane;
	size_t first, last;	/* rows; last is n where it goes on */
	int y, foot;
};

struct chart {
	const struct history *h;
	struct arena arena;
	struct report_pick pick;
	bool conflict;		/* there is one */
	struct chart_row *rows;
	size_t n;
	struct chart_lane *lanes;
	size_t lanes_n;
	struct chart_column *columns;
	size_t columns_n;
	struct chart_down *downs;
	size_t downs_n;
	struct chart_span *tries, *runs;	/* by their first rows */
	size_t tries_n, runs_n;
	struct chart_lease *leases;
	size_t leases_n, leases_left;	/* left: that are not drawn */
	int column_width, width, height;
};

/* At most max events.  finding: or NULL. */
void report_chart_make(struct chart *, const struct history *,
    const struct check_finding *, size_t max);
void report_chart_free(struct chart *);

/* Its part: tries and runs (report_span.c). */
void report_span_find(struct chart *);
/* And leases, each with its lane (report_lease.c): once rows have their places.
   key: whose are drawn in any case; NULL: nobody's. */
void report_lease_find(struct chart *, const char *key);

int report_chart_x(const struct chart *, int lane);
/* The row of an event, or of the next one that is shown; n: there is none. */
size_t report_chart_row_of(const struct chart *, uint32_t i);
int report_chart_foot(const struct chart *);	/* y of the lanes' end */

#endif
