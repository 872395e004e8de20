/* SPDX-License-Identifier: ISC */
#include "cgi_rig.h"
#include "crash.h"
#include "redis_rig.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * idem-cgi, one of whose processes is killed at every labelled point of its
 * request, or all of them.  No daemon is there: what is left is settled by the
 * next call, for whatever key.
 *
 *	CRASH_ONLY	only rows whose text has this in it
 */
#define AT_ONCE 6
#define REACH_MS 60000		/* to come to the point */
#define END_MS 25000	/* before a lease is over, which tells nothing */
#define PAUSE_MS 50
#define KEY "crash"

enum who { FRONT, LOBBY, KEEPER, ALL, WHOS };

static const char *const who_text[WHOS] = {
	[FRONT] = "what the server has called", [LOBBY] = "its lobby",
	[KEEPER] = "its keeper", [ALL] = "all of it"
};

enum program { ORDER, LARGE, DIES, BROKEN };

static const char *const program_text[] = {
	[ORDER] = "order", [LARGE] = "large", [DIES] = "dies",
	[BROKEN] = "broken"
};

/*
 * Ends as in crash.h: A its answer, U unknown, F free.  NULL: nobody comes
 * there then.
 */
static const struct point {
	const char *label;
	enum program program;
	const char *may[WHOS];
	const char *then;	/* also where the next call is killed; NULL */
	bool orphan;		/* the lobby is killed before the point */
	bool ledger;		/* only there */
} points[] = {
	/* Nothing has begun. */
	{ "req.read", ORDER, { "AF", "F", "AF", "F" }, NULL, false, false },
	{ "slot.taken", ORDER, { "AF", "F", "AF", "F" }, NULL, false, false },
	{ "claim.noted", ORDER, { "AF", "F", "AF", "F" }, NULL, false, false },
	{ "claim.sent", ORDER, { "AF", "F", "AF", "F" }, NULL, false, false },
	{ "ledger.begin", ORDER, { "AF", "F", "AF", "F" }, NULL, false, true },
	{ "ledger.committed", ORDER, { "AF", "F", "AF", "F" }, NULL, false,
	    true },
	{ "claim.ok", ORDER, { "AF", "F", "AF", "F" }, NULL, false, false },
	{ "claim.ok", ORDER, { NULL, "F", NULL, "F" }, "boot.recover", false,
	    false },
	{ "claim.handed", ORDER, { "AF", "F", "AF", "F" }, NULL, false,
	    false },
	{ "run.begin", ORDER, { "AF", "F", "AF", "F" }, NULL, false, false },
	{ "keeper.start", ORDER, { "AF", "AF", "F", "F" }, NULL, false,
	    false },
	/* It may have its effect. */
	{ "program.begun", ORDER, { "A", "A", "U", "U" }, NULL, false, false },
	{ "program.spawned", LARGE, { "A", "A", "U", "U" }, NULL, false,
	    false },
	{ "program.spawned", LARGE, { NULL, NULL, NULL, "U" }, "boot.recover",
	    false, false },
	{ "program.spawned", LARGE, { NULL, NULL, NULL, "U" },
	    "boot.recovered", false, false },
	{ "program.out.first", LARGE, { "A", "A", "U", "U" }, NULL, false,
	    false },
	{ "keeper.orphan", ORDER, { NULL, NULL, "U", "U" }, NULL, true,
	    false },
	{ "program.exited", ORDER, { "A", "A", "U", "U" }, NULL, false,
	    false },
	{ "trailer.begin", LARGE, { "A", "A", "U", "U" }, NULL, false, false },
	/* Its answer is where it will be found. */
	{ "trailer.written", LARGE, { "A", "A", "A", "A" }, NULL, false,
	    false },
	{ "trailer.written", LARGE, { NULL, NULL, NULL, "A" }, "boot.recover",
	    false, false },
	{ "trailer.written", LARGE, { NULL, NULL, NULL, "A" },
	    "boot.recovered", false, false },
	{ "keeper.told", ORDER, { "A", "A", "A", "A" }, NULL, false, false },
	{ "keeper.settled", ORDER, { "A", "A", "A", "A" }, NULL, false,
	    false },
	{ "run.ended", LARGE, { "A", "A", "A", "A" }, NULL, false, false },
	{ "complete.sent", ORDER, { "A", "A", "A", "A" }, NULL, false, false },
	{ "complete.ok", ORDER, { "A", "A", "A", "A" }, NULL, false, false },
	{ "reply.begin", ORDER, { "A", "A", "A", "A" }, NULL, false, false },
	{ "reply.first_byte", ORDER, { "A", "A", "A", "A" }, NULL, false,
	    false },
	{ "reply.sent", ORDER, { "A", "A", "A", "A" }, NULL, false, false },
	/* There is no answer. */
	{ "release.sent", BROKEN, { "F", "F", "F", "F" }, NULL, false, false },
	{ "release.ok", BROKEN, { "F", "F", "F", "F" }, NULL, false, false },
	{ "unknown.sent", DIES, { "U", "U", "U", "U" }, NULL, false, false },
	{ "unknown.ok", DIES, { "U", "U", "U", "U" }, NULL, false, false },
};
#define POINTS (sizeof points / sizeof *points)
#define ROWS_MAX (POINTS * WHOS * 2)

struct row {
	const struct point *point;
	enum who who;
	enum crash_at at;
	bool asked;		/* for the same key; else for others first */
};

struct rows {
	struct row at[ROWS_MAX];
	size_t len;
	const char *redis;	/* NULL: there is none */
};

struct world {
	const struct row *row;
	struct crash_world store;	/* what crash_look needs, and the rig */
	struct crash_row looked;
	char config[RIG_PATH + 32];
	struct cgi_call call;
	pid_t pids[ALL];
	pid_t stopped;
	char why[240];		/* "": all is as it must be */
};

static void __attribute__((format(printf, 2, 3)))
wrong(struct world *w, const char *format, ...)
{
	va_list args;

	if (w->why[0] != '\0')
		return;
	va_start(args, format);
	vsnprintf(w->why, sizeof w->why, format, args);
	va_end(args);
}

/* --- its files ------------------------------------------------------------ */

#define SAYS(more) \
	"#!/bin/sh\n" \
	"echo \"$HTTP_IDEMPOTENCY_KEY\" >>starts\n" \
	"while [ -e hold ]; do sleep 0.02; done\n" \
	"said=said-$HTTP_IDEMPOTENCY_KEY\n" \
	"{ echo \"order by $$ at $(date +%s%N)\"\n" more "} >$said\n" \
	"printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n'\n" \
	"cat $said\n"

static void
put_files(struct world *w, const char *redis, const char *prefix)
{
	struct rig *rig = &w->store.rig;
	char conf[3 * RIG_PATH + 600], store[RIG_PATH + 200];

	rig_program(rig, "order", SAYS(""));
	rig_program(rig, "large",
	    SAYS("head -c 50000 /dev/zero | tr '\\0' .\n"));
	rig_program(rig, "dies", "#!/bin/sh\n"
	    "echo \"$HTTP_IDEMPOTENCY_KEY\" >>starts\nkill -9 $$\n");
	rig_program(rig, "broken", "#!/nowhere/sh\n");
	if (w->row->at == CRASH_LEDGER)
		snprintf(store, sizeof store, "ledger = sqlite { path = '%s', "
		    "create = true }\n", rig->ledger);
	else
		snprintf(store, sizeof store, "shared = redis { url = '%s', "
		    "prefix = '%s', timeout = '%dms', budget = '%dms' }\n",
		    redis, prefix, CRASH_SHORT_MS, CRASH_SHORT_MS);
	snprintf(conf, sizeof conf, "grace = '%dms'\nlocal_cache = 'none'\n"
	    "run = '%s'\n%sroute { path = '/**', arbiter = '%s', "
	    "program = cgi {},\n    lease = '%dms', limit = '%dms', "
	    "in_progress = wait '300ms' }\n", CRASH_GRACE_MS,
	    rig_at(rig, "run"), store, w->row->at == CRASH_LEDGER ? "ledger" :
	    "redis", CRASH_LEASE_MS, CRASH_LIMIT_MS);
	rig_file(rig, "idem.conf", conf);
	snprintf(w->config, sizeof w->config, "IDEM_CONFIG=%s",
	    rig_at(rig, "idem.conf"));
}

/* --- calls ---------------------------------------------------------------- */

static char
judge(struct world *w, const char *key, const struct rig_answer *a)
{
	const char *says = rig_field(a, "Idempotency-Status");
	char name[64], *said;

	if (strcmp(says, "unknown") == 0)
		return 'U';
	if (strcmp(says, "in-progress") == 0)
		return 'P';
	if (strcmp(says, "stored") != 0 && strcmp(says, "replayed") != 0)
		return '-';
	snprintf(name, sizeof name, "said-%s", key);
	said = rig_slurp(&w->store.rig, name);
	if (said == NULL || a->body.len != strlen(said) ||
	    memcmp(a->body.at, said, a->body.len) != 0)
		wrong(w, "an answer of %zu bytes is not what the program "
		    "wrote", a->body.len);
	free(said);
	return 'A';
}

/* fail: a label where it is killed; or NULL. */
static char
call(struct world *w, const char *key, const char *fail)
{
	char variable[80];
	const char *env[] = { "IDEM_LEDGER", w->config, NULL, NULL };
	const struct cgi_ask ask = {
		.program = program_text[w->row->point->program], .key = key,
		.env = env, .body = idem_bytes_text("tea")
	};
	struct rig_answer a;
	char end;

	if (fail != NULL) {
		snprintf(variable, sizeof variable, "IDEM_FAILPOINTS=%s=1*kill",
		    fail);
		env[2] = variable;
	}
	cgi_ask(&w->store.rig, &ask, &a);
	end = judge(w, key, &a);
	rig_answer_free(&a);
	return end;
}

/* --- to the point --------------------------------------------------------- */

static void
find(struct world *w)
{
	cgi_family(&w->store.rig, w->call.pid, &w->pids[LOBBY],
	    &w->pids[KEEPER]);
}

static bool
await_stop(struct world *w)
{
	int64_t until_ms = rig_now_ms() + REACH_MS;
	size_t i;

	while (rig_now_ms() < until_ms) {
		find(w);
		/* Only who is found can be killed. */
		for (i = LOBBY; i <= KEEPER && w->pids[KEEPER] != 0; i++)
			if (crash_is_stopped(w->pids[i])) {
				w->stopped = w->pids[i];
				return true;
			}
		poll(NULL, 0, 3);
	}
	return false;
}

static bool
make_orphan(struct world *w)
{
	if (!rig_await_lines(&w->store.rig, "starts", 1, REACH_MS))
		return false;
	find(w);
	if (w->pids[KEEPER] == 0)
		return false;
	kill(w->pids[LOBBY], SIGKILL);
	return true;
}

static bool
come_to_the_point(struct world *w)
{
	char variable[80];
	const char *const env[] = { "IDEM_LEDGER", w->config, variable, NULL };
	const struct cgi_ask ask = {
		.program = program_text[w->row->point->program], .key = KEY,
		.env = env, .body = idem_bytes_text("tea")
	};
	bool reached;

	snprintf(variable, sizeof variable, "IDEM_FAILPOINTS=%s=1*stop",
	    w->row->point->label);
	if (w->row->point->orphan)
		rig_file(&w->store.rig, "hold", "");
	cgi_begin(&w->store.rig, &ask, &w->call);
	close(w->call.in);
	w->call.in = -1;
	w->pids[FRONT] = w->call.pid;
	reached = (!w->row->point->orphan || make_orphan(w)) && await_stop(w);
	/* Not before: its keeper must hear of its lobby before its end. */
	unlink(rig_at(&w->store.rig, "hold"));
	return reached;
}

/* --- the fault ------------------------------------------------------------ */

static void
leave(struct world *w)
{
	close(w->call.out);
	close(w->call.err);
	waitpid(w->call.pid, NULL, 0);
}

static void
strike(struct world *w)
{
	struct rig_answer a;
	size_t i;

	for (i = FRONT; i < ALL; i++)
		if ((w->row->who == ALL || w->row->who == i) &&
		    w->pids[i] != 0)
			kill(w->pids[i], SIGKILL);
	if (w->row->who == FRONT || w->row->who == ALL)
		leave(w);
	if (w->row->who != ALL && w->stopped != w->pids[w->row->who])
		kill(w->stopped, SIGCONT);
	if (w->row->who == FRONT || w->row->who == ALL)
		return;
	cgi_finish(&w->call, &a);
	judge(w, KEY, &a);
	rig_answer_free(&a);
}

/* --- the end -------------------------------------------------------------- */

/* Others come, and nobody asks for it: nothing stays in progress. */
static void
ask_for_others(struct world *w)
{
	int64_t until_ms = rig_now_ms() + END_MS;
	char key[32];
	int i;

	for (i = 0; rig_now_ms() < until_ms; i++) {
		snprintf(key, sizeof key, "other-%d", i);
		call(w, key, NULL);
		if (crash_look(&w->store) != 'P')
			return;
		poll(NULL, 0, PAUSE_MS);
	}
	wrong(w, "it is still in progress");
}

/* What cannot be started has no answer; but who still has its key may be late
   in giving it up. */
static bool
is_told(const struct world *w, char end)
{
	if (end == '-')
		return w->row->point->program == BROKEN;
	return end != 'P';
}

static char
ask_until_told(struct world *w)
{
	int64_t until_ms = rig_now_ms() + END_MS;
	char end;

	while (!is_told(w, end = call(w, KEY, NULL)) &&
	    rig_now_ms() < until_ms)
		poll(NULL, 0, PAUSE_MS);
	return end;
}

/* What a free key becomes when it is asked for. */
static bool
may_end(const struct point *p, const char *may, char end)
{
	char becomes = p->program == BROKEN ? '-' :
	    p->program == DIES ? 'U' : 'A';

	return strchr(may, end) != NULL ||
	    (strchr(may, 'F') != NULL && end == becomes);
}

static void
see_the_end(struct world *w)
{
	const struct point *p = w->row->point;
	const char *may = p->may[w->row->who];
	char end, again;
	long starts;

	if (p->then != NULL)
		call(w, KEY, p->then);
	if (!w->row->asked)
		ask_for_others(w);
	end = ask_until_told(w);
	again = ask_until_told(w);
	if (!may_end(p, may, end))
		wrong(w, "its end is %c, not %s", end, may);
	else if (again != end)
		wrong(w, "its end is %c, and then %c", end, again);
	starts = rig_lines(&w->store.rig, "starts", KEY);
	if (starts > 1 || (end == 'A' && starts < 1))
		wrong(w, "%ld starts", starts);
	if (crash_look(&w->store) == 'P')
		wrong(w, "something is in progress at last");
}

static void
text_of(const struct row *row, char *out, size_t size)
{
	snprintf(out, size, "%s at %s%s%s: %s is killed, %s: %s",
	    row->at == CRASH_LEDGER ? "ledger" : "redis", row->point->label,
	    row->point->then != NULL ? ", then at " : "",
	    row->point->then != NULL ? row->point->then : "",
	    who_text[row->who], row->asked ? "asked again" :
	    "others are asked for", row->point->may[row->who]);
}

static void
run_row(size_t i, void *arg, struct rows_held *held)
{
	const struct rows *rows = arg;
	struct world w = { .row = &rows->at[i] };
	char text[256], prefix[48];

	text_of(w.row, text, sizeof text);
	if (rows->redis == NULL && w.row->at != CRASH_LEDGER) {
		skip("no redis-server", "%s", text);
		return;
	}
	snprintf(prefix, sizeof prefix, "crash-cgi-%zu:", i);
	w.looked.at = w.row->at;
	w.store.row = &w.looked;
	w.store.redis = rows->redis;
	w.store.prefix = prefix;
	rig_open(&w.store.rig);
	if (!cgi_open(&w.store.rig))
		bail_out("no idem-cgi");
	put_files(&w, rows->redis, prefix);
	if (come_to_the_point(&w)) {
		held->group[0] = w.call.pid;
		strike(&w);
		see_the_end(&w);
	} else {
		wrong(&w, "the point was not reached");
		kill(w.call.pid, SIGKILL);
		leave(&w);
	}
	if (!cgi_await_none(&w.store.rig))
		wrong(&w, "something of it is left");
	held->group[0] = 0;
	if (!ok(w.why[0] == '\0', "%s", text))
		note("%s", w.why);
	rig_end(&w.store.rig);
}

/* --- the rows ------------------------------------------------------------- */

static void
put(struct rows *rows, struct row row, const char *only)
{
	char text[256];

	if (row.point->may[row.who] == NULL ||
	    (row.point->ledger && row.at != CRASH_LEDGER))
		return;
	text_of(&row, text, sizeof text);
	if (only == NULL || strstr(text, only) != NULL)
		rows->at[rows->len++] = row;
}

int
main(void)
{
	static struct rows rows;
	struct redis_rig redis = { .pid = 0 };
	const char *only = getenv("CRASH_ONLY");
	unsigned i, who;

#ifndef IDEM_FAILPOINTS
	skip_all("this build has no labels: ./configure --enable-failpoints");
#endif
	for (i = 0; i < POINTS; i++)
		for (who = 0; who < WHOS; who++) {
			put(&rows, (struct row){ &points[i], (enum who)who,
			    CRASH_LEDGER, (i + who) % 2 == 0 }, only);
			put(&rows, (struct row){ &points[i], (enum who)who,
			    CRASH_REDIS, (i + who) % 2 != 0 }, only);
		}
	if (redis_rig_missing() == NULL) {
		redis_rig_start(&redis, NULL);
		rows.redis = redis.url;
	}
	rows_at_once(rows.len, AT_ONCE, run_row, &rows);
	redis_rig_end(&redis);
	return done();
}
