/* SPDX-License-Identifier: ISC */
#include "instance_private.h"

#include "address.h"
#include "now.h"
#include "paths.h"
#include "preload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TURN_MS 1
#define RESTS 2
#define REST_MS 100
#define VARS_MAX 16
#define VAR 320

#define NOT_THERE " is not there; IDEMSIM_LIBEXEC says where it is"

/* A folder has the bit as well; errno says why not. */
static bool
is_program(const char *path)
{
	struct stat st;

	if (access(path, X_OK) == -1 || stat(path, &st) == -1)
		return false;
	errno = S_ISDIR(st.st_mode) ? EISDIR : EACCES;
	return S_ISREG(st.st_mode);
}

const char *
instance_missing(const struct plan *plan)
{
	static char why[400];
	const char *command = plan->handler.command;

	if (paths_find("idemd-sim") == NULL)
		return "idemd-sim" NOT_THERE;
	if (paths_find("idemctl") == NULL)
		return "idemctl" NOT_THERE;
	if (plan->handler.effect == PLAN_EXTERNAL) {
		if (command == NULL)
			return "no program is named";
		if (!is_program(command)) {
			snprintf(why, sizeof why, "%.300s cannot be executed: "
			    "%s", command, strerror(errno));
			return why;
		}
	} else if (paths_find("idemsim-program") == NULL)
		return "idemsim-program" NOT_THERE;
	if (plan->gates.lighttpd && paths_command("lighttpd") == NULL)
		return "lighttpd is not installed";
	return NULL;
}

/* --- its lines ------------------------------------------------------------ */

/* "... worker=0 keeper=17 started lobby=16": then both are there. */
static bool
tells_of_worker(const char *line, size_t len)
{
	static const char started[] = " started lobby=";

	return memmem(line, len, started, sizeof started - 1) != NULL;
}

static void
on_line(struct child *c, const char *line, size_t len)
{
	struct instance *i = c->arg;

	i->in->workers += tells_of_worker(line, len);
	if (i->in->log != -1 && write(i->in->log, line, len) >= 0)
		(void)!write(i->in->log, "\n", 1);
	if (i->log != NULL)
		i->log(i, line, len);
}

static void
on_ended(struct child *c)
{
	struct instance *i = c->arg;

	i->up = false;
	if (i->ended != NULL)
		i->ended(i, c);
}

/* --- its start ------------------------------------------------------------ */

struct vars {
	char text[VARS_MAX][VAR];
	const char *at[VARS_MAX + 1];
	size_t n;
	bool wrong;
};

static void
var(struct vars *v, const char *name, const char *value)
{
	if (value == NULL)
		return;
	if (v->n == VARS_MAX || (size_t)snprintf(v->text[v->n], VAR, "%s=%s",
	    name, value) >= VAR) {
		v->wrong = true;
		return;
	}
	v->at[v->n] = v->text[v->n];
	v->n++;
}

/*
 * AddressSanitizer wants to come first of all libraries, and refuses to start
 * where it is not told that this one may.
 */
static void
preload(const struct instance_spec *spec, struct vars *v)
{
	const char *given = getenv("ASAN_OPTIONS");
	char options[VAR - 20];

	if (spec->preload == NULL)
		return;
	snprintf(options, sizeof options, "%s%sverify_asan_link_order=0",
	    given != NULL ? given : "", given != NULL ? ":" : "");
	var(v, "ASAN_OPTIONS", options);
	var(v, "LD_PRELOAD", spec->preload);
	var(v, PRELOAD_SHIFT, spec->shift);
	var(v, PRELOAD_DISK, spec->disk);
	var(v, PRELOAD_BOOT, spec->boot);
}

static bool
environment(const struct instance *i, struct vars *v)
{
	const struct instance_spec *spec = &i->in->spec;
	char life[16];

	memset(v, 0, sizeof *v);
	snprintf(life, sizeof life, "%u", i->life);
	var(v, "IDEMSIM_LIFE", life);
	if (spec->stops != NULL && spec->labels != NULL) {
		var(v, "IDEMSIM_STOPS", spec->stops);
		var(v, "IDEMSIM_LABELS", spec->labels);
	}
	preload(spec, v);
	if (v->wrong)
		errno = ENAMETOOLONG;
	return !v->wrong;
}

static int
write_file(const char *path, struct idem_buf *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int done = -1;

	if (fd == -1)
		return -1;
	if (!idem_buf_ok(text))
		errno = ENOMEM;
	else if (write(fd, text->at, text->len) == (ssize_t)text->len)
		done = 0;
	close(fd);
	return done;
}

static int
write_conf(const struct instance *i, bool front)
{
	struct idem_buf text = { 0 };
	int done;

	if (front)
		instance_conf_front(i, &text);
	else
		instance_conf(&i->in->spec, i->life, &text);
	done = write_file(front ? i->in->front_conf : i->in->conf, &text);
	idem_buf_free(&text);
	return done;
}

static int
spawn(struct instance *i)
{
	const char *argv[] = { i->in->idemd, "--config", i->in->conf, NULL };
	struct child_spec spec = { .name = i->name, .argv = argv,
		.folder = i->folder, .pass = -1 };
	struct vars vars;

	if (write_conf(i, false) == -1 || !environment(i, &vars))
		return -1;
	spec.env = vars.at;
	i->in->workers = i->in->rests = 0;
	i->in->accepts_ms = 0;
	i->up = false;
	i->child.line = on_line;
	i->child.ended = on_ended;
	i->child.arg = i;
	return child_start(i->in->loop, &i->child, &spec);
}

static int
spawn_front(struct instance *i)
{
	const char *argv[] = { paths_command("lighttpd"), "-D", "-f",
		i->in->front_conf, NULL };
	char name[CHILD_NAME], log[128];
	struct child_spec spec = { .name = name, .argv = argv, .log = log,
		.folder = i->folder, .pass = -1 };

	if (!i->http || i->front.pid != 0)
		return 0;
	if (argv[0] == NULL) {
		errno = ENOENT;
		return -1;
	}
	snprintf(name, sizeof name, "%s.front", i->name);
	snprintf(log, sizeof log, "%s/front.log", i->folder);
	i->front.ended = on_ended;
	i->front.arg = i;
	return write_conf(i, true) == -1 ? -1 :
	    child_start(i->in->loop, &i->front, &spec);
}

static int
open_folder(struct instance *i, const struct instance_spec *spec)
{
	struct instance_private *in = i->in;
	char log[128];

	i->number = spec->number;
	i->http = spec->plan->gates.lighttpd;
	snprintf(i->name, sizeof i->name, "g%u", spec->number);
	if (strlen(spec->folder) + sizeof "/g16/front.sock" >
	    sizeof i->folder) {
		errno = ENAMETOOLONG;
		return -1;
	}
	instance_folder(spec, i->folder, sizeof i->folder);
	instance_socket(spec, in->socket, sizeof in->socket);
	snprintf(i->socket, sizeof i->socket, "%s/%s", i->folder,
	    i->http ? "front.sock" : "sock");
	snprintf(in->conf, sizeof in->conf, "%s/idem.conf", i->folder);
	snprintf(in->front_conf, sizeof in->front_conf, "%s/front.conf",
	    i->folder);
	snprintf(log, sizeof log, "%s/log", i->folder);
	if (mkdir(i->folder, 0700) == -1 && errno != EEXIST)
		return -1;
	in->log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return in->log == -1 ? -1 : 0;
}

static int
begin(struct loop *loop, struct instance *i, const struct instance_spec *spec)
{
	i->in = calloc(1, sizeof *i->in);
	if (i->in == NULL)
		return -1;
	i->in->loop = loop;
	i->in->spec = *spec;
	i->in->log = -1;
	i->in->idemd = paths_find("idemd-sim");
	if (i->in->idemd == NULL) {
		errno = ENOENT;
		return -1;
	}
	i->life = 1;
	if (open_folder(i, spec) == -1 || spawn(i) == -1)
		return -1;
	return spawn_front(i);
}

int
instance_start(struct loop *loop, struct instance *i,
    const struct instance_spec *spec)
{
	int error;

	if (begin(loop, i, spec) == 0)
		return 0;
	error = errno;
	instance_end(loop, i, 0);
	errno = error;
	return -1;
}

/* --- until it is there ---------------------------------------------------- */

static bool
accepts(const char *path)
{
	struct address address;
	bool connected = false;
	int fd;

	if (!address_read(&address, path))
		return false;
	fd = address_connect(&address, &connected);
	if (fd != -1)
		close(fd);
	return fd != -1 && connected;
}

static bool
accepts_all(const struct instance *i)
{
	size_t workers = i->in->spec.plan->gates.workers;

	return i->in->workers >= (workers > 0 ? workers : 1) &&
	    accepts(i->in->socket) && (!i->http || accepts(i->socket));
}

/*
 * Its listener is there before its lobbies are ready: those have opened their
 * stores, and wait, when they sleep.  One that has much to do does not.
 */
static bool
is_up(struct instance *i)
{
	struct instance_private *in = i->in;

	if (in->accepts_ms == 0 && !accepts_all(i))
		return false;
	if (in->accepts_ms == 0)
		in->accepts_ms = now_ms();
	in->rests = instance_rests(i) ? in->rests + 1 : 0;
	return in->rests >= RESTS || now_ms() - in->accepts_ms > REST_MS;
}

int
instance_await(struct loop *loop, struct instance *i, int64_t wait_ms)
{
	int64_t until_ms = now_ms() + wait_ms;

	while (i->in != NULL && i->child.pid != 0 &&
	    (!i->http || i->front.pid != 0)) {
		if (is_up(i)) {
			i->up = true;
			return 0;
		}
		if (now_ms() >= until_ms) {
			errno = ETIMEDOUT;
			return -1;
		}
		if (loop_turn(loop, now_ms() + TURN_MS) == -1)
			return -1;
	}
	errno = ESRCH;
	return -1;
}

int
instance_again(struct loop *loop, struct instance *i)
{
	if (i->in == NULL) {
		errno = ESRCH;
		return -1;
	}
	i->in->loop = loop;
	child_kill_all(i->name);
	child_forget(&i->child);
	i->life++;
	return spawn(i) == 0 ? spawn_front(i) : -1;
}

/* --- its end -------------------------------------------------------------- */

void
instance_end(struct loop *loop, struct instance *i, int64_t wait_ms)
{
	int64_t until_ms = now_ms() + wait_ms;

	if (i->in == NULL)
		return;
	i->child.doomed = i->front.doomed = true;
	child_signal(&i->child, SIGTERM);
	while (i->child.pid != 0 && now_ms() < until_ms)
		if (loop_turn(loop, until_ms) == -1)
			break;
	child_kill_all(i->name);
	child_forget(&i->child);
	child_forget(&i->front);
	if (i->in->log != -1)
		close(i->in->log);
	free(i->in);
	i->in = NULL;
	i->up = false;
}
