/* SPDX-License-Identifier: ISC */
#ifndef CONF_H
#define CONF_H

#include "program.h"
#include "redis.h"
#include "route.h"
#include "store_redis.h"
#include "token.h"

/*
 * The configuration in force: read from a Lua file (idem.conf(5)) or made of
 * the command line.  Read only once made.  Requests under way hold on to the
 * one that they began with.
 */
struct conf_route {
	struct idem_route route;
	struct program_rule program;
	bool spool;		/* keyed CGI runs write into the journal */
	int lost_signal;	/* what a program is told when its lease is
				   lost; 0: nothing */
	bool lease_auto;	/* the lease is measured (measure.h): */
	uint32_t lease_min_ms, lease_max_ms, retry_ms;	/* bounds; the largest
				   delay of a client's retry */
	const char *probe;	/* on_unknown probe: a CGI program, absolute */
	uint32_t probe_limit_ms;
	enum idem_redis_scheme scheme;	/* arbiter redis */
	const char *form_token;	/* arbiter token: the hidden field that is put
				   into the forms of its pages, read from what
				   is submitted and taken out of it; or NULL */
	const char *text;	/* "route at FILE:LINE", for --explain, logs */
};

/* The defaults for a CGI program, without path, program and text. */
void conf_route_init(struct conf_route *);

/* redis {}: a server, and how it is used. */
struct conf_redis {
	struct idem_redis_options client;	/* clock, switched, arg: the
						   lobby's */
	const char *where;	/* for people: without user and password */
	const char *prefix;
	const char *name;	/* of it in tokens; prefix and database if not
				   said */
	const char *password_file;	/* what the password was read from; or
					   NULL */
	bool secret_said;	/* a password stands in the file itself, or on
				   the command line */
	uint32_t budget_ms;	/* of a request's claims; 300 */
	uint32_t look_ms;	/* cache: of a look-up; 50 */
	uint64_t answer_max;	/* cache: larger answers are not kept; 1 MiB */
};

/* tokens {}: how they are minted. */
struct conf_tokens {
	const char *path;	/* of the endpoint, "/.idem/token"; or NULL */
	const char *keys_file;
	struct idem_token_keys keys;	/* read from it; owned */
	int64_t life_ms;	/* until they are used; 1 h */
	uint32_t rate, burst;	/* a second and worker, by the endpoint;
				   20, 100 */
};

struct conf {
	/* Of the instance: a reload cannot change them. */
	const char *socket;	/* as options.h's; NULL: inherited */
	const char *ledger;	/* path; NULL: no route needs one */
	const char *run;	/* folder of run locks and counters; NULL:
				   LEDGER-run */
	const struct conf_redis *cache;		/* of the ledger's records */
	const struct conf_redis *shared;	/* arbiter of routes with
						   "redis" or "token"; the same
						   pointer if both are said
						   alike */
	const char *alert;	/* a program that is told of outages; or NULL */
	bool create;
	uint32_t programs, workers;
	uint32_t grace_ms;
	uint64_t reserve;	/* bytes that must be free where ledger and
				   journal lie before anything is started;
				   64 MiB; 0: not looked at */
	/* These it can. */
	uint32_t queue;
	bool stderr_to_front;	/* fcgiwrap's -f */
	uint64_t cache_size;	/* bytes of cached answers, a worker */
	int64_t cache_age_ms;

	struct conf_tokens *tokens;	/* NULL: none are minted */

	struct conf_route *routes;	/* the first that applies does */
	size_t routes_len;
	bool has_rest;		/* what no route's path stands for: */
	struct conf_route rest;	/* its program; keys are ignored */

	/* The largest of all routes; lease: lease_max_ms of automatic ones. */
	uint32_t lease_max_ms, limit_max_ms;
	int64_t keep_max_ms, keep_min_max_ms;	/* keep; keep_min */

	struct idem_words warnings;	/* for the log, --check-config */

	struct conf_lua *lua;	/* functions; private to conf_lua*.c */
	struct conf_block *blocks;	/* what this points at; private */
	size_t blocks_size;
	uint32_t holders;	/* private */
};

/*
 * Read a file's text; `file` is its name, for messages.  NULL, and a sentence
 * in error with file and line: what is wrong, and what to do.
 */
struct conf *conf_read(const char *file, struct idem_bytes text, char *error,
    size_t error_size);

/* A fresh one, with the defaults and no route, to be filled by options.c; what
   it points at must outlive it.  NULL: no memory. */
struct conf *conf_new(void);
/* After routes, cache and shared were set by hand: what routes take from the
   two, where their leases begin, and the maxima. */
void conf_measure(struct conf *);

struct conf *conf_hold(struct conf *);
void conf_drop(struct conf *);

/*
 * Which route a request has.  COVERED: it and its keys.  EXEMPT: that one's
 * program, keys ignored (another method, or conf.rest).  NONE: no program.
 */
enum conf_found { CONF_COVERED, CONF_EXEMPT, CONF_NONE };
enum conf_found conf_find(const struct conf *, struct idem_bytes path,
    const char *method, const struct conf_route **);

/*
 * The same in words: why this one, and why none before it, and what it means.
 * The path is as in a request line; conf_find has it as pattern.h makes it.
 */
enum conf_found conf_explain(const struct conf *, const char *method,
    const char *path, struct idem_buf *text);

/*
 * Call a route's key function.  1 and *value (borrowed until the next call); 0:
 * it says that there is no key; -1: it failed, a sentence in error.
 */
int conf_call(struct conf *, int function, const struct idem_params *,
    struct idem_bytes path, struct idem_bytes *value, char *error,
    size_t error_size);

/*
 * May `next` take the place of `now` while requests are served?  True; or false
 * and the reason.  rekey: keys of live routes may change.
 */
bool conf_may_follow(const struct conf *now, const struct conf *next,
    bool rekey, char *error, size_t error_size);

/*
 * What a route promises (doc/design.md, 2), for the log, --explain and idemctl
 * doctor.  The words:
 *
 *	yes		it holds
 *	retry		once: up to attempts_max starts, each after the run
 *			before is surely dead
 *	probe		once: again only by the word of the route's probe that
 *			nothing had happened
 *	or-unknown	it holds, or the answer is 409 unknown
 *	while		it holds while Redis remembers the key
 *	no		it does not hold
 */
struct conf_promise {
	const char *arbiter, *scheme, *on_outage, *on_unknown;	/* as the file
					   says them; scheme and on_outage: NULL
					   unless arbiter is redis */
	const char *once, *same_answer, *kept;
	const char *fails_when;		/* continues "when ..." */
	char sentence[600];		/* all of it; without a full stop */
};
void conf_promises(const struct conf *, const struct conf_route *,
    struct conf_promise *);

/*
 * conf_look.c: what is named and not there, or nobody may execute, a sentence
 * each (without a full stop or a line's end, valid for the call).  It may come
 * later, and who looks may see more than idemd's user: none is an error.
 */
typedef void conf_look_tell(void *arg, const char *sentence);
void conf_look(const struct conf *, conf_look_tell *, void *arg);

#endif
