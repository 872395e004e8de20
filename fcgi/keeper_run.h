/* SPDX-License-Identifier: ISC */
#ifndef KEEPER_RUN_H
#define KEEPER_RUN_H

#include "keeper_err.h"
#include "keeper_spool.h"
#include "keeper_wire.h"

#include <sys/types.h>

/*
 * The keeper's runs, between its own files:
 *
 *	START -> running -> reaped -> (spooled: its pipe at its end) -> over
 *	    \-> not started: over
 *
 *	over -> told -> (with a note: the lobby's last word) -> forgotten
 *
 * A run with a note keeps its lock until that word, as a free lock beside an
 * unwritten record would prove that nobody will write it.
 */
#define KEEPER_RUNS_MAX 4096	/* running, untold or without a last word */
#define KEEPER_RUNS_SPARE 64	/* of them for those refused as too many */

enum keeper_word {
	KEEPER_WORD_NONE, KEEPER_WORD_SETTLED, KEEPER_WORD_UNKNOWN,
	KEEPER_WORD_LEFT
};

struct keeper_run {
	struct keeper *keeper;
	struct keeper_run *newer, *older;
	uint64_t id;
	struct idem_run_file note;	/* ours */
	struct keeper_spool spool;
	struct keeper_err err;
	struct timer timer;	/* its limit, its SIGKILL, its pipe idle */
	int64_t limit_ms;	/* boot clock, as all: SIGTERM */
	int64_t until_ms;	/* its pipe ends, even if it is written to */
	int64_t idle_ms;	/* reaped: the pipe was idle long enough */
	pid_t pid;		/* 0: not running */
	int slot;
	enum keeper_word word;
	bool spooled;
	bool begun;		/* its state is, or may be */
	bool stopped;		/* SIGTERM was sent, or the alarm went off */
	bool over, told;
	struct run_end end;
};

struct keeper {
	const struct keeper_options *o;
	struct loop *loop;
	struct watch socket, signals;
	bool deaf;		/* nobody hears what we tell */
	bool over;		/* and nobody can ask */
	bool full;		/* the socket takes no more words for now */
	uint32_t n;		/* runs, from newest to oldest */
	uint32_t collecting;	/* of them have their pipe open */
	struct keeper_run *newest, *oldest;
	struct keeper_run *unused;	/* linked by older */
	uint32_t touched;	/* so many of the room have been in use */
	struct keeper_message message;
	struct keeper_run room[KEEPER_RUNS_MAX];
};

/* keeper_start.c: the run of the message; there is room. */
void keeper_start(struct keeper *);

/* keeper_run.c. */
struct keeper_run *keeper_run_new(struct keeper *);
bool keeper_run_is_noted(const struct keeper_run *);
/* SIGTERM for its group, after the grace SIGKILL. */
void keeper_run_stop(struct keeper_run *);
void keeper_run_signal(const struct keeper_run *, int signal);
void keeper_run_due(struct timer *, int64_t now_ms);
/* Its program has ended, and is about to be reaped; then it has been. */
void keeper_run_ending(struct keeper_run *, bool by_signal, int status);
void keeper_run_reaped(struct keeper_run *, int status);
/* Its last word, once. */
void keeper_run_word(struct keeper_run *, enum keeper_word);
/* It is over.  It may be gone after this, or after what can be done later. */
void keeper_run_over(struct keeper_run *);
void keeper_run_advance(struct keeper_run *);

/* keeper_out.c: its output, if the keeper collects it.  0; -1 and errno. */
int keeper_out_open(struct keeper_run *, const struct idem_owner *,
    int *write_end);
void keeper_out_drop(struct keeper_run *);	/* it was not started */
void keeper_out_reaped(struct keeper_run *);
void keeper_out_idle_due(struct keeper_run *, int64_t now_ms);

#endif
