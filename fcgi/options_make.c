/* SPDX-License-Identifier: ISC */
#include "options_private.h"
#include "shm.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- what both have ------------------------------------------------------- */

static uint32_t
cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	if (n < 1)
		return 1;
	return n > SHM_WORKERS_MAX ? SHM_WORKERS_MAX : (uint32_t)n;
}

static void
say_over(struct conf *c, const struct options_said *said)
{
	if (said->socket != NULL)
		c->socket = said->socket;
	if (said->ledger != NULL)
		c->ledger = said->ledger;
	if (said->programs != 0)
		c->programs = said->programs;
	if (said->workers != 0)
		c->workers = said->workers;
	if (said->queue_said)
		c->queue = said->queue;
	c->create = c->create || said->create;
	c->stderr_to_front = c->stderr_to_front || said->stderr_to_front;
	if (c->workers == 0)
		c->workers = cpus();
	if (c->workers > c->programs)
		c->workers = c->programs;
}

/* listen.c may refuse it yet; here its form is what matters. */
static bool
check_socket(struct conf *c, char *error, size_t error_size)
{
	const char *socket;

	if (c->socket == NULL)
		return true;
	socket = conf_socket(c, c->socket);
	if (socket == NULL) {
		snprintf(error, error_size, "-s %s: not unix:PATH, "
		    "tcp:HOST:PORT or tcp6:[ADDRESS]:PORT", c->socket);
		return false;
	}
	c->socket = socket;
	return true;
}

static struct conf *
finished(struct conf *c, const struct options *o, char *error,
    size_t error_size)
{
	say_over(c, &o->said);
	if (!check_socket(c, error, error_size)) {
		conf_drop(c);
		return NULL;
	}
	if (!conf_check(c, o->config, error, error_size)) {
		conf_drop(c);
		return NULL;
	}
	return c;
}

/* --- of a file ------------------------------------------------------------ */

static bool
read_all(int fd, struct idem_buf *text)
{
	char piece[16384];
	ssize_t n;

	while ((n = read(fd, piece, sizeof piece)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return false;
		idem_buf_append(text, piece, (size_t)n);
		if (!idem_buf_ok(text)) {
			errno = EFBIG;
			return false;
		}
	}
	return true;
}

static bool
read_file(const char *file, struct idem_buf *text, char *error,
    size_t error_size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	bool good = fd != -1 && read_all(fd, text);

	if (!good)
		snprintf(error, error_size, "%s: %s", file, strerror(errno));
	if (fd != -1)
		close(fd);
	return good;
}

struct conf *
options_read_text(const struct options *o, struct idem_bytes text, char *error,
    size_t error_size)
{
	struct conf *c;

	if (o->config == NULL) {
		snprintf(error, error_size, "there is no --config FILE to be "
		    "read again");
		return NULL;
	}
	c = conf_read(o->config, text, error, error_size);
	return c != NULL ? finished(c, o, error, error_size) : NULL;
}

struct conf *
options_of_file(const struct options *o, char *error, size_t error_size)
{
	struct idem_buf text = { .max = OPTIONS_FILE_MAX };
	struct conf *c = NULL;

	if (read_file(o->config, &text, error, error_size))
		c = options_read_text(o, idem_buf_bytes(&text), error,
		    error_size);
	idem_buf_free(&text);
	return c;
}

struct conf *
options_reread(const struct options *o, char *error, size_t error_size)
{
	if (o->config == NULL)
		return options_read_text(o, (struct idem_bytes){ NULL, 0 },
		    error, error_size);
	return options_of_file(o, error, error_size);
}

/* --- of the command line -------------------------------------------------- */

static bool
is_right(const struct options_route *r, char *error, size_t error_size)
{
	const char *what = NULL;
	struct stat st;

	if (r->program != NULL && (r->root != NULL || r->allowed_len > 0))
		what = "say either --root DIR and -p PATH, or -- PROGRAM";
	else if (r->program == NULL && r->root == NULL && r->allowed_len == 0 &&
	    !r->compat)
		what = "say --root DIR, -p PATH or -- PROGRAM; or "
		    "--fcgiwrap-compat, to run whatever the web server names";
	if (what != NULL) {
		snprintf(error, error_size, "%s", what);
		return false;
	}
	if (r->root != NULL && (stat(r->root, &st) == -1 ||
	    !S_ISDIR(st.st_mode))) {
		snprintf(error, error_size, "--root %s: not a folder", r->root);
		return false;
	}
	if (r->keep_min_ms > r->route.times.keep_ms) {
		snprintf(error, error_size, "--keep-min: it is longer than "
		    "--keep, which is shortened to it when room is short");
		return false;
	}
	if (r->program != NULL && r->program[0][0] != '/') {
		snprintf(error, error_size, "-- %s: not an absolute path",
		    r->program[0]);
		return false;
	}
	return true;
}

static bool
add_route(struct conf *c, const struct options_route *r)
{
	static const char all[] = "/**";
	struct conf_route *added = conf_route_add(c);
	char **allowed = NULL;

	if (r->allowed_len > 0) {
		allowed = conf_get(c, (r->allowed_len + 1) * sizeof *allowed);
		if (allowed == NULL)
			return false;
		memcpy(allowed, r->allowed, r->allowed_len * sizeof *allowed);
	}
	if (added == NULL)
		return false;
	conf_route_init(added);
	added->route = r->route;
	added->route.path = all;
	added->route.times.keep_min_ms = r->keep_min_ms != 0 ? r->keep_min_ms :
	    r->route.times.keep_ms;
	added->spool = !r->no_spool;
	added->lease_auto = r->lease_auto;
	added->probe = r->probe;
	added->scheme = r->scheme;
	added->text = "the command line";
	added->program = (struct program_rule){
		.kind = r->program != NULL ? PROGRAM_NAMED : PROGRAM_BY_REQUEST,
		.argv = r->program,
		.root = r->root,
		.allowed = allowed,
		.all_params = r->compat
	};
	return true;
}

struct conf *
options_of_line(const struct options *o, const struct options_route *r,
    char *error, size_t error_size)
{
	struct conf *c;

	if (!is_right(r, error, error_size))
		return NULL;
	c = conf_new();
	if (c == NULL || !add_route(c, r)) {
		snprintf(error, error_size, "no memory");
		conf_drop(c);
		return NULL;
	}
	c->grace_ms = r->grace_ms;
	c->reserve = r->reserve;
	if (!options_redis(c, r, error, error_size)) {
		conf_drop(c);
		return NULL;
	}
	conf_measure(c);
	return finished(c, o, error, error_size);
}
