/* SPDX-License-Identifier: ISC */
#ifndef NAMES_H
#define NAMES_H

#include "arena.h"

/*
 * Texts and their numbers, from 0, in the order in which they came: a table
 * with one copy of each, in constant time.  Zeroes are an empty one; all of it
 * is in the arena of its user.
 */
struct names {
	const char **at;	/* by number; they stay where they are */
	size_t n;
	size_t *slots, size;	/* private */
};

#define NAMES_NONE ((size_t)-1)

size_t names_find(const struct names *, const char *);	/* or NAMES_NONE */
/* Its number, a new one if nobody had it. */
size_t names_add(struct names *, struct arena *, const char *);

#endif
