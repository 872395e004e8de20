/* SPDX-License-Identifier: ISC */
#ifndef SETTLE_PRIVATE_H
#define SETTLE_PRIVATE_H

#include "settle.h"

/* Shared by settle*.c. */

#define SETTLE_CALL_MS 2000
#define SETTLE_PAUSE_MAX_MS 10000
#define SETTLE_KNOWN_MAX 8192u
#define SETTLE_KNOWN_ROWS 1024u

/* --- settle_known.c: runs that are to be left alone for a while ----------- */

struct settle_known {
	struct settle_known *next;
	struct idem_owner owner;
	int64_t since_ms;	/* first met; boot clock, as all here */
	int64_t next_ms;	/* not before */
	uint32_t pause_ms;	/* the last one */
	uint32_t tries;		/* that came to nothing */
	uint32_t round;		/* that its file was last seen in */
	bool busy;		/* a call for it is under way */
	bool given_up;		/* unknown, though somebody holds its lock */
};

struct settle_table {
	struct settle_known *row[SETTLE_KNOWN_ROWS];
	uint32_t len;
};

/* NULL: it is not there; or, with make, there is no room. */
struct settle_known *settle_known(struct settle_table *,
    const struct idem_owner *, bool make);
/* Forget those whose files were not seen in that round. */
void settle_known_prune(struct settle_table *, uint32_t round);
void settle_known_free(struct settle_table *);

struct settle;
/* Met now, if it was not before; NULL: there is no room for it. */
struct settle_known *settle_meet(struct settle *, const struct idem_owner *);
void settle_busy(struct settle *, const struct idem_owner *, bool);
/* After a pause that grows. */
void settle_later(struct settle *, const struct idem_owner *);

/* -------------------------------------------------------------------------- */

struct settle {
	struct loop *loop;
	struct stores *stores;
	struct log *log;
	int folder;
	struct idem_boot boot;
	struct settle_user user;
	struct timer timer;
	struct idem_journal_walk walk;
	struct settle_table known;
	bool walking, stopped;
	bool unknowns;		/* are to be gone through next */
	bool full;		/* the walk waits for an answer */
	bool moved;		/* something was done since the last pause */
	uint32_t pending, round;
	int64_t round_ms;	/* it began */
	uint32_t every_ms;	/* and the next begins: SETTLE_MS, or sooner for
				   a short lease */
};

/* settle.c */
int64_t settle_now_ms(const struct settle *);	/* of its loop */
void settle_answered(struct settle *);		/* a call was */

/* --- settle_job.c --------------------------------------------------------- */

/* One run with a call under way.  Its lock is ours, but for a RENEW. */
struct settle_job {
	struct settle *s;
	struct idem_store *store;
	struct idem_run_file at;
	struct idem_note note;
	struct idem_blob *answer;	/* COMPLETE */
	enum idem_store_op op;
	uint32_t attempt;		/* of the call */
	bool asking;			/* is it still unknown? */
	bool held;			/* unknown, and its lock is another's */
};

/* Of what was taken, or at least opened: that is its own then, and -1.  NULL:
   no memory. */
struct settle_job *settle_job_new(struct settle *, struct idem_run_file *,
    const struct idem_evidence *);
void settle_job_start(struct settle_job *);
void settle_job_leave(struct settle_job *);	/* try again later */

/* --- settle_run.c --------------------------------------------------------- */

/* Look at one.  Whether its file was opened. */
bool settle_run(struct settle *, const struct idem_owner *);
/* Is it still unknown? */
bool settle_ask(struct settle *, const struct idem_owner *);

#endif
