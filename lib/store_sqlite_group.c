/* SPDX-License-Identifier: ISC */
#include "store_sqlite.h"

#include "label.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* --- answers -------------------------------------------------------------- */

void
idem_sqlite_fail(struct idem_sqlite_work *w, enum idem_class class,
    const char *error)
{
	idem_sqlite_done_free(&w->done);
	snprintf(w->error, sizeof w->error, "%s", error);
	idem_store_fail(&w->done.result, w->call.op,
	    w->maybe ? IDEM_CLASS_MAYBE : class, w->error);
}

/* After this code nothing that the file says may be believed. */
void
idem_sqlite_fail_rc(struct idem_sqlite *s, struct idem_sqlite_work *w, int rc)
{
	char error[sizeof w->error];

	idem_sqlite_reason(&s->db, rc, error, sizeof error);
	if (idem_sqlite_broken(rc) && s->broken[0] == '\0')
		memcpy(s->broken, error, sizeof s->broken);
	idem_sqlite_fail(w, idem_sqlite_class(rc), error);
}

struct idem_moment
idem_sqlite_moment(const struct idem_sqlite *s)
{
	struct idem_moment at = idem_store_moment(s->clock, &s->boot);

	at.history = s->db.history;
	return at;
}

/* --- writing -------------------------------------------------------------- */

enum tried {
	TRIED_DONE,
	TRIED_NOT_BEGUN,	/* and the next will not be either */
	TRIED_UNDONE,		/* one failed, and all were taken back */
	TRIED_OPEN		/* the commit failed: it may yet appear */
};

/* From here on it may be applied; not if the lobby has given up on it. */
static void
set_under_way(struct idem_sqlite *s, struct idem_sqlite_work **works, size_t n)
{
	size_t i;

	pthread_mutex_lock(&s->mutex);
	for (i = 0; i < n; i++)
		works[i]->under_way = !works[i]->answered;
	pthread_mutex_unlock(&s->mutex);
}

static int
apply(struct idem_sqlite *s, struct idem_sqlite_work *w, uint64_t purges)
{
	struct idem_moment at = idem_sqlite_moment(s);
	int rc;

	idem_sqlite_done_free(&w->done);
	if (!w->under_way)
		return SQLITE_OK;
	if (at.boot_ms > w->call.deadline_ms) {
		idem_sqlite_fail(w, IDEM_CLASS_REFUSED, "its time was over");
		return SQLITE_OK;
	}
	rc = idem_sqlite_apply(&s->db, &w->call, &at, false, &w->done);
	w->done.result.purges = purges;
	return rc;
}

static int
failed_commit(int error)
{
	switch (error) {
	case ENOSPC:
		return SQLITE_FULL;
	case EAGAIN:
		return SQLITE_BUSY;
	}
	return SQLITE_IOERR;
}

static int
commit(struct idem_sqlite *s, bool withdrew)
{
	int rc;

	if (withdrew)
		idem_sqlite_purge_begin(&s->file);
	rc = IDEM_LABEL_FAILS("ledger.commit") ? failed_commit(errno) :
	    idem_sqlite_say(&s->db, IDEM_SAY_COMMIT);
	if (rc != SQLITE_OK)
		idem_sqlite_db_undo(&s->db);
	if (withdrew)
		idem_sqlite_purge_end(&s->file);
	return rc;
}

static enum tried
transaction(struct idem_sqlite *s, struct idem_sqlite_work **works, size_t n,
    int *rc)
{
	uint64_t purges = idem_sqlite_purges(&s->file);
	bool withdrew = false;
	size_t i;

	*rc = idem_sqlite_say(&s->db, IDEM_SAY_BEGIN);
	if (*rc != SQLITE_OK)
		return TRIED_NOT_BEGUN;
	IDEM_LABEL("ledger.begin");
	set_under_way(s, works, n);
	for (i = 0; i < n; i++) {
		*rc = apply(s, works[i], purges);
		if (*rc != SQLITE_OK) {
			idem_sqlite_db_undo(&s->db);
			return TRIED_UNDONE;
		}
		withdrew = withdrew || works[i]->done.withdrew;
	}
	*rc = commit(s, withdrew);
	IDEM_LABEL("ledger.committed");
	return *rc == SQLITE_OK ? TRIED_DONE : TRIED_OPEN;
}

/*
 * The group has failed: one at a time, so that a bad call harms no other.
 * Those that were in a failed commit are repeated too, to the same end: once
 * any later commit succeeds, the failed one's frames are overwritten.
 */
static void
singly(struct idem_sqlite *s, struct idem_sqlite_work **works, size_t n)
{
	enum tried tried = TRIED_DONE;
	size_t i;
	int rc = SQLITE_OK;

	for (i = 0; i < n; i++) {
		if (tried != TRIED_NOT_BEGUN)
			tried = transaction(s, &works[i], 1, &rc);
		if (tried == TRIED_OPEN)
			works[i]->maybe = true;
		if (tried != TRIED_DONE)
			idem_sqlite_fail_rc(s, works[i], rc);
	}
}

void
idem_sqlite_carry_out(struct idem_sqlite *s, struct idem_sqlite_work **works,
    size_t n)
{
	enum tried tried;
	size_t i;
	int rc;

	tried = transaction(s, works, n, &rc);
	if (tried == TRIED_DONE)
		return;
	for (i = 0; i < n && tried == TRIED_OPEN; i++)
		works[i]->maybe = works[i]->under_way;
	if (tried == TRIED_OPEN || (tried == TRIED_UNDONE && n > 1)) {
		singly(s, works, n);
		return;
	}
	for (i = 0; i < n; i++)
		idem_sqlite_fail_rc(s, works[i], rc);
}

