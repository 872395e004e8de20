/* SPDX-License-Identifier: ISC */
#include "waiters.h"

#include "chance.h"
#include "tap.h"
#include "token.h"

#include <stdlib.h>
#include <string.h>

#define MANY 10000
#define SEED 20240229u

static uint32_t chance = SEED;

static struct idem_digest
digest(uint32_t n)
{
	struct idem_digest d = { { 0 } };
	uint32_t mixed = n * 2654435761u;

	memcpy(d.at + 8, &n, sizeof n);
	memcpy(d.at + 28, &mixed, sizeof mixed);
	return d;
}

/* Different keys in one bucket: the same last bytes. */
static struct idem_digest
colliding(uint32_t n)
{
	struct idem_digest d = { { 0 } };

	memcpy(d.at, &n, sizeof n);
	return d;
}

static uint32_t
lead(struct idem_waiters *w, struct idem_digest key, uint32_t leader,
    uint32_t *found)
{
	struct idem_digest fingerprint = digest(1), guard = digest(2);

	return idem_waiters_lead(w, &key, &fingerprint, &guard, leader, found);
}

static uint32_t
find(const struct idem_waiters *w, struct idem_digest key)
{
	return idem_waiters_find(w, &key);
}

static void
test_one_flight(void)
{
	struct idem_digest f = digest(1), g = digest(2), other = digest(3);
	uint32_t flight, found, a, b, c;
	struct idem_waiters w;
	void *room = malloc(idem_waiters_room(2, 3));

	idem_waiters_init(&w, room, 2, 3);
	is_int(find(&w, digest(9)), IDEM_NOWHERE, "nobody leads at first");
	flight = lead(&w, digest(9), 77, &found);
	ok(flight != IDEM_NOWHERE && found == IDEM_NOWHERE,
	    "the first to come leads");
	is_int(w.flights[flight].leader, 77, "it is known as the leader");
	is_int(lead(&w, digest(9), 78, &found), IDEM_NOWHERE,
	    "the second does not lead");
	is_int(found, flight, "the second finds the first one's flight");
	is_int(idem_waiters_compare(&w, flight, &f, &g), IDEM_LOOK_LED,
	    "the same request is led");
	is_int(idem_waiters_compare(&w, flight, &other, &g),
	    IDEM_LOOK_NOTHING, "of another one nobody knows yet which of the "
	    "two is a mismatch");
	is_int(idem_waiters_compare(&w, flight, &f, &other),
	    IDEM_LOOK_NOTHING, "nor of one with other credentials");
	w.flights[flight].sure = true;
	is_int(idem_waiters_compare(&w, flight, &other, &g),
	    IDEM_LOOK_LED_MISMATCH, "once the key is the leader's it is one");
	is_int(idem_waiters_compare(&w, flight, &f, &other),
	    IDEM_LOOK_LED_WITHHELD, "other credentials are withheld from");
	is_int(idem_waiters_compare(&w, flight, &other, &other),
	    IDEM_LOOK_LED_MISMATCH, "the fingerprint is compared first");
	a = idem_waiters_join(&w, flight, 101);
	b = idem_waiters_join(&w, flight, 102);
	c = idem_waiters_join(&w, flight, 103);
	ok(a != b && b != c && a != c, "each who waits has a number");
	is_int(idem_waiters_join(&w, flight, 104), IDEM_NOWHERE,
	    "there is no room for a fourth");
	is_int(w.waiting, 3, "three wait");
	idem_waiters_leave(&w, b);
	idem_waiters_left(&w, flight);
	ok(w.flights[flight].open,
	    "a flight stays open for who waits when its leader leaves");
	is_int(idem_waiters_take(&w, flight), 101, "the first is taken first");
	is_int(idem_waiters_take(&w, flight), 103,
	    "who left from the middle is passed over");
	is_int(idem_waiters_take(&w, flight), IDEM_NOWHERE, "then nobody is");
	is_int(find(&w, digest(9)), IDEM_NOWHERE,
	    "a flight that nobody leads or waits for is closed");
	is_int(w.open + w.waiting, 0, "nothing is open");
	free(room);
}

static void
test_full(void)
{
	uint32_t found, first, second;
	struct idem_waiters w;
	void *room = malloc(idem_waiters_room(2, 0));

	idem_waiters_init(&w, room, 2, 0);
	first = lead(&w, colliding(1), 1, &found);
	second = lead(&w, colliding(2), 2, &found);
	is_int(lead(&w, colliding(3), 3, &found), IDEM_NOWHERE,
	    "there is no room for a third flight");
	is_int(found, IDEM_NOWHERE, "which is told from one that is there");
	is_int(idem_waiters_join(&w, first, 9), IDEM_NOWHERE,
	    "where no waiter fits none does");
	idem_waiters_left(&w, first);
	is_int(find(&w, colliding(1)), IDEM_NOWHERE,
	    "a leader alone closes its flight when it leaves");
	is_int(find(&w, colliding(2)), second, "and no other of its bucket");
	ok(lead(&w, colliding(3), 3, &found) != IDEM_NOWHERE,
	    "its room is for another");
	free(room);
	room = malloc(idem_waiters_room(0, 0));
	idem_waiters_init(&w, room, 0, 0);
	is_int(lead(&w, digest(1), 1, &found), IDEM_NOWHERE,
	    "none lead where there is no room at all");
	free(room);
}

static void
test_watch(void)
{
	static const uint32_t pauses[] = { 20, 40, 80, 160, 250, 250 };
	uint32_t flight, found, waiter;
	struct idem_waiters w;
	void *room = malloc(idem_waiters_room(1, 1));
	int64_t now_ms = 5000;
	bool doubled = true;
	size_t i;

	idem_waiters_init(&w, room, 1, 1);
	flight = lead(&w, digest(4), 1, &found);
	is_int(w.flights[flight].poll_at_ms, 0,
	    "who leads here need not be polled for");
	waiter = idem_waiters_join(&w, flight, 1);
	idem_waiters_left(&w, flight);
	idem_waiters_watch(&w, flight, now_ms);
	is_int(w.flights[flight].poll_at_ms, 5010,
	    "a run elsewhere is polled for after 10 ms");
	for (i = 0; i < sizeof pauses / sizeof *pauses; i++) {
		now_ms += 1000;
		idem_waiters_polled(&w, flight, now_ms, 500);
		doubled = doubled &&
		    w.flights[flight].poll_at_ms == now_ms + pauses[i];
	}
	ok(doubled, "then in pauses that double up to 250 ms");
	idem_waiters_polled(&w, flight, now_ms, 0);
	is_int(w.flights[flight].poll_at_ms, now_ms + 225,
	    "a tenth less at the least");
	idem_waiters_polled(&w, flight, now_ms, 999);
	is_int(w.flights[flight].poll_at_ms, now_ms + 274,
	    "and a tenth more at the most, by chance");
	is_int(lead(&w, digest(4), 2, &found), IDEM_NOWHERE,
	    "nobody leads a key that is watched");
	idem_waiters_leave(&w, waiter);
	is_int(w.open, 0, "who leaves a watched flight last closes it");
	flight = lead(&w, digest(4), 2, &found);
	ok(w.flights[flight].poll_at_ms == 0 && !w.flights[flight].ended,
	    "a flight in its room knows nothing of it");
	free(room);
}

static void
test_many_on_one(void)
{
	uint32_t *number = malloc(MANY * sizeof *number);
	uint32_t flight, found, i, next = 0, wrong = 0;
	struct idem_waiters w;
	void *room = malloc(idem_waiters_room(1, MANY));
	size_t each;

	idem_waiters_init(&w, room, 1, MANY);
	flight = lead(&w, digest(5), 0, &found);
	for (i = 0; i < MANY; i++)
		number[i] = idem_waiters_join(&w, flight, i);
	is_int(w.flights[flight].count, MANY, "10,000 wait on one flight");
	is_int(idem_waiters_join(&w, flight, i), IDEM_NOWHERE,
	    "and not one more [idem:F8]");
	for (i = 1; i < MANY; i += 3)
		idem_waiters_leave(&w, number[i]);
	idem_waiters_left(&w, flight);
	while ((i = idem_waiters_take(&w, flight)) != IDEM_NOWHERE) {
		next += next % 3 == 1;
		wrong += i != next++;
	}
	is_int(wrong, 0, "they are taken in order, without who has left");
	is_int(next, MANY, "to the last");
	is_int(w.open + w.waiting, 0, "then nothing is open");
	each = (idem_waiters_room(1, MANY) - idem_waiters_room(1, 0)) / MANY;
	note("a waiter is %zu bytes, a flight %zu", each,
	    idem_waiters_room(1, 0));
	ok(each <= 32, "a waiter is at most 32 bytes");
	free(number);
	free(room);
}

static void
test_many_flights(void)
{
	uint32_t found, i, wrong = 0;
	struct idem_waiters w;
	void *room = malloc(idem_waiters_room(MANY, MANY));

	idem_waiters_init(&w, room, MANY, MANY);
	for (i = 0; i < MANY; i++)
		wrong += lead(&w, digest(i), i, &found) == IDEM_NOWHERE;
	for (i = 0; i < MANY; i++)
		wrong += idem_waiters_join(&w, find(&w, digest(i)), i) ==
		    IDEM_NOWHERE;
	is_int(wrong, 0, "10,000 flights have a waiter each");
	is_int(lead(&w, digest(i), i, &found), IDEM_NOWHERE,
	    "and there is not one flight more [idem:F8]");
	for (i = 0; i < MANY; i++) {
		found = find(&w, digest(i));
		idem_waiters_left(&w, found);
		wrong += idem_waiters_take(&w, found) != i;
		wrong += find(&w, digest(i)) != IDEM_NOWHERE;
	}
	is_int(wrong, 0, "each ends for its own waiter");
	is_int(w.open + w.waiting, 0, "all are closed");
	free(room);
}

/* --- against naive arrays ------------------------------------------------- */

#define KEYS 12
#define FLIGHTS 8
#define WAITERS 24
#define STEPS 200000

static struct model {
	bool open[KEYS], led[KEYS];
	uint32_t queue[KEYS][WAITERS], number[KEYS][WAITERS], count[KEYS];
	uint32_t flights, waiting;
} model;

static void
model_remove(uint32_t key, uint32_t at)
{
	uint32_t *count = &model.count[key];

	for (; at + 1 < *count; at++) {
		model.queue[key][at] = model.queue[key][at + 1];
		model.number[key][at] = model.number[key][at + 1];
	}
	(*count)--;
	model.waiting--;
}

static void
model_close(uint32_t key)
{
	if (model.open[key] && !model.led[key] && model.count[key] == 0) {
		model.open[key] = false;
		model.flights--;
	}
}

static bool
try_lead(struct idem_waiters *w, uint32_t key)
{
	bool may = !model.open[key] && model.flights < FLIGHTS;
	uint32_t found, flight;

	flight = lead(w, colliding(key), key, &found);
	if ((flight != IDEM_NOWHERE) != may ||
	    (found != IDEM_NOWHERE) != model.open[key])
		return false;
	if (may) {
		model.open[key] = model.led[key] = true;
		model.flights++;
	}
	return true;
}

static bool
try_join(struct idem_waiters *w, uint32_t key, uint32_t flight, uint32_t who)
{
	uint32_t number = idem_waiters_join(w, flight, who);

	if ((number != IDEM_NOWHERE) != (model.waiting < WAITERS))
		return false;
	if (number != IDEM_NOWHERE) {
		model.queue[key][model.count[key]] = who;
		model.number[key][model.count[key]++] = number;
		model.waiting++;
	}
	return true;
}

static bool
try_take(struct idem_waiters *w, uint32_t key, uint32_t flight)
{
	uint32_t want = model.count[key] > 0 ? model.queue[key][0]
	    : IDEM_NOWHERE;

	if (idem_waiters_take(w, flight) != want)
		return false;
	if (want != IDEM_NOWHERE)
		model_remove(key, 0);
	return true;
}

static bool
try_one(struct idem_waiters *w, uint32_t who)
{
	uint32_t key = chance_below(&chance, KEYS);
	uint32_t flight = find(w, colliding(key));
	uint32_t at;
	bool right = (flight != IDEM_NOWHERE) == model.open[key];

	if (!right || flight == IDEM_NOWHERE)
		return right && try_lead(w, key);
	switch (chance_below(&chance, 6)) {
	case 0:
		right = try_lead(w, key);
		break;
	case 1:
	case 2:
		right = try_join(w, key, flight, who);
		break;
	case 3:
		right = try_take(w, key, flight);
		break;
	case 4:
		if (model.count[key] == 0)
			break;
		at = chance_below(&chance, model.count[key]);
		idem_waiters_leave(w, model.number[key][at]);
		model_remove(key, at);
		break;
	case 5:
		idem_waiters_left(w, flight);
		model.led[key] = false;
		break;
	}
	model_close(key);
	return right && w->open == model.flights &&
	    w->waiting == model.waiting;
}

static void
test_random(void)
{
	struct idem_waiters w;
	void *room = malloc(idem_waiters_room(FLIGHTS, WAITERS));
	uint32_t i;

	note("seed %u", SEED);
	idem_waiters_init(&w, room, FLIGHTS, WAITERS);
	for (i = 0; i < STEPS && try_one(&w, i); i++)
		;
	is_int(i, STEPS, "200,000 random steps agree with naive arrays");
	free(room);
}

static uint32_t
longest_chain(const struct idem_waiters *w)
{
	uint32_t longest = 0, len, i, flight;

	for (i = 0; i < w->buckets_size; i++) {
		len = 0;
		for (flight = w->buckets[i]; flight != IDEM_NOWHERE;
		    flight = w->flights[flight].next)
			len++;
		if (len > longest)
			longest = len;
	}
	return longest;
}

/* All of them begin with the time when they were made. */
static void
test_tokens(void)
{
	enum { TOKENS = 1024 };
	struct idem_token token = { .minted_ms = 1700000000000 };
	struct idem_digest key = { { 0 } };
	struct idem_waiters w;
	void *room = malloc(idem_waiters_room(TOKENS, 1));
	uint32_t i, found;

	idem_waiters_init(&w, room, TOKENS, 1);
	for (i = 0; i < TOKENS; i++) {
		memcpy(token.random, &i, sizeof i);
		if (!idem_token_store_key(&token, &key))
			break;
		lead(&w, key, i, &found);
	}
	is_int(w.open, TOKENS, "tokens of one moment have a flight each");
	ok(longest_chain(&w) <= 16, "and none is behind many others: %u",
	    longest_chain(&w));
	free(room);
}

int
main(void)
{
	test_one_flight();
	test_full();
	test_watch();
	test_many_on_one();
	test_many_flights();
	test_random();
	test_tokens();
	return done();
}
