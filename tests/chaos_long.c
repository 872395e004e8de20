/* SPDX-License-Identifier: ISC */
#include "chaos.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Every mode, one after the other, and a table at the end.
 *
 *	CHAOS_MODE	only these, with blanks between them
 *	CHAOS_SECONDS	of load and faults in each; 60
 *	CHAOS_SEED	of keys and faults; the time
 *	CHAOS_KEYS	of those without faults; 3000
 */
static long
number(const char *name, long otherwise)
{
	const char *given = getenv(name);

	return given != NULL && *given != '\0' ? strtol(given, NULL, 10) :
	    otherwise;
}

static bool
is_wanted(const char *name)
{
	const char *given = getenv("CHAOS_MODE"), *at = given;
	size_t len = strlen(name);

	if (given == NULL || *given == '\0')
		return true;
	for (; (at = strstr(at, name)) != NULL; at += len)
		if ((at == given || at[-1] == ' ') &&
		    (at[len] == ' ' || at[len] == '\0'))
			return true;
	return false;
}

/* A line of the table in doc/operations.md. */
static void
put_row(struct idem_buf *table, const struct chaos_run *r)
{
	const struct chaos_count *c = &r->count;
	uint64_t all = 0, told = 0;
	size_t a;

	for (a = 0; a < CHAOS_ANSWERS; a++)
		all += c->answers[a];
	for (a = CHAOS_STORED; a <= CHAOS_UNRECORDED; a++)
		told += c->answers[a];
	idem_buf_printf(table, "| %s | %u | %u | %u | %u | %u | %u | %u | %llu "
	    "| %.1f %% | %.1f %% |\n", r->mode->what, c->keys, c->starts,
	    c->twice, c->most, c->other, c->forgotten, c->unknown,
	    (unsigned long long)all,
	    100.0 * (double)told / (double)(all > 0 ? all : 1),
	    100.0 * (double)c->told / (double)(c->keys > 0 ? c->keys : 1));
}

static void
tell_table(const struct idem_buf *table)
{
	const char *at = (const char *)table->at, *end;

	note("| arbiter | keys | starts | twice | most | other answer | "
	    "forgotten | unknown | requests | answered | keys answered |");
	note("|---|---|---|---|---|---|---|---|---|---|---|");
	for (; (end = strchr(at, '\n')) != NULL; at = end + 1)
		note("%.*s", (int)(end - at), at);
}

int
main(void)
{
	long seconds = number("CHAOS_SECONDS", 60);
	uint32_t seed = (uint32_t)number("CHAOS_SEED", (long)time(NULL));
	uint32_t keys = (uint32_t)number("CHAOS_KEYS", 3000);
	const struct chaos_mode *mode;
	struct idem_buf table = { 0 };
	struct chaos_run run;
	size_t i;

	if (redis_rig_missing() != NULL)
		skip_all(redis_rig_missing());
	note("CHAOS_SEED=%u CHAOS_SECONDS=%ld", seed, seconds);
	for (i = 0; (mode = chaos_mode_at(i)) != NULL; i++) {
		if (!is_wanted(mode->name))
			continue;
		run = (struct chaos_run){ .mode = mode,
			.seed = seed != 0 ? seed : 1, .ms = seconds * 1000 };
		if (mode->topology == CHAOS_STILL)
			chaos_many(&run, keys);
		else
			chaos_run(&run);
		put_row(&table, &run);
	}
	idem_buf_u8(&table, 0);
	if (!idem_buf_ok(&table))
		bail_out("out of memory");
	tell_table(&table);
	idem_buf_free(&table);
	note("again with: make check-long CHAOS_SEED=%u CHAOS_SECONDS=%ld",
	    seed, seconds);
	return done();
}
