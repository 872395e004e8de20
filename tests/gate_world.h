/* SPDX-License-Identifier: ISC */
#ifndef TESTS_GATE_WORLD_H
#define TESTS_GATE_WORLD_H

#include "gate_witness.h"
#include "idem.h"

#define GATE_WORLD_EVENTS_MAX 128

/* All that the world outside may answer next. */
struct gate_world {
	struct idem_event ev[GATE_WORLD_EVENTS_MAX];
	unsigned n;
};

/*
 * Each event that may come to a gate of which a witness saw this, at once and
 * after all deadlines.  Times are from now on.
 */
void gate_world_answers(const struct idem_gate *, const struct gate_witness *,
    struct gate_world *);

#endif
