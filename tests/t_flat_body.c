/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "holds.h"
#include "rig_watch.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

/*
 * A body of any length passes through the same little memory, up and down.
 *
 * With LONG in the environment they are of 2 GB.
 */
#define BODY (64ll << 20)
#define BODY_LONG (2ll << 30)
#define DISK_NEEDED (5ull << 30)
#define BODY_SLACK_KB 4096	/* buffers of a socket, a pipe and a queue */
#define ANSWER_MS 60000
#define STUCK_MS 60000
#define PIECE 65528u		/* a record's content */

struct world {
	struct rig *rig;
	struct worker worker;
	long long body;
};

static void
check_peak(const struct world *w, long lobby_kb, long keeper_kb,
    const char *what)
{
	long lobby = holds_status_kb(w->worker.lobby, "VmHWM") - lobby_kb;
	long keeper = holds_status_kb(w->worker.keeper, "VmHWM") - keeper_kb;

	note("%s: the lobby's memory rose by %ld kB at most, the keeper's by "
	    "%ld kB", what, lobby, keeper);
	if (rig_watch_sanitized)
		skip("a sanitizer's memory is not ours", "memory is flat");
	else
		ok(lobby <= BODY_SLACK_KB && keeper <= BODY_SLACK_KB,
		    "%s goes through less than %d kB of memory", what,
		    BODY_SLACK_KB);
}

/* Zeroes, as STDIN records of one body; false: they were not all taken. */
static bool
send_zeroes(int fd, long long len)
{
	struct idem_buf record = { 0 };
	uint8_t *zeroes = calloc(1, PIECE);
	bool sent = true;
	size_t some;

	if (zeroes == NULL)
		bail_out("no memory");
	for (; sent && len > 0; len -= (long long)some) {
		some = len < (long long)PIECE ? (size_t)len : PIECE;
		idem_buf_clear(&record);
		idem_fcgi_stream_write(&record, IDEM_FCGI_STDIN, 1,
		    (struct idem_bytes){ zeroes, some });
		sent = rig_send(fd, idem_buf_bytes(&record), 0, STUCK_MS) == 0;
	}
	idem_buf_clear(&record);
	idem_fcgi_stream_end(&record, IDEM_FCGI_STDIN, 1);
	sent = sent && rig_send(fd, idem_buf_bytes(&record), 0, STUCK_MS) == 0;
	idem_buf_free(&record);
	free(zeroes);
	return sent;
}

/* Everything of a request but the end of its STDIN, which is empty here. */
static int
begin(struct world *w, const char *path, long long body)
{
	struct idem_buf out = { 0 };
	char length[24];
	int fd = rig_connect(w->rig);

	snprintf(length, sizeof length, "%lld", body);
	rig_request_write(&out, 1, &(struct rig_request){ .method = "POST",
	    .path = path, .length = length });
	out.len -= 8;
	if (fd == -1 || rig_send(fd, idem_buf_bytes(&out), 0, ANSWER_MS) == -1)
		bail_out("a request cannot be sent: %s", strerror(errno));
	idem_buf_free(&out);
	return fd;
}

static void
upload(struct world *w)
{
	long lobby_kb = holds_status_kb(w->worker.lobby, "VmRSS");
	long keeper_kb = holds_status_kb(w->worker.keeper, "VmRSS");
	struct rig_answer answer;
	char want[32];
	int fd;

	rig_program(w->rig, "program", "#!/bin/sh\n"
	    "printf 'Content-Type: text/plain\\n\\n%d' $(wc -c)\n");
	fd = begin(w, "/up", w->body);
	ok(send_zeroes(fd, w->body), "%lld bytes are sent up", w->body);
	rig_receive(fd, 1, (struct idem_bytes){ 0 }, 2 * STUCK_MS, &answer);
	close(fd);
	snprintf(want, sizeof want, "%lld", w->body);
	is_bytes(answer.body.at, answer.body.len, want, strlen(want),
	    "the program has read all of them");
	check_peak(w, lobby_kb, keeper_kb, "a body sent up");
	rig_answer_free(&answer);
}

struct download {
	long long len;
	bool whole;
};

static bool
take(struct idem_fcgi_client_reader *reader, struct idem_bytes got,
    struct download *d)
{
	struct idem_bytes piece;

	for (;;)
		switch (idem_fcgi_client_read(reader, &got, &piece)) {
		case IDEM_FCGI_TOLD_MORE:
			return true;
		case IDEM_FCGI_TOLD_STDOUT:
			d->len += (long long)piece.len;
			break;
		case IDEM_FCGI_TOLD_STDERR:
			break;
		case IDEM_FCGI_TOLD_END:
			d->whole = true;
			return false;
		case IDEM_FCGI_TOLD_BROKEN:
			return false;
		}
}

static void
download(struct world *w)
{
	static uint8_t at[1 << 18];
	struct idem_fcgi_client_reader reader = { .id = 1 };
	long lobby_kb = holds_status_kb(w->worker.lobby, "VmRSS");
	long keeper_kb = holds_status_kb(w->worker.keeper, "VmRSS");
	struct download d = { 0 };
	struct pollfd ready = { .events = POLLIN };
	char program[256];
	long long head;
	ssize_t n;
	int fd;

	snprintf(program, sizeof program, "#!/bin/sh\n"
	    "printf 'Status: 200 OK\\r\\nContent-Type: "
	    "text/plain\\r\\n\\r\\n'\nhead -c %lld /dev/zero\n", w->body);
	rig_program(w->rig, "program", program);
	fd = begin(w, "/down", 0);
	send_zeroes(fd, 0);
	ready.fd = fd;
	while (poll(&ready, 1, STUCK_MS) == 1) {
		n = recv(fd, at, sizeof at, MSG_DONTWAIT);
		if (n <= 0 || !take(&reader, (struct idem_bytes){ at,
		    (size_t)n }, &d))
			break;
	}
	close(fd);
	head = d.len - w->body;
	ok(d.whole && head > 0 && head < 256, "%lld bytes and a head come "
	    "down (%lld)", w->body, head);
	check_peak(w, lobby_kb, keeper_kb, "a body sent down");
}

static bool
disk_has_room(const struct world *w)
{
	struct statvfs st;

	return w->body <= BODY || (statvfs(w->rig->folder, &st) == 0 &&
	    (unsigned long long)st.f_bavail * st.f_frsize >= DISK_NEEDED);
}

static void
large_bodies(struct world *w)
{
	struct holds before, after;

	if (!disk_has_room(w)) {
		skip("less than 5 GB of disk", "bodies of %lld bytes", w->body);
		return;
	}
	rig_program(w->rig, "program", "#!/bin/sh\n"
	    "printf 'Content-Type: text/plain\\n\\n'\n");
	ask_start(w->rig, (const char *[]){ "--workers", "1", "--",
	    rig_at(w->rig, "program"), NULL });
	holds_worker(w->rig, &w->worker);
	ask(w->rig, &(struct rig_request){ .path = "/first" }, "200",
	    "a first request has its answer");
	before = holds_at_rest(&w->worker);
	upload(w);
	download(w);
	after = holds_until(&w->worker, &before);
	is_int(after.fds, before.fds, "after them the lobby has as many "
	    "descriptors as before");
	is_int(after.children, before.children, "and as many children");
	is_int(rig_stop(w->rig, 30000), 0, "it ends well");
}

int
main(void)
{
	struct rig rig = { 0 };
	struct world w = { .rig = &rig,
		.body = getenv("LONG") != NULL ? BODY_LONG : BODY };

	rig_open(&rig);
	large_bodies(&w);
	rig_end(&rig);
	return done();
}
