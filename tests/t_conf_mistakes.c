/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include "tap.h"

#include <string.h>

/*
 * What administrators get wrong, who know other servers' configurations: each
 * message says what is meant, and what to say instead.
 */
#define P " program = cgi {} }"
#define R "route { path = \"/x\", "

static const struct row {
	const char *what, *text;
	const char *says[2];
	bool warns;		/* it is read, with one warning */
} rows[] = {
	/* --- errors --- */
	{ "a key's name alone", R "key = \"Idempotency-Key\"," P,
	  { "key: ", "header { \"Idempotency-Key\" }" }, false },
	{ "a word without its value", R "key = content," P,
	  { "key: ", "content { window = \"10m\" }" }, false },
	{ "a time without a unit", R "keep = 24," P,
	  { "keep: 24 is not a time with its unit", "24h" }, false },
	{ "a size of a disk's maker", R "kept_max = \"16MB\"," P,
	  { "kept_max: \"16MB\" is not a size", "16MiB" }, false },
	{ "a wait without its word", R "in_progress = \"10s\"," P,
	  { "in_progress: \"10s\"", "wait \"10s\"" }, false },
	{ "retry in quotes", R "on_unknown = \"retry\"," P,
	  { "on_unknown: ", "say retry(3), without quotes" }, false },
	{ "retry as the command line has it", R "on_unknown = \"retry:3\"," P,
	  { "on_unknown: ", "say retry(3), without quotes" }, false },
	{ "retry without its number", R "on_unknown = retry," P,
	  { "on_unknown: ", "say retry(3)" }, false },
	{ "a probe as the command line has it", R "on_unknown = "
	  "\"probe:/p\"," P, { "on_unknown: ",
	  "say \"probe\", and probe = \"/p\"" }, false },
	{ "a measured lease without its value", R "lease = auto," P,
	  { "lease: ", "say \"auto\", or auto { max" }, false },
	{ "a measured lease of a text", R "lease = auto \"1m\"," P,
	  { "auto: say auto {", NULL }, false },
	{ "a tier as a lease", R "lease = \"quick\"," P,
	  { "lease: \"quick\" is not a time", NULL }, false },
	{ "a setting of a disk's maker", "reserve = \"64MB\"\n" R P,
	  { "reserve: \"64MB\" is not a size", "16MiB" }, false },
	{ "a reserve of a route", R "reserve = \"64MiB\"," P,
	  { "there is no `reserve`", "outside" }, false },
	{ "a path without its name", "route { \"/x\"," P,
	  { "\"/x\" has no name", "name = value" }, false },
	{ "several paths in one route", "route { path = { \"/a\", \"/b\" }," P,
	  { "path: ", "for _, p in ipairs" }, false },
	{ "a setting that is not", "tokens { keys = \"/k\" }\n" R P,
	  { "c:1: ", "say name = value" }, false },
	{ "a route that is assigned", "route = { path = \"/x\"," P,
	  { "`route` is a word", "route {" }, false },
	{ "a field of a route outside", "lease = \"10s\"\n" R P,
	  { "`lease` is said of a route", NULL }, false },
	{ "a setting inside a route", R "workers = 2," P,
	  { "there is no `workers`", "outside" }, false },
	{ "a name that is near to none", "route { path = \"/x\", program = "
	  "fastcgi { url = \"unix:/x\" } }", { "there is no `url`",
	  "connections, keep, connect" }, false },
	{ "a list of variables to be set", "route { path = \"/x\", program = "
	  "cgi { set = { \"A=b\" } } }", { "set: ", "NAME = \"text\"" },
	  false },
	{ "a missing comma", R "keep = \"1h\"\n lease = \"1s\"," P,
	  { "c:2: '}' expected", "comma" }, false },
	{ "a colon", R "keep: \"1h\"," P, { "c:1: ", "name = value" }, false },
	{ "a comment of another language", "# a comment\n" R P,
	  { "c:1: ", "a comment begins with --" }, false },
	{ "an end that is missing", R "key = function(r) return nil," P,
	  { "c:1: ", "end" }, false },

	/* --- what is read, and hardly meant --- */
	{ "a folder's path", "route { path = \"/cgi-bin/\"," P,
	  { "path \"/cgi-bin/\" is that path alone",
	  "below it is \"/cgi-bin/**\"" }, true },
	{ "a query in a path", "route { path = \"/x.cgi?a=b\"," P,
	  { "\"/x.cgi?a=b\"", "a path ends before its query" }, true },
	{ "an escape in a path", "route { path = \"/a%20b\"," P,
	  { "\"/a%20b\"", "escapes decoded" }, true },
	{ "a regular expression", "route { path = \"/api/.*\"," P,
	  { "\"/api/.*\"", "no regular expression" }, true },
	{ "the same in an exception", R "except = \"/x/(a|b)$\"," P,
	  { "\"/x/(a|b)$\"", "no regular expression" }, true },
	{ "two statuses that look like a range", R "release = { 400, 499 }," P,
	  { "release holds 499 alone", "{ { 400, 499 } }" }, true },
	{ "a ledger in whatever folder", "ledger = sqlite { path = \"l.db\" }\n"
	  R P, { "ledger: \"l.db\" is not an absolute path", NULL }, true },
	{ "a route behind one of all paths", "route { path = \"/**\"," P "\n"
	  R P, { "route at c:2 is never reached for POST", "c:1" }, true },
	{ "one behind one of its folder", "route { path = \"/a/**\"," P "\n"
	  "route { path = \"/a/*/c\", methods = { \"PUT\", \"PATCH\" }," P,
	  { "route at c:2 is never reached for PATCH", "c:1" }, true },

	/* --- and what is meant --- */
	{ "a route behind one of less", "route { path = \"/a/*\"," P
	  "route { path = \"/a/**\"," P, { NULL, NULL }, true },
	{ "one behind one of as deep a path", "route { path = \"/a/*/*\"," P
	  "route { path = \"/a/**\"," P, { NULL, NULL }, true },
	{ "the root alone", "route { path = \"/\"," P, { NULL, NULL }, true },
	{ "a percent sign", "route { path = \"/100%\"," P, { NULL, NULL },
	  true },
};

/* One message, or ""; "and more" if there are several. */
static const char *
said(const struct conf *c, const char *error)
{
	if (c == NULL)
		return error;
	if (c->warnings.len > 1)
		return "and more";
	return c->warnings.len == 1 ? c->warnings.at[0] : "";
}

static void
check(const struct row *r)
{
	char error[900] = "";
	struct conf *c = conf_read("c", idem_bytes_text(r->text), error,
	    sizeof error);
	const char *text = said(c, error);
	bool good = (c != NULL) == r->warns;
	size_t i;

	for (i = 0; i < 2 && r->says[i] != NULL; i++)
		good = good && strstr(text, r->says[i]) != NULL;
	if (i == 0)
		good = good && *text == '\0';
	if (!ok(good, "%s: %s", i == 0 ? "nothing is said of" :
	    "it is said what is wrong with", r->what))
		note("%s", text);
	conf_drop(c);
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	return done();
}
