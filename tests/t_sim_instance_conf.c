/* SPDX-License-Identifier: ISC */
#include "instance.h"

#include "tap.h"

#include <stdio.h>
#include <string.h>

/* What a plan says, and what then stands in idem.conf. */
static const struct plan_pair many[] = {
	{ "lease", "1500ms" }, { "on_unknown", "retry 3" },
	{ "in_progress", "wait" }, { "wait", "250ms" },
	{ "keep", "1h" }, { "spool", "false" }, { "grace", "1s" },
	{ "programs", "3" }, { "local_cache", "none" },
	{ "reserve", "1MiB" }, { "lost_signal", "TERM" },
	{ "store_timeout", "150ms" }, { "budget", "400ms" },
	{ "probe_every", "300ms" }, { "token_life", "2s" }
};
static const struct plan_send sends[] = {
	{ .method = "PUT" }, { .method = "PUT" }, { .method = NULL }
};
static const struct plan_send forms[] = {
	{ .key = "k" }, { .key = "l", .source = PLAN_FORM }
};
static const char *const sentinels[] = { "127.0.0.1:7", NULL };
static const struct {
	const char *what;
	enum plan_arbiter arbiter;
	bool ledger, cached, configured, found;
	const char *has[5], *lacks;
} rows[] = {
	{ "a ledger", PLAN_LEDGER, true, false, false, false,
	  { "ledger = sqlite { path = \"/f/l.db\", create = true }",
	    "arbiter = \"ledger\"", "grace = \"500ms\"",
	    "reserve = false", "methods = { \"POST\", \"PUT\" }" },
	  "redis {" },
	{ "a ledger and a cache", PLAN_LEDGER, true, true, false, false,
	  { "cache = redis {\n  url = \"unix:/f/a\"" }, "shared" },
	{ "a Redis", PLAN_REDIS, false, false, true, false,
	  { "shared = redis {\n  url = \"unix:/f/a\",\n"
	    "  timeout = \"150ms\",\n  budget = \"400ms\",\n"
	    "  probe = \"300ms\",\n}", "run = \"/f/g1/run\"",
	    "lease = \"1500ms\"", "on_unknown = retry(3)",
	    "programs = 3" }, "ledger =" },
	{ "the same, with more", PLAN_REDIS, false, false, true, false,
	  { "grace = \"1s\"", "local_cache = \"none\"",
	    "reserve = \"1MiB\"", "wait = \"250ms\"",
	    "spool = false" }, "\"500ms\"" },
	{ "tokens", PLAN_TOKEN, false, false, false, false,
	  { "tokens = { keys = \"/f/keys\" }",
	    "arbiter = \"token\"" }, "cache" },
	{ "tokens, with more", PLAN_TOKEN, false, false, true, false,
	  { "tokens = { keys = \"/f/keys\", life = \"2s\" }",
	    "  form_token = true,\n" }, "cache = redis" },
	{ "sentinels", PLAN_REDIS, false, false, false, true,
	  { "sentinels = { \"127.0.0.1:7\", },\n"
	    "  master = \"unix:/f/a\"" }, "url" },
	{ "a program", PLAN_LEDGER, true, false, false, false,
	  { "cgi { \"/f/\\034program\\034\", set = {",
	    "IDEMSIM_LANE = \"g1\"", "IDEMSIM_LIFE = \"1\"",
	    "service=uniform:1:2.5 output=70 length=1 status=201 "
	    "exit=3 partial=9 seed=42 crash=after business=order_7 "
	    "labels=claim.ok,effect.before",
	    "IDEMSIM_STOPS = \"/f/stops\"" }, "form_token" }
};

static void
test_row(size_t i)
{
	bool form = rows[i].arbiter == PLAN_TOKEN && rows[i].configured;
	const struct plan_load load = { .kind = PLAN_SCRIPT,
		.sends = form ? forms : sends, .sends_n = form ? 2 : 3 };
	struct plan plan = {
		.loads = &load, .loads_n = 1,
		.gates = { .arbiter = rows[i].arbiter, .store = 0,
			.cached = rows[i].cached,
			.config = rows[i].configured ? many : NULL,
			.configs = rows[i].configured ?
			    sizeof many / sizeof *many : 0 },
		.handler = { .service_ms = { PLAN_UNIFORM, 1, 2.5, 0,
			0, NULL, 0 }, .output_bytes = 70,
			.promises_length = true, .http_status = 201,
			.exit = 3, .partial_output = 9,
			.crash = "after", .business_id = "order 7" }
	};
	struct instance_spec spec = { .plan = &plan, .number = 1,
		.folder = "/f", .store_url = "unix:/f/a",
		.ledger = rows[i].ledger ? "/f/l.db" : NULL,
		.make_ledger = true, .token_keys = "/f/keys",
		.program = "/f/\"program\"", .stops = "/f/stops",
		.labels = "claim.ok,effect.before", .seed = 42,
		.sentinels = rows[i].found ? sentinels : NULL };
	struct idem_buf conf = { 0 };
	bool all = true;
	size_t k;

	instance_conf(&spec, 1, &conf);
	idem_buf_u8(&conf, 0);
	for (k = 0; k < 5 && rows[i].has[k] != NULL; k++)
		if (strstr((char *)conf.at, rows[i].has[k]) == NULL) {
			note("not there: %s", rows[i].has[k]);
			all = false;
		}
	if (!ok(all && strstr((char *)conf.at, rows[i].lacks) == NULL,
	    "the configuration with %s says so", rows[i].what))
		note("%s", (char *)conf.at);
	idem_buf_free(&conf);
}

/* A method is one of a script's 2 x METHODS requests. */
#define METHODS 40

static void
test_methods(void)
{
	static char name[METHODS][24];
	static struct plan_send all[2 * METHODS];
	const struct plan_load loads[] = {
		{ .kind = PLAN_SCRIPT, .sends = all, .sends_n = METHODS },
		{ .kind = PLAN_SCRIPT, .sends = all + METHODS,
		    .sends_n = METHODS }
	};
	const struct plan plan = { .loads = loads, .loads_n = 2,
		.gates = { .arbiter = PLAN_LEDGER, .store = -1 } };
	const struct instance_spec spec = { .plan = &plan, .number = 1,
		.folder = "/f", .ledger = "/f/l.db", .program = "/f/program" };
	struct idem_buf conf = { 0 };
	char quoted[28];
	const char *at;
	size_t i, there = 0, twice = 0;

	for (i = 0; i < METHODS; i++) {
		snprintf(name[i], sizeof name[i], "M%02zu", i);
		all[i].method = all[METHODS + i].method = name[i];
	}
	instance_conf(&spec, 1, &conf);
	idem_buf_u8(&conf, 0);
	for (i = 0; i < METHODS; i++) {
		snprintf(quoted, sizeof quoted, "\"%.20s\"", name[i]);
		at = strstr((char *)conf.at, quoted);
		there += at != NULL;
		twice += at != NULL && strstr(at + 1, quoted) != NULL;
	}
	is_int((long long)there, METHODS,
	    "all methods of all scripts are told, however many");
	is_int((long long)twice, 0, "each of them once");
	idem_buf_free(&conf);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		test_row(i);
	test_methods();
	return done();
}
