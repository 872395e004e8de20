/* SPDX-License-Identifier: ISC */
#ifndef WORKERS_H
#define WORKERS_H

#include "alert.h"
#include "log.h"
#include "memory.h"
#include "options.h"
#include "peers.h"
#include "shm.h"

#include <sys/types.h>

/*
 * The master's children: started, missed and started again.  Shared by
 * master.c, which says when, and workers.c, which says how.
 */

/* How often something has died lately, and when it may start again. */
struct backoff {
	int64_t started_ms, at_ms;	/* at_ms: 0: it lives */
	uint32_t pause_ms;
};

struct worker {
	pid_t lobby, keeper;		/* 0: none */
	uint64_t keeper_number;
	int control;			/* to the lobby; -1 */
	struct backoff lobby_again, keeper_again;
};

/* A keeper whose lobby has died: it ends by itself when its runs have. */
struct orphan {
	pid_t pid;
	uint64_t number;
	struct orphan *next;
};

struct master {
	const struct options *options;
	struct conf *conf;	/* in force */
	struct peers peers;
	struct shm *shm;
	/* The largest that were in force. */
	uint32_t lease_max_ms, limit_max_ms;
	int listener, lock_folder, signals;
	char *run;		/* the folder's path; owned */
	char *instance;		/* who we are, for alerts; owned */
	struct memory memory;
	bool tidied;		/* memories of the dead are gone */
	struct alert alert;
	struct worker worker[SHM_WORKERS_MAX];
	struct orphan *orphans;
	struct log log;
	bool stopping, at_once;
	int64_t told_ms, stop_ms;	/* to stop; when patience ends */
};

int64_t workers_now_ms(void);

/* Start what is due to be started. */
void workers_start(struct master *);
/* Those that have ended: note it, and free what they had. */
void workers_reap(struct master *);
/* When the next one is due; INT64_MAX: none. */
int64_t workers_due_ms(const struct master *);
bool workers_any(const struct master *);	/* does one live? */
/* Give all lobbies the text of a new configuration: m->conf is it already. */
void workers_reload(struct master *, int text);
/* Start a command of the operator's (struct alert's run; arg: the master). */
pid_t workers_command(void *arg, const char *path, char *const *argv,
    char *const *envp);
/* To all lobbies, and to all keepers if so said. */
void workers_signal(struct master *, int signal, bool keepers);

#endif
