/* SPDX-License-Identifier: ISC */
#ifndef IDEM_JOURNAL_H
#define IDEM_JOURNAL_H

#include "digest.h"
#include "record.h"
#include "store.h"

/*
 * The journal: what this host knows of each keyed run, one file a run, in the
 * run folder (run_lock.h), named after the owner in 32 hex digits.  It is lock,
 * note and answer in one, so that they cannot contradict each other:
 *
 *	0		the note, IDEM_NOTE_SIZE bytes
 *	IDEM_NOTE_SIZE	what the program has written
 *	then		the trailer, once the run is over
 *
 * Nothing of it is synced: a killed process leaves the page cache as it is, and
 * what is left of another boot proves nothing but that a run may have begun.
 *
 *	claiming -> handed -> begun (-> orphan) -> trailer
 *	       \         \-> not begun after all
 *	        \-- by a probing take-over: begun from the first
 *
 * All who hold the lock share one open file description of it: the lobby that
 * claims, its keeper, the program and its children.  Only the first two can
 * write.  Free: all of them are gone, or the last of us has unlocked it.
 */
#define IDEM_NOTE_SIZE 1024
#define IDEM_NOTE_TEXT 160		/* bytes of a text, with its NUL */
#define IDEM_NOTE_CODES 400		/* statuses 200 to 599 */

enum idem_note_state {
	IDEM_NOTE_CLAIMING,	/* a claim is to be sent, or was: whether it
				   was won is not said; nothing has begun */
	IDEM_NOTE_HANDED,	/* won, at `attempt`; nothing has begun */
	IDEM_NOTE_NOT_BEGUN,	/* nor will it: it could not be started */
	IDEM_NOTE_BEGUN,	/* about to, or begun: it may have its effect */
	IDEM_NOTE_ORPHAN	/* begun, and no lobby waits for its end */
};

/* Why an unknown key is unknown: the last evidence, for people. */
enum idem_note_why {
	IDEM_WHY_NOT_SAID,
	IDEM_WHY_EXIT,		/* ended without a whole answer; `code`: exit
				   status */
	IDEM_WHY_SIGNAL,	/* `code`: the signal that ended it */
	IDEM_WHY_LIMIT,		/* it was over its limit */
	IDEM_WHY_KEEPER,	/* its keeper died, and it with it */
	IDEM_WHY_HOST,		/* the host went down while it ran */
	IDEM_WHY_LAPSED,	/* its lease ran out, and nothing is known */
	IDEM_WHY_BACKEND,	/* the FastCGI connection broke, or its lobby
				   died beside it */
	IDEM_WHY_PROBE,		/* the probe did not know either */
	IDEM_WHY_UNWRITTEN	/* its output could not be written to its file;
				   `code`: exit status */
};

/* What somebody else needs to bring the run to its end.  Plain data. */
struct idem_note {
	enum idem_note_state state;
	bool fastcgi;		/* the program is an application elsewhere,
				   which a free lock says nothing of */
	bool head;		/* of a HEAD request: its answer has no body */
	bool any_exit;		/* as idem_route's */
	bool paged;		/* tokens were to be put into its answer */
	bool strict;		/* as idem_store_call's, with history */
	struct idem_boot boot;
	uint32_t pid;		/* of the lobby */
	struct idem_digest key;
	struct idem_owner owner;
	uint32_t attempt;	/* 0: not known yet, any */
	char store[IDEM_NOTE_TEXT];	/* which one permits it (stores.h) */
	struct idem_history history;
	uint32_t lease_ms, limit_ms;
	int64_t keep_ms, tombstone_ms;
	uint64_t kept_max;
	uint8_t released[IDEM_NOTE_CODES / 8];	/* bit code - 200: after it the
				   key is free again */
	int64_t made_ms;	/* wall clock, of the claim */
	int64_t claimed_ms;	/* boot clock, of the same: what it runs, if
				   anything, begins within its lease */
	int64_t renewed_ms;	/* boot clock: an orphan's, by whoever did */
	char route[IDEM_NOTE_TEXT];	/* for people: conf_route.text */
	char what[IDEM_NOTE_TEXT];	/* for people: method and path */
	enum idem_note_why why;	/* of an unknown one, and since when (wall) */
	int32_t why_code;
	int64_t why_ms;
};

/* How a run ended.  As of waitpid(2); a FastCGI application's: as if it had
   exited with its appStatus. */
struct idem_trailer {
	int status;
	bool limit;		/* it was over its limit, or killed by us */
	bool saved;		/* what stands before is a saved answer
				   (saved.h), not a program's output */
	uint64_t len;		/* bytes of it */
	int64_t at_ms;		/* boot clock, of the trailer */
	struct idem_digest sum;	/* SHA-256 over owner, the first IDEM_SUMMED
				   bytes of it, and all of the above */
};
#define IDEM_SUMMED (1024u * 1024u)

/* --- a run's own file ----------------------------------------------------- */

/* Both close-on-exec, on descriptions of their own; -1: none. */
struct idem_run_file {
	int file;		/* read and write */
	int lock;		/* locked; for reading only: programs keep it */
};

/*
 * Make one, locked before it has its name.  0; -1 and errno (EEXIST: there is
 * one of that owner), nothing is left then.
 */
int idem_run_file_make(int folder, const struct idem_owner *,
    struct idem_run_file *);
/* Unlink it, of whatever name, while it is locked: it is never seen free. */
void idem_run_file_remove(int folder, const struct idem_owner *);
/* Unlock, for all who share the lock, and close. */
void idem_run_file_free(struct idem_run_file *);
/* Close what is ours of it; others may hold it yet. */
void idem_run_file_close(struct idem_run_file *);

/* Each 0; -1 and errno.  Written in one piece each. */
int idem_note_write(int file, const struct idem_note *);
int idem_note_set_state(int file, enum idem_note_state);
int idem_note_set_attempt(int file, uint32_t attempt, enum idem_note_state);
int idem_note_set_renewed(int file, int64_t boot_ms);
int idem_note_set_why(int file, enum idem_note_why, int32_t code,
    int64_t wall_ms);
/* False: none, cut, of another version. */
bool idem_note_read(int file, struct idem_note *);

/* What a run writes, added up as it comes. */
struct idem_run_out {
	struct idem_hash hash;
	uint64_t len;		/* bytes added */
};
void idem_run_out_init(struct idem_run_out *, const struct idem_owner *);
/* At the end of what there is.  0; -1 and errno: what is there is void. */
int idem_run_out_add(struct idem_run_out *, int file, struct idem_bytes);
/* The last bytes and the trailer in one write; len, at_ms, sum are filled in.
   0; -1 and errno.  The hash is freed either way. */
int idem_run_out_end(struct idem_run_out *, int file, struct idem_bytes,
    struct idem_trailer *, int64_t boot_ms);
void idem_run_out_free(struct idem_run_out *);

/* --- looking at it -------------------------------------------------------- */

enum idem_run_lock { IDEM_RUN_HELD, IDEM_RUN_FREE, IDEM_RUN_MISSING };

struct idem_evidence {
	enum idem_run_lock lock;	/* HELD also if it cannot be read */
	bool noted;		/* a note could be read: */
	struct idem_note note;
	bool ended;		/* a good trailer is there: */
	struct idem_trailer trailer;
	bool unknown;		/* it lies there as an unknown one's */
};

/*
 * What there is of a run.  fd: if not NULL, the descriptor to read the rest
 * from, or -1; the caller's.  An unknown one's file is found too.  A note that
 * says nothing has begun, with bytes after it in a free file, is none.
 */
void idem_evidence(int folder, const struct idem_owner *,
    struct idem_evidence *, int *fd);
/* The same of a file opened already, whose lock is known. */
void idem_evidence_of(int file, enum idem_run_lock, struct idem_evidence *);
/* The bytes before its trailer, at most max of them from the first; NULL
   without memory or when they cannot be read or do not have its sum. */
struct idem_blob *idem_evidence_bytes(int fd, const struct idem_evidence *,
    uint64_t max);

/*
 * What it proves of the owner of a record in progress or unknown; boot and
 * now_ms as in run_lock.h, of which the times are judged.
 *
 *	another boot, held	as held: its holder is of this kernel, and may
 *				be in a container that is told another boot
 *	another boot		as idem_run_proof or idem_run_proof_shared
 *	missing, no note	the same: only time proves
 *	ended, and free, or orphan, or ended a lease ago: FINISHED
 *	free:	claiming, handed, not begun: NOTHING
 *		begun: DEAD; an application elsewhere: LAPSED, until time proves
 *	held			as idem_run_proof
 *
 * Of a note whose owner, key or attempt are not the record's: as missing.
 */
struct idem_proof_times {
	uint32_t lease_ms, limit_ms, grace_ms;	/* the largest of all; a note's
				   own, if they are longer */
	bool shared;		/* the store is, by several hosts */
	int64_t watched_ms;	/* shared: its clock has run steadily under our
				   eyes since then (its own time); what it says
				   of before is not believed; 0: always */
};
enum idem_proof idem_journal_proof(const struct idem_evidence *,
    const struct idem_record *, const struct idem_digest *key, int64_t now_ms,
    const struct idem_boot *, int64_t boot_ms, const struct idem_proof_times *);

/* --- the folder ----------------------------------------------------------- */

/*
 * Take hold of a run that nobody holds, to settle it: its lock is ours.  Also
 * of an orphan that is over and whose lock a child of it keeps.  Nobody else
 * takes it until the descriptors, which are the caller's, are closed; false:
 * not to be had now.  Then too the evidence is what was seen.
 */
bool idem_journal_take(int folder, const struct idem_owner *,
    struct idem_run_file *, struct idem_evidence *);

/* Give it the name of an unknown one's, "unknown.<owner>": it stays for people
   to read.  0; -1 and errno. */
int idem_journal_keep_unknown(int folder, const struct idem_owner *);

/*
 * Go through the names of runs in the folder, each once, but not through what
 * comes and goes meanwhile; unknown: the names of unknown ones instead.  The
 * walk is the caller's to end with idem_journal_walk_end.
 */
struct idem_journal_walk {
	void *dir;
	bool unknown;
};
bool idem_journal_walk(int folder, bool unknown, struct idem_journal_walk *);
bool idem_journal_next(struct idem_journal_walk *, struct idem_owner *);
void idem_journal_walk_end(struct idem_journal_walk *);

const char *idem_note_state_text(enum idem_note_state);	/* "claiming", ... */
/* "ended by signal 9 (SIGKILL)", ...; to is at least 100 bytes. */
void idem_note_why_text(const struct idem_note *, char *to, size_t size);

#endif
