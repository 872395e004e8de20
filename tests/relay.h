/* SPDX-License-Identifier: ISC */
#ifndef TESTS_RELAY_H
#define TESTS_RELAY_H

#include <stdint.h>
#include <sys/types.h>

/*
 * A process between a client and a server on unix sockets, so that the one can
 * be cut off from the other and nobody else is.  It dies with the test.
 *
 *	relay_open(&relay, path, redis.socket);
 *	... unix:path in place of the server's ...
 *	relay_cut(&relay);
 *	relay_mend(&relay);
 *	relay_close(&relay);
 */
struct relay {
	pid_t pid;		/* 0: none runs */
	volatile int32_t *delay_ms;	/* to be set: of all that passes, each
					   way; shared with it */
};

/* Bails out if it cannot. */
void relay_open(struct relay *, const char *path, const char *server);
/* Nothing passes any more: no byte and no end of a connection. */
void relay_cut(struct relay *);
/* What lies there passes now. */
void relay_mend(struct relay *);
void relay_close(struct relay *);

#endif
