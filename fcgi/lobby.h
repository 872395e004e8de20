/* SPDX-License-Identifier: ISC */
#ifndef LOBBY_H
#define LOBBY_H

#include "alert.h"
#include "backend.h"
#include "cache.h"
#include "conf.h"
#include "conn.h"
#include "front.h"
#include "exchange.h"
#include "form.h"
#include "identity.h"
#include "keeper.h"
#include "log.h"
#include "mint.h"
#include "options.h"
#include "peers.h"
#include "program.h"
#include "run.h"
#include "run_note.h"
#include "settle.h"
#include "space.h"
#include "spool.h"
#include "stores.h"
#include "waiters.h"

/*
 * A worker's event loop: it joins connections, exchanges, the ledger, the
 * keeper and the other workers.  This header is shared by the lobby's own
 * files only:
 *
 *	lobby.c		life: start, turns, stop
 *	lobby_told.c	what master and keeper say
 *	lobby_accept.c	new connections
 *	lobby_journal.c	what the journal says of runs that are nobody's
 *	visit.c		a request, from begin to end
 *	visit_admit.c	what it asks for: its route, its key, its body
 *	visit_reply.c	its answer, and its line in the log
 *	visit_token.c	a key that is a token of ours
 *	visit_mint.c	a request for a token
 *	visit_look.c	what is known without a claim
 *	visit_ports.c	what its exchange asks for: above all
 *	visit_slot.c	a slot,
 *	visit_run.c	and a run, with its note and its lease
 *	waiting.c	duplicates: parked, woken, promoted
 *	sweep.c		what nobody asks for: records of the dead, old rows
 */

/* What master and lobby agree on before the fork. */
struct lobby_options {
	const struct options *options;
	struct conf *conf;	/* in force; the lobby holds it too */
	uint32_t lease_max_ms, limit_max_ms;	/* of all before it, too */
	const struct peers *peers;	/* who may connect */
	struct shm *shm;
	uint32_t worker;
	int listener;		/* -1: none */
	int control;		/* SOCK_SEQPACKET to the master; -1: none */
	int only;		/* the one connection to serve, then it ends;
				   -1: it listens */
	int keeper;		/* only: socket to it, and its number */
	uint64_t keeper_number;
	int lock_folder;
	const char *memory;	/* path of the one that stands in for Redis, or
				   NULL; a reload may bring it: shm's */
};

/*
 * The master's messages, a descriptor beside each: a keeper's socket, or a file
 * with the text of a new configuration, which the master has read already.
 */
enum lobby_told { LOBBY_KEEPER = 1, LOBBY_CONF };
struct lobby_message {
	enum lobby_told what;
	uint64_t number;	/* the keeper's */
};

#define LOBBY_NAME "idem-lobby"	/* of its process: proc(5), comm; idemd(8) */

/* Runs until told to stop; the exit status. */
int lobby_main(const struct lobby_options *);

#define LOBBY_WAITERS 10000u	/* of all keys, in this worker */
#define LOBBY_FLIGHTS 12000u
#define LOBBY_OWNERS 128u	/* made at once: each call costs as much */
#define LOBBY_CACHE_ENTRIES 16384u
#define LOBBY_CALL_MS 1000	/* of the ledger; the gate repeats it */
#define LOBBY_BODY_GRACE_MS 200	/* for a body's end that is not sent */

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
	struct idem_params params;
	struct program program;
	struct idem_fingerprint fingerprint;
	struct idem_form *form;	/* a source of the key; or NULL */
	struct spool body;
	struct idem_buf path;	/* of the request, ends in NUL */
	const char *method;	/* borrowed from params */
	struct idem_key_found found;
	uint64_t length;	/* CONTENT_LENGTH, if stated */
	struct mint_wanted *wanted;	/* of an endpoint for tokens; or NULL */
	bool covered;		/* by its route: keys count */
	bool hashed;		/* it may yet have a key */
	bool stated;		/* the length of its body is known */
};

struct lobby;

/* One request, from its parameters to its log line. */
struct visit {
	struct person person;	/* first */
	struct idem_exchange x;
	struct lobby *lobby;
	struct conf *conf;	/* held */
	const struct conf_route *route;	/* of it; NULL: none */
	struct conn *conn;	/* NULL: nobody listens */
	struct detail *detail;	/* NULL: was parked */
	struct run *run;
	struct run_note note;	/* of what it claims, or has run */
	struct timer wait;	/* of WAIT and SLOT; for its body's end */
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
	enum idem_token_arbiter token;	/* x.issued_only: of its token */
	struct mint_ask *mint;	/* outstanding, or NULL */
	bool admitted, queued, waiting, renewing, handed;
	bool handed_unprotected;	/* what was handed to it */
	bool key_sent, html, head, identity;
};

/* A duplicate that waits: all that is left of its request. */
struct parked {
	struct person person;	/* first */
	uint32_t waiter, flight;
	bool html, head, identity, issued_only, old;
	enum idem_token_arbiter token;
	struct idem_history history;
	struct lobby *lobby;
	struct conf *conf;	/* held */
	const struct conf_route *route;
	struct conn *conn;
	struct timer timer;
	int64_t began_ms;
};

/* A store that is swept, and how far. */
enum { SWEEP_LEDGER, SWEEP_MEMORY, SWEEP_REDIS, SWEEPS };
struct sweep {
	struct lobby *lobby;
	struct idem_store *store;	/* NULL: none */
	struct idem_digest after;
	uint64_t cursor;
};

struct lobby {
	const struct options *options;
	const struct peers *peers;
	struct conf *conf;	/* in force, for requests that come */
	/* The largest of all that were in force: of runs still under way. */
	uint32_t lease_max_ms, limit_max_ms;
	struct shm *shm;
	uint32_t worker;
	struct idem_boot boot;
	int lock_folder, listener;
	struct loop *loop;
	struct front front;
	struct conns conns;
	struct log log;
	struct stores stores;
	struct mint mint;
	struct runner *runner;	/* NULL: no keeper at the moment */
	uint64_t next_keeper;	/* while the last one's words are not all
				   read */
	int next_socket;	/* -1: none */
	struct backends *backends;
	struct watch listening, control, wake, signals;
	struct timer accept_later, sweep;
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
	struct run_notes run_notes;
	struct space space;
	int64_t no_space_ms;	/* when it was last said; 0: there is some */
	uint32_t visits;
	struct visit *to_park;	/* by the WAIT port, for after the event;
				   linked by queue_next */
	uint64_t seen_ends;
	bool reading_ends;
	/* sweep.c */
	struct sweep sweeps[SWEEPS];
	uint32_t sweep_pending;
	uint32_t sweep_rounds;
	bool tidies;		/* it does what one of all need only do */
	int64_t keep_min_max_ms;	/* of all that were in force */
	struct settle *settle;
	bool left_to_others;	/* new connections, for a moment */
	bool take_all;		/* that come next */
	bool only;		/* one connection, and then the end */
	bool stopping;
	int64_t stop_ms;	/* since then */
};

/* lobby.c */
void lobby_trouble(struct lobby *, const char *store, const char *what,
    const char *why);
/* The start of a store key, for the log.  A token's begins with the time when
   it was made: more is needed to tell two apart. */
#define LOBBY_KEY 17
void lobby_key(const struct idem_digest *, bool token, char to[LOBBY_KEY]);
uint32_t lobby_person_add(struct lobby *, struct person *);
void lobby_person_remove(struct lobby *, struct person *);
void lobby_serve_queue(struct lobby *);
void lobby_stop(struct lobby *);	/* finish what is there, then end */

/* lobby_alert.c */
/* Tell the operator's command; key: which, or NULL for "see the log". */
void lobby_alert(struct lobby *, enum alert_kind,
    const struct idem_digest *key);
/* The same of the key of a visit, with what is known of its run, or of the one
   that it has written the end of. */
void lobby_alert_visit(const struct visit *, enum alert_kind);

/* lobby_journal.c */
/*
 * What is known of the owner of a store's record, whatever route it had; now_ms
 * as the store said it.  FINISHED: with its answer and times in *adopted, which
 * is the caller's; NULL: not wanted.
 */
enum idem_proof lobby_proof(struct lobby *, const struct idem_store *,
    const struct idem_record *, const struct idem_digest *key, int64_t now_ms,
    struct idem_adopted *adopted);
/* Will settle see to it?  Of that record, of which there is that proof, it
   knows more than its times say.  Not of one whose file names another store, or
   this one by another name. */
bool lobby_settles(const struct lobby *, const struct idem_store *,
    const struct idem_record *, enum idem_proof);
bool lobby_settle_open(struct lobby *);	/* false: no memory */

/* lobby_told.c */
void lobby_keeper(struct lobby *, uint64_t number, int socket);
void lobby_told_ready(struct watch *, uint32_t events);

/* lobby_accept.c */
void lobby_accept_ready(struct watch *, uint32_t events);
void lobby_accept_due(struct timer *, int64_t now_ms);
void lobby_accept_share(struct lobby *);	/* after each turn */
void lobby_accept_stop(struct lobby *);

/* visit_admit.c */
/* With its parameters; the first of its problems is v->refused. */
void visit_admit(struct visit *);
void visit_admit_body(struct visit *, struct idem_bytes);
void visit_admit_whole(struct visit *);	/* with its body: v->admit is final */
/* Its body is as long as it was said to be, though its end has not come. */
bool visit_admit_body_due(const struct visit *);

/* visit.c */
extern const struct conn_user visit_user;
struct visit *visit_new(struct lobby *, struct conf *, struct conn *,
    int64_t began_ms);
void visit_tell(struct visit *, const struct idem_event *);
void visit_free(struct visit *);
void visit_begin_exchange(struct visit *);
/* The first value of a parameter, or an empty text. */
struct idem_bytes visit_param(const struct detail *, const char *name);
void visit_ran(struct visit *, enum idem_run, enum idem_problem);

/* visit_token.c: the key as a token; else a problem is set. */
enum idem_problem visit_token(struct visit *);

/* visit_mint.c: is it for a token?  Then, whole, it is answered here. */
bool visit_mint_is(const struct visit *);
void visit_mint(struct visit *);

/* visit_look.c */
idem_port visit_look;

/* visit_reply.c */
void visit_reply(struct visit *, const struct idem_effect *);
/* How long its answer is kept at least, counted from its completion. */
int64_t visit_keep_ms(const struct visit *);
void visit_log(const struct visit *, int status, enum idem_mark,
    enum idem_sent);

/* visit_ports.c */
extern const struct idem_ports visit_ports;
/* The store that its effects at that place go to. */
struct idem_store *visit_store(const struct visit *, enum idem_where);
void visit_wait_cut(struct visit *, enum idem_waited);	/* WAIT is over */

/* visit_slot.c */
idem_port visit_slot;
void visit_slot_unused(struct idem_exchange *);
void visit_slot_end(struct visit *, enum idem_slot);	/* a queued one is */

/* visit_run.c */
idem_port visit_run, visit_probe, visit_record, visit_renew_later;
bool visit_note(struct idem_exchange *, const struct idem_effect *);
bool visit_renew_stop(struct idem_exchange *);
void visit_lost(struct idem_exchange *, const struct idem_store_result *);

/* waiting.c */
void waiting_look(struct visit *, struct idem_event *);
bool waiting_wait(struct visit *, const struct idem_effect *);
void waiting_park(struct lobby *);	/* after events: those to be parked */
void waiting_gone(struct parked *);
void waiting_one_less(struct lobby *);
void waiting_left(struct visit *);
void waiting_runs(struct visit *);	/* its claim is won */
void waiting_ends(struct lobby *);	/* read the ring */
void waiting_ask_all(struct lobby *);

/* sweep.c */
void sweep_start(struct lobby *);
void sweep_once(struct lobby *);	/* now; none is next if stopping */

#endif
