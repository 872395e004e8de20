/* SPDX-License-Identifier: ISC */
#include "matrix.h"

#include "child.h"
#include "folder.h"
#include "now.h"
#include "paths.h"
#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#ifndef SCENARIOSDIR
#define SCENARIOSDIR "/usr/local/share/idem/scenarios"
#endif

#define SCENARIO "matrix.lua"
#define OUT "idemsim-out"
#define RUNS 3
#define WALL_MS (10 * 60 * 1000)	/* of all runs; the first are made */

struct job {
	const struct idemsim_options *o;
	const struct world *world;
	struct idemsim_files files;
	struct matrix m;
	bool bar;		/* standard error is a terminal */
	bool failed;		/* by our own means */
	bool missing;
};

/* --- the scenario --------------------------------------------------------- */

/* Beside our own programs, where it is installed, or in the source tree. */
static const char *
find_scenario(void)
{
	static const char *const places[] = {
		SCENARIOSDIR "/matrix/" SCENARIO,
		"scenarios/matrix/" SCENARIO
	};
	const char *path = paths_find(SCENARIO);
	size_t i;

	for (i = 0; path == NULL && i < sizeof places / sizeof *places; i++)
		if (access(places[i], R_OK) == 0)
			path = places[i];
	return path;
}

static bool
open_scenario(struct job *job)
{
	struct idemsim_options o = *job->o;
	char path[4096];
	char *names[] = { path };
	const char *found;

	if (o.names_n == 0) {
		found = find_scenario();
		if (found == NULL) {
			fprintf(stderr, "idemsim: matrix: there is no "
			    SCENARIO "; name it\n");
			return false;
		}
		snprintf(path, sizeof path, "%s", found);
		o.names = names;
		o.names_n = 1;
	}
	return idemsim_files_open(&job->files, &o);
}

static const char *
param(const struct plan *plan, const char *name)
{
	size_t i;

	for (i = 0; i < plan->params_n; i++)
		if (strcmp(plan->params[i].name, name) == 0)
			return plan->params[i].value;
	return "";
}

/* False: it is not of the matrix. */
static bool
place(const struct plan *plan, enum matrix_deploy *deploy,
    enum matrix_fault *fault)
{
	const char *row = param(plan, "deploy"), *column = param(plan, "fault");
	size_t d, f;

	for (d = 0; d < MATRIX_DEPLOYS; d++)
		if (strcmp(matrix_rows[d].param, row) == 0)
			break;
	for (f = 0; f < MATRIX_FAULTS; f++)
		if (strcmp(matrix_columns[f].param, column) == 0)
			break;
	*deploy = (enum matrix_deploy)d;
	*fault = (enum matrix_fault)f;
	return d < MATRIX_DEPLOYS && f < MATRIX_FAULTS;
}

/* --- one run -------------------------------------------------------------- */

/* Into a folder, which is made; `file` is its name then, "" if it failed. */
static void
write_history(struct job *job, const struct history *h, const char *folder,
    const char *name, char *path, size_t size)
{
	snprintf(path, size, "%.800s/%s.jsonl", folder, name);
	if (folder_make(folder) == 0 &&
	    folder_file(path, idemsim_history, h) == 0)
		return;
	fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
	*path = '\0';
	job->failed = true;
}

/* Where what is no good is kept. */
static const char *
out_of(const struct job *job)
{
	return job->o->out != NULL ? job->o->out : OUT;
}

static void
keep(struct job *job, struct matrix_cell *c, const struct plan *plan,
    const struct history *h, bool broke)
{
	char name[100], run[120], path[1024];

	snprintf(name, sizeof name, "matrix-%.40s-%.40s", param(plan,
	    "deploy"), param(plan, "fault"));
	if (broke)
		write_history(job, h, out_of(job), name, c->file,
		    sizeof c->file);
	snprintf(run, sizeof run, "%s-%u", name, h->head.run);
	if (job->o->keep != NULL)
		write_history(job, h, job->o->keep, run, path, sizeof path);
}

/* Its history is what is to be reported. */
static void
unjudged(struct job *job, const struct plan *plan, const struct history *h,
    const struct matrix_cell *c)
{
	char name[120], path[1024];

	fprintf(stderr, "idemsim: %s: %s\n", plan->name, c->why);
	job->failed = true;
	snprintf(name, sizeof name, "matrix-%.40s-%.40s-unjudged-%u",
	    param(plan, "deploy"), param(plan, "fault"), h->head.run);
	write_history(job, h, out_of(job), name, path, sizeof path);
	if (path[0] != '\0')
		fprintf(stderr, "idemsim: its history: %s\n", path);
}

static void
judge(struct job *job, const struct plan *plan, const struct history *h,
    struct matrix_cell *c)
{
	switch (matrix_judge(h, c, IDEMSIM_JUDGE_MS)) {
	case MATRIX_JUDGED:
		matrix_measure(h, c);
		return;
	case MATRIX_SAYS_NOTHING:
		return;
	case MATRIX_UNJUDGED:
		unjudged(job, plan, h, c);
		return;
	}
}

static void
run_cell(struct job *job, const struct plan *plan, struct matrix_cell *c,
    unsigned run)
{
	struct history h = { .n = 0 };
	char wrong[400] = "";
	bool broke = c->broken != 0;

	if (job->world->run(plan, idemsim_seed_of(job->m.seed, run), run, &h,
	    wrong, sizeof wrong) != 0) {
		fprintf(stderr, "idemsim: %s: %s\n", plan->name, wrong);
		job->failed = true;
	} else if (!idemsim_interrupted()) {
		judge(job, plan, &h, c);
		keep(job, c, plan, &h, c->broken != 0 && !broke);
	}
	history_free(&h);
}

static void
progress(const struct job *job, size_t i, unsigned run, const char *name)
{
	if (job->bar)
		fprintf(stderr, "\r\033[K[%zu/%zu] run %u of %u: %s", i + 1,
		    job->files.points_n, run, job->m.runs, name);
}

/* --- all of them ---------------------------------------------------------- */

/* It is here, but cannot be run. */
static bool
prepare(struct job *job, const struct plan *plan, struct matrix_cell *c,
    enum matrix_deploy d, enum matrix_fault f)
{
	bool missing;
	const char *why = idemsim_why_not(job->world, plan, &missing);

	c->here = true;
	c->promised = matrix_promised(d, f);
	if (why == NULL)
		return true;
	if (c->skipped == NULL) {
		fprintf(stderr, "idemsim: %s: %s\n", plan->name, why);
		c->skipped = arena_text(&c->arena, why);
	}
	job->missing = job->missing || missing;
	return false;
}

/* Every cell once, so that what a busy hour does is done to all of them. */
static void
run_round(struct job *job, unsigned run)
{
	struct matrix_cell *c;
	const struct plan *plan;
	enum matrix_deploy d;
	enum matrix_fault f;
	size_t i;

	for (i = 0; i < job->files.points_n && !idemsim_interrupted(); i++) {
		plan = job->files.points[i].plan;
		if (!place(plan, &d, &f))
			continue;
		c = &job->m.cells[d][f];
		progress(job, i, run, plan->name);
		if (prepare(job, plan, c, d, f))
			run_cell(job, plan, c, run);
	}
}

/* Another round is begun only if there is time for it. */
static void
run_rounds(struct job *job)
{
	int64_t began_ms = now_ms(), round_ms = 0;
	int64_t most_ms = job->o->wall_ms > 0 ? job->o->wall_ms : WALL_MS;
	unsigned run;

	job->m.runs = job->o->runs > 0 ? job->o->runs : job->o->quick ? 1 :
	    RUNS;
	for (run = 1; run <= job->m.runs && !idemsim_interrupted() &&
	    job->m.wall_ms + round_ms <= most_ms; run++) {
		run_round(job, run);
		round_ms = now_ms() - began_ms - job->m.wall_ms;
		job->m.wall_ms = now_ms() - began_ms;
	}
	job->m.runs = run - 1;
	if (job->bar)
		fputs("\r\033[K", stderr);
}

static void
report_file(struct job *job, int (*write)(struct matrix *, const char *),
    const char *path)
{
	if (path == NULL || write(&job->m, path) == 0)
		return;
	fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
	job->failed = true;
}

static enum idemsim_exit
end_of(const struct job *job)
{
	if (idemsim_interrupted())
		return IDEMSIM_INTERRUPTED;
	if (job->failed)
		return IDEMSIM_INTERNAL;
	if (job->missing && job->o->require_live)
		return IDEMSIM_MISSING;
	if (matrix_broken(&job->m) > 0)
		return IDEMSIM_VIOLATION;
	return matrix_run(&job->m) > 0 && matrix_open(&job->m) == 0 ?
	    IDEMSIM_OK : IDEMSIM_NOT_SHOWN;
}

static enum idemsim_exit
run_all(struct job *job)
{
	enum idemsim_exit status = IDEMSIM_INTERNAL;

	idemsim_catch_signals();
	if (child_warden_start() == NULL) {
		fprintf(stderr, "idemsim: no folder for a run: %s\n",
		    strerror(errno));
		return status;
	}
	live_stop_when(idemsim_interrupted);
	run_rounds(job);
	job->world->end();
	child_warden_end(false);
	if (!idemsim_interrupted()) {
		matrix_text(&job->m, stdout);
		report_file(job, matrix_json, job->o->json);
		report_file(job, matrix_html, job->o->html);
	}
	return end_of(job);
}

enum idemsim_exit
matrix_main(const struct idemsim_options *o)
{
	struct job job = {
		.o = o, .world = &live_world,
		.bar = isatty(STDERR_FILENO) == 1,
		.m = { .seed = o->seeded ? o->seed : idemsim_some_seed() }
	};
	enum idemsim_exit status = IDEMSIM_USAGE;
	size_t d, f;

	if (open_scenario(&job) && idemsim_places(o))
		status = run_all(&job);
	idemsim_files_close(&job.files);
	for (d = 0; d < MATRIX_DEPLOYS; d++)
		for (f = 0; f < MATRIX_FAULTS; f++)
			arena_free(&job.m.cells[d][f].arena);
	return status;
}
