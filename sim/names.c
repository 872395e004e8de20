/* SPDX-License-Identifier: ISC */
#include "names.h"

#include <stdint.h>
#include <string.h>

#define SIZE_MIN 64		/* a power of two, as all sizes */

/* FNV-1a; the same on every machine, so that work is too. */
static size_t
hash(const char *text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (; *text != '\0'; text++)
		h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return (size_t)(h ^ h >> 32);
}

/* Where it is, or the empty slot where it would be; a slot is a number + 1. */
static size_t *
slot(const struct names *names, const char *text)
{
	size_t i = hash(text) & (names->size - 1);

	while (names->slots[i] != 0 &&
	    strcmp(names->at[names->slots[i] - 1], text) != 0)
		i = (i + 1) & (names->size - 1);
	return &names->slots[i];
}

size_t
names_find(const struct names *names, const char *text)
{
	size_t number = names->size > 0 ? *slot(names, text) : 0;

	return number > 0 ? number - 1 : NAMES_NONE;
}

static void
grow(struct names *names, struct arena *arena)
{
	size_t i;

	names->size = names->size > 0 ? 2 * names->size : SIZE_MIN;
	names->slots = arena_get(arena, names->size * sizeof *names->slots);
	for (i = 0; i < names->n; i++)
		*slot(names, names->at[i]) = i + 1;
}

size_t
names_add(struct names *names, struct arena *arena, const char *text)
{
	const char **at;
	size_t *where;

	if (2 * names->n >= names->size)
		grow(names, arena);
	where = slot(names, text);
	if (*where != 0)
		return *where - 1;
	at = arena_more(arena, &names->at, &names->n, sizeof *names->at);
	*at = arena_text(arena, text);
	*where = names->n;
	return names->n - 1;
}
