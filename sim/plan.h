/* SPDX-License-Identifier: ISC */
#ifndef PLAN_H
#define PLAN_H

#include "arena.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * What a scenario file says, for one test point: made once, from Lua or by a
 * test, and never changed.  Nothing in it knows in which world it is carried
 * out, and nothing but the binding knows Lua.  All texts are NUL-terminated and
 * live in the plan's arena; NULL where a text is not said.  Times are
 * milliseconds from the begin of a run.  An index names an element of one of
 * the plan's arrays; PLAN_NONE: none, PLAN_ANY: "*".
 */
#define PLAN_NONE (-1)
#define PLAN_ANY (-2)
#define PLAN_GATES_MAX 16
#define PLAN_STORES_MAX 8
/* What instances of a simulation have unless their `config` says otherwise:
   shorter than idemd's own, so that a run need not wait for them. */
#define PLAN_GRACE_MS 500
#define PLAN_PROBE_MS 250

/* --- numbers that are drawn ----------------------------------------------- */

enum plan_dist_kind {
	PLAN_CONST,		/* a */
	PLAN_UNIFORM,		/* a to b, both may come */
	PLAN_EXP,		/* of mean a, then cut to min and max */
	PLAN_CHOICE		/* one of n */
};

struct plan_dist {
	enum plan_dist_kind kind;
	double a, b, min, max;	/* max 0: no end */
	const double *of;	/* choice */
	size_t n;
};

/* --- who takes part ------------------------------------------------------- */

enum plan_persistence {
	PLAN_PERSIST_NONE, PLAN_PERSIST_RDB, PLAN_PERSIST_AOF_EVERYSEC,
	PLAN_PERSIST_AOF_ALWAYS
};

struct plan_pair {
	const char *name, *value;
};

struct plan_store {		/* one redis-server */
	const char *name;	/* "a" */
	enum plan_persistence persistence;
	int replica_of;		/* index, or PLAN_NONE */
	bool sentinel;		/* three sentinels watch this one, and gates
				   find it by them */
	const char *maxmemory, *maxmemory_policy;	/* as redis.conf has
							   them */
	const struct plan_pair *config;	/* more of redis.conf */
	size_t configs;
};

enum plan_arbiter { PLAN_LEDGER, PLAN_TOKEN, PLAN_REDIS };

/* Where in idem.conf a word of `config` stands. */
struct plan_gates {
	size_t n;		/* g1 ... gn; 1 to PLAN_GATES_MAX */
	enum plan_arbiter arbiter;
	int store;		/* the Redis that is arbiter, or with the ledger
				   the cache; or PLAN_NONE */
	bool cached;		/* with the ledger: the store is used */
	const char *ledger[PLAN_GATES_MAX];	/* its name: equal names are one
						   file; NULL: none */
	const struct plan_pair *config;	/* checked: plan_config_known */
	size_t configs;
	size_t workers;		/* of each; default 1 */
	bool lighttpd;		/* in front of each */
};

/*
 * The words of `config`, in the order of the documentation; NULL ends them.
 * `where`: "route", "top", "redis" (of the shared one or the cache), "tokens".
 * `kind`: "time", "size", "number", "word", "flag".
 */
struct plan_config_word {
	const char *name;	/* in a scenario, as "store_timeout" */
	const char *where;
	const char *in_conf;	/* in idem.conf, as "timeout" */
	const char *kind;
	int64_t min, max;	/* ms, bytes or a number */
	const char *words;	/* that it may be, parted by blanks; or NULL */
};
const struct plan_config_word *plan_config_words(void);
const struct plan_config_word *plan_config_known(const char *name);
/* NULL: the value is one; else why not, and what to say (in `out`). */
const char *plan_config_wrong(const struct plan_config_word *,
    const char *value, char *out, size_t size);
/* The value as idem.conf has it: "\"3s\"", "wait \"250ms\"", "retry(3)",
   "false", "8", "{ size = \"1MiB\" }". */
const char *plan_config_conf(const struct plan_config_word *,
    const char *value, char *out, size_t size);

enum plan_effect {
	PLAN_APPEND,		/* the program notes in the journal that it did
				   what it is for, begin and commit */
	PLAN_EFFECT_NONE,	/* it does nothing; begin and end are noted */
	PLAN_EXTERNAL		/* any CGI program: `command`; its starts are
				   not seen */
};

struct plan_handler {
	enum plan_effect effect;
	const char *command;	/* external: its path */
	struct plan_dist service_ms;	/* between begin and commit */
	int64_t output_bytes;	/* of the body, at least; 0: what it says */
	const char *business_id;	/* what the effect is on, whatever the
					   key; NULL: the key */
	const char *crash;	/* "", or where it ends by itself: "before",
				   "after" the effect, "output" */
	int64_t partial_output;	/* bytes after which it ends; -1: all */
	bool promises_length;	/* it sends Content-Length */
	int exit;		/* its status */
	int http_status;	/* 0: 200 */
	/* What its answer says besides: {effect_id}, {key}, {attempt}, {try}
	   and {nonce} stand for those of the run; NULL: nothing. */
	const char *output;
};

/* --- load ----------------------------------------------------------------- */

/* Who makes a key, and what it is. */
enum plan_source {
	PLAN_READY,		/* it is there when the run begins: a text, or
				   of arbiter token a token */
	PLAN_UUID, PLAN_BUSINESS, PLAN_COMPOSITE,	/* its client makes it,
				   before it is first sent, in that style */
	PLAN_MINT,		/* a token: its client asks the endpoint */
	PLAN_FORM		/* a token: its client takes it out of the form
				   of a page, and submits that form */
};
/* Its first user has to ask an instance for it. */
bool plan_source_asks(enum plan_source);
const char *plan_source_text(enum plan_source);	/* "mint"; "": READY */

/* What is sent instead of a token. */
enum plan_spoilt {
	PLAN_GOOD,
	PLAN_FORGED,		/* its signature is another's */
	PLAN_UNISSUED,		/* it is signed, and nobody has issued it */
	PLAN_ELSEWHERE		/* it is signed, for another route */
};
const char *plan_spoilt_text(enum plan_spoilt);	/* "forged"; "": GOOD */

struct plan_keys {
	size_t n;
	double zipf;		/* exponent; 0: all alike */
	bool once;		/* each request has a key of its own */
	size_t bodies;		/* variants of the body a key is sent with; 0
				   and 1: one */
	enum plan_source source;
};

enum plan_backoff { PLAN_BACKOFF_NONE, PLAN_BACKOFF_CONST, PLAN_BACKOFF_EXP };
enum plan_jitter {
	PLAN_JITTER_NONE, PLAN_JITTER_FULL, PLAN_JITTER_EQUAL,
	PLAN_JITTER_DECORRELATED
};

enum {	/* what is tried again after; bits */
	PLAN_ON_TIMEOUT = 1, PLAN_ON_RESET = 2, PLAN_ON_BUSY = 4,
	PLAN_ON_UNAVAILABLE = 8
};

struct plan_retry {
	unsigned max;		/* tries in all; at least 1 */
	struct plan_dist timeout_ms;	/* of each try */
	enum plan_backoff backoff;
	int64_t base_ms, cap_ms;
	enum plan_jitter jitter;
	unsigned on;		/* bits above */
	bool rotate;		/* a new key each try */
	bool honour_retry_after;
};

/* One request of a script. */
struct plan_send {
	int64_t at_ms;
	const char *client;	/* "c1" */
	const char *key;	/* NULL: without one */
	enum plan_source source;	/* the same for all of a key */
	enum plan_spoilt spoilt;
	bool get;		/* the token is asked for, if nobody has yet,
				   and not sent */
	const char *body;	/* NULL: "" */
	int gate;		/* index, or PLAN_NONE: where the client is */
	const char *method;	/* NULL: POST */
	const struct plan_pair *headers;
	size_t headers_n;
	int64_t timeout_ms;	/* 0: 10,000 */
	int64_t give_up_ms;	/* closes the connection after it; 0: never */
	size_t slow_bytes;	/* reads so many of the answer each 10 ms; 0:
				   all that is there */
	bool kept;		/* over the connection that the client has
				   there, which stays open */
	int line;		/* of the scenario */
};

enum plan_load_kind { PLAN_CLOSED, PLAN_OPEN, PLAN_STORM, PLAN_SCRIPT };

struct plan_load {
	enum plan_load_kind kind;
	size_t clients;		/* closed, storm */
	struct plan_keys keys;
	struct plan_retry retry;
	size_t requests_per_client;	/* closed */
	struct plan_dist think_ms;	/* closed */
	double rate;		/* open: a second */
	int64_t for_ms;		/* open */
	bool poisson;		/* open: else evenly */
	int64_t at_ms, within_ms;	/* storm */
	const struct plan_send *sends;	/* script */
	size_t sends_n;
};

/* --- faults --------------------------------------------------------------- */

enum plan_trigger_kind {
	PLAN_AT, PLAN_LABEL, PLAN_FRAME, PLAN_REPLY, PLAN_EFFECT, PLAN_ALL,
	PLAN_FIRST		/* any{}: the first of them */
};

struct plan_trigger {
	enum plan_trigger_kind kind;
	int64_t at_ms;
	int gate;		/* label, frame: index or PLAN_ANY */
	int store;		/* frame: index or PLAN_ANY */
	const char *label, *key;	/* key NULL: any */
	const char *script;	/* frame: an operation of the script, as
				   "claim"; NULL: any */
	const char *cmd;	/* frame: a command, as "GET"; NULL: any */
	bool reply;		/* frame: when its reply is there, not the
				   request */
	const char *client;	/* reply: "c1", or NULL: any */
	const char *class;	/* reply: outcome_text's words; NULL: any */
	unsigned nth;		/* the n-th that fits; 1 if not said */
	const struct plan_trigger *of;	/* all, first */
	size_t n;
};

enum plan_action_kind {
	PLAN_PROC_KILL, PLAN_PROC_PAUSE, PLAN_PROC_RESUME, PLAN_PROC_RESTART,
	PLAN_PROC_FAIL,
	PLAN_NET_DROP, PLAN_NET_HOLD, PLAN_NET_RELEASE, PLAN_NET_DELAY,
	PLAN_NET_RESET, PLAN_NET_ONEWAY, PLAN_NET_SLICE, PLAN_NET_REFUSE,
	PLAN_NET_ERROR, PLAN_NET_HEAL,
	PLAN_STORE_KILL, PLAN_STORE_RESTART, PLAN_STORE_PAUSE,
	PLAN_STORE_RESUME, PLAN_STORE_SLOW, PLAN_STORE_ERROR, PLAN_STORE_OOM,
	PLAN_STORE_FLUSH, PLAN_STORE_EVICT, PLAN_STORE_EXPIRE,
	PLAN_STORE_SCRIPT_FLUSH, PLAN_STORE_SAVE, PLAN_STORE_LAG,
	PLAN_STORE_FAILOVER, PLAN_STORE_REJOIN,
	PLAN_DISK_POWER_LOSS, PLAN_DISK_FULL, PLAN_DISK_IOERR, PLAN_DISK_BUSY,
	PLAN_CLOCK_JUMP, PLAN_CLOCK_RATE,
	PLAN_CLIENT_GIVE_UP, PLAN_CLIENT_ABORT,
	PLAN_OPERATOR_RESOLVE,
	PLAN_ACTIONS
};

enum plan_part { PLAN_WHOLE, PLAN_LOBBY, PLAN_KEEPER, PLAN_PROGRAM };

/*
 * A link is named by who connects to whom: "g1->a", "*->a", "g1->*"; and "b->a"
 * for that of the replica b to its master (gate PLAN_NONE, store b).
 *
 * One thing that is done to the world.  Each is a fault of its own, which must
 * be seen to have happened (but for what ends one: resume, release, heal,
 * restart, rejoin, and amounts of 0).
 */
struct plan_action {
	enum plan_action_kind kind;
	unsigned id;		/* dense, over the whole plan: 0 ... faults-1 */
	int line;
	int64_t after_ms;	/* since its trigger; 0: at once */

	int gate;		/* proc, net, clock, disk: index, PLAN_ANY or
				   PLAN_NONE */
	int store;		/* net, store, clock: the same */
	enum plan_part part;	/* proc */
	const char *client;	/* client */
	const char *key;	/* operator, store.evict, store.expire */
	const char *word;	/* operator: "done", "not-done", "forget";
				   error: "READONLY", ...; fail: "EAGAIN",
				   ... */
	int64_t ms;		/* delay, slow, jump */
	double rate;		/* clock */
	bool requests, replies;	/* net: which way; both if neither is said */
	unsigned nth;		/* net: the n-th frame that fits from now; 1 */
	unsigned times;		/* net: so many of them; 0: all until heal */
	const char *script, *cmd;	/* net: of these only */
	size_t bytes;		/* slice: pieces of; reset: after */
	bool empty;		/* restart: without its data */
	bool older;		/* restart: with what store.save had put by */
	unsigned lose;		/* failover: acknowledged writes; 0: what its
				   link has not passed on */
	int to;			/* failover: the replica; rejoin: of whom */
	bool freeze;		/* lag: for good; else by ms */
	bool ends;		/* oom, disk: it is over, not begun */
};

struct plan_rule {
	struct plan_trigger when;
	const struct plan_action *actions;	/* each after its after_ms */
	size_t n;
	int line;
};

/* A choice to be explored: live, it is drawn whether and when. */
struct plan_maybe {
	unsigned times;		/* at most */
	struct plan_action action;
	int64_t from_ms, to_ms;	/* window; 0 and 0: until heal */
	int64_t restart_after_ms;	/* -1: not */
	int line;
};

/* --- what must hold ------------------------------------------------------- */

enum plan_invariant {	/* the words are plan_invariant_text's */
	PLAN_AT_MOST_ONCE, PLAN_AT_MOST_ONCE_PER_BUSINESS_ID,
	PLAN_SAME_ANSWER, PLAN_ACK_DURABLE,
	PLAN_NO_FALSE_DEFINITE, PLAN_MUTUAL_EXCLUSION, PLAN_NO_CROSS_TALK,
	PLAN_FINGERPRINT_GUARD, PLAN_NO_PARTIAL_SUCCESS,
	PLAN_LATE_COMPLETER_HARMLESS, PLAN_UNKNOWN_HONEST, PLAN_BUSY_HONEST,
	PLAN_ANSWERS_HONEST, PLAN_LEDGER_STORE_AGREE,
	PLAN_DIVERGENCE_REPORTED, PLAN_STORM_BOUNDED, PLAN_RESOLVES,
	PLAN_NEW_KEYS_SUCCEED,
	PLAN_INVARIANTS
};
const char *plan_invariant_text(enum plan_invariant);	/* "at_most_once" */
bool plan_invariant_find(const char *, enum plan_invariant *);

/* A bound: base + the number of faults of a kind; unset if !set. */
struct plan_bound {
	bool set;
	int64_t base;
	const char *per_fault;	/* NULL: none; "lease_expiry", ... */
};

struct plan_expect {
	bool holds[PLAN_INVARIANTS];	/* those of `eventually` too */
	const char *relaxed[PLAN_INVARIANTS];	/* the reason; NULL: not */
	bool violates[PLAN_INVARIANTS];	/* a negative control: it must be */
	const char *blames;	/* "client"; NULL: not said */
	struct plan_bound handler_runs_per_key, store_ops_per_attempt,
	    queue_depth, goodput_recovers_within_ms, innocent_p99_ms;
	bool fired_any;		/* fired = "any": one of the faults is enough;
				   else all but those of maybe */
	bool fired_none;	/* fired = "none": nobody counts */
	/* Lua, by the scenario's own numbers (scenario.h). */
	const char *const *sometimes;	/* names */
	size_t sometimes_n;
	const char *const *custom;	/* names of sim.invariant's */
	size_t custom_n;
};

struct plan_explore {
	unsigned runs;		/* live; 0: 1 */
	int64_t wall_ms;	/* live, of all runs; 0: 60,000 */
	bool searches;		/* it says something of a model, whose world is
				   not built: nobody carries that out */
};

enum { PLAN_MODEL = 1, PLAN_LIVE = 2 };

struct plan {
	struct arena arena;	/* holds all of it */
	const char *file;	/* as it was named */
	const char *name, *about;
	unsigned number;	/* of the point, in the file: from 1 */
	unsigned modes;
	const struct plan_pair *params;	/* of this point */
	size_t params_n;

	const struct plan_store *stores;	/* in the order of names */
	size_t stores_n;
	struct plan_gates gates;
	struct plan_handler handler;
	const struct plan_load *loads;
	size_t loads_n;
	const struct plan_rule *rules;
	size_t rules_n;
	const struct plan_maybe *maybes;
	size_t maybes_n;
	unsigned actions_n;	/* ids of actions are below it */
	int64_t heal_ms;	/* all faults end; -1: when load and rules are
				   over */
	int64_t quiet_ms;	/* then nothing is done for so long at most */
	struct plan_expect expect;
	struct plan_explore explore;
};

void plan_free(struct plan *);

/* "kill g1 at claim.ok": for a report; in the plan's words. */
const char *plan_action_text(const struct plan *, const struct plan_action *,
    char *out, size_t size);
/* "kill g1": without when. */
const char *plan_action_phrase(const struct plan *, const struct plan_action *,
    char *out, size_t size);
const char *plan_trigger_text(const struct plan *, const struct plan_trigger *,
    char *out, size_t size);
/* Every action once, in the order of ids; NULL past the last. */
const struct plan_action *plan_action_at(const struct plan *, unsigned id);
/* An action that only ends a fault, or sets something back: nobody counts
   whether it happened. */
bool plan_action_heals(const struct plan_action *);
/* What the gates' `config` says of a word; NULL: nothing.  As milliseconds, or
   bytes; or that, if nothing is said. */
const char *plan_config_value(const struct plan *, const char *name);
int64_t plan_config_ms(const struct plan *, const char *name,
    int64_t otherwise_ms);
int64_t plan_config_bytes(const struct plan *, const char *name,
    int64_t otherwise);
/* Names of labelled points, in the order in which a request comes to them; NULL
   ends them. */
const char *const *plan_labels(void);
/* Those of them at which a call of the kernel can be made to fail. */
const char *const *plan_failing_labels(void);
/* The number of an error by its word, "EIO"; 0: it is none that is known. */
int plan_errno(const char *word);
/* SHA-256 of all that it says, as "sha256:" and 64 hex digits, with NUL. */
void plan_digest(const struct plan *, char out[72]);

#endif
