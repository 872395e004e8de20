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

int
main(void)
{
	test_heals();
	test_picked();
	return done();
}
