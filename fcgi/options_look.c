/* SPDX-License-Identifier: ISC */
#include "options_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * What --check-config finds of all that is named.  It may come later, and who
 * checks may see more than idemd's user, so all of it is but a warning.
 */

static void warn(const char *where, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void
warn(const char *where, const char *format, ...)
{
	va_list args;

	printf("warning: %s: ", where);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* A shell would have split it; here each is an argument of its own. */
static bool
holds_arguments(const char *path)
{
	char first[4096];
	size_t len = strcspn(path, " ");
	struct stat st;

	if (path[len] == '\0' || len >= sizeof first)
		return false;
	memcpy(first, path, len);
	first[len] = '\0';
	return stat(first, &st) == 0 && S_ISREG(st.st_mode);
}

static void
look_at_program(const char *where, const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		warn(where, "program %s: %s%s", path, strerror(errno),
		    holds_arguments(path) ? "; its arguments are texts of "
		    "their own: { \"/path\", \"argument\" }" : "");
	else if (!S_ISREG(st.st_mode) ||
	    (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
		warn(where, "program %s: nobody may execute it", path);
}

static void
look_at_folder(const char *where, const char *what, const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		warn(where, "%s%s: %s", what, path, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		warn(where, "%s%s: not a folder", what, path);
}

static void
look_at_socket(const char *where, const char *what, const char *address)
{
	struct stat st;

	if (strncmp(address, "unix:", 5) != 0)
		return;
	if (stat(address + 5, &st) == -1)
		warn(where, "%s %s: %s", what, address, strerror(errno));
	else if (!S_ISSOCK(st.st_mode))
		warn(where, "%s %s: not a socket", what, address);
}

static void
look_at_route(const struct conf_route *r)
{
	const struct program_rule *p = &r->program;
	char where[500];
	size_t i;

	if (p->kind == PROGRAM_NAMED)
		look_at_program(r->text, p->argv[0]);
	if (r->probe != NULL) {
		snprintf(where, sizeof where, "%s: probe", r->text);
		look_at_program(where, r->probe);
	}
	if (p->root != NULL)
		look_at_folder(r->text, "root ", p->root);
	for (i = 0; p->allowed != NULL && p->allowed[i] != NULL; i++)
		look_at_program(r->text, p->allowed[i]);
	for (i = 0; p->backends != NULL && p->backends[i] != NULL; i++)
		look_at_socket(r->text, "application", p->backends[i]);
}

static void
look_at_instance(const struct conf *c)
{
	if (c->ledger != NULL && access(c->ledger, F_OK) == -1 &&
	    !(c->create && errno == ENOENT))
		warn("ledger", "%s: %s%s", c->ledger, strerror(errno),
		    errno == ENOENT ? "; idemctl init makes one" : "");
	if (c->run != NULL)
		look_at_folder("run", "", c->run);
	if (c->alert != NULL)
		look_at_program("alert", c->alert);
	/* Of a socket it is all, and holds no password. */
	if (c->shared != NULL)
		look_at_socket("shared", "redis", c->shared->where);
	if (c->cache != NULL && c->cache != c->shared)
		look_at_socket("cache", "redis", c->cache->where);
}

void
options_look(const struct conf *c)
{
	size_t i;

	look_at_instance(c);
	for (i = 0; i < c->routes_len; i++)
		look_at_route(&c->routes[i]);
	if (c->has_rest)
		look_at_route(&c->rest);
}
