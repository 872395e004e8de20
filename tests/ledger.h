/* SPDX-License-Identifier: ISC */
#ifndef TESTS_LEDGER_H
#define TESTS_LEDGER_H

#include "store_trace.h"

/* The ledger of a test, without a daemon: a file and what stands beside it. */

void ledger_remove(const char *path);	/* if it is there */
/* A new one in its place; bails out. */
void ledger_make(const char *path);
/* Open it under the trace's clock and boot; bails out. */
struct idem_store *ledger_open(struct trace *, const char *path);

#endif
