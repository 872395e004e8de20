/* SPDX-License-Identifier: ISC */
#include "chaos_asks.h"

#include "rig.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

void
chaos_asks_open(struct chaos_asks *a, uint32_t max)
{
	uint32_t i;

	memset(a, 0, sizeof *a);
	a->at = calloc(max, sizeof *a->at);
	if (a->at == NULL)
		bail_out("out of memory");
	a->max = max;
	for (i = 0; i < max; i++)
		a->at[i].next = i + 1 < max ? i + 1 : CHAOS_NOBODY;
	for (i = 0; i < CHAOS_TICKS; i++)
		a->wheel[i] = CHAOS_NOBODY;
	a->due = CHAOS_NOBODY;
	a->tick = rig_now_ms() / CHAOS_TICK_MS;
}

void
chaos_asks_close(struct chaos_asks *a)
{
	free(a->at);
}

uint32_t
chaos_asks_new(struct chaos_asks *a, uint32_t op)
{
	uint32_t ask = a->free;

	a->free = a->at[ask].next;
	a->open++;
	a->at[ask] = (struct chaos_ask){ .op = op, .instance = CHAOS_ANY };
	return ask;
}

void
chaos_asks_end(struct chaos_asks *a, uint32_t ask)
{
	a->at[ask].next = a->free;
	a->free = ask;
	a->open--;
}

static void
put(struct chaos_asks *a, uint32_t *list, uint32_t ask)
{
	a->at[ask].next = *list;
	*list = ask;
}

void
chaos_asks_after(struct chaos_asks *a, uint32_t ask, uint32_t delay_ms)
{
	uint32_t ticks = delay_ms / CHAOS_TICK_MS + 1;

	if (delay_ms == 0)
		put(a, &a->due, ask);
	else
		put(a, &a->wheel[((uint64_t)a->tick + (ticks < CHAOS_TICKS ?
		    ticks : CHAOS_TICKS - 1)) % CHAOS_TICKS], ask);
}

void
chaos_asks_turn(struct chaos_asks *a)
{
	int64_t now = rig_now_ms() / CHAOS_TICK_MS;
	uint32_t *slot, ask;

	for (; a->tick < now; a->tick++) {
		slot = &a->wheel[(uint64_t)(a->tick + 1) % CHAOS_TICKS];
		while ((ask = *slot) != CHAOS_NOBODY) {
			*slot = a->at[ask].next;
			put(a, &a->due, ask);
		}
	}
}

uint32_t
chaos_asks_take(struct chaos_asks *a)
{
	uint32_t ask = a->due;

	if (ask != CHAOS_NOBODY)
		a->due = a->at[ask].next;
	return ask;
}
