/* SPDX-License-Identifier: ISC */
#include "report_private.h"

#include <inttypes.h>

/*
 * JUnit's XML, as its readers agree on: one suite, a case a point; what failed
 * is a failure, what could not be judged an error.
 */

static void
put(struct idem_buf *out, const char *name, const char *value)
{
	idem_buf_printf(out, " %s=\"", name);
	report_text_html(out, value, 0);
	idem_buf_u8(out, '"');
}

static void
put_seconds(struct idem_buf *out, int64_t ms)
{
	idem_buf_printf(out, " time=\"%" PRId64 ".%03" PRId64 "\"", ms / 1000,
	    ms % 1000);
}

static void
put_line(struct idem_buf *out, const char *name, const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	idem_buf_printf(out, "%s: ", name);
	report_text_html(out, value, 0);
	idem_buf_u8(out, '\n');
}

static void
put_why(struct idem_buf *out, const struct report_told *t, const char *element)
{
	const struct check_finding *f = report_say_finding(&t->point->worst);
	char words[300];
	size_t i;

	idem_buf_printf(out, "<%s", element);
	put(out, "type", f != NULL ? plan_invariant_text(f->invariant) :
	    judge_text(t->point->verdict));
	put(out, "message", t->sum);
	idem_buf_u8(out, '>');
	put_line(out, "message", f != NULL ? f->message :
	    t->point->message);
	if (f != NULL) {
		put_line(out, "key", f->key);
		for (i = 0; report_say_event(t->worst, f, i, words,
		    sizeof words); i++)
			put_line(out, "event", words);
	}
	put_line(out, "reproduce", t->again);
	put_line(out, "artefacts", t->files->folder);
	idem_buf_printf(out, "</%s>", element);
}

static void
put_verdict(struct idem_buf *out, const struct report_told *t)
{
	switch (t->point->verdict) {
	case JUDGE_PASS:
		idem_buf_text(out, "<system-out>");
		report_text_html(out, t->sum, 0);
		idem_buf_text(out, "</system-out>");
		return;
	case JUDGE_FAIL:
	case JUDGE_VACUOUS:
		put_why(out, t, "failure");
		return;
	case JUDGE_INCONCLUSIVE:
		put_why(out, t, "error");
		return;
	case JUDGE_SKIP:
		idem_buf_text(out, "<skipped");
		put(out, "message", t->point->message);
		idem_buf_text(out, "/>");
		return;
	case JUDGE_VERDICTS:
		return;
	}
}

void
report_junit_point(struct idem_buf *out, const struct report_told *t)
{
	const char *file = t->point->plan != NULL ? t->point->plan->file : NULL;

	idem_buf_text(out, "  <testcase");
	put(out, "classname", file != NULL ? file : "idemsim");
	put(out, "name", t->title);
	put_seconds(out, t->point->wall_ms);
	idem_buf_u8(out, '>');
	put_verdict(out, t);
	idem_buf_text(out, "</testcase>\n");
}

int
report_junit_end(const struct report *r, const struct idem_buf *cases,
    const size_t counts[JUDGE_VERDICTS], int64_t wall_ms)
{
	FILE *file = fopen(r->junit, "we");
	size_t failures = counts[JUDGE_FAIL] + counts[JUDGE_VACUOUS];
	bool written;

	if (file == NULL)
		return -1;
	fprintf(file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<testsuites>\n <testsuite name=\"idemsim\" tests=\"%zu\" "
	    "failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\" "
	    "time=\"%" PRId64 ".%03" PRId64 "\">\n", r->done, failures,
	    counts[JUDGE_INCONCLUSIVE], counts[JUDGE_SKIP], wall_ms / 1000,
	    wall_ms % 1000);
	if (cases->len > 0)	/* else it has no text: interrupted at once */
		fwrite(cases->at, 1, cases->len, file);
	fputs(" </testsuite>\n</testsuites>\n", file);
	written = fflush(file) == 0 && !ferror(file);
	return fclose(file) == 0 && written ? 0 : -1;
}
