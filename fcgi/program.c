/* SPDX-License-Identifier: ISC */
#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_DEFAULT \
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define OURS_MAX 8	/* variables that we add */

/* --- which ---------------------------------------------------------------- */

static bool
below(const char *path, const char *root)
{
	size_t len = strlen(root);

	while (len > 0 && root[len - 1] == '/')
		len--;
	return strncmp(path, root, len) == 0 && path[len] == '/';
}

static enum idem_problem
real_below(const char *path, const char *root)
{
	char real[PATH_MAX], real_root[PATH_MAX];
	struct stat st;

	if (realpath(path, real) == NULL)
		return errno == EACCES ? IDEM_PROBLEM_FORBIDDEN_PROGRAM :
		    IDEM_PROBLEM_NO_PROGRAM;
	if (realpath(root, real_root) == NULL || !below(real, real_root))
		return IDEM_PROBLEM_FORBIDDEN_PROGRAM;
	if (stat(real, &st) == -1)
		return IDEM_PROBLEM_NO_PROGRAM;
	return S_ISREG(st.st_mode) ? IDEM_PROBLEM_NONE :
	    IDEM_PROBLEM_FORBIDDEN_PROGRAM;
}

static enum idem_problem
keep(struct program *p, const char *path)
{
	char *slash;

	p->path = strdup(path);
	p->folder = strdup(path);
	if (p->path == NULL || p->folder == NULL)
		return IDEM_PROBLEM_BUSY;
	slash = strrchr(p->folder, '/');
	slash[slash == p->folder] = '\0';	/* "/x": its folder is "/" */
	return IDEM_PROBLEM_NONE;
}

enum idem_problem
program_find(struct program *p, const struct options *o,
    const struct params *params)
{
	enum idem_problem problem;
	const char *path;

	*p = (struct program){ 0 };
	if (o->program != NULL)
		return keep(p, o->program[0]);
	path = params_get(params, "SCRIPT_FILENAME");
	if (path == NULL || path[0] != '/' || strlen(path) >= PATH_MAX)
		return IDEM_PROBLEM_NO_PROGRAM;
	problem = real_below(path, o->root);
	return problem != IDEM_PROBLEM_NONE ? problem : keep(p, path);
}

void
program_free(struct program *p)
{
	free(p->path);
	free(p->folder);
	*p = (struct program){ 0 };
}

/* --- what it is given ----------------------------------------------------- */

static const char *const passed[] = {
	"AUTH_TYPE", "CONTENT_TYPE", "CONTEXT_DOCUMENT_ROOT", "CONTEXT_PREFIX",
	"DOCUMENT_ROOT", "DOCUMENT_URI", "GATEWAY_INTERFACE", "HTTPS",
	"PATH_INFO", "PATH_TRANSLATED", "QUERY_STRING", "REMOTE_ADDR",
	"REMOTE_HOST", "REMOTE_IDENT", "REMOTE_PORT", "REMOTE_USER",
	"REQUEST_METHOD", "REQUEST_SCHEME", "REQUEST_URI", "SCRIPT_FILENAME",
	"SCRIPT_NAME", "SCRIPT_URI", "SCRIPT_URL", "SERVER_ADDR",
	"SERVER_ADMIN", "SERVER_NAME", "SERVER_PORT", "SERVER_PROTOCOL",
	"SERVER_SIGNATURE", "SERVER_SOFTWARE", "UNIQUE_ID"
};
static const char *const passed_prefixes[] = { "HTTP_", "REDIRECT_", "SSL_" };

static bool
good_name(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!(name[i] == '_' || (name[i] >= 'A' && name[i] <= 'Z') ||
		    (name[i] >= 'a' && name[i] <= 'z') ||
		    (i > 0 && name[i] >= '0' && name[i] <= '9')))
			return false;
	return len > 0;
}

static bool
is_passed(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof passed / sizeof *passed; i++)
		if (strlen(passed[i]) == len &&
		    memcmp(passed[i], name, len) == 0)
			return true;
	for (i = 0; i < sizeof passed_prefixes / sizeof *passed_prefixes; i++)
		if (strncmp(name, passed_prefixes[i],
		    strlen(passed_prefixes[i])) == 0)
			return true;
	return false;
}

static bool
may_pass(const char *variable)
{
	const char *equals = strchr(variable, '=');
	size_t len;

	if (equals == NULL)
		return false;
	len = (size_t)(equals - variable);
	if (!good_name(variable, len) || !is_passed(variable, len))
		return false;
	if (len == 10 && memcmp(variable, "HTTP_PROXY", 10) == 0)
		return false;	/* httpoxy: a client would choose our proxy */
	/* Not a client's framing any more: the body is whole. */
	if (len == 22 && memcmp(variable, "HTTP_TRANSFER_ENCODING", 22) == 0)
		return false;
	return strncmp(equals + 1, "() {", 4) != 0;	/* CVE-2014-6271 */
}

static bool
seen(char *const *env, size_t n, const char *variable)
{
	size_t len = (size_t)(strchr(variable, '=') - variable) + 1;
	size_t i;

	for (i = 0; i < n; i++)
		if (strncmp(env[i], variable, len) == 0)
			return true;
	return false;
}

static void
ours(struct idem_buf *text, const struct program_more *more)
{
	char key[2 * IDEM_DIGEST_LEN + 1];

	idem_buf_append(text, PATH_DEFAULT, sizeof PATH_DEFAULT);
	if (more->body_len > 0) {
		idem_buf_printf(text, "CONTENT_LENGTH=%" PRIu64,
		    more->body_len);
		idem_buf_u8(text, '\0');
	}
	if (!more->keyed)
		return;
	idem_hex(more->key.at, sizeof more->key.at, key);
	idem_buf_printf(text, "IDEMPOTENCY_KEY=%s", key);
	idem_buf_u8(text, '\0');
	idem_buf_printf(text, "IDEMPOTENCY_ATTEMPT=%" PRIu32, more->attempt);
	idem_buf_u8(text, '\0');
	idem_buf_printf(text, "IDEMPOTENCY_DEADLINE=%" PRId64,
	    more->deadline_ms);
	idem_buf_u8(text, '\0');
}

/* One block: the pointers, then our own text; the request's stay borrowed. */
char **
program_environment(const struct params *params,
    const struct program_more *more)
{
	struct idem_buf text = { 0 };
	size_t room, n = 0, i;
	char **env = NULL;
	char *at, *end;

	ours(&text, more);
	room = (params->len + OURS_MAX + 1) * sizeof *env;
	if (idem_buf_ok(&text))
		env = malloc(room + text.len);
	if (env != NULL) {
		at = (char *)env + room;
		memcpy(at, text.at, text.len);
		for (end = at + text.len; at < end; at += strlen(at) + 1)
			env[n++] = at;
		for (i = 0; i < params->len; i++)
			if (may_pass(params->at[i]) &&
			    !seen(env, n, params->at[i]))
				env[n++] = params->at[i];
		env[n] = NULL;
	}
	idem_buf_free(&text);
	return env;
}
