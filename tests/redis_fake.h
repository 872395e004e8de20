/* SPDX-License-Identifier: ISC */
#ifndef TESTS_REDIS_FAKE_H
#define TESTS_REDIS_FAKE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/*
 * A server of Redis' protocol that does what a script says, in a thread of its
 * own.  A step a string; its first word says what:
 *
 *	accept		the next connection; the last one is closed
 *	expect N	read until N commands are whole, of this connection
 *	say TEXT	all behind the blank, as it is
 *	drip MS TEXT	a byte of it every MS milliseconds
 *	flood N		so many bytes x
 *	close		the connection
 *	reset		the same by a reset (TCP)
 *	gone		the listener too: nobody is there any more
 *	left		read until the peer has closed
 *	hold		until redis_fake_release
 *
 * After the last step all stays open until redis_fake_end.  A peer that leaves
 * early ends say, drip and flood: that is no failure.
 */
#define REDIS_FAKE_STEPS 24

struct redis_fake {
	char url[128];		/* unix:PATH or 127.0.0.1:PORT */
	int port;

	/* What it has seen so far. */
	atomic_int steps;	/* done */
	atomic_int accepts, commands;	/* of all connections */
	char said[512];		/* their words: "GET a|PING|", cut; to be read
				   after commands says that they are there */

	char folder[64];	/* private */
	const char *const *script;
	int listener, connection, stop[2], go[2];
	unsigned held;		/* commands of this connection */
	char in[4096];
	unsigned in_len;
	bool running, failed;
	pthread_t thread;
};

/* It listens, and nobody accepts: backlog as listen(2) has it.  Bail out. */
void redis_fake_unix(struct redis_fake *, int backlog);
void redis_fake_tcp(struct redis_fake *, int backlog);
void redis_fake_play(struct redis_fake *, const char *const *script);
void redis_fake_release(struct redis_fake *);
/* Until so many steps are done, 30 s at most. */
bool redis_fake_await(struct redis_fake *, int steps);
/* At once.  True if all steps were done. */
bool redis_fake_end(struct redis_fake *);

#endif
