/* SPDX-License-Identifier: ISC */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "idem.h"

/* The command line of idemd (doc/idemd.8).  Strings are argv's. */
struct options {
	const char *socket;	/* -s: "unix:PATH", "tcp:HOST:PORT"; NULL: a
				   socket of systemd's, or descriptor 0 */
	const char *ledger;	/* path; NULL: none, then nothing is keyed */
	bool create;		/* make the ledger if it is missing */
	uint32_t programs;	/* -c: at once, over all workers */
	uint32_t queue;		/* waiting for one of them, over all workers */
	uint32_t workers;	/* 0 on the command line: as many as CPUs */
	int64_t keep_ms, tombstone_ms;
	uint32_t limit_ms, grace_ms;
	const char *root;	/* SCRIPT_FILENAME must lie below it */
	char *const *program;	/* argv of the one, NULL last; or NULL */
	struct idem_policy policy;
};

/*
 * Read them.  0 to go on; else the exit status to end with at once: a message
 * is on standard error (2), or help or the version on standard output (-1: 0).
 */
int options_read(struct options *, int argc, char **argv);

/*
 * A time with its unit: "250ms", "10s", "5m", "24h", "7d".  False without a
 * unit, for zero, or over max_ms.
 */
bool options_time(const char *text, int64_t max_ms, int64_t *ms);

#endif
