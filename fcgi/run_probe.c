/* SPDX-License-Identifier: ISC */
#include "run.h"

#include "lobby.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/*
 * A probe: a program of the operator's that is asked what became of a run of
 * which nobody knows (doc/design.md, 3).  It is given the request of that run,
 * and answers by its exit status: 0, it happened, and its output is the answer;
 * 10, it certainly did not; anything else, it does not know either.
 */
#define EXIT_DID_NOT 10

bool
run_probe_spec(struct run *r, struct run_spec *spec, char *argv[2])
{
	const struct conf_route *route = r->visit->route;
	char *slash;

	r->folder = strdup(route->probe);
	slash = r->folder != NULL ? strrchr(r->folder, '/') : NULL;
	if (slash == NULL)
		return false;
	slash[slash == r->folder] = '\0';	/* "/" itself stays */
	argv[0] = (char *)(uintptr_t)route->probe;
	spec->argv = argv;
	spec->folder = r->folder;
	spec->limit_ms = route->probe_limit_ms;
	return true;
}

/* Why it is of no use, for the log; empty: it is. */
static void
doubt(const struct run *r, enum idem_run how, char *why, size_t size)
{
	int code = WEXITSTATUS(r->status);

	why[0] = '\0';
	if (how == IDEM_RUN_NOT_STARTED)
		snprintf(why, size, "not started");
	else if (r->how == RUN_GOES_ON)
		snprintf(why, size, "no word of its end");
	else if (r->limited)
		snprintf(why, size, "over its limit");
	else if (WIFSIGNALED(r->status))
		snprintf(why, size, "signal %d", WTERMSIG(r->status));
	else if (code != 0 && code != EXIT_DID_NOT)
		snprintf(why, size, "exit status %d", code);
	else if (code == 0 && how != IDEM_RUN_FINISHED)
		snprintf(why, size, "exit status 0 without a whole answer");
}

static bool
take_answer(struct run *r, bool *kept)
{
	struct visit *v = r->visit;
	struct idem_blob *saved = run_saved(r, v->route->route.kept_max, kept);

	if (saved != NULL)
		idem_exchange_answer(&v->x, saved);
	return saved != NULL;
}

void
run_probe_over(struct run *r, enum idem_run how)
{
	static const char *const words[] = {
		[IDEM_HAPPENED] = "happened", [IDEM_DID_NOT] = "did-not",
		[IDEM_PROBE_UNKNOWN] = "unknown"
	};
	struct idem_event ev = {
		.op = IDEM_PROBE, .probed = IDEM_PROBE_UNKNOWN
	};
	char why[64];

	doubt(r, how, why, sizeof why);
	if (why[0] == '\0' && WEXITSTATUS(r->status) == EXIT_DID_NOT)
		ev.probed = IDEM_DID_NOT;
	else if (why[0] == '\0' && take_answer(r, &ev.kept))
		ev.probed = IDEM_HAPPENED;
	else
		r->visit->note.why = IDEM_WHY_PROBE;
	log_line_quoted(&r->lobby->log, "why", why, "run=%llu probe=%s",
	    (unsigned long long)r->id, words[ev.probed]);
	visit_tell(r->visit, &ev);	/* r may be gone after it */
}
