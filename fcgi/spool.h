/* SPDX-License-Identifier: ISC */
#ifndef SPOOL_H
#define SPOOL_H

#include "buf.h"

#define SPOOL_MEMORY (64u * 1024u)

/*
 * Bytes kept until they are whole: in memory, then in an unlinked file.
 * spool_init, then add; errors stick (a full disk among them).
 */
struct spool {
	struct idem_buf memory;
	size_t memory_max;	/* then the file takes all */
	uint64_t len;
	int fd;			/* -1: all in memory */
	bool failed;
};

void spool_init(struct spool *, size_t memory_max);
void spool_add(struct spool *, struct idem_bytes);
/*
 * A descriptor to read it from the start, the caller's; close-on-exec.  The
 * spool is empty then.  -1 and errno.
 */
int spool_fd(struct spool *);
/*
 * The same for a program's standard input: what is short comes from a pipe, as
 * web servers give it.
 */
int spool_input(struct spool *);
/* For a program's standard input, which may be wanted once more: the spool
   stays as it is. */
int spool_input_copy(const struct spool *);
/* len bytes of a file from there on, all of them or false. */
bool spool_read_at(int fd, void *at, size_t len, uint64_t from);
/* All of it: borrowed from the spool while it is in memory, else appended to an
   empty buf, in which errors stick. */
struct idem_bytes spool_whole(const struct spool *, struct idem_buf *);
void spool_free(struct spool *);

#endif
