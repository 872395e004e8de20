/* SPDX-License-Identifier: ISC */
#ifndef STOPS_H
#define STOPS_H

#include "loop.h"

#include <stdbool.h>
#include <sys/types.h>

/*
 * Labelled points of idemd and of idemsim's program: who comes to one that is
 * asked for tells so here and waits for a word (lib/label.h has the other end).
 * The protocol, over a SOCK_SEQPACKET unix socket, a connection a thread:
 *
 *	to us:	"LABEL KEY PID LANE"	(KEY: store key in hex, or "-";
 *		LANE: IDEMSIM_LANE, or "-")
 *	back:	"go", "sleep MS", "kill", "stop", "fail ERRNO"
 *
 * or "LABEL KEY PID LANE told", and nothing comes back.  A point that nobody
 * asked for costs a look at a short list.
 */
struct stops;
struct stop {			/* one that waits for its word */
	const char *label, *key, *lane;
	pid_t pid;
	unsigned id;		/* 0: he does not wait, and only tells */
};

/* The user gives the word by stops_go or its like, at once or later; if it ends
   meanwhile, nothing need be said.  stops_fail: false: nobody waits there, for
   instance because he has had his word. */
struct stops *stops_open(struct loop *, const char *path,
    void (*reached)(void *arg, const struct stop *), void *arg);
void stops_go(struct stops *, unsigned id);
bool stops_fail(struct stops *, unsigned id, int error);
/* 0; errno: we had no means to take somebody who came, and take nobody more. */
int stops_error(const struct stops *);
void stops_close(struct stops *);	/* all that wait go on */

#endif
