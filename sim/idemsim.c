/* SPDX-License-Identifier: ISC */
/*
 * idemsim: scenarios of what can go wrong, against real instances of idemd.
 */
#include "idemsim.h"

#include "matrix.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: idemsim [run] [OPTION...] FILE|FOLDER...\n"
    "       idemsim list FILE|FOLDER...\n"
    "       idemsim explain FILE...\n"
    "       idemsim check HISTORY...\n"
    "       idemsim render HISTORY >PAGE\n"
    "       idemsim matrix [OPTION...]\n"
    "\n"
    "  --param NAME=VALUE  only points where the parameter has that value\n"
    "  --only PATTERN      only points whose name fits\n"
    "  --runs N            of each point\n"
    "  --wall TIME         for each point: 10s, 5m\n"
    "  --quick             one run of each point\n"
    "  --seed N            of the first run\n"
    "  --out FOLDER        what failed is told there (idemsim-out)\n"
    "  --keep FOLDER       logs of all points' last runs\n"
    "  --junit FILE, --json FILE, --tap 13|14\n"
    "  --html FILE         the matrix as a page\n"
    "  --require live      what cannot be started is an error, not a SKIP\n"
    "  -h, --help, --version\n";

static const struct {
	const char *name;
	enum idemsim_exit (*run)(const struct idemsim_options *);
} commands[] = {
	{ "run", idemsim_run },		/* the default */
	{ "list", idemsim_list },
	{ "explain", idemsim_explain },
	{ "check", idemsim_check },
	{ "render", idemsim_render },
	{ "matrix", matrix_main }
};

/* Its place, taken off the line; that of "run" where it is none of them. */
static size_t
command_of(int *argc, char ***argv)
{
	size_t i;

	for (i = 0; *argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (strcmp(commands[i].name, (*argv)[1]) == 0) {
			(*argv)[1] = (*argv)[0];	/* for getopt */
			(*argc)--;
			(*argv)++;
			return i;
		}
	return 0;
}

int
main(int argc, char **argv)
{
	size_t command = command_of(&argc, &argv);
	struct idemsim_options o;

	if (!idemsim_options(&o, argc, argv)) {
		fputs("idemsim: see idemsim --help\n", stderr);
		return IDEMSIM_USAGE;
	}
	if (o.help)
		fputs(usage, stdout);
	else if (o.version)
		puts("idemsim " VERSION);
	else
		return (int)commands[command].run(&o);
	return IDEMSIM_OK;
}
