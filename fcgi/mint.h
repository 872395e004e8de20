/* SPDX-License-Identifier: ISC */
#ifndef MINT_H
#define MINT_H

#include "conf.h"
#include "problem.h"

/*
 * Tokens for the requests and forms of clients: which store a token names, its
 * record there, its text.  A worker has one; it knows nothing of the lobby, and
 * who asks is told later.
 *
 *	mint.c		one token
 *	mint_request.c	the endpoint: which route, how many, the answer
 */
#define MINT_MAX 1024u		/* outstanding at once */
#define MINT_STORE_MS 1000	/* for all calls of one store */
#define MINT_TRIES 3u		/* of them */
#define MINT_GRACE_MS 60000	/* a record is kept so much longer than its
				   token is good, for requests that wait */

/* So many a second, and `burst` at once after a pause.  Zeroes are full. */
struct mint_bucket {
	bool begun;
	int64_t at_ms;
	uint64_t milli;		/* thousandths of a token that are left */
};
/* One is taken; false: there is none.  At a rate of 1 or more there is within a
   second.  Here for the tests, which need no endpoint for it. */
bool mint_bucket_take(struct mint_bucket *, uint32_t rate, uint32_t burst,
    int64_t now_ms);

struct mint_ask;

struct mint {			/* zeroes, and a clock */
	const struct idem_clock *clock;
	struct mint_bucket bucket;	/* of the endpoint */
	struct mint_ask *first;		/* outstanding */
	uint32_t outstanding;
};

/* --- one token ------------------------------------------------------------ */

struct mint_made {
	enum idem_problem problem;	/* NONE; else there is no token:
					   STORE_AWAY, BUSY */
	enum idem_token_arbiter arbiter;
	char text[IDEM_TOKEN_TEXT + 1];
	int64_t expires_ms;	/* wall clock */
	const char *error;	/* STORE_AWAY: the last store's, for the log */
};
/* Borrowed for the call. */
typedef void mint_done(void *arg, const struct mint_made *);

struct mint_order {
	const struct conf *conf;	/* has `tokens`; lives until done or
					   forgotten */
	const struct idem_route *route;
	/* NULL: there is none.  They live until mint_close.  The ledger is
	   asked if the shared Redis will not answer. */
	struct idem_store *redis, *ledger;
	mint_done *done;	/* once, from a store's poll */
	void *arg;
};

/*
 * NULL, and why (done is not called): BUSY (MINT_MAX are outstanding, or no
 * memory, no chance), STORE_AWAY (there is no store).
 */
struct mint_ask *mint_start(struct mint *, const struct mint_order *,
    enum idem_problem *why);
/* Nobody waits for it any longer; not after done. */
void mint_forget(struct mint_ask *);
/* All of them; before the stores are closed, which may outlive the mint. */
void mint_close(struct mint *);

/* What stands in a token for the store of that kind, and for a route.  False:
   there is no such store; or the library failed. */
bool mint_store_name(const struct conf *, struct idem_store *ledger,
    enum idem_token_arbiter, uint8_t name[IDEM_TOKEN_STORE]);
bool mint_route_name(const struct idem_route *,
    uint8_t name[IDEM_TOKEN_ROUTE]);

/* --- the endpoint --------------------------------------------------------- */

struct mint_wanted {
	const struct conf_route *route;
	char path[IDEM_FORM_VALUE_MAX + 1];	/* that was asked for, or the
						   route's pattern */
};

/*
 * What a request there wants: the route with tokens that covers the path in
 * `path` of its query, by any method; without it the only one there is.  NONE;
 * TOKEN_METHOD, TOKEN_PATH, NO_TOKEN_ROUTE, TOO_MANY_TOKENS (Retry-After: 1).
 */
enum idem_problem mint_admit(struct mint *, const struct conf *,
    const char *method, struct idem_bytes query, struct mint_wanted *);

/* The whole answer with a token: 201, JSON, never cached. */
void mint_answer(struct idem_buf *, const struct mint_made *,
    const struct mint_wanted *);

#endif
