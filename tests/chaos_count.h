/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CHAOS_COUNT_H
#define TESTS_CHAOS_COUNT_H

#include "chaos_world.h"
#include "digest.h"
#include "token.h"

/*
 * What clients were told of each operation, and how often its program was
 * started.  Nothing here does I/O but for the file of starts.
 */

/* One answer, by what it says. */
enum chaos_answer {
	CHAOS_STORED,
	CHAOS_REPLAYED,
	CHAOS_UNPROTECTED,
	CHAOS_UNRECORDED,
	CHAOS_NOT_STARTED,
	CHAOS_IN_PROGRESS,
	CHAOS_UNKNOWN,		/* 409 */
	CHAOS_VOID,		/* 409 void-token */
	CHAOS_NOT_KEPT,		/* 409 */
	CHAOS_CUT,		/* 502, 504: it may have run */
	CHAOS_NOTHING,		/* the connection broke */
	CHAOS_ODD,		/* any other: there should be none */
	CHAOS_ANSWERS
};

const char *chaos_answer_text(enum chaos_answer);

struct chaos_op {
	char key[IDEM_TOKEN_TEXT + 1];	/* "": it has no token yet */
	bool final;		/* a stored or replayed answer has been read */
	uint8_t first[IDEM_DIGEST_LEN];	/* the first of these */
	uint32_t sent, not_started, told;	/* told: the program's answer */
	uint32_t starts;
};

/* Of all operations. */
struct chaos_count {
	uint64_t answers[CHAOS_ANSWERS];
	uint32_t keys;		/* that were sent at least once */
	uint32_t told;		/* keys to which the program's answer came */
	uint32_t starts, twice, most;	/* twice: keys, twice or more */
	uint32_t other;		/* answers that differ from a final one that was
				   read before */
	uint32_t forgotten;	/* 409 unknown, void-token or not-kept to who
				   asked after it was read; neither 503 nor
				   in-progress, with which they ask again */
	uint32_t foreign;	/* another key's answer, or not whole */
	uint32_t false_503;	/* keys with more starts than requests that may
				   have had one */
	uint32_t untrue;	/* keys with an answer and without a start */
	uint32_t strays;	/* starts of no key */
	uint32_t unsettled;	/* keys without an answer when all is quiet */
	uint32_t unknown;	/* keys of which it is 409 unknown */
	char shown[8][300];	/* the first few that may not be */
	uint32_t shown_len;
};

/* How long its program takes, and how much it says besides its line. */
unsigned chaos_op_sleep_ms(uint32_t number);
unsigned chaos_op_size(uint32_t number);

/* after: a final answer had been read when this was asked for. */
enum chaos_answer chaos_judge(struct chaos_count *, struct chaos_op *,
    uint32_t number, const struct rig_answer *, bool after);

/* When all is quiet: the starts, and what they prove. */
void chaos_count_starts(struct chaos_count *, struct chaos_world *,
    struct chaos_op *, uint32_t len);

#endif
