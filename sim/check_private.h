/* SPDX-License-Identifier: ISC */
#ifndef CHECK_PRIVATE_H
#define CHECK_PRIVATE_H

#include "check.h"

/*
 * A history as checkers look at it: what belongs together is together.  Made
 * once, O(n log n); all of it goes with check_view_free, and none of it is
 * good for longer than the history.
 */
#define CHECK_NO_KEY SIZE_MAX

struct check_try {
	int a;
	const struct history_event *inv, *ret;	/* ret NULL: it has none */
	size_t key;		/* CHECK_NO_KEY: it had none */
	size_t question;	/* the same for the same key and body */
	size_t gate;		/* the number of its `to`; 0 without one, too */
	enum outcome class;	/* NONE without ret */
	const struct check_run *run;	/* the first that carries it, or NULL */
};

struct check_run {		/* of the program: one effect's lines */
	const char *id;
	const struct history_event *begin, *commit, *end;
	const struct history_event *first;	/* of its lines */
	int a;			/* 0: whose is not known */
	size_t key;
};

struct check_times {		/* ascending */
	int64_t *at_ns;
	size_t n;
};

struct check_key {
	const char *name;
	struct check_try **tries;	/* in the order of inv */
	size_t tries_n;
	struct check_run **runs;	/* in the order of their first lines */
	size_t runs_n;
	struct check_times resolved;	/* by the operator */
	struct check_times freed;	/* ... whose word was not "done" */
	struct check_times expired;	/* a lease, beside its run */
	struct check_times stored;	/* an instance's log, or the server that
					   has it, says: it is completed */
};

/* Something that may cut or delay: when it began, and until when it lasted. */
struct check_fault {
	const struct history_event *event;
	const char *act;	/* "proc.kill"; "stall" of the simulator's */
	int64_t from_ns, until_ns;	/* INT64_MAX: to the end */
	bool cuts;	/* it can make a claim, a run, or the words about it end
			   early: all but what clients and operators do */
	size_t longest;	/* of it and all before that cut: which lasts longest;
			   SIZE_MAX: none of them cuts */
	size_t open;	/* private: the one before that lasts, too; + 1 */
};

struct check_view {
	const struct history *h;
	const struct history_head *head;
	struct arena arena;
	struct check_try *tries;	/* in the order of a */
	size_t tries_n;
	struct check_run *runs;
	size_t runs_n;
	struct check_key *keys;	/* in the order in which they came */
	size_t keys_n;
	size_t questions_n, gates_n;
	struct check_fault *faults;	/* in the order of their begin */
	size_t faults_n;
	struct check_times resolved, freed, expired;	/* of a key that is
							   not known */
	bool commits;		/* there is a commit in the journal at all */
	bool ended;		/* the run came to its end */
	int64_t healed_ns;	/* when all faults had ended; of none: 0 */
	struct check_words *words;	/* private */
	size_t lanes_n;
};

void check_view_make(struct check_view *, const struct history *);
void check_view_free(struct check_view *);
/* The key of that name; CHECK_NO_KEY: nobody sent it (or NULL). */
size_t check_view_key(const struct check_view *, const char *);
/* The lane's number, of at most as many as there are events. */
size_t check_view_lane(struct check_view *, const char *);
const struct check_try *check_view_try(const struct check_view *, int a);
const struct check_run *check_view_run(const struct check_view *,
    const char *id);

/* As check() does, on a view. */
void check_by(const struct check_view *, enum plan_invariant,
    struct check_finding *);

/* --- what a program has done (check_view.c) ------------------------------- */

/* y came after x.  Live, equal times say nothing; in a model time stands still,
   and the order of events is what there is. */
bool check_after(const struct check_view *, const struct history_event *x,
    const struct history_event *y);
/* Its effect has happened: it committed; or, of a program that has none to
   commit, it came to its end. */
const struct history_event *check_run_did(const struct check_view *,
    const struct check_run *);
/* The last moment at which it surely went about its effect: its commit, else
   its end, else its first line. */
const struct history_event *check_run_close(const struct check_run *);

/* --- faults (check_fault.c) ----------------------------------------------- */

void check_faults_make(struct check_view *);
/* What can end a program, or a process that looks after it. */
bool check_fault_kills(const struct check_fault *);
/* One that cuts and was, or what it left was, there at some moment between.
   linger_ns: that much longer than it lasted.  NULL: none. */
const struct check_fault *check_fault_within(const struct check_view *,
    int64_t from_ns, int64_t to_ns, int64_t linger_ns);
/* Of a family of actions: "net". */
bool check_fault_is(const struct check_fault *, const char *family);
/* So long after a fault's end keys and instances may still show it: a lease and
   its grace, and the next look at a store that was away. */
int64_t check_linger_ns(const struct check_view *);
int64_t check_ns(int64_t ms);	/* of the head's; less than 0: 0; bounded */
int64_t check_later(int64_t, int64_t);	/* their sum; INT64_MAX at most */
/* The operator's word on a key (or on one that is not known) between. */
bool check_fault_operator(const struct check_view *, size_t key,
    int64_t from_ns, int64_t to_ns);
/* A word of his after which it may be run again: any but "done"; "forget" has a
   tombstone of its own, whose end is not in a history. */
bool check_fault_freed(const struct check_view *, size_t key, int64_t from_ns,
    int64_t to_ns);

/*
 * A time of a key's, in which something may have ended its claim, its run or
 * the words about it before their time (check_reach.c).  Its first run is the
 * number of one in the key's: what happened only to those before it, whose
 * claims were over by then, does not count.
 */
struct check_span {
	const struct check_key *key;
	size_t run;
	int64_t from_ns, to_ns;
};

/*
 * A fault that was there at some moment of it.  None of a client or an
 * operator; of a process, a link or a disk if the key may have been that
 * instance's, and a kill not if what there was of it had not begun yet; of a
 * store where that has its claim, and a step of a store's clock if it is as
 * long as a lease may last.  And before its first final answer from then on was
 * read, or is known to have been stored, unless the fault makes a store forget
 * that, or the key has become a new one since.  NULL: none.
 */
const struct check_fault *check_fault_reached(const struct check_view *,
    const struct check_span *);
/* "store.flush": what a server has acknowledged may be gone; so it may be for
   one that stood still only if sentinels replace it. */
bool check_act_forgets(const struct check_view *, const char *act);
/*
 * The arbiter may have a past in which the latest of what it said never was; or
 * there is more than one of it, and each counts for itself.  A ledger never
 * forgets, not even without power.
 */
bool check_arbiter_forgets(const struct check_view *);

/* A lease of the key (or of one that is not known) ended beside its run. */
bool check_lease_ended(const struct check_view *, size_t key,
    int64_t from_ns, int64_t to_ns);

/*
 * May run i of a key be there beside the one before it, by the policy and what
 * happened?  Under retry and probe if the one before was cut, or its end could
 * not be told: a fault, a lease that ended, a program that ended by itself; by
 * the operator's word always; and when a key has become a new one.
 */
bool check_run_excused(const struct check_view *, const struct check_key *,
    size_t i);

/* --- the last look (check_look.c) ----------------------------------------- */

/*
 * When all is healed and quiet the simulator asks for each key at each
 * instance, and for fresh keys, and again while it gets no word.  What counts
 * is the last such try of a key at an instance; of fresh keys, of an instance.
 * How many; a key's are side by side, and so are those of an instance.
 */
size_t check_looks(const struct check_view *, struct arena *, bool fresh,
    const struct check_try ***);
/* From then on whatever a fault has left is over; without one, from the
   begin. */
int64_t check_settled_ns(const struct check_view *);

/* --- findings (check_find.c) ---------------------------------------------- */

void check_find(struct check_finding *, enum check_said, const char *key,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
void check_find_event(struct check_finding *, const struct history_event *);
/* Open, for that try has no end, or came too early. */
void check_find_open(struct check_finding *, const struct check_try *);
/* The first violation is kept; but one that no delay explains comes before all
   others, and then there is no use in looking for more. */
void check_find_keep(struct check_finding *, const struct check_finding *);
bool check_find_certain(const struct check_finding *);
/* It holds: exercised, or not. */
void check_find_end(struct check_finding *, bool exercised);
bool check_is(const char *, const char *);	/* equal texts; NULL is none */

/* --- one an invariant ----------------------------------------------------- */

typedef void check_fn(const struct check_view *, struct check_finding *);

check_fn check_at_most_once;			/* check_once.c */
check_fn check_at_most_once_per_business_id;
check_fn check_mutual_exclusion;
check_fn check_same_answer;			/* check_answer.c */
check_fn check_no_cross_talk;
check_fn check_no_partial_success;
check_fn check_ack_durable;			/* check_ack.c */
check_fn check_no_false_definite;		/* check_honest.c */
check_fn check_busy_honest;
check_fn check_unknown_honest;			/* check_unknown.c */
check_fn check_answers_honest;			/* check_said.c */
check_fn check_fingerprint_guard;		/* check_guard.c */
check_fn check_late_completer_harmless;		/* check_late.c */
check_fn check_ledger_store_agree;		/* check_store.c */
check_fn check_divergence_reported;
check_fn check_storm_bounded;			/* check_storm.c */
check_fn check_resolves;			/* check_settle.c */
check_fn check_new_keys_succeed;

#endif
