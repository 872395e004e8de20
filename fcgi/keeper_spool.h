/* SPDX-License-Identifier: ISC */
#ifndef KEEPER_SPOOL_H
#define KEEPER_SPOOL_H

#include "keeper.h"
#include "loop.h"

/*
 * What one run writes, collected by its keeper: in memory while it fits there;
 * once it does not, all of it in the run's file (journal.h), as it comes.  What
 * cannot be written is still read, so that the program comes to its end.
 */
#define KEEPER_READ_MAX (64u * 1024u)
#define KEEPER_PIPE_SIZE (256 * 1024)	/* half as fast again as 64 KB */

struct keeper_spool {
	struct watch pipe;	/* our end; fd -1: nothing more comes */
	int file;		/* the run's; borrowed */
	struct idem_run_out out;
	uint64_t len;		/* bytes that came */
	uint8_t *kept;		/* all of them, while they fit; NULL: none */
	bool spilled;		/* they do not: they are in the file */
	int error;		/* not 0: what is there is void */
	bool wide;		/* the pipe was made larger */
};

/*
 * Make the pipe and watch our end; pipe.ready is set before.  The other end
 * blocks, as programs expect, and is the caller's.  0; -1 and errno: there is
 * nothing to be freed.
 */
int keeper_spool_open(struct keeper_spool *, struct loop *, int file,
    const struct idem_owner *, int *write_end);

/*
 * Read once, at most max (up to KEEPER_READ_MAX) bytes, without waiting; true
 * if there were any.  closed: nobody can write any more.
 */
bool keeper_spool_read(struct keeper_spool *, struct loop *, size_t max,
    bool closed);

/*
 * The run is over: the rest and the trailer go to the file, nothing more is
 * read.  The trailer's status and limit are set before.  How it went is said in
 * the end.
 */
void keeper_spool_end(struct keeper_spool *, struct loop *,
    struct idem_trailer *, int64_t boot_ms, struct run_end *);

/* Of zeroes with a pipe.fd of -1, too. */
void keeper_spool_free(struct keeper_spool *, struct loop *);

#endif
