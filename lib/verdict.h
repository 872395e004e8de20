/* SPDX-License-Identifier: ISC */
#ifndef IDEM_VERDICT_H
#define IDEM_VERDICT_H

#include "store.h"

/*
 * What a call does to a record: the rules at the end of store.h's port, as one
 * pure function, so that no two stores can differ.  The store reads the
 * record, asks here, and writes what is changed, all in one atomic step.
 */

/* When, as the store's own clocks say, in which boot and which history. */
struct idem_moment {
	int64_t boot_ms, wall_ms;
	struct idem_boot boot;
	struct idem_history history;
};

struct idem_verdict {
	enum idem_claim claim;	/* CLAIM */
	enum idem_renew renew;	/* RENEW */
	enum idem_write write;	/* COMPLETE, RELEASE, UNKNOWN, SETTLE,
				   ISSUE */
	bool changed;		/* `record` is to be stored, with an answer only
				   if call->answer and with_answer say so */
	bool with_answer;
	int64_t tombstone_ms;	/* completed: how long its tombstone stays */
	struct idem_record record;	/* as it is after the call */
};

/* Any call but LIST and SWEEP; a record that is not there has state ABSENT. */
void idem_verdict(const struct idem_record *, const struct idem_store_call *,
    const struct idem_moment *, struct idem_verdict *);

/* The call's, or the default if it says none. */
int64_t idem_verdict_tombstone_ms(const struct idem_store_call *);

/*
 * What a SWEEP at wall_ms makes of a record, whose tombstone was to stay for
 * tombstone_ms.  One whose answer goes before its keep is over (shrink_ms)
 * stays a tombstone for as long as if it had been kept.
 */
enum idem_swept {
	IDEM_SWEPT_NOT,		/* its time has not come, or it has none */
	IDEM_SWEPT_TOMBSTONE,	/* *record is one now; its answer is to go */
	IDEM_SWEPT_GONE		/* it is to be deleted */
};
enum idem_swept idem_verdict_sweep(struct idem_record *,
    const struct idem_store_call *, int64_t tombstone_ms, int64_t wall_ms);

#endif
