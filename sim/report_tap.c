/* SPDX-License-Identifier: ISC */
#include "report_pick.h"
#include "report_private.h"

#include <inttypes.h>

#define STEPS_MAX 24u		/* of a schedule */
#define MODE_MAX 20u
#define WORDS_MAX 120u		/* characters of a step, of a fault */

/* --- what the block says -------------------------------------------------- */

static void
put_some(struct idem_buf *out, const char *name, const char *value, size_t max)
{
	if (value == NULL || *value == '\0')
		return;
	idem_buf_printf(out, "  %s: ", name);
	report_text_yaml(out, value, max);
	idem_buf_u8(out, '\n');
}

static void
put(struct idem_buf *out, const char *name, const char *value)
{
	put_some(out, name, value, REPORT_LINE);
}

/* An element; the list's name before the first. */
static void
put_in(struct idem_buf *out, const char *list, bool *first, const char *value)
{
	if (*first)
		idem_buf_printf(out, "  %s:\n", list);
	*first = false;
	idem_buf_text(out, "    - ");
	report_text_yaml(out, value, REPORT_LINE);
	idem_buf_u8(out, '\n');
}

static void
put_finding(struct idem_buf *out, const struct report_told *t)
{
	const struct check_finding *f = report_say_finding(&t->point->worst);
	bool first = true;
	char words[300];
	size_t i;

	if (f == NULL) {
		put(out, "message", t->point->message[0] != '\0' ?
		    t->point->message : t->point->worst.message);
		return;
	}
	put(out, "invariant", plan_invariant_text(f->invariant));
	put(out, "promise", check_promise(f->invariant));
	put(out, "key", f->key);
	put(out, "blames", f->blames);
	put(out, "message", f->message);
	for (i = 0; report_say_event(t->worst, f, i, words, sizeof words); i++)
		put_in(out, "events", &first, words);
}

/* Of the worst run. */
static void
put_faults(struct idem_buf *out, const struct history *h)
{
	bool first = true;
	size_t i;

	for (i = 0; h != NULL && i < h->head.faults_n; i++)
		if (h->head.faults[i].fired > 0)
			put_in(out, "faults", &first, h->head.faults[i].text);
}

/*
 * What led to it, as lines.  The first character is a digit: a literal block
 * is indented as its first line is.
 */
static void
put_schedule(struct idem_buf *out, const struct report_told *t)
{
	const struct history *h = t->worst;
	struct report_pick pick = { 0 };
	struct idem_buf time = { 0 };
	char words[400];
	size_t i;

	if (h == NULL || h->n == 0)
		return;
	report_pick(&pick, h, report_say_finding(&t->point->worst), STEPS_MAX,
	    REPORT_PICK_STEPS);
	idem_buf_text(out, "  schedule: |\n");
	for (i = 0; i < pick.n; i++) {
		idem_buf_clear(&time);
		report_text_time(&time, pick.at[i]->t_ns);
		idem_buf_printf(out, "    %-4u %10s  %c ",
		    (unsigned)pick.at[i]->i, report_buf_text(&time),
		    pick.conflict[i] > 0 ? '*' : ' ');
		report_text(out, history_event_text(pick.at[i], words,
		    sizeof words), WORDS_MAX);
		idem_buf_u8(out, '\n');
	}
	idem_buf_free(&time);
	report_pick_free(&pick);
}

static void
put_artefacts(struct idem_buf *out, const struct report_files *files)
{
	bool first = true;
	char path[REPORT_PATH];
	size_t i;

	for (i = 0; files->folder != NULL && files->names[i] != NULL; i++) {
		snprintf(path, sizeof path, "%s/%s", files->folder,
		    files->names[i]);
		put_in(out, "artefacts", &first, path);
	}
}

/* Over all runs of the point; two faults may have the same words. */
static void
put_fired(struct idem_buf *out, const struct judge_point *p)
{
	char words[200];
	unsigned id;

	if (p->plan == NULL || p->fired == NULL || p->plan->actions_n == 0)
		return;
	idem_buf_text(out, "  fired:\n");
	for (id = 0; id < p->plan->actions_n; id++) {
		idem_buf_text(out, "    - fault: ");
		report_text_yaml(out, report_say_fault(p->plan, id, words,
		    sizeof words), WORDS_MAX);
		idem_buf_printf(out, "\n      times: %u\n", p->fired[id]);
	}
}

static void
put_run(struct idem_buf *out, const struct report_told *t)
{
	idem_buf_printf(out, "  runs: %u\n", t->point->runs);
	if (t->worst == NULL)
		return;
	idem_buf_printf(out, "  run: %u\n", t->worst->head.run);
	idem_buf_printf(out, "  seed: '0x%" PRIx64 "'\n", t->worst->head.seed);
}

static void
put_block(struct idem_buf *out, const struct report_told *t)
{
	idem_buf_text(out, "  ---\n");
	put(out, "verdict", judge_text(t->point->verdict));
	put_finding(out, t);
	put_faults(out, t->worst);
	put_run(out, t);
	put_schedule(out, t);
	put_some(out, "reproduce", t->again, REPORT_PATH);
	put_artefacts(out, t->files);
	put_fired(out, t->point);
	idem_buf_text(out, "  ...\n");
}

/* --- lines ---------------------------------------------------------------- */

static void
give(const struct report *r, struct idem_buf *out)
{
	fputs(report_buf_text(out), r->tap);
	fflush(r->tap);
	idem_buf_free(out);
}

static void
put_remark(struct idem_buf *out, const char *text)
{
	if (*text == '\0')
		return;
	idem_buf_text(out, "# ");
	report_text(out, text, REPORT_LINE);
	idem_buf_u8(out, '\n');
}

void
report_tap_begin(const struct report *r)
{
	struct idem_buf out = { 0 };

	idem_buf_printf(&out, "TAP version %d\n1..%zu\n", r->tap_version,
	    r->points);
	if (r->points == 0)
		idem_buf_clear(&out);
	if (r->points == 0)
		idem_buf_printf(&out, "TAP version %d\n"
		    "1..0 # SKIP no test point was chosen\n", r->tap_version);
	give(r, &out);
}

void
report_tap_point(const struct report *r, const struct report_told *t)
{
	enum judge_verdict verdict = t->point->verdict;
	bool good = verdict == JUDGE_PASS || verdict == JUDGE_SKIP;
	struct idem_buf out = { 0 };

	idem_buf_printf(&out, "%sok %zu - ", good ? "" : "not ", t->number);
	report_text_tap(&out, t->title, r->tap_version);
	if (t->mode != NULL) {
		idem_buf_text(&out, " [");
		report_text(&out, t->mode, MODE_MAX);
		idem_buf_u8(&out, ']');
	}
	if (verdict == JUDGE_SKIP) {
		idem_buf_text(&out, " # SKIP ");
		report_text(&out, t->point->message, REPORT_LINE);
	} else {
		idem_buf_u8(&out, ' ');
		report_text_tap(&out, t->sum, r->tap_version);
	}
	idem_buf_u8(&out, '\n');
	if (r->from != NULL && t->worst != NULL)
		put_remark(&out, r->from);
	if (!good)
		put_block(&out, t);
	else if (verdict == JUDGE_PASS)
		put_remark(&out, t->point->message);
	give(r, &out);
}
