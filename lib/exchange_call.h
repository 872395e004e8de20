/* SPDX-License-Identifier: ISC */
#ifndef IDEM_EXCHANGE_CALL_H
#define IDEM_EXCHANGE_CALL_H

#include "exchange.h"

/*
 * Between the exchange's own files: effects that are calls of a store, and what
 * the store says to them, as the gate's events.
 */
idem_port idem_exchange_call_claim;
idem_port idem_exchange_call_complete;
idem_port idem_exchange_call_release;
idem_port idem_exchange_call_mark_unknown;

/* What the last proof brought is not needed any more. */
void idem_exchange_call_forget(struct idem_exchange *);

#endif
