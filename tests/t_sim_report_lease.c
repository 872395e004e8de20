/* SPDX-License-Identifier: ISC */
#include "report.h"
#include "report_private.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Brackets of leases, from what servers say.  A lease is 100 ms; an event a
 * word, TIME:WHAT:WHO, all of the key k.
 */
static const struct {
	const char *what, *arbiter, *happens;
	const char *want;	/* titles, a line each */
} rows[] = {
	{ "it is completed", "redis", "1:WON:g1 90:complete:g1",
	  "k, which g1 had, began at 1.00 ms and ended with its answer at "
	  "90.0 ms\n" },
	{ "it is renewed, and so longer", "redis",
	  "1:WON:g1 60:RENEWED:g1 130:RENEWED:g1 220:complete:g1",
	  "k, which g1 had, began at 1.00 ms, was renewed 2 times and ended "
	  "with its answer at 220.0 ms\n" },
	{ "it expires where nobody renews it", "redis",
	  "1:WON:g1 60:RENEWED:g1 300:unknown:g2",
	  "k, which g1 had, began at 1.00 ms, was renewed 1 time and expired "
	  "at 160.0 ms\n" },
	{ "it expires before another has it", "redis",
	  "1:WON:g1 300:WON:g2 320:complete:g2",
	  "k, which g1 had, began at 1.00 ms and expired at 101.0 ms\n"
	  "k, which g2 had, began at 300.0 ms and ended with its answer at "
	  "320.0 ms\n" },
	{ "another gets it too early", "redis", "1:WON:g1 50:WON:g2",
	  "k, which g1 had, began at 1.00 ms and was given to another before "
	  "its time at 50.0 ms\n"
	  "k, which g2 had, began at 50.0 ms and goes on\n" },
	{ "a completion comes too late", "redis", "1:WON:g1 300:complete:g1",
	  "k, which g1 had, began at 1.00 ms and expired at 101.0 ms\n" },
	{ "it is given back", "redis", "1:WON:g1 20:release:g1",
	  "k, which g1 had, began at 1.00 ms and was given back at 20.0 "
	  "ms\n" },
	{ "it is noted that nobody knows", "redis", "1:WON:g1 20:unknown:g1",
	  "k, which g1 had, began at 1.00 ms and ended: how its run did is "
	  "not known at 20.0 ms\n" },
	{ "a failover loses it", "redis", "1:WON:g1 20:lost_ack:g1",
	  "k, which g1 had, began at 1.00 ms and was forgotten by the server "
	  "at 20.0 ms\n" },
	{ "a claim is repeated by its owner", "token",
	  "1:WON:g1 80:OURS:g1 150:complete:g1",
	  "k, which g1 had, began at 1.00 ms, was renewed 1 time and ended "
	  "with its answer at 150.0 ms\n" },
	{ "it is refused", "redis", "1:IN_PROGRESS:g1 30:LOST:g1", "" },
	{ "of a ledger the program tells", "ledger", "1:begin:g1 300:end:g1",
	  "k, which g1 had, began at 1.00 ms and ended with its program at "
	  "300.0 ms\n" },
	{ "unless its instance does", "ledger",
	  "1:run.begin:g1 20:begin:g1 300:end:g1 310:complete.ok:g1",
	  "k, which g1 had, began at 1.00 ms and ended with its answer at "
	  "310.0 ms\n" },
	{ "which may have to give it back", "ledger",
	  "1:run.begin:g1 20:release.ok:g1 30:run.begin:g2",
	  "k, which g1 had, began at 1.00 ms and was given back at 20.0 ms\n"
	  "k, which g2 had, began at 30.0 ms and goes on\n" },
	{ "or does not know how it ended", "ledger",
	  "1:run.begin:g1 20:begin:g1 40:unknown.ok:g2",
	  "k, which g1 had, began at 1.00 ms and ended: how its run did is "
	  "not known at 40.0 ms\n" },
	{ "what its instance tells may be heard a little later", "ledger",
	  "1:begin:g1 2:run.begin:g1 30:end:g1 40:complete.ok:g1",
	  "k, which g1 had, began at 1.00 ms and ended with its answer at "
	  "40.0 ms\n" },
	{ "and so may what the one before it told", "ledger",
	  "1:run.begin:g1 20:run.begin:g2 21:release.ok:g1 40:complete.ok:g2",
	  "k, which g1 had, began at 1.00 ms and was given to another before "
	  "its time at 20.0 ms\n"
	  "k, which g2 had, began at 20.0 ms and ended with its answer at "
	  "40.0 ms\n" },
	{ "of a program of another's the program tells", "ledger",
	  "1:run.begin:g1 30:begin:g2 90:end:g2 95:complete.ok:g1",
	  "k, which g1 had, began at 1.00 ms and was given to another before "
	  "its time at 30.0 ms\n"
	  "k, which g2 had, began at 30.0 ms and ended with its program at "
	  "90.0 ms\n" },
	{ "what is not written yet is still had", "ledger",
	  "1:run.begin:g1 20:begin:g1 40:end:g1",
	  "k, which g1 had, began at 1.00 ms and goes on\n" },
	{ "a program may outlive it", "ledger",
	  "1:begin:g1 150:lease_expired_running:ledger 300:end:g1",
	  "k, which g1 had, began at 1.00 ms and expired at 150.0 ms\n" },
	{ "or die", "ledger", "1:begin:g1 30:exit:g1 200:begin:g2",
	  "k, which g1 had, began at 1.00 ms and ended with its instance at "
	  "30.0 ms\n"
	  "k, which g2 had, began at 200.0 ms and goes on\n" }
};

static bool
is_code(const char *word)
{
	return strcmp(word, "WON") == 0 || strcmp(word, "OURS") == 0 ||
	    strcmp(word, "RENEWED") == 0 || strcmp(word, "LOST") == 0 ||
	    strcmp(word, "IN_PROGRESS") == 0;
}

/* A command that a server answers; what writes is answered so. */
static void
command(struct history *h, int64_t t_ns, const char *word, const char *who)
{
	struct history_event *e = history_add(h, HISTORY_SEND, t_ns, who);
	int m = (int)h->n;

	e->m = m;
	e->to = "a";
	e->k = "k";
	e = history_add(h, HISTORY_STORE, t_ns, "a");
	e->m = m;
	e->k = "k";
	e->script = is_code(word) ? "claim" : history_text(h, word);
	e->code = is_code(word) ? history_text(h, word) : "WRITTEN";
}

static void
happen(struct history *h, int64_t t_ns, const char *word, const char *who)
{
	struct history_event *e;

	if (strcmp(word, "begin") == 0 || strcmp(word, "end") == 0) {
		e = history_add(h, HISTORY_EFFECT, t_ns, "h1");
		e->ph = history_text(h, word);
		e->gate = history_text(h, who);
		e->id = "e1";
		e->k = "k";
	} else if (strchr(word, '.') != NULL) {
		e = history_add(h, HISTORY_LABEL, t_ns, who);
		e->label = history_text(h, word);
		e->k = "k";
	} else if (strcmp(word, "exit") == 0)
		history_add(h, HISTORY_EXIT, t_ns, who)->wanted = true;
	else if (strncmp(word, "l", 1) == 0) {
		e = history_add(h, HISTORY_STORE, t_ns, who);
		e->note = history_text(h, word);
		e->k = "k";
	} else
		command(h, t_ns, word, who);
}

/* The last event comes 50 ms after what is there. */
static void
make(struct history *h, const char *arbiter, const char *happens)
{
	char word[40], who[20];
	int64_t t_ns = 0;
	int t, n;

	h->head.arbiter = arbiter;
	h->head.lease_ms = 100;
	for (; sscanf(happens, " %d:%39[^:]:%19s%n", &t, word, who, &n) == 3;
	    happens += n) {
		t_ns = t * INT64_C(1000000);
		happen(h, t_ns, word, who);
	}
	history_add(h, HISTORY_END, t_ns + 50 * INT64_C(1000000), "-");
	history_stamp_all(h);
}

static char *
page_of(const struct history *h)
{
	char *text = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&text, &len);

	if (file == NULL || report_html(file, h, NULL, NULL) != 0)
		bail_out("no page");
	fclose(file);
	return text;
}

/* What brackets' titles say. */
static void
titles(const char *page, char *out, size_t size)
{
	static const char begin[] = "<title>the lease of ";
	const char *end, *began;
	size_t len = 0;

	*out = '\0';
	while ((page = strstr(page, begin)) != NULL) {
		page += strlen(begin);
		end = strstr(page, "</title>");
		/* A row's own words have no time. */
		began = strstr(page, " began at ");
		if (end == NULL || began == NULL || began > end)
			continue;
		len += (size_t)snprintf(out + len, size - len, "%.*s\n",
		    (int)(end - page), page);
	}
}

/*
 * Of a history of which little is shown, and in which very many keys are owned
 * at a time: events have the room, not leases.
 */
static void
test_many(void)
{
	struct history h = { .n = 0 };
	char key[64];
	char *page;
	int i;

	h.head.arbiter = "redis";
	h.head.lease_ms = 100;
	for (i = 0; i < 20000; i++) {
		snprintf(key, sizeof key, "k%d", i % 4999);
		command(&h, i * INT64_C(10000), i % 3 ? "WON" : "complete",
		    "g1");
		h.events[h.n - 1].k = history_text(&h, key);
	}
	history_add(&h, HISTORY_END, INT64_C(300000000), "-");
	history_stamp_all(&h);
	page = page_of(&h);
	ok(strlen(page) < 500000, "thousands of leases have room: %zu bytes",
	    strlen(page));
	ok(strstr(page, "<p>400 events of 40001: ") != NULL,
	    "and take it from no event");
	ok(strstr(page, "<g data-any class=\"le\"") != NULL,
	    "some are drawn");
	ok(strstr(page, " leases are not drawn.") != NULL,
	    "and that others are not is said");
	free(page);
	history_free(&h);
}

int
main(void)
{
	char got[2000];
	struct history h;
	char *page;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		h = (struct history){ .n = 0 };
		make(&h, rows[i].arbiter, rows[i].happens);
		page = page_of(&h);
		titles(page, got, sizeof got);
		is(got, rows[i].want, "%s", rows[i].what);
		free(page);
		history_free(&h);
	}
	test_many();
	return done();
}
