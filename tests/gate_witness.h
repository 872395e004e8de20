/* SPDX-License-Identifier: ISC */
#ifndef TESTS_GATE_WITNESS_H
#define TESTS_GATE_WITNESS_H

#include "idem.h"

/*
 * What a witness saw of a gate's effects: what has happened, not what the gate
 * says of itself.  Each effect is held against the promises (doc/design.md, 2
 * and 3).  Zeroes, but for main_out, are a witness before the first event; no
 * holes, so that it hashes with the gate.
 */
struct gate_witness {
	const char *broken;	/* the first promise that was; NULL: none */
	uint8_t main_out;	/* enum idem_op outstanding; END: none */
	bool renew_out;
	uint8_t beside;		/* which RUN or PROBE it was asked beside */
	bool slot;		/* held, by the rule of idem.h */
	bool taking;		/* a take-over was sent: it may land */
	bool maybe;		/* a CLAIM was unclear */
	uint8_t maybe_at;
	bool won;
	uint8_t won_at;
	bool elsewhere;		/* a CLAIM at a stand-in */
	bool take_over;		/* the CLAIM outstanding is one */
	bool taken;		/* one was won */
	uint8_t shown_proof;	/* enum idem_proof of the last record seen;
				   NOTHING once it is gone */
	bool shown;		/* the arbiter has shown a record */
	bool unnoted;		/* the CLAIM that was just answered */
	bool waiter;
	uint8_t runs;
	bool ran_off;		/* RUN without a claim of ours */
	bool ended_whole;	/* RUN finished, or PROBE happened */
	bool not_started, cut;
	bool probe_unsure, probed;
	bool recorded;
	bool complete_written, complete_lost;
	bool release_lost;	/* of its own claim */
	bool saved_at_hand, not_kept;
	bool lease_lost;
	uint8_t replies;
	bool old;		/* its token starts nothing */
	bool end;
	bool nothing;		/* the run's answer says that it did nothing */
	bool stand_in;		/* LOOK showed what no arbiter permitted */
};

/* The event, the answer to what was asked for, comes to the gate. */
void gate_witness_hear(struct gate_witness *, const struct idem_event *,
    const struct idem_effect *asked);
/* The gate, as it is after that, asks for these. */
void gate_witness_see(struct gate_witness *, const struct idem_gate *,
    const struct idem_effects *);

#endif
