/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 3600 * (int64_t)1000)

static const char help[] =
    "usage: idemctl init    --ledger sqlite:PATH\n"
    "       idemctl list    [--state STATE[,...]] [--limit N] [--json]\n"
    "       idemctl unknown [--json]\n"
    "       idemctl show    KEY [--json]\n"
    "       idemctl output  KEY\n"
    "       idemctl resolve KEY done [--answer FILE] | not-done  [--force]\n"
    "       idemctl forget  KEY [--force] [--no-wait]\n"
    "       idemctl stats   [--json]\n"
    "       idemctl token   [PATH] [--json]\n"
    "       idemctl token   --read TOKEN | --make-key [--name NAME]\n"
    "       idemctl token   --style uuid | business | composite\n"
    "                       [--type TYPE --id ID [--machine NAME]]\n"
    "       idemctl doctor  [--front FILE]... [--redis-user NAME] [--json]\n"
    "\n"
    "      --config FILE     what idemd reads; or\n"
    "      --ledger PATH     sqlite:PATH; else what IDEM_LEDGER says; and\n"
    "      --redis URL [--prefix PREFIX] [--run FOLDER] [--keys FILE]\n"
    "      --in ledger|redis only there\n"
    "      --state STATE     issued, in-progress, completed, unknown or\n"
    "                        tombstone\n"
    "      --limit N         list: no more than that\n"
    "      --answer FILE     a CGI response: what later requests get\n"
    "      --force           although the run may still be going on\n"
    "      --life TIME       of a token that is made without --config (1h)\n"
    "      --keep TIME, --tombstone TIME\n"
    "      --lease TIME, --limit TIME, --grace TIME, --cache-age TIME\n"
    "                        as idemd was told (24h, 7d, 60s, 300s, 5s, 60s)\n"
    "\n"
    "KEY is a store key or its first digits, eight at least; or the client's:\n"
    "      --route ROUTE [--method METHOD] [--user NAME]\n"
    "      [--cookie NAME=VALUE]... [--variable NAME=VALUE]... --key KEY\n"
    "ROUTE is the name in the route's scope; or, where there is none, the\n"
    "program's path, of a FastCGI application the route's pattern.\n"
    "\n"
    "See idemctl(1).\n";

void
ctl_help(FILE *to)
{
	fputs(help, to);
}

int
ctl_say(const struct ctl *c, enum ctl_exit status, const char *why, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "idemctl: %s: ",
	    c->command != NULL ? c->command : "usage");
	va_start(args, why);
	vfprintf(stderr, why, args);
	va_end(args);
	fputc('\n', stderr);
	return (int)status;
}

static int
init(struct ctl *c)
{
	char error[500];
	int status;

	if (c->args_len > 0)
		return ctl_say(c, CTL_WRONG, "%s: name the ledger by --ledger",
		    c->args[0]);
	status = ctl_conf(c);
	if (status != CTL_DONE)
		return status;
	if (c->conf->ledger == NULL)
		return ctl_say(c, CTL_WRONG, "say which ledger: --ledger "
		    "sqlite:PATH, or IDEM_LEDGER in the environment");
	if (idem_store_sqlite_create(c->conf->ledger, error, sizeof error) != 0)
		return ctl_say(c, CTL_FAILED, "%s", error);
	printf("made %s\n", c->conf->ledger);
	return CTL_DONE;
}

static const struct {
	const char *name;
	ctl_command *run;
} commands[] = {
	{ "init", init },
	{ "list", ctl_list },
	{ "unknown", ctl_unknown },
	{ "show", ctl_show },
	{ "output", ctl_output },
	{ "resolve", ctl_resolve },
	{ "forget", ctl_forget },
	{ "stats", ctl_stats },
	{ "token", ctl_token },
	{ "doctor", ctl_doctor },
};

static int
run(struct ctl *c)
{
	size_t i;

	if (c->command == NULL) {
		ctl_help(stderr);
		return CTL_WRONG;
	}
	for (i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(c->command, commands[i].name) == 0)
			return commands[i].run(c);
	return ctl_say(c, CTL_WRONG, "no such command; idemctl --help lists "
	    "them");
}

/* Lists of the command line have room for all of it. */
static bool
make_room(struct ctl *c, size_t n)
{
	c->cookies = calloc(n + 1, sizeof *c->cookies);
	c->variables = calloc(n + 1, sizeof *c->variables);
	c->fronts = calloc(n + 1, sizeof *c->fronts);
	return c->cookies != NULL && c->variables != NULL && c->fronts != NULL;
}

int
main(int argc, char **argv)
{
	struct ctl c = {
		.keep_ms = DAY_MS,
		.tombstone_ms = 7 * DAY_MS,
		.cache_age_ms = -1,
		.folder = -1,
		.method = "POST",
		.user = "",
	};
	bool asked = false;
	int status = CTL_DONE;

	if (!make_room(&c, (size_t)argc))
		status = ctl_say(&c, CTL_FAILED, "out of memory");
	if (status == CTL_DONE)
		status = ctl_line(&c, argc, argv, &asked);
	if (status == CTL_DONE && !asked)
		status = run(&c);
	ctl_close(&c);
	free(c.cookies);
	free(c.variables);
	free(c.fronts);
	if (fflush(stdout) != 0 && status == CTL_DONE)
		status = ctl_say(&c, CTL_FAILED, "standard output: %s",
		    strerror(errno));
	return status;
}
