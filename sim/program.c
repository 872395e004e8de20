/* SPDX-License-Identifier: ISC */
/*
 * idemsim-program: the CGI program behind the instances of a run.  It notes in
 * the journal of effects (effects.h) that it began, had its effect and ended,
 * and answers with the key, the nonce and the effect that it is about.  It is
 * started once a request, so it needs the C library alone.
 *
 * IDEMSIM_PROGRAM says what it is to do, in words parted by spaces:
 *
 *	effect=append|none	none: it begins and ends only
 *	service=D		milliseconds between begin and commit: N,
 *				const:N, uniform:A:B, exp:MEAN:MIN:MAX,
 *				choice:A:B:...
 *	output=N		bytes of the body, at least
 *	length=1		it promises them with Content-Length
 *	status=N, exit=N	of the answer; of the process
 *	crash=W			it kills itself before or after its effect, or
 *				halfway through its output
 *	partial=N		it ends after N bytes of output, the head among
 *				them; -1: after all
 *	business=TEXT		what the effect is on
 *	labels=L,...		at which of effect.before, effect.after it asks
 *				IDEMSIM_STOPS (stops.h) whether to go on
 *	seed=N			for what it draws
 *
 * IDEMSIM_OUTPUT is a text that it says besides, in which {effect_id}, {key},
 * {attempt}, {try} and {nonce} stand for what they name.
 *
 * GET with the query "form" is answered with a page that has a form, and noted
 * nowhere: nothing is done.
 */
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NO_JOURNAL 99		/* exit status: what was run would not show */

void
program_stop(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("idemsim-program: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	_exit(NO_JOURNAL);
}

const char *
program_named(const char *text, char out[PROGRAM_NAME])
{
	size_t i;

	if (text == NULL || *text == '\0')
		text = "-";
	if (strlen(text) >= PROGRAM_NAME)
		program_stop("%.40s... is too long a name for the journal",
		    text);
	for (i = 0; text[i] != '\0'; i++)
		out[i] = text[i] > ' ' && text[i] != 0x7f ? text[i] : '_';
	out[i] = '\0';
	return out;
}

/* --- time ----------------------------------------------------------------- */

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void
rest_ms(double ms)
{
	struct timespec t;

	if (!(ms > 0))
		return;
	if (ms > 3600e3)
		ms = 3600e3;
	t.tv_sec = (time_t)(ms / 1000);
	t.tv_nsec = (long)((ms - (double)t.tv_sec * 1000) * 1e6);
	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		;
}

/* --- the journal ---------------------------------------------------------- */

/* One write, which O_APPEND keeps whole (it is shorter than PIPE_BUF). */
static void
note(const struct program *p, const char *phase)
{
	char key[PROGRAM_NAME], store_key[PROGRAM_NAME], attempt[PROGRAM_NAME],
	    try[PROGRAM_NAME], gate[PROGRAM_NAME], life[PROGRAM_NAME],
	    business[PROGRAM_NAME], nonce[PROGRAM_NAME], line[PIPE_BUF];
	const char *lane = getenv("IDEMSIM_LANE");
	int len;

	len = snprintf(line, sizeof line,
	    "%lld %s %s %s %s %s %s %s %s %ld %s %s\n", (long long)now_ns(),
	    phase, p->effect, program_named(getenv("HTTP_X_SIM_KEY"), key),
	    program_named(getenv("IDEMPOTENCY_KEY"), store_key),
	    program_named(getenv("IDEMPOTENCY_ATTEMPT"), attempt),
	    program_named(getenv("HTTP_X_SIM_TRY"), try),
	    program_named(lane != NULL ? lane : getenv("HTTP_X_SIM_GATE"),
	    gate),
	    program_named(getenv("IDEMSIM_LIFE"), life), (long)getpid(),
	    program_named(program_word(p, "business"), business),
	    program_named(getenv("HTTP_X_SIM_NONCE"), nonce));
	if (write(p->journal, line, (size_t)len) != len)
		program_stop("journal of effects: %s", strerror(errno));
}

/* --- labels --------------------------------------------------------------- */

static int
stops_connect(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd;

	if (path == NULL || strlen(path) >= sizeof at.sun_path)
		return -1;
	memcpy(at.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd != -1 &&
	    connect(fd, (const struct sockaddr *)&at, sizeof at) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* The word that comes back; nobody there to say one: go. */
static void
ask(const char *label, char *answer, size_t size)
{
	char key[PROGRAM_NAME], lane[PROGRAM_NAME], text[4 * PROGRAM_NAME];
	int fd = stops_connect(getenv("IDEMSIM_STOPS"));
	int len = snprintf(text, sizeof text, "%s %s %ld %s", label,
	    program_named(getenv("IDEMPOTENCY_KEY"), key), (long)getpid(),
	    program_named(getenv("IDEMSIM_LANE"), lane));
	ssize_t got = 0;

	if (fd != -1 && send(fd, text, (size_t)len, MSG_NOSIGNAL) == len)
		do
			got = recv(fd, answer, size - 1, 0);
		while (got == -1 && errno == EINTR);
	answer[got > 0 ? got : 0] = '\0';
	if (fd != -1)
		close(fd);
}

void
program_end(const struct program *p, int status)
{
	note(p, "end");
	_exit(status);
}

static void
label(const struct program *p, const char *name)
{
	char answer[32];

	if (!program_lists(program_word(p, "labels"), name))
		return;
	ask(name, answer, sizeof answer);
	if (strncmp(answer, "sleep ", 6) == 0)
		rest_ms(strtod(answer + 6, NULL));
	else if (strcmp(answer, "kill") == 0)
		raise(SIGKILL);
	else if (strcmp(answer, "stop") == 0)
		raise(SIGSTOP);
	else if (strncmp(answer, "fail", 4) == 0)
		program_end(p, 1);	/* what it wanted to do failed */
}

/* --- a request --------------------------------------------- */

static void
read_body(void)
{
	const char *length = getenv("CONTENT_LENGTH");
	long long left = length != NULL && *length != '\0' ?
	    strtoll(length, NULL, 10) : LLONG_MAX;
	char piece[16384];
	ssize_t n;

	while (left > 0) {
		n = read(STDIN_FILENO, piece, left < (long long)sizeof piece ?
		    (size_t)left : sizeof piece);
		if (n == 0 || (n == -1 && errno != EINTR))
			return;
		left -= n > 0 ? n : 0;
	}
}

/* Who asks for the form asks for nothing to be done, so nothing is noted. */
static void
show_form(void)
{
	static const char page[] = "Status: 200 OK\r\n"
	    "Content-Type: text/html\r\n\r\n"
	    "<!DOCTYPE html>\n<title>An order</title>\n"
	    "<form method=\"post\" action=\"/order\">"
	    "<input name=\"item\"></form>\n";
	const char *method = getenv("REQUEST_METHOD");
	const char *query = getenv("QUERY_STRING");

	if (method == NULL || query == NULL || strcmp(method, "GET") != 0 ||
	    strcmp(query, "form") != 0)
		return;
	_exit(write(STDOUT_FILENO, page, sizeof page - 1) !=
	    (ssize_t)sizeof page - 1);
}

static void
have_effect(struct program *p)
{
	label(p, "effect.before");
	rest_ms(program_draw(p, program_word(p, "service")));
	if (program_says(p, "crash", "before"))
		raise(SIGKILL);
	if (!program_says(p, "effect", "none"))
		note(p, "commit");
	label(p, "effect.after");
	if (program_says(p, "crash", "after"))
		raise(SIGKILL);
}

static void
begin(struct program *p)
{
	const char *path = getenv("IDEMSIM_EFFECTS");
	const char *attempt = getenv("IDEMPOTENCY_ATTEMPT");
	uint64_t attempts = attempt != NULL ? strtoull(attempt, NULL, 10) : 0;

	if (path == NULL)
		program_stop("IDEMSIM_EFFECTS is not set");
	p->journal = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
	    0600);
	if (p->journal == -1)
		program_stop("%s: %s", path, strerror(errno));
	program_words(&p->words, getenv("IDEMSIM_PROGRAM"));
	p->chance = (uint64_t)program_number(p, "seed", 0) ^ attempts << 32 ^
	    (uint64_t)getpid();
	/* A process of that number has no second begin at that time. */
	snprintf(p->effect, sizeof p->effect, "e%ld.%lld", (long)getpid(),
	    (long long)now_ns());
	/* A reader that goes away is an end like others. */
	signal(SIGPIPE, SIG_IGN);
	note(p, "begin");
}

int
main(void)
{
	struct program p = { .journal = -1 };

	show_form();
	begin(&p);
	read_body();
	have_effect(&p);
	program_answer(&p);
	program_end(&p, (int)program_number(&p, "exit", 0));
}
