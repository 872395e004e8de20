/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "conn.h"
#include "tap.h"

#include <errno.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* The same requests in the smallest pieces, of the largest size, after a word
   of management, and twenty on one connection; on both kinds of sockets. */

#define WAIT_MS 20000

static const char place[] = COUNT
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n'\n"
    "cat\n";

static const char *
kind(const struct rig *rig)
{
	return rig->tcp ? "TCP" : "unix";
}

static int
dial(struct rig *rig)
{
	const int on = 1;
	int fd = rig_connect(rig);

	if (fd == -1)
		bail_out("connect: %s", strerror(errno));
	if (rig->tcp)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

/* --- byte by byte --------------------------------------------------------- */

/* Until the peer has it: read on a unix socket, acknowledged on TCP. */
static void
await_taken(int fd)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	int left = 1;

	while (ioctl(fd, SIOCOUTQ, &left) == 0 && left > 0) {
		if (rig_now_ms() > until_ms)
			bail_out("nobody reads");
		sched_yield();
	}
}

static void
send_bytes(int fd, struct idem_bytes bytes)
{
	const char *at = bytes.at;
	size_t i;

	for (i = 0; i < bytes.len; i++) {
		if (rig_send(fd, (struct idem_bytes){ at + i, 1 }, 1,
		    WAIT_MS) == -1)
			bail_out("byte %zu of %zu: %s", i, bytes.len,
			    strerror(errno));
		await_taken(fd);
	}
}

static void
by_bytes(struct rig *rig, const char *key, const char *want)
{
	struct rig_request request = { .method = "POST", .path = "/place",
		.key = key, .body = idem_bytes_text("item=tea&much=2") };
	int fd = dial(rig);
	struct idem_buf out = { 0 };
	struct rig_answer answer;

	rig_request_write(&out, 1, &request);
	send_bytes(fd, idem_buf_bytes(&out));
	ask_end(rig, fd, &answer);
	told(&answer, want, "%s: %zu bytes, one at a time", kind(rig), out.len);
	is_bytes(answer.body.at, answer.body.len, request.body.at,
	    request.body.len, "the program got the body");
	rig_answer_free(&answer);
	idem_buf_free(&out);
}

/* --- parameters of the largest size --------------------------------------- */

#define FILLERS 4	/* variables of at most 128 KiB each */

/* The bytes of PARAMS in a request. */
static size_t
params_len(const struct idem_buf *request)
{
	size_t at = 0, len, sum = 0;

	while (at + 8 <= request->len) {
		const uint8_t *header = request->at + at;

		len = (size_t)header[4] << 8 | header[5];
		if (header[1] == IDEM_FCGI_PARAMS)
			sum += len;
		at += 8 + len + header[6];
	}
	return sum;
}

static char *
filler(int n, size_t value_len)
{
	char *text = malloc(value_len + 32);
	int name_len;

	if (text == NULL)
		bail_out("no memory");
	name_len = snprintf(text, 32, "HTTP_FILLER%d=", n);
	memset(text + name_len, 'x', value_len);
	text[name_len + (int)value_len] = '\0';
	return text;
}

/* A request whose parameters are exactly so many bytes. */
static void
write_sized(struct idem_buf *out, struct rig_request *request, size_t size)
{
	size_t each = (size - 4096) / FILLERS, len = 0, i;
	const char *more[FILLERS + 1] = { NULL };
	char *texts[FILLERS];
	int round;

	request->more = more;
	for (round = 0; round < 2; round++) {	/* measure, then fit */
		for (i = 0; i < FILLERS; i++)
			more[i] = texts[i] = filler((int)i, each +
			    (i == 0 && round > 0 ? size - len : 0));
		idem_buf_clear(out);
		rig_request_write(out, 1, request);
		len = params_len(out);
		for (i = 0; i < FILLERS; i++)
			free(texts[i]);
	}
	request->more = NULL;
	if (len != size)
		bail_out("parameters of %zu bytes, not %zu", len, size);
}

static void
sized(struct rig *rig, size_t size, size_t piece, size_t body_len,
    const char *key, const char *want)
{
	static char body[1 << 20];
	struct rig_request request = { .method = "POST", .path = "/place",
		.key = key, .body = { body, body_len } };
	struct idem_buf out = { 0 };
	struct rig_answer answer;
	int fd = dial(rig);

	write_sized(&out, &request, size);
	if (piece == 0)		/* as a front does: reading while it sends */
		rig_receive(fd, 1, idem_buf_bytes(&out), WAIT_MS, &answer);
	else {
		rig_send(fd, idem_buf_bytes(&out), piece, WAIT_MS);
		rig_receive(fd, 1, (struct idem_bytes){ 0 }, WAIT_MS, &answer);
	}
	told(&answer, want, "%s: parameters of %zu bytes, a body of %zu, %s",
	    kind(rig), size, body_len, piece == 0 ? "at once" : "in pieces");
	rig_answer_free(&answer);
	idem_buf_free(&out);
	close(fd);
}

static void
each_size(struct rig *rig)
{
	static const size_t pieces[] = { 0, 1000 }, bodies[] = { 0, 1 << 20 };
	size_t max = conn_limits_default.params_max, i, j;
	long before = starts(rig);
	char key[32];

	for (i = 0; i < 2; i++)
		for (j = 0; j < 2; j++) {
			snprintf(key, sizeof key, "%s-%zu-%zu", kind(rig), i,
			    j);
			sized(rig, max + 1, pieces[i], bodies[j], key,
			    "431 not-started");
			sized(rig, max * 2, pieces[i], bodies[j], key,
			    "431 not-started");
			sized(rig, max, pieces[i], bodies[j], key,
			    "201 stored");
			sized(rig, max, pieces[i], bodies[j], key,
			    "201 replayed");
		}
	is_int(starts(rig) - before, 4, "%s: each key ran once", kind(rig));
}

/* --- management ----------------------------------------------------------- */

static void
ask_values(struct idem_buf *out)
{
	static const char *const names[] = {
		"FCGI_MAX_CONNS", "FCGI_MAX_REQS", "FCGI_MPXS_CONNS", "FCGI_X"
	};
	struct idem_buf pairs = { 0 };
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		idem_fcgi_pair_write(&pairs, idem_bytes_text(names[i]),
		    idem_bytes_text(""));
	idem_fcgi_stream_write(out, IDEM_FCGI_GET_VALUES, 0,
	    idem_buf_bytes(&pairs));
	idem_buf_free(&pairs);
}

/* Exactly so many bytes. */
static bool
read_all(int fd, uint8_t *at, size_t len)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	ssize_t n;

	while (len > 0) {
		if (poll(&ready, 1, WAIT_MS) != 1)
			return false;
		n = recv(fd, at, len, MSG_DONTWAIT);
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static void
read_values(struct rig *rig, int fd)
{
	static const char mpxs[] = "\017\001FCGI_MPXS_CONNS0";
	uint8_t header[8], content[512];
	size_t len;

	if (!ok(read_all(fd, header, sizeof header) && header[1] ==
	    IDEM_FCGI_GET_VALUES_RESULT, "%s: GET_VALUES is answered",
	    kind(rig)))
		return;
	len = ((size_t)header[4] << 8 | header[5]) + header[6];
	ok(len < sizeof content && read_all(fd, content, len),
	    "with what it knows");
	ok(memmem(content, len, mpxs, sizeof mpxs - 1) != NULL,
	    "among it that it does not multiplex");
	ok(memmem(content, len, "FCGI_X", 6) == NULL,
	    "and not what it does not know");
}

static void
values_first(struct rig *rig, bool wait, const char *want)
{
	struct rig_request request = { .method = "POST", .path = "/place",
		.key = "values", .body = idem_bytes_text("item=tea") };
	struct idem_buf out = { 0 };
	struct rig_answer answer;
	int fd = dial(rig);

	ask_values(&out);
	if (wait) {
		rig_send(fd, idem_buf_bytes(&out), 0, WAIT_MS);
		read_values(rig, fd);
		idem_buf_clear(&out);
	}
	rig_request_write(&out, 1, &request);
	rig_receive(fd, 1, idem_buf_bytes(&out), WAIT_MS, &answer);
	told(&answer, want, "%s: a request after GET_VALUES, %s", kind(rig),
	    wait ? "and its answer" : "at once");
	rig_answer_free(&answer);
	idem_buf_free(&out);
	close(fd);
}

/* --- twenty on one connection --------------------------------------------- */

#define KEPT 20

static const struct {
	const char *method, *key, *body, *length, *want;
} turns[] = {
	{ "POST", "kept", "item=tea", NULL, "201 stored" },
	{ "POST", "kept", "item=tea", NULL, "201 replayed" },
	{ "POST", "kept", "item=tee", NULL, "422 mismatch" },
	{ "POST", NULL, "item=tea", NULL, "201" },
	{ "POST", "a b", "item=tea", NULL, "400 rejected" },
	{ "GET", NULL, "", "", "201" },
	{ "POST", "cut", "item=tea", "99", "400 rejected" },
};

#define TURNS ((int)(sizeof turns / sizeof *turns))

static void
one_of_many(struct rig *rig, int fd, int i)
{
	int turn = i % TURNS;
	struct rig_request request = { .method = turns[turn].method,
		.path = "/place", .body = idem_bytes_text(turns[turn].body),
		.length = turns[turn].length, .keep = i < KEPT - 1 };
	uint16_t id = (uint16_t)(i % 3 + 1);
	struct idem_buf out = { 0 };
	struct rig_answer answer;
	char key[32];

	if (turns[turn].key != NULL) {
		snprintf(key, sizeof key, "%s-%d", turns[turn].key, i / TURNS);
		request.key = key;
	}
	rig_request_write(&out, id, &request);
	rig_receive(fd, id, idem_buf_bytes(&out), WAIT_MS, &answer);
	told(&answer, turns[turn].want, "%s: request %d on one connection",
	    kind(rig), i + 1);
	rig_answer_free(&answer);
	idem_buf_free(&out);
}

static void
kept(struct rig *rig)
{
	struct pollfd ready = { .fd = dial(rig), .events = POLLIN };
	char byte;
	int i;

	for (i = 0; i < KEPT; i++)
		one_of_many(rig, ready.fd, i);
	ok(poll(&ready, 1, WAIT_MS) == 1 && recv(ready.fd, &byte, 1,
	    MSG_DONTWAIT) == 0, "%s: closed after the last", kind(rig));
	close(ready.fd);
}

static void
all(struct rig *rig)
{
	const char *key = rig->tcp ? "bytes-tcp" : "bytes-unix";

	by_bytes(rig, key, "201 stored");
	by_bytes(rig, key, "201 replayed");
	by_bytes(rig, NULL, "201");
	each_size(rig);
	values_first(rig, true, "201 stored");
	values_first(rig, false, "201 replayed");
	kept(rig);
}

int
main(void)
{
	struct rig rig;
	int i;

	for (i = 0; i < 2; i++) {
		rig_open(&rig);
		rig.tcp = i == 1;
		rig_program(&rig, "place", place);
		ask_start(&rig, (const char *[]){ "--",
		    rig_at(&rig, "place"), NULL });
		all(&rig);
		is_int(rig_stop(&rig, 10000), 0, "idemd ends with status 0");
		rig_end(&rig);
	}
	return done();
}
