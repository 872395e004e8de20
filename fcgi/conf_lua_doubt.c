/* SPDX-License-Identifier: ISC */
#include "conf_lua.h"
#include "pattern.h"

#include <string.h>

/* --- patterns ------------------------------------------------------------- */

static bool
has_escape(const char *text)
{
	const char *at = strchr(text, '%');

	return at != NULL && at[1] != '\0' &&
	    strspn(at + 1, "0123456789ABCDEFabcdef") >= 2;
}

void
conf_lua_doubt_pattern(const struct conf_at *at, const char *path)
{
	size_t len = strlen(path);

	if (strstr(path, ".*") != NULL || strpbrk(path, "$()\\") != NULL)
		conf_warn(at->conf, "path \"%.100s\" is no regular "
		    "expression: only * and ** stand for other bytes", path);
	else if (strchr(path, '?') != NULL)
		conf_warn(at->conf, "path \"%.100s\" holds \"?\": a path ends "
		    "before its query", path);
	else if (has_escape(path))
		conf_warn(at->conf, "path \"%.100s\" holds an escape: a "
		    "request's path is met with its escapes decoded", path);
	else if (len > 1 && path[len - 1] == '/')
		conf_warn(at->conf, "path \"%.100s\" is that path alone; all "
		    "below it is \"%.100s**\"", path, path);
}

/* --- the order of routes -------------------------------------------------- */

/*
 * Does one pattern stand for all that another does?  Judged by what the other's
 * stars might be: nothing, and more than a single star could.
 */
static bool
is_within(const char *path, const char *wider)
{
	static const char *const any[] = { "", "\1/\1/\1" };
	struct idem_buf text;
	bool good = true;
	const char *at;
	size_t i;

	for (i = 0; i < 2 && good; i++) {
		text = (struct idem_buf){ .at = NULL };
		for (at = path; *at != '\0'; at++)
			if (at[0] == '*' && at[1] == '*') {
				idem_buf_text(&text, any[i]);
				at++;
			} else {
				idem_buf_u8(&text, (uint8_t)*at);
			}
		good = idem_buf_ok(&text) &&
		    idem_pattern_matches(wider, idem_buf_bytes(&text));
		idem_buf_free(&text);
	}
	return good;
}

static void
check_behind(const struct conf_at *at, const struct conf_route *r,
    const struct conf_route *before)
{
	size_t i;

	if (before->route.except.len > 0 ||
	    !is_within(r->route.path, before->route.path))
		return;
	for (i = 0; i < r->route.methods.len; i++)
		if (idem_route_covers(&before->route,
		    r->route.methods.at[i])) {
			conf_warn(at->conf, "%s is never reached for %s: the "
			    "%s has all its paths", r->text,
			    r->route.methods.at[i], before->text);
			return;
		}
}

void
conf_lua_doubt_reached(const struct conf_at *at, const struct conf_route *r)
{
	size_t i;

	for (i = 0; i < at->conf->routes_len; i++)
		check_behind(at, r, &at->conf->routes[i]);
}
