/* SPDX-License-Identifier: ISC */
#ifndef SETTLE_H
#define SETTLE_H

#include "conf.h"
#include "journal.h"
#include "log.h"
#include "loop.h"
#include "shm.h"
#include "stores.h"

/*
 * Brings to their end the runs that no lobby waits for: from the journal's
 * folder, whatever store had permitted them, and for as long as it takes.
 *
 *	not begun		released
 *	still running		its lease is renewed
 *	died			unknown; its file stays for people to read
 *	finished		completed with its answer, or by its status
 *				released, or unknown if it is not whole
 *
 * Each worker does it; a run is taken by its lock, so that no two meet.  What a
 * store refuses stays as it is and is tried again, with pauses that grow.
 */
#define SETTLE_MS 1000		/* between two rounds */
#define SETTLE_AT_ONCE 32	/* calls of stores under way */

struct settle;

struct settle_user {
	/* A key has come to an end: who waits for it may go on. */
	void (*ended)(void *arg, const struct idem_digest *,
	    enum idem_waited);
	/* One became unknown; why, its note says. */
	void (*unknown)(void *arg, const struct idem_digest *,
	    const struct idem_note *);
	/* A run's answer came too late: by that result its key is another's, or
	   gone. */
	void (*lost)(void *arg, const struct idem_note *,
	    const struct idem_store_result *);
	void *arg;
};

/* NULL without memory.  All is borrowed for its life. */
struct settle *settle_new(struct loop *, struct stores *, struct log *,
    int folder, const struct idem_boot *, const struct settle_user *);
/* Begin a round now, if none is under way; the next ones by itself. */
void settle_start(struct settle *);
/* With the next round, ask about unknown ones too: the files of those that have
   been resolved go. */
void settle_unknowns(struct settle *);
void settle_stop(struct settle *);	/* no new calls */
/* Calls under way, and one for a round that is not through. */
uint32_t settle_pending(const struct settle *);
/* After stores_close, which answers what is under way.  NULL does nothing. */
void settle_free(struct settle *);

#endif
