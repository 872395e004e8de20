/* SPDX-License-Identifier: ISC */
#ifndef SCENARIO_ACTION_H
#define SCENARIO_ACTION_H

#include "scenario_lua.h"

/*
 * For scenario_action*.c alone: an action while it is read.  Each of these puts
 * what it reads into `a`, and raises what is wrong (scenario_wrong).
 */
struct scenario_doing {
	struct scenario_at at;	/* the list of what the word was given */
	const struct scenario_word *word;
	struct plan_action *a;	/* its kind is set */
};

/* All of one that is done to a link. */
void scenario_action_net(const struct scenario_doing *);
/* The options at an argument: which messages of a link or store.  `times`: how
   many, if they do not say it; 0: all. */
void scenario_action_messages(const struct scenario_doing *, int argument,
    unsigned times);
/* The second argument: the first word of what Redis would answer. */
void scenario_action_error(const struct scenario_doing *);

#endif
