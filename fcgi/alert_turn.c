/* SPDX-License-Identifier: ISC */
#include "alert_private.h"

#include "clock.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* What a dead worker found counts as undone only if no other finds it soon. */
#define WRONG_MS 2000

/* --- what is to be told --------------------------------------------------- */

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

static void
begin(struct alert *a, unsigned kind, int64_t now_ms)
{
	uint64_t count = count_of(a, kind), more = count - a->told[kind];
	unsigned bit = bit_of(kind);
	struct alert_words w;

	if (more == 0 || !alert_read(a->shm, kind, count, &w)) {
		memset(&w, 0, sizeof w);
		w.at_ms = (uint64_t)idem_wall_ms(&idem_clock_real);
	}
	a->after_ms[kind] = now_ms + ALERT_EVERY_MS;
	if (!alert_command(a, kind, count, more, &w))
		return;
	a->told[kind] = count;
	a->believed = says_away(kind) ? a->believed | bit : a->believed & ~bit;
	if (bit != 0)
		a->wrong_ms[kind / 2] = 0;
	a->kind = (enum alert_kind)kind;
	a->kill_ms = now_ms + ALERT_LIMIT_MS;
	shm_add(a->shm, SHM_ALERTS, 1);
	log_line(a->log, "alert=%s pid=%d left-out=%llu",
	    alert_text((enum alert_kind)kind), (int)a->pid,
	    (unsigned long long)(more > 0 ? more - 1 : 0));
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
		    alert_text(a->kind), (int)a->pid, ALERT_LIMIT_MS / 1000);
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
		    alert_text(a->kind), (int)pid, WTERMSIG(status));
	else if (WEXITSTATUS(status) != 0)
		log_line(a->log, "alert=%s pid=%d ended exit=%d",
		    alert_text(a->kind), (int)pid, WEXITSTATUS(status));
	a->pid = 0;
	return true;
}

void
alert_end(struct alert *a)
{
	kill_it(a);
	a->command = NULL;
}
