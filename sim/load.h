/* SPDX-License-Identifier: ISC */
#ifndef LOAD_H
#define LOAD_H

#include "draw.h"
#include "history.h"

/*
 * Clients and what they do, by the plan: closed, open, storm, script.  A world
 * carries each try out; this decides which come, when, with which key, and
 * writes inv and ret.  Nothing here knows in which world it is.
 *
 * Keys are symbolic: "k" and "k1" of a script are as it says; those of a load
 * are "k1" ... "kN", and "k1" is the same key in all of them; `once` makes
 * "o1", ....  A client that rotates goes on with "k1.r1", ....
 *
 * Clients of a script have the names that it says.  All others are numbered
 * after its highest "cN", in the order of the loads; each request of an open
 * load is a client's of its own.  Client cN is at gate ((N-1) mod n)+1, and
 * after a reset or a refusal there at the next one.
 *
 * A token that a client has to ask for is asked for by who first wants to send
 * it, again and again until it is there; whoever else wants to send it waits.
 */
struct load;

/* Asked of the world.  Its texts are good until load_close. */
struct load_try {
	int a;			/* from 1 */
	unsigned client;	/* index in the plan's clients, from 0 */
	const char *client_name;	/* "c1" */
	const char *key;	/* symbolic; NULL: none */
	const char *k;		/* what a history calls it: "k", and "k.PUT"
				   where another method makes another key;
				   "k.forged" */
	enum plan_source source;	/* of the key */
	enum plan_spoilt spoilt;
	bool asks;		/* for a token, to be this key from now on:
				   there is nothing else to send */
	const char *body;	/* text; equal bodies are equal texts */
	const char *nonce;
	int gate;		/* index: where it goes */
	const struct plan_send *send;	/* of a script; else NULL */
	int64_t timeout_ms, give_up_ms;
	size_t slow_bytes;	/* read each 10 ms; 0: all */
	const char *method;
};

struct load_answer {
	enum outcome_end end;
	int status;
	const char *mark, *why, *digest;	/* "" as none */
	const char *says_key, *says_nonce, *says_effect;
	bool length_met;
	int64_t retry_after_s;
	bool got;		/* of one that asks: the world has the token */
};

struct load_world {
	void (*start)(void *arg, const struct load_try *);	/* later:
								   load_ended */
	int64_t (*now_ns)(void *arg);	/* since the run's begin */
	/* At that time of the run, or as soon after as can be. */
	void (*wake)(void *arg, int64_t at_ns);	/* then load_turn; replaces
						   what was asked before */
	void (*ended)(void *arg, int a);	/* a ret was written: its i is
						   the history's last; not of
						   one that asks */
	void *arg;
};

struct load *load_open(const struct plan *, struct draw *, struct history *,
    const struct load_world *);
void load_begin(struct load *);
void load_turn(struct load *);		/* as it was woken */
void load_ended(struct load *, int a, const struct load_answer *);
/* Nobody tries again, no new requests; those under way go on. */
void load_stop(struct load *);
/* Requests for which the plan names a time (of scripts, open loads and storms)
   that load_stop came before. */
size_t load_unsent(const struct load *);
bool load_over(const struct load *);	/* nothing is under way or to come */
size_t load_open_tries(const struct load *);

/*
 * The simulator's own, after quiet (and load_stop): for each key that was ever
 * sent, one try at each instance, with its first body, method and header
 * fields; and one of a fresh key at each.  `audit` and `fresh` are set in its
 * inv.  Busy and unavailable answers and resets are tried again until until_ms
 * of the run, so the last try of a key at an instance is what counts.
 * load_over says when it is done.
 */
void load_audit(struct load *, int64_t until_ms);
void load_close(struct load *);

#endif
