/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* After the lock beside the file this is a second net, for other programs. */
#define BUSY_MS 2000

#define COLUMNS "state, attempt, owner, boot, pid, fingerprint, guard, " \
	"made_at, ended_at, lease_end, renewed_at, expires_at, " \
	"tombstone_ms, answer_len"
#define WHERE_IT_IS "CASE WHEN answer_len > 1024 THEN answer END"
#define BODY_ID "1099511627776"	/* 2^40: no record's number */

_Static_assert(IDEM_SQLITE_INLINE == 1024, "as WHERE_IT_IS says");

static const char *const sql[IDEM_SAYS] = {
	[IDEM_SAY_BEGIN] = "BEGIN IMMEDIATE",
	[IDEM_SAY_COMMIT] = "COMMIT",
	[IDEM_SAY_ROLLBACK] = "ROLLBACK",
	[IDEM_SAY_GET] =
	    "SELECT id, key, " COLUMNS ", answer FROM record WHERE key = ?1",
	[IDEM_SAY_INSERT] =
	    "INSERT INTO record (" COLUMNS ", answer, key)"
	    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,"
	    " ?13, ?14, ?15, ?16)",
	[IDEM_SAY_UPDATE] =
	    "UPDATE record SET state = ?1, attempt = ?2, owner = ?3,"
	    " boot = ?4, pid = ?5, fingerprint = ?6, guard = ?7,"
	    " made_at = ?8, ended_at = ?9, lease_end = ?10,"
	    " renewed_at = ?11, expires_at = ?12, tombstone_ms = ?13,"
	    " answer_len = ?14, answer = ?15 WHERE id = ?16",
	[IDEM_SAY_DELETE] = "DELETE FROM record WHERE id = ?1",
	[IDEM_SAY_BODY_GET] =
	    "SELECT data FROM body WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
	[IDEM_SAY_BODY_PUT] =	/* beyond BODY_ID, and all others */
	    "INSERT INTO body (id, data) VALUES (1 + max(" BODY_ID ","
	    " (SELECT ifnull(max(id), 0) FROM body)), ?1)",
	[IDEM_SAY_BODY_DELETE] = "DELETE FROM body WHERE id = ?1",
	[IDEM_SAY_LIST] =
	    "SELECT id, key, " COLUMNS " FROM record"
	    " WHERE key > ?1 AND (?2 >> state) & 1 ORDER BY key LIMIT ?3",
	[IDEM_SAY_LIST_OPEN] =	/* the index record_open, word for word */
	    "SELECT id, key, " COLUMNS " FROM record"
	    " WHERE state IN (2, 4) AND key > ?1 AND (?2 >> state) & 1"
	    " ORDER BY key LIMIT ?3",
	[IDEM_SAY_DUE] =	/* the index record_due, likewise */
	    "SELECT id, key, " COLUMNS ", " WHERE_IT_IS " FROM record"
	    " WHERE state IN (1, 3, 5) AND expires_at BETWEEN 1 AND ?1"
	    " ORDER BY expires_at LIMIT ?2",
	[IDEM_SAY_WALK] =
	    "SELECT id, key, " COLUMNS ", " WHERE_IT_IS " FROM record"
	    " WHERE id > ?1 ORDER BY id",
	[IDEM_SAY_FREE] =
	    "SELECT freelist_count * page_size"
	    " FROM pragma_freelist_count, pragma_page_size",
	[IDEM_SAY_TRASH_GET] =
	    "SELECT id, pieces FROM trash ORDER BY id LIMIT 1",
	[IDEM_SAY_TRASH_PUT] = "INSERT INTO trash (id, pieces) VALUES (?1, ?2)",
	[IDEM_SAY_TRASH_SET] = "UPDATE trash SET pieces = ?2 WHERE id = ?1",
	[IDEM_SAY_TRASH_DELETE] = "DELETE FROM trash WHERE id = ?1",
};

/*
 * secure_delete: as some systems build SQLite (Debian) it writes zeroes over
 * each page that is let go of.  That made a sweep of long answers write all of
 * them once more, while others waited.  FAST: only where it writes anyway.
 */
static const char settings[] =
    "PRAGMA synchronous = FULL;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA temp_store = MEMORY;"
    "PRAGMA secure_delete = FAST;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA trusted_schema = OFF;";

enum idem_class
idem_sqlite_class(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_SCHEMA:
	case SQLITE_ERROR:
		return IDEM_CLASS_CONFIG;
	default:
		return IDEM_CLASS_REFUSED;
	}
}

bool
idem_sqlite_broken(int rc)
{
	return (rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB;
}

void
idem_sqlite_reason(const struct idem_sqlite_db *d, int rc, char *error,
    size_t error_size)
{
	const char *does = "the ledger";
	int os = sqlite3_system_errno(d->db);

	if ((rc & 0xff) == SQLITE_FULL)
		snprintf(error, error_size, "%s: the disk is full", does);
	else if (idem_sqlite_broken(rc))
		snprintf(error, error_size, "%s is damaged (%s): stop, keep "
		    "the file, and restore a copy", does, sqlite3_errstr(rc));
	else if ((rc & 0xff) == SQLITE_IOERR && os != 0)
		snprintf(error, error_size, "%s: %s (%d): %s", does,
		    sqlite3_errstr(rc), rc, strerror(os));
	else
		snprintf(error, error_size, "%s: %s (%d)", does,
		    sqlite3_errstr(rc), rc);
}

int
idem_sqlite_say(struct idem_sqlite_db *d, enum idem_sqlite_say say)
{
	int rc = sqlite3_step(d->say[say]);

	sqlite3_reset(d->say[say]);
	sqlite3_clear_bindings(d->say[say]);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

void
idem_sqlite_db_undo(struct idem_sqlite_db *d)
{
	if (sqlite3_get_autocommit(d->db) == 0)
		idem_sqlite_say(d, IDEM_SAY_ROLLBACK);
}

/*
 * What readers hold back is left for later: not every commit should try again.
 * A failure loses nothing, and the next one meets it too.
 */
void
idem_sqlite_db_checkpoint(struct idem_sqlite_db *d)
{
	int in_wal = 0, moved = 0;

	if (d->wal_pages == 0)
		return;
	sqlite3_wal_checkpoint_v2(d->db, NULL, SQLITE_CHECKPOINT_PASSIVE,
	    &in_wal, &moved);
	d->wal_left = in_wal > moved ? in_wal - moved : 0;
	d->wal_pages = 0;
}

bool
idem_sqlite_db_wal_over(const struct idem_sqlite_db *d, int pages)
{
	return d->wal_pages > pages + d->wal_left;
}

int
idem_sqlite_db_free(struct idem_sqlite_db *d, uint64_t *bytes)
{
	sqlite3_stmt *stmt = d->say[IDEM_SAY_FREE];
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_ROW)
		*bytes = (uint64_t)sqlite3_column_int64(stmt, 0);
	sqlite3_reset(stmt);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int
count_pages(void *arg, sqlite3 *db, const char *schema, int pages)
{
	struct idem_sqlite_db *d = arg;

	(void)db;
	(void)schema;
	d->wal_pages = pages;
	return SQLITE_OK;
}

static int
prepare(struct idem_sqlite_db *d, size_t n)
{
	int rc = SQLITE_OK;
	size_t i;

	for (i = 0; i < n && rc == SQLITE_OK; i++)
		rc = sqlite3_prepare_v3(d->db, sql[i], -1,
		    SQLITE_PREPARE_PERSISTENT, &d->say[i], NULL);
	return rc;
}

static int
configure(struct idem_sqlite_db *d)
{
	int rc;

	sqlite3_busy_timeout(d->db, BUSY_MS);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	rc = sqlite3_exec(d->db, settings, NULL, NULL, NULL);
	/* In place of the automatic checkpoint, which knows no lock of ours. */
	sqlite3_wal_hook(d->db, count_pages, d);
	return rc;
}

int
idem_sqlite_db_open(struct idem_sqlite_db *d, struct idem_sqlite_file *file,
    bool read_only, char *error, size_t error_size)
{
	int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int rc;

	*d = (struct idem_sqlite_db){ 0 };
	rc = sqlite3_open_v2(file->path, &d->db,
	    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc == SQLITE_OK)
		rc = configure(d);
	if (rc == SQLITE_OK && idem_sqlite_db_check(d, file, read_only, error,
	    error_size) != 0)
		goto failed;
	if (rc == SQLITE_OK)
		rc = prepare(d, read_only ? IDEM_SAYS_LOOKING : IDEM_SAYS);
	if (rc == SQLITE_OK)
		return 0;
	/* SQLite does not say what, nor why. */
	if (((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY)
	    && ((read_only &&
	    idem_sqlite_readable(file->path, error, error_size) != 0) ||
	    idem_sqlite_writable(file->path, error, error_size) != 0))
		goto failed;
	snprintf(error, error_size, "the ledger %s: %s (%d)", file->path,
	    (rc & 0xff) == SQLITE_NOTADB ? "not a database" :
	    d->db != NULL ? sqlite3_errmsg(d->db) : sqlite3_errstr(rc), rc);
failed:
	idem_sqlite_db_close(d);
	return -1;
}

void
idem_sqlite_db_close(struct idem_sqlite_db *d)
{
	size_t i;

	for (i = 0; i < IDEM_SAYS; i++)
		sqlite3_finalize(d->say[i]);
	sqlite3_close(d->db);
	*d = (struct idem_sqlite_db){ 0 };
}
