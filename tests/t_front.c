/* SPDX-License-Identifier: ISC */
#include "front.h"

#include "fcgi_rec.h"
#include "tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 10000

/* Streams; decoded, each parameter followed by a bar; NULL: refused. */
static const struct {
	const char *what;
	struct idem_bytes stream;
	const char *decoded;
} rows[] = {
#define BYTES(text) { text, sizeof text - 1 }
	{ "no parameters are none", BYTES(""), "" },
	{ "one is decoded", BYTES("\1\1A1"), "A=1|" },
	{ "an empty value is one", BYTES("\1\0A"), "A=|" },
	{ "the order stays", BYTES("\1\1B2\1\1A1\1\1C3"), "B=2|A=1|C=3|" },
	{ "repeated names stay", BYTES("\1\1A1\1\1A2"), "A=1|A=2|" },
	{ "long lengths are lengths",
	  BYTES("\200\0\0\1\200\0\0\2A12\1\200\0\0\1B3"), "A=12|B=3|" },
	{ "a '=' in a value is text", BYTES("\1\3Aa=b"), "A=a=b|" },
	{ "bytes above ASCII and line ends are text",
	  BYTES("\1\4A\303\244\r\n"), "A=\303\244\r\n|" },
	{ "the peer's own FCGI_ROLE is one of its parameters",
	  BYTES("\11\1FCGI_ROLEX"), "FCGI_ROLE=X|" },
	{ "a '=' in a name is refused", BYTES("\1\1A1\3\1B=Cx"), NULL },
	{ "an empty name is refused", BYTES("\0\1x"), NULL },
	{ "an empty name without a value is refused", BYTES("\0\0"), NULL },
	{ "a NUL in a name is refused", BYTES("\2\1A\0x"), NULL },
	{ "a NUL in a value is refused", BYTES("\1\3Aa\0b"), NULL },
	{ "a NUL at a value's end is refused", BYTES("\1\2Aa\0"), NULL },
	{ "a cut stream is refused", BYTES("\1\1A1\1\5B2"), NULL },
	{ "a stream cut after a pair's first length is refused",
	  BYTES("\1\1A1\1"), NULL },
	{ "lengths that overflow are refused [cgi:C49 F6]",
	  BYTES("\377\377\377\377\377\377\377\377A1"), NULL },
};

static void
join(const struct idem_params *params, struct idem_buf *text)
{
	size_t i;

	for (i = 0; i < params->len; i++)
		idem_buf_printf(text, "%s|", params->at[i]);
	idem_buf_u8(text, 0);
}

static size_t
file_len(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 ? (size_t)st.st_size : SIZE_MAX;
}

static void
check_refused(struct front *f, struct idem_bytes stream, const char *what)
{
	struct idem_params params;

	if (ftruncate(f->memfd, 0) != 0)
		bail_out("cannot empty the file");
	ok(front_decode(f, 1, stream, &params) != IDEM_PARAMS_READ &&
	    params.at == NULL && params.len == 0, "%s", what);
	is_int((long long)file_len(f->memfd), 0,
	    "%s, and not shown to libfcgi", what);
}

static void
check_rows(struct front *f)
{
	struct idem_buf text = { 0 };
	struct idem_params params;
	size_t i;
	int got;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		idem_buf_clear(&text);
		if (rows[i].decoded == NULL) {
			check_refused(f, rows[i].stream, rows[i].what);
			continue;
		}
		got = (int)front_decode(f, 1, rows[i].stream, &params);
		join(&params, &text);
		is((const char *)text.at, rows[i].decoded, "%s", rows[i].what);
		ok(got == 0 && params.at[params.len] == NULL,
		    "%s, and a NULL ends them", rows[i].what);
		idem_params_free(&params);
	}
	is_int(front_decode(f, 0, rows[0].stream, &params), IDEM_PARAMS_FAILED,
	    "the id of management is refused");
	idem_buf_free(&text);
}

/* What a web server sends for a form: 30 parameters, about 1 KB. */
static void
typical(struct idem_buf *stream)
{
	char name[32], value[48];
	int i;

	for (i = 0; i < 30; i++) {
		snprintf(name, sizeof name, "HTTP_TYPICAL_%02d", i);
		snprintf(value, sizeof value, "a value of usual length %d", i);
		idem_fcgi_pair_write(stream, idem_bytes_text(name),
		    idem_bytes_text(value));
	}
}

/* One parameter, its value's length a long one, makes the stream len bytes. */
#define OVERHEAD 6u

static void
one_of(struct idem_buf *stream, size_t len)
{
	static const char value[300000];

	idem_fcgi_pair_write(stream, idem_bytes_text("A"),
	    (struct idem_bytes){ value, len - OVERHEAD });
	memset(stream->at + OVERHEAD, 'x', len - OVERHEAD);
}

/* libfcgi reads 8 KiB at a time: where a record's end falls must not matter. */
static bool
decodes_one_of(struct front *f, size_t len)
{
	struct idem_buf stream = { 0 };
	struct idem_params params;
	bool right;

	one_of(&stream, len);
	right = front_decode(f, 65535, idem_buf_bytes(&stream), &params) == 0 &&
	    params.len == 1 &&
	    strlen(params.at[0]) == 2 + len - OVERHEAD;
	idem_params_free(&params);
	idem_buf_free(&stream);
	return right;
}

static void
check_sizes(struct front *f)
{
	static const size_t around[] = {
		256, 8192, 16384, 65535, 65536, 131070, 262144
	};
	size_t i, len, wrong;

	for (i = 0; i < sizeof around / sizeof *around; i++) {
		wrong = 0;
		for (len = around[i] - 40; len < around[i] + 40; len++)
			wrong += !decodes_one_of(f, len);
		is_int((long long)wrong, 0,
		    "streams of about %zu bytes are decoded", around[i]);
	}
}

static void
check_many_params(struct front *f)
{
	struct idem_buf stream = { 0 };
	struct idem_params params;
	int i;

	for (i = 0; i < 80000; i++)
		idem_fcgi_pair_write(&stream, idem_bytes_text("N"),
		    (struct idem_bytes){ 0 });
	ok(front_decode(f, 1, idem_buf_bytes(&stream), &params) == 0 &&
	    params.len == 80000 && strcmp(params.at[79999], "N=") == 0,
	    "80000 parameters are decoded");
	idem_params_free(&params);
	idem_buf_free(&stream);
}

static size_t
count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	if (dir == NULL)
		bail_out("no /proc");
	while (readdir(dir) != NULL)
		n++;
	closedir(dir);
	return n;
}

static double
us_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - then->tv_sec) * 1e6 +
	    (double)(now.tv_nsec - then->tv_nsec) / 1e3;
}

static int
decode_often(struct front *f, struct idem_bytes stream)
{
	struct idem_params params;
	int i, decoded = 0;

	for (i = 0; i < ROUNDS; i++) {
		decoded += front_decode(f, 1, stream, &params) == 0 &&
		    params.len == 30;
		idem_params_free(&params);
	}
	return decoded;
}

static void
check_rounds(struct front *f)
{
	struct idem_buf stream = { 0 };
	struct timespec start;
	size_t fds, heap;
	int memfd;

	typical(&stream);
	decode_often(f, idem_buf_bytes(&stream));
	memfd = f->memfd;
	fds = count_fds();
	heap = mallinfo2().uordblks;
	clock_gettime(CLOCK_MONOTONIC, &start);
	is_int(decode_often(f, idem_buf_bytes(&stream)), ROUNDS,
	    "%d requests are decoded", ROUNDS);
	note("%.1f us a request of 30 parameters, %zu bytes",
	    us_since(&start) / ROUNDS, stream.len);
	is_int(f->memfd, memfd, "the descriptor is the same after them");
	ok(file_len(f->memfd) <= 65536, "the file has stayed small");
	is_int((long long)count_fds(), (long long)fds,
	    "no descriptor was left open");
	is_int((long long)mallinfo2().uordblks, (long long)heap,
	    "no memory was left allocated");
	idem_buf_free(&stream);
}

static bool
file_ends_in(int fd, const struct idem_buf *want)
{
	off_t from = (off_t)file_len(fd) - (off_t)want->len;
	uint8_t *at = malloc(want->len);
	bool same;

	same = from >= 0 &&
	    pread(fd, at, want->len, from) == (ssize_t)want->len &&
	    memcmp(at, want->at, want->len) == 0;
	free(at);
	return same;
}

static void
check_untouched(struct front *f)
{
	static const size_t lens[] = { 20000, 200, 300, 8150 };
	struct idem_buf stream = { 0 }, copy = { 0 };
	struct idem_params params;
	size_t i;

	for (i = 0; i < sizeof lens / sizeof *lens; i++) {
		idem_buf_clear(&stream);
		idem_buf_clear(&copy);
		one_of(&stream, lens[i]);
		idem_fcgi_clean_copy(&copy, 9, idem_buf_bytes(&stream));
		front_decode(f, 9, idem_buf_bytes(&stream), &params);
		idem_params_free(&params);
		ok(file_ends_in(f->memfd, &copy),
		    "the file ends in our copy of %zu bytes", lens[i]);
	}
	idem_buf_free(&stream);
	idem_buf_free(&copy);
}

/* A file that can be written and not read is as a copy that libfcgi refuses. */
static void
check_refusal(struct front *f)
{
	struct idem_params params;
	char path[64];
	size_t fds;
	int fd;

	fds = count_fds();
	snprintf(path, sizeof path, "/proc/self/fd/%d", f->memfd);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		bail_out("cannot open the file again");
	dup3(fd, f->memfd, O_CLOEXEC);
	close(fd);
	ok(front_decode(f, 1, rows[1].stream, &params) == IDEM_PARAMS_FAILED &&
	    params.at == NULL, "what libfcgi refuses is refused");
	is_int(front_decode(f, 1, rows[1].stream, &params), 0,
	    "the next one is decoded");
	is_int((long long)count_fds(), (long long)fds,
	    "and no descriptor was lost or left by it");
	idem_params_free(&params);
}

/* What a program would be given is what libfcgi reads, or is not. */
static void
check_agrees(struct front *f)
{
	static const char stream[] = "\2\1AB1\1\1A2\1\0C";
	struct idem_params params;
	int fd;

	idem_params_read((struct idem_bytes){ stream, sizeof stream - 1 },
	    &params);
	ok(front_agrees(f, &params), "two readers agree on a stream");
	params.at[1][1] = 'x';	/* "Ax2": its name has no end */
	params.at[1][2] = '=';
	ok(front_agrees(f, &params), "and on another");
	fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup3(fd, f->memfd, O_CLOEXEC);
	close(fd);
	ok(!front_agrees(f, &params),
	    "where libfcgi reads nothing they do not agree");
	ok(front_agrees(f, &params), "and the next time they do again");
	idem_params_free(&params);
}

static void
on_signal(int signo)
{
	(void)signo;
}

static bool
handled_by(int signo, void (*handler)(int))
{
	struct sigaction now;

	sigaction(signo, NULL, &now);
	return now.sa_handler == handler;
}

static void
check_init(struct front *f)
{
	struct sigaction ours = { .sa_handler = on_signal };
	sigset_t mask;

	sigaction(SIGTERM, &ours, NULL);
	signal(SIGPIPE, SIG_IGN);
	is_int(front_init(f), 0, "libfcgi is made ready");
	ok(handled_by(SIGTERM, on_signal), "our handler of SIGTERM stays");
	ok(handled_by(SIGPIPE, SIG_IGN), "SIGPIPE stays ignored");
	ok(handled_by(SIGUSR1, SIG_DFL), "SIGUSR1 stays as it was");
	sigprocmask(SIG_BLOCK, NULL, &mask);
	ok(!sigismember(&mask, SIGTERM), "and no signal stays blocked");
	ok(fcntl(f->memfd, F_GETFD) == FD_CLOEXEC,
	    "programs do not inherit the file");
}

int
main(void)
{
	struct front f;

	check_init(&f);
	check_rows(&f);
	check_sizes(&f);
	check_many_params(&f);
	check_untouched(&f);
	check_refusal(&f);
	check_rounds(&f);
	check_agrees(&f);
	front_free(&f);
	is_int(f.memfd, -1, "the file is closed at the end");
	return done();
}
