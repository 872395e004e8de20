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
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define STOP_MORE_MS 10000	/* over limit and grace, then it ends at once */
#define SAME_MS 3000		/* mod_fcgid says SIGTERM twice in 1.5 s */

/* What applies to each, so that it is seen before it matters. */
static void
log_routes(struct master *m)
{
	const struct conf_route *r;
	size_t i;

	for (i = 0; i < m->conf->routes_len; i++) {
		r = &m->conf->routes[i];
		log_line(&m->log, "route=\"%s\" arbiter=ledger on-unknown=%s "
		    "promises=%s", r->route.path,
		    r->route.policy.on_unknown == IDEM_BLOCK ? "block" :
		    "retry", r->route.policy.on_unknown == IDEM_BLOCK ?
		    "once,same-answer,kept" : "same-answer,kept");
	}
	for (i = 0; i < m->conf->warnings.len; i++)
		log_line(&m->log, "warning: %s", m->conf->warnings.at[i]);
}

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

/* --- reload --------------------------------------------------------------- */

static bool
read_file(const char *path, struct idem_buf *text)
{
	char piece[16 * 1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = 0;

	if (fd == -1)
		return false;
	text->max = OPTIONS_FILE_MAX;
	/* Whatever stands there: we wait for nobody, and not for ever. */
	while (idem_buf_ok(text) &&
	    ((n = read(fd, piece, sizeof piece)) > 0 ||
	    (n == -1 && errno == EINTR)))
		if (n > 0)
			idem_buf_append(text, piece, (size_t)n);
	close(fd);
	return n >= 0;
}

/* What all lobbies read is what we have read, whatever becomes of the file. */
static int
text_file(const struct idem_buf *text)
{
	int fd = memfd_create("idem-conf", MFD_CLOEXEC);

	if (fd != -1 && write(fd, text->at, text->len) == (ssize_t)text->len)
		return fd;
	if (fd != -1)
		close(fd);
	return -1;
}

static struct conf *
next_conf(struct master *m, const struct idem_buf *text, char *error,
    size_t error_size)
{
	struct conf *next;

	if (!idem_buf_ok(text)) {
		snprintf(error, error_size, "more than %u bytes",
		    OPTIONS_FILE_MAX);
		return NULL;
	}
	next = options_read_text(m->options, idem_buf_bytes(text), error,
	    error_size);
	if (next != NULL && !conf_may_follow(m->conf, next,
	    m->options->accept_rekey, error, error_size)) {
		conf_drop(next);
		next = NULL;
	}
	return next;
}

static void
take_over(struct master *m, struct conf *next, int text)
{
	conf_drop(m->conf);
	m->conf = next;
	if (next->lease_max_ms > m->lease_max_ms)
		m->lease_max_ms = next->lease_max_ms;
	if (next->limit_max_ms > m->limit_max_ms)
		m->limit_max_ms = next->limit_max_ms;
	workers_reload(m, text);
	shm_add(m->shm, SHM_RELOADS, 1);
	log_line(&m->log, "reloaded routes=%zu", next->routes_len);
	log_routes(m);
}

/* Nothing changes unless all of it can. */
static void
reload(struct master *m)
{
	struct idem_buf text = { 0 };
	char error[1024] = "";
	struct conf *next;
	int fd;

	if (m->options->config == NULL) {
		log_line(&m->log, "reload error=\"there is no --config\"");
		return;
	}
	if (!read_file(m->options->config, &text)) {
		log_line(&m->log, "reload error=\"%s: %s\"",
		    m->options->config, strerror(errno));
		idem_buf_free(&text);
		return;
	}
	next = next_conf(m, &text, error, sizeof error);
	fd = next == NULL ? -1 : text_file(&text);
	idem_buf_free(&text);
	if (fd != -1) {
		take_over(m, next, fd);
		close(fd);
		return;
	}
	log_line(&m->log, "reload refused: %s", next != NULL ?
	    strerror(errno) : error);
	if (next != NULL)
		conf_drop(next);
}

/* -------------------------------------------------------------------------- */

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
			told_to_stop(m, signal);
		else if (signal == SIGHUP && !m->stopping)
			reload(m);
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

static int
open_all(struct master *m)
{
	const struct conf *o = m->conf;
	char error[512];

	if (read_peers(m) == -1 || check_ledger(o) == -1)
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

static void
master_free(struct master *m)
{
	conf_drop(m->conf);
	peers_free(&m->peers);
	free(m);
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
	/* It waits until we serve, for it would end us. */
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	m->options = o;
	m->conf = o->conf;
	m->lease_max_ms = o->conf->lease_max_ms;
	m->limit_max_ms = o->conf->limit_max_ms;
	m->log.who = "idemd";
	for (i = 0; i < SHM_WORKERS_MAX; i++)
		m->worker[i].control = -1;
	more_descriptors();
	if (open_all(m) == -1) {
		master_free(m);
		return 111;
	}
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null != -1)		/* it may have been the socket */
		dup2(null, STDIN_FILENO);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGCHLD, SIG_DFL);	/* who ignores it makes us ignore it */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file over its limit: a full disk */
	log_line(&m->log, "serving ledger=%s workers=%u programs=%u routes=%zu",
	    m->conf->ledger, m->conf->workers, m->conf->programs,
	    m->conf->routes_len);
	log_routes(m);
	supervise(m, &set);
	log_line(&m->log, "stopped");
	log_flush(&m->log);
	master_free(m);
	return 0;
}
