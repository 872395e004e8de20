/* SPDX-License-Identifier: ISC */
#ifndef TESTS_CRASH_H
#define TESTS_CRASH_H

#include "rig.h"
#include "rows.h"

/*
 * One request, at a labelled point of which something dies or stops, and what
 * becomes of its key.  Whatever comes to the point stops there by itself, so
 * that the test has all the time to do what is to be done, to whom it likes.
 */
enum crash_who {
	CRASH_LOBBY,		/* of the worker that has the request, alone */
	CRASH_KEEPER,		/* the same worker's, alone */
	CRASH_WORKER,		/* both */
	CRASH_INSTANCE,		/* all of idemd; it is started again */
	CRASH_WHOS
};

enum crash_how {
	CRASH_KILL,		/* SIGKILL */
	CRASH_STOP,		/* SIGSTOP; SIGCONT after more than lease +
				   grace */
	CRASH_STAY,		/* SIGSTOP, and that is how it stays */
	CRASH_HOWS
};

enum crash_at { CRASH_LEDGER, CRASH_REDIS, CRASH_TOKEN, CRASH_ATS };

enum crash_program {
	CRASH_ORDER,		/* answers with some words */
	CRASH_LARGE,		/* with more than a keeper tells by itself */
	CRASH_DIES,		/* by itself, without an answer */
	CRASH_LEAVES,		/* a child behind, which keeps its lock, and
				   answers */
	CRASH_MISSING,		/* it is not there */
	CRASH_BACKEND		/* a FastCGI application, which answers */
};

/*
 * Who is late does not start: a program is begun within its lease or not at
 * all.  So it is far longer than a process may be held up, unless the row has
 * to wait until it is over.
 */
#define CRASH_LEASE_MS 30000
#define CRASH_SHORT_MS 8000
#define CRASH_GRACE_MS 500
#define CRASH_LIMIT_MS 60000
#define CRASH_HELD_LIMIT_MS 8000	/* where a lock is held for good: for
					   so long it may yet run */

/*
 * A key's end: A its answer, U unknown, F free (nothing happened, and the next
 * request runs), P still in progress.
 */
struct crash_row {
	const char *label;
	enum crash_program program;
	enum crash_who who;
	enum crash_how how;
	enum crash_at at;
	bool spool;
	bool asked;		/* for again and again; else nobody asks until
				   it has its end */
	bool orphan;		/* the lobby is killed while the program runs,
				   before the point */
	const char *may;	/* "A", "AF", ...: how it may end */
	bool told_unknown;	/* on the way there a client may have been told
				   that it is unknown */
};

/* What has become of one. */
struct crash_found {
	bool reached;		/* the point */
	char end;		/* of the above; '-': none in time */
	long starts;		/* in all, the requests after its end too */
	bool same;		/* every answer is what the program wrote */
	unsigned unknowns;	/* answers that said so, before the end */
	int64_t settled_ms;	/* from the end of the fault to its end */
	char why[240];		/* "": all is as it must be */
};

bool crash_row_holds(const struct crash_row *);	/* a lock, for good */
int crash_row_lease_ms(const struct crash_row *);
/* In words, for a test's text. */
void crash_row_text(const struct crash_row *, char *out, size_t size);
/*
 * In an instance of its own.  redis: the URL of that which is the arbiter;
 * prefix: of the row's own keys there.  What did not go as it must is noted.
 */
void crash_row_run(const struct crash_row *, const char *redis,
    const char *prefix, struct crash_found *, struct rows_held *);

/* --- an instance for a row (crash_world.c) -------------------------------- */

#define CRASH_WORKERS 2

struct crash_world {
	const struct crash_row *row;
	struct rig rig, backend;
	const char *redis, *prefix;
	char key[96];		/* quoted, or a token */
	pid_t lobby[CRASH_WORKERS], keeper[CRASH_WORKERS];
	bool struck;		/* rig's labels are not set any more */
};

/* Started, with the label set. */
void crash_world_open(struct crash_world *, const struct crash_row *,
    const char *redis, const char *prefix);
void crash_world_close(struct crash_world *);
/* All of it at once, and then without labels. */
void crash_world_again(struct crash_world *);

struct rig_request crash_request(const struct crash_world *);
/* Which worker has a process that has stopped, or whose program runs. */
bool crash_stopped(struct crash_world *, unsigned *worker, pid_t *who);
bool crash_running(struct crash_world *, unsigned *worker);
bool crash_is_stopped(pid_t);
/*
 * The record's state, by who looks into the store: A, U, F, P, or '?'.  Of
 * several records: P if one is in progress, else '?'.
 */
char crash_look(struct crash_world *);
/* The body that the program wrote; NULL: it has not been run.  The caller's. */
char *crash_said(struct crash_world *);

#endif
