/* SPDX-License-Identifier: ISC */
#ifndef HISTORY_H
#define HISTORY_H

#include "outcome.h"
#include "plan.h"

#include <stdio.h>

/*
 * What happened in one run: events in the order of the simulator's own single
 * clock, and a head that says what was to hold, so that a stored history can be
 * judged again.  It is the only thing that checkers, diagrams and a scenario's
 * own functions see; nothing in it says in which world it was made but the
 * head's `mode`.  All texts are NUL-terminated and live in its arena.
 */
enum history_kind {	/* the word in a file */
	HISTORY_INV,		/* inv     a client sends a request */
	HISTORY_RET,		/* ret     its try has ended, or it gave up */
	HISTORY_SEND,		/* send    a message leaves: command, request */
	HISTORY_RECV,		/* recv    and arrives: `m` is the same */
	HISTORY_LABEL,		/* lbl     a labelled point was come to */
	HISTORY_STORE,		/* store   what a server did, or answered */
	HISTORY_LEDGER,		/* ledger  what stands there in the end */
	HISTORY_EFFECT,		/* effect  by a program: begin, commit, end */
	HISTORY_FAULT,		/* fault */
	HISTORY_HEAL,		/* heal    of all faults, or of one */
	HISTORY_SPAWN,		/* spawn   a process began */
	HISTORY_EXIT,		/* exit    and ended */
	HISTORY_LOG,		/* log     a line that an instance wrote of a
				   request, or a `two-runs`, `unprotected` */
	HISTORY_NOTE,		/* note */
	HISTORY_END,		/* end     the last */
	HISTORY_KINDS
};
const char *history_kind_text(enum history_kind);

struct history_stamp {	/* of a vector clock */
	uint16_t lane;
	uint32_t n;
};

/*
 * Who fills what.  Members that an event's kind has no use for are 0, -1 (fault
 * and retry_after_s) or NULL, as history_add makes them; what a world cannot
 * know is left so too, and a checker that would need it then says nothing
 * (check.h).
 *
 * inv	a, k, f, to, client, nonce, audit, fresh, innocent; p is the client's
 *	lane.  k is of key and scope: requests whose method differs have keys
 *	of different names.  f is of all that the fingerprint is of.  `to` is
 *	an instance: "g1".  Of one that asks for a token: get, what (the key
 *	that it is to be); no k and f.
 * ret	a, class, how, status, mark, why, d, says_*, length_met, retry_after_s,
 *	and of its inv: k, f, to, get, what.  source: from the instance's log,
 *	later.
 * send	when a command leaves an instance: p "g1", to "a", m, cmd, script, k
 *	and token if they are known, fate.  Of a server's reply nothing is sent.
 * recv	p a server: the command (same m) was passed on to it just now.  Needed
 *	where it lay in between; else send stands for it.  p an instance: the
 *	reply (same m) was passed on to it; code.
 * store	p a server, m: its reply was seen to leave it, code: before this
 *	moment it was carried out.  k, script, token as of its send.
 *	m 0 and note: "lost_ack" (a write that it had acknowledged is gone) or
 *	"lease_expired_running" (k: a program was started for a later attempt
 *	while that of an earlier one had begun and not ended).
 *	m 0 and what, at the end: k and the state of its record there.
 * ledger	the same; p names the ledger ("host1").  One event for each key
 *	that was sent, "absent" too; without any of them nothing is judged.
 * effect	a, k, id, ph, business (NULL: the plan names none), attempt,
 *	gate, life, pid; p is the run's own lane.  "end" is written as a
 *	program's last deed, after all that it has to say, and not where it is
 *	cut or crashes.
 * lbl	p an instance, label, k, pid.  Those that the plan waits for; and where
 *	a ledger decides, as commands to it are not seen: "run.begin", it has
 *	got the key and is to run it, "complete.ok", "release.ok", "unknown.ok",
 *	the ledger has what has become of it.  Of one that was killed there may
 *	be none, and it is told of when the simulator comes to hear of it:
 *	reports show them, verdicts do not rest on them.
 * fault	when it was seen to strike: fault (the action's id), p the lane
 *	that it strikes, what, label; gate: which instance, if one; k and
 *	script: key and word of operator.resolve; by_ms: of clock.jump.  cmd
 *	(history_act) only where fault is -1.  What ends another
 *	(plan_action_heals) is a heal with its own id.
 * heal	fault -1: all faults of the plan have ended, and what was killed is up
 *	again.  Once; after it nothing strikes.
 * spawn	gate, life, pid; or p a server.
 * exit	why ("SIGKILL", "exit 1"), wanted (the plan killed it, or the run is
 *	over), gate, life.  Without gate and wanted: a part of the instance p
 *	("lobby: SIGKILL"), or the program of p, whose end nobody wanted.
 * log	p and gate an instance, life; what: "two-runs" (lost=completion
 *	record=taken), "unprotected", "request"; k (NULL: whose is not known),
 *	a, status, mark, source.
 * note	what; label "leak": something was left behind (a process, a descriptor,
 *	a claim); label "stall": the simulator itself was not run for so long
 *	that leases may have ended (lease / 4 and more); label "oom": the kernel
 *	has killed for want of memory.
 * end	the run came to its end as planned, and nothing happens after it.
 */
struct history_event {
	enum history_kind kind;
	uint32_t i;		/* dense, from 1 */
	int64_t t_ns;		/* since the run's begin */
	const char *p;		/* whose lane: "c1", "g1", "a", "h3" (the third
				   program), "-": nobody's */

	/* inv, ret; and of others the try that they are about: */
	int a;			/* the try, from 1; 0: not known */
	const char *k;		/* symbolic key, "k1"; NULL: without, or not
				   known */
	const char *f;		/* which body: equal texts are equal bodies */
	const char *to;		/* inv, send: where */
	const char *client;	/* inv: who ("c1") */
	bool audit;		/* inv: by the simulator itself, after quiet */
	bool fresh;		/* inv: of a key of which nobody has heard */
	bool innocent;		/* inv: of a load that is not in the storm */
	const char *get;	/* inv, ret: a token was asked for: "mint",
				   "form" */

	/* ret, log: */
	enum outcome class;	/* ret */
	enum outcome_end how;	/* ret */
	int status;
	const char *mark;	/* Idempotency-Status */
	const char *source;	/* ret, log: "fresh", "local", "redis",
				   "ledger", "waited", ..., of idemd's log */
	const char *d;		/* ret: digest of status, header lines (without
				   ours, Date, Server, connection's) and body;
				   NULL: no whole answer */
	const char *says_key, *says_nonce, *says_effect;	/* what the
			program's answer names; NULL: it does not */
	const char *nonce;	/* inv: what the program is to name */
	bool length_met;	/* ret: a promised length was, or none was
				   promised */
	int64_t retry_after_s;	/* ret; -1: not said */

	/* send, recv, store: */
	int m;			/* which message; 0: none */
	const char *cmd;	/* "EVALSHA", "GET"; fault: "proc.kill" */
	const char *script;	/* operation of ours: "claim", "complete" */
	const char *code;	/* store, recv: "WON", "LOST", "-OOM", ... */
	const char *token;	/* owner, or "OWNER.ATTEMPT", as it was sent:
				   what is before the dot is compared */
	const char *fate;	/* send, recv: NULL: it went its way; "lost",
				   "held", "delayed", "cut", "answered" (an
				   error of ours) */

	/* effect: */
	const char *id;		/* "e1": one of a run */
	const char *ph;		/* "begin", "commit", "end" */
	const char *business;	/* what it was on */
	int attempt;		/* IDEMPOTENCY_ATTEMPT */
	const char *gate;	/* effect, log, spawn: instance ... */
	int life;		/* ... and which of its lives, from 1 */
	int64_t pid;

	/* lbl, fault, heal, exit, note, ledger: */
	const char *label;	/* lbl; fault: where it struck */
	int fault;		/* the action's id; -1: none */
	int64_t by_ms;		/* fault: so far a clock was set; 0: not said */
	bool wanted;		/* exit: the plan had to do with it */
	const char *what;	/* inv, ret: which token; else in words: fault,
				   exit, note, log ("two-runs",
				   "unprotected", "request"); ledger, store: the
				   state of the record at the end ("completed",
				   "unknown", "in progress", "absent",
				   "tombstone") */
	const char *why;	/* ret, exit: errno's word or a signal's */
	const char *note;	/* store: "lost_ack", "lease_expired_running" */

	const struct history_stamp *v;	/* vector clock (history_stamp_all) */
	size_t v_n;
};

/* A number in the plan's bounds, with its symbols resolved. */
struct history_bound {
	bool set;
	int64_t value;
	const char *per_fault;	/* value grows by 1 with each such fault */
};

/* What was to be: from the plan, and enough to judge without it. */
struct history_head {
	const char *tool;	/* "idemsim 0.1.0" */
	const char *plan;	/* plan_digest */
	const char *scenario;	/* name */
	const char *file;
	unsigned point;
	const char *mode;	/* "live", "model" */
	uint64_t seed;
	unsigned run;		/* from 1 */
	const struct plan_pair *params;
	size_t params_n;
	const char *arbiter, *on_unknown, *on_outage;
	unsigned retries;	/* under retry: starts in all */
	int64_t lease_ms, grace_ms, wait_ms, limit_ms;
	size_t gates;
	bool ledger_shared;	/* all instances have one */
	bool sentinels;		/* a server that does not answer is replaced */
	bool front;		/* a web server stands before each, and may
				   answer in its place */
	bool handler_answers;	/* the program's answer names key and effect */
	bool handler_fails;	/* by the plan, it may end without a whole
				   answer (or nobody knows: external) */
	bool business;		/* the plan names a business id */
	int64_t keep_ms;	/* of answers, at least */
	int64_t once_ms;	/* keep and tombstone: then it is a new key */
	int64_t probe_ms;	/* after an outage: by then it is asked again */
	const char *blames;
	bool holds[PLAN_INVARIANTS], violates[PLAN_INVARIANTS];
	const char *relaxed[PLAN_INVARIANTS];
	struct history_bound handler_runs_per_key, store_ops_per_attempt,
	    queue_depth, goodput_recovers_within_ms, innocent_p99_ms;
	/* Each fault of the plan, by its id: its words, whether it must
	   happen (0: it only heals; 1: yes; 2: maybe), and how often it did. */
	struct history_fault {
		const char *text;
		const char *act;	/* history_act: "proc.kill" */
		int must;
		unsigned fired;
	} *faults;
	size_t faults_n;
	bool fired_any, fired_none;
	size_t own;		/* functions of the scenario's own have a say */
	bool others;		/* what this run did not put to the test, runs
				   of other points of its file may have, or
				   nobody asked for: it is not vacuous for
				   that */
};

struct history {
	struct arena arena;
	struct history_head head;
	struct history_event *events;	/* by i - 1; there, if n is 0 too */
	size_t n;
	const char **lanes;	/* names, in the order in which they came */
	size_t lanes_n;
	struct history_private *in;	/* private */
};

/* The word of an action in a scenario: "proc.kill". */
const char *history_act(enum plan_action_kind);

/* From the plan: the head.  Then events are added as they happen. */
void history_begin(struct history *, const struct plan *, const char *mode,
    uint64_t seed, unsigned run);
/*
 * One more event, at t_ns not before the last one's (else it takes the last
 * one's time); kind and p are set, texts of the caller are copied
 * (history_text).  Good until the next one is added.
 */
struct history_event *history_add(struct history *, enum history_kind,
    int64_t t_ns, const char *p);
/* One copy of each text; of bytes that are no UTF-8 "\xff" stands in it. */
const char *history_text(struct history *, const char *);
/*
 * An event that is learnt of late (an effect, from the journal): put where its
 * time belongs, behind others of that time; `i` of those after it changes.
 * Where the way is long that is done by history_settle, for all at once.  Not
 * while others hold events.
 */
struct history_event *history_insert(struct history *, enum history_kind,
    int64_t t_ns, const char *p);
/* All are in their places.  After the last insert; stamp_all does it too. */
void history_settle(struct history *);
/*
 * At the end: vector clocks of all, from lanes (what follows in one), messages
 * (same m), tries (same a) and answers (to the effect that they name).  Of a
 * history that is too large for that (HISTORY_STAMPS in all) the rest has none.
 */
#define HISTORY_STAMPS (8u << 20)
void history_stamp_all(struct history *);
/* Did x happen before y, as their vector clocks say?  false without them. */
bool history_before(const struct history_event *x,
    const struct history_event *y);
void history_free(struct history *);

/* --- as a file (history_json.c): JSONL, the head first -------------------- */

#define HISTORY_EVENTS_MAX 1000000u	/* of one that can be read */

/* 0; -1 and errno. */
int history_write(const struct history *, FILE *);
/*
 * 0; -1: it is none, and `wrong` says where and why ("NAME:LINE: ...").
 * Unknown members are passed over; another `fmt` is refused, and more than a
 * million events, 18 years, or a line of more than 1 MiB.  Numbers are whole.
 * Vector clocks are made anew.  Members have the names that they have here, but
 * "e" for kind, "t" for t_ns, "at" for label and "tok" for token; what is 0,
 * false or NULL (fault, retry_after_s: -1) is left out, but i, t and p never
 * are.
 */
int history_read(struct history *, FILE *, const char *name, char *wrong,
    size_t wrong_size);
/*
 * Can a run have had it (history_odd.c)?  0: yes.  Else the number of the line
 * of a file in which it does not go with what stands before, and why: the head
 * says which arbiter and which policies there were, in their own words; each
 * try is sent once and then ends once at most; each run begins, commits and
 * ends in this order, once; faults are the head's.  What a verdict is about is
 * then there as often as it happened: of anything else none should be given.
 */
size_t history_odd(const struct history *, char *why, size_t why_size);
/* What a run cannot do after what it did before (words of `ph`; NULL: nothing
   yet), in words: "begins twice".  NULL: it can. */
const char *history_run_odd(const char *before, const char *ph);

/* For people: a line an event, aligned (history_say.c). */
void history_say(const struct history *, FILE *);
/* One event in words, without its time: "c1 -> g1 k1 (try 2)". */
const char *history_event_text(const struct history_event *, char *out,
    size_t size);

#endif
