/* SPDX-License-Identifier: ISC */
#include "breaker.h"

#include <stdlib.h>
#include <string.h>

void
idem_breaker_init(struct idem_breaker *b, uint32_t failures_max,
    uint32_t window_ms, uint32_t probe_ms)
{
	memset(b, 0, sizeof *b);
	b->failures_max = failures_max;
	b->window_ms = window_ms;
	b->probe_ms = probe_ms;
}

bool
idem_breaker_ask(struct idem_breaker *b, int64_t now_ms)
{
	switch (b->state) {
	case IDEM_BREAKER_UP:
	case IDEM_BREAKER_SUSPECT:
		return true;
	case IDEM_BREAKER_DOWN:
		if (now_ms < b->probe_at_ms)
			return false;
		b->state = IDEM_BREAKER_HALF;
		return true;
	case IDEM_BREAKER_HALF:
		return false;
	}
	abort();
}

void
idem_breaker_ok(struct idem_breaker *b)
{
	/* When DOWN, too: a late answer is still an answer. */
	b->state = IDEM_BREAKER_UP;
	b->failures = 0;
}

/* Probes of many processes must not come at the same moment. */
static void
go_down(struct idem_breaker *b, int64_t now_ms, uint32_t jitter)
{
	int64_t tenth_ms = b->probe_ms / 10;

	b->state = IDEM_BREAKER_DOWN;
	b->since_ms = now_ms;
	b->probe_at_ms = now_ms + b->probe_ms - tenth_ms +
	    2 * tenth_ms * jitter / 1000;
}

static void
count(struct idem_breaker *b, int64_t now_ms, uint32_t jitter)
{
	if (b->failures == 0 || now_ms - b->since_ms > b->window_ms) {
		b->failures = 0;
		b->since_ms = now_ms;
	}
	b->state = IDEM_BREAKER_SUSPECT;
	if (++b->failures >= b->failures_max)
		go_down(b, now_ms, jitter);
}

void
idem_breaker_failed(struct idem_breaker *b, int64_t now_ms, uint32_t jitter)
{
	switch (b->state) {
	case IDEM_BREAKER_UP:
	case IDEM_BREAKER_SUSPECT:
		count(b, now_ms, jitter);
		return;
	case IDEM_BREAKER_DOWN:
		/* Sent before we knew: it must not put the probe off. */
		return;
	case IDEM_BREAKER_HALF:
		go_down(b, now_ms, jitter);
		return;
	}
	abort();
}
