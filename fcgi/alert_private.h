/* SPDX-License-Identifier: ISC */
#ifndef ALERT_PRIVATE_H
#define ALERT_PRIVATE_H

#include "alert.h"

/*
 * The inside of alerts, for its own files only:
 *
 *	alert.c			what is told, in shared memory
 *	alert_turn.c		what is due, and its command's life
 *	alert_command.c		what the command is given
 */

/* One saying, read whole. */
struct alert_words {
	uint64_t at_ms;
	uint64_t keyed;
	uint64_t key[SHM_KEY_WORDS];
	uint64_t what[SHM_WHAT_WORDS];
};

/* False: it is being written, who wrote it is dead, or newer ones are in its
   place. */
bool alert_read(struct shm *, unsigned kind, uint64_t number,
    struct alert_words *);
/* What a kind is, where its own words are lost. */
const char *alert_what(enum alert_kind);

/*
 * Start the command for what was told of a kind since told[kind], up to count;
 * more: so many, of which w is the newest.  False: it could not be started.
 */
bool alert_command(struct alert *, unsigned kind, uint64_t count, uint64_t more,
    const struct alert_words *);

#endif
