/* SPDX-License-Identifier: ISC */
#include "redis_wire_private.h"

#include "fuzz.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/*
 * A server says the bytes, whole or in pieces.  Each command is answered once,
 * by its deadline, and a reply is no larger than we allow.  The first byte says
 * how the commands are sent.
 */
#define COMMANDS 3
#define REPLY_MAX 4096u
#define TIMEOUT_MS 250
#define WITH_HELLO 1u
#define WITH_BEFORE 2u
#define WITH_LOGIN 4u
#define CLOSED_LAST 8u

struct world {
	char path[64];
	int listener, peer, fd;
	int64_t now_ms;
	int answers[COMMANDS];
	struct idem_redis_url url;
	struct idem_redis_options redis;
	struct idem_clock clock;
	struct idem_redis_wire *wire;
};

/* --- reading alone: whole and in pieces it is the same -------------------- */

struct read {
	struct idem_redis_bound bound;
	struct idem_redis_reply *reply;
	struct idem_buf told;
};

static void
note_value(struct idem_buf *to, const struct idem_redis_value *v)
{
	size_t i;

	idem_buf_printf(to, "%d %lld %zu ", (int)v->type,
	    (long long)v->integer, v->len);
	if (v->text.len > 0)
		idem_buf_append(to, v->text.at, v->text.len);
	for (i = 0; i < v->len; i++)
		note_value(to, &v->at[i]);
}

static bool
read_piece(void *arg, struct idem_bytes bytes)
{
	struct read *r = arg;
	enum idem_redis_bound_told told;
	const struct idem_redis_value *value;
	const char *why = NULL;
	size_t taken;

	while (bytes.len > 0) {
		told = idem_redis_bound_take(&r->bound, bytes, &taken);
		fuzz_must(taken > 0 && taken <= bytes.len);
		fuzz_must(r->bound.charged <= REPLY_MAX);
		if (told == IDEM_REDIS_BOUND_LARGE ||
		    told == IDEM_REDIS_BOUND_NONE) {
			idem_buf_printf(&r->told, "end %d", (int)told);
			return false;
		}
		fuzz_must(idem_redis_reply_feed(r->reply,
		    (struct idem_bytes){ bytes.at, taken }));
		bytes.at = (const char *)bytes.at + taken;
		bytes.len -= taken;
		if (told == IDEM_REDIS_BOUND_MORE)
			continue;
		value = idem_redis_reply_get(r->reply, &why);
		if (value == NULL) {
			idem_buf_text(&r->told, why);
			return false;
		}
		note_value(&r->told, value);
	}
	return true;
}

static void
read_alone(struct idem_bytes bytes)
{
	struct read r[2];
	int i;

	for (i = 0; i < 2; i++) {
		r[i] = (struct read){ .bound.max = REPLY_MAX };
		r[i].reply = idem_redis_reply_new();
		fuzz_must(r[i].reply != NULL);
		fuzz_feed(read_piece, &r[i], bytes, i == 0);
	}
	fuzz_must(idem_bytes_equal(idem_buf_bytes(&r[0].told),
	    idem_buf_bytes(&r[1].told)));
	for (i = 0; i < 2; i++) {
		idem_redis_reply_free(r[i].reply);
		idem_buf_free(&r[i].told);
	}
}

/* --- end to end ----------------------------------------------------------- */

static int64_t
now_ms(void *arg)
{
	return ((struct world *)arg)->now_ms;
}

static void
watch(void *arg, struct idem_redis_wire *wire, int fd, bool want_write)
{
	(void)wire;
	(void)want_write;
	((struct world *)arg)->fd = fd;
}

static const char *
met(void *arg, const struct idem_redis_value *replies)
{
	(void)arg;
	fuzz_must(replies->type == IDEM_REDIS_ARRAY && replies->len == 2);
	return replies->at[0].type == IDEM_REDIS_NIL ? "nil" : NULL;
}

static void
done(void *arg, const struct idem_redis_wire_answer *a)
{
	++*(int *)arg;
	fuzz_must((a->meaning.class == IDEM_OK) == (a->error == NULL));
	fuzz_must(a->meaning.class != IDEM_OK || (a->value != NULL &&
	    a->value->type != IDEM_REDIS_ERROR));
}

static void
due(struct world *w)
{
	int turns;

	for (turns = 0; turns < 50 &&
	    idem_redis_wire_due_ms(w->wire) <= w->now_ms; turns++)
		idem_redis_wire_due(w->wire);
	fuzz_must(turns < 50);
}

static void
meet(struct world *w)
{
	char commands[1024];

	due(w);
	if (w->peer < 0)
		w->peer = accept4(w->listener, NULL, NULL,
		    SOCK_CLOEXEC | SOCK_NONBLOCK);
	while (w->peer >= 0 &&
	    recv(w->peer, commands, sizeof commands, MSG_DONTWAIT) > 0)
		continue;
}

static bool
say_piece(void *arg, struct idem_bytes piece)
{
	struct world *w = arg;

	meet(w);
	if (w->peer < 0)
		return false;
	(void)send(w->peer, piece.at, piece.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (w->fd >= 0)
		idem_redis_wire_ready(w->wire, true, false);
	due(w);
	return w->fd >= 0;
}

static void
open_world(struct world *w)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char folder[] = "/tmp/idem-fuzz-XXXXXX";

	fuzz_must(mkdtemp(folder) != NULL);
	snprintf(w->path, sizeof w->path, "%s/s", folder);
	snprintf(at.sun_path, sizeof at.sun_path, "%s", w->path);
	w->listener = socket(AF_UNIX,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	fuzz_must(bind(w->listener, (struct sockaddr *)&at, sizeof at) == 0 &&
	    listen(w->listener, 16) == 0);
	/* Nobody needs its name after that but connect. */
	w->url = (struct idem_redis_url){ .kind = IDEM_REDIS_UNIX };
	snprintf(w->url.host, sizeof w->url.host, "%s", w->path);
	w->clock = (struct idem_clock){ .boot_ms = now_ms, .arg = w };
	w->redis = (struct idem_redis_options){ .clock = &w->clock,
		.timeout_ms = TIMEOUT_MS, .reply_max = REPLY_MAX };
	w->peer = w->fd = -1;
	w->now_ms = 1000;
}

static void
close_world(struct world *w)
{
	char *slash = strrchr(w->path, '/');

	if (w->peer >= 0)
		close(w->peer);
	close(w->listener);
	unlink(w->path);
	*slash = '\0';
	rmdir(w->path);
}

static void
play(struct world *w, uint8_t how, struct idem_bytes bytes)
{
	static const struct idem_bytes hello[][4] = {
		{ { "INFO", 4 } }, { { "PING", 4 } }
	}, args[] = { { "GET", 3 }, { "a", 1 } };
	const struct idem_redis_wire_options o = {
		.url = &w->url, .redis = &w->redis,
		.password = how & WITH_LOGIN ? "secret" : "",
		.hello = hello, .hello_len = how & WITH_HELLO ? 2 : 0,
		.met = met, .watch = watch, .arg = w
	};
	int i;

	w->wire = idem_redis_wire_new(&o);
	fuzz_must(w->wire != NULL);
	for (i = 0; i < COMMANDS; i++)
		fuzz_must(idem_redis_wire_send(w->wire, args, 2,
		    how & WITH_BEFORE ? "ASKING" : NULL,
		    w->now_ms + 100 * (i + 1), done, &w->answers[i]));
	meet(w);
	fuzz_feed(say_piece, w, bytes, false);
	if (how & CLOSED_LAST && w->peer >= 0) {
		close(w->peer);
		w->peer = -1;
		if (w->fd >= 0)
			idem_redis_wire_ready(w->wire, true, false);
	}
	w->now_ms += 100 * COMMANDS;
	due(w);
	for (i = 0; i < COMMANDS; i++)
		fuzz_must(w->answers[i] == 1);
	idem_redis_wire_free(w->wire);
	for (i = 0; i < COMMANDS; i++)
		fuzz_must(w->answers[i] == 1);
}

int
LLVMFuzzerTestOneInput(const uint8_t *at, size_t len)
{
	struct world world = { 0 };
	struct idem_bytes bytes;

	if (len < 2)
		return 0;
	bytes = (struct idem_bytes){ at + 1, len - 1 };
	read_alone(bytes);
	open_world(&world);
	play(&world, at[0], bytes);
	close_world(&world);
	return 0;
}
