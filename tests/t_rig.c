/* SPDX-License-Identifier: ISC */

/* The rig itself, with a tiny responder in idemd's place: this very program,
   when it is called with options. */
#include "rig.h"

#include "port_hold.h"
#include "tap.h"

#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- the responder -------------------------------------------------------- */

struct asked {
	struct idem_bytes path, key;
	size_t body_len;
	uint16_t id;
};

static int
listen_at(const char *where)
{
	struct sockaddr_in tcp = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	bool is_tcp = strncmp(where, "tcp:127.0.0.1:", 14) == 0;
	int fd = socket(is_tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0), bound;
	const int on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (is_tcp) {
		tcp.sin_port = htons((uint16_t)strtol(where + 14, NULL, 10));
		bound = bind(fd, (struct sockaddr *)&tcp, sizeof tcp);
	} else {
		snprintf(local.sun_path, sizeof local.sun_path, "%.107s",
		    where + strlen("unix:"));
		unlink(local.sun_path);
		bound = bind(fd, (struct sockaddr *)&local, sizeof local);
	}
	return bound == -1 || listen(fd, 1024) == -1 ? -1 : fd;
}

static void
look(struct asked *asked, struct idem_bytes params)
{
	struct idem_fcgi_pair pair;

	while (idem_fcgi_pair_next(&params, &pair) == 1) {
		if (idem_bytes_is(pair.name, "SCRIPT_NAME"))
			asked->path = pair.value;
		if (idem_bytes_is(pair.name, "HTTP_IDEMPOTENCY_KEY"))
			asked->key = pair.value;
	}
}

/* Read one request whole; false when the peer goes first. */
static bool
ask(int fd, struct idem_fcgi_reader *reader, struct asked *asked)
{
	struct idem_bytes left = { 0 }, body;
	enum idem_fcgi_item item;
	static uint8_t at[65536];
	ssize_t n;

	for (;;) {
		item = idem_fcgi_read(reader, &left, &body);
		if (item == IDEM_FCGI_BODY_WHOLE)
			return true;
		if (item == IDEM_FCGI_BODY)
			asked->body_len += body.len;
		if (item != IDEM_FCGI_MORE)
			continue;
		n = recv(fd, at, sizeof at, 0);
		if (n <= 0)
			return false;
		left = (struct idem_bytes){ at, (size_t)n };
	}
}

static void
answer_one(int fd, struct asked *asked)
{
	struct idem_buf text = { 0 }, out = { 0 };
	bool cut = idem_bytes_is(asked->path, "/cut");

	idem_buf_printf(&text, "Status: 201 Made\r\nX-Twice: a\r\n"
	    "X-Twice: b\r\nIdempotency-Status: stored\r\n\r\n"
	    "%.*s %.*s %zu\n", (int)asked->path.len,
	    (const char *)asked->path.at, (int)asked->key.len,
	    asked->key.len != 0 ? (const char *)asked->key.at : "",
	    asked->body_len);
	idem_fcgi_stream_write(&out, IDEM_FCGI_STDOUT, asked->id,
	    idem_buf_bytes(&text));
	idem_fcgi_stream_write(&out, IDEM_FCGI_STDERR, asked->id,
	    idem_bytes_text("grumble"));
	if (!cut) {
		idem_fcgi_stream_end(&out, IDEM_FCGI_STDOUT, asked->id);
		idem_fcgi_end_write(&out, asked->id, 3,
		    IDEM_FCGI_REQUEST_COMPLETE);
	}
	rig_send(fd, idem_buf_bytes(&out), 0, 30000);
	idem_buf_free(&out);
	idem_buf_free(&text);
}

/* One request; its connection stays open for ever after "/never". */
static void
serve(int fd)
{
	struct idem_fcgi_reader reader = { .params_max = 1 << 20 };
	struct asked asked = { 0 };
	bool never = false;

	if (ask(fd, &reader, &asked)) {
		asked.id = reader.id;
		look(&asked, idem_buf_bytes(&reader.params));
		never = idem_bytes_is(asked.path, "/never");
		if (!never)
			answer_one(fd, &asked);
	}
	idem_fcgi_reader_free(&reader);
	if (!never)
		close(fd);
}

static int
responder(int argc, char **argv)
{
	int listening, fd;

	if (strcmp(argv[argc - 1], "broken") == 0) {
		fprintf(stderr, "idemd: broken as asked\n");
		return 111;
	}
	if (strcmp(argv[argc - 1], "stubborn") == 0)
		signal(SIGTERM, SIG_IGN);
	listening = listen_at(argv[2]);
	fprintf(stderr, "%s\n", argc > 5 ? argv[5] : "");
	while (listening != -1) {
		fd = accept(listening, NULL, NULL);
		if (fd != -1)
			serve(fd);
	}
	return 111;
}

/* --- the tests ------------------------------------------------------------ */

static const char *const no_options[] = { NULL };

static const struct {
	const char *what;
	const char *path;
	const char *body;
	int status;
	int error;
} rows[] = {
	{ "a whole answer", "/order", "/order \"k1\" 3\n", 201, 0 },
	{ "an answer without END_REQUEST", "/cut", "/cut \"k1\" 3\n", 201,
	  ECONNABORTED },
	{ "no answer within the deadline", "/never", "", 0, ETIMEDOUT },
};

static void
one_request(struct rig *rig)
{
	struct rig_answer answer;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		rig->request_ms = rows[i].error == ETIMEDOUT ? 50 : 30000;
		rig_request(rig, &(struct rig_request){ .method = "POST",
		    .path = rows[i].path, .key = "\"k1\"",
		    .body = idem_bytes_text("abc") }, &answer);
		is_int(answer.error, rows[i].error, "%s is told as that",
		    rows[i].what);
		is_int(answer.whole, rows[i].error == 0,
		    "%s is whole or not", rows[i].what);
		is_int(answer.status, rows[i].status, "%s has its status",
		    rows[i].what);
		is_bytes(answer.body.at, answer.body.len, rows[i].body,
		    strlen(rows[i].body), "%s has its body", rows[i].what);
		rig_answer_free(&answer);
	}
	rig->request_ms = 30000;
}

static void
fields(struct rig *rig)
{
	struct rig_answer answer;

	rig_request(rig, &(struct rig_request){ 0 }, &answer);
	is(rig_field(&answer, "idempotency-status"), "stored",
	    "a field is found whatever its case");
	is(rig_field(&answer, "X-Twice"), "a", "the first of two is given");
	is(rig_field(&answer, "X-None"), "",
	    "a field that is not there is \"\"");
	is_int(answer.app_status, 3, "the application's status is kept");
	is_bytes(answer.err.at, answer.err.len, "grumble", 7,
	    "standard error is apart");
	rig_answer_free(&answer);
}

static void
in_pieces(struct rig *rig)
{
	struct idem_buf out = { 0 };
	struct rig_answer answer;
	int fd = rig_connect(rig);

	rig_request_write(&out, 7, &(struct rig_request){ .path = "/bits",
	    .body = idem_bytes_text("abcdefgh") });
	is_int(rig_send(fd, idem_buf_bytes(&out), 1, 30000), 0,
	    "a request can be sent byte by byte");
	is_int(rig_receive(fd, 7, (struct idem_bytes){ 0 }, 30000, &answer), 0,
	    "and is answered");
	is_bytes(answer.body.at, answer.body.len, "/bits  8\n", 9, "as whole");
	rig_answer_free(&answer);
	idem_buf_free(&out);
	close(fd);
}

/* --- many ----------------------------------------------------------------- */

#define MANY 3000

struct tally {
	int sent, right, turns;
	char key[32];
	bool seen[MANY];
};

static enum rig_next
many_next(void *arg, int64_t now_ms, struct rig_request *request, void **user)
{
	struct tally *tally = arg;

	(void)now_ms;
	if (tally->sent == MANY)
		return RIG_OVER;
	snprintf(tally->key, sizeof tally->key, "%d", tally->sent);
	*request = (struct rig_request){ .path = "/many", .key = tally->key };
	*user = &tally->seen[tally->sent++];
	return RIG_SEND;
}

static void
many_answered(void *arg, void *user, const struct rig_answer *answer)
{
	struct tally *tally = arg;
	bool *seen = user;
	char want[64];

	snprintf(want, sizeof want, "/many %d 0\n", (int)(seen - tally->seen));
	tally->right += answer->whole && !*seen &&
	    idem_bytes_is(answer->body, want);
	*seen = true;
}

static void
many_turn(void *arg, int64_t now_ms)
{
	struct tally *tally = arg;

	(void)now_ms;
	tally->turns++;
}

static void
many(struct rig *rig)
{
	static struct tally tally;
	struct rig_many all = { .connections_max = 500, .limit_ms = 300000,
		.next = many_next, .answered = many_answered,
		.turn = many_turn, .arg = &tally };

	tally = (struct tally){ 0 };
	is_int(rig_many(rig, &all), 0, "many requests come to an end");
	is_int(tally.right, MANY, "each gets its own answer, once");
	is_int((long long)all.whole, MANY, "and is counted as whole");
	ok(all.most > 1 && all.most <= 500, "no more at once than asked for");
	ok(tally.turns > 0, "every turn is told");
}

/* Nothing listens: every request fails, none is lost, none hangs. */
static void
many_refused(struct rig *rig)
{
	static struct tally tally;
	struct rig_many all = { .connections_max = 50, .limit_ms = 300000,
		.next = many_next, .answered = many_answered, .arg = &tally };

	tally = (struct tally){ 0 };
	is_int(rig_many(rig, &all), 0, "refused requests come to an end too");
	is_int((long long)all.failed, MANY, "and each is told");
}

static enum rig_next
endless_next(void *arg, int64_t now_ms, struct rig_request *request,
    void **user)
{
	(void)arg;
	(void)now_ms;
	(void)user;
	request->path = "/never";
	return RIG_SEND;
}

static void
count(void *arg, void *user, const struct rig_answer *answer)
{
	int *answered = arg;

	(void)user;
	*answered += answer->error == ETIMEDOUT;
}

static void
many_late(struct rig *rig)
{
	int answered = 0;
	struct rig_many all = { .connections_max = 10, .limit_ms = 2000,
		.next = endless_next, .answered = count, .arg = &answered };

	is_int(rig_many(rig, &all), -1, "many that never end are given up");
	is_int(answered, 10, "and each of them is told");
}

/* --- the folder and the process ------------------------------------------- */

static void
files(struct rig *rig)
{
	char *text;

	rig_file(rig, "runs", "a\nb\na\nhalf");
	is_int(rig_lines(rig, "runs", NULL), 3, "whole lines are counted");
	is_int(rig_lines(rig, "runs", "a"), 2, "and those that are equal");
	is_int(rig_lines(rig, "none", NULL), 0, "a file that is not has none");
	ok(rig_await_lines(rig, "runs", 3, 0), "three lines are there at once");
	ok(!rig_await_lines(rig, "runs", 4, 20), "a fourth is not waited for");
	text = rig_slurp(rig, "runs");
	is(text, "a\nb\na\nhalf", "a file is read as it is");
	free(text);
	rig_program(rig, "program", "#!/bin/sh\n");
	is_int(access(rig_at(rig, "program"), X_OK), 0,
	    "a program may be executed");
}

static void
process(struct rig *rig)
{
	pid_t children[64];
	size_t i, n = rig_children(getpid(), children, 64);
	bool found = false;
	int status;

	for (i = 0; i < n; i++)
		found = found || children[i] == rig->pid;
	ok(found, "the daemon is found among our children");
	status = rig_stop(rig, 30000);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM,
	    "it is asked to end");
	ok(rig_start(rig, (const char *[]){ "stubborn", NULL }) == 0,
	    "it can be started again in the same folder");
	status = rig_stop(rig, 50);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
	    "and is killed when it does not listen");
	is_int(rig_start(rig, (const char *[]){ "broken", NULL }), -1,
	    "one that ends at once is told");
	ok(rig_lines(rig, "log", "idemd: broken as asked") == 1,
	    "its log says why");
}

/* What a port is for between two starts of a server. */
static void
held(void)
{
	struct rig at = { .port = 0 };
	struct sockaddr_in tcp = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char where[40];
	int hold, other, fd, i;

	at.port = port_hold(&hold);
	snprintf(where, sizeof where, "tcp:127.0.0.1:%d", at.port);
	tcp.sin_port = htons((uint16_t)at.port);
	for (i = 0; i < 2; i++) {
		ok(rig_connect(&at) == -1 && errno == ECONNREFUSED,
		    "who connects to a port that is held is refused");
		other = socket(AF_INET, SOCK_STREAM, 0);
		ok(bind(other, (struct sockaddr *)&tcp, sizeof tcp) == -1 &&
		    errno == EADDRINUSE, "and it is nobody else's");
		close(other);
		fd = listen_at(where);
		other = rig_connect(&at);
		ok(fd != -1 && other != -1,
		    "until a server listens there, as often as it starts");
		close(fd);
		close(other);
	}
	close(hold);
}

int
main(int argc, char **argv)
{
	char self[RIG_PATH] = "";
	struct rig rig;

	if (argc > 1)
		return responder(argc, argv);
	if (readlink("/proc/self/exe", self, sizeof self - 1) == -1)
		bail_out("/proc/self/exe: %s", strerror(errno));
	setenv("IDEMD", self, 1);

	held();
	rig_open(&rig);
	files(&rig);
	is_int(rig_start(&rig, no_options), 0, "a daemon is started");
	is_int(rig_lines(&rig, "log", "--create"), 1,
	    "with a ledger to create");
	one_request(&rig);
	fields(&rig);
	in_pieces(&rig);
	many(&rig);
	many_late(&rig);
	process(&rig);
	many_refused(&rig);
	rig.tcp = true;
	is_int(rig_start(&rig, no_options), 0, "it listens on TCP too");
	fields(&rig);
	many(&rig);
	rig_end(&rig);
	ok(access(rig.folder, F_OK) == -1, "nothing is left in the folder");
	return done();
}
