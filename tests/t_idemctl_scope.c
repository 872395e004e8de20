/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "ctl_run.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/*
 * An operator finds the key of any route by what the client said: the route's
 * name, the program's path or a FastCGI application's pattern, with whatever
 * else is in the scope.
 */
static const char conf[] =
    "workers = 1\n"
    "local order = cgi { '%s/order' }\n"
    "route { path = '/path', program = order }\n"
    "route { path = '/named', program = order, scope = {\n"
    "    name = 'orders', user = 'verified', cookies = { 'sid', 'lang' },\n"
    "    variables = { 'SHOP_NAME', 'TENANT' } } }\n"
    "route { path = '/form', program = order, key = form 'token' }\n"
    "route { path = '/fast/**', program = fastcgi { 'unix:%s/nobody' } }\n";

static const char program[] = COUNT
    "cat >/dev/null\nprintf 'Status: 201\\n\\nplaced\\n'\n";

#define NAMED "--route orders --user ann --cookie sid=a1 --cookie lang=de " \
    "--variable SHOP_NAME=shop --variable TENANT= --key k"

static const struct {
	const char *what, *args;	/* {p}: the program */
	int status;
	const char *says;
} rows[] = {
	{ "by the program's path", "--route {p} --key k", 0, "completed" },
	{ "only with its method", "--route {p} --method PUT --key k", 1,
	  "no such key" },
	{ "by the route's name, with all of its scope", NAMED, 0,
	  "completed" },
	{ "only with the same cookies", "--route orders --user ann "
	  "--cookie sid=a2 --cookie lang=de --variable SHOP_NAME=shop "
	  "--variable TENANT= --key k", 1, "no such key" },
	{ "only in the scope's order", "--route orders --user ann "
	  "--cookie lang=de --cookie sid=a1 --variable SHOP_NAME=shop "
	  "--variable TENANT= --key k", 1, "no such key" },
	{ "only with the variables", "--route orders --user ann "
	  "--cookie sid=a1 --cookie lang=de --key k", 1, "no such key" },
	{ "also of a form, as it is", "--route {p} --key 'a, b;c'", 0,
	  "completed" },
	{ "by a FastCGI application's pattern", "--route '/fast/**' --key k", 0,
	  "issued" },
	{ "not by a cookie without \"=\"", "--route {p} --cookie sid "
	  "--key k", 2, "NAME=VALUE" },
	{ "not by two cookies in one", "--route {p} "
	  "--cookie 'sid=a; lang=de' --key k", 2, "NAME=VALUE" },
	{ "not by a variable without a name", "--route {p} --variable =x "
	  "--key k", 2, "NAME=VALUE" },
};

static void
check(struct rig *rig, size_t i)
{
	const char *args = rows[i].args, *mark = strstr(args, "{p}"), *out;
	int len = (int)(mark != NULL ? mark - args : 0);
	int status = ctl_run(&out, "show --ledger sqlite:%s %.*s%s%s",
	    rig->ledger, len, args, mark != NULL ? rig_at(rig, "order") : "",
	    mark != NULL ? mark + 3 : args);

	if (!ok(status == rows[i].status && strstr(out, rows[i].says) != NULL,
	    "a client's key is found %s", rows[i].what))
		note("%d: %s", status, out);
}

static void
post(struct rig *rig, const char *path, const char *key, const char *body,
    const char *want)
{
	const char *more[] = { "REMOTE_USER=ann", "SHOP_NAME=shop",
	    "HTTP_COOKIE=x=y; sid=a1; lang=de", NULL };

	ask(rig, &(struct rig_request){ .method = "POST", .path = path,
	    .key = key, .more = more, .body = idem_bytes_text(body),
	    .type = "application/x-www-form-urlencoded" }, want, "%s", path);
}

int
main(void)
{
	const char *options[] = { "--config", NULL, NULL };
	char text[sizeof conf + 2 * RIG_PATH];
	struct rig rig;
	size_t i;

	rig_open(&rig);
	rig_program(&rig, "order", program);
	snprintf(text, sizeof text, conf, rig.folder, rig.folder);
	rig_file(&rig, "idem.conf", text);
	options[1] = rig_at(&rig, "idem.conf");
	ask_start(&rig, options);
	post(&rig, "/path", "k", "a=b", "201 stored");
	post(&rig, "/named", "\"k\"", "a=b", "201 stored");
	post(&rig, "/form", NULL, "token=a%2C+b%3Bc", "201 stored");
	post(&rig, "/fast/x", "k", "a=b", "503 not-started");
	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rig, i);
	is_int(rig_stop(&rig, 20000), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
