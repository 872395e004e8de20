/* SPDX-License-Identifier: ISC */
#include "resp.h"

#include <string.h>

#define ARGS (sizeof ((struct resp_command *)NULL)->args / \
    sizeof (struct idem_bytes))
#define BEFORE_ARGV 3u	/* words: EVAL, the script, the number of keys */

/* Words of one command, from the first; none of them is kept. */
struct words {
	const char *at, *end;
	bool is_line;
};

/* --- an array of bulk strings --------------------------------------------- */

/* The number of a line "$3\r\n"; at is past it then.  -1: it is none. */
static long
number_line(struct words *w, char type)
{
	const char *end = memchr(w->at, '\n', (size_t)(w->end - w->at));
	long n = 0;

	if (end == NULL || w->at[0] != type || end - w->at < 3 ||
	    end - w->at > 12)
		return -1;
	for (w->at++; w->at < end - 1; w->at++) {
		if (*w->at < '0' || *w->at > '9')
			return -1;
		n = 10 * n + (*w->at - '0');
	}
	w->at = end + 1;
	return n;
}

static bool
next_bulk(struct words *w, struct idem_bytes *word)
{
	long n = w->at < w->end ? number_line(w, '$') : -1;

	if (n < 0 || n + 2 > w->end - w->at)
		return false;
	*word = (struct idem_bytes){ w->at, (size_t)n };
	w->at += n + 2;
	return true;
}

/* --- a line --------------------------------------------------------------- */

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0';
}

static const char *
quoted_end(const char *at, const char *end)
{
	char quote = *at++;

	for (; at < end && *at != quote; at++)
		if (*at == '\\' && quote == '"' && at + 1 < end)
			at++;
	return at;
}

static bool
next_on_line(struct words *w, struct idem_bytes *word)
{
	const char *from;
	bool quoted;

	while (w->at < w->end && is_blank(*w->at))
		w->at++;
	if (w->at == w->end)
		return false;
	from = w->at;
	quoted = *from == '"' || *from == '\'';
	if (quoted)
		w->at = quoted_end(from++, w->end);
	else
		while (w->at < w->end && !is_blank(*w->at))
			w->at++;
	*word = (struct idem_bytes){ from, (size_t)(w->at - from) };
	if (quoted && w->at < w->end)
		w->at++;
	return true;
}

/* --- all of them ---------------------------------------------------------- */

static bool
words_begin(struct words *w, struct idem_bytes whole, long *n)
{
	*n = 0;
	if (whole.len == 0)
		return false;
	w->at = whole.at;
	w->end = w->at + whole.len;
	w->is_line = w->at[0] != '*';
	if (w->is_line)
		return true;
	if (whole.len == 5 && memcmp(w->at, "*-1\r\n", 5) == 0)
		return true;
	*n = number_line(w, '*');
	return *n >= 0;
}

static bool
next(struct words *w, struct idem_bytes *word)
{
	return w->is_line ? next_on_line(w, word) : next_bulk(w, word);
}

static bool
words_read(struct words *w, long n, struct resp_command *c)
{
	struct idem_bytes word;

	while (w->is_line || c->args_n < (size_t)n) {
		if (!next(w, &word))
			return w->is_line;
		if (c->args_n < ARGS)
			c->args[c->args_n] = word;
		c->args_n++;
	}
	return true;
}

/* --- what they mean ------------------------------------------------------- */

static bool
is_one_of(struct idem_bytes name, const char *const *words)
{
	for (; *words != NULL; words++)
		if (idem_bytes_is_nocase(name, *words))
			return true;
	return false;
}

static bool
runs_script(struct idem_bytes name)
{
	static const char *const words[] = { "EVALSHA", "EVAL", "EVALSHA_RO",
		"EVAL_RO", "FCALL", "FCALL_RO", NULL };

	return is_one_of(name, words);
}

static bool
has_second_word(struct idem_bytes name)
{
	static const char *const words[] = { "SCRIPT", "CLIENT", "CONFIG",
		"CLUSTER", "SENTINEL", "ACL", "COMMAND", "DEBUG", "FUNCTION",
		"LATENCY", "MEMORY", "MODULE", "OBJECT", "PUBSUB", "SLOWLOG",
		"XGROUP", "XINFO", NULL };

	return is_one_of(name, words);
}

static size_t
number(struct idem_bytes text)
{
	const char *at = text.at;
	size_t n = 0, i;

	for (i = 0; i < text.len && i < 7; i++) {
		if (at[i] < '0' || at[i] > '9')
			return 0;
		n = 10 * n + (size_t)(at[i] - '0');
	}
	return n;
}

static struct idem_bytes
word_at(struct idem_bytes whole, const struct resp_command *c, size_t i)
{
	struct idem_bytes word = { 0 };
	struct words w;
	long n;

	if (i >= c->args_n)
		return word;
	if (i < ARGS)
		return c->args[i];
	words_begin(&w, whole, &n);
	do
		(void)next(&w, &word);
	while (i-- > 0);
	return word;
}

bool
resp_command(struct idem_bytes whole, struct resp_command *c)
{
	struct words w;
	size_t keys;
	long n;

	*c = (struct resp_command){ 0 };
	if (!words_begin(&w, whole, &n) || !words_read(&w, n, c))
		return false;
	c->name = c->args[0];
	c->key = c->args[1];
	if (runs_script(c->name)) {
		keys = number(c->args[2]);
		c->script = c->args[1];
		c->key = keys > 0 ? c->args[BEFORE_ARGV] :
		    (struct idem_bytes){ 0 };
		c->op = word_at(whole, c, BEFORE_ARGV + keys);
	} else if (has_second_word(c->name))
		c->script = c->args[1];
	return true;
}
