/* SPDX-License-Identifier: ISC */
#include "settle_private.h"

#include "answer.h"
#include "keeper.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What cannot be read lies there as long; its record is judged by time. */
#define UNREADABLE_S (INT64_C(7) * 24 * 3600)

/* --- what is to be done --------------------------------------------------- */

static void
make_unknown(struct settle_job *j, enum idem_note_why why, int32_t code)
{
	j->op = IDEM_STORE_UNKNOWN;
	j->note.why = why;
	j->note.why_code = code;
	/* Not known: the first is a guess, and its answer says which. */
	if (j->attempt == 0)
		j->attempt = 1;
}

/*
 * What was written down, if anything was.  An orphan may have lost its keeper,
 * or had one that could not, or was not to, write down its end.
 */
static enum idem_note_why
why_died(const struct idem_note *n)
{
	if (n->why != IDEM_WHY_NOT_SAID)
		return n->why;
	if (n->fastcgi)
		return IDEM_WHY_BACKEND;
	return n->state == IDEM_NOTE_ORPHAN ? IDEM_WHY_NOT_SAID :
	    IDEM_WHY_KEEPER;
}

/* False: not now. */
static bool
judge_ended(struct settle_job *j, const struct idem_evidence *e)
{
	enum idem_note_why why = IDEM_WHY_NOT_SAID;
	int32_t code = 0;

	switch (answer_of_run(j->at.file, e, &j->answer, &why, &code)) {
	case ANSWER_WHOLE:
		j->op = IDEM_STORE_COMPLETE;
		return true;
	case ANSWER_NOTHING:
		j->op = IDEM_STORE_RELEASE;
		return true;
	case ANSWER_NOT_WHOLE:
		make_unknown(j, why, code);
		return true;
	case ANSWER_LATER:
		return false;
	}
	return false;
}

static bool
judge(struct settle_job *j, const struct idem_evidence *e)
{
	const struct idem_note *n = &e->note;

	/*
	 * What was not synced when the host went down may say less than was
	 * done: a run that had begun can lie here as one that had not.
	 */
	if (memcmp(n->boot.at, j->s->boot.at, sizeof n->boot.at) != 0) {
		make_unknown(j, IDEM_WHY_HOST, 0);
		return true;
	}
	switch (n->state) {
	case IDEM_NOTE_CLAIMING:
		j->attempt = 0;
		j->op = IDEM_STORE_RELEASE;
		return true;
	case IDEM_NOTE_HANDED:
	case IDEM_NOTE_NOT_BEGUN:
		j->op = IDEM_STORE_RELEASE;
		return true;
	case IDEM_NOTE_BEGUN:
	case IDEM_NOTE_ORPHAN:
		/* An attempt that is not known may be any but a finished. */
		if (e->ended && n->attempt != 0)
			return judge_ended(j, e);
		make_unknown(j, why_died(n), n->why_code);
		return true;
	}
	return false;
}

/* Is its store there?  One that is not ours never is. */
static struct idem_store *
store_of(const struct settle *s, const struct idem_note *n)
{
	struct idem_store *store = stores_marked(s->stores, n->store);

	return store != NULL && !stores_is_away(s->stores, store) ? store :
	    NULL;
}

/*
 * A claim is sent once its note is written, so that a file without one is of
 * no run.  What is longer is of another version, or damaged.
 */
static void
take_unnoted(struct settle *s, const struct idem_owner *owner,
    struct idem_run_file *at)
{
	int64_t now_s = idem_wall_ms(&idem_clock_real) / 1000;
	struct stat st;

	if (fstat(at->file, &st) == 0 && (st.st_size < IDEM_NOTE_SIZE ||
	    (int64_t)st.st_mtim.tv_sec < now_s - UNREADABLE_S))
		idem_run_file_remove(s->folder, owner);
	else
		settle_later(s, owner);
	idem_run_file_free(at);
}

/*
 * That scheme does not know whose claim it releases.  If this one was won it
 * ends with its lease; if not, its key is another's, or has been completed.
 */
static bool
may_be_anothers(const struct settle *s, const struct idem_store *store,
    const struct idem_note *n)
{
	return n->state == IDEM_NOTE_CLAIMING &&
	    store == s->stores->redis[IDEM_SCHEME_SETNX];
}

static void
taken(struct settle *s, const struct idem_owner *owner,
    struct idem_run_file *at, const struct idem_evidence *e)
{
	struct idem_store *store;
	struct settle_job *j;

	if (!e->noted ||
	    memcmp(e->note.owner.at, owner->at, sizeof owner->at) != 0) {
		take_unnoted(s, owner, at);
		return;
	}
	store = store_of(s, &e->note);
	if (store != NULL && may_be_anothers(s, store, &e->note)) {
		idem_run_file_remove(s->folder, owner);
		idem_run_file_free(at);
		return;
	}
	j = store != NULL ? settle_job_new(s, at, e) : NULL;
	if (j == NULL) {
		settle_later(s, owner);
		idem_run_file_free(at);
		return;
	}
	j->store = store;
	if (e->note.state == IDEM_NOTE_CLAIMING)
		settle_meet(s, owner);		/* from now on it lingers */
	if (!judge(j, e)) {
		settle_job_leave(j);
		return;
	}
	if (j->at.lock == -1)
		settle_busy(s, owner, true);
	settle_job_start(j);
}

/* --- orphans -------------------------------------------------------------- */

static bool
is_orphan(const struct settle *s, const struct idem_evidence *e)
{
	return e->lock == IDEM_RUN_HELD && e->noted && !e->ended &&
	    e->note.state == IDEM_NOTE_ORPHAN &&
	    memcmp(e->note.boot.at, s->boot.at, sizeof s->boot.at) == 0;
}

static bool
renewal_is_due(const struct settle *s, const struct idem_note *n)
{
	return n->renewed_ms == 0 ||
	    settle_now_ms(s) >= n->renewed_ms + (int64_t)(n->lease_ms / 3);
}

/* A keeper would have ended it: it is gone, or stopped, and what holds the lock
   is a child that was left behind, or a program that nobody sees. */
static bool
is_overdue(const struct settle *s, const struct idem_note *n)
{
	const struct conf *conf = s->stores->conf;
	int64_t last_ms = n->claimed_ms + (int64_t)n->lease_ms + n->limit_ms;

	if (conf != NULL)
		last_ms += conf->grace_ms;
	return settle_now_ms(s) > last_ms + KEEPER_IDLE_MS;
}

/* Its lock is not to be had, and nobody else renews its lease.  Once it is
   overdue its key is unknown, and stays so while its lock is held. */
static void
attend(struct settle *s, const struct idem_owner *owner,
    const struct idem_evidence *e)
{
	struct idem_run_file at = { .file = -1, .lock = -1 };
	struct idem_store *store = store_of(s, &e->note);
	const struct settle_known *k = settle_known(&s->known, owner, false);
	bool overdue = is_overdue(s, &e->note);
	char name[2 * IDEM_OWNER_LEN + 1];
	struct settle_job *j;

	if (!overdue && e->note.lease_ms / 3 < s->every_ms)
		s->every_ms = e->note.lease_ms / 3;
	if (store == NULL || e->note.attempt == 0 ||
	    (overdue ? e->note.why == IDEM_WHY_LIMIT ||
	    (k != NULL && k->given_up) : !renewal_is_due(s, &e->note)))
		return;
	idem_hex(owner->at, sizeof owner->at, name);
	at.file = openat(s->folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	j = at.file != -1 ? settle_job_new(s, &at, e) : NULL;
	if (j == NULL) {
		idem_run_file_close(&at);
		return;
	}
	j->store = store;
	j->op = overdue ? IDEM_STORE_UNKNOWN : IDEM_STORE_RENEW;
	j->held = overdue;
	settle_busy(s, owner, true);
	settle_job_start(j);
}

/* -------------------------------------------------------------------------- */

bool
settle_run(struct settle *s, const struct idem_owner *owner)
{
	struct settle_known *k = settle_known(&s->known, owner, false);
	struct idem_run_file at;
	struct idem_evidence e;

	if (k != NULL) {
		k->round = s->round;
		if (k->busy || settle_now_ms(s) < k->next_ms)
			return false;
	}
	if (idem_journal_take(s->folder, owner, &at, &e))
		taken(s, owner, &at, &e);
	else if (is_orphan(s, &e))
		attend(s, owner, &e);
	return true;
}

bool
settle_ask(struct settle *s, const struct idem_owner *owner)
{
	struct idem_run_file at = { .file = -1, .lock = -1 };
	struct idem_store *store;
	struct idem_evidence e;
	struct settle_job *j;

	idem_evidence(s->folder, owner, &e, NULL);
	store = e.noted && e.unknown ? store_of(s, &e.note) : NULL;
	if (store == NULL || e.note.attempt == 0)
		return true;
	j = settle_job_new(s, &at, &e);
	if (j == NULL)
		return true;
	j->store = store;
	j->op = IDEM_STORE_UNKNOWN;
	j->asking = true;
	settle_job_start(j);
	return true;
}
