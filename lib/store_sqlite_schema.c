/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define LOCK_TRIES 2000		/* a millisecond each */

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

/* --- an older one --------------------------------------------------------- */

static bool
lock(struct idem_sqlite_file *file)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (idem_sqlite_file_lock(file))
			return true;
		nanosleep(&moment, NULL);
	}
	return false;
}

/* What schema 1 has not; no older idem opens it from then on.  Two may come at
   once. */
static const char from_1[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE IF NOT EXISTS " IDEM_SQLITE_TRASH ";"
    "UPDATE meta SET value = 2 WHERE name = 'schema';"
    "PRAGMA user_version = 2;"
    "COMMIT";

_Static_assert(IDEM_SQLITE_SCHEMA == 2, "to which from_1 leads");

static int
migrate(struct idem_sqlite_db *d, struct idem_sqlite_file *file)
{
	int rc;

	if (!lock(file))
		return SQLITE_BUSY;
	rc = sqlite3_exec(d->db, from_1, NULL, NULL, NULL);
	if (sqlite3_get_autocommit(d->db) == 0)
		sqlite3_exec(d->db, "ROLLBACK", NULL, NULL, NULL);
	idem_sqlite_file_unlock(file);
	return rc;
}

/* --- what the file says of itself ----------------------------------------- */

int
idem_sqlite_db_check(struct idem_sqlite_db *d, struct idem_sqlite_file *file,
    bool read_only, char *error, size_t error_size)
{
	const char *path = file->path;
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
	if (rc == SQLITE_OK && schema < IDEM_SQLITE_SCHEMA && !read_only)
		rc = migrate(d, file);
	if (rc == SQLITE_OK)
		return 0;
	snprintf(error, error_size, "the ledger %s: %s (%d)", path,
	    (rc & 0xff) == SQLITE_NOTADB ? "not a database" :
	    sqlite3_errmsg(d->db), rc);
	return -1;
}
