/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>

/*
 * Writers wait while a sweep writes, at most 5 ms: so it stops after SWEEP_MS,
 * which is up to a millisecond more, and after SWEEP_BYTES of answers, since
 * each page that they leave is read first; the rest is for the commit.  What
 * there is to do is looked for before, when only our own worker waits; then it
 * is found at once.  The clock is looked at after each STEP_ROWS: so many are
 * done in a call, however slow the machine is.
 */
#define SWEEP_MS 1
#define SWEEP_BYTES (2 * IDEM_SQLITE_PIECE)
#define LOOK_MS 2
#define LOOK_ROWS 2000
#define STEP_ROWS 8

/* What is to be swept; read before one of them is changed. */
struct due {
	struct idem_sqlite_row *rows;
	uint32_t n, max;
	int64_t end_ms;		/* no longer than that */
	bool more;		/* there may be */
};

/* Their cost is real, whatever clock the store was given. */
static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

static bool
in_time(const struct due *due, uint32_t rows)
{
	return rows == 0 || rows % STEP_ROWS != 0 || now_ms() <= due->end_ms;
}

/* --- finding -------------------------------------------------------------- */

static int
find_due(struct idem_sqlite_db *d, int64_t wall_ms, struct due *due)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_DUE];
	uint32_t seen = 0;
	int rc;

	sqlite3_bind_int64(stmt, 1, wall_ms);
	sqlite3_bind_int64(stmt, 2, due->max);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		seen++;
		if (idem_sqlite_row_whole(stmt, &due->rows[due->n]))
			due->n++;
	}
	sqlite3_reset(stmt);
	due->more = seen == due->max;
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Completed, or it may be: its answer may have to go, but not yet. */
static bool
is_young(enum idem_state state)
{
	return state == IDEM_STATE_ISSUED || state == IDEM_STATE_IN_PROGRESS ||
	    state == IDEM_STATE_COMPLETED;
}

/*
 * Put the row into `due` if it is over and not due anyway.  The walk does not
 * go on beyond the first of them: once it is swept, it is passed.
 */
static void
walk_row(struct idem_sqlite_walk *walk, sqlite3_stmt *stmt,
    const struct idem_store_call *call, int64_t wall_ms, struct due *due)
{
	struct idem_sqlite_row *row = &due->rows[due->n];
	struct idem_record r;

	if (idem_sqlite_row_whole(stmt, row)) {
		r = row->record;
		if (r.expires_at > wall_ms && idem_verdict_sweep(&r, call,
		    row->tombstone_ms, wall_ms) != IDEM_SWEPT_NOT) {
			due->n++;
			walk->found = true;
			return;
		}
		if (!walk->found && walk->young == 0 && is_young(r.state))
			walk->young = row->id;
	}
	if (!walk->found)
		walk->at = row->id;
}

/*
 * All rows are passed.  They are in the order in which their keys came, so that
 * the next walk may begin with the first that was too young in this one.
 */
static void
walk_over(struct idem_sqlite_walk *walk)
{
	if (walk->young != 0)
		walk->at = walk->young - 1;
	walk->young = 0;
}

/*
 * What is over because room is short.  No index knows of it: a walk over all
 * rows, some steps a call.
 */
static int
find_old(struct idem_sqlite_db *d, const struct idem_store_call *call,
    int64_t wall_ms, struct due *due)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_WALK];
	uint32_t steps = 0;
	int rc = SQLITE_ROW;

	d->walk.found = false;
	sqlite3_bind_int64(stmt, 1, d->walk.at);
	while (due->n < due->max && steps < LOOK_ROWS &&
	    in_time(due, steps) &&
	    (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		steps++;
		walk_row(&d->walk, stmt, call, wall_ms, due);
	}
	sqlite3_reset(stmt);
	due->more |= rc == SQLITE_ROW;
	if (rc == SQLITE_DONE && !d->walk.found)
		walk_over(&d->walk);
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int
find(struct idem_sqlite_db *d, const struct idem_store_call *call,
    int64_t wall_ms, struct due *due)
{
	int rc = find_due(d, wall_ms, due);

	if (call->shrink_ms <= 0)
		d->walk = (struct idem_sqlite_walk){ 0 };
	else if (rc == SQLITE_OK)
		rc = find_old(d, call, wall_ms, due);
	return rc;
}

/* --- sweeping ------------------------------------------------------------- */

static int
sweep_row(struct idem_sqlite_db *d, const struct idem_store_call *call,
    struct idem_sqlite_row *row, int64_t wall_ms)
{
	switch (idem_verdict_sweep(&row->record, call, row->tombstone_ms,
	    wall_ms)) {
	case IDEM_SWEPT_NOT:
		return SQLITE_OK;
	case IDEM_SWEPT_TOMBSTONE:
		return idem_sqlite_row_write(d, row, NULL);
	case IDEM_SWEPT_GONE:
		return idem_sqlite_row_delete(d, row);
	}
	return SQLITE_OK;
}

/* As far as there is time; *swept of them, and what is left of *bytes. */
static int
sweep_rows(struct idem_sqlite_db *d, const struct idem_store_call *call,
    int64_t wall_ms, struct due *due, uint32_t *swept, uint64_t *bytes)
{
	uint64_t len;
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && *swept < due->n && *bytes > 0 &&
	    in_time(due, *swept)) {
		len = idem_sqlite_body_cost(&due->rows[*swept].where);
		*bytes -= len < *bytes ? len : *bytes;
		rc = sweep_row(d, call, &due->rows[*swept], wall_ms);
		++*swept;
	}
	return rc;
}

/* In a read transaction: whether there is anything to do.  What is to be freed
   has to be read, and from a disk that takes longer than a writer may wait. */
static int
look_for(struct idem_sqlite_db *d, const struct due *due, bool *writes)
{
	int rc;

	*writes = due->n > 0;
	if (*writes)
		return SQLITE_OK;
	rc = idem_sqlite_trash_look(d, writes);
	return rc == SQLITE_OK && *writes ?
	    idem_sqlite_trash_read(d, SWEEP_BYTES) : rc;
}

static int
carry_out(struct idem_sqlite_db *d, const struct idem_store_call *call,
    int64_t wall_ms, struct due *due, uint32_t *swept)
{
	uint64_t bytes = SWEEP_BYTES;
	bool trash = false;
	int rc = sweep_rows(d, call, wall_ms, due, swept, &bytes);

	if (rc == SQLITE_OK && *swept == due->n)
		rc = idem_sqlite_trash_empty(d, bytes);
	if (rc == SQLITE_OK)
		rc = idem_sqlite_trash_look(d, &trash);
	due->more |= trash || *swept < due->n;
	return rc;
}

int
idem_sqlite_sweep(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, bool look, struct idem_sqlite_done *done)
{
	struct due due = {
		.max = idem_store_rows(call),
		.end_ms = now_ms() + (look ? LOOK_MS : SWEEP_MS),
	};
	uint32_t swept = 0;
	int rc;

	due.rows = calloc(due.max, sizeof *due.rows);
	if (due.rows == NULL)
		return SQLITE_NOMEM;
	rc = find(d, call, at->wall_ms, &due);
	if (rc == SQLITE_OK)
		rc = look ? look_for(d, &due, &done->writes) :
		    carry_out(d, call, at->wall_ms, &due, &swept);
	free(due.rows);
	done->result = (struct idem_store_result){
		.op = call->op,
		.now_ms = at->boot_ms,
		.count = swept,
		.more = due.more,
	};
	return rc;
}
