/* SPDX-License-Identifier: ISC */
#include "conf_private.h"

#include "conf_files.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What idem.conf(5) shows is what is read, and it leaves nothing out. */
#define PAGE_MAX 65536

static const char *const words[] = { "listen", "ledger", "programs", "workers",
    "grace", "queue", "stderr_to_front", "local_cache", "rest", "cache", "path",
    "except", "methods", "program", "key", "header", "query", "cookie", "form",
    "content", "function", "required", "scope", "user", "cookies", "variables",
    "name", "guard", "fingerprint", "arbiter", "in_progress", "wait",
    "on_unknown", "lease", "limit", "queue_wait", "body_max", "keep",
    "tombstone", "kept_max", "release", "not_replayed", "store_exit", "cgi",
    "root", "allow", "pass", "set", "environment", "fastcgi", "connections",
    "connect", "first_byte", "shared", "tokens", "run", "alert", "url",
    "sentinels", "master", "sentinel_user", "sentinel_password", "cluster",
    "password", "password_file", "ca", "certificate", "private_key",
    "server_name", "prefix", "timeout", "budget", "look", "answer_max",
    "probe", "keys", "life", "rate", "burst", "scheme", "on_outage",
    "form_token", "tier", "retry_delay", "min", "max", "probe_limit", "spool",
    "lost_signal", "keep_min", "reserve", "auto" };

static char page[PAGE_MAX];

static void
read_page(void)
{
	const char *top = getenv("top_srcdir");
	char name[4096];
	FILE *f;
	size_t len;

	snprintf(name, sizeof name, "%s/doc/idem.conf.5",
	    top != NULL ? top : ".");
	f = fopen(name, "r");
	if (f == NULL)
		bail_out("%s", name);
	len = fread(page, 1, sizeof page - 1, f);
	fclose(f);
	if (len == 0 || len == sizeof page - 1)
		bail_out("%s: %zu bytes", name, len);
}

/* ".It Ic user , password No = " */
static bool
is_beside(const char *word)
{
	char item[64];

	snprintf(item, sizeof item, " , %s No", word);
	return strstr(page, item) != NULL;
}

static void
check_words(void)
{
	char item[64];
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++) {
		snprintf(item, sizeof item, "Ic %s ", words[i]);
		ok(strstr(page, item) != NULL || is_beside(words[i]),
		    "the manual has %s", words[i]);
	}
}

/* Files that an example names are ours, where there are ones. */
static void
put_files(struct idem_buf *to, struct idem_bytes text)
{
	static const struct { const char *shown, *file; } all[] = {
		{ "/etc/idem/token.keys", "good" },
		{ "/etc/idem/redis.password", "password" }
	};
	const char *at = text.at, *end = at + text.len;
	size_t i;

	while (at < end) {
		for (i = 0; i < 2; i++)
			if (strncmp(at, all[i].shown,
			    strlen(all[i].shown)) == 0)
				break;
		if (i < 2) {
			idem_buf_text(to, conf_files_path(all[i].file));
			at += strlen(all[i].shown);
		} else
			idem_buf_u8(to, (uint8_t)*at++);
	}
}

/* No warning, but of what its arbiter costs. */
static void
check_example(size_t number, struct idem_bytes text)
{
	struct idem_buf all = { .at = NULL };
	char error[900] = "";
	struct conf *c;
	bool good;

	put_files(&all, text);
	c = conf_read("example", idem_buf_bytes(&all), error, sizeof error);
	good = c != NULL && c->routes_len == 1 &&
	    conf_check(c, "example", error, sizeof error) &&
	    c->warnings.len == (c->routes[0].route.policy.arbiter ==
	    IDEM_ARBITER_REDIS ? 1 : 0);
	if (!ok(good, "the manual's example %zu is read, and warned of what it "
	    "costs", number))
		note("%s", c != NULL && c->warnings.len > 0 ?
		    c->warnings.at[0] : error);
	conf_drop(c);
	idem_buf_free(&all);
}

/* Its table is what the start-up log says. */
static void
check_promise(const struct conf *c, const char *kind,
    const struct conf_route *r, const char *choice)
{
	struct conf_promise p;
	char line[200];

	conf_promises(c, r, &p);
	snprintf(line, sizeof line, ".It %s Li %s Ta %s Ta %s Ta %s\n", kind,
	    choice, p.once, p.same_answer, p.kept);
	ok(strstr(page, line) != NULL, "the manual has what %s %s is worth",
	    kind, choice);
}

static void
check_promises(void)
{
	static const char *const arbiters[] = { "ledger", "token", "redis" };
	static const char *const schemes[] = { "script", "setnx", "check" };
	static const char *const outages[] = { "reject", "memory", "database",
	    "pass" };
	struct conf *c = conf_new();
	struct conf_route r = { .text = "r" };
	unsigned i;

	if (c == NULL)
		bail_out("no memory");
	for (i = 0; i < 3; i++) {
		r.route.policy.arbiter = (enum idem_arbiter)i;
		check_promise(c, "arbiter", &r, arbiters[i]);
	}
	r.route.policy.arbiter = IDEM_ARBITER_LEDGER;
	r.route.policy.on_unknown = IDEM_RETRY;
	check_promise(c, "on_unknown", &r, "retry");
	r.route.policy.on_unknown = IDEM_PROBING;
	check_promise(c, "on_unknown", &r, "probe");
	r.route.policy.on_unknown = IDEM_BLOCK;
	r.route.policy.arbiter = IDEM_ARBITER_REDIS;
	for (i = 1; i < 3; i++) {
		r.scheme = (enum idem_redis_scheme)i;
		check_promise(c, "scheme", &r, schemes[i]);
	}
	r.scheme = IDEM_SCHEME_SCRIPT;
	for (i = 1; i < 4; i++) {
		r.route.policy.on_outage = (enum idem_on_outage)i;
		check_promise(c, "on_outage", &r, outages[i]);
	}
	conf_drop(c);
}

int
main(void)
{
	static const char begin[] = ".Bd -literal -offset indent\n";
	const char *at = page, *end;
	size_t n = 0;

	conf_files_make();
	read_page();
	check_words();
	check_promises();
	while ((at = strstr(at, begin)) != NULL) {
		at += sizeof begin - 1;
		end = strstr(at, ".Ed\n");
		if (end == NULL)
			break;
		check_example(++n, (struct idem_bytes){ at,
		    (size_t)(end - at) });
	}
	is_int((long long)n, 9, "it has all its examples");
	conf_files_remove();
	return done();
}
