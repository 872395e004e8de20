/* SPDX-License-Identifier: ISC */
#ifndef DOCTOR_H
#define DOCTOR_H

#include "conf.h"

/*
 * What a deployment keeps of the promises (doc/design.md, 2), and what it does
 * not: the inside of `idemctl doctor`.
 *
 *	doctor_ask.c, doctor_node.c	servers are asked: facts
 *	doctor_look.c			files and the configuration: facts
 *	doctor_info.c			what a Redis says of itself, read (pure)
 *	doctor_runs.c			the run folder: facts
 *	doctor_judge.c, doctor_server.c, doctor_files.c, doctor_route.c
 *					facts to findings (pure)
 *	doctor_front.c			a web server's file to findings (pure)
 *	doctor_check.c			what each finding means: a table
 *	doctor_find.c			findings, and how they are said
 */
enum doctor_level { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_WARN, DOCTOR_FAIL };

/* One a question; doctor_check.c has the row of each. */
enum doctor_check {
	/* a Redis server */
	DOCTOR_REACH, DOCTOR_REACH_CACHE, DOCTOR_REACH_REPLICA, DOCTOR_VERSION,
	DOCTOR_ROLE, DOCTOR_POLICY, DOCTOR_ROOM, DOCTOR_EVICTED, DOCTOR_PERSIST,
	DOCTOR_FSYNC, DOCTOR_SAVED, DOCTOR_DISK, DOCTOR_ALONE,
	DOCTOR_REPLICAS_MIN, DOCTOR_REPLICAS_FEW, DOCTOR_REPLICA_WRITABLE,
	DOCTOR_LAG, DOCTOR_BUSY, DOCTOR_STRANGERS, DOCTOR_JUNK, DOCTOR_ACL,
	DOCTOR_HIDDEN, DOCTOR_CLOCK, DOCTOR_PLAIN, DOCTOR_OPEN,
	/* all of them together */
	DOCTOR_SENTINEL, DOCTOR_SENTINELS_FEW, DOCTOR_QUORUM, DOCTOR_AGREE,
	DOCTOR_SLOTS, DOCTOR_CLUSTER_BARE, DOCTOR_GENERATION,
	/* the ledger */
	DOCTOR_LEDGER, DOCTOR_SQLITE, DOCTOR_SYNC, DOCTOR_LEDGER_MODE,
	DOCTOR_LEDGER_OWNER, DOCTOR_LEDGER_WRITE, DOCTOR_RUN_FOLDER,
	DOCTOR_FILE_SYSTEM, DOCTOR_SPACE,
	/* the run folder, and what lies in it */
	DOCTOR_RUNS, DOCTOR_RUNS_MISSING, DOCTOR_RUNS_NETWORK,
	DOCTOR_RUNS_MEMORY, DOCTOR_RUNS_LOCKS, DOCTOR_RUNS_SPACE,
	DOCTOR_RESERVE, DOCTOR_RUNS_LEFT, DOCTOR_RUNS_STRAY,
	DOCTOR_UNKNOWN_KEYS,
	/* tokens */
	DOCTOR_KEYS_FILE, DOCTOR_KEYS_MODE, DOCTOR_KEYS_AGE, DOCTOR_LIFE_SHORT,
	DOCTOR_LIFE_LONG,
	/* the configuration */
	DOCTOR_CONF, DOCTOR_PROMISES, DOCTOR_OUTAGE, DOCTOR_SCHEME,
	DOCTOR_RERUN, DOCTOR_PROBE, DOCTOR_SPOOL, DOCTOR_LEASE,
	DOCTOR_ONE_HOST,
	/* a web server's */
	DOCTOR_FRONT, DOCTOR_FRONT_REPEATS, DOCTOR_FRONT_REPEATS_SAFE,
	DOCTOR_FRONT_COPIES, DOCTOR_FRONT_TIME, DOCTOR_FRONT_TIME_WAIT,
	DOCTOR_FRONT_CACHE, DOCTOR_FRONT_TOKEN_CACHE, DOCTOR_FRONT_HIDES,
	DOCTOR_FRONT_STREAMS, DOCTOR_FRONT_UPLOAD, DOCTOR_FRONT_PAUSE,
	DOCTOR_FRONT_USER, DOCTOR_FRONT_PARAMS, DOCTOR_FRONT_FILE,
	DOCTOR_CHECKS
};

struct doctor_meaning {
	const char *name;	/* for programs: "redis.policy" */
	const char *why;	/* why it matters, if it is not as it should */
	const char *costs;	/* which promise */
	const char *todo;
};
const struct doctor_meaning *doctor_meaning(enum doctor_check);
const char *doctor_level_text(enum doctor_level);

struct doctor_finding {
	enum doctor_level level;
	enum doctor_check check;
	char *what;		/* owned */
};

/* Zeroes are none.  Errors stick. */
struct doctor_findings {
	struct doctor_finding *at;
	size_t len, size;
	bool failed;		/* out of memory */
};

void doctor_find(struct doctor_findings *, enum doctor_level,
    enum doctor_check, const char *what, ...)
    __attribute__((format(printf, 4, 5)));
void doctor_findings_free(struct doctor_findings *);
enum doctor_level doctor_worst(const struct doctor_findings *);

/* A line each: "LEVEL  WHAT: WHY: COSTS: DO", of what is well "ok  WHAT". */
void doctor_say_lines(const struct doctor_findings *, struct idem_buf *);
/* An array of objects: level, check, what; unless ok: why, costs, todo. */
void doctor_say_json(const struct doctor_findings *, struct idem_buf *);

/* --- facts ---------------------------------------------------------------- */

/* A number that could not be had.  A text that could not is "". */
#define DOCTOR_UNKNOWN INT64_MIN

enum doctor_truth { DOCTOR_NOT_KNOWN, DOCTOR_NO, DOCTOR_YES };

/* What a Redis is for, added up; the heaviest use decides. */
#define DOCTOR_CACHE 1u
#define DOCTOR_TOKENS 2u	/* arbiter "token" */
#define DOCTOR_KEYS 4u		/* arbiter "redis" */

enum doctor_role { DOCTOR_ROLE_UNKNOWN, DOCTOR_MASTER, DOCTOR_REPLICA };

#define DOCTOR_NAME 300
#define DOCTOR_WORD 40
#define DOCTOR_WHY 256

struct doctor_server {
	char name[DOCTOR_NAME];	/* HOST:PORT, or its socket */
	unsigned use;
	char error[DOCTOR_WHY];	/* why it cannot be asked; "": it could */
	enum doctor_role wanted, role;
	char version[DOCTOR_WORD];
	int64_t version_number;	/* 70015: 7.0.15 */
	char policy[DOCTOR_WORD];
	int64_t maxmemory, used, evicted;	/* bytes, bytes, keys */
	enum doctor_truth aof;
	char fsync[DOCTOR_WORD];
	char save[DOCTOR_WHY];	/* known only if save_known */
	bool save_known;
	enum doctor_truth saved;	/* the last snapshot was written */
	enum doctor_truth aof_written;	/* and so was the AOF; NO: disk full */
	enum doctor_truth stops;	/* stop-writes-on-bgsave-error */
	int64_t disk_free;	/* where it writes; known on this host only */
	int64_t replicas, replicas_min, lag_max_s;	/* lag_max_s: of
						min-replicas-max-lag */
	int64_t lag_s;		/* of the replica that is farthest behind;
				   INT64_MAX: it has not caught up */
	char laggard[DOCTOR_NAME];
	enum doctor_truth replica_read_only;
	int64_t busy_ms;	/* busy-reply-threshold */
	int64_t keys;		/* in all databases */
	int64_t ours, others;	/* in this one: under the prefix, or not;
				   others: at least, if ours is not known */
	int64_t junk;		/* under the prefix, but no record */
	char hidden[DOCTOR_WHY];	/* what it would not tell */
	int64_t clock_ms;	/* its clock less ours */
	enum doctor_truth local;	/* loopback or a socket file */
	enum doctor_truth tls, password, protected_mode;
	enum doctor_truth acl;	/* every operation of the script may be done */
	char acl_error[DOCTOR_WHY];
};

struct doctor_sentinel {
	char name[DOCTOR_NAME];
	char error[DOCTOR_WHY];
	char master[DOCTOR_NAME];	/* who it says is the master */
	int64_t quorum, sentinels;	/* sentinels: itself and others */
	enum doctor_truth able;		/* enough of them for a failover */
	char able_error[DOCTOR_WHY];
};

enum doctor_generation {
	DOCTOR_GENERATION_UNKNOWN, DOCTOR_GENERATION_NONE,
	DOCTOR_GENERATION_OURS, DOCTOR_GENERATION_FOREIGN
};

/* One redis {} of the configuration. */
struct doctor_redis {
	const char *what;	/* "shared", "cache" */
	unsigned use;
	enum idem_redis_topology topology;
	struct doctor_server *servers;	/* owned */
	size_t servers_len;
	struct doctor_sentinel *sentinels;	/* owned */
	size_t sentinels_len;
	int64_t slots;		/* CLUSTER: that have a master, of 16384 */
	int64_t bare;		/* CLUSTER: masters without a replica */
	enum doctor_generation generation;	/* of a cache */
	char prefix[DOCTOR_NAME];
};

struct doctor_ledger {
	const char *path;
	char error[500];	/* why it cannot be opened; "": it can */
	char unwritable[500];	/* why its owner cannot write it; "": can */
	int64_t sqlite;		/* 3040001: 3.40.1 */
	int64_t mode, owner;	/* permission bits; a user's number */
	int64_t folder_owner, lock_owner;
	int64_t run_mode, run_owner;	/* UNKNOWN: it is not there */
	int64_t us;		/* who asks */
	char system[DOCTOR_WORD];	/* the file system's kind */
	int64_t free;		/* bytes that its owner may write */
	int64_t unknown;	/* keys that are */
};

struct doctor_runs {
	char path[500];
	char error[300];	/* why it cannot be opened; "": it can */
	enum doctor_truth there;
	enum doctor_truth locks;	/* flock(2) works in it */
	char system[DOCTOR_WORD];	/* the file system's kind */
	char network[DOCTOR_WORD];	/* the same, if it is one over a network
					   or in user space; else "" */
	int64_t free;		/* bytes that its owner may write */
	int64_t reserve;	/* bytes that must be; 0: not looked at */
	int64_t left;		/* runs that nobody holds, to be settled */
	int64_t unknown;	/* notes of unknown keys that are not the
				   ledger's */
	int64_t stray;		/* of either kind, of a store that is none of
				   the configuration's; not among the above */
};

struct doctor_tokens {
	const char *file;
	char error[DOCTOR_WHY];
	int64_t mode, keys, age_ms, life_ms;
};

struct doctor_route {
	const char *text;	/* "route at FILE:LINE" */
	enum idem_arbiter arbiter;
	enum idem_on_outage on_outage;
	enum idem_on_unknown on_unknown;
	enum idem_redis_scheme scheme;
	char promises[600];	/* which it keeps, in a sentence */
	bool all;		/* they are kept without exception */
	bool cgi;		/* its programs are started by idemd */
	bool spool;		/* what they write survives their lobby */
	const char *probe;	/* or NULL */
	char probe_error[200];	/* why it cannot be run; "": it can */
	bool lease_auto;
	int64_t lease_min_ms, lease_max_ms;	/* of one that is measured */
};

/* What web servers' times are held against. */
struct doctor_times {
	int64_t run_ms;		/* a run's limit, with grace */
	int64_t wait_ms;	/* of a duplicate, or in the queue */
	int64_t life_ms;	/* of tokens in pages; or UNKNOWN */
};

struct doctor_facts {
	const struct doctor_ledger *ledger;	/* NULL: none */
	const struct doctor_runs *runs;		/* NULL: none */
	const struct doctor_tokens *tokens;	/* NULL: none */
	struct doctor_redis *redis;
	size_t redis_len;
	const struct doctor_route *routes;
	size_t routes_len;
	struct idem_words doubts;	/* of the configuration */
};

/* --- judging -------------------------------------------------------------- */

void doctor_judge(const struct doctor_facts *, struct doctor_findings *);
/* doctor_files.c. */
void doctor_judge_ledger(const struct doctor_ledger *,
    struct doctor_findings *);
void doctor_judge_runs(const struct doctor_runs *, struct doctor_findings *);
void doctor_judge_tokens(const struct doctor_tokens *,
    struct doctor_findings *);
/* doctor_route.c. */
void doctor_judge_route(const struct doctor_route *, struct doctor_findings *);
/* doctor_server.c: one Redis server; `what` is its redis {}'s. */
void doctor_judge_server(const char *what, const struct doctor_server *,
    struct doctor_findings *);
/* A server of which nothing is known. */
extern const struct doctor_server doctor_server_unknown;

/*
 * doctor_front.c: a configuration of nginx, lighttpd, Apache or HAProxy, line
 * by line.  It is not understood, only looked through for words that matter.
 */
void doctor_front(const struct doctor_times *, const char *file,
    struct idem_bytes text, struct doctor_findings *);

/* --- doctor_info.c: replies, read ----------------------------------------- */

/* Add what INFO says; lines that are not known are passed over. */
void doctor_info(struct idem_bytes text, struct doctor_server *);
/* The i-th replica that INFO names, "HOST:PORT".  False: there is none. */
bool doctor_info_replica(struct idem_bytes text, size_t i,
    char name[DOCTOR_NAME]);
/* Add one of CONFIG GET. */
void doctor_info_config(struct idem_bytes name, struct idem_bytes value,
    struct doctor_server *);
/* "HOST:PORT", with brackets around an IPv6 address; false: too long. */
bool doctor_info_name(struct idem_bytes host, int64_t port,
    char name[DOCTOR_NAME]);
/* Is it this machine's own: 127/8, ::1, localhost? */
bool doctor_info_is_local(const char *host);

#endif
