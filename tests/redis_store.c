/* SPDX-License-Identifier: ISC */
#include "redis_store.h"

#include "tap.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "idem:"
#define LONG_MS 600000	/* in which nothing ends that is not to */
#define SILENCE_MS 20000	/* that a busy machine may make */

/* The trace's own numbers follow the world, unless the store follows them. */
static void
tick(struct redis_store *s)
{
	if (s->options.fixed_time)
		return;
	atomic_store(&s->t.boot_ms, idem_boot_ms(&idem_clock_real));
	atomic_store(&s->t.wall_ms, idem_wall_ms(&idem_clock_real));
}

void
redis_store_open_blind(struct redis_store *s)
{
	struct idem_redis_options *options = &s->client_options;
	char error[300];

	trace_init(&s->t);
	if (!s->options.fixed_time) {
		s->t.clock = idem_clock_real;
		s->t.keep_ms = s->t.tombstone_ms = LONG_MS;
	}
	if (options->timeout_ms == 0)
		options->timeout_ms = SILENCE_MS;
	tick(s);
	if (options->urls == NULL) {
		s->urls[0] = s->server->url;
		options->urls = s->urls;
		options->urls_len = 1;
	}
	options->clock = &s->t.clock;
	s->client = idem_redis_new(options, error, sizeof error);
	if (s->client == NULL)
		bail_out("%s", error);
	s->options.client = s->client;
	s->options.clock = &s->t.clock;
	s->options.boot = s->t.boot;
	s->t.store = idem_store_redis(&s->options);
	if (s->t.store == NULL)
		bail_out("no memory for a store");
}

/* What it asks for at its start goes before all else on its connection. */
void
redis_store_open(struct redis_store *s)
{
	redis_store_open_blind(s);
	if (strcmp(redis_store_say(s, "claim k0 o0 f0 g0 look"),
	    "refused") == 0)
		bail_out("the store does not reach its server");
}

void
redis_store_close(struct redis_store *s)
{
	if (s->t.store != NULL)
		s->t.store->ops->close(s->t.store);
	s->t.store = NULL;
	idem_redis_free(s->client);
	s->client = NULL;
}

const char *
redis_store_say(struct redis_store *s, const char *format, ...)
{
	char line[300];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	tick(s);
	trace_run(&s->t, line, s->out, sizeof s->out);
	return s->out;
}

void
redis_store_start(struct redis_store *s, struct trace_asked *asked,
    const char *line)
{
	tick(s);
	trace_start(&s->t, line, asked);
}

void
redis_store_poll(struct redis_store *s, int64_t ms)
{
	int64_t until_ms = idem_boot_ms(&idem_clock_real) + ms;
	struct pollfd fd = { .events = POLLIN };

	do {
		fd.fd = s->t.store->ops->fd(s->t.store);
		poll(&fd, 1, 5);
		s->t.store->ops->poll(s->t.store);
	} while (idem_boot_ms(&idem_clock_real) < until_ms);
}

const char *
redis_store_key(const char *name)
{
	static char key[sizeof PREFIX + 2 * IDEM_DIGEST_LEN];
	struct idem_digest digest = trace_digest(name);

	memcpy(key, PREFIX, sizeof PREFIX);
	idem_hex(digest.at, sizeof digest.at, key + sizeof PREFIX - 1);
	return key;
}

long long
redis_store_info(struct redis_rig *server, const char *section,
    const char *name)
{
	const char *at = strstr(redis_rig_say(server, "INFO", section, NULL),
	    name);

	return at != NULL ? strtoll(at + strlen(name), NULL, 10) : -1;
}
