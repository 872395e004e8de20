/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_ASKS_H
#define TESTS_CHAOS_ASKS_H

#include <stdbool.h>
#include <stdint.h>

/* What clients want, and when: a wheel of ticks, some 16 s ahead. */
#define CHAOS_TICK_MS 8
#define CHAOS_TICKS 2048u
#define CHAOS_NOBODY UINT32_MAX
#define CHAOS_ANY UINT8_MAX

/* One client's wish, until it has an answer. */
struct chaos_ask {
	uint32_t op, next;	/* next: private */
	uint16_t tries;
	uint8_t instance;	/* or CHAOS_ANY */
	bool mint;		/* it asks for the token first */
};

struct chaos_asks {
	struct chaos_ask *at;	/* by number */
	uint32_t max;
	uint32_t open;		/* not ended */
	uint32_t due;		/* the first of those; CHAOS_NOBODY */
	uint32_t free, wheel[CHAOS_TICKS];	/* private */
	int64_t tick;
};

void chaos_asks_open(struct chaos_asks *, uint32_t max);
void chaos_asks_close(struct chaos_asks *);

/* A new one, which is not due yet.  There must be room: open < max. */
uint32_t chaos_asks_new(struct chaos_asks *, uint32_t op);
void chaos_asks_end(struct chaos_asks *, uint32_t ask);
/* It is due then; 0: now. */
void chaos_asks_after(struct chaos_asks *, uint32_t ask, uint32_t delay_ms);
/* What has come due by now. */
void chaos_asks_turn(struct chaos_asks *);
/* One that is due, which is not any more; CHAOS_NOBODY. */
uint32_t chaos_asks_take(struct chaos_asks *);

#endif
