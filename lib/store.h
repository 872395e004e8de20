/* SPDX-License-Identifier: ISC */
#ifndef IDEM_STORE_H
#define IDEM_STORE_H

#include "blob.h"
#include "class.h"
#include "clock.h"
#include "idem.h"
#include "record.h"

/*
 * The port that every store stands behind.  A call is started, and answered
 * later, from poll, exactly once; never from inside start.  Each may be
 * repeated with the same owner to the same end.  The store judges leases by
 * its own clock.  One contract suite (tests/t_store.c) holds for all.
 */
enum idem_store_op {
	IDEM_STORE_CLAIM,
	IDEM_STORE_RENEW,
	IDEM_STORE_COMPLETE,
	IDEM_STORE_RELEASE,	/* it was not started: -> issued; the attempt
				   stays */
	IDEM_STORE_UNKNOWN,	/* in progress -> unknown, its owner kept */
	IDEM_STORE_SETTLE,	/* the operator's word */
	IDEM_STORE_LIST,
	IDEM_STORE_SWEEP,
	IDEM_STORE_ISSUE	/* absent -> issued: a token of ours */
};

const char *idem_store_op_text(enum idem_store_op);	/* "claim", ... */

enum idem_settle {
	IDEM_SETTLE_DONE,	/* -> completed, with `answer` or not kept */
	IDEM_SETTLE_NOT_DONE,	/* -> issued: it may run again */
	IDEM_SETTLE_FORGET	/* any record -> tombstone */
};

struct idem_store_result;
typedef void idem_store_done(void *arg, const struct idem_store_result *);

/*
 * Which past of a store a token is of.  A Redis: its replication id, which is
 * another after every restart, promotion and demotion; a ledger: its
 * generation.
 */
#define IDEM_HISTORY_LEN 8
struct idem_history {
	uint8_t at[IDEM_HISTORY_LEN];
};

/* Copied by start; of `answer` it is one more holder for as long as needed. */
struct idem_store_call {
	enum idem_store_op op;
	struct idem_digest key;
	struct idem_owner owner;
	uint32_t attempt;	/* all but CLAIM, LIST, SWEEP; take_over: of the
				   record that is taken over; RELEASE: 0 is any,
				   for a claim whose answer never came */
	int64_t deadline_ms;	/* boot clock: refused or maybe by then, or soon
				   after when the store itself is stuck */

	/* CLAIM */
	struct idem_digest fingerprint, guard;
	bool look_only;		/* ABSENT instead of inserting */
	bool take_over;		/* an unknown record of `other` at `attempt` is
				   ours now, at attempt + 1 */
	struct idem_owner other;	/* take_over, SETTLE: whose it was */
	uint32_t attempts_max;	/* take_over: else EXHAUSTED */
	bool anew;		/* the key lasts as long as its answer: a record
				   that is completed, past expires_at, or a
				   tombstone, past ended_at, is absent, by the
				   store's wall clock, swept or not; so no guard
				   counts, and attempt 1 wins.  Else false, and
				   a tombstone is EXPIRED until it is swept.
				   Where answers go by themselves (setnx, check)
				   it changes nothing */
	uint32_t lease_ms;	/* CLAIM, RENEW */
	uint32_t pid;
	int64_t not_after_ms;	/* boot clock; later it is LATE; 0: never */
	bool issued_only;	/* a token: absent is NO_TOKEN, and its first
				   start demands this history, else HISTORY */
	struct idem_history history;	/* issued_only, strict */
	bool strict;		/* COMPLETE, take_over of a token that may run
				   again: demand the history in which it was
				   last started */

	/* COMPLETE, SETTLE */
	struct idem_blob *answer;
	int64_t keep_ms;	/* ISSUE: its life until it is used */
	int64_t tombstone_ms;	/* RELEASE too: issued records; 0: 7 days */

	/* SETTLE */
	enum idem_settle settle;

	/* LIST: records in one of the states of the mask (1u << state), by key,
	   from after `key` on (all zeroes: from the first), at most max */
	uint32_t states;
	uint32_t max;		/* LIST; SWEEP: rows; default 100 */
	bool any_order;		/* LIST: pages in the order that costs least,
				   from `cursor` on, perhaps with none of them,
				   with one twice, or a few more than max */
	uint64_t cursor;	/* any_order; 0: from the first */
	int64_t shrink_ms;	/* SWEEP: completed records this long after
				   their completion are over too; 0: when their
				   keep is.  Never those in progress or
				   unknown */

	idem_store_done *done;
	void *arg;
};

struct idem_listed {
	struct idem_digest key;
	struct idem_record record;
	uint64_t answer_len;
};

/* Borrowed for the call of done; take `answer` to keep it. */
struct idem_store_result {
	enum idem_store_op op;
	enum idem_class class;
	enum idem_claim claim;	/* CLAIM */
	enum idem_renew renew;	/* RENEW */
	enum idem_write write;	/* COMPLETE, RELEASE, UNKNOWN, SETTLE, ISSUE
				   (LOST: there is a record); LIST and SWEEP:
				   WRITTEN or REFUSED */
	struct idem_record record;	/* as it is now; LIST, SWEEP: zeroes */
	int64_t now_ms;		/* the clock that judges record.lease_end */
	uint64_t purges;	/* count before this call was carried out */
	struct idem_blob *answer;	/* CLAIM completed; NULL: not kept */
	const struct idem_listed *listed;	/* LIST */
	uint32_t count;		/* LIST, SWEEP: rows */
	bool more;		/* LIST, SWEEP: there may be more */
	uint64_t cursor;	/* LIST any_order: the next page's */
	struct idem_history history;	/* ISSUE, CLAIM: the store's own; zeroes
				   if it has none or did not say */
	bool away;		/* not OK: to ask again at once is no use */
	const char *error;	/* not OK: for the log */
};

struct idem_store;

struct idem_store_ops {
	const char *name;
	/* Never fails: what cannot be started is answered as refused. */
	void (*start)(struct idem_store *, const struct idem_store_call *);
	int (*fd)(struct idem_store *);	/* readable: poll has something to do;
					   -1: there is none, due_ms says */
	int64_t (*due_ms)(struct idem_store *);	/* poll by then; INT64_MAX */
	/* Calls done for what is ready; not to be called from done. */
	void (*poll)(struct idem_store *);
	/*
	 * How often a completed record has been withdrawn by SETTLE, by any
	 * process; never blocks.  What was cached under another count is void.
	 */
	uint64_t (*purges)(struct idem_store *);
	/*
	 * Is it so short of room that answers should be kept no longer than
	 * they must?  Never blocks; what was found lately.
	 */
	bool (*pressed)(struct idem_store *);
	/* The history now; false while it is not known. */
	bool (*history)(struct idem_store *, struct idem_history *);
	/* Answers what is outstanding (refused or maybe), then frees. */
	void (*close)(struct idem_store *);
};

struct idem_store {
	const struct idem_store_ops *ops;	/* first member of each store */
};

/*
 * What a CLAIM does, in this order (doc/design.md, 3), all in one
 * atomic step.  r is the record.
 *
 *	`anew`, and r completed or tombstone, and past it: as if absent
 *	r absent		issued_only: NO_TOKEN; look_only: ABSENT;
 *				now > not_after: LATE; else insert, attempt 1:
 *				WON
 *	fingerprint differs	MISMATCH  (a record without one, issued, has
 *				none to differ; not for tombstones)
 *	guard differs		WITHHELD
 *	r tombstone		EXPIRED
 *	r completed		COMPLETED, answer
 *	r in progress		owner is ours: OURS; else IN_PROGRESS
 *	r unknown		take_over, other and attempt as said: attempt >=
 *				attempts_max: EXHAUSTED; LATE; strict and
 *				another history: HISTORY; else ours at
 *				attempt + 1: WON.  owner ours: OURS (only with
 *				take_over).  Else UNKNOWN
 *	r issued		look_only: ABSENT; LATE; issued_only and
 *				another history: HISTORY; else ours at
 *				attempt + 1: WON
 *
 * RENEW, COMPLETE, RELEASE, UNKNOWN demand owner and attempt; COMPLETE and
 * RELEASE take in progress and unknown, RENEW and UNKNOWN in progress only,
 * except that what is already so by us is WRITTEN.  RENEW of an unknown record
 * of ours: LOST.  COMPLETE that is strict, of another history: LOST, but what
 * is completed is WRITTEN.
 * ISSUE demands that there is no record, at attempt 0 for keep_ms; what is
 * already so by us is WRITTEN.
 * SETTLE demands owner == `other` and attempt, and sets owner; DONE and
 * NOT_DONE take in progress and unknown only, else LOST.
 * A RELEASE of an absent record is WRITTEN (a ghost that never landed).
 */

/* The blocking driver: start one call and poll until it is answered. */
struct idem_store_answer {
	struct idem_store_result result;	/* owned copies inside */
	struct idem_listed *listed;
	char *error;
};
void idem_store_wait(struct idem_store *, const struct idem_store_call *,
    struct idem_store_answer *);
void idem_store_answer_free(struct idem_store_answer *);

/* The reference: one process, in memory.  NULL: out of memory. */
struct idem_store *idem_store_memory(const struct idem_clock *,
    const struct idem_boot *);

/*
 * SQLite, one file, one host (doc/design.md, 5).  A thread of its own commits
 * what waits in groups.  Open it after the last fork.  NULL and a sentence in
 * error (what, where, what to do) for: a missing file, one that is no database,
 * is corrupt, empty, of a newer schema, or on a network file system.
 */
struct idem_sqlite_options {
	const char *path;
	const struct idem_clock *clock;
	struct idem_boot boot;
	bool read_only;		/* for looking: no thread, LIST and look_only */
	uint64_t reserve;	/* bytes of the disk: it is pressed when less
				   than twice as many are free; 0: never */
};

struct idem_store *idem_store_sqlite(const struct idem_sqlite_options *,
    char *error, size_t error_size);

/* Make an empty ledger, mode 0600.  0; -1 and a sentence: also if it exists. */
int idem_store_sqlite_create(const char *path, char *error, size_t error_size);
/* The library's: 3040001 is 3.40.1. */
int idem_store_sqlite_version(void);
/*
 * May this process, by its effective user, write the ledger at `path`: the
 * file, its -lock, -wal and -shm where they are there, and the folder in which
 * SQLite makes the latter.  Nothing is opened.  0; -1 and a sentence: whose
 * rights are wanting where, and what to do.
 */
int idem_sqlite_writable(const char *path, char *error, size_t error_size);
/* The file alone, for who only looks: likewise. */
int idem_sqlite_readable(const char *path, char *error, size_t error_size);
/* What a file system's magic number (statfs(2)) is called, if it is one over
   a network or in user space, where locks and mapped files are not sure. */
const char *idem_sqlite_network(uint32_t magic);

#endif
