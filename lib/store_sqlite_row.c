/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <string.h>

/* The columns of every SELECT, in the order of COLUMNS there. */
enum column {
	COL_ID, COL_KEY, COL_STATE, COL_ATTEMPT, COL_OWNER, COL_BOOT, COL_PID,
	COL_FINGERPRINT, COL_GUARD, COL_MADE, COL_ENDED, COL_LEASE_END,
	COL_RENEWED, COL_EXPIRES, COL_TOMBSTONE, COL_ANSWER_LEN, COL_ANSWER
};

/* The parameters of INSERT and UPDATE that are not columns of a record. */
enum { PARAM_TOMBSTONE = 13, PARAM_ANSWER_LEN, PARAM_ANSWER, PARAM_WHICH };

/* --- reading -------------------------------------------------------------- */

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
	int64_t got = sqlite3_column_int64(stmt, (int)col);

	*to = (uint32_t)got;
	return got >= 0 && got <= UINT32_MAX;
}

bool
idem_sqlite_row_read(sqlite3_stmt *stmt, struct idem_sqlite_row *row)
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

bool
idem_sqlite_row_whole(sqlite3_stmt *stmt, struct idem_sqlite_row *row)
{
	struct idem_sqlite_where *w = &row->where;

	if (!idem_sqlite_row_read(stmt, row))
		return false;
	*w = (struct idem_sqlite_where){ .len = row->answer_len };
	if (w->len <= IDEM_SQLITE_INLINE)
		return true;
	if (sqlite3_column_type(stmt, COL_ANSWER) == SQLITE_NULL) {
		w->id = row->id;
		w->whole = true;
		return true;
	}
	w->id = sqlite3_column_int64(stmt, COL_ANSWER);
	return sqlite3_column_type(stmt, COL_ANSWER) == SQLITE_INTEGER;
}

int
idem_sqlite_row_answer(struct idem_sqlite_db *d, sqlite3_stmt *at,
    const struct idem_sqlite_row *row, struct idem_blob **answer)
{
	struct idem_bytes bytes;

	*answer = NULL;
	if (row->answer_len == 0)
		return SQLITE_OK;
	if (row->answer_len > IDEM_SQLITE_INLINE)
		return idem_sqlite_body_get(d, &row->where, answer);
	bytes.at = sqlite3_column_blob(at, COL_ANSWER);
	bytes.len = (size_t)sqlite3_column_bytes(at, COL_ANSWER);
	if (bytes.len != row->answer_len)
		return SQLITE_CORRUPT;
	*answer = idem_blob_new(bytes);
	return *answer != NULL ? SQLITE_OK : SQLITE_NOMEM;
}

/* --- writing -------------------------------------------------------------- */

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

int
idem_sqlite_row_write(struct idem_sqlite_db *d,
    const struct idem_sqlite_row *row, const struct idem_blob *answer)
{
	enum idem_sqlite_say say =
	    row->id != 0 ? IDEM_SAY_UPDATE : IDEM_SAY_INSERT;
	sqlite3_stmt *stmt = d->say[say];
	size_t len = answer != NULL ? answer->len : 0;
	int64_t body = 0;
	int rc = SQLITE_OK;

	if (len > IDEM_SQLITE_INLINE)
		rc = idem_sqlite_body_put(d, answer, &body);
	if (rc != SQLITE_OK)
		return rc;
	bind_record(stmt, &row->record);
	sqlite3_bind_int64(stmt, PARAM_TOMBSTONE, row->tombstone_ms);
	sqlite3_bind_int64(stmt, PARAM_ANSWER_LEN, (int64_t)len);
	if (len > IDEM_SQLITE_INLINE)
		sqlite3_bind_int64(stmt, PARAM_ANSWER, body);
	else if (len > 0)
		bind_blob(stmt, PARAM_ANSWER, answer->at, len);
	if (row->id != 0)
		sqlite3_bind_int64(stmt, PARAM_WHICH, row->id);
	else
		bind_blob(stmt, PARAM_WHICH, row->key.at, sizeof row->key.at);
	rc = idem_sqlite_say(d, say);
	return rc == SQLITE_OK ? idem_sqlite_body_drop(d, &row->where) : rc;
}

int
idem_sqlite_row_delete(struct idem_sqlite_db *d,
    const struct idem_sqlite_row *row)
{
	int rc;

	sqlite3_bind_int64(d->say[IDEM_SAY_DELETE], 1, row->id);
	rc = idem_sqlite_say(d, IDEM_SAY_DELETE);
	return rc == SQLITE_OK ? idem_sqlite_body_drop(d, &row->where) : rc;
}
