/* SPDX-License-Identifier: ISC */
#include "ask.h"
#include "ear.h"
#include "rig_watch.h"
#include "tap.h"

#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Many parameters, a long body that nobody reads, and many connections. */
#define WAIT_MS 30000

static const char place[] = COUNT
    "printf 'Status: 201 Created\\nContent-Type: text/plain\\n\\n'\n"
    "env | grep -c ^HTTP_P_ || :\n";

#define POST "REQUEST_METHOD=POST,SCRIPT_NAME=/p"
#define ASK(id) "BEGIN/" id " PARAMS/" id ":" POST ",CONTENT_LENGTH=1 " \
	"PARAMS/" id " STDIN/" id ":x STDIN/" id

/* --- a thousand parameters, in fifty bytes at a time ---------------------- */

static void
many_parameters(struct rig *rig)
{
	static const char filler[255];
	struct idem_buf pairs = { 0 }, out = { 0 };
	uint8_t header[8];
	char name[24];
	struct ear ear;
	size_t i, len;

	idem_fcgi_pair_write(&pairs, idem_bytes_text("REQUEST_METHOD"),
	    idem_bytes_text("GET"));
	for (i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "HTTP_P_%zu", i);
		idem_fcgi_pair_write(&pairs, idem_bytes_text(name),
		    idem_bytes_text("the value of one of a thousand"));
	}
	idem_fcgi_begin_write(&out, 1, IDEM_FCGI_RESPONDER, false);
	for (i = 0; i < pairs.len; i += len) {
		len = pairs.len - i < 50 ? pairs.len - i : 50;
		idem_fcgi_header(header, IDEM_FCGI_PARAMS, 1, (uint16_t)len,
		    255);
		idem_buf_append(&out, header, sizeof header);
		idem_buf_append(&out, pairs.at + i, len);
		idem_buf_append(&out, filler, sizeof filler);
	}
	idem_fcgi_stream_end(&out, IDEM_FCGI_PARAMS, 1);
	idem_fcgi_stream_end(&out, IDEM_FCGI_STDIN, 1);

	ear_open(&ear, rig);
	rig_send(ear.fd, idem_buf_bytes(&out), 0, WAIT_MS);
	ear_hears(&ear, "201/1 closed");
	is(ear.words, "201/1 closed", "1000 parameters in records of 50 bytes "
	    "and 255 of padding");
	ok(memmem(ear.text.at, ear.text.len, "\r\n\r\n1000\n", 9) != NULL,
	    "all are seen by the program [cgi:C72]");
	ear_close(&ear);
	idem_buf_free(&pairs);
	idem_buf_free(&out);
}

/* A body that its program does not read, and the next request behind it. */
static void
unread_body(struct rig *rig)
{
	static char body[30000];
	struct rig_request request = { .method = "POST", .path = "/p",
		.body = { body, sizeof body }, .keep = true };
	struct idem_buf out = { 0 };
	struct ear ear;

	rig_request_write(&out, 1, &request);
	rig_request_write(&out, 2, &request);
	ear_open(&ear, rig);
	rig_send(ear.fd, idem_buf_bytes(&out), 0, WAIT_MS);
	ear_hears(&ear, "201/1 201/2");
	is(ear.words, "201/1 201/2", "behind a body that nobody reads there "
	    "is the next request [cgi:C68]");
	ear_close(&ear);
	idem_buf_free(&out);
}

/* --- many connections ----------------------------------------------------- */

/* More than select(2) could bear, and than there are programs. */
#define SILENT 1500
#define KEPT 20

static long
descriptors(pid_t pid)
{
	char path[64];
	DIR *folder;
	long n = -2;		/* . and .. */

	snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (folder == NULL)
		return -1;
	while (readdir(folder) != NULL)
		n++;
	closedir(folder);
	return n;
}

static void
await_more_descriptors(pid_t pid, long n)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;

	while (descriptors(pid) <= n && rig_now_ms() < until_ms)
		poll(NULL, 0, 5);
}

static void
keep_some(struct rig *rig, struct ear *kept)
{
	size_t i, served = 0;

	for (i = 0; i < KEPT; i++) {
		ear_open(&kept[i], rig);
		ear_say(&kept[i], ASK("1"));
		served += ear_hears(&kept[i], "201/1");
	}
	is_int((long long)served, KEPT, "%d are served and kept", KEPT);
}

static void
beside_idle_ones(struct rig *rig, pid_t lobby)
{
	static struct ear kept[KEPT];
	static int silent[SILENT];
	struct rig_request request = { .method = "POST", .path = "/p",
		.body = idem_bytes_text("x") };
	char key[24];
	size_t i;

	keep_some(rig, kept);
	for (i = 0; i < 3; i++)
		ask(rig, &request, "201", "another beside them, more than "
		    "there are programs [cgi:C56 cgi:C57]");
	for (i = 0; i < SILENT; i++)
		silent[i] = rig_connect(rig);
	await_more_descriptors(lobby, SILENT);
	ok(descriptors(lobby) > SILENT, "a worker has %ld descriptors open",
	    descriptors(lobby));
	for (i = 0; i < 20; i++) {
		snprintf(key, sizeof key, "beside-%zu", i);
		request.key = key;
		ask(rig, &request, "201 stored", "one more, with key %zu "
		    "[cgi:C54 cgi:C56]", i);
	}
	for (i = 0; i < KEPT; i++) {
		ear_say(&kept[i], ASK("2"));
		ok(ear_hears(&kept[i], "201/1 201/2"),
		    "kept connection %zu is served again [cgi:C57]", i);
		ear_close(&kept[i]);
	}
	for (i = 0; i < SILENT; i++)
		close(silent[i]);
}

int
main(void)
{
	struct rig rig;
	pid_t lobby;

	rig_open(&rig);
	rig_program(&rig, "place", place);
	ask_start(&rig, (const char *[]){ "--workers", "1", "-c", "2", "--",
	    rig_at(&rig, "place"), NULL });
	rig_watch_lobbies(&rig, &lobby, 1);
	many_parameters(&rig);
	unread_body(&rig);
	beside_idle_ones(&rig, lobby);
	is_int(rig_stop(&rig, WAIT_MS), 0, "idemd ends with status 0");
	rig_end(&rig);
	return done();
}
