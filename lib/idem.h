/* SPDX-License-Identifier: ISC */
#ifndef IDEM_IDEM_H
#define IDEM_IDEM_H

#include "problem.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The gate: one request's decisions (doc/design.md, 3 and 5), and nothing else.
 * No I/O, no clock, no chance, no memory: it is flat plain data, so it may be
 * copied, compared and hashed.  An exchange carries out each effect and
 * answers it with exactly one event of the same op.
 *
 * It holds a program slot from SLOT got for as long as CLAIM, PROBE and RUN
 * follow each other; any other main effect means that it is free again.
 *
 *	      ADMIT            keyless, exempt
 *	        |  keyed          \
 *	      LOOK local -- led --> WAIT (a key's end) or 409 or 202
 *	        | nothing               \-- woken: LOOK local,
 *	      LOOK redis                  LOOK redis, CLAIM look_only
 *	        |
 *	      SLOT -- full --> CLAIM look_only -- absent --> SLOT queued
 *	        | got
 *	      CLAIM -- completed ------------------> REPLY saved
 *	        | won    \ in progress, dead --> MARK_UNKNOWN -> on_unknown
 *	        |      \ proof in the journal --> COMPLETE, RELEASE of others
 *	       RUN + RENEW ...
 *	        | finished   \ not started --> RELEASE --> REPLY problem
 *	        |             \ cut ----------> MARK_UNKNOWN -> REPLY problem
 *	      RECORD (journal)
 *	        |
 *	      COMPLETE -- lost --> CLAIM look_only --> saved, or 504
 *	        |
 *	      REPLY fresh -> CACHE -> END
 */
enum idem_op {
	IDEM_ADMIT,		/* event only, the first */
	IDEM_LOOK,
	IDEM_SLOT,
	IDEM_CLAIM,
	IDEM_RUN,
	IDEM_RENEW,
	IDEM_COMPLETE,
	IDEM_RELEASE,
	IDEM_MARK_UNKNOWN,
	IDEM_RECORD,
	IDEM_CACHE,
	IDEM_PROBE,
	IDEM_WAIT,
	IDEM_REPLY,
	IDEM_GONE,		/* event only, any time; no effect answers it */
	IDEM_END,		/* effect only, the last; no event answers it */
	IDEM_OPS
};

/* --- what a route decided beforehand -------------------------------------- */

enum idem_arbiter {
	IDEM_ARBITER_LEDGER, IDEM_ARBITER_TOKEN, IDEM_ARBITER_REDIS
};
enum idem_on_unknown { IDEM_BLOCK, IDEM_RETRY, IDEM_PROBING };
enum idem_in_progress { IDEM_WAITING, IDEM_CONFLICT, IDEM_ACCEPTED };
enum idem_on_outage {	/* arbiter redis only */
	IDEM_REJECT, IDEM_TO_MEMORY, IDEM_TO_DATABASE, IDEM_PASS
};

struct idem_policy {
	enum idem_arbiter arbiter;
	enum idem_on_unknown on_unknown;
	enum idem_in_progress in_progress;
	enum idem_on_outage on_outage;
	bool required;		/* no key: 400 */
	bool look_redis;	/* a cache of completed records is there */
	bool look_fallback;	/* look into the database before redis */
	bool journal;		/* a result is RECORDed before COMPLETE */
	uint32_t attempts_max;	/* retry: starts a key; at least 1 */
	uint32_t wait_ms;	/* a duplicate waits this long, then 409 */
	uint32_t queue_ms;	/* a first waits so long for a slot, then 503 */
	uint32_t claim_ms;	/* claims are repeated this long */
	uint32_t complete_ms;	/* completions are, then `unrecorded` */
	uint32_t background_ms;	/* and this long after the REPLY */
	uint32_t lease_ms;
};

/*
 * The defaults, with the ledger as arbiter.  The queue ends well before the
 * minute after which fronts give up: they would make a 504 of it, which says
 * that the program may have run.
 */
#define IDEM_POLICY_DEFAULT { \
	.arbiter = IDEM_ARBITER_LEDGER, \
	.on_unknown = IDEM_BLOCK, \
	.in_progress = IDEM_WAITING, \
	.on_outage = IDEM_REJECT, \
	.attempts_max = 3, \
	.wait_ms = 10000, \
	.queue_ms = 30000, \
	.claim_ms = 2000, \
	.complete_ms = 5000, \
	.background_ms = 300000, \
	.lease_ms = 60000, \
	.journal = true \
}

/* --- events --------------------------------------------------------------- */

enum idem_admit {
	IDEM_KEYED,
	IDEM_KEYLESS,		/* a route, and no key */
	IDEM_EXEMPT,		/* no route; key_sent says whether a key came */
	IDEM_REFUSED		/* `problem` says why: the key, the body, ... */
};

enum idem_look {
	IDEM_LOOK_COMPLETED,	/* fingerprint, guard match; answer at hand */
	IDEM_LOOK_NOTHING,
	IDEM_LOOK_UNSURE,	/* error or time-out: as nothing */
	IDEM_LOOK_KNOWN,	/* fallback only: it has the key, but no answer
				   for this request: it decides */
	/* local only: somebody on this worker claims or runs the key, ... */
	IDEM_LOOK_LED,		/* asked the same */
	IDEM_LOOK_LED_MISMATCH,	/* asked something else */
	IDEM_LOOK_LED_WITHHELD	/* asked the same with other credentials */
};

enum idem_slot { IDEM_SLOT_GOT, IDEM_SLOT_FULL };

/* Verdicts of a claim, in the order in which a store checks (store.h). */
enum idem_claim {
	IDEM_CLAIM_MISMATCH,
	IDEM_CLAIM_WITHHELD,
	IDEM_CLAIM_COMPLETED,	/* answer at hand; see `kept` */
	IDEM_CLAIM_EXPIRED,	/* a tombstone */
	IDEM_CLAIM_IN_PROGRESS,	/* of another owner; see `proof` */
	IDEM_CLAIM_UNKNOWN,	/* see `proof`, `attempt` */
	IDEM_CLAIM_ABSENT,	/* look_only: nobody has it */
	IDEM_CLAIM_WON,
	IDEM_CLAIM_OURS,	/* won before; the answer was lost */
	IDEM_CLAIM_LATE,	/* after not_after: not applied */
	IDEM_CLAIM_HISTORY,	/* token: minted in another history */
	IDEM_CLAIM_NO_TOKEN,	/* token: never issued here */
	IDEM_CLAIM_BAD_RECORD,	/* not ours to read; nothing was changed */
	IDEM_CLAIM_EXHAUSTED,	/* take_over: attempts_max reached */
	IDEM_CLAIM_REFUSED,	/* surely not applied */
	IDEM_CLAIM_MAYBE,	/* applied, or will be */
	IDEM_CLAIMS
};

/* What is known of an owner whose record is in progress or unknown. */
enum idem_proof {
	IDEM_PROOF_NONE,	/* it may be running */
	IDEM_PROOF_LAPSED,	/* lease + grace passed without a sign of it:
				   outcome unknown, though it may yet run */
	IDEM_PROOF_DEAD,	/* its lock is free or its boot is over, or
				   lease + limit passed: it cannot be running */
	IDEM_PROOF_NOTHING,	/* its program has surely not begun, or ended
				   with the word that nothing happened */
	IDEM_PROOF_FINISHED	/* it ended with a whole answer, which is at
				   hand */
};

enum idem_run {
	IDEM_RUN_FINISHED,	/* with a whole answer; see `kept` */
	IDEM_RUN_NOT_STARTED,	/* certainly; see `problem` */
	IDEM_RUN_CUT		/* it may have had its effect; see `problem` */
};

enum idem_renew {
	IDEM_RENEWED,
	IDEM_RENEW_LOST,	/* another owner, or an operator, has it */
	IDEM_RENEW_MAYBE,	/* refused or unclear: try again */
	IDEM_RENEW_STOPPED	/* the RUN or PROBE that it was asked beside
				   ended while only the timer ran */
};

/* COMPLETE, RELEASE, MARK_UNKNOWN; RECORD uses WRITTEN and REFUSED only. */
enum idem_write {
	IDEM_WRITTEN,		/* now, or already by us */
	IDEM_WRITE_LOST,	/* owner or attempt are others' now */
	IDEM_WRITE_REFUSED,
	IDEM_WRITE_MAYBE
};

enum idem_probed { IDEM_HAPPENED, IDEM_DID_NOT, IDEM_PROBE_UNKNOWN };

enum idem_waited {
	IDEM_WAIT_OVER,		/* the time is over */
	IDEM_WOKEN_COMPLETED,	/* the key's end: look again */
	IDEM_WOKEN_RELEASED,	/* it did not start */
	IDEM_WOKEN_UNKNOWN,
	IDEM_WOKEN_UNSURE	/* something happened: look again */
};

enum idem_sent { IDEM_SENT, IDEM_NOBODY };

struct idem_event {
	enum idem_op op;
	int64_t now_ms;		/* a monotonic clock, the same for all events */
	/* the outcome: the member of its op */
	enum idem_admit admit;
	enum idem_look look;
	enum idem_slot slot;
	enum idem_claim claim;
	enum idem_run run;
	enum idem_renew renew;
	enum idem_write write;
	enum idem_probed probed;
	enum idem_waited waited;
	enum idem_sent sent;
	/* more, where said above */
	bool key_sent;			/* ADMIT */
	bool old;			/* ADMIT: a token past its life, which
					   starts nothing any more */
	bool away;			/* CLAIM refused: the store is known to
					   be away, trying again is no use */
	bool no_space;			/* SLOT full: the disk is; CLAIM
					   refused: it could not be noted, and
					   the store was not asked */
	bool unprotected;		/* LOOK completed: no arbiter had
					   permitted the run that gave it */
	bool kept;			/* LOOK, CLAIM completed; RUN finished;
					   PROBE happened */
	bool nothing;			/* RUN finished: by the route's word its
					   answer says that nothing happened */
	enum idem_problem problem;	/* ADMIT refused; RUN not started or
					   cut */
	enum idem_proof proof;		/* CLAIM in progress, unknown */
	uint32_t attempt;		/* CLAIM: of the record, won or not */
};

/* --- effects -------------------------------------------------------------- */

enum idem_where {
	IDEM_AT_ARBITER,	/* the route's, or the one the token names */
	IDEM_AT_LOCAL,		/* LOOK, CACHE: this worker */
	IDEM_AT_REDIS,		/* LOOK, CACHE */
	IDEM_AT_FALLBACK,	/* on_outage = database */
	IDEM_AT_MEMORY		/* on_outage = memory */
};

enum idem_body {
	IDEM_BODY_PROBLEM,
	IDEM_BODY_FRESH,	/* what our run gave */
	IDEM_BODY_SAVED,	/* what LOOK, CLAIM or PROBE gave */
	IDEM_BODY_PASSED	/* an unkeyed run: streamed, now at its end */
};

struct idem_effect {
	enum idem_op op;
	enum idem_where where;	/* LOOK, CLAIM, CACHE; and the writes after a
				   CLAIM, which go where it was won */
	bool look_only;		/* CLAIM: never inserts, needs no slot */
	bool take_over;		/* CLAIM: of a dead owner's unknown record */
	bool queued;		/* SLOT: wait up to wait_ms for one */
	bool others;		/* COMPLETE, RELEASE, MARK_UNKNOWN: the owner
				   and attempt that the last CLAIM showed, not
				   ours; COMPLETE: with the answer that its
				   proof brought */
	bool unkeyed;		/* RUN: pass everything through */
	bool for_key;		/* WAIT: until the key's end, at most wait_ms;
				   else a pause, which is never cut short */
	bool unprotected;	/* RUN: no arbiter permits it, or a stand-in */
	bool background;	/* COMPLETE, RELEASE, MARK_UNKNOWN: behind the
				   REPLY */
	uint32_t wait_ms;	/* WAIT, SLOT queued; RENEW: first this pause */
	enum idem_body body;	/* REPLY */
	enum idem_mark mark;	/* REPLY; NONE with a problem: its form's */
	enum idem_problem problem;	/* REPLY */
	uint32_t attempt;	/* REPLY unknown: of the record; 0: not said */
	uint32_t retry_after_s;	/* REPLY */
};

/* At most one of the main class and one RENEW at a time. */
struct idem_effects {
	struct idem_effect fx[2];
	unsigned n;
};

/* --- the gate ------------------------------------------------------------- */

struct idem_gate {
	struct idem_policy policy;	/* a copy: no pointers */
	enum idem_op awaiting;		/* the main effect outstanding */
	struct idem_effect asked;	/* and what exactly it was */
	enum idem_where claim_at;	/* where we claim, and then write */
	enum idem_op then;		/* what a pause or a slot is for */
	enum idem_op pending;		/* the write to go on with after REPLY;
					   END: none */
	enum idem_problem after;	/* the REPLY after a write; NONE: our
					   answer, whose key is released */
	enum idem_proof proof;		/* of the record that a CLAIM showed */
	uint32_t attempt;		/* ours, or the record's; 0: there is
					   none, as far as seen */
	uint32_t tries;			/* of the present op that have failed */
	uint32_t races;			/* others were faster, so many times */
	bool renewing;			/* a RENEW is outstanding */
	bool slot;			/* we hold one */
	bool queued;			/* have queued for one: never twice */
	bool claimed;			/* we own an attempt */
	bool take_over;			/* what we claim is a dead one's */
	bool taking;			/* a take-over has been sent */
	bool started;			/* the program may have begun */
	bool probed;			/* our answer is a probe's */
	bool replied;			/* REPLY has been asked for */
	bool gone;			/* nobody listens */
	bool lost;			/* a RENEW said so */
	bool unkeyed;			/* pass everything through */
	bool ignored;			/* ... although a key was sent */
	bool old;			/* its token starts nothing any more */
	bool unprotected;		/* on_outage led us here */
	bool kept;			/* our answer's body is kept */
	bool ghost;			/* a claim of ours may yet be applied */
	bool waited;			/* has been a waiter: never a runner */
	bool cache_local, cache_redis;	/* to do after REPLY */
	uint8_t pad[7];			/* so that there is no hole */
	bool ended;
	int64_t deadline_ms;		/* of claiming, writing */
	int64_t wait_until_ms;		/* of waiting for the key's end */
};

/* Starts out awaiting ADMIT. */
void idem_gate_init(struct idem_gate *, const struct idem_policy *);

/*
 * Take one event; say what to do next.  An event nobody asked for is a bug of
 * the caller's and ends the process (assert, in release builds too).  After
 * IDEM_END no event may follow.  GONE and a RENEW's event may give no effect.
 */
struct idem_effects idem_gate_step(struct idem_gate *,
    const struct idem_event *);

/* There is little time left: what goes on behind the REPLY is tried once more
   at most.  Before the REPLY nothing changes. */
void idem_gate_hurry(struct idem_gate *);

/* IDEM_POLICY_DEFAULT. */
extern const struct idem_policy idem_policy_default;

#endif
