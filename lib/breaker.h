/* SPDX-License-Identifier: ISC */
#ifndef IDEM_BREAKER_H
#define IDEM_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether a store is worth asking.  Pure and advisory: it changes how fast we
 * say no, never who arbitrates.
 *
 *	UP --failure--> SUSPECT --failures_max within window_ms--> DOWN
 *	 ^                 | ok                                     | probe due
 *	 +-----------------+<-------------- ok --- HALF <-----------+
 *	                                            | failure --> DOWN
 */
enum idem_breaker_state {
	IDEM_BREAKER_UP,
	IDEM_BREAKER_SUSPECT,
	IDEM_BREAKER_DOWN,
	IDEM_BREAKER_HALF
};

struct idem_breaker {
	enum idem_breaker_state state;
	uint32_t failures, failures_max;	/* default 3 */
	uint32_t window_ms;			/* default 1000 */
	uint32_t probe_ms;			/* default 10000 */
	int64_t since_ms;	/* first failure of the window, or DOWN since */
	int64_t probe_at_ms;	/* DOWN: the next probe */
};

void idem_breaker_init(struct idem_breaker *, uint32_t failures_max,
    uint32_t window_ms, uint32_t probe_ms);

/*
 * May one be sent now?  When DOWN and the probe is due, one caller gets true
 * and the breaker is HALF until its outcome is told.
 */
bool idem_breaker_ask(struct idem_breaker *, int64_t now_ms);

/*
 * An ok ends an outage however late it comes.  jitter: 0 to 999, the caller's
 * chance; spreads the next probe by +-10 %.
 */
void idem_breaker_ok(struct idem_breaker *);
void idem_breaker_failed(struct idem_breaker *, int64_t now_ms,
    uint32_t jitter);

#endif
