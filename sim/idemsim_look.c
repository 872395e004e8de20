/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include "explain.h"
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* "-" is standard input. */
static int
read_history(const char *path, struct history *h)
{
	bool input = strcmp(path, "-") == 0;
	FILE *file = input ? stdin : fopen(path, "re");
	char wrong[400] = "";
	int status = -1;

	*h = (struct history){ .n = 0 };
	if (file == NULL) {
		fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
		return -1;
	}
	status = history_read(h, file, path, wrong, sizeof wrong);
	if (status != 0)
		fprintf(stderr, "idemsim: %s\n", wrong);
	if (!input)
		fclose(file);
	return status;
}

static void
say_verdict(int number, const char *path, const struct judge_run *r)
{
	printf("%sok %d - %s %s%s\n", r->verdict == JUDGE_PASS ||
	    r->verdict == JUDGE_SKIP ? "" : "not ", number, path,
	    judge_text(r->verdict), r->verdict == JUDGE_SKIP ? " # SKIP" : "");
	if (r->by_check)
		printf("# %s: %s\n", plan_invariant_text(r->finding.invariant),
		    r->finding.message);
	else if (r->message[0] != '\0')
		printf("# %s\n", r->message);
}

enum idemsim_exit
idemsim_check(const struct idemsim_options *o)
{
	enum judge_verdict *verdicts;
	enum idemsim_exit status = IDEMSIM_USAGE;
	struct judge_run run;
	struct history h;
	int i;

	verdicts = calloc((size_t)o->names_n + 1, sizeof *verdicts);
	if (o->names_n == 0)
		fprintf(stderr, "idemsim: name a history\n");
	if (o->names_n == 0 || verdicts == NULL)
		goto end;
	printf("TAP version %d\n1..%d\n", o->tap, o->names_n);
	for (i = 0; i < o->names_n; i++) {
		if (read_history(o->names[i], &h) != 0) {
			history_free(&h);
			goto end;
		}
		judge_run(&h, NULL, 0, &run);
		verdicts[i] = run.verdict;
		say_verdict(i + 1, o->names[i], &run);
		history_free(&h);
	}
	status = (enum idemsim_exit)judge_exit(verdicts, (size_t)o->names_n);
end:
	free(verdicts);
	return status;
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
		judge_run(&h, NULL, 0, &run);
		status = report_html(stdout, &h, &run, NULL) == 0 &&
		    fflush(stdout) == 0 ? IDEMSIM_OK : IDEMSIM_INTERNAL;
	}
	history_free(&h);
	return status;
}
