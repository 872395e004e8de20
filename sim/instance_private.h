/* SPDX-License-Identifier: ISC */
#ifndef INSTANCE_PRIVATE_H
#define INSTANCE_PRIVATE_H

#include "instance.h"

/*
 * The inside of an instance:
 *
 *	instance.c		its life
 *	instance_conf.c		idem.conf, and lighttpd's
 *	instance_part.c		its processes
 *	instance_ctl.c		idemctl
 */
#define INSTANCE_KILLED 64

struct instance_private {
	struct loop *loop;
	struct instance_spec spec;
	const char *idemd;	/* its path */
	char socket[120];	/* idemd's own */
	char conf[120], front_conf[120];
	int log;		/* its file */
	size_t workers;		/* that it has told of, in this life */
	unsigned rests;		/* looks in a row at which it was at rest */
	int64_t accepts_ms;	/* since when it accepts; 0: not yet */
	pid_t killed[INSTANCE_KILLED];	/* parts; the oldest is overwritten */
	size_t kills;
};

/* Its folder below that of the run, and what it listens on. */
void instance_folder(const struct instance_spec *, char *out, size_t size);
void instance_socket(const struct instance_spec *, char *out, size_t size);

void instance_conf_front(const struct instance *, struct idem_buf *out);

/* Its lobbies and keepers are all there, and asleep. */
bool instance_rests(const struct instance *);

#endif
