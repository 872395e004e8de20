/* SPDX-License-Identifier: ISC */
#include "redis_desk.h"

#include "tap.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 16
#define PATIENCE_MS 30000

static int64_t
now_ms(void)
{
	return idem_boot_ms(&idem_clock_real);
}

/* --- what the wire says --------------------------------------------------- */

static void
watch(void *arg, struct idem_redis_wire *wire, int fd, bool want_write)
{
	struct redis_desk *d = arg;

	(void)wire;
	if (fd >= 0 && fd != d->fd)
		d->watches++;
	d->fd = fd;
	d->want_write = want_write;
}

static const char *
met(void *arg, const struct idem_redis_value *replies)
{
	static const char letters[] = "nistea";
	struct redis_desk *d = arg;
	size_t i, n;

	for (i = 0; i < replies->len; i++) {
		n = strlen(d->saw);
		snprintf(d->saw + n, sizeof d->saw - n, "%c",
		    letters[replies->at[i].type]);
	}
	return d->refuse;
}

static void
keep(struct redis_told *t, const struct idem_redis_value *v)
{
	size_t len = v->text.len;

	t->has_value = true;
	t->type = v->type;
	t->integer = v->integer;
	t->len = v->type == IDEM_REDIS_ARRAY ? v->len : len;
	if (len >= sizeof t->text)
		len = sizeof t->text - 1;
	if (len > 0)
		memcpy(t->text, v->text.at, len);
	t->text[len] = '\0';
}

static void
told(void *arg, const struct idem_redis_wire_answer *a)
{
	struct redis_told *t = arg;

	t->answers++;
	t->meaning = a->meaning;
	t->sent_ms = a->sent_ms;
	t->answered_ms = now_ms();
	t->late = t->deadline_ms < t->desk->turned_ms;
	if (a->value != NULL)
		keep(t, a->value);
	if (a->error != NULL)
		snprintf(t->error, sizeof t->error, "%s", a->error);
}

/* --- what the test does --------------------------------------------------- */

void
redis_desk_open(struct redis_desk *d, const char *url,
    idem_redis_resolve *resolve)
{
	char error[128];

	*d = (struct redis_desk){ .fd = -1 };
	if (!idem_redis_url_read(url, &d->url, error, sizeof error))
		bail_out("%s: %s", url, error);
	d->names = idem_redis_names_new(&idem_clock_real, resolve);
	if (d->names == NULL)
		bail_out("no names");
	d->redis.clock = &idem_clock_real;
	d->options = (struct idem_redis_wire_options){
		.url = &d->url, .redis = &d->redis, .names = d->names,
		.met = met, .arg = d, .watch = watch
	};
}

static size_t
split(char *line, struct idem_bytes *words)
{
	size_t n = 0;
	char *rest = NULL, *word;

	for (word = strtok_r(line, " ", &rest); word != NULL && n < WORDS_MAX;
	    word = strtok_r(NULL, " ", &rest))
		words[n++] = idem_bytes_text(word);
	return n;
}

void
redis_desk_send_after(struct redis_desk *d, struct redis_told *t,
    int64_t deadline_ms, const char *before, const char *words)
{
	struct idem_bytes args[WORDS_MAX];
	char line[256];

	*t = (struct redis_told){ .desk = d, .asked_ms = now_ms() };
	t->deadline_ms = t->asked_ms + deadline_ms;
	if (d->wire == NULL)
		d->wire = idem_redis_wire_new(&d->options);
	if (d->wire == NULL)
		bail_out("no wire");
	snprintf(line, sizeof line, "%s", words);
	if (!idem_redis_wire_send(d->wire, args, split(line, args), before,
	    t->deadline_ms, told, t))
		bail_out("not sent");
}

void
redis_desk_send(struct redis_desk *d, struct redis_told *t,
    int64_t deadline_ms, const char *words)
{
	redis_desk_send_after(d, t, deadline_ms, NULL, words);
}

static int
wait_ms(const struct redis_desk *d, int64_t ms)
{
	int64_t due_ms = idem_redis_wire_due_ms(d->wire), left_ms;

	if (due_ms == INT64_MIN)
		return 0;
	if (due_ms == INT64_MAX)
		return (int)ms;
	left_ms = due_ms - now_ms();
	if (left_ms > ms)
		left_ms = ms;
	return left_ms > 0 ? (int)left_ms : 0;
}

void
redis_desk_turn(struct redis_desk *d, int64_t ms)
{
	struct pollfd p[2] = {
		{ .fd = d->fd, .events = (short)(d->want_write ?
		    POLLIN | POLLOUT : POLLIN) },
		{ .fd = idem_redis_names_fd(d->names), .events = POLLIN }
	};
	short broken = POLLERR | POLLHUP;
	int64_t begun_ms = now_ms();

	if (poll(p, 2, wait_ms(d, ms)) < 0)
		p[0].revents = p[1].revents = 0;
	if (p[1].revents != 0)
		idem_redis_names_poll(d->names);
	if (d->fd >= 0 && p[0].revents != 0)
		idem_redis_wire_ready(d->wire,
		    (p[0].revents & (POLLIN | broken)) != 0,
		    (p[0].revents & (POLLOUT | broken)) != 0);
	if (idem_redis_wire_due_ms(d->wire) <= now_ms())
		idem_redis_wire_due(d->wire);
	d->turned_ms = begun_ms;
}

bool
redis_desk_until(struct redis_desk *d, const struct redis_told *t)
{
	int64_t until_ms = now_ms() + PATIENCE_MS;

	while (t->answers == 0 && now_ms() < until_ms)
		redis_desk_turn(d, 100);
	return t->answers > 0;
}

bool
redis_desk_until_open(struct redis_desk *d, bool open)
{
	int64_t until_ms = now_ms() + PATIENCE_MS;

	while ((d->fd >= 0) != open && now_ms() < until_ms)
		redis_desk_turn(d, 100);
	return (d->fd >= 0) == open;
}

int64_t
redis_desk_ask(struct redis_desk *d, struct redis_told *t,
    int64_t deadline_ms, const char *words)
{
	redis_desk_send(d, t, deadline_ms, words);
	redis_desk_until(d, t);
	return t->answered_ms - t->asked_ms;
}

void
redis_desk_close(struct redis_desk *d)
{
	idem_redis_wire_free(d->wire);
	idem_redis_names_free(d->names);
	d->wire = NULL;
	d->names = NULL;
}

/* --- words ---------------------------------------------------------------- */

const char *
redis_desk_class(enum idem_class class)
{
	static const char *const words[] = {
		[IDEM_OK] = "ok", [IDEM_CLASS_REFUSED] = "refused",
		[IDEM_CLASS_MAYBE] = "maybe", [IDEM_CLASS_CONFIG] = "config"
	};

	return words[class];
}

const char *
redis_desk_remedy(enum idem_redis_remedy remedy)
{
	static const char *const words[] = {
		[IDEM_REDIS_NO_REMEDY] = "", [IDEM_REDIS_SEND_TEXT] = " text",
		[IDEM_REDIS_MOVE] = " move", [IDEM_REDIS_ASK] = " ask",
		[IDEM_REDIS_PAUSE] = " pause",
		[IDEM_REDIS_ANOTHER] = " another", [IDEM_REDIS_ANEW] = " anew"
	};

	return words[remedy];
}

void
redis_desk_meaning(struct idem_redis_meaning m, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s%s%s", redis_desk_class(m.class),
	    redis_desk_remedy(m.remedy), m.drop ? " drop" : "",
	    m.counts ? " counts" : "", m.away ? " away" : "");
}
