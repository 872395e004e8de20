/* SPDX-License-Identifier: ISC */
#include "report_private.h"

#include "arena.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct report_private {
	struct report_bar bar;
	struct idem_buf cases;		/* of JUnit */
	struct report_json *json;
	size_t counts[JUDGE_VERDICTS];
	int64_t wall_ms;
	bool failed;			/* something could not be written */
	int tap_error;			/* errno of the first time that TAP
					   could not; 0: it could */
};

/* Right after it was written: later errno is of something else. */
static void
see_tap(struct report *r)
{
	if (ferror(r->tap) && r->in->tap_error == 0)
		r->in->tap_error = errno != 0 ? errno : EIO;
}

void
report_begin(struct report *r, size_t points)
{
	r->in = calloc(1, sizeof *r->in);
	arena_must_have(r->in != NULL);
	r->points = points;
	r->done = 0;
	if (r->json != NULL)
		r->in->json = report_json_new(r);
	report_tap_begin(r);
	see_tap(r);
}

void
report_progress(struct report *r, const struct plan *p, unsigned run,
    unsigned runs)
{
	struct idem_buf title = { 0 };

	if (!r->bar)
		return;
	report_say_title(&title, p, NULL);
	report_bar(&r->in->bar, r->done, r->points, report_buf_text(&title),
	    run, runs);
	idem_buf_free(&title);
}

static void
tell(struct report *r, const struct report_told *t)
{
	report_bar_clear(&r->in->bar);
	report_tap_point(r, t);
	see_tap(r);
	if (r->junit != NULL)
		report_junit_point(&r->in->cases, t);
	if (r->in->json != NULL)
		report_json_point(r->in->json, t);
}

/* With what did not hold, though that is no fault. */
static void
say_judged(struct idem_buf *out, const struct judge_run *run)
{
	idem_buf_text(out, "judged again");
	if (run->by_check)
		idem_buf_printf(out, ": %s: %s",
		    plan_invariant_text(run->finding.invariant),
		    run->finding.message);
	else if (run->message[0] != '\0')
		idem_buf_printf(out, ": %s", run->message);
}

void
report_point(struct report *r, const struct judge_point *p,
    const struct history *worst)
{
	bool kept = r->out != NULL && p->verdict != JUDGE_PASS &&
	    p->verdict != JUDGE_SKIP;
	struct idem_buf title = { 0 }, sum = { 0 }, again = { 0 };
	struct report_files files = { 0 };
	struct report_told t = {
		.point = p, .worst = worst, .files = &files,
		.mode = worst != NULL ? worst->head.mode : r->mode
	};

	t.number = ++r->done;
	r->in->counts[p->verdict]++;
	r->in->wall_ms += p->wall_ms;
	if (p->plan != NULL || worst != NULL || r->from == NULL)
		report_say_title(&title, p->plan, worst);
	else
		idem_buf_text(&title, r->from);
	if (r->from != NULL && p->verdict == JUDGE_PASS)
		say_judged(&sum, &p->worst);
	else
		report_say_sum(&sum, p);
	if (p->plan != NULL || worst != NULL)
		report_say_again(&again, r->command, p->plan, worst);
	t.title = report_buf_text(&title);
	t.sum = report_buf_text(&sum);
	t.again = report_buf_text(&again);
	r->folder[0] = '\0';
	if (kept && report_folder(r, p, worst, t.title, t.again, &files) != 0)
		r->in->failed = true;
	tell(r, &t);
	idem_buf_free(&title);
	idem_buf_free(&sum);
	idem_buf_free(&again);
}

static void
written(struct report *r, const char *path, int status)
{
	if (status == 0)
		return;
	fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
	r->in->failed = true;
}

int
report_end(struct report *r)
{
	bool failed;

	report_bar_clear(&r->in->bar);
	if (r->junit != NULL)
		written(r, r->junit, report_junit_end(r, &r->in->cases,
		    r->in->counts, r->in->wall_ms));
	if (r->in->json != NULL)
		written(r, r->json, report_json_end(r->in->json, r->json));
	errno = 0;
	(void)fflush(r->tap);
	see_tap(r);
	errno = r->in->tap_error;
	written(r, "standard output", errno == 0 ? 0 : -1);
	failed = r->in->failed;
	idem_buf_free(&r->in->cases);
	free(r->in);
	r->in = NULL;
	return failed ? -1 : 0;
}
