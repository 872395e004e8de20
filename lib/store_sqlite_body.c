/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <string.h>

/*
 * Long answers.  One lies in pieces, in rows of `body` with consecutive ids, of
 * which its record has the first, so that it can also go piece by piece: to
 * free 16 MiB at once takes SQLite longer than anybody should wait.  What its
 * record has let go of is in `trash` until the sweep has freed it.
 *
 * Before there were pieces an answer was one row, with its record's id.  An
 * older idem that has the ledger open goes on so, whatever lies there: so that
 * it meets none of ours, their ids are beyond all that records have.
 */
#define BODY_MAX (INT64_C(1) << 30)	/* more than one may have */

static int64_t
pieces(const struct idem_sqlite_where *w)
{
	if (w->whole)
		return 1;
	return (int64_t)((w->len + IDEM_SQLITE_PIECE - 1) /
	    IDEM_SQLITE_PIECE);
}

/* --- here and gone -------------------------------------------------------- */

/* New ids are beyond all others, and nobody else writes meanwhile. */
int
idem_sqlite_body_put(struct idem_sqlite_db *d, const struct idem_blob *answer,
    int64_t *first)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_BODY_PUT];
	size_t at, len;
	int rc;

	for (at = 0; at < answer->len; at += len) {
		len = answer->len - at;
		if (len > IDEM_SQLITE_PIECE)
			len = IDEM_SQLITE_PIECE;
		sqlite3_bind_blob64(stmt, 1, answer->at + at, len,
		    SQLITE_STATIC);
		rc = idem_sqlite_say(d, IDEM_SAY_BODY_PUT);
		if (rc != SQLITE_OK)
			return rc;
		if (at == 0)
			*first = sqlite3_last_insert_rowid(d->db);
	}
	return SQLITE_OK;
}

static int
read_pieces(sqlite3_stmt *stmt, struct idem_blob *answer)
{
	size_t at = 0, len;
	int rc;

	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		len = (size_t)sqlite3_column_bytes(stmt, 0);
		if (len == 0 || len > answer->len - at)
			return SQLITE_CORRUPT;
		memcpy(answer->at + at, sqlite3_column_blob(stmt, 0), len);
		at += len;
	}
	return rc == SQLITE_DONE && at < answer->len ? SQLITE_CORRUPT :
	    rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int
idem_sqlite_body_get(struct idem_sqlite_db *d,
    const struct idem_sqlite_where *w, struct idem_blob **answer)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_BODY_GET];
	int rc;

	if (w->len > BODY_MAX || w->id < 1 || w->id > INT64_MAX - BODY_MAX)
		return SQLITE_CORRUPT;
	*answer = idem_blob_room((size_t)w->len);
	if (*answer == NULL)
		return SQLITE_NOMEM;
	sqlite3_bind_int64(stmt, 1, w->id);
	sqlite3_bind_int64(stmt, 2, w->id + pieces(w) - 1);
	rc = read_pieces(stmt, *answer);
	sqlite3_reset(stmt);
	if (rc == SQLITE_OK)
		return rc;
	idem_blob_drop(*answer);
	*answer = NULL;
	return rc;
}

static int
delete_piece(struct idem_sqlite_db *d, int64_t id)
{
	sqlite3_bind_int64(d->say[IDEM_SAY_BODY_DELETE], 1, id);
	return idem_sqlite_say(d, IDEM_SAY_BODY_DELETE);
}

uint64_t
idem_sqlite_body_cost(const struct idem_sqlite_where *w)
{
	return w->id != 0 && pieces(w) == 1 ? w->len : 0;
}

int
idem_sqlite_body_drop(struct idem_sqlite_db *d,
    const struct idem_sqlite_where *w)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_TRASH_PUT];

	if (w->id == 0)
		return SQLITE_OK;
	if (pieces(w) == 1)
		return delete_piece(d, w->id);
	sqlite3_bind_int64(stmt, 1, w->id);
	sqlite3_bind_int64(stmt, 2, pieces(w));
	return idem_sqlite_say(d, IDEM_SAY_TRASH_PUT);
}

/* --- trash ---------------------------------------------------------------- */

/* Any of it: its first id, or 0, and how many pieces are left. */
static int
look(struct idem_sqlite_db *d, int64_t *id, int64_t *left)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_TRASH_GET];
	int rc;

	*id = 0;
	if (stmt == NULL)	/* for looking only */
		return SQLITE_OK;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		*id = sqlite3_column_int64(stmt, 0);
		*left = sqlite3_column_int64(stmt, 1);
	}
	sqlite3_reset(stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int
idem_sqlite_trash_look(struct idem_sqlite_db *d, bool *any)
{
	int64_t id, left;
	int rc = look(d, &id, &left);

	*any = id != 0;
	return rc;
}

/* Of the last pieces the pages are at hand then. */
int
idem_sqlite_trash_read(struct idem_sqlite_db *d, uint64_t bytes)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_BODY_GET];
	int64_t id, left, n = (int64_t)(bytes / IDEM_SQLITE_PIECE);
	int rc = look(d, &id, &left);

	if (rc != SQLITE_OK || id == 0)
		return rc;
	sqlite3_bind_int64(stmt, 1, id + (left > n ? left - n : 0));
	sqlite3_bind_int64(stmt, 2, id + left - 1);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW)
		sqlite3_column_blob(stmt, 0);
	sqlite3_reset(stmt);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int
write_left(struct idem_sqlite_db *d, int64_t id, int64_t left)
{
	enum idem_sqlite_say say =
	    left > 0 ? IDEM_SAY_TRASH_SET : IDEM_SAY_TRASH_DELETE;

	sqlite3_bind_int64(d->say[say], 1, id);
	if (left > 0)
		sqlite3_bind_int64(d->say[say], 2, left);
	return idem_sqlite_say(d, say);
}

/* From its end on, so that what is left begins where it did. */
int
idem_sqlite_trash_empty(struct idem_sqlite_db *d, uint64_t bytes)
{
	int64_t id, left, n = (int64_t)(bytes / IDEM_SQLITE_PIECE);
	int rc = look(d, &id, &left);

	if (rc != SQLITE_OK || id == 0 || n == 0)
		return rc;
	for (; rc == SQLITE_OK && left > 0 && n > 0; n--)
		rc = delete_piece(d, id + --left);
	return rc == SQLITE_OK ? write_left(d, id, left) : rc;
}
