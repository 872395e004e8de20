/* SPDX-License-Identifier: ISC */
#include "doctor_front.h"

#include <stdlib.h>
#include <string.h>

#define NAME_MAX_LEN 60
#define TIME_MAX_MS (INT64_C(1) << 40)

static const struct {
	const char *name;
	enum doctor_word word;
	bool spans;		/* lines, up to its ";" */
} words[] = {
	{ "fastcgi_pass", DOCTOR_WORD_FASTCGI_PASS, true },
	{ "proxy_pass", DOCTOR_WORD_NGINX_PROXY_PASS, true },
	{ "fastcgi_next_upstream", DOCTOR_WORD_NEXT_UPSTREAM, true },
	{ "proxy_next_upstream", DOCTOR_WORD_NEXT_UPSTREAM, true },
	{ "fastcgi_read_timeout", DOCTOR_WORD_FASTCGI_TIME, true },
	{ "proxy_read_timeout", DOCTOR_WORD_NGINX_PROXY_TIME, true },
	{ "fastcgi_request_buffering", DOCTOR_WORD_BUFFERS, true },
	{ "proxy_request_buffering", DOCTOR_WORD_BUFFERS, true },
	{ "fastcgi_intercept_errors", DOCTOR_WORD_HIDES, true },
	{ "proxy_intercept_errors", DOCTOR_WORD_HIDES, true },
	{ "fastcgi_cache", DOCTOR_WORD_CACHE, true },
	{ "proxy_cache", DOCTOR_WORD_CACHE, true },
	{ "mirror", DOCTOR_WORD_MIRROR, true },
	{ "fastcgi_param", DOCTOR_WORD_PARAM, true },
	{ "include", DOCTOR_WORD_INCLUDE, false },
	{ "auth_basic", DOCTOR_WORD_GUARD, true },
	{ "auth_request", DOCTOR_WORD_GUARD, true },
	{ "ProxyPass", DOCTOR_WORD_PROXY_PASS, false },
	{ "ProxyPassMatch", DOCTOR_WORD_PROXY_PASS, false },
	{ "ProxySet", DOCTOR_WORD_WORKER, false },
	{ "BalancerMember", DOCTOR_WORD_WORKER, false },
	{ "<Proxy", DOCTOR_WORD_WORKER, false },
	{ "SetHandler", DOCTOR_WORD_HANDLER, false },
	{ "ProxyTimeout", DOCTOR_WORD_PROXY_TIMEOUT, false },
	{ "ProxyErrorOverride", DOCTOR_WORD_HIDES, false },
	{ "FcgidWrapper", DOCTOR_WORD_FCGID, false },
	{ "FcgidIOTimeout", DOCTOR_WORD_FCGID_IO, false },
	{ "FcgidBusyTimeout", DOCTOR_WORD_FCGID_BUSY, false },
	{ "FcgidMaxRequestLen", DOCTOR_WORD_FCGID_LEN, false },
	{ "CGIDScriptTimeout", DOCTOR_WORD_CGID_TIME, false },
	{ "Action", DOCTOR_WORD_CGI, false },
	{ "CacheEnable", DOCTOR_WORD_CACHE, false },
	{ "Timeout", DOCTOR_WORD_TIMEOUT, false },
	{ "fastcgi.server", DOCTOR_WORD_LIGHTTPD, false },
	{ "cgi.assign", DOCTOR_WORD_LIGHTTPD, false },
	{ "check-local", DOCTOR_WORD_CHECK_LOCAL, false },
	{ "disable-time", DOCTOR_WORD_DISABLE, false },
	{ "server.stream-request-body", DOCTOR_WORD_STREAMS, false },
	{ "server.error-intercept", DOCTOR_WORD_HIDES, false },
	{ "server.max-write-idle", DOCTOR_WORD_WRITE_IDLE, false },
	{ "retry-on", DOCTOR_WORD_RETRY_ON, false },
};

/* --- bytes ---------------------------------------------------------------- */

/* '\0': the end. */
static char
peek(const struct doctor_scan *s)
{
	const char *at = s->text.at;

	return s->at < s->text.len ? at[s->at] : '\0';
}

static bool
at_end(const struct doctor_scan *s)
{
	return s->at >= s->text.len;
}

static void
step(struct doctor_scan *s)
{
	if (peek(s) == '\n')
		s->line++;
	s->at++;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static bool
is_edge(char c)
{
	return c == ';' || c == '{' || c == '}' || c == '(' || c == ')' ||
	    c == ',';
}

static void
skip_comment(struct doctor_scan *s)
{
	while (!at_end(s) && peek(s) != '\n')
		step(s);
}

/* To where a name may begin. */
static void
skip_between(struct doctor_scan *s)
{
	while (!at_end(s)) {
		if (peek(s) == '#')
			skip_comment(s);
		else if (is_blank(peek(s)) || is_edge(peek(s)) ||
		    peek(s) == '\n' || peek(s) == '\0')
			step(s);
		else
			return;
	}
}

/* --- statements ----------------------------------------------------------- */

/* Bare or in quotes; too long a one is cut, and then none that is known. */
static void
read_name(struct doctor_scan *s, char name[NAME_MAX_LEN + 1])
{
	bool quoted = peek(s) == '"';
	size_t len = 0;

	if (quoted)
		step(s);
	while (!at_end(s) && peek(s) != '\n') {
		if (quoted ? peek(s) == '"' : is_blank(peek(s)) ||
		    is_edge(peek(s)) || peek(s) == '=')
			break;
		if (len < NAME_MAX_LEN)
			name[len++] = peek(s);
		step(s);
	}
	if (quoted && peek(s) == '"')
		step(s);
	name[len] = '\0';
}

/* The signs between a name and a value: " ", "=", "+=", "=>". */
static void
skip_signs(struct doctor_scan *s)
{
	while (is_blank(peek(s)) || peek(s) == '=' || peek(s) == '+' ||
	    peek(s) == '>')
		step(s);
}

/* Is this the end of a value?  A backslash at the end of a line is not. */
static bool
is_over(struct doctor_scan *s, bool spans, char quote, char before)
{
	char c = peek(s);

	if (at_end(s))
		return true;
	if (c == '\n')
		return !spans && before != '\\';
	return quote == '\0' && (is_edge(c) ||
	    (c == '#' && (is_blank(before) || before == '\0')));
}

static void
add(struct doctor_statement *to, size_t *len, char c)
{
	if (c == '\n' || c == '\t' || c == '\r' || c == '\\')
		c = ' ';
	if (c == '\0' || *len + 1 >= sizeof to->value ||
	    (c == ' ' && (*len == 0 || to->value[*len - 1] == ' ')))
		return;
	to->value[(*len)++] = c;
}

static void
read_value(struct doctor_scan *s, bool spans, struct doctor_statement *to)
{
	char quote = '\0', before = '\0', c;
	size_t len = 0;

	skip_signs(s);
	while (!is_over(s, spans, quote, before)) {
		c = peek(s);
		if (quote == '\0' && (c == '"' || c == '\''))
			quote = c;
		else if (c == quote)
			quote = '\0';
		else
			add(to, &len, c);
		before = c;
		step(s);
	}
	while (len > 0 && to->value[len - 1] == ' ')
		len--;
	to->value[len] = '\0';
	if (peek(s) == '#')
		skip_comment(s);
}

bool
doctor_front_next(struct doctor_scan *s, struct doctor_statement *found)
{
	char name[NAME_MAX_LEN + 1];
	size_t i;

	for (;;) {
		skip_between(s);
		if (at_end(s))
			return false;
		found->line = s->line;
		read_name(s, name);
		for (i = 0; i < sizeof words / sizeof *words; i++)
			if (strcasecmp(name, words[i].name) == 0)
				break;
		if (i < sizeof words / sizeof *words)
			break;
		read_value(s, false, found);
	}
	found->word = words[i].word;
	found->name = words[i].name;
	read_value(s, words[i].spans, found);
	return true;
}

/* --- values --------------------------------------------------------------- */

bool
doctor_front_number(const char *text, int64_t *number)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*number = strtoll(text, &end, 10);
	return *number >= 0;
}

static int64_t
unit_of(const char **text, int64_t bare_ms)
{
	static const struct { const char *name; int64_t ms; } units[] = {
		{ "ms", 1 }, { "min", 60000 }, { "s", 1000 }, { "m", 60000 },
		{ "h", 3600000 }, { "d", 86400000 }
	};
	size_t i, len;

	for (i = 0; i < sizeof units / sizeof *units; i++) {
		len = strlen(units[i].name);
		if (strncmp(*text, units[i].name, len) == 0) {
			*text += len;
			return units[i].ms;
		}
	}
	return bare_ms;
}

bool
doctor_front_time(const char *text, int64_t unit_ms, int64_t *ms)
{
	int64_t number, unit;
	bool found = false;

	*ms = 0;
	while (doctor_front_number(text, &number)) {
		text += strspn(text, "0123456789");
		unit = unit_of(&text, unit_ms);
		if (number > TIME_MAX_MS / unit || *ms > TIME_MAX_MS)
			return false;
		*ms += number * unit;
		found = true;
		text += strspn(text, " ");
	}
	return found;
}
