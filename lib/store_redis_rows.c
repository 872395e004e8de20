/* SPDX-License-Identifier: ISC */
#include "store_redis_parts.h"

#include <stdlib.h>
#include <string.h>

void
idem_redis_rows_free(struct idem_redis_rows *rows)
{
	free(rows->at);
	*rows = (struct idem_redis_rows){ 0 };
}

/* Where the key belongs among those that are there; *found: it is. */
static uint32_t
place(const struct idem_redis_rows *rows, const struct idem_digest *key,
    bool *found)
{
	uint32_t low = 0, high = rows->count, mid;
	int order;

	*found = false;
	while (low < high) {
		mid = low + (high - low) / 2;
		order = memcmp(rows->at[mid].key.at, key->at, sizeof key->at);
		if (order == 0) {
			*found = true;
			return mid;
		}
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool
idem_redis_rows_wants(const struct idem_redis_rows *rows,
    const struct idem_digest *key)
{
	bool found;

	if (!rows->sorted)
		return true;
	return memcmp(key->at, rows->after.at, sizeof key->at) > 0 &&
	    place(rows, key, &found) < rows->max && !found;
}

static bool
make_room(struct idem_redis_rows *rows)
{
	size_t room = rows->room > 0 ? 2 * rows->room : 64;
	struct idem_listed *more;

	if (rows->count < rows->room)
		return true;
	more = reallocarray(rows->at, room, sizeof *more);
	if (more == NULL)
		return false;
	rows->at = more;
	rows->room = room;
	return true;
}

bool
idem_redis_rows_add(struct idem_redis_rows *rows,
    const struct idem_listed *row)
{
	bool found = false;
	uint32_t at = rows->sorted ? place(rows, &row->key, &found) :
	    rows->count;

	if (rows->sorted && (found || at == rows->max))
		return true;
	if (rows->sorted && rows->count == rows->max)
		rows->count--;
	if (!make_room(rows))
		return false;
	memmove(rows->at + at + 1, rows->at + at,
	    (rows->count - at) * sizeof *rows->at);
	rows->at[at] = *row;
	rows->count++;
	return true;
}
