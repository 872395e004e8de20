/* SPDX-License-Identifier: ISC */
#include "doctor_front.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define UPLOAD_MIN (1024 * (int64_t)1024)
#define PAUSE_MAX_MS 5000

/* What has been met so far, and where. */
struct looked {
	const struct doctor_times *times;
	struct doctor_findings *f;
	const char *file;
	unsigned line;		/* 0: what the server does when nothing is
				   said */
	size_t known;		/* statements that were of interest */
	bool seen[DOCTOR_WORDS];
	int64_t timeout_ms;	/* Apache's Timeout; -1: not said */
	unsigned user_line, include_line;
	bool guarded, own_params;
};

static void say(struct looked *, enum doctor_level, enum doctor_check,
    const char *what, ...) __attribute__((format(printf, 4, 5)));
static void
say(struct looked *l, enum doctor_level level, enum doctor_check check,
    const char *what, ...)
{
	char text[600], line[16] = "";
	va_list args;

	va_start(args, what);
	vsnprintf(text, sizeof text, what, args);
	va_end(args);
	if (l->line > 0)
		snprintf(line, sizeof line, ":%u", l->line);
	doctor_find(l->f, level, check, "front %s%s: %s", l->file, line, text);
}

/* --- values --------------------------------------------------------------- */

static bool
is_off(const char *value)
{
	return *value == '\0' || strcasecmp(value, "off") == 0 ||
	    strcasecmp(value, "no") == 0 || strcmp(value, "0") == 0 ||
	    strcasecmp(value, "disable") == 0;
}

/* One of the words between blanks. */
static bool
has_word(const char *value, const char *word)
{
	size_t len = strlen(word), n;

	for (; *value != '\0'; value += n) {
		value += strspn(value, " \t");
		n = strcspn(value, " \t");
		if (n == len && strncasecmp(value, word, n) == 0)
			return true;
	}
	return false;
}

/* What follows name= , or NULL. */
static const char *
assigned(const char *value, const char *name)
{
	const char *at = strstr(value, name);

	while (at != NULL && at != value && at[-1] != ' ' && at[-1] != '\t')
		at = strstr(at + 1, name);
	return at != NULL ? at + strlen(name) : NULL;
}

/* --- times ---------------------------------------------------------------- */

static void
judge_time(struct looked *l, const char *name, int64_t ms)
{
	bool short_ = ms < l->times->wait_ms;

	/* None at all, mostly. */
	if (ms <= 0)
		return;
	if (ms >= l->times->run_ms)
		return;
	say(l, short_ ? DOCTOR_FAIL : DOCTOR_WARN, short_ ?
	    DOCTOR_FRONT_TIME_WAIT : DOCTOR_FRONT_TIME, "%s is %" PRId64
	    " s%s, and idemd may take %" PRId64 " s", name, ms / 1000,
	    l->line == 0 ? " when it is not said" : "",
	    l->times->run_ms / 1000);
}

/* Apache's and HAProxy's have one name. */
static void
on_timeout(struct looked *l, const char *value)
{
	int64_t ms;

	if (strncasecmp(value, "server ", 7) == 0) {
		if (doctor_front_time(value + 7, 1, &ms))
			judge_time(l, "timeout server", ms);
	} else if (doctor_front_time(value, 1000, &ms)) {
		l->timeout_ms = ms;
	}
}

/* --- what is sent again --------------------------------------------------- */

static void
on_next_upstream(struct looked *l, const char *name, const char *value)
{
	if (has_word(value, "non_idempotent"))
		say(l, DOCTOR_WARN, DOCTOR_FRONT_REPEATS, "%s has "
		    "non_idempotent", name);
	else if (!has_word(value, "off"))
		say(l, DOCTOR_NOTE, DOCTOR_FRONT_REPEATS_SAFE, "%s is \"%s\"",
		    name, value);
}

static void
on_retry_on(struct looked *l, const char *value)
{
	if (!has_word(value, "none") && strcasecmp(value, "conn-failure") != 0)
		say(l, DOCTOR_WARN, DOCTOR_FRONT_REPEATS, "retry-on is \"%s\"",
		    value);
}

/* ProxyPass, ProxySet, BalancerMember: "... retry=60 timeout=300". */
static void
on_worker(struct looked *l, const char *value)
{
	const char *text = assigned(value, "retry=");
	int64_t ms;

	if (text != NULL && doctor_front_time(text, 1000, &ms) &&
	    ms > PAUSE_MAX_MS)
		say(l, DOCTOR_NOTE, DOCTOR_FRONT_PAUSE, "retry is %" PRId64
		    " s", ms / 1000);
	text = assigned(value, "failonstatus=");
	if (text != NULL)
		say(l, DOCTOR_WARN, DOCTOR_FRONT_PAUSE, "failonstatus is %s: "
		    "an answer of the program's counts as a refusal", text);
	text = assigned(value, "timeout=");
	if (text != NULL && doctor_front_time(text, 1000, &ms)) {
		judge_time(l, "timeout", ms);
		l->seen[DOCTOR_WORD_PROXY_TIMEOUT] = true;
	}
}

/* --- what is kept --------------------------------------------------------- */

static void
on_cache(struct looked *l, const char *name, const char *value)
{
	if (is_off(value))
		return;
	say(l, DOCTOR_WARN, DOCTOR_FRONT_CACHE, "%s is %s", name, value);
	if (l->times->life_ms != DOCTOR_UNKNOWN)
		say(l, DOCTOR_FAIL, DOCTOR_FRONT_TOKEN_CACHE, "%s is %s, and "
		    "pages have tokens in them, which live %" PRId64 " s", name,
		    value, l->times->life_ms / 1000);
}

static void
on_param(struct looked *l, const char *value)
{
	if (has_word(value, "REMOTE_USER") && has_word(value, "$remote_user"))
		l->user_line = l->line;
	else if (has_word(value, "SCRIPT_NAME") ||
	    has_word(value, "REQUEST_METHOD"))
		l->own_params = true;
}

static void
on_include(struct looked *l, const char *value)
{
	size_t len = strlen(value);

	if (len >= 14 && strcmp(value + len - 14, "fastcgi_params") == 0)
		l->include_line = l->line;
}

/* --- one statement -------------------------------------------------------- */

static void
judge_switch(struct looked *l, const char *name, const char *value,
    enum doctor_level level, enum doctor_check check)
{
	if (!is_off(value))
		say(l, level, check, "%s is %s", name, value);
}

static void
judge_upload(struct looked *l, const char *name, int64_t bytes)
{
	if (bytes > 0 && bytes < UPLOAD_MIN)
		say(l, DOCTOR_WARN, DOCTOR_FRONT_UPLOAD, "%s is %" PRId64
		    " bytes%s", name, bytes, l->line == 0 ?
		    " when it is not said" : "");
}

static void
on_handler(struct looked *l, const char *value)
{
	if (strstr(value, "fcgi://") != NULL)
		l->seen[DOCTOR_WORD_PROXY_PASS] = true;
	else if (strcasecmp(value, "fcgid-script") == 0)
		l->seen[DOCTOR_WORD_FCGID] = true;
}

static void
judge(struct looked *l, const struct doctor_statement *s)
{
	int64_t number;

	switch (s->word) {
	case DOCTOR_WORD_NEXT_UPSTREAM:
		on_next_upstream(l, s->name, s->value);
		return;
	case DOCTOR_WORD_FASTCGI_TIME:
	case DOCTOR_WORD_NGINX_PROXY_TIME:
	case DOCTOR_WORD_PROXY_TIMEOUT:
	case DOCTOR_WORD_FCGID_IO:
	case DOCTOR_WORD_FCGID_BUSY:
	case DOCTOR_WORD_CGID_TIME:
	case DOCTOR_WORD_WRITE_IDLE:
		if (doctor_front_time(s->value, 1000, &number))
			judge_time(l, s->name, number);
		return;
	case DOCTOR_WORD_TIMEOUT:
		on_timeout(l, s->value);
		return;
	case DOCTOR_WORD_CACHE:
		on_cache(l, s->name, s->value);
		return;
	case DOCTOR_WORD_HIDES:
		judge_switch(l, s->name, s->value, DOCTOR_WARN,
		    DOCTOR_FRONT_HIDES);
		return;
	case DOCTOR_WORD_BUFFERS:
		if (is_off(s->value))
			say(l, DOCTOR_NOTE, DOCTOR_FRONT_STREAMS, "%s is %s",
			    s->name, s->value);
		return;
	case DOCTOR_WORD_STREAMS:
		judge_switch(l, s->name, s->value, DOCTOR_WARN,
		    DOCTOR_FRONT_STREAMS);
		return;
	case DOCTOR_WORD_MIRROR:
		judge_switch(l, s->name, s->value, DOCTOR_WARN,
		    DOCTOR_FRONT_COPIES);
		return;
	case DOCTOR_WORD_FCGID_LEN:
		if (doctor_front_number(s->value, &number))
			judge_upload(l, s->name, number);
		return;
	case DOCTOR_WORD_PROXY_PASS:
		on_worker(l, s->value);
		l->seen[s->word] = strstr(s->value, "fcgi://") != NULL ||
		    l->seen[s->word];
		return;
	case DOCTOR_WORD_WORKER:
		on_worker(l, s->value);
		return;
	case DOCTOR_WORD_DISABLE:
		if (doctor_front_time(s->value, 1000, &number) &&
		    number > PAUSE_MAX_MS)
			say(l, DOCTOR_NOTE, DOCTOR_FRONT_PAUSE, "%s is %s",
			    s->name, s->value);
		return;
	case DOCTOR_WORD_RETRY_ON:
		on_retry_on(l, s->value);
		return;
	case DOCTOR_WORD_PARAM:
		on_param(l, s->value);
		return;
	case DOCTOR_WORD_INCLUDE:
		on_include(l, s->value);
		return;
	case DOCTOR_WORD_GUARD:
		l->guarded = l->guarded || !is_off(s->value);
		return;
	case DOCTOR_WORD_HANDLER:
		on_handler(l, s->value);
		return;
	case DOCTOR_WORD_CHECK_LOCAL:
	case DOCTOR_WORD_FASTCGI_PASS:
	case DOCTOR_WORD_NGINX_PROXY_PASS:
	case DOCTOR_WORD_FCGID:
	case DOCTOR_WORD_LIGHTTPD:
	case DOCTOR_WORD_CGI:
	case DOCTOR_WORDS:
		return;
	}
}

/* --- what was not said ---------------------------------------------------- */

static void
judge_missing(struct looked *l)
{
	static const struct {
		enum doctor_word with, missing;
		const char *name;
		int64_t ms;
	} times[] = {
		{ DOCTOR_WORD_FASTCGI_PASS, DOCTOR_WORD_FASTCGI_TIME,
		  "fastcgi_read_timeout", 60000 },
		{ DOCTOR_WORD_NGINX_PROXY_PASS, DOCTOR_WORD_NGINX_PROXY_TIME,
		  "proxy_read_timeout", 60000 },
		{ DOCTOR_WORD_PROXY_PASS, DOCTOR_WORD_PROXY_TIMEOUT,
		  "ProxyTimeout", 60000 },
		{ DOCTOR_WORD_FCGID, DOCTOR_WORD_FCGID_IO, "FcgidIOTimeout",
		  40000 },
		{ DOCTOR_WORD_FCGID, DOCTOR_WORD_FCGID_BUSY,
		  "FcgidBusyTimeout", 300000 },
		{ DOCTOR_WORD_LIGHTTPD, DOCTOR_WORD_WRITE_IDLE,
		  "server.max-write-idle", 360000 },
		{ DOCTOR_WORD_CGI, DOCTOR_WORD_CGID_TIME, "CGIDScriptTimeout",
		  60000 },
	};
	bool apache;
	size_t i;

	l->line = 0;
	for (i = 0; i < sizeof times / sizeof *times; i++) {
		if (!l->seen[times[i].with] || l->seen[times[i].missing])
			continue;
		apache = times[i].missing == DOCTOR_WORD_PROXY_TIMEOUT ||
		    times[i].missing == DOCTOR_WORD_CGID_TIME;
		judge_time(l, times[i].name, apache && l->timeout_ms > 0 ?
		    l->timeout_ms : times[i].ms);
	}
	if (l->seen[DOCTOR_WORD_FCGID] && !l->seen[DOCTOR_WORD_FCGID_LEN])
		judge_upload(l, "FcgidMaxRequestLen", 128 * 1024);
}

/* What is wrong only beside something else. */
static void
judge_together(struct looked *l)
{
	if (l->user_line > 0 && !l->guarded) {
		l->line = l->user_line;
		say(l, DOCTOR_WARN, DOCTOR_FRONT_USER, "REMOTE_USER is "
		    "$remote_user, and nothing here asks for a password");
	}
	if (l->include_line > 0 && l->own_params) {
		l->line = l->include_line;
		say(l, DOCTOR_WARN, DOCTOR_FRONT_PARAMS, "fastcgi_params is "
		    "included as well");
	}
}

void
doctor_front(const struct doctor_times *times, const char *file,
    struct idem_bytes text, struct doctor_findings *f)
{
	struct looked l = {
		.times = times, .f = f, .file = file, .timeout_ms = -1
	};
	struct doctor_scan scan = { .text = text, .line = 1 };
	struct doctor_statement s;
	size_t before = f->len;

	while (doctor_front_next(&scan, &s)) {
		l.line = s.line;
		l.seen[s.word] = l.seen[s.word] ||
		    s.word != DOCTOR_WORD_PROXY_PASS;
		l.known++;
		judge(&l, &s);
	}
	judge_missing(&l);
	judge_together(&l);
	l.line = 0;
	if (l.known == 0)
		say(&l, DOCTOR_WARN, DOCTOR_FRONT_FILE, "nothing in it is "
		    "known");
	else if (f->len == before)
		say(&l, DOCTOR_OK, DOCTOR_FRONT, "nothing against its %zu "
		    "statements that are known", l.known);
}
