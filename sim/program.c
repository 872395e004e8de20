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
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define NAME_MAX_LEN 128	/* of what is named in the journal */
#define NO_JOURNAL 99		/* exit status: what was run would not show */

struct words {			/* of IDEMSIM_PROGRAM, cut up */
	char **at;
	size_t n;
};

struct program {
	struct words words;
	int journal;
	char effect[48];
	uint64_t chance;
};

static void __attribute__((noreturn, format(printf, 1, 2)))
stop(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("idemsim-program: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	_exit(NO_JOURNAL);
}

/* --- words ---------------------------------------------------------------- */

static void
words_read(struct words *w, const char *text)
{
	char *rest = strdup(text != NULL ? text : ""), *word;

	/* No more words than every other byte. */
	w->at = rest == NULL ? NULL :
	    calloc(strlen(rest) / 2 + 1, sizeof *w->at);
	if (w->at == NULL)
		stop("IDEMSIM_PROGRAM: %s", strerror(errno));
	while ((word = strsep(&rest, " ")) != NULL)
		if (*word != '\0')
			w->at[w->n++] = word;
}

/* What follows NAME=; "" where it is not said. */
static const char *
word(const struct program *p, const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; i < p->words.n; i++)
		if (strncmp(p->words.at[i], name, len) == 0 &&
		    p->words.at[i][len] == '=')
			return p->words.at[i] + len + 1;
	return "";
}

static long
number(const struct program *p, const char *name, long otherwise)
{
	const char *text = word(p, name);
	char *end;
	long n = strtol(text, &end, 10);

	return end == text ? otherwise : n;
}

static bool
says(const struct program *p, const char *name, const char *what)
{
	return strcmp(word(p, name), what) == 0;
}

/* Is it one of those that are parted by commas? */
static bool
lists(const char *list, const char *what)
{
	size_t len = strlen(what);

	for (;; list++) {
		if (strncmp(list, what, len) == 0 &&
		    (list[len] == ',' || list[len] == '\0'))
			return true;
		list = strchr(list, ',');
		if (list == NULL)
			return false;
	}
}

/*
 * A variable as a word of the journal: what would part words or lines there is
 * "_", and "-" stands for none.  A part of a name is another name.
 */
static const char *
named(const char *text, char out[NAME_MAX_LEN])
{
	size_t i;

	if (text == NULL || *text == '\0')
		text = "-";
	if (strlen(text) >= NAME_MAX_LEN)
		stop("%.40s... is too long a name for the journal", text);
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

/* --- chance --------------------------------------------------------------- */

/* splitmix64; a part of one. */
static double
unit(struct program *p)
{
	uint64_t z = p->chance += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (double)((z ^ z >> 31) >> 11) * 0x1p-53;
}

/* Of mean 1, as draw.c does it. */
static double
exponential(struct program *p)
{
	double first, last, next;
	unsigned whole, falls;

	for (whole = 0;; whole++) {
		first = last = unit(p);
		for (falls = 1; (next = unit(p)) < last; falls++)
			last = next;
		if (falls % 2 == 1)
			return whole + first;
	}
}

static size_t
numbers(const char *dist)
{
	size_t n = 0;

	for (; *dist != '\0'; dist++)
		n += *dist == ':';
	return n;
}

/* Of NAME:A:B:..., from 0; 0 where there is none. */
static double
number_at(const char *dist, size_t n)
{
	const char *at = strchr(dist, ':');

	for (; n > 0 && at != NULL; n--)
		at = strchr(at + 1, ':');
	return at != NULL ? strtod(at + 1, NULL) : 0;
}

static double
draw(struct program *p, const char *dist)
{
	size_t n = numbers(dist);
	double a = number_at(dist, 0), b = number_at(dist, 1), x;

	if (n == 0)		/* a number alone */
		return strtod(dist, NULL);
	switch (*dist) {
	case 'u':		/* uniform */
		return n < 2 ? a : a + (b - a) * unit(p);
	case 'e':		/* exp */
		x = a * exponential(p);
		if (n > 1 && x < b)
			x = b;
		b = number_at(dist, 2);
		return b > 0 && x > b ? b : x;
	case 'c':		/* choice, const */
		return number_at(dist, (size_t)(unit(p) * (double)n));
	default:
		return a;
	}
}

/* --- the journal ---------------------------------------------------------- */

/* One write, which O_APPEND keeps whole (it is shorter than PIPE_BUF). */
static void
note(const struct program *p, const char *phase)
{
	char key[NAME_MAX_LEN], store_key[NAME_MAX_LEN], attempt[NAME_MAX_LEN],
	    try[NAME_MAX_LEN], gate[NAME_MAX_LEN], life[NAME_MAX_LEN],
	    business[NAME_MAX_LEN], nonce[NAME_MAX_LEN], line[PIPE_BUF];
	const char *lane = getenv("IDEMSIM_LANE");
	int len;

	len = snprintf(line, sizeof line,
	    "%lld %s %s %s %s %s %s %s %s %ld %s %s\n", (long long)now_ns(),
	    phase, p->effect, named(getenv("HTTP_X_SIM_KEY"), key),
	    named(getenv("IDEMPOTENCY_KEY"), store_key),
	    named(getenv("IDEMPOTENCY_ATTEMPT"), attempt),
	    named(getenv("HTTP_X_SIM_TRY"), try),
	    named(lane != NULL ? lane : getenv("HTTP_X_SIM_GATE"), gate),
	    named(getenv("IDEMSIM_LIFE"), life), (long)getpid(),
	    named(word(p, "business"), business),
	    named(getenv("HTTP_X_SIM_NONCE"), nonce));
	if (write(p->journal, line, (size_t)len) != len)
		stop("journal of effects: %s", strerror(errno));
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
	char key[NAME_MAX_LEN], lane[NAME_MAX_LEN], text[4 * NAME_MAX_LEN];
	int fd = stops_connect(getenv("IDEMSIM_STOPS"));
	int len = snprintf(text, sizeof text, "%s %s %ld %s", label,
	    named(getenv("IDEMPOTENCY_KEY"), key), (long)getpid(),
	    named(getenv("IDEMSIM_LANE"), lane));
	ssize_t got = 0;

	if (fd != -1 && send(fd, text, (size_t)len, MSG_NOSIGNAL) == len)
		do
			got = recv(fd, answer, size - 1, 0);
		while (got == -1 && errno == EINTR);
	answer[got > 0 ? got : 0] = '\0';
	if (fd != -1)
		close(fd);
}

static void
end(const struct program *p, int status)
{
	note(p, "end");
	_exit(status);
}

static void
label(const struct program *p, const char *name)
{
	char answer[32];

	if (!lists(word(p, "labels"), name))
		return;
	ask(name, answer, sizeof answer);
	if (strncmp(answer, "sleep ", 6) == 0)
		rest_ms(strtod(answer + 6, NULL));
	else if (strcmp(answer, "kill") == 0)
		raise(SIGKILL);
	else if (strcmp(answer, "stop") == 0)
		raise(SIGSTOP);
	else if (strncmp(answer, "fail", 4) == 0)
		end(p, 1);	/* what it wanted to do failed */
}

/* --- a request and its answer --------------------------------------------- */

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

/* Who reads may be gone: then there is nothing to do but to end. */
static void
put(const struct program *p, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(STDOUT_FILENO, text, len);
		if (n == -1 && errno != EINTR)
			end(p, 1);
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

/* What stands for a name in the text that it is to say besides. */
static const char *
value_of(const struct program *p, const char *name, size_t len,
    char room[NAME_MAX_LEN])
{
	static const struct {
		const char *name, *from;
	} known[] = {
		{ "key", "HTTP_X_SIM_KEY" }, { "nonce", "HTTP_X_SIM_NONCE" },
		{ "try", "HTTP_X_SIM_TRY" },
		{ "attempt", "IDEMPOTENCY_ATTEMPT" }
	};
	size_t i;

	if (len == 9 && memcmp(name, "effect_id", 9) == 0)
		return p->effect;
	for (i = 0; i < sizeof known / sizeof *known; i++)
		if (strlen(known[i].name) == len &&
		    memcmp(known[i].name, name, len) == 0) {
			named(getenv(known[i].from), room);
			return room;
		}
	return NULL;
}

/* IDEMSIM_OUTPUT, its names in braces replaced; a line, or nothing. */
static char *
besides(const struct program *p)
{
	const char *text = getenv("IDEMSIM_OUTPUT"), *at = text, *end, *value;
	char room[NAME_MAX_LEN], *line = NULL;
	size_t len;
	FILE *out = open_memstream(&line, &len);

	for (; out != NULL && at != NULL && *at != '\0'; at++) {
		end = *at == '{' ? strchr(at, '}') : NULL;
		value = end != NULL ? value_of(p, at + 1,
		    (size_t)(end - at) - 1, room) : NULL;
		if (value == NULL) {
			putc(*at, out);
			continue;
		}
		fputs(value, out);
		at = end;
	}
	if (out != NULL && text != NULL && *text != '\0')
		putc('\n', out);
	return out != NULL && fclose(out) == 0 ? line : NULL;
}

/* NULL: no memory. */
static char * __attribute__((format(printf, 2, 3)))
composed(size_t *len, const char *format, ...)
{
	char *text;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	*len = n > 0 ? (size_t)n : 0;
	return n >= 0 ? text : NULL;
}

static char *
compose_body(const struct program *p, size_t *len)
{
	char key[NAME_MAX_LEN], nonce[NAME_MAX_LEN], effect[64] = "";
	char *more = besides(p), *body = NULL;

	if (!says(p, "effect", "none"))
		snprintf(effect, sizeof effect, "effect %s\n", p->effect);
	if (more != NULL)
		body = composed(len, "key %s\nnonce %s\n%s%s",
		    named(getenv("HTTP_X_SIM_KEY"), key),
		    named(getenv("HTTP_X_SIM_NONCE"), nonce), effect, more);
	free(more);
	return body;
}

static char *
compose_head(const struct program *p, size_t body_len, size_t *len)
{
	char key[NAME_MAX_LEN], nonce[NAME_MAX_LEN];
	char promise[48] = "", effect[64] = "";
	long status = number(p, "status", 200);

	if (!says(p, "effect", "none"))
		snprintf(effect, sizeof effect, "X-Sim-Effect: %s\r\n",
		    p->effect);
	if (number(p, "length", 0) != 0)
		snprintf(promise, sizeof promise, "Content-Length: %zu\r\n",
		    body_len);
	return composed(len, "Status: %ld %s\r\n"
	    "Content-Type: text/plain\r\n%sX-Sim-Key: %s\r\n"
	    "X-Sim-Nonce: %s\r\n%s\r\n", status,
	    status == 200 ? "OK" : "As Told", promise,
	    named(getenv("HTTP_X_SIM_KEY"), key),
	    named(getenv("HTTP_X_SIM_NONCE"), nonce), effect);
}

/* Head and body, which is filled up; NULL: no memory. */
static char *
compose(const struct program *p, size_t *len)
{
	long want = number(p, "output", 0);
	size_t said = 0, at = 0, body;
	char *says_it = compose_body(p, &said), *head, *text = NULL;

	if (says_it == NULL)
		return NULL;
	body = want > 0 && (size_t)want > said ? (size_t)want : said;
	head = compose_head(p, body, &at);
	*len = at + body;
	if (head != NULL)
		text = malloc(*len);
	if (text != NULL) {
		memcpy(text, head, at);
		memcpy(text + at, says_it, said);
		memset(text + at + said, '.', body - said);
	}
	free(head);
	free(says_it);
	return text;
}

static void
answer(const struct program *p)
{
	size_t len;
	char *text = compose(p, &len);
	long partial = number(p, "partial", -1);

	if (text == NULL)
		end(p, 1);
	if (says(p, "crash", "output")) {
		put(p, text, len / 2);
		raise(SIGKILL);
	}
	if (partial >= 0 && (size_t)partial < len)
		len = (size_t)partial;
	put(p, text, len);
	free(text);
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
	rest_ms(draw(p, word(p, "service")));
	if (says(p, "crash", "before"))
		raise(SIGKILL);
	if (!says(p, "effect", "none"))
		note(p, "commit");
	label(p, "effect.after");
	if (says(p, "crash", "after"))
		raise(SIGKILL);
}

static void
begin(struct program *p)
{
	const char *path = getenv("IDEMSIM_EFFECTS");
	const char *attempt = getenv("IDEMPOTENCY_ATTEMPT");
	uint64_t attempts = attempt != NULL ? strtoull(attempt, NULL, 10) : 0;

	if (path == NULL)
		stop("IDEMSIM_EFFECTS is not set");
	p->journal = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
	    0600);
	if (p->journal == -1)
		stop("%s: %s", path, strerror(errno));
	words_read(&p->words, getenv("IDEMSIM_PROGRAM"));
	p->chance = (uint64_t)number(p, "seed", 0) ^ attempts << 32 ^
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
	answer(&p);
	end(&p, (int)number(&p, "exit", 0));
}
