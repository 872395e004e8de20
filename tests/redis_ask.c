/* SPDX-License-Identifier: ISC */
#include "redis_ask.h"

#include "redis_slot.h"
#include "tap.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LATE_MS 60000	/* past a command's deadline; then it never comes */

int64_t
redis_boot_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

const char *
redis_class_name(enum idem_class class)
{
	switch (class) {
	case IDEM_OK:
		return "ok";
	case IDEM_CLASS_REFUSED:
		return "refused";
	case IDEM_CLASS_MAYBE:
		return "maybe";
	case IDEM_CLASS_CONFIG:
		return "config";
	}
	abort();
}

static void
add(const struct idem_redis_value *v, struct idem_buf *out)
{
	size_t i;

	switch (v->type) {
	case IDEM_REDIS_NIL:
		idem_buf_text(out, "(nil)");
		return;
	case IDEM_REDIS_INTEGER:
		idem_buf_printf(out, "%lld", (long long)v->integer);
		return;
	case IDEM_REDIS_ERROR:
		idem_buf_u8(out, '-');
		idem_buf_append(out, v->text.at, v->text.len);
		return;
	case IDEM_REDIS_STRING:
	case IDEM_REDIS_STATUS:
		idem_buf_append(out, v->text.at, v->text.len);
		return;
	case IDEM_REDIS_ARRAY:
		for (i = 0; i < v->len; i++) {
			idem_buf_text(out, i == 0 ? "[" : " ");
			add(&v->at[i], out);
		}
		idem_buf_text(out, v->len == 0 ? "[]" : "]");
		return;
	}
	abort();
}

void
redis_text(const struct idem_redis_value *v, char *out, size_t size)
{
	struct idem_buf text = {0};

	add(v, &text);
	idem_buf_u8(&text, 0);
	if (!idem_buf_ok(&text))
		bail_out("out of memory");
	snprintf(out, size, "%s", (char *)text.at);
	idem_buf_free(&text);
}

static void
switched(void *arg, bool away, const char *why)
{
	struct redis_ask *a = arg;

	a->went += away;
	a->came += !away;
	snprintf(a->why, sizeof a->why, "%s", why);
	note("%s: %s", away ? "away" : "back", why);
}

void
redis_ask_open(struct redis_ask *a, const char *const *urls, size_t len)
{
	char error[256];
	size_t i;

	for (i = 0; i < len && i < sizeof a->urls / sizeof *a->urls; i++)
		a->urls[i] = urls[i];
	a->options.urls = a->urls;
	a->options.urls_len = len;
	a->options.switched = switched;
	a->options.arg = a;
	a->went = a->came = 0;
	a->client = idem_redis_new(&a->options, error, sizeof error);
	if (a->client == NULL)
		bail_out("no client: %s", error);
}

void
redis_ask_close(struct redis_ask *a)
{
	idem_redis_free(a->client);
	a->client = NULL;
}

static int
ms_until(int64_t due_ms)
{
	int64_t left_ms = due_ms - redis_boot_ms();

	return left_ms <= 0 ? 0 : left_ms < 20 ? (int)left_ms : 20;
}

/* Returns when the turn began. */
static int64_t
turn(struct redis_ask *a)
{
	struct pollfd p = { .fd = idem_redis_fd(a->client), .events = POLLIN };
	int64_t begun_ms = redis_boot_ms();

	(void)poll(&p, 1, ms_until(idem_redis_due_ms(a->client)));
	idem_redis_poll(a->client);
	return begun_ms;
}

static void
answered(void *arg, const struct idem_redis_answer *answer)
{
	struct redis_ask *a = arg;

	a->answered = true;
	a->class = answer->class;
	a->away = answer->away;
	if (answer->class == IDEM_OK)
		redis_text(answer->value, a->text, sizeof a->text);
	else
		snprintf(a->text, sizeof a->text, "%s", answer->error);
}

const char *
redis_ask_this(struct redis_ask *a, int64_t limit_ms,
    struct idem_redis_command command)
{
	int64_t begin_ms = redis_boot_ms(), begun_ms;

	command.deadline_ms = begin_ms + limit_ms;
	command.done = answered;
	command.arg = a;
	a->answered = a->late = false;
	idem_redis_send(a->client, &command);
	while (!a->answered) {
		if (redis_boot_ms() > command.deadline_ms + LATE_MS)
			bail_out("a command is never answered");
		begun_ms = turn(a);
		a->late = a->late || (!a->answered &&
		    begun_ms > command.deadline_ms);
	}
	a->ms = redis_boot_ms() - begin_ms;
	return a->text;
}

const char *
redis_ask(struct redis_ask *a, int64_t limit_ms, const char *key,
    const char *word, ...)
{
	struct idem_bytes words[16];
	va_list more;
	size_t n = 0;

	va_start(more, word);
	for (; word != NULL && n < 16; word = va_arg(more, const char *))
		words[n++] = idem_bytes_text(word);
	va_end(more);
	return redis_ask_this(a, limit_ms, (struct idem_redis_command){
		.args = words, .args_len = n,
		.key = idem_bytes_text(key != NULL ? key : "") });
}

const char *
redis_ask_script(struct redis_ask *a, int64_t limit_ms,
    const struct idem_redis_script *script, const char *key, const char *arg)
{
	struct idem_bytes args[3] = { idem_bytes_text("1"),
		idem_bytes_text(key), idem_bytes_text(arg) };

	return redis_ask_this(a, limit_ms, (struct idem_redis_command){
		.script = script, .args = args, .args_len = 3,
		.key = args[1] });
}

bool
redis_ask_turns(struct redis_ask *a, int64_t limit_ms, const bool *until)
{
	int64_t end_ms = redis_boot_ms() + limit_ms;

	while (until == NULL || !*until) {
		if (redis_boot_ms() >= end_ms)
			return until == NULL;
		turn(a);
	}
	return true;
}

bool
redis_ask_begin(struct redis_ask *a, int64_t limit_ms)
{
	int64_t end_ms = redis_boot_ms() + limit_ms;

	do
		redis_ask(a, limit_ms, "a", "EXISTS", "a", NULL);
	while ((a->class != IDEM_OK || idem_redis_away(a->client)) &&
	    redis_boot_ms() < end_ms);
	a->went = a->came = 0;
	return a->class == IDEM_OK;
}

bool
redis_ask_await(struct redis_ask *a, int64_t limit_ms, bool away)
{
	int64_t end_ms = redis_boot_ms() + limit_ms;

	while (idem_redis_away(a->client) != away) {
		if (redis_boot_ms() >= end_ms)
			return false;
		redis_ask_turns(a, 5, NULL);
	}
	return true;
}

size_t
redis_owner(const char *key, size_t nodes)
{
	return idem_redis_slot(idem_bytes_text(key)) * nodes / IDEM_REDIS_SLOTS;
}

const char *
redis_key_at(size_t node, size_t nodes, unsigned n, char key[24])
{
	unsigned i = 0;

	do
		snprintf(key, 24, "key-%u", i++);
	while (redis_owner(key, nodes) != node || n-- > 0);
	return key;
}
