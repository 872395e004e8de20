/* SPDX-License-Identifier: ISC */
#include "master.h"

#include "listen.h"
#include "master_private.h"
#include "run_lock.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define STOP_MORE_MS 10000	/* over limit and grace, then it ends at once */
#define SAME_MS 3000		/* mod_fcgid says SIGTERM twice in 1.5 s */

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
	const char *path = listen_path(m->conf->socket);

	if (path != NULL)
		unlink(path);
	close(m->listener);
}

/*
 * A process manager that started us on its own socket is not in a hurry: it
 * says the same thing again.  Who gave us a socket of our own means it.
 */
static bool
is_the_same(const struct master *m, int signal)
{
	return signal == SIGTERM && m->conf->socket == NULL &&
	    workers_now_ms() - m->told_ms < SAME_MS;
}

static void
told_to_stop(struct master *m, int signal)
{
	if (m->stopping) {
		if (!is_the_same(m, signal))
			end_at_once(m);
		return;
	}
	m->stopping = true;
	m->told_ms = workers_now_ms();
	close_listener(m);
	m->stop_ms = workers_now_ms() + m->limit_max_ms + m->conf->grace_ms +
	    STOP_MORE_MS;
	workers_signal(m, SIGTERM, false);
}

/* --- turns ---------------------------------------------------------------- */

static int64_t
due_ms(const struct master *m, int64_t now_ms)
{
	int64_t due = m->stopping ? m->stop_ms : workers_due_ms(m);
	int64_t alert = alert_due_ms(&m->alert, now_ms);

	return alert < due ? alert : due;
}

/* A signal that has come, or -1. */
static int
await(const struct master *m)
{
	int64_t now_ms = workers_now_ms(), left = due_ms(m, now_ms) - now_ms;
	struct pollfd ready[2] = {
		{ .fd = m->signals, .events = POLLIN },
		{ .fd = m->shm->wake_master, .events = POLLIN }
	};
	struct signalfd_siginfo info;
	uint64_t n;

	if (left > 60 * 1000)
		left = 60 * 1000;
	if (left < 0)
		left = 0;
	poll(ready, 2, (int)left);
	if ((ready[1].revents & POLLIN) != 0)
		(void)!read(m->shm->wake_master, &n, sizeof n);
	if (read(m->signals, &info, sizeof info) != (ssize_t)sizeof info)
		return -1;
	return (int)info.ssi_signo;
}

static void
supervise(struct master *m)
{
	int signal;

	while (!m->stopping || workers_any(m)) {
		if (!m->stopping)
			workers_start(m);
		alert_turn(&m->alert, workers_now_ms());
		log_flush(&m->log);
		signal = await(m);
		if (signal == SIGTERM || signal == SIGINT)
			told_to_stop(m, signal);
		else if (signal == SIGHUP && !m->stopping)
			master_reload(m);
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
check_ledger(const struct conf *o)
{
	struct idem_sqlite_options sqlite = {
		.path = o->ledger,
		.clock = &idem_clock_real,
		.read_only = true
	};
	struct idem_store *store;
	char error[512];

	if (o->ledger == NULL)
		return 0;
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
	/* SQLite opens what it may only read, and every key would get 503. */
	if (idem_sqlite_writable(o->ledger, error, sizeof error) != 0)
		return refuse(error);
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
read_peers(struct master *m)
{
	const char *wrong;
	char error[256];
	size_t len;

	if (peers_read(&m->peers, getenv("FCGI_WEB_SERVER_ADDRS"), &wrong,
	    &len) == 0)
		return 0;
	if (wrong == NULL)
		return refuse(strerror(ENOMEM));
	snprintf(error, sizeof error, "FCGI_WEB_SERVER_ADDRS: \"%.*s\" is no "
	    "address; list those of the web servers, such as "
	    "127.0.0.1,::1", (int)(len < 100 ? len : 100), wrong);
	return refuse(error);
}

/* Its path is who we are, too: to idemctl, and to who is told of alerts. */
static int
open_run_folder(struct master *m)
{
	const struct conf *o = m->conf;
	char error[512], host[256] = "";

	m->lock_folder = idem_run_folder(o->run, o->ledger, true, error,
	    sizeof error);
	if (m->lock_folder == -1)
		return refuse(error);
	m->run = idem_run_folder_path(o->run, o->ledger);
	gethostname(host, sizeof host - 1);
	if (m->run == NULL ||
	    asprintf(&m->instance, "%s:%s", host, m->run) < 0) {
		m->instance = NULL;
		return refuse(strerror(ENOMEM));
	}
	return 0;
}

static int
open_all(struct master *m)
{
	const struct conf *o = m->conf;
	char error[512];

	if (read_peers(m) == -1 || check_ledger(o) == -1 ||
	    open_run_folder(m) == -1)
		return -1;
	m->listener = listen_open(o->socket, error, sizeof error);
	if (m->listener == -1)
		return refuse(error);
	m->shm = shm_new(o->programs, o->workers, m->lock_folder);
	if (m->shm == NULL) {
		snprintf(error, sizeof error, "memory that workers share, or "
		    "the counters in the run folder %.300s: %s", m->run,
		    strerror(errno));
		return refuse(error);
	}
	if (master_routes_memory(m, o, error, sizeof error))
		return 0;
	log_flush(&m->log);
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

static void
master_free(struct master *m)
{
	memory_drop(&m->memory);
	shm_free(m->shm);
	conf_drop(m->conf);
	peers_free(&m->peers);
	free(m->run);
	free(m->instance);
	free(m);
}

/* What we do at a signal is ours to time. */
static int
take_signals(struct master *m)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);	/* who ignores it makes us ignore it */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file over its limit: a full disk */
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return m->signals == -1 ? refuse(strerror(errno)) : 0;
}

static void
serve(struct master *m)
{
	const struct conf *o = m->conf;

	m->alert = (struct alert){
		.command = o->alert,
		.instance = m->instance,
		.shm = m->shm,
		.log = &m->log,
		.run = workers_command,
		.arg = m
	};
	log_line(&m->log, "serving ledger=%s workers=%u programs=%u routes=%zu",
	    o->ledger != NULL ? o->ledger : "none", o->workers, o->programs,
	    o->routes_len);
	master_routes_say(m);
	supervise(m);
	alert_end(&m->alert);
	log_line(&m->log, "stopped");
	log_flush(&m->log);
}

static struct master *
master_new(const struct options *o)
{
	struct master *m = calloc(1, sizeof *m);
	uint32_t i;

	if (m == NULL)
		return NULL;
	m->options = o;
	m->conf = o->conf;
	m->lease_max_ms = o->conf->lease_max_ms;
	m->limit_max_ms = o->conf->limit_max_ms;
	m->log.who = "idemd";
	m->memory.lock = -1;
	for (i = 0; i < SHM_WORKERS_MAX; i++)
		m->worker[i].control = -1;
	return m;
}

int
master_main(const struct options *o)
{
	struct master *m = master_new(o);
	sigset_t set;
	int null;

	if (m == NULL || standard_descriptors() == -1)
		return 111;
	/* It waits until we serve, for it would end us. */
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	more_descriptors();
	if (open_all(m) == -1) {
		master_free(m);
		return 111;
	}
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null != -1)		/* it may have been the socket */
		dup2(null, STDIN_FILENO);
	if (take_signals(m) == -1) {
		master_free(m);
		return 111;
	}
	serve(m);
	master_free(m);
	return 0;
}
