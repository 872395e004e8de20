/* SPDX-License-Identifier: ISC */
#ifndef RUN_H
#define RUN_H

#include "answer.h"
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
 * them; if it is spooled its output is collected by the keeper, and comes here
 * when it is over.  An unkeyed one is streamed to its connection as it comes.
 * A probe (run_probe.c) is captured here, and has no note: it starts nothing.
 */
#define RUN_IDLE_MS 1000	/* of the pipe after reaping; then it ends */
#define RUN_READ_SIZE (64u * 1024u)
#define RUN_PIPE_SIZE (256 * 1024)	/* half as fast again as 64 KB */
#define RUN_MEMORY (256u * 1024u)	/* of a captured body; then a file */

struct lobby;
struct visit;

enum run_kind { RUN_UNKEYED, RUN_KEYED, RUN_PROBE };

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
	int status;		/* as of waitpid(2), once it has ended */
	bool limited;		/* it was over its limit */
	uint32_t app_status;	/* for END_REQUEST (5.5): its exit status */
	int64_t started_ms;
	struct idem_buf raw;	/* what came before the head was whole */
	struct idem_head head;
	struct spool body;
	struct idem_buf err_line;
	uint64_t err_len;	/* in the log, about */
	uint64_t err_left_out;	/* bytes that are not */
	uint64_t passed;	/* bytes of body that it wrote */
	struct page *page;	/* its answer is one with tokens; or NULL */
	struct mint_ask *asked;	/* for one of these; or NULL */
	bool keyed;		/* or a probe */
	bool probe;
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
	bool handed;		/* to the keeper */
	bool wide;		/* its pipe was made larger */
	bool spooled;		/* its output goes into its note's file: */
	uint64_t out_at, out_len;	/* taken from there, of so much */
	char *folder;		/* of a probe; owned */
	/* run_fcgi.c */
	struct backend_call *call;
};

/*
 * Start the visit's program; the answer is visit_ran(), of a probe visit_tell,
 * at once or later, and not before this returns when it could be started.
 */
void run_start(struct visit *, enum run_kind);
void run_client_gone(struct run *);
void run_drained(struct run *);
/* With the visit, or for the next run of it. */
void run_free(struct run *);

/* The captured answer, saved; *kept: with its body.  NULL: out of memory. */
struct idem_blob *run_saved(struct run *, size_t kept_max, bool *kept);

/* --- between the run files ------------------------------------------------ */

/* Its output and its end are there: judge it, and tell the visit. */
void run_over(struct run *);
void run_not_started(struct run *, enum idem_problem);

/* run_probe.c */
/* What the probe of a visit is, for its start.  False: no memory. */
bool run_probe_spec(struct run *, struct run_spec *, char *argv[2]);
/* Its word, told to the visit. */
void run_probe_over(struct run *, enum idem_run);

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
/* From the keeper. */
void run_cgi_ended(struct lobby *, uint64_t id, const struct run_end *,
    struct idem_bytes out);
void run_cgi_keeper_lost(struct lobby *);
/* To the program, if it runs and is a child of the keeper's. */
bool run_cgi_signal(const struct run *, int signal);

/* run_cgi_out.c: what it writes. */
int run_cgi_out_open(struct run *, struct run_spec *);
/* It goes on. */
void run_cgi_out_await(struct run *);
/* It has ended, and `out` came with that word. */
void run_cgi_out_over(struct run *, const struct run_end *,
    struct idem_bytes out);
void run_cgi_pause(struct run *, bool);
void run_cgi_close(struct run *);
void run_cgi_client_gone(struct run *);

/* run_fcgi.c, the same. */
extern const struct backend_user run_fcgi_user;
bool run_fcgi_start(struct run *);
void run_fcgi_close(struct run *);

#endif
