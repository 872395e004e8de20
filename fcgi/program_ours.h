/* SPDX-License-Identifier: ISC */
#ifndef PROGRAM_OURS_H
#define PROGRAM_OURS_H

#include "buf.h"
#include "program.h"

/*
 * What we say ourselves to programs of either kind, each "NAME=value" with its
 * NUL: the names that are not the front's, the body's length if there is one,
 * and the key.  Errors stick in the buf.
 */
#define PROGRAM_OURS_MAX 8
void program_ours_write(struct idem_buf *texts, const struct program_more *);

/* The first of them (after NULL), or the next; NULL at their end, and of a buf
   that has failed. */
const char *program_ours_next(const struct idem_buf *texts, const char *text);

#endif
