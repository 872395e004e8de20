/* SPDX-License-Identifier: ISC */
#include "live_rig.h"

#include "child.h"
#include "idemsim.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TOLD_MAX 250

static char folder[] = "/tmp/t_sim_live_rig.XXXXXX";

/* --- a scenario, from its parts ------------------------------------------- */

static void
write_scenario(const char *path, const struct live_rig_plan *p)
{
	FILE *file = fopen(path, "w");

	if (file == NULL)
		bail_out("%s cannot be written", path);
	fprintf(file, "local sim = require 'idemsim'\n"
	    "sim.api(1)\n"
	    "return sim.scenario {\n"
	    "  name = [[%.80s]],\n"
	    "  modes = { 'live' },\n"
	    "  topology = { %s },\n"
	    "  handler = sim.handler { effect = 'append',\n"
	    "    service = sim.const(%d) },\n"
	    "  load = { %s },\n"
	    "  faults = { %s },\n"
	    "  heal = { %s },\n"
	    "  expect = { %s },\n"
	    "}\n", p->what, p->topology, p->service_ms, p->load, p->faults,
	    p->heal, p->expect);
	if (fclose(file) != 0)
		bail_out("%s cannot be written", path);
}

struct scenario *
live_rig_scenario(const struct live_rig_plan *p)
{
	char path[80], wrong[500] = "";
	struct scenario *s;

	snprintf(path, sizeof path, "%s/plan.lua", folder);
	write_scenario(path, p);
	s = scenario_open(path, NULL, 0, wrong, sizeof wrong);
	if (s == NULL)
		bail_out("%s", wrong);
	(void)unlink(path);
	return s;
}

/* --- a run ---------------------------------------------------------------- */

void
live_rig_once(const struct plan *plan, uint64_t seed, struct history *h)
{
	char wrong[300] = "";

	if (live_world.run(plan, seed, 1, h, wrong, sizeof wrong) != 0)
		note("the run failed: %s", wrong);
}

/* As idemsim does it. */
static void
judge(struct live_rig_run *r)
{
	const struct plan *plan = scenario_plan(r->scenario, 0);
	size_t n = plan->expect.sometimes_n;
	bool *sometimes = calloc(n + 1, sizeof *sometimes);
	struct judge_run run;

	if (sometimes == NULL)
		bail_out("no memory");
	if (!idemsim_judge(&(struct idemsim_asked){
	    .history = &r->h, .scenario = r->scenario, .sometimes_n = n,
	    .within_ms = IDEMSIM_JUDGE_MS }, &run, sometimes))
		note("%s", run.message);
	judge_point_take(&r->point, &r->h, &run, sometimes);
	free(sometimes);
}

static bool
is_odd(const struct history *h)
{
	char why[200];

	if (history_odd(h, why, sizeof why) == 0)
		return false;
	note("no run has such a history: %s", why);
	return true;
}

void
live_rig_begin(struct live_rig_run *r, const struct live_rig_plan *p,
    uint64_t seed)
{
	const struct plan *plan;

	*r = (struct live_rig_run){ .scenario = live_rig_scenario(p) };
	plan = scenario_plan(r->scenario, 0);
	judge_point_begin(&r->point, plan);
	live_rig_once(plan, seed, &r->h);
	r->odd = is_odd(&r->h);
	judge(r);
	judge_point_end(&r->point);
}

void
live_rig_end(struct live_rig_run *r)
{
	judge_point_free(&r->point);
	history_free(&r->h);
	live_world.end();
	scenario_close(r->scenario);
}

/* --- what was seen -------------------------------------------------------- */

static bool
has_stalled(const struct history *h)
{
	size_t i;

	for (i = 0; i < h->n; i++)
		if (h->events[i].kind == HISTORY_NOTE &&
		    h->events[i].label != NULL &&
		    strcmp(h->events[i].label, "stall") == 0)
			return true;
	return false;
}

bool
live_rig_late(const struct live_rig_run *r)
{
	if (r->odd)
		return false;
	if (r->point.verdict == JUDGE_FAIL && r->point.worst.by_check)
		return r->point.worst.hasty;
	return has_stalled(&r->h) || r->point.verdict == JUDGE_INCONCLUSIVE;
}

bool
live_rig_idle(const struct live_rig_run *r)
{
	return live_rig_late(r) ||
	    (r->point.verdict == JUDGE_VACUOUS && !r->odd);
}

long
live_rig_starts(const struct history *h, const char *key)
{
	long n = 0;
	size_t i;

	for (i = 0; i < h->n; i++)
		n += h->events[i].kind == HISTORY_EFFECT &&
		    strcmp(h->events[i].ph, "begin") == 0 &&
		    h->events[i].k != NULL &&
		    strcmp(h->events[i].k, key) == 0;
	return n;
}

unsigned
live_rig_fired(const struct live_rig_run *r, size_t fault)
{
	return fault < r->h.head.faults_n ? r->h.head.faults[fault].fired : 0;
}

long
live_rig_notes(const struct history *h, const char *note)
{
	long n = 0;
	size_t i;

	for (i = 0; i < h->n; i++)
		n += (h->events[i].note != NULL &&
		    strcmp(h->events[i].note, note) == 0) ||
		    (h->events[i].fate != NULL &&
		    strcmp(h->events[i].fate, note) == 0);
	return n;
}

void
live_rig_tell(const struct live_rig_run *r)
{
	const struct history *h = &r->h;
	char words[200];
	size_t i;

	note("%s: %s%s", judge_text(r->point.verdict), r->point.message,
	    r->point.worst.message);
	for (i = 0; i < h->n && i < TOLD_MAX; i++)
		note("%8.1f ms  %s", (double)h->events[i].t_ns / 1e6,
		    history_event_text(&h->events[i], words, sizeof words));
}

/* --- all of it ------------------------------------------------------------ */

void
live_rig_open(void)
{
	static const struct live_rig_plan plain = {
		"anything", "redis = { a = {} }, gates = { n = 1, "
		"arbiter = 'redis', store = 'a' }", "sim.script { { at = 0, "
		"client = 'c1', send = { key = 'k' } } }", "",
		"holds = { 'at_most_once' }", 5, "quiet = 1000"
	};
	struct scenario *s;
	const char *missing;

	(void)setenv("IDEMSIM_LIBEXEC", ".", 0);
	(void)signal(SIGPIPE, SIG_IGN);
	if (mkdtemp(folder) == NULL)
		bail_out("no folder");
	s = live_rig_scenario(&plain);
	missing = live_world.missing(scenario_plan(s, 0));
	scenario_close(s);
	if (missing != NULL) {
		(void)rmdir(folder);
		skip_all(missing);
	}
	if (child_warden_start() == NULL)
		bail_out("no warden");
}

void
live_rig_close(void)
{
	child_warden_end(false);
	(void)rmdir(folder);
}
