/* SPDX-License-Identifier: ISC */
#include "crash.h"

#include "ask.h"
#include "tap.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define REACH_MS 60000		/* to come to the point */
#define ROUND_MS 1000		/* between two looks of whoever settles */
#define SLACK_MS 20000		/* of a busy machine */
/* Less than a lease: nobody waits until it is over to write down an end. */
#define END_MS (ROUND_MS + SLACK_MS)
#define HELD_MS (CRASH_SHORT_MS + CRASH_HELD_LIMIT_MS + CRASH_GRACE_MS + 1000)
#define WAIT_MS (3 * END_MS)	/* to learn how late it is */
#define PAUSE_MS 50		/* a client's, between two tries */
#define COMPLETE_MS 5000	/* for so long it tries to write an end down */

struct crash {
	const struct crash_row *row;
	struct crash_found *found;
	struct rows_held *held;
	struct crash_world world;
	unsigned worker;
	pid_t stopped;		/* who has come to the point */
	int first;		/* the first request's connection; -1: closed */
	int64_t begun_ms;	/* when it was sent */
	int64_t healed_ms;	/* when the fault had ended */
};

static void
pause_ms(int64_t ms)
{
	const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* The first reason counts. */
static void __attribute__((format(printf, 2, 3)))
wrong(struct crash *c, const char *format, ...)
{
	va_list args;

	if (c->found->why[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(c->found->why, sizeof c->found->why, format, args);
	va_end(args);
}

/* --- answers -------------------------------------------------------------- */

static void
compare(struct crash *c, const struct rig_answer *answer)
{
	char *said = crash_said(&c->world);

	if (said == NULL || answer->body.len != strlen(said) ||
	    memcmp(answer->body.at, said, answer->body.len) != 0) {
		c->found->same = false;
		wrong(c, "an answer of %zu bytes is not what the program "
		    "wrote", answer->body.len);
	}
	free(said);
}

static bool
says(const struct rig_answer *answer, const char *what)
{
	return strcmp(rig_field(answer, "Idempotency-Status"), what) == 0;
}

/*
 * A lobby that was held up, or whose store was, for as long as it tries to
 * write an end down, may say so; any other had to write it.
 */
static bool
may_be_unrecorded(const struct crash *c, int64_t begun_ms)
{
	return c->row->how == CRASH_STOP || crash_row_holds(c->row) ||
	    rig_now_ms() - begun_ms >= COMPLETE_MS;
}

/* What it says of the key's end, to who asked then; '-': nothing yet. */
static char
judge(struct crash *c, const struct rig_answer *answer, int64_t begun_ms)
{
	if (!answer->whole)
		return '-';
	if (says(answer, "stored") || says(answer, "replayed")) {
		compare(c, answer);
		return 'A';
	}
	if (says(answer, "unrecorded")) {
		compare(c, answer);
		if (!may_be_unrecorded(c, begun_ms))
			wrong(c, "unrecorded, and nobody was held up");
		return '-';
	}
	if (says(answer, "unknown"))
		return 'U';
	if (answer->status == 404)
		return 'F';
	if (answer->status == 409 && says(answer, "in-progress"))
		return 'P';
	if (answer->status != 503)
		wrong(c, "an answer %d %s", answer->status,
		    rig_field(answer, "Idempotency-Status"));
	return '-';
}

static char
ask_once(struct crash *c)
{
	const struct rig_request request = crash_request(&c->world);
	int64_t begun_ms = rig_now_ms();
	struct rig_answer answer;
	char end;

	rig_request(&c->world.rig, &request, &answer);
	end = judge(c, &answer, begun_ms);
	rig_answer_free(&answer);
	return end;
}

/* What the first client was told, if it has an answer by now. */
static void
hear_first(struct crash *c, int64_t wait_ms)
{
	struct rig_answer answer;

	if (c->first == -1)
		return;
	rig_receive(c->first, 1, (struct idem_bytes){ 0 }, wait_ms, &answer);
	if (judge(c, &answer, c->begun_ms) == 'U')
		c->found->unknowns++;
	rig_answer_free(&answer);
	close(c->first);
	c->first = -1;
}

/* --- to the point --------------------------------------------------------- */

static bool
await_stop(struct crash *c)
{
	int64_t until_ms = rig_now_ms() + REACH_MS;

	while (!crash_stopped(&c->world, &c->worker, &c->stopped)) {
		if (rig_now_ms() > until_ms)
			return false;
		pause_ms(3);
	}
	return true;
}

static bool
make_orphan(struct crash *c)
{
	struct crash_world *w = &c->world;
	int64_t until_ms = rig_now_ms() + REACH_MS;

	while (rig_lines(&w->rig, "starts", NULL) < 1 ||
	    !crash_running(w, &c->worker)) {
		if (rig_now_ms() > until_ms)
			return false;
		pause_ms(3);
	}
	kill(w->lobby[c->worker], SIGKILL);
	w->lobby[c->worker] = 0;	/* another's number, sooner or later */
	hear_first(c, REACH_MS);
	return true;
}

static bool
come_to_the_point(struct crash *c)
{
	const struct rig_request request = crash_request(&c->world);
	bool reached;

	if (c->row->orphan)
		rig_file(&c->world.rig, "hold", "");
	c->begun_ms = rig_now_ms();
	c->first = ask_begin(&c->world.rig, &request);
	reached = (!c->row->orphan || make_orphan(c)) && await_stop(c);
	/* Not before: its keeper must hear of its lobby before its end. */
	unlink(rig_at(&c->world.rig, "hold"));
	return reached;
}

/* --- the fault ------------------------------------------------------------ */

static void
strike_one(pid_t pid, int sig)
{
	if (pid != 0)
		kill(pid, sig);
}

static void
strike(struct crash *c, int sig)
{
	struct crash_world *w = &c->world;

	switch (c->row->who) {
	case CRASH_LOBBY:
		strike_one(w->lobby[c->worker], sig);
		return;
	case CRASH_KEEPER:
		strike_one(w->keeper[c->worker], sig);
		return;
	case CRASH_WORKER:
		strike_one(w->lobby[c->worker], sig);
		strike_one(w->keeper[c->worker], sig);
		return;
	case CRASH_INSTANCE:
		kill(-w->rig.pid, sig);
		return;
	case CRASH_WHOS:
		break;
	}
}

/* Who has stopped at the point, but is not struck, goes on. */
static void
let_go(struct crash *c)
{
	bool keeper = c->stopped == c->world.keeper[c->worker];

	if ((keeper && c->row->who == CRASH_LOBBY) ||
	    (!keeper && c->row->who == CRASH_KEEPER))
		kill(c->stopped, SIGCONT);
}

/* One look, by a client or into the store. */
static char
look(struct crash *c)
{
	return c->row->asked ? ask_once(c) : crash_look(&c->world);
}

static void
count_unknown(struct crash *c, char end)
{
	if (end == 'U' && strchr(c->row->may, 'U') == NULL)
		c->found->unknowns++;
}

/* Meanwhile clients ask, or nobody does. */
static void
stay_away(struct crash *c)
{
	int64_t until_ms = rig_now_ms() + crash_row_lease_ms(c->row) +
	    CRASH_GRACE_MS + 700;

	while (rig_now_ms() < until_ms) {
		if (c->row->asked)
			count_unknown(c, ask_once(c));
		pause_ms(PAUSE_MS);
	}
}

static void
fault(struct crash *c)
{
	switch (c->row->how) {
	case CRASH_KILL:
		strike(c, SIGKILL);
		let_go(c);
		if (c->row->who == CRASH_INSTANCE)
			crash_world_again(&c->world);
		break;
	case CRASH_STOP:
		strike(c, SIGSTOP);
		let_go(c);
		stay_away(c);
		strike(c, SIGCONT);
		break;
	case CRASH_STAY:
		strike(c, SIGSTOP);
		let_go(c);
		break;
	case CRASH_HOWS:
		break;
	}
	c->held->group[0] = c->world.rig.pid;
	c->healed_ms = rig_now_ms();
}

/* --- the end -------------------------------------------------------------- */

/* A free key that is asked for again is one whose program runs now. */
static bool
may_end(const struct crash *c, char end)
{
	const char *may = c->row->may;

	if (strchr(may, end) != NULL)
		return true;
	return c->row->asked && end == 'A' && strchr(may, 'F') != NULL;
}

static void
await_end(struct crash *c)
{
	int64_t until_ms = c->healed_ms + WAIT_MS;
	char end;

	/* What is looked at is not what it was before. */
	if (c->row->how != CRASH_STAY)
		hear_first(c, END_MS);
	do {
		end = look(c);
		if (may_end(c, end))
			break;
		count_unknown(c, end);
		pause_ms(PAUSE_MS);
	} while (rig_now_ms() < until_ms);
	c->found->end = end;
	c->found->settled_ms = rig_now_ms() - c->healed_ms;
	if (!may_end(c, end))
		wrong(c, "its end is %c, not %s", end, c->row->may);
	else if (c->found->settled_ms > END_MS +
	    (crash_row_holds(c->row) ? HELD_MS : 0))
		wrong(c, "it took %lld ms", (long long)c->found->settled_ms);
}

/* Until it is told something. */
static char
ask_until_told(struct crash *c)
{
	int64_t until_ms = rig_now_ms() + END_MS;
	char end;

	while (((end = ask_once(c)) == '-' || end == 'P') &&
	    rig_now_ms() < until_ms)
		pause_ms(PAUSE_MS);
	return end;
}

/* What a client is told from now on, twice, must be that end. */
static void
ask_after(struct crash *c)
{
	char want = c->found->end, end;
	int i;

	if (want == 'P' || want == '-' || want == '?')
		return;
	if (want == 'F' && c->row->program != CRASH_MISSING)
		want = c->row->program == CRASH_DIES ? 'U' : 'A';
	for (i = 0; i < 2; i++) {
		end = ask_until_told(c);
		if (end != want)
			wrong(c, "asked for after it, it is %c, not %c", end,
			    want);
	}
}

static long
starts_wanted(const struct crash *c)
{
	if (c->row->program == CRASH_MISSING)
		return 0;
	return c->found->end == 'A' || c->found->end == 'F';
}

static void
count_starts(struct crash *c)
{
	c->found->starts = rig_lines(&c->world.rig, "starts", NULL);
	if (c->found->starts > 1)
		wrong(c, "%ld starts", c->found->starts);
	else if (c->found->starts < starts_wanted(c))
		wrong(c, "an answer, and no start");
}

static void
no_unknown(struct crash *c)
{
	if (!c->row->told_unknown && c->found->unknowns > 0)
		wrong(c, "%u clients were told that it is unknown",
		    c->found->unknowns);
}

static void
tell_wrong(struct crash *c)
{
	char *log, *at, *end;

	if (c->found->why[0] == '\0')
		return;
	note("%s; end %c after %lld ms, %ld starts, %u times unknown",
	    c->found->why, c->found->end, (long long)c->found->settled_ms,
	    c->found->starts, c->found->unknowns);
	log = rig_slurp(&c->world.rig, "log");
	for (at = log; at != NULL && (end = strchr(at, '\n')) != NULL;
	    at = end + 1)
		note("log: %.*s", (int)(end - at), at);
	free(log);
}

void
crash_row_run(const struct crash_row *row, const char *redis,
    const char *prefix, struct crash_found *found, struct rows_held *held)
{
	struct crash c = { .row = row, .found = found, .held = held,
		.first = -1 };

	*found = (struct crash_found){ .end = '-', .same = true };
	crash_world_open(&c.world, row, redis, prefix);
	held->group[0] = c.world.rig.pid;
	c.world.rig.request_ms = 1500;
	found->reached = come_to_the_point(&c);
	if (found->reached) {
		fault(&c);
		await_end(&c);
		hear_first(&c, 100);
		ask_after(&c);
		count_starts(&c);
		no_unknown(&c);
	} else
		wrong(&c, "the point was not reached");
	hear_first(&c, 0);
	tell_wrong(&c);
	held->group[0] = 0;
	crash_world_close(&c.world);
}

bool
crash_row_holds(const struct crash_row *row)
{
	return row->how == CRASH_STAY || row->program == CRASH_LEAVES;
}

int
crash_row_lease_ms(const struct crash_row *row)
{
	return row->how == CRASH_STOP || crash_row_holds(row) ?
	    CRASH_SHORT_MS : CRASH_LEASE_MS;
}

/* --- in words ------------------------------------------------------------- */

void
crash_row_text(const struct crash_row *row, char *out, size_t size)
{
	static const char *const who[CRASH_WHOS] = {
		[CRASH_LOBBY] = "the lobby", [CRASH_KEEPER] = "the keeper",
		[CRASH_WORKER] = "the worker", [CRASH_INSTANCE] = "idemd"
	};
	static const char *const how[CRASH_HOWS] = {
		[CRASH_KILL] = "killed", [CRASH_STOP] = "stopped for a while",
		[CRASH_STAY] = "stopped for good"
	};
	static const char *const at[CRASH_ATS] = {
		[CRASH_LEDGER] = "ledger", [CRASH_REDIS] = "redis",
		[CRASH_TOKEN] = "token"
	};

	snprintf(out, size, "%s at %s: %s is %s%s, %s: %s", at[row->at],
	    row->label, who[row->who], how[row->how],
	    row->program == CRASH_BACKEND ? ", FastCGI" :
	    row->program == CRASH_LEAVES ? ", a child lives on" :
	    row->spool ? ", spool" : "", row->asked ? "asked again" :
	    "nobody asks", row->may);
}
