/* SPDX-License-Identifier: ISC */
#include "idemsim.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WRONG 2000

/* --- one file ------------------------------------------------------------- */

static void
add_points(struct idemsim_files *f, const struct idemsim_options *o,
    struct scenario *s)
{
	struct idemsim_point *p;
	const struct plan *plan;
	size_t i;

	for (i = 0; i < scenario_points(s); i++) {
		plan = scenario_plan(s, i);
		if (o->only != NULL && fnmatch(o->only, plan->name, 0) != 0)
			continue;
		p = arena_more(&f->arena, &f->points, &f->points_n, sizeof *p);
		*p = (struct idemsim_point){ s, i, plan };
	}
}

static bool
add_file(struct idemsim_files *f, const struct idemsim_options *o,
    const char *path)
{
	char wrong[WRONG] = "";
	struct scenario *s = scenario_open(path, o->params, o->params_n,
	    wrong, sizeof wrong);

	if (s == NULL) {
		fprintf(stderr, "idemsim: %s\n", wrong);
		return false;
	}
	*(struct scenario **)arena_more(&f->arena, &f->scenarios,
	    &f->scenarios_n, sizeof s) = s;
	add_points(f, o, s);
	return true;
}

/* --- a folder ------------------------------------------------------------- */

/* What begins with "_" is a part of others. */
static int
is_scenario(const struct dirent *entry)
{
	return fnmatch("[!_.]*.lua", entry->d_name, 0) == 0;
}

/* Not alphasort: that goes by the locale. */
static int
by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool
add_folder(struct idemsim_files *f, const struct idemsim_options *o,
    const char *path)
{
	size_t len = strlen(path);
	struct dirent **entries;
	int i, n = scandir(path, &entries, is_scenario, by_name);
	bool good = true;

	if (n < 0) {
		fprintf(stderr, "idemsim: %s: %s\n", path, strerror(errno));
		return false;
	}
	if (n == 0)
		fprintf(stderr, "idemsim: %s: there is no scenario in it "
		    "(*.lua, but not _*.lua)\n", path);
	for (i = 0; i < n; i++) {
		good = add_file(f, o, arena_format(&f->arena, "%s%s%s", path,
		    len > 0 && path[len - 1] == '/' ? "" : "/",
		    entries[i]->d_name)) && good;
		free(entries[i]);
	}
	free(entries);
	return good;
}

/* --- all of them ---------------------------------------------------------- */

/* Every file is read, so that all that is wrong is told. */
bool
idemsim_files_open(struct idemsim_files *f, const struct idemsim_options *o)
{
	bool good = true;
	struct stat st;
	int i;

	*f = (struct idemsim_files){ .points_n = 0 };
	if (o->names_n == 0) {
		fprintf(stderr, "idemsim: name a scenario or a folder\n");
		return false;
	}
	for (i = 0; i < o->names_n; i++)
		good = (stat(o->names[i], &st) == 0 && S_ISDIR(st.st_mode) ?
		    add_folder(f, o, o->names[i]) :
		    add_file(f, o, o->names[i])) && good;
	if (good && f->points_n == 0) {
		fprintf(stderr, "idemsim: there is no test point%s%s\n",
		    o->only != NULL ? " that fits " : "",
		    o->only != NULL ? o->only : "");
		return false;
	}
	return good;
}

void
idemsim_files_close(struct idemsim_files *f)
{
	size_t i;

	for (i = 0; i < f->scenarios_n; i++)
		scenario_close(f->scenarios[i]);
	arena_free(&f->arena);
	*f = (struct idemsim_files){ .points_n = 0 };
}
