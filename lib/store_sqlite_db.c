/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* After the lock beside the file this is a second net, for other programs. */
#define BUSY_MS 2000
#define WAL_PAGES 1000		/* 4 MB: what a checkpoint moves at a time */

#define COLUMNS "state, attempt, owner, boot, pid, fingerprint, guard, " \
	"made_at, ended_at, lease_end, renewed_at, expires_at, " \
	"tombstone_ms, answer_len"

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
	[IDEM_SAY_BODY_GET] = "SELECT data FROM body WHERE id = ?1",
	[IDEM_SAY_BODY_PUT] =
	    "INSERT OR REPLACE INTO body (id, data) VALUES (?1, ?2)",
	[IDEM_SAY_BODY_DELETE] = "DELETE FROM body WHERE id = ?1",
	[IDEM_SAY_LIST] =
	    "SELECT id, key, " COLUMNS " FROM record"
	    " WHERE key > ?1 AND (?2 >> state) & 1 ORDER BY key LIMIT ?3",
	[IDEM_SAY_LIST_OPEN] =	/* the index record_open, word for word */
	    "SELECT id, key, " COLUMNS " FROM record"
	    " WHERE state IN (2, 4) AND key > ?1 AND (?2 >> state) & 1"
	    " ORDER BY key LIMIT ?3",
	[IDEM_SAY_DUE] =	/* the index record_due, likewise */
	    "SELECT id, key, " COLUMNS " FROM record"
	    " WHERE state IN (1, 3, 5) AND expires_at BETWEEN 1 AND ?1"
	    " ORDER BY expires_at LIMIT ?2",
};

static const char settings[] =
    "PRAGMA synchronous = FULL;"
    "PRAGMA journal_size_limit = 67108864;"
    "PRAGMA temp_store = MEMORY;"
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

void
idem_sqlite_db_checkpoint(struct idem_sqlite_db *d, int beyond_pages)
{
	int in_wal = 0, moved = 0;

	if (d->wal_pages <= beyond_pages)
		return;
	/*
	 * What readers hold back is left for later: not every commit should
	 * try again.  A failure loses nothing, and the next one meets it too.
	 */
	sqlite3_wal_checkpoint_v2(d->db, NULL, SQLITE_CHECKPOINT_PASSIVE,
	    &in_wal, &moved);
	d->wal_limit = WAL_PAGES + (in_wal > moved ? in_wal - moved : 0);
	d->wal_pages = 0;
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
prepare(struct idem_sqlite_db *d)
{
	int rc = SQLITE_OK;
	size_t i;

	for (i = 0; i < IDEM_SAYS && rc == SQLITE_OK; i++)
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

/* The first row's first column; an SQLite result code. */
static int
ask(struct idem_sqlite_db *d, const char *question, sqlite3_int64 *number,
    char *text, size_t text_size)
{
	const unsigned char *got;
	sqlite3_stmt *stmt;
	int rc;

	rc = sqlite3_prepare_v2(d->db, question, -1, &stmt, NULL);
	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW && number != NULL)
		*number = sqlite3_column_int64(stmt, 0);
	got = rc == SQLITE_ROW ? sqlite3_column_text(stmt, 0) : NULL;
	if (text != NULL)
		snprintf(text, text_size, "%s",
		    got != NULL ? (const char *)got : "");
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Which ledger it is: its history never changes. */
static bool
read_generation(struct idem_sqlite_db *d, const char *text)
{
	uint8_t generation[IDEM_OWNER_LEN];

	if (!idem_unhex(text, generation, sizeof generation))
		return false;
	memcpy(d->history.at, generation, sizeof d->history.at);
	return true;
}

/* What the file says of itself; 0, or -1 and why it will not do. */
static int
check(struct idem_sqlite_db *d, const char *path, char *error,
    size_t error_size)
{
	sqlite3_int64 application = 0, schema = 0;
	char mode[16], generation[40];
	int rc;

	rc = ask(d, "PRAGMA application_id", &application, NULL, 0);
	if (rc == SQLITE_OK && application != IDEM_SQLITE_APPLICATION) {
		snprintf(error, error_size, "%s is an SQLite database, but not "
		    "a ledger of idem's: name another file", path);
		return -1;
	}
	if (rc == SQLITE_OK)
		rc = ask(d, "SELECT value FROM meta WHERE name = 'schema'",
		    &schema, NULL, 0);
	if (rc == SQLITE_OK && schema > IDEM_SQLITE_SCHEMA) {
		snprintf(error, error_size, "the ledger %s was made by a newer "
		    "idem (schema %lld, here %d): use that one", path, schema,
		    IDEM_SQLITE_SCHEMA);
		return -1;
	}
	if (rc == SQLITE_OK)
		rc = ask(d, "SELECT value FROM meta WHERE name = 'generation'",
		    NULL, generation, sizeof generation);
	if (rc == SQLITE_OK &&
	    (schema < 1 || !read_generation(d, generation))) {
		snprintf(error, error_size, "the ledger %s is incomplete: its "
		    "schema or generation is missing", path);
		return -1;
	}
	if (rc == SQLITE_OK)
		rc = ask(d, "PRAGMA journal_mode", NULL, mode, sizeof mode);
	if (rc == SQLITE_OK && strcmp(mode, "wal") != 0) {
		snprintf(error, error_size, "the ledger %s is not in WAL mode "
		    "(%s): set it back with \"PRAGMA journal_mode = WAL\"",
		    path, mode);
		return -1;
	}
	if (rc == SQLITE_OK)
		return 0;
	snprintf(error, error_size, "the ledger %s: %s (%d)", path,
	    (rc & 0xff) == SQLITE_NOTADB ? "not a database" :
	    sqlite3_errmsg(d->db), rc);
	return -1;
}

int
idem_sqlite_db_open(struct idem_sqlite_db *d, const char *path, bool read_only,
    char *error, size_t error_size)
{
	int flags = read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
	int rc;

	*d = (struct idem_sqlite_db){ .wal_limit = WAL_PAGES };
	rc = sqlite3_open_v2(path, &d->db,
	    flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc == SQLITE_OK)
		rc = configure(d);
	if (rc == SQLITE_OK && check(d, path, error, error_size) != 0)
		goto failed;
	if (rc == SQLITE_OK)
		rc = prepare(d);
	if (rc == SQLITE_OK)
		return 0;
	snprintf(error, error_size, "the ledger %s: %s (%d)", path,
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
