/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "label.h"
#include "lobby.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOG_PROGRAM 300	/* of its path in a line */

/* --- its end -------------------------------------------------------------- */

static enum run_how
how_ended(const struct run_end *end)
{
	if (end->limit)
		return RUN_STOPPED;
	if (WIFEXITED(end->status))
		return WEXITSTATUS(end->status) == 0 ? RUN_ENDED : RUN_FAILED;
	switch (WTERMSIG(end->status)) {
	case SIGKILL:
	case SIGTERM:
	case SIGINT:
	case SIGHUP:
	case SIGALRM:
	case SIGXCPU:
		return RUN_STOPPED;
	default:
		return RUN_DIED;
	}
}

/* What could not be started; the request names it, or the configuration. */
static const char *
program_of(const struct run *r)
{
	const struct visit *v = r->visit;

	if (r->probe)
		return v->route->probe;
	if (v->route->program.kind == PROGRAM_NAMED)
		return v->route->program.argv[0];
	return v->detail != NULL ? v->detail->program.path : NULL;
}

static void
not_started(struct run *r, const struct run_end *end)
{
	const char *program = program_of(r);
	char word[LOG_PROGRAM] = "-";

	if (program != NULL)
		log_word(word, sizeof word, program);
	r->handed = false;
	if (!r->probe)
		r->visit->note.run = 0;
	log_line_quoted(&r->lobby->log, "not-started", strerror(end->error),
	    "run=%llu program=%s", (unsigned long long)r->id, word);
	run_not_started(r, end->problem);
}

static void
take_end(struct run *r, const struct run_end *end)
{
	r->how = how_ended(end);
	r->status = end->status;
	r->limited = end->limit;
	r->app_status = WIFEXITED(end->status) ?
	    (uint32_t)WEXITSTATUS(end->status) :
	    128 + (uint32_t)WTERMSIG(end->status);	/* as shells do */
	if (!r->probe)
		r->visit->note.unsure = false;
}

static void
ended(struct run *r, const struct run_end *end, struct idem_bytes out)
{
	if (!end->started) {
		not_started(r, end);
		return;
	}
	take_end(r, end);
	/* Nothing more that counts can come. */
	if (r->keyed && (r->how == RUN_STOPPED || r->how == RUN_DIED))
		run_over(r);
	else
		run_cgi_out_over(r, end, out);
}

void
run_cgi_ended(struct lobby *lobby, uint64_t id, const struct run_end *end,
    struct idem_bytes out)
{
	struct run *r;

	IDEM_LABEL("run.ended");
	for (r = lobby->runs; r != NULL && r->id != id; r = r->next)
		;
	if (r != NULL && !r->told)	/* else nobody waits for it any more */
		ended(r, end, out);
}

/*
 * A keeper that has died wrote down how far it had come.  False: begun, and
 * that is all.
 */
static bool
end_of_note(const struct run_note *n, struct run_end *end)
{
	struct idem_evidence e;

	*end = (struct run_end){
		.problem = IDEM_PROBLEM_BUSY, .error = EPIPE
	};
	idem_evidence_of(n->at.file, IDEM_RUN_HELD, &e);
	if (e.noted && (e.note.state == IDEM_NOTE_HANDED ||
	    e.note.state == IDEM_NOTE_NOT_BEGUN))
		return true;
	end->started = end->spooled = true;
	end->status = e.trailer.status;
	end->limit = e.trailer.limit;
	end->len = e.trailer.len;
	return e.ended;
}

/* What is over is over; the others died with it. */
static void
keeper_lost(struct run *r)
{
	const struct idem_bytes none = { NULL, 0 };
	struct run_note *n = &r->visit->note;
	bool noted = n->run == r->id;
	struct run_end end;

	if (noted)
		n->run = 0;
	if (r->told || r->how != RUN_GOES_ON)
		return;
	if (noted && end_of_note(n, &end)) {
		ended(r, &end, none);
		return;
	}
	if (noted) {
		n->unsure = false;
		n->why = IDEM_WHY_KEEPER;
	}
	run_over(r);
}

void
run_cgi_keeper_lost(struct lobby *lobby)
{
	struct run *r, *next;

	for (r = lobby->runs; r != NULL; r = next) {
		next = r->next;
		if (r->handed)
			keeper_lost(r);
	}
}

bool
run_cgi_signal(const struct run *r, int signal)
{
	if (!r->handed || r->told || r->how != RUN_GOES_ON ||
	    r->lobby->runner == NULL)
		return false;
	runner_signal(r->lobby->runner, r->id, signal);
	return true;
}

/* --- start ---------------------------------------------------------------- */

/* It is to be there for the run yet, when a probe has read it. */
static int
input_of(struct run *r)
{
	struct spool *body = &r->visit->detail->body;

	return r->probe ? spool_input_copy(body) : spool_input(body);
}

static int
start(struct run *r, struct run_spec *spec)
{
	if (spec->envp != NULL && spec->in != -1 &&
	    run_cgi_out_open(r, spec) == 0)
		return runner_start(r->lobby->runner, r->id, spec);
	if (spec->in != -1)
		close(spec->in);
	if (spec->out != -1)
		close(spec->out);
	if (spec->err != -1)
		close(spec->err);
	return -1;
}

static int
hand_over(struct run *r, struct run_spec *spec)
{
	struct visit *v = r->visit;
	struct program_more more = {
		.rule = &v->route->program,
		.program = &v->detail->program,
		.body_len = v->detail->body.len,
		.keyed = r->keyed,
		.key = v->x.key,
		.attempt = r->probe ? v->x.attempt - 1 : v->x.attempt,
		.recovery = r->probe,
		.deadline_ms = idem_wall_ms(&idem_clock_real) + spec->limit_ms
	};
	char **env = program_environment(&v->detail->params, &more);
	int answer;

	shm_add(r->lobby->shm, SHM_DROPPED, more.dropped);
	spec->envp = env;
	spec->in = input_of(r);
	answer = start(r, spec);
	free(env);
	return answer;
}

/* A slot got for a keeper that has died since is not the next one's. */
static bool
has_keeper(const struct run *r)
{
	const struct runner *runner = r->lobby->runner;

	return runner != NULL && (r->probe ||
	    runner_keeper(runner) == r->visit->slot_keeper);
}

static void
spec_of_program(const struct run *r, struct run_spec *spec, char *argv[2])
{
	const struct visit *v = r->visit;
	const struct idem_policy *policy = &v->x.gate.policy;

	argv[0] = v->detail->program.path;
	spec->argv = v->route->program.kind == PROGRAM_NAMED ?
	    v->route->program.argv : argv;
	spec->folder = v->detail->program.folder;
	spec->slot = v->slot;
	spec->limit_ms = v->route->route.limit_ms;
	if (v->x.gate.claimed)
		spec->not_after_ms = v->x.claim_sent_ms + policy->lease_ms;
	if (run_note_is(v)) {
		spec->note = v->note.at;
		spec->owner = v->note.owner;
		spec->spooled = v->route->spool;
	}
}

static void
started(struct run *r, const struct run_spec *spec)
{
	struct visit *v = r->visit;

	r->handed = true;
	r->until_ms = loop_now(r->lobby->loop) + spec->limit_ms +
	    v->conf->grace_ms + RUN_IDLE_MS;
	run_cgi_out_await(r);
	if (r->probe)
		return;
	v->slot = -1;	/* the keeper's now */
	if (spec->note.file == -1)
		return;
	v->note.run = r->id;
	v->note.unsure = true;
}

bool
run_cgi_start(struct run *r)
{
	char *argv[2] = { NULL, NULL };
	struct run_spec spec = {
		.note = { -1, -1 }, .slot = -1, .err_read = -1,
		.in = -1, .out = -1, .err = -1
	};

	if (r->probe) {
		if (!run_probe_spec(r, &spec, argv))
			return false;
	} else
		spec_of_program(r, &spec, argv);
	spec.path = spec.argv[0];
	r->spooled = spec.spooled;
	if (!has_keeper(r) || hand_over(r, &spec) != 0)
		return false;
	started(r, &spec);
	return true;
}
