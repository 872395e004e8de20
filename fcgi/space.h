/* SPDX-License-Identifier: ISC */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Is there room to write down what a run comes to?  A run whose end cannot be
 * written is one that nobody may ever know of, so it is not begun.
 */
#define SPACE_MS 1000		/* what was found is believed so long */
#define SPACE_FOLDERS 2

struct space {
	uint64_t reserve;	/* bytes; 0: not looked at */
	int folder[SPACE_FOLDERS];	/* -1: none */
	int64_t next_ms;	/* 0: not looked yet */
	bool is_short;
};

/* ledger: its path, or NULL; run: the run folder, borrowed, or -1. */
void space_init(struct space *, const char *ledger, int run, uint64_t reserve);
void space_free(struct space *);
bool space_short(struct space *, int64_t now_ms);

#endif
