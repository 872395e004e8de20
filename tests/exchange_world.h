/* SPDX-License-Identifier: ISC */
#ifndef TESTS_EXCHANGE_WORLD_H
#define TESTS_EXCHANGE_WORLD_H

#include "exchange.h"

/*
 * A small world for one exchange: ports that write down what they are asked,
 * the memory store behind one that fails as it is told, and a clock that
 * stands still but for pauses.
 */

/* A call that has been started, and what becomes of it. */
struct world_call {
	struct world *world;
	struct idem_store_call call;
	char fate;
	bool taken;
};

struct world_row {
	const char *what;
	const struct idem_policy *policy;
	const char *before;	/* the key's record: see world_before */
	const char *fates;	/* a letter a call of the store: . as the store
				   says, r refused, m maybe and applied, n
				   maybe and not, d at the word "deliver" */
	const char *happens;	/* words: see happen() */
	const char *asks;
	const char *after;	/* state, attempt and owner; "absent" */
};

struct world {
	struct idem_exchange x;		/* first: a port is given this */
	struct idem_store fake;
	struct idem_store *memory;
	struct idem_clock clock;
	int64_t now_ms;

	const struct world_row *row;
	const char *happens;		/* what is left of the row's */
	unsigned calls;			/* of the store */
	struct world_call call[2];
	struct idem_store_call last;	/* the last CLAIM that may win */
	char asks[1024];
	bool renewing;			/* a pause of a RENEW is on */
	bool left;			/* the client has */
	int got, unused, used;		/* slots */
	int ends, after_end;		/* and what was asked after the end */
	int64_t claim_sent_ms, since_ms;	/* the exchange's, at its end */
	enum idem_op settled;
	bool others_now;
	int64_t kept_ms, stays_ms;	/* of the last COMPLETE: its answer;
					   then its tombstone */
	uint32_t attempt;
};

#define WORLD_WALL_MS 1000000
#define WORLD_KEEP_MS 1000	/* of the route */
#define WORLD_KEEP_MIN_MS 400
#define WORLD_TOMBSTONE_MS 2000
#define WORLD_ADOPTED_MS 700	/* of the other's */
#define WORLD_OURS 'A'		/* every byte of our owner */
#define WORLD_OTHER 'B'		/* and of the other's */

/* Lead the row's exchange to its end, or as far as its words go. */
void world_run(struct world *, const struct world_row *);
/* The key's record, as in a row's `after`. */
const char *world_after(struct world *, char *to, size_t size);
void world_free(struct world *);

/* --- exchange_store.c, for exchange_world.c ------------------------------- */

/* Is this the next word of what happens?  Then it is taken. */
bool world_next_is(struct world *, const char *word);
/* Write down what has been asked. */
void world_asked(struct world *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct idem_blob *world_saved(const char *body, bool kept);

/* The store that writes down and fails; of struct world's `fake`. */
extern const struct idem_store_ops world_fake;
/* True if there was something to answer. */
bool world_carry_out(struct world_call *);

/*
 * A key whose first run was the other's: absent, in-progress, unknown,
 * completed, not-kept, no-answer (completed without) or garbage (as answer).
 */
void world_before(struct world *, const char *how);
/* A call behind the exchange's back; the blob is taken. */
enum idem_write world_act(struct world *, enum idem_store_op, char owner,
    char other, struct idem_blob *);

#endif
