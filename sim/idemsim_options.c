/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPT_PARAM = 256, OPT_RUNS, OPT_SEED, OPT_WALL, OPT_ONLY, OPT_OUT,
	OPT_KEEP, OPT_JUNIT, OPT_JSON, OPT_HTML, OPT_TAP, OPT_REQUIRE,
	OPT_QUICK, OPT_VERSION
};

static const struct option known[] = {
	{ "param", required_argument, NULL, OPT_PARAM },
	{ "runs", required_argument, NULL, OPT_RUNS },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "wall", required_argument, NULL, OPT_WALL },
	{ "only", required_argument, NULL, OPT_ONLY },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "keep", required_argument, NULL, OPT_KEEP },
	{ "junit", required_argument, NULL, OPT_JUNIT },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "html", required_argument, NULL, OPT_HTML },
	{ "tap", required_argument, NULL, OPT_TAP },
	{ "require", required_argument, NULL, OPT_REQUIRE },
	{ "quick", no_argument, NULL, OPT_QUICK },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ NULL, 0, NULL, 0 }
};

static bool
wrong(const char *option, const char *text, const char *want)
{
	fprintf(stderr, "idemsim: %s %s: %s\n", option, text, want);
	return false;
}

/* --- values --------------------------------------------------------------- */

static bool
read_number(const char *text, int base, uint64_t max, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, base);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 &&
	    *n <= max;
}

/* "1500ms", "10s", "5m" */
static bool
read_time(const char *text, int64_t *ms)
{
	static const struct {
		const char *unit;
		uint64_t ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 },
	    { "h", 3600000 } };
	char number[16];
	size_t i, len = strspn(text, "0123456789");
	uint64_t n;

	if (len == 0 || len >= sizeof number)
		return false;
	memcpy(number, text, len);
	number[len] = '\0';
	for (i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(text + len, units[i].unit) == 0 &&
		    read_number(number, 10, INT32_MAX, &n) && n > 0) {
			*ms = (int64_t)(n * units[i].ms);
			return true;
		}
	return false;
}

/* The line is cut up where it lies. */
static bool
read_param(struct idemsim_options *o, char *text)
{
	char *value = strchr(text, '=');

	if (value == NULL || value == text)
		return wrong("--param", text, "say NAME=VALUE");
	if (o->params_n == IDEMSIM_PARAMS)
		return wrong("--param", text, "there are too many of them");
	*value++ = '\0';
	o->params[o->params_n++] = (struct scenario_choice){ text, value };
	return true;
}

static bool
read_runs(struct idemsim_options *o, const char *text)
{
	uint64_t n;

	if (!read_number(text, 10, 1000000, &n) || n == 0)
		return wrong("--runs", text, "not a number of runs");
	o->runs = (unsigned)n;
	return true;
}

static bool
read_seed(struct idemsim_options *o, const char *text)
{
	o->seeded = true;
	return read_number(text, 0, UINT64_MAX, &o->seed) ||
	    wrong("--seed", text, "not a number");
}

static bool
read_wall(struct idemsim_options *o, const char *text)
{
	return read_time(text, &o->wall_ms) || wrong("--wall", text,
	    "not a time with its unit, such as 500ms, 10s or 5m");
}

static bool
read_tap(struct idemsim_options *o, const char *text)
{
	uint64_t n;

	if (!read_number(text, 10, 14, &n) || n < 13)
		return wrong("--tap", text, "say 13 or 14");
	o->tap = (int)n;
	return true;
}

static bool
read_require(struct idemsim_options *o, const char *text)
{
	o->require_live = strcmp(text, "live") == 0;
	return o->require_live || wrong("--require", text,
	    "say live: there is no other world yet");
}

/* --- options -------------------------------------------------------------- */

/* Those that are kept as they are. */
static const char **
text_of(struct idemsim_options *o, int option)
{
	return option == OPT_ONLY ? &o->only : option == OPT_OUT ? &o->out :
	    option == OPT_KEEP ? &o->keep : option == OPT_JUNIT ? &o->junit :
	    option == OPT_JSON ? &o->json :
	    option == OPT_HTML ? &o->html : NULL;
}

static bool
read_option(struct idemsim_options *o, int option, char *text)
{
	const char **kept = text_of(o, option);

	if (kept != NULL) {
		*kept = text;
		return true;
	}
	switch (option) {
	case OPT_PARAM:
		return read_param(o, text);
	case OPT_RUNS:
		return read_runs(o, text);
	case OPT_SEED:
		return read_seed(o, text);
	case OPT_WALL:
		return read_wall(o, text);
	case OPT_TAP:
		return read_tap(o, text);
	case OPT_REQUIRE:
		return read_require(o, text);
	case OPT_QUICK:
		return o->quick = true;
	case OPT_VERSION:
		return o->version = true;
	case 'h':
		return o->help = true;
	default:
		/* getopt has said what is wrong. */
		return false;
	}
}

bool
idemsim_options(struct idemsim_options *o, int argc, char **argv)
{
	int option;

	*o = (struct idemsim_options){ .tap = 14 };
	optind = 1;
	while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1)
		if (!read_option(o, option, optarg))
			return false;
	o->names = argv + optind;
	o->names_n = argc - optind;
	return true;
}
