/* SPDX-License-Identifier: ISC */
#ifndef MASTER_PRIVATE_H
#define MASTER_PRIVATE_H

#include "workers.h"

/*
 * The inside of the master, for its own files only:
 *
 *	master.c		life: start, turns, stop
 *	master_reload.c		a new configuration
 *	master_routes.c		what the routes ask for
 */

/* SIGHUP: all of the new configuration, or nothing of it and a log line. */
void master_reload(struct master *);

/* What applies to each, into the log, so that it is seen before it matters. */
void master_routes_say(struct master *);
/* There is a memory if a route of this one wants it.  False, and a sentence. */
bool master_routes_memory(struct master *, const struct conf *, char *error,
    size_t error_size);

#endif
