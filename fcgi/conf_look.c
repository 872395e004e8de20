/* SPDX-License-Identifier: ISC */
#include "conf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whom it is told. */
struct look {
	conf_look_tell *tell;
	void *arg;
};

static void warn(const struct look *, const char *where, const char *format,
    ...) __attribute__((format(printf, 3, 4)));
static void
warn(const struct look *look, const char *where, const char *format, ...)
{
	char text[2048];
	va_list args;
	int len;

	len = snprintf(text, sizeof text, "%s: ", where);
	va_start(args, format);
	if (len >= 0 && (size_t)len < sizeof text)
		vsnprintf(text + len, sizeof text - (size_t)len, format, args);
	va_end(args);
	look->tell(look->arg, text);
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
look_at_program(const struct look *look, const char *where, const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		warn(look, where, "program %s: %s%s", path, strerror(errno),
		    holds_arguments(path) ? "; its arguments are texts of "
		    "their own: { \"/path\", \"argument\" }" : "");
	else if (!S_ISREG(st.st_mode) ||
	    (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) == 0)
		warn(look, where, "program %s: nobody may execute it", path);
}

static void
look_at_folder(const struct look *look, const char *where, const char *what,
    const char *path)
{
	struct stat st;

	if (stat(path, &st) == -1)
		warn(look, where, "%s%s: %s", what, path, strerror(errno));
	else if (!S_ISDIR(st.st_mode))
		warn(look, where, "%s%s: not a folder", what, path);
}

/* It is made at start, but not what it lies in. */
static void
look_at_run(const struct look *look, const char *path)
{
	const char *slash = strrchr(path, '/');
	char above[4096];
	size_t len;

	if (access(path, F_OK) == 0 || errno != ENOENT || slash == NULL) {
		look_at_folder(look, "run", "", path);
		return;
	}
	len = slash == path ? 1 : (size_t)(slash - path);
	if (len >= sizeof above)
		return;
	memcpy(above, path, len);
	above[len] = '\0';
	look_at_folder(look, "run", "", above);
}

static void
look_at_socket(const struct look *look, const char *where, const char *what,
    const char *address)
{
	struct stat st;

	if (strncmp(address, "unix:", 5) != 0)
		return;
	if (stat(address + 5, &st) == -1)
		warn(look, where, "%s %s: %s", what, address, strerror(errno));
	else if (!S_ISSOCK(st.st_mode))
		warn(look, where, "%s %s: not a socket", what, address);
}

static void
look_at_route(const struct look *look, const struct conf_route *r)
{
	const struct program_rule *p = &r->program;
	char where[500];
	size_t i;

	if (p->kind == PROGRAM_NAMED)
		look_at_program(look, r->text, p->argv[0]);
	if (r->probe != NULL) {
		snprintf(where, sizeof where, "%s: probe", r->text);
		look_at_program(look, where, r->probe);
	}
	if (p->root != NULL)
		look_at_folder(look, r->text, "root ", p->root);
	for (i = 0; p->allowed != NULL && p->allowed[i] != NULL; i++)
		look_at_program(look, r->text, p->allowed[i]);
	for (i = 0; p->backends != NULL && p->backends[i] != NULL; i++)
		look_at_socket(look, r->text, "application", p->backends[i]);
}

static void
look_at_instance(const struct look *look, const struct conf *c)
{
	if (c->ledger != NULL && access(c->ledger, F_OK) == -1 &&
	    !(c->create && errno == ENOENT))
		warn(look, "ledger", "%s: %s%s", c->ledger, strerror(errno),
		    errno == ENOENT ? "; idemctl init makes one" : "");
	if (c->run != NULL)
		look_at_run(look, c->run);
	if (c->alert != NULL)
		look_at_program(look, "alert", c->alert);
	/* Of a socket it is all, and holds no password. */
	if (c->shared != NULL)
		look_at_socket(look, "shared", "redis", c->shared->where);
	if (c->cache != NULL && c->cache != c->shared)
		look_at_socket(look, "cache", "redis", c->cache->where);
}

void
conf_look(const struct conf *c, conf_look_tell *tell, void *arg)
{
	const struct look look = { tell, arg };
	size_t i;

	look_at_instance(&look, c);
	for (i = 0; i < c->routes_len; i++)
		look_at_route(&look, &c->routes[i]);
	if (c->has_rest)
		look_at_route(&look, &c->rest);
}
