/* SPDX-License-Identifier: ISC */
#include "master.h"

#include "listen.h"
#include "run_lock.h"
#include "store.h"
#include "workers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STOP_MORE_MS 10000	/* over limit and grace, then it ends at once */

static void
end_at_once(struct master *m)
{
	m->at_once = true;
	m->stop_ms = INT64_MAX;
	log_line(&m->log, "ending at once: what runs now becomes unknown");
	workers_signal(m, SIGKILL, true);	/* programs die with keepers */
}

/*
 * Who comes now is refused at once, and does not wait in a line that nobody
 * serves.  The path goes first: it may be the next instance's at once.
 */
static void
close_listener(struct master *m)
{
	const char *path = listen_path(m->options->socket);

	if (path != NULL)
		unlink(path);
	close(m->listener);
}

static void
told_to_stop(struct master *m)
{
	if (m->stopping) {
		end_at_once(m);
		return;
	}
	m->stopping = true;
	close_listener(m);
	m->stop_ms = workers_now_ms() + m->options->limit_ms +
	    m->options->grace_ms + STOP_MORE_MS;
	workers_signal(m, SIGTERM, false);
}

static int
await(const struct master *m, const sigset_t *set)
{
	int64_t left = (m->stopping ? m->stop_ms : workers_due_ms(m)) -
	    workers_now_ms();
	struct timespec pause;

	if (left > 60 * 1000)
		left = 60 * 1000;
	if (left < 0)
		left = 0;
	pause.tv_sec = left / 1000;
	pause.tv_nsec = left % 1000 * 1000000;
	return sigtimedwait(set, NULL, &pause);
}

static void
supervise(struct master *m, const sigset_t *set)
{
	int signal;

	while (!m->stopping || workers_any(m)) {
		if (!m->stopping)
			workers_start(m);
		log_flush(&m->log);
		signal = await(m, set);
		if (signal == SIGTERM || signal == SIGINT)
			told_to_stop(m);
		workers_reap(m);
		if (m->stopping && !m->at_once && workers_now_ms() > m->stop_ms)
			end_at_once(m);
	}
}

/* --- start ---------------------------------------------------------------- */

static int
refuse(const char *error)
{
	fprintf(stderr, "idemd: %s\n", error);
	return -1;
}

/* Seen by the administrator, not in a worker's log line by line. */
static int
check_ledger(const struct options *o)
{
	struct idem_sqlite_options sqlite = {
		.path = o->ledger,
		.clock = &idem_clock_real,
		.read_only = true
	};
	struct idem_store *store;
	char error[512];

	if (o->create && access(o->ledger, F_OK) == -1 && errno == ENOENT &&
	    idem_store_sqlite_create(o->ledger, error, sizeof error) == -1)
		return refuse(error);
	if (!idem_boot_id(&sqlite.boot))
		return refuse("/proc/sys/kernel/random/boot_id: cannot be "
		    "read; is /proc mounted?");
	store = idem_store_sqlite(&sqlite, error, sizeof error);
	if (store == NULL)
		return refuse(error);
	store->ops->close(store);
	return 0;
}

static void
more_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == -1)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int
open_all(struct master *m)
{
	const struct options *o = m->options;
	char error[512];

	if (check_ledger(o) == -1)
		return -1;
	m->lock_folder = idem_run_folder(o->ledger, error, sizeof error);
	if (m->lock_folder == -1)
		return refuse(error);
	m->listener = listen_open(o->socket, error, sizeof error);
	if (m->listener == -1)
		return refuse(error);
	m->shm = shm_new(o->programs, o->workers, m->lock_folder);
	if (m->shm != NULL)
		return 0;
	snprintf(error, sizeof error, "shared memory: %s", strerror(errno));
	return refuse(error);
}

/* 0, 1 and 2 are taken: a socket that got one of them would be a program's. */
static int
standard_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR);

	while (fd != -1 && fd <= STDERR_FILENO)
		fd = dup(fd);
	if (fd == -1)
		return -1;
	close(fd);
	return 0;
}

int
master_main(const struct options *o)
{
	struct master *m = calloc(1, sizeof *m);
	sigset_t set;
	uint32_t i;
	int null;

	if (m == NULL || standard_descriptors() == -1)
		return 111;
	m->options = o;
	m->log.who = "idemd";
	for (i = 0; i < SHM_WORKERS_MAX; i++)
		m->worker[i].control = -1;
	more_descriptors();
	if (open_all(m) == -1)
		return 111;
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null != -1)		/* it may have been the socket */
		dup2(null, STDIN_FILENO);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file over its limit: a full disk */
	log_line(&m->log, "serving ledger=%s workers=%u programs=%u "
	    "promises=once,same-answer,kept arbiter=ledger on-unknown=%s",
	    o->ledger, o->workers, o->programs,
	    o->policy.on_unknown == IDEM_BLOCK ? "block" : "retry");
	supervise(m, &set);
	log_line(&m->log, "stopped");
	log_flush(&m->log);
	free(m);
	return 0;
}
