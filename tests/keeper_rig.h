/* SPDX-License-Identifier: ISC */
#ifndef TESTS_KEEPER_RIG_H
#define TESTS_KEEPER_RIG_H

#include "journal.h"
#include "keeper.h"
#include "loop.h"
#include "run_lock.h"

#include <sys/types.h>

/*
 * A keeper in a process of its own, its runner here, and a temporary folder.
 * Whatever fails in here ends the test program (bail_out).
 */
#define RIG_SLOTS 6
#define RIG_OUT_MAX 4096
#define RIG_PATIENCE_MS 60000	/* then something hangs */
#define RIG_LIMIT_MS 100000	/* that nobody is to run over */
/*
 * Of what a keeper does by the clock: tries on a machine on which others may be
 * held up until it is too late for them.  A limit grows with each, and of a
 * second at first the last one is yet within RIG_PATIENCE_MS.
 */
#define RIG_TRIES 6
#define RIG_LIMIT_OF(ms, tries) ((uint32_t)(ms) << (tries))

struct rig_options {
	uint32_t grace_ms;
	int err;		/* the keeper's standard error; 0: ours */
	uint64_t file_max;	/* bytes of a file it may write; 0: any */
};

struct rig {
	struct loop *loop;
	struct shm *shm;
	struct runner *runner;
	uint64_t number;
	pid_t keeper;
	int locks;
	char folder[32];
	uint64_t last_id;
	int lost;
	struct idem_buf told;	/* whole output of the last that ended */
	struct rig_run *runs;	/* that are followed and have not ended */
	uint64_t ignored_to;	/* ids up to it need not be followed */
};

/* What to run, and what came of it; it stays where it is until it has ended. */
struct rig_run {
	const char *path, *folder;
	char **argv, **envp;
	bool keyed;		/* it has a note */
	bool spooled;		/* keyed */
	bool has_in, has_owner, no_slot;
	bool own_err;		/* a pipe of its own: err_fd */
	bool has_file;		/* not the note's, but: */
	int in, file;
	uint32_t limit_ms;
	int64_t not_after_ms;
	char *sh[4];

	uint64_t id;
	struct idem_owner owner;
	struct idem_run_file note;	/* ours, while it lives */
	int out_fd, err_fd;
	char out[RIG_OUT_MAX];
	size_t out_len;
	struct run_end end;
	int64_t took_ms;	/* to its limit */
	bool done;
	struct rig_run *next;
};

void rig_open(struct rig *, uint32_t grace_ms);
void rig_open_so(struct rig *, const struct rig_options *);
void rig_close(struct rig *);

struct rig_run rig_sh(char *script);	/* it is kept */
struct rig_run rig_spooled(char *script);
/* It may read from the other end of go_on. */
struct rig_run rig_spooled_until(char *script, int *go_on);
/* "name=xxx...", so many bytes with its NUL; to be freed. */
char *rig_variable(const char *name, size_t len);
void rig_owner(struct rig *, struct rig_run *);	/* else rig_start gives one */
int rig_try(struct rig *, struct rig_run *);	/* what runner_start said */
void rig_follow(struct rig *, struct rig_run *);	/* after such a try */
void rig_ignore(struct rig *, const struct rig_run *);	/* or so */
bool rig_await_all(struct rig *);		/* all that are followed */
void rig_start(struct rig *, struct rig_run *);
void rig_wait(struct rig *, struct rig_run *);	/* ended, and all output */
void rig_run(struct rig *, struct rig_run *);	/* start and wait */
void rig_read_line(struct rig *, struct rig_run *);	/* it runs on */
/* false: it has ended */
bool rig_try_line(struct rig *, struct rig_run *);
/* One that says a line once its limit may come: as often as it takes. */
void rig_run_to_limit(struct rig *, struct rig_run *, uint32_t limit_ms);
void rig_settle(struct rig *, struct rig_run *);	/* its last word: */
void rig_leave(struct rig *, struct rig_run *);
/* The lobby dies, with all that it has open of these runs; NULL: none. */
void rig_drop_lobby(struct rig *, struct rig_run *, struct rig_run *);

void rig_pause(struct rig *, int64_t ms);
void rig_await_lost(struct rig *);
enum idem_run_lock rig_lock(const struct rig *, const struct rig_run *);
enum idem_run_lock rig_await_lock(struct rig *, const struct rig_run *,
    enum idem_run_lock);
/* What its file says; -1: there is none. */
int rig_state(const struct rig *, const struct rig_run *);
int rig_await_state(struct rig *, const struct rig_run *,
    enum idem_note_state);
bool rig_await_trailer(struct rig *, const struct rig_run *,
    struct idem_evidence *);
/* Its file has these bytes, with the right sum, and the end that it had. */
bool rig_is_in_file(const struct rig *, const struct rig_run *,
    const void *want, size_t len);
/* Numbers in lines, from 1, as seq(1) writes them: at least so many bytes; to
   be freed. */
uint8_t *rig_numbers(size_t least);
void rig_name(const struct rig_run *, char name[48]);	/* of its lock */
int rig_lock_files(const struct rig *);
bool rig_await_no_locks(struct rig *);
int rig_descriptors(pid_t);	/* its own count includes one for looking */
int rig_await_descriptors(struct rig *, int want);	/* of the keeper */
#define RIG_KEEPER_FDS (3 + 4)	/* its socket, eventfd, signalfd, epoll */
int rig_slots_free(const struct rig *);
bool rig_is_gone(pid_t);
bool rig_await_gone(struct rig *, pid_t);
/* What it left behind, whose number is all that it wrote.  False if there is
   none: 0 would be all of us. */
bool rig_kill_left(const struct rig_run *);
int rig_lines(const char *text);

#endif
