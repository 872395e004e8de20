/* SPDX-License-Identifier: ISC */
#include "journal.h"
#include "run_lock.h"

#include <stdlib.h>
#include <string.h>

static bool
same_boot(const struct idem_boot *a, const struct idem_boot *b)
{
	return memcmp(a->at, b->at, sizeof a->at) == 0;
}

/* A note says nothing of a record that it was not written for. */
static bool
is_of(const struct idem_note *n, const struct idem_record *r,
    const struct idem_digest *key)
{
	return memcmp(n->owner.at, r->owner.at, sizeof n->owner.at) == 0 &&
	    same_boot(&n->boot, &r->boot) &&
	    memcmp(n->key.at, key->at, sizeof n->key.at) == 0 &&
	    (n->attempt == r->attempt ||
	    (n->attempt == 0 && n->state != IDEM_NOTE_HANDED));
}

static int64_t
later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static uint32_t
longer(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* What a shared clock said before we watched it counts as said since. */
static void
believe(struct idem_record *r, const struct idem_proof_times *t)
{
	if (t->watched_ms == 0)
		return;
	r->renewed_at = later(r->renewed_at, t->watched_ms);
	r->lease_end = later(r->lease_end, idem_run_after(t->watched_ms,
	    t->lease_ms));
}

static enum idem_proof
by_time(enum idem_lock_state lock, const struct idem_record *record,
    int64_t now_ms, const struct idem_boot *boot,
    const struct idem_proof_times *t)
{
	struct idem_record r = *record;

	if (!t->shared)
		return idem_run_proof(&r, now_ms, boot, lock, t->lease_ms,
		    t->limit_ms, t->grace_ms);
	believe(&r, t);
	return idem_run_proof_shared(&r, now_ms, boot, lock, t->lease_ms,
	    t->limit_ms, t->grace_ms);
}

/*
 * Who holds its lock is alive, and of this kernel, whatever boot he takes it
 * for: containers of one machine may be told one each.
 */
static enum idem_proof
held(const struct idem_record *record, int64_t now_ms,
    const struct idem_boot *boot, const struct idem_proof_times *t)
{
	struct idem_record r = *record;

	r.boot = *boot;
	return by_time(IDEM_LOCK_HELD, &r, now_ms, boot, t);
}

/*
 * It ended, and nobody else will bring its answer: who held it is gone, has
 * left it, or has had a lease's time for it and only a child of the program
 * keeps its lock.  Not so of a page into which tokens were to be put.
 */
static bool
is_finished(const struct idem_evidence *e, int64_t boot_ms)
{
	if (!e->ended)
		return false;
	switch (e->note.state) {
	case IDEM_NOTE_CLAIMING:
	case IDEM_NOTE_HANDED:
	case IDEM_NOTE_NOT_BEGUN:
		return false;
	case IDEM_NOTE_ORPHAN:
		return true;
	case IDEM_NOTE_BEGUN:
		return e->lock == IDEM_RUN_FREE || (!e->note.paged &&
		    boot_ms > idem_run_after(e->trailer.at_ms,
		    e->note.lease_ms));
	}
	abort();
}

/* It was started with its own, when a file may have said another. */
static struct idem_proof_times
times_of(const struct idem_evidence *e, const struct idem_proof_times *t)
{
	struct idem_proof_times own = *t;

	if (e->noted) {
		own.lease_ms = longer(t->lease_ms, e->note.lease_ms);
		own.limit_ms = longer(t->limit_ms, e->note.limit_ms);
	}
	return own;
}

enum idem_proof
idem_journal_proof(const struct idem_evidence *e,
    const struct idem_record *r, const struct idem_digest *key, int64_t now_ms,
    const struct idem_boot *boot, int64_t boot_ms,
    const struct idem_proof_times *given)
{
	const struct idem_proof_times own = times_of(e, given), *t = &own;
	enum idem_proof missing = by_time(IDEM_LOCK_MISSING, r, now_ms, boot,
	    t);

	if (!same_boot(&r->boot, boot))
		return e->lock == IDEM_RUN_HELD ?
		    held(r, now_ms, boot, t) : missing;
	if (e->lock == IDEM_RUN_MISSING ||
	    (e->noted && !is_of(&e->note, r, key)))
		return missing;
	if (e->noted && is_finished(e, boot_ms))
		return IDEM_PROOF_FINISHED;
	if (e->lock == IDEM_RUN_HELD)
		return held(r, now_ms, boot, t);
	if (!e->noted)
		return missing;
	switch (e->note.state) {
	case IDEM_NOTE_CLAIMING:
	case IDEM_NOTE_HANDED:
	case IDEM_NOTE_NOT_BEGUN:
		return IDEM_PROOF_NOTHING;
	case IDEM_NOTE_BEGUN:
	case IDEM_NOTE_ORPHAN:
		if (e->note.fastcgi && missing != IDEM_PROOF_DEAD)
			return IDEM_PROOF_LAPSED;
		return IDEM_PROOF_DEAD;
	}
	abort();
}
