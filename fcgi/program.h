/* SPDX-License-Identifier: ISC */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "digest.h"
#include "params.h"
#include "problem.h"

/*
 * What a route runs, as the operator said it.  Plain data that the
 * configuration owns.
 */
enum program_kind {
	PROGRAM_NAMED,		/* argv, for every request */
	PROGRAM_BY_REQUEST,	/* what the front names (SCRIPT_FILENAME) */
	PROGRAM_FASTCGI		/* an application at one of `backends` */
};

struct program_rule {
	enum program_kind kind;
	char *const *argv;	/* NAMED: absolute path first; NULL last */
	const char *as;		/* NAMED: the program's path, where argv begins
				   with its interpreter; or NULL */
	const char *root;	/* BY_REQUEST: only below it; NULL: anywhere */
	char *const *allowed;	/* BY_REQUEST: only these (fcgiwrap's -p), real
				   paths compared; NULL last; NULL: all */
	char *const *pass;	/* more parameters that a program is given:
				   names, or "PREFIX_*"; NULL last, or NULL */
	char *const *set;	/* "NAME=value", given to it always; same */
	bool all_params;	/* as fcgiwrap: every parameter with a usable
				   name, and the daemon's own environment */
	char *const *backends;	/* FASTCGI: "unix:PATH", "tcp:HOST:PORT" */
	uint32_t backend_connections;	/* at once, a worker; over it 503 */
	uint32_t backend_kept;	/* idle ones kept for requests without a key */
	uint32_t connect_ms;	/* to reach one */
	uint32_t first_ms;	/* until its first byte; 0: the route's limit */
};

/* Which program a request is for (RFC 3875, 3.3). */
struct program {
	char *path;		/* absolute, owned; FASTCGI: NULL */
	char *folder;		/* to change to, owned; NULL: stay */
	char *script_name;	/* owned; NULL: the parameters are right */
	char *path_info;	/* owned; as above */
	char *script_filename;	/* owned; as above: `path`, as the front names
				   it to FastCGI applications */
};

/*
 * NAMED: argv[0], or `as`.  BY_REQUEST: SCRIPT_FILENAME in any front's dialect,
 * without configuration:
 *
 *	/srv/www/x.cgi				nginx, lighttpd, mod_fcgid
 *	/srv/www/x.cgi/extra			without a split: the file is
 *						found by walking up
 *	//srv/www/x.cgi				Apache, SetHandler
 *	proxy:fcgi://host/srv/www/x.cgi/ex%20tra	Apache, ProxyPass
 *	proxy:unix:/run/s|fcgi://host/srv/...	both
 *
 * and without it DOCUMENT_ROOT and SCRIPT_NAME, as fcgiwrap does.  What was
 * walked over becomes PATH_INFO, and SCRIPT_NAME loses it, unless the front
 * says another PATH_INFO: then that is its word, and both stay.  root and
 * allowed are judged by the real path; what runs is called by the name the
 * front gave, but for runs of slashes (argv[0], SCRIPT_FILENAME).  A folder,
 * or what nobody may execute, is FORBIDDEN_PROGRAM.
 *
 * NAMED and BY_REQUEST: FCGI_CHDIR is honoured as by fcgiwrap: a folder, "-"
 * for none; one that is missing is FORBIDDEN_PROGRAM.
 *
 * FASTCGI: nothing is looked for, and all members stay NULL.
 *
 * IDEM_PROBLEM_NONE, NO_PROGRAM, FORBIDDEN_PROGRAM, TOO_MUCH_HEAD (no exec
 * could take its parameters: one of 128 KiB, or too many in all), or BUSY
 * without memory.
 */
enum idem_problem program_find(struct program *, const struct program_rule *,
    const struct idem_params *);
void program_free(struct program *);

struct program_more {
	const struct program_rule *rule;
	const struct program *program;
	uint64_t body_len;
	bool keyed;
	struct idem_digest key;		/* keyed: IDEMPOTENCY_KEY, in hex */
	uint32_t attempt;
	bool recovery;			/* a probe: IDEM_RECOVERY=1 */
	int64_t deadline_ms;		/* wall clock */
	uint64_t dropped;	/* set: parameters that may not enter an
				   environment */
};

/*
 * The environment of a CGI program (RFC 3875, 4.1): PATH, what the
 * specification and fronts name, HTTP_*, SSL_*, REDIRECT_*, what the rule
 * passes and sets, and ours.  Each name once: several values of one header
 * field are one, joined (4.1.18).  Nothing of the daemon's own unless
 * all_params.  Dropped, and counted: HTTP_PROXY, LD_*, BASH_ENV and whatever
 * else a loader, shell or interpreter obeys (also if the rule passes it: who
 * means it sets it), values that a shell would run (CVE-2014-6271), names no
 * shell could hold, and our own.  CONTENT_LENGTH is what was received (4.1.2).
 * NULL without memory; one block that holds all its texts, to be freed.
 */
char **program_environment(const struct idem_params *, struct program_more *);

/*
 * The same for a FastCGI application, as a PARAMS stream: every parameter as
 * the front sent it, absent ones absent and empty ones empty, but for
 * CONTENT_LENGTH, HTTP_PROXY, HTTP_TRANSFER_ENCODING, our own, and what the
 * rule sets.  Errors stick in the buf.
 */
struct idem_buf;
void program_params(const struct idem_params *, struct program_more *,
    struct idem_buf *stream);

#endif
