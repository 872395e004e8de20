/* SPDX-License-Identifier: ISC */
#ifndef KEEPER_ERR_H
#define KEEPER_ERR_H

#include "loop.h"

#include <stdint.h>

/*
 * The keeper's copy of the reading end of a program's standard error.  While a
 * lobby reads it the keeper does not: it would take lines away.  Once none does
 * the keeper does, so that no write of the program fails or waits for ever;
 * what comes goes to the keeper's own standard error, as much of it as of any
 * run to the log, if that takes it at once, and else is lost.
 *
 * A lobby that lives keeps its end until its last word on the run, as the copy
 * here keeps the pipe open: without a reader the program would stop at a full
 * pipe.
 */
#define KEEPER_ERR_MAX (64u * 1024u)

struct keeper_err {
	struct watch watch;	/* fd -1: not reading */
	struct loop *loop;	/* reading: the one that watches it */
	int fd;			/* non-blocking; -1: none */
	uint32_t passed;	/* bytes, up to KEEPER_ERR_MAX */
};

/* Nobody else reads it any more. */
void keeper_err_take(struct keeper_err *, struct loop *);
/* The run is over.  If we are reading, what there still is is passed on. */
void keeper_err_end(struct keeper_err *);

#endif
