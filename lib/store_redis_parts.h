/* SPDX-License-Identifier: ISC */
#ifndef IDEM_STORE_REDIS_PARTS_H
#define IDEM_STORE_REDIS_PARTS_H

#include "redis_script.h"
#include "store_call.h"
#include "store_redis.h"

/*
 * The inside of the Redis stores, for their own files only:
 *
 *	store_redis.c		the port, for all schemes
 *	store_redis_script.c	one call as the script
 *	store_redis_scan.c	LIST and SWEEP: every master, page by page
 *	store_redis_page.c	the keys of a page
 *	store_redis_rows.c	the rows of a LIST (pure)
 *	store_redis_setnx.c, store_redis_check.c	the other schemes
 *	store_redis_heed.c	what is known without a call: purges, history,
 *			room
 *	store_redis_selftest.c	is each command permitted?
 */
#define IDEM_REDIS_PREFIX "idem:"

struct idem_redis_store;
struct idem_redis_scan;

/*
 * A call on its way.  It is answered once; commands of it that are still under
 * way then keep it, and what they come back with is dropped.
 */
struct idem_redis_work {
	struct idem_redis_work *older, *newer;	/* those to be answered */
	struct idem_redis_work *next;		/* those that sent nothing */
	struct idem_redis_store *store;
	struct idem_store_call call;
	struct idem_buf key;		/* of Redis, whole */
	struct idem_redis_scan *scan;	/* LIST, SWEEP; owned */
	struct idem_store_result result;	/* kept while more is asked */
	uint64_t purges;
	unsigned pending;		/* commands under way */
	bool answered;
	bool written;			/* a command that may have changed
					   something is, or was */
	bool fetching;			/* CLAIM: the long answer */
	bool taken;			/* CLAIM: the key is somebody's */
};

/* Whether the masters have any: as they told it last. */
struct idem_redis_room {
	bool pressed;
	bool told, limited, full;	/* in the round under way */
	unsigned asked;		/* of it, not answered yet */
	int64_t due_ms;		/* the next, not before */
};

struct idem_redis_store {
	struct idem_store base;		/* first: this is a store */
	struct idem_store_redis_options o;
	struct idem_redis_script script;
	void (*begin)(struct idem_redis_work *);	/* one key, by scheme */
	unsigned holders;		/* its user; works; commands of heed */
	bool closed;
	struct idem_redis_work *newest;
	struct idem_redis_work *ready, **ready_last;
	struct idem_refusals refused;
	uint64_t sweep_at;		/* where the next SWEEP goes on */

	/* heed */
	uint64_t purges;
	struct idem_history history;
	bool history_known, used;
	struct idem_redis_room room;
	unsigned asking;
	int64_t heed_ms;		/* not before */
};

/* --- store_redis.c -------------------------------------------------------- */

/* PREFIX and the rest; false: no memory. */
bool idem_redis_key(const struct idem_redis_store *, const char *rest,
    struct idem_buf *);

/*
 * Send one command of the work.  Its done begins with _back, which is false if
 * the work was answered meanwhile and is to be left alone.
 */
void idem_redis_work_send(struct idem_redis_work *,
    const struct idem_redis_command *);
bool idem_redis_work_back(struct idem_redis_work *);
/* Send plain words about the work's key. */
void idem_redis_work_ask(struct idem_redis_work *, const struct idem_bytes *,
    size_t len, idem_redis_done *);

/* From a command's done: the end.  The work may be gone after it. */
void idem_redis_work_answer(struct idem_redis_work *,
    const struct idem_store_result *);
/* The command failed, and the call with it. */
void idem_redis_work_failed(struct idem_redis_work *,
    const struct idem_redis_answer *);
/* Because of something else; `why` is a literal. */
void idem_redis_work_fail(struct idem_redis_work *, enum idem_class,
    const char *why);
/* From begin, when nothing was sent: answer with work->result at the next poll;
   or that it is refused. */
void idem_redis_work_later(struct idem_redis_work *);
void idem_redis_work_refuse(struct idem_redis_work *, const char *why);

void idem_redis_store_hold(struct idem_redis_store *);
void idem_redis_store_drop(struct idem_redis_store *);

/* --- store_redis_script.c ------------------------------------------------- */

void idem_redis_script_begin(struct idem_redis_work *);
/* What the script is given with every call of the work. */
struct idem_redis_script_call idem_redis_script_call(
    const struct idem_redis_work *, struct idem_bytes key);

/* --- store_redis_setnx.c, store_redis_check.c ----------------------------- */

void idem_redis_setnx_begin(struct idem_redis_work *);
void idem_redis_check_begin(struct idem_redis_work *);
/* What both do: SET with a time to live, DEL (answered by _written); nothing;
   the result of a claim, of which nobody can say whose it is. */
void idem_redis_setnx_put(struct idem_redis_work *, struct idem_bytes value,
    bool nx, idem_redis_done *);
void idem_redis_setnx_delete(struct idem_redis_work *);
idem_redis_done idem_redis_setnx_written;
void idem_redis_setnx_nothing(struct idem_redis_work *);
void idem_redis_setnx_claimed(struct idem_redis_work *, enum idem_claim);

/* --- store_redis_rows.c --------------------------------------------------- */

/* Sorted: the smallest keys after `after`, at most max.  Else as they come. */
struct idem_redis_rows {
	struct idem_listed *at;		/* owned */
	size_t room;
	uint32_t count, max;
	bool sorted;
	struct idem_digest after;
};

void idem_redis_rows_free(struct idem_redis_rows *);
bool idem_redis_rows_wants(const struct idem_redis_rows *,
    const struct idem_digest *key);
/* False: no memory. */
bool idem_redis_rows_add(struct idem_redis_rows *, const struct idem_listed *);

/* --- store_redis_scan.c, store_redis_page.c ------------------------------- */

/* An opaque cursor: the server's own, and above it which master's it is. */
#define IDEM_REDIS_CURSOR_BITS 52

struct idem_redis_page_key {
	struct idem_redis_scan *scan;
	struct idem_digest key;
};

struct idem_redis_scan {
	struct idem_redis_work *w;
	char **nodes;			/* as they were when it began */
	size_t nodes_len, node;
	uint64_t cursor;		/* of the node; 0: its first page */
	unsigned pages;			/* so far */
	struct idem_redis_rows rows;	/* LIST */
	uint32_t swept;			/* SWEEP */
	int64_t now_ms;

	struct idem_redis_page_key *page;	/* owned */
	size_t page_len, asked;
	unsigned pending;		/* of its keys */
	uint64_t next;			/* cursor after it; 0: none */

	/* What went wrong; told when the page is over. */
	bool bad, away;
	enum idem_class class;
	char error[200];
};

void idem_redis_scan_begin(struct idem_redis_work *);
void idem_redis_scan_free(struct idem_redis_scan *);
/* The first reason stays. */
void idem_redis_scan_fail(struct idem_redis_scan *, enum idem_class,
    const char *why);
/* SCAN's reply as the page; false: it is none, or no memory. */
bool idem_redis_page_read(struct idem_redis_scan *,
    const struct idem_redis_value *);
/* Ask about its keys, no more at once than a SWEEP may yet sweep. */
void idem_redis_page_ask(struct idem_redis_scan *);
/* No answer about any of them is outstanding. */
void idem_redis_page_over(struct idem_redis_scan *);

/* --- store_redis_heed.c --------------------------------------------------- */

/*
 * The purge count and the history are asked for at the start and, while the
 * store is used, each second; the room, where there is a limit to it, each
 * tenth.
 */
void idem_redis_heed(struct idem_redis_store *);
int64_t idem_redis_heed_due_ms(const struct idem_redis_store *);
void idem_redis_heed_history(struct idem_redis_store *,
    const struct idem_history *);
/* A SETTLE was written: count it, then answer with work->result. */
void idem_redis_heed_purge(struct idem_redis_work *);

#endif
