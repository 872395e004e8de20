/* SPDX-License-Identifier: ISC */
#include "redis_desk.h"
#include "redis_fake.h"

#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* A connection's life: what goes with it, what outlives it, and what it never
   does to its process. */
#define DEADLINE_MS 20000	/* never reached */

static void
begin(struct redis_fake *f, struct redis_desk *d, bool tcp,
    const char *const *script)
{
	(tcp ? redis_fake_tcp : redis_fake_unix)(f, 5);
	redis_fake_play(f, script);
	redis_desk_open(d, f->url, NULL);
}

/* Turns until the server has done so many of its steps. */
static void
turn_until(struct redis_desk *d, struct redis_fake *f, int steps)
{
	int turns;

	for (turns = 0; f->steps < steps && turns < 3000; turns++)
		redis_desk_turn(d, 10);
}

/* Until the peer's end is here, of which nothing is read. */
static void
await_end(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	if (poll(&p, 1, DEADLINE_MS) != 1)
		bail_out("the connection does not end");
}

static void
finish(struct redis_fake *f, struct redis_desk *d)
{
	redis_desk_close(d);
	redis_fake_end(f);
}

#define PLAY(f, d, ...) begin(f, d, false, (const char *const[]){ \
	"accept", __VA_ARGS__, NULL })
#define PLAY_TCP(f, d, ...) begin(f, d, true, (const char *const[]){ \
	"accept", __VA_ARGS__, NULL })

/* --- what its process is spared ------------------------------------------- */

static int
run_shell(const char *script)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		bail_out("no shell");
	return status;
}

static void
closed_on_exec(bool tcp)
{
	const char *const script[] = { "accept", "expect 1", "say +PONG\r\n",
		"left", NULL };
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	char text[128];
	int plain;

	begin(&f, &d, tcp, script);
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	plain = fcntl(d.fd, F_DUPFD, 3);
	snprintf(text, sizeof text, "test -e /proc/$$/fd/%d", plain);
	ok(run_shell(text) == 0, "a program sees a descriptor that is left "
	    "open");
	close(plain);
	snprintf(text, sizeof text, "test ! -e /proc/$$/fd/%d && "
	    "test ! -e /proc/$$/fd/%d", d.fd, idem_redis_names_fd(d.names));
	ok(d.fd > 2 && run_shell(text) == 0,
	    "and not the connection, %s", tcp ? "by port" : "by path");
	finish(&f, &d);
}

static void
not_standard(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	int kept;

	PLAY(&f, &d, "expect 1", "say +PONG\r\n", "left");
	kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	close(STDIN_FILENO);
	redis_desk_ask(&d, &t, DEADLINE_MS, "PING");
	ok(d.fd > STDERR_FILENO && strcmp(t.text, "PONG") == 0 &&
	    (fcntl(d.fd, F_GETFD) & FD_CLOEXEC) != 0,
	    "a connection is never standard input");
	finish(&f, &d);
	if (kept >= 0) {
		dup2(kept, STDIN_FILENO);
		close(kept);
	}
}

static volatile sig_atomic_t pipes;

static void
on_pipe(int number)
{
	(void)number;
	pipes++;
}

/* A socket of whom nobody reads raises it at each write. */
static void
no_sigpipe(bool tcp)
{
	const char *const script[] = { "accept", "expect 1", "hold", "close",
		NULL };
	struct sigaction action = { .sa_handler = on_pipe }, before;
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t[4];
	int i, fds[2];

	sigaction(SIGPIPE, &action, &before);
	pipes = 0;
	if (pipe(fds) != 0)
		bail_out("no pipe");
	close(fds[0]);
	if (write(fds[1], "x", 1) == -1 && errno == EPIPE)
		close(fds[1]);
	is_int(pipes, 1, "a signal tells of a pipe that nobody reads");
	begin(&f, &d, tcp, script);
	redis_desk_send(&d, &t[0], DEADLINE_MS, "GET a");
	turn_until(&d, &f, 2);
	redis_fake_release(&f);
	redis_fake_await(&f, 4);
	/* Not read, so that we do not know. */
	for (i = 1; i < 4; i++) {
		redis_desk_send(&d, &t[i], DEADLINE_MS, "GET b");
		idem_redis_wire_due(d.wire);
	}
	is_int(pipes, 1, "and none of a connection by %s that has ended",
	    tcp ? "port" : "path");
	sigaction(SIGPIPE, &before, NULL);
	finish(&f, &d);
}

/* In a child of its own, since it is the parent's afterwards. */
static void
forked(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t, late;
	int status = -1;
	pid_t pid;

	PLAY(&f, &d, "expect 1", "say +ONE\r\n", "expect 2", "hold",
	    "say +TWO\r\n", "left");
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	redis_desk_send(&d, &late, DEADLINE_MS, "GET b");
	redis_desk_turn(&d, 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		idem_redis_wire_ready(d.wire, true, false);
		_exit(late.answers == 1 &&
		    late.meaning.class == IDEM_CLASS_MAYBE &&
		    fcntl(d.fd, F_GETFD) == -1 &&
		    idem_redis_wire_idle(d.wire) ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	ok(pid > 0 && status == 0, "a child gives its parent's connection up");
	redis_fake_release(&f);
	redis_desk_until(&d, &late);
	is(late.text, "TWO", "and its parent goes on with it");
	finish(&f, &d);
}

/* --- an idle connection --------------------------------------------------- */

static void
surplus_while_idle(bool seen)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;

	PLAY(&f, &d, "expect 1", "say +ONE\r\n", "hold", "say +WRONG\r\n",
	    "left", "accept", "expect 1", "say +TWO\r\n", "left");
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	redis_fake_release(&f);
	redis_fake_await(&f, 5);
	if (seen)
		redis_desk_until_open(&d, false);
	redis_desk_send(&d, &t, DEADLINE_MS, "GET b");
	idem_redis_wire_due(d.wire);	/* before anybody reads */
	redis_desk_until(&d, &t);
	is(t.text, "TWO", "a reply that came unasked is not the next one's%s",
	    seen ? "" : ", nor if nobody has looked in between");
	is_int(f.accepts, 2, "since that has another connection");
	finish(&f, &d);
}

static void
closed_while_idle(bool seen)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;

	PLAY_TCP(&f, &d, "expect 1", "say +ONE\r\n", "hold", "close",
	    "accept", "expect 1", "say +TWO\r\n", "left");
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	redis_fake_release(&f);
	redis_fake_await(&f, 5);
	await_end(d.fd);
	if (seen)
		redis_desk_until_open(&d, false);
	redis_desk_send(&d, &t, DEADLINE_MS, "GET b");
	idem_redis_wire_due(d.wire);	/* before anybody reads */
	redis_desk_until(&d, &t);
	ok(t.meaning.class == IDEM_OK && strcmp(t.text, "TWO") == 0,
	    "a connection that ended while idle costs nothing%s",
	    seen ? "" : ", nor if nobody has looked in between");
	finish(&f, &d);
}

/* --- many on one ---------------------------------------------------------- */

static void
pipelined(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t[3];
	int i;

	PLAY(&f, &d, "expect 3",
	    "say +A\r\n$-1\r\n*2\r\n$1\r\nx\r\n*1\r\n:-5\r\n", "left");
	for (i = 0; i < 3; i++)
		redis_desk_send(&d, &t[i], DEADLINE_MS, "GET a");
	redis_desk_turn(&d, 0);
	is_int(d.watches, 1, "nothing is sent before the turn");
	redis_desk_until(&d, &t[2]);
	ok(t[0].type == IDEM_REDIS_STATUS && strcmp(t[0].text, "A") == 0 &&
	    t[1].type == IDEM_REDIS_NIL && t[1].has_value &&
	    t[2].type == IDEM_REDIS_ARRAY && t[2].len == 2,
	    "each has its own reply, in order");
	ok(idem_redis_wire_idle(d.wire) &&
	    idem_redis_wire_due_ms(d.wire) == INT64_MAX,
	    "then nothing is outstanding");
	finish(&f, &d);
}

static void
asking(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;

	PLAY(&f, &d, "expect 2", "say +OK\r\n$1\r\nv\r\n", "expect 4",
	    "say -ERR This instance has cluster support disabled\r\n"
	    "-MOVED 1 :7\r\n", "expect 6", "say $2\r\nhm\r\n$1\r\nv\r\n",
	    "left");
	redis_desk_send_after(&d, &t, DEADLINE_MS, "ASKING", "GET a");
	redis_desk_until(&d, &t);
	is(t.text, "v", "what goes before is not the reply [redis:18]");
	redis_desk_send_after(&d, &t, DEADLINE_MS, "ASKING", "GET a");
	redis_desk_until(&d, &t);
	is(t.text, "MOVED 1 :7", "nor if it has failed");
	redis_desk_send_after(&d, &t, DEADLINE_MS, "ASKING", "GET a");
	redis_desk_until(&d, &t);
	is(redis_desk_class(t.meaning.class), "maybe",
	    "but what is no reply to it ends the connection");
	finish(&f, &d);
}

static void
keep_class(void *arg, const struct idem_redis_wire_answer *a)
{
	*(const char **)arg = redis_desk_class(a->meaning.class);
}

/* Of a command that is on its way, and cannot have been carried out. */
static void
too_early(const char *says, const char *class, const char *what)
{
	static char large[8 << 20];
	const struct idem_bytes args[] = {
		{ "SET", 3 }, { "a", 1 }, { large, sizeof large }
	};
	const char *told = NULL;
	struct redis_fake f;
	struct redis_desk d;
	int turns;

	PLAY(&f, &d, says, "hold");
	d.wire = idem_redis_wire_new(&d.options);
	if (d.wire == NULL || !idem_redis_wire_send(d.wire, args, 3, NULL,
	    idem_boot_ms(&idem_clock_real) + DEADLINE_MS, keep_class, &told))
		bail_out("no memory");
	for (turns = 0; told == NULL && turns < 1000; turns++)
		redis_desk_turn(&d, 10);
	is(told != NULL ? told : "nothing", class, "%s", what);
	redis_fake_release(&f);
	finish(&f, &d);
}

/* It is a replica now: what was sent before is told so as well. */
static void
drained(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t[3];

	PLAY(&f, &d, "expect 2", "say -READONLY no\r\n", "hold",
	    "say -READONLY no\r\n", "left", "accept", "expect 1",
	    "say +OK\r\n", "left");
	redis_desk_send(&d, &t[0], DEADLINE_MS, "SET a 1");
	redis_desk_send(&d, &t[1], DEADLINE_MS, "SET b 1");
	redis_desk_until(&d, &t[0]);
	redis_desk_send(&d, &t[2], DEADLINE_MS, "SET c 1");
	redis_desk_turn(&d, 0);
	redis_desk_turn(&d, 0);
	is_int(f.commands, 2, "who is to be left is sent nothing any more "
	    "[redis:9]");
	redis_fake_release(&f);
	redis_desk_until(&d, &t[2]);
	ok(t[1].meaning.class == IDEM_CLASS_REFUSED && t[2].answers == 1 &&
	    t[2].meaning.class == IDEM_OK && f.accepts == 2,
	    "what it has is awaited, and what it has not goes to the next "
	    "[idem:C3]");
	finish(&f, &d);
}

static void
turned_away(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t[2];

	PLAY(&f, &d, "expect 2", "say -ERR max number of clients reached\r\n",
	    "close");
	redis_desk_send(&d, &t[0], DEADLINE_MS, "SET a 1");
	redis_desk_send(&d, &t[1], DEADLINE_MS, "SET b 1");
	redis_desk_until(&d, &t[1]);
	ok(t[0].meaning.class == IDEM_CLASS_REFUSED &&
	    t[1].meaning.class == IDEM_CLASS_REFUSED &&
	    strcmp(t[1].error, t[0].error) == 0,
	    "who is turned away has had nothing applied [redis:28]");
	finish(&f, &d);
}

/* Closed each time before the first reply. */
static void
never_for_ever(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t[2];

	PLAY(&f, &d, "expect 1", "say +OK\r\n", "hold", "close", "accept",
	    "close", "accept", "close", "accept", "close", "accept", "close");
	redis_desk_ask(&d, &t[0], DEADLINE_MS, "GET a");
	redis_fake_release(&f);
	redis_fake_await(&f, 5);
	redis_desk_ask(&d, &t[1], DEADLINE_MS, "GET b");
	ok(t[1].answers == 1 && t[1].meaning.class != IDEM_OK &&
	    f.accepts <= 3, "who closes each time is not tried for ever");
	finish(&f, &d);
}

static void
freed(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told sent, unsent;

	PLAY(&f, &d, "expect 1", "left");
	redis_desk_send(&d, &sent, DEADLINE_MS, "GET a");
	turn_until(&d, &f, 2);
	redis_desk_send(&d, &unsent, DEADLINE_MS, "GET b");
	redis_desk_close(&d);
	ok(sent.answers == 1 && sent.meaning.class == IDEM_CLASS_MAYBE &&
	    unsent.answers == 1 &&
	    unsent.meaning.class == IDEM_CLASS_REFUSED && d.fd == -1,
	    "who frees it is told what is outstanding");
	redis_fake_end(&f);
	redis_desk_open(&d, "127.0.0.1:1", NULL);
	redis_desk_close(&d);
	ok(d.wire == NULL, "and may free none");
}

/* --- memory --------------------------------------------------------------- */

static long
most_kb(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_maxrss;
}

static void
huge(const char *announces, const char *what)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;
	long before_kb;

	PLAY(&f, &d, "expect 1", announces, "flood 20000000");
	d.redis.reply_max = 16 << 20;
	before_kb = most_kb();
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	ok(t.meaning.class == IDEM_CLASS_MAYBE &&
	    strncmp(t.error, "a reply is larger", 17) == 0 &&
	    most_kb() - before_kb < 4096,
	    "%s is refused before it takes memory (%ld kB)", what,
	    most_kb() - before_kb);
	finish(&f, &d);
}

static void
large(void)
{
	struct redis_fake f;
	struct redis_desk d;
	struct redis_told t;

	PLAY(&f, &d, "expect 1", "say $10000000\r\n", "flood 10000000",
	    "say \r\n", "expect 2", "say +OK\r\n", "left");
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	ok(t.meaning.class == IDEM_OK && t.len == 10000000,
	    "a large reply within reply_max is read");
	redis_desk_ask(&d, &t, DEADLINE_MS, "GET a");
	is(t.text, "OK", "and the next one after it");
	finish(&f, &d);
}

int
main(void)
{
	closed_on_exec(false);
	closed_on_exec(true);
	not_standard();
	no_sigpipe(false);
	no_sigpipe(true);
	forked();
	surplus_while_idle(true);
	surplus_while_idle(false);
	closed_while_idle(true);
	closed_while_idle(false);
	pipelined();
	asking();
	too_early("say +OK\r\n", "maybe",
	    "a reply before all of its command was sent is not believed");
	too_early("say -ERR Protocol error: invalid bulk length\r\n", "config",
	    "but one that refuses it");
	drained();
	turned_away();
	never_for_ever();
	freed();
	huge("say *2147483647\r\n", "a huge array");
	huge("say $500000000\r\n", "a huge string");
	huge("say *260000\r\n*260000\r\n", "a large array in another");
	large();
	return done();
}
