/* SPDX-License-Identifier: ISC */
#include "spool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void
spool_init(struct spool *s, size_t memory_max)
{
	*s = (struct spool){ .memory_max = memory_max, .fd = -1 };
}

static int
unlinked_in(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
	char name[PATH_MAX];

	if (fd != -1 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd;
	/* A file system without O_TMPFILE. */
	if ((size_t)snprintf(name, sizeof name, "%s/idem-XXXXXX", folder) >=
	    sizeof name)
		return -1;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd != -1)
		unlink(name);
	return fd;
}

/* What stands in TMPDIR may be for somebody else. */
static int
unlinked_file(void)
{
	const char *folder = getenv("TMPDIR");
	int fd = -1;

	if (folder != NULL && *folder != '\0')
		fd = unlinked_in(folder);
	return fd != -1 ? fd : unlinked_in("/tmp");
}

static bool
write_all(int fd, struct idem_bytes bytes)
{
	const char *at = bytes.at;
	ssize_t n;

	while (bytes.len > 0) {
		n = write(fd, at, bytes.len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		bytes.len -= (size_t)n;
	}
	return true;
}

static bool
to_file(struct spool *s)
{
	s->fd = unlinked_file();
	if (s->fd == -1 || !write_all(s->fd, idem_buf_bytes(&s->memory)))
		return false;
	idem_buf_free(&s->memory);
	return true;
}

void
spool_add(struct spool *s, struct idem_bytes bytes)
{
	if (s->failed || bytes.len == 0)
		return;
	s->len += bytes.len;
	if (s->fd == -1 && s->len <= s->memory_max) {
		idem_buf_append(&s->memory, bytes.at, bytes.len);
		s->failed = !idem_buf_ok(&s->memory);
		return;
	}
	if ((s->fd == -1 && !to_file(s)) || !write_all(s->fd, bytes))
		s->failed = true;
}

static int
of_memory(const struct spool *s)
{
	int fd;

	if (s->len == 0)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	fd = memfd_create("idem-body", MFD_CLOEXEC);
	if (fd == -1)
		return -1;
	if (write_all(fd, idem_buf_bytes(&s->memory)))
		return fd;
	close(fd);
	return -1;
}

int
spool_fd(struct spool *s)
{
	int fd;

	if (s->failed) {
		errno = ENOSPC;
		return -1;
	}
	fd = s->fd != -1 ? s->fd : of_memory(s);
	s->fd = -1;
	if (fd != -1 && lseek(fd, 0, SEEK_SET) == -1 && errno != ESPIPE) {
		close(fd);
		fd = -1;
	}
	spool_free(s);
	return fd;
}

/* Half of what a file in memory costs. */
static int
of_pipe(const struct spool *s)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) == -1)
		return -1;
	if (write(ends[1], s->memory.at, s->memory.len) !=
	    (ssize_t)s->memory.len) {
		close(ends[0]);
		ends[0] = -1;
	}
	close(ends[1]);
	return ends[0];
}

/* An empty pipe takes that without waiting, however small (pipe(7)). */
static bool
fits_pipe(const struct spool *s)
{
	return !s->failed && s->fd == -1 && s->len > 0 && s->len <= PIPE_BUF;
}

int
spool_input(struct spool *s)
{
	int fd = fits_pipe(s) ? of_pipe(s) : -1;

	if (fd == -1)
		return spool_fd(s);
	spool_free(s);
	return fd;
}

/* A file opened anew: who reads one does not move where the other is. */
static int
again(const struct spool *s)
{
	char name[40];
	int fd;

	if (s->fd != -1) {
		snprintf(name, sizeof name, "/proc/self/fd/%d", s->fd);
		return open(name, O_RDONLY | O_CLOEXEC);
	}
	fd = of_memory(s);
	if (fd != -1)
		lseek(fd, 0, SEEK_SET);		/* /dev/null has no place */
	return fd;
}

int
spool_input_copy(const struct spool *s)
{
	int fd = fits_pipe(s) ? of_pipe(s) : -1;

	if (fd != -1)
		return fd;
	if (!s->failed)
		return again(s);
	errno = ENOSPC;
	return -1;
}

#define PIECE (64u * 1024u)

bool
spool_read_at(int fd, void *to, size_t len, uint64_t from)
{
	uint8_t *at = to;
	ssize_t n;

	while (len > 0) {
		n = pread(fd, at, len, (off_t)from);
		if (n == -1 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		from += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

static void
copy_file(const struct spool *s, struct idem_buf *buf)
{
	uint8_t piece[PIECE];
	uint64_t at;
	size_t len;

	for (at = 0; at < s->len && idem_buf_ok(buf); at += len) {
		len = s->len - at < PIECE ? (size_t)(s->len - at) : PIECE;
		if (spool_read_at(s->fd, piece, len, at))
			idem_buf_append(buf, piece, len);
		else
			buf->failed = true;
	}
}

struct idem_bytes
spool_whole(const struct spool *s, struct idem_buf *buf)
{
	if (s->fd == -1)
		return idem_buf_bytes(&s->memory);
	copy_file(s, buf);
	return idem_buf_bytes(buf);
}

void
spool_free(struct spool *s)
{
	idem_buf_free(&s->memory);
	if (s->fd != -1)
		close(s->fd);
	spool_init(s, s->memory_max);
}
