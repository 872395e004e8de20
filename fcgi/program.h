/* SPDX-License-Identifier: ISC */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "digest.h"
#include "front.h"
#include "options.h"

/* Which program a request is for, and what it is given (RFC 3875, 4.1). */
struct program {
	char *path;		/* absolute, owned */
	char *folder;		/* its own, to change to; owned */
};

/*
 * The one of the options, or SCRIPT_FILENAME below --root, judged by its real
 * path.  IDEM_PROBLEM_NONE, NO_PROGRAM, FORBIDDEN_PROGRAM, or BUSY without
 * memory.
 */
enum idem_problem program_find(struct program *, const struct options *,
    const struct params *);
void program_free(struct program *);

struct program_more {
	uint64_t body_len;
	bool keyed;
	struct idem_digest key;		/* keyed: IDEMPOTENCY_KEY, in hex */
	uint32_t attempt;
	int64_t deadline_ms;		/* wall clock */
};

/*
 * The environment: PATH, what the specification and fronts name, HTTP_*,
 * SSL_*, REDIRECT_*, and ours.  Nothing of the daemon's own.  HTTP_PROXY,
 * values that a shell would run, names no shell could hold and our own names
 * are left out.  CONTENT_LENGTH is what was received.  NULL without memory; one
 * block, to be freed.
 */
char **program_environment(const struct params *, const struct program_more *);

#endif
