/* SPDX-License-Identifier: ISC */
#include "buf.h"
#include "report.h"
#include "report_private.h"
#include "report_world.h"
#include "tap.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/t_sim_report.XXXXXX";

/* --- points --------------------------------------------------------------- */

static const struct plan_action kill_g1 = {
	.kind = PLAN_PROC_KILL, .gate = 0, .store = PLAN_NONE, .id = 0
};
static const struct plan_rule rule = {
	.when = { .kind = PLAN_LABEL, .gate = 0, .store = PLAN_NONE,
	    .label = "effect.after", .nth = 1 },
	.actions = &kill_g1, .n = 1
};
static const struct plan_pair param = { "point", "effect.after" };
static const char *const often[] = { "unknown_reported" };
static struct plan a_plan = {
	.file = "scenarios/02 crash.lua", .name = "crash at effect.after",
	.params = &param, .params_n = 1, .rules = &rule, .rules_n = 1,
	.actions_n = 1,
	.expect = { .sometimes = often, .sometimes_n = 1 }
};
static const struct plan control = {
	.file = "scenarios/90.lua", .name = "key rotated # after a timeout",
	.expect = {
		.violates = { [PLAN_AT_MOST_ONCE_PER_BUSINESS_ID] = true },
		.blames = "client"
	}
};
static unsigned fired[1] = { 5 };
static bool often_true[1] = { true };

static struct judge_point
point(enum judge_verdict verdict, const char *message)
{
	struct judge_point p = {
		.plan = &a_plan, .runs = 5, .verdict = verdict,
		.worst = { .verdict = verdict }, .worst_run = 3,
		.fired = fired, .sometimes = often_true, .wall_ms = 1234,
		.starts = 14, .tries = 15, .keys = 5
	};

	snprintf(p.message, sizeof p.message, "%s", message);
	snprintf(p.worst.message, sizeof p.worst.message, "%s", message);
	return p;
}

/* One that violates; its finding is of the history. */
static struct judge_point
violated(const struct check_finding *f)
{
	struct judge_point p = point(JUDGE_FAIL, "at_most_once: twice");

	p.worst.by_check = true;
	p.worst.finding = *f;
	return p;
}

/* What is said of one point. */
static char *
tap_of(const struct judge_point *p, const struct history *worst, int version,
    const char *out)
{
	char *text = NULL;
	size_t len = 0;
	struct report r = {
		.tap_version = version, .mode = "live", .out = out,
		.command = "idemsim run --runs 1"
	};

	r.tap = open_memstream(&text, &len);
	if (r.tap == NULL)
		bail_out("no memory");
	report_begin(&r, 1);
	report_point(&r, p, worst);
	if (report_end(&r) != 0)
		bail_out("the report failed");
	fclose(r.tap);
	return text;
}

static void
test_short(void)
{
	struct {
		const char *what;
		struct judge_point point;
		int version;
		const char *want;
	} rows[] = {
		{ "a point that passed", point(JUDGE_PASS, ""), 14,
		  "TAP version 14\n1..1\nok 1 - crash at effect.after [live] "
		  "5 runs, 15 tries, 5 keys, 14 starts, 1234 ms\n" },
		{ "in version 13", point(JUDGE_PASS, ""), 13,
		  "TAP version 13\n1..1\nok 1 - crash at effect.after [live] "
		  "5 runs, 15 tries, 5 keys, 14 starts, 1234 ms\n" },
		{ "one that passed with a remark", point(JUDGE_PASS,
		  "it\nis so"), 14,
		  "TAP version 14\n1..1\nok 1 - crash at effect.after [live] "
		  "5 runs, 15 tries, 5 keys, 14 starts, 1234 ms\n"
		  "# it is so\n" },
		{ "one of one run", { .plan = &control, .runs = 1,
		  .tries = 1, .keys = 1, .starts = 1, .wall_ms = 7,
		  .verdict = JUDGE_PASS }, 14,
		  "TAP version 14\n1..1\nok 1 - key rotated \\# after a "
		  "timeout [live] negative control: "
		  "at_most_once_per_business_id "
		  "violated as it must (client)\n" },
		{ "one that cannot be run here", point(JUDGE_SKIP,
		  "redis-server not found"), 14,
		  "TAP version 14\n1..1\nok 1 - crash at effect.after [live] "
		  "# SKIP redis-server not found\n" },
		{ "one that was vacuous", point(JUDGE_VACUOUS,
		  "kill g1 never happened"), 14,
		  "TAP version 14\n1..1\nnot ok 1 - crash at effect.after "
		  "[live] vacuous: kill g1 never happened\n"
		  "  ---\n  verdict: vacuous\n"
		  "  message: 'kill g1 never happened'\n  runs: 5\n"
		  "  reproduce: 'idemsim run --runs 1 ''scenarios/02 "
		  "crash.lua'' --param point=effect.after --only ''crash "
		  "at effect.after'''\n"
		  "  fired:\n    - fault: 'kill g1 at effect.after'\n"
		  "      times: 5\n  ...\n" },
		{ "one that was inconclusive", point(JUDGE_INCONCLUSIVE,
		  "g1 ended (SIGKILL): nobody wanted it"), 14,
		  "TAP version 14\n1..1\nnot ok 1 - crash at effect.after "
		  "[live] inconclusive: g1 ended (SIGKILL): nobody wanted it\n"
		  "  ---\n  verdict: inconclusive\n"
		  "  message: 'g1 ended (SIGKILL): nobody wanted it'\n"
		  "  runs: 5\n"
		  "  reproduce: 'idemsim run --runs 1 ''scenarios/02 "
		  "crash.lua'' --param point=effect.after --only ''crash "
		  "at effect.after'''\n"
		  "  fired:\n    - fault: 'kill g1 at effect.after'\n"
		  "      times: 5\n  ...\n" },
		{ "one that failed by a rule of the scenario's own",
		  point(JUDGE_FAIL, "no_refund: it was refunded"), 14,
		  "TAP version 14\n1..1\nnot ok 1 - crash at effect.after "
		  "[live] no_refund: it was refunded\n"
		  "  ---\n  verdict: fail\n"
		  "  message: 'no_refund: it was refunded'\n  runs: 5\n"
		  "  reproduce: 'idemsim run --runs 1 ''scenarios/02 "
		  "crash.lua'' --param point=effect.after --only ''crash "
		  "at effect.after'''\n"
		  "  fired:\n    - fault: 'kill g1 at effect.after'\n"
		  "      times: 5\n  ...\n" },
	};
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *got = tap_of(&rows[i].point, NULL, rows[i].version,
		    NULL);

		is(got, rows[i].want, "%s is told so", rows[i].what);
		free(got);
	}
}

static const char whole[] =
    "TAP version 14\n1..1\n"
    "not ok 1 - crash at effect.after (arbiter=redis) [live] at_most_once "
    "violated\n"
    "  ---\n"
    "  verdict: fail\n"
    "  invariant: at_most_once\n"
    "  promise: once\n"
    "  key: k1\n"
    "  message: 'k1 was run twice: e2 at i=3 happened although e1 at i=2 had "
    "committed'\n"
    "  events:\n"
    "    - 'i=2 at 12.0 ms: h1 commit e1 k1 (try 1), on g1'\n"
    "    - 'i=3 at 1.250 s: h2 commit e2 k1 (try 1), on g1'\n"
    "  runs: 5\n"
    "  run: 3\n"
    "  seed: '0x9e3779b97f4a7c15'\n"
    "  schedule: |\n"
    "    1       1.00 ms    c1 -> g1 k1 (try 1)\n"
    "    2       12.0 ms  * h1 commit e1 k1 (try 1), on g1\n"
    "    3       1.250 s  * h2 commit e2 k1 (try 1), on g1\n"
    "  reproduce: 'idemsim run --runs 1 scenarios/"
    "02_crash_before_complete.lua --param point=effect.after --param "
    "arbiter=redis --only ''crash at effect.after'' --seed "
    "0x9e3779b97f4a7c15'\n"
    "  ...\n";

static void
test_long(void)
{
	struct history h = { .n = 0 };
	struct check_finding f;
	struct judge_point p;
	char *got;

	report_world_small(&h, &f);
	p = violated(&f);
	p.plan = NULL;
	got = tap_of(&p, &h, 14, NULL);
	is(got, whole, "a violation is told with events, schedule, command");
	free(got);
	history_free(&h);
}

/* It is copied from a terminal, and names this point and no other. */
static void
test_again(void)
{
	char name[1000], want[400];
	struct plan p = { .file = "a.lua" };
	const struct {
		const char *name, *want, *what;
	} rows[] = {
		{ "x [a=b]* it's", "'x \\[a=b\\]\\* it'\\''s'",
		  "a name is no pattern" },
		{ "bell\a\x1b[1m h\xc3\xa9llo \xff", "'bell*\\[1m h*llo *'",
		  "what cannot be copied is anything" },
		{ name, want, "of a long one its begin is enough" }
	};
	struct idem_buf b = { 0 };
	size_t i;

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	snprintf(want, sizeof want, "'%.200s*'", name);
	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		p.name = rows[i].name;
		idem_buf_clear(&b);
		report_say_again(&b, NULL, &p, NULL);
		is(report_buf_text(&b) + strlen("idemsim run a.lua --only "),
		    rows[i].want, "%s", rows[i].what);
	}
	idem_buf_free(&b);
}

static void
test_none(void)
{
	char *text = NULL;
	size_t len = 0;
	struct report r = { .tap_version = 14 };

	r.tap = open_memstream(&text, &len);
	if (r.tap == NULL)
		bail_out("no memory");
	report_begin(&r, 0);
	is_int(report_end(&r), 0, "no point at all is no failure to write");
	fclose(r.tap);
	is(text, "TAP version 14\n1..0 # SKIP no test point was chosen\n",
	    "and says that none was chosen");
	free(text);
}

/* --- the bar -------------------------------------------------------------- */

/* What goes to standard error meanwhile. */
static char *
bar_of(struct report *r, const struct judge_point *p)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO), i;
	struct idem_buf b = { 0 };
	char piece[512];
	size_t n;

	if (file == NULL || saved == -1 ||
	    dup2(fileno(file), STDERR_FILENO) == -1)
		bail_out("no file");
	report_begin(r, 4);
	for (i = 0; i < 50; i++)
		report_progress(r, p->plan, 2, 5);
	report_point(r, p, NULL);
	(void)report_end(r);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	while ((n = fread(piece, 1, sizeof piece, file)) > 0)
		idem_buf_append(&b, piece, n);
	fclose(file);
	idem_buf_u8(&b, '\0');
	return (char *)b.at;
}

static void
test_bar(void)
{
	struct judge_point p = point(JUDGE_PASS, "");
	struct report r = { .tap_version = 14, .bar = true };
	struct plan named = a_plan;
	char *text = NULL, *got;
	size_t len = 0;

	named.name = "a name that is longer than any line of a terminal is "
	    "wide, or so one hopes";
	named.params_n = 0;
	p.plan = &named;
	r.tap = open_memstream(&text, &len);
	if (r.tap == NULL)
		bail_out("no memory");
	got = bar_of(&r, &p);
	is(got, "\r\033[K[....................] 0/4  0 s  run 2/5  a name that "
	    "is longer than any line \xe2\x80\xa6\r\033[K",
	    "the bar is shown once a second, in one line, and cleared");
	free(got);
	r.bar = false;
	got = bar_of(&r, &p);
	is(got, "", "and not at all where there is no terminal");
	free(got);
	fclose(r.tap);
	free(text);
}

/* --- files ---------------------------------------------------------------- */

static char *
read_file(const char *path)
{
	FILE *file = fopen(path, "re");
	struct idem_buf b = { 0 };
	char piece[4096];
	size_t n;

	if (file == NULL)
		return NULL;
	while ((n = fread(piece, 1, sizeof piece, file)) > 0)
		idem_buf_append(&b, piece, n);
	fclose(file);
	idem_buf_u8(&b, '\0');
	return (char *)b.at;
}

static char *
in_folder(const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		bail_out("no memory");
	return path;
}

static char *
file_of(const char *name)
{
	char *path = in_folder(name), *text = read_file(path);

	free(path);
	return text;
}

static void
test_folder(void)
{
	static const char *const names[] = {
		"report.html", "history.jsonl", "history.txt", "reproduce"
	};
	char *out = in_folder("deep/out"), *got, *text, name[200];
	struct history h = { .n = 0 };
	struct check_finding f;
	struct judge_point p;
	size_t i;

	report_world_small(&h, &f);
	p = violated(&f);
	got = tap_of(&p, &h, 14, out);
	for (i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(name, sizeof name,
		    "deep/out/001-crash-at-effect-after/%s", names[i]);
		text = file_of(name);
		ok(text != NULL && strlen(text) > 40, "%s is there",
		    names[i]);
		ok(strstr(got, name) != NULL, "and is named");
		if (i + 1 == sizeof names / sizeof *names)
			is(text, "#!/bin/sh\n# Where idemsim was called.\n"
			    "exec idemsim run --runs 1 'scenarios/02 crash.lua'"
			    " --param point=effect.after --only 'crash at "
			    "effect.after' --seed 0x9e3779b97f4a7c15\n",
			    "the command is a script");
		free(text);
	}
	free(got);
	free(out);
	history_free(&h);
}

static void
test_no_folder(void)
{
	struct history h = { .n = 0 };
	struct report r = { .tap_version = 14, .out = "/proc/none/here" };
	struct check_finding f;
	struct judge_point p;
	char *text = NULL;
	size_t len = 0;

	report_world_small(&h, &f);
	p = violated(&f);
	r.tap = open_memstream(&text, &len);
	if (r.tap == NULL)
		bail_out("no memory");
	report_begin(&r, 1);
	report_point(&r, &p, &h);
	is(r.folder, "", "a folder that cannot be made is not named");
	is_int(report_end(&r), -1, "and the end says so");
	fclose(r.tap);
	ok(strstr(text, "not ok 1 - ") != NULL, "the point is told all the "
	    "same");
	free(text);
	history_free(&h);
}

/* --- the other formats, and texts that bite ------------------------------- */

/* Bytes below a blank, but for line's ends. */
static int
controls(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text < 0x20 && *text != '\n') ||
		    *text == 0x7f;
	return n;
}

/* Everywhere where a text can be. */
static void
poison(struct history *h, struct plan *p, struct judge_point *point)
{
	const char *bad = report_world_hostile(h, 10000);
	static struct plan_pair pair;
	static const char *sometimes[1];
	struct history_event *e;

	for (e = h->events; e < h->events + h->n; e++) {
		e->k = e->to = e->code = e->what = e->why = e->label = bad;
		e->mark = e->script = e->cmd = e->id = e->note = e->d = bad;
	}
	h->events[0].p = bad;
	h->head.scenario = h->head.file = h->head.mode = h->head.tool = bad;
	h->head.arbiter = h->head.plan = h->head.on_outage = bad;
	h->head.relaxed[PLAN_SAME_ANSWER] = bad;
	pair = (struct plan_pair){ bad, bad };
	sometimes[0] = bad;
	*p = a_plan;
	p->file = p->name = bad;
	p->params = &pair;
	p->expect.sometimes = sometimes;
	h->head.params = &pair;
	h->head.params_n = 1;
	h->head.lease_ms = h->head.limit_ms = INT64_MAX / 2;
	point->plan = p;
	point->worst.finding.key = point->worst.finding.blames = bad;
	snprintf(point->message, sizeof point->message, "%s", bad);
	snprintf(point->worst.finding.message,
	    sizeof point->worst.finding.message, "%s", bad);
}

/* Every line is one of TAP's, or of the block. */
static bool
is_flat(const char *tap)
{
	const char *line = tap, *end;
	int points = 0;

	for (; *line != '\0'; line = end + 1) {
		end = strchr(line, '\n');
		if (end == NULL)
			return false;
		if (strncmp(line, "not ok ", 7) == 0)
			points++;
		else if (strncmp(line, "  ", 2) != 0 && line != tap &&
		    strncmp(line, "1..1", 4) != 0)
			return false;
	}
	return points == 1;
}

static void
test_hostile(void)
{
	char *junit = in_folder("h.xml"), *json = in_folder("h.json");
	char *out = in_folder("h"), *text = NULL, *got, path[1100];
	struct report r = { .tap_version = 14, .junit = junit, .json = json,
	    .out = out, .mode = "live" };
	struct history h = { .n = 0 };
	struct check_finding f;
	struct judge_point p;
	struct plan bad;
	size_t len = 0;

	report_world_small(&h, &f);
	p = violated(&f);
	poison(&h, &bad, &p);
	r.tap = open_memstream(&text, &len);
	if (r.tap == NULL)
		bail_out("no memory");
	report_begin(&r, 1);
	report_point(&r, &p, &h);
	is_int(report_end(&r), 0, "texts that bite are written");
	fclose(r.tap);
	ok(is_flat(text), "TAP has no line that a text has made");
	is_int(controls(text), 0, "nor a control character");
	ok(len < 20000, "and is short: %zu bytes", len);
	free(text);
	text = read_file(junit);
	is_int(report_times(text, "<testcase "), 1,
	    "JUnit has one case, whatever it is called");
	is_int(controls(text) + report_times(text, "<svg") +
	    report_times(text, "]]>"), 0, "and nothing of the text as it was");
	free(text);
	text = read_file(json);
	is_int(controls(text), 0, "JSON has no control character");
	free(text);
	snprintf(path, sizeof path, "%s/report.html", r.folder);
	got = read_file(path);
	is_int(report_times(got, "</script"), 1, "no text ends the script");
	is_int(report_times(got, "<svg onload") + controls(got), 0,
	    "nor is a tag of the page");
	is_int(report_times(got, "limit of a run"), 0,
	    "nor a time that is none");
	ok(strlen(got) < 100000, "the page is small: %zu bytes", strlen(got));
	free(got);
	free(junit);
	free(json);
	free(out);
	history_free(&h);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int
main(void)
{
	if (mkdtemp(folder) == NULL)
		bail_out("no folder");
	test_short();
	test_long();
	test_again();
	test_none();
	test_bar();
	test_folder();
	test_no_folder();
	test_hostile();
	if (nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
		note("%s stays", folder);
	return done();
}
