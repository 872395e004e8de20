/* SPDX-License-Identifier: ISC */
#ifndef LIVE_PRIVATE_H
#define LIVE_PRIVATE_H

#include "caller.h"
#include "draw.h"
#include "instance.h"
#include "load.h"
#include "net.h"
#include "preload.h"
#include "server.h"
#include "stops.h"
#include "world.h"

#define LIVE_PATH 120
#define LIVE_PREFIX "idem:"	/* of what idem has in a Redis */
#define LIVE_SAID 400		/* of a server's reply in words */
#define LIVE_RUNS_MAX 200	/* of one cast: ledgers grow */

/* A file that the preloaded library of a process maps as well. */
struct live_map {
	char path[LIVE_PATH];
	void *at;
	size_t size;
};

struct live_gate {
	struct live_cast *cast;
	unsigned index;
	struct instance instance;
	struct instance_spec spec;
	struct net *link;	/* to the store; NULL: it has none */
	char link_path[LIVE_PATH], link_url[LIVE_PATH + 8];
	int aimed;		/* which store that is now */
	int ledger;		/* in cast->ledgers; PLAN_NONE */
	struct live_map clock, disk;
	char boot[LIVE_PATH];	/* file in the place of boot_id */
	unsigned passed[NET_WAYS], lost[NET_WAYS];	/* frames, so far */
	unsigned refused;	/* connections to its store (store.refused) */
	bool down, paused;	/* as the plan has it */
	size_t processes, descriptors;	/* before the first request */
	size_t seen;		/* processes, by the last look */
	size_t answers, lines;	/* whole ones in this life; lines of requests */
	bool starved;		/* it has said that it may open no more files */
};

struct live_store {
	struct live_cast *cast;
	unsigned index;
	struct server server;
	struct net *replication;	/* from it to its master; or NULL */
	struct live_map clock;
	bool down, frozen, full;
	int follows;		/* whom; PLAN_NONE: nobody */
	int64_t stream_from;	/* its offset when its link began to be read */
};

struct live_ledger {
	const char *name;	/* the plan's */
	char folder[LIVE_PATH], path[LIVE_PATH], shadow[LIVE_PATH];
};

/*
 * Who takes part: servers, links and instances.  It outlives a run that did
 * no harm, so that the next one of the same plan need not wait for them.
 */
struct live_cast {
	struct loop *loop;
	const struct plan *plan;
	char folder[LIVE_PATH];
	unsigned runs;
	bool harmed;		/* no other run may have it */
	bool preload;		/* clocks or disks are touched */
	struct live_gate gates[PLAN_GATES_MAX];
	size_t gates_n;
	struct live_store stores[PLAN_STORES_MAX];
	size_t stores_n;
	struct server sentinels[SERVER_SENTINELS];
	const char *sentinels_at[SERVER_SENTINELS + 1];
	struct live_ledger ledgers[PLAN_GATES_MAX];
	size_t ledgers_n;
	struct stops *stops;
	char stops_path[LIVE_PATH], effects[LIVE_PATH], tokens[LIVE_PATH];
	char program[LIVE_PATH * 2], library[LIVE_PATH * 2];
	char labels[1024];
	uint32_t numbers;	/* of messages */
	char wrong[200];	/* what did not start; "": all did */
	struct live *run;	/* the one that goes on; or NULL */
};

/* --- a run's parts -------------------------------------------------------- */

/* A key: as a history calls it, as it is sent, and as it is stored. */
struct live_key {
	const char *name;
	const char *sent;	/* quoted, or a token */
	char hex[65];
};

/* How far a trigger has come. */
struct live_wait {
	const struct plan_trigger *trigger;
	unsigned seen;
	bool met;
	struct live_wait *of;	/* all, first */
};

/* Something that a trigger may have waited for. */
struct live_event {
	enum plan_trigger_kind kind;
	int gate, store;	/* PLAN_NONE: of none */
	const char *label, *key, *script, *cmd, *client, *class;
	bool reply;
	unsigned stop;		/* who waits for its word; 0: nobody */
};

struct live_rule {
	const struct plan_rule *rule;
	struct live_wait wait;
	bool fired;
};

/* An action that is to be done. */
struct live_due {
	const struct plan_action *action;
	int64_t at_ms;
	int64_t since_ms;	/* when it was first refused; 0: never */
	const char *refused;	/* how, the last time */
	int gate;		/* where it was triggered; PLAN_NONE */
	unsigned stop;
	const char *label;
	int64_t restart_after_ms;	/* of a maybe; -1 */
	bool done;
};

/* A fault of some link, whichever it meets: struck one frame at a time. */
struct live_roaming {
	const struct plan_action *action;
	unsigned before, left;	/* frames that go by; strikes */
	unsigned healed;	/* bits: gates whose links are, again */
};

/* A fault that was set to work and has not been seen to happen yet. */
struct live_watch {
	const struct plan_action *action;
	int gate, store;	/* on which; PLAN_NONE: of none */
	unsigned before[NET_WAYS];	/* frames that had passed */
	const char *label;
	int64_t since_ms;
};

/* A write that a server has acknowledged through a link. */
struct live_ack {
	const char *hex, *key, *state;	/* that the record has by it */
	bool readable;		/* server_records would find it */
	bool lost;		/* a failover is to lose it, the last one */
	uint32_t message;
	int store;
};

struct live_stop {
	unsigned id;
	int gate;
	pid_t pid;
	const char *label, *key;
};

#define LIVE_ROUTE "/order"	/* where the program is (instance_conf.c) */

struct live_call {
	struct call call;
	struct live *of;
	struct live_call *next, **at;	/* of all, and who points to it */
	struct live_call *later;	/* of those that came back */
	int a, gate;
	const char *key;
	enum plan_source source;	/* of the token that is asked for */
	const char *token;	/* which key it is to be; NULL: none is */
	bool over;
};

/* A connection of a client to an instance, between its tries. */
struct live_line {
	struct live_line *next;
	const char *client;
	int gate, fd;		/* -1: none */
};

struct live {
	struct live_cast *cast;
	const struct plan *plan;
	struct history *h;
	struct arena arena;
	struct draw draw;
	struct load *load;
	uint64_t seed;
	int64_t began_ns, began_ms;	/* monotonic; the loop's clock */
	int64_t limit_ms;	/* the end of patience, of the run */
	int64_t wake_ns;	/* of the load; INT64_MAX: not */
	bool cut, healed;
	bool touched;		/* an action was done */
	bool in_frame;		/* a link has the word: nothing but rules for it
				   and signals may be done */
	char wrong[200];	/* why it is cut */
	int64_t room_ms;	/* when the disk is looked at again */

	struct live_key *keys;
	size_t keys_n;
	const char **tokens;	/* minted before the first request */
	size_t tokens_n, tokens_used;
	bool minting;		/* for nobody's try */
	uint64_t made;		/* keys in a style */
	struct live_rule *rules;
	size_t rules_n;
	struct live_due *due;
	size_t due_n;
	struct live_watch *watches;
	size_t watches_n;
	struct live_roaming *roaming;
	size_t roaming_n;
	struct live_ack *acks;	/* in the order of their replies */
	size_t acks_n;
	struct live_stop *stopped;	/* in the order in which they came */
	size_t stopped_n;
	struct live_call *calls;
	struct live_call *back, **back_end;	/* in the order in which they
						   came */
	struct live_line *lines;
	const char *last_key[PLAN_GATES_MAX];	/* that was sent there */
	const char **clients;	/* by try: who */
	size_t clients_n;
	long oom_kills;
};

/* --- who takes part (live_cast.c) ----------------------------------------- */

/* The one that is kept, made as fresh, or a new one.  It is of this very plan,
   which must not go before live_cast_end.  NULL, and why. */
struct live_cast *live_cast_take(const struct plan *, char *wrong,
    size_t wrong_size);
/* After a run: it is kept if it may be. */
void live_cast_leave(struct live_cast *);
void live_cast_end(void);	/* the one that is kept */
/* Of the last one, as long as it is there: its folder. */
const char *live_cast_folder(void);
/* Its servers, its instances: started, and awaited (live_cast_stores.c,
   live_cast_gates.c).  -1. */
int live_cast_stores(struct live_cast *);
int live_cast_gates(struct live_cast *);
/* Its script is known to a server. */
int live_cast_script(struct live_store *);
/* Who did not start, and what was wrong with him.  -1. */
int live_cast_failed(struct live_cast *, const char *who, const char *what);
/* A clock for a process of that name, where clocks are touched. */
int live_cast_clock(const struct live_cast *, const char *name,
    struct live_map *);
/* A file of that size, zeroes, mapped.  -1: errno. */
int live_map_open(struct live_map *, const char *path, size_t size);
void live_map_close(struct live_map *);
/* Everything of an instance gets its SIGKILL, and it is wanted. */
void live_gate_kill(struct live_gate *);
const char *live_store_name(const struct live_cast *, int store);
/* Start anew what was killed; it is not waited for.  -1: it cannot be. */
int live_gate_again(struct live_gate *);
int live_store_again(struct live_store *, bool empty, bool older);
/* One command of at most three words; see server_say. */
const char *live_store_say(struct live_store *, char out[LIVE_SAID],
    const char *, const char *, const char *);
/* Until it is reaped; false: it is not in time. */
bool live_store_gone(struct live *, struct live_store *);
/* It follows that one, and has all that that has.  master PLAN_NONE: true. */
bool live_store_follow(struct live_store *, int master);
/* Until all that should be up is; false: it is not in time. */
bool live_cast_await(struct live_cast *, int64_t wait_ms);

/* --- replicas (live_stream.c) --------------------------------------------- */

/* Turn the loop until a replica has all that its master had when it was asked;
   false: not in time. */
bool live_store_level(struct live_store *, int64_t wait_ms);
/* All replicas are, and their links read from here on. */
bool live_streams_begin(struct live_cast *, int64_t wait_ms);
/* Its link is read (net_stream_read). */
bool live_stream_is_read(const struct live_store *);
/* It is a fault once a write has come to its link. */
void live_stream_watch(struct live *, const struct live_due *,
    struct live_store *);
/* Its link is healed, but for what a failover is to lose. */
void live_stream_let_go(struct live *, struct live_store *);
/* Turn the loop until all that its master has sent has come to its link; all
   that was passed on has come to itself. */
bool live_stream_whole(struct live_store *, int64_t wait_ms);
bool live_stream_arrived(struct live_store *, int64_t wait_ms);

/* --- files (live_files.c) ------------------------------------------------- */

int live_file_write(const char *path, const char *text);
/* Files of `from`, not those in folders, are what `to` has, and no others. */
int live_folder_replace(const char *from, const char *to);
/* Logs, configurations and journals below `from`, to the folder `to`. */
int live_folder_keep(const char *from, const char *to);

/* --- keys (live_keys.c) --------------------------------------------------- */

/* Where keys are tokens: so many, for those who come next.  -1, and it is cut:
   they cannot be minted. */
int live_keys_mint(struct live *, size_t n);
/* That of a try; it is made if nobody has sent it. */
const struct live_key *live_key_of(struct live *, const struct load_try *);
/* By the history's name; else of that name, sent with POST. */
const struct live_key *live_key_named(struct live *, const char *name);
/* By at least the first 8 digits of a store key; NULL: nobody's. */
const struct live_key *live_key_stored(const struct live *, const char *hex,
    size_t len);
/* It is that token from now on. */
void live_key_bind(struct live *, const char *name, const char *token);
/* How many tokens a plan wants before it begins, at most. */
size_t live_keys_wanted(const struct plan *);

/* --- tokens (live_token.c) ------------------------------------------------ */

/* What signs them: of no use anywhere else. */
#define LIVE_TOKEN_KEYS "sim 00112233445566778899aabbccddeeff" \
	"00112233445566778899aabbccddeeff\n"

/* The request of who asks for one: the endpoint, or the page with the form. */
void live_token_ask(const struct load_try *, struct call *);
/* The one that its answer has; NULL: none. */
const char *live_token_got(struct live *, enum plan_source,
    const struct call *);
/* The form, submitted. */
void live_token_submit(struct live *, struct call *, const char *token);
/* In its place; NULL, and it is cut: it is none, or cannot be made. */
const char *live_token_spoil(struct live *, const char *token,
    enum plan_spoilt);
/* What a client makes for itself; NULL, and it is cut. */
const char *live_token_style(struct live *, enum plan_source, const char *id);

/* --- tries (live_call.c) -------------------------------------------------- */

void live_call_begin(struct live *, const struct load_try *);
/* Tell the load of those that are over. */
void live_calls_turn(struct live *);
/* For a label that knows of no key: that of all tries which are under way
   there, or of the last one.  NULL: nobody can say. */
const char *live_calls_key(const struct live *, int gate);
/* The client goes away: its tries that are under way; how many. */
size_t live_calls_leave(struct live *, const char *client, bool abort);
void live_calls_end(struct live *);

/* --- links (live_link.c) -------------------------------------------------- */

/* What a link tells of: for net_open. */
struct net_user live_link_user(struct live_gate *);
/* A rule of an action: told by live_fired when it strikes. */
void live_link_rule(struct live_gate *, const struct plan_action *,
    enum net_way, unsigned nth, unsigned times);
/* Is it one to that store, by what the plan says or by where it leads now? */
bool live_link_fits(const struct live_gate *, int gate, int store);

/* --- triggers (live_when.c, live_label.c) --------------------------------- */

#define LIVE_REFUSED "store.refused"	/* the label of a connection that an
					   instance is refused */

void live_rules_begin(struct live *);
void live_rules_feed(struct live *, const struct live_event *);
/* Those that wait for a time; and who waits at a label. */
void live_rules_turn(struct live *);
bool live_rules_over(const struct live *);	/* no time is waited for */
int64_t live_rules_next_ms(const struct live *);
/* The labels that a plan waits for, parted by commas; behind those that it is
   only to be told of stands a "!". */
void live_rules_labels(const struct plan *, char *out, size_t size);
/* The first label of a plan that nobody knows; NULL: none. */
const char *live_label_unknown(const struct plan *);
/* For stops_open; arg is a cast. */
void live_stop_reached(void *arg, const struct stop *);

/* --- actions (live_do.c, live_do_store.c, live_do_gate.c) ----------------- */

/* At once if its time has come and it may be, else in a turn. */
void live_due_add(struct live *, const struct live_due *);
void live_due_turn(struct live *);
int64_t live_due_next_ms(const struct live *);	/* INT64_MAX: none is left */
/* What is drawn: each `maybe` of the plan. */
void live_due_maybe(struct live *);
/* At the end: those that were refused to the last. */
void live_due_end(struct live *);
void live_do_gate(struct live *, const struct live_due *);
void live_do_clock(struct live *, const struct live_due *);
/* It says the machine's time again. */
void live_clock_heal(struct preload_clock *);
void live_do_net(struct live *, const struct live_due *);
void live_do_store(struct live *, const struct live_due *);
void live_do_failover(struct live *, const struct live_due *);
void live_do_rejoin(struct live *, const struct live_due *);
void live_do_power_loss(struct live *, const struct live_due *);
/* It was seen to happen, or what ends one was done. */
void live_fired(struct live *, const struct plan_action *, const char *p,
    const char *label);
/* It was done, but not what it was to be: others may be explained by it, and
   it does not count. */
void live_befell(struct live *, const struct plan_action *, const char *p,
    const char *label);
/* It will be seen (live_seen.c). */
void live_watch(struct live *, const struct live_watch *);
void live_seen_turn(struct live *);
/* What links do to messages is over (PLAN_ACTIONS: all of that), of that gate,
   or of that replica (gate PLAN_NONE); PLAN_ANY: of all.  What comes now does
   not count. */
void live_watch_end(struct live *, enum plan_action_kind, int gate, int store);
/* Everything ends that was done. */
void live_heal(struct live *);

/* --- the history (live_say.c, live_log.c, live_final.c) ------------------- */

int64_t live_now_ns(const struct live *);
int64_t live_now_ms(const struct live *);	/* of the loop's clock */
/* How many more events its history may get: of one with more than can be read
   nobody could judge again.  false: not so many, and the run is cut. */
size_t live_room(const struct live *);
bool live_fits(struct live *, size_t events);
/* The run ends as soon as can be, and nothing can be said of it: why, to stand
   behind "the run was cut short:".  The first reason is kept. */
void live_cut(struct live *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define LIVE_STARVED "it can open no more files (see ulimit -n)"
/* Words to stand behind what did not start: so few files may be opened that it
   may be that.  "": there are enough. */
#define LIVE_FEW 80
const char *live_few_files(char [LIVE_FEW]);
/* Cut: who was to be started again is not.  error: of errno; 0: who was there
   before does not die, or has not left what is to be there. */
void live_cannot_again(struct live *, const char *p, int error);
/* label: "leak", "stall", or NULL; static. */
void live_note(struct live *, const char *p, const char *label,
    const char *what);
/* Its lines and its end are told to the run that goes on. */
void live_hear_gate(struct live_gate *);
void live_hear_store(struct live_store *);
void live_spawn(struct live *, const char *p, bool gate, unsigned life,
    int64_t pid);
void live_hear_sentinels(struct live_cast *);
/*
 * Ends that nobody wanted, which make a run inconclusive (live_died.c): of a
 * lobby or a keeper, as a line of its instance tells it; at the end, of
 * programs, whose journal breaks off or whose clients are told that nobody
 * knows, where nothing of the plan ends one; and what the kernel has killed
 * since the begin.
 */
void live_died_line(struct live_gate *, const char *text, size_t len);
void live_died_programs(struct live *);
void live_died_oom(struct live *);
/* A line of an instance. */
void live_log(struct live *, struct live_gate *, const char *text, size_t len);
/* Sources of answers, from the lines. */
void live_log_sources(struct live *);
/* Records, effects, leaks. */
void live_final(struct live *);
/* Leases that ended while their program ran. */
void live_leases(struct live *);

/* --- the run (live.c, live_turn.c, live_end.c) ---------------------------- */

bool live_stopped(void);	/* somebody wants all of it to end */
/* One turn of everything; waits at most until then. */
void live_turn(struct live *, int64_t until_ms);
/* Cut, if there is none on the disk; now and then, or once room_ms is 0. */
void live_look_for_room(struct live *);
/* What an instance may need to see that all is well, and to settle a key. */
int64_t live_settle_ms(const struct live *);
/* Once faults have ended: until nobody asks any more, then what a simulator
   asks, then what can only be told at the end. */
void live_calm_down(struct live *);
void live_audit(struct live *);
void live_finish(struct live *);

#endif
