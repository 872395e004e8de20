/* SPDX-License-Identifier: ISC */
#include "load_private.h"

#include <assert.h>
#include <string.h>

#define ROOM_MIN 64

static bool
is_before(const struct load_due *a, const struct load_due *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->turn < b->turn;
}

/* It shrinks and grows, so its room is counted apart. */
static void
make_room(struct load_dues *d, struct arena *arena)
{
	size_t room = d->room > 0 ? 2 * d->room : ROOM_MIN;
	struct load_due *at;

	if (d->n < d->room)
		return;
	at = arena_get(arena, room * sizeof *at);
	if (d->n > 0)
		memcpy(at, d->at, d->n * sizeof *at);
	d->at = at;
	d->room = room;
}

void
load_due_add(struct load_dues *d, struct arena *arena,
    const struct load_due *due)
{
	struct load_due new = *due;
	size_t i, up;

	make_room(d, arena);
	new.turn = ++d->turns;
	for (i = d->n++; i > 0; i = up) {
		up = (i - 1) / 2;
		if (is_before(&d->at[up], &new))
			break;
		d->at[i] = d->at[up];
	}
	d->at[i] = new;
}

struct load_due
load_due_take(struct load_dues *d)
{
	struct load_due first = d->at[0], last;
	size_t i, down;

	assert(d->n > 0);
	last = d->at[--d->n];
	for (i = 0; (down = 2 * i + 1) < d->n; i = down) {
		if (down + 1 < d->n &&
		    is_before(&d->at[down + 1], &d->at[down]))
			down++;
		if (is_before(&last, &d->at[down]))
			break;
		d->at[i] = d->at[down];
	}
	d->at[i] = last;
	return first;
}
