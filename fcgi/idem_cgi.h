/* SPDX-License-Identifier: ISC */
#ifndef IDEM_CGI_H
#define IDEM_CGI_H

#include "conf.h"
#include "shm.h"

/*
 * idem-cgi(1): one request of a web server that runs CGI programs.  If it can
 * have no key, its program runs in our own place.  Else we are the web server
 * of a lobby of our own, which is another process and may outlive us.  Shared
 * by its own files only:
 *
 *	idem_cgi.c		the processes
 *	idem_cgi_call.c		how we were called: which program, with what
 *	idem_cgi_conf.c		what the operator said; may there be a key?
 *	idem_cgi_talk.c		the request to the lobby, its answer back
 *	idem_cgi_alert.c	what the operator is told
 */

/* --- idem_cgi_call.c ------------------------------------------------------ */

/* Zeroes are none.  Texts are argv's and the environment's, or kept for our
   life: it is short. */
struct idem_cgi_call {
	const char *config;	/* --config; or NULL */
	char **words;		/* what follows it, NULL last */
	bool named;		/* they name the program.  False: it is behind
				   our own URL (Apache's Action) */
	struct idem_params params;	/* of the program that is meant */
	struct program program;		/* as program_find has it */
	char **argv;		/* to run it with, NULL last */
	size_t argv_own;	/* so many of them without a query's words */
};

/* False without memory. */
bool idem_cgi_call_read(struct idem_cgi_call *, char **argv,
    char **environment);

/*
 * Somebody asks for us, and not for a program that we are in front of: what is
 * behind our URL would be anybody's to choose.
 */
bool idem_cgi_call_is_direct(const struct idem_cgi_call *);

/*
 * Which program, and so argv and params; confined by rule, which is BY_REQUEST.
 * The problem, and in *why, if there is more to say, a sentence for the log.
 */
enum idem_problem idem_cgi_call_find(struct idem_cgi_call *,
    const struct program_rule *, const char **why);

/* Also "NAME=value", NULL last, or NULL: they win.  False without memory. */
bool idem_cgi_call_set(struct idem_cgi_call *, char *const *texts);

/* --- idem_cgi_conf.c ------------------------------------------------------ */

/* NULL, and a sentence. */
struct conf *idem_cgi_conf_read(const struct idem_cgi_call *, char *error,
    size_t error_size);

/* May this request have a key?  *route: the one it has, or NULL. */
bool idem_cgi_conf_may_have_key(const struct conf *, const struct idem_params *,
    const struct conf_route **route);

/* Where the route's programs may lie, and what is set for them. */
struct program_rule idem_cgi_conf_rule(const struct conf_route *);

/* Every route's program is the one of this call. */
void idem_cgi_conf_name(struct conf *, struct idem_cgi_call *);

/* --- idem_cgi_talk.c ------------------------------------------------------ */

#define IDEM_CGI_NOT_SERVED 'n'	/* what a lobby says that cannot begin */

/*
 * Send our request over the connection, from the parameters and descriptor 0,
 * and copy what comes back to 1 and 2.  `said` is a pipe from the lobby's
 * process, which does not block.  Closes conn; *over: the lobby has said all.
 * The exit status.
 */
int idem_cgi_talk(const struct idem_params *, int conn, int said, bool *over);

/* Write an answer of our own to descriptor 1; detail may be NULL. */
void idem_cgi_refuse(const struct idem_params *, enum idem_problem,
    const char *detail);

/* --- idem_cgi_alert.c ----------------------------------------------------- */

/*
 * Tell the operator's command (alert.h) what a lobby has told in shm, but for
 * outages; in its process, after its end.  Standard error is closed.  May take
 * ALERT_EVERY_MS and the command's time, and longer if others tell as well.
 */
void idem_cgi_alert(const struct conf *, struct shm *, int run_folder);

#endif
