/* SPDX-License-Identifier: ISC */
#include "ledger.h"
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

int
main(void)
{
	char path[100];
	size_t i;

	if (mkdtemp(folder) == NULL)
		bail_out("no folder for the test");
	snprintf(path, sizeof path, "%s/ledger.db", folder);
	for (i = 0; i < store_rows_len; i++)
		if (!store_rows[i].lasting)
			run_row(&store_rows[i], "memory", open_memory, NULL);
	for (i = 0; i < store_rows_len; i++)
		run_row(&store_rows[i], "sqlite", open_sqlite, path);
	rmdir(folder);
	return done();
}
