/* SPDX-License-Identifier: ISC */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "conf.h"

#define OPTIONS_FILE_MAX (4u * 1024u * 1024u)	/* bytes of a configuration */

/* What a command line says of the instance, whatever the file says. */
struct options_said {
	const char *socket, *ledger;	/* or NULL */
	bool create, stderr_to_front;	/* or as the file has it */
	uint32_t programs, workers;	/* or 0 */
	uint32_t queue;
	bool queue_said;
};

/* The command line of idemd (doc/idemd.8).  Strings are argv's. */
struct options {
	const char *config;	/* --config; NULL: all is on the command line */
	bool accept_rekey;	/* a reload may re-key live routes */
	bool check;		/* --check-config: say and end */
	const char *explain_method, *explain_path;	/* --explain; or NULL */
	struct options_said said;
	struct conf *conf;	/* made of the file, or of the command line;
				   held for the caller */
};

/*
 * Read them, and the file of --config.  0 to go on; else the exit status to end
 * with at once: a message is on standard error (2; 111 without memory), or what
 * was asked for (help, the version, a check, an explanation) on standard output
 * (-1: 0; 1: an explanation that no route applies).
 */
int options_read(struct options *, int argc, char **argv);

/*
 * Read the file once more, for a reload; what the command line says besides
 * stays said.  NULL, and why in error; also without --config.
 */
struct conf *options_reread(const struct options *, char *error,
    size_t error_size);
/* The same of a text that somebody else has read (a worker: the master's). */
struct conf *options_read_text(const struct options *, struct idem_bytes text,
    char *error, size_t error_size);

/*
 * A time with its unit: "250ms", "10s", "5m", "24h", "7d".  False without a
 * unit, for zero, or over max_ms.
 */
bool options_time(const char *text, int64_t max_ms, int64_t *ms);
/* A size with its unit: "512B", "64KiB", "16MiB", "1GiB".  False without one,
   or over max. */
bool options_size(const char *text, uint64_t max, uint64_t *out);

#endif
