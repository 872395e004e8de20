/* SPDX-License-Identifier: ISC */
#include "workers.h"

#include "lobby.h"
#include "spawn.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAUSE_FIRST_MS 10
#define PAUSE_MAX_MS 500
#define ALIVE_MS 5000		/* then a death is the first again */

int64_t
workers_now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

static void
died(struct backoff *b)
{
	int64_t now = workers_now_ms();

	if (now - b->started_ms >= ALIVE_MS)
		b->pause_ms = 0;
	b->at_ms = now + b->pause_ms;
	b->pause_ms = b->pause_ms == 0 ? PAUSE_FIRST_MS :
	    b->pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : b->pause_ms * 2;
}

/* --- children ------------------------------------------------------------- */

/* What a child must not hold: another's socket would outlive its owner. */
static void
let_go(struct master *m, bool keeper)
{
	uint32_t i;

	for (i = 0; i < m->shm->workers; i++)
		if (m->worker[i].control != -1)
			close(m->worker[i].control);
	close(m->signals);
	if (keeper)
		close(m->listener);
}

/* Signals stay blocked over the fork: the child takes them when it is ready. */
static pid_t
start_keeper(struct master *m, uint64_t number, int ends[2])
{
	struct keeper_options ko = {
		.shm = m->shm,
		.number = number,
		.grace_ms = m->conf->grace_ms
	};
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	pid = fork();
	if (pid == 0) {
		let_go(m, true);
		close(ends[0]);
		ko.socket = ends[1];
		_exit(keeper_main(&ko));
	}
	close(ends[1]);
	if (pid == -1)
		close(ends[0]);
	return pid;
}

static pid_t
start_lobby(struct master *m, uint32_t i, int ends[2])
{
	struct lobby_options lo = {
		.options = m->options,
		.conf = m->conf,
		.lease_max_ms = m->lease_max_ms,
		.limit_max_ms = m->limit_max_ms,
		.peers = &m->peers,
		.only = -1,
		.shm = m->shm,
		.worker = i,
		.listener = m->listener,
		.lock_folder = m->lock_folder,
		.memory = m->memory.path
	};
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == -1)
		return -1;
	pid = fork();
	if (pid == 0) {
		let_go(m, false);
		close(ends[0]);
		lo.control = ends[1];
		_exit(lobby_main(&lo));
	}
	close(ends[1]);
	if (pid == -1)
		close(ends[0]);
	return pid;
}

/* Not spawn.h's way: where the command hangs in its start, we would too. */
pid_t
workers_command(void *arg, const char *path, char *const *argv,
    char *const *envp)
{
	struct master *m = arg;
	pid_t pid;

	log_flush(&m->log);
	pid = fork();
	if (pid == 0)
		alert_become("idemd", path, argv, envp);
	if (pid > 0)		/* whoever of us is first */
		setpgid(pid, pid);
	return pid;
}

/* 0; -1: a lobby that is not there any more, or does not listen. */
static int
tell_lobby(int control, const struct lobby_message *message, int fd)
{
	struct lobby_message tell = *message;
	union {
		char at[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights = { .at = { 0 } };
	struct iovec iov = { &tell, sizeof tell };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = rights.at, .msg_controllen = sizeof rights.at
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	ssize_t n;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof fd);
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	do {
		n = sendmsg(control, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n == -1 && errno == EINTR);
	return n == -1 ? -1 : 0;
}

static void
give_keeper(struct master *m, uint32_t i)
{
	struct worker *w = &m->worker[i];
	uint64_t number = atomic_fetch_add(&m->shm->next_keeper, 1);
	int ends[2];

	w->keeper_again.started_ms = workers_now_ms();
	w->keeper_again.at_ms = 0;
	w->keeper_number = number;
	w->keeper = start_keeper(m, number, ends);
	if (w->keeper == -1) {
		log_line_quoted(&m->log, "error", strerror(errno),
		    "worker=%u keeper", i);
		w->keeper = 0;
		died(&w->keeper_again);
		return;
	}
	log_line(&m->log, "worker=%u keeper=%d started lobby=%d", i,
	    (int)w->keeper, (int)w->lobby);
	/*
	 * A lobby that is gone is started anew, with another; one that does not
	 * listen loses this one, which ends, and gets the next.
	 */
	tell_lobby(w->control, &(struct lobby_message){
	    .what = LOBBY_KEEPER, .number = number }, ends[0]);
	close(ends[0]);
}

static void
start_worker(struct master *m, uint32_t i)
{
	struct worker *w = &m->worker[i];
	int ends[2];

	w->lobby_again.started_ms = workers_now_ms();
	w->lobby_again.at_ms = 0;
	w->lobby = start_lobby(m, i, ends);
	if (w->lobby == -1) {
		log_line_quoted(&m->log, "error", strerror(errno),
		    "worker=%u lobby", i);
		w->lobby = 0;
		died(&w->lobby_again);
		return;
	}
	w->control = ends[0];
	give_keeper(m, i);
}

/* --- deaths --------------------------------------------------------------- */

static void
log_death(struct master *m, uint32_t i, const char *what, pid_t pid, int status)
{
	if (WIFSIGNALED(status))
		log_line(&m->log, "worker=%u %s=%d died signal=%d", i, what,
		    (int)pid, WTERMSIG(status));
	else
		log_line(&m->log, "worker=%u %s=%d ended exit=%d", i, what,
		    (int)pid, WEXITSTATUS(status));
}

static void
orphan_keeper(struct master *m, struct worker *w)
{
	struct orphan *o;

	if (w->keeper == 0)
		return;
	o = malloc(sizeof *o);
	if (o == NULL)		/* its slots could not be known as its own */
		kill(w->keeper, SIGKILL);
	else {
		*o = (struct orphan){ w->keeper, w->keeper_number, m->orphans };
		m->orphans = o;
	}
	w->keeper = 0;
}

/* Its next one will see for itself. */
static void
forget_away(struct master *m, uint32_t i)
{
	unsigned changed = shm_away_clear(m->shm, i);

	if (changed != 0 && !m->stopping)
		log_line(&m->log, "worker=%u was the last to find%s%s%s", i,
		    (changed & SHM_AWAY_SHARED) != 0 ? " redis=away" : "",
		    (changed & SHM_AWAY_CACHE) != 0 ? " cache=away" : "",
		    (changed & SHM_FOREIGN_LEDGER) != 0 ?
		    " a foreign ledger" : "");
}

static void
lobby_died(struct master *m, uint32_t i, int status)
{
	struct worker *w = &m->worker[i];

	if (!m->stopping || status != 0) {
		log_death(m, i, "lobby", w->lobby, status);
		shm_add(m->shm, SHM_LOBBY_DEATHS, 1);
	}
	w->lobby = 0;
	close(w->control);
	w->control = -1;
	atomic_store(&m->shm->waiting[i], 0);
	atomic_store(&m->shm->queueing[i], 0);
	atomic_store(&m->shm->open[i], UINT_MAX);
	forget_away(m, i);
	orphan_keeper(m, w);
	w->keeper_again.at_ms = 0;
	died(&w->lobby_again);
}

static void
keeper_died(struct master *m, uint32_t i, int status)
{
	struct worker *w = &m->worker[i];

	log_death(m, i, "keeper", w->keeper, status);
	shm_add(m->shm, SHM_KEEPER_DEATHS, 1);
	w->keeper = 0;
	died(&w->keeper_again);
}

static bool
orphan_died(struct master *m, pid_t pid)
{
	struct orphan **at, *o;

	for (at = &m->orphans; (o = *at) != NULL; at = &o->next)
		if (o->pid == pid) {
			*at = o->next;
			free(o);
			return true;
		}
	return false;
}

static bool
keeper_lives(const struct master *m, uint64_t number)
{
	const struct orphan *o;
	uint32_t i;

	for (i = 0; i < m->shm->workers; i++)
		if (m->worker[i].keeper != 0 &&
		    m->worker[i].keeper_number == number)
			return true;
	for (o = m->orphans; o != NULL; o = o->next)
		if (o->number == number)
			return true;
	return false;
}

/*
 * The slots of the dead.  Of all dead, each time: a lobby may have taken one
 * for its keeper after that had died, and then have died itself.
 */
static void
free_slots(struct master *m)
{
	uint64_t number;
	uint32_t i;

	for (i = 0; i < m->shm->slots; i++) {
		number = atomic_load(&m->shm->slot[i]);
		if (number != 0 && !keeper_lives(m, number))
			shm_slot_put(m->shm, (int)i, number);
	}
}

void
workers_reap(struct master *m)
{
	bool died_any = false;
	uint32_t i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (alert_reaped(&m->alert, pid, status))
			continue;
		died_any = true;
		if (orphan_died(m, pid))
			continue;
		for (i = 0; i < m->shm->workers; i++)
			if (m->worker[i].lobby == pid)
				lobby_died(m, i, status);
			else if (m->worker[i].keeper == pid)
				keeper_died(m, i, status);
	}
	if (!died_any)
		return;
	free_slots(m);
	shm_wake_all(m->shm);	/* what they ran is nobody's to end now */
}

/* --- for the master ------------------------------------------------------- */

void
workers_start(struct master *m)
{
	int64_t now = workers_now_ms();
	uint32_t i;

	for (i = 0; i < m->shm->workers; i++) {
		struct worker *w = &m->worker[i];

		if (w->lobby == 0 && w->lobby_again.at_ms <= now)
			start_worker(m, i);
		else if (w->lobby != 0 && w->keeper == 0 &&
		    w->keeper_again.at_ms <= now)
			give_keeper(m, i);
	}
}

int64_t
workers_due_ms(const struct master *m)
{
	int64_t next = INT64_MAX;
	uint32_t i;

	for (i = 0; i < m->shm->workers; i++) {
		const struct worker *w = &m->worker[i];

		if (w->lobby == 0 && w->lobby_again.at_ms < next)
			next = w->lobby_again.at_ms;
		else if (w->lobby != 0 && w->keeper == 0 &&
		    w->keeper_again.at_ms < next)
			next = w->keeper_again.at_ms;
	}
	return next;
}

bool
workers_any(const struct master *m)
{
	uint32_t i;

	for (i = 0; i < m->shm->workers; i++)
		if (m->worker[i].lobby != 0 || m->worker[i].keeper != 0)
			return true;
	return m->orphans != NULL;
}

/* Who cannot be told ends gracefully; the next one has the new one from us. */
void
workers_reload(struct master *m, int text)
{
	const struct lobby_message message = { .what = LOBBY_CONF };
	uint32_t i;

	for (i = 0; i < m->shm->workers; i++)
		if (m->worker[i].lobby != 0 &&
		    tell_lobby(m->worker[i].control, &message, text) == -1)
			kill(m->worker[i].lobby, SIGTERM);
}

void
workers_signal(struct master *m, int signal, bool keepers)
{
	struct orphan *o;
	uint32_t i;

	for (i = 0; i < m->shm->workers; i++) {
		if (m->worker[i].lobby != 0)
			kill(m->worker[i].lobby, signal);
		if (keepers && m->worker[i].keeper != 0)
			kill(m->worker[i].keeper, signal);
	}
	for (o = m->orphans; keepers && o != NULL; o = o->next)
		kill(o->pid, signal);
}
