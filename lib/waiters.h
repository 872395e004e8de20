/* SPDX-License-Identifier: ISC */
#ifndef IDEM_WAITERS_H
#define IDEM_WAITERS_H

#include "digest.h"
#include "idem.h"

/*
 * Who leads a key on this worker, and who waits for its end.  Pure: indices
 * into memory that the caller gives, no pointers, no clock of its own.
 *
 * A *flight* is a key that somebody here claims, runs or watches.  It is opened
 * by its leader, before the claim is sent, so an end that is published in
 * between is noted on it (`ended`) and wakes the first who would wait: no end
 * is missed.  It closes when its leader has left and nobody waits.
 */
#define IDEM_NOWHERE UINT32_MAX

struct idem_flight {
	struct idem_digest key, fingerprint, guard;
	uint32_t leader;	/* caller's number; NOWHERE: watched only */
	uint32_t first, last;	/* waiters, in order of arrival */
	uint32_t count;
	uint32_t next;		/* in its bucket, or in the free list */
	bool open;
	bool ended;		/* an end came while the leader was claiming */
	bool sure;		/* the key is that request's: an arbiter has
				   said so */
	int64_t poll_at_ms;	/* look again then; 0: the leader runs here */
	uint32_t poll_ms;	/* the last pause: 10, doubling to 250 */
};

struct idem_waiter {
	uint32_t who;		/* caller's number of it */
	uint32_t flight;
	uint32_t prev, next;	/* in the flight, or in the free list */
};

struct idem_waiters {
	struct idem_flight *flights;
	struct idem_waiter *waiters;
	uint32_t *buckets;
	uint32_t flights_size, waiters_size, buckets_size;
	uint32_t used_flights, used_waiters;	/* the rest of the room was
						   never touched */
	uint32_t free_flight, free_waiter;
	uint32_t open, waiting;		/* how many */
};

/* Bytes that init needs for so many of each; aligned as by malloc. */
size_t idem_waiters_room(uint32_t flights, uint32_t waiters);
void idem_waiters_init(struct idem_waiters *, void *room, uint32_t flights,
    uint32_t waiters);

/*
 * Open a flight as its leader.  The flight's number, or NOWHERE when there is
 * one for the key already (then *found is its number) or no room (*found is
 * NOWHERE).
 */
uint32_t idem_waiters_lead(struct idem_waiters *, const struct idem_digest *key,
    const struct idem_digest *fingerprint, const struct idem_digest *guard,
    uint32_t leader, uint32_t *found);

uint32_t idem_waiters_find(const struct idem_waiters *,
    const struct idem_digest *key);

/*
 * LED, LED_MISMATCH or LED_WITHHELD: fingerprint first, then guard.  NOTHING in
 * place of the last two while it is not sure: the leader, who only asks yet,
 * may be the one that has the wrong request.
 */
enum idem_look idem_waiters_compare(const struct idem_waiters *,
    uint32_t flight, const struct idem_digest *fingerprint,
    const struct idem_digest *guard);

/* Wait on it.  The waiter's number, or NOWHERE when there is no room. */
uint32_t idem_waiters_join(struct idem_waiters *, uint32_t flight,
    uint32_t who);
void idem_waiters_leave(struct idem_waiters *, uint32_t waiter);

/*
 * The first waiter of a flight, taken off it; its `who`, or NOWHERE.  Take all
 * before you wake any: who is awake may open a flight, perhaps in this one's
 * place.
 */
uint32_t idem_waiters_take(struct idem_waiters *, uint32_t flight);

/*
 * The leader has left, its own run over or not its to run.  The caller wakes
 * who waits (take, until NOWHERE), or makes it a watched one with
 * idem_waiters_watch.  A flight with neither leader nor waiters is closed.
 */
void idem_waiters_left(struct idem_waiters *, uint32_t flight);

/* The run is elsewhere: poll for its end.  First pause 10 ms from now. */
void idem_waiters_watch(struct idem_waiters *, uint32_t flight, int64_t now_ms);

/*
 * After a poll that found it still in progress: the next pause, doubled.
 * jitter: 0 to 999, the caller's chance; spreads it by +-10 %, so that the
 * workers of many hosts do not ask in step.
 */
void idem_waiters_polled(struct idem_waiters *, uint32_t flight,
    int64_t now_ms, uint32_t jitter);

#endif
