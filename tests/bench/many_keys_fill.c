/* SPDX-License-Identifier: ISC */
#include "many_keys.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define KEPT_MS (INT64_C(24) * 3600 * 1000)
#define TOMBSTONE_MS (7 * KEPT_MS)
#define ROWS_A_COMMIT 500000

/* Quick, since what is lost is only made again. */
static const char quick[] =
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = OFF;"
    "PRAGMA synchronous = OFF; PRAGMA cache_size = -4000000";
static const char as_before[] =
    "PRAGMA locking_mode = NORMAL; PRAGMA journal_mode = WAL";

static const char insert[] =
    "INSERT INTO record (key, state, attempt, owner, boot, pid, fingerprint,"
    " guard, made_at, ended_at, lease_end, renewed_at, expires_at,"
    " tombstone_ms, answer_len, answer)"
    " VALUES (?1, 3, 1, ?2, ?3, 4711, ?4, zeroblob(32), ?5, ?6, 0, 5000, ?7,"
    " ?8, ?9, ?10)";
static const char insert_body[] = "INSERT INTO body (data) VALUES (?1)";

static void
give_up(sqlite3 *db, const char *what)
{
	fprintf(stderr, "many_keys: %s: %s\n", what, sqlite3_errmsg(db));
	exit(111);
}

static void
run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		give_up(db, sql);
}

static sqlite3_stmt *
prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *stmt;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		give_up(db, sql);
	return stmt;
}

/* --- one row -------------------------------------------------------------- */

/* splitmix64: every number once, in no order. */
static uint64_t
mix(uint64_t n)
{
	n += UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
	return n ^ n >> 31;
}

static struct idem_digest
digest(uint64_t i, uint64_t of)
{
	struct idem_digest d;
	uint64_t word;
	size_t at;

	for (at = 0; at < sizeof d.at; at += sizeof word) {
		word = mix(mix(i) + of + at);
		memcpy(d.at + at, &word, sizeof word);
	}
	return d;
}

struct idem_digest
many_keys_key(uint64_t i)
{
	return digest(i, 0);
}

struct idem_digest
many_keys_print(uint64_t i)
{
	return digest(i, 1000);
}

static void
bind_digest(sqlite3_stmt *stmt, int param, const struct idem_digest *d)
{
	sqlite3_bind_blob(stmt, param, d->at, sizeof d->at, SQLITE_TRANSIENT);
}

/* They came one after the other, and the last one now. */
static void
bind_times(sqlite3_stmt *stmt, const struct many_keys_fill *f, uint64_t i,
    int64_t now_ms)
{
	int64_t ago_ms = KEPT_MS / 2 * (int64_t)(f->keys - i) /
	    (int64_t)f->keys;

	sqlite3_bind_int64(stmt, 5, now_ms - ago_ms - 200);
	sqlite3_bind_int64(stmt, 6, now_ms - ago_ms);
	sqlite3_bind_int64(stmt, 7, f->keep_ms < 0 ? now_ms + f->keep_ms :
	    now_ms - ago_ms + f->keep_ms);
	sqlite3_bind_int64(stmt, 8, TOMBSTONE_MS);
}

static void
put(sqlite3 *db, sqlite3_stmt *row, sqlite3_stmt *body,
    const struct many_keys_fill *f, const char *answer, uint64_t i,
    int64_t now_ms)
{
	const size_t inlined = 1024, piece = 256 * 1024;
	struct idem_digest key = many_keys_key(i), print = many_keys_print(i);
	struct idem_digest owner = digest(i, 2000);
	size_t at, len;

	for (at = 0; f->answer_len > inlined && at < f->answer_len; at += len) {
		len = f->answer_len - at < piece ? f->answer_len - at : piece;
		sqlite3_bind_blob64(body, 1, answer + at, len, SQLITE_STATIC);
		if (sqlite3_step(body) != SQLITE_DONE)
			give_up(db, "body");
		sqlite3_reset(body);
		if (at == 0)
			sqlite3_bind_int64(row, 10,
			    sqlite3_last_insert_rowid(db));
	}
	if (f->answer_len <= inlined)
		sqlite3_bind_blob64(row, 10, answer, f->answer_len,
		    SQLITE_STATIC);
	bind_digest(row, 1, &key);
	sqlite3_bind_blob(row, 2, owner.at, 16, SQLITE_TRANSIENT);
	sqlite3_bind_blob(row, 3, "of another boot.", 16, SQLITE_STATIC);
	bind_digest(row, 4, &print);
	bind_times(row, f, i, now_ms);
	sqlite3_bind_int64(row, 9, f->answer_len);
	if (sqlite3_step(row) != SQLITE_DONE)
		give_up(db, "record");
	sqlite3_reset(row);
}

/* --- all of them ---------------------------------------------------------- */

void
many_keys_remove(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-lock" };
	char name[4096];
	size_t i;

	for (i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

static char *
make_answer(uint32_t len)
{
	static const char text[] = "{\"order\":4711,\"items\":[\"a\",\"b\"]}\n";
	char *answer = malloc(len + 1u);
	uint32_t i;

	if (answer == NULL)
		exit(111);
	for (i = 0; i < len; i++)
		answer[i] = text[i % (sizeof text - 1)];
	return answer;
}

static void
put_all(sqlite3 *db, const struct many_keys_fill *f)
{
	int64_t now_ms = idem_wall_ms(&idem_clock_real);
	sqlite3_stmt *row = prepare(db, insert);
	sqlite3_stmt *body = prepare(db, insert_body);
	char *answer = make_answer(f->answer_len);
	uint64_t i;

	run(db, "BEGIN");
	for (i = 0; i < f->keys; i++) {
		put(db, row, body, f, answer, i, now_ms);
		if (i % ROWS_A_COMMIT == ROWS_A_COMMIT - 1)
			run(db, "COMMIT; BEGIN");
	}
	run(db, "COMMIT");
	sqlite3_finalize(row);
	sqlite3_finalize(body);
	free(answer);
}

/* What is still to be written would be in the way of what is measured. */
static int64_t
sync_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fsync(fd) != 0 || fstat(fd, &st) != 0)
		exit(111);
	close(fd);
	return (int64_t)st.st_size;
}

int64_t
many_keys_fill(const char *path, const struct many_keys_fill *f)
{
	char error[300];
	sqlite3 *db;

	many_keys_remove(path);
	if (idem_store_sqlite_create(path, error, sizeof error) != 0) {
		fprintf(stderr, "many_keys: %s\n", error);
		exit(111);
	}
	if (sqlite3_open(path, &db) != SQLITE_OK)
		give_up(db, path);
	run(db, quick);
	put_all(db, f);
	run(db, as_before);
	sqlite3_close(db);
	return sync_file(path);
}
