/* SPDX-License-Identifier: ISC */
#include "program.h"

#include "program_env.h"
#include "program_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* --- where it may lie ----------------------------------------------------- */

static bool
below(const char *path, const char *root)
{
	size_t len = strlen(root);

	while (len > 0 && root[len - 1] == '/')
		len--;
	return strncmp(path, root, len) == 0 && path[len] == '/';
}

static bool
is_below(const char *real, const char *root)
{
	char real_root[PATH_MAX];

	/* No name in it is a link, so none in what it begins with is. */
	return below(real, root) ||
	    (realpath(root, real_root) != NULL && below(real, real_root));
}

static bool
is_allowed(const char *real, char *const *allowed)
{
	char other[PATH_MAX];

	for (; *allowed != NULL; allowed++)
		if (strcmp(real, *allowed) == 0 ||
		    (realpath(*allowed, other) != NULL &&
		    strcmp(real, other) == 0))
			return true;
	return false;
}

static enum idem_problem
not_there(int error)
{
	return error == EACCES ? IDEM_PROBLEM_FORBIDDEN_PROGRAM :
	    IDEM_PROBLEM_NO_PROGRAM;
}

static enum idem_problem
confined(const struct program_rule *rule, const char *path)
{
	char real[PATH_MAX];

	if (rule->root == NULL && rule->allowed == NULL)
		return IDEM_PROBLEM_NONE;
	if (realpath(path, real) == NULL)
		return not_there(errno);
	if ((rule->root != NULL && !is_below(real, rule->root)) ||
	    (rule->allowed != NULL && !is_allowed(real, rule->allowed)))
		return IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	return IDEM_PROBLEM_NONE;
}

/* --- which file ----------------------------------------------------------- */

/*
 * Some name in the path is no folder, and more comes after it.  The length up
 * to the end of that name, or 0 and errno.  Nothing up to `from` can be it.
 */
static size_t
file_len(char *path, size_t from, struct stat *st)
{
	size_t i;
	int got;

	for (i = from + 1; path[i] != '\0'; i++) {
		if (path[i] != '/' || path[i - 1] == '/')
			continue;
		path[i] = '\0';
		got = stat(path, st);
		path[i] = '/';
		if (got != 0)
			return 0;
		if (!S_ISDIR(st->st_mode))
			return i;
	}
	errno = ENOENT;		/* it was there a moment ago */
	return 0;
}

static enum idem_problem
find_file(char *path, size_t from, size_t *len)
{
	struct stat st;

	*len = strlen(path);
	if (stat(path, &st) != 0) {
		if (errno == ENOTDIR)
			*len = file_len(path, from, &st);
		else
			*len = 0;
		if (*len == 0)
			return not_there(errno);
	}
	if (!S_ISREG(st.st_mode) ||
	    (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
		return IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	return IDEM_PROBLEM_NONE;
}

/*
 * The path that the request names, and how much of it is surely folders.  As
 * by fcgiwrap, DOCUMENT_ROOT and SCRIPT_NAME do if there is nothing better.
 */
static bool
named_path(const struct idem_params *params, char path[PATH_MAX], size_t *from)
{
	const char *text = idem_params_get(params, "SCRIPT_FILENAME");
	const char *root, *name;
	int len;

	*from = 0;
	if (text != NULL && *text != '\0')
		return program_path_read(text, path, PATH_MAX);
	root = idem_params_get(params, "DOCUMENT_ROOT");
	name = idem_params_get(params, "SCRIPT_NAME");
	if (root == NULL || *root != '/' || name == NULL)
		return false;
	*from = strlen(root);
	len = snprintf(path, PATH_MAX, "%s/%s", root, name);
	return len > 0 && len < PATH_MAX;
}

/* --- what comes after it -------------------------------------------------- */

static bool
ends_in(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/*
 * Apache's ProxyPass to a "GENERIC" application says the path encoded and
 * SCRIPT_NAME decoded, so that only SCRIPT_NAME can tell.
 */
static const char *
as_decoded(const char *rest, const char *name, char decoded[PATH_MAX])
{
	return program_path_decode(rest, decoded, PATH_MAX) &&
	    ends_in(name, decoded) ? decoded : rest;
}

/*
 * The rest of the path is PATH_INFO (RFC 3875, 4.1.5), unless the front has
 * split the URL at another place: then that is its word, and SCRIPT_NAME with
 * PATH_INFO stay the URL.
 */
static enum idem_problem
give_rest(struct program *p, const char *rest, const struct idem_params *params)
{
	const char *name = idem_params_get(params, "SCRIPT_NAME");
	const char *info = idem_params_get(params, "PATH_INFO");
	char decoded[PATH_MAX];

	if (name != NULL)
		rest = as_decoded(rest, name, decoded);
	if (info != NULL && *info != '\0' && strcmp(info, rest) != 0)
		return IDEM_PROBLEM_NONE;
	if (info == NULL || *info == '\0') {
		p->path_info = strdup(rest);
		if (p->path_info == NULL)
			return IDEM_PROBLEM_BUSY;
	}
	if (name != NULL && ends_in(name, rest)) {
		p->script_name = strndup(name, strlen(name) - strlen(rest));
		if (p->script_name == NULL)
			return IDEM_PROBLEM_BUSY;
	}
	return IDEM_PROBLEM_NONE;
}

/* --- which program -------------------------------------------------------- */

static enum idem_problem
keep(struct program *p, const char *path, const struct idem_params *params)
{
	const char *folder = idem_params_get(params, "FCGI_CHDIR");
	struct stat st;
	char *slash;

	p->path = strdup(path);
	if (p->path == NULL)
		return IDEM_PROBLEM_BUSY;
	if (folder != NULL && strcmp(folder, "-") == 0)
		return IDEM_PROBLEM_NONE;
	if (folder != NULL && (*folder != '/' || stat(folder, &st) != 0 ||
	    !S_ISDIR(st.st_mode)))
		return IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	p->folder = strdup(folder != NULL ? folder : path);
	if (p->folder == NULL)
		return IDEM_PROBLEM_BUSY;
	if (folder == NULL) {
		slash = strrchr(p->folder, '/');
		slash[slash == p->folder] = '\0';	/* "/x": its is "/" */
	}
	return IDEM_PROBLEM_NONE;
}

/* What the front says of the file is right only if it says just this. */
static enum idem_problem
give_filename(struct program *p, const struct idem_params *params)
{
	const char *text = idem_params_get(params, "SCRIPT_FILENAME");

	if (text != NULL && strcmp(text, p->path) == 0)
		return IDEM_PROBLEM_NONE;
	p->script_filename = strdup(p->path);
	return p->script_filename != NULL ? IDEM_PROBLEM_NONE :
	    IDEM_PROBLEM_BUSY;
}

static enum idem_problem
by_request(struct program *p, const struct program_rule *rule,
    const struct idem_params *params)
{
	enum idem_problem problem;
	char path[PATH_MAX];
	size_t from, len;

	if (!named_path(params, path, &from))
		return IDEM_PROBLEM_NO_PROGRAM;
	problem = find_file(path, from, &len);
	if (problem == IDEM_PROBLEM_NONE && path[len] != '\0')
		problem = give_rest(p, path + len, params);
	path[len] = '\0';
	if (problem == IDEM_PROBLEM_NONE)
		problem = confined(rule, path);
	program_path_tidy(path);
	if (problem == IDEM_PROBLEM_NONE)
		problem = keep(p, path, params);
	if (problem == IDEM_PROBLEM_NONE)
		problem = give_filename(p, params);
	return problem;
}

static enum idem_problem
find(struct program *p, const struct program_rule *rule,
    const struct idem_params *params)
{
	switch (rule->kind) {
	case PROGRAM_NAMED:
		return keep(p, rule->as != NULL ? rule->as : rule->argv[0],
		    params);
	case PROGRAM_BY_REQUEST:
		return by_request(p, rule, params);
	case PROGRAM_FASTCGI:
		/*
		 * It sees what the front says.  php-fpm for one reads more out
		 * of "proxy:" than a path: that PATH_INFO is in it.
		 */
		return IDEM_PROBLEM_NONE;
	}
	abort();
}

enum idem_problem
program_find(struct program *p, const struct program_rule *rule,
    const struct idem_params *params)
{
	enum idem_problem problem;

	*p = (struct program){ 0 };
	problem = find(p, rule, params);
	if (problem == IDEM_PROBLEM_NONE && rule->kind != PROGRAM_FASTCGI)
		problem = program_env_fits(rule, p, params);
	if (problem != IDEM_PROBLEM_NONE)
		program_free(p);
	return problem;
}

void
program_free(struct program *p)
{
	free(p->path);
	free(p->folder);
	free(p->script_name);
	free(p->path_info);
	free(p->script_filename);
	*p = (struct program){ 0 };
}
