/* SPDX-License-Identifier: ISC */
#ifndef HISTORY_PRIVATE_H
#define HISTORY_PRIVATE_H

#include "history.h"

/* A text that is there once, and the lane that it names. */
struct history_word {
	const char *text;	/* NULL: a free place */
	uint32_t lane;		/* from 1; 0: it names none */
};

struct history_private {
	struct history_word *words;	/* open addressing; a power of two */
	size_t places, words_n;
	size_t room;		/* of events */
	int64_t last_ns;	/* the latest that was given */
	bool late;		/* some are not in their places yet */
};

#define HISTORY_LANES_MAX 65535u

/* The text's place; borrowed until the next text comes.  Its lane is made where
   there is none yet. */
struct history_word *history_word(struct history *, const char *);
uint32_t history_lane(struct history *, const char *);

/* --- as a file has it (history_member.c) ---------------------------------- */

bool history_kind_find(const char *, enum history_kind *);
bool history_end_find(const char *, enum outcome_end *);

#define HISTORY_FMT 1
#define HISTORY_T_MAX_NS (INT64_C(1) << 59)	/* 18 years; sums fit */
#define HISTORY_LINE_MAX (1u << 20)

/* A member of an event, or of the head, and its name in a file. */
struct history_member {
	const char *name;	/* NULL ends a list */
	enum history_member_kind {
		HISTORY_M_TEXT, HISTORY_M_INT, HISTORY_M_UNSIGNED,
		HISTORY_M_SIZE, HISTORY_M_LONG, HISTORY_M_FLAG, HISTORY_M_BOUND
	} kind;
	size_t at;
	int64_t none;		/* then it is left out */
};
const struct history_member *history_event_members(void);
const struct history_member *history_head_members(void);
/* Of numbers and flags; of an event or a head.  false: it does not fit. */
int64_t history_member_get(const struct history_member *, const void *of);
bool history_member_set(const struct history_member *, void *of, int64_t);
const char *history_member_text(const struct history_member *, const void *of);

#endif
