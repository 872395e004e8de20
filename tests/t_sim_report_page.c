/* SPDX-License-Identifier: ISC */
#include "report.h"
#include "report_world.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

/* What a page shows, and what it says of that. */

/* A head counts faults; of what ends one there are events. */
static void
test_heals(void)
{
	const struct report_world w = { .clients = 1, .gates = 2, .keys = 1,
	    .requests = 1, .kill = true };
	struct history h = { .n = 0 };
	struct check_finding f;
	char *page = NULL;
	size_t len = 0;
	FILE *file = open_memstream(&page, &len);

	report_world(&h, &w, &f);
	if (file == NULL || report_html(file, &h, NULL, NULL) != 0)
		bail_out("no page");
	fclose(file);
	is_int(report_times(page, "ends a fault</td><td class=\"r\">1<"), 1,
	    "a restart that was seen is counted");
	is_int(report_times(page, "ends a fault</td><td class=\"r\">0<"), 1,
	    "one that was not is not");
	free(page);
	history_free(&h);
}

/* Of a long run without a conflict the faults are looked at, not its end. */
static void
test_picked(void)
{
	struct history h = { .n = 0 };
	char *page = NULL;
	size_t len = 0;
	struct history_event *e;
	FILE *file = open_memstream(&page, &len);
	int i;

	for (i = 1; i <= 5000; i++) {
		e = history_add(&h, i == 1000 ? HISTORY_FAULT : HISTORY_INV,
		    i * INT64_C(1000), i == 1000 ? "g1" : "c1");
		e->a = i == 1000 ? 0 : i;
		e->what = i == 1000 ? "kill g1" : NULL;
	}
	history_add(&h, HISTORY_END, INT64_C(5001000), "-");
	history_stamp_all(&h);
	if (file == NULL || report_html(file, &h, NULL, NULL) != 0)
		bail_out("no page");
	fclose(file);
	ok(strstr(page, "(try 999)") != NULL && strstr(page, "(try 1001)") !=
	    NULL && strstr(page, "(try 4000)") == NULL,
	    "what was around a fault is shown, and not the end");
	ok(strstr(page, "400 events of 5001: the faults") != NULL,
	    "which the page says");
	free(page);
	history_free(&h);
}

/* So wide is the diagram of clients that come one after another. */
static int
width_of(bool backwards)
{
	struct history h = { .n = 0 };
	char *page = NULL, name[8];
	const char *at;
	size_t len = 0;
	struct history_event *e;
	FILE *file = open_memstream(&page, &len);
	int i, width = 0;

	for (i = 1; i <= 40; i++) {
		snprintf(name, sizeof name, "c%d", backwards ? 41 - i : i);
		e = history_add(&h, HISTORY_INV, i * INT64_C(2000),
		    history_text(&h, name));
		e->a = i;
		e = history_add(&h, HISTORY_RET, i * INT64_C(2000) + 1000,
		    history_text(&h, name));
		e->a = i;
	}
	history_add(&h, HISTORY_END, INT64_C(90000), "-");
	history_stamp_all(&h);
	if (file == NULL || report_html(file, &h, NULL, NULL) != 0)
		bail_out("no page");
	fclose(file);
	at = strstr(page, " role=\"img\" aria-label=\"Names of the lanes\"");
	while (at != NULL && strncmp(at, "<svg", 4) != 0)
		at--;
	if (at != NULL)
		width = atoi(at + sizeof "<svg width=\"" - 1);
	free(page);
	history_free(&h);
	return width;
}

static void
test_shared(void)
{
	int width = width_of(false);

	ok(width > 0 && width < 1000, "clients that come one after another "
	    "share their columns");
	is_int(width_of(true), width, "whatever they are called");
}

int
main(void)
{
	test_shared();
	test_heals();
	test_picked();
	return done();
}
