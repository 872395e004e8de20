/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "answer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- proofs --------------------------------------------------------------- */

static enum idem_proof
adopt(int fd, const struct idem_evidence *e, struct idem_adopted *to)
{
	enum idem_note_why why;
	int32_t code;

	switch (answer_of_run(fd, e, &to->answer, &why, &code)) {
	case ANSWER_WHOLE:
		to->keep_ms = e->note.keep_ms;
		to->tombstone_ms = e->note.tombstone_ms;
		return IDEM_PROOF_FINISHED;
	case ANSWER_NOTHING:
		return IDEM_PROOF_NOTHING;
	case ANSWER_NOT_WHOLE:
		/* What it has left behind may be at work yet. */
		return e->lock == IDEM_RUN_HELD ? IDEM_PROOF_LAPSED :
		    IDEM_PROOF_DEAD;
	case ANSWER_LATER:
		return IDEM_PROOF_NONE;
	}
	abort();
}

enum idem_proof
lobby_proof(struct lobby *lobby, const struct idem_store *store,
    const struct idem_record *record, const struct idem_digest *key,
    int64_t now_ms, struct idem_adopted *adopted)
{
	const struct idem_proof_times times = {
		.lease_ms = lobby->lease_max_ms,
		.limit_ms = lobby->limit_max_ms,
		.grace_ms = lobby->conf->grace_ms,
		.shared = stores_is_shared(&lobby->stores, store),
		.watched_ms = stores_watched_ms(&lobby->stores, store, key,
		    now_ms)
	};
	struct idem_evidence e;
	enum idem_proof proof;
	int fd;

	idem_evidence(lobby->lock_folder, &record->owner, &e, &fd);
	proof = idem_journal_proof(&e, record, key, now_ms, &lobby->boot,
	    idem_boot_ms(&idem_clock_real), &times);
	if (proof == IDEM_PROOF_FINISHED && adopted != NULL)
		proof = adopt(fd, &e, adopted);
	if (fd != -1)
		close(fd);
	return proof;
}

/* One Redis is several stores: its tokens, and a scheme each. */
static bool
is_same(const struct stores *s, const struct idem_store *a,
    const struct idem_store *b)
{
	return a == b || (a != NULL && stores_is_shared(s, a) &&
	    stores_is_shared(s, b));
}

bool
lobby_settles(const struct lobby *lobby, const struct idem_store *store,
    const struct idem_record *record, enum idem_proof proof)
{
	bool dead = proof == IDEM_PROOF_DEAD || proof == IDEM_PROOF_LAPSED;
	struct idem_evidence e;

	idem_evidence(lobby->lock_folder, &record->owner, &e, NULL);
	return (e.lock == IDEM_RUN_FREE || !dead) && e.noted && !e.unknown &&
	    memcmp(e.note.owner.at, record->owner.at,
	    sizeof record->owner.at) == 0 &&
	    is_same(&lobby->stores, stores_marked(&lobby->stores,
	    e.note.store), store);
}

/* --- settling ------------------------------------------------------------- */

static void
ended(void *arg, const struct idem_digest *key, enum idem_waited how)
{
	struct lobby *lobby = arg;

	shm_end_put(lobby->shm, lobby->worker, key, how);
	waiting_ask_all(lobby);
}

static void
unknown(void *arg, const struct idem_digest *key, const struct idem_note *note)
{
	const struct lobby *lobby = arg;

	alert_tell_run(lobby->shm, ALERT_UNKNOWN_KEY, key, note);
}

/* Two runs of one key, or one run and an operator who spoke too soon. */
static void
lost(void *arg, const struct idem_note *note,
    const struct idem_store_result *r)
{
	struct lobby *lobby = arg;

	if (r->record.state == IDEM_STATE_ABSENT ||
	    (r->record.attempt == note->attempt && memcmp(r->record.owner.at,
	    note->owner.at, sizeof note->owner.at) == 0))
		return;
	shm_add(lobby->shm, SHM_TWO_RUNS, 1);
	alert_tell_run(lobby->shm, ALERT_TWO_RUNS, &note->key, note);
}

bool
lobby_settle_open(struct lobby *lobby)
{
	const struct settle_user user = {
		.ended = ended, .unknown = unknown, .lost = lost, .arg = lobby
	};

	lobby->settle = settle_new(lobby->loop, &lobby->stores, &lobby->log,
	    lobby->lock_folder, &lobby->boot, &user);
	return lobby->settle != NULL;
}
