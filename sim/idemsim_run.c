/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include "child.h"
#include "draw.h"
#include "folder.h"
#include "now.h"
#include "report.h"
#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#define OUT "idemsim-out"
#define WALL_MS 60000		/* of a point that names none */
#define QUICK_RUNS 5		/* of which one will do */

/* A signal handler can reach nothing else. */
static volatile sig_atomic_t interrupted;

struct session {
	const struct idemsim_options *o;
	const struct world *world;
	struct report report;
	uint64_t seed;
	enum judge_verdict *verdicts;
	size_t verdicts_n;
	struct judge_file file;	/* the points so far of the one under way */
	bool failed;		/* by our own means */
	bool missing;
};

/* --- signals -------------------------------------------------------------- */

static void
interrupt(int signal)
{
	(void)signal;
	/* Who asks again does not want to wait.  The warden ends the rest. */
	if (interrupted)
		_exit(IDEMSIM_INTERRUPTED);
	interrupted = 1;
}

bool
idemsim_interrupted(void)
{
	return interrupted != 0;
}

void
idemsim_catch_signals(void)
{
	const struct sigaction end = { .sa_handler = interrupt };
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGXFSZ, &ignore, NULL);	/* a full disk */
}

/* --- one run -------------------------------------------------------------- */

uint64_t
idemsim_seed_of(uint64_t seed, unsigned run)
{
	struct draw draw;

	if (run == 1)
		return seed;
	draw_seed(&draw, seed + run);
	return draw_bits(&draw);
}

static void
say(struct session *s, const char *path)
{
	fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
	s->failed = true;
}

int
idemsim_history(FILE *file, const void *h)
{
	return history_write(h, file);
}

static int
write_text(FILE *file, const void *h)
{
	history_say(h, file);
	return 0;
}

/* The folder of the point that is under way. */
static void
folder_of(const struct session *s, char *out, size_t size)
{
	snprintf(out, size, "%.4000s/%03zu-logs", s->o->keep != NULL ?
	    s->o->keep : s->report.out, s->report.done + 1);
}

/* As a file, and for people. */
static void
keep_history(struct session *s, const char *folder, const struct history *h)
{
	char path[4200];

	snprintf(path, sizeof path, "%s/history.jsonl", folder);
	if (folder_file(path, idemsim_history, h) != 0) {
		say(s, path);
		return;
	}
	snprintf(path, sizeof path, "%s/history.txt", folder);
	if (folder_file(path, write_text, h) != 0)
		say(s, path);
}

/*
 * Logs go at once, before another run ends who wrote them.  The history of a
 * point that is not ok has a folder of its own.
 */
static void
keep(struct session *s, const struct judge_point *p, const struct history *h)
{
	bool bad = p->worst.verdict == JUDGE_FAIL ||
	    p->worst.verdict == JUDGE_INCONCLUSIVE;
	const char *in = s->o->keep != NULL ? s->o->keep : s->report.out;
	char folder[4096];

	if (s->o->keep == NULL && !bad)
		return;
	folder_of(s, folder, sizeof folder);
	if (folder_make(in) != 0 || live_keep(folder) != 0) {
		say(s, folder);
		return;
	}
	if (s->o->keep != NULL)
		keep_history(s, folder, h);
}

/* Which points there are may have been said, and how often each runs. */
static bool
is_all_of_it(const struct idemsim_options *o)
{
	return !o->quick && o->only == NULL && o->params_n == 0;
}

/* -1: it could not be done; then its history has no end. */
static int
run_once(struct session *s, const struct idemsim_point *at, unsigned run,
    struct history *h)
{
	char wrong[400] = "";
	int status = s->world->run(at->plan, idemsim_seed_of(s->seed, run),
	    run, h, wrong, sizeof wrong);

	h->head.others = !is_all_of_it(s->o) ||
	    scenario_points(at->scenario) > 1;
	if (status == 0)
		return 0;
	fprintf(stderr, "idemsim: %s: %s\n", at->plan->name, wrong);
	h->head.run = run;		/* also if it never began */
	history_add(h, HISTORY_NOTE, 0, "-")->what = history_text(h, wrong);
	s->failed = true;
	return -1;
}

/* --- one point ------------------------------------------------------------ */

static unsigned
runs_of(const struct session *s, const struct plan *plan)
{
	return s->o->quick ? QUICK_RUNS : s->o->runs > 0 ? s->o->runs :
	    plan->explore.runs == 0 ? 1 : plan->explore.runs;
}

static int64_t
wall_of(const struct session *s, const struct plan *plan)
{
	return s->o->wall_ms > 0 ? s->o->wall_ms :
	    plan->explore.wall_ms > 0 ? plan->explore.wall_ms : WALL_MS;
}

/* Of two runs' histories the one is kept that the verdict is of. */
static void
take(struct history *worst, struct history *h, bool worse)
{
	if (!worse) {
		history_free(h);
		return;
	}
	history_free(worst);
	*worst = *h;
	*h = (struct history){ .n = 0 };
}

/* A run that is over, and what is said of it. */
struct one {
	unsigned run;
	struct history h;
	struct judge_run said;
	bool *sometimes;	/* lies in h */
	bool good;		/* it could be done, and was judged */
};

static void
judge(struct session *s, const struct idemsim_point *at, struct one *one)
{
	size_t n = at->plan->expect.sometimes_n;
	const struct idemsim_asked asked = {
		.history = &one->h, .scenario = at->scenario,
		.point = at->number, .sometimes_n = n,
		.within_ms = IDEMSIM_JUDGE_MS
	};

	one->sometimes = arena_get(&one->h.arena, n + 1);
	if (idemsim_judge(&asked, &one->said, one->sometimes))
		return;
	fprintf(stderr, "idemsim: %s: %s\n", at->plan->name,
	    one->said.message);
	s->failed = true;
	one->good = false;
}

/* Else its history would be refused when it is to be judged again. */
static bool
can_be(struct session *s, const struct idemsim_point *at,
    const struct history *h)
{
	char why[200];
	size_t line = history_odd(h, why, sizeof why);

	if (line == 0)
		return true;
	fprintf(stderr, "idemsim: %s: line %zu of its history cannot be: %s\n",
	    at->plan->name, line, why);
	s->failed = true;
	return false;
}

static void
run_one(struct session *s, const struct idemsim_point *at, unsigned run,
    struct one *one)
{
	*one = (struct one){ .run = run };
	one->good = run_once(s, at, run, &one->h) == 0 &&
	    can_be(s, at, &one->h);
	judge(s, at, one);
}

static void
count(struct session *s, struct judge_point *p, struct one *one,
    struct history *worst)
{
	bool is_worst;

	judge_point_take(p, &one->h, &one->said, one->sometimes);
	is_worst = p->worst_run == one->run;
	if (is_worst)
		keep(s, p, &one->h);
	take(worst, &one->h, is_worst || worst->n == 0);
}

/* Nothing of it counts; but somebody may wonder why there was another. */
static void
forget(const struct plan *plan, struct one *one)
{
	fprintf(stderr, "idemsim: %s: run %u does not count, as a busy host "
	    "may have done that: %s: %s\n", plan->name, one->run,
	    judge_text(one->said.verdict), one->said.message);
	history_free(&one->h);
}

/* A busy host may have done it: it counts only if it is the last. */
static bool
is_held(const struct session *s, const struct one *one)
{
	return s->o->quick && one->good && one->said.hasty;
}

static bool
is_another_wanted(const struct session *s, const struct judge_point *p)
{
	return s->o->quick ? judge_point_unmet(p) :
	    p->worst.verdict != JUDGE_FAIL;
}

/* One that is held is forgotten when the next begins, not before: nobody knows
   until then whether there is time for it. */
static void
run_all(struct session *s, const struct idemsim_point *at,
    struct judge_point *p, struct history *worst)
{
	unsigned run, runs = runs_of(s, at->plan);
	int64_t began = now_ms(), end = began + wall_of(s, at->plan);
	bool more = true, held = false;
	struct one one = { .run = 0 };

	for (run = 1; run <= runs && more && !interrupted &&
	    (run == 1 || now_ms() < end); run++) {
		if (held)
			forget(at->plan, &one);
		report_progress(&s->report, at->plan, run, s->o->quick ? run :
		    runs);
		run_one(s, at, run, &one);
		held = is_held(s, &one);
		if (held)
			continue;
		count(s, p, &one, worst);
		more = one.good && is_another_wanted(s, p);
	}
	if (held)
		count(s, p, &one, worst);
	p->wall_ms = now_ms() - began;
}

const char *
idemsim_why_not(const struct world *world, const struct plan *plan,
    bool *missing)
{
	const char *why;

	*missing = false;
	if ((plan->modes & world->bit) == 0)
		return "it is of the model only, and there is none yet: its "
		    "modes do not have live";
	why = world->cannot(plan);
	if (why != NULL)
		return why;
	why = world->missing(plan);
	*missing = why != NULL;
	return why;
}

static const char *
why_not(struct session *s, const struct plan *plan)
{
	bool missing;
	const char *why = idemsim_why_not(s->world, plan, &missing);

	if (missing && s->o->require_live) {
		fprintf(stderr, "idemsim: %s: %s\n", plan->name, why);
		s->missing = true;
	}
	return why;
}

/* What was kept of the last one is not to be judged otherwise. */
static void
point_is_vacuous(struct session *s, struct history *worst)
{
	char folder[4096];

	worst->head.others = false;
	if (s->o->keep == NULL)
		return;
	folder_of(s, folder, sizeof folder);
	keep_history(s, folder, worst);
}

static void
judge_file_so_far(struct session *s, struct judge_point *p,
    struct history *worst, bool last)
{
	judge_file_add(&s->file, p);
	if (last && is_all_of_it(s->o) && judge_file_end(&s->file, p))
		point_is_vacuous(s, worst);
	if (last)
		s->file = (struct judge_file){ .partial = false };
}

/* last: of its file. */
static void
run_point(struct session *s, const struct idemsim_point *at, bool last)
{
	const char *why = why_not(s, at->plan);
	struct history worst = { .n = 0 };
	struct judge_point p;

	judge_point_begin(&p, at->plan);
	if (why != NULL)
		judge_point_skip(&p, why);
	else {
		run_all(s, at, &p, &worst);
		judge_point_end(&p);
	}
	judge_file_so_far(s, &p, &worst, last);
	if (!interrupted || p.verdict == JUDGE_FAIL)
		report_point(&s->report, &p, worst.n > 0 &&
		    p.verdict != JUDGE_PASS ? &worst : NULL);
	s->verdicts[s->verdicts_n++] = p.verdict;
	history_free(&worst);
	judge_point_free(&p);
}

/* --- all of them ---------------------------------------------------------- */

uint64_t
idemsim_some_seed(void)
{
	uint64_t seed;

	if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
		seed = (uint64_t)now_ms();
	return seed;
}

/* Points there are, but all of them were skipped. */
static bool
is_nothing_run(const struct session *s)
{
	size_t i;

	for (i = 0; i < s->verdicts_n; i++)
		if (s->verdicts[i] != JUDGE_SKIP)
			return false;
	return s->verdicts_n > 0;
}

/* A job that shows nothing is green for everybody else who reads TAP. */
static void
say_nothing_was_run(const struct session *s)
{
	const char *more = s->o->require_live ? "" :
	    "; --require live makes that a failure";

	if (interrupted || !is_nothing_run(s))
		return;
	printf("# nothing was run: all test points were skipped (%zu)%s\n",
	    s->verdicts_n, more);
	fprintf(stderr, "idemsim: nothing was run: all test points were "
	    "skipped (%zu)%s\n", s->verdicts_n, more);
}

static enum idemsim_exit
end_of(const struct session *s)
{
	if (interrupted)
		return IDEMSIM_INTERRUPTED;
	if (s->failed)
		return IDEMSIM_INTERNAL;
	if (s->missing)
		return IDEMSIM_MISSING;
	if (s->o->require_live && is_nothing_run(s))
		return IDEMSIM_NOT_SHOWN;
	return (enum idemsim_exit)judge_exit(s->verdicts, s->verdicts_n);
}

static enum idemsim_exit
run_files(struct session *s, const struct idemsim_files *files)
{
	enum idemsim_exit status;
	size_t i;

	report_begin(&s->report, files->points_n);
	printf("# seed 0x%016" PRIx64 "\n", s->seed);
	fflush(stdout);		/* whatever becomes of this run */
	s->verdicts = calloc(files->points_n, sizeof *s->verdicts);
	for (i = 0; i < files->points_n && s->verdicts != NULL &&
	    !interrupted && !ferror(stdout); i++)
		run_point(s, &files->points[i], i + 1 == files->points_n ||
		    files->points[i + 1].scenario != files->points[i].scenario);
	say_nothing_was_run(s);
	if (interrupted)
		printf("Bail out! interrupted\n");
	if (report_end(&s->report) != 0 || s->verdicts == NULL)
		s->failed = true;
	status = end_of(s);
	free(s->verdicts);
	return status;
}

enum idemsim_exit
idemsim_run(const struct idemsim_options *o)
{
	struct session s = {
		.o = o, .world = &live_world,
		.seed = o->seeded ? o->seed : idemsim_some_seed(),
		.report = {
			.tap = stdout, .tap_version = o->tap,
			.junit = o->junit, .json = o->json,
			.out = o->out != NULL ? o->out : OUT,
			.bar = isatty(STDERR_FILENO) == 1,
			.command = "idemsim run --runs 1", .mode = "live"
		}
	};
	struct idemsim_files files;
	enum idemsim_exit status = IDEMSIM_USAGE;

	if (!idemsim_files_open(&files, o) || !idemsim_places(o))
		goto close;
	idemsim_catch_signals();
	if (child_warden_start() == NULL) {
		fprintf(stderr, "idemsim: no folder for a run: %s\n",
		    strerror(errno));
		status = IDEMSIM_INTERNAL;
		goto close;
	}
	live_stop_when(idemsim_interrupted);
	status = run_files(&s, &files);
	s.world->end();
	child_warden_end(false);
close:
	idemsim_files_close(&files);
	return status;
}
