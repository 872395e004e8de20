/* SPDX-License-Identifier: ISC */
#ifndef LOBBY_H
#define LOBBY_H

#include "cache.h"
#include "conn.h"
#include "exchange.h"
#include "identity.h"
#include "keeper.h"
#include "log.h"
#include "options.h"
#include "program.h"
#include "run.h"
#include "spool.h"
#include "waiters.h"

/*
 * A worker's event loop: it joins connections, exchanges, the ledger, the
 * keeper and the other workers.  This header is shared by the lobby's own
 * files only:
 *
 *	lobby.c		life: start, accept, the master's words, stop
 *	visit.c		a request on its way in
 *	visit_reply.c	its answer, and its line in the log
 *	visit_ports.c	what its exchange asks for
 *	waiting.c	duplicates: parked, woken, promoted
 *	sweep.c		what nobody asks for: dead runs, old rows
 */

/* What master and lobby agree on before the fork. */
struct lobby_options {
	const struct options *options;
	struct shm *shm;
	uint32_t worker;
	int listener;
	int control;		/* SOCK_SEQPACKET to the master */
	int lock_folder;
};

/* The master's one message: a keeper's number, with its socket beside it. */
struct lobby_keeper {
	uint64_t number;
};

/* Runs until told to stop; the exit status. */
int lobby_main(const struct lobby_options *);

#define LOBBY_WAITERS 10000u	/* of all keys, in this worker */
#define LOBBY_FLIGHTS 12000u
#define LOBBY_OWNERS 128u	/* made at once: each call costs as much */
#define LOBBY_CACHE_ENTRIES 16384u
#define LOBBY_CACHE_SIZE (64u * 1024u * 1024u)
#define LOBBY_CACHE_AGE_MS (60 * 1000)
#define LOBBY_KEPT_MAX (16u * 1024u * 1024u)	/* max_kept */

/* Whoever may wait for a key: known to the waiter table by number. */
enum person_kind { PERSON_VISIT, PERSON_PARKED };
struct person {
	enum person_kind kind;
	uint32_t number;
};

struct people {
	struct person **at;
	uint32_t size, free;	/* free: the lowest that may be */
	uint32_t count;
};

/* A request's own bytes; gone once it can only wait. */
struct detail {
	struct params params;
	struct program program;
	struct idem_fingerprint fingerprint;
	struct spool body;
	const char *method;	/* borrowed from params */
	struct idem_key key;
	bool keyed;
};

struct lobby;

/* One request, from its parameters to its log line. */
struct visit {
	struct person person;	/* first */
	struct idem_exchange x;
	struct lobby *lobby;
	struct conn *conn;	/* NULL: nobody listens */
	struct detail *detail;	/* NULL: was parked */
	struct run *run;
	struct timer wait;	/* of WAIT and SLOT */
	struct timer renew;
	struct visit *queue_prev, *queue_next;
	int64_t began_ms, wait_until_ms;
	uint32_t flight;	/* that it leads, or NOWHERE */
	int slot;		/* of shm, or -1 */
	uint64_t slot_keeper;	/* that it was got for */
	const char *source;	/* for the log: run, cache, ledger, wait */
	enum idem_admit admit;
	enum idem_problem refused;
	enum idem_waited end;	/* what its key came to, if has_end */
	bool has_end;
	bool admitted, queued, waiting, renewing, handed;
	bool key_sent, html, head, identity;
};

/* A duplicate that waits: all that is left of its request. */
struct parked {
	struct person person;	/* first */
	uint32_t waiter, flight;
	bool html, identity;
	struct lobby *lobby;
	struct conn *conn;
	struct timer timer;
	int64_t began_ms;
};

struct lobby {
	const struct options *options;
	struct idem_exchange_times times;
	struct shm *shm;
	uint32_t worker;
	struct idem_boot boot;
	int lock_folder, listener;
	struct loop *loop;
	struct front front;
	struct conns conns;
	struct log log;
	struct idem_store *store;
	struct runner *runner;	/* NULL: no keeper at the moment */
	struct lobby_keeper next_keeper;	/* while the last one's words
						   are not all read */
	int next_socket;	/* -1: none */
	struct watch listening, control, wake, ledger, signals;
	struct timer accept_later, sweep, stop_at;
	struct idem_waiters waiters;
	void *waiters_room;
	struct idem_cache cache;
	void *cache_room;
	struct people people;
	struct idem_owner owners[LOBBY_OWNERS];	/* the first owners_left */
	uint32_t owners_left, pid;
	struct visit *queue_first, *queue_last;
	uint32_t queue_len;
	struct run *runs;	/* all, linked */
	uint32_t visits;
	struct visit *to_park;	/* by the WAIT port, for after the event;
				   linked by queue_next */
	uint64_t seen_ends;
	bool reading_ends;
	/* sweep.c */
	struct idem_digest sweep_after;
	uint32_t sweep_pending;
	uint32_t sweep_rounds;
	bool left_to_others;	/* new connections, for a moment */
	bool take_all;		/* that come next */
	bool stopping;
};

/* lobby.c */
void lobby_trouble(struct lobby *, const char *what, const char *why);
uint32_t lobby_person_add(struct lobby *, struct person *);
void lobby_person_remove(struct lobby *, struct person *);
void lobby_serve_queue(struct lobby *);

/* visit.c */
extern const struct conn_user visit_user;
struct visit *visit_new(struct lobby *, struct conn *, int64_t began_ms);
void visit_tell(struct visit *, const struct idem_event *);
void visit_free(struct visit *);
/* The first value of a parameter, or an empty text. */
struct idem_bytes visit_param(const struct detail *, const char *name);
void visit_ran(struct visit *, enum idem_run, enum idem_problem);

/* visit_reply.c */
void visit_reply(struct visit *, const struct idem_effect *);

/* visit_ports.c */
extern const struct idem_ports visit_ports;
void visit_wait_cut(struct visit *, enum idem_waited);	/* WAIT is over */
void visit_slot(struct visit *, enum idem_slot);	/* queued SLOT is */

/* waiting.c */
void waiting_look(struct visit *, struct idem_event *);
bool waiting_wait(struct visit *, const struct idem_effect *);
void waiting_park(struct lobby *);	/* after events: those to be parked */
void waiting_gone(struct parked *);
void waiting_one_less(struct lobby *);
void waiting_left(struct visit *);
void waiting_ends(struct lobby *);	/* read the ring */
void waiting_ask_all(struct lobby *);

/* sweep.c */
void sweep_start(struct lobby *);

#endif
