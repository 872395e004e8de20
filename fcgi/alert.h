/* SPDX-License-Identifier: ISC */
#ifndef ALERT_H
#define ALERT_H

#include "journal.h"
#include "log.h"
#include "shm.h"

#include <sys/types.h>

/*
 * Alerts: a command of the operator's is told of what he wants to know at once.
 * A worker tells the master through shared memory, and waits for nothing; the
 * master runs the command, one at a time, and one of a kind in ALERT_EVERY_MS.
 * What comes in between is told as one, with a count, and the keys of the last
 * SHM_SAYINGS.  idem-cgi, which has no master, does it by itself (idem_cgi.h).
 */
#define ALERT_EVERY_MS 10000
#define ALERT_LIMIT_MS 60000	/* then the command is killed */

/* In pairs, as the bits of SHM_AWAY_* are: it is so, it is so no longer. */
enum alert_kind {
	ALERT_SHARED_AWAY, ALERT_SHARED_BACK,
	ALERT_CACHE_AWAY, ALERT_CACHE_BACK,
	ALERT_FOREIGN_LEDGER,	/* registered under the prefix of our cache */
	ALERT_LEDGER_OURS,
	/* By themselves. */
	ALERT_UNKNOWN_KEY, ALERT_TWO_RUNS,
	ALERT_UNPROTECTED,	/* a run by on_outage */
	ALERT_NO_SPACE,		/* to write down what a run comes to */
	ALERT_KINDS
};
const char *alert_text(enum alert_kind);	/* "redis-away", ... */
#define ALERT_DIGITS 16		/* of a key, which name it to idemctl */

/* --- for workers ---------------------------------------------------------- */

/*
 * Tell it, in one line of text without secrets; what does not fit in SHM_WHAT
 * is cut.  Of what all workers find, only who changed the whole tells
 * (shm_away_set).  Never blocks, never allocates.
 */
void alert_tell(struct shm *, enum alert_kind, const char *what);
/* The same of a key, or NULL. */
void alert_tell_key(struct shm *, enum alert_kind, const struct idem_digest *,
    const char *what);
/* The same in words of our own: what was asked, what is known of the run, and
   its route; note: or NULL. */
void alert_tell_run(struct shm *, enum alert_kind, const struct idem_digest *,
    const struct idem_note *);

/* --- for the master ------------------------------------------------------- */

/* Set command, instance, shm, log, run and arg; zeroes for the rest. */
struct alert {
	const char *command;	/* a path; NULL: nobody is told */
	const char *instance;	/* who we are, for the command */
	struct shm *shm;
	struct log *log;
	/* Start it without waiting, in a process group of its own: its pid, or
	   -1 and errno. */
	pid_t (*run)(void *arg, const char *path, char *const *argv,
	    char *const *envp);
	void *arg;
	/* Private. */
	uint64_t told[ALERT_KINDS];	/* so many have been */
	int64_t after_ms[ALERT_KINDS];	/* and the next not before */
	unsigned believed;		/* SHM_AWAY_*: by who was told */
	int64_t wrong_ms[SHM_AWAYS];	/* ... and since when wrongly; 0: not */
	enum alert_kind kind;		/* of what runs: */
	pid_t pid;			/* 0: nothing */
	int64_t kill_ms;
};

/* Do what is due: start the next, kill what takes too long. */
void alert_turn(struct alert *, int64_t now_ms);
/* When to come again, by the boot clock, if nobody tells; INT64_MAX: never. */
int64_t alert_due_ms(const struct alert *, int64_t now_ms);
/* A child has ended: whether it was ours. */
bool alert_reaped(struct alert *, pid_t, int status);
/* Kill what runs; nothing is started after it. */
void alert_end(struct alert *);

/* What a->run's process does: become the command.  who: for its errors. */
_Noreturn void alert_become(const char *who, const char *path,
    char *const *argv, char *const *envp);

#endif
