/* SPDX-License-Identifier: ISC */
#include "ctl.h"

#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS (24 * 3600 * (int64_t)1000)
#define TIME_MAX_MS (3650 * DAY_MS)
#define RUN_MAX_MS (15 * DAY_MS)

enum {
	OPT_CONFIG = 256, OPT_LEDGER, OPT_REDIS, OPT_PREFIX, OPT_RUN, OPT_KEYS,
	OPT_IN, OPT_JSON, OPT_FORCE, OPT_NO_WAIT, OPT_STATE, OPT_ANSWER,
	OPT_KEEP, OPT_TOMBSTONE, OPT_LEASE, OPT_LIMIT, OPT_GRACE, OPT_CACHE_AGE,
	OPT_ROUTE, OPT_METHOD, OPT_USER, OPT_COOKIE, OPT_VARIABLE, OPT_KEY,
	OPT_MAKE_KEY, OPT_NAME, OPT_STYLE, OPT_TYPE, OPT_ID, OPT_MACHINE,
	OPT_READ, OPT_LIFE, OPT_FRONT, OPT_REDIS_USER, OPT_HELP, OPT_VERSION
};

static const struct option known[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ "ledger", required_argument, NULL, OPT_LEDGER },
	{ "redis", required_argument, NULL, OPT_REDIS },
	{ "prefix", required_argument, NULL, OPT_PREFIX },
	{ "run", required_argument, NULL, OPT_RUN },
	{ "keys", required_argument, NULL, OPT_KEYS },
	{ "in", required_argument, NULL, OPT_IN },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "no-wait", no_argument, NULL, OPT_NO_WAIT },
	{ "state", required_argument, NULL, OPT_STATE },
	{ "answer", required_argument, NULL, OPT_ANSWER },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "tombstone", required_argument, NULL, OPT_TOMBSTONE },
	{ "lease", required_argument, NULL, OPT_LEASE },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "grace", required_argument, NULL, OPT_GRACE },
	{ "cache-age", required_argument, NULL, OPT_CACHE_AGE },
	{ "route", required_argument, NULL, OPT_ROUTE },
	{ "method", required_argument, NULL, OPT_METHOD },
	{ "user", required_argument, NULL, OPT_USER },
	{ "cookie", required_argument, NULL, OPT_COOKIE },
	{ "variable", required_argument, NULL, OPT_VARIABLE },
	{ "key", required_argument, NULL, OPT_KEY },
	{ "make-key", no_argument, NULL, OPT_MAKE_KEY },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "style", required_argument, NULL, OPT_STYLE },
	{ "type", required_argument, NULL, OPT_TYPE },
	{ "id", required_argument, NULL, OPT_ID },
	{ "machine", required_argument, NULL, OPT_MACHINE },
	{ "read", required_argument, NULL, OPT_READ },
	{ "life", required_argument, NULL, OPT_LIFE },
	{ "front", required_argument, NULL, OPT_FRONT },
	{ "redis-user", required_argument, NULL, OPT_REDIS_USER },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

/* --- values --------------------------------------------------------------- */

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

static int
read_in(struct ctl *c, const char *text)
{
	if (strcmp(text, "ledger") != 0 && strcmp(text, "redis") != 0)
		return ctl_say(c, CTL_WRONG, "--in %s: say ledger or redis",
		    text);
	c->in = text;
	return CTL_DONE;
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

/* --- options -------------------------------------------------------------- */

/* Those that are kept as they are. */
static const char **
text_of(struct ctl *c, int option)
{
	switch (option) {
	case OPT_CONFIG:
		return &c->config;
	case OPT_REDIS:
		return &c->redis;
	case OPT_PREFIX:
		return &c->prefix;
	case OPT_RUN:
		return &c->run;
	case OPT_KEYS:
		return &c->keys;
	case OPT_ANSWER:
		return &c->answer;
	case OPT_ROUTE:
		return &c->route;
	case OPT_METHOD:
		return &c->method;
	case OPT_USER:
		return &c->user;
	case OPT_KEY:
		return &c->key;
	case OPT_NAME:
		return &c->name;
	case OPT_STYLE:
		return &c->style;
	case OPT_TYPE:
		return &c->type;
	case OPT_ID:
		return &c->id;
	case OPT_MACHINE:
		return &c->machine;
	case OPT_READ:
		return &c->read;
	case OPT_REDIS_USER:
		return &c->redis_user;
	default:
		return NULL;
	}
}

static bool *
flag_of(struct ctl *c, int option)
{
	switch (option) {
	case OPT_JSON:
		return &c->json;
	case OPT_FORCE:
		return &c->force;
	case OPT_NO_WAIT:
		return &c->no_wait;
	case OPT_MAKE_KEY:
		return &c->make_key;
	default:
		return NULL;
	}
}

static int
read_other(struct ctl *c, int option, char *text)
{
	switch (option) {
	case OPT_LEDGER:
		return read_ledger(c, text);
	case OPT_IN:
		return read_in(c, text);
	case OPT_STATE:
		return read_state(c, text);
	case OPT_KEEP:
		return read_time(c, "--keep", text, TIME_MAX_MS, &c->keep_ms);
	case OPT_TOMBSTONE:
		return read_time(c, "--tombstone", text, TIME_MAX_MS,
		    &c->tombstone_ms);
	case OPT_LIFE:
		return read_time(c, "--life", text, TIME_MAX_MS, &c->life_ms);
	case OPT_CACHE_AGE:
		return read_time(c, "--cache-age", text, DAY_MS,
		    &c->cache_age_ms);
	case OPT_LEASE:
		return read_span(c, "--lease", text, &c->lease_ms);
	case OPT_LIMIT:
		return read_limit(c, text);
	case OPT_GRACE:
		return read_span(c, "--grace", text, &c->grace_ms);
	case OPT_COOKIE:
		return read_named(c, "--cookie", ";", text, c->cookies,
		    &c->cookies_len);
	case OPT_VARIABLE:
		return read_named(c, "--variable", "", text, c->variables,
		    &c->variables_len);
	case OPT_FRONT:
		c->fronts[c->fronts_len++] = text;
		return CTL_DONE;
	default:
		/* getopt has said what is wrong. */
		return CTL_WRONG;
	}
}

static int
read_option(struct ctl *c, int option, char *text)
{
	const char **kept = text_of(c, option);
	bool *flag = flag_of(c, option);

	if (kept != NULL)
		*kept = text;
	else if (flag != NULL)
		*flag = true;
	else
		return read_other(c, option, text);
	return CTL_DONE;
}

static bool
is_asked(int option)
{
	if (option == OPT_HELP)
		ctl_help(stdout);
	else if (option == OPT_VERSION)
		puts("idemctl " PACKAGE_VERSION);
	else
		return false;
	return true;
}

/* The environment's, where nothing else is said. */
static int
default_ledger(struct ctl *c)
{
	const char *ledger = getenv("IDEM_LEDGER");

	if (ledger == NULL || c->ledger != NULL || c->config != NULL ||
	    c->redis != NULL)
		return CTL_DONE;
	return read_ledger(c, ledger);
}

/* The command comes first, so that options know whose they are. */
int
ctl_line(struct ctl *c, int argc, char **argv, bool *asked)
{
	int option, status = CTL_DONE;

	if (argc > 1 && argv[1][0] != '-') {
		c->command = argv[1];
		argv[1] = argv[0];	/* for messages of getopt */
		argc--;
		argv++;
	}
	while (status == CTL_DONE &&
	    (option = getopt_long(argc, argv, "", known, NULL)) != -1) {
		*asked = is_asked(option);
		if (*asked)
			return CTL_DONE;
		status = read_option(c, option, optarg);
	}
	c->args = argv + optind;
	c->args_len = argc - optind;
	return status == CTL_DONE ? default_ledger(c) : status;
}
