/* SPDX-License-Identifier: ISC */
#include "crash.h"

#include "redis_rig.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * At every labelled point of a request lobby, keeper, both, or all of idemd die
 * or stop, whatever arbiter permits the run.  The program starts at most once,
 * and the key has an end, soon after the fault has ended, whether or not
 * somebody asks for it.
 *
 *	CRASH_ALL=1	all that there is, some minutes, instead of a choice
 *	CRASH_ONLY	only rows whose text has this in it
 */
#define ROWS_MAX 4000
#define AT_ONCE 12

/* How it may end (crash.h); NULL: nobody comes there, or it is of no matter. */
struct ends {
	const char *lobby, *keeper, *worker;
};

static const struct point {
	const char *label;
	enum crash_program program;
	struct ends spooled, piped;	/* killed, with and without spool */
	struct ends stopped;		/* for a while, either */
	struct ends staying;		/* stopped for good, spooled */
	bool orphan;
} points[] = {
	/* Nothing has begun: whoever comes next finds that out. */
	{ "req.read", CRASH_ORDER, { "F", "AF", "F" }, { "F", "AF", "F" },
	    { "AF", "AF", "AF" }, { "AF", "AFU", "AF" }, false },
	{ "slot.taken", CRASH_ORDER, { "F", "AF", "F" }, { "F", "AF", "F" },
	    { "AF", "AF", "AF" }, { "AF", "AFU", "AF" }, false },
	{ "claim.sent", CRASH_ORDER, { "F", "AF", "F" }, { "F", "AF", "F" },
	    { "AF", "AF", "AF" }, { "AF", "AFU", "AF" }, false },
	{ "claim.noted", CRASH_ORDER, { "F", "AF", "F" }, { "F", "AF", "F" },
	    { "AF", "AF", "AF" }, { "AF", "AFU", "AF" }, false },
	{ "claim.ok", CRASH_ORDER, { "F", "AF", "F" }, { "F", "AF", "F" },
	    { "F", "F", "F" }, { "U", "FU", "U" }, false },
	{ "claim.handed", CRASH_ORDER, { "F", "AF", "F" }, { "F", "AF", "F" },
	    { "F", "F", "F" }, { "U", "FU", "U" }, false },
	{ "run.begin", CRASH_ORDER, { "F", "AF", "F" }, { "F", "AF", "F" },
	    { "F", "F", "F" }, { "U", "FU", "U" }, false },
	/* The keeper has been asked; its lobby does not know how far it is. */
	{ "keeper.start", CRASH_ORDER, { "AF", "F", "F" },
	    { "FU", "F", "F" }, { "AF", "F", "F" },
	    { "A", "FU", "U" }, false },
	/* From here on it may have its effect. */
	{ "program.begun", CRASH_ORDER, { "A", "U", "U" }, { "U", "U", "U" },
	    { "A", "F", "F" }, { "A", "FU", "U" }, false },
	{ "program.spawned", CRASH_LARGE, { "A", "U", "U" }, { "U", "U", "U" },
	    { "A", "A", "A" }, { "A", "FU", "U" }, false },
	{ "program.out.first", CRASH_LARGE, { "A", "U", "U" },
	    { NULL, NULL, NULL }, { "A", "A", "A" }, { "A", "FU", "U" },
	    false },
	{ "keeper.orphan", CRASH_ORDER, { NULL, "U", "U" },
	    { NULL, NULL, NULL }, { NULL, "A", NULL },
	    { NULL, "U", NULL }, true },
	{ "keeper.orphan", CRASH_LEAVES, { NULL, "U", "U" },
	    { NULL, NULL, NULL }, { NULL, NULL, NULL },
	    { NULL, NULL, NULL }, true },
	{ "program.exited", CRASH_ORDER, { "A", "U", "U" }, { "U", "U", "U" },
	    { "A", "A", "A" }, { "A", "FU", "U" }, false },
	{ "trailer.begin", CRASH_LARGE, { "A", "U", "U" },
	    { NULL, NULL, NULL }, { "A", "A", "A" },
	    { "A", "FU", "U" }, false },
	/* Its answer is where it will be found. */
	{ "trailer.written", CRASH_LARGE, { "A", "A", "A" },
	    { NULL, NULL, NULL }, { "A", "A", "A" },
	    { "A", NULL, "A" }, false },
	{ "keeper.told", CRASH_ORDER, { "A", "A", "A" }, { "AU", "A", "AU" },
	    { "A", "A", "A" }, { "A", "A", "A" }, false },
	{ "keeper.settled", CRASH_ORDER, { "A", "A", "A" }, { "A", "A", "A" },
	    { "A", "A", "A" }, { "A", "A", "A" }, false },
	{ "run.ended", CRASH_LARGE, { "A", "A", "A" }, { "U", "A", "U" },
	    { "A", "A", "A" }, { "A", "A", "A" }, false },
	/* Without a spool the lobby writes it there. */
	{ "record.done", CRASH_LARGE, { NULL, NULL, NULL }, { "A", "A", "A" },
	    { "A", "A", "A" }, { NULL, NULL, NULL }, false },
	{ "complete.sent", CRASH_ORDER, { "A", "A", "A" }, { "A", "A", "A" },
	    { "A", "A", "A" }, { "A", "A", "A" }, false },
	{ "complete.ok", CRASH_ORDER, { "A", "A", "A" }, { "A", "A", "A" },
	    { "A", "A", "A" }, { "A", "A", "A" }, false },
	{ "reply.begin", CRASH_ORDER, { "A", "A", "A" }, { "A", "A", "A" },
	    { "A", "A", "A" }, { "A", "A", "A" }, false },
	{ "reply.first_byte", CRASH_ORDER, { "A", "A", "A" },
	    { "A", "A", "A" }, { "A", "A", "A" }, { "A", "A", "A" }, false },
	{ "reply.sent", CRASH_ORDER, { "A", "A", "A" }, { "A", "A", "A" },
	    { "A", "A", "A" }, { "A", "A", "A" }, false },
	/* There is no answer. */
	{ "release.sent", CRASH_MISSING, { "F", "F", "F" }, { "F", "F", "F" },
	    { "F", "F", "F" }, { "FU", NULL, "FU" }, false },
	{ "release.ok", CRASH_MISSING, { "F", "F", "F" }, { "F", "F", "F" },
	    { "F", "F", "F" }, { "F", NULL, "F" }, false },
	{ "unknown.sent", CRASH_DIES, { "U", "U", "U" }, { "U", "U", "U" },
	    { "U", "U", "U" }, { "U", "U", "U" }, false },
	{ "unknown.ok", CRASH_DIES, { "U", "U", "U" }, { "U", "U", "U" },
	    { "U", "U", "U" }, { "U", "U", "U" }, false },
	/* An application elsewhere: only its connection says that it runs. */
	{ "claim.ok", CRASH_BACKEND, { NULL, NULL, NULL },
	    { "F", NULL, "F" }, { "F", NULL, NULL },
	    { NULL, NULL, NULL }, false },
	{ "run.begin", CRASH_BACKEND, { NULL, NULL, NULL }, { "F", NULL, "F" },
	    { "F", NULL, NULL }, { NULL, NULL, NULL }, false },
	{ "record.done", CRASH_BACKEND, { NULL, NULL, NULL },
	    { "A", NULL, "A" }, { "A", NULL, NULL },
	    { NULL, NULL, NULL }, false },
	{ "complete.sent", CRASH_BACKEND, { NULL, NULL, NULL },
	    { "A", NULL, "A" }, { "A", NULL, NULL },
	    { NULL, NULL, NULL }, false }
};
#define POINTS (sizeof points / sizeof *points)

/* --- the rows ------------------------------------------------------------- */

struct rows {
	struct crash_row *at;
	size_t len;
	bool all;
	const char *only;
	const char *redis;	/* NULL: there is none */
	int64_t *settled_ms;	/* shared; what each took */
};

static const char *
end_of(const struct point *p, const struct crash_row *row)
{
	const struct ends *killed = row->spool ? &p->spooled : &p->piped;
	const struct ends *ends = row->how == CRASH_STOP ? &p->stopped :
	    row->how == CRASH_STAY ? &p->staying : killed;

	if (killed->keeper == NULL && killed->lobby == NULL)
		return NULL;	/* nobody comes there */
	switch (row->who) {
	case CRASH_LOBBY:
		return ends->lobby;
	case CRASH_KEEPER:
		return ends->keeper;
	case CRASH_WORKER:
	case CRASH_INSTANCE:
	case CRASH_WHOS:
		break;
	}
	return ends->worker;
}

/* What survives a lobby is nobody's guess. */
static bool
may_be_unknown(const struct crash_row *row)
{
	return row->who != CRASH_LOBBY || row->how != CRASH_KILL ||
	    !row->spool || strchr(row->may, 'A') == NULL;
}

/* The answer that has the token comes to the point before. */
static bool
is_met_by_token(const struct point *p, const struct crash_row *row)
{
	return row->at == CRASH_TOKEN &&
	    (strcmp(p->label, "reply.first_byte") == 0 ||
	    strcmp(p->label, "reply.sent") == 0);
}

static void
put(struct rows *rows, const struct point *p, struct crash_row row)
{
	char text[256];

	row.label = p->label;
	row.program = p->program;
	row.orphan = p->orphan;
	row.may = end_of(p, &row);
	if (row.may == NULL || is_met_by_token(p, &row))
		return;
	row.told_unknown = may_be_unknown(&row);
	crash_row_text(&row, text, sizeof text);
	if (rows->only != NULL && strstr(text, rows->only) == NULL)
		return;
	if (rows->len == ROWS_MAX)
		bail_out("more than %d rows", ROWS_MAX);
	rows->at[rows->len++] = row;
}

/* Whoever stays holds what it has: only who asks has to be told. */
static void
put_stays(struct rows *rows, const struct point *p, enum crash_at at)
{
	unsigned who;

	for (who = 0; who < CRASH_INSTANCE; who++)
		put(rows, p, (struct crash_row){ .who = (enum crash_who)who,
		    .how = CRASH_STAY, .at = at, .spool = true,
		    .asked = true });
}

static void
put_all(struct rows *rows, const struct point *p)
{
	unsigned who, how, at, i;

	for (at = 0; at < CRASH_ATS; at++)
		for (who = 0; who < CRASH_WHOS; who++)
			for (how = 0; how < CRASH_STAY; how++)
				for (i = 0; i < 4; i++)
					put(rows, p, (struct crash_row){
					    .who = (enum crash_who)who,
					    .how = (enum crash_how)how,
					    .at = (enum crash_at)at,
					    .spool = i % 2 == 0,
					    .asked = i / 2 == 0 });
	for (at = 0; at < CRASH_ATS; at++)
		put_stays(rows, p, (enum crash_at)at);
}

/* Each point with each who and how, the rest by turns. */
static void
put_some(struct rows *rows, const struct point *p, unsigned n)
{
	unsigned who;

	for (who = 0; who < CRASH_INSTANCE; who++) {
		struct crash_row row = { .who = (enum crash_who)who,
			.how = CRASH_KILL,
			.at = (enum crash_at)((n + who) % CRASH_ATS),
			.spool = true, .asked = (n + who) % 2 == 0 };

		if (who == CRASH_WORKER && n % 2 == 0)
			row.who = CRASH_INSTANCE;
		put(rows, p, row);
		row.spool = false;
		row.asked = !row.asked;
		if (who == CRASH_LOBBY || p->program == CRASH_BACKEND)
			put(rows, p, row);
		row.how = CRASH_STOP;
		row.spool = (n + who) % 3 != 0 || p->piped.worker == NULL;
		if (p->spooled.worker == NULL)
			row.spool = false;
		row.at = (enum crash_at)((n + who + 1) % CRASH_ATS);
		if (who == (n / 2) % 3)
			put(rows, p, row);
	}
}

static void
run_row(size_t i, void *arg, struct rows_held *held)
{
	const struct rows *rows = arg;
	const struct crash_row *row = &rows->at[i];
	struct crash_found found;
	char prefix[48], text[256];

	crash_row_text(row, text, sizeof text);
	if (rows->redis == NULL && row->at != CRASH_LEDGER) {
		skip("no redis-server", "%s", text);
		return;
	}
	snprintf(prefix, sizeof prefix, "crash-%zu:", i);
	crash_row_run(row, rows->redis, prefix, &found, held);
	rows->settled_ms[i] = found.settled_ms;
	ok(found.why[0] == '\0', "%s", text);
}

static void
run_all(struct rows *rows)
{
	int64_t most_ms = 0;
	size_t i;

	rows->settled_ms = rows_shared(ROWS_MAX * sizeof *rows->settled_ms);
	rows_at_once(rows->len, AT_ONCE, run_row, rows);
	for (i = 0; i < rows->len; i++)
		if (rows->settled_ms[i] > most_ms)
			most_ms = rows->settled_ms[i];
	note("from the end of a fault to a key's end at most %lld ms",
	    (long long)most_ms);
}

static const char *
set(const char *name)
{
	const char *text = getenv(name);

	return text != NULL && *text != '\0' ? text : NULL;
}

int
main(void)
{
	static struct crash_row at[ROWS_MAX];
	struct rows rows = { .at = at, .all = set("CRASH_ALL") != NULL,
		.only = set("CRASH_ONLY") };
	struct redis_rig redis = { .pid = 0 };
	unsigned i;

#ifndef IDEM_FAILPOINTS
	skip_all("this build has no labels: ./configure --enable-failpoints");
#endif
	for (i = 0; i < POINTS; i++)
		if (rows.all)
			put_all(&rows, &points[i]);
		else
			put_some(&rows, &points[i], i);
	if (redis_rig_missing() == NULL) {
		redis_rig_start(&redis, NULL);
		rows.redis = redis.url;
	}
	run_all(&rows);
	redis_rig_end(&redis);
	return done();
}
