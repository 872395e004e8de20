/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "run_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_A_TURN 64
#define AHEAD 2			/* so many connections, and an eighth */
#define LEAVE_MS 5
#define ACCEPT_AGAIN_MS 100	/* out of descriptors: let some go first */
#define CALL_MS 1000		/* of the ledger; the gate repeats it */
#define STOP_TURN_MS 200

void
lobby_trouble(struct lobby *lobby, const char *what, const char *why)
{
	shm_add(lobby->shm, SHM_STORE_ERRORS, 1);
	log_line(&lobby->log, "ledger=%s error=\"%s\"", what, why);
}

/* --- people --------------------------------------------------------------- */

static bool
people_grow(struct people *people)
{
	uint32_t size = people->size == 0 ? 64 : 2 * people->size;
	struct person **at = realloc(people->at, size * sizeof(*at));

	if (at == NULL)
		return false;
	memset(at + people->size, 0, (size - people->size) * sizeof(*at));
	people->at = at;
	people->size = size;
	return true;
}

uint32_t
lobby_person_add(struct lobby *lobby, struct person *person)
{
	struct people *people = &lobby->people;
	uint32_t i;

	if (people->count == people->size && !people_grow(people))
		return IDEM_NOWHERE;
	for (i = people->free; people->at[i] != NULL; )
		i = (i + 1) % people->size;
	people->at[i] = person;
	people->free = (i + 1) % people->size;
	people->count++;
	return i;
}

void
lobby_person_remove(struct lobby *lobby, struct person *person)
{
	lobby->people.at[person->number] = NULL;
	lobby->people.free = person->number;
	lobby->people.count--;
}

/* --- the keeper and the master -------------------------------------------- */

static void
keeper_ended(void *arg, uint64_t id, const struct run_end *end)
{
	run_ended(arg, id, end);
}

static void new_keeper(struct lobby *, uint64_t number, int fd);

static void
keeper_lost(void *arg)
{
	struct lobby *lobby = arg;
	int fd = lobby->next_socket;

	log_line(&lobby->log, "keeper=%llu lost, its runs are unknown",
	    (unsigned long long)runner_keeper(lobby->runner));
	/* Also those that it was to free for runs it never saw. */
	shm_slots_of(lobby->shm, runner_keeper(lobby->runner));
	runner_free(lobby->runner);
	lobby->runner = NULL;
	run_keeper_lost(lobby);
	lobby->next_socket = -1;
	if (fd != -1)
		new_keeper(lobby, lobby->next_keeper.number, fd);
}

static void
new_keeper(struct lobby *lobby, uint64_t number, int fd)
{
	static const struct runner_user user = {
		.ended = keeper_ended, .lost = keeper_lost
	};

	if (lobby->runner != NULL) {	/* dead: first what it had to say */
		if (lobby->next_socket != -1)
			close(lobby->next_socket);
		lobby->next_keeper.number = number;
		lobby->next_socket = fd;
		return;
	}
	lobby->runner = runner_new(lobby->loop, fd, number, &user, lobby);
	if (lobby->runner == NULL) {
		log_line(&lobby->log, "keeper=%llu error=\"%s\"",
		    (unsigned long long)number, strerror(errno));
		close(fd);	/* it ends, and the master starts another */
	}
	lobby_serve_queue(lobby);
}

static void
stop(struct lobby *lobby)
{
	if (lobby->stopping)
		return;
	lobby->stopping = true;
	log_line(&lobby->log, "stopping, %u requests to finish",
	    lobby->people.count);
	loop_unwatch(lobby->loop, &lobby->listening);
	close(lobby->listener);		/* as the master has, or has died */
	loop_timer_stop(lobby->loop, &lobby->accept_later);
	lobby->left_to_others = false;
	loop_timer_stop(lobby->loop, &lobby->sweep);
	lobby->conns.closing = true;
	conns_close_idle(&lobby->conns);
}

/* Descriptors come beside a message; -1 when none did. */
static int
received_fd(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	int fd;

	if (c == NULL || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return fd;
}

static void
control_ready(struct watch *w, uint32_t events)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)w - offsetof(struct lobby, control));
	struct lobby_keeper told;
	union {
		char at[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights;
	struct iovec iov = { &told, sizeof told };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = rights.at, .msg_controllen = sizeof rights.at
	};
	ssize_t n;
	int fd;

	(void)events;
	n = recvmsg(w->fd, &msg, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (n == -1 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {	/* the master is gone: finish what runs */
		loop_unwatch(lobby->loop, w);
		stop(lobby);
		return;
	}
	fd = received_fd(&msg);
	if (n == (ssize_t)sizeof told && fd != -1)
		new_keeper(lobby, told.number, fd);
	else if (fd != -1)
		close(fd);
}

static void
wake_ready(struct watch *w, uint32_t events)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)w - offsetof(struct lobby, wake));
	uint64_t n;

	(void)events;
	(void)!read(w->fd, &n, sizeof n);
	lobby_serve_queue(lobby);
	waiting_ends(lobby);
}

static void
signals_ready(struct watch *w, uint32_t events)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)w - offsetof(struct lobby, signals));
	struct signalfd_siginfo info;

	(void)events;
	if (read(w->fd, &info, sizeof info) == (ssize_t)sizeof info)
		stop(lobby);
}

/* What it answers goes to the exchanges without us. */
static void
poll_ledger(struct lobby *lobby)
{
	lobby->store->ops->poll(lobby->store);
	waiting_park(lobby);
}

static void
ledger_ready(struct watch *w, uint32_t events)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)w - offsetof(struct lobby, ledger));

	(void)events;
	poll_ledger(lobby);
}

/* --- accepting ------------------------------------------------------------ */

static void
accept_again(struct lobby *lobby)
{
	loop_timer_stop(lobby->loop, &lobby->accept_later);
	if (loop_watch(lobby->loop, &lobby->listening, lobby->listener,
	    EPOLLIN | EPOLLEXCLUSIVE) == -1)
		loop_timer(lobby->loop, &lobby->accept_later,
		    loop_now(lobby->loop) + ACCEPT_AGAIN_MS);
}

static void
accept_due(struct timer *t, int64_t now_ms)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)t - offsetof(struct lobby, accept_later));

	(void)now_ms;
	/* They have not taken them: whoever comes now is ours. */
	lobby->take_all = lobby->left_to_others;
	lobby->left_to_others = false;
	accept_again(lobby);
}

static void
accept_pause(struct lobby *lobby, uint32_t ms)
{
	loop_unwatch(lobby->loop, &lobby->listening);
	loop_timer(lobby->loop, &lobby->accept_later,
	    loop_now(lobby->loop) + ms);
}

/* Has another worker, that lives, clearly fewer connections? */
static bool
is_ahead(const struct lobby *lobby)
{
	uint64_t ours = lobby->conns.count, others;
	uint32_t i;

	for (i = 0; i < lobby->shm->workers; i++) {
		others = atomic_load(&lobby->shm->open[i]);
		if (i != lobby->worker && ours > others + AHEAD + others / 8)
			return true;
	}
	return false;
}

/*
 * All workers accept from one socket, and the kernel wakes the first of those
 * who sleep: left to itself, one may get every connection.  So who is ahead
 * stands back, but only until the others have caught up or let time pass: one
 * of them may be stuck.
 */
static void
share_connections(struct lobby *lobby)
{
	uint32_t count = (uint32_t)lobby->conns.count;
	atomic_uint *open = &lobby->shm->open[lobby->worker];

	if (atomic_load_explicit(open, memory_order_relaxed) != count)
		atomic_store(open, count);
	if (lobby->left_to_others && !is_ahead(lobby)) {
		lobby->left_to_others = false;
		accept_again(lobby);
	}
}

/* True: there may be more. */
static bool
accept_one(struct lobby *lobby)
{
	int fd = accept4(lobby->listener, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd != -1) {
		conn_open(&lobby->conns, fd);
		return true;
	}
	if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
	    errno == ENOMEM) {
		log_line(&lobby->log, "accept error=\"%s\" connections=%zu",
		    strerror(errno), lobby->conns.count);
		accept_pause(lobby, ACCEPT_AGAIN_MS);
		return false;
	}
	return errno != EAGAIN;
}

static void
listener_ready(struct watch *w, uint32_t events)
{
	struct lobby *lobby =
	    (struct lobby *)((char *)w - offsetof(struct lobby, listening));
	bool ahead = false;
	int i;

	(void)events;
	for (i = 0; i < ACCEPTS_A_TURN && !ahead && accept_one(lobby); i++)
		ahead = !lobby->take_all && is_ahead(lobby);
	lobby->take_all = false;
	if (!ahead)
		return;
	lobby->left_to_others = true;
	accept_pause(lobby, LEAVE_MS);
}

/* --- life ----------------------------------------------------------------- */

static void
broken_peer(void *arg, const char *what)
{
	struct lobby *lobby = arg;

	shm_add(lobby->shm, SHM_BROKEN_PEERS, 1);
	log_line(&lobby->log, "peer=broken why=\"%s\"", what);
}

static void
cache_dropped(void *arg, uint64_t answer)
{
	(void)arg;
	idem_blob_drop((struct idem_blob *)(uintptr_t)answer);
}

static bool
tables(struct lobby *lobby)
{
	lobby->waiters_room =
	    malloc(idem_waiters_room(LOBBY_FLIGHTS, LOBBY_WAITERS));
	lobby->cache_room = malloc(idem_cache_room(LOBBY_CACHE_ENTRIES));
	if (lobby->waiters_room == NULL || lobby->cache_room == NULL)
		return false;
	idem_waiters_init(&lobby->waiters, lobby->waiters_room, LOBBY_FLIGHTS,
	    LOBBY_WAITERS);
	idem_cache_init(&lobby->cache, lobby->cache_room, LOBBY_CACHE_ENTRIES,
	    LOBBY_CACHE_SIZE, cache_dropped, lobby);
	return true;
}

static int
signal_fd(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool
watch(struct lobby *lobby, struct watch *w, int fd, uint32_t events,
    void (*ready)(struct watch *, uint32_t))
{
	w->fd = -1;
	w->ready = ready;
	return fd != -1 && loop_watch(lobby->loop, w, fd, events) == 0;
}

static bool
open_ledger(struct lobby *lobby)
{
	struct idem_sqlite_options sqlite = {
		.path = lobby->options->ledger,
		.clock = &idem_clock_real,
		.boot = lobby->boot
	};
	char error[512];

	lobby->store = idem_store_sqlite(&sqlite, error, sizeof error);
	if (lobby->store == NULL)
		log_line(&lobby->log, "ledger error=\"%s\"", error);
	return lobby->store != NULL;
}

static bool
watch_all(struct lobby *lobby, int control, int signals)
{
	return watch(lobby, &lobby->control, control, EPOLLIN, control_ready) &&
	    watch(lobby, &lobby->wake, lobby->shm->wake[lobby->worker], EPOLLIN,
	    wake_ready) &&
	    watch(lobby, &lobby->signals, signals, EPOLLIN, signals_ready) &&
	    watch(lobby, &lobby->ledger, lobby->store->ops->fd(lobby->store),
	    EPOLLIN, ledger_ready) &&
	    watch(lobby, &lobby->listening, lobby->listener,
	    EPOLLIN | EPOLLEXCLUSIVE, listener_ready);
}

static bool
start(struct lobby *lobby, const struct lobby_options *lo)
{
	const struct options *o = lo->options;
	int signals = signal_fd();	/* before the ledger's thread begins */

	lobby->options = o;
	lobby->shm = lo->shm;
	lobby->worker = lo->worker;
	lobby->pid = (uint32_t)getpid();
	lobby->lock_folder = lo->lock_folder;
	lobby->listener = lo->listener;
	lobby->times = (struct idem_exchange_times){
		.keep_ms = o->keep_ms,
		.tombstone_ms = o->tombstone_ms,
		.call_ms = CALL_MS
	};
	lobby->next_socket = -1;
	lobby->accept_later.due = accept_due;
	atomic_store(&lo->shm->open[lo->worker], 0);
	lobby->seen_ends = atomic_load(&lo->shm->ends);
	lobby->loop = loop_new(&idem_clock_real);
	if (lobby->loop == NULL || front_init(&lobby->front) == -1 ||
	    !idem_boot_id(&lobby->boot) || !tables(lobby)) {
		log_line(&lobby->log, "start error=\"%s\"", strerror(errno));
		return false;
	}
	lobby->conns = (struct conns){
		.loop = lobby->loop,
		.front = &lobby->front,
		.limits = conn_limits_default,
		.user = &visit_user,
		.arg = lobby,
		.log = broken_peer
	};
	return open_ledger(lobby) && watch_all(lobby, lo->control, signals);
}

static void
turns(struct lobby *lobby)
{
	int64_t until;

	while (!lobby->stopping || lobby->conns.count > 0 ||
	    lobby->visits > 0) {
		until = lobby->store->ops->due_ms(lobby->store);
		if (lobby->stopping &&
		    until > loop_now(lobby->loop) + STOP_TURN_MS)
			until = loop_now(lobby->loop) + STOP_TURN_MS;
		if (loop_turn(lobby->loop, until) == -1)
			break;
		if (until <= loop_now(lobby->loop))
			poll_ledger(lobby);
		share_connections(lobby);
		log_flush(&lobby->log);
	}
}

static void
finish(struct lobby *lobby)
{
	conns_free(&lobby->conns);
	lobby->store->ops->close(lobby->store);
	if (lobby->runner != NULL)
		runner_free(lobby->runner);
	idem_cache_clear(&lobby->cache);
	free(lobby->cache_room);
	free(lobby->waiters_room);
	free(lobby->people.at);
	front_free(&lobby->front);
	loop_free(lobby->loop);
	log_line(&lobby->log, "stopped");
	log_flush(&lobby->log);
}

int
lobby_main(const struct lobby_options *lo)
{
	struct lobby *lobby = calloc(1, sizeof *lobby);
	char who[32];

	if (lobby == NULL)
		return 111;
	snprintf(who, sizeof who, "idemd[%u]", lo->worker);
	lobby->log.who = who;
	if (!start(lobby, lo)) {
		log_flush(&lobby->log);
		free(lobby);
		return 111;
	}
	sweep_start(lobby);
	turns(lobby);
	finish(lobby);
	free(lobby);
	return 0;
}
