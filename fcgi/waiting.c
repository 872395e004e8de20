/* SPDX-License-Identifier: ISC */
#include "lobby.h"

#include "saved.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

/*
 * Duplicates.  The first visit for a key *leads* its flight; the others wait
 * on it, most of them parked: their visit is freed, since a gate is pure and
 * the same two events make the same gate again when it is needed.  A leader
 * whose key runs elsewhere waits as well, and looks again from time to time;
 * when it leaves, the next waiter leads.
 */

#define ALONE_MS 50

static struct idem_flight *
flight_of(struct lobby *lobby, uint32_t number)
{
	return &lobby->waiters.flights[number];
}

static bool
leads(const struct visit *v)
{
	return v->flight != IDEM_NOWHERE;
}

/* Other workers wake us only while somebody here waits. */
static void
one_more_waits(struct lobby *lobby)
{
	atomic_fetch_add(&lobby->shm->waiting[lobby->worker], 1);
}

void
waiting_one_less(struct lobby *lobby)
{
	atomic_fetch_sub(&lobby->shm->waiting[lobby->worker], 1);
}

/* --- LOOK local ----------------------------------------------------------- */

static bool
kept(const struct idem_blob *answer)
{
	struct idem_saved saved;

	return idem_saved_read(idem_blob_bytes(answer), &saved) && saved.kept;
}

static bool
cached(struct visit *v)
{
	struct idem_store *store = visit_store(v, IDEM_AT_ARBITER);
	struct lobby *lobby = v->lobby;
	uint64_t answer;

	if (!idem_cache_find(&lobby->cache, &v->x.key, &v->x.fingerprint,
	    &v->x.guard, store->ops->purges(store), loop_now(lobby->loop),
	    &answer))
		return false;
	idem_exchange_answer(&v->x,
	    idem_blob_take((struct idem_blob *)(uintptr_t)answer));
	return true;
}

static uint32_t
lead(struct visit *v, uint32_t *found)
{
	v->flight = idem_waiters_lead(&v->lobby->waiters, &v->x.key,
	    &v->x.fingerprint, &v->x.guard, v->person.number, found);
	return v->flight;
}

void
waiting_look(struct visit *v, struct idem_event *ev)
{
	struct idem_waiters *w = &v->lobby->waiters;
	uint32_t found;

	if (v->handed || cached(v)) {
		v->source = v->handed ? "wait" : "cache";
		ev->look = IDEM_LOOK_COMPLETED;
		ev->kept = v->x.answer != NULL && kept(v->x.answer);
		ev->unprotected = v->handed && v->handed_unprotected;
		return;
	}
	if (leads(v))
		return;
	if (lead(v, &found) == IDEM_NOWHERE && found != IDEM_NOWHERE) {
		ev->look = idem_waiters_compare(w, found, &v->x.fingerprint,
		    &v->x.guard);
		v->x.differs = idem_fingerprint_differs(&v->x.fingerprint,
		    &flight_of(v->lobby, found)->fingerprint);
	}
	/* No room for a flight, or one of which nobody knows yet whether the
	   key is its: the arbiter decides all the same. */
}

/* --- WAIT for a key ------------------------------------------------------- */

static void
watch_due(struct timer *t, int64_t now_ms)
{
	struct visit *v =
	    (struct visit *)((char *)t - offsetof(struct visit, wait));

	visit_wait_cut(v, now_ms >= v->wait_until_ms ? IDEM_WAIT_OVER :
	    IDEM_WOKEN_UNSURE);
}

/* The key runs elsewhere: wait for its end, and look again now and then. */
static bool
watch_flight(struct visit *v)
{
	struct lobby *lobby = v->lobby;
	struct idem_flight *f = flight_of(lobby, v->flight);
	int64_t now_ms = loop_now(lobby->loop);
	int64_t due_ms;

	f->sure = true;
	if (f->poll_at_ms == 0)
		idem_waiters_watch(&lobby->waiters, v->flight, now_ms);
	else
		idem_waiters_polled(&lobby->waiters, v->flight, now_ms,
		    (uint32_t)now_ms * 37 + lobby->pid * 101);
	/*
	 * Counted first: an end that is published after these wakes us.  To
	 * look again for any that we have not read would never let us rest.
	 */
	one_more_waits(lobby);
	waiting_ends(lobby);
	due_ms = f->poll_at_ms < v->wait_until_ms ? f->poll_at_ms :
	    v->wait_until_ms;
	if (f->ended)	/* it came while we were claiming */
		due_ms = now_ms;
	f->ended = false;
	v->wait.due = watch_due;
	v->waiting = loop_timer(lobby->loop, &v->wait, due_ms) == 0;
	if (!v->waiting)
		waiting_one_less(lobby);
	return v->waiting;
}

/*
 * Who leads asks for another request yet, and will soon be told that it is not
 * the one: until then there is no flight for this one, and it looks again.
 */
static bool
wait_alone(struct visit *v)
{
	struct lobby *lobby = v->lobby;
	int64_t due_ms = loop_now(lobby->loop) + ALONE_MS;

	if (due_ms > v->wait_until_ms)
		due_ms = v->wait_until_ms;
	v->wait.due = watch_due;
	v->waiting = loop_timer(lobby->loop, &v->wait, due_ms) == 0;
	if (v->waiting)
		one_more_waits(lobby);
	return v->waiting;
}

static bool
join_flight(struct visit *v)
{
	struct lobby *lobby = v->lobby;
	uint32_t flight = idem_waiters_find(&lobby->waiters, &v->x.key);

	/* It asked beside one that has left. */
	if (flight == IDEM_NOWHERE)
		return lead(v, &flight) != IDEM_NOWHERE && watch_flight(v);
	/* Parked, it keeps of its request only what the flight knows. */
	if (idem_waiters_compare(&lobby->waiters, flight, &v->x.fingerprint,
	    &v->x.guard) != IDEM_LOOK_LED)
		return wait_alone(v);
	v->queue_next = lobby->to_park;
	lobby->to_park = v;
	return true;
}

/* False: there is no room to wait; the wait is over at once. */
bool
waiting_wait(struct visit *v, const struct idem_effect *fx)
{
	v->wait_until_ms = loop_now(v->lobby->loop) + fx->wait_ms;
	v->has_end = false;	/* the key is in other hands by now */
	if (v->conn == NULL)
		return false;
	return leads(v) ? watch_flight(v) : join_flight(v);
}

/* --- parked --------------------------------------------------------------- */

static void parked_due(struct timer *, int64_t);

/* The visit that a parked one was. */
static struct visit *
unpark(struct parked *p)
{
	struct lobby *lobby = p->lobby;
	const struct idem_flight *f = flight_of(lobby, p->flight);
	struct visit *v = visit_new(lobby, p->conf, p->conn, p->began_ms);
	struct idem_event ev = { .op = IDEM_ADMIT, .now_ms = p->began_ms };
	struct idem_effects fxs;

	if (v == NULL)
		return NULL;
	v->route = p->route;
	v->admit = IDEM_KEYED;
	v->admitted = true;
	v->html = p->html;
	v->head = p->head;
	v->identity = p->identity;
	v->token = p->token;
	v->x.issued_only = p->issued_only;
	v->x.old = p->old;
	v->x.history = p->history;
	v->x.key = f->key;
	v->x.fingerprint = f->fingerprint;
	v->x.guard = f->guard;
	visit_begin_exchange(v);
	ev.admit = IDEM_KEYED;
	ev.old = p->old;
	idem_gate_step(&v->x.gate, &ev);
	ev = (struct idem_event){
		.op = IDEM_LOOK, .look = IDEM_LOOK_LED, .now_ms = p->began_ms
	};
	fxs = idem_gate_step(&v->x.gate, &ev);
	assert(fxs.n == 1 && fxs.fx[0].op == IDEM_WAIT);
	return v;
}

static void
parked_free(struct parked *p)
{
	loop_timer_stop(p->lobby->loop, &p->timer);
	lobby_person_remove(p->lobby, &p->person);
	waiting_one_less(p->lobby);
	conf_drop(p->conf);
	free(p);
}

/* How a wait ended; of one that is completed, what its leader was told. */
struct end {
	enum idem_waited how;
	struct idem_blob *answer;	/* NULL: there is none */
	bool unprotected;
	int64_t kept_ms;
};

/*
 * It has left its flight's list already.  A completed key may have no answer at
 * all; who waited for it is told that, too, and does not look again.
 */
static struct visit *
wake(struct parked *p, const struct end *end)
{
	struct visit *v = unpark(p);
	struct conn *conn = p->conn;

	parked_free(p);
	if (v == NULL) {
		if (conn != NULL)
			conn_cut(conn);
		return NULL;
	}
	if (conn != NULL)
		conn_set_user(conn, v);
	if (end->how == IDEM_WOKEN_COMPLETED) {
		idem_exchange_answer(&v->x, end->answer != NULL ?
		    idem_blob_take(end->answer) : NULL);
		v->handed = true;
		v->handed_unprotected = end->unprotected;
		v->x.kept_ms = end->kept_ms;
	}
	return v;
}

static void
woken(struct visit *v, enum idem_waited how)
{
	struct idem_event ev = { .op = IDEM_WAIT, .waited = how };

	if (v != NULL)
		visit_tell(v, &ev);
}

static void
leave_and_wake(struct parked *p, enum idem_waited how)
{
	struct idem_waiters *w = &p->lobby->waiters;
	const struct end end = { .how = how };
	uint32_t waiter = p->waiter;
	/* The flight's digests are read before it may close. */
	struct visit *v = wake(p, &end);

	idem_waiters_leave(w, waiter);
	woken(v, how);
}

static void
parked_due(struct timer *t, int64_t now_ms)
{
	struct parked *p =
	    (struct parked *)((char *)t - offsetof(struct parked, timer));

	(void)now_ms;
	leave_and_wake(p, IDEM_WAIT_OVER);
}

void
waiting_gone(struct parked *p)
{
	p->conn = NULL;
	leave_and_wake(p, IDEM_WAIT_OVER);
}

static struct parked *
parked_new(struct visit *v)
{
	struct lobby *lobby = v->lobby;
	struct parked *p = calloc(1, sizeof *p);

	if (p == NULL)
		return NULL;
	p->person.kind = PERSON_PARKED;
	p->lobby = lobby;
	p->conf = conf_hold(v->conf);
	p->route = v->route;
	p->conn = v->conn;
	p->began_ms = v->began_ms;
	p->html = v->html;
	p->head = v->head;
	p->identity = v->identity;
	p->token = v->token;
	p->issued_only = v->x.issued_only;
	p->old = v->x.old;
	p->history = v->x.history;
	p->timer.due = parked_due;
	p->person.number = lobby_person_add(lobby, &p->person);
	p->flight = idem_waiters_find(&lobby->waiters, &v->x.key);
	p->waiter = IDEM_NOWHERE;
	if (p->person.number != IDEM_NOWHERE && p->flight != IDEM_NOWHERE &&
	    loop_timer(lobby->loop, &p->timer, v->wait_until_ms) == 0)
		p->waiter = idem_waiters_join(&lobby->waiters, p->flight,
		    p->person.number);
	if (p->waiter != IDEM_NOWHERE)
		return p;
	loop_timer_stop(lobby->loop, &p->timer);
	if (p->person.number != IDEM_NOWHERE)
		lobby_person_remove(lobby, &p->person);
	conf_drop(p->conf);
	free(p);
	return NULL;
}

static void
park(struct visit *v)
{
	const struct idem_event over = {
		.op = IDEM_WAIT, .waited = IDEM_WAIT_OVER
	};
	struct parked *p = parked_new(v);

	if (p == NULL) {	/* as many wait as may: 409 */
		idem_exchange_tell(&v->x, &over);
		return;
	}
	one_more_waits(p->lobby);
	conn_set_user(p->conn, p);
	conn_park(p->conn);
	v->conn = NULL;
	visit_free(v);
}

/*
 * Not from within the port, where their exchange is still needed; but before
 * anything else can happen to them.
 */
void
waiting_park(struct lobby *lobby)
{
	struct visit *v;

	while ((v = lobby->to_park) != NULL) {
		lobby->to_park = v->queue_next;
		v->queue_next = NULL;
		park(v);
	}
}

/* --- ends ----------------------------------------------------------------- */

static struct visit *
wake_number(struct lobby *lobby, uint32_t who, const struct end *end)
{
	return wake((struct parked *)lobby->people.at[who], end);
}

/* The leader still counts as leading, so the flight stays open meanwhile. */
static void
wake_all(struct lobby *lobby, uint32_t flight, const struct end *end)
{
	uint32_t who;

	while ((who = idem_waiters_take(&lobby->waiters, flight)) !=
	    IDEM_NOWHERE)
		woken(wake_number(lobby, who, end), end->how);
	idem_waiters_left(&lobby->waiters, flight);
}

/* Nobody knows the end yet: the next in line leads, and asks. */
static void
promote(struct lobby *lobby, uint32_t flight)
{
	const struct end unsure = { .how = IDEM_WOKEN_UNSURE };
	struct visit *v = NULL;
	uint32_t who;

	while (v == NULL) {
		who = idem_waiters_take(&lobby->waiters, flight);
		if (who == IDEM_NOWHERE) {
			idem_waiters_left(&lobby->waiters, flight);
			return;
		}
		v = wake_number(lobby, who, &unsure);
	}
	flight_of(lobby, flight)->leader = v->person.number;
	flight_of(lobby, flight)->sure = false;
	v->flight = flight;
	woken(v, IDEM_WOKEN_UNSURE);
}

/* It may have asked beside a leader; its duplicates wait for it, too. */
void
waiting_runs(struct visit *v)
{
	uint32_t found;

	if (leads(v) || lead(v, &found) != IDEM_NOWHERE)
		flight_of(v->lobby, v->flight)->sure = true;
}

static void
ask(struct lobby *lobby, struct idem_flight *f)
{
	struct visit *v;

	if (f->leader == IDEM_NOWHERE)
		return;
	v = (struct visit *)lobby->people.at[f->leader];
	if (v->waiting)
		visit_wait_cut(v, IDEM_WOKEN_UNSURE);
	else
		f->ended = true;	/* if it comes to wait, it asks first */
}

/* Another worker, or the sweep, has brought a key to its end. */
static void
ask_for(struct lobby *lobby, const struct idem_digest *key)
{
	uint32_t flight = idem_waiters_find(&lobby->waiters, key);

	if (flight != IDEM_NOWHERE)
		ask(lobby, flight_of(lobby, flight));
}

/* A visit's exchange is over. */
void
waiting_left(struct visit *v)
{
	struct lobby *lobby = v->lobby;
	uint32_t flight = v->flight;
	struct end end = { .how = v->end };

	if (flight == IDEM_NOWHERE) {
		if (v->has_end)		/* it ran beside a leader */
			ask_for(lobby, &v->x.key);
		return;
	}
	v->flight = IDEM_NOWHERE;
	if (!v->has_end) {
		promote(lobby, flight);
		return;
	}
	if (end.how == IDEM_WOKEN_COMPLETED) {
		end.answer = v->x.answer;
		end.unprotected = v->x.gate.unprotected;
		end.kept_ms = visit_keep_ms(v);
	}
	wake_all(lobby, flight, &end);
}

void
waiting_ask_all(struct lobby *lobby)
{
	uint32_t i;

	for (i = 0; i < lobby->waiters.used_flights; i++)
		if (flight_of(lobby, i)->open)
			ask(lobby, flight_of(lobby, i));
}

/*
 * While nobody here waits nobody wakes us, so an end may be long past, and its
 * key in other hands: how it came is asked anew.
 */
void
waiting_ends(struct lobby *lobby)
{
	struct idem_digest key;
	enum idem_waited how;
	int n, turns;

	if (lobby->reading_ends)	/* who is told may come to wait again */
		return;
	lobby->reading_ends = true;
	for (turns = 0; turns < SHM_ENDS; turns++) {
		n = shm_end_next(lobby->shm, &lobby->seen_ends, &key, &how);
		if (n == 0)
			break;
		if (n == 1)
			ask_for(lobby, &key);
		else
			waiting_ask_all(lobby);
	}
	lobby->reading_ends = false;
}
