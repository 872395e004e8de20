/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include "conf_files.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * What can only be said of the whole: what is missing, and what a route takes
 * on.  @ is a folder of files, of which `good` and `open` stand for the
 * configuration's own.
 */
#define P " program = cgi {} }"
#define R "\nroute { path = \"/x\", "
#define L "ledger = sqlite { path = \"/l\" } "
#define S "shared = redis { url = \"unix:/r\" } "
#define T "tokens = { keys = \"@/good\" } "
#define RUN "run = \"/run/idem\" "
#define A_REDIS R "arbiter = \"redis\", "
#define A_TOKEN R "arbiter = \"token\", "

static const struct row {
	const char *what, *text;
	const char *says[3];	/* of the error; or of the warnings */
	int warnings;		/* -1: it is refused */
} rows[] = {
	/* --- what is missing --- */
	{ "no ledger", R P, { "c:2: route \"/x\": arbiter: it is the ledger",
	  "ledger = sqlite {", "arbiter = \"redis\" or \"token\"" }, -1 },
	{ "no ledger, but a Redis", S RUN R P, { "c:2: route \"/x\": arbiter: "
	  "it is the ledger" }, -1 },
	{ "one of two routes that lacks it", S RUN A_REDIS P R "keep = \"1h\","
	  P, { "c:3: route" }, -1 },
	{ "redis without a Redis", L A_REDIS P, { "c:2: route \"/x\": arbiter: "
	  "there is no Redis", "shared = redis { url" }, -1 },
	{ "redis with a cache only", L "cache = redis { url = \"unix:/r\" } "
	  A_REDIS P, { "there is no Redis" }, -1 },
	{ "tokens without a Redis", L T A_TOKEN P, { "there is no Redis" },
	  -1 },
	{ "tokens without keys", L S A_TOKEN P, { "c:2: route \"/x\": arbiter: "
	  "there are no keys", "tokens = { keys =" }, -1 },
	{ "the database without a ledger", S RUN A_REDIS
	  "on_outage = \"database\"," P, { "c:2: route \"/x\": on_outage: ",
	  "ledger = sqlite {" }, -1 },
	{ "neither a ledger nor a folder", S A_REDIS P, { "c: there is neither",
	  "ledger = sqlite {", "run = \"/run/idem\"" }, -1 },
	{ "only what is not covered, and no ledger", "rest = cgi {}",
	  { "c: there is neither" }, -1 },
	{ "answers that Redis does not keep", S RUN A_REDIS
	  "kept_max = \"49MiB\"," P, { "kept_max: ", "48MiB" }, -1 },

	/* --- what is whole --- */
	{ "a ledger", L R P, { NULL }, 0 },
	{ "a ledger and its cache", L "cache = redis { url = \"unix:/r\" } " R
	  P, { NULL }, 0 },
	{ "tokens without a ledger", S T RUN A_TOKEN "kept_max = \"48MiB\"," P,
	  { NULL }, 0 },
	{ "a lease below the limit, which is renewed [idem:A5]",
	  L R "lease = \"1s\", limit = \"1h\"," P, { NULL }, 0 },
	{ "a probe that the ledger allows", L R "on_unknown = \"probe\", probe "
	  "= \"/p\", spool = false," P, { NULL }, 0 },
	{ "tokens that may run again", S T RUN A_TOKEN "on_unknown = retry(2),"
	  P, { NULL }, 0 },

	/* --- what is taken on --- */
	{ "redis", S RUN A_REDIS P, { "route at c:2: arbiter is redis",
	  "a flush, an eviction, an empty restart or the tail of a failover" },
	  1 },
	{ "setnx", S RUN A_REDIS "lease = \"9s\", limit = \"9s\", scheme = "
	  "\"setnx\"," P,
	  { "route at c:2: scheme is setnx", "a lost reply",
	  "outlives its lease" }, 1 },
	{ "a lease below the limit where none is renewed [idem:A5]",
	  S RUN A_REDIS "lease = \"9s\", limit = \"10s\", scheme = "
	  "\"setnx\"," P, { "which renews no lease", "as long as the limit" },
	  2 },
	{ "a measured one there [idem:A5]", S RUN A_REDIS "lease = \"auto\", "
	  "scheme = \"setnx\"," P, { "which renews no lease" }, 2 },
	{ "check", S RUN A_REDIS "scheme = \"check\"," P,
	  { "route at c:2: scheme is check", "both run" }, 1 },
	{ "memory", S RUN A_REDIS "on_outage = \"memory\"," P,
	  { "arbiter is redis", "on_outage is memory", "every host" }, 2 },
	{ "the database", L S A_REDIS "on_outage = \"database\"," P,
	  { "arbiter is redis", "on_outage is database", "runs again" }, 2 },
	{ "pass", S RUN A_REDIS "on_outage = \"pass\"," P,
	  { "arbiter is redis", "on_outage is pass", "nothing stops" }, 2 },
	{ "retry", S RUN A_REDIS "on_unknown = retry(2)," P,
	  { "arbiter is redis", "retry with redis", "counts from one" }, 2 },
	{ "a probe", S RUN A_REDIS "on_unknown = \"probe\", probe = \"/p\"," P,
	  { "arbiter is redis", "probe with redis", "may look while" }, 2 },
	{ "a Redis that is not used", L S R P, { "shared: no route" }, 1 },
	{ "a cache that is not used", "cache = redis { url = \"unix:/r\" } " S
	  T RUN A_TOKEN P, { "cache: ", "so it is not used" }, 1 },
	{ "tokens that are not used", L T R P, { "tokens: no route" }, 1 },
};

static void
join(const struct conf *c, char *to, size_t size)
{
	size_t i, len = 0;

	to[0] = '\0';
	for (i = 0; i < c->warnings.len && len < size; i++)
		len += (size_t)snprintf(to + len, size - len, "%s\n",
		    c->warnings.at[i]);
}

static void
check(const struct row *r)
{
	char said[4000] = "";
	struct conf *c = conf_files_read(r->text, said, sizeof said);
	size_t i, missing = 0, warnings = 0;
	bool whole;

	if (c == NULL)
		bail_out("%s: %s", r->what, said);
	whole = conf_check(c, "c", said, sizeof said);
	if (whole) {
		join(c, said, sizeof said);
		warnings = c->warnings.len;
	}
	for (i = 0; i < 3 && r->says[i] != NULL; i++)
		missing += strstr(said, r->says[i]) == NULL;
	if (!ok(missing == 0 && whole == (r->warnings >= 0) &&
	    (!whole || warnings == (size_t)r->warnings), "%s: %s",
	    r->warnings < 0 ? "it is said what is missing" :
	    r->warnings == 0 ? "nothing is said of" :
	    "it is said what it takes on", r->what))
		note("%s", said);
	conf_drop(c);
}

/* --- a password in the configuration itself ------------------------------- */

static const struct {
	const char *what, *text;
	const char *file;	/* of the folder; NULL: the command line */
	const char *says;	/* NULL: nothing */
} secrets[] = {
	{ "a password in a file that others may read", S T RUN A_TOKEN P
	  "cache = redis { url = \"unix:/c\", password = \"s3cret\" }", "open",
	  "cache: a password stands in " },
	{ "a URL's", "shared = redis { url = \"redis://:s3cret@localhost\" } "
	  T RUN A_TOKEN P, "open", "shared: a password stands in " },
	{ "one in a file that they may not", "shared = redis { url = "
	  "\"redis://:s3cret@localhost\" } " T RUN A_TOKEN P, "good", NULL },
	{ "one of a file of its own", "shared = redis { url = \"unix:/r\", "
	  "password_file = \"@/password\" } " T RUN A_TOKEN P, "open", NULL },
	{ "none", S T RUN A_TOKEN P, "open", NULL },
	{ "one on the command line", "shared = redis { url = "
	  "\"redis://:s3cret@localhost\" } " T RUN A_TOKEN P, NULL,
	  "--shared: a password on the command line" },
};

static void
check_secrets(void)
{
	char said[4000];
	struct conf *c;
	size_t i;

	for (i = 0; i < sizeof secrets / sizeof *secrets; i++) {
		c = conf_files_read(secrets[i].text, said, sizeof said);
		if (c == NULL || !conf_check(c, secrets[i].file != NULL ?
		    conf_files_path(secrets[i].file) : NULL, said, sizeof said))
			bail_out("%s: %s", secrets[i].what, said);
		join(c, said, sizeof said);
		if (!ok((secrets[i].says == NULL || strstr(said,
		    secrets[i].says) != NULL) && strstr(said, "s3cret") == NULL
		    && (strstr(said, "a password") != NULL) ==
		    (secrets[i].says != NULL), "%s %s",
		    secrets[i].says != NULL ? "a warning of" :
		    "no warning of", secrets[i].what))
			note("%s", said);
		conf_drop(c);
	}
}

int
main(void)
{
	size_t i;

	conf_files_make();
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	check_secrets();
	conf_files_remove();
	return done();
}
