/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CGI_RIG_H
#define TESTS_CGI_RIG_H

#include "rig.h"

/*
 * idem-cgi as a web server calls it, with a rig's folder as document root and
 * its ledger in IDEM_LEDGER.  Nothing here waits without a bound.
 */
enum cgi_way {
	CGI_HANDLER,	/* lighttpd: the program as argument */
	CGI_ACTION,	/* Apache: behind our own URL, redirected to */
	CGI_SHEBANG	/* the program's first line names us */
};

struct cgi_ask {
	enum cgi_way way;
	const char *program;	/* its name in the folder */
	const char *interpreter;	/* SHEBANG: the line behind us */
	const char *info;	/* what the URL has behind it; or NULL */
	const char *method;	/* NULL: POST */
	const char *key, *query, *type;	/* or NULL */
	const char *length;	/* CONTENT_LENGTH; NULL: the body's; "": none */
	struct idem_bytes body;
	const char *const *env;	/* NULL last, or NULL: "NAME=value", instead of
				   what is there; "NAME": not there */
	const char *const *args;	/* instead of the way's own */
	bool reaps_none;	/* the server ignores SIGCHLD, and so does it */
};

struct cgi_call {
	pid_t pid;		/* in a process group of its own */
	int in, out, err;	/* our ends; -1: closed */
};

/* Copy $IDEM_CGI (or ./idem-cgi) into the folder; bails out.  False: it is not
   built. */
bool cgi_open(struct rig *);

/* Start it and send the body; its input is still open. */
void cgi_begin(struct rig *, const struct cgi_ask *, struct cgi_call *);
/*
 * End its input and read all it says, until it and all that it left behind have
 * closed both.  The answer's app_status is its exit status, or 256 and the
 * signal; whole: it has ended by itself.
 */
void cgi_finish(struct cgi_call *, struct rig_answer *);
/* Both. */
void cgi_ask(struct rig *, const struct cgi_ask *, struct rig_answer *);

/* How many processes run the folder's idem-cgi; the first max in pids. */
size_t cgi_alive(struct rig *, pid_t *pids, size_t max);
/*
 * The lobby is the child of the one that was called (front), which must live;
 * the keeper is the lobby's.  Who is not there is left as it was: 0, or found
 * before.  The keeper's child is neither, though it runs idem-cgi too until it
 * is the program.
 */
void cgi_family(struct rig *, pid_t front, pid_t *lobby, pid_t *keeper);
/* Until there is none; false after a minute. */
bool cgi_await_none(struct rig *);

#endif
