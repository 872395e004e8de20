/* SPDX-License-Identifier: ISC */
#ifndef IDEM_ROUTE_H
#define IDEM_ROUTE_H

#include "exchange.h"
#include "form.h"
#include "identity.h"
#include "params.h"

/*
 * What the operator said of some paths and methods (doc/design.md, 6).  Pure:
 * plain data that somebody else owns (the configuration), read only.
 *
 * Where a key may come from.  All that a request has must agree.
 */
enum idem_source_kind {
	IDEM_SOURCE_HEADER,	/* name: the meta-variable, "HTTP_..." */
	IDEM_SOURCE_QUERY,	/* name: of a parameter of the query */
	IDEM_SOURCE_COOKIE,	/* name */
	IDEM_SOURCE_FORM,	/* name: of a field of the body; known late */
	IDEM_SOURCE_CONTENT,	/* the request is its own key; known late */
	IDEM_SOURCE_FUNCTION	/* of the configuration; known late */
};

struct idem_source {
	enum idem_source_kind kind;
	const char *name;	/* NULL for CONTENT and FUNCTION */
	int function;		/* FUNCTION: the configuration's number of it */
};

struct idem_words {		/* any number of texts */
	const char *const *at;
	size_t len;
};

struct idem_codes {		/* statuses, both ends included */
	int from, to;
};

struct idem_route {
	const char *name;	/* part of the scope, if given; or NULL */
	const char *path;	/* a pattern (pattern.h); NULL: any path */
	struct idem_words except;	/* patterns */
	struct idem_words methods;	/* those that are covered */

	const struct idem_source *sources;
	size_t sources_len;
	bool user_verified;	/* REMOTE_USER counts also without AUTH_TYPE */
	struct idem_words scope_cookies, scope_variables;
	bool guard_authorization, guard_user;
	struct idem_words guard_cookies, guard_variables;
	unsigned parts;		/* of the fingerprint (identity.h).  None: the
				   key alone; then a changed body gets the old
				   answer, by the operator's choice */

	struct idem_policy policy;
	struct idem_exchange_times times;
	uint32_t limit_ms;	/* of a run */
	uint64_t body_max;	/* of a request; over it 413 */
	size_t kept_max;	/* of an answer's body */
	const struct idem_codes *released;	/* statuses after which the key
				   is free again: by the operator's word
				   nothing has happened */
	size_t released_len;
	struct idem_words not_replayed;	/* names of fields */
	bool anew;		/* after `keep` the key is nobody's again, with
				   no tombstone (keys made of content) */
	bool any_exit;		/* a whole answer counts whatever the exit
				   status */
};

/* --- which route ---------------------------------------------------------- */

enum idem_route_why {
	IDEM_ROUTE_APPLIES,
	IDEM_ROUTE_OTHER_PATH,
	IDEM_ROUTE_EXCEPTED,
	IDEM_ROUTE_OTHER_METHOD	/* its program runs, but keys are ignored */
};
enum idem_route_why idem_route_judge(const struct idem_route *,
    struct idem_bytes path, const char *method);
bool idem_route_covers(const struct idem_route *, const char *method);

/* --- the key -------------------------------------------------------------- */

/*
 * Zeroes are none found so far.  All that are added must be equal; of several
 * faults it is the first of malformed, too long, different, in whatever order
 * they came.
 */
struct idem_key_found {
	enum idem_key_state state;	/* ABSENT, GOOD, or what is wrong */
	struct idem_key key;		/* GOOD; else zeroes */
};

/*
 * Add what header fields, query and cookies say.  Header values are read as
 * idem_key_parse does, the others are the key's bytes themselves (of a query
 * after decoding); an empty value of a query, cookie or form is no key, one of
 * a header is EMPTY.  A name given several times with values that differ, empty
 * ones too, is DIFFERENT.
 */
void idem_route_key_early(const struct idem_route *,
    const struct idem_params *, struct idem_key_found *);
/* Add a value that came late: of a form or a function.  Its bytes are the key:
   1 to 255 visible ASCII bytes or spaces, as RFC 8941, 3.3.3 has them. */
void idem_key_found_add(struct idem_key_found *, struct idem_bytes value);
/* The same of a form's end; BROKEN is MALFORMED. */
void idem_key_found_form(struct idem_key_found *, enum idem_form_state,
    struct idem_bytes value);
/* Is there a source of that kind?  The first, or NULL. */
const struct idem_source *idem_route_source(const struct idem_route *,
    enum idem_source_kind);
/* The key of a request that is its own: 64 hex digits.  False as a digest's. */
bool idem_route_key_content(const struct idem_digest *fingerprint,
    struct idem_key *);

/* --- its digests ---------------------------------------------------------- */

/*
 * The store key, of a route's name, or without one of `program`: the program's
 * path, or the backend's route pattern.  *identity: the scope names somebody,
 * by a user or a value that is not empty.  A named cookie or variable that is
 * not there counts as empty.  False without memory.
 */
bool idem_route_store_key(const struct idem_route *,
    const struct idem_params *, const char *program, const struct idem_key *,
    struct idem_digest *, bool *identity);
bool idem_route_guard(const struct idem_route *, const struct idem_params *,
    struct idem_digest *);
/*
 * Begin the fingerprint.  The path is both that of the request (pattern.h) and
 * SCRIPT_NAME with PATH_INFO.  Errors stick in it.
 */
void idem_route_fingerprint(const struct idem_route *,
    const struct idem_params *, struct idem_bytes path,
    struct idem_fingerprint *);

/* The value of a cookie, the first of that name (RFC 6265, 5.4 order), borrowed
   from the parameters.  False: there is none. */
bool idem_cookie(const struct idem_params *, const char *name,
    struct idem_bytes *value);

/* --- others --------------------------------------------------------------- */

bool idem_route_releases(const struct idem_route *, int code);

/*
 * All that decides where a request's key is found and what it guards: sources,
 * scope, guard, fingerprint parts, arbiter, name.  Two routes with different
 * ones would run live keys again.  What a FUNCTION does is not seen here, nor
 * its number, which changes with other routes.
 */
bool idem_route_rekey(const struct idem_route *, struct idem_digest *);

/* The defaults of idemd(8), without a path. */
extern const struct idem_route idem_route_default;

#endif
