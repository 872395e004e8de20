/* SPDX-License-Identifier: ISC */
#ifndef FRONT_H
#define FRONT_H

#include "buf.h"
#include "params.h"

/*
 * libfcgi's part (doc/design.md, 5, Reading): what a program is to be given is
 * read a second time, by libfcgi, from a clean copy that we framed.  It never
 * sees a peer's socket.
 */
struct front {
	int memfd;	/* reused for every copy */
	size_t put;	/* bytes in it */
	bool spoilt;	/* its reader may stand before their end */
};

/*
 * Once a process, before its first thread.  The dispositions of signals stay
 * as they were.  -1 and errno.
 */
int front_init(struct front *);

/*
 * Does libfcgi read the same out of these parameters' stream?  False also when
 * memory is out.  Nothing may be started with what two readers do not agree on.
 */
bool front_agrees(struct front *, const struct idem_params *);

/*
 * libfcgi's reading of a whole PARAMS stream.  What is UNREADABLE or cut is
 * never shown to it; but for READ, *params is empty.  Its own FCGI_ROLE is left
 * out: these are the peer's parameters and no others.  Only tests and fuzzers
 * call it: what front_agrees frames is never as odd as a stream of theirs.
 */
enum idem_params_read front_decode(struct front *, uint16_t id,
    struct idem_bytes stream, struct idem_params *);
void front_free(struct front *);

#endif
