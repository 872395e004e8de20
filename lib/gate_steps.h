/* SPDX-License-Identifier: ISC */
#ifndef IDEM_GATE_STEPS_H
#define IDEM_GATE_STEPS_H

#include "idem.h"

/*
 * Between the gate's own files.  gate_ask.c puts questions, gate_claim.c
 * decides who may run, gate_write.c what becomes of a run; gate.c leads there
 * and back.  Each function gives the effects that the step answers with.
 */
typedef struct idem_effects idem_gate_on(struct idem_gate *,
    const struct idem_event *);

/* --- gate_ask.c ----------------------------------------------------------- */

/* Nothing to do: another event is due. */
struct idem_effects idem_gate_ask_nothing(void);
struct idem_effects idem_gate_ask_look(struct idem_gate *, enum idem_where);
/* A slot, for CLAIM or RUN.  It is queued for at most once a request. */
struct idem_effects idem_gate_ask_slot(struct idem_gate *, enum idem_op then,
    bool may_queue);
/* With a slot one that may win, else look_only. */
struct idem_effects idem_gate_ask_claim(struct idem_gate *);
/* RUN or PROBE, and a RENEW beside it if there is a claim to renew. */
struct idem_effects idem_gate_ask_program(struct idem_gate *, enum idem_op);
struct idem_effects idem_gate_ask_renew(struct idem_gate *, uint32_t wait_ms);
struct idem_effects idem_gate_ask_write(struct idem_gate *, enum idem_op);
/* COMPLETE, RELEASE or MARK_UNKNOWN the record that the last CLAIM showed. */
struct idem_effects idem_gate_ask_others(struct idem_gate *, enum idem_op);
struct idem_effects idem_gate_ask_record(struct idem_gate *);
struct idem_effects idem_gate_ask_cache(struct idem_gate *, enum idem_where);
struct idem_effects idem_gate_ask_wait(struct idem_gate *, uint32_t wait_ms,
    bool for_key);
struct idem_effects idem_gate_ask_reply(struct idem_gate *, enum idem_body,
    enum idem_mark);
struct idem_effects idem_gate_ask_refusal(struct idem_gate *,
    enum idem_problem);
/* END, or nothing as long as a RENEW is outstanding. */
struct idem_effects idem_gate_ask_end(struct idem_gate *);

/* A new series of tries, which may go on for so long. */
void idem_gate_ask_begin(struct idem_gate *, int64_t now_ms,
    uint32_t budget_ms);
/* After a try that failed, before the deadline: op again, but not at once. */
struct idem_effects idem_gate_ask_pause(struct idem_gate *, int64_t now_ms,
    enum idem_op);

/* --- gate_claim.c --------------------------------------------------------- */

idem_gate_on idem_gate_claim_on_slot;
idem_gate_on idem_gate_claim_on_claim;
idem_gate_on idem_gate_claim_on_others;	/* the answer to ask_others */

/* A claim with a budget of its own. */
struct idem_effects idem_gate_claim_anew(struct idem_gate *, int64_t now_ms);
/* Somebody has the key and may be running: wait, 409 or 202. */
struct idem_effects idem_gate_claim_taken(struct idem_gate *, int64_t now_ms);
/* An answer is at hand. */
struct idem_effects idem_gate_claim_saved(struct idem_gate *, bool kept);
/* What undoes a claim of ours after which nothing ran. */
enum idem_op idem_gate_claim_undo(const struct idem_gate *);

/* --- gate_write.c --------------------------------------------------------- */

idem_gate_on idem_gate_write_on_run;
idem_gate_on idem_gate_write_on_probe;
idem_gate_on idem_gate_write_on_record;
idem_gate_on idem_gate_write_on_written;
idem_gate_on idem_gate_write_on_reply;
idem_gate_on idem_gate_write_on_cache;

/* RELEASE or MARK_UNKNOWN what is ours, then this problem; NONE: our answer,
   marked as released. */
struct idem_effects idem_gate_write_then(struct idem_gate *, int64_t now_ms,
    enum idem_op, enum idem_problem);

/* Whether completed records are kept in Redis beside the arbiter. */
bool idem_gate_write_redis_caches(const struct idem_gate *);
/* An answer of the arbiter's is at hand: cache it behind the REPLY. */
void idem_gate_write_caches(struct idem_gate *);

#endif
