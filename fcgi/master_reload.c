/* SPDX-License-Identifier: ISC */
#include "master_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static bool
read_file(const char *path, struct idem_buf *text)
{
	char piece[16 * 1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = 0;

	if (fd == -1)
		return false;
	text->max = OPTIONS_FILE_MAX;
	/* Whatever stands there: we wait for nobody, and not for ever. */
	while (idem_buf_ok(text) &&
	    ((n = read(fd, piece, sizeof piece)) > 0 ||
	    (n == -1 && errno == EINTR)))
		if (n > 0)
			idem_buf_append(text, piece, (size_t)n);
	close(fd);
	return n >= 0;
}

/* What all lobbies read is what we have read, whatever becomes of the file. */
static int
text_file(const struct idem_buf *text)
{
	int fd = memfd_create("idem-conf", MFD_CLOEXEC);

	if (fd != -1 && write(fd, text->at, text->len) == (ssize_t)text->len)
		return fd;
	if (fd != -1)
		close(fd);
	return -1;
}

static struct conf *
next_conf(struct master *m, const struct idem_buf *text, char *error,
    size_t error_size)
{
	struct conf *next;

	if (!idem_buf_ok(text)) {
		snprintf(error, error_size, "more than %u bytes",
		    OPTIONS_FILE_MAX);
		return NULL;
	}
	next = options_read_text(m->options, idem_buf_bytes(text), error,
	    error_size);
	if (next != NULL && (!conf_may_follow(m->conf, next,
	    m->options->accept_rekey, error, error_size) ||
	    !master_routes_memory(m, next, error, error_size))) {
		conf_drop(next);
		next = NULL;
	}
	return next;
}

static void
take_over(struct master *m, struct conf *next, int text)
{
	conf_drop(m->conf);
	m->conf = next;
	m->alert.command = next->alert;
	if (next->lease_max_ms > m->lease_max_ms)
		m->lease_max_ms = next->lease_max_ms;
	if (next->limit_max_ms > m->limit_max_ms)
		m->limit_max_ms = next->limit_max_ms;
	workers_reload(m, text);
	shm_add(m->shm, SHM_RELOADS, 1);
	log_line(&m->log, "reloaded routes=%zu", next->routes_len);
	master_routes_say(m);
}

/* Nothing changes unless all of it can. */
void
master_reload(struct master *m)
{
	struct idem_buf text = { 0 };
	char error[1024] = "";
	struct conf *next;
	int fd;

	if (m->options->config == NULL) {
		log_line(&m->log, "reload refused: there is no --config");
		return;
	}
	if (!read_file(m->options->config, &text)) {
		log_line(&m->log, "reload refused: %s: %s",
		    m->options->config, strerror(errno));
		idem_buf_free(&text);
		return;
	}
	next = next_conf(m, &text, error, sizeof error);
	fd = next == NULL ? -1 : text_file(&text);
	idem_buf_free(&text);
	if (fd != -1) {
		take_over(m, next, fd);
		close(fd);
		return;
	}
	log_line(&m->log, "reload refused: %s", next != NULL ?
	    strerror(errno) : error);
	if (next != NULL)
		conf_drop(next);
}
