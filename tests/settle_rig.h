/* SPDX-License-Identifier: ISC */
#ifndef TESTS_SETTLE_RIG_H
#define TESTS_SETTLE_RIG_H

#include "settle.h"

/*
 * A settler over a store in memory that does as it is told, with runs as files
 * in a folder of its own and a clock that stands still until it is set.
 */
enum rig_store {
	RIG_ANSWERS,
	RIG_REFUSES,		/* nothing is applied */
	RIG_APPLIES,		/* but says maybe */
	RIG_HOLDS		/* answers nothing until it does otherwise */
};

struct settle_rig {
	char path[64];
	int folder;
	int64_t boot_ms, wall_ms;
	struct idem_clock clock;
	struct idem_boot boot, other_boot;
	struct loop *loop;
	struct log log;
	struct stores stores;
	struct idem_store *inner;	/* the records */
	enum rig_store does;
	struct settle *settle;
	/* What the settler did: calls by op, how many at once, what it told. */
	unsigned calls[IDEM_STORE_ISSUE + 1];
	uint32_t most;
	unsigned ended, unknown, lost;
	enum idem_waited how;
	struct idem_note said;		/* with the unknown one */
};

/* Ends the test if it cannot.  shared: as several hosts' store is. */
void settle_rig_open(struct settle_rig *, bool shared);
void settle_rig_close(struct settle_rig *);	/* and removes the folder */

/* A note of run `number`: at its store, of this boot, attempt 1. */
struct idem_note settle_rig_note(const struct settle_rig *,
    enum idem_note_state, uint32_t number);
/* Its file, held; out: NULL: no output and no trailer. */
struct idem_run_file settle_rig_file(const struct settle_rig *,
    const struct idem_note *, const char *out, int status);
/* Claim its key for it, so that its record is in progress. */
void settle_rig_claim(struct settle_rig *, const struct idem_note *);
/* Any other call, at once. */
void settle_rig_call(struct settle_rig *, struct idem_store_call *,
    struct idem_store_answer *);
struct idem_record settle_rig_record(struct settle_rig *,
    const struct idem_digest *key);

/* Turn the loop until nothing is under way and the round is through, with time
   at a standstill but for what the settler waits for; -1: it does not end. */
int settle_rig_round(struct settle_rig *);
/* One turn, a millisecond later. */
void settle_rig_turn(struct settle_rig *);
/* Let so much time pass, in turns of that much. */
void settle_rig_pass(struct settle_rig *, int64_t ms, int64_t step_ms);

enum rig_file { RIG_GONE, RIG_LEFT, RIG_UNKNOWN };
enum rig_file settle_rig_where(const struct settle_rig *,
    const struct idem_owner *);

#endif
