/* SPDX-License-Identifier: ISC */
#include "redis_class.h"

#include <string.h>

#define SLOTS 16384u	/* of a cluster */
#define WORD_MAX 16u	/* longer first words are none that we know */

/* Not applied: to go on by, or to try again later, or in vain. */
#define REFUSED(...) { .class = IDEM_CLASS_REFUSED, __VA_ARGS__ }
#define MAYBE(...) { .class = IDEM_CLASS_MAYBE, __VA_ARGS__ }
#define CONFIG(...) { .class = IDEM_CLASS_CONFIG, .away = true, __VA_ARGS__ }
#define THEN(what) .remedy = IDEM_REDIS_##what
#define DROP .drop = true
#define COUNTS .counts = true
#define AWAY .away = true

static const struct idem_redis_meaning broken_means[] = {
	[IDEM_REDIS_NOT_CONNECTED] = REFUSED(THEN(ANEW), DROP, COUNTS),
	[IDEM_REDIS_CONNECT_SLOW] = REFUSED(THEN(NO_REMEDY), DROP, COUNTS),
	[IDEM_REDIS_UNSENT] = REFUSED(THEN(NO_REMEDY), COUNTS),
	[IDEM_REDIS_SILENT] = MAYBE(THEN(ANEW), COUNTS),
	[IDEM_REDIS_CLOSED] = MAYBE(THEN(ANEW), DROP, COUNTS),
	[IDEM_REDIS_RESET] = MAYBE(THEN(ANEW), DROP, COUNTS),
	[IDEM_REDIS_GARBAGE] = MAYBE(THEN(ANEW), DROP, COUNTS),
	[IDEM_REDIS_GARBAGE_FIRST] = CONFIG(THEN(NO_REMEDY), DROP, COUNTS),
	/* It answers, but who knows to what. */
	[IDEM_REDIS_WRONG_SHAPE] = MAYBE(THEN(ANEW), DROP),
	[IDEM_REDIS_TLS_REFUSED] = CONFIG(THEN(NO_REMEDY), DROP, COUNTS),
};

/*
 * Answers are no failures of the node, but for one that is said instead of
 * accepting us.
 */
static const struct row {
	const char *begins;	/* the text */
	struct idem_redis_meaning means;
} words[] = {
	{ "NOSCRIPT", REFUSED(THEN(SEND_TEXT)) },
	{ "MOVED", REFUSED(THEN(MOVE)) },
	{ "ASK", REFUSED(THEN(ASK)) },
	{ "TRYAGAIN", REFUSED(THEN(PAUSE)) },
	{ "CLUSTERDOWN", REFUSED(THEN(PAUSE)) },
	{ "LOADING", REFUSED(THEN(PAUSE)) },
	{ "BUSY", REFUSED(THEN(PAUSE)) },
	{ "READONLY", REFUSED(THEN(ANOTHER), DROP) },
	{ "MASTERDOWN", REFUSED(THEN(ANOTHER), DROP) },
	/* It blocked, and its server's role has changed. */
	{ "UNBLOCKED", REFUSED(THEN(ANOTHER), DROP) },
	/* Before the first write of a script, and ours write last. */
	{ "OOM", REFUSED(AWAY) },
	{ "MISCONF", REFUSED(AWAY) },
	{ "NOREPLICAS", REFUSED(AWAY) },
	{ "EXECABORT", REFUSED(THEN(NO_REMEDY)) },
	{ "CROSSSLOT", CONFIG(THEN(NO_REMEDY)) },
	{ "WRONGTYPE", CONFIG(THEN(NO_REMEDY)) },
	{ "NOAUTH", CONFIG(THEN(NO_REMEDY)) },
	{ "WRONGPASS", CONFIG(THEN(NO_REMEDY)) },
	{ "NOPERM", CONFIG(THEN(NO_REMEDY)) },
	{ "NOPROTO", CONFIG(THEN(NO_REMEDY)) },
	/* Protected mode: said instead of accepting us, then closed. */
	{ "DENIED", CONFIG(DROP) },
}, sentences[] = {
	{ "ERR max number of clients", REFUSED(THEN(PAUSE), DROP, COUNTS) },
	/* Too large for it: it closes, and would again. */
	{ "ERR Protocol error", CONFIG(DROP) },
	{ "ERR AUTH ", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR Client sent AUTH", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR DB index", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR Error compiling script", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR Function not found", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR No such master", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR SELECT is not allowed", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR This instance has cluster", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR Unknown ", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR invalid DB", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR invalid password", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR operation not permitted", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR syntax error", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR unknown ", CONFIG(THEN(NO_REMEDY)) },
	{ "ERR wrong number of", CONFIG(THEN(NO_REMEDY)) },
};

/* What a script did before its error is done; and what we do not know may be
   anything. */
static const struct idem_redis_meaning unknown = {
	.class = IDEM_CLASS_MAYBE
};

#define LEN(a) (sizeof(a) / sizeof *(a))

static bool
begins(struct idem_bytes text, const char *with)
{
	size_t len = strlen(with);

	return text.len >= len && memcmp(text.at, with, len) == 0;
}

static bool
holds(struct idem_bytes text, const char *part)
{
	return text.len > 0 &&
	    memmem(text.at, text.len, part, strlen(part)) != NULL;
}

static struct idem_bytes
without(struct idem_bytes text, size_t first)
{
	return (struct idem_bytes){ (const char *)text.at + first,
	    text.len - first };
}

/* The row whose word the text begins with, or NULL. */
static const struct row *
row_of_word(struct idem_bytes text)
{
	const char *end = text.len > 0 ? memchr(text.at, ' ', text.len) : NULL;
	size_t i;

	if (end != NULL)
		text.len = (size_t)(end - (const char *)text.at);
	if (text.len == 0 || text.len > WORD_MAX)
		return NULL;
	for (i = 0; i < LEN(words); i++)
		if (idem_bytes_is(text, words[i].begins))
			return &words[i];
	return NULL;
}

/*
 * "...: @user_script: 1: -OOM command not allowed": a word behind ": " or
 * " -".
 */
static const struct row *
row_of_hidden_word(struct idem_bytes text)
{
	const struct row *row = NULL;
	const char *at = text.at;
	size_t i;

	for (i = 2; row == NULL && i < text.len; i++)
		if ((at[i - 2] == ':' && at[i - 1] == ' ') ||
		    (at[i - 2] == ' ' && at[i - 1] == '-'))
			row = row_of_word(without(text, i));
	return row;
}

static const struct row *
row_of_sentence(struct idem_bytes text)
{
	size_t i;

	/* Within a script it says nothing of what was done before. */
	if (holds(text, "@user_script"))
		return NULL;
	for (i = 0; i < LEN(sentences); i++)
		if (begins(text, sentences[i].begins))
			return &sentences[i];
	return NULL;
}

struct idem_redis_meaning
idem_redis_broken_means(enum idem_redis_broken broken)
{
	return broken_means[broken];
}

struct idem_redis_meaning
idem_redis_error_means(struct idem_bytes text)
{
	const struct row *row = row_of_word(text);

	if (row == NULL && begins(text, "ERR Error running script"))
		row = row_of_hidden_word(text);
	if (row == NULL)
		row = row_of_sentence(text);
	return row != NULL ? row->means : unknown;
}

/* --- where it points ------------------------------------------------------ */

/* The digits that text begins with; false if there are none or too many. */
static bool
take_number(struct idem_bytes *text, unsigned *number)
{
	const char *at = text->at;
	size_t i;

	*number = 0;
	for (i = 0; i < text->len && at[i] >= '0' && at[i] <= '9'; i++) {
		if (i == 5)
			return false;
		*number = 10 * *number + (unsigned)(at[i] - '0');
	}
	*text = without(*text, i);
	return i > 0;
}

static struct idem_bytes
unbracketed(struct idem_bytes host)
{
	const char *at = host.at;

	if (host.len >= 2 && at[0] == '[' && at[host.len - 1] == ']')
		return (struct idem_bytes){ at + 1, host.len - 2 };
	return host;
}

/* HOST:PORT; an IPv6 address has colons of its own. */
static bool
split_node(struct idem_bytes node, struct idem_bytes *host, uint16_t *port)
{
	const char *at = node.at;
	size_t colon = node.len;
	struct idem_bytes digits;
	unsigned number;

	while (colon > 0 && at[colon - 1] != ':')
		colon--;
	if (colon == 0)
		return false;
	*host = unbracketed((struct idem_bytes){ at, colon - 1 });
	digits = without(node, colon);
	if (!take_number(&digits, &number) || digits.len > 0 || number == 0 ||
	    number > UINT16_MAX)
		return false;
	*port = (uint16_t)number;
	return true;
}

bool
idem_redis_error_points(struct idem_bytes text, uint16_t *slot,
    struct idem_bytes *host, uint16_t *port)
{
	const char *end;
	unsigned number;

	if (begins(text, "MOVED "))
		text = without(text, 6);
	else if (begins(text, "ASK "))
		text = without(text, 4);
	else
		return false;
	if (!take_number(&text, &number) || number >= SLOTS ||
	    !begins(text, " "))
		return false;
	text = without(text, 1);
	end = text.len > 0 ? memchr(text.at, ' ', text.len) : NULL;
	if (end != NULL)
		text.len = (size_t)(end - (const char *)text.at);
	*slot = (uint16_t)number;
	return split_node(text, host, port);
}
