/* SPDX-License-Identifier: ISC */
#include "idem_cgi.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- files ---------------------------------------------------------------- */

static bool
same_file(const char *a, const char *b)
{
	struct stat of_a, of_b;

	return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 &&
	    of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

static bool
is_ourselves(const char *path)
{
	return same_file(path, "/proc/self/exe");
}

static const char *
last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static char *
absolute(const char *path)
{
	char *folder, *whole = NULL;

	if (*path == '/')
		return strdup(path);
	folder = getcwd(NULL, 0);
	if (folder != NULL && asprintf(&whole, "%s/%s", folder, path) == -1)
		whole = NULL;
	free(folder);
	return whole;
}

/* --- parameters ----------------------------------------------------------- */

static bool
params_read(struct idem_params *params, char **environment)
{
	size_t n = 0;

	while (environment != NULL && environment[n] != NULL)
		n++;
	/* As many as there are, those that are set, and the end. */
	params->at = calloc(n + 8, sizeof *params->at);
	if (params->at == NULL)
		return false;
	if (n > 0)
		memcpy(params->at, environment, n * sizeof *params->at);
	params->len = n;
	return true;
}

static void
unset(struct idem_params *params, const char *name)
{
	size_t name_len = strlen(name), kept = 0, i;

	for (i = 0; i < params->len; i++)
		if (strncmp(params->at[i], name, name_len) != 0 ||
		    params->at[i][name_len] != '=')
			params->at[kept++] = params->at[i];
	params->len = kept;
	params->at[kept] = NULL;
}

/* At most five names that were not there: params_read has room for them. */
static bool
set(struct idem_params *params, const char *name, const char *value)
{
	char *text;

	if (asprintf(&text, "%s=%s", name, value) == -1)
		return false;
	unset(params, name);
	params->at[params->len++] = text;
	params->at[params->len] = NULL;
	return true;
}

static const char *
get(const struct idem_cgi_call *c, const char *name)
{
	const char *value = idem_params_get(&c->params, name);

	return value != NULL ? value : "";
}

bool
idem_cgi_call_set(struct idem_cgi_call *c, char *const *texts)
{
	struct idem_params *params = &c->params;
	char **more, *name;
	size_t n = 0, i;

	while (texts != NULL && texts[n] != NULL)
		n++;
	if (n == 0)
		return true;
	more = realloc(params->at, (params->len + n + 1) * sizeof *more);
	if (more == NULL)
		return false;
	params->at = more;
	for (i = 0; i < n; i++) {
		name = strndup(texts[i], strcspn(texts[i], "="));
		if (name == NULL)
			return false;
		unset(params, name);
		free(name);
		params->at[params->len++] = texts[i];
		params->at[params->len] = NULL;
	}
	return true;
}

/* --- how ------------------------------------------------------------------ */

/*
 * Apache's Action: of
 *
 *	SCRIPT_NAME=/idem-bin/idem-cgi
 *	SCRIPT_FILENAME=/usr/bin/idem-cgi
 *	PATH_INFO=/cgi-bin/order.cgi/a/b
 *	PATH_TRANSLATED=/srv/www/cgi-bin/order.cgi/a/b
 *
 * the last two are the program's first two, with its own PATH_INFO behind.
 */
static bool
turn_around(struct idem_cgi_call *c)
{
	char *name = strdup(get(c, "PATH_INFO"));
	char *file = strdup(get(c, "PATH_TRANSLATED"));
	bool good;

	unset(&c->params, "PATH_INFO");
	unset(&c->params, "PATH_TRANSLATED");
	/* Those of our own place, not of the program's. */
	unset(&c->params, "CONTEXT_PREFIX");
	unset(&c->params, "CONTEXT_DOCUMENT_ROOT");
	good = name != NULL && file != NULL &&
	    set(&c->params, "SCRIPT_NAME", name) &&
	    set(&c->params, "SCRIPT_FILENAME", file);
	free(name);
	free(file);
	return good;
}

/*
 * A server may make arguments of a query (RFC 3875, 4.4), so they count only
 * where we are not what the URL names (CVE-2012-1823 was such a mistake).
 */
bool
idem_cgi_call_read(struct idem_cgi_call *c, char **argv, char **environment)
{
	*c = (struct idem_cgi_call){ .words = argv };
	if (*c->words != NULL)
		c->words++;
	if (!params_read(&c->params, environment))
		return false;
	c->named = *c->words != NULL &&
	    !is_ourselves(get(c, "SCRIPT_FILENAME"));
	if (c->named && strcmp(c->words[0], "--config") == 0 &&
	    c->words[1] != NULL && c->words[2] != NULL) {
		c->config = c->words[1];
		c->words += 2;
	}
	return c->named || turn_around(c);
}

/*
 * Apache says where the redirection came from, perhaps with its host before it:
 * that URL is the program's.  Some servers always set REDIRECT_STATUS.
 */
static bool
is_redirected(const struct idem_cgi_call *c)
{
	const char *from = get(c, "REDIRECT_URL");
	const char *program = get(c, "SCRIPT_NAME");
	size_t from_len = strlen(from), len = strlen(program);

	return idem_params_get(&c->params, "REDIRECT_STATUS") != NULL &&
	    len > 0 && from_len >= len &&
	    strcmp(from + from_len - len, program) == 0;
}

bool
idem_cgi_call_is_direct(const struct idem_cgi_call *c)
{
	return !c->named && !is_redirected(c);
}

/* --- a program behind our own URL ----------------------------------------- */

/* The path that was walked over (RFC 3875, 4.1.5 and 4.1.6). */
static bool
give_info(struct idem_cgi_call *c)
{
	const char *info = c->program.path_info;
	char translated[PATH_MAX];

	if (info == NULL)
		return true;
	if (snprintf(translated, sizeof translated, "%s%s",
	    get(c, "DOCUMENT_ROOT"), info) >= (int)sizeof translated)
		return false;
	return set(&c->params, "PATH_INFO", info) &&
	    set(&c->params, "PATH_TRANSLATED", translated);
}

static bool
give_names(struct idem_cgi_call *c)
{
	const struct program *p = &c->program;

	return set(&c->params, "SCRIPT_FILENAME", p->path) &&
	    (p->script_name == NULL ||
	    set(&c->params, "SCRIPT_NAME", p->script_name)) && give_info(c);
}

static enum idem_problem
find_behind(struct idem_cgi_call *c, const struct program_rule *rule,
    const char **why)
{
	enum idem_problem problem;

	if (*get(c, "SCRIPT_FILENAME") == '\0') {
		*why = "PATH_TRANSLATED is missing: no program is named";
		return IDEM_PROBLEM_NO_PROGRAM;
	}
	problem = program_find(&c->program, rule, &c->params);
	if (problem == IDEM_PROBLEM_NONE && !give_names(c))
		problem = IDEM_PROBLEM_BUSY;
	return problem;
}

/* --- a program that words name -------------------------------------------- */

/* Which word is the script: the first, or after an interpreter the second. */
static char **
script_word(char **words, bool (*is)(const char *, const char *),
    const char *other)
{
	if (is(words[0], other))
		return words;
	return words[1] != NULL && is(words[1], other) ? words + 1 : NULL;
}

static bool
same_name(const char *path, const char *url)
{
	return *last_name(path) != '\0' &&
	    strcmp(last_name(path), last_name(url)) == 0;
}

/*
 * A server that says nothing of files (SCRIPT_FILENAME is not RFC 3875's): at
 * least the last name of its URL must be the script's.
 */
static char **
by_url(struct idem_cgi_call *c, const struct program_rule *rule,
    enum idem_problem *problem)
{
	char **script = script_word(c->words, same_name,
	    get(c, "SCRIPT_NAME"));
	char *path = script != NULL ? absolute(*script) : NULL;

	if (path == NULL)
		return NULL;
	program_free(&c->program);
	*problem = IDEM_PROBLEM_BUSY;
	if (set(&c->params, "SCRIPT_FILENAME", path))
		*problem = program_find(&c->program, rule, &c->params);
	free(path);
	return script;
}

static enum idem_problem
find_named(struct idem_cgi_call *c, const struct program_rule *rule,
    char ***script, const char **why)
{
	enum idem_problem problem =
	    program_find(&c->program, rule, &c->params);

	*script = NULL;
	if (problem == IDEM_PROBLEM_NONE)
		*script = script_word(c->words, same_file, c->program.path);
	if (*script == NULL && *get(c, "SCRIPT_FILENAME") == '\0')
		*script = by_url(c, rule, &problem);
	if (problem == IDEM_PROBLEM_NONE && *script == NULL) {
		*why = "the argument is not the program that the web server "
		    "names";
		problem = IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	}
	return problem;
}

/* --- its arguments -------------------------------------------------------- */

/*
 * "/usr/bin/perl -w": a kernel hands on what stands in a "#!" line behind the
 * interpreter as one word (execve(2)), so we do to the one behind us.
 */
static bool
add_interpreter(struct idem_cgi_call *c, const char *line)
{
	static const char blanks[] = " \t";
	size_t len = strcspn(line, blanks);
	const char *rest = line + len + strspn(line + len, blanks);
	size_t rest_len = strlen(rest);

	while (rest_len > 0 && strchr(blanks, rest[rest_len - 1]) != NULL)
		rest_len--;
	c->argv[c->argv_own++] = strndup(line, len);
	if (rest_len > 0)
		c->argv[c->argv_own++] = strndup(rest, rest_len);
	return *line == '/' && c->argv[0] != NULL &&
	    c->argv[c->argv_own - 1] != NULL;
}

/* script: the word that is it, or NULL. */
static enum idem_problem
make_argv(struct idem_cgi_call *c, char **script, const char **why)
{
	size_t more = 0, i;

	while (script != NULL && script[more + 1] != NULL)
		more++;
	c->argv_own = 0;
	c->argv = calloc(3 + more + 1, sizeof *c->argv);
	if (c->argv == NULL)
		return IDEM_PROBLEM_BUSY;
	if (script != NULL && script != c->words &&
	    !add_interpreter(c, c->words[0])) {
		*why = "the interpreter is not an absolute path";
		return IDEM_PROBLEM_BROKEN_PROGRAM;
	}
	c->argv[c->argv_own++] = c->program.path;
	for (i = 0; i < more; i++)
		c->argv[c->argv_own + i] = script[i + 1];
	return IDEM_PROBLEM_NONE;
}

enum idem_problem
idem_cgi_call_find(struct idem_cgi_call *c, const struct program_rule *rule,
    const char **why)
{
	enum idem_problem problem;
	char **script = NULL;

	if (c->named)
		problem = find_named(c, rule, &script, why);
	else
		problem = find_behind(c, rule, why);
	if (problem == IDEM_PROBLEM_NO_PROGRAM && *why == NULL &&
	    *get(c, "SCRIPT_FILENAME") != '\0' &&
	    *get(c, "SCRIPT_FILENAME") != '/')
		*why = "SCRIPT_FILENAME is not an absolute path";
	if (problem != IDEM_PROBLEM_NONE)
		return problem;
	if (is_ourselves(c->program.path)) {
		*why = "it would call itself for ever";
		return IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	}
	return make_argv(c, script, why);
}
