/* SPDX-License-Identifier: ISC */
#include "ledger.h"
#include "redis_rig.h"
#include "store_redis.h"
#include "store_rows.h"
#include "store_trace.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One contract for every store: rows of store_rows.c. */

static char folder[] = "/tmp/t_store.XXXXXX";

static struct idem_store *
open_memory(struct trace *t)
{
	return idem_store_memory(&t->clock, &t->boot);
}

static struct idem_store *
open_sqlite(struct trace *t)
{
	return ledger_open(t, t->path);
}

/* A real Redis under the trace's clock; what restarts is its client. */
static struct redis_rig server;
static const char *const urls[] = { server.url };
static struct idem_redis *client;

static struct idem_redis *
client_of(struct trace *t)
{
	const struct idem_redis_options options = {
		.urls = urls,
		.urls_len = 1,
		.clock = &t->clock,
	};
	char error[300];

	idem_redis_free(client);
	client = idem_redis_new(&options, error, sizeof error);
	if (client == NULL)
		bail_out("%s", error);
	return client;
}

static struct idem_store *
open_redis(struct trace *t)
{
	const struct idem_store_redis_options options = {
		.client = client_of(t),
		.clock = &t->clock,
		.boot = t->boot,
		.token = true,
		.fixed_time = true,
	};
	const struct idem_store_call call = {
		.op = IDEM_STORE_LIST,
		.deadline_ms = INT64_MAX / 2,
	};
	struct idem_store *store = idem_store_redis(&options);
	struct idem_store_answer a;

	if (store == NULL)
		bail_out("no memory for a store");
	/* What it asks for at its start is answered before. */
	idem_store_wait(store, &call, &a);
	idem_store_answer_free(&a);
	return store;
}

/* The first line that came to something else, or NULL. */
static const char *
run_lines(struct trace *t, const char *lines, char *wrong, size_t wrong_size)
{
	char line[300], out[300], *want;
	size_t len;

	for (; *lines != '\0'; lines += len + (lines[len] == '\n')) {
		len = strcspn(lines, "\n");
		snprintf(line, sizeof line, "%.*s", (int)len, lines);
		want = strstr(line, " -> ");
		if (want != NULL) {
			*want = '\0';
			want += 4;
		}
		trace_run(t, line, out, sizeof out);
		if (strcmp(out, want != NULL ? want : "") == 0)
			continue;
		snprintf(wrong, wrong_size, "%s -> %s, not %s", line, out,
		    want);
		return wrong;
	}
	return NULL;
}

static void
run_row(const struct store_row *row, const char *name,
    struct idem_store *(*open_it)(struct trace *), const char *path)
{
	char wrong[900];
	const char *bad;
	struct trace t;

	trace_init(&t);
	t.open = open_it;
	t.path = path;
	if (path != NULL)
		ledger_make(path);
	t.store = open_it(&t);
	bad = run_lines(&t, row->lines, wrong, sizeof wrong);
	ok(bad == NULL, "%s: %s", name, row->what);
	if (bad != NULL)
		note("%s", bad);
	t.store->ops->close(t.store);
	if (path != NULL)
		ledger_remove(path);
}

static size_t
rows_len(void)
{
	return store_rows_len + store_rows_timed_len;
}

static const struct store_row *
row_at(size_t i)
{
	return i < store_rows_len ? &store_rows[i] :
	    &store_rows_timed[i - store_rows_len];
}

static void
run_redis(void)
{
	const char *missing = redis_rig_missing();
	size_t i;

	if (missing == NULL)
		redis_rig_start(&server, NULL);
	for (i = 0; i < rows_len(); i++) {
		if (missing != NULL) {
			skip(missing, "redis: %s", row_at(i)->what);
			continue;
		}
		redis_rig_say(&server, "FLUSHALL", NULL);
		run_row(row_at(i), "redis", open_redis, NULL);
	}
	idem_redis_free(client);
	redis_rig_end(&server);
}

int
main(void)
{
	char path[100];
	size_t i;

	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	for (i = 0; i < rows_len(); i++)
		if (!row_at(i)->lasting)
			run_row(row_at(i), "memory", open_memory, NULL);
	for (i = 0; i < rows_len(); i++)
		run_row(row_at(i), "sqlite", open_sqlite, path);
	rmdir(folder);
	run_redis();
	return done();
}
