/* SPDX-License-Identifier: ISC */
#ifndef TESTS_SIM_RIG_H
#define TESTS_SIM_RIG_H

#include "caller.h"
#include "instance.h"
#include "server.h"

/*
 * An instance of a test's own, perhaps with a store.  What cannot be started
 * bails out.
 */
#define SIM_UP_MS 20000		/* until it is there */

struct sim_rig {
	struct plan plan;
	struct plan_store store;
	char folder[64], ledger[96], effects[96], keys[96];
	struct server server;
	struct instance instance;
	struct instance_spec spec;
	unsigned lines, ends;	/* that were told */
	struct child *ended;	/* the last of them */
};

/* Once: SKIP where there is no idemd to simulate with.  Then nothing of it must
   be left at the end. */
extern struct loop *sim_loop;
void sim_rig_open(void);
void sim_rig_close(void);

/* One worker, a ledger of its own, and a program that takes 1 ms. */
void sim_rig_prepare(struct sim_rig *);
/* Then: a store, as the arbiter, or beside the ledger. */
void sim_rig_store(struct sim_rig *, enum plan_arbiter);
void sim_rig_start(struct sim_rig *);
void sim_rig_stop(struct sim_rig *);

int64_t sim_rig_now_us(void);
/* One POST to it; *over once it is done.  call_free is the caller's. */
void sim_rig_begin(struct sim_rig *, struct call *, const char *key,
    bool *over);
void sim_rig_await(bool *over);
/* The status; mark is Idempotency-Status. */
int sim_rig_ask(struct sim_rig *, const char *key, char mark[32]);
/* Lines of the journal of effects with that in them, now; or so many of them,
   in time. */
long sim_rig_effects(const struct sim_rig *, const char *part);
bool sim_rig_await_effects(const struct sim_rig *, const char *part, long n);
bool sim_rig_processes(struct sim_rig *, size_t n);	/* in time */

#endif
