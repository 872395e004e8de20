/* SPDX-License-Identifier: ISC */
#ifndef WORLD_H
#define WORLD_H

#include "history.h"

/*
 * Where a plan is carried out.  A world gets a plan and a seed and gives a
 * history; nothing outside it knows which one it was.
 */
struct world {
	const char *mode;	/* "live" */
	unsigned bit;		/* PLAN_LIVE */
	/* Why it cannot carry this plan out at all; NULL: it can.  Good until
	   the next call. */
	const char *(*cannot)(const struct plan *);
	/* What of the plan's needs is not installed here; NULL: nothing. */
	const char *(*missing)(const struct plan *);
	/*
	 * One run.  0; -1: the simulator's own means failed, and why; then the
	 * history is what there was until then.
	 */
	int (*run)(const struct plan *, uint64_t seed, unsigned number,
	    struct history *, char *wrong, size_t wrong_size);
	/* What is kept between runs ends; before their plan does. */
	void (*end)(void);
};

extern const struct world live_world;

/* Asked for each turn of a run: true ends it as soon as can be, cut. */
void live_stop_when(bool (*asked)(void));
/* The logs of the last run's processes go into that folder (made). -1: errno */
int live_keep(const char *folder);

#endif
