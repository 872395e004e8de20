/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 3600 * (int64_t)1000)
#define TIME_MAX_MS (3650 * DAY_MS)
#define RUN_MAX_MS (15 * DAY_MS)

enum {
	OPT_LEDGER = 256, OPT_JSON, OPT_FORCE, OPT_STATE, OPT_ANSWER,
	OPT_KEEP, OPT_TOMBSTONE, OPT_LEASE, OPT_LIMIT, OPT_GRACE, OPT_ROUTE,
	OPT_METHOD, OPT_USER, OPT_COOKIE, OPT_VARIABLE, OPT_KEY, OPT_HELP,
	OPT_VERSION
};

static const struct option known[] = {
	{ "ledger", required_argument, NULL, OPT_LEDGER },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "state", required_argument, NULL, OPT_STATE },
	{ "answer", required_argument, NULL, OPT_ANSWER },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "tombstone", required_argument, NULL, OPT_TOMBSTONE },
	{ "lease", required_argument, NULL, OPT_LEASE },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "route", required_argument, NULL, OPT_ROUTE },
	{ "method", required_argument, NULL, OPT_METHOD },
	{ "user", required_argument, NULL, OPT_USER },
	{ "cookie", required_argument, NULL, OPT_COOKIE },
	{ "variable", required_argument, NULL, OPT_VARIABLE },
	{ "key", required_argument, NULL, OPT_KEY },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static const char help[] =
    "usage: idemctl init    --ledger sqlite:PATH\n"
    "       idemctl list    [--state STATE[,...]] [--limit N] [--json]\n"
    "       idemctl show    KEY [--json]\n"
    "       idemctl resolve KEY done [--answer FILE] | not-done  [--force]\n"
    "       idemctl forget  KEY [--force]\n"
    "       idemctl stats   [--json]\n"
    "\n"
    "      --ledger PATH     sqlite:PATH; else what IDEM_LEDGER says\n"
    "      --state STATE     issued, in-progress, completed, unknown or\n"
    "                        tombstone\n"
    "      --limit N         list: no more than that\n"
    "      --answer FILE     a CGI response: what later requests get\n"
    "      --force           although the run may still be going on\n"
    "      --keep TIME, --tombstone TIME\n"
    "      --lease TIME, --limit TIME, --grace TIME\n"
    "                        as idemd was told (24h, 7d, 60s, 300s, 5s)\n"
    "\n"
    "KEY is a store key or its first digits, eight at least; or the client's:\n"
    "      --route ROUTE [--method METHOD] [--user NAME]\n"
    "      [--cookie NAME=VALUE]... [--variable NAME=VALUE]... --key KEY\n"
    "ROUTE is the name in the route's scope; or, where there is none, the\n"
    "program's path, of a FastCGI application the route's pattern.\n"
    "\n"
    "See idemctl(1).\n";

static const struct {
	const char *name;
	ctl_command *run;
} commands[] = {
	{ "init", ctl_init },
	{ "list", ctl_list },
	{ "show", ctl_show },
	{ "resolve", ctl_resolve },
	{ "forget", ctl_forget },
	{ "stats", ctl_stats },
};

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

int
ctl_init(struct ctl *c)
{
	char error[500];

	if (c->args_len > 0)
		return ctl_say(c, CTL_WRONG, "%s: name the ledger by --ledger",
		    c->args[0]);
	if (idem_store_sqlite_create(c->ledger, error, sizeof error) != 0)
		return ctl_say(c, CTL_FAILED, "%s", error);
	printf("made %s\n", c->ledger);
	return CTL_DONE;
}

/* --- the command line ----------------------------------------------------- */

static int
read_ledger(struct ctl *c, const char *text)
{
	static const char scheme[] = "sqlite:";

	if (strncmp(text, scheme, sizeof scheme - 1) == 0)
		text += sizeof scheme - 1;
	else if (strchr(text, ':') != NULL)
		return ctl_say(c, CTL_WRONG, "--ledger %s: not sqlite:PATH",
		    text);
	if (*text == '\0')
		return ctl_say(c, CTL_WRONG, "--ledger: a path is missing");
	c->ledger = text;
	return CTL_DONE;
}

static int
read_state(struct ctl *c, const char *text)
{
	enum idem_state s;
	size_t len;

	for (; *text != '\0'; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		for (s = IDEM_STATE_ISSUED; s <= IDEM_STATE_TOMBSTONE; s++)
			if (strlen(idem_state_text(s)) == len &&
			    strncmp(text, idem_state_text(s), len) == 0)
				break;
		if (s > IDEM_STATE_TOMBSTONE)
			return ctl_say(c, CTL_WRONG, "--state %s: no such "
			    "state", text);
		c->states |= 1u << s;
	}
	return CTL_DONE;
}

static int
read_time(struct ctl *c, const char *name, const char *text, int64_t max_ms,
    int64_t *ms)
{
	if (options_time(text, max_ms, ms))
		return CTL_DONE;
	return ctl_say(c, CTL_WRONG, "%s %s: not a time with its unit, such as "
	    "10s, 5m or 24h", name, text);
}

static int
read_span(struct ctl *c, const char *name, const char *text, uint32_t *ms)
{
	int64_t ms64;
	int status = read_time(c, name, text, RUN_MAX_MS, &ms64);

	if (status == CTL_DONE)
		*ms = (uint32_t)ms64;
	return status;
}

/* Of a list it is a number of rows, else the run's time. */
static int
read_limit(struct ctl *c, const char *text)
{
	unsigned long n;
	char *end;

	if (c->command == NULL || strcmp(c->command, "list") != 0)
		return read_span(c, "--limit", text, &c->limit_ms);
	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 ||
	    n == 0 || n > UINT32_MAX)
		return ctl_say(c, CTL_WRONG, "--limit %s: not a number of "
		    "rows", text);
	c->rows = (uint32_t)n;
	return CTL_DONE;
}

/* A cookie's value ends at a semicolon, so that one is not all of it. */
static int
read_named(struct ctl *c, const char *option, const char *not_in, char *text,
    char **list, size_t *len)
{
	size_t name_len = strcspn(text, "=");

	if (name_len == 0 || text[name_len] == '\0' ||
	    strpbrk(text, not_in) != NULL)
		return ctl_say(c, CTL_WRONG, "%s %s: not NAME=VALUE; say NAME= "
		    "for one that was not there", option, text);
	list[(*len)++] = text;
	return CTL_DONE;
}

static int
read_option(struct ctl *c, int option, char *text)
{
	switch (option) {
	case OPT_LEDGER:
		return read_ledger(c, text);
	case OPT_JSON:
		c->json = true;
		return CTL_DONE;
	case OPT_FORCE:
		c->force = true;
		return CTL_DONE;
	case OPT_STATE:
		return read_state(c, text);
	case OPT_ANSWER:
		c->answer = text;
		return CTL_DONE;
	case OPT_KEEP:
		return read_time(c, "--keep", text, TIME_MAX_MS, &c->keep_ms);
	case OPT_TOMBSTONE:
		return read_time(c, "--tombstone", text, TIME_MAX_MS,
		    &c->tombstone_ms);
	case OPT_LEASE:
		return read_span(c, "--lease", text, &c->lease_ms);
	case OPT_LIMIT:
		return read_limit(c, text);
	case OPT_GRACE:
		return read_span(c, "--grace", text, &c->grace_ms);
	case OPT_ROUTE:
		c->route = text;
		return CTL_DONE;
	case OPT_METHOD:
		c->method = text;
		return CTL_DONE;
	case OPT_USER:
		c->user = text;
		return CTL_DONE;
	case OPT_COOKIE:
		return read_named(c, "--cookie", ";", text, c->cookies,
		    &c->cookies_len);
	case OPT_VARIABLE:
		return read_named(c, "--variable", "", text, c->variables,
		    &c->variables_len);
	case OPT_KEY:
		c->key = text;
		return CTL_DONE;
	default:
		/* getopt has said what is wrong. */
		return CTL_WRONG;
	}
}

static bool
is_asked(int option)
{
	if (option == OPT_HELP)
		fputs(help, stdout);
	else if (option == OPT_VERSION)
		puts("idemctl " PACKAGE_VERSION);
	else
		return false;
	return true;
}

/* The command comes first, so that options know whose they are. */
static int
read_line(struct ctl *c, int argc, char **argv, bool *asked)
{
	const char *ledger = getenv("IDEM_LEDGER");
	int option, status = CTL_DONE;

	if (argc > 1 && argv[1][0] != '-') {
		c->command = argv[1];
		argv[1] = argv[0];	/* for messages of getopt */
		argc--;
		argv++;
	}
	if (ledger != NULL)
		status = read_ledger(c, ledger);
	while (status == CTL_DONE &&
	    (option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		*asked = is_asked(option);
		if (*asked)
			return CTL_DONE;
		status = read_option(c, option, optarg);
	}
	c->args = argv + optind;
	c->args_len = argc - optind;
	return status;
}

static int
run(struct ctl *c)
{
	size_t i;

	if (c->command == NULL) {
		fputs(help, stderr);
		return CTL_WRONG;
	}
	for (i = 0; i < sizeof commands / sizeof *commands; i++)
		if (strcmp(c->command, commands[i].name) == 0)
			break;
	if (i == sizeof commands / sizeof *commands)
		return ctl_say(c, CTL_WRONG, "no such command; idemctl --help "
		    "lists them");
	if (c->ledger == NULL)
		return ctl_say(c, CTL_WRONG, "say which ledger: --ledger "
		    "sqlite:PATH, or IDEM_LEDGER in the environment");
	return commands[i].run(c);
}

int
main(int argc, char **argv)
{
	struct ctl c = {
		.keep_ms = DAY_MS,
		.tombstone_ms = 7 * DAY_MS,
		.lease_ms = 60 * 1000,
		.limit_ms = 300 * 1000,
		.grace_ms = 5 * 1000,
		.method = "POST",
		.user = "",
	};
	bool asked = false;
	int status = CTL_DONE;

	c.cookies = calloc((size_t)argc + 1, sizeof *c.cookies);
	c.variables = calloc((size_t)argc + 1, sizeof *c.variables);
	if (c.cookies == NULL || c.variables == NULL)
		status = ctl_say(&c, CTL_FAILED, "out of memory");
	if (status == CTL_DONE)
		status = read_line(&c, argc, argv, &asked);
	if (status == CTL_DONE && !asked)
		status = run(&c);
	if (c.store != NULL)
		c.store->ops->close(c.store);
	free(c.cookies);
	free(c.variables);
	if (fflush(stdout) != 0 && status == CTL_DONE)
		status = ctl_say(&c, CTL_FAILED, "standard output: %s",
		    strerror(errno));
	return status;
}
