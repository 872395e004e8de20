/* SPDX-License-Identifier: ISC */
#ifndef IDEM_STORE_SQLITE_H
#define IDEM_STORE_SQLITE_H

#include "store_call.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

/*
 * The inside of the SQLite store, for its own files and their tests only:
 *
 *	store_sqlite.c		the port: what the lobby's thread does
 *	store_sqlite_thread.c	the committer: looks, the lock, its pauses
 *	store_sqlite_group.c	a group in one transaction, and what if not
 *	store_sqlite_ops.c	one call in SQL, inside a transaction
 *	store_sqlite_sweep.c	a SWEEP likewise
 *	store_sqlite_row.c	a row of `record`
 *	store_sqlite_body.c	long answers, and those that are to go
 *	store_sqlite_db.c	the connection and its statements
 *	store_sqlite_schema.c	is it a ledger, and of which schema?
 *	store_sqlite_file.c	the file, the lock beside it, the purge count
 *	store_sqlite_create.c	a new ledger
 */
struct sqlite3;
struct sqlite3_stmt;

#define IDEM_SQLITE_APPLICATION 0x6964656d	/* "idem" */
#define IDEM_SQLITE_SCHEMA 2	/* 1: answers in one piece, no `trash` */
#define IDEM_SQLITE_TRASH \
	"trash (id INTEGER PRIMARY KEY, pieces INTEGER NOT NULL)"
#define IDEM_SQLITE_INLINE 1024		/* longer answers go to `body` */
#define IDEM_SQLITE_PIECE (256u * 1024u)	/* of one there */

/* --- the file ------------------------------------------------------------- */

/*
 * "<ledger>-lock": the file that is locked around every write transaction and
 * checkpoint, so that SQLite's own lock, which is unfair, is not waited for,
 * and no checkpoint meets a writer.  All processes map it.
 */
struct idem_sqlite_page {
	atomic_uint_fast64_t purges;	/* odd: a SETTLE is being committed */
	atomic_uint wanted;	/* somebody has found the lock held */
};

struct idem_sqlite_file {
	char *path, *lock_path;	/* owned; no symbolic links in them */
	dev_t dev, lock_dev;
	ino_t ino, lock_ino;
	int lock;
	struct idem_sqlite_page *page;	/* NULL when only looking */
};

/* 0; -1 and a sentence.  Zeroes, or closed, is nothing to close. */
int idem_sqlite_file_open(struct idem_sqlite_file *, const char *path,
    bool read_only, char *error, size_t error_size);
void idem_sqlite_file_close(struct idem_sqlite_file *);

/* A sentence if the ledger or its lock is no longer what was opened. */
const char *idem_sqlite_file_moved(const struct idem_sqlite_file *);

/* Bytes that are free on its disk; false: nobody knows. */
bool idem_sqlite_file_free(const struct idem_sqlite_file *, uint64_t *);

/* Try once.  The lock's holder mends what a dead one left half done. */
bool idem_sqlite_file_lock(struct idem_sqlite_file *);
/* Whether somebody else wanted it in the meantime. */
bool idem_sqlite_file_unlock(struct idem_sqlite_file *);

/* Around the commit of a SETTLE, under the lock. */
void idem_sqlite_purge_begin(struct idem_sqlite_file *);
void idem_sqlite_purge_end(struct idem_sqlite_file *);
uint64_t idem_sqlite_purges(const struct idem_sqlite_file *);

/* The folder of a path, resolved, as a new string; NULL and errno. */
char *idem_sqlite_folder(const char *path);
/* A sentence if the ledger may not lie there. */
int idem_sqlite_place(const char *path, char *error, size_t error_size);

/* --- the connection ------------------------------------------------------- */

enum idem_sqlite_say {
	IDEM_SAY_GET,
	IDEM_SAY_BODY_GET,
	IDEM_SAY_LIST,
	IDEM_SAY_LIST_OPEN,	/* in progress and unknown only */
	IDEM_SAY_DUE,
	IDEM_SAY_WALK,
	IDEM_SAY_FREE,		/* bytes in the file that are free */
	IDEM_SAYS_LOOKING,	/* so many for looking only */
	IDEM_SAY_BEGIN = IDEM_SAYS_LOOKING,
	IDEM_SAY_COMMIT,
	IDEM_SAY_ROLLBACK,
	IDEM_SAY_INSERT,
	IDEM_SAY_UPDATE,
	IDEM_SAY_DELETE,
	IDEM_SAY_BODY_PUT,
	IDEM_SAY_BODY_DELETE,
	IDEM_SAY_TRASH_GET,
	IDEM_SAY_TRASH_PUT,
	IDEM_SAY_TRASH_SET,
	IDEM_SAY_TRASH_DELETE,
	IDEM_SAYS
};

/* Of a SWEEP that shrinks, over all rows by their ids. */
struct idem_sqlite_walk {
	int64_t at;		/* passed up to here */
	int64_t young;		/* the first in this walk that may be over in
				   the next; 0: none yet */
	bool found;		/* in this call */
};

struct idem_sqlite_db {
	struct sqlite3 *db;
	struct sqlite3_stmt *say[IDEM_SAYS];	/* prepared; NULL: for looking
						   it is not needed */
	struct idem_sqlite_walk walk;
	int wal_pages;		/* after the last commit */
	int wal_left;		/* by the last checkpoint */
	struct idem_history history;	/* of the ledger's generation */
};

/* Open and check; 0, or -1 and a sentence about the path. */
int idem_sqlite_db_open(struct idem_sqlite_db *, struct idem_sqlite_file *,
    bool read_only, char *error, size_t error_size);
/* What the file says of itself, likewise; one of an older schema is brought up
   to date, but not for looking only. */
int idem_sqlite_db_check(struct idem_sqlite_db *, struct idem_sqlite_file *,
    bool read_only, char *error, size_t error_size);
void idem_sqlite_db_close(struct idem_sqlite_db *);

/* Run a statement that gives no row; an SQLite result code, 0 for done. */
int idem_sqlite_say(struct idem_sqlite_db *, enum idem_sqlite_say);
/* End whatever transaction is open. */
void idem_sqlite_db_undo(struct idem_sqlite_db *);
/* Under the lock: move the WAL into the database. */
void idem_sqlite_db_checkpoint(struct idem_sqlite_db *);
/* Whether it has so many pages more than could not be moved the last time. */
bool idem_sqlite_db_wal_over(const struct idem_sqlite_db *, int pages);

/* Bytes in the file that hold nothing: they are used again. */
int idem_sqlite_db_free(struct idem_sqlite_db *, uint64_t *);

/* What a result code means: retrying will not help; nothing may be trusted. */
enum idem_class idem_sqlite_class(int rc);
bool idem_sqlite_broken(int rc);
/* The code's sentence, with the system's reason. */
void idem_sqlite_reason(const struct idem_sqlite_db *, int rc, char *error,
    size_t error_size);

/* --- rows ----------------------------------------------------------------- */

/* Where a long answer is. */
struct idem_sqlite_where {
	int64_t id;		/* of its first row in `body`; 0: in none */
	uint64_t len;
	bool whole;		/* in that row alone: of schema 1 */
};

/* A row of `record`, without its answer. */
struct idem_sqlite_row {
	int64_t id;		/* 0: not there */
	struct idem_digest key;
	struct idem_record record;
	int64_t tombstone_ms;
	uint64_t answer_len;
	struct idem_sqlite_where where;	/* _whole */
};

/* The row under a LIST; _whole: under any other SELECT.  False: it is not one
   of ours. */
bool idem_sqlite_row_read(struct sqlite3_stmt *, struct idem_sqlite_row *);
bool idem_sqlite_row_whole(struct sqlite3_stmt *, struct idem_sqlite_row *);
/* The answer of the row under GET, or NULL if there is none. */
int idem_sqlite_row_answer(struct idem_sqlite_db *, struct sqlite3_stmt *,
    const struct idem_sqlite_row *, struct idem_blob **);
/* Put row->record into its row, or into a new one, with the answer or none;
   delete it. */
int idem_sqlite_row_write(struct idem_sqlite_db *,
    const struct idem_sqlite_row *, const struct idem_blob *answer);
int idem_sqlite_row_delete(struct idem_sqlite_db *,
    const struct idem_sqlite_row *);

int idem_sqlite_body_put(struct idem_sqlite_db *, const struct idem_blob *,
    int64_t *first);
int idem_sqlite_body_get(struct idem_sqlite_db *,
    const struct idem_sqlite_where *, struct idem_blob **);
/* Let go of it: at once if it is short, else the sweep frees it.  _cost: how
   many bytes that frees at once. */
int idem_sqlite_body_drop(struct idem_sqlite_db *,
    const struct idem_sqlite_where *);
uint64_t idem_sqlite_body_cost(const struct idem_sqlite_where *);
int idem_sqlite_trash_look(struct idem_sqlite_db *, bool *any);
/* Free some of it, no more than so many bytes; read before what that frees. */
int idem_sqlite_trash_read(struct idem_sqlite_db *, uint64_t bytes);
int idem_sqlite_trash_empty(struct idem_sqlite_db *, uint64_t bytes);

/* --- one call ------------------------------------------------------------- */

/* What one call came to; its list and answer are owned. */
struct idem_sqlite_done {
	struct idem_store_result result;
	struct idem_listed *listed;
	bool writes;		/* it has to be asked again in a write
				   transaction; result is not set */
	bool withdrew;		/* a SETTLE that changed something */
};

void idem_sqlite_done_free(struct idem_sqlite_done *);

/*
 * Carry out one call in the open transaction.  0, or an SQLite result code and
 * *done cleared.  look: a read transaction, so nothing is changed.
 */
int idem_sqlite_apply(struct idem_sqlite_db *, const struct idem_store_call *,
    const struct idem_moment *, bool look, struct idem_sqlite_done *);

int idem_sqlite_sweep(struct idem_sqlite_db *, const struct idem_store_call *,
    const struct idem_moment *, bool look, struct idem_sqlite_done *);

/* --- the committer -------------------------------------------------------- */

/*
 * A call on its way.  The lobby's thread makes it and keeps it among its
 * outstanding ones; the committer's hands it back as ended.  If its time is
 * over before, the lobby answers it, and the committer, who still has it,
 * drops it.
 */
struct idem_sqlite_work {
	struct idem_sqlite_work *next;		/* in the one queue it is in */
	struct idem_sqlite_work *older, *newer;	/* outstanding; the lobby's */
	struct idem_store_call call;
	struct idem_sqlite_done done;
	bool maybe;		/* a commit of it failed: it may yet appear */
	bool under_way;		/* under the mutex: it may be applied by now */
	bool ended;		/* under the mutex: it is handed back */
	bool answered;		/* under the mutex: the lobby waits no longer */
	char error[200];
};

struct idem_sqlite_queue {
	struct idem_sqlite_work *first, *last;
};

struct idem_sqlite {
	struct idem_store base;		/* first: this is a store */
	const struct idem_clock *clock;
	struct idem_boot boot;
	bool read_only;			/* no thread */
	uint64_t reserve;
	atomic_bool pressed;		/* as it was found lately */
	struct idem_sqlite_file file;
	int event;			/* readable: something has ended */

	/* the lobby's */
	struct idem_sqlite_work *newest;
	int64_t due_ms;			/* no outstanding deadline is before */
	struct idem_refusals refused;

	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t woken;
	struct idem_sqlite_queue queue, ended;	/* under the mutex */
	bool stop;				/* under the mutex */

	/* the committer's */
	struct idem_sqlite_db db;
	struct idem_sqlite_queue writes;	/* they wait for the lock */
	int64_t retry_ns;			/* and not before (monotonic) */
	uint32_t pause_us;			/* the last one */
	uint32_t dice;				/* for its jitter */
	bool swept;				/* the WAL is to be moved */
	int64_t room_ns;			/* room is looked at by then */
	char broken[200];			/* nothing may be trusted */
};

void idem_sqlite_push(struct idem_sqlite_queue *, struct idem_sqlite_work *);
struct idem_sqlite_work *idem_sqlite_pop(struct idem_sqlite_queue *);
void idem_sqlite_work_free(struct idem_sqlite_work *);

/* Say why it failed; if a commit of it failed before, then that it may be. */
void idem_sqlite_fail(struct idem_sqlite_work *, enum idem_class,
    const char *error);
void idem_sqlite_fail_rc(struct idem_sqlite *, struct idem_sqlite_work *,
    int rc);

/* Look whether there is room, at most once a second. */
void idem_sqlite_room(struct idem_sqlite *);

/* Now, as the ledger says it. */
struct idem_moment idem_sqlite_moment(const struct idem_sqlite *);

/* Under the lock: one transaction for all, or if that fails one for each. */
void idem_sqlite_carry_out(struct idem_sqlite *, struct idem_sqlite_work **,
    size_t n);

/* The thread's whole life; arg is the store. */
void *idem_sqlite_committer(void *arg);

/* Answer what is queued from what is there: a store that only looks. */
void idem_sqlite_look(struct idem_sqlite *);

#endif
