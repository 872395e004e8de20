/* SPDX-License-Identifier: ISC */
#include "spool.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 70000

static char text[MOST];

static const struct {
	const char *what;
	size_t max, len;
	size_t piece;		/* bytes an add */
	bool file;
} sizes[] = {
	{ "nothing", 100, 0, 1, false },
	{ "one byte", 100, 1, 1, false },
	{ "one byte under the limit", 100, 99, 100, false },
	{ "just the limit", 100, 100, 100, false },
	{ "just the limit, byte by byte", 100, 100, 1, false },
	{ "one byte over the limit", 100, 101, 101, true },
	{ "one byte over the limit, byte by byte", 100, 101, 1, true },
	{ "the limit and one byte", 100, 101, 100, true },
	{ "much more in odd pieces", 100, 5000, 7, true },
	{ "just the limit of bodies", SPOOL_MEMORY, SPOOL_MEMORY, 8192,
	  false },
	{ "one byte over the limit of bodies", SPOOL_MEMORY, SPOOL_MEMORY + 1,
	  8192, true },
	{ "a byte where memory may hold none", 0, 1, 1, true },
	{ "nothing where memory may hold none", 0, 0, 1, false },
};

static void
add(struct spool *s, size_t len, size_t piece)
{
	size_t at, n;

	for (at = 0; at < len; at += n) {
		n = len - at < piece ? len - at : piece;
		spool_add(s, (struct idem_bytes){ text + at, n });
	}
}

/* All of it from where it stands: whether it is the text. */
static bool
reads(int fd, size_t len)
{
	static char got[MOST + 1];
	size_t n = 0;
	ssize_t more;

	while ((more = read(fd, got + n, sizeof got - n)) > 0)
		n += (size_t)more;
	return more == 0 && n == len && memcmp(got, text, len) == 0;
}

static bool
is_empty(const struct spool *s)
{
	return s->len == 0 && s->fd == -1 && s->memory.at == NULL && !s->failed;
}

static void
check_sizes(void)
{
	struct idem_buf room = { 0 };
	struct idem_bytes whole;
	struct spool s;
	size_t i;
	int fd;

	for (i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		spool_init(&s, sizes[i].max);
		add(&s, sizes[i].len, sizes[i].piece);
		ok(!s.failed && s.len == sizes[i].len &&
		    (s.fd != -1) == sizes[i].file &&
		    s.memory.len == (sizes[i].file ? 0 : sizes[i].len),
		    "%s is kept in %s", sizes[i].what,
		    sizes[i].file ? "a file" : "memory");
		whole = spool_whole(&s, &room);
		ok(whole.len == sizes[i].len && idem_buf_ok(&room) &&
		    (whole.len == 0 || memcmp(whole.at, text, whole.len) ==
		    0) && (room.at != NULL) == sizes[i].file,
		    "%s is there whole, and %s", sizes[i].what,
		    sizes[i].file ? "read" : "not copied");
		idem_buf_free(&room);
		fd = spool_fd(&s);
		ok(fd != -1 && reads(fd, sizes[i].len),
		    "%s is read from the start", sizes[i].what);
		ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0,
		    "%s: its descriptor is no program's by itself",
		    sizes[i].what);
		ok(is_empty(&s) && s.memory_max == sizes[i].max,
		    "%s: the spool is empty then", sizes[i].what);
		close(fd);
		spool_free(&s);
	}
}

/* --- a program's input ---------------------------------------------------- */

static const struct {
	size_t max, len;
	bool pipe;
} inputs[] = {
	{ SPOOL_MEMORY, 0, false },
	{ SPOOL_MEMORY, 1, true },
	{ SPOOL_MEMORY, PIPE_BUF, true },
	{ SPOOL_MEMORY, PIPE_BUF + 1, false },
	{ SPOOL_MEMORY, SPOOL_MEMORY, false },
	{ SPOOL_MEMORY, SPOOL_MEMORY + 1, false },
	{ 10, 11, false },
};

static void
check_inputs(void)
{
	struct spool s;
	struct stat st;
	size_t i;
	int fd;

	for (i = 0; i < sizeof inputs / sizeof *inputs; i++) {
		spool_init(&s, inputs[i].max);
		add(&s, inputs[i].len, 8192);
		fd = spool_input(&s);
		ok(fstat(fd, &st) == 0 &&
		    S_ISFIFO(st.st_mode) == inputs[i].pipe,
		    "a program gets %zu bytes by a %s", inputs[i].len,
		    inputs[i].pipe ? "pipe" : "file");
		ok(reads(fd, inputs[i].len), "all of them, and their end");
		ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0 &&
		    (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0,
		    "it is no other program's, and waits as programs expect");
		ok(is_empty(&s), "the spool is empty then");
		close(fd);
	}
}

static void
check_again(void)
{
	struct spool s;
	int first, second;

	spool_init(&s, 10);
	add(&s, 20, 20);
	first = spool_fd(&s);
	add(&s, 5, 5);
	second = spool_fd(&s);
	ok(reads(first, 20) && reads(second, 5),
	    "an emptied spool takes the next, apart from the first");
	close(first);
	close(second);
	add(&s, 20, 20);
	spool_free(&s);
	spool_free(&s);
	ok(is_empty(&s), "one that is freed, twice, is empty");
}

/* --- where ---------------------------------------------------------------- */

static const char *
file_of(const struct spool *s, char *to, size_t size)
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof link, "/proc/self/fd/%d", s->fd);
	n = readlink(link, to, size - 1);
	to[n > 0 ? n : 0] = '\0';
	return to;
}

/* With TMPDIR so: whether the file lies there, under no name. */
static void
check_folder(const char *tmp, const char *folder, const char *what)
{
	char file[2 * PATH_MAX];
	struct spool s;
	struct stat st = { .st_nlink = 1 };

	if (tmp == NULL)
		unsetenv("TMPDIR");
	else
		setenv("TMPDIR", tmp, 1);
	spool_init(&s, 0);
	add(&s, 100, 50);
	file_of(&s, file, sizeof file);
	fstat(s.fd, &st);
	if (!ok(!s.failed && st.st_nlink == 0 &&
	    (st.st_mode & 0777) == 0600 &&
	    strncmp(file, folder, strlen(folder)) == 0 &&
	    file[strlen(folder)] == '/', "%s", what))
		note("%s, links %lu", file, (unsigned long)st.st_nlink);
	spool_free(&s);
}

static void
check_folders(void)
{
	static char long_name[PATH_MAX + 10];
	char folder[] = "/tmp/idem-spool-XXXXXX", *real;

	if (mkdtemp(folder) == NULL || (real = realpath(folder, NULL)) == NULL)
		bail_out("%s", folder);
	*strrchr(real, '/') = '\0';
	check_folder(NULL, real, "without TMPDIR the file is in /tmp");
	check_folder("", real, "so it is with an empty one");
	check_folder("/nowhere/at/all", real, "and with one that is missing");
	check_folder("/proc/self", real, "and with one that takes no files");
	check_folder("/etc/passwd", real, "and with one that is no folder");
	memset(long_name, '/', sizeof long_name - 1);
	check_folder(long_name, real, "and with one that is too long");
	real[strlen(real)] = '/';
	check_folder(folder, real, "in TMPDIR it is, if there is one");
	ok(rmdir(folder) == 0, "and nothing of it is left there");
	free(real);
	unsetenv("TMPDIR");
}

/* --- what fails ----------------------------------------------------------- */

static bool
has_failed(struct spool *s)
{
	uint64_t len = s->len;

	if (!s->failed)
		return false;
	add(s, 1, 1);
	errno = 0;
	return s->len == len && spool_fd(s) == -1 && errno == ENOSPC;
}

/* As master and lobby have it: the limit is an error, not a signal. */
static void
limit_files(void)
{
	const struct rlimit small = { 1000, 1000 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &small) != 0)
		_exit(2);
}

static bool
full_while_adding(void)
{
	struct spool s;
	bool first;

	limit_files();
	spool_init(&s, 100);
	add(&s, 1000, 50);
	first = !s.failed;
	add(&s, 1, 1);
	first = first && has_failed(&s);
	spool_free(&s);
	return first && is_empty(&s);
}

static bool
full_while_moving(void)
{
	struct spool s;

	limit_files();
	spool_init(&s, 2000);
	add(&s, 2000, 500);
	if (s.failed)
		return false;
	add(&s, 1, 1);
	return has_failed(&s);
}

static bool
full_in_memory(void)
{
	struct spool s;

	limit_files();
	spool_init(&s, 4000);
	add(&s, 1001, 500);
	return !s.failed && spool_fd(&s) == -1;
}

static bool
no_descriptor(void)
{
	const struct rlimit none = { 3, 3 };
	struct spool s;

	spool_init(&s, 10);
	if (setrlimit(RLIMIT_NOFILE, &none) != 0)
		_exit(2);
	add(&s, 11, 5);
	return has_failed(&s);
}

static bool
no_descriptor_in_memory(void)
{
	const struct rlimit none = { 3, 3 };
	struct spool s;

	spool_init(&s, 10);
	add(&s, 5, 5);
	return setrlimit(RLIMIT_NOFILE, &none) == 0 && !s.failed &&
	    spool_fd(&s) == -1 && errno == EMFILE;
}

/* A pipe takes two of them, for a moment. */
static bool
one_descriptor(void)
{
	int next = dup(STDIN_FILENO), fd;
	const struct rlimit one = { (rlim_t)next + 1, (rlim_t)next + 1 };
	struct spool s;

	close(next);
	spool_init(&s, 10);
	add(&s, 5, 5);
	if (setrlimit(RLIMIT_NOFILE, &one) != 0)
		return false;
	fd = spool_input(&s);
	return fd == next && reads(fd, 5);
}

static bool
no_descriptor_for_input(void)
{
	const struct rlimit none = { 3, 3 };
	struct spool s;

	spool_init(&s, 10);
	add(&s, 5, 5);
	return setrlimit(RLIMIT_NOFILE, &none) == 0 && !s.failed &&
	    spool_input(&s) == -1 && errno == EMFILE;
}

/* Each in a process of its own, since limits stay. */
static void
check_failures(void)
{
	static const struct {
		const char *what;
		bool (*holds)(void);
	} failures[] = {
		{ "a disk that fills up fails the spool for good",
		  full_while_adding },
		{ "so does one that is full from the start",
		  full_while_moving },
		{ "what memory held cannot be handed on over the limit",
		  full_in_memory },
		{ "without a descriptor there is no file, in no folder",
		  no_descriptor },
		{ "nor is what memory holds handed on",
		  no_descriptor_in_memory },
		{ "nor is it a program's input", no_descriptor_for_input },
		{ "with one descriptor it is, as a file", one_descriptor },
	};
	int status;
	size_t i;
	pid_t pid;

	for (i = 0; i < sizeof failures / sizeof *failures; i++) {
		fflush(stdout);
		status = -1;
		pid = fork();
		if (pid == 0)
			_exit(!failures[i].holds());
		waitpid(pid, &status, 0);
		is_int(status, 0, "%s", failures[i].what);
	}
}

int
main(void)
{
	size_t i;

	for (i = 0; i < sizeof text; i++)
		text[i] = (char)(i * 7 + i / 251);
	check_sizes();
	check_inputs();
	check_again();
	check_folders();
	check_failures();
	return done();
}
