/* SPDX-License-Identifier: ISC */
#include "report.h"
#include "report_world.h"

#include <stdio.h>
#include <string.h>

/*
 * report_pages FOLDER: what readers of other makes are to read.  Diagrams of
 * several sizes, FOLDER/NAME.html; points of every verdict, one with a name
 * that bites, in 13.tap, 14.tap, junit.xml and points.json.
 */
static const struct {
	const char *name;
	struct report_world world;	/* clients 0: the small one */
} pages[] = {
	{ "5", { .clients = 0 } },
	{ "narrow", { .clients = 1, .gates = 1, .keys = 2, .requests = 5,
	    .kill = true } },
	{ "60", { .clients = 2, .gates = 2, .keys = 2, .requests = 5,
	    .kill = true, .pause = true, .lose = true } },
	{ "200", { .clients = 4, .gates = 2, .keys = 4, .requests = 28,
	    .kill = true, .pause = true, .lose = true } },
	{ "wide", { .clients = 9, .gates = 5, .keys = 5, .requests = 26,
	    .kill = true, .pause = true, .lose = true } },
	{ "hostile", { .clients = 2, .gates = 2, .keys = 2, .requests = 2,
	    .kill = true } },
	{ "5000", { .clients = 40, .gates = 4, .keys = 30, .requests = 900,
	    .kill = true, .pause = true, .lose = true } },
};

/* In some texts of each kind. */
static void
poison(struct history *h)
{
	const char *bad = report_world_hostile(h, 10000);
	size_t i;

	h->head.scenario = bad;
	for (i = 0; i < h->n; i++) {
		if (h->events[i].k != NULL)
			h->events[i].k = bad;
		h->events[i].what = h->events[i].code = bad;
		h->events[i].mark = h->events[i].label = bad;
	}
}

static int
page(const char *folder, size_t i)
{
	struct history h = { .n = 0 };
	struct judge_run run = { .verdict = JUDGE_FAIL, .by_check = true };
	char path[4096];
	FILE *file;
	int status;

	if (pages[i].world.clients == 0)
		report_world_small(&h, &run.finding);
	else
		report_world(&h, &pages[i].world, &run.finding);
	if (strcmp(pages[i].name, "hostile") == 0)
		poison(&h);
	snprintf(path, sizeof path, "%s/%s.html", folder, pages[i].name);
	file = fopen(path, "we");
	if (file == NULL)
		return -1;
	status = report_html(file, &h, &run, "idemsim run "
	    "scenarios/02_crash_before_complete.lua --param "
	    "point=effect.after --seed 0x9e3779b97f4a7c15");
	if (fclose(file) != 0)
		status = -1;
	history_free(&h);
	return status;
}

/* --- points --------------------------------------------------------------- */

static void
tell_all(struct report *r, const struct history *h, struct history *bad,
    const struct check_finding *f)
{
	const struct plan_pair params[] = {
		{ "name", report_world_hostile(bad, 300) }
	};
	const struct plan plain = { .name = "a plain name", .file = "a.lua" };
	const struct plan hostile = {
		.file = params[0].value, .params = params, .params_n = 1,
		.name = report_world_hostile(bad, 10000)
	};
	enum judge_verdict verdict;
	struct judge_point p;

	for (verdict = JUDGE_PASS; verdict < JUDGE_VERDICTS; verdict++) {
		p = (struct judge_point){
			.plan = &plain, .runs = 3, .verdict = verdict,
			.worst = { .verdict = verdict, .finding = *f,
			    .by_check = verdict == JUDGE_FAIL },
			.message = "it's: so # or 'not'"
		};
		report_point(r, &p, verdict == JUDGE_FAIL ? h : NULL);
		p.plan = &hostile;
		snprintf(p.message, sizeof p.message, "%s", hostile.name);
		report_point(r, &p, verdict == JUDGE_FAIL ? bad : NULL);
	}
}

static int
points(const char *folder, int version)
{
	char tap[4096], junit[4096], json[4096], out[4096];
	struct report r = { .tap_version = version, .junit = junit,
	    .json = json, .out = out, .mode = "live" };
	struct history h = { .n = 0 }, bad = { .n = 0 };
	struct check_finding f;
	int status;

	snprintf(tap, sizeof tap, "%s/%d.tap", folder, version);
	snprintf(junit, sizeof junit, "%s/junit.xml", folder);
	snprintf(json, sizeof json, "%s/points.json", folder);
	snprintf(out, sizeof out, "%s/out", folder);
	r.tap = fopen(tap, "we");
	if (r.tap == NULL)
		return -1;
	report_world_small(&bad, &f);
	poison(&bad);
	report_world_small(&h, &f);
	report_begin(&r, 2 * JUDGE_VERDICTS);
	tell_all(&r, &h, &bad, &f);
	status = report_end(&r);
	if (fclose(r.tap) != 0)
		status = -1;
	history_free(&h);
	history_free(&bad);
	return status;
}

int
main(int argc, char **argv)
{
	size_t i;

	if (argc != 2) {
		fputs("report_pages FOLDER\n", stderr);
		return 2;
	}
	for (i = 0; i < sizeof pages / sizeof *pages; i++)
		if (page(argv[1], i) != 0) {
			perror(pages[i].name);
			return 1;
		}
	if (points(argv[1], 13) != 0 || points(argv[1], 14) != 0) {
		perror("points");
		return 1;
	}
	return 0;
}
