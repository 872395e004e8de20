/* SPDX-License-Identifier: ISC */
#include "log.h"

#include "tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_LONGEST 2047
#define WRITERS 4
#define LINES 300

static const struct {
	const char *what;
	const char *text;
	size_t size;
	const char *word;
} words[] = {
	{ "a word stays as it is", "/cgi-bin/order.cgi?a=b", 64,
	  "/cgi-bin/order.cgi?a=b" },
	{ "nothing is nothing", "", 64, "" },
	{ "a blank would end the word", "a b", 64, "a\\x20b" },
	{ "quotes and backslashes are escaped", "\"\\", 64, "\\x22\\x5c" },
	{ "lines are not broken", "a\r\nb=1", 64, "a\\x0d\\x0ab=1" },
	{ "tabs, DEL and bytes over 127 are escaped", "\t\x7f\xe9", 64,
	  "\\x09\\x7f\\xe9" },
	{ "a terminal is not spoken to", "\x1b[2J", 64, "\\x1b[2J" },
	{ "a long word is cut", "abcdefghij", 8, "abc" },
	{ "no escape is cut in two", "\n\n\n", 11, "\\x0a\\x0a" },
	{ "where one escape just fits there is one", "\n\n", 6, "\\x0a" },
	{ "where none fits there is none", "\n\n", 5, "" },
	{ "room for the end alone has only that", "abc", 1, "" },
};

static void
check_words(void)
{
	char word[65];
	size_t i;

	for (i = 0; i < sizeof words / sizeof *words; i++) {
		memset(word, '#', sizeof word);
		log_word(word, words[i].size, words[i].text);
		is(word, words[i].word, "%s", words[i].what);
		ok(word[words[i].size] == '#', "%s, in its room",
		    words[i].what);
	}
}

/* What a child writes to standard error, to its end; the caller frees it. */
static char *
heard(void (*says)(void), int children)
{
	size_t len = 0, room = WRITERS * LINES * 4096;
	char *text = malloc(room + 1);
	int ends[2], i;
	ssize_t n;

	if (text == NULL || pipe2(ends, O_CLOEXEC) != 0)
		bail_out("pipe2");
	fcntl(ends[1], F_SETPIPE_SZ, LOG_WRITE);	/* full at once */
	for (i = 0; i < children; i++)
		if (fork() == 0) {
			dup2(ends[1], STDERR_FILENO);
			says();
			_exit(0);
		}
	close(ends[1]);
	while (len < room && (n = read(ends[0], text + len, room - len)) > 0)
		len += (size_t)n;
	close(ends[0]);
	text[len] = '\0';
	while (wait(NULL) > 0)
		;
	return text;
}

static void
say_three(void)
{
	static struct log log = { .who = "idemd[3]" };
	char long_word[4096];

	log_flush(&log);
	log_line(&log, "status=%d idempotency-status=%s", 200, "stored");
	memset(long_word, 'x', sizeof long_word);
	long_word[sizeof long_word - 1] = '\0';
	log_line(&log, "word=%s", long_word);
	log_line(&log, "why=\"%s\"", "a\nb=1\r\x1b[2J\x7f \xc3\xa9");
	log_line(&log, "why=\"%s\"", "\xc2\x9b" "2J\xc2\x80\xc2\x9f "
	    "\xc2\xa0\xc3\x9b\xe2\x82\x80");
	log_line(&log, "why=%s", "\xc2");
	log_line(&log, "last=1");
	log_flush(&log);
	log_flush(&log);
}

/* "2026-01-01T00:00:00.000Z who: " */
static bool
is_stamped(const char *line, const char *who)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ ";
	size_t i;

	for (i = 0; i < sizeof form - 1; i++)
		if (form[i] == 'd' ? line[i] < '0' || line[i] > '9' :
		    line[i] != form[i])
			return false;
	return strncmp(line + i, who, strlen(who)) == 0;
}

static void
check_lines(void)
{
	char *text = heard(say_three, 1), *line = text, *end;

	end = strchr(line, '\n');
	ok(end != NULL && is_stamped(line, "idemd[3]: status=200 "
	    "idempotency-status=stored\n"),
	    "a line has its time, who says it, and what");
	line = end != NULL ? end + 1 : line;
	end = strchr(line, '\n');
	ok(end != NULL && is_stamped(line, "idemd[3]: word=xxx") &&
	    end - line == LINE_LONGEST && end[-1] == 'x',
	    "a line too long is cut, its end is not");
	line = end != NULL ? end + 1 : line;
	end = strchr(line, '\n');
	ok(is_stamped(line, "idemd[3]: why=\"a?b=1??[2J? \xc3\xa9\"\n"),
	    "what others say breaks no line and speaks to no terminal");
	line = end != NULL ? end + 1 : line;
	end = strchr(line, '\n');
	ok(is_stamped(line, "idemd[3]: why=\"??2J???? "
	    "\xc2\xa0\xc3\x9b\xe2\x82\x80\"\n"),
	    "nor with a control character of two bytes");
	line = end != NULL ? end + 1 : line;
	end = strchr(line, '\n');
	ok(is_stamped(line, "idemd[3]: why=\xc2\n"),
	    "half of one at the end is left");
	line = end != NULL ? end + 1 : line;
	ok(is_stamped(line, "idemd[3]: last=1\n") &&
	    strcmp(strchr(line, '\n'), "\n") == 0,
	    "the next is whole, and nothing is said twice");
	free(text);
}

static void
say_parts(void)
{
	static struct log log = { .who = "idemd" };
	char long_word[4096];

	log_open(&log);
	log_number(&log, "request", 5);
	log_text(&log, "method", "POST");
	log_text(&log, "key", "");
	log_number(&log, "least", INT64_MIN);
	log_number(&log, "most", INT64_MAX);
	log_number(&log, "none", 0);
	log_close(&log);
	memset(long_word, 'x', sizeof long_word);
	long_word[sizeof long_word - 1] = '\0';
	log_open(&log);
	log_text(&log, "word", long_word);
	log_number(&log, "left-out", 1);
	log_close(&log);
	log_line(&log, "last=1");
	log_flush(&log);
}

static void
check_parts(void)
{
	char *text = heard(say_parts, 1), *line = text, *end;

	ok(is_stamped(line, "idemd: request=5 method=POST key= "
	    "least=-9223372036854775808 most=9223372036854775807 none=0\n"),
	    "a line by parts is one line");
	end = strchr(line, '\n');
	line = end != NULL ? end + 1 : line;
	end = strchr(line, '\n');
	ok(end != NULL && is_stamped(line, "idemd: word=xxx") &&
	    end - line == LINE_LONGEST && end[-1] == 'x',
	    "one too long by parts is cut too");
	line = end != NULL ? end + 1 : line;
	ok(is_stamped(line, "idemd: last=1\n"), "and the next is whole");
	free(text);
}

/* --- values in quotes ----------------------------------------------------- */

static const struct {
	const char *what, *value, *line;
} quoted[] = {
	{ "a value of words is in quotes", "no such file",
	  "a=1 why=\"no such file\"\n" },
	{ "an empty one too", "", "a=1 why=\"\"\n" },
	{ "a quote in it does not end it", "say \"x\" b=2",
	  "a=1 why=\"say \\\"x\\\" b=2\"\n" },
	{ "nor does a backslash before its end", "C:\\",
	  "a=1 why=\"C:\\\\\"\n" },
	{ "nor what looks like an escape", "\\\"",
	  "a=1 why=\"\\\\\\\"\"\n" },
	{ "lines are not broken, nor terminals spoken to",
	  "a\nb\x1b[2J\xc2\x9b", "a=1 why=\"a?b?[2J??\"\n" },
};
static char long_value[4096];	/* of 'x', or of quotes */
static int long_before;		/* bytes of the line before it */

static void
say_quoted(void)
{
	static struct log log = { .who = "idemd" };
	size_t i;

	for (i = 0; i < sizeof quoted / sizeof *quoted; i++)
		log_line_quoted(&log, "why", quoted[i].value, "a=%d", 1);
	log_open(&log);
	log_quoted(&log, "route", "/a\"b");
	log_text(&log, "once", "yes");
	log_quoted(&log, "fails-when", "\\");
	log_close(&log);
	log_flush(&log);
}

static void
say_long(void)
{
	static struct log log = { .who = "idemd" };

	log_line_quoted(&log, "why", long_value, "%.*s", long_before,
	    "................................................................");
	log_line(&log, "last=1");
	log_flush(&log);
}

/* Where a value in quotes that begins at `at` ends, behind its quote. */
static const char *
end_of_quoted(const char *at)
{
	if (*at++ != '"')
		return NULL;
	for (; *at != '"'; at++)
		if (*at == '\0' || *at == '\n' ||
		    (*at == '\\' && *++at != '"' && *at != '\\'))
			return NULL;
	return at + 1;
}

/* Whatever is cut where: the line has its ends, and so has the value. */
static bool
is_cut_well(char with, int before)
{
	char *text;
	const char *value, *end;
	bool good;

	memset(long_value, with, sizeof long_value - 1);
	long_before = before;
	text = heard(say_long, 1);
	value = strstr(text, " why=");
	end = value != NULL ? end_of_quoted(value + strlen(" why=")) : NULL;
	good = end != NULL && *end == '\n' && end - text <= LINE_LONGEST &&
	    end - text >= LINE_LONGEST - 1 &&
	    is_stamped(end + 1, "idemd: last=1\n");
	free(text);
	return good;
}

/* Where the line before it leaves no room for a value there is none. */
static void
say_full(void)
{
	static struct log log = { .who = "idemd" };
	int room;

	memset(long_value, 'x', sizeof long_value - 1);
	for (room = 0; room < 12; room++) {
		log_open(&log);
		log_text(&log, "a", long_value + sizeof long_value - 1 -
		    (LINE_LONGEST - strlen("2026-01-01T00:00:00.000Z idemd: a=")
		    - (size_t)room));
		log_quoted(&log, "why", "\"");
		log_close(&log);
	}
	log_flush(&log);
}

static void
check_full(void)
{
	char *text = heard(say_full, 1), *line = text, *end, *value;
	int room, bad = 0;

	for (room = 0; room < 12; room++) {
		end = strchr(line, '\n');
		if (end == NULL)
			break;
		*end = '\0';
		value = strstr(line, " why=");
		if (end - line > LINE_LONGEST || (value != NULL) != (room >= 7)
		    || (value != NULL && strcmp(value, room >= 9 ?
		    " why=\"\\\"\"" : " why=\"\"") != 0)) {
			note("room %d: %s", room, value != NULL ? value : "-");
			bad++;
		}
		line = end + 1;
	}
	ok(room == 12 && bad == 0 && *line == '\0',
	    "where a line has no room for a value there is none, nor half");
	free(text);
}

static void
check_quoted(void)
{
	char *text = heard(say_quoted, 1), *line = text, *end, who[200];
	int before, bad = 0;
	size_t i;

	for (i = 0; i < sizeof quoted / sizeof *quoted; i++) {
		snprintf(who, sizeof who, "idemd: %s", quoted[i].line);
		ok(is_stamped(line, who), "%s", quoted[i].what);
		end = strchr(line, '\n');
		line = end != NULL ? end + 1 : line;
	}
	ok(is_stamped(line, "idemd: route=\"/a\\\"b\" once=yes "
	    "fails-when=\"\\\\\"\n"), "a line by parts has them as well");
	free(text);
	for (before = 0; before < 2; before++)
		bad += !is_cut_well('x', before) + !is_cut_well('"', before);
	is_int(bad, 0, "one too long is cut between two escapes, and ended");
	check_full();
}

static void
say_many(void)
{
	static struct log log = { .who = "idemd" };
	char word[1500];
	int i;

	memset(word, 'a' + getpid() % 26, sizeof word);
	for (i = 0; i < LINES; i++) {
		log_line(&log, "word=%.*s", 100 + 37 * i % 1400, word);
		if (i % 7 == 0)
			log_flush(&log);
	}
	log_flush(&log);
}

static bool
is_unmixed(const char *line, size_t len)
{
	static const char begin[] = "idemd: word=";
	size_t from = strlen("2026-01-01T00:00:00.000Z ") + sizeof begin - 1, i;

	if (len < from + 100 || !is_stamped(line, begin))
		return false;
	for (i = from; i < len; i++)
		if (line[i] != line[from])
			return false;
	return true;
}

static void
check_unmixed(void)
{
	char *text = heard(say_many, WRITERS), *line, *end;
	int lines = 0, mixed = 0;

	for (line = text; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		lines++;
		mixed += !is_unmixed(line, (size_t)(end - line));
	}
	is_int(lines, WRITERS * LINES, "every line of %d processes arrives",
	    WRITERS);
	is_int(mixed, 0, "whole and unmixed, though the pipe is full");
	free(text);
}

static void
say_to_nobody(void)
{
	static struct log log = { .who = "idemd" };
	int i;

	close(STDERR_FILENO);
	for (i = 0; i < 100; i++)
		log_line(&log, "line=%d", i);
	log_flush(&log);
	if (log.len != 0)
		_exit(1);
}

int
main(void)
{
	int status = -1;
	pid_t pid;

	check_words();
	check_lines();
	check_parts();
	check_quoted();
	check_unmixed();
	pid = fork();
	if (pid == 0) {
		say_to_nobody();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	is_int(status, 0, "where nobody listens nothing is kept or waited for");
	return done();
}
