/* SPDX-License-Identifier: ISC */
#include "rig_watch.h"
#include "tap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Peers that are silent, stop half-way, never read, or talk nonsense, and
 * programs that hang, all at once, must not be felt by anybody else.  Bounds
 * are wide, for the suite runs on busy machines; the goals are printed.
 */
#define SILENT 200u
#define KEPT 50u
#define HALVES 20u
#define STREAMS 4u		/* never read, without a key: a slot each */
#define HUNG 8u
#define PROGRAMS "12"		/* STREAMS + HUNG: all taken */
#define BURST 2000u
#define BIG "52428800"
#define REPLAYS 20
#define REPLAY_GOAL_MS 100
#define REPLAY_MS 25000		/* they are silent for longer, and hang */
#define FREE_GOAL_MS 100
#define FREE_MS 25000
#define MEMORY_KB (64 * 1024)
#define WAIT_MS 60000
#define ID 1

static const char order[] =
    "#!/bin/sh\n"
    "echo \"$HTTP_IDEMPOTENCY_KEY\" >>orders\n"
    "printf 'Content-Type: text/plain\\n\\nordered %s\\n' $$\n";
static const char hang[] =
    "#!/bin/sh\n"
    "echo \"$HTTP_IDEMPOTENCY_KEY $$\" >>hung\n"
    "exec sleep 600\n";
static const char big[] =
    "#!/bin/sh\n"
    "printf 'Content-Type: text/plain\\n\\n'\n"
    "exec head -c " BIG " /dev/zero\n";

struct hostile {
	struct rig rig;
	int silent[SILENT], kept[KEPT], halves[HALVES], streams[STREAMS];
	int hung[HUNG], keyed;		/* keyed: never reads, with a key */
	pid_t lobby[2];
	long before_kb[2];
	char key[32], path[RIG_PATH];
};

/* --- requests ------------------------------------------------------------- */

static struct rig_request
post(struct hostile *h, const char *program, const char *key)
{
	snprintf(h->path, sizeof h->path, "%s", rig_at(&h->rig, program));
	return (struct rig_request){
		.method = "POST",
		.path = "/order",
		.program = h->path,
		.key = key,
		.body = idem_bytes_text("item=tea")
	};
}

static struct rig_request
fresh(struct hostile *h, const char *program, const char *what, unsigned n)
{
	snprintf(h->key, sizeof h->key, "%s-%u", what, n);
	return post(h, program, h->key);
}

/* Send the first len bytes of a request (all of it: SIZE_MAX) and leave it. */
static int
submit(struct hostile *h, const struct rig_request *request, size_t len)
{
	struct idem_buf out = { 0 };
	struct idem_bytes bytes;
	int fd = rig_connect(&h->rig);

	rig_request_write(&out, ID, request);
	bytes = idem_buf_bytes(&out);
	if (len < bytes.len)
		bytes.len = len;
	if (fd == -1 || rig_send(fd, bytes, 0, WAIT_MS) == -1)
		bail_out("a client cannot send: %s", strerror(errno));
	idem_buf_free(&out);
	return fd;
}

static void
receive(int fd, struct rig_answer *answer)
{
	const struct idem_bytes nothing = { 0 };

	rig_receive(fd, ID, nothing, WAIT_MS, answer);
}

static void
close_all(const int *fds, size_t n)
{
	while (n-- > 0)
		close(fds[n]);
}

/* --- the daemon from outside ---------------------------------------------- */

static void
look_before(struct hostile *h)
{
	size_t i;

	rig_watch_lobbies(&h->rig, h->lobby, 2);
	for (i = 0; i < 2; i++)
		h->before_kb[i] = rig_watch_memory_kb(h->lobby[i]);
}

static void
check_memory(const struct hostile *h, const char *when)
{
	long more, most = 0;
	size_t i;

	for (i = 0; i < 2; i++) {
		more = rig_watch_memory_kb(h->lobby[i]) - h->before_kb[i];
		note("lobby %zu: %ld kB more %s", i, more, when);
		if (more > most)
			most = more;
	}
	if (rig_watch_sanitized)
		skip("a sanitizer's memory is not ours",
		    "memory stays bounded");
	else
		ok(most < MEMORY_KB, "%s no lobby has grown by %d MB", when,
		    MEMORY_KB / 1024);
}

/* --- the others ----------------------------------------------------------- */

static void
check_replays(struct hostile *h, const char *when)
{
	struct rig_request request = post(h, "order", "first");
	struct rig_answer answer = { 0 };
	int64_t longest_ms = 0;
	int i, right = 0;

	for (i = 0; i < REPLAYS; i++) {
		rig_request(&h->rig, &request, &answer);
		right += answer.whole && strcmp(rig_field(&answer,
		    "Idempotency-Status"), "replayed") == 0;
		if (answer.ms > longest_ms)
			longest_ms = answer.ms;
		rig_answer_free(&answer);
	}
	note("%s: the slowest of %d replays took %lld ms (goal %d)", when,
	    REPLAYS, (long long)longest_ms, REPLAY_GOAL_MS);
	is_int(right, REPLAYS, "%s replays are answered", when);
	ok(longest_ms < REPLAY_MS, "%s a replay takes less than %d ms", when,
	    REPLAY_MS);
}

static void
check_fresh(struct hostile *h, const char *key)
{
	struct rig_request request = post(h, "order", key);
	struct rig_answer answer = { 0 };

	rig_request(&h->rig, &request, &answer);
	is(rig_field(&answer, "Idempotency-Status"), "stored",
	    "a new request runs (%s)", key);
	rig_answer_free(&answer);
}

/* --- silence, halves, and those who never read ---------------------------- */

static void
come_in_silence(struct hostile *h)
{
	struct rig_request request = post(h, "order", "first");
	struct rig_answer answer = { 0 };
	size_t i, kept = 0;

	for (i = 0; i < SILENT; i++)
		h->silent[i] = rig_connect(&h->rig);
	request.keep = true;
	for (i = 0; i < KEPT; i++) {
		h->kept[i] = submit(h, &request, SIZE_MAX);
		receive(h->kept[i], &answer);
		kept += answer.whole;
		rig_answer_free(&answer);
	}
	is_int((long long)kept, KEPT, "%u connections are kept alive", KEPT);
}

/* Cut everywhere: in a header, in the parameters, in the body. */
static void
come_by_half(struct hostile *h)
{
	struct rig_request request = post(h, "order", "half");
	struct idem_buf whole = { 0 };
	size_t i;

	rig_request_write(&whole, ID, &request);
	for (i = 0; i < HALVES; i++)
		h->halves[i] = submit(h, &request,
		    3 + i * (whole.len - 4) / HALVES);
	idem_buf_free(&whole);
}

static void
never_read(struct hostile *h)
{
	uint64_t starts = rig_watch_count(&h->rig, SHM_STARTS);
	struct rig_request request = post(h, "big", NULL);
	size_t i;

	for (i = 0; i < STREAMS; i++)
		h->streams[i] = submit(h, &request, SIZE_MAX);
	/* Else one of them may come when all slots are counted as taken. */
	ok(rig_watch_await(&h->rig, SHM_STARTS, starts + STREAMS, WAIT_MS),
	    "%u programs run whose answers nobody reads", STREAMS);
	request = post(h, "big", "big");
	h->keyed = submit(h, &request, SIZE_MAX);
	ok(rig_watch_await(&h->rig, SHM_STORED, 2, WAIT_MS),
	    "the answer with a key is kept in "
	    "mind although nobody reads it");
}

/* --- programs that hang --------------------------------------------------- */

static void
hang_all(struct hostile *h)
{
	struct rig_request request;
	unsigned i;

	for (i = 0; i < HUNG; i++) {
		request = fresh(h, "hang", "hang", i);
		h->hung[i] = submit(h, &request, SIZE_MAX);
	}
	ok(rig_await_lines(&h->rig, "hung", HUNG, WAIT_MS),
	    "%u programs hang", HUNG);
}

/* The program of a client's; they start in any order. */
static pid_t
hung_for(struct hostile *h, unsigned client)
{
	char *lines = rig_slurp(&h->rig, "hung"), *at;
	char key[32];
	pid_t pid = 0;

	snprintf(key, sizeof key, "hang-%u ", client);
	at = lines != NULL ? strstr(lines, key) : NULL;
	if (at != NULL)
		pid = (pid_t)strtol(at + strlen(key), NULL, 10);
	free(lines);
	if (pid <= 1)
		bail_out("client %u has no program that hangs", client);
	return pid;
}

/* How often the program of a client of the queue ran. */
static long
queue_ran(struct hostile *h, unsigned client)
{
	char key[32];

	snprintf(key, sizeof key, "queue-%u", client);
	return rig_lines(&h->rig, "orders", key);
}

static void
check_full(struct hostile *h, int fd, unsigned client)
{
	struct rig_answer answer = { 0 };

	receive(fd, &answer);
	is_int(answer.status, 503, "who finds the queue full is refused [F12]");
	is(rig_field(&answer, "Idempotency-Status"), "not-started",
	    "and told that nothing has run");
	ok(*rig_field(&answer, "Retry-After") != '\0', "and when to come back");
	rig_answer_free(&answer);
	is_int(queue_ran(h, client), 0, "nor has it");
}

static void
check_killed(struct hostile *h)
{
	struct rig_answer answer = { 0 };

	receive(h->hung[0], &answer);
	is_int(answer.status, 504, "whose program was killed hears 504");
	is(rig_field(&answer, "Idempotency-Status"), "unknown",
	    "and that nobody knows");
	rig_answer_free(&answer);
}

/*
 * Two come, perhaps to different workers, where the second may overtake: which
 * of them is answered first?
 */
static unsigned
come_to_the_queue(struct hostile *h, int fds[2])
{
	uint64_t keyed = rig_watch_count(&h->rig, SHM_KEYED);
	struct pollfd ready[2];
	struct rig_request request;
	unsigned i;

	for (i = 0; i < 2; i++) {
		request = fresh(h, "order", "queue", i);
		fds[i] = submit(h, &request, SIZE_MAX);
		ready[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
		if (!rig_watch_await(&h->rig, SHM_KEYED, keyed + i + 1,
		    WAIT_MS))
			bail_out("it does not come");
	}
	if (poll(ready, 2, WAIT_MS) < 1)
		bail_out("neither of two is refused");
	ok(ready[0].revents == 0 || ready[1].revents == 0,
	    "of two new requests one queues");
	return ready[0].revents != 0 ? 0 : 1;
}

/* All slots are taken; one waits for one, and another finds no room to. */
static void
check_slots(struct hostile *h)
{
	struct rig_answer answer = { 0 };
	unsigned refused;
	int64_t killed_ms;
	int fds[2], fd;

	refused = come_to_the_queue(h, fds);
	check_full(h, fds[refused], refused);
	fd = fds[1 - refused];
	is_int(queue_ran(h, 1 - refused), 0, "no program more runs than may");
	killed_ms = rig_now_ms();
	kill(hung_for(h, 0), SIGKILL);
	receive(fd, &answer);
	killed_ms = rig_now_ms() - killed_ms;
	note("answered %lld ms after a slot came free (goal %d)",
	    (long long)killed_ms, FREE_GOAL_MS);
	is(rig_field(&answer, "Idempotency-Status"), "stored",
	    "who queued runs when a hung program is killed");
	ok(killed_ms < FREE_MS, "within %d ms", FREE_MS);
	rig_answer_free(&answer);
	close(fd);
	close(fds[refused]);
	check_killed(h);
}

/* --- nonsense ------------------------------------------------------------- */

/* Write it, read what comes; true if the peer closes.  *bytes: how many. */
static bool
is_closed_after(struct hostile *h, struct idem_bytes say, size_t *bytes)
{
	int64_t until_ms = rig_now_ms() + WAIT_MS;
	struct pollfd ready = { .events = POLLIN | POLLOUT };
	const uint8_t *at = say.at;
	char heard[65536];
	ssize_t n = 1;

	*bytes = 0;
	ready.fd = rig_connect(&h->rig);
	while (n != 0 && rig_now_ms() < until_ms &&
	    poll(&ready, 1, 100) != -1) {
		if (say.len == 0)
			ready.events = POLLIN;
		n = send(ready.fd, at, say.len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n > 0) {
			at += n;
			say.len -= (size_t)n;
		}
		n = recv(ready.fd, heard, sizeof heard, MSG_DONTWAIT);
		if (n > 0)
			*bytes += (size_t)n;
		if (n == -1 && (errno == EAGAIN || errno == EINTR))
			n = 1;
		else if (n == -1)
			n = 0;		/* reset: closed as well */
	}
	close(ready.fd);
	return n == 0;
}

static void
check_nonsense(struct hostile *h)
{
	static const struct {
		const char *what;
		struct idem_bytes says;
	} rows[] = {
#define BYTES(text) { text, sizeof text - 1 }
		{ "garbage", BYTES("\377\376\375\374garbage, and more of it") },
		{ "HTTP", BYTES("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") },
		{ "a TLS hello", BYTES("\26\3\1\2\0\1\0\1\374\3\3") },
		{ "version 2 of FastCGI",
		  BYTES("\2\1\0\1\0\10\0\0\0\1\0\0\0\0\0\0") }
	};
	size_t i, bytes;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		ok(is_closed_after(h, rows[i].says, &bytes),
		    "%s: the connection is closed", rows[i].what);
		is_int((long long)bytes, 0, "without a word");
	}
}

/* One begins; each of the others is told that it cannot, if it listens. */
static void
check_begins(struct hostile *h)
{
	struct idem_buf say = { 0 };
	struct rig_answer answer = { 0 };
	unsigned id;
	int fd;

	for (id = 1; id <= 65535; id++)
		idem_fcgi_begin_write(&say, (uint16_t)id, IDEM_FCGI_RESPONDER,
		    true);
	fd = rig_connect(&h->rig);
	/* It may well be cut off: the answers are not read meanwhile. */
	(void)rig_send(fd, idem_buf_bytes(&say), 0, WAIT_MS);
	rig_receive(fd, 2, (struct idem_bytes){ 0 }, WAIT_MS, &answer);
	ok(!answer.whole ||
	    answer.protocol_status == IDEM_FCGI_CANT_MPX_CONN,
	    "65535 requests begun on one connection are not served [cgi:C69]");
	rig_answer_free(&answer);
	idem_buf_free(&say);
	close(fd);
}

/* Forty times the same name: libfcgi writes beyond its array. */
static void
check_values(struct hostile *h)
{
	struct idem_buf say = { 0 }, names = { 0 };
	uint8_t header[8], heard[8] = { 0 };
	struct pollfd ready = { .events = POLLIN };
	int i;

	for (i = 0; i < 40; i++)
		idem_fcgi_pair_write(&names,
		    idem_bytes_text("FCGI_MPXS_CONNS"), idem_bytes_text(""));
	idem_fcgi_header(header, IDEM_FCGI_GET_VALUES, 0, (uint16_t)names.len,
	    0);
	idem_buf_append(&say, header, sizeof header);
	idem_buf_append(&say, names.at, names.len);
	ready.fd = rig_connect(&h->rig);
	rig_send(ready.fd, idem_buf_bytes(&say), 0, WAIT_MS);
	if (poll(&ready, 1, WAIT_MS) != 1 ||
	    recv(ready.fd, heard, sizeof heard, 0) != sizeof heard)
		heard[1] = 0;
	is_int(heard[1], IDEM_FCGI_GET_VALUES_RESULT,
	    "GET_VALUES with 40 repeated names is answered [cgi:C50]");
	idem_buf_free(&say);
	idem_buf_free(&names);
	close(ready.fd);
}

/* --- a burst -------------------------------------------------------------- */

struct burst {
	struct hostile *h;
	unsigned sent, replayed;
};

static enum rig_next
burst_next(void *arg, int64_t now_ms, struct rig_request *request, void **user)
{
	struct burst *b = arg;

	(void)now_ms;
	*user = NULL;
	if (b->sent == BURST)
		return RIG_OVER;
	b->sent++;
	*request = post(b->h, "order", "first");
	return RIG_SEND;
}

static void
burst_answered(void *arg, void *user, const struct rig_answer *answer)
{
	struct burst *b = arg;

	(void)user;
	b->replayed += answer->whole && strcmp(rig_field(answer,
	    "Idempotency-Status"), "replayed") == 0;
}

static void
check_burst(struct hostile *h)
{
	struct burst b = { .h = h };
	struct rig_many many = {
		.connections_max = BURST,
		.limit_ms = WAIT_MS,
		.next = burst_next,
		.answered = burst_answered,
		.arg = &b
	};
	int64_t began_ms = rig_now_ms();

	rig_many(&h->rig, &many);
	note("%u connections at once: %lld ms", BURST,
	    (long long)(rig_now_ms() - began_ms));
	is_int(b.replayed, BURST, "%u who connect at once are all served "
	    "[cgi:C82]",
	    BURST);
}

/* --- the end -------------------------------------------------------------- */

static void
leave(struct hostile *h)
{
	struct rig_answer answer = { 0 };
	unsigned i;

	for (i = 1; i < HUNG; i++)
		kill(hung_for(h, i), SIGKILL);
	for (i = 1; i < HUNG; i++) {
		receive(h->hung[i], &answer);
		rig_answer_free(&answer);
	}
	close_all(h->hung, HUNG);
	close_all(h->halves, HALVES);
	close_all(h->streams, STREAMS);
	close(h->keyed);
}

static void
begin(struct hostile *h)
{
	rig_open(&h->rig);
	rig_program(&h->rig, "order", order);
	rig_program(&h->rig, "hang", hang);
	rig_program(&h->rig, "big", big);
	if (rig_start(&h->rig, (const char *[]){ "--workers", "2", "-c",
	    PROGRAMS, "--queue", "1", "--grace", "1s", "--root",
	    h->rig.folder, NULL }) == -1)
		bail_out("idemd does not start");
	check_fresh(h, "first");
}

int
main(void)
{
	static struct hostile h;

	begin(&h);
	check_replays(&h, "at rest");
	look_before(&h);
	come_in_silence(&h);
	come_by_half(&h);
	never_read(&h);
	check_replays(&h, "beside silent and half-way peers");
	hang_all(&h);
	check_replays(&h, "beside hung programs");
	check_slots(&h);
	check_nonsense(&h);
	check_begins(&h);
	check_values(&h);
	check_burst(&h);
	check_replays(&h, "after all that");
	check_memory(&h, "after all that");
	leave(&h);
	check_fresh(&h, "last");
	is_int(rig_lines(&h.rig, "orders", "half"), 0,
	    "half a request never ran [cgi:C52]");
	/* The silent and the kept ones are still there. */
	is_int(rig_stop(&h.rig, WAIT_MS), 0, "idemd ends with status 0 on "
	    "SIGTERM");
	close_all(h.silent, SILENT);
	close_all(h.kept, KEPT);
	rig_end(&h.rig);
	return done();
}
