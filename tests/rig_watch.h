/* SPDX-License-Identifier: ISC */
#ifndef TESTS_RIG_WATCH_H
#define TESTS_RIG_WATCH_H

#include "rig.h"
#include "shm.h"

/* What can be seen of a running idemd from outside. */

/* The lobbies by worker, from the log; bails out if they do not show. */
void rig_watch_lobbies(struct rig *, pid_t *lobby, unsigned workers);

uint64_t rig_watch_count(struct rig *, enum shm_count);
/* Until that counter has come to n; false after wait_ms. */
bool rig_watch_await(struct rig *, enum shm_count, uint64_t n, int64_t wait_ms);

/* Its share of memory (Pss), in kB; -1 when it is not there. */
long rig_watch_memory_kb(pid_t);
long rig_watch_threads(pid_t);

/* Built with a sanitizer, whose memory says nothing of ours. */
extern const bool rig_watch_sanitized;

#endif
