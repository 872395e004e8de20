/* SPDX-License-Identifier: ISC */
#include "sim_story.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *
said_text(enum check_said said)
{
	switch (said) {
	case CHECK_HOLDS:
		return "holds";
	case CHECK_VIOLATED:
		return "violated";
	case CHECK_UNEXERCISED:
		return "unexercised";
	case CHECK_OPEN:
		return "open";
	}
	return "";
}

static void
events_text(const struct check_finding *f, char *out, size_t size)
{
	size_t i, len = 0;

	out[0] = '\0';
	for (i = 0; i < f->events_n && len < size; i++)
		len += (size_t)snprintf(out + len, size - len, "%s%u",
		    i > 0 ? " " : "", f->events[i]);
}

/* Written, read and judged again. */
static bool
same_when_stored(const struct history *h, const struct check_finding *f)
{
	char wrong[200] = "", *text = NULL;
	struct history again;
	struct check_finding g;
	size_t size = 0;
	bool same;
	FILE *file = open_memstream(&text, &size);

	if (file == NULL || history_write(h, file) == -1)
		return false;
	fclose(file);
	file = fmemopen(text, size, "r");
	if (file == NULL || history_read(&again, file, "stored", wrong,
	    sizeof wrong) == -1) {
		note("%s", wrong);
		return false;
	}
	fclose(file);
	check(&again, f->invariant, &g);
	same = f->said == g.said && strcmp(f->message, g.message) == 0 &&
	    f->events_n == g.events_n && memcmp(f->events, g.events,
	    sizeof f->events) == 0;
	history_free(&again);
	free(text);
	return same;
}

static void
check_row(const struct story_row *row)
{
	struct check_finding f;
	struct history h;
	char events[100];

	story_tell(&h, row->head, row->story);
	check(&h, row->invariant, &f);
	events_text(&f, events, sizeof events);
	if (!ok(f.said == row->said && (row->events == NULL ||
	    strcmp(row->events, events) == 0) && (row->blames == NULL ?
	    f.blames == NULL : f.blames != NULL &&
	    strcmp(f.blames, row->blames) == 0) && same_when_stored(&h, &f),
	    "%s: %s", plan_invariant_text(row->invariant), row->what)) {
		note("%s, events %s%s%s", said_text(f.said), events,
		    f.blames != NULL ? ", blames " : "",
		    f.blames != NULL ? f.blames : "");
		note("%s", f.message);
		history_say(&h, stderr);
	}
	history_free(&h);
}

void
story_check(const struct story_row *rows, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		check_row(&rows[i]);
}
