/* SPDX-License-Identifier: ISC */
#ifndef OPTIONS_PRIVATE_H
#define OPTIONS_PRIVATE_H

#include "conf_private.h"
#include "options.h"

/* Of options*.c only. */

/* Options about it, as getopt_long has them; the others come after. */
enum {
	OPTIONS_KEEP = 256, OPTIONS_KEEP_MIN, OPTIONS_TOMBSTONE, OPTIONS_LEASE,
	OPTIONS_LIMIT, OPTIONS_GRACE, OPTIONS_ON_UNKNOWN, OPTIONS_NO_SPOOL,
	OPTIONS_RESERVE, OPTIONS_IN_PROGRESS,
	OPTIONS_REQUIRED, OPTIONS_ARBITER, OPTIONS_SCHEME, OPTIONS_ON_OUTAGE,
	OPTIONS_SHARED, OPTIONS_CACHE, OPTIONS_TOKEN_KEYS, OPTIONS_RUN,
	OPTIONS_ROOT, OPTIONS_COMPAT, OPTIONS_ALLOW,
	OPTIONS_PROGRAM,	/* the first other word; no value */
	OPTIONS_OF_ROUTE_END
};

/* What the command line says of its one route, and of what that needs. */
struct options_route {
	struct idem_route route;
	bool lease_auto, no_spool;
	const char *probe;	/* or NULL */
	int64_t keep_min_ms;	/* 0: as keep */
	uint64_t reserve;
	const char *root;
	char *const *program;	/* NULL: none */
	char **allowed;		/* -p; room for every argument, NULL last */
	size_t allowed_len;
	bool compat;		/* --fcgiwrap-compat */
	uint32_t grace_ms;
	enum idem_redis_scheme scheme;
	const char *shared, *cache;	/* URLs; or NULL */
	const char *token_keys;	/* or NULL */
	const char *run;	/* or NULL */
	bool scheme_said, outage_said;
	const char *said;	/* the first option that a file says instead,
				   or NULL; and how it does */
	const char *instead;
};

/* options_route.c.  0; or 2, and a message is on standard error. */
int options_of_route(struct options_route *, int option, char *value);
/* options_redis.c: what becomes of it.  False, and a sentence. */
bool options_redis(struct conf *, const struct options_route *, char *error,
    size_t error_size);
int options_wrong(const char *option, const char *value, const char *what);
int options_number(const char *option, const char *text, uint32_t min,
    uint32_t max, uint32_t *out);

/*
 * options_make.c.  What was said wins; what is left open is filled in.  NULL,
 * and a sentence.
 */
struct conf *options_of_file(const struct options *, char *error,
    size_t error_size);
struct conf *options_of_line(const struct options *,
    const struct options_route *, char *error, size_t error_size);

#endif
