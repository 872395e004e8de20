/* SPDX-License-Identifier: ISC */
#include "ledger.h"

#include "tap.h"

#include <stdio.h>
#include <unistd.h>

void
ledger_remove(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-lock" };
	char name[200];
	size_t i;

	for (i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
		unlink(name);
	}
}

void
ledger_make(const char *path)
{
	char error[300];

	ledger_remove(path);
	if (idem_store_sqlite_create(path, error, sizeof error) != 0)
		bail_out("%s", error);
}

struct idem_store *
ledger_open(struct trace *t, const char *path)
{
	struct idem_sqlite_options options = {
		.path = path,
		.clock = &t->clock,
		.boot = t->boot,
	};
	char error[300];
	struct idem_store *store;

	store = idem_store_sqlite(&options, error, sizeof error);
	if (store == NULL)
		bail_out("%s", error);
	t->sweeps_by_clock = true;
	return store;
}
