/* SPDX-License-Identifier: ISC */
#include "program.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Who reads may be gone: then there is nothing to do but to end. */
static void
put(const struct program *p, const char *text, size_t len)
{
	ssize_t n;

	while (len > 0) {
		n = write(STDOUT_FILENO, text, len);
		if (n == -1 && errno != EINTR)
			program_end(p, 1);
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

/* What stands for a name in the text that it is to say besides. */
static const char *
value_of(const struct program *p, const char *name, size_t len,
    char room[PROGRAM_NAME])
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
			program_named(getenv(known[i].from), room);
			return room;
		}
	return NULL;
}

/* IDEMSIM_OUTPUT, its names in braces replaced; a line, or nothing. */
static char *
besides(const struct program *p)
{
	const char *text = getenv("IDEMSIM_OUTPUT"), *at = text, *end, *value;
	char room[PROGRAM_NAME], *line = NULL;
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
	char key[PROGRAM_NAME], nonce[PROGRAM_NAME], effect[64] = "";
	char *more = besides(p), *body = NULL;

	if (!program_says(p, "effect", "none"))
		snprintf(effect, sizeof effect, "effect %s\n", p->effect);
	if (more != NULL)
		body = composed(len, "key %s\nnonce %s\n%s%s",
		    program_named(getenv("HTTP_X_SIM_KEY"), key),
		    program_named(getenv("HTTP_X_SIM_NONCE"), nonce), effect,
		    more);
	free(more);
	return body;
}

static char *
compose_head(const struct program *p, size_t body_len, size_t *len)
{
	char key[PROGRAM_NAME], nonce[PROGRAM_NAME];
	char promise[48] = "", effect[64] = "";
	long status = program_number(p, "status", 200);

	if (!program_says(p, "effect", "none"))
		snprintf(effect, sizeof effect, "X-Sim-Effect: %s\r\n",
		    p->effect);
	if (program_number(p, "length", 0) != 0)
		snprintf(promise, sizeof promise, "Content-Length: %zu\r\n",
		    body_len);
	return composed(len, "Status: %ld %s\r\n"
	    "Content-Type: text/plain\r\n%sX-Sim-Key: %s\r\n"
	    "X-Sim-Nonce: %s\r\n%s\r\n", status,
	    status == 200 ? "OK" : "As Told", promise,
	    program_named(getenv("HTTP_X_SIM_KEY"), key),
	    program_named(getenv("HTTP_X_SIM_NONCE"), nonce), effect);
}

/* Head and body, which is filled up; NULL: no memory. */
static char *
compose(const struct program *p, size_t *len)
{
	long want = program_number(p, "output", 0);
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

void
program_answer(const struct program *p)
{
	size_t len;
	char *text = compose(p, &len);
	long partial = program_number(p, "partial", -1);

	if (text == NULL)
		program_end(p, 1);
	if (program_says(p, "crash", "output")) {
		put(p, text, len / 2);
		raise(SIGKILL);
	}
	if (partial >= 0 && (size_t)partial < len)
		len = (size_t)partial;
	put(p, text, len);
	free(text);
}
