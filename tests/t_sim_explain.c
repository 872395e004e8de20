/* SPDX-License-Identifier: ISC */
#include "explain.h"
#include "scenario.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What idemsim says of scenarios that are shipped, word for word. */
static const struct row {
	const char *file;
	struct scenario_choice choice;
	const char *text;
} rows[] = {
	{ "scenarios/02_crash_before_complete.lua",
	  { "point", "effect.after" },
	  "crash at effect.after\n"
	  "  scenarios/02_crash_before_complete.lua, test point 1, "
	  "point = effect.after.\n"
	  "\n"
	  "Who takes part\n"
	  "  Two instances of idemd, g1 and g2. The ledger permits "
	  "each start; they share\n"
	  "  one, with Redis a beside it as a cache. Configured: lease "
	  "= 1500ms,\n"
	  "  on_unknown = block.\n"
	  "  Redis a keeps nothing on disk.\n"
	  "  The program works for 40 ms, notes its effect and answers "
	  "with 70,000 bytes.\n"
	  "\n"
	  "What clients do\n"
	  "  By a script:\n"
	  "         0 ms  c1 sends k, body \"x\"\n"
	  "       100 ms  c2 sends k, body \"x\"\n"
	  "     2,500 ms  c3 sends k, body \"x\"\n"
	  "\n"
	  "What goes wrong\n"
	  "  When g1 comes to effect.after of k:\n"
	  "      kill g1;\n"
	  "      200 ms later restart g1.\n"
	  "  All of it must be seen to happen. At 3,000 ms it all "
	  "ends, and everything is\n"
	  "  up again; then everybody has 3,000 ms to come to rest.\n"
	  "\n"
	  "What must hold\n"
	  "  at_most_once, same_answer, ack_durable, no_false_definite,\n"
	  "  no_partial_success, unknown_honest, resolves.\n"
	  "  In one run at least there must be: it_died, "
	  "unknown_reported.\n"
	  "  Live: two runs, within 60 s.\n"
	  "  What it wants to be explored by a model is not: there is "
	  "none yet.\n" },
	{ "scenarios/03_retry_storm.lua",
	  { "clients", "jittered" },
	  "retry storm (jittered)\n"
	  "  scenarios/03_retry_storm.lua, test point 1, clients = jittered.\n"
	  "\n"
	  "Who takes part\n"
	  "  Four instances of idemd, g1 to g4. The ledger permits "
	  "each start; they share\n"
	  "  one, with Redis a beside it as a cache. Configured: lease "
	  "= 5000ms, wait =\n"
	  "  250ms.\n"
	  "  Redis a keeps nothing on disk.\n"
	  "  The program works for 100 to 600 ms, notes its effect and "
	  "answers.\n"
	  "\n"
	  "What clients do\n"
	  "  At 200 ms 400 clients send a request each within 20 ms "
	  "with the keys k1 to\n"
	  "  k8. A try is given up after 300 ms on average (100 to "
	  "2,000). After a\n"
	  "  timeout, a reset, busy or 503 they try again after 100 "
	  "ms, then twice as\n"
	  "  long each time up to 5,000 ms, with full jitter, with the "
	  "same key and not\n"
	  "  before Retry-After. At most eight tries a request.\n"
	  "  50 requests a second come for 6,000 ms by chance "
	  "(Poisson), each with a key\n"
	  "  of its own. A try is given up after 300 ms on average "
	  "(100 to 2,000). After\n"
	  "  a timeout, a reset, busy or 503 they try again after 100 "
	  "ms, then twice as\n"
	  "  long each time up to 5,000 ms, with full jitter, with the "
	  "same key and not\n"
	  "  before Retry-After. At most eight tries a request.\n"
	  "\n"
	  "What goes wrong\n"
	  "  At 150 ms: slow a by 700 ms.\n"
	  "  At 1,200 ms: let a be as fast as before.\n"
	  "  By chance, at most twice: kill *, between 200 and 1,500 "
	  "ms, and start it\n"
	  "  again 50 ms later.\n"
	  "  All of it must be seen to happen, but for what is left to "
	  "chance. At 3,000\n"
	  "  ms it all ends, and everything is up again; then "
	  "everybody has 5,000 ms to\n"
	  "  come to rest.\n"
	  "\n"
	  "What must hold\n"
	  "  at_most_once, same_answer, ack_durable, "
	  "no_false_definite, mutual_exclusion,\n"
	  "  storm_bounded, resolves, new_keys_succeed.\n"
	  "  Starts of a key: at most 1.\n"
	  "  Commands a try: at most 3.\n"
	  "  As many answers as before again within 2,000 ms of the "
	  "last fault's end.\n"
	  "  Of requests that are not in the storm 99 of 100 are "
	  "answered within 1,500\n"
	  "  ms.\n"
	  "  In one run at least there must be: coalesced, "
	  "replayed, slow.\n"
	  "  Live: two runs, within 40 s.\n"
	  "  What it wants to be explored by a model is not: there is "
	  "none yet.\n" },
	{ "scenarios/06_slow_handler_outlives_lease.lua",
	  { "policy", "retry" },
	  "slow handler outlives its lease [policy=retry, asleep=all]\n"
	  "  scenarios/06_slow_handler_outlives_lease.lua, test point "
	  "1, policy = retry,\n"
	  "  asleep = all.\n"
	  "\n"
	  "Who takes part\n"
	  "  Two instances of idemd, g1 and g2. Redis a permits each "
	  "start. Configured:\n"
	  "  lease = 600ms, limit = 900ms, on_unknown = retry.\n"
	  "  Redis a keeps nothing on disk.\n"
	  "  The program works for 100, 700 or 1,500 ms, notes its "
	  "effect and answers. It\n"
	  "  says \"receipt {effect_id}\".\n"
	  "\n"
	  "What clients do\n"
	  "  By a script:\n"
	  "         0 ms  c1 sends k, waits 500 ms\n"
	  "       650 ms  c1 sends k, waits 500 ms\n"
	  "     1,700 ms  c2 sends k, waits 700 ms\n"
	  "     2,700 ms  c3 sends k to g2, waits 1,000 ms\n"
	  "     4,000 ms  c4 sends k, waits 1,000 ms\n"
	  "\n"
	  "What goes wrong\n"
	  "  When g1 comes to program.spawned of k:\n"
	  "      pause g1;\n"
	  "      3,500 ms later resume g1.\n"
	  "  By chance, at most once: set the clock of a forward by "
	  "60000 ms, between\n"
	  "  2,800 and 4,400 ms.\n"
	  "  By chance, at most once: set the clock of g2 back by 3600000 ms.\n"
	  "  All of it must be seen to happen, but for what is left to "
	  "chance. At 4,500\n"
	  "  ms it all ends, and everything is up again; then "
	  "everybody has 4,000 ms to\n"
	  "  come to rest.\n"
	  "\n"
	  "What must hold\n"
	  "  same_answer, ack_durable, no_false_definite, "
	  "late_completer_harmless,\n"
	  "  storm_bounded, resolves.\n"
	  "  Starts of a key: at most 1, and one more for each lease_expiry.\n"
	  "  Not at_most_once: policy is at-least-once.\n"
	  "  In one run at least there must be: expired_while_running,\n"
	  "  late_writer_refused.\n"
	  "  Live: two runs, within 60 s.\n"
	  "  What it wants to be explored by a model is not: there is "
	  "none yet.\n" },
};

static void
check(const struct row *r)
{
	struct scenario *s;
	char wrong[1000], *text = NULL;
	size_t size, n = r->choice.name != NULL ? 1 : 0;
	FILE *out;

	s = scenario_open(r->file, &r->choice, n, wrong, sizeof wrong);
	if (s == NULL)
		bail_out("%s", wrong);
	out = open_memstream(&text, &size);
	if (out == NULL)
		bail_out("no memory");
	explain(scenario_plan(s, 0), out);
	fclose(out);
	is(text, r->text, "%s is told in words", scenario_plan(s, 0)->name);
	free(text);
	scenario_close(s);
}

/* Each file of the shipped ones, and each of its points, has words. */
static void
check_width(const char *file)
{
	char wrong[1000], *text = NULL, *line, *rest;
	struct scenario *s;
	size_t size, i;
	bool good = true;
	FILE *out;

	s = scenario_open(file, NULL, 0, wrong, sizeof wrong);
	if (s == NULL)
		bail_out("%s", wrong);
	out = open_memstream(&text, &size);
	if (out == NULL)
		bail_out("no memory");
	for (i = 0; i < scenario_points(s); i++)
		explain(scenario_plan(s, i), out);
	fclose(out);
	for (line = strtok_r(text, "\n", &rest); line != NULL;
	    line = strtok_r(NULL, "\n", &rest))
		good = good && (line[0] != ' ' || strlen(line) <= 78);
	ok(good && size > 500 * scenario_points(s), "%s: its words are no "
	    "wider than a terminal", file);
	free(text);
	scenario_close(s);
}

int
main(void)
{
	const char *top = getenv("top_srcdir");
	size_t i;

	if (top != NULL && chdir(top) != 0)
		bail_out("%s: it is not there", top);
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	check_width("scenarios/01_redis_outage_mid_request.lua");
	check_width("scenarios/04_split_brain_one_gate.lua");
	check_width("scenarios/05_failover_loses_claim.lua");
	check_width("scenarios/90_negative_control_rotated_key.lua");
	return done();
}
