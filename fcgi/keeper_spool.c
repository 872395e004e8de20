/* SPDX-License-Identifier: ISC */
#include "keeper_spool.h"

#include "label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

int
keeper_spool_open(struct keeper_spool *s, struct loop *loop, int file,
    const struct idem_owner *owner, int *write_end)
{
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -1;
	if (fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0 ||
	    loop_watch(loop, &s->pipe, ends[0], EPOLLIN) != 0) {
		error = errno;
		close(ends[0]);
		close(ends[1]);
		errno = error;
		return -1;
	}
	s->file = file;
	idem_run_out_init(&s->out, owner);
	*write_end = ends[1];
	return 0;
}

static bool
fits(struct keeper_spool *s, size_t len)
{
	if (s->spilled || s->len + len > KEEPER_OUT_MAX)
		return false;
	if (s->kept == NULL)
		s->kept = malloc(KEEPER_OUT_MAX);
	return s->kept != NULL;
}

static bool
may_write(struct keeper_spool *s)
{
	if (s->error == 0 && IDEM_LABEL_FAILS_NOTE("spool.write", s->file))
		s->error = errno;
	return s->error == 0;
}

static void
write_out(struct keeper_spool *s, const void *at, size_t len)
{
	if (len > 0 && may_write(s) && idem_run_out_add(&s->out, s->file,
	    (struct idem_bytes){ at, len }) != 0)
		s->error = errno;
}

static void
add(struct keeper_spool *s, const void *at, size_t len)
{
	if (fits(s, len)) {
		memcpy(s->kept + s->len, at, len);
	} else {
		if (s->kept != NULL)
			write_out(s, s->kept, (size_t)s->len);
		write_out(s, at, len);
		s->spilled = true;
		free(s->kept);
		s->kept = NULL;
	}
	s->len += len;
}

bool
keeper_spool_read(struct keeper_spool *s, struct loop *loop, size_t max,
    bool closed)
{
	static uint8_t at[KEEPER_READ_MAX];
	ssize_t n;

	if (s->pipe.fd < 0)
		return false;
	n = read(s->pipe.fd, at, max);
	if (n == (ssize_t)sizeof at && !s->wide) {
		s->wide = true;		/* much is to come */
		fcntl(s->pipe.fd, F_SETPIPE_SZ, KEEPER_PIPE_SIZE); /* a hint */
	}
	if (n > 0) {
		if (s->len == 0)
			IDEM_LABEL_NOTE("program.out.first", s->file);
		add(s, at, (size_t)n);
	}
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
	    (n > 0 && closed && n < (ssize_t)max))
		loop_close(loop, &s->pipe);
	return n > 0;
}

void
keeper_spool_end(struct keeper_spool *s, struct loop *loop,
    struct idem_trailer *trailer, int64_t boot_ms, struct run_end *end)
{
	struct idem_bytes rest = { "", 0 };

	loop_close(loop, &s->pipe);
	if (s->kept != NULL)
		rest = (struct idem_bytes){ s->kept, (size_t)s->len };
	if (may_write(s) && idem_run_out_end(&s->out, s->file, rest, trailer,
	    boot_ms) != 0)
		s->error = errno;
	end->spooled = s->error == 0;
	end->spool_failed = s->error != 0;
	end->error = s->error;
	end->whole = !s->spilled;
	end->len = s->len;
}

void
keeper_spool_free(struct keeper_spool *s, struct loop *loop)
{
	loop_close(loop, &s->pipe);
	idem_run_out_free(&s->out);
	free(s->kept);
	s->kept = NULL;
}
