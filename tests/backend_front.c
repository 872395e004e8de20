/* SPDX-License-Identifier: ISC */
#include "backend_front.h"

#include "tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const names[] = { "one", "two" };

void
front_rig_write(struct front_rig *f, const char *program, const char *route)
{
	char text[1024];

	snprintf(text, sizeof text, "workers = 1\ngrace = '200ms'\n"
	    "local one = 'unix:%s/one'\nlocal two = 'unix:%s/two'\n"
	    "route { path = '/**', program = fastcgi { %s },\n"
	    "    methods = { 'POST', 'PUT' }, %s }\n", f->rig.folder,
	    f->rig.folder, program, route);
	rig_file(&f->rig, "idem.conf", text);
}

void
front_rig_begin(struct front_rig *f, const char *program, const char *route,
    const char *option)
{
	const char *options[] = { "--config", NULL, option, NULL };

	*f = (struct front_rig){ .app = { { .pid = -1 }, { .pid = -1 } } };
	rig_open(&f->rig);
	front_rig_write(f, program, route);
	options[1] = rig_at(&f->rig, "idem.conf");
	ask_start(&f->rig, options);
}

void
front_rig_end(struct front_rig *f)
{
	is_int(rig_stop(&f->rig, 20000), 0, "idemd ends with status 0");
	rig_end(&f->rig);
}

void
front_rig_nobody(struct front_rig *f, int which)
{
	unlink(rig_at(&f->rig, names[which]));
}

void
front_rig_play(struct front_rig *f, int which,
    const char *script)
{
	struct app *app = &f->app[which];

	app_open(app, APP_UNIX, 16);
	front_rig_nobody(f, which);
	if (symlink(app->path, rig_at(&f->rig, names[which])) == -1)
		bail_out("symlink: %s", strerror(errno));
	app_play(app, script);
}

void
front_rig_over(struct front_rig *f, int which, int accepts)
{
	struct app *app = &f->app[which];

	ok(app_end(app), "... the application played to its end");
	is_int(app->was.accepts, accepts, "... with %d connections", accepts);
}

struct rig_request
front_rig_post(const char *path, const char *key)
{
	return (struct rig_request){
		.method = "POST", .path = path, .key = key,
		.body = idem_bytes_text("")
	};
}
