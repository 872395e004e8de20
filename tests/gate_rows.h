/* SPDX-License-Identifier: ISC */
#ifndef TESTS_GATE_ROWS_H
#define TESTS_GATE_ROWS_H

#include "idem.h"

/* One row per path through the gate: what happens, what is asked for, both in
   the words of gate_words.h. */
struct gate_row {
	const char *what;
	const struct idem_policy *policy;
	const char *happens;
	const char *asks;
};

/* A row without what ends each. */
extern const struct gate_row gate_rows_before[];	/* leads to a run */
extern const struct gate_row gate_rows_after[];		/* follows one */
extern const struct gate_row gate_rows_away[];		/* stores fail */

#endif
