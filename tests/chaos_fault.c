/* SPDX-License-Identifier: ISC */
#include "chaos_fault.h"

#include "chance.h"
#include "chaos_files.h"
#include "chaos_move.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FAIL_OVER_MS 30000
#define LINK_MS 3000
#define NOBODY "1"	/* a port of 127.0.0.1 at which nobody listens */

static uint32_t
chance(struct chaos_faults *f, uint32_t below)
{
	return chance_below(&f->chance, below);
}

static void
pause_ms(uint32_t ms)
{
	struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static struct redis_rig *
master(struct chaos_faults *f)
{
	return &f->world->server[f->world->master];
}

/* Of a cluster any of them. */
static struct redis_rig *
victim(struct chaos_faults *f)
{
	struct chaos_world *w = f->world;

	return w->mode->topology == CHAOS_CLUSTER ?
	    &w->server[chance(f, (uint32_t)w->servers)] : master(f);
}

static size_t
standby(struct chaos_faults *f)
{
	return 1 - f->world->master;
}

/* --- one server ----------------------------------------------------------- */

static bool
do_kill(struct chaos_faults *f)
{
	redis_rig_kill(master(f));
	pause_ms(chance(f, 400));
	redis_rig_again(master(f), true);
	return true;
}

static bool
do_empty(struct chaos_faults *f)
{
	redis_rig_kill(master(f));
	pause_ms(chance(f, 400));
	redis_rig_again(master(f), false);
	return true;
}

/* The folder of its log as it was at some moment before. */
static bool
do_older(struct chaos_faults *f)
{
	struct chaos_world *w = f->world;

	if (!w->snapped)
		return false;
	redis_rig_kill(master(f));
	chaos_files_restore(w->snapshot, master(f)->folder);
	pause_ms(chance(f, 300));
	redis_rig_again(master(f), true);
	return true;
}

static bool
do_snapshot(struct chaos_faults *f)
{
	f->world->snapped = chaos_files_take(master(f)->folder,
	    f->world->snapshot);
	return f->world->snapped;
}

static bool
do_flush(struct chaos_faults *f)
{
	redis_rig_say(master(f), "FLUSHALL", NULL);
	return true;
}

static bool
do_script_flush(struct chaos_faults *f)
{
	redis_rig_say(victim(f), "SCRIPT", "FLUSH", NULL);
	return true;
}

static bool
do_freeze(struct chaos_faults *f)
{
	struct redis_rig *server = victim(f);
	bool cluster = f->world->mode->topology == CHAOS_CLUSTER;

	redis_rig_freeze(server);
	/* In a cluster not so long that the others give it up. */
	pause_ms(100 + chance(f, cluster ? 1000 : 1900));
	redis_rig_thaw(server);
	return true;
}

static bool
do_pause(struct chaos_faults *f)
{
	struct redis_rig *server = victim(f);
	uint32_t ms = 50 + chance(f, 950);
	char text[16];

	snprintf(text, sizeof text, "%u", ms);
	redis_rig_say(server, "CLIENT", "PAUSE", text,
	    chance(f, 2) == 0 ? "WRITE" : "ALL", NULL);
	pause_ms(ms);
	return true;
}

static bool
do_kill_clients(struct chaos_faults *f)
{
	redis_rig_say(victim(f), "CLIENT", "KILL", "TYPE", "normal", NULL);
	return true;
}

/* --- fail-over by hand ---------------------------------------------------- */

/*
 * False: it is not a whole copy of the master now.  Only the master knows: what
 * it has not sent yet after a first copy the other cannot miss.
 */
static bool
await_copy(struct chaos_faults *f)
{
	return redis_rig_await(master(f), LINK_MS, "state=online", "INFO",
	    "replication", NULL);
}

enum old_master { OLD_DEAD, OLD_GOES_ON, OLD_FROZEN };

static void
strike(struct chaos_faults *f, enum old_master how)
{
	switch (how) {
	case OLD_DEAD:
		redis_rig_kill(master(f));
		return;
	case OLD_FROZEN:
		redis_rig_freeze(master(f));
		return;
	case OLD_GOES_ON:
		return;
	}
}

/* Who is still connected to it may write there until it is told. */
static void
demote(struct chaos_faults *f, size_t old, enum old_master how)
{
	pause_ms(chance(f, 800));
	switch (how) {
	case OLD_DEAD:
		redis_rig_again(&f->world->server[old], true);
		break;
	case OLD_FROZEN:
		redis_rig_thaw(&f->world->server[old]);
		pause_ms(chance(f, 300));
		break;
	case OLD_GOES_ON:
		break;
	}
	chaos_world_follow(f->world, old);
}

/*
 * The standby's stream is cut; what is written from then on it never has.  Then
 * it is the master.
 */
static bool
do_fail_over(struct chaos_faults *f)
{
	enum old_master how = (enum old_master)chance(f, 3);
	size_t old = f->world->master, new = standby(f);

	if (!await_copy(f))
		return false;
	redis_rig_say(&f->world->server[new], "REPLICAOF", "127.0.0.1", NOBODY,
	    NULL);
	pause_ms(20 + chance(f, 800));
	strike(f, how);
	redis_rig_say(&f->world->server[new], "REPLICAOF", "NO", "ONE", NULL);
	chaos_world_lead_to(f->world, new);
	demote(f, old, how);
	return true;
}

/* --- fail-over by Sentinel ------------------------------------------------ */

/* Is it the one that a sentinel names? */
static bool
is_named(struct chaos_faults *f, size_t sentinel, size_t server,
    int64_t wait_ms)
{
	char want[64];

	snprintf(want, sizeof want, "[127.0.0.1 %d]",
	    f->world->server[server].port);
	return redis_rig_await(&f->world->sentinel[sentinel], wait_ms, want,
	    "SENTINEL", "GET-MASTER-ADDR-BY-NAME", CHAOS_MASTER, NULL);
}

/* They may have failed over unasked: a slow server is a dead one to them. */
static bool
sees_copy(struct chaos_faults *f)
{
	size_t i;

	if (!is_named(f, 0, f->world->master, 0))
		f->world->master = standby(f);
	for (i = 0; i < CHAOS_SENTINELS; i++)
		if (!redis_rig_await(&f->world->sentinel[i], FAIL_OVER_MS,
		    "master-link-status ok", "SENTINEL", "REPLICAS",
		    CHAOS_MASTER, NULL))
			return false;
	return await_copy(f);
}

static bool
await_fail_over(struct chaos_faults *f)
{
	size_t i, new = standby(f);

	for (i = 0; i < CHAOS_SENTINELS; i++)
		if (!is_named(f, i, new, FAIL_OVER_MS))
			return false;
	f->world->master = new;
	return true;
}

static bool
do_lose_master(struct chaos_faults *f)
{
	size_t old;
	bool done;

	if (!sees_copy(f))
		return false;
	old = f->world->master;
	redis_rig_kill(master(f));
	done = await_fail_over(f);
	redis_rig_again(&f->world->server[old], true);
	if (done)
		chaos_world_follow(f->world, old);
	return done;
}

/* It wakes as a master, until a sentinel tells it. */
static bool
do_freeze_master(struct chaos_faults *f)
{
	size_t old;
	bool done;

	if (!sees_copy(f))
		return false;
	old = f->world->master;
	redis_rig_freeze(master(f));
	done = await_fail_over(f);
	redis_rig_thaw(&f->world->server[old]);
	return done && redis_rig_await(&f->world->server[old], FAIL_OVER_MS,
	    "role:slave", "INFO", "replication", NULL);
}

/* --- a cluster ------------------------------------------------------------ */

static bool
do_move(struct chaos_faults *f)
{
	f->slots += chaos_move_slots(f->world, &f->chance, 500);
	return true;
}

/* --- ours ----------------------------------------------------------------- */

/* Any instance's one worker, as the log named it last. */
static bool
find_worker(struct chaos_faults *f, pid_t *lobby, pid_t *keeper)
{
	struct rig *rig = &f->world->rig[chance(f, f->world->instances)];
	char *log = rig_slurp(rig, "log"), *at = log;
	int one, other;

	*lobby = *keeper = 0;
	for (; at != NULL && (at = strstr(at, " keeper=")) != NULL; at++)
		if (sscanf(at, " keeper=%d started lobby=%d", &one, &other) ==
		    2) {
			*keeper = one;
			*lobby = other;
		}
	free(log);
	return *lobby > 0 && *keeper > 0;
}

static bool
do_kill_lobby(struct chaos_faults *f)
{
	pid_t lobby, keeper;

	return find_worker(f, &lobby, &keeper) && kill(lobby, SIGKILL) == 0;
}

static bool
do_kill_keeper(struct chaos_faults *f)
{
	pid_t lobby, keeper;

	return find_worker(f, &lobby, &keeper) && kill(keeper, SIGKILL) == 0;
}

static bool
do_kill_both(struct chaos_faults *f)
{
	pid_t lobby, keeper;

	return find_worker(f, &lobby, &keeper) && kill(lobby, SIGKILL) == 0 &&
	    kill(keeper, SIGKILL) == 0;
}

/* It wakes when all that it holds has lapsed. */
static bool
do_stop_lobby(struct chaos_faults *f)
{
	pid_t lobby, keeper;

	if (!find_worker(f, &lobby, &keeper) || kill(lobby, SIGSTOP) != 0)
		return false;
	pause_ms(CHAOS_LEASE_MS + CHAOS_GRACE_MS + chance(f, 600));
	return kill(lobby, SIGCONT) == 0;
}

/* --- all of them ---------------------------------------------------------- */

#define ON(t) (1u << (t))
#define ONE (ON(CHAOS_SINGLE) | ON(CHAOS_FAITHFUL))
#define ANYWHERE (ONE | ON(CHAOS_SENTINEL) | ON(CHAOS_CLUSTER))

static const struct {
	const char *name;
	unsigned weight, on;
	bool (*make)(struct chaos_faults *);
	enum chaos_struck strikes;	/* CHAOS_ALL: none of ours */
} faults[CHAOS_FAULTS_MAX] = {
	{ "kill", 3, ONE, do_kill, CHAOS_ALL },
	{ "restart empty", 2, ON(CHAOS_SINGLE), do_empty, CHAOS_ALL },
	{ "snapshot", 3, ON(CHAOS_SINGLE), do_snapshot, CHAOS_ALL },
	{ "restart older", 3, ON(CHAOS_SINGLE), do_older, CHAOS_ALL },
	{ "flush", 2, ON(CHAOS_SINGLE), do_flush, CHAOS_ALL },
	{ "script flush", 2, ANYWHERE, do_script_flush, CHAOS_ALL },
	{ "freeze", 3, ONE | ON(CHAOS_CLUSTER), do_freeze, CHAOS_ALL },
	{ "pause", 2, ANYWHERE, do_pause, CHAOS_ALL },
	{ "kill clients", 2, ANYWHERE, do_kill_clients, CHAOS_ALL },
	{ "fail-over", 4, ON(CHAOS_SINGLE), do_fail_over, CHAOS_ALL },
	{ "master lost", 4, ON(CHAOS_SENTINEL), do_lose_master, CHAOS_ALL },
	{ "master frozen", 3, ON(CHAOS_SENTINEL), do_freeze_master, CHAOS_ALL },
	{ "slots moved", 16, ON(CHAOS_CLUSTER), do_move, CHAOS_ALL },
	{ "lobby killed", 2, ANYWHERE, do_kill_lobby, CHAOS_LOBBIES },
	{ "keeper killed", 1, ANYWHERE, do_kill_keeper, CHAOS_KEEPERS },
	{ "both killed", 1, ANYWHERE, do_kill_both, CHAOS_WORKERS },
	{ "lobby stopped", 1, ANYWHERE, do_stop_lobby, CHAOS_SLEEPERS }
};

static unsigned
weight(const struct chaos_faults *f, size_t i)
{
	const struct chaos_mode *mode = f->world->mode;

	if (mode->struck != CHAOS_ALL)
		return faults[i].strikes == mode->struck ? 1 : 0;
	return (faults[i].on & ON(mode->topology)) != 0 ? faults[i].weight : 0;
}

static size_t
choose(struct chaos_faults *f)
{
	unsigned all = 0, at;
	size_t i;

	for (i = 0; i < CHAOS_FAULTS_MAX; i++)
		all += weight(f, i);
	at = chance(f, all);
	for (i = 0; at >= weight(f, i); i++)
		at -= weight(f, i);
	return i;
}

void
chaos_faults(struct chaos_faults *f, int64_t ms)
{
	int64_t until_ms = rig_now_ms() + ms;
	size_t i;

	pause_ms(200);		/* so that there is something to lose */
	while (rig_now_ms() < until_ms) {
		i = choose(f);
		f->done[i] += faults[i].make(f);
		pause_ms(50 + chance(f, 400));
	}
}

void
chaos_faults_tell(const struct chaos_faults *f, char *out, size_t size)
{
	struct idem_buf text = { 0 };
	size_t i;

	for (i = 0; i < CHAOS_FAULTS_MAX; i++)
		if (f->done[i] > 0)
			idem_buf_printf(&text, "%s%s %u",
			    text.len > 0 ? ", " : "", faults[i].name,
			    f->done[i]);
	if (f->slots > 0)
		idem_buf_printf(&text, " (%u)", f->slots);
	idem_buf_u8(&text, 0);
	if (!idem_buf_ok(&text))
		bail_out("out of memory");
	snprintf(out, size, "%s", (const char *)text.at);
	idem_buf_free(&text);
}
