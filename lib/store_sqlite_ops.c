/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include <sqlite3.h>
#include <stdlib.h>

/* --- one record ----------------------------------------------------------- */

static void
bad_record(const struct idem_store_call *call, struct idem_sqlite_done *done)
{
	idem_store_fail(&done->result, call->op, IDEM_CLASS_CONFIG,
	    "the ledger holds a record that cannot be read");
	done->result.claim = IDEM_CLAIM_BAD_RECORD;
}

/* Decide on the row under `get`, and write what is decided. */
static int
decide(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, bool look, struct idem_sqlite_row *row,
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
		return idem_sqlite_row_answer(d, get, row,
		    &done->result.answer);
	if (!v.changed)
		return SQLITE_OK;
	sqlite3_reset(get);
	row->record = v.record;
	row->tombstone_ms = v.tombstone_ms;
	rc = idem_sqlite_row_write(d, row,
	    v.with_answer ? call->answer : NULL);
	done->withdrew = call->op == IDEM_STORE_SETTLE;
	return rc;
}

static int
one(struct idem_sqlite_db *d, const struct idem_store_call *call,
    const struct idem_moment *at, bool look, struct idem_sqlite_done *done)
{
	sqlite3_stmt *get = d->say[IDEM_SAY_GET];
	struct idem_sqlite_row row = { .key = call->key };
	int rc;

	sqlite3_bind_blob64(get, 1, call->key.at, sizeof call->key.at,
	    SQLITE_STATIC);
	rc = sqlite3_step(get);
	if (rc == SQLITE_ROW && !idem_sqlite_row_whole(get, &row)) {
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
	struct idem_sqlite_row row;
	int rc;

	done->listed = calloc(max, sizeof *done->listed);
	if (done->listed == NULL)
		return SQLITE_NOMEM;
	sqlite3_bind_blob64(stmt, 1, call->key.at, sizeof call->key.at,
	    SQLITE_STATIC);
	sqlite3_bind_int64(stmt, 2, call->states);
	sqlite3_bind_int64(stmt, 3, max);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		seen++;
		/* One that cannot be read says so when it is asked for. */
		if (!idem_sqlite_row_read(stmt, &row))
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
		rc = idem_sqlite_sweep(d, call, at, look, done);
	else
		rc = one(d, call, at, look, done);
	if (rc != SQLITE_OK)
		idem_sqlite_done_free(done);
	return rc;
}
