/* SPDX-License-Identifier: ISC */
#ifndef IDEM_EXCHANGE_H
#define IDEM_EXCHANGE_H

#include "store.h"

/*
 * One request on its way: it carries out what its gate decides, through ports,
 * and owns the bytes that the gate must not see.  It decides nothing.  The
 * daemon and the simulator give it different ports, and nothing else differs.
 */
struct idem_exchange;
typedef void idem_port(struct idem_exchange *, const struct idem_effect *);

/* What somebody else's run came to, as its journal says. */
struct idem_adopted {
	struct idem_blob *answer;	/* owned; NULL: none */
	int64_t keep_ms, tombstone_ms;
};

/*
 * Each port carries out one effect and answers it once with
 * idem_exchange_tell, at once or later.  Calls of a store are the exchange's
 * own; a world only says which.
 */
struct idem_ports {
	idem_port *look, *slot, *run, *record, *cache, *probe, *wait, *reply;
	/* A RENEW's pause: idem_exchange_renew is called when it is over. */
	idem_port *renew_later;
	/* The RUN or PROBE is over: is a RENEW's pause still on?  Stop it. */
	bool (*renew_stop)(struct idem_exchange *);
	/* The slot that SLOT got is not used for a RUN. */
	void (*slot_unused)(struct idem_exchange *);
	struct idem_store *(*store)(struct idem_exchange *, enum idem_where);
	/*
	 * A CLAIM that may win is about to be sent: note it, so that somebody
	 * can tell that nothing has begun.  It may set another owner, if
	 * nothing was sent under the present one.  False: it cannot be noted.
	 */
	bool (*note)(struct idem_exchange *, const struct idem_effect *);
	/*
	 * What is known of the owner of a record in progress or unknown.
	 * FINISHED: with its answer in *adopted.
	 */
	enum idem_proof (*proof)(struct idem_exchange *,
	    const struct idem_record *, int64_t now_ms,
	    struct idem_adopted *adopted);
	/* A write of ours is in the store: the key has come to this end. */
	void (*ended)(struct idem_exchange *, const struct idem_digest *,
	    enum idem_waited);
	/* A RENEW or COMPLETE of ours is lost: another has the record, or it
	   is gone, or of another history. */
	void (*lost)(struct idem_exchange *, const struct idem_store_result *);
	/* Why a store refused, for the log; `away`: as it has for a while. */
	void (*trouble)(struct idem_exchange *, enum idem_store_op,
	    const char *why, bool away);
	/* All is over; the exchange may be freed in here. */
	void (*end)(struct idem_exchange *);
	int64_t (*now)(struct idem_exchange *);
};

struct idem_exchange_times {
	int64_t keep_ms, tombstone_ms;
	int64_t keep_min_ms;	/* when a store is short of room, answers are
				   kept so long at least; what clients are
				   told.  1 to keep_ms; that: it never
				   shrinks */
	uint32_t call_ms;	/* one call of a store */
};

struct idem_exchange {
	struct idem_gate gate;
	const struct idem_ports *ports;
	const struct idem_exchange_times *times;

	struct idem_digest key, fingerprint, guard;
	struct idem_owner owner, other;	/* ours; whose the record last was */
	uint32_t attempt, other_attempt;
	uint32_t pid;
	int64_t claim_sent_ms;	/* the claim that was won, when sent at the
				   earliest, or its last renewal: its lease is
				   no younger */
	int64_t renew_sent_ms;
	int64_t unheard_ms;	/* the first that may have been; or 0 */
	int64_t since_ms;	/* unknown since, wall clock */
	int64_t keep_until_ms;	/* of `answer`, the store's wall clock; 0: not
				   told, it is ours */
	unsigned differs;	/* a mismatch: IDEM_PART_* that do */
	int64_t kept_ms;	/* and how long in all, by its record; or 0 */
	uint64_t purges;	/* count under which `answer` was looked up */
	struct idem_blob *answer;	/* saved form: ours, or found */
	struct idem_adopted adopted;	/* with the last proof */
	enum idem_op settled;	/* COMPLETE, RELEASE or MARK_UNKNOWN of ours
				   that is surely in the store; else ADMIT */
	bool others_now;	/* such a write was lost: it is another's */
	bool slot;		/* got, not yet used */
	bool anew;		/* the key ends with its answer's keep */
	bool issued_only;	/* the key is a token: of this history */
	bool old;		/* and past its life: it starts nothing */
	struct idem_history history;

	bool telling;		/* inside idem_exchange_tell */
	uint8_t heard;		/* events waiting in `hears` */
	struct idem_event hears[3];
};

/*
 * Zeroes, then the digests, owner, pid, anew, issued_only, old, history, ports
 * and times set by the caller.
 * Nothing happens before the first event, an ADMIT.
 */
void idem_exchange_init(struct idem_exchange *, const struct idem_policy *);

/*
 * Take one event; now_ms is filled in.  It may be called from inside a port.
 * After it the exchange may be gone (see end), except inside a port.
 */
void idem_exchange_tell(struct idem_exchange *, const struct idem_event *);

/* The pause of a RENEW is over: send it. */
void idem_exchange_renew(struct idem_exchange *);

/* Put another answer in place, owned by the exchange; NULL for none. */
void idem_exchange_answer(struct idem_exchange *, struct idem_blob *);
void idem_exchange_free(struct idem_exchange *);

#endif
