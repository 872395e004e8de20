/* SPDX-License-Identifier: ISC */
#ifndef LOAD_PRIVATE_H
#define LOAD_PRIVATE_H

#include "load.h"
#include "names.h"
#include "retry.h"

#define LOAD_NS INT64_C(1000000)	/* in a millisecond */
#define LOAD_TIMEOUT_MS 10000		/* where none is said */

/* --- what comes when (load_due.c) ----------------------------------------- */

enum load_what {
	LOAD_CLIENT,		/* a client's next request */
	LOAD_REQUEST,		/* a request's next try */
	LOAD_TOKEN		/* a token that is to be asked for again */
};

struct load_due {
	int64_t at_ns;
	uint64_t turn;		/* at one time, who was first comes first */
	enum load_what what;
	size_t which;
};

struct load_dues {		/* a heap; zeroes are an empty one */
	struct load_due *at;
	size_t n, room;
	uint64_t turns;
};

void load_due_add(struct load_dues *, struct arena *, const struct load_due *);
struct load_due load_due_take(struct load_dues *);	/* it has one */

/* --- who does it ---------------------------------------------------------- */

struct load_client {
	const char *name;
	const struct plan_load *load;	/* NULL: an auditor */
	struct draw draw;
	int gate;		/* where it is */
	size_t left;		/* requests that it has not begun */
	size_t audited;		/* auditor: keys that it has begun with */
};

/* What a client wants answered, however many tries it takes. */
struct load_request {
	size_t client;
	const char *key;	/* NULL: none */
	const char *k;		/* its name: of key and method */
	enum plan_source source;	/* of the key */
	const char *origin;	/* the key before it was rotated */
	const char *body;	/* its text */
	const char *f;		/* a name for all that is asked */
	const struct plan_send *send;
	int gate;		/* the only one; or PLAN_NONE */
	struct retry retry;
	bool audit, fresh;
	size_t behind;		/* who waits for the token too: its number + 1;
				   0: nobody */
};

/* A token that a client asks an instance for. */
struct load_token {
	size_t request;		/* for which it was asked for first */
	size_t first, last;	/* requests that wait for it: number + 1 */
	int64_t pause_ms;	/* before it is asked for once more */
	bool asked, had;
};

struct load_going {		/* a try, by a - 1 */
	size_t request;
	int gate;
	bool under_way;
	bool asks;		/* for the request's token */
};

struct load {
	const struct plan *plan;
	struct history *history;
	struct load_world world;
	struct arena arena;
	struct draw draw, nonces;
	struct draw_zipf *ranks;	/* by load */
	struct load_client *clients;
	size_t clients_n;
	struct load_request *requests;
	size_t requests_n;
	struct load_going *tries;
	size_t tries_n, under_way;
	struct load_dues due;
	struct names names;	/* of clients; numbers are theirs */
	struct names keys;	/* that were sent: their k */
	size_t *first;		/* by key: the request that sent it first */
	size_t first_n;
	struct names bodies, questions;
	struct names token_names;	/* their keys; numbers are theirs */
	struct load_token *tokens;
	size_t tokens_n;
	size_t once, rotated;	/* keys that were made */
	size_t audited;		/* keys, when the audit began */
	int64_t until_ns;	/* of the audit */
	int64_t asked_ns;	/* of the world, when to wake; -1: not */
	size_t unsent;
	bool stopped, turning;
	bool storm;		/* there is one: who is not in it is innocent */
};

/* A client; name NULL: the next number's. */
size_t load_client_add(struct load *, const char *name,
    const struct plan_load *, unsigned *number);
void load_make(struct load *);	/* all clients, and what is known to come */
void load_due_push(struct load *, int64_t at_ns, enum load_what,
    size_t which);
void load_ask(struct load *);		/* to be woken, if there is a need */
/* --- tries (load_turn.c) -------------------------------------------------- */

/* asks: for the request's token, else it is sent. */
void load_try_begin(struct load *, size_t request, bool asks);

/* --- tokens (load_token.c) ------------------------------------------------ */

/* The request's first try, or its next: at once, or when its token is there. */
void load_token_begin(struct load *, size_t request);
void load_token_ask(struct load *, size_t token);	/* once more */
/* A try that asked for the request's token has ended. */
void load_token_ended(struct load *, size_t request, bool got);
/* Requests of scripts that wait for one, and were never sent. */
size_t load_token_unsent(const struct load *);

/* A copy; its key and what it asks get their names. */
size_t load_request_add(struct load *, const struct load_request *);
/* The request with which a client goes on. */
size_t load_request_next(struct load *, size_t client);
size_t load_audit_next(struct load *, size_t client);
extern const struct plan_retry load_audit_retry;

#endif
