/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* How long the sweep of one group may take, since writers wait for it, and how
   many rows go between two looks at the clock. */
#define SWEEP_MS 5
#define SWEEP_STRIDE 16

/* A row of `record`, without its answer. */
struct row {
	sqlite3_int64 id;	/* 0: not there */
	struct idem_digest key;
	struct idem_record record;
	int64_t tombstone_ms;
	uint64_t answer_len;
};

/* The columns of every SELECT, in the order of COLUMNS there. */
enum column {
	COL_ID, COL_KEY, COL_STATE, COL_ATTEMPT, COL_OWNER, COL_BOOT, COL_PID,
	COL_FINGERPRINT, COL_GUARD, COL_MADE, COL_ENDED, COL_LEASE_END,
	COL_RENEWED, COL_EXPIRES, COL_TOMBSTONE, COL_ANSWER_LEN, COL_ANSWER
};

/* The parameters of INSERT and UPDATE that are not columns of a record. */
enum { PARAM_TOMBSTONE = 13, PARAM_ANSWER_LEN, PARAM_ANSWER, PARAM_WHICH };

/* --- rows ----------------------------------------------------------------- */

static bool
read_blob(sqlite3_stmt *stmt, enum column col, void *to, size_t len)
{
	const void *at = sqlite3_column_blob(stmt, (int)col);

	if (at == NULL || (size_t)sqlite3_column_bytes(stmt, (int)col) != len)
		return false;
	memcpy(to, at, len);
	return true;
}

static bool
read_u32(sqlite3_stmt *stmt, enum column col, uint32_t *to)
{
	sqlite3_int64 got = sqlite3_column_int64(stmt, (int)col);

	*to = (uint32_t)got;
	return got >= 0 && got <= UINT32_MAX;
}

/* False if it is not one of ours. */
static bool
read_row(sqlite3_stmt *stmt, struct row *row)
{
	struct idem_record *r = &row->record;
	uint32_t state;

	row->id = sqlite3_column_int64(stmt, COL_ID);
	row->tombstone_ms = sqlite3_column_int64(stmt, COL_TOMBSTONE);
	row->answer_len = (uint64_t)sqlite3_column_int64(stmt, COL_ANSWER_LEN);
	r->made_at = sqlite3_column_int64(stmt, COL_MADE);
	r->ended_at = sqlite3_column_int64(stmt, COL_ENDED);
	r->lease_end = sqlite3_column_int64(stmt, COL_LEASE_END);
	r->renewed_at = sqlite3_column_int64(stmt, COL_RENEWED);
	r->expires_at = sqlite3_column_int64(stmt, COL_EXPIRES);
	if (!read_u32(stmt, COL_STATE, &state) ||
	    state == IDEM_STATE_ABSENT || state > IDEM_STATE_TOMBSTONE)
		return false;
	r->state = (enum idem_state)state;
	return read_u32(stmt, COL_ATTEMPT, &r->attempt) &&
	    read_u32(stmt, COL_PID, &r->pid) &&
	    read_blob(stmt, COL_KEY, row->key.at, sizeof row->key.at) &&
	    read_blob(stmt, COL_OWNER, r->owner.at, sizeof r->owner.at) &&
	    read_blob(stmt, COL_BOOT, r->boot.at, sizeof r->boot.at) &&
	    read_blob(stmt, COL_FINGERPRINT, r->fingerprint.at,
	    sizeof r->fingerprint.at) &&
	    read_blob(stmt, COL_GUARD, r->guard.at, sizeof r->guard.at);
}

static void
bind_blob(sqlite3_stmt *stmt, int param, const void *at, size_t len)
{
	sqlite3_bind_blob64(stmt, param, at, len, SQLITE_STATIC);
}

static void
bind_record(sqlite3_stmt *stmt, const struct idem_record *r)
{
	sqlite3_bind_int(stmt, 1, (int)r->state);
	sqlite3_bind_int64(stmt, 2, r->attempt);
	bind_blob(stmt, 3, r->owner.at, sizeof r->owner.at);
	bind_blob(stmt, 4, r->boot.at, sizeof r->boot.at);
	sqlite3_bind_int64(stmt, 5, r->pid);
	bind_blob(stmt, 6, r->fingerprint.at, sizeof r->fingerprint.at);
	bind_blob(stmt, 7, r->guard.at, sizeof r->guard.at);
	sqlite3_bind_int64(stmt, 8, r->made_at);
	sqlite3_bind_int64(stmt, 9, r->ended_at);
	sqlite3_bind_int64(stmt, 10, r->lease_end);
	sqlite3_bind_int64(stmt, 11, r->renewed_at);
	sqlite3_bind_int64(stmt, 12, r->expires_at);
}

static int
delete(struct idem_sqlite_db *d, enum idem_sqlite_say say, sqlite3_int64 id)
{
	sqlite3_bind_int64(d->say[say], 1, id);
	return idem_sqlite_say(d, say);
}

static int
put_body(struct idem_sqlite_db *d, sqlite3_int64 id,
    const struct idem_blob *answer)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_BODY_PUT];

	sqlite3_bind_int64(stmt, 1, id);
	bind_blob(stmt, 2, answer->at, answer->len);
	return idem_sqlite_say(d, IDEM_SAY_BODY_PUT);
}

/* Put row->record into its row, or into a new one, with the answer or none. */
static int
write_row(struct idem_sqlite_db *d, const struct row *row,
    const struct idem_blob *answer)
{
	enum idem_sqlite_say say =
	    row->id != 0 ? IDEM_SAY_UPDATE : IDEM_SAY_INSERT;
	sqlite3_stmt *stmt = d->say[say];
	size_t len = answer != NULL ? answer->len : 0;
	int rc;

	bind_record(stmt, &row->record);
	sqlite3_bind_int64(stmt, PARAM_TOMBSTONE, row->tombstone_ms);
	sqlite3_bind_int64(stmt, PARAM_ANSWER_LEN, (sqlite3_int64)len);
	if (len > 0 && len <= IDEM_SQLITE_INLINE)
		bind_blob(stmt, PARAM_ANSWER, answer->at, len);
	if (row->id != 0)
		sqlite3_bind_int64(stmt, PARAM_WHICH, row->id);
	else
		bind_blob(stmt, PARAM_WHICH, row->key.at, sizeof row->key.at);
	rc = idem_sqlite_say(d, say);
	if (rc == SQLITE_OK && row->answer_len > IDEM_SQLITE_INLINE)
		rc = delete(d, IDEM_SAY_BODY_DELETE, row->id);
	if (rc == SQLITE_OK && len > IDEM_SQLITE_INLINE)
		rc = put_body(d, row->id != 0 ? row->id :
		    sqlite3_last_insert_rowid(d->db), answer);
	return rc;
}

/* --- one record ----------------------------------------------------------- */

static void
bad_record(const struct idem_store_call *call, struct idem_sqlite_done *done)
{
	idem_store_fail(&done->result, call->op, IDEM_CLASS_CONFIG,
	    "the ledger holds a record that cannot be read");
	done->result.claim = IDEM_CLAIM_BAD_RECORD;
}

/* Its answer where it is: in the row at hand, or in `body`. */
static int
read_answer(struct idem_sqlite_db *d, sqlite3_stmt *at, const struct row *row,
    struct idem_blob **answer)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_BODY_GET];
	bool apart = row->answer_len > IDEM_SQLITE_INLINE;
	struct idem_bytes bytes;
	int rc = SQLITE_ROW;

	*answer = NULL;
	if (row->answer_len == 0)
		return SQLITE_OK;
	if (apart) {
		sqlite3_bind_int64(stmt, 1, row->id);
		rc = sqlite3_step(stmt);
		at = stmt;
	}
	if (rc == SQLITE_ROW) {
		bytes.at = sqlite3_column_blob(at, apart ? 0 : COL_ANSWER);
		bytes.len = (size_t)sqlite3_column_bytes(at,
		    apart ? 0 : COL_ANSWER);
		rc = bytes.len != row->answer_len ? SQLITE_CORRUPT :
		    (*answer = idem_blob_new(bytes)) == NULL ? SQLITE_NOMEM :
		    SQLITE_OK;
	} else if (rc == SQLITE_DONE) {
		rc = SQLITE_CORRUPT;
	}
	if (apart)
		sqlite3_reset(stmt);
	return rc;
}

/* Decide on the row under `get`, and write what is decided. */
static int
decide(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, bool look, struct row *row,
    struct idem_sqlite_done *done)
{
	sqlite3_stmt *get = d->say[IDEM_SAY_GET];
	struct idem_verdict v;
	int rc = SQLITE_OK;

	idem_verdict(&row->record, call, at, &v);
	if (look && v.changed) {
		done->writes = true;
		return SQLITE_OK;
	}
	idem_store_decided(&done->result, call, &v, at);
	if (call->op == IDEM_STORE_CLAIM && v.claim == IDEM_CLAIM_COMPLETED)
		return read_answer(d, get, row, &done->result.answer);
	if (!v.changed)
		return SQLITE_OK;
	sqlite3_reset(get);
	row->record = v.record;
	row->tombstone_ms = v.tombstone_ms;
	rc = write_row(d, row, v.with_answer ? call->answer : NULL);
	done->withdrew = call->op == IDEM_STORE_SETTLE;
	return rc;
}

static int
one(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, bool look, struct idem_sqlite_done *done)
{
	sqlite3_stmt *get = d->say[IDEM_SAY_GET];
	struct row row = { .key = call->key };
	int rc;

	bind_blob(get, 1, call->key.at, sizeof call->key.at);
	rc = sqlite3_step(get);
	if (rc == SQLITE_ROW && !read_row(get, &row)) {
		bad_record(call, done);
		rc = SQLITE_OK;
	} else if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		rc = decide(d, call, at, look, &row, done);
	}
	sqlite3_reset(get);
	return rc;
}

/* --- many records --------------------------------------------------------- */

static int
list(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, struct idem_sqlite_done *done)
{
	const uint32_t open = 1u << IDEM_STATE_IN_PROGRESS |
	    1u << IDEM_STATE_UNKNOWN;
	sqlite3_stmt *stmt = d->say[(call->states & ~open) == 0 ?
	    IDEM_SAY_LIST_OPEN : IDEM_SAY_LIST];
	uint32_t max = idem_store_rows(call), n = 0, seen = 0;
	struct row row;
	int rc;

	done->listed = calloc(max, sizeof *done->listed);
	if (done->listed == NULL)
		return SQLITE_NOMEM;
	bind_blob(stmt, 1, call->key.at, sizeof call->key.at);
	sqlite3_bind_int64(stmt, 2, call->states);
	sqlite3_bind_int64(stmt, 3, max);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		seen++;
		/* One that cannot be read says so when it is asked for. */
		if (!read_row(stmt, &row))
			continue;
		done->listed[n++] = (struct idem_listed){
			.key = row.key,
			.record = row.record,
			.answer_len = row.answer_len,
		};
	}
	sqlite3_reset(stmt);
	done->result = (struct idem_store_result){
		.op = call->op,
		.now_ms = at->boot_ms,
		.listed = done->listed,
		.count = n,
		.more = seen == max,
	};
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int
sweep_row(struct idem_sqlite_db *d, struct row *row, int64_t wall_ms)
{
	int rc;

	switch (idem_verdict_sweep(&row->record, row->tombstone_ms, wall_ms)) {
	case IDEM_SWEPT_NOT:
		return SQLITE_OK;
	case IDEM_SWEPT_TOMBSTONE:
		return write_row(d, row, NULL);
	case IDEM_SWEPT_GONE:
		rc = delete(d, IDEM_SAY_DELETE, row->id);
		if (rc == SQLITE_OK && row->answer_len > IDEM_SQLITE_INLINE)
			rc = delete(d, IDEM_SAY_BODY_DELETE, row->id);
		return rc;
	}
	return SQLITE_OK;
}

/* The rows that are due, at most max; they are read before one is changed. */
static int
read_due(struct idem_sqlite_db *d, int64_t wall_ms, struct row *rows,
    uint32_t max, uint32_t *n)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_DUE];
	int rc;

	*n = 0;
	sqlite3_bind_int64(stmt, 1, wall_ms);
	sqlite3_bind_int64(stmt, 2, max);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
		if (read_row(stmt, &rows[*n]))
			++*n;
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int
sweep(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, bool look, struct idem_sqlite_done *done)
{
	uint32_t max = idem_store_rows(call), n, i;
	int64_t end_ms = idem_boot_ms(&idem_clock_real) + SWEEP_MS;
	struct row *rows;
	int rc;

	rows = calloc(max, sizeof *rows);
	if (rows == NULL)
		return SQLITE_NOMEM;
	rc = read_due(d, at->wall_ms, rows, look ? 1 : max, &n);
	done->writes = look && n > 0;
	for (i = 0; !look && rc == SQLITE_OK && i < n; i++) {
		/* Its cost is real, whatever clock the store was given. */
		if (i % SWEEP_STRIDE == SWEEP_STRIDE - 1 &&
		    idem_boot_ms(&idem_clock_real) >= end_ms)
			break;
		rc = sweep_row(d, &rows[i], at->wall_ms);
	}
	free(rows);
	done->result = (struct idem_store_result){
		.op = call->op,
		.now_ms = at->boot_ms,
		.count = i,
		.more = i < n || n == max,
	};
	return rc;
}

/* ------------------------------------------------------------------------- */

void
idem_sqlite_done_free(struct idem_sqlite_done *done)
{
	idem_blob_drop(done->result.answer);
	free(done->listed);
	*done = (struct idem_sqlite_done){ 0 };
}

int
idem_sqlite_apply(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, bool look, struct idem_sqlite_done *done)
{
	int rc;

	*done = (struct idem_sqlite_done){ 0 };
	if (call->op == IDEM_STORE_LIST)
		rc = list(d, call, at, done);
	else if (call->op == IDEM_STORE_SWEEP)
		rc = sweep(d, call, at, look, done);
	else
		rc = one(d, call, at, look, done);
	if (rc != SQLITE_OK)
		idem_sqlite_done_free(done);
	return rc;
}
