/* SPDX-License-Identifier: ISC */
#ifndef REPORT_PICK_H
#define REPORT_PICK_H

#include "check.h"

/*
 * Of a history, the events that tell the story: all of them where there is
 * room, else the conflict, the faults, and what is nearest to the conflict; to
 * the faults, where there is none.
 */
enum report_pick_for {
	REPORT_PICK_STEPS,	/* what led to the conflict: nothing after it,
				   nothing that the conflict did not hear of */
	REPORT_PICK_PAGE	/* as much as there is room for */
};

struct report_pick {
	const struct history_event **at;	/* in their order */
	uint8_t *conflict;	/* of each: its number in the finding, from 1;
				   0: it is not of the conflict */
	size_t n, left_out;
};

/* finding: NULL without one.  at most max, which is not 0. */
void report_pick(struct report_pick *, const struct history *,
    const struct check_finding *, size_t max, enum report_pick_for);
void report_pick_free(struct report_pick *);

#endif
