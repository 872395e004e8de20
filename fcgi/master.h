/* SPDX-License-Identifier: ISC */
#ifndef MASTER_H
#define MASTER_H

#include "options.h"

/*
 * The master: it opens the socket and the shared memory, starts a lobby and a
 * keeper for each worker, and starts them again when they die: at once, then
 * after 10 ms, doubling to 500 ms, from the beginning after 5 s alive.
 *
 * SIGTERM or SIGINT: what runs is finished, nothing new begins; a second one
 * ends everything at once.  Gives the exit status.
 */
int master_main(const struct options *);

#endif
