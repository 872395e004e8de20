/* SPDX-License-Identifier: ISC */
#ifndef IDEM_STORE_CALL_H
#define IDEM_STORE_CALL_H

#include "verdict.h"

/*
 * What the stores share.  For their .c files only; callers of a store need
 * store.h and nothing of this.
 */

/* A copy that holds the answer too; _free lets go of it. */
void idem_store_call_copy(struct idem_store_call *,
    const struct idem_store_call *from);
void idem_store_call_free(struct idem_store_call *);

/* Set *result to say that the call failed; error is borrowed. */
void idem_store_fail(struct idem_store_result *, enum idem_store_op,
    enum idem_class, const char *error);

/* Set *result to what was decided, all but answer and purges. */
void idem_store_decided(struct idem_store_result *,
    const struct idem_store_call *, const struct idem_verdict *,
    const struct idem_moment *);

/* How many rows a LIST or SWEEP is to have. */
uint32_t idem_store_rows(const struct idem_store_call *);

/* Whether a LIST wants it. */
bool idem_store_wanted(const struct idem_store_call *, enum idem_state);

/* Both clocks, read now. */
struct idem_moment idem_store_moment(const struct idem_clock *,
    const struct idem_boot *);

/*
 * Calls for which there was no memory.  They too are answered from poll, so
 * there is room for them that needs none; if even that is full the process
 * has no memory and no way to say so, and ends.
 */
#define IDEM_REFUSALS_MAX 512

struct idem_refusals {
	unsigned n;
	struct {
		idem_store_done *done;
		void *arg;
		enum idem_store_op op;
	} at[IDEM_REFUSALS_MAX];
};

void idem_store_refuse(struct idem_refusals *, const struct idem_store_call *);
/* Answer those that were there when it began. */
void idem_store_tell_refused(struct idem_refusals *);

#endif
