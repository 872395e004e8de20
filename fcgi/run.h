/* SPDX-License-Identifier: ISC */
#ifndef RUN_H
#define RUN_H

#include "cgi_head.h"
#include "keeper.h"
#include "loop.h"
#include "spool.h"

/*
 * One run of a CGI program, seen from the lobby: its output, its end, and the
 * proof that the answer is whole (doc/design.md, 4; RFC 3875, 6).
 *
 * A keyed run is captured: head and body, to be stored before anybody sees
 * them.  An unkeyed one is streamed to its connection as it comes.
 */
#define RUN_IDLE_MS 1000	/* of the pipe after reaping; then it ends */
#define RUN_READ_SIZE (64u * 1024u)
#define RUN_PIPE_SIZE (256 * 1024)	/* half as fast again as 64 KB */

struct lobby;
struct visit;

struct run {
	struct lobby *lobby;
	struct visit *visit;
	uint64_t id;
	struct run *prev, *next;
	struct watch out, err;
	struct timer idle;	/* after reaping: the pipe may stay open */
	int64_t idle_ms;	/* when it was idle long enough */
	int64_t until_ms;	/* keyed: but it ends by then */
	struct idem_buf raw;	/* what came before the head was whole */
	struct idem_head head;
	struct spool body;
	struct run_end end;
	struct idem_buf err_line;
	uint64_t err_len;	/* in the log, about */
	uint64_t err_left_out;	/* bytes that are not */
	uint64_t passed;	/* bytes of body, streamed or captured */
	bool keyed;
	bool head_done, head_broken;
	bool ended, eof, told;
	bool paused;		/* the connection is slow: not reading */
	bool wide;		/* its pipe was made larger */
};

/*
 * Start the visit's program; the answer is visit_ran(), at once or later, and
 * not before this returns when it could be started.
 */
void run_start(struct visit *, bool keyed);
void run_ended(struct lobby *, uint64_t id, const struct run_end *);
void run_keeper_lost(struct lobby *);
void run_client_gone(struct run *);
void run_drained(struct run *);
/* With the visit: the outcome is settled, the lock may go. */
void run_free(struct run *);

/* The captured answer, saved; *kept: with its body.  NULL: out of memory. */
struct idem_blob *run_saved(struct run *, size_t kept_max, bool *kept);

/*
 * run_out.c: its standard output, head and body.  Ready tells run_check_over
 * at its end.  Read gives whether there was something; at the end eof is set.
 */
void run_out_ready(struct watch *, uint32_t events);
bool run_out_read(struct run *);
void run_out_close(struct run *);
/* Is the head there?  `ended`: nothing more comes. */
void run_head_look(struct run *, bool ended);
/* After reaping: from now on again the pipe must be idle for RUN_IDLE_MS. */
void run_idle_again(struct run *);
void run_check_over(struct run *);

/*
 * run_err.c: its standard error goes to the log, up to a limit.  Closing reads
 * what is in the pipe still.
 */
void run_err_ready(struct watch *, uint32_t events);
void run_err_close(struct run *);

#endif
