/* SPDX-License-Identifier: ISC */
#include "arena.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 4096u		/* the least */
#define BLOCK_MAX (256u * 1024u)	/* that small pieces share */
#define ALIGN alignof(max_align_t)
#define FEWEST 4u		/* the first room of an array */

struct arena_block {
	struct arena_block *before;
	size_t used, size;	/* of what comes behind this */
	alignas(max_align_t) unsigned char at[];
};

void
arena_must_have(bool memory)
{
	if (memory)
		return;
	fputs("idemsim: there is no memory left\n", stderr);
	exit(70);
}

/* Zeroed, as all of it is handed out only once. */
static struct arena_block *
block(struct arena *a, size_t len)
{
	size_t size = a->last != NULL ? 2 * a->last->size : BLOCK;
	struct arena_block *b;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < len)
		size = len;
	b = calloc(1, sizeof *b + size);
	arena_must_have(b != NULL);
	b->size = size;
	b->before = a->last;
	a->last = b;
	return b;
}

void *
arena_get(struct arena *a, size_t len)
{
	struct arena_block *b = a->last;
	void *at;

	arena_must_have(len <= SIZE_MAX / 4);
	len = (len + ALIGN - 1) / ALIGN * ALIGN;
	if (b == NULL || b->size - b->used < len)
		b = block(a, len);
	at = b->at + b->used;
	b->used += len;
	return at;
}

char *
arena_copy(struct arena *a, const char *at, size_t len)
{
	char *copy = arena_get(a, len + 1);

	if (len > 0)
		memcpy(copy, at, len);
	return copy;
}

char *
arena_text(struct arena *a, const char *text)
{
	return arena_copy(a, text, strlen(text));
}

char *
arena_format(struct arena *a, const char *format, ...)
{
	char some[200], *text;
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(some, sizeof some, format, args);
	va_end(args);
	arena_must_have(len >= 0);
	if ((size_t)len < sizeof some)
		return arena_copy(a, some, (size_t)len);
	text = arena_get(a, (size_t)len + 1);
	va_start(args, format);
	vsnprintf(text, (size_t)len + 1, format, args);
	va_end(args);
	return text;
}

/* Its room is FEWEST, or the next power of two: n alone says if it is full. */
void *
arena_more(struct arena *a, void *array, size_t *n, size_t size)
{
	unsigned char *at, *old;
	size_t room;

	memcpy(&old, array, sizeof old);
	at = old;
	if (*n == 0 || (*n >= FEWEST && (*n & (*n - 1)) == 0)) {
		room = *n == 0 ? FEWEST : 2 * *n;
		arena_must_have(room <= SIZE_MAX / 4 / size);
		at = arena_get(a, room * size);
		if (*n > 0)
			memcpy(at, old, *n * size);
		memcpy(array, &at, sizeof at);
	}
	return at + size * (*n)++;
}

void
arena_free(struct arena *a)
{
	struct arena_block *b = a->last, *before;

	for (; b != NULL; b = before) {
		before = b->before;
		free(b);
	}
	a->last = NULL;
}
