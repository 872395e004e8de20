/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_MOVE_H
#define TESTS_CHAOS_MOVE_H

#include "chaos_world.h"

/* For so long slots of a cluster move to one of its masters.  How many have. */
unsigned chaos_move_slots(struct chaos_world *, uint32_t *chance, int64_t ms);

#endif
