/* SPDX-License-Identifier: ISC */
#include "journal.h"

#include "journal_run.h"
#include "tap.h"

#include <string.h>

/*
 * Renewed at 1000 s: the lease ends at 1060 s, all hope at 1365 s.  Its trailer
 * is of 1001 s, so that a lease after it is 1061 s.
 */
#define EARLY 1010000
#define IN_LEASE_LAST 1065000
#define LAPSED 1065001
#define LAST 1365000
#define PAST 1365001

enum {
	ENDED = 1,
	SHARED = 2,
	FASTCGI = 4,
	PAGED = 8,
	OTHER_BOOT = 16,	/* record and note of another boot than now */
	RECORD_BOOT = 32,	/* the record alone */
	NOTE_BOOT = 64,		/* the note alone */
	OTHER_OWNER = 128,
	OTHER_KEY = 256,
	OTHER_ATTEMPT = 512,
	NO_ATTEMPT = 1024,
	NO_NOTE = 2048,
	IS_UNKNOWN = 4096,
	ALL = 8191
};

#define CLAIMING IDEM_NOTE_CLAIMING
#define HANDED IDEM_NOTE_HANDED
#define NOT_BEGUN IDEM_NOTE_NOT_BEGUN
#define BEGUN IDEM_NOTE_BEGUN
#define ORPHAN IDEM_NOTE_ORPHAN
#define HELD IDEM_RUN_HELD
#define FREE IDEM_RUN_FREE
#define MISSING IDEM_RUN_MISSING

static const struct row {
	const char *what;
	enum idem_note_state state;
	enum idem_run_lock lock;
	int flags;
	int64_t now_ms;
	enum idem_proof proof;
} rows[] = {
	/* Not begun. */
	{ "a free run that was only claimed has not begun",
	  CLAIMING, FREE, 0, EARLY, IDEM_PROOF_NOTHING },
	{ "whatever attempt its claim had won",
	  CLAIMING, FREE, NO_ATTEMPT, EARLY, IDEM_PROOF_NOTHING },
	{ "a free run that was handed has not begun",
	  HANDED, FREE, 0, EARLY, IDEM_PROOF_NOTHING },
	{ "one that could not be started has not either",
	  NOT_BEGUN, FREE, 0, EARLY, IDEM_PROOF_NOTHING },
	{ "nor has an application elsewhere",
	  HANDED, FREE, FASTCGI, EARLY, IDEM_PROOF_NOTHING },
	{ "nor, of our boot, one of a shared store",
	  HANDED, FREE, SHARED, EARLY, IDEM_PROOF_NOTHING },
	{ "long past its time it has not begun either",
	  HANDED, FREE, 0, PAST, IDEM_PROOF_NOTHING },
	{ "nor when its record is unknown",
	  HANDED, FREE, IS_UNKNOWN, EARLY, IDEM_PROOF_NOTHING },
	{ "what was handed without an attempt is broken and proves nothing",
	  HANDED, FREE, NO_ATTEMPT, EARLY, IDEM_PROOF_NONE },
	{ "... and lapses as what is missing",
	  HANDED, FREE, NO_ATTEMPT, LAPSED, IDEM_PROOF_LAPSED },
	{ "held, it may begin",
	  HANDED, HELD, 0, LAPSED, IDEM_PROOF_NONE },
	{ "held past all time it has lapsed",
	  CLAIMING, HELD, 0, PAST, IDEM_PROOF_LAPSED },
	{ "with a trailer it is broken, and proves no end",
	  HANDED, HELD, ENDED, PAST, IDEM_PROOF_LAPSED },

	/* Begun. */
	{ "a free run that had begun is dead",
	  BEGUN, FREE, 0, EARLY, IDEM_PROOF_DEAD },
	{ "so is an orphan",
	  ORPHAN, FREE, 0, EARLY, IDEM_PROOF_DEAD },
	{ "so is one of a shared store, of our boot",
	  BEGUN, FREE, SHARED, EARLY, IDEM_PROOF_DEAD },
	{ "so is one that began with its claim",
	  BEGUN, FREE, NO_ATTEMPT, EARLY, IDEM_PROOF_DEAD },
	{ "an application elsewhere may go on when its lock is free",
	  BEGUN, FREE, FASTCGI, EARLY, IDEM_PROOF_LAPSED },
	{ "... until its time is over",
	  BEGUN, FREE, FASTCGI, LAST, IDEM_PROOF_LAPSED },
	{ "... then it is dead",
	  BEGUN, FREE, FASTCGI, PAST, IDEM_PROOF_DEAD },
	{ "a run that is held goes on",
	  BEGUN, HELD, 0, LAST, IDEM_PROOF_NONE },
	{ "so does an orphan",
	  ORPHAN, HELD, 0, LAST, IDEM_PROOF_NONE },
	{ "held past all time it has lapsed, as somebody is alive",
	  BEGUN, HELD, 0, PAST, IDEM_PROOF_LAPSED },

	/* Ended. */
	{ "a free run with a trailer is finished",
	  BEGUN, FREE, ENDED, EARLY, IDEM_PROOF_FINISHED },
	{ "so is an application's",
	  BEGUN, FREE, ENDED | FASTCGI, EARLY, IDEM_PROOF_FINISHED },
	{ "so is one of a shared store, of our boot",
	  BEGUN, FREE, ENDED | SHARED, EARLY, IDEM_PROOF_FINISHED },
	{ "so is one that is free, of a page",
	  BEGUN, FREE, ENDED | PAGED, EARLY, IDEM_PROOF_FINISHED },
	{ "so is an unknown one, days later",
	  BEGUN, FREE, ENDED | IS_UNKNOWN, 1000 * PAST, IDEM_PROOF_FINISHED },
	{ "so is an orphan, whoever holds it",
	  ORPHAN, HELD, ENDED, EARLY, IDEM_PROOF_FINISHED },
	{ "one that is held may yet be brought to its end by its lobby",
	  BEGUN, HELD, ENDED, 1061000, IDEM_PROOF_NONE },
	{ "... for a lease",
	  BEGUN, HELD, ENDED, 1061001, IDEM_PROOF_FINISHED },
	{ "... but a page only by it",
	  BEGUN, HELD, ENDED | PAGED, 1061001, IDEM_PROOF_NONE },
	{ "what was removed proves no end",
	  BEGUN, MISSING, ENDED, EARLY, IDEM_PROOF_NONE },

	/* Missing. */
	{ "what is missing proves nothing in its lease",
	  BEGUN, MISSING, NO_NOTE, IN_LEASE_LAST, IDEM_PROOF_NONE },
	{ "it lapses after it",
	  BEGUN, MISSING, NO_NOTE, LAPSED, IDEM_PROOF_LAPSED },
	{ "and is dead past all time",
	  BEGUN, MISSING, NO_NOTE, PAST, IDEM_PROOF_DEAD },
	{ "what is free without a note is as missing",
	  BEGUN, FREE, NO_NOTE, IN_LEASE_LAST, IDEM_PROOF_NONE },
	{ "... and lapses so",
	  BEGUN, FREE, NO_NOTE, LAPSED, IDEM_PROOF_LAPSED },
	{ "what cannot be looked at is held",
	  BEGUN, HELD, NO_NOTE, LAPSED, IDEM_PROOF_NONE },
	{ "... past all time too",
	  BEGUN, HELD, NO_NOTE, PAST, IDEM_PROOF_LAPSED },
	{ "a note of another owner is as missing",
	  HANDED, FREE, OTHER_OWNER, EARLY, IDEM_PROOF_NONE },
	{ "so is one of another key",
	  HANDED, FREE, OTHER_KEY, EARLY, IDEM_PROOF_NONE },
	{ "so is one of another attempt",
	  BEGUN, FREE, OTHER_ATTEMPT | ENDED, EARLY, IDEM_PROOF_NONE },
	{ "so is one of another boot than its record",
	  BEGUN, FREE, NOTE_BOOT | ENDED, EARLY, IDEM_PROOF_NONE },
	{ "... though it is held",
	  BEGUN, HELD, OTHER_KEY, LAPSED, IDEM_PROOF_LAPSED },

	/* Another boot. */
	{ "a run of another boot is dead, though it ended",
	  BEGUN, FREE, OTHER_BOOT | ENDED, EARLY, IDEM_PROOF_DEAD },
	{ "... though its note says that it had not begun",
	  HANDED, FREE, OTHER_BOOT, EARLY, IDEM_PROOF_DEAD },
	{ "... though its note is of ours",
	  HANDED, FREE, RECORD_BOOT, EARLY, IDEM_PROOF_DEAD },
	{ "whose lock is held is alive, in a container with a boot of its own",
	  BEGUN, HELD, OTHER_BOOT, LAST, IDEM_PROOF_NONE },
	{ "... though it cannot be read",
	  BEGUN, HELD, OTHER_BOOT | NO_NOTE, LAST, IDEM_PROOF_NONE },
	{ "... and is never dead",
	  BEGUN, HELD, OTHER_BOOT, PAST, IDEM_PROOF_LAPSED },
	{ "... nor when its store is shared",
	  BEGUN, HELD, OTHER_BOOT | SHARED, PAST, IDEM_PROOF_LAPSED },
	{ "shared, one of another boot may be another host's",
	  BEGUN, MISSING, OTHER_BOOT | SHARED, IN_LEASE_LAST,
	  IDEM_PROOF_NONE },
	{ "... whatever there is here of it",
	  BEGUN, FREE, OTHER_BOOT | SHARED | ENDED, IN_LEASE_LAST,
	  IDEM_PROOF_NONE },
	{ "... and though it says that it had not begun",
	  CLAIMING, FREE, OTHER_BOOT | SHARED, IN_LEASE_LAST,
	  IDEM_PROOF_NONE },
	{ "... it lapses after its lease",
	  BEGUN, FREE, OTHER_BOOT | SHARED, LAPSED, IDEM_PROOF_LAPSED },
	{ "... and is dead past all time",
	  BEGUN, FREE, OTHER_BOOT | SHARED, PAST, IDEM_PROOF_DEAD },
	{ "shared, of our boot, what is missing may be another container's",
	  BEGUN, MISSING, NO_NOTE | SHARED, IN_LEASE_LAST, IDEM_PROOF_NONE },
	{ "... it lapses after its lease",
	  BEGUN, MISSING, NO_NOTE | SHARED, LAPSED, IDEM_PROOF_LAPSED },
};

static struct idem_evidence
evidence_of(const struct row *row)
{
	struct idem_evidence e = {
		.lock = row->lock,
		.noted = (row->flags & NO_NOTE) == 0,
		.note = journal_note(row->state, 1),
		.ended = (row->flags & ENDED) != 0,
		.trailer = { .at_ms = 1001000 }
	};

	e.note.fastcgi = (row->flags & FASTCGI) != 0;
	e.note.paged = (row->flags & PAGED) != 0;
	if ((row->flags & (OTHER_BOOT | NOTE_BOOT)) != 0)
		e.note.boot = journal_other_boot;
	if ((row->flags & OTHER_OWNER) != 0)
		e.note.owner = journal_owner(2);
	if ((row->flags & OTHER_KEY) != 0)
		e.note.key.at[31] = 1;
	if ((row->flags & OTHER_ATTEMPT) != 0)
		e.note.attempt = 3;
	if ((row->flags & NO_ATTEMPT) != 0)
		e.note.attempt = 0;
	return e;
}

static enum idem_proof
proof_of(const struct row *row)
{
	struct idem_evidence e = evidence_of(row);
	struct idem_proof_times times = journal_times;
	struct idem_note ours = journal_note(row->state, 1);
	struct idem_record r = journal_record(&ours);

	times.shared = (row->flags & SHARED) != 0;
	if ((row->flags & (OTHER_BOOT | RECORD_BOOT)) != 0)
		r.boot = journal_other_boot;
	if ((row->flags & IS_UNKNOWN) != 0)
		r.state = IDEM_STATE_UNKNOWN;
	return idem_journal_proof(&e, &r, &journal_key, row->now_ms,
	    &journal_boot, row->now_ms, &times);
}

static void
test_rows(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		is_int(proof_of(&rows[i]), rows[i].proof, "%s", rows[i].what);
}

/* --- all of them ---------------------------------------------------------- */

static bool
is_ours(int flags)
{
	return (flags & (OTHER_BOOT | RECORD_BOOT | NOTE_BOOT | OTHER_OWNER |
	    OTHER_KEY | NO_NOTE)) == 0;
}

/* What may let a program start again, or end a key, within a lease. */
static bool
may_be(const struct row *row, enum idem_proof proof)
{
	bool begun = row->state == BEGUN || row->state == ORPHAN;

	switch (proof) {
	case IDEM_PROOF_NONE:
		return true;
	case IDEM_PROOF_NOTHING:
		return is_ours(row->flags) && !begun && row->lock == FREE;
	case IDEM_PROOF_FINISHED:
		return is_ours(row->flags) && begun && row->lock != MISSING &&
		    (row->flags & ENDED) != 0;
	case IDEM_PROOF_LAPSED:
		return is_ours(row->flags) && begun && row->lock == FREE &&
		    (row->flags & FASTCGI) != 0;
	case IDEM_PROOF_DEAD:
		if ((row->flags & (OTHER_BOOT | RECORD_BOOT)) != 0)
			return (row->flags & SHARED) == 0 &&
			    row->lock != HELD;
		return is_ours(row->flags) && begun && row->lock == FREE &&
		    (row->flags & FASTCGI) == 0;
	}
	return false;
}

/* Each state, lock and set of flags, within the lease. */
static void
test_all(void)
{
	int wrong = 0, seen[IDEM_PROOF_FINISHED + 1] = { 0 };
	enum idem_proof proof;
	struct row row;
	int state, lock;

	for (state = CLAIMING; state <= ORPHAN; state++)
		for (lock = HELD; lock <= MISSING; lock++)
			for (row.flags = 0; row.flags <= ALL; row.flags++) {
				row.state = (enum idem_note_state)state;
				row.lock = (enum idem_run_lock)lock;
				row.now_ms = EARLY;
				proof = proof_of(&row);
				seen[proof]++;
				wrong += !may_be(&row, proof);
			}
	is_int(wrong, 0, "within its lease a run is proved to have ended, or "
	    "not to have begun, only by its own file or another boot");
	note("none %d, lapsed %d, dead %d, nothing %d, finished %d", seen[0],
	    seen[1], seen[2], seen[3], seen[4]);
}

/* --- a shared clock ------------------------------------------------------- */

/* The record's times are as above; watched since then. */
static const struct {
	const char *what;
	int64_t watched_ms, now_ms;
	bool shared;
	enum idem_proof proof;
} watched[] = {
	{ "what was said before a clock was watched does not lapse within a "
	  "lease of it", 5000000, 5065000, true, IDEM_PROOF_NONE },
	{ "then it does", 5000000, 5065001, true, IDEM_PROOF_LAPSED },
	{ "and is no death before limit, lease and grace of it",
	  5000000, 5365000, true, IDEM_PROOF_LAPSED },
	{ "then it is", 5000000, 5365001, true, IDEM_PROOF_DEAD },
	{ "what was said since is believed",
	  900000, LAPSED, true, IDEM_PROOF_LAPSED },
	{ "... to its end", 900000, PAST, true, IDEM_PROOF_DEAD },
	{ "a clock that need not be watched is believed",
	  0, LAPSED, true, IDEM_PROOF_LAPSED },
	{ "our own needs no watching",
	  5000000, PAST, false, IDEM_PROOF_DEAD },
};

static void
test_watched(void)
{
	const struct idem_note n = journal_note(BEGUN, 1);
	const struct idem_evidence e = { .lock = MISSING };
	struct idem_record r = journal_record(&n);
	struct idem_proof_times times = journal_times;
	size_t i;

	for (i = 0; i < sizeof watched / sizeof *watched; i++) {
		times.shared = watched[i].shared;
		times.watched_ms = watched[i].watched_ms;
		is_int(idem_journal_proof(&e, &r, &journal_key,
		    watched[i].now_ms, &journal_boot, 1, &times),
		    watched[i].proof, "%s", watched[i].what);
	}
	r.renewed_at = r.lease_end = 1;
	times.shared = true;
	times.watched_ms = 0;
	is_int(idem_journal_proof(&e, &r, &journal_key, 1 + JOURNAL_GRACE + 1,
	    &journal_boot, 1, &times), IDEM_PROOF_LAPSED,
	    "nor is it watched from its first moment on");
	r.renewed_at = r.lease_end = INT64_MAX;
	is_int(idem_journal_proof(&e, &r, &journal_key, INT64_MAX,
	    &journal_boot, 1, &times), IDEM_PROOF_NONE,
	    "a time without end never comes");
}

/* --- its own times -------------------------------------------------------- */

/* A configuration that allows less than the one it was started with. */
static void
test_own_times(void)
{
	const struct idem_note n = journal_note(BEGUN, 1);
	struct idem_evidence e = { .lock = FREE, .noted = true, .note = n };
	const struct idem_proof_times less = {
		.lease_ms = 1000, .limit_ms = 1000, .grace_ms = JOURNAL_GRACE
	};
	const struct idem_record r = journal_record(&n);

	e.note.fastcgi = true;
	is_int(idem_journal_proof(&e, &r, &journal_key, LAST, &journal_boot,
	    LAST, &less), IDEM_PROOF_LAPSED, "an application elsewhere has "
	    "the time that it was started with, whatever is configured since");
	is_int(idem_journal_proof(&e, &r, &journal_key, PAST, &journal_boot,
	    PAST, &less), IDEM_PROOF_DEAD, "and no more");
}

int
main(void)
{
	test_rows();
	test_own_times();
	test_all();
	test_watched();
	return done();
}
