/* SPDX-License-Identifier: ISC */
#include "conf.h"

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
    "connect", "first_byte" };

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

static void
check_words(void)
{
	char item[64];
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++) {
		snprintf(item, sizeof item, "Ic %s ", words[i]);
		ok(strstr(page, item) != NULL, "the manual has %s", words[i]);
	}
}

static void
check_example(size_t number, struct idem_bytes text)
{
	char error[700] = "";
	struct conf *c = conf_read("example", text, error, sizeof error);

	if (!ok(c != NULL && c->ledger != NULL && c->routes_len == 1 &&
	    c->warnings.len == 0,
	    "the manual's example %zu is read, without a warning", number))
		note("%s", error);
	conf_drop(c);
}

int
main(void)
{
	static const char begin[] = ".Bd -literal -offset indent\n";
	const char *at = page, *end;
	size_t n = 0;

	read_page();
	check_words();
	while ((at = strstr(at, begin)) != NULL) {
		at += sizeof begin - 1;
		end = strstr(at, ".Ed\n");
		if (end == NULL)
			break;
		check_example(++n, (struct idem_bytes){ at,
		    (size_t)(end - at) });
	}
	is_int((long long)n, 5, "it has all its examples");
	return done();
}
