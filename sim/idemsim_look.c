/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include "explain.h"
#include "judge.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- scenarios ------------------------------------------------------------ */

static void
list_one(const struct plan *p)
{
	printf("%s:%u\t%s%s%s\t%s\n", p->file, p->number,
	    p->modes & PLAN_MODEL ? "model" : "",
	    p->modes == (PLAN_MODEL | PLAN_LIVE) ? "," : "",
	    p->modes & PLAN_LIVE ? "live" : "", p->name);
}

enum idemsim_exit
idemsim_list(const struct idemsim_options *o)
{
	enum idemsim_exit status = IDEMSIM_USAGE;
	struct idemsim_files files;
	size_t i;

	if (idemsim_files_open(&files, o)) {
		for (i = 0; i < files.points_n; i++)
			list_one(files.points[i].plan);
		status = IDEMSIM_OK;
	}
	idemsim_files_close(&files);
	return status;
}

enum idemsim_exit
idemsim_explain(const struct idemsim_options *o)
{
	enum idemsim_exit status = IDEMSIM_USAGE;
	struct idemsim_files files;
	size_t i;

	if (idemsim_files_open(&files, o)) {
		for (i = 0; i < files.points_n; i++) {
			if (i > 0)
				putchar('\n');
			explain(files.points[i].plan, stdout);
		}
		status = IDEMSIM_OK;
	}
	idemsim_files_close(&files);
	return status;
}

/* --- histories ------------------------------------------------------------ */

/* Of one that no run can have had no verdict is given. */
static int
read_whole(FILE *file, const char *path, struct history *h)
{
	char wrong[400] = "", why[200];
	size_t line;

	if (history_read(h, file, path, wrong, sizeof wrong) != 0) {
		fprintf(stderr, "idemsim: %s\n", wrong);
		return -1;
	}
	line = history_odd(h, why, sizeof why);
	if (line == 0)
		return 0;
	fprintf(stderr, "idemsim: %s:%zu: %s: no run has such a history\n",
	    path, line, why);
	history_free(h);
	*h = (struct history){ .n = 0 };
	return -1;
}

/* "-" is standard input. */
static int
read_history(const char *path, struct history *h)
{
	bool input = strcmp(path, "-") == 0;
	FILE *file = input ? stdin : fopen(path, "re");
	int status;

	*h = (struct history){ .n = 0 };
	if (file == NULL) {
		fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
		return -1;
	}
	status = read_whole(file, path, h);
	if (!input)
		fclose(file);
	return status;
}

/* The scenario of a history, where it lies, and its point. */
struct source {
	struct scenario *scenario;	/* NULL: it is not here */
	size_t point;
};

static bool
is_file(const char *path)
{
	struct stat st;

	return path != NULL && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The same plan: then its functions are those that had a say. */
static bool
find_point(struct source *from, const struct history *h)
{
	char digest[72];
	size_t n = scenario_points(from->scenario);

	for (from->point = 0; from->point < n; from->point++) {
		plan_digest(scenario_plan(from->scenario, from->point),
		    digest);
		if (h->head.plan != NULL && strcmp(h->head.plan, digest) == 0)
			return true;
	}
	return false;
}

/* A parameter may have any value that a run was given. */
static size_t
choices_of(const struct history *h, struct scenario_choice *out)
{
	size_t n;

	for (n = 0; n < h->head.params_n && n < IDEMSIM_PARAMS; n++)
		out[n] = (struct scenario_choice){ h->head.params[n].name,
		    h->head.params[n].value };
	return n;
}

static void
source_open(struct source *from, const struct history *h, const char *name)
{
	struct scenario_choice choices[IDEMSIM_PARAMS];
	const char *path = h->head.file;
	size_t n = choices_of(h, choices);
	char wrong[2000] = "";

	*from = (struct source){ .point = 0 };
	if (h->head.own == 0)
		return;
	if (!is_file(path)) {
		fprintf(stderr, "idemsim: %s: its scenario, %s, is not here; "
		    "go to where it is\n", name, path != NULL ? path : "?");
		return;
	}
	from->scenario = scenario_open(path, choices, n, wrong, sizeof wrong);
	if (from->scenario == NULL)
		fprintf(stderr, "idemsim: %s\n", wrong);
	else if (!find_point(from, h)) {
		fprintf(stderr, "idemsim: %s: %s has changed since: none of "
		    "its test points has the same plan\n", name, path);
		scenario_close(from->scenario);
		from->scenario = NULL;
	}
}

/* false: nobody came to a verdict. */
static bool
judge_again(struct history *h, const char *name, struct judge_run *run)
{
	struct source from;
	bool judged, none = false;

	source_open(&from, h, name);
	judged = idemsim_judge(&(struct idemsim_asked){
		.history = h, .scenario = from.scenario, .point = from.point,
		.alone = true, .within_ms = IDEMSIM_JUDGE_MS
	}, run, &none);
	scenario_close(from.scenario);
	return judged;
}

/*
 * -1: it cannot be read, and standard error says why.  failed: nobody came to a
 * verdict.
 */
static int
look_at(struct report *r, const char *path, enum judge_verdict *verdict,
    bool *failed)
{
	struct judge_point p = { .runs = 1 };
	struct history h;
	int status = read_history(path, &h);

	r->from = path;
	if (status == 0)
		*failed = !judge_again(&h, path, &p.worst) || *failed;
	else {
		p.worst.verdict = JUDGE_INCONCLUSIVE;
		snprintf(p.worst.message, sizeof p.worst.message,
		    "it cannot be read");
	}
	*verdict = p.verdict = p.worst.verdict;
	p.worst_run = h.head.run;
	snprintf(p.message, sizeof p.message, "%s", p.worst.message);
	report_point(r, &p, status == 0 ? &h : NULL);
	history_free(&h);
	return status;
}

enum idemsim_exit
idemsim_check(const struct idemsim_options *o)
{
	struct report r = { .tap = stdout, .tap_version = o->tap,
	    .command = "idemsim run --runs 1" };
	enum judge_verdict *verdicts;
	bool read = true, failed = false;
	int i, status;

	if (o->names_n == 0) {
		fprintf(stderr, "idemsim: name a history\n");
		return IDEMSIM_USAGE;
	}
	verdicts = calloc((size_t)o->names_n, sizeof *verdicts);
	if (verdicts == NULL)
		return IDEMSIM_INTERNAL;
	report_begin(&r, (size_t)o->names_n);
	for (i = 0; i < o->names_n; i++)
		read = look_at(&r, o->names[i], &verdicts[i], &failed) ==
		    0 && read;
	status = judge_exit(verdicts, (size_t)o->names_n);
	if (report_end(&r) != 0 || failed)
		status = IDEMSIM_INTERNAL;
	else if (!read)
		status = IDEMSIM_USAGE;
	free(verdicts);
	return (enum idemsim_exit)status;
}

enum idemsim_exit
idemsim_render(const struct idemsim_options *o)
{
	enum idemsim_exit status = IDEMSIM_USAGE;
	struct judge_run run;
	struct history h;

	if (o->names_n != 1) {
		fprintf(stderr, "idemsim: render takes one history\n");
		return status;
	}
	if (read_history(o->names[0], &h) == 0) {
		(void)judge_again(&h, o->names[0], &run);
		status = IDEMSIM_OK;
		errno = 0;
		if (report_html(stdout, &h, &run, NULL) != 0 ||
		    fflush(stdout) != 0) {
			fprintf(stderr, "idemsim: standard output: %s\n",
			    strerror(errno != 0 ? errno : EIO));
			status = IDEMSIM_INTERNAL;
		}
	}
	history_free(&h);
	return status;
}
