/* SPDX-License-Identifier: ISC */
#include "settle_private.h"

#include "label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A dead lobby's claim that is still on its way is void by then (not_after):
   until then it may come in behind our release. */
#define CLAIM_LATE_MS 5000
#define KEY_HEX 16

/* No claim is sent for longer than a call of its store lasts. */
static int64_t
late_ms(const struct settle *s)
{
	const struct conf *conf = s->stores->conf;

	return CLAIM_LATE_MS + (conf != NULL && conf->shared != NULL ?
	    conf->shared->client.timeout_ms : 0);
}

/* --- words ---------------------------------------------------------------- */

static void
say(const struct settle_job *j, const char *state, const char *why)
{
	char key[KEY_HEX + 1];

	idem_hex(j->note.key.at, KEY_HEX / 2, key);
	log_open(j->s->log);
	log_text(j->s->log, "key", key);
	log_number(j->s->log, "attempt", j->note.attempt);
	log_text(j->s->log, "state", state);
	log_text(j->s->log, "source", "journal");
	if (why != NULL)
		log_quoted(j->s->log, "why", why);
	log_close(j->s->log);
}

static void
tell(const struct settle_job *j, enum idem_waited how)
{
	j->s->user.ended(j->s->user.arg, &j->note.key, how);
}

/* --- the end of a job ----------------------------------------------------- */

static void
job_free(struct settle_job *j)
{
	settle_busy(j->s, &j->note.owner, false);
	idem_run_file_free(&j->at);
	idem_blob_drop(j->answer);
	free(j);
}

static void
drop(struct settle_job *j)
{
	idem_run_file_remove(j->s->folder, &j->note.owner);
	job_free(j);
}

void
settle_job_leave(struct settle_job *j)
{
	if (!j->asking)
		settle_later(j->s, &j->note.owner);
	job_free(j);
}

/* By another worker, which has said so, while we asked. */
static bool
was_given_up(const struct settle_job *j)
{
	struct idem_note now;

	return idem_note_read(j->at.file, &now) &&
	    now.why == IDEM_WHY_LIMIT;
}

/* Its file stays where it is, for what may yet be found of it. */
static void
give_up(struct settle_job *j)
{
	struct settle_known *k = settle_meet(j->s, &j->note.owner);

	if (k != NULL)
		k->given_up = true;
	if (!was_given_up(j)) {
		j->note.why = IDEM_WHY_LIMIT;
		j->note.why_ms = idem_wall_ms(&idem_clock_real);
		idem_note_set_why(j->at.file, j->note.why, 0, j->note.why_ms);
		say(j, "unknown",
		    "over its limit, and something of it still runs");
		j->s->user.unknown(j->s->user.arg, &j->note.key, &j->note);
	}
	tell(j, IDEM_WOKEN_UNSURE);
	job_free(j);
}

static void
keep_unknown(struct settle_job *j)
{
	int64_t wall_ms = idem_wall_ms(&idem_clock_real);
	char why[128];

	j->note.why_ms = wall_ms;
	if (j->note.attempt == 0)
		idem_note_set_attempt(j->at.file, j->attempt, j->note.state);
	j->note.attempt = j->attempt;
	idem_note_set_why(j->at.file, j->note.why, j->note.why_code, wall_ms);
	idem_note_why_text(&j->note, why, sizeof why);
	say(j, "unknown", why);
	if (idem_journal_keep_unknown(j->s->folder, &j->note.owner) == -1 &&
	    errno != ENOENT)
		idem_run_file_remove(j->s->folder, &j->note.owner);
	j->s->user.unknown(j->s->user.arg, &j->note.key, &j->note);
	/* Nobody here owned it: who waits looks for himself. */
	tell(j, IDEM_WOKEN_UNSURE);
	job_free(j);
}

/* --- answers -------------------------------------------------------------- */

/* Its claim may yet come in, and find the key free. */
static bool
must_linger(const struct settle_job *j)
{
	const struct settle_known *k = settle_known(&j->s->known,
	    &j->note.owner, false);

	if (j->note.state != IDEM_NOTE_CLAIMING ||
	    !stores_is_shared(j->s->stores, j->store))
		return false;
	if (k != NULL)
		return settle_now_ms(j->s) < k->since_ms + late_ms(j->s);
	return idem_wall_ms(&idem_clock_real) < j->note.made_ms +
	    (int64_t)j->note.lease_ms + late_ms(j->s);
}

static void
released(struct settle_job *j)
{
	tell(j, IDEM_WOKEN_RELEASED);
	if (must_linger(j)) {
		settle_job_leave(j);
		return;
	}
	say(j, "released", NULL);
	drop(j);
}

static void
written(struct settle_job *j)
{
	if (j->asking) {
		job_free(j);
	} else if (j->held) {
		give_up(j);
	} else if (j->op == IDEM_STORE_RELEASE) {
		released(j);
	} else if (j->op == IDEM_STORE_COMPLETE) {
		say(j, "completed", NULL);
		tell(j, IDEM_WOKEN_COMPLETED);
		drop(j);
	} else {
		keep_unknown(j);
	}
}

static bool
is_open_still(const struct settle_job *j, const struct idem_record *r)
{
	return memcmp(r->owner.at, j->note.owner.at, sizeof r->owner.at) == 0 &&
	    (r->state == IDEM_STATE_IN_PROGRESS ||
	    r->state == IDEM_STATE_UNKNOWN);
}

/*
 * Lost, but the record is this run's all the same: its attempt was not known,
 * or the store is of another history and takes no answer.  Then it is unknown.
 */
static bool
ask_again(struct settle_job *j, const struct idem_record *r)
{
	bool attempt = j->op == IDEM_STORE_UNKNOWN && j->note.attempt == 0 &&
	    r->attempt != j->attempt;

	if (j->s->stopped || !is_open_still(j, r) ||
	    (!attempt && j->op != IDEM_STORE_COMPLETE))
		return false;
	j->op = IDEM_STORE_UNKNOWN;
	j->attempt = r->attempt;
	settle_job_start(j);
	return true;
}

static void
lost(struct settle_job *j, const struct idem_store_result *r)
{
	if (ask_again(j, &r->record))
		return;
	if (j->op == IDEM_STORE_RELEASE && must_linger(j)) {
		settle_job_leave(j);
		return;
	}
	if (j->op == IDEM_STORE_COMPLETE)
		j->s->user.lost(j->s->user.arg, &j->note, r);
	say(j, j->asking ? "resolved" : "lost", NULL);
	drop(j);
}

/* The time is that of its file, so that no other worker does the same. */
static void
renewed(struct settle_job *j, const struct idem_store_result *r)
{
	struct settle *s = j->s;

	if (r->renew == IDEM_RENEWED)
		idem_note_set_renewed(j->at.file, settle_now_ms(s));
	else
		settle_later(s, &j->note.owner);
	job_free(j);
}

static void
done(void *arg, const struct idem_store_result *r)
{
	struct settle_job *j = arg;

	IDEM_LABEL_OF("boot.recovered", &j->note.key);
	settle_answered(j->s);
	if (j->op == IDEM_STORE_RENEW) {
		renewed(j, r);
		return;
	}
	switch (r->write) {
	case IDEM_WRITTEN:
		written(j);
		return;
	case IDEM_WRITE_LOST:
		lost(j, r);
		return;
	case IDEM_WRITE_REFUSED:
	case IDEM_WRITE_MAYBE:
		settle_job_leave(j);
		return;
	}
}

void
settle_job_start(struct settle_job *j)
{
	const struct idem_note *n = &j->note;
	const struct idem_store_call call = {
		.op = j->op,
		.key = n->key,
		.owner = n->owner,
		.attempt = j->attempt,
		.deadline_ms = settle_now_ms(j->s) + SETTLE_CALL_MS,
		.lease_ms = n->lease_ms,
		.pid = n->pid,
		.history = n->history,
		.strict = n->strict,
		.answer = j->answer,
		.keep_ms = n->keep_ms,
		.tombstone_ms = n->tombstone_ms,
		.done = done,
		.arg = j
	};

	IDEM_LABEL_OF("boot.recover", &n->key);
	j->s->pending++;
	j->s->moved = true;
	j->store->ops->start(j->store, &call);
}

struct settle_job *
settle_job_new(struct settle *s, struct idem_run_file *at,
    const struct idem_evidence *e)
{
	struct settle_job *j = calloc(1, sizeof *j);

	if (j == NULL)
		return NULL;
	j->s = s;
	j->note = e->note;
	j->at = *at;
	j->attempt = e->note.attempt;
	*at = (struct idem_run_file){ -1, -1 };
	return j;
}
