/* SPDX-License-Identifier: ISC */
#ifndef TESTS_BACKEND_APP_H
#define TESTS_BACKEND_APP_H

#include "buf.h"

#include <sys/types.h>

/*
 * A FastCGI application that does what a script says, in a process of its own.
 * Words in capitals are records (fcgi_words.h); those that stand together are
 * one write.  The others:
 *
 *	accept		the next connection; the last one is closed
 *	skip:N		accept N connections and close them
 *	params		read up to the end of PARAMS
 *	some:N		read N bytes of STDIN at least
 *	body		read STDIN to its end
 *	out:N errs:N	N bytes of the pattern in STDOUT or STDERR, in records
 *			of many sizes and paddings
 *	drip:N		N bytes of STDOUT, 20 ms apart
 *	deaf		shut our reading side
 *	close		the connection, and gone: the listener
 *	left		read until the peer has closed
 *	wait		until app_go
 */
struct app_seen {	/* shared with the process */
	volatile int words;	/* that are done */
	volatile int accepts, requests;
	volatile bool keep;	/* KEEP_CONN of the last request */
	volatile bool cut;	/* the peer did not take all we wrote */
	volatile uint64_t params_len, params_hash;	/* of the last one */
	volatile uint64_t body_len;
	volatile bool body_wrong;	/* is not the pattern */
	volatile bool over;
	char wrong[64];		/* why it gave up */
};

struct app {
	char address[128];
	const char *path;	/* unix: within it */
	int listener, go;
	int held;		/* a TCP port, which is nobody else's before
				   app_end, also while nobody listens; or -1 */
	pid_t pid;
	struct app_seen *seen;	/* NULL after its end */
	struct app_seen was;	/* what it was then */
};

enum app_kind { APP_UNIX, APP_TCP };

/* Listening, with nobody who accepts; all of these bail out. */
void app_open(struct app *, enum app_kind, int backlog);
void app_play(struct app *, const char *script);
void app_go(struct app *);
/* Wait for it; true if it has played all.  No process: just close. */
bool app_end(struct app *);
/* At once. */
void app_kill(struct app *);

/* The pattern's byte at that place; a hash of bytes (FNV-1a). */
uint8_t app_pattern(uint64_t at);
uint64_t app_hash(struct idem_bytes);

#endif
