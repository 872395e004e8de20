/* SPDX-License-Identifier: ISC */
#include "waiters.h"

#include <assert.h>
#include <string.h>

/* Across hosts nobody tells us of an end. */
#define POLL_MS 10
#define POLL_MAX_MS 250

/* A power of two, so that a hash is cut by a mask; about one flight each. */
static uint32_t
buckets_for(uint32_t flights)
{
	uint32_t n = 1;

	while (n < flights && n < UINT32_C(1) << 31)
		n *= 2;
	return n;
}

size_t
idem_waiters_room(uint32_t flights, uint32_t waiters)
{
	return flights * sizeof(struct idem_flight) +
	    waiters * sizeof(struct idem_waiter) +
	    buckets_for(flights) * sizeof(uint32_t);
}

void
idem_waiters_init(struct idem_waiters *w, void *room, uint32_t flights,
    uint32_t waiters)
{
	uint32_t i;

	memset(w, 0, sizeof *w);
	/* Strictest alignment first. */
	w->flights = room;
	w->waiters = (void *)(w->flights + flights);
	w->buckets = (void *)(w->waiters + waiters);
	w->flights_size = flights;
	w->waiters_size = waiters;
	w->buckets_size = buckets_for(flights);
	for (i = 0; i < w->buckets_size; i++)
		w->buckets[i] = IDEM_NOWHERE;
	w->free_flight = IDEM_NOWHERE;
	w->free_waiter = IDEM_NOWHERE;
}

/*
 * A store key ends in a digest, whose bits are as good as a hash.  That of a
 * token begins with the time of its making (token.h).
 */
static uint32_t *
bucket_of(const struct idem_waiters *w, const struct idem_digest *key)
{
	uint32_t hash;

	memcpy(&hash, key->at + sizeof key->at - sizeof hash, sizeof hash);
	return &w->buckets[hash & (w->buckets_size - 1)];
}

uint32_t
idem_waiters_find(const struct idem_waiters *w, const struct idem_digest *key)
{
	uint32_t i = *bucket_of(w, key);

	while (i != IDEM_NOWHERE && !idem_digest_equal(&w->flights[i].key, key))
		i = w->flights[i].next;
	return i;
}

static void
close_flight(struct idem_waiters *w, uint32_t flight)
{
	struct idem_flight *f = &w->flights[flight];
	uint32_t *link = bucket_of(w, &f->key);

	while (*link != flight)
		link = &w->flights[*link].next;
	*link = f->next;
	memset(f, 0, sizeof *f);
	f->next = w->free_flight;
	w->free_flight = flight;
	w->open--;
}

static void
close_if_over(struct idem_waiters *w, uint32_t flight)
{
	const struct idem_flight *f = &w->flights[flight];

	if (f->leader == IDEM_NOWHERE && f->count == 0)
		close_flight(w, flight);
}

/* One that was given back, or else one that was never used; NOWHERE. */
static uint32_t
new_flight(struct idem_waiters *w)
{
	uint32_t flight = w->free_flight;

	if (flight != IDEM_NOWHERE)
		w->free_flight = w->flights[flight].next;
	else if (w->used_flights < w->flights_size)
		flight = w->used_flights++;
	return flight;
}

static uint32_t
new_waiter(struct idem_waiters *w)
{
	uint32_t waiter = w->free_waiter;

	if (waiter != IDEM_NOWHERE)
		w->free_waiter = w->waiters[waiter].next;
	else if (w->used_waiters < w->waiters_size)
		waiter = w->used_waiters++;
	return waiter;
}

uint32_t
idem_waiters_lead(struct idem_waiters *w, const struct idem_digest *key,
    const struct idem_digest *fingerprint, const struct idem_digest *guard,
    uint32_t leader, uint32_t *found)
{
	uint32_t flight;
	struct idem_flight *f;
	uint32_t *bucket;

	*found = idem_waiters_find(w, key);
	if (*found != IDEM_NOWHERE)
		return IDEM_NOWHERE;
	flight = new_flight(w);
	if (flight == IDEM_NOWHERE)
		return IDEM_NOWHERE;
	f = &w->flights[flight];
	w->open++;
	bucket = bucket_of(w, key);
	*f = (struct idem_flight){
		.key = *key, .fingerprint = *fingerprint, .guard = *guard,
		.leader = leader, .first = IDEM_NOWHERE, .last = IDEM_NOWHERE,
		.next = *bucket, .open = true,
	};
	*bucket = flight;
	return flight;
}

enum idem_look
idem_waiters_compare(const struct idem_waiters *w, uint32_t flight,
    const struct idem_digest *fingerprint, const struct idem_digest *guard)
{
	const struct idem_flight *f = &w->flights[flight];

	assert(f->open);
	if (!idem_digest_equal(&f->fingerprint, fingerprint))
		return f->sure ? IDEM_LOOK_LED_MISMATCH : IDEM_LOOK_NOTHING;
	if (!idem_digest_equal(&f->guard, guard))
		return f->sure ? IDEM_LOOK_LED_WITHHELD : IDEM_LOOK_NOTHING;
	return IDEM_LOOK_LED;
}

uint32_t
idem_waiters_join(struct idem_waiters *w, uint32_t flight, uint32_t who)
{
	struct idem_flight *f = &w->flights[flight];
	uint32_t waiter = new_waiter(w);

	assert(f->open);
	if (waiter == IDEM_NOWHERE)
		return IDEM_NOWHERE;
	w->waiters[waiter] = (struct idem_waiter){
		.who = who, .flight = flight,
		.prev = f->last, .next = IDEM_NOWHERE,
	};
	if (f->last == IDEM_NOWHERE)
		f->first = waiter;
	else
		w->waiters[f->last].next = waiter;
	f->last = waiter;
	f->count++;
	w->waiting++;
	return waiter;
}

void
idem_waiters_leave(struct idem_waiters *w, uint32_t waiter)
{
	struct idem_waiter *x = &w->waiters[waiter];
	uint32_t flight = x->flight;
	struct idem_flight *f = &w->flights[flight];

	assert(f->open && f->count > 0);
	if (x->prev == IDEM_NOWHERE)
		f->first = x->next;
	else
		w->waiters[x->prev].next = x->next;
	if (x->next == IDEM_NOWHERE)
		f->last = x->prev;
	else
		w->waiters[x->next].prev = x->prev;
	f->count--;
	w->waiting--;
	*x = (struct idem_waiter){ .next = w->free_waiter };
	w->free_waiter = waiter;
	close_if_over(w, flight);
}

uint32_t
idem_waiters_take(struct idem_waiters *w, uint32_t flight)
{
	const struct idem_flight *f = &w->flights[flight];
	uint32_t who;

	if (!f->open || f->count == 0)
		return IDEM_NOWHERE;
	who = w->waiters[f->first].who;
	idem_waiters_leave(w, f->first);
	return who;
}

void
idem_waiters_left(struct idem_waiters *w, uint32_t flight)
{
	assert(w->flights[flight].open);
	w->flights[flight].leader = IDEM_NOWHERE;
	close_if_over(w, flight);
}

static void
poll_after(struct idem_flight *f, int64_t now_ms, uint32_t poll_ms)
{
	assert(f->open);
	f->poll_ms = poll_ms;
	f->poll_at_ms = now_ms + poll_ms;
}

void
idem_waiters_watch(struct idem_waiters *w, uint32_t flight, int64_t now_ms)
{
	poll_after(&w->flights[flight], now_ms, POLL_MS);
}

void
idem_waiters_polled(struct idem_waiters *w, uint32_t flight, int64_t now_ms,
    uint32_t jitter)
{
	struct idem_flight *f = &w->flights[flight];
	uint32_t doubled = f->poll_ms * 2;
	uint32_t pause_ms = doubled < POLL_MAX_MS ? doubled : POLL_MAX_MS;

	poll_after(f, now_ms, pause_ms);
	f->poll_at_ms += (int64_t)pause_ms * ((int64_t)jitter % 1000 - 500) /
	    5000;
}
