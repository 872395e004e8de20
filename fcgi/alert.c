/* SPDX-License-Identifier: ISC */
#include "alert.h"

#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What a dead worker found counts as undone only if no other finds it soon. */
#define WRONG_MS 2000

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
};

const char *
alert_text(enum alert_kind kind)
{
	return kinds[kind].text;
}

/* --- telling -------------------------------------------------------------- */

struct words {
	uint64_t at_ms;
	uint64_t what[SHM_WHAT_WORDS];
};

/* A mixture of two has the sum of neither, but by chance. */
static uint64_t
check_of(uint64_t number, const struct words *w)
{
	uint64_t sum = number * 0x9e3779b97f4a7c15u + w->at_ms;
	size_t i;

	for (i = 0; i < SHM_WHAT_WORDS; i++)
		sum = ((sum << 7 | sum >> 57) ^ w->what[i]) *
		    0x9e3779b97f4a7c15u;
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
write_saying(struct shm_saying *s, uint64_t number, const struct words *w)
{
	size_t i;

	atomic_store(&s->number, 0);
	atomic_store_explicit(&s->at_ms, w->at_ms, memory_order_relaxed);
	for (i = 0; i < SHM_WHAT_WORDS; i++)
		atomic_store_explicit(&s->what[i], w->what[i],
		    memory_order_relaxed);
	atomic_store_explicit(&s->check, check_of(number, w),
	    memory_order_relaxed);
	atomic_store(&s->number, number);
}

void
alert_tell(struct shm *shm, enum alert_kind kind, const char *what)
{
	struct shm_alert *alert = &shm->alert[kind];
	struct words w = {
		.at_ms = (uint64_t)idem_wall_ms(&idem_clock_real)
	};
	uint64_t number, one = 1;
	char text[SHM_WHAT];

	clean(text, what);
	memcpy(w.what, text, sizeof w.what);
	number = atomic_fetch_add(&alert->count, 1) + 1;
	write_saying(place_of(alert, number), number, &w);
	/* Refused only when it is awake already. */
	(void)!write(shm->wake_master, &one, sizeof one);
}

/* --- what is to be told --------------------------------------------------- */

/* False: it is being written, or who wrote it is dead. */
static bool
read_saying(struct shm_alert *alert, uint64_t number, struct words *w)
{
	struct shm_saying *s = place_of(alert, number);
	size_t i;

	if (number == 0 || atomic_load(&s->number) != number)
		return false;
	w->at_ms = atomic_load_explicit(&s->at_ms, memory_order_relaxed);
	for (i = 0; i < SHM_WHAT_WORDS; i++)
		w->what[i] = atomic_load_explicit(&s->what[i],
		    memory_order_relaxed);
	return atomic_load_explicit(&s->check, memory_order_relaxed) ==
	    check_of(number, w);
}

static uint64_t
count_of(const struct alert *a, unsigned kind)
{
	return atomic_load(&a->shm->alert[kind].count);
}

/* The bit that a kind is about; 0: it is by itself. */
static unsigned
bit_of(unsigned kind)
{
	return kind < 2 * SHM_AWAYS ? 1u << kind / 2 : 0;
}

static bool
says_away(unsigned kind)
{
	return kind % 2 == 0;
}

/* Is what the operator would believe after it the truth? */
static bool
is_true(unsigned kind, unsigned away)
{
	return says_away(kind) == ((away & bit_of(kind)) != 0);
}

static bool
is_believed_wrongly(const struct alert *a, unsigned kind, unsigned away)
{
	unsigned bit = bit_of(kind);

	return bit != 0 && ((away ^ a->believed) & bit) != 0 &&
	    is_true(kind, away);
}

/* Told by somebody; or by nobody, though it is so for a while. */
static bool
is_waiting(const struct alert *a, unsigned kind, unsigned away, int64_t now_ms)
{
	int64_t wrong_ms;

	if (count_of(a, kind) != a->told[kind])
		return true;
	if (!is_believed_wrongly(a, kind, away))
		return false;
	wrong_ms = a->wrong_ms[kind / 2];
	return wrong_ms != 0 && now_ms - wrong_ms >= WRONG_MS;
}

/*
 * Of a pair that waits, the one that is true goes last: the operator's last
 * word is how it is, whatever was left out.
 */
static bool
goes_last(const struct alert *a, unsigned kind, unsigned away)
{
	unsigned other = kind ^ 1;

	return bit_of(kind) != 0 && is_true(kind, away) &&
	    count_of(a, other) != a->told[other];
}

/* The one that was told longest ago; false: none is due. */
static bool
next_kind(const struct alert *a, int64_t now_ms, unsigned *next)
{
	unsigned away = shm_away(a->shm), kind;
	int64_t first_ms = INT64_MAX;

	for (kind = 0; kind < ALERT_KINDS; kind++)
		if (a->after_ms[kind] <= now_ms &&
		    a->after_ms[kind] < first_ms &&
		    is_waiting(a, kind, away, now_ms) &&
		    !goes_last(a, kind, away)) {
			first_ms = a->after_ms[kind];
			*next = kind;
		}
	return first_ms != INT64_MAX;
}

/* Since when the operator believes what is not so, and nobody has told him. */
static void
note_wrong(struct alert *a, int64_t now_ms)
{
	unsigned wrong = shm_away(a->shm) ^ a->believed, i;

	for (i = 0; i < SHM_AWAYS; i++)
		if ((wrong & 1u << i) == 0)
			a->wrong_ms[i] = 0;
		else if (a->wrong_ms[i] == 0)
			a->wrong_ms[i] = now_ms;
}

/* --- the command ---------------------------------------------------------- */

struct environment {
	char path[80], event[40], left_out[48], time[48];
	char what[sizeof "IDEM_WHAT=" + SHM_WHAT];
	char instance[512];
	char *at[7];
};

static void
say_time(char *to, size_t size, int64_t wall_ms)
{
	time_t second = (time_t)(wall_ms / 1000);
	struct tm tm;

	gmtime_r(&second, &tm);
	strftime(to, size, "IDEM_TIME=%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* Nothing of ours besides: it may hold what is not the command's business. */
static void
make_environment(const struct alert *a, unsigned kind, uint64_t left_out,
    const struct words *w, struct environment *e)
{
	char what[SHM_WHAT];

	memcpy(what, w->what, sizeof what);
	snprintf(e->path, sizeof e->path, "PATH=/usr/local/sbin:"
	    "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	snprintf(e->event, sizeof e->event, "IDEM_EVENT=%s", kinds[kind].text);
	snprintf(e->what, sizeof e->what, "IDEM_WHAT=%s", what[0] != '\0' ?
	    what : kinds[kind].what);
	say_time(e->time, sizeof e->time, (int64_t)w->at_ms);
	snprintf(e->instance, sizeof e->instance, "IDEM_INSTANCE=%s",
	    a->instance);
	snprintf(e->left_out, sizeof e->left_out, "IDEM_LEFT_OUT=%llu",
	    (unsigned long long)left_out);
	e->at[0] = e->path;
	e->at[1] = e->event;
	e->at[2] = e->what;
	e->at[3] = e->time;
	e->at[4] = e->instance;
	e->at[5] = e->left_out;
	e->at[6] = NULL;
}

static bool
run(struct alert *a, unsigned kind, uint64_t left_out, const struct words *w)
{
	struct environment e;
	char name[256], event[40];
	char *argv[] = { name, event, NULL };

	snprintf(name, sizeof name, "%s", a->command);
	snprintf(event, sizeof event, "%s", kinds[kind].text);
	make_environment(a, kind, left_out, w, &e);
	a->pid = a->run(a->arg, a->command, argv, e.at);
	if (a->pid != -1)
		return true;
	log_line(a->log, "alert=%s error=\"%s\"", event, strerror(errno));
	a->pid = 0;
	return false;
}

static void
begin(struct alert *a, unsigned kind, int64_t now_ms)
{
	uint64_t count = count_of(a, kind), more = count - a->told[kind];
	unsigned bit = bit_of(kind);
	struct words w;

	if (more == 0 || !read_saying(&a->shm->alert[kind], count, &w)) {
		memset(&w, 0, sizeof w);
		w.at_ms = (uint64_t)idem_wall_ms(&idem_clock_real);
	}
	a->after_ms[kind] = now_ms + ALERT_EVERY_MS;
	if (!run(a, kind, more > 0 ? more - 1 : 0, &w))
		return;
	a->told[kind] = count;
	a->believed = says_away(kind) ? a->believed | bit : a->believed & ~bit;
	if (bit != 0)
		a->wrong_ms[kind / 2] = 0;
	a->kind = (enum alert_kind)kind;
	a->kill_ms = now_ms + ALERT_LIMIT_MS;
	shm_add(a->shm, SHM_ALERTS, 1);
	log_line(a->log, "alert=%s pid=%d left-out=%llu", kinds[kind].text,
	    (int)a->pid, (unsigned long long)(more > 0 ? more - 1 : 0));
}

/* With all that it has started: it leads its own group. */
static void
kill_it(struct alert *a)
{
	if (a->pid > 0)
		kill(-a->pid, SIGKILL);
	a->kill_ms = INT64_MAX;
}

/* --- for the master ------------------------------------------------------- */

void
alert_turn(struct alert *a, int64_t now_ms)
{
	unsigned kind;

	if (a->command == NULL)
		return;
	note_wrong(a, now_ms);
	if (a->pid == 0 && next_kind(a, now_ms, &kind))
		begin(a, kind, now_ms);
	if (a->pid != 0 && now_ms >= a->kill_ms) {
		log_line(a->log, "alert=%s pid=%d error=\"no end within %d s\"",
		    kinds[a->kind].text, (int)a->pid, ALERT_LIMIT_MS / 1000);
		kill_it(a);
	}
}

int64_t
alert_due_ms(const struct alert *a, int64_t now_ms)
{
	unsigned away = shm_away(a->shm), kind;
	int64_t due_ms = INT64_MAX, at_ms;

	if (a->command == NULL)
		return INT64_MAX;
	if (a->pid != 0)
		return a->kill_ms;
	for (kind = 0; kind < ALERT_KINDS; kind++) {
		at_ms = a->after_ms[kind];
		if (!is_waiting(a, kind, away, now_ms)) {
			if (!is_believed_wrongly(a, kind, away))
				continue;
			if (at_ms < a->wrong_ms[kind / 2] + WRONG_MS)
				at_ms = a->wrong_ms[kind / 2] + WRONG_MS;
		}
		if (!goes_last(a, kind, away) && at_ms < due_ms)
			due_ms = at_ms;
	}
	return due_ms;
}

bool
alert_reaped(struct alert *a, pid_t pid, int status)
{
	if (a->pid == 0 || a->pid != pid)
		return false;
	if (WIFSIGNALED(status))
		log_line(a->log, "alert=%s pid=%d died signal=%d",
		    kinds[a->kind].text, (int)pid, WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		log_line(a->log, "alert=%s pid=%d ended exit=%d",
		    kinds[a->kind].text, (int)pid, WEXITSTATUS(status));
	a->pid = 0;
	return true;
}

void
alert_end(struct alert *a)
{
	kill_it(a);
	a->command = NULL;
}
