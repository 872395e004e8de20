/* SPDX-License-Identifier: ISC */
#include "scenario_lua.h"

#define NAMES "script cmd dir nth times"	/* of messages of a link */

#define TWO " { sim.at(100), sim.effect(\"k\") }"

/* Actions on what is named, and no more; and those that "false" ends. */
#define OF_GATE(name, act) \
	{ name, SCENARIO_ACTION, act, "s", "(\"g1\")", NULL }
#define OF_LINK(name, act) \
	{ name, SCENARIO_ACTION, act, "s", "(\"g1->a\")", NULL }
#define OF_STORE(name, act) \
	{ name, SCENARIO_ACTION, act, "s", "(\"a\")", NULL }
#define OF_CLIENT(name, act) \
	{ name, SCENARIO_ACTION, act, "s", "(\"c1\")", NULL }
#define OF_KEY(name, act) \
	{ name, SCENARIO_ACTION, act, "sS", "(\"a\", \"k\")", NULL }
#define OR_OVER(name, act, example) \
	{ name, SCENARIO_ACTION, act, "sB", example, NULL }

/* In the order of the documentation. */
static const struct scenario_word words[] = {
	/* distributions */
	{ "const", SCENARIO_DIST, PLAN_CONST, "n", "(80)", NULL },
	{ "uniform", SCENARIO_DIST, PLAN_UNIFORM, "nn", "(100, 600)", NULL },
	{ "exp", SCENARIO_DIST, PLAN_EXP, "nT", "(300, { min = 100, max = "
	  "2000 })", "min max" },
	{ "choice", SCENARIO_DIST, PLAN_CHOICE, "t", " { 100, 700, 1500 }",
	  NULL },

	/* load */
	{ "closed", SCENARIO_LOAD, PLAN_CLOSED, "t", " { clients = 3, keys = "
	  "sim.keys { n = 2 }, requests_per_client = 2 }",
	  "clients keys requests_per_client think retry" },
	{ "open", SCENARIO_LOAD, PLAN_OPEN, "t", " { rate = 50, for_ms = "
	  "6000, arrivals = \"poisson\", keys = sim.keys { n = 300 } }",
	  "rate for_ms arrivals keys retry" },
	{ "storm", SCENARIO_LOAD, PLAN_STORM, "t", " { clients = 400, keys = "
	  "sim.keys { n = 8 }, at = 200, within = 20 }",
	  "clients keys at within retry" },
	{ "script", SCENARIO_LOAD, PLAN_SCRIPT, "t", " { { at = 0, client = "
	  "\"c1\", send = { key = \"k\" } } }", NULL },
	{ "keys", SCENARIO_KEYS, 0, "t", " { n = 8, zipf = 1.1 }",
	  "n zipf once bodies from" },
	{ "retry", SCENARIO_RETRY, 0, "t", " { max = 6, timeout = "
	  "sim.const(400), on = { \"timeout\" } }", "max timeout backoff base "
	  "cap jitter on key honour_retry_after" },
	{ "handler", SCENARIO_HANDLER, 0, "t", " { effect = \"append\", "
	  "service = sim.const(80) }", "effect command service output "
	  "output_bytes business_id crash partial_output promises_length exit "
	  "status" },

	/* triggers */
	{ "at", SCENARIO_TRIGGER, PLAN_AT, "d", "(150)", NULL },
	{ "label", SCENARIO_TRIGGER, PLAN_LABEL, "ssT", "(\"g1\", "
	  "\"claim.ok\", { key = \"k\", nth = 1 })", "key nth" },
	{ "frame", SCENARIO_TRIGGER, PLAN_FRAME, "sT", "(\"g1->a\", { script "
	  "= \"claim\", phase = \"reply\", nth = 1 })",
	  "script cmd phase nth" },
	{ "reply", SCENARIO_TRIGGER, PLAN_REPLY, "sT", "(\"c1\", { class = "
	  "\"busy\", nth = 1 })", "class nth" },
	{ "effect", SCENARIO_TRIGGER, PLAN_EFFECT, "sT", "(\"k\", { nth = 1 "
	  "})", "nth" },
	{ "all", SCENARIO_TRIGGER, PLAN_ALL, "t", TWO, NULL },
	{ "any", SCENARIO_TRIGGER, PLAN_FIRST, "t", TWO, NULL },

	/* actions */
	OF_GATE("proc.kill", PLAN_PROC_KILL),
	OF_GATE("proc.pause", PLAN_PROC_PAUSE),
	OF_GATE("proc.resume", PLAN_PROC_RESUME),
	OF_GATE("proc.restart", PLAN_PROC_RESTART),
	{ "proc.fail", SCENARIO_ACTION, PLAN_PROC_FAIL, "ss", "(\"g1\", "
	  "\"EAGAIN\")", NULL },
	{ "net.drop", SCENARIO_ACTION, PLAN_NET_DROP, "sT", "(\"g1->a\", { "
	  "dir = \"reply\", script = \"claim\", nth = 1, times = 1 })",
	  NAMES },
	{ "net.hold", SCENARIO_ACTION, PLAN_NET_HOLD, "sT", "(\"g1->a\", { "
	  "dir = \"reply\" })", NAMES },
	OF_LINK("net.release", PLAN_NET_RELEASE),
	{ "net.delay", SCENARIO_ACTION, PLAN_NET_DELAY, "sdT", "(\"g1->a\", "
	  "200, { dir = \"reply\" })", NAMES },
	{ "net.reset", SCENARIO_ACTION, PLAN_NET_RESET, "sT", "(\"g1->a\", { "
	  "dir = \"reply\", after_bytes = 3 })", NAMES " after_bytes" },
	{ "net.oneway", SCENARIO_ACTION, PLAN_NET_ONEWAY, "ss", "(\"g1->a\", "
	  "\"request\")", NULL },
	{ "net.slice", SCENARIO_ACTION, PLAN_NET_SLICE, "snT", "(\"g1->a\", "
	  "3)", NAMES },
	OF_LINK("net.refuse", PLAN_NET_REFUSE),
	{ "net.error", SCENARIO_ACTION, PLAN_NET_ERROR, "ssT", "(\"g1->a\", "
	  "\"OOM\", { script = \"complete\" })", "script cmd nth times" },
	OF_LINK("net.heal", PLAN_NET_HEAL),
	OF_STORE("store.kill", PLAN_STORE_KILL),
	{ "store.restart", SCENARIO_ACTION, PLAN_STORE_RESTART, "sT",
	  "(\"a\", { empty = true })", "empty older" },
	OF_STORE("store.pause", PLAN_STORE_PAUSE),
	OF_STORE("store.resume", PLAN_STORE_RESUME),
	{ "store.slow", SCENARIO_ACTION, PLAN_STORE_SLOW, "sd", "(\"a\", "
	  "700)", NULL },
	{ "store.error", SCENARIO_ACTION, PLAN_STORE_ERROR, "ssT", "(\"a\", "
	  "\"READONLY\")", "script cmd nth times" },
	OR_OVER("store.oom", PLAN_STORE_OOM, "(\"a\")"),
	OF_STORE("store.flush", PLAN_STORE_FLUSH),
	OF_KEY("store.evict", PLAN_STORE_EVICT),
	OF_KEY("store.expire", PLAN_STORE_EXPIRE),
	OF_STORE("store.script_flush", PLAN_STORE_SCRIPT_FLUSH),
	OF_STORE("store.save", PLAN_STORE_SAVE),
	{ "store.lag", SCENARIO_ACTION, PLAN_STORE_LAG, "sl", "(\"b\", "
	  "\"freeze\") or (\"b\", 500)", NULL },
	{ "store.failover", SCENARIO_ACTION, PLAN_STORE_FAILOVER, "ssT",
	  "(\"a\", \"b\", { lose = 1 })", "lose" },
	{ "store.rejoin", SCENARIO_ACTION, PLAN_STORE_REJOIN, "st", "(\"a\", "
	  "{ as = \"replica_of\", of = \"b\" })", "as of" },
	OF_GATE("disk.power_loss", PLAN_DISK_POWER_LOSS),
	OR_OVER("disk.full", PLAN_DISK_FULL, "(\"g1\")"),
	OR_OVER("disk.ioerr", PLAN_DISK_IOERR, "(\"g1\")"),
	OR_OVER("disk.busy", PLAN_DISK_BUSY, "(\"g1\")"),
	{ "clock.jump", SCENARIO_ACTION, PLAN_CLOCK_JUMP, "sn", "(\"a\", "
	  "60000)", NULL },
	{ "clock.rate", SCENARIO_ACTION, PLAN_CLOCK_RATE, "sn", "(\"g1\", "
	  "1.5)", NULL },
	OF_CLIENT("client.give_up", PLAN_CLIENT_GIVE_UP),
	OF_CLIENT("client.abort", PLAN_CLIENT_ABORT),
	{ "operator.resolve", SCENARIO_ACTION, PLAN_OPERATOR_RESOLVE, "ssT",
	  "(\"k\", \"done\", { gate = \"g1\" })", "gate" },

	/* rules */
	{ "on", SCENARIO_ON, 0, "mm+", "(sim.at(150), sim.proc.kill(\"g1\"), "
	  "sim.after(200, sim.proc.restart(\"g1\")))", NULL },
	{ "after", SCENARIO_AFTER, 0, "dm+", "(200, "
	  "sim.proc.restart(\"g1\"))", NULL },
	{ "maybe", SCENARIO_MAYBE, 0, "nmT", "(1, sim.proc.kill(\"g1\"), { "
	  "window = { 0, 500 }, restart_after = 100 })",
	  "window restart_after" },

	/* what must hold */
	{ "fault_count", SCENARIO_TERM, 0, "s", "(\"lease_expiry\")", NULL },
	{ "invariant", SCENARIO_INVARIANT, 0, "sf", "(\"name\", function(h) "
	  "return true end)", NULL },

	{ "scenario", SCENARIO_SCENARIO, 0, "t", " { name = \"...\", topology "
	  "= { ... }, load = { ... }, expect = { ... } }", "name about modes "
	  "topology handler load faults heal expect explore" },
};

const struct scenario_word *
scenario_words(size_t *n)
{
	*n = sizeof words / sizeof *words;
	return words;
}
