/* SPDX-License-Identifier: ISC */
#ifndef TESTS_GATE_OP_H
#define TESTS_GATE_OP_H

#include "idem.h"

const char *gate_op_text(enum idem_op);	/* "mark-unknown" */

#endif
