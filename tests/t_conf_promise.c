/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "conf_files.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* What each choice is worth, in words, and what is explained of it. */
#define P " program = cgi {} }"
#define R "route { path = \"/x\", "
#define ALL "ledger = sqlite { path = \"/l\" } " \
    "shared = redis { url = \"unix:/r\" } " \
    "tokens = { keys = \"@/good\" } "
#define REDIS ALL R "arbiter = \"redis\", "

static const struct {
	const char *what, *text;
	const char *words;	/* once, same answer, kept */
	const char *choices;
	const char *fails, *says;
} rows[] = {
	{ "the ledger", ALL R P, "yes yes yes", "ledger - - block",
	  "file is deleted", "a key runs once; all get the same answer; and" },
	{ "the ledger with retry", ALL R "on_unknown = retry(4)," P,
	  "retry yes yes", "ledger - - retry", "file is deleted",
	  "up to 4 times, each after the run before is surely dead" },
	{ "the ledger with a probe", ALL R "on_unknown = \"probe\", probe = "
	  "\"/p\"," P, "probe yes yes", "ledger - - probe", "file is deleted",
	  "only by the word of its probe that nothing had happened; all get" },
	{ "the ledger without a spool", ALL R "spool = false," P,
	  "yes yes yes", "ledger - - block", "file is deleted",
	  "as it is kept; a killed worker makes its keys unknown; fails" },
	{ "a keep that may shrink", ALL R "keep = \"2h\", keep_min = \"90m\","
	  P, "yes yes yes", "ledger - - block", "file is deleted",
	  "for as long as it is kept, which is 90m when room is short; fails" },
	{ "tokens", ALL R "arbiter = \"token\"," P,
	  "yes or-unknown or-unknown", "token - - block", "by hand",
	  "the same answer, or \"unknown\"" },
	{ "tokens with retry", ALL R "arbiter = \"token\", on_unknown = "
	  "retry(2)," P, "retry or-unknown or-unknown", "token - - retry",
	  "by hand", "up to 2 times" },
	{ "redis", REDIS P, "while while while", "redis script reject block",
	  "flush, an eviction, an empty restart, the tail of a failover",
	  "once while Redis remembers it" },
	{ "redis with a probe", REDIS "on_unknown = \"probe\", probe = "
	  "\"/p\"," P, "while while while", "redis script reject probe",
	  "flush", "had happened, while Redis remembers it; all get" },
	{ "redis with retry", REDIS "on_unknown = retry(2)," P,
	  "while while while", "redis script reject retry", "flush",
	  "a key runs up to 2 times while Redis remembers it; all get" },
	{ "retry of an application elsewhere", ALL R "on_unknown = retry(2), "
	  "program = fastcgi { \"unix:/a\" } }", "retry yes yes",
	  "ledger - - retry", "file is deleted",
	  "up to 2 times, each when the limit of the run before is over" },
	{ "setnx", REDIS "scheme = \"setnx\"," P, "no no no",
	  "redis setnx reject block", "outlives its lease", "may run again" },
	{ "check", REDIS "scheme = \"check\"," P, "no no no",
	  "redis check reject block", "at once", "answers may differ" },
	{ "memory", REDIS "on_outage = \"memory\"," P, "no no no",
	  "redis script memory block", "each host", "may run again" },
	{ "the database", REDIS "on_outage = \"database\"," P, "no no no",
	  "redis script database block", "does not know", "may run again" },
	{ "pass", REDIS "on_outage = \"pass\"," P, "no no no",
	  "redis script pass block", "everything runs", "may run again" },
	{ "check, and pass besides", REDIS "scheme = \"check\", on_outage = "
	  "\"pass\"," P, "no no no", "redis check pass block", "at once",
	  "may run again" },
};

static struct conf *
made_of(const char *text)
{
	char error[900];
	struct conf *c = conf_files_read(text, error, sizeof error);

	if (c == NULL)
		bail_out("%s", error);
	return c;
}

static void
check_promises(void)
{
	struct conf_promise p;
	char words[100], choices[100];
	struct conf *c;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		c = made_of(rows[i].text);
		conf_promises(c, &c->routes[0], &p);
		snprintf(words, sizeof words, "%s %s %s", p.once,
		    p.same_answer, p.kept);
		snprintf(choices, sizeof choices, "%s %s %s %s", p.arbiter,
		    p.scheme != NULL ? p.scheme : "-",
		    p.on_outage != NULL ? p.on_outage : "-", p.on_unknown);
		is(words, rows[i].words, "once, same answer, kept: %s",
		    rows[i].what);
		is(choices, rows[i].choices, "the choices are named: %s",
		    rows[i].what);
		if (!ok(strstr(p.fails_when, rows[i].fails) != NULL &&
		    strstr(p.sentence, rows[i].says) != NULL &&
		    strstr(p.sentence, p.fails_when) != NULL,
		    "and in a sentence: %s", rows[i].what))
			note("%s", p.sentence);
		conf_drop(c);
	}
}

#define SECRET "ledger = sqlite { path = \"/l\" } " \
    "shared = redis { url = \"redis://u:s3cret@localhost/2\", budget = " \
    "\"1s\" } tokens = { keys = \"@/good\", life = \"5m\" } " \
    "cache = redis { url = \"unix:/c\", user = \"u\", password_file = " \
    "\"@/password\", look = \"9ms\", answer_max = \"4KiB\" } "

static const struct {
	const char *what, *text;
	const char *says[4];
} told[] = {
	{ "the ledger and its cache", SECRET R P, {
	  "  arbiter      ledger\n  promises     a key runs once; ",
	  "  cache        unix:/c, prefix idem:, user u, password of /",
	  ", timeout 250ms, probe 10s, look 9ms, answer_max 4KiB\n" } },
	{ "redis", SECRET R "arbiter = \"redis\", on_outage = \"pass\"," P, {
	  "  arbiter      redis, scheme script, on outage pass\n",
	  "  promises     a key may run again; ",
	  "  shared       redis://localhost:6379/2, prefix idem:, with a "
	  "password, timeout 250ms, probe 10s, budget 1s\n" } },
	{ "tokens", SECRET R "arbiter = \"token\", form_token = true," P, {
	  "  arbiter      token\n", "budget 1s, name idem:/2\n",
	  "  tokens       POST /.idem/token, 20 a second, 100 at once, 2 keys "
	  "of /", "/good, life 5m\n  form token   idem_token\n" } },
	{ "what is measured, and what a crash leaves", SECRET R "tier = "
	  "\"quick\", lost_signal = \"USR1\", keep = \"2h\", keep_min = "
	  "\"5m\", on_unknown = \"probe\", probe = \"/p\"," P, {
	  "  on unknown   probe: /p, limit 10s\n",
	  "  times        lease auto from 10s to 30s (2 mean runs and a retry "
	  "after 5s; at first 30s), limit 30s, keep 2h (5m when room is short)"
	  ", tombstone 7d, queue 30s\n",
	  "  spool        on: a killed worker loses no answer\n",
	  "  lost signal  SIGUSR1\n" } },
	{ "no spool", SECRET R "spool = false," P, {
	  "  on unknown   block\n", "lease 1m, limit 5m, keep 1d, tomb",
	  "  spool        off: a killed worker makes its keys unknown\n" } },
	{ "an application", SECRET R "program = fastcgi \"unix:/s\" }", {
	  "  spool        not with fastcgi: a killed worker makes its keys "
	  "unknown\n" } },
	{ "tokens without an endpoint", "shared = redis { url = \"unix:/r\" } "
	  "tokens = { keys = \"@/good\", path = false } " R
	  "arbiter = \"token\"," P, { "  tokens       no endpoint, 2 keys" } },
};

static void
check_explained(void)
{
	struct idem_buf b;
	struct conf *c;
	size_t i, j, missing;

	for (i = 0; i < sizeof told / sizeof *told; i++) {
		b = (struct idem_buf){ .at = NULL };
		c = made_of(told[i].text);
		conf_explain(c, "POST", "/x", &b);
		idem_buf_u8(&b, 0);
		for (j = missing = 0; j < 4 && told[i].says[j] != NULL; j++)
			missing += strstr((char *)b.at, told[i].says[j]) ==
			    NULL;
		if (!ok(missing == 0 && strstr((char *)b.at, "s3cret") == NULL,
		    "explained, without a password: %s", told[i].what))
			note("%s", (char *)b.at);
		idem_buf_free(&b);
		conf_drop(c);
	}
}

int
main(void)
{
	conf_files_make();
	check_promises();
	check_explained();
	conf_files_remove();
	return done();
}
