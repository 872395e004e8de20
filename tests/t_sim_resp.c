/* SPDX-License-Identifier: ISC */
#include "resp.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* --- where a value ends --------------------------------------------------- */

#define WHOLE (-2)	/* all of the row is one value */

static const struct {
	const char *bytes;
	long len;
	const char *what;
} values[] = {
	{ "+OK\r\n", WHOLE, "a simple string" },
	{ "-OOM no\r\n", WHOLE, "an error" },
	{ ":-12\r\n", WHOLE, "an integer" },
	{ "$3\r\nabc\r\n", WHOLE, "a bulk string" },
	{ "$2\r\n\r\n\r\n", WHOLE, "a bulk string that is a line's end" },
	{ "$0\r\n\r\n", WHOLE, "an empty bulk string" },
	{ "$-1\r\n", WHOLE, "no bulk string" },
	{ "*-1\r\n", WHOLE, "no array" },
	{ "*0\r\n", WHOLE, "an empty array" },
	{ "*2\r\n$1\r\na\r\n:1\r\n", WHOLE, "an array" },
	{ "*2\r\n*1\r\n*0\r\n+a\r\n", WHOLE, "arrays in arrays" },
	{ "%1\r\n+a\r\n:1\r\n", WHOLE, "a map has two elements a pair" },
	{ "~2\r\n:1\r\n:2\r\n", WHOLE, "a set" },
	{ ">2\r\n+message\r\n+x\r\n", WHOLE, "a push" },
	{ "|1\r\n+ttl\r\n:1\r\n$1\r\na\r\n", WHOLE,
	    "an attribute and the value that it is of" },
	{ "_\r\n", WHOLE, "RESP3's null" },
	{ "#t\r\n", WHOLE, "a boolean" },
	{ ",1.5\r\n", WHOLE, "a double" },
	{ "(123456789012345678901234567890\r\n", WHOLE, "a big number" },
	{ "!5\r\nERR x\r\n", WHOLE, "a long error" },
	{ "=7\r\ntxt:abc\r\n", WHOLE, "a verbatim string" },
	{ "+a\r\n+b\r\n", 4, "the first of two" },
	{ "*1\r\n$1\r\na\r\nGET", 11, "what follows is not looked at" },
	{ "", 0, "nothing is not whole" },
	{ "*3\r\n:1\r\n:2\r\n", 0, "an array that lacks one is not whole" },
	{ "GET a\r\n", -1, "an inline command is no value" },
	{ "+a\n", -1, "a line ends in CRLF" },
	{ "$x\r\n", -1, "a length is digits" },
	{ "$\r\n", -1, "a length is not empty" },
	{ "$-2\r\n", -1, "no length is below -1" },
	{ "!-1\r\n", -1, "only bulk strings and arrays can be none" },
	{ "$536870913\r\n", -1, "no bulk string is over 512 MiB" },
	{ "*99999999999\r\n", -1, "no number of elements is so large" },
	{ "*?\r\n", -1, "a streamed array is refused" },
};

static bool
prefixes_are_not_whole(struct idem_bytes whole)
{
	char *copy;
	size_t len;
	bool held = true;

	for (len = 0; len < whole.len && held; len++) {
		copy = malloc(len + 1);	/* so that reading on would show */
		if (copy == NULL)
			bail_out("out of memory");
		memcpy(copy, whole.at, len);
		held = resp_len((struct idem_bytes){ copy, len }) == 0;
		free(copy);
	}
	return held;
}

static void
test_values(void)
{
	struct idem_bytes bytes;
	long want;
	size_t i;

	for (i = 0; i < sizeof values / sizeof *values; i++) {
		bytes = idem_bytes_text(values[i].bytes);
		want = values[i].len == WHOLE ? (long)bytes.len :
		    values[i].len;
		is_int(resp_len(bytes), want, "%s", values[i].what);
		if (values[i].len == WHOLE)
			ok(prefixes_are_not_whole(bytes),
			    "%s: no part of it is taken for it",
			    values[i].what);
	}
}

static void
test_depth(void)
{
	char text[4 * (RESP_DEPTH + 1) + 5];
	size_t i;

	for (i = 0; i <= RESP_DEPTH; i++)
		memcpy(text + 4 * i, "*1\r\n", 4);
	memcpy(text + 4 * i, ":1\r\n", 5);
	is_int(resp_len(idem_bytes_text(text)), -1,
	    "what is nested deeper than RESP_DEPTH is refused");
	is_int(resp_len(idem_bytes_text(text + 4)), (long)strlen(text + 4),
	    "what is nested as deep as that is read");
}

/* --- commands ------------------------------------------------------------- */

#define SHA "0123456789012345678901234567890123456789"

static const struct {
	const char *bytes;
	const char *name, *script, *key, *op;
	size_t n;
	const char *what;
} commands[] = {
	{ "*7\r\n$7\r\nEVALSHA\r\n$3\r\nabc\r\n$1\r\n1\r\n$2\r\nk1\r\n"
	    "$5\r\nclaim\r\n$3\r\nown\r\n$1\r\n1\r\n",
	    "EVALSHA", "abc", "k1", "claim", 7,
	    "a script's call has a digest, a key and an operation" },
	{ "EVALSHA " SHA " 2 k1 k2 peek x\r\n", "EVALSHA", SHA, "k1", "peek", 7,
	    "the operation comes after all keys" },
	{ "eval s 0 renew\r\n", "eval", "s", "", "renew", 4,
	    "a script without a key has an operation" },
	{ "EVALSHA s 1 k\r\n", "EVALSHA", "s", "k", "", 4,
	    "a script without arguments has none" },
	{ "EVALSHA s 11 1 2 3 4 5 6 7 8 9 10 11 sweep a b\r\n", "EVALSHA", "s",
	    "1", "sweep", 17, "also when it stands behind the words kept" },
	{ "EVALSHA s 1000000 k claim\r\n", "EVALSHA", "s", "k", "", 5,
	    "a number of keys that is not there is no harm" },
	{ "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n", "SET", "", "k", "", 3,
	    "a plain command has a key" },
	{ "*1\r\n$4\r\nPING\r\n", "PING", "", "", "", 1,
	    "a command of one word has none" },
	{ "*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$1\r\nx\r\n", "SCRIPT", "LOAD",
	    "LOAD", "", 3, "of SCRIPT the second word is told" },
	{ "HELLO 3 AUTH default secret\r\n", "HELLO", "", "3", "", 5,
	    "an inline command has words" },
	{ "SET \"a b\" 'c'\r\n", "SET", "", "a b", "", 3,
	    "quotes hold a word together" },
	{ "  GET\tk \r\n", "GET", "", "k", "", 2,
	    "blanks around words do not count" },
	{ "*0\r\n", "", "", "", "", 0, "an empty array is nothing" },
	{ "*-1\r\n", "", "", "", "", 0, "no array is nothing" },
	{ "\r\n", "", "", "", "", 0, "an empty line is nothing" },
};

static const char *
text(struct idem_bytes bytes, char out[64])
{
	size_t len = bytes.len < 63 ? bytes.len : 63;

	if (len > 0)
		memcpy(out, bytes.at, len);
	out[len] = '\0';
	return out;
}

static void
test_commands(void)
{
	struct resp_command c;
	struct idem_bytes bytes;
	char out[64];
	size_t i;

	for (i = 0; i < sizeof commands / sizeof *commands; i++) {
		bytes = idem_bytes_text(commands[i].bytes);
		is_int(resp_command_len(bytes), (long)bytes.len, "%s: it ends "
		    "where it ends", commands[i].what);
		ok(resp_command(bytes, &c), "%s", commands[i].what);
		is(text(c.name, out), commands[i].name, "its name");
		is(text(c.script, out), commands[i].script, "its script");
		is(text(c.key, out), commands[i].key, "its key");
		is(text(c.op, out), commands[i].op, "its operation");
		is_int((long long)c.args_n, (long long)commands[i].n,
		    "and how many words it has");
	}
}

static void
test_no_commands(void)
{
	static const char *const none[] = { "*1\r\n:1\r\n",
		"*2\r\n$1\r\na\r\n*0\r\n", "*1\r\n$-1\r\n", "*x\r\n",
		"*2\r\n$1\r\na\r\n", "*1\r\n$5\r\nab\r\n" };
	struct resp_command c;
	size_t i;

	for (i = 0; i < sizeof none / sizeof *none; i++)
		ok(!resp_command(idem_bytes_text(none[i]), &c),
		    "no command is made of %zu", i);
	ok(!resp_command((struct idem_bytes){ NULL, 0 }, &c),
	    "nor of nothing");
	is_int(resp_command_len(idem_bytes_text("GET a")), 0,
	    "an inline command ends with its line");
	is_int(resp_command_len(idem_bytes_text("GET a\nGET b\n")), 6,
	    "which may be a line feed alone");
}

static void
test_long_line(void)
{
	static char line[70000];

	memset(line, 'a', sizeof line);
	is_int(resp_command_len((struct idem_bytes){ line, sizeof line }), -1,
	    "a line beyond 64 KiB is no command");
	line[0] = '+';
	is_int(resp_len((struct idem_bytes){ line, sizeof line }), -1,
	    "nor a value");
	is_int(resp_len((struct idem_bytes){ line, 60000 }), 0,
	    "until then it may become one");
}

/* --- replies in words ----------------------------------------------------- */

static const struct {
	const char *bytes, *text;
} replies[] = {
	{ "+OK\r\n", "OK" },
	{ "-OOM command not allowed\r\n", "-OOM command not allowed" },
	{ "!7\r\nERR bad\r\n", "-ERR bad" },
	{ ":17\r\n", "17" },
	{ "$5\r\nhello\r\n", "hello" },
	{ "$4\r\na\n\001b\r\n", "a??b" },
	{ "$0\r\n\r\n", "(empty)" },
	{ "$-1\r\n", "(nil)" },
	{ "*-1\r\n", "(nil)" },
	{ "_\r\n", "(nil)" },
	{ "*3\r\n$3\r\nWON\r\n:1\r\n:0\r\n", "WON" },
	{ "*1\r\n+LOST\r\n", "LOST" },
	{ "*3\r\n:1\r\n:2\r\n:3\r\n", "[3]" },
	{ "*2\r\n$-1\r\n+a\r\n", "[2]" },
	{ "*0\r\n", "[0]" },
	{ "%1\r\n+server\r\n+redis\r\n", "[1]" },
	{ ">2\r\n+message\r\n+x\r\n", "message" },
	{ "#t\r\n", "true" },
	{ "#f\r\n", "false" },
	{ ",1.5\r\n", "1.5" },
	{ "=7\r\ntxt:abc\r\n", "abc" },
	{ "|1\r\n+ttl\r\n:1\r\n$1\r\na\r\n", "a" },
	{ "|1\r\n+ttl\r\n", "(no reply)" },
	{ "$5\r\nhel", "(no reply)" },
	{ "", "(no reply)" },
	{ "x", "(no reply)" },
};

static void
test_replies(void)
{
	char out[64], small[6];
	size_t i;

	for (i = 0; i < sizeof replies / sizeof *replies; i++)
		is(resp_reply_text(idem_bytes_text(replies[i].bytes), out,
		    sizeof out), replies[i].text, "a reply that says %s",
		    replies[i].text);
	is(resp_reply_text(idem_bytes_text("-OOM command\r\n"), small,
	    sizeof small), "-OOM ", "a long one is cut to the room there is");
}

int
main(void)
{
	test_values();
	test_depth();
	test_commands();
	test_no_commands();
	test_long_line();
	test_replies();
	return done();
}
