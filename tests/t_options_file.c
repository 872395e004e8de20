/* SPDX-License-Identifier: ISC */
#include "options.h"

#include "options_line.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command line beside a file: --config and what is asked about it. */

/* What each row's words are followed by, so that they are a whole line. */
#define REST "--ledger", "sqlite:/l", "--", "/p", "-x"

static const char text[] =
    "listen = \"unix:/s\" ledger = sqlite { path = \"/l\" }\n"
    "programs = 5 workers = 3 queue = 7 grace = \"1s\"\n"
    "route { path = \"/x\", fingerprint = \"none\", program = cgi {} }\n";
/* Nothing of it is there as it should. */
static const char absent[] =
    "ledger = sqlite { path = \"/nowhere/l\" }\n"
    "run = \"/nowhere/run\" alert = \"/nowhere/tell\"\n"
    "shared = redis { url = \"unix:/nowhere/r\" } cache = shared\n"
    "route { path = \"/x\", program = cgi { \"/bin/sh -c\" } }\n"
    "route { path = \"/p\", on_unknown = \"probe\", probe = \"/nowhere/p\", "
    "program = cgi {} }\n"
    "route { path = \"/y\", program = cgi { root = \"/etc/passwd\", "
    "allow = \"/etc/passwd\" } }\n"
    "rest = fastcgi \"unix:/nowhere/s\"\n";
static char file[] = "/tmp/t_options.XXXXXX";
static char other[] = "/tmp/t_options.XXXXXX";

static void
write_to(const char *name, const char *what)
{
	FILE *f = fopen(name, "w");

	if (f == NULL || fputs(what, f) == EOF || fclose(f) != 0)
		bail_out("%s", name);
}

static void
write_file(const char *what)
{
	write_to(file, what);
}

static const struct {
	const char *what;
	const char *args[OPTIONS_LINE_MAX];
	const char *has;
} filed[] = {
	{ "what it says is so", { "--config", file }, "socket=unix:/s "
	  "ledger=/l create=0 programs=5 queue=7 workers=3 stderr=0 routes=1 "
	  "grace=1000 " },
	{ "the command line's socket and ledger win", { "--config", file, "-s",
	  "/t", "--ledger", "sqlite:/m", "--create" },
	  "socket=/t ledger=/m create=1 " },
	{ "so do its numbers", { "--config", file, "-c", "2", "--workers", "1",
	  "--queue", "0", "-f" }, "programs=2 queue=0 workers=1 stderr=1 " },
	{ "workers are no more than programs", { "-c", "2", "--config", file },
	  "programs=2 queue=7 workers=2 " },
};

static void
describe_file(const struct conf *c, char *to, size_t size)
{
	snprintf(to, size, "socket=%s ledger=%s create=%d programs=%u queue=%u "
	    "workers=%u stderr=%d routes=%zu grace=%u ", c->socket, c->ledger,
	    c->create, c->programs, c->queue, c->workers, c->stderr_to_front,
	    c->routes_len, c->grace_ms);
}

static void
check_filed(void)
{
	struct options o;
	struct options_line line;
	char is_so[512];
	size_t i;

	write_file(text);
	for (i = 0; i < sizeof filed / sizeof *filed; i++) {
		is_so[0] = '\0';
		if (options_line_read(&o, &line, filed[i].args) == 0) {
			describe_file(o.conf, is_so, sizeof is_so);
			conf_drop(o.conf);
		}
		if (!ok(strstr(is_so, filed[i].has) != NULL,
		    "with a file: %s", filed[i].what))
			note("%s", is_so);
	}
}

/* What a route does is said in one place. */
static void
check_both(void)
{
	static const char *const both[][3] = {
		{ "--keep", "1h", "keep = \"24h\" in a route" },
		{ "--keep-min", "1h", "keep_min = \"1h\" in a route" },
		{ "--no-spool", NULL, "spool = false" },
		{ "--reserve", "1MiB", "reserve = \"64MiB\"" },
		{ "--tombstone", "1h", "tombstone = " },
		{ "--lease", "1s", "lease = " },
		{ "--limit", "1s", "limit = " },
		{ "--grace", "1s", "grace = \"5s\"" },
		{ "--on-unknown", "retry:2", "on_unknown = " },
		{ "--in-progress", "202", "in_progress = " },
		{ "--required", NULL, "required = true" },
		{ "--arbiter", "redis", "arbiter = \"redis\" in a route" },
		{ "--scheme", "script", "scheme = " },
		{ "--on-outage", "pass", "on_outage = " },
		{ "--shared", "unix:/r", "shared = redis {" },
		{ "--cache", "unix:/r", "cache = redis {" },
		{ "--token-keys", "/k", "tokens = { keys = " },
		{ "--run", "/r", "run = \"/run/idem\"" },
		{ "--root", "/tmp", "cgi { root = " },
		{ "--fcgiwrap-compat", NULL, "environment = \"fcgiwrap\"" },
		{ "-p", "/x", "allow = " }, { "--", "/x", "cgi { \"/path\" }" },
	};
	const char *args[OPTIONS_LINE_MAX] = { "--config", file };
	char said[4096];
	size_t i;

	for (i = 0; i < sizeof both / sizeof *both; i++) {
		args[2] = both[i][0];
		args[3] = both[i][1];
		ok(options_line_heard(args, STDERR_FILENO, said,
		    sizeof said) == 2 && strstr(said, both[i][0]) != NULL &&
		    strstr(said, both[i][2]) != NULL,
		    "with a file, %s is an error that says where it belongs",
		    both[i][0]);
	}
}

static const struct {
	const char *what;
	const char *args[OPTIONS_LINE_MAX];
	int status;		/* 100: it is told, and all is well */
	const char *says[3];
} asked[] = {
	{ "a file is checked, with its warnings",
	  { "--config", file, "--check-config" }, 100,
	  { ": ok, 1 route\n", "warning: route \"/x\": fingerprint" } },
	{ "so is a command line", { "--check-config", REST }, 100,
	  { "the command line: ok, 1 route\n" } },
	{ "a route that applies is explained", { "--config", file, "--explain",
	  "POST", "/x" }, 100, { "POST /x\n", ":3, \"/x\" for POST PATCH: "
	  "applies\n", "  fingerprint  none" } },
	{ "it is another thing if none does", { "--config", file, "--explain",
	  "POST", "/y" }, 1, { "is for another path", "404" } },
	{ "nor if the method is another", { "--config", file, "--explain",
	  "GET", "/x" }, 1, { "is for other methods", "keys are ignored" } },
	{ "a command line's route is explained", { "--explain", "POST",
	  "/a//b", "--ledger", "/l", "--", "/p", "-x" }, 100,
	  { "POST /a/b\n", "the command line, \"/**\" for POST PATCH: "
	  "applies", "cgi: /p -x" } },
	{ "what a file names and is not there is told",
	  { "--config", other, "--check-config" }, 100,
	  { "ledger: /nowhere/l: No such", "warning: route at",
	  "program /bin/sh -c: No such file or directory; its arguments" } },
	{ "also folders, sockets, and what cannot be executed",
	  { "--config", other, "--check-config" }, 100,
	  { "root /etc/passwd: not a folder",
	  "application unix:/nowhere/s: No such",
	  "program /etc/passwd: nobody may execute it" } },
	{ "and what belongs to a Redis", { "--config", other,
	  "--check-config" }, 100, { "warning: run: /nowhere: No such",
	  "alert: program /nowhere/tell: No such",
	  "shared: redis unix:/nowhere/r: No such" } },
	{ "and a probe", { "--config", other, "--check-config" }, 100,
	  { "probe: program /nowhere/p: No such" } },
	{ "a check and an explanation", { "--config", file, "--check-config",
	  "--explain", "POST", "/x" }, 100, { "ok, 1 route", "applies" } },
};

static void
check_asked(void)
{
	static const char *const check[] = { "--config", file,
	    "--check-config", NULL };
	char said[8192];
	size_t i, j, n;

	for (i = 0; i < sizeof asked / sizeof *asked; i++) {
		is_int(options_line_heard(asked[i].args, STDOUT_FILENO, said,
		    sizeof said), asked[i].status, "%s: its exit status",
		    asked[i].what);
		for (j = n = 0; j < 3 && asked[i].says[j] != NULL; j++)
			n += strstr(said, asked[i].says[j]) == NULL;
		if (!ok(n == 0, "%s", asked[i].what))
			note("%s", said);
	}
	write_file("\nworkers = 0\n");
	ok(options_line_heard(check, STDERR_FILENO, said, sizeof said) == 2 &&
	    strstr(said, file) != NULL && strstr(said, ":2: workers: ") != NULL,
	    "a file with a fault is an error at start, with its line "
	    "[idem:D7]");
	write_file("rest = cgi {}\n");
	ok(options_line_heard(check, STDERR_FILENO, said, sizeof said) == 2 &&
	    strstr(said, "ledger = sqlite {") != NULL,
	    "a file without a ledger is one");
}

/* It is made at start; what it lies in is not. */
static void
check_run(void)
{
	static const char *const args[] = { "--check-config", "--run",
	    "/tmp/t_options.not-there", REST, NULL };
	char said[4096];

	if (!ok(options_line_heard(args, STDOUT_FILENO, said, sizeof said) ==
	    100 && strstr(said, ": ok, 1 route") != NULL &&
	    strstr(said, "run: ") == NULL,
	    "a run folder that is still to be made is not warned of"))
		note("%s", said);
}

static void
check_reread(void)
{
	static const char *const args[] = { "--config", file, "-c", "2", NULL };
	static const char *const line_args[] = { REST, NULL };
	struct options o;
	struct options_line line;
	struct conf *c;
	char error[700] = "";

	write_file(text);
	if (options_line_read(&o, &line, args) != 0)
		bail_out("%s", file);
	write_file("ledger = sqlite { path = \"/l2\" } rest = cgi {}\n");
	c = options_reread(&o, error, sizeof error);
	ok(c != NULL && strcmp(c->ledger, "/l2") == 0 && c->programs == 2,
	    "a file read again is the new one, and the command line still "
	    "wins");
	conf_drop(c);
	c = options_read_text(&o, idem_bytes_text(text), error, sizeof error);
	ok(c != NULL && strcmp(c->ledger, "/l") == 0 && c->programs == 2,
	    "so it is with a text that was read elsewhere");
	conf_drop(c);
	write_file("x");
	ok(options_reread(&o, error, sizeof error) == NULL &&
	    strstr(error, file) != NULL, "a fault in it is told");
	conf_drop(o.conf);
	if (options_line_read(&o, &line, line_args) != 0)
		bail_out("no options");
	ok(options_reread(&o, error, sizeof error) == NULL &&
	    strstr(error, "--config") != NULL,
	    "without a file there is nothing to read again");
	conf_drop(o.conf);
}

int
main(void)
{
	int fd = mkstemp(file), other_fd = mkstemp(other);

	if (fd == -1 || other_fd == -1)
		bail_out("%s", file);
	close(fd);
	close(other_fd);
	write_to(other, absent);
	check_filed();
	check_both();
	check_asked();
	check_run();
	check_reread();
	unlink(file);
	unlink(other);
	return done();
}
