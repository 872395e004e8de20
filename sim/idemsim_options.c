/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include "near.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_AT 22		/* column of what is said of an option */

/* Commands that an option is of. */
#define RUN (1u << IDEMSIM_RUN)
#define LIST (1u << IDEMSIM_LIST)
#define EXPLAIN (1u << IDEMSIM_EXPLAIN)
#define CHECK (1u << IDEMSIM_CHECK)
#define MATRIX (1u << IDEMSIM_MATRIX)
#define ALL ((1u << IDEMSIM_COMMANDS) - 1)

enum {
	OPT_PARAM = 256, OPT_RUNS, OPT_SEED, OPT_WALL, OPT_ONLY, OPT_OUT,
	OPT_KEEP, OPT_JUNIT, OPT_JSON, OPT_HTML, OPT_TAP, OPT_REQUIRE,
	OPT_QUICK, OPT_VERSION, OPT_HELP
};

static const struct {
	const char *name, *arg;		/* arg: its value's; NULL: none */
	int option;
	unsigned of;
	const char *about;
} known[] = {
	{ "param", "NAME=VALUE", OPT_PARAM, RUN | LIST | EXPLAIN | MATRIX,
	    "only points where the parameter has that value" },
	{ "only", "PATTERN", OPT_ONLY, RUN | LIST | EXPLAIN | MATRIX,
	    "only points whose name fits" },
	{ "runs", "N", OPT_RUNS, RUN | MATRIX, "of each point" },
	{ "wall", "TIME", OPT_WALL, RUN | MATRIX,
	    "no run is begun after it: 10s, 5m" },
	{ "quick", NULL, OPT_QUICK, RUN | MATRIX,
	    "1 to 5 runs of a point, as needed; 1 of a cell" },
	{ "seed", "N", OPT_SEED, RUN | MATRIX, "of the first run" },
	{ "out", "FOLDER", OPT_OUT, RUN | MATRIX,
	    "what failed is told there (idemsim-out)" },
	{ "keep", "FOLDER", OPT_KEEP, RUN | MATRIX,
	    "histories, and logs, also of what is good" },
	{ "junit", "FILE", OPT_JUNIT, RUN, "results as JUnit's XML" },
	{ "json", "FILE", OPT_JSON, RUN | MATRIX, "results as JSON" },
	{ "html", "FILE", OPT_HTML, MATRIX, "the matrix as a page" },
	{ "tap", "13|14", OPT_TAP, RUN | CHECK, "version of TAP (14)" },
	{ "require", "live", OPT_REQUIRE, RUN | MATRIX,
	    "what cannot be started is an error, not a SKIP" },
	{ "help", NULL, OPT_HELP, ALL, "this" },
	{ "version", NULL, OPT_VERSION, ALL, "its version" }
};

#define KNOWN (sizeof known / sizeof *known)

/* Of each command what stands behind its options, and what it is for. */
static const struct {
	const char *name, *names, *about;
} commands[IDEMSIM_COMMANDS] = {
	[IDEMSIM_RUN] = { "run", "FILE|FOLDER...",
	    "run each test point; it is what is done without a command" },
	[IDEMSIM_LIST] = { "list", "FILE|FOLDER...",
	    "print a line for each test point" },
	[IDEMSIM_EXPLAIN] = { "explain", "FILE|FOLDER...",
	    "say in words what each test point is" },
	[IDEMSIM_CHECK] = { "check", "HISTORY...",
	    "judge stored histories again" },
	[IDEMSIM_RENDER] = { "render", "HISTORY",
	    "draw a stored history as a page, on standard output" },
	[IDEMSIM_MATRIX] = { "matrix", "[FILE]",
	    "compare ways to deploy idem in what can go wrong" }
};

const char *
idemsim_command_text(enum idemsim_command c)
{
	return commands[c].name;
}

/* --- help ----------------------------------------------------------------- */

static void
put_synopsis(enum idemsim_command c, const char *before)
{
	printf("%s%s%s %s\n", before, c == IDEMSIM_RUN ? "[run]" :
	    commands[c].name, c == IDEMSIM_RENDER ? "" : " [OPTION...]",
	    commands[c].names);
}

static void
put_option(size_t i)
{
	char shown[40];

	snprintf(shown, sizeof shown, "%s--%s%s%s", known[i].option ==
	    OPT_HELP ? "-h, " : "", known[i].name, known[i].arg != NULL ?
	    " " : "", known[i].arg != NULL ? known[i].arg : "");
	printf("  %-*s%s\n", HELP_AT - 2, shown, known[i].about);
}

static void
help_of(enum idemsim_command c)
{
	size_t i;

	put_synopsis(c, "usage: idemsim ");
	printf("\n%s\n\n", commands[c].about);
	for (i = 0; i < KNOWN; i++)
		if ((known[i].of >> c & 1) != 0)
			put_option(i);
}

void
idemsim_help(const struct idemsim_options *o)
{
	enum idemsim_command c;
	size_t i;

	if (o->named) {
		help_of(o->command);
		return;
	}
	for (c = IDEMSIM_RUN; c < IDEMSIM_COMMANDS; c++)
		put_synopsis(c, c == IDEMSIM_RUN ? "usage: idemsim " :
		    "       idemsim ");
	putchar('\n');
	for (c = IDEMSIM_RUN; c < IDEMSIM_COMMANDS; c++)
		printf("  %-*s%s\n", HELP_AT - 2, commands[c].name,
		    commands[c].about);
	putchar('\n');
	for (i = 0; i < KNOWN; i++)
		put_option(i);
	puts("\nidemsim COMMAND --help has those of a command.");
}

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
	size_t i;

	if (value == NULL || value == text)
		return wrong("--param", text, "say NAME=VALUE");
	if (o->params_n == IDEMSIM_PARAMS)
		return wrong("--param", text, "there are too many of them");
	*value++ = '\0';
	for (i = 0; i < o->params_n; i++)
		if (strcmp(o->params[i].name, text) == 0)
			return wrong("--param", text, "it is there twice");
	o->params[o->params_n++] = (struct scenario_choice){ text, value };
	return true;
}

static bool
read_runs(struct idemsim_options *o, const char *text)
{
	uint64_t n;

	if (!read_number(text, 10, 1000000, &n) || n == 0)
		return wrong("--runs", text, "not a number from 1 to 1000000");
	o->runs = (unsigned)n;
	return true;
}

static bool
read_seed(struct idemsim_options *o, const char *text)
{
	bool hex = strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0;

	o->seeded = true;
	return read_number(text, hex ? 16 : 10, UINT64_MAX, &o->seed) ||
	    wrong("--seed", text, "not a number, decimal or with 0x");
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
		if (*text == '\0')
			fputs("idemsim: an option has an empty value\n",
			    stderr);
		return *text != '\0';
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
	case OPT_HELP:
	case 'h':
		return o->help = true;
	default:
		/* getopt has said what is wrong. */
		return false;
	}
}

/* An option that the command would not heed is a mistake. */
static bool
is_of(enum idemsim_command c, int option)
{
	enum idemsim_command other;
	size_t i;

	for (i = 0; i < KNOWN; i++)
		if (known[i].option == option)
			break;
	if (i == KNOWN || (known[i].of >> c & 1) != 0)
		return true;
	fprintf(stderr, "idemsim: --%s is no option of %s, but of",
	    known[i].name, commands[c].name);
	for (other = IDEMSIM_RUN; other < IDEMSIM_COMMANDS; other++)
		if ((known[i].of >> other & 1) != 0)
			fprintf(stderr, " %s", commands[other].name);
	fputc('\n', stderr);
	return false;
}

/* Its command, taken off the line; run, where it names none. */
static void
take_command(struct idemsim_options *o, int *argc, char ***argv)
{
	enum idemsim_command c;

	for (c = IDEMSIM_RUN; *argc > 1 && c < IDEMSIM_COMMANDS; c++)
		if (strcmp(commands[c].name, (*argv)[1]) == 0) {
			o->command = c;
			o->named = true;
			(*argv)[1] = (*argv)[0];	/* for getopt */
			(*argc)--;
			(*argv)++;
			return;
		}
}

/* Who mistypes a command is told of a file that is not there otherwise. */
static bool
is_no_command(const struct idemsim_options *o)
{
	unsigned far, least = IDEM_NEAR_NOT;
	const char *name = o->names_n > 0 ? o->names[0] : "", *near = NULL;
	enum idemsim_command c;

	if (o->named || *name == '\0' || strpbrk(name, "/.") != NULL ||
	    access(name, F_OK) == 0)
		return false;
	for (c = IDEMSIM_RUN; c < IDEMSIM_COMMANDS; c++) {
		far = idem_near(name, strlen(name), commands[c].name,
		    strlen(commands[c].name));
		if (far < least)
			near = commands[c].name;
		if (far < least)
			least = far;
	}
	fprintf(stderr, "idemsim: %s: there is no such command, and no such "
	    "file%s%s%s\n", name, near != NULL ? "; did you mean " : "",
	    near != NULL ? near : "", near != NULL ? "?" : "");
	return true;
}

bool
idemsim_options(struct idemsim_options *o, int argc, char **argv)
{
	struct option options[KNOWN + 1] = { { NULL, 0, NULL, 0 } };
	static char name[] = "idemsim";
	int option;
	size_t i;

	*o = (struct idemsim_options){ .tap = 14, .command = IDEMSIM_RUN };
	for (i = 0; i < KNOWN; i++)
		options[i] = (struct option){ known[i].name,
		    known[i].arg != NULL ? required_argument : no_argument,
		    NULL, known[i].option };
	take_command(o, &argc, &argv);
	argv[0] = name;		/* getopt's messages begin with it */
	optind = 1;
	while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
		if (!is_of(o->command, option) ||
		    !read_option(o, option, optarg))
			return false;
	o->names = argv + optind;
	o->names_n = argc - optind;
	if (!o->help && !o->version && is_no_command(o))
		return false;
	return !o->quick || o->runs == 0 || wrong("--quick", "--runs",
	    "it says how many runs; leave one of them out");
}
