/* SPDX-License-Identifier: ISC */
#include "settle_private.h"

#include <stdlib.h>
#include <string.h>

/* Owners are random: any two of their bytes are a digest. */
static struct settle_known **
row_of(struct settle_table *t, const struct idem_owner *owner)
{
	unsigned n = (unsigned)owner->at[0] << 8 | owner->at[1];

	return &t->row[n % SETTLE_KNOWN_ROWS];
}

struct settle_known *
settle_known(struct settle_table *t, const struct idem_owner *owner, bool make)
{
	struct settle_known **row = row_of(t, owner), *k;

	for (k = *row; k != NULL; k = k->next)
		if (memcmp(k->owner.at, owner->at, sizeof owner->at) == 0)
			return k;
	if (!make || t->len == SETTLE_KNOWN_MAX)
		return NULL;
	k = calloc(1, sizeof *k);
	if (k == NULL)
		return NULL;
	k->owner = *owner;
	k->next = *row;
	*row = k;
	t->len++;
	return k;
}

void
settle_known_prune(struct settle_table *t, uint32_t round)
{
	struct settle_known **at, *k;
	size_t i;

	for (i = 0; i < SETTLE_KNOWN_ROWS && t->len > 0; i++)
		for (at = &t->row[i]; (k = *at) != NULL; ) {
			if (k->busy || k->round == round) {
				at = &k->next;
				continue;
			}
			*at = k->next;
			free(k);
			t->len--;
		}
}

void
settle_known_free(struct settle_table *t)
{
	struct settle_known *k;
	size_t i;

	for (i = 0; i < SETTLE_KNOWN_ROWS; i++)
		while ((k = t->row[i]) != NULL) {
			t->row[i] = k->next;
			free(k);
		}
	t->len = 0;
}

/* --- pauses --------------------------------------------------------------- */

struct settle_known *
settle_meet(struct settle *s, const struct idem_owner *owner)
{
	struct settle_known *k = settle_known(&s->known, owner, true);

	if (k != NULL && k->since_ms == 0)
		k->since_ms = settle_now_ms(s);
	if (k != NULL)
		k->round = s->round;
	return k;
}

void
settle_busy(struct settle *s, const struct idem_owner *owner, bool busy)
{
	struct settle_known *k = settle_known(&s->known, owner, busy);

	if (k != NULL)
		k->busy = busy;
}

void
settle_later(struct settle *s, const struct idem_owner *owner)
{
	struct settle_known *k = settle_meet(s, owner);

	if (k == NULL)
		return;
	k->tries++;
	k->pause_ms = k->pause_ms == 0 ? SETTLE_MS : 2 * k->pause_ms;
	if (k->pause_ms > SETTLE_PAUSE_MAX_MS)
		k->pause_ms = SETTLE_PAUSE_MAX_MS;
	k->next_ms = settle_now_ms(s) + k->pause_ms;
}
