/* SPDX-License-Identifier: ISC */
#include "alert_private.h"

#include "clock.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)ALERT_KINDS <= SHM_ALERTS_MAX, "a place for each");
_Static_assert((int)ALERT_UNKNOWN_KEY == 2 * SHM_AWAYS, "a pair for each bit");

static const struct {
	const char *text;
	const char *what;	/* if its own words are lost */
} kinds[ALERT_KINDS] = {
	[ALERT_SHARED_AWAY] = { "redis-away",
	    "the shared Redis does not answer" },
	[ALERT_SHARED_BACK] = { "redis-back", "the shared Redis is back" },
	[ALERT_CACHE_AWAY] = { "cache-away",
	    "the Redis beside the ledger does not answer" },
	[ALERT_CACHE_BACK] = { "cache-back",
	    "the Redis beside the ledger is back" },
	[ALERT_FOREIGN_LEDGER] = { "foreign-ledger",
	    "another ledger is registered under the prefix of the cache" },
	[ALERT_LEDGER_OURS] = { "ledger-ours",
	    "the ledger registered under the prefix of the cache is ours" },
	[ALERT_UNKNOWN_KEY] = { "unknown-key",
	    "nobody can say how a run ended" },
	[ALERT_TWO_RUNS] = { "two-runs", "a key was run twice" },
	[ALERT_UNPROTECTED] = { "unprotected",
	    "a key was run without its arbiter's permission" },
	[ALERT_NO_SPACE] = { "no-space",
	    "no key is run: its disk has less free than its reserve" },
};

const char *
alert_text(enum alert_kind kind)
{
	return kinds[kind].text;
}

const char *
alert_what(enum alert_kind kind)
{
	return kinds[kind].what;
}

/* --- telling -------------------------------------------------------------- */

static void
add_to(uint64_t *sum, uint64_t word)
{
	*sum = ((*sum << 7 | *sum >> 57) ^ word) * 0x9e3779b97f4a7c15u;
}

/* A mixture of two has the sum of neither, but by chance. */
static uint64_t
check_of(uint64_t number, const struct alert_words *w)
{
	uint64_t sum = number * 0x9e3779b97f4a7c15u + w->at_ms;
	size_t i;

	add_to(&sum, w->keyed);
	for (i = 0; i < SHM_KEY_WORDS; i++)
		add_to(&sum, w->key[i]);
	for (i = 0; i < SHM_WHAT_WORDS; i++)
		add_to(&sum, w->what[i]);
	return sum;
}

static struct shm_saying *
place_of(struct shm_alert *alert, uint64_t number)
{
	return &alert->newest[number % SHM_SAYINGS];
}

/* Some of it may be a peer's, and all of it is put before shells. */
static void
clean(char to[SHM_WHAT], const char *what)
{
	size_t i;

	memset(to, 0, SHM_WHAT);
	for (i = 0; i < SHM_WHAT - 1 && what[i] != '\0'; i++)
		to[i] = what[i] >= ' ' && what[i] < 0x7f ? what[i] : '?';
}

static void
write_saying(struct shm_saying *s, uint64_t number, const struct alert_words *w)
{
	size_t i;

	atomic_store(&s->number, 0);
	atomic_store_explicit(&s->at_ms, w->at_ms, memory_order_relaxed);
	atomic_store_explicit(&s->keyed, w->keyed, memory_order_relaxed);
	for (i = 0; i < SHM_KEY_WORDS; i++)
		atomic_store_explicit(&s->key[i], w->key[i],
		    memory_order_relaxed);
	for (i = 0; i < SHM_WHAT_WORDS; i++)
		atomic_store_explicit(&s->what[i], w->what[i],
		    memory_order_relaxed);
	atomic_store_explicit(&s->check, check_of(number, w),
	    memory_order_relaxed);
	atomic_store(&s->number, number);
}

void
alert_tell_key(struct shm *shm, enum alert_kind kind,
    const struct idem_digest *key, const char *what)
{
	struct shm_alert *alert = &shm->alert[kind];
	struct alert_words w = {
		.at_ms = (uint64_t)idem_wall_ms(&idem_clock_real),
		.keyed = key != NULL
	};
	uint64_t number, one = 1;
	char text[SHM_WHAT];

	clean(text, what);
	memcpy(w.what, text, sizeof w.what);
	if (key != NULL)
		memcpy(w.key, key->at, sizeof w.key);
	number = atomic_fetch_add(&alert->count, 1) + 1;
	write_saying(place_of(alert, number), number, &w);
	/* Refused only when it is awake already. */
	(void)!write(shm->wake_master, &one, sizeof one);
}

void
alert_tell(struct shm *shm, enum alert_kind kind, const char *what)
{
	alert_tell_key(shm, kind, NULL, what);
}

/* --- a run ---------------------------------------------------------------- */

/* A client's path: nothing in it is to mean anything to a shell. */
static void
tame(const char *from, char *to, size_t size)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i] != '\0'; i++)
		to[i] = isalnum((unsigned char)from[i]) ||
		    strchr("/._-~%:+,=@ ", from[i]) != NULL ? from[i] : '?';
	to[i] = '\0';
}

/* "key DIGITS: POST /order: ended by signal 9 (SIGKILL) (route at FILE:LINE)",
   each of a length that leaves room for the rest. */
static void
run_text(const char *digits, const struct idem_note *note, char *to,
    size_t size)
{
	char why[100] = "", asked[112], route[80];

	tame(note->what, asked, sizeof asked);
	tame(note->route, route, sizeof route);
	if (note->why != IDEM_WHY_NOT_SAID)
		idem_note_why_text(note, why, sizeof why);
	snprintf(to, size, "key %.*s: %s%s%s (%s)", ALERT_DIGITS, digits,
	    asked, why[0] != '\0' ? ": " : "", why, route);
}

void
alert_tell_run(struct shm *shm, enum alert_kind kind,
    const struct idem_digest *key, const struct idem_note *note)
{
	char digits[2 * IDEM_DIGEST_LEN + 1], what[SHM_WHAT];

	idem_hex(key->at, sizeof key->at, digits);
	if (note != NULL)
		run_text(digits, note, what, sizeof what);
	else
		snprintf(what, sizeof what, "key %.*s", ALERT_DIGITS, digits);
	alert_tell_key(shm, kind, key, what);
}

/* --- what was told -------------------------------------------------------- */

bool
alert_read(struct shm *shm, unsigned kind, uint64_t number,
    struct alert_words *w)
{
	struct shm_saying *s = place_of(&shm->alert[kind], number);
	size_t i;

	if (number == 0 || atomic_load(&s->number) != number)
		return false;
	w->at_ms = atomic_load_explicit(&s->at_ms, memory_order_relaxed);
	w->keyed = atomic_load_explicit(&s->keyed, memory_order_relaxed);
	for (i = 0; i < SHM_KEY_WORDS; i++)
		w->key[i] = atomic_load_explicit(&s->key[i],
		    memory_order_relaxed);
	for (i = 0; i < SHM_WHAT_WORDS; i++)
		w->what[i] = atomic_load_explicit(&s->what[i],
		    memory_order_relaxed);
	return atomic_load_explicit(&s->check, memory_order_relaxed) ==
	    check_of(number, w);
}
