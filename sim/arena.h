/* SPDX-License-Identifier: ISC */
#ifndef ARENA_H
#define ARENA_H

#include <stdbool.h>
#include <stddef.h>

/* Where there is no memory the simulator ends with 70, as it may. */
void arena_must_have(bool memory);

/*
 * Memory that goes all at once: a plan's, a history's; it is always there.
 * Zeroes are an empty one.
 */
struct arena {
	struct arena_block *last;	/* private */
};

/* Zeroed, aligned for anything; good until arena_free. */
void *arena_get(struct arena *, size_t len);
/* A copy of n bytes with a NUL behind; of a string; of a format. */
char *arena_copy(struct arena *, const char *, size_t len);
char *arena_text(struct arena *, const char *);
char *arena_format(struct arena *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/*
 * Room for one more in an array of *n elements of that size.  `array` is the
 * address of the pointer to its first element, which changes when the array
 * moves (NULL while *n is 0); its room doubles.  Gives the new element, zeroed,
 * and counts it.  No other function may have made the array.
 */
void *arena_more(struct arena *, void *array, size_t *n, size_t size);
void arena_free(struct arena *);	/* empty again */

#endif
