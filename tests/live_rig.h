/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LIVE_RIG_H
#define TESTS_LIVE_RIG_H

#include "judge.h"
#include "scenario.h"
#include "world.h"

/*
 * Small plans in the live world, from the parts of a scenario file: real
 * instances, a real Redis, a real program.
 */
struct live_rig_plan {
	const char *what;	/* its name */
	const char *topology, *load, *faults, *expect;	/* Lua, inside {} */
	int service_ms;
	const char *heal;	/* Lua, inside {} */
};

/* Parts that more than one test has. */
#define LEDGER "redis = { a = {} }, gates = { n = 2, arbiter = 'ledger', " \
    "store = 'a', ledger = 'shared', config = { lease = '600ms', " \
    "grace = '200ms', store_timeout = '100ms', probe_every = '100ms' } }"
#define ONE "sim.script { { at = 0, client = 'c1', send = { key = 'k', " \
    "body = 'x' } } }"
#define TWO "sim.script { { at = 0, client = 'c1', send = { key = 'k', " \
    "body = 'x', to = 'g1' } }, { at = 900, client = 'c2', send = { " \
    "key = 'k', body = 'x', to = 'g2' } } }"
#define SAFE "holds = { 'at_most_once' }, " \
    "eventually = { 'resolves', 'new_keys_succeed' }"

/* Once: SKIP where there is nothing to simulate with. */
void live_rig_open(void);
void live_rig_close(void);

/* It is the caller's, who closes it. */
struct scenario *live_rig_scenario(const struct live_rig_plan *);
/* One run, which is judged by nobody; instances are kept for the next, until
   live_world.end. */
void live_rig_once(const struct plan *, uint64_t seed, struct history *);

struct live_rig_run {
	struct scenario *scenario;
	struct history h;
	struct judge_point point;
	bool odd;		/* no run has such a history */
};

/* One run of it, and what is judged of it.  live_rig_end is the caller's. */
void live_rig_begin(struct live_rig_run *, const struct live_rig_plan *,
    uint64_t seed);
void live_rig_end(struct live_rig_run *);

/*
 * Such a run says nothing: it was cut, or the simulator itself was late, or its
 * fault's moment did not come.  On a busy machine that happens, and nobody is
 * to blame: it is done again, so many times in all.  But what an invariant says
 * against it stands, unless it is hasty (judge.h): of a promise in time.  And
 * an odd history is nobody's haste.
 */
#define LIVE_RIG_TRIES 6
bool live_rig_idle(const struct live_rig_run *);
/* The same of a run that is to be vacuous: that alone is no reason. */
bool live_rig_late(const struct live_rig_run *);

/* How often a key's program was started. */
long live_rig_starts(const struct history *, const char *key);
/* How often the fault of that number was seen to happen. */
unsigned live_rig_fired(const struct live_rig_run *, size_t fault);
/* Store events with that note, or events with that fate. */
long live_rig_notes(const struct history *, const char *note);
/* All of it, as notes. */
void live_rig_tell(const struct live_rig_run *);

#endif
