/* SPDX-License-Identifier: ISC */
#ifndef RUN_H
#define RUN_H

#include "backend.h"
#include "cgi_head.h"
#include "keeper.h"
#include "loop.h"
#include "mint.h"
#include "page.h"
#include "spool.h"

/*
 * One run of a program, seen from the lobby: its output, its end, and the proof
 * that the answer is whole (doc/design.md, 4; RFC 3875, 6).  The program is a
 * child of the keeper's (run_cgi.c) or a FastCGI application (run_fcgi.c).
 *
 * A keyed run is captured: head and body, to be stored before anybody sees
 * them.  An unkeyed one is streamed to its connection as it comes.
 */
#define RUN_IDLE_MS 1000	/* of the pipe after reaping; then it ends */
#define RUN_READ_SIZE (64u * 1024u)
#define RUN_PIPE_SIZE (256 * 1024)	/* half as fast again as 64 KB */
#define RUN_MEMORY (256u * 1024u)	/* of a captured body; then a file */

struct lobby;
struct visit;

enum run_how {
	RUN_GOES_ON,
	RUN_ENDED,		/* by itself: exit status 0 */
	RUN_FAILED,		/* by itself, with another */
	RUN_DIED,		/* fell over */
	RUN_STOPPED		/* by a limit, or by somebody */
};

struct run {
	struct lobby *lobby;
	struct visit *visit;
	uint64_t id;
	struct run *prev, *next;
	enum run_how how;
	uint32_t app_status;	/* for END_REQUEST (5.5): its exit status */
	struct idem_buf raw;	/* what came before the head was whole */
	struct idem_head head;
	struct spool body;
	struct idem_buf err_line;
	uint64_t err_len;	/* in the log, about */
	uint64_t err_left_out;	/* bytes that are not */
	uint64_t passed;	/* bytes of body that it wrote */
	struct page *page;	/* its answer is one with tokens; or NULL */
	struct mint_ask *asked;	/* for one of these; or NULL */
	bool keyed;
	bool head_done, head_broken;
	bool eof;		/* of its output */
	bool over;		/* and its end is there: only its page waits */
	bool told;
	bool paused;		/* the connection is slow, or its page waits:
				   not reading */
	/* run_cgi.c */
	struct watch out, err;
	int err_fd;		/* watched or not; -1: closed */
	struct timer idle;	/* after reaping: the pipe may stay open */
	int64_t idle_ms;	/* when it was idle long enough */
	int64_t until_ms;	/* keyed: but it ends by then */
	bool handed;		/* to the keeper: it holds a lock if keyed */
	bool wide;		/* its pipe was made larger */
	/* run_fcgi.c */
	struct backend_call *call;
};

/*
 * Start the visit's program; the answer is visit_ran(), at once or later, and
 * not before this returns when it could be started.
 */
void run_start(struct visit *, bool keyed);
void run_client_gone(struct run *);
void run_drained(struct run *);
/* With the visit: the outcome is settled, the lock may go. */
void run_free(struct run *);

/* The captured answer, saved; *kept: with its body.  NULL: out of memory. */
struct idem_blob *run_saved(struct run *, size_t kept_max, bool *kept);

/* --- between the run files ------------------------------------------------ */

/* Its output and its end are there: judge it, and tell the visit. */
void run_over(struct run *);
void run_not_started(struct run *, enum idem_problem);

/* run_out.c: head and body, whatever they come from. */
void run_out_bytes(struct run *, struct idem_bytes);
/* Is the head there?  `ended`: nothing more comes. */
void run_out_head(struct run *, bool ended);
/* Bytes of its answer's body, as they are to be sent or stored. */
void run_out_pass(struct run *, struct idem_bytes);
/* Read on, if nothing is waited for any longer. */
void run_out_resume(struct run *);

/* run_page.c: its answer, if that is a page with tokens (page.h). */
void run_page_begin(struct run *);	/* its head is whole */
bool run_page_waits(const struct run *);
bool run_page_failed(const struct run *);
void run_page_free(struct run *);

/* run_err.c: what it says on standard error goes to the log, up to a limit, or
   to the front. */
void run_err_bytes(struct run *, struct idem_bytes);
void run_err_end(struct run *);

/* run_cgi.c.  False: not started, and nothing follows. */
bool run_cgi_start(struct run *);
void run_cgi_pause(struct run *, bool);
void run_cgi_close(struct run *);
void run_cgi_client_gone(struct run *);
void run_cgi_free(struct run *);
/* From the keeper. */
void run_cgi_ended(struct lobby *, uint64_t id, const struct run_end *);
void run_cgi_keeper_lost(struct lobby *);

/* run_fcgi.c, the same. */
extern const struct backend_user run_fcgi_user;
bool run_fcgi_start(struct run *);
void run_fcgi_close(struct run *);

#endif
