/* SPDX-License-Identifier: ISC */
#include "report.h"
#include "report_pick.h"
#include "report_world.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the page ------------------------------------------------------------- */

static char *
page_of(const struct history *h, const struct check_finding *f, size_t *len)
{
	struct judge_run run = { .verdict = JUDGE_FAIL, .by_check = true };
	char *text = NULL;
	FILE *file = open_memstream(&text, len);

	if (file == NULL)
		bail_out("no memory");
	run.finding = *f;
	is_int(report_html(file, h, f->events_n > 0 ? &run : NULL,
	    "idemsim run x.lua"), 0, "a page is made");
	fclose(file);
	return text;
}

/* Something that a browser would fetch. */
static int
references(const char *page)
{
	return report_times(page, "http") + report_times(page, "src=") +
	    report_times(page, "@import") + report_times(page, "<link") +
	    report_times(page, "href=") - report_times(page, "href=\"#") +
	    report_times(page, "url(") - report_times(page, "url(#");
}

static void
test_page(void)
{
	static const char *const parts[] = {
		"at_most_once</code> is violated", "k1 was run twice",
		"class=\"num\">1<", "class=\"num\">2<", "class=\"band f\"",
		"class=\"dead\"", "class=\"paused\"", "href=\"#mx\" x=",
		"href=\"#mh\" x=", "href=\"#md\" x=", "class=\"open\"",
		"life 2", "later</li>", "Redis forgot an acknowledged claim",
		"prefers-color-scheme:dark", "kill g1 at effect.after of k1",
		"<pre>idemsim run x.lua</pre>", "aria-label",
	};
	const struct report_world w = { .clients = 3, .gates = 2, .keys = 2,
	    .requests = 12, .kill = true, .pause = true, .lose = true };
	struct history h = { .n = 0 };
	struct check_finding f;
	size_t len, i;
	char *page;

	report_world(&h, &w, &f);
	page = page_of(&h, &f, &len);
	is_int((long long)references(page), 0, "it needs nothing else");
	is_int(report_times(page, " id=\"r"), (long long)h.n,
	    "each event has a row");
	is_int(report_times(page, "<tr id=\"t"), (long long)h.n,
	    "and one in the table");
	for (i = 0; i < sizeof parts / sizeof *parts; i++)
		ok(strstr(page, parts[i]) != NULL, "it has: %s", parts[i]);
	free(page);
	history_free(&h);
}

static void
test_size(void)
{
	const struct report_world w = { .clients = 60, .gates = 4, .keys = 30,
	    .requests = 900, .kill = true, .pause = true, .lose = true };
	const struct report_world few = { .clients = 1, .gates = 1,
	    .keys = 1, .requests = 1, .quiet = true };
	struct history h = { .n = 0 };
	struct check_finding f;
	char *page, left[40];
	size_t len;
	int rows;

	report_world(&h, &w, &f);
	ok(h.n > 5000, "of a history of %zu events", h.n);
	page = page_of(&h, &f, &len);
	ok(len < 500000, "the page has less than 500 kB: %zu", len);
	rows = report_times(page, " id=\"r");
	ok(rows >= 200 && rows <= 400, "and shows what can be read: %d", rows);
	snprintf(left, sizeof left, "%zu are left out", h.n - (size_t)rows);
	ok(strstr(page, left) != NULL, "it says how many are not shown");
	is_int(report_times(page, "class=\"num\">"), 4,
	    "the conflict is shown all the same");
	ok(report_times(page, "class=\"band f\"") >= 2,
	    "and so are the faults");
	free(page);
	history_free(&h);
	report_world(&h, &few, &f);
	f.events_n = 0;
	page = page_of(&h, &f, &len);
	ok(strstr(page, "is violated") == NULL, "one that was not judged has "
	    "no verdict");
	free(page);
	history_free(&h);
	page = page_of(&h, &f, &len);
	ok(strstr(page, "</html>") != NULL, "a history without events has one");
	free(page);
}

/* --- what is picked ------------------------------------------------------- */

static void
test_pick(void)
{
	const struct report_world w = { .clients = 8, .gates = 3, .keys = 9,
	    .requests = 200, .kill = true };
	struct report_pick pick = { 0 };
	struct history h = { .n = 0 };
	struct check_finding f;
	size_t i, conflicts = 0, faults = 0;
	bool ordered = true, causes = true;

	report_world(&h, &w, &f);
	report_pick(&pick, &h, &f, 24, REPORT_PICK_STEPS);
	for (i = 0; i < pick.n; i++) {
		conflicts += pick.conflict[i] > 0;
		faults += pick.at[i]->kind == HISTORY_FAULT;
		ordered = ordered && (i == 0 || pick.at[i - 1]->i <
		    pick.at[i]->i);
		causes = causes && pick.at[i]->i <= f.events[1];
	}
	is_int((long long)pick.n, 24, "a schedule has as many steps as it may");
	is_int((long long)conflicts, 2, "those of the conflict are in it");
	is_int((long long)faults, 1, "and what struck before it");
	ok(ordered, "in their order");
	ok(causes, "and nothing of what came after");
	report_pick_free(&pick);
	report_pick(&pick, &h, &f, 2, REPORT_PICK_PAGE);
	ok(pick.n == 2 && pick.conflict[0] == 1 && pick.conflict[1] == 2,
	    "the conflict comes before all else");
	is_int((long long)(pick.n + pick.left_out), (long long)h.n,
	    "the others are counted");
	report_pick_free(&pick);
	history_free(&h);
}

/* An outage that strikes each command. */
static void
test_pick_faults(void)
{
	struct report_pick pick = { 0 };
	struct history h = { .n = 0 };
	const struct plan nothing = { .name = "an outage" };
	size_t i, faults = 0;

	history_begin(&h, &nothing, "live", 1, 1);
	for (i = 0; i < 300; i++)
		history_add(&h, i % 2 ? HISTORY_FAULT : HISTORY_SEND,
		    (int64_t)i, "g1");
	history_stamp_all(&h);
	report_pick(&pick, &h, NULL, 40, REPORT_PICK_PAGE);
	for (i = 0; i < pick.n; i++)
		faults += pick.at[i]->kind == HISTORY_FAULT;
	is_int((long long)pick.n, 40, "as many are shown as may");
	ok(faults <= 30, "and other events beside them: %zu faults", faults);
	report_pick_free(&pick);
	history_free(&h);
}

int
main(void)
{
	test_page();
	test_size();
	test_pick();
	test_pick_faults();
	return done();
}
