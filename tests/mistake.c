/* SPDX-License-Identifier: ISC */
#include "mistake.h"

#include "scenario.h"
#include "tap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/mistake.XXXXXX";

const char *
mistake_path(const char *name)
{
	static char path[300];

	snprintf(path, sizeof path, "%s/%s", folder, name);
	return path;
}

void
mistake_put(const char *name, const char *text)
{
	FILE *f = fopen(mistake_path(name), "w");

	if (f == NULL || fputs(text, f) < 0 || fclose(f) != 0)
		bail_out("cannot write %s", mistake_path(name));
}

/* "FOLDER/NAME:LINE: ...", one line, and what it says. */
static bool
is_told(const struct mistake *m, const char *wrong)
{
	const char *at = wrong + strlen(folder);
	char *end;
	size_t i;

	if (strncmp(wrong, folder, strlen(folder)) != 0 ||
	    strchr(wrong, '\n') != NULL)
		return false;
	at = strchr(at, ':');
	if (at == NULL || (m->line != 0 &&
	    (strtol(at + 1, &end, 10) != m->line || *end != ':')))
		return false;
	for (i = 0; i < 2; i++)
		if (m->says[i] != NULL && strstr(wrong, m->says[i]) == NULL)
			return false;
	return true;
}

static void
check(const struct mistake *m)
{
	struct scenario *s;
	char wrong[1000] = "";

	mistake_put("s.lua", m->text);
	s = scenario_open(mistake_path("s.lua"), NULL, 0, wrong,
	    sizeof wrong);
	if (m->says[0] == NULL)
		ok(s != NULL, "%s is none", m->what);
	else if (!ok(s == NULL && is_told(m, wrong), "%s is told, with its "
	    "line", m->what))
		note("%s", s != NULL ? "it was read" : wrong);
	scenario_close(s);
}

void
mistake_check(const struct mistake *all, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		check(&all[i]);
}

void
mistake_begin(void)
{
	if (mkdtemp(folder) == NULL)
		bail_out("no temporary folder");
}

void
mistake_end(void)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			unlink(mistake_path(e->d_name));
	if (d != NULL)
		closedir(d);
	rmdir(folder);
}
