/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define STOP_TURN_MS 200
#define STOP_WRITES_MS 10000
#define ONLY_SETTLE_MS 1000

void
lobby_trouble(struct lobby *lobby, const char *store, const char *what,
    const char *why)
{
	shm_add(lobby->shm, SHM_STORE_ERRORS, 1);
	log_line_quoted(&lobby->log, "error", why, "%s=%s", store, what);
}

void
lobby_key(const struct idem_digest *key, bool token, char to[LOBBY_KEY])
{
	idem_hex(key->at, token ? 8 : 4, to);
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

/* --- what wakes it -------------------------------------------------------- */

void
lobby_stop(struct lobby *lobby)
{
	if (lobby->stopping)
		return;
	lobby->stopping = true;
	lobby->stop_ms = loop_now(lobby->loop);
	if (!lobby->only)
		log_line(&lobby->log, "stopping, %u requests to finish",
		    lobby->people.count);
	lobby_accept_stop(lobby);
	loop_timer_stop(lobby->loop, &lobby->sweep);
	settle_stop(lobby->settle);
	lobby->conns.closing = true;
	conns_close_idle(&lobby->conns);
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
		lobby_stop(lobby);
}

/* What a store answers goes to the exchanges without us. */
static void
polled(void *arg)
{
	waiting_park(arg);
}

/* --- life ----------------------------------------------------------------- */

static void
broken_peer(void *arg, const char *what)
{
	struct lobby *lobby = arg;

	shm_add(lobby->shm, SHM_BROKEN_PEERS, 1);
	log_line_quoted(&lobby->log, "why", what, "peer=broken");
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
	    lobby->conf->cache_size, cache_dropped, lobby);
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
open_stores(struct lobby *lobby, const struct lobby_options *lo)
{
	lobby->mint.clock = &idem_clock_real;
	lobby->stores.loop = lobby->loop;
	lobby->stores.log = &lobby->log;
	lobby->stores.shm = lobby->shm;
	lobby->stores.worker = lobby->worker;
	lobby->stores.boot = lobby->boot;
	lobby->stores.polled = polled;
	lobby->stores.arg = lobby;
	/* What was run by a fallback before we were started. */
	if (atomic_load(&lobby->shm->fallback_until_ms) == 0)
		shm_fallback_until(lobby->shm, idem_wall_ms(&idem_clock_real) +
		    lobby->conf->keep_max_ms);
	return stores_open(&lobby->stores, lobby->conf, lo->memory);
}

static bool
watch_all(struct lobby *lobby, int signals)
{
	return watch(lobby, &lobby->wake, lobby->shm->wake[lobby->worker],
	    EPOLLIN, wake_ready) &&
	    watch(lobby, &lobby->signals, signals, EPOLLIN, signals_ready);
}

/* Nobody tells it more, and nobody else comes. */
static bool
begin_only(struct lobby *lobby, const struct lobby_options *lo)
{
	lobby_keeper(lobby, lo->keeper_number, lo->keeper);
	return lobby->runner != NULL && conn_open(&lobby->conns, lo->only) == 0;
}

static bool
begin(struct lobby *lobby, const struct lobby_options *lo)
{
	if (lobby->only)
		return begin_only(lobby, lo);
	return watch(lobby, &lobby->control, lo->control, EPOLLIN,
	    lobby_told_ready) &&
	    watch(lobby, &lobby->listening, lobby->listener,
	    EPOLLIN | EPOLLEXCLUSIVE, lobby_accept_ready);
}

static uint32_t
larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static bool
start(struct lobby *lobby, const struct lobby_options *lo)
{
	int signals = signal_fd();	/* before the ledger's thread begins */

	lobby->options = lo->options;
	lobby->peers = lo->peers;
	lobby->conf = conf_hold(lo->conf);
	lobby->lease_max_ms = larger(lo->lease_max_ms, lo->conf->lease_max_ms);
	lobby->limit_max_ms = larger(lo->limit_max_ms, lo->conf->limit_max_ms);
	lobby->only = lo->only != -1;
	lobby->shm = lo->shm;
	lobby->worker = lo->worker;
	lobby->pid = (uint32_t)getpid();
	lobby->lock_folder = lo->lock_folder;
	lobby->listener = lo->listener;
	lobby->listening.fd = -1;
	lobby->next_socket = -1;
	lobby->accept_later.due = lobby_accept_due;
	atomic_store(&lo->shm->open[lo->worker], 0);
	lobby->seen_ends = atomic_load(&lo->shm->ends);
	lobby->loop = loop_new(&idem_clock_real);
	if (lobby->loop != NULL)
		lobby->backends = backends_new(lobby->loop, &run_fcgi_user);
	if (lobby->backends == NULL || front_init(&lobby->front) == -1 ||
	    !idem_boot_id(&lobby->boot) || !tables(lobby)) {
		log_line_quoted(&lobby->log, "error", strerror(errno), "start");
		return false;
	}
	lobby->conns = (struct conns){
		.loop = lobby->loop,
		.limits = conn_limits_default,
		.user = &visit_user,
		.arg = lobby,
		.log = broken_peer
	};
	if (!open_stores(lobby, lo))
		return false;
	space_init(&lobby->space, lobby->conf->ledger, lobby->lock_folder,
	    lobby->conf->reserve);
	return lobby_settle_open(lobby) && watch_all(lobby, signals) &&
	    begin(lobby, lo);
}

/*
 * Where there is no daemon, each that serves one request sweeps behind it, and
 * settles what it can in a moment.
 */
static bool
tidies(struct lobby *lobby)
{
	if (!lobby->only)
		return false;
	if (loop_now(lobby->loop) > lobby->stop_ms + ONLY_SETTLE_MS)
		settle_stop(lobby->settle);
	return lobby->sweep_pending > 0 || settle_pending(lobby->settle) > 0;
}

static bool
goes_on(struct lobby *lobby)
{
	if (lobby->only && !lobby->stopping && lobby->conns.count == 0) {
		lobby_stop(lobby);
		sweep_once(lobby);
		settle_start(lobby->settle);
	}
	return !lobby->stopping || lobby->conns.count > 0 ||
	    lobby->visits > 0 || tidies(lobby);
}

/* What is only written behind answers holds up the end no longer. */
static void
hurry(struct lobby *lobby)
{
	struct person *person;
	uint32_t i;

	for (i = 0; i < lobby->people.size; i++) {
		person = lobby->people.at[i];
		if (person != NULL && person->kind == PERSON_VISIT)
			idem_gate_hurry(&((struct visit *)person)->x.gate);
	}
}

static void
turns(struct lobby *lobby)
{
	int64_t until;

	while (goes_on(lobby)) {
		if (lobby->stopping && !lobby->only &&
		    loop_now(lobby->loop) > lobby->stop_ms + STOP_WRITES_MS)
			hurry(lobby);
		until = stores_due_ms(&lobby->stores);
		if (lobby->stopping &&
		    until > loop_now(lobby->loop) + STOP_TURN_MS)
			until = loop_now(lobby->loop) + STOP_TURN_MS;
		if (loop_turn(lobby->loop, until) == -1)
			break;
		if (until <= loop_now(lobby->loop))
			stores_due(&lobby->stores, loop_now(lobby->loop));
		lobby_accept_share(lobby);
		log_flush(&lobby->log);
	}
}

static void
finish(struct lobby *lobby)
{
	conns_free(&lobby->conns);
	mint_close(&lobby->mint);
	stores_close(&lobby->stores);
	settle_free(lobby->settle);
	run_notes_free(&lobby->run_notes, lobby->lock_folder);
	space_free(&lobby->space);
	if (lobby->runner != NULL)
		runner_free(lobby->runner);
	backends_free(lobby->backends);
	idem_cache_clear(&lobby->cache);
	free(lobby->cache_room);
	free(lobby->waiters_room);
	free(lobby->people.at);
	front_free(&lobby->front);
	loop_free(lobby->loop);
	conf_drop(lobby->conf);
	if (!lobby->only)
		log_line(&lobby->log, "stopped");
	log_flush(&lobby->log);
}

int
lobby_main(const struct lobby_options *lo)
{
	struct lobby *lobby = calloc(1, sizeof *lobby);
	char who[32];

	prctl(PR_SET_NAME, LOBBY_NAME);
	if (lobby == NULL)
		return 111;
	if (lo->only == -1)
		snprintf(who, sizeof who, "idemd[%u]", lo->worker);
	else
		snprintf(who, sizeof who, "idem-cgi[%d]", (int)getpid());
	lobby->log.who = who;
	if (!start(lobby, lo)) {
		log_flush(&lobby->log);
		free(lobby);
		return 111;
	}
	sweep_start(lobby);
	if (!lobby->only)
		settle_start(lobby->settle);
	turns(lobby);
	finish(lobby);
	free(lobby);
	return 0;
}
